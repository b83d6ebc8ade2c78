"""Each kind of page by each signal that gives it, what a person says over all, and the counts behind the signals."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.comics.detect_panels import DetectPanels
from pipelines.comics.page_kinds import SOURCE, DecideKinds
from pipelines.comics.page_pictures import open_picture
from pipelines.comics.page_signals import LONG_BOX_WORDS
from pipelines.comics.texts import ReadTexts
from pipelines.geometry import Box
from pipelines.schemas import PAGE_KINDS
from pipelines.stage import Dropped, Failure, Row
from resources.models.registry import describe_model
from tests.pipelines.comics.made_book import (
    BOOK,
    CREDITS,
    FOUR,
    SELLING,
    Book,
    Page,
    Words,
    flat,
    pid,
    prose,
    story_page,
)
from tests.stage_inputs import FakeInputs, run_stage


def kinds(book: Book) -> tuple[dict[int, Row], list[Failure], list[Dropped]]:
    """The rows by page number, failures, and what was left out."""
    rows, failures, dropped = run_stage(DecideKinds(), FakeInputs(BOOK, book.tables()))
    assert [row["page_number"] for row in rows] == sorted(row["page_number"] for row in rows)
    return {row["page_number"]: row for row in rows}, failures, dropped


def kind_of(page: Page, *before: Page) -> str:
    """The kind of a page that comes after others (none: a story page)."""
    pages = before or (story_page(),)
    return kinds(Book.of(*pages, page))[0][len(pages) + 1]["kind"]


def with_words(panels: tuple[Box, ...], *texts: str) -> Page:
    return Page(panels, [Words(text, None, Box(40, 900 + 20 * n, 100, 15)) for n, text in enumerate(texts)])


def test_a_page_is_a_story_page_until_a_signal_says_otherwise() -> None:
    for page in (story_page(), Page(FOUR), with_words((), "Hello"), with_words(FOUR[:1], "Meanwhile")):
        assert kind_of(page) == "story"
    row = kinds(Book.of(story_page(), story_page()))[0][2]
    assert (row["source"], row["reason"]) == (SOURCE, "no other signal; 4 panels, 10 words")


@pytest.mark.parametrize("said", ["advertisement", "letters", "text_story", "first_page", "cover"])
def test_what_the_file_says_wins_over_signals(said: str) -> None:
    row = kinds(Book.of(story_page(), story_page(said=said)))[0][2]
    assert (row["kind"], row["reason"]) == (said, "the file says so")


def test_the_first_page_is_a_cover_unless_it_has_the_panels_of_a_story() -> None:
    def first(page: Page) -> str:
        return kinds(Book.of(page, story_page()))[0][1]["kind"]

    assert first(Page(FOUR[:1], [Words("HERO", 1)], said="cover")) == "cover"
    assert first(story_page(said="cover")) == "story"
    assert first(story_page("One", "Two", "Three", said="cover")) == "story"
    # A grid of pictures with few words is a cover still, and so is a later page that the file calls one.
    assert first(story_page("One", "Two", said="cover")) == "cover"
    assert first(Page(FOUR[:3], story_page().texts[:3], said="cover")) == "cover"
    assert kind_of(story_page(said="cover")) == "cover"


def test_three_kinds_of_sales_talk_make_an_advertisement() -> None:
    talk = list(SELLING.values())
    assert kind_of(with_words((), *talk[:3])) == "advertisement"
    assert kind_of(with_words(FOUR[:2], *talk[:3])) == "advertisement"
    assert kind_of(with_words((), *talk[:2])) == "story"
    assert kind_of(with_words((), talk[0], talk[0], talk[0])) == "story", "one kind three times"


def test_a_page_of_lettered_panels_must_sell_harder() -> None:
    talk = list(SELLING.values())
    assert kind_of(story_page(*talk[:4])) == "story"
    assert kind_of(story_page(*talk[:5])) == "advertisement"
    # Three lettered panels are no story page: less is enough.
    assert kind_of(story_page(*talk[:3])) == "advertisement"


def test_prose_is_a_text_story_and_with_letters_words_letters() -> None:
    assert kind_of(prose(400)) == "text_story"
    assert kind_of(prose(200, boxes=4)) == "text_story"
    assert kind_of(prose(180)) == "story", "too few words"
    assert kind_of(prose(400, extra="Dear editor, write to us")) == "letters"
    assert kind_of(prose(400, extra="Dear editor")) == "text_story", "one group alone"


def test_prose_that_is_read_line_by_line_is_told_by_its_area() -> None:
    def lines(high: int) -> Page:
        return Page((), [Words("five words in a line", None, Box(100, 22 * n, 600, high)) for n in range(50)])

    assert kind_of(lines(13)) == "text_story"
    assert kind_of(lines(6)) == "story"


def test_a_talkative_story_page_is_no_prose() -> None:
    long = " ".join(["word"] * (LONG_BOX_WORDS - 1))
    page = story_page(*[long] * 8)
    assert kind_of(page) == "story"
    # The same words as paragraphs on the same panels: nothing there is a balloon any more.
    paragraphs = [Words(" ".join(["word"] * 80), n + 1, FOUR[n]) for n in range(4)]
    assert kind_of(Page(FOUR, paragraphs)) == "text_story"


def test_credits_without_a_picture_are_a_first_page_before_the_story_and_letters_after() -> None:
    one, two = CREDITS["staff"], CREDITS["imprint"]
    assert kinds(Book.of(with_words((), one), story_page()))[0][1]["kind"] == "first_page"
    assert kind_of(with_words((), one)) == "letters"
    assert kind_of(with_words(FOUR, one, two)) == "story", "pictures"
    parchment = Page(FOUR[:1], [Words(f"{one} {' word' * 40}", 1, FOUR[0])])
    assert kind_of(parchment) == "story", "one group is not enough where there is a panel"
    parchment = Page(FOUR[:1], [Words(f"{one} {two} {' word' * 40}", 1, FOUR[0])])
    assert kind_of(parchment) == "letters"
    badge = Box(600, 1120, 160, 60)
    assert kind_of(Page((*FOUR[:1], badge), parchment.texts)) == "letters", "a licence's badge is no picture"


def test_a_real_page_of_credits_with_a_badge_is_no_story_page(real_data: Path) -> None:
    (path,) = (real_data / "comics" / "peppercarrot-ep02").glob("E02P06.*")
    image = path.read_bytes()
    picture = open_picture(image)
    row = Book.of(story_page()).tables()["comic_pages"][0]
    row |= {"image": image, "width": picture.width, "height": picture.height}
    tables: dict[str, list[Row]] = {"comic_pages": [row]}
    for stage in (
        DetectPanels(describe_model("panel_detector", "opencv", {})),
        ReadTexts(describe_model("text_reader", "rapidocr", {})),
        DecideKinds(),
    ):
        tables[stage.table], failures, _ = run_stage(stage, FakeInputs(BOOK, tables))
        assert not failures
    (kind,) = tables["comic_page_kinds"]
    assert (kind["kind"], "funding" in kind["reason"]) == ("letters", True)


def test_repeats_and_blank_pages_are_left_out_with_the_reason() -> None:
    pages = [
        story_page(),
        story_page(duplicate_of=1),
        Page(image=flat(250)),
        Page(FOUR[:1], image=flat(240, rim=0)),
        Page(image=b"no picture"),
        Page(FOUR[:2], image=flat(250)),
        Page((), [Words("Hello")], image=flat(250)),
    ]
    rows, failures, dropped = kinds(Book.of(*pages))
    assert not failures and set(rows) == {1, 5, 6, 7}
    assert [(item.item_id, item.reason) for item in dropped] == [
        (pid(2), f"shows the same as {pid(1)}"),
        (pid(3), "blank page"),
        (pid(4), "blank page"),
    ]


def test_a_drawing_of_any_tone_is_not_blank() -> None:
    for grey in (0, 130, 255):
        assert not kinds(Book.of(Page(image=flat(grey))))[0]
        assert kind_of(Page(image=flat(grey, dot=190))) == "story"
    assert not kinds(Book.of(Page(image=flat(240, dot=238))))[0], "specks of a scan"


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_a_person_s_word_wins_over_everything(kind: str) -> None:
    pages: list[Page] = [
        story_page(person=kind),
        story_page(person=kind, duplicate_of=1),
        Page(image=flat(250), person=kind),
        story_page(said="advertisement", person=kind),
        with_words((), *SELLING.values()),
    ]
    rows, failures, dropped = kinds(Book.of(*pages))
    assert not failures and not dropped
    assert [rows[n]["kind"] for n in range(1, 5)] == [kind] * 4
    assert {rows[n]["source"] for n in range(1, 5)} == {"human"}
    assert (rows[5]["kind"], rows[5]["source"]) == ("advertisement", SOURCE)


def test_a_kind_that_does_not_exist_is_a_failure_and_the_signals_decide() -> None:
    rows, failures, _ = kinds(Book.of(story_page(), story_page(person="cartoon")))
    assert rows[2]["kind"] == "story" and rows[2]["source"] == SOURCE
    (failure,) = failures
    assert (failure.item_id, failure.kind) == (pid(2), "annotation_conflict")
    assert "'cartoon'" in failure.message and "text_story" in failure.message


def test_a_person_s_story_begins_and_ends_on_story_pages_and_holds_no_cover() -> None:
    blank, credits = Page(image=flat(250)), with_words((), CREDITS["staff"])
    pages = [story_page(said="cover", person=None), credits, story_page(), credits, blank, credits]
    marked = Book.of(*pages, stories=[(2, 5)])
    rows, _, dropped = kinds(marked)
    assert not dropped
    assert [rows[n]["kind"] for n in (2, 3, 4, 5, 6)] == ["story", "story", "story", "story", "letters"]
    assert (rows[2]["source"], rows[5]["source"], rows[4]["source"]) == ("human", "human", SOURCE)
    inside = Book.of(story_page(), Page(FOUR[:1], said="cover"), story_page(), stories=[(1, 3)])
    assert kinds(inside)[0][2]["kind"] == "story"
    # What sells inside of a person's story is still passed over.
    ad = with_words((), *SELLING.values())
    assert kinds(Book.of(story_page(), ad, story_page(), stories=[(1, 3)]))[0][2]["kind"] == "advertisement"


def test_an_empty_book() -> None:
    assert kinds(Book.of()) == ({}, [], [])
