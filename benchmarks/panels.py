"""Panels of the embedded detector against truth: real pages where there are any, pages drawn here, and both spoilt.

    [STORYLOOM_REAL_DATA=...] python -m benchmarks.panels [--draw FOLDER]

A found box is right at an IoU of 0.5 with a box of the truth; a page is exact when all boxes are right and none is too many, and in
order when the panels that were found stand in the order of the truth. Truth boxes of spoilt pages are turned and scaled along.
Seconds are of the processor, for the detector alone, on pages decoded as the stage decodes them. `--draw` writes each page
that is not exact with the boxes of both, to be looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import numpy as np

from pipelines.comics.detect_panels import AT_LEAST
from pipelines.comics.page_pictures import decode
from pipelines.comics.panels import Panel, detect_panels
from pipelines.comics.reading_order import reading_order
from pipelines.evaluation import Counts, count, exact, in_order, match
from pipelines.geometry import Box, polygon_box
from pipelines.identity import rng
from pipelines.jpeg import encode_jpeg
from pipelines.markdown import table
from pipelines.samples.books import draw_book
from pipelines.samples.library import library_specs


@dataclass(frozen=True)
class Page:
    """A page (RGB bytes) with the outlines (n, 2) of its panels in reading order."""

    name: str
    picture: np.ndarray
    panels: list[np.ndarray]
    right_to_left: bool = False


def craphound(data: Path) -> Iterator[Page]:
    """The pages under `data`/comics whose panels are known."""
    folder = data / "comics"
    for page in json.loads((folder / "craphound-1.truth.json").read_text()):
        picture = decode((folder / "craphound-1" / page["image"]).read_bytes())
        yield Page(page["image"], picture, [np.array(outline, float) for outline in page["panels"]])


def drawn() -> Iterator[Page]:
    """The story pages of the sample library, drawn with a seed that the library does not use."""
    for spec in library_specs():
        for page in draw_book(spec, seed=1):
            if page.truth.kind in ("story", "first_page"):
                outlines = [np.array(panel.polygon, float) for panel in page.truth.panels]
                name = f"{spec.name}-{page.truth.number}.jpg"
                yield Page(name, np.asarray(page.image), outlines, spec.style.right_to_left)


def _turned(page: Page, degrees: float = 1.5) -> Page:
    height, width = page.picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    picture = cv2.warpAffine(page.picture, turn, (width, height), borderValue=(255, 255, 255))
    outlines = [outline @ turn[:, :2].T + turn[:, 2] for outline in page.panels]
    return replace(page, picture=picture, panels=outlines)


def _half(page: Page) -> Page:
    picture = cv2.resize(page.picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return replace(page, picture=picture, panels=[outline / 2 for outline in page.panels])


def _recompressed(page: Page) -> Page:
    return replace(page, picture=decode(encode_jpeg(page.picture, 30)))


def _yellowed(page: Page) -> Page:
    """Old paper: yellow, darker toward one edge, with grain."""
    height, width = page.picture.shape[:2]
    shade = np.linspace(1.0, 0.8, width)[None, :, None] * np.array([1.0, 0.95, 0.8])
    grain = np.random.default_rng(rng(0, page.name).getrandbits(32)).normal(0, 4, (height, width, 1))
    return replace(page, picture=np.clip(page.picture * shade + grain, 0, 255).astype(np.uint8))


def _negative(page: Page) -> Page:
    return replace(page, picture=255 - page.picture)


SPOILT: dict[str, Callable[[Page], Page]] = {
    "as they are": lambda page: page,
    "turned by 1.5 degrees": _turned,
    "at half size": _half,
    "JPEG of quality 30": _recompressed,
    "yellowed, uneven paper": _yellowed,
    "black for white": _negative,
}


@dataclass
class Score:
    """What was found on pages so far."""

    counts: Counts = field(default_factory=Counts)
    pages: int = 0
    exact: int = 0
    ordered: int = 0
    seconds: float = 0.0

    def add(self, page: Page) -> tuple[list[Panel], bool]:
        """Detect the panels of a page and count; returns them with whether the page is exact."""
        height, width = page.picture.shape[:2]
        factor = min(1.0, AT_LEAST / width)
        small = cv2.resize(page.picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        started = time.process_time()
        found = detect_panels(small)
        self.seconds += time.process_time() - started
        boxes = [panel.box.scaled(1 / factor, 1 / factor) for panel in found]
        truth = [_box(outline).clipped(width, height) for outline in page.panels]
        counts = count(boxes, truth)
        order = reading_order(boxes, right_to_left=page.right_to_left)
        pair = dict(match(boxes, truth))
        self.counts += counts
        self.pages += 1
        self.exact += exact(counts)
        self.ordered += in_order([pair[place] for place in order if place in pair])
        return found, exact(counts)


def _box(outline: np.ndarray) -> Box:
    return polygon_box(np.rint(outline).astype(int).tolist())


def main() -> None:
    """Print a Markdown table: a row for each kind of page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", type=Path)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    data = os.environ.get("STORYLOOM_REAL_DATA")
    sets: dict[str, Sequence[Page]] = {"drawn pages": list(drawn())}
    if data:
        sets = {"Craphound": list(craphound(Path(data))), **sets}
    rows = []
    for name, pages in sets.items():
        for manner, spoil in SPOILT.items():
            score = Score()
            for page in map(spoil, pages):
                found, right = score.add(page)
                if given.draw and not right:
                    _draw(given.draw / f"{name}, {manner}", page, found)
            counts = score.counts
            rows.append(
                [
                    f"{name}, {manner}",
                    *(f"{value:.3f}" for value in (counts.precision, counts.recall, counts.f1)),
                    f"{score.exact} of {score.pages}",
                    f"{score.ordered} of {score.pages}",
                    f"{1000 * score.seconds / score.pages:.0f}",
                ]
            )
    print(table(["", "precision", "recall", "F1", "pages exact", "in order", "ms a page"], rows))


def _draw(folder: Path, page: Page, found: Sequence[Panel]) -> None:
    """The truth in green, what was found in red with its confidence."""
    folder.mkdir(parents=True, exist_ok=True)
    canvas = page.picture[:, :, ::-1].copy()
    width = max(canvas.shape[1] // 200, 2)
    for outline in page.panels:
        cv2.polylines(canvas, [np.rint(outline).astype(np.int32)], True, (0, 160, 0), 2 * width)
    factor = max(1.0, page.picture.shape[1] / AT_LEAST)
    for panel in found:
        corners = np.rint(np.array(panel.polygon) * factor).astype(np.int32)
        cv2.polylines(canvas, [corners], True, (0, 0, 255), width)
        at = (int(corners[:, 0].min()) + 5 * width, int(corners[:, 1].max()) - 5 * width)
        cv2.putText(canvas, f"{panel.confidence:.2f}", at, cv2.FONT_HERSHEY_SIMPLEX, width / 4, (255, 0, 0), width)
    cv2.imwrite(str(folder / f"{Path(page.name).stem}.png"), canvas)


if __name__ == "__main__":
    main()
