"""The audit finds what gives answers away, by name, and nothing in samples without a shortcut."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from pipelines.pick_a_panel.audit import AuditSamples
from pipelines.pick_a_panel.build import samples
from pipelines.pick_a_panel.samples import Sample, TaskSettings
from pipelines.pick_a_panel.solvers import BY_DESIGN, SOLVERS
from pipelines.schemas import COMICSPAP_SAMPLES, TASKS
from pipelines.stage import Dropped, Row
from tests.pipelines.pick_a_panel.made_samples import OPTIONS, Plant, a_panel, made
from tests.pipelines.pick_a_panel.made_stories import spoken_story
from tests.stage_inputs import FakeInputs, run_stage


def audited(tables: dict[str, Any], shard: str = "test") -> list[Row]:
    rows, failures, dropped = run_stage(AuditSamples(), FakeInputs(shard, tables))
    assert not failures and not dropped
    return rows


def right(sample: Row) -> Row:
    return sample["options"][sample["solution_index"]]


def right_first(sample: Row, panels: dict[str, Row]) -> None:
    sample["solution_index"] = 0


def right_longest(sample: Row, panels: dict[str, Row]) -> None:
    right(sample)["edits"][0]["text"] = "x" * 100


def right_shortest(sample: Row, panels: dict[str, Row]) -> None:
    right(sample)["edits"][0]["text"] = "x"


def longer_in_larger(sample: Row, panels: dict[str, Row]) -> None:
    def fits(option: Row) -> bool:
        a, b = option["edits"]
        return (a["w"] * a["h"] > b["w"] * b["h"]) == (len(a["text"]) > len(b["text"]))

    sample["solution_index"] = 0 if fits(sample["options"][0]) else 1


def right_biggest(sample: Row, panels: dict[str, Row]) -> None:
    panel = panels[right(sample)["panel_id"]]
    panel["w"], panel["h"] = panel["w"] * 5, panel["h"] * 5


def right_blurred(sample: Row, panels: dict[str, Row]) -> None:
    panels[right(sample)["panel_id"]]["sharpness"] = 1.0


def right_smallest_file(sample: Row, panels: dict[str, Row]) -> None:
    panels[right(sample)["panel_id"]]["jpeg_bytes"] = 100


def right_coloured_like_the_context(sample: Row, panels: dict[str, Row]) -> None:
    shown = [panels[name]["colours"] for name in sample["context"]]
    panels[right(sample)["panel_id"]]["colours"] = [sum(cell) / len(shown) for cell in zip(*shown, strict=True)]


def right_drawn_like_the_context(sample: Row, panels: dict[str, Row]) -> None:
    panels[right(sample)["panel_id"]]["phash"] = panels[sample["context"][1]]["phash"]


def right_never_shown() -> Plant:
    """Each sample's context is the wrong options of the sample before it."""
    before: list[str] = []

    def plant(sample: Row, panels: dict[str, Row]) -> None:
        wrong = [option["panel_id"] for option in sample["options"] if option is not right(sample)]
        sample["context"] = before[:4] or sample["context"]
        before[:] = wrong

    return plant


