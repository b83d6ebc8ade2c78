"""What the release stages yield: right pictures, each page read once, answers hidden, files that `datasets` opens."""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import pipelines.pick_a_panel.sample_pictures as sample_pictures
from pipelines.errors import SettingsError
from pipelines.geometry import Box
from pipelines.identity import canonical_json
from pipelines.pick_a_panel.release import KeepAnswers, ReleaseRendered, ReleaseSamples
from pipelines.pick_a_panel.render import Rendering
from pipelines.schemas import TASKS
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.released_book import HEIGHT, WIDTH, inputs, page_picture, panel_box, tables
from tests.stage_inputs import FakeInputs, run_stage


def _pixels(picture: Row) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture["bytes"])).convert("RGB")).astype(int)


def _panel_pixels(panel_id: str) -> np.ndarray:
    *_, page, order = panel_id.split("/")
    box = Box(*panel_box(int(order)))
    return page_picture(int(page))[box.y : box.bottom, box.x : box.right].astype(int)


def _by_task(rows: list[Row]) -> dict[str, list[str]]:
    return {task: [row["sample_id"] for row in rows if row["task_type"] == task] for task in TASKS}


def test_columns_are_those_of_the_published_set() -> None:
    schema = ReleaseSamples("test").schema
    assert {name: str(schema.field(name).type) for name in schema.names} == {
        "sample_id": "string",
        "context": "list<item: struct<bytes: binary, path: string>>",
        "options": "list<item: struct<bytes: binary, path: string>>",
        "index": "int32",
        "solution_index": "int32",
        "split": "string",
        "task_type": "string",
        "previous_panel_caption": "string",
    }


def test_each_sample_shows_its_panels_in_order() -> None:
    book = inputs()
    rows, failures, _ = run_stage(ReleaseSamples("test"), book)
    assert not failures
    samples = {sample["sample_id"]: sample for sample in tables()["comicspap_test"]}
    assert _by_task(rows) == _by_task(list(samples.values()))
    for row in rows:
        sample = samples[row["sample_id"]]
        plain = [o["panel_id"] for o in sample["options"] if not o["edits"]]
        shown = zip(row["context"], sample["context"], strict=True)
        offered = zip(row["options"], plain, strict=True) if plain else ()
        for picture, panel_id in [*shown, *offered]:
            assert picture["path"] is None
            assert np.abs(_pixels(picture) - _panel_pixels(panel_id)).mean() < 6
        for name in ("index", "solution_index", "split", "previous_panel_caption"):
            assert row[name] == sample[name]


