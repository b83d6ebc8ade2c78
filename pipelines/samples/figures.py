"""Whole figures: bodies, clothes and limbs in a pose, with head and prop. Feet stand on the pen's y = 0.

A figure of height 1 is about 2.3 units tall. What does not belong here: heads (heads.py), things in hands (props.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipelines.samples.heads import draw_head
from pipelines.samples.ink import Colour, Pen, bow, box, darker, mix, oval, rounded, smooth
from pipelines.samples.looks import POSES, Actor, Look, Pose
from pipelines.samples.props import draw_prop

HEAD_RADIUS = 0.46
_SHOULDER, _HIP, _HEAD = 1.32, 0.72, 1.84


class Anchors(NamedTuple):
    """Points of a figure in the units of the pen that draws it: the head's middle, its radius, the near hand."""

    head: tuple[float, float]
    radius: float
    hand: tuple[float, float]


def anchors(actor: Actor, x: float, *, mirror: bool) -> Anchors:
    """Where head and hand of a figure come to lie that stands at `x`, before it is drawn."""
    pose, scale = POSES[actor.pose], actor.look.height
    side = -scale if mirror else scale
    head = (x + side * (pose.lean * 1.35), scale * (_HEAD - pose.drop))
    return Anchors(head, HEAD_RADIUS * scale, (x + side * pose.near_hand[0], scale * pose.near_hand[1]))


def draw_figure(pen: Pen, actor: Actor, x: float, *, mirror: bool) -> None:
    """Draw a figure standing at `x`; it faces right, or left when mirrored."""
    look, pose = actor.look, POSES[actor.pose]
    figure = pen.at(x, 0.0, scale=look.height, mirror=mirror)
    figure.fill(oval(0.0, -0.03, 0.52 * look.girth, 0.07), _shadow(pen))
    if look.kind == "ghost":
        _draw_ghost(figure, actor, pose)
        return
    _draw_tail(figure, look)
    _draw_arm(figure, look, pose, near=False)
    _draw_legs(figure, look, pose)
    _draw_body(figure, look, pose)
    draw_head(figure.at(pose.lean * 1.35, _HEAD - pose.drop, turn=-pose.lean * 0.35), look, actor.face)
    if actor.prop:
        draw_prop(figure.at(*pose.near_hand), actor.prop)
    _draw_arm(figure, look, pose, near=True)


def _shadow(pen: Pen) -> Colour:
    """A colour for the shadow on the ground: what lies under the pen now, darkened."""
    px, py = pen.pixel(0.0, -0.05)
    height, width = pen.canvas.shape[:2]
    row, column = min(max(int(py), 0), height - 1), min(max(int(px), 0), width - 1)
    red, green, blue = (int(part) for part in pen.canvas[row, column])
    return darker((red, green, blue), 0.72)


def _draw_legs(pen: Pen, look: Look, pose: Pose) -> None:
    hip = _HIP - pose.drop
    colour = look.skin if look.top in ("dress", "apron") and look.kind == "human" else look.legs
    for foot, side in ((pose.far_foot, -1), (pose.near_foot, 1)):
        start = (side * 0.13 * look.girth + pose.lean * 0.1, hip + 0.04)
        knee = ((start[0] + foot[0]) / 2 + 0.05 + pose.drop * 0.5, (start[1] + foot[1]) / 2 + 0.05)
        pen.limb(bow(start, knee, (foot[0], foot[1] + 0.12)), 0.17, darker(colour, 0.86) if side < 0 else colour)
        shoe = rounded(foot[0] - 0.1, foot[1], 0.32, 0.14, 0.07)
        pen.shape(shoe, darker(look.legs, 0.5))


