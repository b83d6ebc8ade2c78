"""The sample library on disk: books in their containers, the catalog, and annotations with the truth.

What does not belong here: how pages are drawn, and when the library is drawn (that is the caller's business).
"""

from __future__ import annotations

import csv
import io
import json
import tarfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image

from pipelines.identity import rng
from pipelines.samples.books import BookSpec, draw_book
from pipelines.samples.light import GREY_PAPER, NIGHT_PAPER, PALETTES, Palette
from pipelines.samples.pages import Style
from pipelines.samples.scripts import book_scripts
from pipelines.samples.truth import DrawnPage, annotation

LICENCE = "CC0-1.0"
_QUALITY = 88
# A zip member and a PDF carry a date; a fixed one keeps the bytes the same on every day.
_DATE = (2000, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class _Place:
    """A place in the library: its split, container and make-up, and whether the truth is written out."""

    split: str
    container: str
    manner: str
    fillers: tuple[str, ...]
    stories: int | None = None
    annotated: bool = True


_PLACES = (
    _Place("train", "cbz", "plain", ("advertisement", "text_story")),
    _Place("val", "cbz", "slanted", ("text_story", "advertisement")),
    _Place("test", "cbz", "night", ("letters", "advertisement")),
    # Reading the texts of a page takes seconds, so the book that is left to the detectors is short.
    _Place("train", "folder", "plain", ("advertisement",), stories=1, annotated=False),
    _Place("train", "cbt", "manga", ("advertisement", "letters")),
    _Place("test", "pdf", "frameless", ("advertisement",)),
)


def draw_library(root: Path, *, seed: int = 0) -> None:
    """Draw the sample library into `root`: comics/, catalog.csv and annotations/.

    Each split has at least one book with its truth written out; one book of `train` has none, so that detectors run on
    it. Another seed deals scripts, colours and layouts anew. Existing files of the same names are overwritten.
    """
    (root / "comics").mkdir(parents=True, exist_ok=True)
    (root / "annotations").mkdir(exist_ok=True)
    rows = []
    for place, spec in zip(_PLACES, library_specs(seed), strict=False):
        pages = list(draw_book(spec, seed))
        _write_book(root / "comics", place.container, spec, pages)
        if place.annotated:
            text = json.dumps(annotation(spec.name, [page.truth for page in pages]), ensure_ascii=False, indent=1)
            (root / "annotations" / f"{spec.name}.json").write_text(text + "\n", "utf-8")
        direction = "rtl" if spec.style.right_to_left else "ltr"
        rows.append((spec.name, spec.script.title, LICENCE, place.split, direction))
    with (root / "catalog.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("book", "title", "licence", "split", "reading_direction"))
        writer.writerows(sorted(rows))


def library_specs(seed: int = 0) -> list[BookSpec]:
    """The books of the sample library: which script is drawn in which manner, for this seed."""
    dice = rng(seed, "library")
    scripts = list(book_scripts().items())
    palettes = list(PALETTES)
    dice.shuffle(scripts)
    dice.shuffle(palettes)
    return [
        BookSpec(
            name,
            replace(script, stories=script.stories[: place.stories]),
            _style(place.manner, palette),
            place.fillers,
        )
        for place, (name, script), palette in zip(_PLACES, scripts, palettes, strict=False)
    ]


def _style(manner: str, palette: Palette) -> Style:
    if manner == "manga":
        grey = Palette(GREY_PAPER, (16, 16, 16), (128, 128, 128), 0.3, (246, 246, 246), (60, 60, 60), grey=True)
        return Style(grey, slant=0.05, gutter=0.014, right_to_left=True)
    if manner == "slanted":
        return Style(palette, slant=0.045, capitals=True, lettering=0.0185)
    if manner == "frameless":
        return Style(palette, border=0.0, gutter=0.022)
    if manner == "night":
        night = Palette(NIGHT_PAPER, (18, 18, 26), palette.mood, palette.share, palette.caption, palette.accent)
        return Style(night, gutter=0.02, border=0.0, slant=0.02)
    return Style(palette)


def _write_book(folder: Path, container: str, spec: BookSpec, pages: Sequence[DrawnPage]) -> None:
    if container == "cbz":
        _write_cbz(folder / f"{spec.name}.cbz", spec, pages)
    elif container == "cbt":
        _write_cbt(folder / f"{spec.name}.cbt", pages)
    elif container == "pdf":
        _write_pdf(folder / f"{spec.name}.pdf", spec, pages)
    else:
        _write_folder(folder / spec.name, pages)


def _write_cbz(path: Path, spec: BookSpec, pages: Sequence[DrawnPage]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for page in pages:
            archive.writestr(zipfile.ZipInfo(f"{page.truth.number:03d}.jpg", _DATE), _jpeg(page.image))
        manga = "YesAndRightToLeft" if spec.style.right_to_left else "No"
        info = f"<ComicInfo><Title>{escape(spec.script.title)}</Title><Manga>{manga}</Manga></ComicInfo>"
        archive.writestr(zipfile.ZipInfo("ComicInfo.xml", _DATE), f'<?xml version="1.0" encoding="utf-8"?>\n{info}\n')


def _write_cbt(path: Path, pages: Sequence[DrawnPage]) -> None:
    with tarfile.open(path, "w") as archive:
        for page in pages:
            data = _jpeg(page.image)
            # A bare entry has no owner and the date 0, so its bytes are the same on every machine.
            entry = tarfile.TarInfo(f"{page.truth.number:03d}.jpg")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def _write_pdf(path: Path, spec: BookSpec, pages: Sequence[DrawnPage]) -> None:
    first, *others = (page.image for page in pages)
    date = time.struct_time((*_DATE, 5, 1, 0))
    first.save(
        path,
        "PDF",
        save_all=True,
        append_images=others,
        title=spec.script.title,
        quality=_QUALITY,
        creationDate=date,
        modDate=date,
    )


def _write_folder(folder: Path, pages: Sequence[DrawnPage]) -> None:
    folder.mkdir(exist_ok=True)
    for page in pages:
        if page.truth.kind == "cover":
            page.image.save(folder / "page 1.png", compress_level=1)
        else:
            # Without leading zeros: readers must sort such names by their numbers.
            (folder / f"page {page.truth.number}.jpg").write_bytes(_jpeg(page.image))


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
