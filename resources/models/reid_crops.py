"""Crops of people as re-identification networks see them, the same for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


def network_input(crops: Sequence[np.ndarray], height: int, width: int) -> np.ndarray:
    """RGB crops (H, W, 3) of bytes as N x 3 x height x width, float32, by ImageNet's mean and deviation."""
    size = (width, height)
    pixels = [np.asarray(Image.fromarray(crop).resize(size, Image.Resampling.BILINEAR), np.float32) for crop in crops]
    return np.ascontiguousarray(((np.stack(pixels) / 255 - _MEAN) / _DEVIATION).transpose(0, 3, 1, 2))
