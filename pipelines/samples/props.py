"""Things that hands hold, one small function each. The pen's (0, 0) is the hand.

What does not belong here: furniture and buildings (scenes).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipelines.samples.ink import Pen, arc, box, oval, rounded, smooth

_BRASS = (226, 178, 66)
_PAPER = (252, 246, 228)
_WOOD = (150, 98, 58)
_STEEL = (186, 196, 206)


def _cup(pen: Pen) -> None:
    pen.line(arc(0.17, 0.06, 0.08, 0.08, -90, 90, steps=8), 1.2)
    pen.shape(rounded(-0.12, -0.06, 0.28, 0.26, 0.05), (250, 250, 246))
    pen.fill(box(-0.1, 0.06, 0.24, 0.05), (204, 74, 66))
    for x in (-0.04, 0.08):
        pen.line(smooth([(x, 0.26), (x + 0.05, 0.34), (x - 0.03, 0.42), (x + 0.03, 0.5)], closed=False), 0.7)


def _book(pen: Pen) -> None:
    pen.shape(rounded(-0.18, -0.12, 0.44, 0.54, 0.03), (168, 52, 58))
    pen.fill(box(-0.12, -0.1, 0.03, 0.5), (120, 34, 42))
    pen.shape(box(0.0, 0.14, 0.18, 0.14), _PAPER, 0.6)


def _lantern(pen: Pen) -> None:
    pen.line(arc(0.0, -0.06, 0.14, 0.14, 0, 180, steps=8), 1.1)
    pen.fill(oval(0.0, -0.3, 0.34, 0.34), (255, 240, 176))
    pen.shape(rounded(-0.13, -0.48, 0.26, 0.36, 0.05), (255, 222, 104))
    pen.shape(rounded(-0.17, -0.14, 0.34, 0.1, 0.03), _BRASS)
    pen.shape(rounded(-0.17, -0.54, 0.34, 0.09, 0.03), _BRASS)


def _letter(pen: Pen) -> None:
    pen.shape(box(-0.24, -0.02, 0.52, 0.34), _PAPER)
    pen.line([(-0.24, 0.32), (0.02, 0.12), (0.28, 0.32)])
    pen.fill(oval(0.02, 0.12, 0.05, 0.05), (196, 48, 52))


def _key(pen: Pen) -> None:
    pen.line([(0.0, 0.06), (0.0, 0.5), (0.12, 0.5)], 2.6, _BRASS)
    pen.line([(0.0, 0.38), (0.1, 0.38)], 2.6, _BRASS)
    pen.line(oval(0.0, -0.04, 0.13, 0.13), 2.6, _BRASS, closed=True)


def _umbrella(pen: Pen) -> None:
    pen.line([(0.0, -0.3), (0.0, 0.7)], 1.4)
    canopy = np.concatenate(
        [arc(0.0, 0.6, 0.72, 0.5, 180, 0), arc(0.36, 0.6, 0.36, 0.12, 0, 180)[:-1], arc(-0.36, 0.6, 0.36, 0.12, 0, 180)]
    )
    pen.shape(canopy, (206, 64, 78))
    pen.line(arc(0.0, 0.62, 0.3, 0.46, 20, 160, steps=8), 0.7)


def _pan(pen: Pen) -> None:
    pen.line([(0.0, 0.02), (0.36, 0.08)], 3.0)
    pen.shape(smooth([(0.3, 0.16), (0.9, 0.16), (0.84, -0.04), (0.38, -0.04)]), (84, 88, 98))
    pen.shape(oval(0.6, 0.15, 0.22, 0.06), (252, 250, 240), 0.7)
    pen.fill(oval(0.6, 0.16, 0.08, 0.04), (250, 186, 44))


def _bread(pen: Pen) -> None:
    pen.shaded(
        smooth([(-0.26, 0.0), (0.3, 0.0), (0.4, 0.18), (0.2, 0.32), (-0.16, 0.32), (-0.36, 0.18)]), (222, 158, 84)
    )
    for x in (-0.14, 0.04, 0.2):
        pen.line([(x - 0.04, 0.12), (x + 0.04, 0.26)], 0.9, (150, 92, 40))


def _fish(pen: Pen) -> None:
    pen.shape([(-0.02, 0.12), (-0.26, 0.3), (-0.24, -0.06)], (110, 160, 186))
    pen.shaded(smooth([(-0.06, 0.12), (0.16, 0.3), (0.5, 0.16), (0.54, 0.1), (0.16, -0.06)]), (134, 184, 204))
    pen.fill(oval(0.4, 0.16, 0.03, 0.03), pen.ink)


def _telescope(pen: Pen) -> None:
    tube = pen.at(0.0, 0.0, turn=0.3)
    tube.shape(box(-0.3, -0.07, 0.4, 0.14), _BRASS)
    tube.shape(box(0.1, -0.1, 0.34, 0.2), (120, 76, 44))
    tube.shape(box(0.44, -0.13, 0.12, 0.26), _BRASS)


def _flower(pen: Pen) -> None:
    pen.line(smooth([(0.0, -0.2), (0.02, 0.1), (0.0, 0.34)], closed=False), 1.6, (70, 140, 74))
    for angle in np.radians(np.arange(0, 360, 60)):
        pen.shape(oval(0.12 * np.cos(angle), 0.42 + 0.12 * np.sin(angle), 0.09, 0.09), (244, 150, 178), 0.6)
    pen.shape(oval(0.0, 0.42, 0.07, 0.07), (250, 204, 70), 0.6)


def _map(pen: Pen) -> None:
    pen.shape(
        [
            (-0.34, -0.12),
            (-0.1, -0.04),
            (0.14, -0.14),
            (0.4, -0.06),
            (0.4, 0.4),
            (0.14, 0.32),
            (-0.1, 0.42),
            (-0.34, 0.34),
        ],
        (240, 220, 168),
    )
    pen.line([(-0.1, -0.04), (-0.1, 0.42)], 0.6, (170, 140, 90))
    pen.line([(0.14, -0.14), (0.14, 0.32)], 0.6, (170, 140, 90))
    pen.line(smooth([(-0.26, 0.04), (-0.06, 0.2), (0.1, 0.08), (0.28, 0.2)], closed=False), 0.9, (196, 60, 52))
    for turn in (0.8, -0.8):
        pen.at(0.28, 0.22, turn=turn).line([(-0.06, 0.0), (0.06, 0.0)], 1.2, (196, 60, 52))


def _egg(pen: Pen) -> None:
    pen.shaded(
        smooth([(0.0, -0.04), (0.22, 0.14), (0.14, 0.42), (0.0, 0.52), (-0.14, 0.42), (-0.22, 0.14)]), (186, 222, 206)
    )
    for x, y in ((-0.06, 0.3), (0.08, 0.2), (-0.02, 0.1), (0.05, 0.4)):
        pen.fill(oval(x, y, 0.03, 0.03), (84, 150, 134))


def _parcel(pen: Pen) -> None:
    pen.shaded(box(-0.28, -0.08, 0.6, 0.46), (206, 160, 106))
    pen.line([(0.02, -0.08), (0.02, 0.38)], 1.6, (176, 52, 52))
    pen.line([(-0.28, 0.16), (0.32, 0.16)], 1.6, (176, 52, 52))
    for side in (-1, 1):
        pen.shape(oval(0.02 + side * 0.1, 0.44, 0.1, 0.06), (206, 72, 68), 0.7)


def _spanner(pen: Pen) -> None:
    pen.limb([(0.0, -0.16), (0.0, 0.4)], 0.1, _STEEL)
    pen.shape(
        [
            (-0.14, 0.38),
            (-0.14, 0.6),
            (-0.05, 0.64),
            (-0.05, 0.5),
            (0.05, 0.5),
            (0.05, 0.64),
            (0.14, 0.6),
            (0.14, 0.38),
        ],
        _STEEL,
    )


def _wheel(pen: Pen) -> None:
    for angle in range(0, 180, 45):
        pen.at(0.2, 0.1, turn=float(np.radians(angle))).line([(-0.46, 0.0), (0.46, 0.0)], 1.8, _WOOD)
    pen.line(oval(0.2, 0.1, 0.36, 0.36), 3.4, pen.ink, closed=True)
    pen.line(oval(0.2, 0.1, 0.36, 0.36), 2.0, _WOOD, closed=True)


def _magnifier(pen: Pen) -> None:
    pen.line([(0.0, -0.12), (0.1, 0.16)], 2.8, _WOOD)
    pen.fill(oval(0.2, 0.36, 0.2, 0.2), (214, 238, 246))
    pen.line(oval(0.2, 0.36, 0.2, 0.2), 2.0, closed=True)
    pen.line(arc(0.2, 0.36, 0.13, 0.13, 100, 170, steps=6), 0.8, (255, 255, 255))


def _bell(pen: Pen) -> None:
    pen.shape(smooth([(-0.24, 0.08), (-0.12, 0.4), (0.0, 0.48), (0.12, 0.4), (0.24, 0.08), (0.0, 0.04)]), _BRASS)
    pen.shape(oval(0.0, 0.03, 0.06, 0.06), (150, 100, 40))


def _broom(pen: Pen) -> None:
    pen.line([(0.0, -0.4), (0.06, 0.9)], 1.8, _WOOD)
    pen.shape([(-0.1, -0.4), (0.08, -0.4), (0.2, -0.86), (-0.26, -0.84)], (226, 190, 104))
    for x in (-0.12, -0.02, 0.08):
        pen.line([(x * 0.6, -0.5), (x * 1.3, -0.8)], 0.6, (160, 120, 56))


def _trumpet(pen: Pen) -> None:
    pen.line(rounded(-0.12, -0.04, 0.42, 0.24, 0.12), 2.4, closed=True)
    pen.line(rounded(-0.12, -0.04, 0.42, 0.24, 0.12), 1.3, _BRASS, closed=True)
    pen.shape(box(-0.3, 0.17, 0.72, 0.07), _BRASS)
    pen.shape(smooth([(0.4, 0.16), (0.66, 0.0), (0.72, 0.2), (0.66, 0.42), (0.4, 0.25)]), _BRASS)
    for x in (-0.02, 0.08, 0.18):
        pen.shape(box(x, 0.22, 0.06, 0.14), _STEEL, 0.8)
    pen.shape(rounded(-0.38, 0.15, 0.1, 0.11, 0.03), _STEEL, 0.8)


PROPS: dict[str, Callable[[Pen], None]] = {
    "cup": _cup,
    "book": _book,
    "lantern": _lantern,
    "letter": _letter,
    "key": _key,
    "umbrella": _umbrella,
    "pan": _pan,
    "bread": _bread,
    "fish": _fish,
    "telescope": _telescope,
    "flower": _flower,
    "map": _map,
    "egg": _egg,
    "parcel": _parcel,
    "spanner": _spanner,
    "wheel": _wheel,
    "magnifier": _magnifier,
    "bell": _bell,
    "broom": _broom,
    "trumpet": _trumpet,
}


def draw_prop(pen: Pen, name: str) -> None:
    """Draw a thing into a hand."""
    PROPS[name](pen)
