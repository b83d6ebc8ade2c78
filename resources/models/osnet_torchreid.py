"""OSNet of torchreid: vectors of people, 512 numbers each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.errors import SettingsError
from pipelines.videos.embeddings import unit_rows
from resources.models.libraries import batches, library, torch_device
from resources.models.reid_crops import network_input
from resources.models.torch_weights import fill, load_state
from resources.models.weights import weights_path, weights_source

X1_0 = "osnet_x1_0_msmt17.pth"
_HEIGHT, _WIDTH, _LENGTH = 256, 128, 512


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", X1_0), options.get("sha256", ""))


class OsnetTorchreid:
    """`pipelines.videos.embeddings.Embedder` by a network of torchreid's OSNet family, by the name it has there."""

    def __init__(
        self,
        weights: str = X1_0,
        sha256: str = "",
        *,
        network: str = "osnet_x1_0",
        device: str = "",
        batch_size: int = 32,
        file: str = "",
        cache: str = "",
    ) -> None:
        path = weights_path(weights, sha256, file=file, cache=cache)
        build = getattr(library("torchreid.reid.models.osnet"), network, None)
        if not network.startswith("osnet_") or build is None:
            raise SettingsError(f"torchreid has no network {network}", remedy="osnet_x1_0 is the paper's.")
        self._torch, self._batch, self._device = library("torch"), batch_size, torch_device(device)
        # Built by hand: torchreid's own extractor downloads what it does not find, and unpickles what it does.
        self._network = build(num_classes=1, pretrained=False)
        # The classifier is for the people of the training data; vectors are what stands before it.
        fill(self._network, load_state(path), path, unused=("classifier.",))
        self._network.eval().to(self._device)

    def embed(self, crops: Sequence[np.ndarray]) -> np.ndarray:
        """One unit vector for each RGB crop."""
        rows = [np.zeros((0, _LENGTH), np.float32)]
        for batch in batches(crops, self._batch):
            inputs = self._torch.from_numpy(network_input(batch, _HEIGHT, _WIDTH)).to(self._device)
            with self._torch.inference_mode():
                rows.append(self._network(inputs).float().cpu().numpy())
        return unit_rows(np.concatenate(rows))
