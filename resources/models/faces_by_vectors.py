"""Face matchers that turn each face into a vector: what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.videos.faces import FaceMatch, nearest_face


class Face(NamedTuple):
    """A face of a picture: where it is, in its pixels, and its vector (D)."""

    box: Box
    vector: np.ndarray


class FacesByVectors:
    """`pipelines.videos.faces.FaceMatcher` by a function that says the faces of an RGB picture."""

    def __init__(self, faces: Callable[[np.ndarray], list[Face]], tolerance: float) -> None:
        self.faces, self._tolerance = faces, tolerance
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def match(self, reference: np.ndarray, crops: Sequence[np.ndarray]) -> list[FaceMatch]:
        """Compare the largest face of the reference with all faces of each crop."""
        vector = self._reference(reference)
        return [nearest_face(vector, np.array([f.vector for f in self.faces(c)]), self._tolerance) for c in crops]

    def _reference(self, picture: np.ndarray) -> np.ndarray:
        # The same reference is asked about many times, often crop by crop.
        if self._last is None or self._last[0] is not picture:
            found = self.faces(picture)
            if not found:
                raise ItemError("no_reference_face", f"no face in the reference picture of {picture.shape}")
            largest = max(found, key=lambda face: (face.box.area, -face.box.y, -face.box.x))
            self._last = picture, largest.vector
        return self._last[1]
