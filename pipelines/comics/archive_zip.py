"""Books in ZIP files (CBZ)."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from pipelines.comics.containers import DAMAGE, Container, Limits, Member, broken
from pipelines.comics.page_names import is_page, printable
from pipelines.errors import ItemError

_ERRORS = (zipfile.BadZipFile, *DAMAGE)
_ENCRYPTED = 0x1
_LONGEST_END = 22 + 2**16
_COUNTED_ELSEWHERE = 0xFFFF


class ZipContainer(Container):
    """A ZIP file; its directory is read once, members when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._lost: list[ItemError] = []
        self._by_name: dict[str, zipfile.ZipInfo] = {}
        try:
            self._zip = zipfile.ZipFile(path)
            if not self._is_complete(path):
                self._lost.append(broken(ValueError("its directory names fewer or more files than it says")))
        except _ERRORS as error:
            raise broken(error) from None

    def _is_complete(self, path: Path) -> bool:
        """Whether the directory holds as many entries as its end record says (modulo 65,536); the library does not ask."""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LONGEST_END))
            end = file.read()
        at = end.rfind(b"PK\5\6")
        said = int.from_bytes(end[at + 10 : at + 12], "little")
        return said in (len(self._zip.infolist()) % 2**16, _COUNTED_ELSEWHERE)

    def list(self) -> list[Member]:
        """All files."""
        found = self._zip.infolist()
        self._by_name = {info.filename: info for info in reversed(found)}
        self._lost += [fault for info in found if not is_page(info.filename) and (fault := self._misnamed(info))]
        return [
            Member(info.filename, info.file_size, info.compress_size, bool(info.flag_bits & _ENCRYPTED))
            for info in found
            if not info.filename.endswith("/")
        ]

    def _misnamed(self, info: zipfile.ZipInfo) -> ItemError | None:
        """The fault of what is no page by the directory, which has no checksum, and may be one by its own header."""
        try:
            self._zip.open(info).close()
        except RuntimeError:  # a password, or a way of packing that is not known: of no concern for what is no page
            return None
        except _ERRORS as error:
            fault = broken(error)
            return ItemError(fault.kind, fault.what, where=printable(info.filename), remedy=fault.remedy)
        return None

    def faults(self) -> Sequence[ItemError]:
        """What the directory does not name, or does not name rightly."""
        return self._lost

    def read(self, member: Member, most: int) -> bytes:
        """Unpack one file, checking its checksum."""
        try:
            with self._zip.open(self._by_name[member.name]) as file:
                # zipfile unpacks as much as it is asked for, even where the directory claims a smaller size.
                return file.read(min(member.size, most) + 1)
        except RuntimeError as error:
            raise ItemError(
                "unsupported", f"The file cannot be unpacked: {error}", remedy="Pack the book anew."
            ) from None
        except _ERRORS as error:
            raise broken(error, "The file") from None

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def open_container(path: Path, limits: Limits) -> Container:
    """Open a ZIP file."""
    return ZipContainer(path)
