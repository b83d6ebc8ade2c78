"""Small pictures of each awkward kind, as file bytes: what `hostile_library` puts into its books."""

from __future__ import annotations

import io
import struct
import zlib
from random import Random
from typing import Any

import numpy as np
from PIL import Image

SIZE = (96, 144)
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def encoded(image: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    """A picture file of Pillow's format `kind`."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def drawn(number: int, size: tuple[int, int] = SIZE) -> Image.Image:
    """A page unlike that of any other number: blocks of random colours."""
    dice = Random(number)
    blocks = np.frombuffer(dice.randbytes(6 * 9 * 3), np.uint8).reshape(9, 6, 3)
    return Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST)


def page(number: int) -> bytes:
    """A good JPEG page."""
    return encoded(drawn(number))


def cmyk(*, adobe: bool) -> bytes:
    """A red page in ink; Adobe's programs store the ink inverted and mark the file, others store it as it is."""
    ink = np.zeros((SIZE[1], SIZE[0], 4), np.uint8)
    ink[..., 1:3] = 255
    data = encoded(Image.fromarray(ink, "CMYK"), quality=95)
    if adobe:
        return data
    place = data.index(b"Adobe") - 4
    length = int.from_bytes(data[place + 2 : place + 4], "big")
    # Without the mark the numbers mean ink, so they are stored the other way round first.
    plain = encoded(Image.fromarray(255 - ink, "CMYK"), quality=95)
    return plain[:place] + plain[place + 2 + length :]


def many_scans(scans: int) -> bytes:
    """A progressive page whose last scan comes again and again: each goes over all pixels."""
    data = encoded(drawn(5), progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + scan * scans + data[-2:]


def sixteen_bit() -> bytes:
    """A grey PNG of 16 bits a pixel, in steps from black to white from left to right."""
    ramp = np.linspace(0, 65535, SIZE[0]).round().astype(np.uint16)
    return encoded(Image.fromarray(np.tile(ramp, (SIZE[1], 1))), "PNG")


def palette() -> bytes:
    """A PNG with a palette whose first colour is transparent: white on the left, green on the right."""
    image = Image.new("P", SIZE, 0)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.paste(1, (SIZE[0] // 2, 0, *SIZE))
    return encoded(image, "PNG", transparency=0)


def animated() -> bytes:
    """A GIF of a red, a green and a blue picture."""
    first, *others = (Image.new("RGB", SIZE, colour) for colour in (RED, GREEN, BLUE))
    return encoded(first, "GIF", save_all=True, append_images=others, duration=100)


def rotated() -> bytes:
    """A JPEG that lies on its side and says so: upright it is 96 x 144 with a red mark at the top right corner."""
    image = Image.new("RGB", (SIZE[1], SIZE[0]), "white")
    image.paste(RED, (0, 0, 32, 32))
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(image, exif=exif, quality=95)


def bomb() -> bytes:
    """A PNG of a few bytes that claims 60,000 x 60,000 pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def corrupt() -> bytes:
    """A PNG with a byte changed in the middle of its pixels."""
    data = bytearray(encoded(drawn(77).resize((200, 300), Image.Resampling.BICUBIC), "PNG"))
    data[len(data) // 2] ^= 0xFF
    return bytes(data)


def truncated(*, closed: bool = False) -> bytes:
    """A JPEG that was cut in half; closed, a repair tool has put an end mark on it."""
    noise = np.random.default_rng(5).integers(0, 256, (300, 200, 3), np.uint8)
    data = encoded(Image.fromarray(noise))
    return data[: len(data) // 2] + (b"\xff\xd9" if closed else b"")


WEB_PAGE = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>No such page</body></html>\n"