def _draw_body(pen: Pen, look: Look, pose: Pose) -> None:
    girth, lean, hip = look.girth, pose.lean, _HIP - pose.drop
    top = _SHOULDER - pose.drop * 0.9 + 0.08
    hem = hip - 0.06
    flare = 0.3
    if look.top == "dress":
        hem, flare = max(hip - 0.38, 0.14), 0.46
    elif look.top == "coat":
        hem, flare = max(hip - 0.3, 0.14), 0.36
    side = [
        (0.2 + lean * 0.9, top),
        (0.33 * girth + lean * 0.7, top - 0.12),
        (0.32 * girth + lean * 0.35, (top + hem) / 2),
    ]
    left = [(2 * lean * share - x, y) for (x, y), share in zip(side, (0.9, 0.7, 0.35), strict=True)]
    bottom = [(flare * girth, hem + 0.03), (0.0, hem - 0.03), (-flare * girth, hem + 0.03)]
    colour = look.skin if look.top == "plain" else look.top_colour
    outline = smooth([*side, *bottom, *reversed(left), (lean, top + 0.03)])
    pen.shaded(outline, colour)
    _draw_clothes(pen, look, lean, top, hem)
    if "scarf" in look.extras:
        pen.shape(rounded(-0.26 + lean * 1.1, top - 0.08, 0.54, 0.18, 0.09), look.hat_colour)
        pen.shape(smooth([(-0.16, top), (-0.3, top - 0.36), (-0.16, top - 0.4), (-0.04, top - 0.02)]), look.hat_colour)


def _draw_clothes(pen: Pen, look: Look, lean: float, top: float, hem: float) -> None:
    girth, colour = look.girth, look.top_colour
    dark = darker(colour, 0.62)
    middle = 0.06 + lean * 0.6
    if look.kind == "robot":
        pen.shape(
            rounded(-0.16 + lean * 0.5, top - 0.46, 0.36, 0.24, 0.05), mix(look.hat_colour, (255, 255, 255), 0.6), 0.7
        )
        for step, lamp in enumerate(((228, 82, 70), (248, 204, 74), (96, 190, 110))):
            pen.fill(oval(-0.06 + step * 0.11 + lean * 0.5, top - 0.34, 0.035, 0.035), lamp)
        return
    if look.top == "coat":
        pen.line([(middle, top - 0.02), (middle * 0.6, hem)], 0.9, dark)
        for step in range(3):
            pen.fill(oval(middle + 0.1, top - 0.2 - step * 0.2, 0.032, 0.032), dark)
        pen.shape(
            [(middle, top - 0.06), (middle + 0.2, top + 0.04), (middle + 0.15, top - 0.16)],
            mix(colour, (255, 255, 255), 0.15),
            0.7,
        )
        pen.shape(
            [(middle, top - 0.06), (middle - 0.22, top + 0.04), (middle - 0.17, top - 0.16)],
            mix(colour, (255, 255, 255), 0.15),
            0.7,
        )
    elif look.top == "suit":
        pen.shape(
            [(middle - 0.14, top + 0.03), (middle, top - 0.36), (middle + 0.14, top + 0.03)], (250, 248, 244), 0.7
        )
    elif look.top == "apron":
        pen.shape(
            rounded(-0.2 * girth + lean * 0.4, hem - 0.02, 0.46 * girth, top - hem - 0.14, 0.1), (252, 248, 240), 0.8
        )
        pen.line([(-0.14 * girth, hem + 0.24), (0.2 * girth, hem + 0.24)], 0.7, (176, 168, 160))
    elif look.top == "jumper":
        for y in (top - 0.24, top - 0.36):
            pen.line(
                smooth([(-0.28 * girth, y), (middle, y - 0.03), (0.3 * girth, y)], closed=False),
                1.4,
                mix(colour, (255, 255, 255), 0.55),
            )
    elif look.top == "dress":
        pen.line(smooth([(-0.29 * girth, 0.8), (0.03, 0.77), (0.3 * girth, 0.8)], closed=False), 1.5, dark)
    elif look.top == "shirt":
        pen.shape(
            [(middle - 0.12, top + 0.04), (middle, top - 0.12), (middle + 0.12, top + 0.04)],
            mix(colour, (255, 255, 255), 0.4),
            0.7,
        )
        pen.line([(-0.28 * girth, hem + 0.1), (0.29 * girth, hem + 0.1)], 1.3, darker(look.legs, 0.5))
    if "tie" in look.extras:
        pen.shape(
            [(middle, top), (middle + 0.07, top - 0.32), (middle, top - 0.4), (middle - 0.07, top - 0.32)],
            look.hat_colour,
            0.7,
        )
    if "bag" in look.extras:
        pen.line([(-0.26, top - 0.02), (0.24 * girth, hem + 0.2)], 1.6, (120, 78, 48))
        pen.shape(rounded(0.1 * girth, hem - 0.02, 0.34, 0.28, 0.06), (158, 106, 66))


