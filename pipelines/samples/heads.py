"""Whole heads, one function for each kind of character. The pen's (0, 0) is the middle of the head.

What does not belong here: bodies, and the parts that human heads are made of (faces, hair).
"""

from __future__ import annotations

from pipelines.samples.faces import draw_extras, draw_face
from pipelines.samples.hair import draw_back_hair, draw_beard, draw_hair, draw_hat
from pipelines.samples.ink import Pen, box, darker, mix, oval, rounded, smooth
from pipelines.samples.looks import Look

_WHITE = (252, 248, 240)


def draw_head(pen: Pen, look: Look, face: str) -> None:
    """Draw a head with its face in a mood; it looks to the right."""
    if look.kind == "human":
        _human(pen, look, face)
    elif look.kind in ("fox", "cat", "bear"):
        _animal(pen, look, face)
    elif look.kind == "robot":
        _robot(pen, look, face)
    elif look.kind == "alien":
        _alien(pen, look, face)
    else:
        draw_face(pen, face, look.skin, turn=0.06, nose="none")
        draw_extras(pen, look.extras, look.skin, look.hair_colour, turn=0.06)
    draw_hat(pen, look.hat, look.hat_colour)


def _human(pen: Pen, look: Look, face: str) -> None:
    draw_back_hair(pen, look.hair, look.hair_colour)
    pen.shaded(
        smooth(
            [
                (0.0, 0.45),
                (0.38, 0.28),
                (0.44, -0.06),
                (0.3, -0.36),
                (0.04, -0.47),
                (-0.26, -0.38),
                (-0.43, -0.06),
                (-0.37, 0.28),
            ]
        ),
        look.skin,
    )
    pen.shape(oval(-0.34, -0.05, 0.09, 0.11), look.skin)
    if "beard" in look.extras:
        draw_beard(pen, look.hair_colour)
    draw_face(pen, face, look.skin)
    draw_hair(pen, look.hair, look.hair_colour)
    draw_extras(pen, look.extras, look.skin, look.hair_colour)


def _animal(pen: Pen, look: Look, face: str) -> None:
    fur, muzzle = look.skin, mix(look.skin, _WHITE, 0.75)
    for side in (-1, 1):
        if look.kind == "bear":
            pen.shape(oval(side * 0.36, 0.38, 0.17, 0.17), fur)
            pen.fill(oval(side * 0.36, 0.38, 0.09, 0.09), muzzle)
        else:
            tip = 0.92 if look.kind == "fox" else 0.76
            pen.shape([(side * 0.44, 0.1), (side * 0.42, tip), (side * 0.04, 0.4)], fur)
            pen.fill([(side * 0.38, 0.3), (side * 0.37, tip - 0.18), (side * 0.16, 0.42)], darker(muzzle, 0.8))
    if look.kind == "fox":
        outline = [
            (0.0, 0.46),
            (0.36, 0.34),
            (0.56, -0.06),
            (0.34, -0.3),
            (0.08, -0.46),
            (-0.3, -0.3),
            (-0.54, -0.06),
            (-0.36, 0.34),
        ]
    else:
        outline = [
            (0.0, 0.46),
            (0.38, 0.34),
            (0.5, -0.02),
            (0.36, -0.38),
            (0.0, -0.46),
            (-0.36, -0.38),
            (-0.5, -0.02),
            (-0.38, 0.34),
        ]
    pen.shaded(smooth(outline), fur)
    pen.fill(smooth([(0.09, 0.0), (0.36, -0.14), (0.3, -0.34), (0.06, -0.42), (-0.18, -0.34), (-0.24, -0.14)]), muzzle)
    draw_face(pen, face, fur, nose="dot")
    if look.kind == "cat":
        for side in (-1, 1):
            for rise in (0.04, -0.05):
                pen.line([(0.09 + side * 0.26, -0.15), (0.09 + side * 0.56, -0.15 + rise)], 0.6)
    if look.kind != "bear" and look.hat == "none":
        pen.line([(0.02, 0.44), (0.0, 0.32)], 1.4, darker(fur, 0.6))
    draw_extras(pen, look.extras, fur, look.hair_colour)


def _robot(pen: Pen, look: Look, face: str) -> None:
    metal = look.skin
    pen.line([(0.0, 0.4), (0.0, 0.68)], 1.4)
    pen.shape(oval(0.0, 0.74, 0.08, 0.08), look.hat_colour)
    for side in (-1, 1):
        pen.shape(box(side * 0.52 - 0.07, -0.14, 0.14, 0.26), darker(metal, 0.7))
    pen.shaded(rounded(-0.48, -0.4, 0.96, 0.82, 0.16), metal)
    pen.shape(rounded(-0.34, -0.32, 0.76, 0.62, 0.1), mix(look.hat_colour, (235, 250, 250), 0.72), 0.8)
    draw_face(pen, face, metal, turn=0.05, nose="none")


def _alien(pen: Pen, look: Look, face: str) -> None:
    for side in (-1, 1):
        pen.line(smooth([(side * 0.16, 0.4), (side * 0.24, 0.62), (side * 0.4, 0.74)], closed=False), 1.4)
        pen.shape(oval(side * 0.42, 0.76, 0.09, 0.09), look.hair_colour)
    pen.shaded(
        smooth(
            [
                (0.0, 0.5),
                (0.46, 0.36),
                (0.5, 0.02),
                (0.24, -0.36),
                (0.0, -0.46),
                (-0.24, -0.36),
                (-0.5, 0.02),
                (-0.46, 0.36),
            ]
        ),
        look.skin,
    )
    for x, y, r in ((-0.28, 0.32, 0.05), (-0.18, 0.4, 0.035), (0.32, 0.36, 0.04)):
        pen.fill(oval(x, y, r, r * 0.8), darker(look.skin, 0.8))
    draw_face(pen, face, look.skin, turn=0.04, nose="none")
    draw_extras(pen, look.extras, look.skin, look.hair_colour, turn=0.04)
