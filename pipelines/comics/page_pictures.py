"""Decoding of hostile picture files: from bytes to an upright RGB array, or an `ItemError` that says what is wrong.

Here: which formats count as pages, the limit on pixels, EXIF rotation, and colour modes made right. Not here: what a
page is in a book (`pages`), reading bytes from containers (`archives`).
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import AvifImagePlugin, Image

from pipelines.comics.page_suspects import COPY_AGAIN, describe_unknown, looks_cut
from pipelines.errors import ItemError

ABSOLUTE_MAX_PIXELS = 2**30
"""No picture over this is ever opened, whatever the settings say: OpenCV's own bound, 3 GiB of RGB."""

MEDIA_TYPES = {
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "TIFF": "image/tiff",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "AVIF": "image/avif",
}
"""Media type by Pillow's name of the format; an MPO is a JPEG with a second view after the first."""
_JPEG = ("JPEG", "MPO")
_OPENED = tuple(name for name in MEDIA_TYPES if name != "MPO")
_MOST_SCANS = 100
"""Of a JPEG. Encoders make about ten; a bound is what the authors of libjpeg-turbo advise against hostile files."""
_SCAN, _END = b"\xff\xda", b"\xff\xd9"
_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd8\xff]", re.DOTALL)
"""What begins a segment with a length: no stuffed byte, no restart and no start of a picture."""
_SIXTEEN_BIT = ("I;16", "I;16B", "I;16L", "I;16N")

# Formats that are asked for by name must have been loaded.
Image.init()
# Pillow's global bomb check is raised to ours, so that the limit here decides and nothing warns on allowed pages.
Image.MAX_IMAGE_PIXELS = ABSOLUTE_MAX_PIXELS
# A stage is single-threaded; the process pool around it does the parallel work.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1


@dataclass(frozen=True)
class Picture:
    """An opened, not yet decoded picture file; `width`, `height` are upright pixels, `orientation` EXIF's 1 to 8."""

    image: Image.Image
    data: bytes
    media_type: str
    width: int
    height: int
    orientation: int

    @property
    def is_jpeg(self) -> bool:
        """Whether the bytes are a JPEG, whatever the file is called."""
        return self.image.format in _JPEG


def open_picture(data: bytes, *, max_pixels: int = ABSOLUTE_MAX_PIXELS) -> Picture:
    """Read the header of a picture file and check its format and size; nothing is decoded.

    Raises `ItemError` of kind `empty`, `not_a_picture`, `unsupported`, `corrupt`, `truncated` or `too_large`.
    """
    if not data:
        raise ItemError("empty", "The picture file holds no bytes", remedy=COPY_AGAIN)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=_OPENED)
            orientation = _orientation(image)
    except Image.DecompressionBombError as error:
        pixels = int((re.findall(r"\d+", str(error)) or ["0"])[0]) / 1e6
        raise ItemError(
            "too_large",
            f"The picture claims {pixels:,.0f} million pixels, as files do that are made to fill the memory",
            remedy="Take the file out of the book.",
        ) from None
    except Exception as error:
        raise describe_unknown(data, error) from None
    if image.format in _JPEG and _has_many_scans(data):
        raise ItemError(
            "too_large",
            f"The picture is drawn over more than {_MOST_SCANS} times (scans), as files are that are made to keep their "
            "reader busy",
            remedy="Save it as a JPEG anew, or take the file out of the book.",
        )
    width, height = image.size
    if width * height > min(max_pixels, ABSOLUTE_MAX_PIXELS):
        raise ItemError(
            "too_large",
            f"The picture has {width} x {height} pixels, the limit is {max_pixels / 1e6:.0f} million",
            remedy="Raise the limit on pixels if the picture is meant to be this large.",
        )
    if orientation >= 5:
        width, height = height, width
    return Picture(image, data, MEDIA_TYPES[str(image.format)], width, height, orientation)


def _has_many_scans(data: bytes) -> bool:
    """Whether a JPEG holds so many scans that decoding it takes no end: each one goes over all pixels."""
    if data.count(_SCAN) <= _MOST_SCANS:
        return False
    # There may be as many by chance, or in a preview, in the segments before the first scan: they are passed over.
    scans, at = 0, 2
    while (found := _MARKER.search(data, at)) and scans <= _MOST_SCANS and found[0] != _END:
        at = found.end() + int.from_bytes(data[found.end() : found.end() + 2], "big")
        scans += found[0] == _SCAN
    return scans > _MOST_SCANS


