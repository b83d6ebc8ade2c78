"""Books in 7-Zip files (CB7). They are solid: all pages are unpacked at once, into a private folder."""

from __future__ import annotations

import itertools
import tempfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import py7zr
from py7zr.exceptions import ArchiveError
from py7zr.io import Py7zIO, WriterFactory

from pipelines.comics.containers import DAMAGE, Container, Limits, Member, broken, is_unsafe
from pipelines.comics.page_names import is_comic_info, is_page
from pipelines.errors import ItemError

_ERRORS = (ArchiveError, *DAMAGE)


class _File(Py7zIO):
    """A file that stops growing at its declared size: a lying header fills no disk."""

    def __init__(self, path: Path, most: int) -> None:
        self._file: BinaryIO = path.open("w+b")
        self._most = most

    def write(self, s: Any) -> int:
        room = max(self._most - self._file.tell(), 0)
        self._file.write(s[:room])
        return len(s)

    def read(self, size: int | None = None) -> bytes:
        return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def flush(self) -> None:
        self._file.flush()

    def size(self) -> int:
        return Path(self._file.name).stat().st_size

    def close(self) -> None:
        self._file.close()


class _Files(WriterFactory):
    """Gives each member a numbered file: names from an archive never reach the disk."""

    def __init__(self, folder: Path, sizes: dict[str, int]) -> None:
        self._folder = folder
        # The library asks for files by their paths below the folder, without `.` and doubled slashes; it adds a number
        # to all but the first of one name.
        self._sizes = {str(folder / name): size for name, size in sizes.items()}
        self._paths: dict[str, Path] = {}
        self._open: list[_File] = []
        self._numbers = itertools.count()

    def create(self, filename: str) -> Py7zIO:
        path = self._paths[filename] = self._folder / str(next(self._numbers))
        file = _File(path, self._sizes.get(filename, 0))
        self._open.append(file)
        return file

    def path(self, name: str) -> Path | None:
        """Where the member of that name was unpacked to."""
        return self._paths.get(str(self._folder / name))

    def close(self) -> OSError | None:
        """Close all files; returns the first error of one whose last bytes could not be written."""
        first = None
        for file in self._open:
            try:
                file.close()
            except OSError as error:
                first = first or error
        return first


class SevenZipContainer(Container):
    """A 7-Zip file. Memory is bounded by the limit on a member, the private folder by the one on all together."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._limits = limits
        try:
            self._archive = py7zr.SevenZipFile(path)
        except py7zr.PasswordRequired:
            raise _encrypted() from None
        except _ERRORS as error:
            raise broken(error) from None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files: _Files | None = None
        self._failed: ItemError | None = None
        self._members: dict[str, py7zr.FileInfo] = {}

    def list(self) -> list[Member]:
        """All files by the archive's directory."""
        if self._archive.needs_password():
            raise _encrypted()
        try:
            found = [file for file in self._archive.list() if not file.is_directory]
        except _ERRORS as error:
            raise broken(error) from None
        self._members = {file.filename: file for file in reversed(found)}
        return [Member(file.filename, file.uncompressed or 0) for file in found]

    def read(self, member: Member, most: int) -> bytes:
        """A file from the private folder; the first call unpacks all pages."""
        files = self._files = self._files or self._unpacked()
        path = files.path(member.name)
        if path is None or path.stat().st_size < member.size:
            raise self._failed or broken(EOFError("its data end early"), "The file")
        with path.open("rb") as file:
            data = file.read(most + 1)
        checksum = self._members[member.name].crc32
        if checksum is not None and len(data) == member.size and zlib.crc32(data) != checksum:
            raise broken(ValueError("its checksum is wrong"), "The file")
        return data

    def _unpacked(self) -> _Files:
        self._folder = tempfile.TemporaryDirectory(prefix="storyloom-")
        wanted = {
            name: file.uncompressed or 0
            for name, file in self._members.items()
            if not is_unsafe(name)
            and (file.uncompressed or 0) <= self._limits.max_member_bytes
            and (is_page(name) or is_comic_info(name))
        }
        folder = Path(self._folder.name).resolve()
        files = _Files(folder, wanted)
        try:
            self._archive.extract(folder, targets=list(wanted), factory=files)
        except py7zr.PasswordRequired:
            self._failed = _encrypted()
        except _ERRORS as error:
            self._failed = broken(error)
        finally:
            unwritten = files.close()
        if unwritten is not None:
            self._failed = broken(unwritten)
        return files

    def close(self) -> None:
        """Close the file and remove the private folder."""
        self._archive.close()
        if self._folder is not None:
            self._folder.cleanup()


def _encrypted() -> ItemError:
    return ItemError("encrypted", "The archive needs a password", remedy="Pack the book anew without one.")


def open_container(path: Path, limits: Limits) -> Container:
    """Open a 7-Zip file."""
    return SevenZipContainer(path, limits)
