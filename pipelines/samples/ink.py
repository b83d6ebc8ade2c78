"""Drawing with a pen in world units: filled shapes with ink outlines, limbs, curves and halftone.

The world's y axis points up and the ground is y = 0; a pen maps it to pixels. What does not belong here: what is drawn
(figures, scenes, props) and anything that knows of pages or panels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]] | np.ndarray
_SHIFT = 3
_OVAL_STEPS = 44


@dataclass(frozen=True)
class Pen:
    """A pen over an RGB uint8 canvas: `origin` is the pixel of the world's (0, 0), `unit` the pixels of one unit.

    `weight` is the outline's width in pixels; `turn` (radians) and `mirror` turn whatever the pen draws.
    """

    canvas: np.ndarray
    origin: tuple[float, float]
    unit: float
    ink: Colour = (24, 22, 30)
    weight: float = 4.0
    turn: float = 0.0
    mirror: bool = False

    def at(self, x: float, y: float, *, scale: float = 1.0, mirror: bool = False, turn: float = 0.0) -> Pen:
        """A pen whose own (0, 0) is this pen's (x, y), `scale` times as large, perhaps mirrored and turned."""
        px, py = self.pixel(x, y)
        turned = self.turn + (-turn if self.mirror else turn)
        return replace(self, origin=(px, py), unit=self.unit * scale, turn=turned, mirror=self.mirror is not mirror)

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """The pixel, not rounded, of a point in the pen's units."""
        px, py = self._pixels([(x, y)])[0]
        return float(px), float(py)

    def world(self, px: float, py: float) -> tuple[float, float]:
        """The point in the pen's units of a pixel, for a pen that is neither mirrored nor turned."""
        return (px - self.origin[0]) / self.unit, (self.origin[1] - py) / self.unit

    def fill(self, points: Points, colour: Colour) -> None:
        """Fill a closed shape, without an outline."""
        cv2.fillPoly(self.canvas, [self._fixed(points)], colour, cv2.LINE_AA, _SHIFT)

    def line(self, points: Points, weight: float = 1.0, colour: Colour | None = None, *, closed: bool = False) -> None:
        """Draw a line of `weight` times the outline's width, in ink unless a colour is given."""
        width = max(round(self.weight * weight), 1)
        cv2.polylines(self.canvas, [self._fixed(points)], closed, colour or self.ink, width, cv2.LINE_AA, _SHIFT)

    def shape(self, points: Points, colour: Colour, weight: float = 1.0) -> None:
        """Fill a closed shape and draw its outline."""
        self.fill(points, colour)
        self.line(points, weight, closed=True)

    def shaded(self, points: Points, colour: Colour, shade: float = 0.82, shift: float = 0.05) -> None:
        """A shape whose lower right side lies in shadow: the light part is the shape drawn smaller and moved."""
        array = np.asarray(points, dtype=float)
        middle = (array.min(0) + array.max(0)) / 2
        self.fill(array, darker(colour, shade))
        light = (array - middle) * (1 - shift) + middle
        # The light always comes from the picture's upper left, whichever way the pen is mirrored.
        light += np.array([shift if self.mirror else -shift, shift]) * (array.max(0) - array.min(0)) * 0.5
        self.fill(light, colour)
        self.line(array, closed=True)

    def limb(self, points: Points, width: float, colour: Colour) -> None:
        """A round-ended band of `width` units with an outline on both sides."""
        inner = max(round(width * self.unit), 1)
        fixed = [self._fixed(points)]
        cv2.polylines(
            self.canvas, fixed, False, self.ink, inner + 2 * max(round(self.weight * 0.9), 1), cv2.LINE_AA, _SHIFT
        )
        cv2.polylines(self.canvas, fixed, False, colour, inner, cv2.LINE_AA, _SHIFT)

    def _pixels(self, points: Points) -> np.ndarray:
        array = np.array(points, dtype=float).reshape(-1, 2)
        if self.mirror:
            array[:, 0] = -array[:, 0]
        if self.turn:
            cos, sin = math.cos(self.turn), math.sin(self.turn)
            array = array @ np.array([[cos, sin], [-sin, cos]])
        array[:, 1] = -array[:, 1]
        return array * self.unit + self.origin

    def _fixed(self, points: Points) -> np.ndarray:
        # Far points would overflow OpenCV's fixed-point numbers; nothing that far is seen.
        return np.clip(self._pixels(points) * (1 << _SHIFT), -(1 << 18), 1 << 18).round().astype(np.int32)


