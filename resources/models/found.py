"""What detectors with classes have in common: the profile's names for a model's classes, and boxes of the two roles.

What does not belong here: any one model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pipelines.comics.panels import Panel
from pipelines.errors import SettingsError
from pipelines.geometry import Box, box_polygon
from pipelines.videos.detections import Detection

Classes = Mapping[str, str | Sequence[str]]
"""The model's class or classes for each of our words (`panel`, `text`, `person`)."""

_COCO = (
    "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, "
    "parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, "
    "handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, "
    "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, "
    "broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, "
    "laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, "
    "scissors, teddy bear, hair drier, toothbrush"
)
COCO = _COCO.split(", ")
"""The 80 classes of COCO in their usual order."""


@dataclass(frozen=True)
class Found:
    """A thing in a picture: our word for it, its box in pixels, and how sure the model is (0 to 1)."""

    name: str
    box: Box
    score: float


class BoxFinder(Protocol):
    """A model that finds things of several classes."""

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture (H, W, 3) of bytes shows, inside it, the surest first."""
        ...


class Panels:
    """`pipelines.comics.panels.PanelDetector` by any model that finds what the profile calls `panel`."""

    def __init__(self, finder: BoxFinder) -> None:
        self.finder = finder

    def detect(self, images: Sequence[np.ndarray]) -> list[list[Panel]]:
        """The panels of each picture, as upright boxes."""
        return [
            [Panel(f.box, tuple((x, y) for x, y in box_polygon(f.box)), f.score) for f in found if f.name == "panel"]
            for found in self.finder.find(images)
        ]


class Persons:
    """`pipelines.videos.detections.PersonDetector` by any model that finds what the profile calls `person`."""

    def __init__(self, finder: BoxFinder) -> None:
        self.finder = finder

    def detect(self, frames: Sequence[np.ndarray]) -> list[list[Detection]]:
        """The people of each frame."""
        return [[Detection(f.box, f.score) for f in found if f.name == "person"] for found in self.finder.find(frames)]


def class_numbers(classes: Classes, names: Sequence[str]) -> dict[int, str]:
    """Our word for each of the model's classes that the profile names, by the class's number.

    Raises SettingsError for a name that the model does not have, with those that it has.
    """
    numbers: dict[int, str] = {}
    for word, theirs in classes.items():
        for name in [theirs] if isinstance(theirs, str) else theirs:
            if name not in names:
                known = ", ".join(names[:100])
                raise SettingsError(
                    f"the model has no class `{name}`", remedy=f"Map `{word}` to one or more of its own: {known}."
                )
            numbers[list(names).index(name)] = word
    return numbers


def as_found(
    corners: Any, scores: Any, labels: Any, words: Mapping[int, str], size: tuple[int, int], threshold: float
) -> list[Found]:
    """A model's output for one picture of `size` (height, width) as things that the profile asked for.

    `corners` are N x 4 (left, top, right, bottom) in its pixels, `scores` and `labels` N. What lies outside, is empty or
    under the threshold is left out; the surest come first, equals by their place.
    """
    height, width = size
    found = []
    for (left, top, right, bottom), score, label in zip(
        np.asarray(corners, float).reshape(-1, 4), np.asarray(scores, float), np.asarray(labels, int), strict=True
    ):
        if label not in words or score < threshold or not np.isfinite([left, top, right, bottom]).all():
            continue
        x, y = round(left), round(top)
        box = Box(x, y, max(round(right) - x, 0), max(round(bottom) - y, 0)).clipped(width, height)
        if box.area:
            found.append(Found(words[int(label)], box, float(score)))
    return sorted(found, key=lambda f: (-f.score, f.box, f.name))


def without_doubles(found: Sequence[Found], same: float) -> list[Found]:
    """Things of which no surer one with the same name has an IoU above `same` (greedy suppression); the surest first."""
    left = np.array([[f.box.x, f.box.y, f.box.right, f.box.bottom] for f in found], float).reshape(-1, 4)
    names = np.array([f.name for f in found])
    areas = (left[:, 2] - left[:, 0]) * (left[:, 3] - left[:, 1])
    kept: list[int] = []
    order = sorted(range(len(found)), key=lambda i: -found[i].score)
    alive = np.ones(len(found), bool)
    for i in order:
        if not alive[i]:
            continue
        kept.append(i)
        shared = np.clip(np.minimum(left[:, 2:], left[i, 2:]) - np.maximum(left[:, :2], left[i, :2]), 0, None).prod(
            axis=1
        )
        alive &= ~((names == names[i]) & (shared > same * (areas + areas[i] - shared)))
    return [found[i] for i in kept]
