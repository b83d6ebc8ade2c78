"""Faster R-CNN of Detectron2, by a configuration of its model zoo or of one's own, and weights.

Detectron2 is on no registry: it is built from its source (see docs/models.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import ModelMissingError
from resources.models.found import Classes, Found, Panels, Persons, as_found, class_numbers
from resources.models.libraries import batches, library, torch_device
from resources.models.torch_weights import fill, load_state
from resources.models.weights import weights_path, weights_source

R50_FPN_3X = "COCO-Detection/faster_rcnn_R_50_FPN_3x.yaml"
COCO_WEIGHTS = "detectron2_faster_rcnn_R_50_FPN_3x.pkl"
HOW_TO_INSTALL = (
    "It is on no registry. Build it from its source with setuptools<82: pip install --no-deps --no-build-isolation DIR, "
    "then pip install 'omegaconf>=2.4' fvcore iopath; without --no-deps it breaks Dagster's selections."
)


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """The adapter, the weights and the first digits of their sum."""
    return weights_source(adapter, options.get("weights", COCO_WEIGHTS), options.get("sha256", ""))


def persons(weights: str = COCO_WEIGHTS, *, classes: Classes | None = None, **settings: Any) -> Persons:
    """A person detector; settings as in `Detectron2Boxes`."""
    return Persons(Detectron2Boxes(weights, classes=classes or {"person": "person"}, **settings))


def panels(weights: str, *, names: Sequence[str], classes: Classes | None = None, **settings: Any) -> Panels:
    """A panel detector; settings as in `Detectron2Boxes`."""
    return Panels(Detectron2Boxes(weights, names=names, classes=classes or {"panel": "panel"}, **settings))


class Detectron2Boxes:
    """Finds things with a network of Detectron2; `config` is a name in its model zoo or the path of a YAML file.

    `names` are the network's classes in order; without any, those of the data set that the configuration was trained on.
    """

    def __init__(
        self,
        weights: str,
        sha256: str = "",
        *,
        classes: Classes,
        config: str = R50_FPN_3X,
        names: Sequence[str] | None = None,
        threshold: float = 0.3,
        device: str = "",
        batch_size: int = 4,
        file: str = "",
        cache: str = "",
    ) -> None:
        try:
            detectron2 = {name: library(f"detectron2.{name}") for name in ("config", "model_zoo", "data", "modeling")}
        except ModelMissingError as error:
            raise ModelMissingError("Detectron2 is not installed", remedy=HOW_TO_INSTALL) from error
        path = weights_path(weights, sha256, file=file, cache=cache)
        settings = detectron2["config"].get_cfg()
        is_own = Path(config).is_file()
        # A configuration is YAML without tags: the other way runs what a file says.
        settings.merge_from_file(
            config if is_own else detectron2["model_zoo"].get_config_file(config), allow_unsafe=False
        )
        settings.MODEL.DEVICE, settings.MODEL.WEIGHTS = torch_device(device), ""
        settings.MODEL.ROI_HEADS.SCORE_THRESH_TEST = threshold
        if names is not None:
            settings.MODEL.ROI_HEADS.NUM_CLASSES = len(names)
        known = names or detectron2["data"].MetadataCatalog.get(settings.DATASETS.TRAIN[0]).thing_classes
        self._words = class_numbers(classes, known)
        self._threshold, self._batch = threshold, batch_size
        self._is_bgr = settings.INPUT.FORMAT == "BGR"
        self._torch = library("torch")
        self._resize = library("detectron2.data.transforms").ResizeShortestEdge(
            [settings.INPUT.MIN_SIZE_TEST] * 2, settings.INPUT.MAX_SIZE_TEST
        )
        self._network = detectron2["modeling"].build_model(settings)
        # The mean and deviation of pixels come from the configuration, and only newer files hold them as well.
        fill(self._network, load_state(path), path, unused=("pixel_mean", "pixel_std", "proposal_generator.anchor"))
        self._network.eval()

    def find(self, images: Sequence[np.ndarray]) -> list[list[Found]]:
        """What each RGB picture shows."""
        return [found for batch in batches(images, self._batch) for found in self._find(batch)]

    def _find(self, images: list[np.ndarray]) -> Iterator[list[Found]]:
        inputs = [self._input(image) for image in images]
        with self._torch.inference_mode():
            outputs = self._network(inputs)
        for image, output in zip(images, outputs, strict=True):
            instances = output["instances"].to("cpu")
            yield as_found(
                instances.pred_boxes.tensor.numpy(),
                instances.scores.numpy(),
                instances.pred_classes.numpy(),
                self._words,
                image.shape[:2],
                self._threshold,
            )

    def _input(self, image: np.ndarray) -> dict[str, Any]:
        pixels = image[..., ::-1] if self._is_bgr else image
        resized = self._resize.get_transform(pixels).apply_image(np.ascontiguousarray(pixels))
        tensor = self._torch.from_numpy(np.ascontiguousarray(resized.transpose(2, 0, 1)).astype(np.float32))
        return {"image": tensor, "height": image.shape[0], "width": image.shape[1]}
