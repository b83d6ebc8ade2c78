"""OWLv2, which finds what words describe, by `transformers`: people in frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from resources.models.found import Found, Persons, as_found, without_doubles
from resources.models.libraries import batches, library, torch_device
from resources.models.weights import weights_path, weights_source

BASE = "owlv2-base-patch16-ensemble"


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", BASE), options.get("sha256", ""))


def persons(weights: str = BASE, *, classes: Mapping[str, str] | None = None, **settings: Any) -> Persons:
    """A person detector; settings as in `OwlV2Boxes`."""
    return Persons(OwlV2Boxes(weights, classes=classes or {"person": "a photo of a person"}, **settings))


class OwlV2Boxes:
    """Finds what `classes` describe, each of our words by a phrase; `weights` is a folder as the hub has it.

    The network sees a picture padded to a square below and to the right, and says one box for each patch, so boxes of one
    thing are many: of those with an IoU above `same` the surest is kept.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Mapping[str, str],
        threshold: float = 0.3,
        same: float = 0.5,
        device: str = "",
        batch_size: int = 4,
        file: str = "",
        cache: str = "",
    ) -> None:
        path = weights_path(weights, sha256, file=file, cache=cache)
        transformers = library("transformers")
        self._torch = library("torch")
        self._words = dict(enumerate(classes))
        self._phrases = list(classes.values())
        self._threshold, self._same, self._batch = threshold, same, batch_size
        self._device = torch_device(device)
        self._processor = transformers.Owlv2Processor.from_pretrained(path, local_files_only=True)
        self._network = transformers.Owlv2ForObjectDetection.from_pretrained(
            path, local_files_only=True, use_safetensors=True
        )
        self._network.eval().to(self._device)

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        inputs = self._processor(
            text=[self._phrases] * len(images), images=images, input_data_format="channels_last", return_tensors="pt"
        ).to(self._device)
        with self._torch.inference_mode():
            output = self._network(**inputs)
        best = output.logits.float().sigmoid().max(dim=-1)
        scores, labels = best.values.cpu().numpy(), best.indices.cpu().numpy()
        for image, score, label, boxes in zip(
            images, scores, labels, output.pred_boxes.float().cpu().numpy(), strict=True
        ):
            centres, halves = boxes[:, :2], boxes[:, 2:] / 2
            corners = np.hstack([centres - halves, centres + halves]) * max(image.shape[:2])
            found = as_found(corners, score, label, self._words, image.shape[:2], self._threshold)
            yield without_doubles(found, self._same)
