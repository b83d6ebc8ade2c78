"""Speech balloons, thoughts, shouts and narration boxes: where they go in a panel, and drawing them.

Balloons are planned first, so that figures can be placed below them. Sizes are in pixels of the finished page.
What does not belong here: who speaks, and where the speakers stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipelines.geometry import Box
from pipelines.lettering import measure, wrap
from pipelines.samples.ink import Colour, Pen, bow
from pipelines.samples.scripts import Line

_WHITE: Colour = (255, 255, 255)
# The corners of a text box lie inside |x/a|^n + |y/b|^n = 1 when a and b are its half sides times 2^(1/n).
_POWER = 3.4
_STRETCH = 2 ** (1 / _POWER) + 0.01


@dataclass(frozen=True)
class Balloon:
    """One planned balloon: its line, the box that is lettered, the box of its outline, and the lettering's size."""

    line: Line
    text_box: Box
    shape: Box
    size: int

    def moved(self, dx: int, dy: int) -> Balloon:
        """The same balloon elsewhere."""
        text, shape = self.text_box, self.shape
        return replace(
            self,
            text_box=text._replace(x=text.x + dx, y=text.y + dy),
            shape=shape._replace(x=shape.x + dx, y=shape.y + dy),
        )


def plan_balloons(
    lines: Sequence[Line], area: Box, size: int, slot_of: Callable[[str], int], *, mirror: bool
) -> list[Balloon]:
    """Balloons for the lines of a panel, in reading order, at the top of `area`, as low a pile as is found.

    `slot_of` gives the column in pixels where a speaker stands; `mirror` reads from right to left. Lettering shrinks,
    down to two thirds of `size`, where the pile would take more than half of the area.
    """
    best: list[Balloon] = []
    for smaller in range(size, size * 2 // 3 - 1, -1):
        for rows in _groupings(lines):
            pile = _pile(rows, area, smaller, slot_of, mirror=mirror)
            if pile and (not best or headroom(pile, area) < headroom(best, area)):
                best = pile
        if best and headroom(best, area) <= area.h * 0.5:
            return best
    return best


def headroom(balloons: Sequence[Balloon], area: Box) -> int:
    """How many pixels of the area's top the balloons take."""
    return max((balloon.shape.bottom - area.y for balloon in balloons), default=0)


def _groupings(lines: Sequence[Line]) -> list[list[Sequence[Line]]]:
    """The ways to break lines into rows of one or two."""
    if not lines:
        return [[]]
    ways = [[lines[:1], *rest] for rest in _groupings(lines[1:])]
    if len(lines) > 1:
        ways += [[lines[:2], *rest] for rest in _groupings(lines[2:])]
    return ways


def _pile(
    rows: Sequence[Sequence[Line]], area: Box, size: int, slot_of: Callable[[str], int], *, mirror: bool
) -> list[Balloon] | None:
    gap, y = max(size // 3, 4), area.y + max(size // 4, 3)
    pile: list[Balloon] = []
    for row in rows:
        share = 0.94 if len(row) == 1 else 0.485
        balloons = [_balloon(line, round(area.w * share), size) for line in row]
        placed: list[Balloon] = []
        for place, balloon in enumerate(balloons):
            if balloon is None:
                return None
            start = area.x + place * (area.w - balloon.shape.w) if len(row) == 2 else None
            if mirror and start is not None:
                start = area.x + (1 - place) * (area.w - balloon.shape.w)
            placed.append(balloon.moved(_column(balloon, area, start, slot_of, mirror=mirror), y + place * gap))
        y = max(balloon.shape.bottom for balloon in placed) + gap
        pile += placed
    return pile


def _column(balloon: Balloon, area: Box, start: int | None, slot_of: Callable[[str], int], *, mirror: bool) -> int:
    width = balloon.shape.w
    if start is not None:
        return start
    if balloon.line.speaker is None:
        return area.right - width if mirror else area.x
    return min(max(slot_of(balloon.line.speaker) - width // 2, area.x), area.right - width)


def _balloon(line: Line, width: int, size: int) -> Balloon | None:
    """A balloon at (0, 0) about twice as wide as high, at most `width` wide; None where a word does not fit."""
    best: Balloon | None = None
    for room in range(size * 5, width, size):
        lines = wrap(line.text, size, room)
        if lines is None:
            continue
        balloon = _around(line, measure(lines, size), size)
        if balloon.shape.w > width:
            break
        if best is None or abs(balloon.shape.w - 2.3 * balloon.shape.h) < abs(best.shape.w - 2.3 * best.shape.h):
            best = balloon
    return best


def _around(line: Line, text: tuple[int, int], size: int) -> Balloon:
    inner = (text[0] + 6, text[1] + 6)
    if line.manner == "narrate":
        outer = (inner[0] + size, inner[1] + size * 2 // 3)
    else:
        stretch = _STRETCH * (1.1 if line.manner == "shout" else 1.0)
        outer = (round(inner[0] * stretch) + 6, round(inner[1] * stretch) + 8)
    x, y = (outer[0] - inner[0]) // 2, (outer[1] - inner[1]) // 2
    return Balloon(line, Box(x, y, *inner), Box(0, 0, *outer), size)


def draw_balloon(pen: Pen, balloon: Balloon, head: tuple[float, float, float] | None, caption_colour: Colour) -> None:
    """Draw a balloon and its tail, without its text,.

    `pen` maps page pixels one to one with y upwards; `head` is the speaker's head as (x, y, radius) in page pixels.
    """
    shape = balloon.shape
    x, y = shape.x + shape.w / 2, shape.y + shape.h / 2
    if balloon.line.manner == "narrate":
        pen.shape(
            [(shape.x, -shape.y), (shape.right, -shape.y), (shape.right, -shape.bottom), (shape.x, -shape.bottom)],
            caption_colour,
        )
        return
    outline = _outline(balloon, x, y)
    tail = _tail(balloon, x, y, head) if head else []
    if balloon.line.manner == "think":
        pen.shape(outline, _WHITE)
        _draw_bubbles(pen, tail)
        return
    if len(tail):
        pen.line(tail, 2.0, closed=True)
    pen.line(outline, 2.0, closed=True)
    pen.fill(outline, _WHITE)
    if len(tail):
        pen.fill(tail, _WHITE)


def _outline(balloon: Balloon, x: float, y: float) -> np.ndarray:
    a, b = balloon.shape.w / 2, balloon.shape.h / 2
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    cos, sin = np.cos(angles), np.sin(angles)
    reach = (np.abs(cos) ** _POWER + np.abs(sin) ** _POWER) ** (-1 / _POWER)
    if balloon.line.manner == "shout":
        reach = reach * np.where(np.arange(72) % 4 < 2, 1.0, 0.91)
    elif balloon.line.manner == "think":
        reach = reach * (0.97 + 0.035 * np.abs(np.sin(angles * 8)))
    return np.stack([x + a * reach * cos, -(y + b * reach * sin)], axis=1)


def _tail(balloon: Balloon, x: float, y: float, head: tuple[float, float, float]) -> np.ndarray:
    hx, hy, radius = head
    a, b = balloon.shape.w / 2, balloon.shape.h / 2
    base = x + float(np.clip(hx - x, -0.55 * a, 0.55 * a))
    start = np.array([base, y + b * 0.72])
    towards = np.array([hx, hy]) - start
    length = float(np.hypot(*towards)) + 1e-6
    reach = max(length - radius * 1.3, b * 0.28 + balloon.size * 0.8)
    tip = start + towards / length * min(reach, length * 0.9)
    half = min(balloon.size * 0.62, a * 0.3)
    bend = (start + tip) / 2 + np.array([np.sign(hx - x) * -balloon.size * 0.35, 0.0])
    left = bow((base - half, start[1]), (bend[0] - half * 0.5, bend[1]), (tip[0], tip[1]))
    right = bow((tip[0], tip[1]), (bend[0] + half * 0.5, bend[1]), (base + half, start[1]))
    return np.concatenate([left, right]) * (1, -1)


def _draw_bubbles(pen: Pen, tail: np.ndarray | list[float]) -> None:
    if not len(tail):
        return
    points = np.asarray(tail)
    start, tip = (points[0] + points[-1]) / 2, points[8]
    for share, size in ((0.45, 9.0), (0.72, 6.5), (0.96, 4.0)):
        bx, by = start + (tip - start) * share
        angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        pen.shape(np.stack([bx + size * np.cos(angles), by + size * np.sin(angles)], axis=1), _WHITE)
