"""The stage that finds panels: reading direction, human panels, and nothing lost without a word."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image

from pipelines.comics.detect_panels import DetectPanels
from pipelines.comics.panels import Panel
from pipelines.geometry import Box
from pipelines.identity import canonical_json
from pipelines.stage import Model, Row
from tests.stage_inputs import FakeInputs, run_stage

SOURCE = "fake/detector@1"
WIDTH, HEIGHT = 2400, 3000


class FakeDetector:
    """Two panels side by side on each page, a third outside of it; none on white pages."""

    def detect(self, images: Sequence[np.ndarray]) -> list[list[Panel]]:
        return [self._panels(image) for image in images]

    def _panels(self, image: np.ndarray) -> list[Panel]:
        height, width = image.shape[:2]
        if image.mean() > 250:
            return []
        half = width // 2
        boxes = [Box(half + 10, 10, half - 20, height - 20), Box(10, 10, half - 20, height - 20), Box(-50, 0, 20, 20)]
        return [Panel(box, ((box.x, box.y), (box.right, box.bottom)), 0.5) for box in boxes]


def picture(grey: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (WIDTH, HEIGHT), grey).save(file, "JPEG")
    return file.getvalue()


def page(number: int, image: bytes) -> Row:
    return {
        "page_id": f"b/{number:04d}",
        "book_id": "b",
        "page_number": number,
        "member": f"{number}.jpg",
        "image": image,
        "media_type": "image/jpeg",
        "width": WIDTH,
        "height": HEIGHT,
        "sha256": "",
        "phash": "",
        "spread": False,
        "duplicate_of": None,
        "kind": "story",
        "source": "files",
    }


def book(*images: bytes, right_to_left: bool = False, annotations: list[Row] | None = None) -> FakeInputs:
    books = [
        {
            "book_id": "b",
            "title": "B",
            "split": "train",
            "right_to_left": right_to_left,
            "container": "zip",
            "path": "b.cbz",
            "source": "files",
        }
    ]
    pages = [page(number, image) for number, image in enumerate(images, 1)]
    return FakeInputs("b", {"comic_books": books, "comic_pages": pages, "comic_annotations": annotations or []})


def stage() -> DetectPanels:
    return DetectPanels(Model(SOURCE, FakeDetector))


@pytest.mark.parametrize("right_to_left", [False, True])
def test_panels_are_numbered_as_the_book_is_read(right_to_left: bool) -> None:
    rows, failures, dropped = run_stage(stage(), book(picture(0), right_to_left=right_to_left))
    assert not failures and not dropped
    left, right = sorted(rows, key=lambda row: row["x"])
    assert (left["reading_order"], right["reading_order"]) == ((2, 1) if right_to_left else (1, 2))
    assert [row["panel_id"] for row in rows] == ["b/0001/01", "b/0001/02"]
    assert {row["source"] for row in rows} == {SOURCE}


def test_boxes_are_in_pixels_of_the_page_and_inside_it() -> None:
    """A large JPEG is looked at in half its size."""
    rows, _, _ = run_stage(stage(), book(picture(0)))
    assert [tuple(row[name] for name in "xywh") for row in rows] == [(20, 20, 1160, 2960), (1220, 20, 1160, 2960)]
    assert rows[0]["polygon"] == [[20, 20], [1180, 2980]]


def test_each_page_is_panels_or_a_reason() -> None:
    rows, failures, dropped = run_stage(stage(), book(picture(0), picture(255), b"no picture", picture(0)))
    assert [row["page_number"] for row in rows] == [1, 1, 4, 4]
    assert [(f.item_id, f.kind) for f in failures] == [("b/0003", "not_a_picture")]
    assert [(d.item_id, d.reason) for d in dropped] == [("b/0002", f"no panel on the page, says {SOURCE}")]


def test_a_person_s_panels_replace_the_detector_s() -> None:
    marked = {
        "page_id": "b/0001",
        "book_id": "b",
        "aspect": "panels",
        "payload": canonical_json([{"box": [5, 6, 70, 80], "polygon": [[5, 6], [75, 6], [75, 86]]}]),
        "file": "b.json",
        "source": "human",
    }
    rows, failures, _ = run_stage(stage(), book(b"not looked at", picture(0), annotations=[marked]))
    assert not failures
    assert [(row["source"], row["page_number"]) for row in rows] == [("human", 1), (SOURCE, 2), (SOURCE, 2)]
    assert (rows[0]["x"], rows[0]["w"], rows[0]["confidence"]) == (5, 70, 1.0)
