"""Faster R-CNN of torchvision: the twin of Detectron2's network that can be installed everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from resources.models.found import Classes, Found, Panels, Persons, as_found, class_numbers
from resources.models.libraries import batches, library, torch_device
from resources.models.torch_weights import fill, load_state
from resources.models.weights import weights_path, weights_source

COCO_WEIGHTS = "fasterrcnn_resnet50_fpn_coco-258fb6c6.pth"


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", COCO_WEIGHTS), options.get("sha256", ""))


def persons(weights: str = COCO_WEIGHTS, *, classes: Classes | None = None, **settings: Any) -> Persons:
    """A person detector; settings as in `TorchvisionBoxes`."""
    return Persons(TorchvisionBoxes(weights, classes=classes or {"person": "person"}, **settings))


def panels(weights: str, *, names: Sequence[str], classes: Classes | None = None, **settings: Any) -> Panels:
    """A panel detector; settings as in `TorchvisionBoxes`."""
    return Panels(TorchvisionBoxes(weights, names=names, classes=classes or {"panel": "panel"}, **settings))


class TorchvisionBoxes:
    """Finds things with a Faster R-CNN of torchvision, by the name of its builder in `torchvision.models.detection`.

    `names` are the network's classes without the background; COCO's, with the gaps in their numbers, without any.
    A picture's shorter side is brought to `side` pixels, its longer one to at most 5/3 of that.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Classes,
        network: str = "fasterrcnn_resnet50_fpn",
        names: Sequence[str] | None = None,
        threshold: float = 0.3,
        side: int = 800,
        device: str = "",
        batch_size: int = 4,
        file: str = "",
        cache: str = "",
    ) -> None:
        path = weights_path(weights, sha256, file=file, cache=cache)
        detection = library("torchvision.models.detection")
        known = detection.FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"]
        labels = known if names is None else ["__background__", *names]
        self._words = class_numbers(classes, labels)
        self._threshold, self._batch, self._device = threshold, batch_size, torch_device(device)
        self._torch = library("torch")
        self._network = getattr(detection, network)(
            weights=None,
            weights_backbone=None,
            num_classes=len(labels),
            box_score_thresh=min(threshold, 0.05),
            min_size=side,
            max_size=side * 5 // 3,
        )
        fill(self._network, load_state(path), path)
        self._network.eval().to(self._device)

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        tensors = [self._tensor(image) for image in images]
        with self._torch.inference_mode():
            outputs = self._network(tensors)
        for image, output in zip(images, outputs, strict=True):
            boxes, scores, labels = (output[key].cpu().numpy() for key in ("boxes", "scores", "labels"))
            yield as_found(boxes, scores, labels, self._words, image.shape[:2], self._threshold)

    def _tensor(self, image: np.ndarray) -> Any:
        pixels = self._torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))).to(self._device)
        return pixels.float() / 255
