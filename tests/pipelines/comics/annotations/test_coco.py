"""COCO is read by the names of its categories, and what we write comes back and scores 1.0 against itself."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from pipelines.comics.annotations.coco import write_coco
from pipelines.geometry import Box, box_polygon
from pipelines.schemas import COMIC_PANELS, COMIC_TEXTS
from tests.pipelines.comics.annotations.annotation_files import coco, pages, resolve

IMAGE = {"id": 1, "file_name": "hero/002.jpg", "width": 500, "height": 750}


def test_regions_are_scaled_and_put_into_reading_order(tmp_path: Path) -> None:
    regions = [
        (1, "panel", [250, 0, 250, 700]),
        (1, "panel", [0, 0, 240, 700]),
        (1, "text", [300, 10, 50, 20]),
        (1, "text", [10, 10, 50, 20]),
        (1, "character", [0, 0, 5, 5]),
        (1, "balloon", [8, 8, 60, 30]),
    ]
    found = resolve(tmp_path / "1", {"a.json": coco([IMAGE], regions)})
    assert found.failures == []
    assert [p["box"] for p in found[2, "panels"]] == [[0, 0, 480, 1400], [500, 0, 500, 1400]]
    assert found[2, "texts"] == [
        {"box": [20, 20, 100, 40], "text": None, "panel": None},
        {"box": [600, 20, 100, 40], "text": None, "panel": None},
    ]
    mirrored = resolve(tmp_path / "2", {"a.json": coco([IMAGE], regions)}, right_to_left=True)
    assert [p["box"][0] for p in mirrored[2, "panels"]] == [500, 0]
    assert [t["box"][0] for t in mirrored[2, "texts"]] == [600, 20]


@pytest.mark.parametrize("panel", [1, 3, "p"])
@pytest.mark.parametrize("name", ["panel", "Panel", "FRAME", "panels"])
def test_categories_go_by_name_never_by_id(tmp_path: Path, panel: int | str, name: str) -> None:
    data = coco([IMAGE], [(1, "panel", {"bbox": [0, 0, 50, 50], "category_id": panel})])
    data["categories"] = [{"id": panel, "name": name}, {"id": 4, "name": "Text"}]
    assert [p["box"] for p in resolve(tmp_path, {"a.json": data})[2, "panels"]] == [[0, 0, 100, 100]]


def test_polygons_are_kept_and_parts_of_one_panel_are_boxed_together(tmp_path: Path) -> None:
    regions = [
        (1, "panel", {"segmentation": [[0, 0, 240, 0, 250, 300, 0, 300]]}),
        (1, "panel", {"bbox": [0, 400, 500, 100], "segmentation": {"counts": "abc", "size": [750, 500]}}),
        (1, "panel", {"segmentation": [[0, 600, 10, 600, 10, 700], [400, 650, 500, 650, 500, 750]]}),
    ]
    found = resolve(tmp_path, {"a.json": coco([IMAGE], regions)})
    assert found.failures == []
    assert found[2, "panels"] == [
        {"box": [0, 0, 500, 600], "polygon": [[0, 0], [480, 0], [500, 600], [0, 600]]},
        {"box": [0, 800, 1000, 200], "polygon": [[0, 800], [1000, 800], [1000, 1000], [0, 1000]]},
        {"box": [0, 1200, 1000, 300], "polygon": [[0, 1200], [1000, 1200], [1000, 1500], [0, 1500]]},
    ]


def test_an_image_covers_only_what_it_has_a_region_of(tmp_path: Path) -> None:
    images = [IMAGE, {"id": 2, "file_name": "hero/003.jpg"}]
    found = resolve(tmp_path, {"a.json": coco(images, [(1, "panel", [0, 0, 50, 50]), (2, "balloon", [0, 0, 5, 5])])})
    assert found.failures == []
    assert [(r["page_id"], r["aspect"]) for r in found.rows] == [("hero/0002", "panels")]


@pytest.mark.parametrize(
    ("change", "item", "said"),
    [
        ({"categories": [{"id": 1, "name": "person"}]}, "", "no category is called panel or text: ['person']"),
        ({"categories": []}, "", "no category is called panel or text"),
        ({"categories": [{"id": 1, "name": "panel"}, {"id": 1, "name": "text"}]}, "", "two categories have the id 1"),
        ({"annotations": "none"}, "", "annotations is not a list"),
        ({"images": [7]}, "", "images is not a list of objects"),
        ({"images": [IMAGE, IMAGE]}, "#image 1", "that of another image too"),
        ({"images": []}, "#image 1", "1 annotations name the image 1"),
        ({"images": [{"id": 1}]}, "#image 1", "file_name"),
        ({"images": [{**IMAGE, "page_id": "hero/2"}]}, "#image 1", "no page_id"),
        ({"images": [{**IMAGE, "height": float("nan")}]}, "#image 1", "width and height"),
        ({"images": [{**IMAGE, "file_name": "hero/9.jpg"}]}, "#image 1", "no page '9.jpg'"),
    ],
)
def test_files_that_do_not_hold_together_say_so(tmp_path: Path, change: dict[str, Any], item: str, said: str) -> None:
    data = {**coco([IMAGE], [(1, "panel", [0, 0, 50, 50])]), **change}
    found = resolve(tmp_path, {"a.json": data})
    assert [f.item_id for f in found.failures] == [f"a.json{item}"]
    assert said in found.failures[0].message


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([0, 0, 0, 0], "no area"),
        ([0, 0, -5, 5], "no area"),
        ([900, 0, 50, 50], "outside the page"),
        ([0, 0, 5, "5"], "finite numbers"),
        ({"segmentation": [[0, 0, 5, 5]]}, "corners"),
        ({"segmentation": [[0, 0, 5, 5, 5, 0, 1]]}, "x and y in turn"),
        ({"segmentation": {"counts": [1], "size": [1, 1]}}, "masks alone"),
        ({}, "neither"),
    ],
)
def test_a_bad_region_leaves_its_image_out_and_the_others_stand(tmp_path: Path, shape: Any, said: str) -> None:
    images = [IMAGE, {"id": 2, "file_name": "hero/003.jpg"}]
    regions = [(1, "panel", [0, 0, 50, 50]), (1, "panel", shape), (2, "text", [0, 0, 50, 50])]
    found = resolve(tmp_path, {"a.json": coco(images, regions)})
    assert [(r["page_id"], r["aspect"]) for r in found.rows] == [("hero/0003", "texts")]
    assert [f.item_id for f in found.failures] == ["a.json#image 1"]
    assert said in found.failures[0].message


PANELS = [
    (1, Box(0, 0, 480, 700), [[0, 0], [480, 0], [440, 700], [0, 700]]),
    (1, Box(500, 0, 500, 700), None),
    (3, Box(10, 20, 900, 1400), None),
]
TEXTS = [(1, Box(30, 40, 200, 60)), (1, Box(530, 40, 200, 60)), (3, Box(30, 40, 100, 50))]


def tables() -> tuple[pa.Table, pa.Table, pa.Table]:
    panels = [
        {
            **{"panel_id": f"hero/{page:04d}/{n:02d}", "page_id": f"hero/{page:04d}", "book_id": "hero"},
            **{"page_number": page, "reading_order": n, **box._asdict(), "polygon": outline or box_polygon(box)},
            **{"confidence": 1.0, "source": "human"},
        }
        for n, (page, box, outline) in enumerate(PANELS, 1)
    ]
    texts = [
        {
            **{"text_id": f"hero/{page:04d}/t{n:02d}", "page_id": f"hero/{page:04d}", "book_id": "hero"},
            **{"page_number": page, "panel_id": None, "reading_order": n, **box._asdict()},
            **{"text": "HI", "confidence": 1.0, "panel_share": 1.0, "source": "human"},
        }
        for n, (page, box) in enumerate(TEXTS, 1)
    ]
    of_book = pages("hero", ["a/001.jpg", "a/002.jpg", "a/003.jpg"])
    return of_book, pa.Table.from_pylist(panels, schema=COMIC_PANELS), pa.Table.from_pylist(texts, schema=COMIC_TEXTS)


def test_what_is_written_comes_back_the_same(tmp_path: Path) -> None:
    write_coco(tmp_path / "a.json", *tables())
    data = json.loads((tmp_path / "a.json").read_text())
    assert [(c["id"], c["name"]) for c in data["categories"]] == [
        *((1, "panel"), (2, "character"), (3, "balloon"), (4, "text"), (5, "onomatopoeia"), (6, "link"), (7, "face"))
    ]
    assert [i["file_name"] for i in data["images"]] == [f"hero/a/00{n}.jpg" for n in (1, 2, 3)]
    found = resolve(tmp_path, {}, members=["a/001.jpg", "a/002.jpg", "a/003.jpg"])
    assert found.failures == []
    for page in (1, 3):
        assert found[page, "panels"] == [
            {"box": list(box), "polygon": outline or box_polygon(box)} for on, box, outline in PANELS if on == page
        ]
        assert [t["box"] for t in found[page, "texts"]] == [list(box) for on, box in TEXTS if on == page]
    assert len(found.rows) == 4


def test_writing_twice_gives_the_same_bytes_in_any_order_of_rows(tmp_path: Path) -> None:
    write_coco(tmp_path / "1.json", *tables())
    write_coco(tmp_path / "2.json", *(table.take(list(range(len(table)))[::-1]) for table in tables()))
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


@pytest.mark.parametrize("kind", ["bbox", "segm"])
def test_the_standard_evaluator_gives_one_for_truth_against_itself(tmp_path: Path, kind: str) -> None:
    write_coco(tmp_path / "a.json", *tables())
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(tmp_path / "a.json"))
        own = [
            {
                **{"image_id": a["image_id"], "category_id": a["category_id"], "score": 1.0},
                **({"bbox": a["bbox"]} if kind == "bbox" else {"segmentation": truth.annToRLE(a)}),
            }
            for a in truth.dataset["annotations"]
        ]
        found = truth.loadRes(own)
        evaluation = COCOeval(truth, found, kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    assert len(truth.anns) == len(PANELS) + len(TEXTS)
    assert evaluation.stats[:3].tolist() == [1.0, 1.0, 1.0]
    assert evaluation.stats[8] == 1.0
