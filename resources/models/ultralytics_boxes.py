"""YOLO weights of ultralytics, one's own for panels among them. Its licence is AGPL-3.0: it binds what is built with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipelines.errors import SettingsError
from resources.models.found import Classes, Found, Panels, Persons, as_found, class_numbers
from resources.models.libraries import batches, library, same_threads, torch_device
from resources.models.weights import default_cache, weights_path, weights_source


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, str(options.get("weights", "")), options.get("sha256", ""))


def persons(weights: str, *, classes: Classes | None = None, **settings: Any) -> Persons:
    """A person detector; settings as in `UltralyticsBoxes`."""
    return Persons(UltralyticsBoxes(weights, classes=classes or {"person": "person"}, **settings))


def panels(weights: str, *, classes: Classes | None = None, **settings: Any) -> Panels:
    """A panel detector; settings as in `UltralyticsBoxes`."""
    return Panels(UltralyticsBoxes(weights, classes=classes or {"panel": "panel"}, **settings))


class UltralyticsBoxes:
    """Finds things with YOLO weights (`.pt`), whose classes the file names. Nothing else in the file is run.

    `side` is the square that pictures are fitted into, in pixels.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Classes,
        threshold: float = 0.3,
        same: float = 0.7,
        side: int = 640,
        device: str = "",
        batch_size: int = 8,
        file: str = "",
        cache: str = "",
    ) -> None:
        path = weights_path(weights, sha256, file=file, cache=cache)
        # Before its import: no telemetry, no packages of its own accord, no folder in the user's home.
        os.environ.setdefault("YOLO_OFFLINE", "1")
        os.environ.setdefault("YOLO_AUTOINSTALL", "false")
        os.environ.setdefault("YOLO_VERBOSE", "false")
        os.environ.setdefault("YOLO_CONFIG_DIR", str(default_cache() / "ultralytics"))
        with same_threads():
            # Its import and its choice of a device set the processor's threads as well.
            ultralytics, tasks = library("ultralytics"), library("ultralytics.nn.tasks")
            if not hasattr(tasks, "SAFE_LOAD"):
                raise SettingsError(
                    "this ultralytics runs what a file of weights says", remedy="Install 8.4.190 or newer."
                )
            tasks.SAFE_LOAD = True
            try:
                self._model = ultralytics.YOLO(str(path), task="detect")
            except (TypeError, RuntimeError, NotImplementedError) as error:
                raise SettingsError(f"the weights cannot be read: {error}", where=str(path)) from error
        names = [name for _, name in sorted(self._model.names.items())]
        self._words = class_numbers(classes, names)
        self._settings = {
            "conf": threshold,
            "iou": same,
            "imgsz": side,
            # Always the same square: fitted to the batch, a picture's boxes would hang on its neighbours.
            "rect": False,
            "device": torch_device(device),
            "verbose": False,
            "save": False,
        }
        self._threshold, self._batch = threshold, batch_size

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        pictures = [np.ascontiguousarray(image[..., ::-1]) for image in images]
        with same_threads():
            results = self._model.predict(pictures, batch=len(pictures), **self._settings)
        for image, result in zip(images, results, strict=True):
            boxes = result.boxes.cpu().numpy()
            yield as_found(boxes.xyxy, boxes.conf, boxes.cls, self._words, image.shape[:2], self._threshold)
