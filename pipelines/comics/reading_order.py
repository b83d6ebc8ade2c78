"""The order in which a reader takes the boxes of one page: panels, and (with a looser idea of a row) textboxes.

What does not belong here: finding boxes, and which panel a textbox is in (`pipelines.comics.texts`).

The method is a graph in the manner of Magi's, turned to pages that are read from left to right. Two boxes are joined by a directed
edge that follows from where they lie to each other: what is above comes before what is below it, what is left before what is
right of it. A pair that lies across (one lower left, one upper right) is decided by the gutter that parts it, and rows part
before columns. Gutters are found for whole groups of boxes, not pair by pair, so edges that come from them cannot run in a
circle. A group that no gutter parts (boxes that overlap, panels laid like a pinwheel) gives its first box by its edges, the least
contradicted one where they do run in a circle, and the rest is tried for gutters again. That is polynomial on any input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROW_SLACK = 0.3
"""How far two boxes may reach into each other at a gutter, as a share of the smaller one: slanted gutters, staggered rows."""
INSET_SHARE = 0.85
"""A box with this share of its width and of its height inside a larger one is an inset of it."""
INSET_AREA = 0.75
"""An inset covers at most this share of its container; above it, the two are rivals for one place."""
SPREAD_ASPECT = 1.1
"""Two facing pages in one picture are at least this many times as wide as high, margins aside."""
SPREAD_MIDDLE = (0.4, 0.6)
"""Where the fold of a spread lies, as a share of the width."""
SPREAD_GAP = 1.5
"""The gap at the fold holds the margins of two pages: at least this many times the widest gutter of either page."""

_HAIR = 1e-7
"""A share of the page that counts as nothing where two lengths are compared."""

Boxes = Sequence[Sequence[float]]


def reading_order(
    boxes: Boxes, *, right_to_left: bool = False, columns: bool = False, row_slack: float = ROW_SLACK
) -> list[int]:
    """Indices of `(x, y, w, h)` boxes (pixels, or any unit) in reading order.

    A box that holds another comes before it, and both before what follows the larger one. Rows are read before columns;
    `columns` turns that round, for four-panel strips set in columns. A double page is read page by page. `right_to_left` is
    the exact mirror. `row_slack` is the share of the smaller box by which two boxes of different rows may overlap in height.
    The order depends on the boxes alone, never on the order in which they come in.

    Examples:
        >>> reading_order([(60, 0, 40, 40), (0, 50, 100, 40), (0, 0, 50, 40)])
        [2, 0, 1]
    """
    if not len(boxes):
        return []
    values = np.asarray([tuple(box) for box in boxes], dtype=np.float64)
    if right_to_left:
        values[:, 0] = -(values[:, 0] + values[:, 2])
    values = _in_shares(values)
    canonical = np.lexsort((values[:, 3], values[:, 2], values[:, 0], values[:, 1]))
    page = _Page(values[canonical], columns, row_slack)
    children: dict[int, list[int]] = {}
    for box, parent in enumerate(_containers(values[canonical])):
        children.setdefault(parent, []).append(box)
    order: list[int] = []
    left = [page.roots(children[-1])]
    while left:
        siblings = left.pop()
        if siblings:
            order.append(siblings[0])
            left.append(siblings[1:])
            left.append(page.order(children.get(siblings[0], [])))
    return [int(canonical[box]) for box in order]


def _in_shares(boxes: np.ndarray) -> np.ndarray:
    """N x 4 boxes in shares of the larger side of what holds them all, rounded: the same for any unit and any origin.

    What is equal in one unit would differ in the last bit in another, and turn an order round.
    """
    low, high = boxes[:, :2].min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    span = float((high - low).max())
    moved = np.column_stack([boxes[:, :2] - low, boxes[:, 2:]])
    return np.round(moved / span, 9) if span > 0 else moved


def _containers(boxes: np.ndarray) -> list[int]:
    """For each of N x 4 boxes the smallest box that it is an inset of, else -1."""
    x, y, w, h = boxes.T
    inside_x = np.minimum.outer(x + w, x + w) - np.maximum.outer(x, x) >= INSET_SHARE * w[:, None] - _HAIR
    inside_y = np.minimum.outer(y + h, y + h) - np.maximum.outer(y, y) >= INSET_SHARE * h[:, None] - _HAIR
    area = w * h
    inset = inside_x & inside_y & (area[:, None] <= INSET_AREA * area[None, :] + _HAIR) & (area[None, :] > 0)
    smallest = np.where(inset, area[None, :], np.inf)
    return [int(row.argmin()) if np.isfinite(row).any() else -1 for row in smallest]


@dataclass(frozen=True)
class _Axis:
    """One direction of a page: where boxes start, end and have their centre, and who may come before whom at a gutter."""

    start: np.ndarray
    end: np.ndarray
    centre: np.ndarray
    before: np.ndarray
    """before[a, b]: a ends where b starts, or reaches into it by no more than the slack."""

    @classmethod
    def of(cls, start: np.ndarray, size: np.ndarray, slack: float) -> _Axis:
        reach = (start + size)[:, None] - start[None, :]
        return cls(start, start + size, start + size / 2, reach <= slack * np.minimum.outer(size, size) + _HAIR)

    def parts(self, group: np.ndarray) -> list[np.ndarray]:
        """The group cut at every gutter across this axis, in order; one part when there is none.

        Any two boxes on two sides of a gutter have their centres in that order, so only cuts of the sorted group count, and a pair
        that is not parted rules out the cuts between its places.
        """
        group = np.sort(group)
        group = group[np.argsort(self.centre[group], kind="stable")]
        places = np.arange(len(group))
        mixed = ~self.before[np.ix_(group, group)] & (places[:, None] < places[None, :])
        reach = np.maximum.accumulate(np.where(mixed, places[None, :], 0).max(axis=1))
        return np.split(group, [cut for cut in places[1:] if reach[cut - 1] < cut])

    def gaps(self, parts: Sequence[np.ndarray]) -> list[float]:
        """Width of the empty band between each part and the next; negative where they overlap."""
        return [
            float(self.start[after].min() - self.end[before].max())
            for before, after in zip(parts, parts[1:], strict=False)
        ]


class _Page:
    """The boxes of one page, sorted by their coordinates, as two axes and a graph of edges."""

    def __init__(self, boxes: np.ndarray, columns: bool, row_slack: float) -> None:
        x, y, w, h = boxes.T
        self.x, self.y = _Axis.of(x, w, ROW_SLACK), _Axis.of(y, h, row_slack)
        self.axes = (self.x, self.y) if columns else (self.y, self.x)
        self.edges = _edges(self.x, self.y)

    def roots(self, group: list[int]) -> list[int]:
        """Order of the boxes that lie in no other, facing pages one after the other."""
        fold = self._fold(np.asarray(group))
        return [box for side in fold for box in self.order(side.tolist())]

    def order(self, group: list[int]) -> list[int]:
        """Order of a group: parted at gutters where there are any, else its first box and then the rest."""
        order: list[int] = []
        left = [np.asarray(group, dtype=np.int64)]
        while left:
            part = left.pop()
            if len(part) < 2:
                order.extend(part.tolist())
                continue
            left.extend(reversed(self._pieces(part)))
        return order

    def _pieces(self, group: np.ndarray) -> list[np.ndarray]:
        """The group in two or more pieces, in reading order."""
        leading, other = self.axes
        rows = leading.parts(group)
        if len(rows) > 1:
            return rows
        stacks = other.parts(group)
        if len(stacks) > 1:
            return self._blocks(stacks)
        first = self._first(group)
        return [group[group == first], group[group != first]]

    def _blocks(self, stacks: list[np.ndarray]) -> list[np.ndarray]:
        """Neighbouring stacks put together where rows run through all of them: a grid beside a tall panel is read in rows."""
        blocks = [stacks[0]]
        for stack in stacks[1:]:
            both = np.concatenate([blocks[-1], stack])
            if len(self.axes[0].parts(both)) > 1:
                blocks[-1] = both
            else:
                blocks.append(stack)
        return blocks

    def _first(self, group: np.ndarray) -> int:
        """The box that fewest and weakest edges lead to; the upper (with columns, the left) of several."""
        against = self.edges[np.ix_(group, group)].sum(axis=0).round(9)
        leading, other = self.axes
        return int(group[np.lexsort((other.centre[group], leading.centre[group], against))[0]])

    def _fold(self, group: np.ndarray) -> list[np.ndarray]:
        """The two pages of a spread, or the group as it is."""
        left, right = self.x.start[group].min(), self.x.end[group].max()
        width, height = right - left, self.y.end[group].max() - self.y.start[group].min()
        parts = self.x.parts(group)
        if len(parts) < 2 or width < SPREAD_ASPECT * height - _HAIR:
            return [group]
        gaps = self.x.gaps(parts)
        widest = int(np.argmax(gaps))
        pages = [np.concatenate(parts[: widest + 1]), np.concatenate(parts[widest + 1 :])]
        middle = (self.x.end[pages[0]].max() + gaps[widest] / 2 - left) / width
        gutters = [gap for page in pages for axis in self.axes for gap in axis.gaps(axis.parts(page))]
        in_middle = SPREAD_MIDDLE[0] - _HAIR <= middle <= SPREAD_MIDDLE[1] + _HAIR
        if in_middle and gaps[widest] >= SPREAD_GAP * max([0.0, *gutters]) - _HAIR:
            return pages
        return [group]


def _edges(x: _Axis, y: _Axis) -> np.ndarray:
    """N x N: how strongly box a comes before box b by their places, 0 for no edge.

    Boxes parted on one axis are ordered by it; parted on both, they have an edge only where both axes agree. Boxes that overlap on both
    are ordered by the axis on which their centres lie further apart for their size.
    """
    across, down = _shift(x), _shift(y)
    parted_x, parted_y = x.before | x.before.T, y.before | y.before.T
    overlapping = np.where(np.abs(down) >= np.abs(across), down, across)
    both = np.where(across * down > 0, down, 0.0)
    lead = np.where(parted_y, np.where(parted_x, both, down), np.where(parted_x, across, overlapping))
    return np.clip(lead, 0.0, 1.0)


def _shift(axis: _Axis) -> np.ndarray:
    """N x N: how far b's centre lies after a's, in units of half their joint size (1: they just touch)."""
    size = axis.end - axis.start
    reach = (size[:, None] + size[None, :]) / 2
    apart = axis.centre[None, :] - axis.centre[:, None]
    return np.clip(np.divide(apart, reach, out=np.sign(apart), where=reach > 0), -1.0, 1.0)
