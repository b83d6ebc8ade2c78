"""The audit finds what gives answers away, by name, and nothing in samples without a shortcut."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from scipy.stats import binomtest

from pipelines.pick_a_panel.audit import AuditSamples, measure, wilson
from pipelines.pick_a_panel.build import samples
from pipelines.pick_a_panel.samples import Sample, TaskSettings
from pipelines.pick_a_panel.solvers import BY_DESIGN, SOLVERS
from pipelines.schemas import COMICSPAP_SAMPLES, TASKS
from pipelines.stage import Dropped, Row
from tests.pipelines.pick_a_panel.made_stories import spoken_story
from tests.stage_inputs import FakeInputs, run_stage

OPTIONS = {
    "sequence_filling": 5,
    "char_coherence": 2,
    "visual_closure": 7,
    "text_closure": 4,
    "caption_relevance": 4,
}
Plant = Callable[[Row, dict[str, Row]], None]
"""Changes a sample, given all panels by id (rows of both tables of panels in one)."""


def a_panel(name: str, source: random.Random) -> Row:
    """A panel that looks like nothing in particular: columns of `comic_panels` and `comic_panel_features`."""
    colours = [source.random() ** 4 for _ in range(64)]
    return {
        "panel_id": name,
        "w": source.randint(200, 900),
        "h": source.randint(200, 900),
        "sharpness": source.uniform(50, 900),
        "edge_density": source.random(),
        "jpeg_bytes": source.randint(10_000, 90_000),
        "phash": f"{source.getrandbits(64):016x}",
        "colours": [value / sum(colours) for value in colours],
    }


def an_edit(source: random.Random) -> Row:
    box = {"x": 0, "y": 0, "w": source.randint(60, 300), "h": source.randint(30, 200)}
    return box | {"text": "x" * source.randint(10, 90)}


def made(task: str, count: int, seed: int, plant: Plant = lambda sample, panels: None) -> dict[str, Any]:
    """Tables with samples of a task whose answers are random, then changed by `plant`; no panel is used twice."""
    source = random.Random(f"{task} {seed}")
    rows: list[Row] = []
    panels: dict[str, Row] = {}
    for number in range(count):
        names = [f"b/{number:04d}/{place:02d}" for place in range(12)]
        panels |= {name: a_panel(name, source) for name in names}
        options = [{"panel_id": name, "edits": []} for name in names[4 : 4 + OPTIONS[task]]]
        if task == "text_closure":
            options = [{"panel_id": names[4], "edits": [an_edit(source)]} for _ in options]
        if task == "char_coherence":
            edits = [an_edit(source), an_edit(source)]
            texts = [edit["text"] for edit in edits]
            swapped = [edit | {"text": text} for edit, text in zip(edits, reversed(texts), strict=True)]
            options = [{"panel_id": names[4], "edits": edits}, {"panel_id": names[4], "edits": swapped}]
        rows.append(
            {
                "sample_id": f"{task}/{names[0]}",
                "task_type": task,
                "split": "test",
                "book_id": "b",
                "story_id": "b/s01",
                "context": [] if task == "caption_relevance" else names[:4],
                "index": 4,
                "options": options,
                "solution_index": source.randrange(len(options)),
                "font_size": None,
                "previous_panel_caption": "",
                "source": "test",
            }
        )
        plant(rows[-1], panels)
    table = pa.Table.from_pylist(list(panels.values()))
    return {"comicspap_test": rows, "comic_panels": table, "comic_panel_features": table}


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


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(5, 10, 23.7, 76.3), (0, 10, 0, 27.8), (10, 10, 72.2, 100), (1, 1, 20.7, 100), (81, 263, 25.5, 36.6)],
)
def test_wilson_interval_against_known_values(hits: int, n: int, low: float, high: float) -> None:
    found = [100 * bound for bound in wilson(hits / n, n)]
    assert found == pytest.approx([low, high], abs=0.05)
    known = binomtest(hits, n).proportion_ci(method="wilson")
    assert found == pytest.approx([100 * known.low, 100 * known.high], abs=1e-4)


@pytest.mark.parametrize("options", [2, 4, 7])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 500])
def test_the_p_value_bounds_the_exact_one(options: int, n: int) -> None:
    for hits in {1, n // 2, n - 1, n} - {0}:
        found = measure([1.0] * hits + [0.0] * (n - hits), [options] * n)
        exact = binomtest(hits, n, 1 / options, alternative="greater").pvalue
        assert exact <= found["p_value"] * (1 + 1e-9)
        assert found["accuracy"] > found["chance"] or found["p_value"] == 1
    assert measure([1.0] * n, [options] * n)["p_value"] == pytest.approx(options**-n)


def test_two_lucky_guesses_are_no_shortcut_and_many_are() -> None:
    assert not measure([1.0, 1.0], [7, 7], tests=80)["leak"]
    assert measure([1.0] * 10, [7] * 10, tests=80)["leak"]
    assert not measure([1.0] * 3, [7] * 3, tests=80)["leak"]
    assert measure([1.0] * 3, [7] * 3)["leak"]


def test_chance_is_the_mean_over_samples() -> None:
    mixed = measure([0.0] * 262, [5] * 259 + [3] * 2 + [2])
    assert mixed["chance"] == pytest.approx(20.22, abs=0.005)
    assert mixed["p_value"] == 1


def test_what_is_by_design_is_a_solver_and_says_why() -> None:
    every = {solver for solvers in SOLVERS.values() for solver in solvers}
    assert BY_DESIGN.keys() <= every
    assert all(reason.endswith(".") for reason in BY_DESIGN.values())


def test_the_samples_are_those_of_the_table() -> None:
    pa.Table.from_pylist(made("char_coherence", 3, 0)["comicspap_test"], schema=COMICSPAP_SAMPLES).validate(full=True)
