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
STRONG, WEAK, BOLD, DRAWN = 255, 128, 91, 90
"""Evidence of an edge pixel: of paper joined to the outside, of other paper-coloured area, of a dark line as broad as a frame
(told apart, not worth more), of a thinner one."""
_FRAME = UNIT // 200
"""Breadth in pixels from which a dark line may be the frame that two panels share."""
_DARK, _CONTRAST = 80, 32
"""Greatest brightness of a drawn line, and how much darker than both its sides it is where they are dark too."""
_PIECE = 16
_STEEPEST = 0.4
_REACH = 3.0
_MOST_LINES = 44
_WEAKEST_LINE = 0.032 * UNIT
_BIN = 2
_LEAST_ROWS = 10
"""Of the rows of a piece, how many must have an edge pixel."""
_LEANS = sorted(range(-6, 7), key=abs)
"""Leans of a piece in pixels over its height, the upright first, which wins where several fit alike."""

_FINE = np.arange(-0.03, 0.0301, 0.005)
_COARSE = np.arange(0.04, _STEEPEST + 0.001, 0.01)
_SLOPES = np.concatenate([-_COARSE[::-1], _FINE, _COARSE])
_LEANS_LOW = min(_LEANS)


def _near_slopes() -> tuple[np.ndarray, np.ndarray]:
    """For each lean from the lowest: places in `_SLOPES` of those near its slope, as many for each, and which count."""
    near = [np.flatnonzero(np.abs(lean / _PIECE - _SLOPES) <= 0.06) for lean in sorted(_LEANS)]
    most = max(map(len, near))
    places = np.stack([np.pad(one, (0, most - len(one)), mode="edge") for one in near])
    return places, np.stack([np.arange(most) < len(one) for one in near])


_NEAR_SLOPES = _near_slopes()


@dataclass(frozen=True)
class Lines:
    """`n` upright lines x = `offset` + `slope` * y that bound pictures on one side, with running sums along y (n, H + 1).

    `paper`: evidence of gutters, 0 to 1 a pixel; `drawn`: the same or of a drawn line, whichever is more; `marked`: pixels
    of paper or of a line as broad as a frame; `hollow`: pixels where outside paper lies just inside the line.
    """

    offset: np.ndarray
    slope: np.ndarray
    paper: np.ndarray
    drawn: np.ndarray
    marked: np.ndarray
    hollow: np.ndarray

    def __len__(self) -> int:
        return len(self.offset)


def upright_lines(paper: np.ndarray, outside: np.ndarray, grey: np.ndarray) -> tuple[Lines, Lines]:
    """The lines that bound pictures on their left and those on their right, strongest first, a bounded number.

    The masks are (H, W) `uint8`, 255 where true.
    """
    left, right = _edges(paper, outside, grey)
    return _lines(left, outside, inward=8), _lines(right, outside, inward=-8)


def _lines(edge: np.ndarray, outside: np.ndarray, inward: int) -> Lines:
    offset, slope = _through(_pieces(edge), edge.shape)
    on = _along(cv2.dilate(edge, np.ones((1, 2 * int(_REACH) + 1), np.uint8)), offset, slope, 0)
    if len(on):
        on = cv2.morphologyEx(on, cv2.MORPH_CLOSE, np.ones((1, 7), np.uint8))
    return Lines(
        offset,
        slope,
        _sums(np.where(on >= WEAK, on, 0) / 255.0),
        _sums(on / 255.0),
        _sums(on >= BOLD),
        _sums(_along(outside, offset, slope, inward) > 0),
    )


def _ink(grey: np.ndarray, beside: np.ndarray, darker_than: np.ndarray | int) -> np.ndarray:
    """255 on upright dark lines whose sides are lighter than that, all (H, W)."""
    return _opened(((grey <= _DARK) & (beside > darker_than)).view(np.uint8) * np.uint8(255), _PIECE, 1)