@pytest.mark.parametrize("task", ["char_coherence", "text_closure"])
def test_drawn_options_are_equal_outside_the_blocks_of_their_boxes(task: str) -> None:
    rows, _, _ = run_stage(ReleaseSamples("test", jpeg_quality=75), inputs())
    sample = next(s for s in tables()["comicspap_test"] if s["task_type"] == task)
    row = next(r for r in rows if r["sample_id"] == sample["sample_id"])
    outside = np.ones((HEIGHT, WIDTH), bool)
    corner = Box(*panel_box(int(sample["options"][0]["panel_id"][-2:])))
    for edit in sample["options"][0]["edits"]:
        x, y = edit["x"] - corner.x, edit["y"] - corner.y
        outside[y // 8 * 8 : -(-(y + edit["h"]) // 8) * 8, x // 8 * 8 : -(-(x + edit["w"]) // 8) * 8] = False
    pictures = [_pixels(picture) for picture in row["options"]]
    assert outside.mean() > 0.3
    for picture in pictures[1:]:
        assert (picture != pictures[0]).any()
        assert (picture[outside] == pictures[0][outside]).all()


def test_each_page_is_decoded_once_and_each_picture_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    for name in ("decode", "encode_jpeg"):
        original = getattr(sample_pictures, name)
        monkeypatch.setattr(
            sample_pictures, name, lambda *a, _o=original, _n=name, **k: (calls.update([_n]), _o(*a, **k))[1]
        )
    run_stage(ReleaseSamples("test"), inputs(6))
    # Both windows need two pages each, the two pages between them none. Plain panels: 8 a window; drawn options: 6.
    assert calls == {"decode": 4, "encode_jpeg": 2 * (8 + 6)}


def test_pictures_of_passed_pages_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = 40
    book = tables(pages)
    windows = [row for first in range(0, pages - 1, 2) for row in _shifted(first)]
    book["comicspap_test"] = sorted(windows, key=lambda row: TASKS.index(row["task_type"]))
    held: list[int] = []
    original = sample_pictures._pictured

    def watched(job: Any, pictures: Mapping[Any, bytes]) -> Any:
        held.append(len(pictures))
        return original(job, pictures)

    monkeypatch.setattr(sample_pictures, "_pictured", watched)
    found, failures, _ = run_stage(ReleaseSamples("test"), FakeInputs("b", book))
    assert not failures and _by_task(found) == _by_task(book["comicspap_test"])
    # One window's eight panels and six drawn options, however many windows the book has.
    assert max(held) <= 14


def _shifted(first_page: int) -> list[Row]:
    """The first window's samples, moved on by some pages."""

    def moved(panel_id: str) -> str:
        book, page, order = panel_id.rsplit("/", 2)
        return f"{book}/{int(page) + first_page:04d}/{order}"

    rows = tables(2)["comicspap_test"][::2]
    return [
        row
        | {
            "sample_id": moved(row["sample_id"]),
            "context": [moved(panel_id) for panel_id in row["context"]],
            "options": [{**o, "panel_id": moved(o["panel_id"])} for o in row["options"]],
        }
        for row in rows
    ]


def test_order_within_a_task_holds_where_a_later_sample_is_whole_earlier() -> None:
    book = tables()
    book["comicspap_test"].reverse()
    rows, failures, _ = run_stage(ReleaseSamples("test"), FakeInputs("b", book))
    assert not failures
    assert _by_task(rows) == _by_task(book["comicspap_test"])


def test_hidden_answers_are_minus_one_and_kept_apart() -> None:
    rows, _, _ = run_stage(ReleaseSamples("test", hide_answers=True), inputs())
    assert {row["solution_index"] for row in rows} == {-1}
    answers, _, _ = run_stage(KeepAnswers("test"), inputs())
    assert answers == [
        {name: sample[name] for name in ("sample_id", "task_type", "solution_index")}
        for sample in tables()["comicspap_test"]
    ]
    assert not KeepAnswers("test").output.startswith("releases/comicspap/")


def test_a_broken_page_fails_its_samples_and_no_other() -> None:
    rows, failures, _ = run_stage(ReleaseSamples("test"), inputs(p1=b"\x89PNG no picture"))
    samples = tables()["comicspap_test"]
    assert _by_task(rows) == _by_task(samples[1::2])
    assert {f.item_id for f in failures} == {"series/a book/0001"} | {s["sample_id"] for s in samples[::2]}
    assert Counter(f.kind for f in failures)["picture_missing"] == 5


def test_a_sample_with_an_unknown_panel_is_a_failure() -> None:
    book = tables()
    book["comic_panels"] = [row for row in book["comic_panels"] if row["page_number"] != 4]
    rows, failures, _ = run_stage(ReleaseSamples("test"), FakeInputs("b", book))
    assert len(rows) + len(failures) == len(book["comicspap_test"]) and len(rows) >= 5
    assert all("0004/" in f.message for f in failures)


def test_an_option_whose_text_does_not_fit_is_a_failure() -> None:
    book = tables()
    for sample in book["comicspap_test"]:
        sample["font_size"] = sample["font_size"] and 60
    rows, failures, _ = run_stage(ReleaseSamples("test"), FakeInputs("b", book))
    assert {row["task_type"] for row in rows} == {"sequence_filling", "visual_closure", "caption_relevance"}
    assert {"text_does_not_fit", "picture_missing"} == {f.kind for f in failures}


def test_a_book_without_samples_reads_no_page() -> None:
    class NoPages(FakeInputs):
        def batches(self, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
            raise AssertionError("pages were read")

    book = tables() | {"comicspap_test": []}
    assert run_stage(ReleaseSamples("test"), NoPages("b", book)) == ([], [], [])


@pytest.mark.parametrize("rendering", [Rendering(), Rendering("squares", keep_aspect=True)])
def test_single_images_hold_each_sample(rendering: Rendering) -> None:
    stage = ReleaseRendered("test", hide_answers=True, rendering=rendering)
    rows, failures, _ = run_stage(stage, inputs())
    assert not failures
    assert stage.output.format("text_closure") == "releases/comicspap/text_closure_single_image/test"
    counts = {s["sample_id"]: len(s["options"]) for s in tables()["comicspap_test"]}
    assert {row["sample_id"]: row["option_count"] for row in rows} == counts
    assert all(_pixels(row["image"]).shape[2] == 3 and row["solution_index"] == -1 for row in rows)


def test_same_rows_each_time() -> None:
    for stage in (ReleaseSamples("test"), ReleaseRendered("test")):
        assert run_stage(stage, inputs()) == run_stage(stage, inputs())


def test_every_setting_is_part_of_the_configuration() -> None:
    stages = (
        ReleaseRendered("test"),
        ReleaseRendered("test", rendering=Rendering("squares")),
        ReleaseRendered("test", jpeg_quality=80),
        ReleaseRendered("test", hide_answers=True),
    )
    assert len({canonical_json(stage.config()) for stage in stages}) == len(stages)
    assert all(pickle.loads(pickle.dumps(stage)) == stage for stage in stages)


def test_a_quality_that_jpeg_does_not_have_is_refused() -> None:
    with pytest.raises(SettingsError):
        ReleaseSamples("test", jpeg_quality=0)
