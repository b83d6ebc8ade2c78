"""Hair, beards and hats of human heads. The pen's (0, 0) is the middle of the head, whose radius is about 0.45.

What does not belong here: the head, its face, and the heads of animals and machines.
"""

from __future__ import annotations

import numpy as np

from pipelines.samples.ink import Colour, Pen, arc, box, darker, oval, rounded, smooth

_BRASS = (224, 178, 66)


def draw_back_hair(pen: Pen, style: str, colour: Colour) -> None:
    """Draw what hangs behind the head."""
    shade = darker(colour, 0.84)
    if style == "long":
        pen.shape(
            smooth([(-0.46, 0.25), (-0.58, -0.3), (-0.56, -0.86), (0.1, -0.8), (0.42, -0.84), (0.46, 0.2), (0, 0.5)]),
            shade,
        )
    elif style == "bob":
        pen.shape(smooth([(-0.48, 0.2), (-0.58, -0.36), (-0.2, -0.44), (0.36, -0.4), (0.5, -0.3), (0.46, 0.2)]), shade)
    elif style == "ponytail":
        pen.shape(
            smooth([(-0.3, 0.36), (-0.62, 0.42), (-0.86, 0.0), (-0.8, -0.44), (-0.62, -0.1), (-0.4, 0.1)]), colour
        )
    elif style == "curly":
        for angle in np.radians(np.arange(-30, 220, 25)):
            pen.shape(oval(0.46 * np.cos(angle), 0.1 + 0.46 * np.sin(angle), 0.2, 0.2), shade)
    elif style == "bun":
        pen.shape(oval(-0.14, 0.56, 0.2, 0.18), colour)


def draw_beard(pen: Pen, colour: Colour) -> None:
    """Draw a full beard; the mouth is drawn on it afterwards."""
    points = [(-0.43, 0.02), (-0.46, -0.3), (-0.24, -0.62), (0.08, -0.72), (0.36, -0.56), (0.47, -0.24), (0.44, 0.02)]
    pen.shape(smooth([*points, (0.3, -0.1), (0.1, -0.13), (-0.1, -0.1), (-0.28, -0.06)]), colour)


def draw_hair(pen: Pen, style: str, colour: Colour) -> None:
    """Draw what lies on the head and over the brow."""
    if style in ("none", "bald"):
        if style == "bald":
            for side in (-1, 1):
                pen.shape(oval(side * 0.43, 0.0, 0.1, 0.17), colour)
        return
    if style == "spiky":
        tips = [(-0.5, 0.06), (-0.62, 0.34), (-0.42, 0.34), (-0.42, 0.64), (-0.16, 0.5), (0.02, 0.78), (0.16, 0.5)]
        pen.shape([*tips, (0.42, 0.62), (0.4, 0.34), (0.58, 0.28), (0.44, 0.16), (0.2, 0.24), (-0.2, 0.22)], colour)
        return
    if style == "curly":
        for x, y in ((-0.36, 0.3), (-0.16, 0.42), (0.08, 0.45), (0.3, 0.36)):
            pen.shape(oval(x, y, 0.19, 0.16), colour)
        return
    cap = [*arc(0.0, 0.02, 0.48, 0.48, 5, 185, steps=12)]
    brow = {
        "short": [(-0.36, 0.24), (-0.1, 0.3), (0.2, 0.26), (0.4, 0.22)],
        "bun": [(-0.38, 0.16), (-0.2, 0.32), (0.08, 0.36), (0.36, 0.22)],
        "ponytail": [(-0.3, 0.2), (-0.1, 0.3), (0.16, 0.24), (0.4, 0.26)],
        "long": [(-0.36, -0.1), (-0.26, 0.2), (0.02, 0.32), (0.3, 0.18), (0.44, -0.1)],
        "bob": [(-0.4, -0.16), (-0.32, 0.16), (-0.06, 0.2), (0.18, 0.18), (0.4, 0.16)],
        "fringe": [(-0.4, 0.06), (-0.24, 0.14), (-0.1, 0.1), (0.08, 0.15), (0.24, 0.1), (0.4, 0.14)],
    }[style]
    pen.shape(np.concatenate([cap, smooth(brow, closed=False)]), colour)
    pen.line(arc(-0.05, 0.06, 0.34, 0.34, 95, 150, steps=8), 0.8, darker(colour, 1.35))


