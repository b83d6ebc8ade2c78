"""Straight edges between paper and picture: the lines that sides of panels can lie on.

Here belong edge maps, their straight pieces, and the lines through them with the evidence along each. All is written for
upright lines that bound a picture on their right or left; for level lines the caller passes transposed masks.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from pipelines.comics.panel_background import UNIT

NARROWEST_GUTTER = UNIT // 250
STRONG, WEAK, DRAWN = 255, 128, 90
"""Evidence of an edge pixel: of paper joined to the outside, of other paper-coloured area, of a thin dark line."""
_PIECE = 16
_STEEPEST = 0.4
_REACH = 3.0
_MOST_LINES = 44
_WEAKEST_LINE = 0.032 * UNIT
_BIN = 2

_FINE = np.arange(-0.03, 0.0301, 0.005)
_COARSE = np.arange(0.04, _STEEPEST + 0.001, 0.01)
_SLOPES = np.concatenate([-_COARSE[::-1], _FINE, _COARSE])


@dataclass(frozen=True)
class Lines:
    """`n` upright lines x = `offset` + `slope` * y that bound pictures on one side, with running sums along y (n, H + 1).

    `paper`: evidence of gutters, 0 to 1 a pixel; `drawn`: the same or of a drawn line, whichever is more; `hollow`: pixels
    where outside paper lies just inside the line.
    """

    offset: np.ndarray
    slope: np.ndarray
    paper: np.ndarray
    drawn: np.ndarray
    hollow: np.ndarray

    def __len__(self) -> int:
        return len(self.offset)


def upright_lines(paper: np.ndarray, outside: np.ndarray, dark: np.ndarray, *, content_right: bool) -> Lines:
    """The lines that bound pictures on their left (`content_right`) or right, strongest first, a bounded number.

    The masks are (H, W) `uint8`, 255 where true.
    """
    gutters, drawn = _edges(paper, outside, dark, content_right=content_right)
    pieces = _pieces(cv2.max(gutters, drawn))
    offset, slope = _through(pieces, paper.shape)
    gutters, drawn = _closed(gutters), _closed(drawn)
    inward = 8 if content_right else -8
    on = _along(gutters, offset, slope, 0)
    return Lines(
        offset,
        slope,
        _sums(on / 255.0),
        _sums(np.maximum(on, _along(drawn, offset, slope, 0)) / 255.0),
        _sums(_along(outside, offset, slope, inward) > 0),
    )


def _edges(
    paper: np.ndarray, outside: np.ndarray, dark: np.ndarray, *, content_right: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Edge maps (H, W) of gutters and of thin dark lines; the value is the strength of the evidence."""
    runs = _opened(paper, 1, NARROWEST_GUTTER)
    edge, strong = np.zeros_like(paper), np.zeros_like(paper)
    step = 3
    if content_right:
        edge[:, 1:] = runs[:, :-1] & ~runs[:, 1:]
        strong[:, step:] = outside[:, :-step]
    else:
        edge[:, 1:] = runs[:, 1:] & ~runs[:, :-1]
        strong[:, :-step] = outside[:, step:]
    gutters = edge & (strong | WEAK)
    thin = dark & ~_opened(dark, 1, 9)
    thin = _opened(thin, _PIECE, 1)
    drawn = np.zeros_like(paper)
    drawn[:, 1:] = thin[:, 1:] & ~thin[:, :-1] if content_right else thin[:, :-1] & ~thin[:, 1:]
    return gutters, drawn & DRAWN


def _opened(mask: np.ndarray, rows: int, columns: int) -> np.ndarray:
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((rows, columns), np.uint8))


