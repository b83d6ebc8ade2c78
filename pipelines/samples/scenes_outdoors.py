"""Places under the sky. Each function paints one place around the pen's (0, 0), about nine units to either side.

Figures stand on y = 0 in front of what is painted. What does not belong here: rooms, figures, and who is where.
"""

from __future__ import annotations

from random import Random

import numpy as np

from pipelines.samples.ink import Colour, Pen, arc, box, darker, mix, oval, rounded, smooth
from pipelines.samples.light import Light

_FAR = 14.0
_WINDOW_LIT = (255, 226, 130)


def ground(pen: Pen, horizon: float, colour: Colour) -> None:
    """Everything below a horizon in one colour, with a line where it ends."""
    pen.shape(box(-_FAR, -9, 2 * _FAR, 9 + horizon), colour, 0.8)


def stars(pen: Pen, light: Light, dice: Random) -> None:
    """A moon and stars when it is dark, else a few clouds."""
    if light.dark:
        for _ in range(70):
            radius = dice.choice((0.02, 0.03, 0.045))
            pen.fill(oval(dice.uniform(-9, 9), dice.uniform(1.4, 7), radius, radius), (250, 246, 220))
        x, y = dice.uniform(-2.4, 2.4), dice.uniform(2.7, 3.6)
        pen.fill(oval(x, y, 0.62, 0.62), mix(light.top, (250, 244, 200), 0.3))
        pen.shape(oval(x, y, 0.46, 0.46), (250, 244, 206))
        pen.fill(oval(x + 0.14, y + 0.1, 0.09, 0.08), (226, 216, 170))
        return
    for _ in range(6):
        cloud(pen, dice.uniform(-8, 8), dice.uniform(2.2, 5.0), dice.uniform(0.5, 1.1), light.on((255, 255, 252)))


def cloud(pen: Pen, x: float, y: float, size: float, colour: Colour) -> None:
    """A cloud with a flat underside, `size` units high."""
    puffs = np.concatenate(
        [
            arc(x + dx * size, y + 0.1 * size, r * size, r * size, 0, 180, steps=10)[::-1]
            for dx, r in ((-0.75, 0.32), (-0.1, 0.55), (0.65, 0.36))
        ]
    )
    pen.shape(puffs, colour, 0.7)


def harbour(pen: Pen, light: Light, dice: Random) -> None:
    """A pier, the sea, a lighthouse and boats."""
    light.sky(pen)
    stars(pen, light, dice)
    ground(pen, 1.15, light.on((70, 140, 176)))
    for _ in range(26):
        x, y = dice.uniform(-9, 9), dice.uniform(0.2, 1.05)
        pen.line(smooth([(x, y), (x + 0.2, y + 0.05), (x + 0.4, y)], closed=False), 0.7, light.on((190, 226, 232)))
    side = dice.choice((-1, 1))
    tower = pen.at(side * dice.uniform(1.6, 3.0), 0.95)
    tower.shape(smooth([(-1.2, 0.0), (-0.7, 0.4), (0.8, 0.36), (1.3, 0.0)]), light.on((110, 104, 100)))
    _lighthouse(tower.at(0.0, 0.3), light)
    for _ in range(3):
        _boat(
            pen.at(-side * dice.uniform(0.5, 6.0), dice.uniform(0.7, 1.05), scale=dice.uniform(0.5, 0.8)), light, dice
        )
    ground(pen, 0.12, light.on((176, 128, 84)))
    for x in np.arange(-9, 9, 0.7):
        pen.line([(x, 0.12), (x * 1.9, -2.6)], 0.6, light.on((120, 82, 52)))
    for x in np.arange(-8.4, 9, 2.6):
        pen.shape(rounded(x, -0.1, 0.3, 0.75, 0.08), light.on((124, 86, 58)))


def _lighthouse(pen: Pen, light: Light) -> None:
    pen.shape([(-0.5, 0.0), (-0.32, 2.6), (0.32, 2.6), (0.5, 0.0)], light.on((250, 246, 240)))
    for low in (0.35, 1.25, 2.1):
        wide, narrow = 0.5 - low * 0.069, 0.5 - (low + 0.42) * 0.069
        pen.shape(
            [(-wide, low), (-narrow, low + 0.42), (narrow, low + 0.42), (wide, low)], light.on((206, 62, 56)), 0.7
        )
    if light.dark:
        pen.fill([(0.0, 3.0), (5.0, 4.1), (5.0, 2.5)], mix(light.top, (255, 240, 170), 0.5))
    pen.shape(box(-0.26, 2.68, 0.52, 0.42), _WINDOW_LIT)
    pen.shape(rounded(-0.46, 2.56, 0.92, 0.14, 0.04), light.on((70, 72, 84)))
    pen.shape([(-0.36, 3.1), (0.0, 3.5), (0.36, 3.1)], light.on((206, 62, 56)))