@pytest.mark.parametrize(
    ("task", "plant", "solver"),
    [
        ("visual_closure", right_first, "first option"),
        ("char_coherence", right_first, "first option"),
        ("text_closure", right_longest, "longest text"),
        ("text_closure", right_shortest, "shortest text"),
        ("char_coherence", longer_in_larger, "longer text in the larger box"),
        ("sequence_filling", right_biggest, "most area"),
        ("caption_relevance", right_biggest, "most area"),
        ("visual_closure", right_blurred, "least sharpness"),
        ("caption_relevance", right_smallest_file, "least bytes"),
        ("sequence_filling", right_coloured_like_the_context, "colours most like the context"),
        ("visual_closure", right_drawn_like_the_context, "picture most like one of the context"),
        ("sequence_filling", right_never_shown(), "in the contexts of the fewest other samples"),
    ],
)
def test_a_planted_shortcut_is_found_by_its_solver_alone(task: str, plant: Plant, solver: str) -> None:
    rows = audited(made(task, 80, 0, plant))
    assert {row["solver"] for row in rows if row["leak"]} == {solver}
    row = next(row for row in rows if row["solver"] == solver)
    assert row["accuracy"] > 90 and row["low"] > row["chance"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_random_answers_are_no_shortcut(task: str, count: int) -> None:
    for seed in range(4):
        rows = audited(made(task, count, seed))
        assert [row["solver"] for row in rows] == list(SOLVERS[task])
        assert not any(row["leak"] for row in rows)
        assert all(row["chance"] == pytest.approx(100 / OPTIONS[task]) for row in rows)
        assert all(row["samples"] == count for row in rows)
        assert all(0 <= row["low"] <= row["accuracy"] <= row["high"] <= 100 for row in rows)


@pytest.mark.parametrize("split", ["train", "test"])
def test_samples_by_the_tasks_own_rules_have_no_shortcut_but_the_one_by_design(split: str) -> None:
    source = random.Random(11)
    stories = [(f"b/s{n}", spoken_story(45, 3, f"b/s{n}")) for n in range(12)]
    rows = [
        sample.row(book_id="b", split="test", source="test")
        for sample in samples(stories, split, TaskSettings())
        if isinstance(sample, Sample)
    ]
    looks = pa.Table.from_pylist([a_panel(panel.panel_id, source) for _, panels in stories for panel in panels])
    found = audited({"comicspap_test": rows, "comic_panels": looks, "comic_panel_features": looks})
    assert {row["task_type"] for row in found} == set(TASKS)
    leaks = {(row["task_type"], row["solver"]) for row in found if row["leak"]}
    by_design = {(task, solver) for task in ("sequence_filling", "visual_closure") for solver in BY_DESIGN}
    # Where windows overlap, other samples show the right panel of a closure as often as its distractors.
    assert leaks == (by_design if split == "test" else by_design - {("visual_closure", *BY_DESIGN)})


def test_rows_come_task_by_task_and_a_task_without_samples_has_none() -> None:
    one, other = made("text_closure", 5, 0), made("sequence_filling", 5, 1)
    both = {
        "comicspap_test": one["comicspap_test"] + other["comicspap_test"],
        "comic_panels": pa.concat_tables([one["comic_panels"], other["comic_panels"]]),
    }
    both["comic_panel_features"] = both["comic_panels"]
    tasks = [row["task_type"] for row in audited(both)]
    assert tasks == ["sequence_filling"] * len(SOLVERS["sequence_filling"]) + ["text_closure"] * len(
        SOLVERS["text_closure"]
    )
    assert audited(both, "val") == []


def test_a_sample_of_unknown_panels_is_left_out_with_the_reason() -> None:
    tables = made("visual_closure", 10, 0)
    tables["comic_panel_features"] = tables["comic_panel_features"].slice(1)
    rows, _, dropped = run_stage(AuditSamples(), FakeInputs("test", tables))
    assert {row["samples"] for row in rows} == {9}
    assert dropped == [Dropped("visual_closure/b/0000/00", "a panel of it has no row in comic_panel_features")]


def test_all_that_it_reads_is_named() -> None:
    # Only what a stage names makes it stale when it changes.
    class Watched(FakeInputs):
        def whole(self, name: str, columns: list[str] | None = None) -> pa.Table:
            assert name in AuditSamples.gathers
            return super().whole(name, columns)

    for shard in ("train", "val", "test"):
        run_stage(AuditSamples(), Watched(shard, made("caption_relevance", 2, 0)))
    assert AuditSamples().reads == ()
    assert {name for name in AuditSamples.gathers if name.startswith("comicspap_")} == {
        "comicspap_train",
        "comicspap_val",
        "comicspap_test",
    }


def test_what_is_by_design_is_a_solver_and_says_why() -> None:
    every = {solver for solvers in SOLVERS.values() for solver in solvers}
    assert BY_DESIGN.keys() <= every
    assert all(reason.endswith(".") for reason in BY_DESIGN.values())


def test_the_samples_are_those_of_the_table() -> None:
    pa.Table.from_pylist(made("char_coherence", 3, 0)["comicspap_test"], schema=COMICSPAP_SAMPLES).validate(full=True)