def _draw_arm(pen: Pen, look: Look, pose: Pose, *, near: bool) -> None:
    side = 1 if near else -1
    start = (side * 0.25 * look.girth + pose.lean * 0.9, _SHOULDER - pose.drop * 0.9)
    hand = pose.near_hand if near else pose.far_hand
    bend = pose.bend[1 if near else 0]
    along = np.array(hand) - start
    across = np.array([-along[1], along[0]]) / (np.hypot(*along) + 1e-6)
    elbow = (np.array(start) + hand) / 2 + across * bend * 1.6
    sleeve = look.skin if look.top == "plain" else look.top_colour
    if look.kind == "robot":
        sleeve = mix(look.skin, (90, 96, 108), 0.45)
    if not near:
        sleeve = darker(sleeve, 0.82)
    pen.limb(bow(start, (elbow[0], elbow[1]), hand), 0.145, sleeve)
    pen.shape(oval(hand[0], hand[1], 0.1, 0.1), look.skin)


def _draw_tail(pen: Pen, look: Look) -> None:
    if look.kind == "fox":
        pen.shape(
            smooth([(-0.1, 0.6), (-0.5, 0.34), (-0.98, 0.6), (-0.96, 1.12), (-0.72, 0.84), (-0.4, 0.72)]), look.skin
        )
        pen.fill(smooth([(-0.94, 0.78), (-0.97, 1.08), (-0.82, 0.92)]), (252, 246, 236))
    elif look.kind == "cat":
        pen.limb(smooth([(-0.1, 0.6), (-0.52, 0.42), (-0.72, 0.8), (-0.56, 1.12)], closed=False), 0.1, look.skin)


def _draw_ghost(pen: Pen, actor: Actor, pose: Pose) -> None:
    look, lean = actor.look, pose.lean
    hem = [(-0.5, 0.3), (-0.34, 0.46), (-0.16, 0.26), (0.02, 0.44), (0.2, 0.26), (0.36, 0.46), (0.52, 0.3)]
    sides = [(0.5, 1.0), (0.44 + lean, 1.9), (0.02 + lean * 1.35, 2.34), (-0.42 + lean, 1.9), (-0.5, 1.0)]
    pen.limb(bow((-0.34, 1.24), (-0.5, 1.1), pose.far_hand), 0.15, darker(look.skin, 0.88))
    pen.shaded(smooth([*hem, *sides]), look.skin)
    if "tie" in look.extras:
        pen.shape([(0.08, 1.4), (0.16, 1.04), (0.08, 0.94), (0.0, 1.04)], look.hat_colour, 0.7)
    if "scarf" in look.extras:
        pen.shape(rounded(-0.46 + lean, 1.26, 0.94, 0.17, 0.08), look.hat_colour)
        pen.shape(box(-0.36, 0.86, 0.16, 0.42), look.hat_colour)
    draw_head(pen.at(lean * 1.35, _HEAD), look, actor.face)
    if actor.prop:
        draw_prop(pen.at(*pose.near_hand), actor.prop)
    pen.limb(bow((0.36, 1.24), (0.5, 1.1), pose.near_hand), 0.15, look.skin)
