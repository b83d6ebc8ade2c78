"""The perceptual hash of a page and the distance between two: what makes duplicate pages findable.

Whole numbers throughout, so that equal grey values give equal hashes on every machine.
"""

from __future__ import annotations

import cv2
import numpy as np

SIDE = 32
"""A page is hashed from a grey thumbnail of this many pixels a side."""

_KEPT = 8
_COSINES = np.round(np.cos(np.pi / SIDE * np.outer(np.arange(_KEPT), np.arange(SIDE) + 0.5)) * 2**14).astype(np.int64)


def thumbnail(grey: np.ndarray) -> np.ndarray:
    """Mean grey over a grid of 32 x 32 cells (uint8), whatever the picture's shape."""
    return cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA)


def phash(grey: np.ndarray) -> str:
    """64-bit perceptual hash of a grey thumbnail, as 16 hex digits.

    The lowest 8 x 8 frequencies of its cosine transform, each a bit: over their median or not (the mean brightness, the
    first of them, has no part in the median). Survives scaling, recompression and small changes of tone.
    """
    waves = (_COSINES @ grey.astype(np.int64) @ _COSINES.T).ravel()
    bits = waves > np.sort(waves[1:])[(waves.size - 1) // 2]
    return np.packbits(bits).tobytes().hex()


def hamming(a: str, b: str) -> int:
    """Bits in which two hashes differ: 0 for the same, about 32 for unrelated pages."""
    return (int(a, 16) ^ int(b, 16)).bit_count()
