"""Whether a crop shows the face of a reference picture: the role that face matchers fill, and the rule they share.

What does not belong here: how faces are found and turned into vectors (an adapter), and votes of chat models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

Verdict = Literal["match", "no_match", "no_face"]


@dataclass(frozen=True)
class FaceMatch:
    """What a matcher says of one crop; `distance` is that of its nearest face, None where it shows none."""

    verdict: Verdict
    distance: float | None = None


class FaceMatcher(Protocol):
    """Says whose face a crop shows."""

    def match(self, reference: np.ndarray, crops: Sequence[np.ndarray]) -> list[FaceMatch]:
        """Compare the largest face of an RGB reference (H, W, 3) of bytes with all faces of each RGB crop.

        Raises ItemError of the kind `no_reference_face` where the reference shows no face.
        """
        ...


def nearest_face(reference: np.ndarray, faces: np.ndarray, tolerance: float) -> FaceMatch:
    """The verdict on a crop with these faces (N x D vectors) for a reference (D): the nearest one counts, not the first.

    Distances are Euclidean; one of exactly `tolerance` is a match, as in the package `face_recognition`.
    """
    if not len(faces):
        return FaceMatch("no_face")
    distance = float(np.linalg.norm(np.asarray(faces, float) - np.asarray(reference, float), axis=1).min())
    return FaceMatch("match" if distance <= tolerance else "no_match", distance)
