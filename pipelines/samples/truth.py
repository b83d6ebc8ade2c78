"""What is true of a drawn page, and the JSON that tells the pipeline so.

What does not belong here: reading annotations, which the comics pipeline does by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from pipelines.geometry import Box


@dataclass(frozen=True)
class PanelTruth:
    """One panel: its outline and bounding box in pixels, and what it shows, in words."""

    polygon: tuple[tuple[int, int], ...]
    box: Box
    caption: str


@dataclass(frozen=True)
class TextTruth:
    """One text as it is lettered; `panel` counts from 1 in reading order, None for texts outside panels."""

    box: Box
    text: str
    panel: int | None


@dataclass(frozen=True)
class PageTruth:
    """A page: its kind, the story it belongs to (from 1, None for none), panels and texts in reading order."""

    number: int
    width: int
    height: int
    kind: str
    story: int | None
    panels: tuple[PanelTruth, ...]
    texts: tuple[TextTruth, ...]


@dataclass(frozen=True)
class DrawnPage:
    """A drawn page, RGB, with its truth."""

    image: Image.Image
    truth: PageTruth


def annotation(book_id: str, pages: Sequence[PageTruth]) -> dict[str, object]:
    """A book's truth in the library's own annotation format, which covers every aspect of every page."""
    numbers: dict[int, list[int]] = {}
    for page in pages:
        if page.story is not None:
            numbers.setdefault(page.story, []).append(page.number)
    return {
        "storyloom_annotations": 1,
        "book": book_id,
        "stories": [{"first_page": min(run), "last_page": max(run)} for _, run in sorted(numbers.items())],
        "pages": [_page(page) for page in pages],
    }


def _page(page: PageTruth) -> dict[str, object]:
    return {
        "page": page.number,
        "width": page.width,
        "height": page.height,
        "kind": page.kind,
        "panels": [
            {"box": list(panel.box), "polygon": [list(point) for point in panel.polygon]} for panel in page.panels
        ],
        "texts": [_text(text) for text in page.texts],
        "captions": {str(number): panel.caption for number, panel in enumerate(page.panels, 1)},
    }


def _text(text: TextTruth) -> dict[str, object]:
    found: dict[str, object] = {"box": list(text.box), "text": text.text}
    return found if text.panel is None else found | {"panel": text.panel}