def _boat(pen: Pen, light: Light, dice: Random) -> None:
    pen.shape(
        smooth([(-0.8, 0.22), (-0.55, -0.16), (0.55, -0.16), (0.85, 0.26), (0.0, 0.14)]),
        light.on(dice.choice(((196, 84, 60), (60, 120, 110), (236, 200, 110)))),
    )
    pen.line([(0.0, 0.14), (0.0, 1.4)], 1.3)
    pen.shape([(0.06, 0.3), (0.06, 1.34), (0.8, 0.36)], light.on((252, 246, 230)))


def ship(pen: Pen, light: Light, dice: Random) -> None:
    """The deck of a sailing ship at sea."""
    light.sky(pen)
    stars(pen, light, dice)
    ground(pen, 1.0, light.on((52, 124, 150)))
    for row, y in enumerate((0.95, 0.72, 0.46)):
        crest = [(x + row * 0.4, y + 0.07 * (i % 2)) for i, x in enumerate(np.arange(-10, 10, 0.55))]
        pen.line(smooth(crest, closed=False), 0.8, light.on((196, 228, 228)))
    ground(pen, 0.1, light.on((186, 132, 82)))
    for y in (-0.2, -0.55, -1.0, -1.6):
        pen.line([(-_FAR, y), (_FAR, y)], 0.6, light.on((128, 84, 50)))
    mast = pen.at(dice.uniform(-2.6, 2.6), 0.1)
    mast.shape(box(-0.14, 0.0, 0.28, 7.0), light.on((132, 88, 56)))
    mast.shape(
        smooth([(-2.1, 4.4), (-1.7, 3.1), (-1.9, 1.7), (0.0, 2.0), (1.9, 1.7), (1.7, 3.1), (2.1, 4.4), (0.0, 4.2)]),
        light.on((248, 236, 208)),
    )
    mast.line([(-0.9, 1.95), (-0.8, 4.2)], 0.6, light.on((206, 186, 150)))
    mast.line([(0.9, 1.95), (0.8, 4.2)], 0.6, light.on((206, 186, 150)))
    pen.shape(box(-_FAR, 0.78, 2 * _FAR, 0.14), light.on((150, 96, 56)))
    for x in np.arange(-9, 9, 0.8):
        pen.shape(rounded(x, 0.1, 0.16, 0.7, 0.05), light.on((206, 154, 98)), 0.8)
    for _ in range(2):
        _barrel(pen.at(dice.choice((-1, 1)) * dice.uniform(2.2, 4.5), -0.05), light)


def _barrel(pen: Pen, light: Light) -> None:
    pen.shape(
        smooth([(-0.34, 0.0), (-0.42, 0.5), (-0.34, 1.0), (0.34, 1.0), (0.42, 0.5), (0.34, 0.0)]),
        light.on((168, 112, 66)),
    )
    for y in (0.22, 0.78):
        pen.line([(-0.38, y), (0.38, y)], 1.6, light.on((84, 84, 96)))


def beach(pen: Pen, light: Light, dice: Random) -> None:
    """Sand, palms and surf."""
    light.sky(pen)
    stars(pen, light, dice)
    ground(pen, 1.3, light.on((64, 168, 182)))
    island = dice.uniform(-5, 5)
    pen.shape(
        smooth([(island - 1.6, 1.3), (island - 0.6, 2.0), (island + 0.3, 1.7), (island + 1.5, 1.3)]),
        light.on((96, 150, 96)),
    )
    shore = [(x, 0.55 + 0.12 * np.sin(x * 1.3)) for x in np.arange(-12, 12.1, 0.5)]
    pen.fill([*[(x, y + 0.14) for x, y in shore], (12, -9), (-12, -9)], light.on((240, 250, 246)))
    pen.shape([*shore, (12, -9), (-12, -9)], light.on((244, 218, 152)), 0.6)
    for _ in range(40):
        pen.fill(oval(dice.uniform(-8, 8), dice.uniform(-2.2, 0.3), 0.03, 0.02), light.on((206, 168, 100)))
    for side in (-1, 1):
        _palm(pen.at(side * dice.uniform(1.7, 4.4), 0.1, mirror=side > 0), light)
    for _ in range(3):
        x, y = dice.uniform(-4, 4), dice.uniform(-0.5, 0.2)
        pen.shape(
            [
                (x + 0.13 * np.cos(a), y + 0.09 * np.sin(a))
                if i % 2 == 0
                else (x + 0.05 * np.cos(a), y + 0.035 * np.sin(a))
                for i, a in enumerate(np.radians(np.arange(0, 360, 36)))
            ],
            light.on((232, 120, 96)),
            0.6,
        )