def decode(data: bytes, *, at_least: int | None = None) -> np.ndarray:
    """The upright picture as RGB uint8, height x width x 3; alpha on white, the first frame of an animation.

    With `at_least` (pixels of width) a JPEG is decoded at the smallest of its DCT scales (1, 1/2, 1/4, 1/8) whose
    width is still at least that; other formats come whole. Raises `ItemError` (`corrupt`, `truncated`, `too_large`,
    `not_a_picture`, `unsupported`, `empty`). The settings' limit on pixels was applied when the page was stored; here
    only the absolute one is.
    """
    return decode_picture(open_picture(data), at_least=at_least)


def decode_picture(picture: Picture, *, at_least: int | None = None) -> np.ndarray:
    """`decode` of a picture whose header was read already."""
    image = picture.image
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if image.mode in ("RGB", "L") and _is_plain(image):
                pixels = _decode_quickly(picture, at_least)
            else:
                image.load()
                pixels = rgb(image)
    except ItemError:
        raise
    except Exception as error:
        raise broken(picture.data, error) from None
    return upright(pixels, picture.orientation)


def broken(data: bytes, error: Exception) -> ItemError:
    """The error of a picture whose header reads but whose pixels do not."""
    if isinstance(error, MemoryError) or getattr(error, "code", None) == cv2.Error.StsNoMem:
        return ItemError(
            "out_of_memory",
            "The picture needs more memory than there is",
            remedy="Lower the profile's workers or its limit on pixels; the next run tries again.",
        )
    if looks_cut(data) or "truncated" in str(error):
        return ItemError("truncated", "The picture file ends before the picture does", remedy=COPY_AGAIN)
    return ItemError("corrupt", f"The picture cannot be decoded: {error}", remedy=COPY_AGAIN)


def upright(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """Apply the EXIF orientation 1 to 8 to an array whose first axes are rows and columns."""
    swapped = pixels.swapaxes(0, 1)
    turned = {
        2: pixels[:, ::-1],
        3: pixels[::-1, ::-1],
        4: pixels[::-1],
        5: swapped,
        6: swapped[:, ::-1],
        7: swapped[::-1, ::-1],
        8: swapped[::-1],
    }.get(orientation, pixels)
    return np.ascontiguousarray(turned)


def _orientation(image: Image.Image) -> int:
    if image.format == "TIFF":  # Pillow turns a TIFF by itself
        return 1
    if not {"exif", "xmp", "XML:com.adobe.xmp"} & image.info.keys():
        return 1
    try:
        value = image.getexif().get(0x0112, 1)
    except Exception:  # a broken EXIF block says nothing about the pixels
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _is_plain(image: Image.Image) -> bool:
    """Whether OpenCV reads the same pixels as Pillow, in half the time: whole frames of 8 bits without transparency."""
    if image.format in _JPEG:
        return True
    return image.format == "WEBP" and not getattr(image, "is_animated", False)


def _decode_quickly(picture: Picture, at_least: int | None) -> np.ndarray:
    flags = cv2.IMREAD_COLOR_RGB
    if at_least and picture.is_jpeg:
        scales = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
        fitting = (flag for scale, flag in scales.items() if picture.width / scale >= at_least)
        flags = next(fitting, flags)
    pixels = cv2.imdecode(np.frombuffer(picture.data, np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        raise broken(picture.data, ValueError("its data makes no picture"))
    return pixels if flags == cv2.IMREAD_COLOR_RGB else cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)


def rgb(image: Image.Image) -> np.ndarray:
    """An opened picture's pixels as RGB uint8 (H, W, 3), not turned; alpha is put on white. Raises ItemError for odd modes."""
    if image.mode in _SIXTEEN_BIT or (image.mode == "I" and image.format == "PNG"):
        grey = np.asarray(image).astype(np.uint32)
        return np.repeat(((grey * 255 + 32767) // 65535).astype(np.uint8)[..., None], 3, axis=2)
    if image.mode in ("I", "F", "LAB"):
        raise ItemError(
            "unsupported", f"The picture's pixels are of mode {image.mode}", remedy="Save it as RGB with 8 or 16 bits."
        )
    if image.mode == "CMYK":
        return _from_cmyk(image)
    if image.mode in ("PA", "LA", "La", "RGBA", "RGBa") or "transparency" in image.info:
        opaque = image.convert("RGBA")
        white = Image.new("RGB", image.size, "white")
        white.paste(opaque, mask=opaque.getchannel("A"))
        return np.asarray(white)
    return np.asarray(image.convert("RGB"))


def _from_cmyk(image: Image.Image) -> np.ndarray:
    """Ink to light by multiplying, which needs no colour profile.

    Adobe's programs store ink inverted and mark the file; Pillow takes every JPEG to be so, which is undone without
    the mark.
    """
    ink = np.asarray(image)
    if image.format in _JPEG and "adobe" not in image.info:
        ink = 255 - ink
    light = 255 - ink
    black = light[..., 3:].astype(np.uint16)
    return ((light[..., :3] * black + 127) // 255).astype(np.uint8)
