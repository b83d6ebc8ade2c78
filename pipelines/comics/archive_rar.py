"""Books in RAR files (CBR). Unpacking needs a tool that understands them: unrar, unar, 7z or bsdtar."""

from __future__ import annotations

from pathlib import Path

import rarfile

from pipelines.comics.archives import DAMAGE, Container, Limits, Member, broken
from pipelines.errors import ItemError

_ERRORS = (rarfile.Error, *DAMAGE)


class RarContainer(Container):
    """A RAR file; its directory is read by us, its members by the tool."""

    def __init__(self, path: Path) -> None:
        try:
            rarfile.tool_setup()
        except rarfile.RarCannotExec:
            raise ItemError(
                "tool_missing",
                "The book is a RAR file, and no program that unpacks them is installed",
                remedy="Install unrar, unar, 7z or bsdtar, or pack the book as CBZ.",
            ) from None
        try:
            self._rar = rarfile.RarFile(str(path))
        except rarfile.PasswordRequired:
            raise _encrypted() from None
        except _ERRORS as error:
            raise broken(error) from None

    def list(self) -> list[Member]:
        """All files; links and folders left out."""
        if not self._rar.infolist() and self._rar.needs_password():
            raise _encrypted()
        return [
            Member(str(i.filename), i.file_size or 0, i.compress_size or 0, bool(i.needs_password()))
            for i in self._rar.infolist()
            if i.is_file()
        ]

    def read(self, member: Member, most: int) -> bytes:
        """Unpack one file, checking its checksum."""
        try:
            with self._rar.open(member.name) as file:
                return file.read(most + 1)
        except rarfile.PasswordRequired:
            raise _encrypted() from None
        except _ERRORS as error:
            raise broken(error, "The file") from None

    def close(self) -> None:
        """Close the file."""
        self._rar.close()


def _encrypted() -> ItemError:
    return ItemError("encrypted", "The archive needs a password", remedy="Pack the book anew without one.")


def open_container(path: Path, limits: Limits) -> Container:
    """Open a RAR file."""
    return RarContainer(path)
