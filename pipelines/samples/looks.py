"""What a character looks like, wears, does and feels: the nouns that scripts name and figures draw.

What does not belong here: the drawing itself, and words for captions.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.samples.ink import Colour

COLOURS: dict[str, Colour] = {
    "peach": (246, 205, 172),
    "tan": (214, 160, 116),
    "brown": (141, 92, 62),
    "umber": (98, 62, 44),
    "rose": (240, 190, 176),
    "red": (206, 58, 54),
    "brick": (168, 74, 52),
    "orange": (238, 138, 48),
    "yellow": (250, 200, 58),
    "cream": (248, 238, 212),
    "lime": (150, 196, 82),
    "green": (66, 140, 88),
    "moss": (104, 122, 66),
    "teal": (42, 142, 146),
    "sky": (126, 190, 226),
    "blue": (52, 104, 178),
    "navy": (40, 56, 104),
    "violet": (124, 84, 166),
    "plum": (104, 48, 92),
    "pink": (238, 142, 166),
    "white": (250, 248, 244),
    "silver": (192, 200, 208),
    "grey": (128, 132, 142),
    "slate": (84, 96, 112),
    "black": (46, 44, 54),
}
KINDS = ("human", "fox", "cat", "bear", "robot", "alien", "ghost")
HAIRS = ("none", "short", "bob", "bun", "long", "curly", "ponytail", "spiky", "fringe", "bald")
HATS = ("none", "captain", "chef", "cap", "tophat", "beanie", "souwester", "bowler", "helmet", "headscarf")
TOPS = ("shirt", "coat", "dress", "apron", "suit", "jumper", "plain")
EXTRAS = ("glasses", "beard", "moustache", "scarf", "tie", "freckles", "bag", "monocle", "eyepatch")


@dataclass(frozen=True)
class Look:
    """How a character is drawn in every panel; `height` and `girth` are factors of a usual figure."""

    kind: str = "human"
    skin: Colour = COLOURS["peach"]
    hair: str = "short"
    hair_colour: Colour = COLOURS["umber"]
    top: str = "shirt"
    top_colour: Colour = COLOURS["blue"]
    legs: Colour = COLOURS["slate"]
    hat: str = "none"
    hat_colour: Colour = COLOURS["navy"]
    extras: tuple[str, ...] = ()
    height: float = 1.0
    girth: float = 1.0


@dataclass(frozen=True)
class Pose:
    """Where hands and feet are, in units from the middle of the ground, for a figure that faces right.

    The near hand lies on the side that the figure faces. `lean` shifts the shoulders forward, `drop` lowers the hips,
    `bend` is how far each elbow stands off the arm's straight line (its sign is the side).
    """

    far_hand: tuple[float, float]
    near_hand: tuple[float, float]
    far_foot: tuple[float, float] = (-0.2, 0.0)
    near_foot: tuple[float, float] = (0.2, 0.0)
    lean: float = 0.0
    drop: float = 0.0
    bend: tuple[float, float] = (-0.14, 0.14)


POSES: dict[str, Pose] = {
    "stand": Pose((-0.42, 0.72), (0.42, 0.72)),
    "wave": Pose((-0.42, 0.74), (0.82, 1.92), bend=(-0.14, -0.16)),
    "point": Pose((-0.4, 0.76), (1.0, 1.42), lean=0.05, bend=(-0.14, -0.04)),
    "cheer": Pose((-0.8, 1.98), (0.82, 1.98), bend=(0.14, -0.14)),
    "hips": Pose((-0.3, 0.86), (0.3, 0.86), bend=(-0.34, 0.34)),
    "think": Pose((-0.1, 0.98), (0.27, 1.47), bend=(-0.3, 0.34)),
    "walk": Pose((-0.46, 0.9), (0.5, 0.92), (-0.38, 0.05), (0.36, 0.0), lean=0.05),
    "run": Pose((-0.62, 1.12), (0.66, 1.24), (-0.66, 0.3), (0.42, 0.02), lean=0.2, bend=(-0.24, 0.26)),
    "shrug": Pose((-0.74, 1.28), (0.76, 1.28), bend=(-0.28, 0.28)),
    "hold": Pose((-0.4, 0.76), (0.62, 1.12), bend=(-0.14, 0.26)),
    "raise": Pose((-0.4, 0.76), (0.62, 2.06), bend=(-0.14, 0.22)),
    "reach": Pose((0.78, 1.16), (0.86, 1.3), lean=0.12, bend=(0.12, -0.1)),
    "fold": Pose((0.26, 1.06), (-0.2, 1.0), bend=(-0.34, 0.4)),
    "gasp": Pose((-0.3, 1.52), (0.36, 1.5), lean=-0.08, bend=(-0.3, 0.34)),
    "crouch": Pose((-0.36, 0.5), (0.5, 0.52), (-0.34, 0.0), (0.3, 0.0), lean=0.16, drop=0.3),
    "bow": Pose((-0.5, 0.9), (0.36, 0.92), lean=0.3, drop=0.06, bend=(-0.2, 0.3)),
}
FACES = ("calm", "happy", "laugh", "sad", "angry", "shocked", "smug", "worried", "asleep", "talk")


@dataclass(frozen=True)
class Actor:
    """One character in one panel: who, how it stands, what it feels, and what it holds (None for empty hands)."""

    name: str
    look: Look
    pose: str = "stand"
    face: str = "calm"
    prop: str | None = None
