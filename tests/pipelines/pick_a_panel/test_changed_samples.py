"""An edit of a book changes the samples that use what was edited, and no other."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pipelines.identity import page_id, panel_id
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.built_book import BOOK, book, run


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