def _palm(pen: Pen, light: Light) -> None:
    pen.limb(smooth([(0.0, 0.0), (0.2, 1.4), (0.7, 2.8)], closed=False), 0.22, light.on((172, 122, 78)))
    for dx, dy in ((-1.3, 0.1), (-0.9, 0.7), (0.1, 1.0), (1.0, 0.6), (1.3, -0.2), (-0.7, -0.5)):
        tip = (0.7 + dx, 2.8 + dy)
        pen.shape(
            smooth(
                [
                    (0.7, 2.85),
                    (0.7 + dx * 0.5 - dy * 0.14, 2.95 + dy * 0.6 + 0.2),
                    tip,
                    (0.7 + dx * 0.5, 2.8 + dy * 0.35),
                ]
            ),
            light.on((76, 150, 84)),
            0.8,
        )


def street(pen: Pen, light: Light, dice: Random) -> None:
    """A row of houses, a pavement and a lamp."""
    light.sky(pen)
    stars(pen, light, dice)
    x = -9.5
    while x < 9:
        width = dice.uniform(1.7, 2.6)
        _house(pen.at(x, 0.45), width, dice.uniform(2.6, 4.6), light, dice)
        x += width
    ground(pen, 0.45, light.on((196, 188, 180)))
    ground(pen, -0.35, light.on((112, 112, 122)))
    for step in np.arange(-9, 9, 1.2):
        pen.line([(step, 0.45), (step * 1.25, -0.35)], 0.5, light.on((140, 134, 130)))
    lamp = pen.at(dice.choice((-1, 1)) * dice.uniform(1.5, 2.6), 0.1)
    lamp.shape(box(-0.05, 0.0, 0.1, 2.7), light.on((52, 60, 70)))
    if light.dark:
        lamp.fill(oval(0.0, 2.9, 0.7, 0.7), mix(light.low, (255, 236, 160), 0.4))
    lamp.shape([(-0.16, 2.66), (-0.24, 3.1), (0.24, 3.1), (0.16, 2.66)], _WINDOW_LIT)


def _house(pen: Pen, width: float, height: float, light: Light, dice: Random) -> None:
    wall = dice.choice(
        ((218, 140, 104), (236, 206, 150), (150, 176, 178), (206, 172, 190), (180, 150, 120), (228, 226, 214))
    )
    pen.shape(box(0, 0, width, height), light.on(wall))
    if dice.random() < 0.6:
        pen.shape([(-0.1, height), (width / 2, height + 0.9), (width + 0.1, height)], light.on((150, 72, 62)))
    else:
        pen.shape(box(-0.08, height, width + 0.16, 0.16), light.on((120, 100, 92)))
    lit = _WINDOW_LIT if light.dark else light.on((120, 160, 184))
    for level in np.arange(1.35, height - 0.6, 1.05):
        for left in (0.26, width - 0.76):
            glass = lit if not light.dark or dice.random() < 0.6 else light.on((50, 60, 80))
            pen.shape(box(left, level, 0.5, 0.62), glass, 0.8)
            pen.line([(left + 0.25, level), (left + 0.25, level + 0.62)], 0.6)
    door = dice.uniform(0.25, width - 0.95)
    pen.shape(
        rounded(door, 0.0, 0.62, 1.05, 0.1), light.on(dice.choice(((60, 110, 110), (170, 60, 56), (88, 70, 120))))
    )
    pen.fill(oval(door + 0.5, 0.5, 0.035, 0.035), (240, 200, 90))


def market(pen: Pen, light: Light, dice: Random) -> None:
    """Stalls with striped awnings."""
    light.sky(pen)
    stars(pen, light, dice)
    ground(pen, 1.5, light.on((186, 160, 140)))
    ground(pen, 0.5, light.on((216, 196, 160)))
    x = -9.0
    while x < 9:
        _stall(pen.at(x, 0.25), light, dice)
        x += dice.uniform(2.5, 3.0)
    for _ in range(30):
        px, py = dice.uniform(-8, 8), dice.uniform(-2.4, 0.1)
        pen.line(arc(px, py, 0.16, 0.06, 0, 180, steps=6), 0.5, light.on((168, 144, 110)))


