"""The text reader whose models ship in a wheel: `rapidocr` with PP-OCRv6 on onnxruntime, no network and no GPU.

What does not belong here: joining lines into textboxes (`pipelines.comics.text_boxes`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from pipelines.comics.text_boxes import TextLine
from pipelines.errors import ItemError
from pipelines.geometry import intersection, polygon_box

SOURCE = "rapidocr/ppocr-v6-small@3.10.0"

DETECTION_SIDE = 1600
"""Longest side, in pixels, at which lines are looked for; they are read from the picture as it is given."""

END = 0.1
"""How far a line is read beyond both of its ends, in line heights: the detector cuts thin letters and full stops off."""
SQUEEZE = 0.75
"""Lines are read at this share of their width: a quarter of the time saved, and comics' wide lettering is read no worse."""
SCROLL = 2.5
"""A page that is more than this many times as high as wide is a scroll."""
BANNER = 8
"""One that is more than this many times as wide as high is one too; the library pads it to an eighth of its width."""
PIECE = 300
"""Pieces of a long picture are at least this long, or a narrow one would fall into thousands."""
FLAT = 12
"""Pixels; what is lower or narrower than this holds no lettering that could be read."""
UNREAD = 0.7
"""A region that is read with less confidence than this may be several lines."""
THICK = 1.5
"""... where it is this many times as high as the page's lines are."""


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
                "Det.box_thresh": 0.4,
                # One line at a time, no wider than it is: in a batch all are padded to the widest, which costs a third more.
                "Rec.rec_batch_num": 1,
                "Rec.rec_img_shape": [3, 48, 96],
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, images: Sequence[np.ndarray]) -> list[list[TextLine] | ItemError]:
        """The lines of each RGB picture (H, W, 3) of bytes, in its pixels, in any order; an error where it fails."""
        return [self._read(image) for image in images]

    def _read(self, image: np.ndarray) -> list[TextLine] | ItemError:
        picture = np.ascontiguousarray(image[..., ::-1])
        try:
            lines = self._strips(picture)
            usual = float(np.median([_height(line) for line in lines])) if lines else 0.0
            for line in [line for line in lines if line.confidence < UNREAD and _height(line) > THICK * usual]:
                lines += [part for part in self._closer(picture, line) if not _known(part, lines)]
        except (RuntimeError, ValueError, cv2.error) as error:
            kind = "out_of_memory" if "memory" in str(error) else "reader_failed"
            return ItemError(kind, f"The text reader failed on a picture of {image.shape}: {error}")
        return [line for line in lines if line.text.strip()]

    def _strips(self, picture: np.ndarray) -> list[TextLine]:
        """The lines of a BGR picture; a long one is looked at in pieces, or its lettering would be too small to find."""
        height, width = picture.shape[:2]
        if height > max(SCROLL * width, PIECE):
            return self._pieces(picture, 0, max(SCROLL / 2 * width, PIECE), width // 4)
        if width > max(BANNER * height, PIECE):
            # Lines run along the cut picture here: an overlap as wide as the picture is high keeps them whole.
            return self._pieces(picture, 1, max(BANNER / 2 * height, PIECE), height)
        return self._lines(picture)

    def _pieces(self, picture: np.ndarray, axis: int, length: float, overlap: int) -> list[TextLine]:
        """The lines of a picture that is cut across an axis (0: from top to bottom, 1: from left to right).

        Pieces overlap, and a line counts in the one that its middle lies nearer to the middle of, so none is cut or doubled.
        """
        whole = picture.shape[axis]
        pieces = math.ceil(whole / length)
        edges = [round(i * whole / pieces) for i in range(pieces + 1)]
        lines = []
        for first, last in itertools.pairwise(edges):
            start = max(first - overlap, 0)
            part = picture[start : last + overlap] if axis == 0 else picture[:, start : last + overlap]
            for line in self._lines(np.ascontiguousarray(part)):
                polygon = tuple((x, y + start) if axis == 0 else (x + start, y) for x, y in line.polygon)
                if first <= sum(point[1 - axis] for point in polygon) / len(polygon) < last:
                    lines.append(TextLine(polygon, line.text, line.confidence))
        return lines

    def _lines(self, picture: np.ndarray) -> list[TextLine]:
        """The lines of a BGR picture; none in one that is too flat for letters, which the library would blow up."""
        if min(picture.shape[:2]) < FLAT:
            return []
        found: Any = self._engine(picture, use_det=True, use_rec=False)
        return [] if found.boxes is None else self._recognise(picture, list(found.boxes))

    def _closer(self, picture: np.ndarray, line: TextLine) -> list[TextLine]:
        """The lines in the region of one, looked at twice as large: lines that nearly touch are found as one otherwise."""
        box = polygon_box(line.polygon).clipped(picture.shape[1], picture.shape[0])
        if not box.area:
            return []
        part = picture[box.y : box.bottom, box.x : box.right]
        lines = self._lines(cv2.resize(part, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC))
        return [
            TextLine(tuple((x / 2 + box.x, y / 2 + box.y) for x, y in found.polygon), found.text, found.confidence)
            for found in lines
        ]

    def _recognise(self, picture: np.ndarray, boxes: list[np.ndarray]) -> list[TextLine]:
        """What stands in each of these corners (4 x 2) of a BGR picture."""
        crops = self._engine.crop_text_regions(picture, np.stack([_lengthened(box) for box in boxes]))
        read: Any = self._engine.recognize_txt([_squeezed(crop) for crop in crops])
        return [
            TextLine(_polygon(box), text, float(score))
            for box, text, score in zip(boxes, read.txts, read.scores, strict=True)
        ]


def _polygon(corners: np.ndarray) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in corners)


def _height(line: TextLine) -> float:
    return float(np.linalg.norm(np.subtract(line.polygon[3], line.polygon[0])))


def _known(line: TextLine, lines: list[TextLine]) -> bool:
    """Whether a line was read before: half of it lies in one that was read well."""
    box = polygon_box(line.polygon)
    read = (polygon_box(other.polygon) for other in lines if other.confidence >= UNREAD)
    return any(intersection(box, other) > box.area / 2 for other in read)


def _squeezed(crop: np.ndarray) -> np.ndarray:
    height, width = crop.shape[:2]
    return np.asarray(cv2.resize(crop, (max(round(width * SQUEEZE), 1), height), interpolation=cv2.INTER_AREA))


def _lengthened(corners: np.ndarray) -> np.ndarray:
    """The corners of a line with both ends moved out, so that a first `I` and a last full stop are in the picture."""
    reach = END * np.linalg.norm(corners[3] - corners[0])
    along = corners[1] - corners[0]
    step = along / max(float(np.linalg.norm(along)), 1.0) * reach
    return (corners + np.array([-step, step, step, -step])).astype(np.float32)
