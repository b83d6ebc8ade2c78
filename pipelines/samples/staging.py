"""One panel from its script: where figures stand, how near the reader is, and painting place and people.

Sizes are in pixels of the finished page unless a name says canvas. What does not belong here: the page around the panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from pipelines.geometry import Box
from pipelines.samples.balloons import Balloon, headroom, plan_balloons
from pipelines.samples.figures import anchors, draw_figure
from pipelines.samples.ink import Colour, Pen, arc, bow, oval
from pipelines.samples.light import Palette
from pipelines.samples.looks import Actor
from pipelines.samples.scenes import paint_scene
from pipelines.samples.scripts import PanelScript

_UNITS = {"wide": 1.0, "medium": 0.64, "close": 0.47}
_BACKGROUND = 0.74


@dataclass(frozen=True)
class Placed:
    """A figure's place: its column in pixels and whether it faces left."""

    actor: Actor
    x: int
    mirror: bool


@dataclass(frozen=True)
class Staged:
    """A panel ready to be painted: figures, balloons, the pixel of the ground's middle, and the pixels of one unit."""

    script: PanelScript
    shot: str
    figures: tuple[Placed, ...]
    balloons: tuple[Balloon, ...]
    ground: tuple[float, float]
    unit: float

    def head_of(self, name: str | None) -> tuple[float, float, float] | None:
        """Middle and radius in pixels of someone's head; None for who is not seen."""
        for figure in self.figures:
            if figure.actor.name == name:
                points = anchors(figure.actor, 0.0, mirror=figure.mirror)
                x, y = points.head
                return figure.x + x * self.unit, self.ground[1] - y * self.unit, points.radius * self.unit
        return None


