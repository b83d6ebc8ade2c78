"""Where panels lie on a page: rows, stacks, insets, splashes, with straight or slanted gutters.

A template is rows joined by `/`, each of cells joined by `+`: `1` is a panel, `s2` two stacked panels, `i` a panel with
an inset at its lower right. What does not belong here: what the panels show and how they are framed.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pipelines.geometry import Box, polygon_box

TEMPLATES: dict[int, tuple[str, ...]] = {
    1: ("1",),
    2: ("1/1", "i"),
    3: ("1/1+1", "1+1/1", "1/i"),
    4: ("1+1/1+1", "1/1+1/1", "1+s2/1", "1+1/1/1", "i/1+1"),
    5: ("1+1/1/1+1", "1/1+1/1+1", "s2+1/1+1", "1+1/1+s2", "1+1/i/1"),
    6: ("1+1/1+1/1+1", "1+s2/1/1+1", "1+1/s2+1/1", "1+1/1/1+1/1", "1/1+1/1/1+1"),
    7: ("1+1/1+1+1/1+1", "1/1+1/1+1/1+1", "s2+1/1+1/1+1", "1+1/1+s2/1+1"),
}


@dataclass(frozen=True)
class Cell:
    """A panel's place: its outline in page pixels, and the box inside it that is free for figures and texts."""

    polygon: tuple[tuple[int, int], ...]
    safe: Box
    inset: bool = False

    @property
    def box(self) -> Box:
        """The panel's bounding box."""
        return polygon_box(self.polygon)


@dataclass(frozen=True)
class _Edge:
    """A gutter's middle line: its place at the start and at the end of the page, across its direction."""

    start: float
    end: float

    def at(self, share: float) -> float:
        return self.start + (self.end - self.start) * share

    def moved(self, by: float) -> _Edge:
        return _Edge(self.start + by, self.end + by)


def page_layout(count: int, area: Box, dice: Random, *, gutter: int, slant: float, mirror: bool) -> list[Cell]:
    """Places for `count` panels (1 to 7) in reading order; `slant` is how far gutters lean (0 to about 0.1).

    `mirror` lays the page out for reading from right to left.
    """
    template = dice.choice(TEMPLATES[count])
    rows = template.split("/")
    heights = [dice.uniform(0.85, 1.2) * (1.15 if "s2" in row or row == "i" else 1.0) for row in rows]
    lines = _edges(heights, area.y - gutter / 2, area.bottom + gutter / 2, slant * area.h, dice)
    cells: list[Cell] = []
    for row, top, bottom in zip(rows, lines, lines[1:], strict=False):
        cells += _row(row, area, top, bottom, dice, gutter, slant)
    return [_mirrored(cell, area) for cell in cells] if mirror else cells


def _edges(weights: list[float], start: float, end: float, lean: float, dice: Random) -> list[_Edge]:
    edges, place, total = [_Edge(start, start)], start, sum(weights)
    for weight in weights[:-1]:
        place += weight / total * (end - start)
        tilt = dice.uniform(-lean, lean) / 2
        edges.append(_Edge(place - tilt, place + tilt))
    return [*edges, _Edge(end, end)]


def _row(row: str, area: Box, top: _Edge, bottom: _Edge, dice: Random, gutter: int, slant: float) -> list[Cell]:
    parts = row.split("+")
    weights = [dice.uniform(0.85, 1.2) for _ in parts]
    columns = _edges(weights, area.x - gutter / 2, area.right + gutter / 2, slant * area.w, dice)
    cells: list[Cell] = []
    for part, left, right in zip(parts, columns, columns[1:], strict=False):
        if part == "s2":
            share = dice.uniform(0.44, 0.56)
            tilt = dice.uniform(-slant, slant) * area.h / 3
            middle = _Edge(
                top.start + (bottom.start - top.start) * share - tilt, top.end + (bottom.end - top.end) * share + tilt
            )
            cells += [_cell(area, top, middle, left, right, gutter), _cell(area, middle, bottom, left, right, gutter)]
        elif part == "i":
            cells += _with_inset(_cell(area, top, bottom, left, right, gutter), gutter, dice)
        else:
            cells.append(_cell(area, top, bottom, left, right, gutter))
    return cells


def _cell(area: Box, top: _Edge, bottom: _Edge, left: _Edge, right: _Edge, gutter: int) -> Cell:
    half = gutter / 2
    top, bottom, left, right = top.moved(half), bottom.moved(-half), left.moved(half), right.moved(-half)
    corners = [_cross(area, *pair) for pair in ((top, left), (top, right), (bottom, right), (bottom, left))]
    (tlx, tly), (trx, try_), (brx, bry), (blx, bly) = corners
    x, y = max(tlx, blx), max(tly, try_)
    return Cell(tuple(corners), Box(x, y, min(trx, brx) - x, min(bly, bry) - y))


def _cross(area: Box, row: _Edge, column: _Edge) -> tuple[int, int]:
    x, y = column.at(0.5), row.at(0.5)
    for _ in range(4):
        x, y = column.at((y - area.y) / area.h), row.at((x - area.x) / area.w)
    return round(x), round(y)


def _with_inset(host: Cell, gutter: int, dice: Random) -> list[Cell]:
    safe = host.safe
    width, height = round(safe.w * dice.uniform(0.36, 0.42)), round(safe.h * dice.uniform(0.46, 0.56))
    x, y = safe.right - width - gutter, safe.bottom - height - gutter
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    inset = Cell(corners, Box(x, y, width, height), inset=True)
    return [Cell(host.polygon, Box(safe.x, safe.y, x - gutter - safe.x, safe.h)), inset]


def _mirrored(cell: Cell, area: Box) -> Cell:
    total = area.x + area.right
    a, b, c, d = ((total - x, y) for x, y in cell.polygon)
    safe = cell.safe
    return Cell((b, a, d, c), Box(total - safe.right, safe.y, safe.w, safe.h), cell.inset)
