"""From lines to textboxes: the lines of one balloon or narration box put together.

What does not belong here: reading lines from pictures (an adapter's work), and to which panel a textbox belongs.

Two lines belong together when they are lettered alike, lie in one panel, and either follow each other down the
balloon (as close as lines are set, one largely under the other) or stand beside each other in one row. A textbox is what
such pairs connect, so the lines' order does not matter. Everything is measured along the lettering, which may slant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pipelines.comics.text_panels import assign
from pipelines.errors import ItemError
from pipelines.geometry import Box, box_polygon, intersection, polygon_box

MAX_SIZES = 1.8
"""Lines of one textbox differ at most by this factor in height (shouting and signatures beside small print)."""
LEADING = 1.25
"""Lines of one textbox lie at most this many line heights apart, from middle to middle."""
UNDER = 0.5
"""The share of the shorter line's length that lies under or over the other line."""
WORD_GAP = 1.0
"""Parts of one row lie at most this many line heights apart."""
SAME_ROW = 0.5
"""Parts of one row lie less than this share of a line height above or below each other, from middle to middle."""

IN_BOTH = 0.5
"""A line lies in a panel as well as in its own (an inset, a balloon that reaches over) with this share of its area."""


@dataclass(frozen=True)
class TextLine:
    """A line of lettering: four or more corners (x, y) in pixels, clockwise from the start of the text, and what it says."""

    polygon: tuple[tuple[float, float], ...]
    text: str
    confidence: float


@dataclass(frozen=True)
class TextBox:
    """A balloon's or narration box's lettering: its box in pixels, its lines joined, and how sure the reader is."""

    box: Box
    text: str
    confidence: float


Reading = Sequence[TextLine] | Sequence[TextBox] | ItemError
"""What is read on one page: lines that are still to be joined, or whole textboxes; or why nothing could be."""


class TextReader(Protocol):
    """Finds and reads the lettering on pages."""

    def read(self, images: Sequence[np.ndarray]) -> Sequence[Reading]:
        """The lines or the textboxes of each RGB picture (H, W, 3) of bytes, in pixels of that picture, in any order."""
        ...


def join_lines(lines: Sequence[TextLine], panels: Sequence[Box]) -> list[TextBox]:
    """The textboxes that the lines make, from the top down; which line comes first in `lines` does not matter.

    Lines of different panels are never joined. A textbox has the lines' enclosing box, their texts in reading order
    (`join_texts`) and their mean confidence, each line weighed by its length.
    """
    ordered = sorted(lines, key=lambda line: (polygon_box(line.polygon), line.polygon, line.text, line.confidence))
    strokes = [_Stroke.of(line) for line in ordered]
    places = [polygon_box(line.polygon) for line in ordered]
    homes = [assign(place, panels)[0] for place in places]
    groups = _Groups(len(ordered))
    for i, first in enumerate(strokes):
        for j in range(i):
            if not _parted(places[i], places[j], panels, homes[i], homes[j]) and _together(first, strokes[j]):
                groups.join(i, j)
    boxes = [text_box([ordered[i] for i in group]) for group in groups.lists()]
    return sorted(boxes, key=lambda b: (b.box.y, b.box.x, b.box, b.text))


def as_line(text: TextLine | TextBox) -> TextLine:
    """A textbox as one line; a line as it is."""
    if isinstance(text, TextLine):
        return text
    polygon = tuple((float(x), float(y)) for x, y in box_polygon(text.box))
    return TextLine(polygon, text.text, text.confidence)


def resized(
    texts: Sequence[TextLine] | Sequence[TextBox], size: tuple[int, int], page: tuple[int, int]
) -> list[TextLine | TextBox]:
    """What was read on a picture of (width, height) `size` in pixels of its `page`, inside it; what lies outside is left out."""
    fx, fy = page[0] / size[0], page[1] / size[1]
    moved: list[TextLine | TextBox] = []
    for text in texts:
        if isinstance(text, TextBox):
            box = text.box.scaled(fx, fy).clipped(*page)
            moved += [TextBox(box, text.text, text.confidence)] if box.area else []
            continue
        line = text
        points = tuple((min(max(x * fx, 0.0), page[0]), min(max(y * fy, 0.0), page[1])) for x, y in line.polygon)
        if polygon_box(points).area:
            moved.append(TextLine(points, line.text, line.confidence))
    return moved


