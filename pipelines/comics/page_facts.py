"""What is known of a page from its bytes alone: type, size, digest, perceptual hash, after all of it was decoded.

The quick way for JPEG is here: all of the data is read, but only 1/8 of the pixels are made.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from pipelines.comics.page_hash import phash, thumbnail
from pipelines.comics.page_pictures import (
    ABSOLUTE_MAX_PIXELS,
    Picture,
    broken,
    decode_picture,
    open_picture,
    upright,
)
from pipelines.comics.page_suspects import COPY_AGAIN
from pipelines.errors import ItemError
from pipelines.identity import rng

_FILLER = rng(0, "filler").randbytes(2**16).replace(b"\xff", b"")
_HASHED_SIDE = 64
"""A JPEG is shrunk while it is decoded, to no less than this: twice the side of the hash's thumbnail."""


@dataclass(frozen=True)
class PageFacts:
    """Facts of one page; `width` and `height` are upright pixels, `frames` counts the pictures in the file."""

    media_type: str
    width: int
    height: int
    sha256: str
    phash: str
    frames: int
    thumbnail: bytes
    """32 x 32 grey values: tells pages apart that the hash holds for alike."""


def page_facts(data: bytes, *, max_pixels: int = ABSOLUTE_MAX_PIXELS) -> PageFacts:
    """Facts of a page whose bytes decode to the end; raises `ItemError` like `decode` where they do not."""
    picture = open_picture(data, max_pixels=max_pixels)
    grey = _jpeg_grey(picture) if picture.is_jpeg else None
    if grey is None:
        grey = cv2.cvtColor(decode_picture(picture), cv2.COLOR_RGB2GRAY)
    small = thumbnail(grey)
    return PageFacts(
        media_type=picture.media_type,
        width=picture.width,
        height=picture.height,
        sha256=hashlib.sha256(data).hexdigest(),
        phash=phash(small),
        frames=_frames(picture),
        thumbnail=small.tobytes(),
    )


def _jpeg_grey(picture: Picture) -> np.ndarray | None:
    """The upright page in grey at 1/8 scale (less for small pages); None where a JPEG must be decoded whole (CMYK)."""
    image = picture.image
    if image.mode not in ("RGB", "L"):
        return None
    grey = _shrunk(image, picture.data)
    if (grey[-1] == grey[-1, 0]).all() and _stops_early(picture, grey):
        raise ItemError("truncated", "The picture's data stops early, its bottom is blank", remedy=COPY_AGAIN)
    return upright(grey, picture.orientation)


def _stops_early(picture: Picture, grey: np.ndarray) -> bool:
    """Whether a flat bottom is missing data: a file cut short and closed with an end mark decodes without a word.

    Random bits put where the data stops change the picture if the decoder still wanted some. Most pages are spared this
    second decoding: a bottom that is flat in truth is coded as one pattern of bits over and over.
    """
    end = picture.data.rfind(b"\xff\xd9")
    if end < 0 or picture.image.info.get("progressive"):
        return False
    tail = picture.data[end - 98 : end - 2]
    if any(tail[period:] == tail[:-period] for period in range(1, 49)):
        return False
    other = picture.data[:end] + b"\0" + _FILLER + picture.data[end:]
    return not np.array_equal(grey, _shrunk(Image.open(io.BytesIO(other), formats=("JPEG",)), other))


def _shrunk(image: Image.Image, data: bytes) -> np.ndarray:
    try:
        image.draft("L", (_HASHED_SIDE, _HASHED_SIDE))
        image.load()
        return np.asarray(image.convert("L"))
    except Exception as error:
        raise broken(data, error) from None


def _frames(picture: Picture) -> int:
    try:
        return getattr(picture.image, "n_frames", 1)
    except Exception:  # a damaged list of further frames says nothing about the first
        return 1
