"""Stories: runs of story pages, from which all windows and distractors are later taken.

Distractors come from the same story, so a story that runs into the next one makes questions easy, while one cut in
two loses the four windows at the cut: where a signal says that another story begins, the run is cut. What does not
belong here: the kind of a page (`page_kinds`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.comics.annotations.payload import AnnotatedStory, book_stories
from pipelines.geometry import Box
from pipelines.identity import story_id
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

SOURCE = "storyloom/page-runs@1"
"""`source` of the stories that no person marked."""

_ENDINGS = {"THE END", "END", "FIN", "FINIS", "TO BE CONTINUED", "CONTINUED NEXT ISSUE"}
_PASSED_OVER = {"advertisement"}


@dataclass(frozen=True)
class SplitStories(Stage):
    """The stories of a book as ranges of pages, numbered in page order.

    Stories that a person marked replace all others. Else a story is a run of story pages: advertisements, repeated
    and blank pages in it are passed over (it goes on behind them, and what reads the range takes its story pages
    alone); a cover, a first page, letters or a text story end it, as do a closing caption ("The end") and a title
    page of the next story. Where a chat model said whether a story starts on a page, that decides in place of the title
    page. A page that could not be read ends any story, a person's too: the panels around it are not consecutive.
    """

    name: ClassVar[str] = "split_stories"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comic_stories"
    inputs: ClassVar[tuple[str, ...]] = (
        "comic_page_kinds",
        "comic_pages",
        "comic_panels",
        "comic_texts",
        "comic_annotations",
    )

    title_height: float = 0.025
    """Height of a title's letters as a share of the page's; balloons have 0.008 to 0.015."""
    title_zone: float = 0.3
    """A title stands in this upper part of its page."""
    splash_area: float = 0.3
    """A title page opens with a panel of at least this share of the page; other panels have a sixth or less."""

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """One row for each story, in page order."""
        pages = {p["page_number"]: p for p in inputs.table("comic_pages", _PAGE_COLUMNS).to_pylist()}
        kind_rows = inputs.table("comic_page_kinds", ["page_number", "kind", "starts_story"])
        kinds = dict(zip(*_columns(kind_rows, "page_number", "kind"), strict=True))
        starts = dict(zip(*_columns(kind_rows, "page_number", "starts_story"), strict=True))
        marked = book_stories(inputs.table("comic_annotations"))
        if marked is None:
            source, ranges = SOURCE, self._runs(pages, kinds, starts, inputs)
        else:
            source, ranges = "human", []
            for story in sorted(marked, key=lambda s: (s.first_page, s.last_page)):
                fault = _fault(story, ranges, pages)
                if fault:
                    item = _item(inputs, story.first_page, story.last_page)
                    yield Failure(item, "annotation_conflict", f"The story {fault}. Correct it in the annotation file.")
                elif parts := _unbroken(story, pages):
                    ranges += parts
                else:
                    yield Dropped(_item(inputs, story.first_page, story.last_page), "none of its pages could be read")
        number = 0
        for first, last in ranges:
            if not any(kinds.get(page) == "story" for page in range(first, last + 1)):
                yield Dropped(_item(inputs, first, last), "holds no story page")
                continue
            number += 1
            identity = {"story_id": story_id(inputs.shard, number), "book_id": inputs.shard}
            yield {**identity, "first_page": first, "last_page": last, "source": source}

    def _runs(
        self, pages: Mapping[int, Row], kinds: Mapping[int, str], starts: Mapping[int, bool | None], inputs: ShardInputs
    ) -> list[tuple[int, int]]:
        """First and last page of each run; `starts` is what a model said of a page, None where it was not asked."""
        panels, texts = _by_page(inputs, "comic_panels"), _by_page(inputs, "comic_texts")
        runs: list[tuple[int, int]] = []
        open_run = False
        for number in range(min(pages, default=1), max(pages, default=0) + 1):
            kind = kinds.get(number)
            if kind == "story":
                begins = starts.get(number)
                if begins is None:
                    begins = self._is_title_page(pages[number], panels[number], texts[number])
                if open_run and not begins:
                    runs[-1] = (runs[-1][0], number)
                else:
                    runs.append((number, number))
                open_run = not _ends_story(texts[number])
            elif number not in pages or (kind is not None and kind not in _PASSED_OVER):
                open_run = False
        return runs

    def _is_title_page(self, page: Row, panels: Sequence[Row], texts: Sequence[Row]) -> bool:
        """Whether a page opens a story: a splash panel on top, and large letters of two words or more above or in
        it."""
        area, zone = page["width"] * page["height"], self.title_zone * page["height"]
        splash = any(p["w"] * p["h"] >= self.splash_area * area and p["y"] <= zone for p in panels)
        return splash and any(
            t["y"] + t["h"] / 2 <= zone
            and _is_title(t["text"])
            and letter_height(t) >= self.title_height * page["height"]
            for t in texts
        )


_PAGE_COLUMNS = ["page_number", "width", "height"]


def _item(inputs: ShardInputs, first: int, last: int) -> str:
    return f"{inputs.shard}: pages {first} to {last}"


def letter_height(text: Mapping[str, Any]) -> float:
    """Height in pixels of a textbox's lines, from its area and the number of characters: letters are 0.6 as wide as
    high."""
    box = Box(text["x"], text["y"], text["w"], text["h"])
    return min((box.area / (0.6 * max(len(text["text"]), 1))) ** 0.5, box.h)


def _is_title(text: str) -> bool:
    """Two to eight different words with six letters or more: one shouted word is a sound, a long text a balloon."""
    words = set(re.findall(r"[A-Z']+", text.upper()))
    return 2 <= len(words) <= 8 and sum(map(len, words)) >= 6


def _ends_story(texts: Sequence[Row]) -> bool:
    """Whether one of the last two textboxes of a page is a closing caption (the last may be a page number)."""
    last = (re.sub(r"[^A-Z ]", "", text["text"].upper()).strip() for text in texts[-2:])
    return any(words in _ENDINGS for words in last)


def _fault(story: AnnotatedStory, before: Sequence[tuple[int, int]], pages: Mapping[int, Row]) -> str:
    if story.first_page > story.last_page:
        return "ends before it begins"
    if before and story.first_page <= before[-1][1]:
        return f"overlaps the one that ends on page {before[-1][1]}"
    if story.first_page < 1 or story.last_page > max(pages, default=0):
        return f"goes beyond the book, whose last page is {max(pages, default=0)}"
    return ""


def _unbroken(story: AnnotatedStory, pages: Mapping[int, Row]) -> list[tuple[int, int]]:
    """The parts of a person's story between pages that could not be read."""
    parts: list[tuple[int, int]] = []
    for number in range(story.first_page, story.last_page + 1):
        if number not in pages:
            continue
        joined = bool(parts) and parts[-1][1] == number - 1
        parts[-1:] = [(parts[-1][0], number)] if joined else [*parts[-1:], (number, number)]
    return parts


def _columns(table: Any, *names: str) -> list[list[Any]]:
    return [table[name].to_pylist() for name in names]


def _by_page(inputs: ShardInputs, table: str) -> dict[int, list[Row]]:
    columns = ["page_number", "reading_order", "x", "y", "w", "h"] + (["text"] if table == "comic_texts" else [])
    found: dict[int, list[Row]] = defaultdict(list)
    for row in sorted(inputs.table(table, columns).to_pylist(), key=lambda r: (r["page_number"], r["reading_order"])):
        found[row["page_number"]].append(row)
    return found
