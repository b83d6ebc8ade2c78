"""Books that are folders of pictures."""

from __future__ import annotations

import os
from pathlib import Path

from pipelines.comics.archives import Container, Limits, Member
from pipelines.errors import ItemError


class FolderContainer(Container):
    """A folder and all folders below it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def list(self) -> list[Member]:
        """All files, by their paths below the folder. Folders that are links are not entered."""
        found = []
        for folder, folders, files in os.walk(self._path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                path = Path(folder, name)
                try:
                    size = path.stat().st_size
                except OSError:
                    size = 0
                found.append(Member(path.relative_to(self._path).as_posix(), size))
        return found

    def read(self, member: Member, most: int) -> bytes:
        """A file's bytes; a link out of the folder is refused."""
        path = self._path / member.name
        try:
            if not path.resolve().is_relative_to(self._path.resolve()):
                raise ItemError(
                    "unsafe_name", "The file is a link out of the book's folder", remedy="Copy the file itself."
                )
            with path.open("rb") as file:
                return file.read(most + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ItemError(
                "unreadable", f"The file cannot be read: {reason}", remedy="Check its permissions."
            ) from None


def open_container(path: Path, limits: Limits) -> Container:
    """Open a folder."""
    return FolderContainer(path)