def _stall(pen: Pen, light: Light, dice: Random) -> None:
    stripe = light.on(dice.choice(((206, 62, 56), (48, 122, 128), (230, 160, 52), (112, 90, 160))))
    for x in (0.1, 2.1):
        pen.shape(box(x, 0.0, 0.12, 2.2), light.on((140, 94, 60)), 0.8)
    for step in range(6):
        low = -0.1 + step * 0.42
        colour = stripe if step % 2 == 0 else light.on((252, 246, 232))
        pen.shape(
            [
                (low + 0.1, 2.75),
                (low, 2.1),
                *arc(low + 0.21, 2.1, 0.21, 0.16, 180, 360, steps=6),
                (low + 0.42, 2.1),
                (low + 0.38, 2.75),
            ],
            colour,
            0.7,
        )
    pen.shape(box(0.0, 0.0, 2.35, 0.85), light.on((176, 124, 80)))
    fruit = dice.choice(((222, 70, 58), (244, 180, 50), (120, 170, 70), (236, 130, 50)))
    for step in range(9):
        pen.shape(oval(0.28 + step * 0.22, 0.92 + 0.08 * (step % 2), 0.14, 0.14), light.on(fruit), 0.6)


def forest(pen: Pen, light: Light, dice: Random) -> None:
    """Trees in three rows, ferns and toadstools."""
    light.sky(pen)
    stars(pen, light, dice)
    for horizon, tone, size in ((1.7, (150, 190, 160), 0.8), (1.1, (104, 156, 116), 1.1)):
        for x in np.arange(-9, 9, 0.9 * size):
            _fir(
                pen.at(x + dice.uniform(-0.3, 0.3), horizon - 0.2, scale=size * dice.uniform(0.8, 1.2)), light.on(tone)
            )
        ground(pen, horizon, light.on(darker(tone, 0.94)))
    ground(pen, 0.35, light.on((132, 158, 88)))
    for side in (-1, 1):
        trunk = pen.at(side * dice.uniform(1.7, 3.8), -0.05)
        trunk.shape(
            smooth(
                [
                    (-0.5, 0.0),
                    (-0.26, 0.6),
                    (-0.24, 3.0),
                    (-0.5, 7.0),
                    (0.5, 7.0),
                    (0.24, 3.0),
                    (0.28, 0.6),
                    (0.55, 0.0),
                ]
            ),
            light.on((120, 86, 62)),
        )
        for y in (0.9, 1.6, 2.3):
            trunk.line([(-0.05, y), (0.0, y + 0.36)], 0.8, light.on((84, 58, 44)))
        trunk.shape(oval(0.0, 4.6, 1.7, 1.2), light.on((88, 138, 80)))
    for _ in range(5):
        spot = pen.at(dice.uniform(-5, 5), dice.uniform(-0.4, 0.25))
        spot.shape(box(-0.06, 0.0, 0.12, 0.18), light.on((250, 244, 230)), 0.7)
        spot.shape(arc(0.0, 0.16, 0.2, 0.17, 0, 180), light.on((206, 62, 56)), 0.7)


def _fir(pen: Pen, colour: Colour) -> None:
    for low, wide in ((0.0, 0.7), (0.7, 0.55), (1.3, 0.4)):
        pen.shape([(-wide, low), (0.0, low + 1.2), (wide, low)], colour, 0.6)


def hill(pen: Pen, light: Light, dice: Random) -> None:
    """Round green hills, a windmill and a fence."""
    light.sky(pen)
    stars(pen, light, dice)
    for horizon, tone in ((2.0, (150, 190, 190)), (1.4, (140, 182, 116))):
        ridge = [(x, horizon + dice.uniform(-0.3, 0.4)) for x in range(-12, 13, 2)]
        pen.shape([*smooth(ridge, closed=False), (12, -9), (-12, -9)], light.on(tone), 0.7)
    mill = pen.at(dice.choice((-1, 1)) * dice.uniform(1.4, 3.4), 1.2)
    mill.shape([(-0.5, 0.0), (-0.32, 1.7), (0.32, 1.7), (0.5, 0.0)], light.on((244, 234, 214)))
    mill.shape([(-0.4, 1.7), (0.0, 2.2), (0.4, 1.7)], light.on((170, 82, 62)))
    turn = dice.uniform(0, 1.5)
    for quarter in range(4):
        sail = mill.at(0.0, 1.65, turn=turn + quarter * np.pi / 2)
        sail.shape(box(0.1, 0.0, 1.3, 0.3), light.on((252, 248, 238)), 0.8)
    ridge = [(x, 0.35 + dice.uniform(-0.12, 0.12)) for x in range(-12, 13, 2)]
    pen.shape([*smooth(ridge, closed=False), (12, -9), (-12, -9)], light.on((118, 168, 82)))
    for x in np.arange(-9, 9, 0.9):
        pen.shape(rounded(x, 0.1, 0.13, 0.72, 0.05), light.on((226, 206, 172)), 0.7)
    pen.line([(-9, 0.58), (9, 0.58)], 1.4, light.on((196, 170, 130)))
    for _ in range(24):
        spot = (dice.uniform(-8, 8), dice.uniform(-2.0, 0.0))
        pen.fill(oval(*spot, 0.06, 0.05), light.on(dice.choice(((250, 220, 90), (252, 250, 250), (232, 110, 130)))))


