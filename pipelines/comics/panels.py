"""Panels of a page: the detector that needs no weights, and the role that other detectors fill.

What does not belong here: the order in which panels are read, and the steps of the detector (`panel_*` beside).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from pipelines.comics import panel_background as background
from pipelines.comics.panel_background import PAD, is_lettering
from pipelines.comics.panel_layout import best_set, hypotheses
from pipelines.comics.panel_lines import upright_lines
from pipelines.comics.panel_remains import remaining_pictures
from pipelines.geometry import Box, polygon_box


@dataclass(frozen=True)
class Panel:
    """A panel in pixels of its page: its box, its outline, and how sure the detector is (0 to 1)."""

    box: Box
    polygon: tuple[tuple[int, int], ...]
    confidence: float


class PanelDetector(Protocol):
    """Finds the panels of pages."""

    def detect(self, images: Sequence[np.ndarray]) -> list[list[Panel]]:
        """The panels of each RGB picture (H, W, 3) of bytes, in pixels of that picture, in any order."""
        ...


def detect_panels(image: np.ndarray) -> list[Panel]:
    """The panels of an RGB page (H, W, 3) of bytes, in its pixels, in any order.

    Quadrilaterals whose sides are supported by gutters or frames, the heaviest set without conflicts, and what ink
    remains outside them.
    """
    height, width = image.shape[:2]
    small = background.resized(image)
    scale = (small.shape[1] / width, small.shape[0] / height)
    even, paper = background.paper_colour(small)
    sheet = background.masks(even, paper, scale)
    sides = (sheet.paper, sheet.outside, sheet.grey)
    turned = tuple(cv2.transpose(mask) for mask in sides)
    quads = hypotheses(*upright_lines(*sides), *upright_lines(*turned))
    chosen = quads.take(best_set(quads, sheet.paper.shape[:2]))
    # Only now: a caption that was chosen keeps larger hypotheses from reaching over it.
    chosen = chosen.take(np.flatnonzero([not is_lettering(small, corners - PAD) for corners in chosen.corners]))
    out = []
    for corners, support in zip(chosen.corners, chosen.support, strict=True):
        out.append(_panel((corners - PAD) / scale, width, height, support))
    for x0, y0, x1, y1 in remaining_pictures(sheet.paper, chosen.corners):
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
        if not is_lettering(small, corners - PAD):
            out.append(_panel((corners - PAD) / scale, width, height, 0.5))
    return [p for p in out if p.box.area]


def _panel(corners: np.ndarray, width: int, height: int, confidence: float) -> Panel:
    pts = np.clip(np.rint(corners), 0, [width, height]).astype(int)
    return Panel(
        polygon_box(pts.tolist()).clipped(width, height), tuple((int(x), int(y)) for x, y in pts), float(confidence)
    )
