"""Finding the books of a library, and noticing that one has changed.

What does not belong here: reading a book (`archives`).
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pipelines.comics.archives import container_kind
from pipelines.comics.catalog import CATALOG, CatalogEntry, match, read_catalog
from pipelines.comics.page_names import is_page, printable
from pipelines.errors import ItemError
from pipelines.identity import fingerprint
from pipelines.stage import Failure

_ARCHIVES = {
    ".cbz": "zip",
    ".zip": "zip",
    ".cb7": "7z",
    ".7z": "7z",
    ".cbt": "tar",
    ".tar": "tar",
    ".tgz": "tar",
    ".tbz2": "tar",
    ".txz": "tar",
    ".tar.gz": "tar",
    ".tar.bz2": "tar",
    ".tar.xz": "tar",
    ".cbr": "rar",
    ".rar": "rar",
    ".pdf": "pdf",
    ".epub": "epub",
}
_BESIDE = frozenset(
    f".{extension}"
    for group in ("txt md nfo log url", "xml json yaml yml csv tsv ini db", "html htm", "sfv md5 sha256")
    for extension in group.split()
)
"""Extensions of files that often lie beside books and are none."""
_ANNOTATIONS = "annotations"


@dataclass(frozen=True)
class BookSource:
    """A book as it was found: `path` absolute, `relative_path` below `comics/` as it is on disk."""

    book_id: str
    path: str
    relative_path: str
    container: str
    catalog: CatalogEntry = field(default_factory=CatalogEntry)


def find_books(comics: Path) -> tuple[list[BookSource], list[Failure]]:
    """All books below a folder, sorted by id, and what looks like one and cannot be used.

    A file with the extension of an archive is a book. A folder is a book when it holds pictures and no archive, or when
    the catalog names it; the pictures in folders below it are its own. Hidden files, files of known other kinds and the
    folder `annotations` are passed over. Of two books with one id the first path counts. The catalog lies in the folder
    or beside it.
    """
    catalogs = [path for path in (comics / CATALOG, comics.parent / CATALOG) if path.is_file()]
    entries, failures = read_catalog(catalogs[0]) if catalogs else ({}, [])
    named = set(entries)
    books: dict[str, BookSource] = {}
    for found in _walk(comics, comics, named):
        if isinstance(found, Failure):
            failures.append(found)
        elif found.book_id != printable(found.book_id):
            message = "The book's name holds bytes that are no UTF-8, so that no table can hold it. Rename it."
            failures.append(Failure(found.relative_path, "bad_name", message))
        elif found.book_id in books:
            first = books[found.book_id].relative_path
            message = f"The book has the same id as {first} and is left out. Rename one of the two."
            failures.append(Failure(found.relative_path, "id_collision", message))
        else:
            books[found.book_id] = found
    if catalogs:
        matched, unknown = match(entries, [(b.book_id, b.relative_path) for b in books.values()], catalogs[0])
        books |= {book_id: replace(books[book_id], catalog=entry) for book_id, entry in matched.items()}
        failures += unknown
    return [books[book_id] for book_id in sorted(books)], failures


def _walk(folder: Path, comics: Path, named: set[str]) -> Iterator[BookSource | Failure]:
    """Books and failures below a folder, in the order of their paths."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield _failure(
            folder, comics, "unreadable", f"The folder cannot be read: {error.strerror}. Check its permissions."
        )
        return
    entries = [e for e in entries if not e.name.startswith(".") and not (folder == comics and e.name == _ANNOTATIONS)]
    relative = folder.relative_to(comics).as_posix()
    pictures = [e.name for e in entries if is_page(e.name) and not e.is_dir()]
    has_archives = any(_extension(e.name) for e in entries)
    if folder != comics and (_nfc(relative) in named or (pictures and not has_archives)):
        yield BookSource(_nfc(relative), str(folder), relative, "folder")
        return
    if pictures:
        message = (
            f"{len(pictures)} pictures lie beside other books ({pictures[0]}, ...) and are in none. "
            "Put the pages of a book in a folder of their own."
        )
        yield _failure(folder, comics, "loose_pictures", message)
    for entry in entries:
        yield from _entry(entry, comics, named)


def _entry(entry: os.DirEntry[str], comics: Path, named: set[str]) -> Iterator[BookSource | Failure]:
    path = Path(entry.path)
    extension = _extension(entry.name)
    if entry.is_symlink() and (entry.is_dir() or not path.resolve().is_relative_to(comics.resolve())):
        yield _failure(path, comics, "link", "Links to folders and out of the library are not followed. Copy the book.")
    elif entry.is_dir():
        yield from _walk(path, comics, named)
    elif extension:
        relative = path.relative_to(comics).as_posix()
        yield BookSource(_nfc(relative[: -len(extension)]), str(path), relative, _container(path, extension))
    elif (
        not is_page(entry.name)
        and PurePosixPath(entry.name).suffix.lower() not in _BESIDE
        and entry.name != "Thumbs.db"
    ):
        kinds = "CBZ, ZIP, CB7, 7Z, CBT, TAR, CBR, RAR, PDF, EPUB"
        yield _failure(
            path, comics, "unknown_file", f"The file is no book that can be read. Books are {kinds} and folders."
        )


def _container(path: Path, extension: str) -> str:
    """What the file is by its content; where that cannot be told, what its name says (reading it then says why)."""
    try:
        return container_kind(path)
    except ItemError:
        return _ARCHIVES[extension]


def _extension(name: str) -> str:
    """The archive's extension as it is written (`.tar.gz` is one), or nothing for other files."""
    suffixes = PurePosixPath(name).suffixes
    for known in ("".join(suffixes[-2:]), "".join(suffixes[-1:])):
        if known.lower() in _ARCHIVES and len(known) < len(name):
            return known
    return ""


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _failure(path: Path, comics: Path, kind: str, message: str) -> Failure:
    return Failure(path.relative_to(comics).as_posix(), kind, message)


def _files(source: BookSource) -> Iterator[tuple[str, Path]]:
    """The book's files with their names in it, sorted."""
    root = Path(source.path)
    if source.container != "folder":
        yield "", root
        return
    found = [Path(folder, name) for folder, _, names in os.walk(root) for name in names]
    yield from sorted((printable(path.relative_to(root).as_posix()), path) for path in found)


def source_stat(source: BookSource) -> str:
    """A token that changes when a file of the book does; only names, sizes and times are read. Raises OSError."""
    return fingerprint([[name, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for name, s in _stats(source)])


def _stats(source: BookSource) -> Iterator[tuple[str, os.stat_result]]:
    for name, path in _files(source):
        try:
            yield name, path.stat()
        except FileNotFoundError:
            yield name, path.lstat()  # a link to nothing


def source_digest(source: BookSource) -> str:
    """Digest of the book's content, the names of a folder's files included. Raises OSError."""
    return fingerprint([[name, _file_digest(path)] for name, path in _files(source)])


def _file_digest(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return "a link to nothing"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
