"""What a person looks like, as a vector: the role that re-identification networks fill.

What does not belong here: how vectors are grouped into people, and any model (an adapter).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class Embedder(Protocol):
    """Turns pictures of people into vectors; the same person's lie close together."""

    def embed(self, crops: Sequence[np.ndarray]) -> np.ndarray:
        """One unit vector (float32, N x D) for each RGB crop (H, W, 3) of bytes, in their order; N may be 0."""
        ...


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """The rows of a matrix (N x D) at length 1, as float32; a row of zeros stays what it is."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
