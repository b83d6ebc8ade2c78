"""The stage that finds the panels of each page and numbers them in reading order.

What does not belong here: how panels are found (`panels`, or another detector) and how they are ordered
(`reading_order`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipelines.comics.annotations.payload import AnnotatedPanel, page_aspect
from pipelines.comics.page_pictures import decode
from pipelines.comics.panels import Panel, PanelDetector
from pipelines.comics.reading_order import reading_order
from pipelines.comics.stored_pages import page_images
from pipelines.errors import ItemError
from pipelines.geometry import box_polygon
from pipelines.identity import panel_id
from pipelines.stage import Dropped, Failure, Model, Row, ShardInputs, Stage

AT_LEAST = 1000
"""Pixels of width at which pages are looked at: under 850 thin gutters vanish, and more finds no more."""


@dataclass(frozen=True)
class DetectPanels(Stage):
    """The panels of a book's pages: a person's where there are any, else the detector's.

    A page on which there is no panel is left out with that reason; one that cannot be decoded is a failure.
    """

    name: ClassVar[str] = "detect_panels"
    version: ClassVar[int] = 2
    table: ClassVar[str] = "comic_panels"
    inputs: ClassVar[tuple[str, ...]] = ("comic_books", "comic_pages", "comic_annotations")
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {"comic_books": ("right_to_left",)}

    detector: Model[PanelDetector]

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the panels page by page, in reading order."""
        right_to_left = any(inputs.table("comic_books", ["right_to_left"])["right_to_left"].to_pylist())
        marked: dict[str, list[AnnotatedPanel]] = page_aspect(inputs.table("comic_annotations"), "panels")
        columns = ["page_id", "book_id", "page_number", "width", "height"]
        pages = inputs.table("comic_pages", columns).to_pylist()
        pictures = page_images(inputs, {page["page_id"] for page in pages} - marked.keys())
        for page in pages:
            if page["page_id"] in marked:
                panels = [Panel(p.box, p.polygon, 1.0) for p in marked[page["page_id"]]]
                source = "human"
            else:
                found = self._detect(page, next(pictures)[1])
                if isinstance(found, Failure):
                    yield found
                    continue
                order = reading_order([p.box for p in found], right_to_left=right_to_left)
                panels, source = [found[i] for i in order], self.detector.source
            if not panels:
                yield Dropped(page["page_id"], f"no panel on the page, says {source}")
            for number, panel in enumerate(panels, start=1):
                yield _row(page, number, panel, source)

    def _detect(self, page: Row, data: bytes) -> list[Panel] | Failure:
        try:
            picture = decode(data, at_least=AT_LEAST)
        except ItemError as error:
            return Failure.of(page["page_id"], error)
        (panels,) = self.detector.load().detect([picture])
        return _on_page(panels, picture, page["width"], page["height"])


def _on_page(panels: Sequence[Panel], picture: np.ndarray, width: int, height: int) -> list[Panel]:
    """Panels of a picture that was decoded smaller, in pixels of the page and inside it; empty ones are left out."""
    fx, fy = width / picture.shape[1], height / picture.shape[0]
    found = []
    for panel in panels:
        box = panel.box.scaled(fx, fy).clipped(width, height)
        points = ((min(round(x * fx), width), min(round(y * fy), height)) for x, y in panel.polygon)
        if box.area:
            found.append(Panel(box, tuple(points), panel.confidence))
    return found


def _row(page: Row, number: int, panel: Panel, source: str) -> Row:
    return {
        "panel_id": panel_id(page["page_id"], number),
        "page_id": page["page_id"],
        "book_id": page["book_id"],
        "page_number": page["page_number"],
        "reading_order": number,
        **panel.box._asdict(),
        "polygon": [list(point) for point in panel.polygon] or box_polygon(panel.box),
        "confidence": panel.confidence,
        "source": source,
    }
