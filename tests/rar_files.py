"""RAR 5 files as their format's description has them (https://www.rarlab.com/technote.htm): no free program writes any."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

STORED, NORMAL = 0, 3
_SYMLINK = 1


def rar(members: Iterable[tuple[str, bytes]], *, solid: bool = False, method: int = STORED, link: str = "") -> bytes:
    """An archive of these members, and a link of that name to the first picture.

    With another method than `STORED` the data is said to be packed, and only a stand-in for a tool can read it.
    """
    blocks = [block(1, _number(4 if solid else 0))]
    for name, data in members:
        blocks.append(_file(name, data, method, solid=solid))
    if link:
        target = _text("1.jpg")
        record = _number(5) + _number(_SYMLINK) + _number(0) + target
        blocks.append(_file(link, b"", STORED, extra=_number(len(record)) + record))
    return b"Rar!\x1a\x07\x01\x00" + b"".join(blocks) + block(5, _number(0))


def printing_tool(folder: Path, printed: bytes) -> Path:
    """A stand-in for unrar that prints these bytes, whatever archive it is given, and notes each call in `calls`."""
    (folder / "printed").write_bytes(printed)
    tool = folder / "unrar"
    tool.write_text(f'#!/bin/sh\n[ "$1" = p ] || exit 0\necho "$@" >> "{folder}/calls"\nexec cat "{folder}/printed"\n')
    tool.chmod(0o755)
    return tool


def _file(name: str, data: bytes, method: int, *, solid: bool = False, extra: bytes = b"") -> bytes:
    packing = _number(method << 7 | (0x40 if solid else 0))
    head = _number(4) + _number(len(data)) + _number(0o644) + zlib.crc32(data).to_bytes(4, "little")
    return block(2, head + packing + _number(1) + _text(name), data, extra)


def block(kind: int, fields: bytes, data: bytes = b"", extra: bytes = b"") -> bytes:
    """A block of a kind (main 1, file 2, end 5) with its checksum."""
    flags = (1 if extra else 0) | (2 if data else 0)
    sizes = (_number(len(extra)) if extra else b"") + (_number(len(data)) if data else b"")
    body = _number(kind) + _number(flags) + sizes + fields + extra
    body = _number(len(body)) + body
    return zlib.crc32(body).to_bytes(4, "little") + body + data


def _text(text: str) -> bytes:
    return _number(len(text.encode())) + text.encode()


def _number(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have their highest bit set."""
    more = bytearray()
    while value > 127:
        more.append(value & 127 | 128)
        value >>= 7
    return bytes([*more, value])
