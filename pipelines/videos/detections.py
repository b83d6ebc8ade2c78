"""People in frames: the role that detectors fill, and the union of two of them (NarrativeTrack, section 3.1).

What does not belong here: who the people are (`embeddings`, `faces`), and any model (an adapter).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pipelines.geometry import Box, iou

SAME_PERSON = 0.5
"""Two boxes of different detectors whose IoU is at least this much are the same person."""


@dataclass(frozen=True)
class Detection:
    """A person in a frame: the box in its pixels, and how sure the detector is (0 to 1)."""

    box: Box
    score: float


class PersonDetector(Protocol):
    """Finds the people in frames."""

    def detect(self, frames: Sequence[np.ndarray]) -> list[list[Detection]]:
        """The people of each RGB frame (H, W, 3) of bytes, in its pixels and inside it, the surest first."""
        ...


def union(first: Sequence[Detection], second: Sequence[Detection], same_person: float = SAME_PERSON) -> list[Detection]:
    """All of the first detector's people, then those of the second whose IoU with each of the first's is under the bound.

    The second's boxes are not compared with one another: a detector has removed its own doubles.
    """
    new = [theirs for theirs in second if all(iou(theirs.box, ours.box) < same_person for ours in first)]
    return [*first, *new]
