"""Detectors of the YOLOX family as ONNX files, on onnxruntime: people in frames, or panels with weights of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from pipelines.errors import SettingsError
from resources.models.found import COCO, Classes, Found, Panels, Persons, as_found, class_numbers, without_doubles
from resources.models.libraries import batches, onnx_session
from resources.models.weights import weights_path, weights_source

_GREY = 114
"""What YOLOX pads pictures with."""
_STRIDES = (8, 16, 32)
NANO = "yolox_nano.onnx"


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", NANO), options.get("sha256", ""))


def persons(weights: str = NANO, *, classes: Classes | None = None, **settings: Any) -> Persons:
    """A person detector; settings as in `YoloxBoxes`."""
    return Persons(YoloxBoxes(weights, classes=classes or {"person": "person"}, **settings))


def panels(weights: str, *, names: Sequence[str], classes: Classes | None = None, **settings: Any) -> Panels:
    """A panel detector; settings as in `YoloxBoxes`."""
    return Panels(YoloxBoxes(weights, names=names, classes=classes or {"panel": "panel"}, **settings))


class YoloxBoxes:
    """Finds things with an exported YOLOX network: N x 3 x H x W, BGR from 0 to 255, to N x anchors x (5 + classes).

    The anchors are not decoded yet, as its exporter leaves them. `names` are the network's classes, COCO's without any.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Classes,
        names: Sequence[str] = COCO,
        threshold: float = 0.3,
        same: float = 0.45,
        device: str = "",
        batch_size: int = 8,
        threads: int = 1,
        file: str = "",
        cache: str = "",
    ) -> None:
        self._words = class_numbers(classes, names)
        self._threshold, self._same = threshold, same
        path = weights_path(weights, sha256, file=file, cache=cache)
        self._session = onnx_session(path, device, threads)
        (entry,) = self._session.get_inputs()
        fixed, _, height, width = entry.shape
        if not isinstance(height, int) or not isinstance(width, int):
            raise SettingsError("the network's input has no fixed height and width", where=str(path))
        self._input, self._size = entry.name, (height, width)
        self._batch = fixed if isinstance(fixed, int) else batch_size
        self._grid, self._step = _anchors(height, width)
        if self._session.get_outputs()[0].shape[-1] not in (5 + len(names), None):
            raise SettingsError(f"the network has other classes than the {len(names)} names", where=str(path))

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        fitted = [_letterboxed(image, self._size) for image in images]
        # A network for batches of one size gets the last picture again in the places that are left.
        inputs = np.stack([pixels for pixels, _ in fitted] + [fitted[-1][0]] * (self._batch - len(images)))
        (output,) = self._session.run(None, {self._input: inputs})
        for image, (_, scale), raw in zip(images, fitted, output, strict=False):
            centres = (raw[:, :2] + self._grid) * self._step
            halves = np.exp(np.minimum(raw[:, 2:4], 20)) * self._step / 2
            corners = np.hstack([centres - halves, centres + halves]) / scale
            # All classes count: a thing is what the network is surest of, and other things are left out.
            labels = raw[:, 5:].argmax(axis=1)
            scores = raw[:, 4] * raw[:, 5:].max(axis=1)
            sure = scores >= self._threshold
            found = as_found(
                corners[sure], scores[sure], labels[sure], self._words, image.shape[:2], self._threshold
            )  # fmt: skip
            yield without_doubles(found, self._same)


def _letterboxed(image: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, float]:
    """An RGB picture as the network wants it (3 x H x W, BGR, float32) at the top left, and how much smaller it is."""
    height, width = size
    scale = min(height / image.shape[0], width / image.shape[1])
    new = max(round(image.shape[1] * scale), 1), max(round(image.shape[0] * scale), 1)
    fitted = np.full((height, width, 3), _GREY, np.uint8)
    fitted[: new[1], : new[0]] = cv2.resize(image, new, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(fitted[..., ::-1].transpose(2, 0, 1), np.float32), scale


def _anchors(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The cells (anchors x 2) of all strides, row by row, and the stride of each (anchors x 1)."""
    cells, steps = [], []
    for stride in _STRIDES:
        rows, columns = height // stride, width // stride
        ys, xs = np.mgrid[:rows, :columns]
        cells.append(np.stack([xs.ravel(), ys.ravel()], axis=1))
        steps.append(np.full((rows * columns, 1), stride))
    return np.concatenate(cells).astype(np.float32), np.concatenate(steps).astype(np.float32)
