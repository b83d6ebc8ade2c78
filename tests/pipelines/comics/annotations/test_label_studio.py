"""Label Studio's tasks: percent of the picture, shapes and texts that share an id, pictures named by all kinds of URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.comics.annotations.label_studio import picture_path
from tests.pipelines.comics.annotations.annotation_files import resolve

UPLOAD = "/data/upload/3/0a1b2c3d-002.jpg"


def box(x: float, y: float, w: float, h: float, label: str = "Panel", **more: Any) -> dict[str, Any]:
    value = {"x": x, "y": y, "width": w, "height": h, "rotation": more.pop("rotation", 0), "rectanglelabels": [label]}
    size = {"original_width": 500, "original_height": 750}
    return {"id": f"r{x}{y}", "type": "rectanglelabels", "from_name": "label", "value": value, **size, **more}


def words(text: Any, region: str) -> dict[str, Any]:
    return {"id": region, "type": "textarea", "from_name": "words", "value": {"x": 0, "text": text}}


def task(*results: dict[str, Any], image: str = UPLOAD, **annotation: Any) -> dict[str, Any]:
    return {"id": 7, "data": {"image": image}, "annotations": [{"id": 1, "result": list(results), **annotation}]}


def test_rectangles_polygons_and_transcriptions(tmp_path: Path) -> None:
    outline = {"points": [[0, 0], [45, 0], [50, 40], [0, 40]], "polygonlabels": ["Panel"]}
    results = [
        box(50, 0, 50, 40),
        {"id": "p", "type": "polygonlabels", "value": outline},
        box(60, 5, 10, 2, "Text"),
        words(["WHO GOES", " THERE? "], "r605"),
        box(5, 5, 10, 2, "Text"),
        box(5, 5, 1, 1, "Character", id="c"),
        {"type": "choices", "value": {"choices": ["good"]}},
    ]
    found = resolve(tmp_path, {"hero.json": [task(*results)]})
    assert found.failures == []
    assert found[2, "panels"] == [
        {"box": [0, 0, 500, 600], "polygon": [[0, 0], [450, 0], [500, 600], [0, 600]]},
        {"box": [500, 0, 500, 600], "polygon": [[500, 0], [1000, 0], [1000, 600], [500, 600]]},
    ]
    assert found[2, "texts"] == [
        {"box": [50, 75, 100, 30], "text": None, "panel": None},
        {"box": [600, 75, 100, 30], "text": "WHO GOES THERE?", "panel": None},
    ]


def test_shape_label_and_text_may_be_three_results_of_one_region(tmp_path: Path) -> None:
    shape = {"x": 10, "y": 10, "width": 10, "height": 10}
    results = [
        {"id": "a", "type": "rectangle", "value": shape},
        {"id": "a", "type": "labels", "value": {**shape, "labels": ["Text"]}},
        {"id": "a", "type": "textarea", "value": {**shape, "text": "HI"}},
    ]
    found = resolve(tmp_path, {"hero.json": [task(*results)]})
    assert found[2, "texts"] == [{"box": [100, 150, 100, 150], "text": "HI", "panel": None}]


def test_a_turned_rectangle_keeps_its_corners(tmp_path: Path) -> None:
    # A quarter turn clockwise about the top left corner, on a picture of 500 x 750: 100 x 75 pixels become 75 x 100.
    found = resolve(tmp_path, {"hero.json": [task(box(50, 20, 20, 10, rotation=90))]})
    assert found[2, "panels"] == [
        {"box": [350, 300, 150, 200], "polygon": [[500, 300], [500, 500], [350, 500], [350, 300]]}
    ]


def test_only_what_a_person_submitted_counts(tmp_path: Path) -> None:
    skipped = task(box(0, 0, 50, 50), was_cancelled=True)
    predicted = {"data": {"image": UPLOAD}, "annotations": [], "predictions": [{"result": [box(0, 0, 50, 50)]}]}
    found = resolve(tmp_path, {"hero.json": [skipped, predicted, task()]})
    assert (found.rows, found.failures, found.dropped) == ([], [], [])


def test_of_two_people_the_ground_truth_wins_else_the_later(tmp_path: Path) -> None:
    def three(**first: Any) -> list[dict[str, Any]]:
        both = task(box(0, 0, 10, 10), updated_at="2024-01-01T00:00:00Z", **first)
        both["annotations"].append({"result": [box(0, 0, 20, 20)], "updated_at": "2024-05-01T00:00:00Z"})
        return [both]

    later = resolve(tmp_path, {"hero.json": three()})
    assert later[2, "panels"][0]["box"] == [0, 0, 200, 300]
    assert later.kinds == ["annotation_conflict"]
    truth = resolve(tmp_path, {"hero.json": three(ground_truth=True)})
    assert truth[2, "panels"][0]["box"] == [0, 0, 100, 150]


@pytest.mark.parametrize(
    ("location", "path"),
    [
        (UPLOAD, UPLOAD),
        ("/data/upload/3/0a1b2c3d-page%20%231.jpg", "/data/upload/3/0a1b2c3d-page #1.jpg"),
        ("/data/local-files/?d=comics/caf%C3%A9/1.jpg", "comics/café/1.jpg"),
        ("http://localhost:8080/data/local-files/?d=hero/1%2B2.jpg", "hero/1+2.jpg"),
        ("/data/local-files/?d=Tom & Jerry #1/1.jpg", "Tom & Jerry #1/1.jpg"),
        ("https://example.org/comics/hero/1.jpg?token=a/b.png#x", "/comics/hero/1.jpg"),
        ("s3://bucket/hero #2/1.jpg", "bucket/hero #2/1.jpg"),
        ("http://[broken/1.jpg", "[broken/1.jpg"),
        ("hero/100%.jpg", "hero/100%.jpg"),
        ("C:\\comics\\hero\\1.jpg", "C:\\comics\\hero\\1.jpg"),
    ],
)
def test_the_path_in_what_label_studio_calls_an_image(location: str, path: str) -> None:
    assert picture_path(location) == path


@pytest.mark.parametrize(
    "image",
    ["/data/local-files/?d=library%2Fcomics%2Fhero%2F002.jpg", "s3://b/hero/002.png", "https://x.org/hero/002.jpg?v=1"],
)
def test_the_picture_names_book_and_page(tmp_path: Path, image: str) -> None:
    found = resolve(tmp_path, {"export.json": [task(box(0, 0, 50, 50), image=image)]})
    assert [r["page_id"] for r in found.rows] == ["hero/0002"]


def test_other_keys_for_the_picture_and_a_page_id(tmp_path: Path) -> None:
    tasks = [task(box(0, 0, 50, 50)) for _ in range(2)]
    tasks[0]["data"] = {"scan": "hero/001.jpg", "note": "first"}
    tasks[1]["data"] = {"image": "https://x.org/whatever", "page_id": "hero/0003"}
    found = resolve(tmp_path, {"export.json": tasks})
    assert [r["page_id"] for r in found.rows] == ["hero/0001", "hero/0003"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (task(box(0, 0, 0, 50)), "no area"),
        (task(box(0, 0, -5, 50)), "no area"),
        (task(box(0, 0, float("nan"), 50)), "finite numbers"),
        (task(box(120, 0, 5, 50)), "outside the page"),
        (task({"id": "p", "value": {"points": [[0, 0], [5, 5]], "polygonlabels": ["Panel"]}}), "corners"),
        (task({"id": "p", "value": {"rectanglelabels": ["Panel"]}}), "neither a rectangle nor a polygon"),
        (task(box(0, 0, 50, 50, original_width=750, original_height=500)), "another shape than the page"),
        (task(box(0, 0, 50, 50, image_rotation=90)), "turned in Label Studio"),
        (task(box(0, 0, 50, 50, rotation=9, original_width=None, original_height=None)), "size is not given"),
        (task(box(0, 0, 50, 50, "Text", id="t"), words([7], "t")), "transcription"),
        (task(box(0, 0, 50, 50), image="009.jpg"), "no page '009.jpg'"),
        ({**task(box(0, 0, 50, 50)), "data": {"text": "no picture"}}, "which picture"),
        ({**task(), "annotations": [{"result": "?"}]}, "`result` is not a list"),
        ({**task(), "annotations": {"result": []}}, "`annotations` is not a list"),
    ],
)
def test_a_bad_task_is_a_failure_and_the_next_stands(tmp_path: Path, bad: dict[str, Any], said: str) -> None:
    good = {**task(box(0, 0, 50, 50), image="003.jpg"), "id": 8}
    found = resolve(tmp_path, {"hero.json": [bad, good]})
    assert [r["page_id"] for r in found.rows] == ["hero/0003"]
    assert len(found.failures) == 1
    assert found.failures[0].item_id.startswith("hero.json#task 7")
    assert said in found.failures[0].message
