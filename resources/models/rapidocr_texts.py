"""The text reader whose models ship in a wheel: `rapidocr` with PP-OCRv6 on onnxruntime, no network and no GPU.

What does not belong here: joining lines into textboxes (`pipelines.comics.text_boxes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from pipelines.comics.text_boxes import TextLine
from pipelines.errors import ItemError

SOURCE = "rapidocr/ppocr-v6-small@3.10.0"

DETECTION_SIDE = 1600
"""Longest side, in pixels, at which lines are looked for; they are read from the picture as it is given."""

END = 0.1
"""How far a line is read beyond both of its ends, in line heights: the detector cuts thin letters and full stops off."""


class RapidOcrTexts:
    """`pipelines.comics.texts.TextReader` by rapidocr; one thread, since the engine runs one process for each core."""

    def __init__(self, detection_side: int = DETECTION_SIDE) -> None:
        from rapidocr import RapidOCR

        # Crops are never turned: lettering that stands on its head does not occur, and asking costs time a line.
        # What is read with little confidence is returned as well: the caller drops it and says so.
        self._engine = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.text_score": 0.0,
                "Global.max_side_len": 100_000,
                "Det.limit_type": "max",
                "Det.limit_side_len": detection_side,
                # Dilation makes one line of two where they are set as closely as in balloons.
                "Det.use_dilation": False,
                "Det.thresh": 0.4,
                # Wide enough that the boxes hold the lettering whole: what is drawn anew must first be cleared.
                "Det.unclip_ratio": 2.2,
                # One line at a time, no wider than it is: in a batch all are padded to the widest, which costs a third more.
                "Rec.rec_batch_num": 1,
                "Rec.rec_img_shape": [3, 48, 96],
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, images: Sequence[np.ndarray]) -> list[list[TextLine]]:
        """The lines of each RGB picture (H, W, 3) of bytes, in its pixels, in any order."""
        return [self._read(image) for image in images]

    def _read(self, image: np.ndarray) -> list[TextLine]:
        picture = np.ascontiguousarray(image[..., ::-1])
        try:
            found: Any = self._engine(picture, use_det=True, use_rec=False)
            boxes = found.boxes
            if boxes is None:
                return []
            crops = self._engine.crop_text_regions(picture, np.stack([_lengthened(box) for box in boxes]))
            read: Any = self._engine.recognize_txt(crops)
        except (RuntimeError, ValueError, cv2.error) as error:
            raise ItemError("unreadable", f"The text reader failed on a picture of {image.shape}: {error}") from error
        return [
            TextLine(tuple((float(x), float(y)) for x, y in box), text, float(score))
            for box, text, score in zip(boxes, read.txts, read.scores, strict=True)
            if text.strip()
        ]


def _lengthened(corners: np.ndarray) -> np.ndarray:
    """The corners of a line with both ends moved out, so that a first `I` and a last full stop are in the picture."""
    reach = END * np.linalg.norm(corners[3] - corners[0])
    along = corners[1] - corners[0]
    step = along / max(float(np.linalg.norm(along)), 1.0) * reach
    return (corners + np.array([-step, step, step, -step])).astype(np.float32)
