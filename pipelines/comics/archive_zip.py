"""Books in ZIP files (CBZ)."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from pipelines.comics.archives import Container, Limits, Member, broken
from pipelines.errors import ItemError

_ENCRYPTED = 0x1


class ZipContainer(Container):
    """A ZIP file; its directory is read once, members when they are asked for."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise broken(error) from None

    def list(self) -> list[Member]:
        """All files; of two with one name the later, as unpackers do."""
        return [
            Member(info.filename, info.file_size, info.compress_size, bool(info.flag_bits & _ENCRYPTED))
            for info in self._zip.infolist()
            if not info.is_dir()
        ]

    def read(self, member: Member, most: int) -> bytes:
        """Unpack one file, checking its checksum."""
        try:
            with self._zip.open(member.name) as file:
                # zipfile unpacks as much as it is asked for, even where the directory claims a smaller size.
                return file.read(min(member.size, most) + 1)
        except (NotImplementedError, RuntimeError) as error:
            raise ItemError(
                "unsupported", f"The file cannot be unpacked: {error}", remedy="Pack the book anew."
            ) from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError) as error:
            raise broken(error, "The file") from None

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def open_container(path: Path, limits: Limits) -> Container:
    """Open a ZIP file."""
    return ZipContainer(path)