def _components(mask: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    return cv2.connectedComponentsWithStats((mask > 0).view(np.uint8), connectivity=8)


def _points(mask: np.ndarray) -> np.ndarray:
    found = cv2.findNonZero(mask)
    # OpenCV 4 gives (n, 1, 2), OpenCV 5 gives (n, 2).
    return np.zeros((0, 2), np.int32) if found is None else found.reshape(-1, 2)


def _closed(edge: np.ndarray) -> np.ndarray:
    """The map widened to `_REACH` on both sides, with short gaps along y filled."""
    wide = cv2.dilate(edge, np.ones((1, 2 * int(_REACH) + 1), np.uint8))
    return cv2.morphologyEx(wide, cv2.MORPH_CLOSE, np.ones((7, 1), np.uint8))


def _pieces(edge: np.ndarray) -> np.ndarray:
    """Straight pieces of an edge map, `_PIECE` rows high at most: (n, 4) of centre x, centre y, slope, weight."""
    rows = np.ascontiguousarray(edge)
    rows[::_PIECE] = 0
    count, labels, stats, centres = _components(rows)
    height, width, area = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_AREA]
    kept = (height >= 0.6 * _PIECE) & (width <= 0.45 * _PIECE + 1) & (area <= 1.5 * height)
    kept[0] = False
    points = _points(rows)
    if not len(points) or not kept.any():
        return np.zeros((0, 4))
    x, y = points[:, 0], points[:, 1]
    label = labels[y, x]
    chosen = kept[label]
    x, y, label = x[chosen], y[chosen], label[chosen]
    dx, dy = x - centres[label, 0], y - centres[label, 1]
    spread = np.bincount(label, dy * dy, count)[kept]
    slope = np.bincount(label, dx * dy, count)[kept] / np.maximum(spread, 1e-9)
    residual = np.bincount(label, dx * dx, count)[kept] - slope * slope * spread
    weight = np.bincount(label, rows[y, x] / 255.0, count)[kept]
    straight = (residual / area[kept] < 0.6) & (np.abs(slope) <= _STEEPEST)
    return np.column_stack([centres[kept], slope, weight])[straight]


def _through(pieces: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and slopes of the lines that carry most pieces, found one after the other; each piece serves one line."""
    x, y, slope, weight = pieces.T
    middle = shape[0] / 2
    agrees = np.abs(slope[:, None] - _SLOPES[None, :]) <= 0.06
    piece, tilt = np.nonzero(agrees)
    width = shape[1] + int(2 * _STEEPEST * shape[0])
    columns = width // _BIN + 3
    at = (x[piece] - _SLOPES[tilt] * (y[piece] - middle) + _STEEPEST * shape[0]) / _BIN
    cell = tilt * columns + np.clip(at.astype(int), 0, columns - 3) + 1
    favour = np.where(np.abs(_SLOPES) < 0.032, 1.0, 0.8)[tilt] * weight[piece]
    votes = np.zeros(len(_SLOPES) * columns)
    for shift in (-1, 0, 1):
        votes += np.bincount(cell + shift, favour, len(votes))
    starts = np.searchsorted(piece, np.arange(len(pieces) + 1))
    alive = np.ones(len(pieces), bool)
    found: list[tuple[float, float]] = []
    while len(found) < _MOST_LINES:
        best = int(votes.argmax())
        if votes[best] < _WEAKEST_LINE:
            break
        s = float(_SLOPES[best // columns])
        c = (best % columns - 0.5) * _BIN - _STEEPEST * shape[0]
        near = alive & (np.abs(x - s * (y - middle) - c) <= _REACH + 1) & (np.abs(slope - s) <= 0.08)
        c, s = _fitted(x[near], y[near] - middle, weight[near], c, s)
        members = near | (alive & (np.abs(x - s * (y - middle) - c) <= _REACH) & (np.abs(slope - s) <= 0.08))
        spent = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in np.nonzero(members)[0]] or [[best]])
        if not members.any():
            votes[best] = 0
            continue
        for shift in (-1, 0, 1):
            np.subtract.at(votes, cell[spent] + shift, favour[spent])
        alive &= ~members
        found.append((c - s * middle, s))
    lines = np.array(found).reshape(-1, 2)
    return lines[:, 0], lines[:, 1]


def _fitted(x: np.ndarray, y: np.ndarray, weight: np.ndarray, c: float, s: float) -> tuple[float, float]:
    """The least-squares line through pieces; a short stretch keeps the slope that it voted for."""
    total = weight.sum()
    if not total:
        return c, s
    mx, my = (weight * x).sum() / total, (weight * y).sum() / total
    spread = (weight * (y - my) ** 2).sum()
    prior = total * (0.04 * UNIT) ** 2
    tilt = ((weight * (x - mx) * (y - my)).sum() + prior * s) / (spread + prior)
    return mx - tilt * my, tilt


def _along(picture: np.ndarray, offset: np.ndarray, slope: np.ndarray, shift: int) -> np.ndarray:
    """Values (n, H) of the picture on each line, moved `shift` pixels to the right."""
    y = np.arange(picture.shape[0])
    x = np.rint(offset[:, None] + slope[:, None] * y[None, :]).astype(np.intp) + shift
    return np.where((x >= 0) & (x < picture.shape[1]), picture[y, np.clip(x, 0, picture.shape[1] - 1)], 0)


def _sums(values: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((len(values), 1)), values.cumsum(axis=1)], axis=1)
