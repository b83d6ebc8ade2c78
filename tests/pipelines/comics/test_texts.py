from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from pipelines.comics.texts import ReadTexts, TextBox, TextLine
from pipelines.errors import ItemError
from pipelines.geometry import Box, box_polygon
from pipelines.identity import canonical_json
from pipelines.stage import Model
from tests.stage_inputs import FakeInputs, run_stage

READ: list[tuple[int, ...]] = []


def lettering(x: int, y: int, text: str, confidence: float = 0.9, w: int = 100) -> TextLine:
    return TextLine(tuple((float(a), float(b)) for a, b in box_polygon(Box(x, y, w, 20))), text, confidence)


class FakeReader:
    """Reads the same lines on each page, and refuses pages that are 77 pixels wide."""

    def read(self, images):
        READ.extend(image.shape for image in images)
        return [
            ItemError("unreadable", "The reader gave up")
            if image.shape[1] == 77
            else [
                lettering(250, 30, "RIGHT PANEL"),
                lettering(30, 48, "PANEL", 0.7),
                lettering(30, 30, "LEFT"),
                lettering(30, 250, "scrawl", 0.2),
                lettering(180, 480, "- 54 -", w=40),
            ]
            for image in images
        ]


def never() -> FakeReader:
    raise AssertionError("the reader must not be loaded")


@pytest.fixture(autouse=True)
def nothing_read():
    READ.clear()


def stage(build: Callable[[], FakeReader] = FakeReader) -> ReadTexts:
    return ReadTexts(Model("fake/reader@1", build))


def picture(size: tuple[int, int], kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((size[1], size[0], 3), 255, np.uint8)).save(file, kind)
    return file.getvalue()


def page(number: int, image: bytes | None = None, size: tuple[int, int] = (400, 500)) -> dict:
    return {
        "page_id": f"b/{number:04d}",
        "book_id": "b",
        "page_number": number,
        "member": f"{number}.png",
        "image": picture(size) if image is None else image,
        "media_type": "image/png",
        "width": size[0],
        "height": size[1],
        "sha256": "",
        "phash": "",
        "spread": False,
        "duplicate_of": None,
        "kind": "story",
        "source": "files",
    }


def panel(number: int, order: int, box: Box) -> dict:
    page_id = f"b/{number:04d}"
    return {
        "panel_id": f"{page_id}/{order:02d}",
        "page_id": page_id,
        "book_id": "b",
        "page_number": number,
        "reading_order": order,
        "x": box.x,
        "y": box.y,
        "w": box.w,
        "h": box.h,
        "polygon": box_polygon(box),
        "confidence": 1.0,
        "source": "human",
    }


def book(right_to_left: bool = False) -> dict:
    return {
        "book_id": "b",
        "title": "b",
        "series": None,
        "licence": None,
        "split": "test",
        "right_to_left": right_to_left,
        "container": "zip",
        "path": "b.cbz",
        "source": "files",
    }


def annotation(number: int, texts: list[dict]) -> dict:
    return {
        "book_id": "b",
        "page_id": f"b/{number:04d}",
        "aspect": "texts",
        "payload": canonical_json(texts),
        "file": "b.json",
        "source": "human",
    }


HALVES = [panel(1, 1, Box(0, 0, 200, 470)), panel(1, 2, Box(200, 0, 200, 470))]


def inputs(pages, panels=(), annotations=(), right_to_left=False) -> FakeInputs:
    tables = {
        "comic_books": [book(right_to_left)],
        "comic_pages": list(pages),
        "comic_panels": list(panels),
        "comic_annotations": list(annotations),
    }
    return FakeInputs("b", tables)


def test_textboxes_have_their_panel_and_are_numbered_in_reading_order():
    rows, failures, _ = run_stage(stage(), inputs([page(1)], HALVES))
    assert not failures
    assert [(r["text_id"], r["panel_id"], r["text"]) for r in rows] == [
        ("b/0001/t01", "b/0001/01", "LEFT PANEL"),
        ("b/0001/t02", "b/0001/02", "RIGHT PANEL"),
    ]
    first = rows[0]
    assert (first["x"], first["y"], first["w"], first["h"], first["panel_share"]) == (30, 30, 100, 38, 1.0)
    assert first["source"] == "fake/reader@1" and 0.7 < first["confidence"] < 0.9


def test_panels_are_followed_from_the_right():
    panels = [panel(1, 1, Box(200, 0, 200, 470)), panel(1, 2, Box(0, 0, 200, 470))]
    rows, _, _ = run_stage(stage(), inputs([page(1)], panels, right_to_left=True))
    assert [r["text"] for r in rows] == ["RIGHT PANEL", "LEFT PANEL"]


def test_scrawl_and_page_numbers_are_dropped_with_their_reason():
    _, _, dropped = run_stage(stage(), inputs([page(1)], HALVES))
    assert [d.item_id for d in dropped] == ["b/0001", "b/0001"]
    assert "confidence of 0.20" in dropped[0].reason and "scrawl" in dropped[0].reason
    assert "page number" in dropped[1].reason and "- 54 -" in dropped[1].reason


