"""Rooms, caves and cabins. Each function paints one place around the pen's (0, 0), about nine units to either side.

Figures stand on y = 0 in front of what is painted. What does not belong here: places under the sky, figures.
"""

from __future__ import annotations

from random import Random

import numpy as np

from pipelines.samples.ink import Colour, Pen, arc, box, darker, mix, oval, rounded, smooth
from pipelines.samples.light import Light

_FAR = 14.0
_BOOKS: tuple[Colour, ...] = (
    (168, 60, 60),
    (60, 110, 130),
    (206, 160, 80),
    (90, 120, 80),
    (120, 80, 130),
    (70, 70, 100),
)


def room(pen: Pen, light: Light, wall: Colour, floor: Colour) -> None:
    """A back wall, a skirting board and a floor."""
    pen.canvas[:] = light.on(wall)
    pen.shape(box(-_FAR, -9, 2 * _FAR, 9.5), light.on(floor), 0.8)
    pen.shape(box(-_FAR, 0.5, 2 * _FAR, 0.18), light.on(darker(wall, 0.72)), 0.7)


def window(pen: Pen, light: Light, w: float, h: float) -> None:
    """A window from the pen's (0, 0) upwards, with the sky in it."""
    pen.shape(box(-0.1, -0.1, w + 0.2, h + 0.2), light.on((244, 236, 220)))
    pen.shape(box(0, 0, w, h), mix(light.top, light.low, 0.4), 0.8)
    if light.dark:
        for x, y in ((0.2, 0.8), (0.5, 0.4), (0.75, 0.7)):
            pen.fill(oval(x * w, y * h, 0.04, 0.04), (252, 246, 214))
    else:
        pen.fill([(0.1, 0.1), (0.5, h - 0.1), (0.75, h - 0.1), (0.35, 0.1)], mix(light.low, (255, 255, 255), 0.6))
    pen.line([(w / 2, 0), (w / 2, h)], 1.2)
    pen.line([(0, h / 2), (w, h / 2)], 1.2)


def frame(pen: Pen, light: Light, dice: Random) -> None:
    """A small framed picture around the pen's (0, 0)."""
    pen.shape(box(-0.42, -0.34, 0.84, 0.68), light.on((206, 160, 80)))
    pen.shape(box(-0.33, -0.25, 0.66, 0.5), light.on((236, 230, 214)), 0.6)
    pen.fill([(-0.33, -0.25), (dice.uniform(-0.2, 0.2), 0.15), (0.33, -0.25)], light.on(dice.choice(_BOOKS)))


def kitchen(pen: Pen, light: Light, dice: Random) -> None:
    """Tiles, shelves with pots, an oven and a window."""
    room(pen, light, (250, 226, 176), (206, 130, 96))
    for x in np.arange(-9, 9, 0.9):
        for row in range(5):
            if (int(x / 0.9) + row) % 2:
                skew = 1 + row * 0.22
                pen.fill(
                    [
                        (x * skew, 0.5 - row * 0.5),
                        ((x + 0.9) * skew, 0.5 - row * 0.5),
                        ((x + 0.9) * (skew + 0.22), -row * 0.5),
                        (x * (skew + 0.22), -row * 0.5),
                    ],
                    light.on((236, 206, 176)),
                )
    pen.shape(box(-_FAR, 1.45, 2 * _FAR, 0.7), light.on((176, 214, 206)), 0.7)
    for x in np.arange(-9, 9, 0.7):
        pen.line([(x, 1.45), (x, 2.15)], 0.5, light.on((130, 170, 164)))
    shift = dice.uniform(-0.8, 0.8)
    _oven(pen.at(shift - 2.6, 0.4), light)
    window(pen.at(shift + 1.5, 2.3), light, 1.3, 1.2)
    pen.shape(box(shift + 0.9, 0.4, 3.4, 1.05), light.on((120, 160, 150)))
    for x in (1.0, 2.1, 3.2):
        pen.shape(rounded(shift + x, 0.5, 0.96, 0.72, 0.05), light.on((148, 188, 176)), 0.7)
    pen.shape(box(shift + 0.8, 1.4, 3.6, 0.14), light.on((244, 238, 226)))
    for left in (-5.2, -0.9, 4.6):
        pen.shape(box(shift + left, 3.0, 1.9, 0.12), light.on((150, 100, 62)), 0.8)
        for step in range(3):
            jar = light.on(dice.choice(((206, 84, 66), (240, 190, 90), (110, 150, 170), (150, 180, 110))))
            pen.shape(rounded(shift + left + 0.15 + step * 0.58, 3.12, 0.42, 0.56, 0.1), jar, 0.8)


