"""Windows of stories become samples or are dropped, and what no sample may show."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.identity import page_id
from pipelines.pick_a_panel.samples import chance
from pipelines.schemas import TASKS
from tests.pipelines.pick_a_panel.built_book import BOOK, book, of_task, page_row, run


@settings(max_examples=25)
@given(st.lists(st.integers(0, 14), max_size=5), st.sampled_from(["train", "val", "test"]))
def test_windows_are_samples_or_dropped(lengths: list[int], split: str) -> None:
    panels_on = {number: length for number, length in enumerate(lengths, 1)}
    rows, failures, dropped = run(book(panels_on, [(n, n) for n in panels_on], split=split))
    assert not failures
    ids = [row["sample_id"] for row in rows] + list(dropped)
    assert len(ids) == len(set(ids))
    for task, size in zip(TASKS, (5, 4, 4, 4, 5), strict=True):
        expected = sum(max(n - size + 1, 0) if split == "train" else n // size for n in lengths)
        assert sum(i.startswith(f"{task}/") for i in ids) == expected
    assert all(row["split"] == split for row in rows)
    assert [TASKS.index(row["task_type"]) for row in rows] == sorted(TASKS.index(row["task_type"]) for row in rows)
    for row in rows:
        same_page = {option["panel_id"].rsplit("/", 1)[0] for option in row["options"]}
        assert len(same_page) == 1, "a distractor from another story"


def test_option_counts_give_the_chance_line_of_long_stories() -> None:
    rows, _, _ = run(book(dict.fromkeys(range(1, 11), 6), [(1, 10)], split="test"))
    for task, line in zip(TASKS, (20, 50, 100 / 7, 25, 25), strict=True):
        samples = of_task(rows, task)
        assert len(samples) == (12 if task in ("sequence_filling", "caption_relevance") else 15)
        assert chance(len(row["options"]) for row in samples) == pytest.approx(line)


def test_pages_that_are_no_part_of_the_story() -> None:
    kinds = {3: "advertisement"}
    rows, _, dropped = run(book(dict.fromkeys(range(1, 7), 3), [(2, 5)], kinds=kinds, duplicates={5: 4, 4: 3}))
    used = {panel for row in rows for panel in (*row["context"], *(o["panel_id"] for o in row["options"]))}
    assert {panel.split("/")[-2] for panel in used} == {"0002", "0004"}
    assert {key: value for key, value in dropped.items() if key.startswith(BOOK)} == {
        page_id(BOOK, 1): "the page is in no story",
        page_id(BOOK, 3): "the page is of kind advertisement",
        page_id(BOOK, 5): "the page repeats an earlier page of its story",
        page_id(BOOK, 6): "the page is in no story",
    }


def test_a_page_shared_by_two_stories_belongs_to_the_first() -> None:
    rows, _, _ = run(book(dict.fromkeys(range(1, 6), 4), [(1, 3), (3, 5)]))
    assert len(of_task(rows, "visual_closure")) == (12 - 3) + (8 - 3)
    assert len({row["sample_id"] for row in rows}) == len(rows)


def test_no_window_spans_a_lost_page() -> None:
    panels_on = {1: 6, 2: 6, 4: 6}
    rows, _, _ = run(book(panels_on, [(1, 4)]))
    assert len(of_task(rows, "visual_closure")) == (12 - 3) + (6 - 3)
    assert {row["story_id"] for row in rows} == {f"{BOOK}/s01"}


def test_a_panel_that_was_not_looked_at_is_a_failure() -> None:
    tables = book({1: 12}, [(1, 1)])
    tables["comic_panel_features"] = tables["comic_panel_features"].slice(1)
    rows, failures, _ = run(tables)
    assert [(f.item_id, f.kind) for f in failures] == [(f"{BOOK}/0001/01", "no_features")]
    assert len(of_task(rows, "visual_closure")) == 11 - 3


def test_without_captions_every_window_says_why() -> None:
    tables = book({1: 12}, [(1, 1)])
    tables["comic_captions"] = tables["comic_captions"].slice(0, 0)
    rows, _, dropped = run(tables)
    assert not of_task(rows, "caption_relevance")
    assert Counter(dropped.values())["the first panel has no caption"] == 8


def test_an_empty_book_has_no_samples() -> None:
    assert run(book({}, [])) == ([], [], {})


def test_blank_and_repeated_pages_are_passed_over_and_cut_nothing() -> None:
    plain = book({1: 4, 2: 4, 3: 4, 4: 4}, [(1, 4)])
    rows, _, _ = run(plain)
    counts = {task: len(of_task(rows, task)) for task in TASKS}
    assert counts["sequence_filling"] == 12 and counts["visual_closure"] == 13
    # Such pages have no kind; pages 3 and 4 of this book are read all the same.
    tables = book({1: 4, 2: 4, 5: 4, 6: 4}, [(1, 6)])
    extra = [page_row(3), page_row(4, duplicate_of=2)]
    tables["comic_pages"] = pa.concat_tables(
        [tables["comic_pages"], pa.Table.from_pylist(extra, schema=tables["comic_pages"].schema)]
    )
    rows, _, _ = run(tables)
    assert {task: len(of_task(rows, task)) for task in TASKS if "closure" not in task} == {
        task: count for task, count in counts.items() if "closure" not in task
    }


def test_no_window_skips_a_panel_that_was_not_looked_at() -> None:
    tables = book({1: 12}, [(1, 1)])
    features = tables["comic_panel_features"]
    tables["comic_panel_features"] = pa.concat_tables([features.slice(0, 5), features.slice(6)])
    rows, failures, _ = run(tables)
    assert [f.item_id for f in failures] == [f"{BOOK}/0001/06"]
    for row in of_task(rows, "visual_closure"):
        window = [*row["context"], row["options"][row["solution_index"]]["panel_id"]]
        numbers = [int(panel.rsplit("/", 1)[1]) for panel in window]
        assert numbers == list(range(numbers[0], numbers[0] + 4))
    assert len(of_task(rows, "visual_closure")) == (5 - 3) + (6 - 3)
