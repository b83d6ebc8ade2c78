"""The stage that reads the textboxes of each page: a person's where there are any, else the reader's.

What does not belong here: how lines are joined (`text_boxes`), how boxes are ordered (`text_panels`), and reading itself
(an adapter).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pipelines.comics.annotations.payload import AnnotatedText, page_aspect
from pipelines.comics.page_pictures import decode
from pipelines.comics.stored_pages import page_images
from pipelines.comics.text_boxes import TextBox, TextLine, TextReader, as_line, join_lines, resized, text_box
from pipelines.comics.text_panels import assign, text_order
from pipelines.errors import ItemError
from pipelines.geometry import Box, intersection, polygon_box
from pipelines.identity import panel_id, text_id
from pipelines.stage import Dropped, Failure, Model, Row, ShardInputs, Stage

__all__ = ["ReadTexts", "TextBox", "TextLine", "TextReader", "assign", "join_lines", "text_order"]

MIN_CONFIDENCE = 0.7
"""Lines that the reader is less sure of are dropped: what is so read is scribble, texture and drawn sound."""
_PAGES_AT_A_TIME = 8
"""Pages that are held in memory while a service reads them."""
_AT_LEAST = 1500
"""Pixels of width to which a large JPEG may be reduced while it is decoded: lettering stays readable."""
_INSIDE = 0.5
"""A line is read into a box that a person drew, and a text lies in its panel, with this share of it inside."""

_LONE_CONFIDENCE = 0.95
"""A letter or digit that stands alone is texture (a button, a fold) unless the reader is this sure."""
_PAGE_NUMBER = re.compile(r"\W*\d{1,4}\W*")


class _Placed(NamedTuple):
    """A textbox, its panel's place on the page from 0 (None: no panel), the share of it inside, and who made it."""

    text: TextBox
    panel: int | None
    share: float
    source: str


@dataclass(frozen=True)
class ReadTexts(Stage):
    """The textboxes of a book's pages, each with its panel, in reading order.

    A page that a person annotated is not read, unless a box came without its words (COCO has none). A line under
    `min_confidence` is left out with that reason; a page that cannot be decoded or read is a failure.
    """

    name: ClassVar[str] = "read_texts"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_texts"
    inputs: ClassVar[tuple[str, ...]] = ("comic_books", "comic_pages", "comic_panels", "comic_annotations")
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {"comic_books": ("right_to_left",)}

    reader: Model[TextReader]
    min_confidence: float = MIN_CONFIDENCE

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the textboxes page by page, in reading order."""
        right_to_left = any(inputs.table("comic_books", ["right_to_left"])["right_to_left"].to_pylist())
        marked: dict[str, list[AnnotatedText]] = page_aspect(inputs.table("comic_annotations"), "texts")
        panels = _panels(inputs)
        pages = inputs.table("comic_pages", ["page_id", "book_id", "page_number", "width", "height"]).to_pylist()
        written = {page for page, texts in marked.items() if all(text.text is not None for text in texts)}
        readings = self._readings(inputs, [page for page in pages if page["page_id"] not in written])
        for page in pages:
            page_id = page["page_id"]
            lines: list[TextLine | TextBox] = []
            if page_id not in written:
                reading = next(readings)
                if isinstance(reading, ItemError):
                    yield Failure.of(page_id, reading)
                    continue
                yield from self._unsure(page_id, reading)
                lines = [line for line in reading if line.confidence >= self.min_confidence]
            of_page = panels.get(page_id, [])
            if page_id in marked:
                placed = yield from self._human(page_id, marked[page_id], lines, of_page)
            else:
                found = self._found(lines, of_page, right_to_left)
                placed = [text for text in found if not _no_textbox(text)]
                yield from (Dropped(page_id, reason) for reason in map(_no_textbox, found) if reason)
            for number, text in enumerate(placed, start=1):
                yield _row(page, number, text)

    def _readings(self, inputs: ShardInputs, pages: Sequence[Row]) -> Iterator[list[TextLine | TextBox] | ItemError]:
        """What is read on each of these pages, in their pixels and inside them; a service reads several at a time."""
        pictures = page_images(inputs, {page["page_id"] for page in pages})
        size = _PAGES_AT_A_TIME if self.reader.is_remote else 1
        for first in range(0, len(pages), size):
            chunk = pages[first : first + size]
            decoded = [_decoded(next(pictures)[1]) for _ in chunk]
            read = iter(self.reader.load().read([picture for picture in decoded if not isinstance(picture, ItemError)]))
            for page, picture in zip(chunk, decoded, strict=True):
                if isinstance(picture, ItemError):
                    yield picture
                    continue
                reading, (height, width) = next(read), picture.shape[:2]
                if isinstance(reading, ItemError):
                    yield reading
                else:
                    yield resized(reading, (width, height), (page["width"], page["height"]))

    def _unsure(self, page_id: str, lines: Sequence[TextLine | TextBox]) -> Iterator[Dropped]:
        for line in lines:
            if line.confidence < self.min_confidence:
                box = tuple(polygon_box(as_line(line).polygon))
                least = f"{line.confidence:.2f}, under {self.min_confidence:.2f}"
                yield Dropped(page_id, f"the line at {box} was read with a confidence of {least}: {line.text[:80]!r}")

    def _found(self, lines: Sequence[TextLine | TextBox], panels: list[Box], right_to_left: bool) -> list[_Placed]:
        joined = join_lines([line for line in lines if isinstance(line, TextLine)], panels)
        texts = [*joined, *(text for text in lines if isinstance(text, TextBox))]
        found = [_Placed(text, *assign(text.box, panels), self.reader.source) for text in texts]
        order = text_order([p.text.box for p in found], [p.panel for p in found], panels, right_to_left)
        return [found[i] for i in order]

    def _human(
        self, page_id: str, texts: list[AnnotatedText], lines: Sequence[TextLine | TextBox], panels: list[Box]
    ) -> Generator[Failure | Dropped, None, list[_Placed]]:
        """The boxes that a person drew, in the person's order; words that are missing are read."""
        placed = []
        for text in texts:
            panel, share = assign(text.box, panels)
            if text.panel is not None:
                if 1 <= text.panel <= len(panels):
                    panel = text.panel - 1
                    share = intersection(text.box, panels[panel]) / text.box.area if text.box.area else 0.0
                else:
                    where = f"The text at {tuple(text.box)} names panel {text.panel}"
                    message = f"{where}, but {page_id} has {len(panels)}. Correct its number; the nearest was taken."
                    yield Failure(page_id, "unknown_panel", message)
            if text.text is not None:
                placed.append(_Placed(TextBox(text.box, text.text, 1.0), panel, share, "human"))
            elif inside := [line for line in map(as_line, lines) if _is_inside(polygon_box(line.polygon), text.box)]:
                words = text_box(inside)
                placed.append(
                    _Placed(TextBox(text.box, words.text, words.confidence), panel, share, self.reader.source)
                )
            else:
                yield Dropped(page_id, f"no words were read in the textbox at {tuple(text.box)} that a person drew")
        return placed