def moon(pen: Pen, light: Light, dice: Random) -> None:
    """Craters, a black sky with a blue planet, and a rocket."""
    pen.canvas[:] = light.on((40, 34, 70))
    for _ in range(110):
        radius = dice.choice((0.018, 0.026, 0.04))
        pen.fill(oval(dice.uniform(-9, 9), dice.uniform(0.8, 8), radius, radius), (250, 246, 226))
    x, y = dice.uniform(-3, 3), dice.uniform(2.6, 3.6)
    pen.shape(oval(x, y, 0.9, 0.9), (72, 146, 200))
    pen.fill(smooth([(x - 0.5, y + 0.3), (x, y + 0.6), (x + 0.2, y + 0.1), (x - 0.3, y - 0.2)]), (120, 186, 110))
    pen.fill(smooth([(x + 0.2, y - 0.2), (x + 0.6, y - 0.1), (x + 0.4, y - 0.6)]), (120, 186, 110))
    ridge = [(px, 1.0 + dice.uniform(-0.15, 0.5)) for px in range(-12, 13, 2)]
    pen.shape([*smooth(ridge, closed=False), (12, -9), (-12, -9)], light.on((168, 160, 190)))
    rocket = pen.at(dice.choice((-1, 1)) * dice.uniform(1.8, 4.0), 0.5)
    for side in (-1, 1):
        rocket.shape([(side * 0.3, 0.6), (side * 0.8, -0.1), (side * 0.3, 0.2)], light.on((206, 62, 56)))
    rocket.shape(smooth([(-0.4, 0.1), (-0.5, 1.3), (0.0, 2.8), (0.5, 1.3), (0.4, 0.1)]), light.on((244, 240, 236)))
    rocket.shape(oval(0.0, 1.5, 0.24, 0.24), (130, 200, 220))
    ground(pen, 0.4, light.on((206, 198, 214)))
    for _ in range(14):
        px, py, radius = dice.uniform(-8, 8), dice.uniform(-2.2, 0.3), dice.uniform(0.2, 0.6)
        pen.shape(oval(px, py, radius, radius * 0.3), light.on((172, 162, 188)), 0.7)
        pen.fill(oval(px + 0.05, py - 0.04, radius * 0.82, radius * 0.2), light.on((150, 140, 170)))


def rooftop(pen: Pen, light: Light, dice: Random) -> None:
    """Roofs and chimneys above a town."""
    light.sky(pen, 0.9)
    stars(pen, light, dice)
    for base, tone in ((1.5, (130, 140, 170)), (0.9, (104, 104, 140))):
        x = -9.0
        while x < 9:
            width, height = dice.uniform(0.7, 1.5), dice.uniform(0.4, 2.0)
            pen.shape(box(x, -2, width, base + height + 2), light.on(tone), 0.6)
            for _ in range(4):
                glow = _WINDOW_LIT if light.dark else light.on((176, 190, 206))
                pen.fill(
                    box(x + dice.uniform(0.1, width - 0.25), base + dice.uniform(-0.6, height - 0.3), 0.13, 0.17), glow
                )
            x += width
    pen.shape([(-_FAR, 0.35), (_FAR, 0.35), (_FAR, -9), (-_FAR, -9)], light.on((168, 92, 76)))
    for row in range(7):
        for x in np.arange(-9, 9, 0.62):
            pen.line(
                arc(x + 0.31 * (row % 2), 0.16 - row * 0.34, 0.31, 0.2, 180, 360, steps=7), 0.6, light.on((112, 54, 50))
            )
    for x in (dice.uniform(-4.2, -1.7), dice.uniform(1.7, 4.2)):
        pen.shape(box(x - 0.36, -0.1, 0.72, 1.5), light.on((150, 96, 84)))
        pen.shape(box(x - 0.44, 1.4, 0.88, 0.16), light.on((120, 72, 66)))
        pen.shape(box(x - 0.14, 1.56, 0.28, 0.3), light.on((90, 70, 72)))
