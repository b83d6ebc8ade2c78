"""The features of a face in each mood. The pen's (0, 0) is the middle of the head, whose radius is about 0.45.

What does not belong here: the head's outline, its hair and its hat.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.samples.ink import Colour, Pen, arc, darker, mix, oval, smooth

_WHITE = (255, 255, 255)
_MOUTH = (112, 34, 42)
_TONGUE = (222, 108, 104)


@dataclass(frozen=True)
class Mood:
    """A mood's features: `open` is the eye's height, `tilt` lifts the outer (negative: inner) end of the brows."""

    mouth: str
    open: float = 1.0
    tilt: float = 0.0
    lift: float = 0.0
    pupil: float = 1.0
    blush: bool = False


MOODS: dict[str, Mood] = {
    "calm": Mood("line"),
    "happy": Mood("smile", lift=0.03, blush=True),
    "laugh": Mood("grin", open=0.0, lift=0.05, blush=True),
    "sad": Mood("frown", open=0.8, tilt=-0.08, lift=0.02),
    "angry": Mood("snarl", open=0.75, tilt=0.11, lift=-0.04),
    "shocked": Mood("round", open=1.35, lift=0.1, pupil=0.55),
    "smug": Mood("smirk", open=0.5, tilt=0.03, lift=0.03),
    "worried": Mood("wave", open=1.1, tilt=-0.1, lift=0.06, pupil=0.8),
    "asleep": Mood("small", open=-1.0),
    "talk": Mood("open", lift=0.02),
}


def draw_face(pen: Pen, mood: str, skin: Colour, *, turn: float = 0.09, nose: str = "bump") -> None:
    """Draw eyes, brows, nose and mouth, moved by `turn` towards where the face looks. `nose` is bump, dot or none."""
    look = MOODS[mood]
    if look.blush:
        for x in (-0.27, 0.29):
            pen.fill(oval(x + turn * 0.7, -0.12, 0.08, 0.05), mix(skin, (236, 92, 92), 0.35))
    for side in (-1, 1):
        _eye(pen, turn + side * 0.165, 0.05, side, look)
    if nose == "bump":
        pen.line(smooth([(turn + 0.02, 0.0), (turn + 0.1, -0.08), (turn + 0.03, -0.11)], closed=False), 0.8)
    elif nose == "dot":
        pen.fill(oval(turn + 0.04, -0.07, 0.05, 0.04), pen.ink)
    _mouth(pen.at(turn * 0.9, -0.22), look.mouth)


def _eye(pen: Pen, x: float, y: float, side: int, look: Mood) -> None:
    if look.open <= 0:
        start, end = (20, 160) if look.open == 0 else (200, 340)
        pen.line(arc(x, y - 0.02, 0.09, 0.08, start, end, steps=8))
    else:
        height = 0.125 * min(look.open, 1.35)
        pen.shape(oval(x, y, 0.095, height), _WHITE, 0.7)
        radius = 0.056 * look.pupil
        pen.fill(oval(x + 0.025, y - 0.01, radius, min(radius * 1.25, height)), pen.ink)
        if radius > 0.04:
            pen.fill(oval(x + 0.045, y + 0.025, 0.017, 0.017), _WHITE)
    inner, outer = 0.2 + look.lift - look.tilt, 0.2 + look.lift + look.tilt
    pen.line([(x - side * 0.1, y + inner), (x + side * 0.11, y + outer)], 1.5)


def _mouth(pen: Pen, kind: str) -> None:
    if kind == "line":
        pen.line(smooth([(-0.1, 0.0), (0.0, -0.02), (0.1, 0.01)], closed=False), 1.1)
    elif kind == "small":
        pen.line(arc(0.02, 0.0, 0.05, 0.03, 190, 350, steps=6))
    elif kind == "smile":
        pen.line(arc(0.0, 0.06, 0.17, 0.13, 200, 340), 1.2)
    elif kind == "smirk":
        pen.line(smooth([(-0.08, -0.02), (0.04, -0.03), (0.15, 0.05)], closed=False), 1.2)
    elif kind == "frown":
        pen.line(arc(0.0, -0.09, 0.12, 0.09, 25, 155), 1.2)
    elif kind == "wave":
        pen.line(smooth([(-0.12, -0.02), (-0.05, 0.02), (0.02, -0.03), (0.1, 0.01)], closed=False), 1.2)
    elif kind == "snarl":
        teeth = smooth([(-0.14, -0.06), (0.0, 0.03), (0.14, -0.06), (0.0, -0.04)])
        pen.shape(teeth, _WHITE)
    elif kind == "round":
        pen.shape(oval(0.0, -0.03, 0.075, 0.1), _MOUTH)
    elif kind == "open":
        pen.shape(smooth([(-0.11, 0.02), (0.0, 0.04), (0.12, 0.03), (0.04, -0.09), (-0.04, -0.09)]), _MOUTH)
        pen.fill(oval(0.01, -0.05, 0.045, 0.025), _TONGUE)
    else:
        pen.shape([*arc(0.0, 0.05, 0.18, 0.19, 180, 360)], _MOUTH)
        pen.fill(arc(0.0, -0.03, 0.1, 0.09, 190, 350), _TONGUE)


def draw_extras(pen: Pen, extras: tuple[str, ...], skin: Colour, hair: Colour, *, turn: float = 0.09) -> None:
    """Draw what is worn on or grows in a face: glasses, monocle, eyepatch, freckles, moustache (beards come before)."""
    eyes = [turn - 0.165, turn + 0.165]
    if "freckles" in extras:
        for x, y in ((-0.24, -0.1), (-0.18, -0.13), (-0.21, -0.16), (0.24, -0.1), (0.3, -0.12), (0.26, -0.16)):
            pen.fill(oval(x + turn * 0.6, y, 0.013, 0.013), darker(skin, 0.66))
    if "moustache" in extras:
        half = [(0.0, -0.1), (0.12, -0.11), (0.26, -0.2), (0.13, -0.19), (0.0, -0.17)]
        both = half + [(-x, y) for x, y in reversed(half)]
        pen.shape(smooth([(x + turn, y) for x, y in both]), hair)
    if "glasses" in extras:
        for x in eyes:
            pen.line(oval(x, 0.045, 0.14, 0.15), 1.1, closed=True)
        pen.line([(eyes[0] + 0.13, 0.07), (eyes[1] - 0.13, 0.07)])
    if "monocle" in extras:
        pen.line(oval(eyes[1], 0.045, 0.14, 0.15), 1.3, (206, 160, 52), closed=True)
        pen.line([(eyes[1] + 0.13, 0.0), (eyes[1] + 0.14, -0.4)], 0.6)
    if "eyepatch" in extras:
        pen.shape(oval(eyes[0], 0.05, 0.13, 0.14), (44, 42, 50))
        pen.line([(eyes[0] - 0.2, 0.3), (eyes[1] + 0.25, -0.02)], 1.2)