def _decoded(data: bytes) -> np.ndarray | ItemError:
    try:
        return decode(data, at_least=_AT_LEAST)
    except ItemError as error:
        return error


def _no_textbox(placed: _Placed) -> str:
    """Why what was read is no textbox, or nothing: a number in the margin, or texture that looks like one letter."""
    text, where = placed.text, f"at {tuple(placed.text.box)}: {placed.text.text!r}"
    if placed.panel is not None and placed.share < _INSIDE and _PAGE_NUMBER.fullmatch(text.text):
        return f"page number outside the panels {where}"
    if sum(character.isalnum() for character in text.text) == 1 and text.confidence < _LONE_CONFIDENCE:
        return (
            f"a lone letter that was read with a confidence of {text.confidence:.2f}, under {_LONE_CONFIDENCE} {where}"
        )
    return ""


def _is_inside(line: Box, box: Box) -> bool:
    return intersection(line, box) >= _INSIDE * max(line.area, 1)


def _panels(inputs: ShardInputs) -> dict[str, list[Box]]:
    """The panels of each page in reading order."""
    rows = inputs.table("comic_panels", ["page_id", "reading_order", "x", "y", "w", "h"]).to_pylist()
    found: dict[str, list[Box]] = {}
    for row in sorted(rows, key=lambda row: (row["page_id"], row["reading_order"])):
        found.setdefault(row["page_id"], []).append(Box(row["x"], row["y"], row["w"], row["h"]))
    return found


def _row(page: Row, number: int, placed: _Placed) -> Row:
    return {
        "text_id": text_id(page["page_id"], number),
        "page_id": page["page_id"],
        "panel_id": None if placed.panel is None else panel_id(page["page_id"], placed.panel + 1),
        "book_id": page["book_id"],
        "page_number": page["page_number"],
        "reading_order": number,
        **placed.text.box._asdict(),
        "text": placed.text.text,
        "confidence": placed.text.confidence,
        "panel_share": placed.share,
        "source": placed.source,
    }
