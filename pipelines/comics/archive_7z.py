"""Books in 7-Zip files (CB7). They are solid: all pages are unpacked at once, into a private folder."""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import py7zr
from py7zr.exceptions import ArchiveError
from py7zr.io import Py7zIO, WriterFactory

from pipelines.comics.archives import Container, Limits, Member, broken, is_unsafe
from pipelines.comics.page_names import is_page
from pipelines.errors import ItemError

_ERRORS = (
    ArchiveError,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
)
"""What the library raises on damaged files, of which many are not its own errors."""


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
        self._folder, self._sizes = folder, sizes
        self.paths: dict[str, Path] = {}
        self._open: list[_File] = []

    def create(self, filename: str) -> Py7zIO:
        path = self.paths[filename] = self._folder / str(len(self.paths))
        self._open.append(_File(path, self._sizes.get(filename, 0)))
        return self._open[-1]

    def close(self) -> None:
        for file in self._open:
            file.close()


class SevenZipContainer(Container):
    """A 7-Zip file."""

    def __init__(self, path: Path) -> None:
        try:
            self._archive = py7zr.SevenZipFile(path)
        except py7zr.PasswordRequired:
            raise _encrypted() from None
        except _ERRORS as error:
            raise broken(error) from None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._paths: dict[str, Path] = {}
        self._failed: ItemError | None = None
        self._members: list[Member] = []

    def list(self) -> list[Member]:
        """All files by the archive's directory."""
        if self._archive.needs_password():
            raise _encrypted()
        try:
            self._members = [
                Member(f.filename, f.uncompressed or 0) for f in self._archive.list() if not f.is_directory
            ]
        except _ERRORS as error:
            raise broken(error) from None
        return self._members

    def read(self, member: Member, most: int) -> bytes:
        """A file from the private folder; the first call unpacks all pages."""
        if self._folder is None:
            self._unpack(most)
        path = self._paths.get(member.name)
        size = path.stat().st_size if path else -1
        if path is None or size < member.size:
            raise self._failed or broken(EOFError("its data end early"), "The file")
        with path.open("rb") as file:
            return file.read(most + 1)

    def _unpack(self, most: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="storyloom-")
        wanted = {
            m.name: m.size
            for m in self._members
            if not is_unsafe(m.name)
            and m.size <= most
            and (is_page(m.name) or m.name.lower().endswith("comicinfo.xml"))
        }
        files = _Files(Path(self._folder.name), wanted)
        try:
            self._archive.extract(targets=list(wanted), factory=files)
        except py7zr.PasswordRequired:
            self._failed = _encrypted()
        except (*_ERRORS, py7zr.UnsupportedCompressionMethodError) as error:
            self._failed = broken(error)
        finally:
            files.close()
        self._paths = files.paths

    def close(self) -> None:
        """Close the file and remove the private folder."""
        self._archive.close()
        if self._folder is not None:
            self._folder.cleanup()


def _encrypted() -> ItemError:
    return ItemError("encrypted", "The archive needs a password", remedy="Pack the book anew without one.")


def open_container(path: Path, limits: Limits) -> Container:
    """Open a 7-Zip file."""
    return SevenZipContainer(path)
