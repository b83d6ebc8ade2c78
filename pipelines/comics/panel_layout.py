"""Which quadrilaterals of lines are panels: hypotheses, their weights, and the best set of them.

Here belongs what is decided from lines alone. Edges come from `panel_lines`; ink that no quadrilateral holds is left to
`panel_remains`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from pipelines.comics.independent_set import heaviest
from pipelines.comics.panel_background import UNIT
from pipelines.comics.panel_lines import Lines

_SHORTEST_SIDE = 0.09 * UNIT
_LEAST_SIDE = 0.15
_OTHER_SIDES = 0.6
"""Support of each of three sides that makes up for a fourth without any: art that runs over a gutter hides one whole."""
_LEAST_OUTLINE = 0.5
_EXPECTED = 0.4
_UNBROKEN, _RULED = 0.8, 0.7
"""Support of a side that is drawn without a break from one end to the other: panels that touch share such a line."""
_COST = 0.12 * UNIT
"""Weight that each panel must be worth: of two ways to cut a page that fit alike, the one with fewer panels is right."""
_OVERLAP = 0.2
_INSET = 0.4
"""Share of the panel around it that an inset takes at most."""
_FRAMED = 0.85
_MOST_QUADS = 240
_MOST_OPEN = 80
"""Of those with a side that nothing supports: there are many, and they must not crowd out the others."""
_CELL = 16


@dataclass(frozen=True)
class Quads:
    """`n` quadrilaterals: corners (n, 4, 2) clockwise from the top left, weight (n,), supported share of the outline (n,).

    `framed` (n,) is the share of its least side along which there is paper.
    """

    corners: np.ndarray
    weight: np.ndarray
    support: np.ndarray
    framed: np.ndarray

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, index: np.ndarray) -> Quads:
        """The quadrilaterals at these places."""
        return Quads(self.corners[index], self.weight[index], self.support[index], self.framed[index])


def hypotheses(left: Lines, right: Lines, top: Lines, bottom: Lines) -> Quads:
    """Every quadrilateral of a line of each kind with enough of its outline supported, at most `_MOST_QUADS`, best first.

    `top` and `bottom` are lines of the transposed page. The weight is the sum over the sides of length times support above
    what chance would give, so that a set of true panels outweighs any coarser or finer one.
    """
    left_ends, right_ends = _Sides(left, top, bottom), _Sides(right, top, bottom)
    top_ends, bottom_ends = _Sides(top, left, right), _Sides(bottom, left, right)
    le, t, b, r = _combinations(left_ends, right_ends, top_ends, bottom_ends)
    at = [(left_ends, (le, t, b)), (right_ends, (r, t, b)), (top_ends, (t, le, r)), (bottom_ends, (b, le, r))]
    length = np.stack([sides.length[i] for sides, i in at])
    paper = np.stack([sides.paper[i] for sides, i in at])
    drawn = np.stack([sides.drawn[i] for sides, i in at])
    hollow = np.stack([sides.hollow[i] for sides, i in at])
    unbroken = np.stack([sides.marked[i] for sides, i in at]) >= _UNBROKEN
    trusted = ((paper >= 0.5).sum(axis=0) >= 2) | unbroken.all(axis=0)
    support = np.where(trusted, np.where(unbroken, np.maximum(drawn, _RULED), drawn), paper)
    weight = (length * (support - _EXPECTED - 0.6 * np.maximum(hollow - 0.15, 0))).sum(axis=0) - _COST
    share = (length * support).sum(axis=0) / length.sum(axis=0)
    weakest, second = np.sort(support, axis=0)[:2]
    closed = (weakest >= _LEAST_SIDE) | (second >= _OTHER_SIDES)
    good = np.nonzero((share >= _LEAST_OUTLINE) & closed & (weight > 0))[0]
    good = good[np.lexsort((b[good], r[good], t[good], le[good], -weight[good]))]
    is_open = weakest[good] < _LEAST_SIDE
    good = good[~is_open | (is_open.cumsum() <= _MOST_OPEN)][:2000]
    le, t, b, r = le[good], t[good], b[good], r[good]
    corners = np.stack(
        [
            _crossing(left, top, le, t),
            _crossing(right, top, r, t),
            _crossing(right, bottom, r, b),
            _crossing(left, bottom, le, b),
        ],
        axis=1,
    )
    return _distinct(Quads(corners, weight[good], share[good], np.where(unbroken, 1.0, paper).min(axis=0)[good]))


class _Sides:
    """For each line and each pair of crossing lines: length, supports and hollowness of the stretch between, (n, p, q)."""

    def __init__(self, lines: Lines, start: Lines, end: Lines) -> None:
        from_ = _places(lines, start)[:, :, None]
        to = _places(lines, end)[:, None, :]
        size = lines.paper.shape[1] - 1
        self.length = to - from_
        low, high = (np.clip(np.rint(v), 0, size).astype(np.intp) for v in (from_, to))
        row = np.arange(len(lines))[:, None, None]
        span = np.maximum(high - low, 1)
        self.paper = (lines.paper[row, high] - lines.paper[row, low]) / span
        self.drawn = (lines.drawn[row, high] - lines.drawn[row, low]) / span
        self.marked = (lines.marked[row, high] - lines.marked[row, low]) / span
        self.hollow = (lines.hollow[row, high] - lines.hollow[row, low]) / span


def _places(lines: Lines, across: Lines) -> np.ndarray:
    """Where along each line (n) the other lines (m) cross it: (n, m)."""
    a, s = lines.offset[:, None], lines.slope[:, None]
    b, u = across.offset[None, :], across.slope[None, :]
    return (b + u * a) / (1 - u * s)


def _crossing(upright: Lines, level: Lines, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    a, s, b, u = upright.offset[i], upright.slope[i], level.offset[j], level.slope[j]
    y = (b + u * a) / (1 - u * s)
    return np.stack([a + s * y, y], axis=-1)


def _combinations(
    left: _Sides, right: _Sides, top: _Sides, bottom: _Sides
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every left, top, bottom and right line whose four stretches are long and drawn well enough to make a panel.

    No side has more support than what is drawn along it, so this rules out nothing that could be closed. There are millions
    of combinations: the right lines of each left, top and bottom one are the bits of a word.
    """

    def allowed(of: Callable[[_Sides], np.ndarray]) -> tuple[np.ndarray, ...]:
        sides = _every(of(left)), _bits(of(right).transpose(1, 2, 0)), _bits(of(top)), _bits(of(bottom))
        return sides[0], sides[1][None], sides[2].T[:, :, None], sides[3].T[:, None, :]

    a, b, c, d = allowed(lambda sides: sides.drawn >= _OTHER_SIDES)
    closed = (a & b & (c | d)) | (c & d & (a | b))
    a, b, c, d = allowed(lambda sides: sides.drawn >= _LEAST_SIDE)
    closed |= a & b & c & d
    a, b, c, d = allowed(lambda sides: sides.length >= _SHORTEST_SIDE)
    closed &= a & b & c & d
    at = np.nonzero(closed)
    word, r = np.nonzero(np.unpackbits(closed[at].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"))
    le, t, b = (places[word] for places in at)
    return le, t, b, r


def _every(mask: np.ndarray) -> np.ndarray:
    """Words with all bits set where a mask is true."""
    return np.where(mask, ~np.uint64(0), np.uint64(0))


def _bits(mask: np.ndarray) -> np.ndarray:
    """The last axis of a mask (n, m, 64 at most) as the bits of words, the lowest first: (n, m)."""
    padded = np.zeros((*mask.shape[:2], 64), bool)
    padded[:, :, : mask.shape[2]] = mask
    return np.packbits(padded, axis=2, bitorder="little").view(np.uint64)[:, :, 0]


def _distinct(quads: Quads) -> Quads:
    """The best of those that nearly coincide, at most `_MOST_QUADS`."""
    kept: list[int] = []
    corners = np.ascontiguousarray(quads.corners.reshape(len(quads), 8).T, np.float32)
    known = np.zeros(len(quads), bool)
    for i in range(len(quads)):
        if known[i]:
            continue
        kept.append(i)
        if len(kept) == _MOST_QUADS:
            break
        known[i:] |= np.abs(corners[:, i:] - corners[:, i : i + 1]).max(axis=0) < 0.025 * UNIT
    return quads.take(np.array(kept, dtype=np.intp))


def best_set(quads: Quads, shape: tuple[int, int]) -> np.ndarray:
    """Places of the heaviest set of quadrilaterals of which no two overlap by more than a fifth of the smaller.

    With the insets: those that lie inside one of the set, much smaller, with paper all around.
    """
    if not len(quads):
        return np.zeros(0, int)
    shared = _shared(quads.corners, shape)
    area = np.maximum(np.diag(shared), 1)
    conflict = shared > _OVERLAP * np.minimum(area[:, None], area[None, :])
    np.fill_diagonal(conflict, False)
    chosen = sorted(heaviest(quads.weight, conflict))
    inside = (shared[chosen] >= 0.95 * area) & (area <= _INSET * area[chosen][:, None])
    fits = (quads.framed >= _FRAMED) & (inside.sum(axis=0) == 1) & (conflict[chosen].sum(axis=0) == 1)
    insets = np.nonzero(fits)[0]
    return np.sort([*chosen, *insets[heaviest(quads.weight[insets], conflict[np.ix_(insets, insets)])]]).astype(int)


def _shared(corners: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The area that each two of `n` quadrilaterals share, in cells of a coarse grid over the page: (n, n)."""
    grid = (-(-shape[0] // _CELL), -(-shape[1] // _CELL))
    planes = np.zeros((len(corners), *grid), np.uint8)
    points = np.rint((corners - _CELL / 2) / _CELL * 16).astype(np.int32)
    for plane, quad in zip(planes, points, strict=True):
        cv2.fillConvexPoly(plane, quad, [1], shift=4)
    cells = np.packbits(planes.reshape(len(corners), grid[0] * grid[1]), axis=1)
    words = np.pad(cells, ((0, 0), (0, -cells.shape[1] % 8))).view(np.uint64)
    shared = np.zeros((len(words), len(words)), np.int64)
    for i, row in enumerate(words):
        shared[i, i:] = shared[i:, i] = np.bitwise_count(words[i:] & row).sum(axis=1, dtype=np.int64)
    return shared
