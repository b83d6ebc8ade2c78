"""What each panel's picture looks like in numbers: to tell panels apart, and to find what gives an answer away.

What does not belong here: the use of the numbers (`pick_a_panel.audit`, `pick_a_panel.distractors`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import cv2
import numpy as np

from pipelines.comics.page_hash import phash, thumbnail
from pipelines.comics.page_pictures import decode
from pipelines.comics.stored_pages import page_images
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.jpeg import encode_jpeg
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage

SOURCE = "storyloom/panel-features@1"
_AT_LEAST = 1000
"""Pixels of width at which pages are looked at."""
_BINS = 4
_QUALITY = 90


@dataclass(frozen=True)
class PanelFeatures(Stage):
    """The features of each panel, in the order of `comic_panels`; a page that cannot be decoded is one failure."""

    name: ClassVar[str] = "panel_features"
    version: ClassVar[int] = 1
    table: ClassVar[str] = "comic_panel_features"
    inputs: ClassVar[tuple[str, ...]] = ("comic_pages", "comic_panels")

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the features page by page: each page is decoded once, at reduced size."""
        columns = ["panel_id", "page_id", "book_id", "page_number", "x", "y", "w", "h"]
        by_page: defaultdict[str, list[Row]] = defaultdict(list)
        for panel in inputs.table("comic_panels", columns).to_pylist():
            by_page[panel["page_id"]].append(panel)
        sizes = {row["page_id"]: row for row in inputs.table("comic_pages", ["page_id", "width", "height"]).to_pylist()}
        for page_id, data in page_images(inputs, by_page.keys() & sizes.keys()):
            try:
                picture = decode(data, at_least=_AT_LEAST)
            except ItemError as error:
                yield Failure.of(page_id, error)
                continue
            fx, fy = picture.shape[1] / sizes[page_id]["width"], picture.shape[0] / sizes[page_id]["height"]
            for panel in by_page[page_id]:
                box = Box(panel["x"], panel["y"], panel["w"], panel["h"]).scaled(fx, fy)
                box = box.clipped(picture.shape[1], picture.shape[0])
                if not box.area:
                    yield Failure(panel["panel_id"], "empty_panel", "The panel's box holds no pixel of its page.")
                    continue
                crop = picture[box.y : box.bottom, box.x : box.right]
                names = ("panel_id", "page_id", "book_id", "page_number")
                yield {n: panel[n] for n in names} | features(crop) | {"source": SOURCE}


def features(crop: np.ndarray) -> Row:
    """The features of a panel's picture (RGB uint8, h x w x 3): columns of `comic_panel_features`."""
    grey = _grey(crop)
    return {
        "phash": phash(thumbnail(grey)),
        "contrast": float(grey.std()),
        "sharpness": _sharpness(grey),
        "edge_density": _edge_density(grey),
        "jpeg_bytes": len(encode_jpeg(crop, _QUALITY)),
        "colours": _histogram(crop),
    }


def _grey(crop: np.ndarray) -> np.ndarray:
    return np.asarray(cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY))


def _sharpness(grey: np.ndarray) -> float:
    """Variance of the Laplacian: low in blurred pictures."""
    return float(np.asarray(cv2.Laplacian(grey, cv2.CV_32F)).var())


def _edge_density(grey: np.ndarray) -> float:
    return float((np.asarray(cv2.Canny(grey, 80, 160)) > 0).mean())


def _histogram(crop: np.ndarray) -> list[float]:
    """Shares of the pixels in a grid of 4 x 4 x 4 colours (RGB)."""
    bins = (crop >> 6).reshape(-1, 3).astype(np.int64)
    counts = np.bincount(bins[:, 0] * 16 + bins[:, 1] * 4 + bins[:, 2], minlength=_BINS**3)
    return (counts / counts.sum()).astype(np.float32).tolist()
