from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.identity import page_id, panel_id, text_id
from pipelines.pick_a_panel.build import BuildSamples
from pipelines.pick_a_panel.samples import chance
from pipelines.schemas import TABLES, TASKS
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.made_stories import BOXES, PANEL, words
from tests.stage_inputs import FakeInputs, run_stage

BOOK = "série/one"


def page_row(number: int, duplicate_of: int | None = None) -> Row:
    return {
        "page_id": page_id(BOOK, number),
        "book_id": BOOK,
        "page_number": number,
        "member": f"{number}.png",
        "image": b"",
        "media_type": "image/png",
        "width": 900,
        "height": 900,
        "sha256": "",
        "phash": "",
        "spread": False,
        "duplicate_of": page_id(BOOK, duplicate_of) if duplicate_of else None,
        "kind": "story",
        "source": "test",
    }


def book(
    panels_on: dict[int, int],
    stories: list[tuple[int, int]],
    *,
    split: str = "train",
    kinds: dict[int, str] | None = None,
    duplicates: dict[int, int] | None = None,
) -> dict[str, Any]:
    """The tables of a book: `panels_on` gives each page's number of panels; each panel speaks and is captioned."""
    source = random.Random(7)
    tables: dict[str, Any] = {name: [] for name in BuildSamples.inputs}
    shared = {"book_id": BOOK, "source": "test"}
    tables["comic_books"].append(
        {**shared, "title": "One", "split": split, "right_to_left": False, "container": "zip", "path": "one.cbz"}
    )
    for number, count in panels_on.items():
        page = {**shared, "page_id": page_id(BOOK, number), "page_number": number}
        tables["comic_pages"].append(page_row(number, (duplicates or {}).get(number)))
        tables["comic_page_kinds"].append({**page, "kind": (kinds or {}).get(number, "story"), "reason": "test"})
        for order in range(1, count + 1):
            panel = panel_id(page["page_id"], order)
            tables["comic_panels"].append(
                {**page, "panel_id": panel, "reading_order": order, **PANEL._asdict(), "polygon": [], "confidence": 1}
            )
            phash = f"{random.Random(panel).getrandbits(64):016x}"
            tables["comic_panel_features"].append({"panel_id": panel, "phash": phash})
            tables["comic_captions"].append({**shared, "panel_id": panel, "caption": "A hill."})
            for place, box in enumerate(BOXES):
                tables["comic_texts"].append(
                    {
                        **page,
                        "text_id": text_id(page["page_id"], 2 * order + place),
                        "panel_id": panel,
                        "reading_order": 2 * order + place,
                        **box._asdict(),
                        "text": words(source, 20),
                        "confidence": 1,
                        "panel_share": 1,
                    }
                )
    for number, (first, last) in enumerate(stories, 1):
        tables["comic_stories"].append(
            {**shared, "story_id": f"{BOOK}/s{number:02d}", "first_page": first, "last_page": last}
        )
    features = pa.table(
        {
            name: [row[name] for row in tables["comic_panel_features"]] or pa.array([], pa.string())
            for name in ("panel_id", "phash")
        }
    )
    rows = {
        name: pa.Table.from_pylist(rows, schema=TABLES[name])
        for name, rows in tables.items()
        if name != "comic_panel_features"
    }
    return {**rows, "comic_panel_features": features}


def run(tables: dict[str, Any]) -> tuple[list[Row], list[Any], dict[str, str]]:
    rows, failures, dropped = run_stage(BuildSamples(), FakeInputs(BOOK, tables))
    return rows, failures, {item.item_id: item.reason for item in dropped}


def of_task(rows: list[Row], task: str) -> list[Row]:
    return [row for row in rows if row["task_type"] == task]


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


def test_the_order_of_input_rows_does_not_matter() -> None:
    tables = book(dict.fromkeys(range(1, 5), 5), [(1, 2), (3, 4)])
    turned = {name: table.take(list(range(table.num_rows))[::-1]) for name, table in tables.items()}
    assert run(tables) == run(turned)


def test_one_text_edited_changes_exactly_the_samples_that_use_it() -> None:
    tables = book(dict.fromkeys(range(1, 11), 6), [(1, 10)])
    before, _, _ = run(tables)
    texts = tables["comic_texts"].to_pylist()
    edited = texts[60]
    assert edited["panel_id"].endswith("0006/01")
    edited["text"] = "QUITE OTHER WORDS NOW"
    after, _, _ = run({**tables, "comic_texts": texts})
    ids = [row["panel_id"] for row in tables["comic_panels"].to_pylist()]
    place = ids.index(edited["panel_id"])
    rows = {row["sample_id"]: row for row in after}
    changed = [row for row in before if rows.get(row["sample_id"]) != row]
    assert changed
    for row in changed:
        first = ids.index(row["sample_id"].split("/", 1)[1])
        assert row["task_type"] in ("text_closure", "char_coherence")
        assert first - 10 <= place < first + 4 + 10


def changed_samples(tables: dict[str, Any], edited: dict[str, Any]) -> list[Row]:
    """The samples of the first tables that the edited ones do not give just so."""
    before, _, _ = run(tables)
    after, _, _ = run(tables | edited)
    rows = {row["sample_id"]: row for row in after}
    assert len(before) > 200
    return [row for row in before if rows.get(row["sample_id"]) != row]


def test_one_textbox_moved_changes_exactly_the_samples_that_draw_in_it() -> None:
    tables = book(dict.fromkeys(range(1, 11), 6), [(1, 10)])
    texts = tables["comic_texts"].to_pylist()
    moved = texts[60]
    moved["x"] += 5
    drawn = [
        row["sample_id"]
        for row in run(tables)[0]
        for edit in row["options"][0]["edits"]
        if row["options"][0]["panel_id"] == moved["panel_id"] and edit["x"] == moved["x"] - 5
    ]
    assert drawn and [row["sample_id"] for row in changed_samples(tables, {"comic_texts": texts})] == drawn


def test_two_panels_in_the_other_order_change_the_samples_around_them_alone() -> None:
    """Ids count panels in reading order, so the pictures and words of two ids change places."""
    tables = book(dict.fromkeys(range(1, 11), 6), [(1, 10)])
    a, b = panel_id(page_id(BOOK, 6), 1), panel_id(page_id(BOOK, 6), 2)
    other = {a: b, b: a}
    edited: dict[str, Any] = {}
    for name in ("comic_panel_features", "comic_texts"):
        rows = [row | {"panel_id": other.get(row["panel_id"], row["panel_id"])} for row in tables[name].to_pylist()]
        edited[name] = pa.Table.from_pylist(rows, schema=tables[name].schema)
    changed = changed_samples(tables, edited)
    ids = [row["panel_id"] for row in tables["comic_panels"].to_pylist()]
    place = ids.index(a)
    assert changed
    for row in changed:
        first = ids.index(row["sample_id"].split("/", 1)[1])
        assert first - 10 <= place + 1 and place < first + 5 + 10
    # Texts that are drawn stand in the swapped panels: those samples must have changed.
    drawn = {
        row["sample_id"]
        for row in run(tables)[0]
        if row["options"][0]["edits"] and row["options"][0]["panel_id"] in other
    }
    assert drawn and drawn <= {row["sample_id"] for row in changed}


def test_an_empty_book_has_no_samples() -> None:
    assert run(book({}, [])) == ([], [], {})