def join_texts(rows: Sequence[str]) -> str:
    """Lines of one textbox as running text: joined by spaces, and a word that was parted at a line's end put together.

    Letterers part a word by a hyphen, or write a dash as two. A single hyphen between two letters at a line's end
    parts a word; which compounds keep their hyphen nobody can see there.

    Examples:
        >>> join_texts(["THE EXO-", "SKELETON --", "MINE!"])
        'THE EXOSKELETON -- MINE!'
    """
    text = ""
    for row in (" ".join(row.split()) for row in rows):
        parted = len(text) > 1 and text[-1] == "-" and text[-2].isalpha() and row[:1].isalpha()
        text = text[:-1] + row if parted else f"{text} {row}".strip()
    return text


def text_box(lines: Sequence[TextLine]) -> TextBox:
    """One textbox of all these lines (at least one), in reading order; see `join_lines`."""
    weights = [max(len(line.text), 1) for line in lines]
    confidence = sum(w * line.confidence for w, line in zip(weights, lines, strict=True)) / sum(weights)
    box = polygon_box([point for line in lines for point in line.polygon])
    return TextBox(box, join_texts([" ".join(row) for row in _rows(lines)]), confidence)


def _rows(lines: Sequence[TextLine]) -> list[list[str]]:
    """The texts of one textbox row by row, each row from its start, along the lettering of the longest line."""
    strokes = [_Stroke.of(line) for line in lines]
    longest = max(strokes, key=lambda s: s.length)
    places = [longest.frame(s) for s in strokes]
    order = sorted(range(len(lines)), key=lambda i: (places[i][1], places[i][0]))
    rows: list[list[int]] = []
    for i in order:
        if rows and places[i][1] - places[rows[-1][0]][1] < SAME_ROW * min(
            strokes[i].height, strokes[rows[-1][0]].height
        ):
            rows[-1].append(i)
        else:
            rows.append([i])
    return [[lines[i].text for i in sorted(row, key=lambda i: places[i][0])] for row in rows]


@dataclass(frozen=True)
class _Stroke:
    """A line as a slanted bar: its middle, its direction (unit vector), its length and its height."""

    x: float
    y: float
    direction: tuple[float, float]
    length: float
    height: float

    @classmethod
    def of(cls, line: TextLine) -> _Stroke:
        corners = np.asarray(line.polygon, dtype=np.float64)
        if len(corners) != 4:
            box = polygon_box(line.polygon)
            corners = np.array(
                [(box.x, box.y), (box.right, box.y), (box.right, box.bottom), (box.x, box.bottom)], float
            )
        along = (corners[1] - corners[0] + corners[2] - corners[3]) / 2
        down = (corners[3] - corners[0] + corners[2] - corners[1]) / 2
        length, height = max(float(np.hypot(*along)), 1.0), max(float(np.hypot(*down)), 1.0)
        x, y = corners.mean(axis=0)
        return cls(float(x), float(y), (float(along[0]) / length, float(along[1]) / length), length, height)

    def frame(self, other: _Stroke) -> tuple[float, float]:
        """Where the other's middle lies from this one's: along this line, and down from it."""
        dx, dy = other.x - self.x, other.y - self.y
        return dx * self.direction[0] + dy * self.direction[1], dy * self.direction[0] - dx * self.direction[1]


def _together(a: _Stroke, b: _Stroke) -> bool:
    """Whether two lines of one panel belong to one textbox."""
    smaller, larger = sorted((a.height, b.height))
    if larger > MAX_SIZES * smaller:
        return False
    # The longer line knows its direction better.
    shorter, longer = sorted((a, b), key=lambda s: (s.length, s.y, s.x))
    across, down = longer.frame(shorter)
    gap = abs(across) - (a.length + b.length) / 2
    height = (a.height + b.height) / 2
    if abs(down) < SAME_ROW * smaller:
        return gap <= WORD_GAP * height
    return abs(down) <= LEADING * height and -gap >= UNDER * min(a.length, b.length)


def _parted(a: Box, b: Box, panels: Sequence[Box], home_a: int | None, home_b: int | None) -> bool:
    """Whether two lines lie in different panels; a panel that holds half of the other line as well parts nothing."""
    if home_a is None or home_b is None or home_a == home_b:
        return False
    shared = (intersection(b, panels[home_a]) / max(b.area, 1), intersection(a, panels[home_b]) / max(a.area, 1))
    return max(shared) < IN_BOTH


class _Groups:
    """Disjoint sets of 0..n-1."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def root(self, item: int) -> int:
        while self._above[item] != item:
            self._above[item] = self._above[self._above[item]]
            item = self._above[item]
        return item

    def join(self, a: int, b: int) -> None:
        self._above[max(self.root(a), self.root(b))] = min(self.root(a), self.root(b))

    def lists(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for item in range(len(self._above)):
            found.setdefault(self.root(item), []).append(item)
        return list(found.values())