def draw_hat(pen: Pen, style: str, colour: Colour) -> None:
    """Draw a hat over the hair."""
    shade = darker(colour, 0.75)
    if style == "captain":
        pen.shape(smooth([(-0.48, 0.32), (-0.56, 0.62), (0.0, 0.74), (0.58, 0.6), (0.48, 0.32)]), (250, 248, 244))
        pen.shape(rounded(-0.47, 0.2, 0.96, 0.18, 0.05), colour)
        pen.shape(smooth([(0.0, 0.2), (0.5, 0.22), (0.66, 0.12), (0.3, 0.12)]), darker(colour, 0.6))
        pen.shape(oval(0.14, 0.42, 0.09, 0.09), _BRASS)
    elif style == "chef":
        for x, y, r in ((-0.3, 0.68, 0.24), (0.3, 0.68, 0.24), (0.0, 0.8, 0.28)):
            pen.shape(oval(x, y, r, r), (252, 250, 246))
        pen.fill(oval(0.0, 0.62, 0.36, 0.2), (252, 250, 246))
        pen.shape(rounded(-0.4, 0.24, 0.8, 0.26, 0.05), (252, 250, 246))
    elif style == "cap":
        pen.shape([*arc(0.0, 0.16, 0.49, 0.42, 0, 180, steps=14)], colour)
        pen.shape(smooth([(0.1, 0.2), (0.48, 0.24), (0.82, 0.14), (0.46, 0.1)]), shade)
    elif style == "beanie":
        pen.shape([*arc(0.0, 0.18, 0.5, 0.5, 0, 180, steps=14)], colour)
        pen.shape(rounded(-0.52, 0.12, 1.04, 0.18, 0.08), shade)
        pen.shape(oval(0.0, 0.72, 0.12, 0.12), shade)
    elif style == "tophat":
        pen.shape([(-0.36, 0.32), (-0.4, 0.98), (0.42, 0.98), (0.38, 0.32)], colour)
        pen.fill(box(-0.365, 0.36, 0.74, 0.12), (176, 56, 60))
        pen.shape(rounded(-0.6, 0.24, 1.22, 0.12, 0.06), colour)
    elif style == "bowler":
        pen.shape([*arc(0.02, 0.28, 0.42, 0.42, 0, 180, steps=14)], colour)
        pen.shape(rounded(-0.6, 0.22, 1.24, 0.11, 0.06), shade)
    elif style == "souwester":
        pen.shape([*arc(0.0, 0.16, 0.48, 0.5, 0, 180, steps=14)], colour)
        pen.shape(smooth([(-0.76, -0.1), (-0.5, 0.2), (0.0, 0.3), (0.46, 0.24), (0.62, 0.14), (0.0, 0.14)]), shade)
    elif style == "headscarf":
        pen.shape([*arc(0.0, 0.1, 0.5, 0.5, 8, 176, steps=14)], colour)
        pen.shape(smooth([(-0.46, 0.14), (-0.8, 0.1), (-0.72, -0.14)]), shade)
        for x, y in ((-0.24, 0.36), (0.02, 0.44), (0.26, 0.32)):
            pen.fill(oval(x, y, 0.05, 0.05), (252, 246, 232))
    elif style == "helmet":
        pen.line(oval(0.0, 0.06, 0.68, 0.66), 1.6, closed=True)
        pen.line(arc(-0.04, 0.08, 0.56, 0.54, 110, 165, steps=8), 2.2, (255, 255, 255))
        pen.shape(rounded(-0.42, -0.66, 0.84, 0.16, 0.07), colour)
