"""Pictures of pages and panels for a chat model: named by what they show, decoded only when one must be sent.

What does not belong here: what is asked about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import cv2
import numpy as np

from pipelines.chat import Media
from pipelines.comics.page_pictures import decode
from pipelines.comics.stored_pages import page_images
from pipelines.geometry import Box
from pipelines.jpeg import encode_jpeg
from pipelines.stage import Row, ShardInputs

_QUALITY = 90


class PageMedia:
    """The pictures of one book's pages, given as rows of `comic_pages` (`page_id`, `sha256`, `width`, `height`).

    Pages are read and decoded in the order in which pictures of them are sent, each once when that is page order.
    """

    def __init__(self, inputs: ShardInputs, pages: Iterable[Row]) -> None:
        self._inputs = inputs
        self._pages = {page["page_id"]: page for page in pages}
        self._reading: Iterator[tuple[str, bytes]] = iter(())
        self._held: tuple[str, np.ndarray] | None = None

    def picture(self, page_id: str, longest: int, box: Box | None = None) -> Media:
        """A page, or a box of it in its pixels, at most `longest` pixels a side, as JPEG."""
        page = self._pages[page_id]
        box = box or Box(0, 0, page["width"], page["height"])
        shrink = min(longest / max(box.w, box.h, 1), 1.0)
        width, height = max(round(box.w * shrink), 1), max(round(box.h * shrink), 1)

        def encode() -> bytes:
            pixels = self._decoded(page_id)
            # A large page may have been decoded at half its size.
            fx, fy = pixels.shape[1] / page["width"], pixels.shape[0] / page["height"]
            part = box.scaled(fx, fy).clipped(pixels.shape[1], pixels.shape[0])
            cut = pixels[part.y : part.bottom, part.x : part.right]
            if cut.size and shrink < 1:
                cut = np.asarray(cv2.resize(cut, (width, height), interpolation=cv2.INTER_AREA))
            return encode_jpeg(cut, _QUALITY)

        identity = f"{page['sha256']} {tuple(box)} {longest} jpeg{_QUALITY}"
        return Media(identity, "image/jpeg", width, height, encode)

    def _decoded(self, page_id: str) -> np.ndarray:
        if self._held is None or self._held[0] != page_id:
            self._held = page_id, decode(self._bytes(page_id))
        return self._held[1]

    def _bytes(self, page_id: str) -> bytes:
        for found, data in self._reading:
            if found == page_id:
                return data
        # It stands before the page that was read last (a second question about it): read from the start again.
        self._reading = page_images(self._inputs, self._pages.keys())
        return next(data for found, data in self._reading if found == page_id)
