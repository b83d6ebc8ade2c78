"""Magi, the manga models of ragavsachdeva, by `transformers`: panels.

Their network is code that lies beside the weights. It is run only where the profile says `remote_code: true`, and its files
are then part of the sum that is checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from pipelines.errors import SettingsError
from resources.models.found import Found, Panels, as_found
from resources.models.libraries import batches, library, torch_device
from resources.models.weights import weights_path, weights_source

V2 = "magiv2"
_KINDS = {"panel": "panels", "text": "texts", "character": "characters"}
"""What Magi calls the boxes that it returns, by its class."""


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", V2), options.get("sha256", ""))


def panels(weights: str = V2, *, classes: Mapping[str, str] | None = None, **settings: Any) -> Panels:
    """A panel detector; settings as in `MagiBoxes`."""
    return Panels(MagiBoxes(weights, classes=classes or {"panel": "panel"}, **settings))


class MagiBoxes:
    """Finds panels, texts and characters; `weights` is a folder as the hub has it. Magi says no confidence: it is 1.

    `thresholds` are passed on by Magi's own names, such as `panel_detection_threshold`.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Mapping[str, str],
        remote_code: bool = False,
        thresholds: Mapping[str, float] | None = None,
        device: str = "",
        batch_size: int = 2,
        file: str = "",
        cache: str = "",
    ) -> None:
        unknown = sorted(set(classes.values()) - set(_KINDS))
        if unknown:
            raise SettingsError(f"Magi has no class {unknown[0]}", remedy=f"It has {', '.join(_KINDS)}.")
        path = weights_path(weights, sha256, file=file, cache=cache)
        if "auto_map" in json.loads((path / "config.json").read_text("utf-8")) and not remote_code:
            raise SettingsError(
                "this model runs code that comes with its weights",
                where=str(path),
                remedy="Read that code; if you trust it, say `remote_code: true` in the model's options.",
            )
        self._kinds = [(word, _KINDS[theirs]) for word, theirs in classes.items()]
        self._batch, self._thresholds = batch_size, dict(thresholds or {})
        self._torch = library("torch")
        self._network = library("transformers").AutoModel.from_pretrained(
            path, trust_remote_code=remote_code, local_files_only=True, use_safetensors=True
        )
        self._network.eval().to(torch_device(device))

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows; Magi sees it in grey."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        grey = [cv2.cvtColor(cv2.cvtColor(i, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB) for i in images]
        with self._torch.inference_mode():
            results = self._network.predict_detections_and_associations(grey, **self._thresholds)
        for image, result in zip(images, results, strict=True):
            found = []
            for word, key in self._kinds:
                boxes = np.asarray(result[key], float).reshape(-1, 4)
                found += as_found(boxes, np.ones(len(boxes)), np.zeros(len(boxes)), {0: word}, image.shape[:2], 0.0)
            yield found
