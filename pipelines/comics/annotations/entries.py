"""What every reader of an annotation file yields: one entry for each page, not yet matched to a book.

Here: the entry, the limits that all readers keep, and the checks of single values that they share. Not here: any format.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.errors import ItemError
from pipelines.stage import Failure

FORMATS = ("storyloom", "label_studio", "comix_xml", "coco")
"""The formats, the one that wins first: where two cover the same thing of the same page."""
PANEL_NAMES = frozenset({"panel", "panels", "frame", "frames"})
TEXT_NAMES = frozenset({"text", "texts", "textbox", "textboxes"})
Region = dict[str, Any]
"""A `box` [x, y, w, h] or a `polygon` [[x, y], ...] or both, with `text` and `panel` for textboxes; as the file has it."""


@dataclass(frozen=True)
class Limits:
    """What one annotation file may hold; more than that is a failure, so that memory stays bounded."""

    file_bytes: int = 128 * 2**20
    pages: int = 200_000
    regions: int = 2_000
    """Panels or textboxes on one page."""
    points: int = 2_000
    """Corners of one polygon."""
    characters: int = 20_000
    """Length of one transcription or caption."""


@dataclass(frozen=True)
class AnnotationEntry:
    """What one file says about one page, or, without a page, about a book. Holds JSON values only.

    `aspects` maps an aspect to what the file says, with coordinates as the file has them: pixels of a picture of `size`
    (None: of the page itself), or percent of it. `ordered` tells whether panels and texts come in reading order.
    `page` is a page number, or a picture's path or file name. `story` names the story that the page is in.
    """

    file: str
    format: str
    item: str
    book: str = ""
    page: int | str | None = None
    aspects: dict[str, Any] = field(default_factory=dict)
    size: tuple[float, float] | None = None
    percent: bool = False
    ordered: bool = False
    story: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry as JSON values: equal entries give equal values."""
        return dict(vars(self))


def bad(file: str, item: str, error: ItemError) -> Failure:
    """The failure row of one item of a file, naming both."""
    place = f"{file}, {item}" if item else file
    return Failure.of(
        f"{file}#{item}" if item else file, ItemError(error.kind, error.what, where=place, remedy=error.remedy)
    )


def wrong(what: str, remedy: str = "Correct the value and run again.") -> ItemError:
    """The error of a value that is not what its place asks for."""
    return ItemError("bad_annotation", what, remedy=remedy)


def plain_name(name: str) -> str:
    """A category or label as it is compared: lower case, words joined by `_`."""
    return "_".join(unicodedata.normalize("NFC", name).casefold().replace("-", " ").replace("_", " ").split())


def aspect_of(label: Any) -> str | None:
    """The aspect that regions of this category or label belong to: `panels`, `texts` or None for what is not used."""
    if not isinstance(label, str):
        return None
    name = plain_name(label)
    return "panels" if name in PANEL_NAMES else "texts" if name in TEXT_NAMES else None


def finite(values: Any, count: int, what: str) -> list[float]:
    """`count` finite numbers, or an `ItemError` that calls them `what`."""
    if not isinstance(values, (list, tuple)) or len(values) != count or not all(map(_is_number, values)):
        raise wrong(f"{what} is not {count} finite numbers: {excerpt(values)}")
    return list(values)


def box(values: Any, what: str) -> list[float]:
    """A box [x, y, w, h] with an area."""
    x, y, w, h = finite(values, 4, f"the box of {what}")
    if w <= 0 or h <= 0:
        raise wrong(
            f"the box of {what} has no area: {excerpt(values)}", "Give x, y, width, height with both sizes over 0."
        )
    return [x, y, w, h]


def polygon(values: Any, what: str, limits: Limits) -> list[list[float]]:
    """A polygon [[x, y], ...] of at least three corners that spans an area."""
    if not isinstance(values, (list, tuple)) or not 3 <= len(values) <= limits.points:
        raise wrong(f"the polygon of {what} does not have 3 to {limits.points} corners")
    corner = f"a corner of {what}"
    points = [finite(point, 2, corner) for point in values]
    xs, ys = zip(*points, strict=True)
    if max(xs) <= min(xs) or max(ys) <= min(ys):
        raise wrong(f"the polygon of {what} has no area")
    return points


def size(width: Any, height: Any) -> tuple[float, float] | None:
    """The annotated picture's size, None where the file gives none (absent, or zero as some tools write)."""
    if not width and not height:
        return None
    w, h = finite([width, height], 2, "the page's width and height")
    if w < 1 or h < 1:
        raise wrong(
            f"the page's width and height are {excerpt([width, height])}", "Give the size of the annotated picture."
        )
    return w, h


def words(value: Any, what: str, limits: Limits) -> str:
    """A text that can be stored: a string of a sane length, without lone surrogates."""
    if not isinstance(value, str) or len(value) > limits.characters:
        raise wrong(f"{what} is not a text of at most {limits.characters} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise wrong(f"{what} holds half of a character pair (a lone surrogate)") from error
    return value


def page_of_id(value: Any, limits: Limits) -> tuple[str, int]:
    """The book and the page number that a page_id (`<book_id>/0007`) names."""
    book, slash, number = words(value, "the page_id", limits).rpartition("/")
    if not (slash and book and number.isascii() and number.isdigit() and 4 <= len(number) < 10):
        raise wrong(f"{excerpt(value)} is no page_id", "A page_id is the book's id, a slash and four digits.")
    return book, int(number)


def excerpt(value: Any) -> str:
    """A value as a message shows it: short, printable."""
    shown = repr(list(value[:6]) if isinstance(value, (list, tuple)) else value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def checked(items: Iterator[AnnotationEntry | Failure]) -> tuple[list[AnnotationEntry], list[Failure]]:
    """Sort what a reader yields into entries and failures."""
    entries: list[AnnotationEntry] = []
    failures: list[Failure] = []
    for item in items:
        if isinstance(item, Failure):
            failures.append(item)
        else:
            entries.append(item)
    return entries, failures


def too_many(regions: Sequence[Any], limits: Limits) -> None:
    """Raise where a page holds more panels or textboxes than any real page."""
    if len(regions) > limits.regions:
        raise ItemError("too_large", f"the page holds {len(regions)} regions, over the limit of {limits.regions}")


def _is_number(value: Any) -> bool:
    # Comparisons with NaN are false; no page is as large as the bound, over which a whole number may be no float.
    return type(value) in (int, float) and -1e9 < value < 1e9
