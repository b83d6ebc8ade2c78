"""Books in TAR files (CBT), compressed or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pipelines.comics.containers import DAMAGE, Container, Limits, Member, broken, cut_off
from pipelines.errors import ItemError
from pipelines.stage import PASSING

_ERRORS = (tarfile.TarError, *DAMAGE)
_BLOCK = 2**20
_MOST_ZEROS = 2 * tarfile.RECORDSIZE
"""Programs fill the last record with zeros after the end mark of two blocks."""


class TarContainer(Container):
    """A TAR file. A compressed one is unpacked once to a temporary file: it could only be read from its start.

    What comes before a damage is kept; the damage itself is one of the `faults`.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._file, self._fault = _plain(path, limits)
        try:
            self._tar = tarfile.TarFile(fileobj=self._file)
        except _ERRORS as error:
            self._file.close()
            raise broken(error) from None
        self._members: dict[str, tarfile.TarInfo] = {}

    def list(self) -> list[Member]:
        """All files, and links, which then fail; devices and folders are no files."""
        found: list[Member] = []
        try:
            for info in self._tar:
                if info.isfile() or info.issym() or info.islnk():
                    self._members.setdefault(info.name, info)
                    found.append(Member(info.name, info.size))
            self._fault = self._fault or self._fault_at_end()
        except _ERRORS as error:
            self._fault = self._fault or broken(error)
        return found

    def _fault_at_end(self) -> ItemError | None:
        """The library takes whatever is no header for the end, which is a block of zeros with nothing but zeros after it."""
        self._file.seek(self._tar.offset)
        block = self._file.read(tarfile.BLOCKSIZE)
        if len(block) < tarfile.BLOCKSIZE:
            return cut_off()
        while block:
            if block.strip(b"\0"):
                place = self._file.tell() - len(block)
                return broken(ValueError(f"no file begins at byte {place:,}, and what comes after is lost"))
            block = self._file.read(_BLOCK)
        if self._file.tell() % tarfile.BLOCKSIZE:
            return cut_off("The archive ends inside a block")
        # A download that broke off may have reserved its space.
        return cut_off("The archive ends in zeros") if self._file.tell() - self._tar.offset > _MOST_ZEROS else None

    def faults(self) -> Sequence[ItemError]:
        """The first damage."""
        return [self._fault] if self._fault else []

    def read(self, member: Member, most: int) -> bytes:
        """A file's bytes; a link is not followed, it may lead anywhere or in a circle."""
        if not self._members[member.name].isfile():
            raise ItemError("unsafe_name", "The file is a link to another file", remedy="Pack the file itself.")
        try:
            file = self._tar.extractfile(self._members[member.name])
            return file.read(most + 1) if file else b""
        except _ERRORS as error:
            raise broken(error, "The file") from None

    def close(self) -> None:
        """Close the file; a temporary one is gone with that."""
        self._tar.close()
        self._file.close()


def _plain(path: Path, limits: Limits) -> tuple[IO[bytes], ItemError | None]:
    """The TAR file itself, unpacked into a temporary file where it is compressed, and what ended that early."""
    with path.open("rb") as file:
        head = file.read(6)
    openers: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
    opener = next((found for magic, found in openers.items() if head.startswith(magic)), None)
    if opener is None:
        return path.open("rb"), None
    fault = None
    unpacked = tempfile.TemporaryFile(prefix="storyloom-")  # noqa: SIM115 (the caller closes it)
    try:
        with opener(path, "rb") as packed:
            # `read1` gives what there is before it meets the damage, `read` would throw that away.
            while block := packed.read1(_BLOCK):
                unpacked.write(block)
                unpacked.flush()
                if unpacked.tell() > limits.max_total_bytes:
                    most = limits.max_total_bytes >> 20
                    raise ItemError(
                        "too_large",
                        f"The archive unpacks to more than {most:,} MB",
                        remedy="Raise the limit in the profile.",
                    )
    except ItemError:
        unpacked.close()
        raise
    except _ERRORS as error:
        fault = broken(error)
        # What the machine failed comes whole another time, and a file on a full disk cannot even be closed in peace.
        if fault.kind in PASSING or not unpacked.tell():
            with suppress(OSError):
                unpacked.close()
            raise fault from None
    unpacked.seek(0)
    return unpacked, fault


def open_container(path: Path, limits: Limits) -> Container:
    """Open a TAR file."""
    return TarContainer(path, limits)
