"""Books in PDF files: a page that is one JPEG comes as that file, any other is drawn."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from pipelines.comics.containers import DAMAGE, Container, Limits, Member, broken, cut_off
from pipelines.errors import ItemError
from pipelines.jpeg import encode_jpeg

_ERRORS = (pypdfium2.PdfiumError, *DAMAGE)
_LONG_SIDE = 2400
"""Pixels of the long side of a page that is drawn: about 200 dots an inch of a comic book's page."""
_QUALITY = 95
_END_WITHIN = 1024
"""Where readers look for the end mark, in bytes from the end (ISO 32000-1, Annex H.3)."""
_END = re.compile(rb"%%EOF")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


class PdfContainer(Container):
    """A PDF file; its members are its pages, named by their numbers."""

    ordered = True

    def __init__(self, path: Path) -> None:
        try:
            self._pdf = pypdfium2.PdfDocument(path)
        except _ERRORS as error:
            if isinstance(error, pypdfium2.PdfiumError) and _opens(path):
                raise _lists_no_page(path) from None
            if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
                raise ItemError("encrypted", "The PDF needs a password", remedy="Save it anew without one.") from None
            raise broken(error, "The PDF") from None
        self._path = path

    def list(self) -> list[Member]:
        """One member a page."""
        return [Member(f"page-{number:05d}.jpg", 1) for number in range(1, len(self._pdf) + 1)]

    def faults(self) -> Sequence[ItemError]:
        """The library finds what pages it can of a PDF that is cut off or whose list of pages is damaged, and says nothing."""
        try:
            has_end, ends, pages = _marks(self._path)
        except _ERRORS as error:
            return [broken(error, "The PDF")]
        if not has_end:
            return [cut_off("The PDF ends without its end mark")]
        # A PDF that was saved again over itself has several ends, and may keep pages that were deleted.
        if ends == 1 and pages > len(self._pdf):
            return [broken(ValueError(f"of its {pages:,} pages it lists {len(self._pdf):,}"), "The PDF")]
        return []

    def read(self, member: Member, most: int) -> bytes:
        """The page as a JPEG."""
        index = int(member.name[5:-4]) - 1
        try:
            page = self._pdf[index]
            try:
                return _only_jpeg(page) or _drawn(page)
            finally:
                page.close()
        except _ERRORS as error:
            fault = broken(error, "The page")
            remedy = "Save the PDF anew." if fault.kind == "corrupt" else fault.remedy
            raise ItemError(fault.kind, fault.what, remedy=remedy) from None

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()


def _opens(path: Path) -> bool:
    """Whether a PDF that the wrapper refuses opens all the same: it has no page, and the error told is that of another."""
    document = pdfium.FPDF_LoadDocument(str(path).encode() + b"\0", None)
    if document:
        pdfium.FPDF_CloseDocument(document)
    return bool(document)


def _lists_no_page(path: Path) -> ItemError:
    _, _, pages = _marks(path)
    if pages:
        return broken(ValueError(f"it lists none of its {pages:,} pages"), "The PDF")
    return ItemError("no_pages", "The PDF has no page", remedy="Save it anew, or take it out of the library.")


def _marks(path: Path) -> tuple[bool, int, int]:
    """Whether the file ends with the end mark, how many there are, and how many pages; none in compressed objects is seen."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        ends = [found.start() for found in _END.finditer(data)]
        has_end = bool(ends) and ends[-1] >= len(data) - _END_WITHIN
        return has_end, len(ends), sum(1 for _ in _PAGE.finditer(data))


def _only_jpeg(page: pypdfium2.PdfPage) -> bytes | None:
    """The JPEG file that is all there is on an upright page, as it was put in."""
    objects = list(page.get_objects(max_depth=2))
    if len(objects) != 1 or not isinstance(objects[0], pypdfium2.PdfImage) or page.get_rotation():
        return None
    picture = objects[0]
    a, b, c, d, _, _ = picture.get_matrix().get()
    upright = a > 0 and d > 0 and abs(b) + abs(c) < 1e-3
    covers = a * d > 0.9 * page.get_width() * page.get_height()
    if not (upright and covers) or list(picture.get_filters()) != ["DCTDecode"]:
        return None
    return bytes(picture.get_data(decode_simple=False))


def _drawn(page: pypdfium2.PdfPage) -> bytes:
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        raise ItemError("corrupt", "The page has no size", remedy="Save the PDF anew.")
    bitmap = page.render(scale=_LONG_SIDE / max(width, height), rev_byteorder=True)
    pixels = np.ascontiguousarray(bitmap.to_numpy()[..., :3])
    bitmap.close()
    return encode_jpeg(pixels, _QUALITY, full_colour=True)


def open_container(path: Path, limits: Limits) -> Container:
    """Open a PDF file."""
    return PdfContainer(path)