def _oven(pen: Pen, light: Light) -> None:
    pen.shape(box(-0.9, 0.0, 1.8, 1.3), light.on((96, 100, 112)))
    pen.shape(rounded(-0.6, 0.2, 1.2, 0.62, 0.12), (250, 160, 62))
    pen.fill(smooth([(-0.4, 0.24), (-0.2, 0.6), (0.0, 0.34), (0.2, 0.66), (0.42, 0.24)]), (252, 220, 110))
    pen.shape(box(-0.3, 1.3, 0.6, 3.0), light.on((120, 124, 136)))
    for x in (-0.6, 0.6):
        pen.shape(oval(x, 1.06, 0.1, 0.1), light.on((206, 62, 56)), 0.7)


def office(pen: Pen, light: Light, dice: Random) -> None:
    """Filing cabinets, a desk with paper, a window on the town."""
    room(pen, light, (188, 206, 200), (150, 116, 92))
    shift = dice.uniform(-1.0, 1.0)
    for x in (-3.6, 0.2, 4.2):
        window(pen.at(shift + x, 1.9), light, 1.6, 1.7)
        for step in range(7):
            pen.line(
                [(shift + x, 3.5 - step * 0.12), (shift + x + 1.6, 3.5 - step * 0.12)], 1.0, light.on((250, 246, 236))
            )
    for x in (-5.0, -1.6, 2.3):
        for step in range(4):
            pen.shape(box(shift + x, 0.3 + step * 0.58, 1.1, 0.58), light.on((120, 136, 130)), 0.8)
            pen.shape(rounded(shift + x + 0.4, 0.54 + step * 0.58, 0.3, 0.1, 0.04), light.on((220, 214, 190)), 0.6)
    for x in (-1.3, 2.7):
        height = dice.uniform(0.3, 0.9)
        for y in np.arange(2.62, 2.62 + height, 0.08):
            pen.shape(box(shift + x + dice.uniform(-0.3, -0.2), y, 0.7, 0.08), light.on((252, 248, 236)), 0.5)
    desk = pen.at(shift + 1.4, 0.0)
    desk.shape(box(-1.1, 0.0, 0.2, 0.9), light.on((120, 80, 54)))
    desk.shape(box(0.9, 0.0, 0.2, 0.9), light.on((120, 80, 54)))
    desk.shape(box(-1.3, 0.86, 2.6, 0.16), light.on((168, 116, 76)))
    desk.line(smooth([(0.6, 1.02), (0.5, 1.5), (0.8, 1.8)], closed=False), 1.4)
    desk.shape([(0.55, 1.66), (0.8, 2.0), (1.15, 1.62)], light.on((66, 140, 88)))


def library(pen: Pen, light: Light, dice: Random) -> None:
    """Tall shelves full of books, a ladder and a globe."""
    room(pen, light, (206, 178, 140), (134, 88, 66))
    for left in np.arange(-8.6, 9, 2.9):
        pen.shape(box(left, 0.3, 2.5, 7.5), light.on((122, 78, 52)))
        for shelf in range(6):
            _books(pen.at(left + 0.14, 0.48 + shelf * 1.06), light, dice)
    ladder = pen.at(dice.uniform(-2.8, 2.8), 0.0, turn=dice.choice((-0.12, 0.12)))
    for x in (-0.28, 0.28):
        ladder.line([(x, 0.0), (x, 6.0)], 2.2, light.on((214, 168, 104)))
    for y in np.arange(0.3, 6, 0.45):
        ladder.line([(-0.28, y), (0.28, y)], 1.8, light.on((214, 168, 104)))
    globe = pen.at(dice.choice((-1, 1)) * dice.uniform(2.0, 4.0), 0.1)
    globe.line([(0.0, 0.0), (0.0, 0.8)], 2.4, light.on((150, 104, 58)))
    globe.shape(oval(0.0, 1.1, 0.46, 0.46), light.on((110, 166, 190)))
    globe.fill(smooth([(-0.2, 1.0), (-0.1, 1.4), (0.2, 1.3), (0.1, 1.0)]), light.on((150, 180, 110)))


