"""Panels without a frame: the ink that no quadrilateral holds, gathered into pictures.

Here belongs the grouping of left-over ink and the rule that tells it from text and page numbers. Lines and rectangles do not.
"""

from __future__ import annotations

import cv2
import numpy as np

from pipelines.comics.panel_background import UNIT

_CELL = 4
_SMALLEST = 0.02
_NEAR = 0.08
_SHARED = 0.05


def remaining_pictures(paper: np.ndarray, taken: np.ndarray) -> list[np.ndarray]:
    """Boxes (4,) of x0, y0, x1, y1 in sheet pixels of the pictures outside all panels.

    `paper` is the sheet's mask; `taken` holds the panels' corners (n, 4, 2).
    """
    ink = ~paper
    grown = ink.copy()
    for corners in taken:
        cv2.fillConvexPoly(grown, np.rint(corners).astype(np.int32), (0,))
        cv2.polylines(grown, [np.rint(corners).astype(np.int32)], True, (0,), thickness=int(0.024 * UNIT))
    small = cv2.resize(grown, None, fx=1 / _CELL, fy=1 / _CELL, interpolation=cv2.INTER_AREA)
    small = cv2.compare(small, np.array([40.0]), cv2.CMP_GT)
    reach = 2 * round(0.006 * UNIT / _CELL) + 1
    wide = cv2.dilate(small, np.ones((reach, reach), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(wide, connectivity=8)
    ink_of = np.bincount(labels[small > 0], minlength=count)
    boxes = []
    for i in range(1, count):
        x, y, w, h = stats[i, :4]
        boxes.append((int(x), int(y), int(x + w), int(y + h), int(ink_of[i])))
    boxes = [b for b in boxes if b[4] >= 4]
    boxes = sorted(boxes, key=lambda b: (-(b[2] - b[0]) * (b[3] - b[1]), b))[:60]
    trim = (reach - 1) // 2
    out = []
    for x0, y0, x1, y1, n in _merged(boxes):
        box = _beside(np.array([x0 + trim, y0 + trim, x1 - trim, y1 - trim]) * _CELL, taken)
        w, h = box[2:] - box[:2]
        if w * h < _SMALLEST * paper.size or min(w, h) < 0.09 * UNIT or n * _CELL**2 < 0.04 * w * h:
            continue
        out.append(box)
    return out


def _beside(box: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """The box cut back where panels reach into it by more than a little, each time on the side where least is lost."""
    for low, high in zip(taken.min(axis=1), taken.max(axis=1), strict=True):
        shared = np.maximum(np.minimum(box[2:], high) - np.maximum(box[:2], low), 0).prod()
        if shared <= _SHARED * (box[2:] - box[:2]).prod():
            continue
        cuts = []
        for axis in (0, 1):
            before, after = box.copy(), box.copy()
            before[axis + 2], after[axis] = max(low[axis], box[axis]), min(high[axis], box[axis + 2])
            cuts += [before, after]
        box = max(cuts, key=lambda cut: (cut[2:] - cut[:2]).prod())
    return box


def _merged(boxes: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    """Fragments joined to the nearest larger piece, and overlapping pieces to one another."""
    near = _NEAR * UNIT / _CELL
    large = (0.12 * UNIT / _CELL) ** 2
    pieces = list(boxes)
    changed = True
    while changed:
        changed = False
        for i in range(len(pieces)):
            for j in range(i + 1, len(pieces)):
                a, b = pieces[i], pieces[j]
                gap = max(max(a[0], b[0]) - min(a[2], b[2]), max(a[1], b[1]) - min(a[3], b[3]))
                smaller = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
                if gap < 0 or (smaller < large and gap <= near):
                    pieces[i] = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]), a[4] + b[4])
                    del pieces[j]
                    changed = True
                    break
            if changed:
                break
    return pieces