def test_a_page_without_panels_keeps_its_texts_without_one():
    rows, _, _ = run_stage(stage(), inputs([page(1)]))
    assert {r["panel_id"] for r in rows} == {None} and {r["panel_share"] for r in rows} == {0.0}


def test_a_page_that_cannot_be_decoded_or_read_is_a_failure_and_the_rest_goes_on():
    pages = [page(1, picture((400, 500))[:90]), page(2, size=(77, 80)), page(3)]
    rows, failures, _ = run_stage(stage(), inputs(pages))
    assert {f.item_id: f.kind for f in failures} == {"b/0001": "truncated", "b/0002": "unreadable"}
    assert {r["page_id"] for r in rows} == {"b/0003"}


def test_a_large_jpeg_is_read_smaller_and_its_boxes_are_in_pixels_of_the_page():
    size = (3200, 4000)
    rows, _, _ = run_stage(stage(), inputs([page(1, picture(size, "JPEG"), size)]))
    assert READ == [(2000, 1600, 3)]
    assert (rows[0]["x"], rows[0]["y"], rows[0]["w"], rows[0]["h"]) == (60, 60, 200, 76)


def test_where_all_pages_are_annotated_the_reader_is_never_loaded():
    marked = [annotation(1, [{"box": [10, 10, 50, 20], "text": "BY HAND", "panel": 2}]), annotation(2, [])]
    rows, failures, dropped = run_stage(stage(never), inputs([page(1, b"broken"), page(2)], HALVES, marked))
    assert not failures and not dropped
    (row,) = rows
    assert (row["text"], row["panel_id"], row["panel_share"]) == ("BY HAND", "b/0001/02", 0.0)
    assert (row["source"], row["confidence"]) == ("human", 1.0)


def test_a_persons_order_is_kept_and_an_unknown_panel_is_a_failure():
    texts = [
        {"box": [210, 10, 50, 20], "text": "SECOND PANEL"},
        {"box": [10, 10, 50, 20], "text": "FIRST PANEL", "panel": 9},
    ]
    rows, failures, _ = run_stage(stage(never), inputs([page(1)], HALVES, [annotation(1, texts)]))
    assert [(r["text"], r["panel_id"]) for r in rows] == [("SECOND PANEL", "b/0001/02"), ("FIRST PANEL", "b/0001/01")]
    assert [f.kind for f in failures] == ["unknown_panel"]
    assert "names panel 9" in failures[0].message and "has 2" in failures[0].message


def test_a_box_that_a_person_drew_without_words_is_read():
    texts = [{"box": [20, 20, 120, 60]}, {"box": [300, 300, 50, 50]}, {"box": [220, 20, 150, 40], "text": "TYPED"}]
    rows, _, dropped = run_stage(stage(), inputs([page(1)], HALVES, [annotation(1, texts)]))
    assert [(r["text"], r["source"]) for r in rows] == [("LEFT PANEL", "fake/reader@1"), ("TYPED", "human")]
    assert (rows[0]["x"], rows[0]["w"]) == (20, 120)
    assert any("no words were read" in d.reason for d in dropped)


class BoxReader:
    """Reads whole textboxes, as a chat model does, two of them as close as lines of one balloon."""

    def read(self, images):
        return [[TextBox(Box(30, 30, 100, 20), "ONE", 1.0), TextBox(Box(30, 52, 100, 20), "TWO", 1.0)] for _ in images]


def test_whole_textboxes_are_not_joined_and_come_in_pixels_of_the_page() -> None:
    image = picture((4000, 600), "JPEG")
    tables = {"comic_pages": [page(1, image, (4000, 600))]}
    rows, failures, _ = run_stage(stage(BoxReader), FakeInputs("b", tables))
    assert not failures
    assert [(row["text"], row["x"], row["y"], row["w"]) for row in rows] == [
        ("ONE", 60, 60, 200),
        ("TWO", 60, 104, 200),
    ]


def test_a_service_reads_several_pages_at_a_time_and_each_gets_its_own() -> None:
    sizes = [(400, 500 + n) for n in range(19)]
    tables = {"comic_pages": [page(n, size=size) for n, size in enumerate(sizes, 1)]}
    tables["comic_pages"][4]["image"] = b"no picture"
    tables["comic_pages"][7] = page(8, size=(77, 500))
    remote = ReadTexts(Model("fake/reader@1", CountingReader, is_remote=True))
    rows, failures, _ = run_stage(remote, FakeInputs("b", tables))
    assert CHUNKS == [7, 8, 3]
    assert [(f.item_id, f.kind) for f in failures] == [("b/0005", "not_a_picture"), ("b/0008", "unreadable")]
    assert {row["page_number"]: row["text"] for row in rows} == {
        n: f"HEIGHT {size[1]}" for n, size in enumerate(sizes, 1) if n not in (5, 8)
    }


CHUNKS: list[int] = []


class CountingReader:
    """Says how high each picture is."""

    def read(self, images):
        CHUNKS.append(len(images))
        refused = ItemError("unreadable", "The reader gave up")
        return [
            refused if image.shape[1] == 77 else [lettering(30, 30, f"HEIGHT {image.shape[0]}")] for image in images
        ]
