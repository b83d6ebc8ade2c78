"""Finds and parses the files of an `annotations` folder, each once, and hands each to the reader of its format.

Here: the walk, the limits on a file, strict parsing, and how a format is recognised. Not here: what a format means (its
reader knows), and which book an entry belongs to (`matching`).
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipelines.comics.annotations import coco, comix_xml, label_studio, own_json
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, bad, checked, excerpt
from pipelines.errors import ItemError
from pipelines.stage import Failure

_LIMITS = Limits()
_IGNORED_SUFFIXES = {".md", ".jpg", ".jpeg", ".png", ".webp", ".gif", ".tif", ".tiff", ".bmp", ".avif"}
"""Notes, and the pictures that exports bring along."""
_IGNORED_NAMES = ("readme", "license", "licence", "thumbs.db", "desktop.ini", "__macosx")
_FORMATS = "Storyloom's own JSON, a JSON export of Label Studio, CoMix XML, COCO JSON"


def read_annotation_files(
    folders: Path | Iterable[Path], limits: Limits = _LIMITS
) -> tuple[list[AnnotationEntry], list[Failure]]:
    """The entries of all annotation files below a folder or several, and a failure for all that cannot be used.

    `.json` and `.xml` files are read in order of path, in subfolders too. Hidden files, README and LICENSE, `.md` and pictures
    are ignored; any other file is a failure, so that a forgotten format does not pass for an annotation. A folder that does
    not exist holds none.
    """
    found: list[AnnotationEntry] = []
    failures: list[Failure] = []
    for folder in [folders] if isinstance(folders, Path) else folders:
        for item in _walk(folder):
            if isinstance(item, Failure):
                failures.append(item)
                continue
            path, name = item
            try:
                entries, faults = checked(_read(_content(path, folder, limits), name, limits))
            except ItemError as error:
                failures.append(bad(name, "", error))
                continue
            found += entries
            failures += faults
    return found, failures


def _walk(folder: Path) -> Iterator[tuple[Path, str] | Failure]:
    """Each file to read with its name under the folder, in order of path."""
    unreadable: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=unreadable.append):
        for name in [n for n in folders if os.path.islink(Path(parent, n)) and not _ignored(n)]:
            error = ItemError(
                "outside_folder", "links to folders are not followed", remedy="Put the folder itself here."
            )
            yield bad(_shown(Path(parent, name), folder), "", error)
        folders[:] = sorted(n for n in folders if not _ignored(n))
        for name in sorted(n for n in files if not _ignored(n)):
            path = Path(parent, name)
            yield path, _shown(path, folder)
    for error in unreadable:
        if not isinstance(error, FileNotFoundError):
            reason = ItemError(
                "unreadable", f"the folder cannot be read: {error.strerror}", remedy="Check its permissions."
            )
            yield bad(_shown(Path(error.filename), folder), "", reason)


def _ignored(name: str) -> bool:
    lower = name.lower()
    return lower.startswith((".", *_IGNORED_NAMES)) or Path(lower).suffix in _IGNORED_SUFFIXES


def _shown(path: Path, folder: Path) -> str:
    """The file's name in rows and messages; names that are no Unicode are shown with `?`."""
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode()


def _content(path: Path, folder: Path, limits: Limits) -> bytes:
    if path.suffix.lower() not in (".json", ".xml"):
        raise ItemError("unknown_format", "only .json and .xml files are annotations", remedy=f"Known are {_FORMATS}.")
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ItemError("outside_folder", "the link leads out of the folder", remedy="Put the file itself here.")
        if not stat.S_ISREG(path.stat().st_mode):
            raise ItemError("unreadable", "it is no regular file", remedy="Put a file here.")
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except OSError as error:
        raise ItemError(
            "unreadable", f"the file cannot be read: {error.strerror}", remedy="Check its permissions."
        ) from error
    if len(data) > limits.file_bytes:
        raise ItemError(
            "too_large", f"the file is over {limits.file_bytes} bytes", remedy="Split it, one file for each book."
        )
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise ItemError("empty", "the file is empty", remedy="Export it again.")
    return data


def _read(data: bytes, name: str, limits: Limits) -> Iterator[AnnotationEntry | Failure]:
    if name.lower().endswith(".xml"):
        return comix_xml.read(data, name, limits)
    value = parse_json(data)
    if isinstance(value, dict) and own_json.KEY in value:
        return own_json.read(value, name, limits)
    if coco.is_coco(value):
        return coco.read(value, name, limits)
    if label_studio.is_label_studio(value):
        return label_studio.read(value, name, limits)
    raise ItemError("unknown_format", "the JSON is of no known format", remedy=f"Known are {_FORMATS}.")


def parse_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

    NaN and infinities are let through: the check of each value refuses them, so that one does not cost the whole file.
    Raises `ItemError`: `not_json` with line and column; `duplicate_key`, where a plain parser keeps the last value alone.
    """
    remedy = "Open the file in an editor that checks JSON, or export it again."
    try:
        return json.loads(data, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ItemError("not_json", f"line {error.lineno}, column {error.colno}: {error.msg}", remedy=remedy) from None
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not {error.encoding.upper()}"
        raise ItemError("not_json", what, remedy="Save the file as UTF-8.") from None
    except RecursionError:
        raise ItemError("not_json", "lists or objects are nested too deeply", remedy=remedy) from None
    except ValueError as error:
        raise ItemError("not_json", str(error), remedy=remedy) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        key = next(k for k, _ in pairs if k in seen or seen.add(k))
        raise ItemError(
            "duplicate_key", f"the key {excerpt(key)} stands twice in one object", remedy="Keep one of the two values."
        )
    return value