def _books(pen: Pen, light: Light, dice: Random) -> None:
    pen.fill(box(0, 0, 2.22, 0.92), light.on((74, 46, 36)))
    x = 0.03
    while x < 2.0:
        width, height = dice.uniform(0.1, 0.24), dice.uniform(0.58, 0.86)
        pen.shape(box(x, 0, width, height), light.on(dice.choice(_BOOKS)), 0.5)
        x += width + (0.22 if dice.random() < 0.08 else 0.0)


def parlour(pen: Pen, light: Light, dice: Random) -> None:
    """Striped wallpaper, an armchair, a fireplace and pictures."""
    room(pen, light, (196, 132, 130), (120, 84, 74))
    for x in np.arange(-9, 9, 0.6):
        pen.fill(box(x, 0.7, 0.3, 8.0), light.on((206, 148, 142)))
    shift = dice.uniform(-1.2, 1.2)
    fire = pen.at(shift - 2.3, 0.3)
    fire.shape(box(-1.1, 0.0, 2.2, 1.75), light.on((226, 214, 200)))
    fire.shape(arc(0.0, 0.55, 0.66, 0.7, 0, 180), (46, 36, 40))
    fire.fill(box(-0.66, 0.0, 1.32, 0.58), (46, 36, 40))
    for x, tall, colour in ((-0.2, 0.7, (238, 110, 48)), (0.2, 0.85, (238, 110, 48)), (0.0, 0.5, (252, 206, 86))):
        fire.fill(
            smooth([(x - 0.24, 0.06), (x - 0.1, tall * 0.6), (x, tall), (x + 0.14, tall * 0.5), (x + 0.24, 0.06)]),
            colour,
        )
    fire.shape(box(-1.3, 1.75, 2.6, 0.18), light.on((206, 190, 174)))
    for x in (-4.6, -2.2, 0.4, 2.4, 4.6):
        frame(pen.at(shift + x, 2.9 + dice.uniform(-0.25, 0.3), scale=dice.uniform(0.9, 1.3)), light, dice)
    chair = pen.at(shift + 2.7, 0.05)
    chair.shape(smooth([(-0.7, 0.3), (-0.72, 1.9), (0.0, 2.2), (0.72, 1.9), (0.7, 0.3)]), light.on((88, 128, 120)))
    for side in (-1, 1):
        chair.shape(rounded(side * 0.74 - 0.17, 0.1, 0.34, 1.0, 0.16), light.on((74, 110, 104)))
    chair.shape(rounded(-0.58, 0.3, 1.16, 0.4, 0.12), light.on((110, 150, 140)))
    pen.shape(
        smooth([(-4.0, -0.25), (0.0, -0.1), (4.0, -0.25), (4.6, -0.9), (0.0, -1.2), (-4.6, -0.9)]),
        light.on((150, 62, 72)),
    )


def cave(pen: Pen, light: Light, dice: Random) -> None:
    """Rock walls with stalactites, crystals and a far opening."""
    pen.canvas[:] = light.on((74, 66, 92))
    x = dice.uniform(-2.5, 2.5)
    pen.shape(
        smooth([(x - 1.5, 0.4), (x - 1.2, 2.4), (x, 3.1), (x + 1.3, 2.3), (x + 1.6, 0.4)]), light.on((150, 170, 190))
    )
    pen.fill(
        smooth([(x - 1.1, 0.4), (x - 0.9, 2.1), (x, 2.7), (x + 0.9, 2.0), (x + 1.1, 0.4)]),
        mix(light.low, (255, 255, 255), 0.3),
    )
    for _ in range(24):
        px, py = dice.uniform(-8, 8), dice.uniform(0.8, 5)
        pen.line(smooth([(px, py), (px + 0.3, py + 0.12), (px + 0.5, py)], closed=False), 0.8, light.on((110, 98, 130)))
    for left in np.arange(-9, 9, 0.9):
        tip = dice.uniform(3.0, 4.6)
        pen.shape([(left, 8.5), (left + 0.45, tip), (left + 0.9, 8.5)], light.on((96, 86, 116)), 0.8)
    pen.shape([(-_FAR, 0.4), (_FAR, 0.4), (_FAR, -9), (-_FAR, -9)], light.on((112, 98, 112)))
    for _ in range(7):
        spot = pen.at(
            dice.uniform(-6, 6), dice.uniform(-0.1, 0.4), scale=dice.uniform(0.6, 1.3), turn=dice.uniform(-0.3, 0.3)
        )
        colour = dice.choice(((150, 220, 226), (226, 160, 220), (190, 230, 150)))
        spot.shape([(-0.16, 0.0), (-0.18, 0.5), (0.0, 0.8), (0.18, 0.5), (0.16, 0.0)], colour, 0.8)
        spot.line([(0.0, 0.02), (0.0, 0.76)], 0.5, darker(colour, 0.7))


