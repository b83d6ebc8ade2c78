"""Libraries of drawn books to measure with: drawn once, in all processes, and kept.

What does not belong here: how a page is drawn (`pipelines.samples`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pipelines.samples.books import bulk_book
from pipelines.samples.truth import DrawnPage, annotation
from resources.engines.local import available_cores

QUALITY = 88


@dataclass(frozen=True)
class Drawing:
    """A library to draw: so many books of so many pages (width x height pixels), each a folder of JPEGs.

    `aspects` of the truth are written as annotations: those are not detected (`panels`, `texts`, `captions`, ...).
    """

    books: int
    pages: int
    width: int = 1600
    height: int = 2400
    split: str = "train"
    aspects: tuple[str, ...] = ()

    def draw(self, folder: Path) -> Path:
        """The library in a folder of its own below `folder`; books that are there already are kept."""
        name = f"{self.books}x{self.pages}-{self.width}x{self.height}-{'-'.join([self.split, *self.aspects])}"
        library = folder / name
        (library / "annotations").mkdir(parents=True, exist_ok=True)
        names = [f"book{number:04d}" for number in range(1, self.books + 1)]
        rows = [f"{name},Book {name[-4:]},CC0-1.0,{self.split},ltr" for name in names]
        head = "book,title,licence,split,reading_direction"
        (library / "catalog.csv").write_text("\n".join([head, *rows, ""]))
        missing = [name for name in names if not (library / "comics" / name).is_dir()]
        with ProcessPoolExecutor(available_cores()) as pool:
            for _ in pool.map(_draw_book, [self] * len(missing), [library] * len(missing), missing):
                pass
        return library


def _draw_book(drawing: Drawing, library: Path, name: str) -> None:
    hidden = library / "comics" / f".{name}"
    hidden.mkdir(parents=True, exist_ok=True)
    truths = []
    for page in bulk_book(name, drawing.pages, width=drawing.width, height=drawing.height):
        (hidden / f"{page.truth.number:03d}.jpg").write_bytes(jpeg(page))
        truths.append(page.truth)
    if drawing.aspects:
        known = _only(annotation(name, truths), drawing.aspects)
        (library / "annotations" / f"{name}.json").write_text(json.dumps(known))
    hidden.rename(library / "comics" / name)


def jpeg(page: DrawnPage) -> bytes:
    """A drawn page as a JPEG file."""
    file = io.BytesIO()
    page.image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def _only(known: dict[str, object], aspects: Sequence[str]) -> dict[str, object]:
    """An annotation with some of its aspects; without panels, texts do not say in which panel they are."""
    kept = {"page", "width", "height", *aspects}
    pages = []
    for page in known["pages"]:  # pyright: ignore[reportGeneralTypeIssues]
        one = {key: value for key, value in page.items() if key in kept}
        if "panels" not in aspects:
            one["texts"] = [{k: v for k, v in text.items() if k != "panel"} for text in one.get("texts", [])]
        pages.append(one)
    return {key: value for key, value in known.items() if key != "stories" or "stories" in aspects} | {"pages": pages}
