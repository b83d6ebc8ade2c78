"""A small library of three books, one for each split, in which nothing is left to models; and its lake."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL import Image

from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from resources.build import build_table
from resources.engines.local import LocalEngine
from resources.project import Project
from tests.pipelines.pick_a_panel.released_book import page_picture as small_picture
from tests.pipelines.pick_a_panel.released_book import panel_box

PAGES = 8
SCALE = 4
"""Pages are drawn at this many times the size of `released_book`."""
SPLIT_OF = {"one": "train", "two": "val", "three": "test"}


def picture(book: str, page: int) -> Image.Image:
    small = Image.fromarray(small_picture(100 * sorted(SPLIT_OF).index(book) + page))
    return small.resize((small.width * SCALE, small.height * SCALE), Image.Resampling.BICUBIC)


def as_jpeg(page: Image.Image, quality: int) -> bytes:
    file = io.BytesIO()
    page.save(file, "JPEG", quality=quality)
    return file.getvalue()


def a_library(root: Path) -> Path:
    """Books of eight pages with four panels each, their panels and captions annotated, no texts."""
    (root / "annotations").mkdir(parents=True)
    lines = ["book,split"]
    for book, split in SPLIT_OF.items():
        (root / "comics" / book).mkdir(parents=True)
        pages = []
        for number in range(1, PAGES + 1):
            page = picture(book, number)
            (root / "comics" / book / f"{number}.jpg").write_bytes(as_jpeg(page, 95))
            pages.append(
                {
                    "page": number,
                    "width": page.width,
                    "height": page.height,
                    "kind": "story",
                    "panels": [{"box": [SCALE * edge for edge in panel_box(order)]} for order in range(1, 5)],
                    "texts": [],
                    "captions": {str(order): "A hill." for order in range(1, 5)},
                }
            )
        truth = {"storyloom_annotations": 1, "book": book, "pages": pages}
        (root / "annotations" / f"{book}.json").write_text(json.dumps(truth))
        lines.append(f"{book},{split}")
    (root / "catalog.csv").write_text("\n".join(lines))
    return root


def build(library: Path, lake: Path) -> None:
    """Every table by its real stage; releases and previews are left out."""
    project = Project.open(library=str(library), lake=str(lake))
    for spec in [*COMICS, *PICK_A_PANEL]:
        found = spec.find(project)
        report = build_table(
            spec.stage(project), project.lake, LocalEngine(1), lambda *_: None, found.sources, found.expected
        )
        assert not report.failures and not report.failed_shards, spec.name
