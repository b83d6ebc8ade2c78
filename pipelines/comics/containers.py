"""What a container of a book is: a list of files that can be read, within limits, with an error that says what is wrong.

What does not belong here: which of the files are pages (`archives`), and how one kind of container is read (`archive_*`).
"""

from __future__ import annotations

import errno
import lzma
import os
import struct
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields

from pipelines.errors import ItemError, SettingsError

DAMAGE: tuple[type[Exception], ...] = (
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError, AssertionError),
    *(RuntimeError, MemoryError, struct.error, zlib.error, lzma.LZMAError),
)
"""What libraries raise on damaged files besides their own errors."""


@dataclass(frozen=True)
class Limits:
    """Bounds on what a book may unpack to: a hostile one would fill the memory or the disk."""

    max_members: int = 20_000
    max_member_bytes: int = 256 * 2**20
    max_total_bytes: int = 8 * 2**30
    """Of all members together, unpacked."""
    max_ratio: int = 1_000
    """Unpacked size of a member over its packed size, for members of 16 MiB and more."""
    max_pixels: int = 128_000_000
    """Width times height of a page; 128 million take 384 MB as RGB."""

    def __post_init__(self) -> None:
        """Refuse limits that no book keeps. Raises SettingsError."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value < 1:
                remedy = "Give a number of at least 1, or leave the limit out."
                raise SettingsError(f"the limit {limit.name} is {value}", where="limits", remedy=remedy)


@dataclass(frozen=True)
class Member:
    """A file in a container; `packed` is 0 where the container does not tell."""

    name: str
    size: int
    packed: int = 0
    encrypted: bool = False


class Container(ABC):
    """The files of one archive or folder. Reading raises ItemError, whatever is wrong with it.

    Of files with one name all are listed, and the first is read.
    """

    ordered = False
    """Whether the members come in reading order already (PDF, EPUB)."""

    @abstractmethod
    def list(self) -> list[Member]:
        """All files, folders left out. Raises ItemError (`encrypted`, `too_large`, `corrupt`)."""
        ...

    @abstractmethod
    def read(self, member: Member, most: int) -> bytes:
        """A member's bytes, at most `most` + 1 of them."""
        ...

    def faults(self) -> Sequence[ItemError]:
        """What is lost besides the files that `list` named, once that was called; `where` is the place in the book."""
        return ()

    def close(self) -> None:
        """Give back files and temporary folders."""
        return


def is_unsafe(name: str) -> bool:
    """Whether a member's name leads out of its container: absolute, with a drive, or over `..`."""
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or "\0" in name or parts[0].endswith(":")


def not_a_file() -> ItemError:
    """The error of a pipe, a socket or a device, which would keep its reader waiting for ever."""
    return ItemError("not_a_file", "It is a pipe, a socket or a device, and no file", remedy="Take it out.")


def cut_off(what: str = "The archive ends without its end mark") -> ItemError:
    """The fault of a container whose end is missing."""
    return ItemError("truncated", f"{what}: pages may be missing", remedy="Copy it again from its source.")


def broken(error: Exception, what: str = "The archive") -> ItemError:
    """The error of a container or a member that its library could not read: it is damaged, or the machine failed it."""
    detail = str(error).strip() or type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, MemoryError) or number == errno.ENOMEM:
        return ItemError(
            "out_of_memory",
            f"{what} needs more memory than there is",
            remedy="Lower the profile's workers or its size limits; the next run tries again.",
        )
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return ItemError(
            "no_space",
            f"There is no space left to unpack to, in {tempfile.gettempdir()}",
            remedy="Make room there, or set TMPDIR to a folder with more; the next run tries again.",
        )
    # A damaged file sends its reader to places before its start, which the system refuses.
    if number is not None and number != errno.EINVAL:
        return ItemError(
            "unreadable",
            f"{what} cannot be read: {os.strerror(number)}",
            remedy="Check the disk and the permissions; the next run tries again.",
        )
    return ItemError("corrupt", f"{what} is damaged: {detail[:200]}", remedy="Copy it again from its source.")