def oval(x: float, y: float, rx: float, ry: float) -> np.ndarray:
    """The outline of an ellipse around (x, y)."""
    return arc(x, y, rx, ry, 0, 360 * (1 - 1 / _OVAL_STEPS), steps=_OVAL_STEPS)


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float, *, steps: int = 14) -> np.ndarray:
    """Points on an ellipse from `start` to `end` degrees, 0 to the right, 90 up."""
    angles = np.radians(np.linspace(start, end, steps))
    return np.stack([x + rx * np.cos(angles), y + ry * np.sin(angles)], axis=1)


def box(x: float, y: float, w: float, h: float) -> list[tuple[float, float]]:
    """A rectangle with its lower left corner at (x, y)."""
    return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]


def rounded(x: float, y: float, w: float, h: float, radius: float) -> np.ndarray:
    """A rectangle with round corners, lower left corner at (x, y)."""
    r = min(radius, w / 2, h / 2)
    corners = [(x + w - r, y + r, -90), (x + w - r, y + h - r, 0), (x + r, y + h - r, 90), (x + r, y + r, 180)]
    return np.concatenate([arc(cx, cy, r, r, start, start + 90, steps=6) for cx, cy, start in corners])


def smooth(points: Points, *, closed: bool = True, steps: int = 6) -> np.ndarray:
    """A Catmull-Rom curve through the points, `steps` points for each stretch."""
    p = np.asarray(points, dtype=float)
    if closed:
        before, after, later = np.roll(p, 1, 0), np.roll(p, -1, 0), np.roll(p, -2, 0)
        here = p
    else:
        padded = np.concatenate([p[:1], p, p[-1:]])
        before, here, after, later = padded[:-3], padded[1:-2], padded[2:-1], padded[3:]
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    b, h, a, n = before[:, None], here[:, None], after[:, None], later[:, None]
    curve = 0.5 * (2 * h + (a - b) * t + (2 * b - 5 * h + 4 * a - n) * t**2 + (3 * h - b - 3 * a + n) * t**3)
    curve = curve.reshape(-1, 2)
    return curve if closed else np.concatenate([curve, p[-1:]])


def bow(start: tuple[float, float], bend: tuple[float, float], end: tuple[float, float]) -> np.ndarray:
    """A quadratic curve from start to end, drawn towards `bend`."""
    t = np.linspace(0, 1, 9)[:, None]
    return (1 - t) ** 2 * np.array(start) + 2 * t * (1 - t) * np.array(bend) + t**2 * np.array(end)


def darker(colour: Colour, factor: float) -> Colour:
    """The colour times a factor, a little bluer, as shadows are."""
    red, green, blue = (min(round(part * factor), 255) for part in colour)
    return red, green, min(round(blue + (255 - blue) * (1 - factor) * 0.12), 255) if factor < 1 else blue


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The first colour with `share` (0 to 1) of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def halftone(
    canvas: np.ndarray, colour: Colour, strength: np.ndarray, *, cell: int, region: np.ndarray | None = None
) -> None:
    """Print dots of a colour over a canvas; `strength` (0 to 1) is broadcast over it, `region` limits where.

    Dots sit on a grid turned by 45 degrees, `cell` pixels apart, and grow with the strength, as in cheap print.
    """
    height, width = canvas.shape[:2]
    y, x = np.mgrid[0 : cell * 2, 0 : cell * 2]
    wave = (np.cos(np.pi * (x + y) / cell) + np.cos(np.pi * (x - y) / cell)) / 4 + 0.5
    screen = np.tile((wave * 255).astype(np.uint8), (height // (cell * 2) + 1, width // (cell * 2) + 1))
    dots = screen[:height, :width] > np.clip(255 * (1 - strength), 0, 255).astype(np.uint8)
    mask = (dots if region is None else dots & region).view(np.uint8)
    cv2.copyTo(solid(width, height, colour), mask, canvas)


def solid(width: int, height: int, colour: Colour) -> np.ndarray:
    """A canvas of one colour; OpenCV fills it many times as fast as NumPy repeats three bytes."""
    canvas = np.empty((height, width, 3), np.uint8)
    cv2.rectangle(canvas, (0, 0), (width, height), colour, cv2.FILLED)
    return canvas


def gradient(canvas: np.ndarray, top: Colour, bottom: Colour, until: float = 1.0) -> None:
    """Fill a canvas with a vertical gradient that ends at the share `until` of its height."""
    height = canvas.shape[0]
    share = np.clip(np.linspace(0, 1 / max(until, 0.01), height), 0, 1)[:, None]
    rows = np.array(top) * (1 - share) + np.array(bottom) * share
    column = rows.round().astype(np.uint8)[:, None, :]
    cv2.resize(column, (canvas.shape[1], height), dst=canvas, interpolation=cv2.INTER_NEAREST)
