"""Books that are folders of pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pipelines.comics.containers import Container, Limits, Member, not_a_file
from pipelines.comics.folder_files import FolderFiles, folder_files
from pipelines.errors import ItemError


class FolderContainer(Container):
    """A folder and all folders below it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found = FolderFiles()

    def list(self) -> list[Member]:
        """What can be a page, ComicInfo.xml or an archive, by its path below the folder."""
        self._found = folder_files(self._path)
        return [Member(name, self._size(name)) for name in [*self._found.files, *self._found.archives]]

    def _size(self, name: str) -> int:
        try:
            return (self._path / name).stat().st_size
        except OSError:
            return 0

    def faults(self) -> Sequence[ItemError]:
        """Folders that are not read."""
        return list(self._found.unread.values())

    def read(self, member: Member, most: int) -> bytes:
        """A file's bytes; a link out of the folder is refused, and what is no file is not waited for."""
        path = self._path / member.name
        try:
            target = Path(os.path.realpath(path, strict=True))
            if not target.is_relative_to(self._path.resolve()):
                raise ItemError(
                    "unsafe_name", "The file is a link out of the book's folder", remedy="Copy the file itself."
                )
            if not target.is_file():
                raise not_a_file()
            with target.open("rb") as file:
                return file.read(most + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ItemError(
                "unreadable", f"The file cannot be read: {reason}", remedy="Check its permissions."
            ) from None


def open_container(path: Path, limits: Limits) -> Container:
    """Open a folder."""
    return FolderContainer(path)
