"""The panel detector that needs no weights: OpenCV on gutters and frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipelines.comics.panels import Panel, detect_panels

SOURCE = "opencv/gutters@3"


class OpenCvPanels:
    """`pipelines.comics.panels.PanelDetector` by `detect_panels`."""

    def detect(self, images: Sequence[np.ndarray]) -> list[list[Panel]]:
        """The panels of each RGB picture, in its pixels."""
        return [detect_panels(image) for image in images]
