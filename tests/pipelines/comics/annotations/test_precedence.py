"""Of several files that tell of one page, one wins for each aspect, and the rest is told."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tests.pipelines.comics.annotations.annotation_files import WHOLE, coco, own, resolve


def xml(*elements: str, **page: str) -> str:
    attributes = " ".join(f'{key}="{value}"' for key, value in {"id": "2", **page}.items())
    return f'<annotations><book title="hero"><pages><page {attributes}>{"".join(elements)}</page></pages></book></annotations>'


def by_format() -> dict[str, Any]:
    """One page with one panel each: its width tells the format."""
    task = {
        "data": {"image": "/data/upload/1/0a1b2c3d-002.jpg"},
        "annotations": [
            {
                "result": [
                    {"id": "r", "value": {"x": 0, "y": 0, "width": 20, "height": 50, "rectanglelabels": ["Panel"]}}
                ]
            }
        ],
    }
    return {
        "storyloom": ("hero/d.json", own("hero", {"page": 2, "panels": [{"box": [0, 0, 100, 750]}]})),
        "label_studio": ("hero/c.json", [task]),
        "comix_xml": ("hero/b.xml", xml('<panel points="0,0 300,0 300,750 0,750"/>')),
        "coco": ("hero/a.json", coco([{"id": 1, "file_name": "002.jpg"}], [(1, "panel", [0, 0, 400, 750])])),
    }


def test_the_formats_go_before_each_other_whatever_the_files_are_called(tmp_path: Path) -> None:
    every = list(by_format().values())
    for place, width in enumerate((100, 200, 300, 400)):
        found = resolve(tmp_path / str(place), dict(every[place:]))
        assert found.failures == []
        assert [p["box"] for p in found[2, "panels"]] == [[0, 0, width, 750]]
        assert len(found.dropped) == 3 - place
        assert all(every[place][0] in dropped.reason for dropped in found.dropped)


def test_aspects_of_a_page_may_come_from_different_files(tmp_path: Path) -> None:
    files = {
        "hero/a.json": coco([{"id": 1, "file_name": "002.jpg"}], [(1, "panel", [0, 0, 400, 750])]),
        "hero/b.json": own("hero", {"page": 2, "captions": {"1": "A door."}}),
    }
    found = resolve(tmp_path, files)
    assert found.failures == found.dropped == []
    assert {r["aspect"]: r["file"] for r in found.rows} == {"panels": "hero/a.json", "captions": "hero/b.json"}


def test_texts_of_a_format_that_counts_no_panels_outlive_its_panels(tmp_path: Path) -> None:
    regions = [(1, "panel", [0, 0, 400, 750]), (1, "text", [10, 10, 50, 20])]
    files = {
        "hero/a.json": coco([{"id": 1, "file_name": "002.jpg"}], regions),
        "hero/b.json": own("hero", {"page": 2, "panels": [{"box": [0, 0, 900, 900]}]}),
    }
    found = resolve(tmp_path, files)
    assert found.failures == []
    assert [d.item_id for d in found.dropped] == ["hero/a.json#image 1"]
    assert {r["aspect"]: r["file"] for r in found.rows} == {"panels": "hero/b.json", "texts": "hero/a.json"}


def test_two_files_of_one_format_that_differ_are_a_conflict_and_the_first_is_taken(tmp_path: Path) -> None:
    other = copy.deepcopy(WHOLE)
    other["panels"].reverse()
    found = resolve(tmp_path, {"a.json": own("hero", WHOLE), "b.json": own("hero", other)})
    assert {r["file"] for r in found.rows} == {"a.json"}
    assert found[2, "panels"][0]["box"] == [500, 0, 500, 700]
    # The kind is the same in both; texts and captions are too, word by word.
    assert [d.reason.partition(":")[0] for d in found.dropped] == [
        f"the {aspect} of hero/0002" for aspect in ("kind", "texts", "captions")
    ]
    assert [(f.item_id, f.kind) for f in found.failures] == [("b.json#pages[0]", "annotation_conflict")]
    assert "the panels of hero/0002 are told otherwise in a.json" in found.failures[0].message


def test_texts_that_count_panels_which_are_not_taken_are_not_taken_either(tmp_path: Path) -> None:
    panels = own("hero", {"page": 2, "panels": [{"box": [0, 0, 1000, 1500]}]})
    found = resolve(tmp_path, {"a.json": panels, "b.json": own("hero", WHOLE)})
    assert {(r["aspect"], r["file"]) for r in found.rows} == {("panels", "a.json"), ("kind", "b.json")}
    assert found.kinds == ["annotation_conflict"] * 3
    assert "the captions of hero/0002 count the panels of this file" in found.failures[2].message


def test_a_page_that_one_file_holds_twice_is_a_conflict(tmp_path: Path) -> None:
    found = resolve(
        tmp_path, {"a.json": own("hero", {"page": 1, "kind": "cover"}, {"member": "001.jpg", "kind": "story"})}
    )
    assert found[1, "kind"] == "cover"
    assert found.kinds == ["annotation_conflict"]


def test_stories_of_our_own_go_before_those_of_xml(tmp_path: Path) -> None:
    marked = xml(story_id="s1")
    found = resolve(tmp_path / "1", {"b.xml": marked})
    assert found[None, "stories"] == [{"first_page": 2, "last_page": 2}]
    ours = own("hero", stories=[{"first_page": 1, "last_page": 3}])
    found = resolve(tmp_path / "2", {"b.xml": marked, "c.json": ours})
    assert found[None, "stories"] == [{"first_page": 1, "last_page": 3}]
    assert len(found.dropped) == 1
    other = own("hero", stories=[])
    assert resolve(tmp_path / "3", {"c.json": ours, "d.json": other}).kinds == ["annotation_conflict"]
