"""The words and counts behind the signals of page kinds."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.comics.page_signals import LONG_BOX_WORDS, PageSignals
from pipelines.geometry import Box
from tests.pipelines.comics.made_book import (
    CREDITS,
    HEIGHT,
    SELLING,
    WIDTH,
)

LETTERS = {
    "heading": "Letters to the editor",
    "salutation": "Dear editor,",
    "closing": "Yours truly, a reader",
    "reply": "Write to us",
}


def signals(*texts: str, panels: tuple[Box, ...] = ()) -> PageSignals:
    rows = [{"panel_id": None, "text": text, "x": 0, "y": 0, "w": 10, "h": 10} for text in texts]
    return PageSignals(WIDTH, HEIGHT, panels, rows)


@pytest.mark.parametrize("group", SELLING)
def test_each_group_of_selling_words_is_one(group: str) -> None:
    assert signals(SELLING[group]).selling == [group]
    assert signals(SELLING[group].lower(), SELLING[group]).selling == [group]


@pytest.mark.parametrize("group", LETTERS)
def test_each_group_of_letter_words_is_one(group: str) -> None:
    assert signals(LETTERS[group]).letters == [group]


@pytest.mark.parametrize("group", CREDITS)
def test_each_group_of_credits_is_one(group: str) -> None:
    assert signals(CREDITS[group]).credit == [group]


def test_words_of_a_story_belong_to_no_group() -> None:
    page = signals(
        "Get off the street!", "Dear me, you owe me money.", "We patrol the box canyon", "She sold it in may"
    )
    assert (page.selling, page.letters, page.credit) == ([], [], [])


def test_counts_behind_the_signals() -> None:
    rows: list[dict[str, Any]] = [
        {"panel_id": "a", "text": "Two words", "x": 0, "y": 0, "w": 400, "h": 600},
        {"panel_id": "a", "text": "!? ... 3", "x": 400, "y": 0, "w": 400, "h": 600},
        {"panel_id": "b", "text": " ".join(["word"] * LONG_BOX_WORDS), "x": 0, "y": 600, "w": 400, "h": 300},
        {"panel_id": None, "text": "...", "x": 0, "y": 0, "w": 1, "h": 1},
    ]
    page = PageSignals(WIDTH, HEIGHT, [Box(0, 0, 400, 1200), Box(400, 0, 400, 600)], rows)
    assert page.words == 2 + 1 + LONG_BOX_WORDS
    assert page.lettered_panels == 1
    assert page.text_area == pytest.approx(0.625, abs=1e-5)
    assert page.prose_share == pytest.approx(LONG_BOX_WORDS / page.words)
    assert page.pictures == 0, "both are mostly under text"
    assert PageSignals(WIDTH, HEIGHT, [Box(0, 0, 400, 1200)], rows[:1]).pictures == 1, "a few words hide no picture"
    empty = PageSignals(0, 0, [], [])
    assert (empty.words, empty.text_area, empty.prose_share, empty.pictures) == (0, 0, 0, 0)
