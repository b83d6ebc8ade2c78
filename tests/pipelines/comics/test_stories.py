"""Runs of pages that make a story: what ends one, what is passed over, and what a person marked."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.comics.stories import SOURCE, SplitStories, letter_height
from pipelines.geometry import Box
from pipelines.schemas import PAGE_KINDS
from pipelines.stage import Dropped, Failure, Row
from tests.pipelines.comics.made_book import BOOK, FOUR, HEIGHT, Book, Page, Words, story_page
from tests.stage_inputs import FakeInputs, run_stage

PAGE = story_page()
SPLASH = Box(20, 200, 760, 500)
TITLE = Words("THE LAST LIGHTHOUSE", None, Box(100, 100, 600, 60))


def run(book: Book) -> tuple[list[Row], list[Failure], list[Dropped]]:
    return run_stage(SplitStories(), FakeInputs(BOOK, book.tables()))


def runs(book: Book) -> list[tuple[int, int]]:
    """First and last page of each story, where nothing fails."""
    rows, failures, _ = run(book)
    assert not failures
    assert [row["story_id"] for row in rows] == [f"{BOOK}/s{n:02d}" for n in range(1, len(rows) + 1)]
    assert {row["source"] for row in rows} <= {SOURCE if book.stories is None else "human"}
    return [(row["first_page"], row["last_page"]) for row in rows]


def of_kinds(*kinds: str | None) -> list[tuple[int, int]]:
    return runs(Book.of(*(replace(PAGE, kind=kind) for kind in kinds)))


def title_page(*texts: Words, panels: tuple[Box, ...] = (SPLASH,)) -> Page:
    return Page(panels, texts or (TITLE,))


def test_a_run_of_story_pages_is_one_story() -> None:
    assert of_kinds(*["story"] * 4) == [(1, 4)]
    assert of_kinds("cover", "story", "story") == [(2, 3)]
    assert of_kinds("story", "story", "advertisement") == [(1, 2)]
    assert of_kinds("cover", "letters") == []
    assert of_kinds() == []


@pytest.mark.parametrize("kind", [kind for kind in PAGE_KINDS if kind not in ("story", "advertisement")])
def test_other_kinds_end_it(kind: str) -> None:
    assert of_kinds("story", kind, "story", "story") == [(1, 1), (3, 4)]


def test_advertisements_and_repeated_or_blank_pages_are_passed_over() -> None:
    assert of_kinds("story", "advertisement", "advertisement", "story") == [(1, 4)]
    assert of_kinds("story", None, "story") == [(1, 3)]
    assert of_kinds("story", "advertisement", "letters", "advertisement", "story") == [(1, 1), (5, 5)]


def test_a_page_that_could_not_be_read_ends_it() -> None:
    assert runs(Book({1: PAGE, 2: PAGE, 4: PAGE})) == [(1, 2), (4, 4)]
    assert runs(Book({3: PAGE, 5: PAGE})) == [(3, 3), (5, 5)]


@pytest.mark.parametrize("words", ["The End", "THE END!", "Fin.", "To be continued...", "Continued next issue", "end"])
def test_a_closing_caption_ends_it(words: str) -> None:
    closing = story_page("One", "Two", "Three", words)
    assert runs(Book.of(PAGE, closing, PAGE)) == [(1, 2), (3, 3)]
    numbered = replace(closing, texts=[*closing.texts, Words("17", None, Box(400, 1180, 20, 15))])
    assert runs(Book.of(PAGE, numbered, PAGE)) == [(1, 2), (3, 3)], "a page number after it"


@pytest.mark.parametrize("words", ["This is the end of you", "The endless sea", "Fine", "Continued"])
def test_what_only_sounds_like_it_does_not(words: str) -> None:
    assert runs(Book.of(PAGE, story_page("One", "Two", "Three", words), PAGE)) == [(1, 3)]
    assert runs(Book.of(PAGE, story_page("The end", "Two", "Three", "Four"), PAGE)) == [(1, 3)], "not at the end"


def test_a_title_page_opens_the_next_story() -> None:
    assert runs(Book.of(PAGE, title_page(), PAGE)) == [(1, 1), (2, 3)]
    assert runs(Book.of(title_page(), PAGE)) == [(1, 2)]
    assert runs(Book.of(title_page(), title_page(), PAGE)) == [(1, 1), (2, 3)]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (title_page(panels=FOUR), "no panel is a splash"),
        (title_page(panels=(Box(20, 200, 760, 370),)), "under three tenths of the page"),
        (title_page(panels=(Box(20, 400, 760, 700),)), "the splash stands in the lower part"),
        (title_page(replace(TITLE, box=Box(100, 700, 600, 60))), "the title stands in the lower part"),
        (title_page(replace(TITLE, box=Box(100, 100, 300, 20))), "the letters are a balloon's"),
        (title_page(replace(TITLE, text="KRAKOOOM")), "one word is a sound"),
        (title_page(replace(TITLE, text="NO NO NO NO")), "one word again and again"),
        (title_page(replace(TITLE, text="A B C")), "too few letters"),
        (title_page(Words("a b c d e f g h i", None, Box(20, 20, 760, 300))), "too many words"),
    ],
)
def test_what_is_no_title_page(page: Page, why: str) -> None:
    assert runs(Book.of(PAGE, page, PAGE)) == [(1, 3)], why


def test_the_bounds_of_a_title_page() -> None:
    area = 0.3 * 800 * HEIGHT
    for height, opens in ((int(area / 800), True), (int(area / 800) - 1, False)):
        page = title_page(panels=(Box(0, 360, 800, height),))
        assert (runs(Book.of(PAGE, page)) == [(1, 1), (2, 2)]) == opens
    for top, opens in ((360 - 30, True), (360 - 29, False)):
        page = title_page(replace(TITLE, box=Box(100, top, 600, 60)))
        assert (runs(Book.of(PAGE, page)) == [(1, 1), (2, 2)]) == opens


def test_the_height_of_letters() -> None:
    def height(text: str, w: int, h: int) -> float:
        return letter_height({"x": 0, "y": 0, "w": w, "h": h, "text": text})

    assert height("x" * 10, 120, 20) == pytest.approx(20), "one line"
    assert height("x" * 10, 60, 40) == pytest.approx(20), "the same in two lines"
    assert height("x", 500, 30) == 30, "never more than the box"
    assert height("", 10, 5) == 5


def test_what_a_person_marked_replaces_the_runs() -> None:
    book = Book.of(*[PAGE] * 8, stories=[(5, 7), (1, 3)])
    assert runs(book) == [(1, 3), (5, 7)]
    assert runs(Book.of(*[PAGE] * 3, stories=[])) == [], "a person said that there is none"
    # Neither titles nor closing captions cut what a person marked.
    assert runs(Book.of(PAGE, story_page("The end"), title_page(), PAGE, stories=[(1, 4)])) == [(1, 4)]
    assert runs(Book.of(PAGE, replace(PAGE, kind="letters"), PAGE, stories=[(1, 3)])) == [(1, 3)]


def test_a_lost_page_ends_a_person_s_story_too() -> None:
    assert runs(Book({1: PAGE, 2: PAGE, 4: PAGE, 6: PAGE}, stories=[(1, 4), (5, 6)])) == [(1, 2), (4, 4), (6, 6)]


@pytest.mark.parametrize(
    ("stories", "named", "kept"),
    [
        ([(3, 2)], "ends before it begins", []),
        ([(1, 3), (3, 4)], "overlaps the one that ends on page 3", [(1, 3)]),
        ([(1, 4), (2, 3)], "overlaps the one that ends on page 4", [(1, 4)]),
        ([(1, 2), (3, 5)], "goes beyond the book, whose last page is 4", [(1, 2)]),
        ([(9, 12)], "goes beyond the book", []),
    ],
)
def test_what_cannot_be_is_a_failure(stories: list[tuple[int, int]], named: str, kept: list[tuple[int, int]]) -> None:
    rows, (failure,), _ = run(Book.of(*[PAGE] * 4, stories=stories))
    assert failure.kind == "annotation_conflict" and named in failure.message
    assert "Correct it in the annotation file." in failure.message
    first, last = stories[-1]
    assert failure.item_id == f"{BOOK}: pages {first} to {last}"
    assert [(row["first_page"], row["last_page"]) for row in rows] == kept


def test_a_story_without_a_story_page_is_left_out_with_the_reason() -> None:
    letters = replace(PAGE, kind="letters")
    rows, _, dropped = run(Book.of(letters, letters, PAGE, stories=[(1, 2), (3, 3)]))
    assert [(row["story_id"], row["first_page"]) for row in rows] == [(f"{BOOK}/s01", 3)]
    assert dropped == [Dropped(f"{BOOK}: pages 1 to 2", "holds no story page")]
    rows, _, dropped = run(Book({1: PAGE, 4: PAGE}, stories=[(1, 1), (2, 3), (4, 4)]))
    assert [row["first_page"] for row in rows] == [1, 4]
    assert dropped == [Dropped(f"{BOOK}: pages 2 to 3", "none of its pages could be read")]


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*PAGE_KINDS, None, "lost"]), max_size=12))
def test_each_story_page_is_in_one_story_and_no_story_crosses_what_ends_one(kinds: list[Any]) -> None:
    pages = {n: replace(PAGE, kind=kind) for n, kind in enumerate(kinds, 1) if kind != "lost"}
    found = runs(Book(pages))
    covered = [page for first, last in found for page in range(first, last + 1)]
    assert len(covered) == len(set(covered)) and covered == sorted(covered)
    assert {n for n, kind in enumerate(kinds, 1) if kind == "story"} <= set(covered)
    assert all(kinds[page - 1] in ("story", "advertisement", None) for page in covered)
    for first, last in found:
        assert kinds[first - 1] == kinds[last - 1] == "story"
    for (_, end), (start, _) in pairwise(found):
        assert any(kinds[page - 1] not in ("story", "advertisement", None) for page in range(end + 1, start))


def test_the_order_of_rows_does_not_matter() -> None:
    tables = Book.of(PAGE, story_page("One", "Two", "Three", "The end"), title_page(), PAGE).tables()
    turned = {name: rows[::-1] for name, rows in tables.items()}
    given_, other = (run_stage(SplitStories(), FakeInputs(BOOK, t)) for t in (tables, turned))
    assert given_ == other and len(given_[0]) == 2
