"""Axis-aligned boxes in pixels: the one vocabulary that detectors, orderers and tasks share.

Boxes are `(x, y, w, h)`, origin top-left. Nothing here knows what a box stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A box in pixels; behaves as the tuple `(x, y, w, h)`."""

    x: int
    y: int
    w: int
    h: int

    @property
    def right(self) -> int:
        """First column right of the box."""
        return self.x + self.w

    @property
    def bottom(self) -> int:
        """First row below the box."""
        return self.y + self.h

    @property
    def area(self) -> int:
        """Pixels in the box."""
        return self.w * self.h

    @property
    def centre(self) -> tuple[float, float]:
        """Centre as (x, y)."""
        return self.x + self.w / 2, self.y + self.h / 2

    def clipped(self, width: int, height: int) -> Box:
        """The part of the box inside a picture of that size; an empty part has zero width or height."""
        x, y = min(max(self.x, 0), width), min(max(self.y, 0), height)
        right, bottom = min(max(self.right, x), width), min(max(self.bottom, y), height)
        return Box(x, y, right - x, bottom - y)

    def scaled(self, factor_x: float, factor_y: float) -> Box:
        """The box in a picture resized by these factors; edges are rounded, so neighbours stay neighbours."""
        x, y = round(self.x * factor_x), round(self.y * factor_y)
        return Box(x, y, round(self.right * factor_x) - x, round(self.bottom * factor_y) - y)


def intersection(a: Box, b: Box) -> int:
    """Pixels that two boxes share."""
    width = min(a.right, b.right) - max(a.x, b.x)
    height = min(a.bottom, b.bottom) - max(a.y, b.y)
    return max(width, 0) * max(height, 0)


def iou(a: Box, b: Box) -> float:
    """Intersection over union, from 0 to 1; 0 when both boxes are empty."""
    shared = intersection(a, b)
    union = a.area + b.area - shared
    return shared / union if union else 0.0


def enclosing(boxes: Iterable[Box]) -> Box:
    """The smallest box around all boxes; raises ValueError without any."""
    items = list(boxes)
    x, y = min(b.x for b in items), min(b.y for b in items)
    return Box(x, y, max(b.right for b in items) - x, max(b.bottom for b in items) - y)


def polygon_box(polygon: Sequence[Sequence[float]]) -> Box:
    """The bounding box of a polygon of (x, y) points, edges rounded to pixels."""
    xs, ys = [p[0] for p in polygon], [p[1] for p in polygon]
    x, y = round(min(xs)), round(min(ys))
    return Box(x, y, round(max(xs)) - x, round(max(ys)) - y)


def box_polygon(box: Box) -> list[list[int]]:
    """The four corners of a box, clockwise from the top left."""
    return [[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]]
