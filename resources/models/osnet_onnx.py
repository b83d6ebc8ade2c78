"""OSNet and its like as ONNX files, on onnxruntime: vectors of people without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.videos.embeddings import unit_rows
from resources.models.libraries import batches, onnx_session
from resources.models.reid_crops import network_input
from resources.models.weights import weights_path, weights_source


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, str(options.get("weights", "")), options.get("sha256", ""))


class OsnetOnnx:
    """`pipelines.videos.embeddings.Embedder` by a network N x 3 x H x W (RGB as ImageNet has it) to N x D."""

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        device: str = "",
        batch_size: int = 32,
        threads: int = 1,
        file: str = "",
        cache: str = "",
    ) -> None:
        self._session = onnx_session(weights_path(weights, sha256, file=file, cache=cache), device, threads)
        (entry,) = self._session.get_inputs()
        fixed, _, height, width = entry.shape
        self._input = entry.name
        self._height = height if isinstance(height, int) else 256
        self._width = width if isinstance(width, int) else 128
        self._batch, self._is_fixed = (fixed, True) if isinstance(fixed, int) else (batch_size, False)
        last = self._session.get_outputs()[0].shape[-1]
        self._length = last if isinstance(last, int) else 512

    def embed(self, crops: Sequence[np.ndarray]) -> np.ndarray:
        """One unit vector for each RGB crop."""
        rows = [np.zeros((0, self._length), np.float32)]
        for batch in batches(crops, self._batch):
            inputs = network_input(batch, self._height, self._width)
            if self._is_fixed and len(batch) < self._batch:
                inputs = np.concatenate([inputs, np.repeat(inputs[-1:], self._batch - len(batch), axis=0)])
            (output,) = self._session.run(None, {self._input: inputs})
            rows.append(output[: len(batch)])
        return unit_rows(np.concatenate(rows))
