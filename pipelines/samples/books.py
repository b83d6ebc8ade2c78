"""Sample books: which page shows what, in which style; pages come one at a time, with their truth.

What does not belong here: files, containers and catalogs (library.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pipelines.identity import rng
from pipelines.samples.light import PALETTES
from pipelines.samples.pages import Sheet, Style, draw_story_page
from pipelines.samples.scripts import BookScript, PanelScript, StoryScript, book_scripts
from pipelines.samples.special_pages import (
    draw_advertisement,
    draw_cover,
    draw_letters,
    draw_story_title,
    draw_text_story,
)
from pipelines.samples.truth import DrawnPage, PageTruth, PanelTruth

FILLERS = ("advertisement", "letters", "text_story")


@dataclass(frozen=True)
class BookSpec:
    """A book to draw: its name (which seeds it), script and style, and the kind of page that follows each story."""

    name: str
    script: BookScript
    style: Style
    fillers: tuple[str, ...] = ("advertisement",)
    panels_a_page: float = 4.4


@dataclass(frozen=True)
class _Page:
    kind: str
    story: int | None = None
    panels: tuple[PanelScript, ...] = ()


def draw_book(spec: BookSpec, seed: int = 0) -> Iterator[DrawnPage]:
    """Draw a book page by page: a cover, then its stories, each followed by its filler page."""
    for number, page in enumerate(_plan(spec, rng(seed, "plan", spec.name)), 1):
        yield _draw(spec, page, number, rng(seed, "page", spec.name, number))


def bulk_book(name: str, pages: int, *, width: int = 1600, height: int = 2400, seed: int = 0) -> Iterator[DrawnPage]:
    """Draw a cover and `pages` - 1 story pages of panels picked from all scripts, cheaply: for benchmarks."""
    dice = rng(seed, "bulk", name)
    scripts = list(book_scripts().values())
    panels = [panel for script in scripts for story in script.stories for panel in story.panels]
    cast = {member: look for script in scripts for member, look in script.cast.items()}
    front = dice.choice(scripts)
    style = Style(dice.choice(PALETTES), width, height, slant=dice.choice((0.0, 0.03)), scale=1)
    pool = BookScript(front.title, cast, front.stories)
    for number in range(1, pages + 1):
        if number == 1:
            spec = BookSpec(name, front, style)
            yield _draw(spec, _Page("cover"), number, rng(seed, "bulk", name, number))
            continue
        chosen = tuple(dice.choice(panels) for _ in range(dice.choice((4, 5, 5, 6, 6, 7))))
        page = _Page("first_page" if number == 2 else "story", 1, chosen)
        yield _draw(BookSpec(name, pool, style), page, number, rng(seed, "bulk", name, number))


def _plan(spec: BookSpec, dice: Random) -> list[_Page]:
    pages = [_Page("cover")]
    for number, story in enumerate(spec.script.stories, 1):
        for place, panels in enumerate(_pages_of(story, spec.panels_a_page, dice)):
            pages.append(_Page("story" if place else "first_page", number, panels))
        if number <= len(spec.fillers):
            pages.append(_Page(spec.fillers[number - 1]))
    return pages


def _pages_of(story: StoryScript, a_page: float, dice: Random) -> list[tuple[PanelScript, ...]]:
    """Split a story into pages of about as many panels each; now and then a page takes one from its neighbour."""
    count = max(round(len(story.panels) / a_page), 1)
    sizes = [len(story.panels) // count + (place < len(story.panels) % count) for place in range(count)]
    dice.shuffle(sizes)
    for place in range(count - 1):
        if dice.random() < 0.7:
            giver, taker = (place, place + 1) if dice.random() < 0.5 else (place + 1, place)
            if sizes[giver] > 3 and sizes[taker] < 7:
                sizes[giver], sizes[taker] = sizes[giver] - 1, sizes[taker] + 1
    if sizes[0] < 7 and dice.random() < 0.5 and sizes[-1] > 3:
        # A last page of few panels ends a story as a splash does.
        sizes[-1], sizes[0] = sizes[-1] - 1, sizes[0] + 1
    pages, start = [], 0
    for size in sizes:
        pages.append(story.panels[start : start + size])
        start += size
    return pages


def _draw(spec: BookSpec, page: _Page, number: int, dice: Random) -> DrawnPage:
    sheet = Sheet(spec.style)
    panels: list[PanelTruth] = []
    if page.kind == "cover":
        draw_cover(sheet, spec.script, dice)
    elif page.kind == "advertisement":
        draw_advertisement(sheet, dice)
    elif page.kind == "letters":
        draw_letters(sheet, dice)
    elif page.kind == "text_story":
        draw_text_story(sheet, dice)
    else:
        area = spec.style.area
        if page.kind == "first_page" and page.story:
            area = draw_story_title(sheet, spec.script.stories[page.story - 1].title, "written and drawn by a seed")
        panels = draw_story_page(sheet, spec.script, page.panels, area, dice)
    style = spec.style
    truth = PageTruth(number, style.width, style.height, page.kind, page.story, tuple(panels), tuple(sheet.texts))
    return DrawnPage(sheet.finish(), truth)