def cabin(pen: Pen, light: Light, dice: Random) -> None:
    """Inside a rocket: round windows, dials and pipes."""
    room(pen, light, (150, 166, 186), (96, 104, 124))
    for x in np.arange(-9, 9, 1.5):
        pen.line([(x, 0.6), (x, 8)], 0.8, light.on((112, 128, 150)))
        for y in np.arange(0.9, 6, 0.7):
            pen.fill(oval(x + 0.12, y, 0.035, 0.035), light.on((112, 128, 150)))
    shift = dice.uniform(-1.4, 1.4)
    for x in (-4.2, -0.4, 3.4):
        pen.shape(oval(shift + x, 2.8, 0.86, 0.86), light.on((206, 176, 96)))
        pen.shape(oval(shift + x, 2.8, 0.68, 0.68), (30, 28, 60))
        for _ in range(9):
            pen.fill(
                oval(shift + x + dice.uniform(-0.5, 0.5), 2.8 + dice.uniform(-0.4, 0.4), 0.03, 0.03), (250, 246, 226)
            )
    for left in (-3.4, 1.0):
        pen.shape(box(shift + left, 0.5, 2.5, 1.1), light.on((84, 92, 112)))
        for step in range(3):
            pen.shape(oval(shift + left + 0.42 + step * 0.8, 1.1, 0.28, 0.28), (244, 240, 226), 0.9)
            pen.at(shift + left + 0.42 + step * 0.8, 1.1, turn=dice.uniform(0, 3)).line(
                [(0.0, 0.0), (0.22, 0.0)], 1.1, (206, 62, 56)
            )
        for step in range(6):
            pen.fill(
                oval(shift + left + 0.25 + step * 0.4, 0.66, 0.07, 0.07),
                dice.choice(((228, 82, 70), (248, 204, 74), (96, 190, 110))),
            )
    pen.limb(smooth([(-9, 4.3), (-2, 4.3), (-1, 4.8), (9, 4.8)], closed=False), 0.22, light.on((190, 130, 90)))


def burst(pen: Pen, light: Light, dice: Random) -> None:
    """No place at all: rays from behind the figures, as for a surprise."""
    base = dice.choice(((250, 206, 92), (238, 130, 96), (130, 196, 206), (226, 150, 190), (170, 200, 110)))
    pen.canvas[:] = light.on(base)
    start = dice.uniform(0, 0.4)
    for step in range(16):
        angle, width = start + step * np.pi / 8, dice.uniform(0.06, 0.12)
        far = [(14 * np.cos(angle + side), 1.4 + 14 * np.sin(angle + side)) for side in (-width, width)]
        pen.fill([(0.0, 1.4), *far], light.on(mix(base, (255, 255, 255), 0.45)))


def plain(pen: Pen, light: Light, dice: Random) -> None:
    """No place at all: one colour with slanted lines, as for a quiet close-up."""
    base = dice.choice(((196, 216, 206), (236, 214, 190), (206, 200, 226), (240, 226, 170), (190, 210, 230)))
    pen.canvas[:] = light.on(base)
    lean, gap = dice.uniform(-0.9, 0.9), dice.uniform(0.3, 0.6)
    for x in np.arange(-14, 14, gap):
        pen.line([(x, -6), (x + lean * 12, 8)], dice.uniform(0.5, 1.6), light.on(darker(base, 0.9)))
