"""The text reader whose models ship in a wheel: `rapidocr` with PP-OCRv6 on onnxruntime, no network and no GPU.

What does not belong here: joining lines into textboxes (`pipelines.comics.text_boxes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipelines.comics.text_boxes import TextLine

SOURCE = "rapidocr/ppocr-v6-small@3.10"

DETECTION_SIDE = 1600
"""Longest side, in pixels, at which lines are looked for; they are read from the picture as it is given."""


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
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, images: Sequence[np.ndarray]) -> list[list[TextLine]]:
        """The lines of each RGB picture (H, W, 3) of bytes, in its pixels, in any order."""
        return [self._read(image) for image in images]

    def _read(self, image: np.ndarray) -> list[TextLine]:
        found: Any = self._engine(np.ascontiguousarray(image[..., ::-1]))
        if found.boxes is None:
            return []
        return [
            TextLine(tuple((float(x), float(y)) for x, y in polygon), text, float(score))
            for polygon, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        ]
