"""Captions follow the panels' numbers, and quoting is counted in words."""

from __future__ import annotations

import pytest

from pipelines.comics.captions import WriteCaptions, quoted_words
from tests.stage_inputs import FakeInputs, run_stage


@pytest.mark.parametrize(
    ("caption", "text", "words"),
    [
        ("A man opens a door.", "Who goes there?", 0),
        ("She says it's time to go.", "IT’S TIME -- TO GO!", 4),
        ("to go to go home", "go home to go", 2),
        ("", "anything", 0),
        ("Anything", "", 0),
    ],
)
def test_quoted_words_are_counted_in_a_row(caption: str, text: str, words: int) -> None:
    assert quoted_words(caption, text) == words


def test_captions_find_their_panels_by_number_and_one_without_a_panel_is_a_failure() -> None:
    panel = {
        "panel_id": "b/0001/01",
        "page_id": "b/0001",
        "book_id": "b",
        "page_number": 1,
        "reading_order": 1,
        **{"x": 0, "y": 0, "w": 9, "h": 9},
        "polygon": [[0, 0], [9, 0], [9, 9], [0, 9]],
        "confidence": 1.0,
        "source": "human",
    }
    note = {
        "book_id": "b",
        "page_id": "b/0001",
        "aspect": "captions",
        "payload": '{"1":"A door.","7":"A moon."}',
        "file": "b.json",
        "source": "human",
    }
    inputs = FakeInputs("b", {"comic_panels": [panel], "comic_annotations": [note]})
    rows, failures, _ = run_stage(WriteCaptions(), inputs)
    assert [(r["panel_id"], r["caption"]) for r in rows] == [("b/0001/01", "A door.")]
    assert [(f.item_id, f.kind) for f in failures] == [("b/0001", "unknown_panel")]
    assert "panel 7" in failures[0].message
