"""The places that scripts can name, and the words that captions use for them.

What does not belong here: how a place is painted (scenes_outdoors.py, scenes_indoors.py).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from pipelines.samples import scenes_indoors as indoors
from pipelines.samples import scenes_outdoors as outdoors
from pipelines.samples.ink import Pen
from pipelines.samples.light import Light

Scene = Callable[[Pen, Light, Random], None]

SCENES: dict[str, tuple[Scene, str]] = {
    "harbour": (outdoors.harbour, "on the pier of the harbour, with the lighthouse behind"),
    "ship": (outdoors.ship, "on the deck of a sailing ship"),
    "beach": (outdoors.beach, "on a sandy beach with palms"),
    "street": (outdoors.street, "in a street of tall houses"),
    "market": (outdoors.market, "at the market, between striped stalls"),
    "forest": (outdoors.forest, "in the forest"),
    "hill": (outdoors.hill, "on a green hill with a windmill"),
    "moon": (outdoors.moon, "on the surface of the moon, near a rocket"),
    "rooftop": (outdoors.rooftop, "on the roofs of the town"),
    "kitchen": (indoors.kitchen, "in a kitchen with a hot oven"),
    "office": (indoors.office, "in an office full of filing cabinets"),
    "library": (indoors.library, "in a library with high shelves"),
    "parlour": (indoors.parlour, "in a parlour with a fireplace"),
    "cave": (indoors.cave, "in a cave with crystals"),
    "cabin": (indoors.cabin, "in the cabin of a rocket"),
    "burst": (indoors.burst, "before bright rays"),
    "plain": (indoors.plain, "before a plain ground"),
}


def paint_scene(pen: Pen, name: str, light: Light, dice: Random) -> None:
    """Paint a place over the whole canvas."""
    SCENES[name][0](pen, light, dice)