def _edges(paper: np.ndarray, outside: np.ndarray, grey: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maps (H, W) of the left and the right edges of pictures; the value is the strength of the evidence."""
    runs = _opened(paper, 1, NARROWEST_GUTTER)
    beside = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((1, 9), np.uint8))
    thin = _ink(grey, beside, _DARK)
    bold = _opened(
        _opened(_ink(grey, beside, np.minimum(_DARK, cv2.add(grey, np.array([float(_CONTRAST)])))), 1, _FRAME),
        _PIECE,
        1,
    )
    left, right = np.zeros_like(paper), np.zeros_like(paper)
    step = 3
    left[:, step:] = outside[:, :-step]
    right[:, :-step] = outside[:, step:]
    for edge, here, there in ((left, np.s_[:, 1:], np.s_[:, :-1]), (right, np.s_[:, :-1], np.s_[:, 1:])):
        edge |= WEAK
        edge[here] &= runs[there] & ~runs[here]
        np.maximum(edge[here], thin[here] & ~thin[there] & DRAWN, out=edge[here])
        np.maximum(edge[here], bold[here] & ~bold[there] & BOLD, out=edge[here])
    left[:, 0] = right[:, -1] = 0
    return left, right


def _opened(mask: np.ndarray, rows: int, columns: int) -> np.ndarray:
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((rows, columns), np.uint8))


def _pieces(edge: np.ndarray) -> np.ndarray:
    """Straight pieces of an edge map, `_PIECE` rows high: (n, 4) of centre x, centre y, lean, weight.

    In each band of rows, for each of a few slopes, edge pixels are counted along slanted columns; a piece is where most
    rows have one, more than beside it.
    """
    margin = _PIECE // 2
    bands = -(-edge.shape[0] // _PIECE)
    tall = cv2.copyMakeBorder(
        edge, 0, bands * _PIECE - edge.shape[0], margin, margin, cv2.BORDER_CONSTANT, value=(0,)
    ).reshape(bands, _PIECE, -1)
    before = np.zeros((_PIECE + 1, bands, tall.shape[2]), np.uint8)
    for row in range(_PIECE):
        np.add(before[row], tall[:, row] > 0, out=before[row + 1])
    # Of three columns, the middle one counts twice. The better score wins, and of two leans with one score the earlier.
    before = before[:, :, :-2] + 2 * before[:, :, 1:-1] + before[:, :, 2:]
    best = np.zeros((bands, edge.shape[1]), np.uint16)
    for rank, lean in enumerate(_LEANS):
        score = np.zeros(best.shape, np.uint8)
        for first, last, shift in _steps(lean):
            at = slice(margin - 1 + shift, margin - 1 + edge.shape[1] + shift)
            score += before[last, :, at]
            score -= before[first, :, at]
        np.maximum(best, score.astype(np.uint16) << 4 | (15 - rank), out=best)
    score, rank = best >> 4, 15 - (best & 15)
    peaks = (score >= _LEAST_ROWS) & (score == cv2.dilate(score, np.ones((1, 7), np.uint8)))
    peaks[:, 1:] &= score[:, 1:] > score[:, :-1]
    band, x = np.nonzero(peaks)
    lean = np.array(_LEANS)[rank[band, x]]
    rows = np.arange(_PIECE)
    column = np.rint(x[:, None] + margin + lean[:, None] / _PIECE * (rows - (_PIECE - 1) / 2)).astype(np.intp)
    near = np.stack([tall[band[:, None], rows, column + step] for step in (-1, 0, 1)])
    enough = (near > 0).sum(axis=(0, 2)) >= _LEAST_ROWS
    weight = near.max(axis=0).sum(axis=1) / 255.0
    return np.column_stack([x, band * _PIECE + (_PIECE - 1) / 2, lean, weight])[enough]


def _steps(lean: int) -> list[tuple[int, int, int]]:
    """Runs of rows (first, end) of a piece that a lean of so many pixels moves alike, and by how much."""
    shifts = np.rint(lean * (np.arange(_PIECE) - (_PIECE - 1) / 2) / _PIECE).astype(int)
    starts = [0, *(np.nonzero(np.diff(shifts))[0] + 1), _PIECE]
    return [(int(a), int(b), int(shifts[a])) for a, b in zip(starts, starts[1:], strict=False)]


def _through(pieces: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and slopes of the lines that carry most pieces, found one after the other; each piece serves one line."""
    x, y, lean, weight = pieces.T
    slope = lean / _PIECE
    middle = shape[0] / 2
    # Each piece votes for the slopes near its own, at the place where a line of that slope through it crosses the middle.
    tilt, agrees = (table[lean.astype(int) - _LEANS_LOW] for table in _NEAR_SLOPES)
    width = shape[1] + int(2 * _STEEPEST * shape[0])
    columns = width // _BIN + 3
    at = (x[:, None] - _SLOPES[tilt] * (y - middle)[:, None] + _STEEPEST * shape[0]) / _BIN
    cell = tilt * columns + np.clip(at.astype(int), 0, columns - 3) + 1
    favour = agrees * np.where(np.abs(_SLOPES) < 0.032, 1.0, 0.8)[tilt] * weight[:, None]
    votes = np.zeros(len(_SLOPES) * columns)
    for shift in (-1, 0, 1):
        votes += np.bincount((cell + shift).ravel(), favour.ravel(), len(votes))
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
        if not members.any():
            votes[best] = 0
            continue
        for shift in (-1, 0, 1):
            np.subtract.at(votes, cell[members] + shift, favour[members])
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