def stage(script: PanelScript, safe: Box, size: int, dice: Random, *, mirror: bool) -> Staged:
    """Place balloons and figures in the box that is free for them, lettered at `size` pixels or a little smaller."""
    pad = max(min(safe.w, safe.h) // 40, 5)
    area = Box(safe.x + pad, safe.y + pad, safe.w - 2 * pad, safe.h - 2 * pad)
    figures = _places(script, area, dice, mirror=mirror)
    columns = {figure.actor.name: figure.x for figure in figures}
    edge = area.x if mirror else area.right
    balloons = plan_balloons(script.lines, area, size, lambda name: columns.get(name, edge), mirror=mirror)
    shot = script.shot or dice.choice(("wide", "medium", "medium", "close") if len(figures) < 3 else ("wide", "medium"))
    top = area.y + headroom(balloons, area) + size // 2
    unit, ground = _camera(figures, shot, area, top, dice)
    staged = Staged(script, shot, figures, tuple(balloons), (area.x + area.w / 2, ground), unit)
    return replace(staged, balloons=_lowered(staged, top))


def _lowered(staged: Staged, top: int) -> tuple[Balloon, ...]:
    """The balloons, moved towards the heads where the panel leaves much room between them."""
    heads = [head for figure in staged.figures if (head := staged.head_of(figure.actor.name))]
    slack = min((y - radius * 1.6 - top for _, y, radius in heads), default=0.0)
    drop = round(max(slack, 0) * 0.4)
    return tuple(one if one.line.speaker is None else one.moved(0, drop) for one in staged.balloons)


def _places(script: PanelScript, area: Box, dice: Random, *, mirror: bool) -> tuple[Placed, ...]:
    """Who speaks first stands first in reading direction, so that balloons and speakers come in one order."""
    spoken = [line.speaker for line in script.lines]
    order = sorted(script.actors, key=lambda actor: spoken.index(actor.name) if actor.name in spoken else len(spoken))
    if mirror:
        order.reverse()
    count = len(order)
    figures = []
    for place, actor in enumerate(order):
        share = (place + 0.5) / count if count > 1 else dice.choice((0.36, 0.5, 0.64))
        middle = (count - 1) / 2
        left = place > middle or (place == middle and (share > 0.5 or (share == 0.5 and dice.random() < 0.5)))
        jitter = dice.uniform(-0.03, 0.03) * area.w
        figures.append(Placed(actor, round(area.x + share * area.w + jitter), left))
    return tuple(figures)


def _camera(figures: Sequence[Placed], shot: str, area: Box, top: int, dice: Random) -> tuple[float, float]:
    """The pixels of one unit, and the row of the ground, so that every head lies below `top`."""
    tallest = max((tallness(figure.actor) for figure in figures), default=2.5)
    room = max(area.bottom - top, area.h * 0.3)
    unit = room / (tallest * _UNITS[shot] + 0.18) * dice.uniform(0.9, 1.0)
    if figures:
        unit = min(unit, area.w / (len(figures) * (1.25 if shot == "wide" else 1.0)))
    floor = area.bottom - unit * dice.uniform(0.08, 0.2)
    slack = max(floor - unit * tallest - top, 0)
    return unit, max(top + unit * tallest, floor - slack * 0.3)


def tallness(actor: Actor) -> float:
    """How many units a figure reaches up, hat, ears and antennae included."""
    look = actor.look
    over = {"chef": 0.66, "tophat": 0.55, "beanie": 0.42, "captain": 0.3, "bowler": 0.28, "souwester": 0.24}.get(
        look.hat, 0.18
    )
    over = max(over, {"fox": 0.5, "robot": 0.4, "alien": 0.42, "cat": 0.34}.get(look.kind, 0.0))
    return look.height * (2.28 + over)


def paint(staged: Staged, box: Box, palette: Palette, scale: int, dice: Random) -> np.ndarray:
    """The picture of a panel without its balloons: RGB uint8, `scale` times the size of `box`."""
    canvas = np.zeros((box.h * scale, box.w * scale, 3), np.uint8)
    unit = staged.unit * scale
    x, y = (staged.ground[0] - box.x) * scale, (staged.ground[1] - box.y) * scale
    weight = min(max(unit * 0.02, 1.4 * scale), 3.4 * scale)
    pen = Pen(canvas, (x, y), unit, weight=weight)
    shift = dice.uniform(-2.0, 2.0)
    back = pen.at(shift, 0.1, scale=_BACKGROUND, mirror=dice.random() < 0.5)
    paint_scene(back, staged.script.scene, palette.light(staged.script.light), dice)
    for figure in staged.figures:
        column = (figure.x - staged.ground[0]) / staged.unit
        draw_figure(pen, figure.actor, column, mirror=figure.mirror)
        _draw_marks(pen, figure, column)
    return canvas


def _draw_marks(pen: Pen, figure: Placed, column: float) -> None:
    """The small signs around a figure that say startled, worried, angry or fast."""
    actor, ink = figure.actor, pen.ink
    points = anchors(actor, column, mirror=figure.mirror)
    back = 1 if figure.mirror else -1
    head = pen.at(*points.head, scale=actor.look.height)
    if actor.face == "shocked":
        for angle in (-0.7, -0.35, 0.35, 0.7) if actor.look.hat == "none" else (-1.1, -0.8, 0.8, 1.1):
            near, far = 0.72, 0.92
            head.line([(near * np.sin(angle), near * np.cos(angle)), (far * np.sin(angle), far * np.cos(angle))], 1.3)
    elif actor.face == "worried":
        drop: Colour = (150, 206, 236)
        for dx, dy in ((0.62, 0.2), (0.74, -0.06)):
            spot = head.at(back * dx, dy, scale=0.8)
            spot.shape(np.concatenate([arc(0.0, 0.0, 0.07, 0.07, 150, 390), [(0.0, 0.18)]]), drop, 0.7)
    elif actor.face == "angry":
        for dx, dy in ((0.5, 0.52), (0.62, 0.66)):
            head.line(
                bow((back * dx - 0.1, dy), (back * dx, dy + 0.1), (back * dx + 0.02, dy - 0.08)), 1.3, (206, 58, 54)
            )
    if actor.pose == "run":
        for y in (0.5, 0.95, 1.4):
            pen.line([(column + back * 0.75, y), (column + back * (1.3 + y * 0.2), y)], 1.1, ink)
        pen.shape(oval(column + back * 0.95, 0.08, 0.16, 0.08), (240, 236, 226), 0.7)
