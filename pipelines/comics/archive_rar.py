"""Books in RAR files (CBR). Unpacking compressed ones needs a tool that can: unrar, unar, 7z or bsdtar."""

from __future__ import annotations

import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import rarfile

from pipelines.comics.containers import DAMAGE, Container, Limits, Member, broken, cut_off
from pipelines.errors import ItemError

_ERRORS = (rarfile.Error, *DAMAGE)
_BLOCK = 2**20
_WITHOUT_END_MARK = 20
"""RAR 2.0, times ten: archives of that version and older ones have no end mark."""


class _Rar(rarfile.RarFile):
    """Reads the entry that it is given, where the library takes the last one of that name."""

    def getinfo(self, name: rarfile.RarInfo | str) -> rarfile.RarInfo:
        return name if isinstance(name, rarfile.RarInfo) else super().getinfo(name)


class RarContainer(Container):
    """A RAR file; its directory is read by us, its members by the tool.

    A solid archive is one stream, in which a file can only be reached through all before it: it is unpacked once, into
    a private folder.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._failed: OSError | None = None
        self._has_end = False
        try:
            self._rar = _Rar(str(path), info_callback=self._look_for_end)
            self._files = [info for info in self._rar.infolist() if not info.is_dir()]
        except rarfile.PasswordRequired:
            raise _encrypted() from None
        except _ERRORS as error:
            raise broken(error) from None
        self._by_name = {info.filename: info for info in reversed(self._files)}
        is_packed = any(info.compress_type != rarfile.RAR_M0 for info in self._files)
        if is_packed:
            _ask_for_tool()
        # Tools differ in what they print for links.
        has_links = any(info.is_symlink() or info.file_redir for info in self._files)
        self._is_one_stream = is_packed and not has_links and self._rar.is_solid()

    def _look_for_end(self, header: rarfile.RarInfo) -> None:
        self._has_end = self._has_end or header.type == rarfile.RAR_BLOCK_ENDARC

    def list(self) -> list[Member]:
        """All files, and links, which then fail; folders are left out."""
        if not self._files and self._rar.needs_password():
            raise _encrypted()
        return [
            Member(str(i.filename), i.file_size or 0, i.compress_size or 0, bool(i.needs_password()))
            for i in self._files
        ]

    def faults(self) -> Sequence[ItemError]:
        """The library takes damage for the end."""
        if self._rar.strerror():
            return [broken(ValueError(self._rar.strerror()))]
        old = max((info.extract_version or 0 for info in self._files), default=50) <= _WITHOUT_END_MARK
        return [] if self._has_end or old else [cut_off()]

    def read(self, member: Member, most: int) -> bytes:
        """Unpack one file, checking its checksum; of a solid archive the first call unpacks all."""
        info = self._by_name[member.name]
        if info.is_symlink():
            raise ItemError("unsafe_name", "The file is a link to another file", remedy="Pack the file itself.")
        try:
            if self._is_one_stream:
                return self._read_unpacked(info, most)
            with self._rar.open(info) as file:
                return file.read(most + 1)
        except rarfile.PasswordRequired:
            raise _encrypted() from None
        except rarfile.RarMemoryError:
            raise broken(MemoryError(), "The file") from None
        except _ERRORS as error:
            raise broken(error, "The file") from None

    def _read_unpacked(self, info: rarfile.RarInfo, most: int) -> bytes:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="storyloom-")
            try:
                self._unpack(Path(self._folder.name))
            except OSError as error:
                self._failed = error
        path = Path(self._folder.name, str(self._files.index(info)))
        data = b""
        if path.exists():
            with path.open("rb") as file:
                data = file.read(most + 1)
        size = info.file_size or 0
        if len(data) < min(size, most + 1):
            raise self._failed or EOFError("its data end early")
        if len(data) == size and not _is_whole(data, info):
            raise ValueError("its checksum is wrong")
        return data

    def _unpack(self, folder: Path) -> None:
        """Write each file to one named by its number: the tool prints them one after another, and sees no name of theirs."""
        command = rarfile.tool_setup().open_cmdline(None, str(self._path))
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet) as tool:
            assert tool.stdout is not None
            for number, info in enumerate(self._files):
                with (folder / str(number)).open("wb") as file:
                    _copy(tool.stdout, file, info.file_size or 0, self._limits.max_member_bytes)
            tool.kill()  # some tools never end on a damaged archive

    def close(self) -> None:
        """Close the file and remove the private folder."""
        self._rar.close()
        if self._folder is not None:
            self._folder.cleanup()


def _copy(source: IO[bytes], target: IO[bytes], size: int, most: int) -> None:
    """Move on by `size` bytes, and keep `most` of them."""
    while size > 0 and (block := source.read(min(size, _BLOCK))):
        target.write(block[: max(most - target.tell(), 0)])
        size -= len(block)


def _is_whole(data: bytes, info: rarfile.RarInfo) -> bool:
    """Whether the checksum is right, of the two kinds that there are the one that the archive holds."""
    if info.CRC is not None:
        return zlib.crc32(data) == info.CRC
    expected = getattr(info, "blake2sp_hash", None)
    return expected is None or rarfile.Blake2SP(data).digest() == expected


def _ask_for_tool() -> None:
    try:
        rarfile.tool_setup()
    except rarfile.RarCannotExec:
        raise ItemError(
            "tool_missing",
            "The book is a RAR file, and no program that unpacks them is installed",
            remedy="Install unrar, unar, 7z or bsdtar (the next run tries again), or pack the book as CBZ.",
        ) from None


def _encrypted() -> ItemError:
    return ItemError("encrypted", "The archive needs a password", remedy="Pack the book anew without one.")


def open_container(path: Path, limits: Limits) -> Container:
    """Open a RAR file."""
    return RarContainer(path, limits)
