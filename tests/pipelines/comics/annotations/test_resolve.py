"""Entries become rows in pixels of the page; of several files one wins, and the rest is told."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comics.annotations.entries import AnnotationEntry
from pipelines.comics.annotations.payload import AnnotatedStory, book_stories, page_aspect
from pipelines.comics.annotations.pixels import on_page
from pipelines.comics.annotations.resolve import ResolveAnnotations
from pipelines.comics.captions import WriteCaptions
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.schemas import COMIC_ANNOTATIONS
from tests.pipelines.comics.annotations.annotation_files import HEIGHT, WHOLE, WIDTH, own, pages, resolve
from tests.stage_inputs import FakeInputs, pa, run_stage


def test_our_own_json_gives_each_aspect_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = resolve(tmp_path, {"a.json": own("hero", WHOLE, stories=[{"first_page": 2, "last_page": 3}])})
    assert found.failures == found.dropped == []
    assert [(r["page_id"], r["aspect"], r["source"]) for r in found.rows] == [
        (None, "stories", "human"),
        *(("hero/0002", aspect, "human") for aspect in ("kind", "panels", "texts", "captions")),
    ]
    assert found[2, "panels"] == [
        {"box": [500, 0, 500, 700], "polygon": [[500, 0], [1000, 0], [1000, 700], [500, 700]]},
        {"box": [0, 0, 500, 700], "polygon": [[0, 0], [480, 0], [500, 700], [0, 700]]},
    ]
    assert found[2, "texts"] == [
        {"box": [510, 10, 50, 20], "text": "Hi!", "panel": 1},
        {"box": [1, 1, 9, 9], "text": None, "panel": None},
    ]
    assert found[2, "captions"] == {"1": "A door."}
    table = pa.Table.from_pylist(found.rows, schema=COMIC_ANNOTATIONS)
    assert page_aspect(table, "kind") == {"hero/0002": "story"}
    assert page_aspect(table, "panels")["hero/0002"][0].box == Box(500, 0, 500, 700)
    assert book_stories(table) == [AnnotatedStory(first_page=2, last_page=3)]


def test_an_empty_list_says_that_there_are_none_and_an_absent_one_says_nothing(tmp_path: Path) -> None:
    found = resolve(tmp_path, {"a.json": own("hero", {"member": "001.jpg", "panels": []})})
    assert [(r["page_id"], r["aspect"], r["payload"]) for r in found.rows] == [("hero/0001", "panels", "[]")]


def test_coordinates_are_scaled_from_the_annotated_size_and_clipped_at_the_edge(tmp_path: Path) -> None:
    page = {"page": 1, "width": 100, "height": 150, "panels": [{"box": [-2, 10, 52, 140.04]}]}
    found = resolve(tmp_path, {"a.json": own("hero", page)})
    assert found[1, "panels"] == [
        {"box": [0, 100, 500, 1400], "polygon": [[0, 100], [500, 100], [500, 1500], [0, 1500]]}
    ]


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (
            {"panels": [{"box": [1000, 0, 100, 100]}]},
            "bad_annotation",
            "panel 1 [1000, 0, 100, 100] lies outside the page",
        ),
        ({"panels": [{"box": [0, 0, 1000, 4000]}]}, "bad_annotation", "give the width and height"),
        ({"texts": [{"box": [0, 0, 0.2, 9]}]}, "bad_annotation", "textbox 1 [0, 0, 0, 9] has no area"),
        ({"width": 1500, "height": 1000}, "other_picture", "1500x1000"),
        ({"width": 1500}, "bad_annotation", "`width` and `height` go together"),
        ({"width": -1, "height": -1}, "bad_annotation", "width"),
        ({"width": 5e-324, "height": 5e-324}, "bad_annotation", "width and height are [5e-324, 5e-324]"),
        ({"page": 10**30}, "bad_annotation", "page"),
        ({"texts": [{"box": [1, 1, 9, 9], "panel": 10**30}]}, "bad_annotation", "texts.0.panel"),
        ({"panels": [{"box": [5, 5, -5, 5]}]}, "bad_annotation", "panels[0] has no area: [5, 5, -5, 5]"),
        ({"panels": [{"box": [5, 5, 5]}]}, "bad_annotation", "not 4 finite numbers"),
        ({"panels": [{"box": [5, 5, 5, True]}]}, "bad_annotation", "not 4 finite numbers"),
        ({"panels": [{"box": [float("nan"), 5, 5, 5]}]}, "bad_annotation", "not 4 finite numbers: [nan"),
        ({"panels": [{"box": [5, 5, 5, float("inf")]}]}, "bad_annotation", "not 4 finite numbers"),
        ({"panels": [{"polygon": [[0, 0], [5, 5]]}]}, "bad_annotation", "3 to 2000 corners"),
        ({"panels": [{"polygon": [[0, 0], [5, 0], [9, 0]]}]}, "bad_annotation", "no area"),
        ({"panels": [{}]}, "bad_annotation", "neither a box nor a polygon"),
        ({"texts": [{"box": [1, 1, 9, 9], "panel": 3}]}, "bad_annotation", "names panel 3, but the page has 2 panels"),
        ({"captions": {"3": "A moon."}}, "bad_annotation", "names panel 3"),
        ({"captions": {"first": "A moon."}}, "bad_annotation", "captions.first"),
        ({"kind": "backcover"}, "bad_annotation", "'backcover'"),
        ({"panel": []}, "bad_annotation", "panel"),
        ({"member": "002.jpg"}, "bad_annotation", "one of them"),
        ({"page": 4}, "unknown_page", "no page number 4"),
        ({"page": None, "member": "009.jpg"}, "unknown_page", "'009.jpg'"),
    ],
)
def test_a_page_with_an_error_is_left_out_whole_and_the_next_stands(
    tmp_path: Path, change: dict[str, Any], kind: str, said: str
) -> None:
    bad = {key: value for key, value in {**copy.deepcopy(WHOLE), **change}.items() if value is not None}
    found = resolve(tmp_path, {"a.json": own("hero", bad, {"page": 3, "kind": "cover"})})
    assert [(r["page_id"], r["aspect"]) for r in found.rows] == [("hero/0003", "kind")]
    assert [(f.item_id, f.kind) for f in found.failures] == [("a.json#pages[0]", kind)]
    assert said in found.failures[0].message
    assert "a.json, pages[0]" in found.failures[0].message


@pytest.mark.parametrize(
    ("stories", "said"),
    [
        ([{"first_page": 3, "last_page": 2}], "ends on page 2, before its first page 3"),
        ([{"first_page": 1, "last_page": 2}, {"first_page": 2, "last_page": 3}], "two stories share page 2"),
        ([{"first_page": 0, "last_page": 2}], "first_page"),
        ([{"first_page": 1, "last_page": 10**30}], "last_page"),
        ({"first_page": 1, "last_page": 2}, "stories"),
    ],
)
def test_stories_that_cannot_be_are_a_failure_and_the_pages_stand(tmp_path: Path, stories: Any, said: str) -> None:
    found = resolve(tmp_path, {"a.json": own("hero", {"page": 1, "kind": "cover"}, stories=stories)})
    assert [r["aspect"] for r in found.rows] == ["kind"]
    assert [(f.item_id, f.kind) for f in found.failures] == [("a.json#stories", "bad_annotation")]
    assert said in found.failures[0].message


def test_an_edited_box_changes_the_payload_of_its_page_alone(tmp_path: Path) -> None:
    three = [{**copy.deepcopy(WHOLE), "page": number} for number in (1, 2, 3)]
    before = resolve(tmp_path, {"a.json": own("hero", *three)}).rows
    three[1]["panels"][0]["box"][0] += 1
    after = resolve(tmp_path, {"a.json": own("hero", *three)}).rows
    changed = [(b["page_id"], b["aspect"]) for b, a in zip(before, after, strict=True) if a != b]
    assert changed == [("hero/0002", "panels")]


def test_a_book_without_annotations_has_no_rows() -> None:
    assert run_stage(ResolveAnnotations(), FakeInputs("hero", {"comic_pages": pages("hero", ["1.jpg"])})) == (
        [],
        [],
        [],
    )


def test_captions_reach_the_panels_that_were_drawn_with_them(tmp_path: Path) -> None:
    found = resolve(tmp_path, {"a.json": own("hero", WHOLE)})
    panels = [
        {
            **{"panel_id": f"hero/0002/0{n}", "page_id": "hero/0002", "book_id": "hero", "page_number": 2},
            **{"reading_order": n, **Box(*panel["box"])._asdict(), "polygon": panel["polygon"]},
            **{"confidence": 1.0, "source": "human"},
        }
        for n, panel in enumerate(found[2, "panels"], 1)
    ]
    inputs = FakeInputs("hero", {"comic_panels": panels, "comic_annotations": found.rows})
    rows, failures, _ = run_stage(WriteCaptions(), inputs)
    assert failures == []
    assert rows == [{"panel_id": "hero/0002/01", "book_id": "hero", "caption": "A door.", "source": "human"}]


@given(st.floats(1, 1e8), st.floats(1, 1e8), st.floats(-1e8, 1e8), st.floats(1e-300, 1e8), st.booleans())
def test_any_size_and_box_give_pixels_or_an_error(w: float, h: float, x: float, side: float, percent: bool) -> None:
    regions = [{"box": [x, x, side, side]}]
    entry = AnnotationEntry("a", "coco", "i", "b", 1, {"panels": regions}, (w, h), percent)
    try:
        (panel,) = on_page(entry, {"width": WIDTH, "height": HEIGHT}, right_to_left=False)["panels"]
    except ItemError as error:
        assert error.kind in ("bad_annotation", "other_picture")
    else:
        assert all(type(value) is int for value in panel["box"])


_SIDE = st.floats(-500, 2500, allow_nan=False)
_BOXES = st.lists(st.tuples(_SIDE, _SIDE, st.floats(0.01, 2000), st.floats(0.01, 2000)).map(list), max_size=6)


@given(_BOXES, st.sampled_from([None, (500.0, 750.0), (3333.0, 5000.0)]), st.booleans())
def test_what_is_taken_lies_on_the_page(
    boxes: list[list[float]], size: tuple[float, float] | None, ordered: bool
) -> None:
    regions = [{"box": box} for box in boxes]
    entry = AnnotationEntry("a", "coco", "i", "b", 1, {"panels": regions, "texts": regions}, size, ordered=ordered)
    try:
        found = on_page(entry, {"width": WIDTH, "height": HEIGHT}, right_to_left=False)
    except ItemError as error:
        assert error.kind == "bad_annotation"
        return
    for aspect in ("panels", "texts"):
        assert len(found[aspect]) == len(boxes)
        for region in found[aspect]:
            x, y, w, h = region["box"]
            assert 0 <= x < x + w <= WIDTH
            assert 0 <= y < y + h <= HEIGHT
