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
from pipelines.comics.folder_files import folder_files, is_lake
from pipelines.comics.page_names import ARCHIVES, archive_extension, is_page, printable
from pipelines.errors import ItemError, LibraryError
from pipelines.identity import fingerprint
from pipelines.stage import Failure

_BESIDE = frozenset(
    f".{extension}"
    for group in ("txt md nfo log url", "xml json yaml yml csv tsv ini db", "html htm", "sfv md5 sha256")
    for extension in group.split()
)
"""Extensions of files that often lie beside books and are none."""
_ANNOTATIONS = "annotations"
COMICS = "comics"
"""The folder of books in a library that holds other things too."""
_OTHERS = frozenset([COMICS, "videos", "strips"])
"""Folders of such a library in which no books are looked for beside `comics`."""
_THUMBNAILS = frozenset({"folder", "poster", "thumb", "thumbnail"})
"""Names of pictures that file managers and media servers leave in folders of books."""


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

    A file with the extension of an archive is a book. A folder is a book when it holds pictures and neither it nor a
    folder below it holds an archive, or when the catalog names it; the pictures in folders below it are its own. Hidden
    files, files of known other kinds, the folder `annotations` and lakes are passed over. Of two books whose ids are one, or
    differ in case alone (many disks then take their shards for one file), the first path counts. The catalog lies in the
    folder, or beside it where it is called `comics`. A thumbnail that a file manager left in a folder of folders
    (`folder.jpg`) makes no book of it. Raises LibraryError where there is a catalog that cannot be read.
    """
    # Beside it only where it is the library's folder of comics: else what lies beside is not the library's.
    beside = [comics.parent / CATALOG] if comics.name == COMICS else []
    catalogs = [path for path in (comics / CATALOG, *beside) if os.path.lexists(path)]
    if len(catalogs) > 1:
        remedy = "Keep one of them: the books' splits are what it says."
        raise LibraryError("the library has two catalogs", where=" and ".join(map(str, catalogs)), remedy=remedy)
    entries, failures = read_catalog(catalogs[0]) if catalogs else ({}, [])
    named = set(entries)
    books: dict[str, BookSource] = {}
    taken: dict[str, str] = {}
    for found in _walk(comics, comics, named):
        if isinstance(found, Failure):
            failures.append(found)
        elif found.book_id != printable(found.book_id):
            message = "The book's name holds bytes that are no UTF-8, so that no table can hold it. Rename it."
            failures.append(Failure(found.relative_path, "bad_name", message))
        elif first := taken.get(found.book_id.casefold()):
            same = "the same id as" if found.book_id in books else "an id that differs in case alone from that of"
            message = f"The book has {same} {first} and is left out. Rename one of the two."
            failures.append(Failure(found.relative_path, "id_collision", message))
        else:
            books[found.book_id], taken[found.book_id.casefold()] = found, found.relative_path
    if catalogs:
        matched, unknown = match(entries, [(b.book_id, b.relative_path) for b in books.values()], catalogs[0])
        books |= {book_id: replace(books[book_id], catalog=entry) for book_id, entry in matched.items()}
        failures += unknown
    return [books[book_id] for book_id in sorted(books)], failures


def books_beside(library: Path) -> list[Failure]:
    """What holds books beside the folder `comics` of a library, which alone is read: a failure for each file or folder."""
    if not (library / COMICS).is_dir():
        return []
    failures = []
    for found in _inside(library, library, set()):
        if not isinstance(found, Path):
            books = [found] if isinstance(found, BookSource) else []
        elif found.name in _OTHERS:
            books = []
        else:
            books = (book for book in _walk(found, library, set()) if isinstance(book, BookSource))
        if book := next(iter(books), None):
            what = f"{book.relative_path} lies beside the folder `{COMICS}`, which alone is read: what is there is left out."
            remedy = f"Move it into `{COMICS}`, or rename that folder: then all of the library is read."
            failures.append(Failure(book.relative_path.partition("/")[0], "beside_comics", f"{what} {remedy}"))
    return failures


def _walk(folder: Path, comics: Path, named: set[str]) -> Iterator[BookSource | Failure]:
    """Books and failures below a folder, in the order of their paths."""
    left: list[Path | BookSource | Failure] = [folder]
    while left:
        found = left.pop()
        if isinstance(found, Path):
            left += reversed([*_inside(found, comics, named)])
        else:
            yield found


def _inside(folder: Path, comics: Path, named: set[str]) -> Iterator[Path | BookSource | Failure]:
    """What a folder is or holds: books, failures, and folders to look into."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield _failure(
            folder, comics, "unreadable", f"The folder cannot be read: {error.strerror}. Check its permissions."
        )
        return
    entries = [e for e in entries if not e.name.startswith(".") and not (folder == comics and e.name == _ANNOTATIONS)]
    relative = folder.relative_to(comics).as_posix()
    kinds = {e.name: _kind(e, comics) for e in entries}
    pictures = [e.name for e in entries if is_page(e.name) and kinds[e.name] != "folder"]
    if "folder" in kinds.values() and _nfc(relative) not in named:
        pictures = [name for name in pictures if PurePosixPath(name).stem.lower() not in _THUMBNAILS]
    if folder != comics and (_nfc(relative) in named or (pictures and not folder_files(folder).archives)):
        yield BookSource(_nfc(relative), str(folder), relative, "folder")
        return
    if pictures:
        message = (
            f"{len(pictures)} pictures lie beside other books ({pictures[0]}, ...) and are in none. "
            "Put the pages of a book in a folder of their own."
        )
        yield _failure(folder, comics, "loose_pictures", message)
    for entry in entries:
        yield from _entry(entry, comics)


def _entry(entry: os.DirEntry[str], comics: Path) -> Iterator[Path | BookSource | Failure]:
    path, kind, extension = Path(entry.path), _kind(entry, comics), archive_extension(entry.name)
    passed_over = is_page(entry.name) or PurePosixPath(entry.name).suffix.lower() in _BESIDE
    if kind == "folder":
        if not is_lake(path):
            yield path
    elif kind in _UNUSABLE:
        if kind == "link" or not passed_over:
            yield _failure(path, comics, kind, _UNUSABLE[kind])
    elif extension:
        relative = path.relative_to(comics).as_posix()
        yield BookSource(_nfc(relative[: -len(extension)]), str(path), relative, _container(path, extension))
    elif not passed_over and entry.name != "Thumbs.db":
        kinds = "CBZ, ZIP, CB7, 7Z, CBT, TAR, CBR, RAR, PDF, EPUB"
        yield _failure(
            path, comics, "unknown_file", f"The file is no book that can be read. Books are {kinds} and folders."
        )


_UNUSABLE = {
    "link": "Links to folders and out of the library are not followed. Copy the book.",
    "dead_link": "The link leads nowhere or in a circle. Replace it by the file itself, or remove it.",
    "not_a_file": "It is a pipe, a socket or a device, and no file. Take it out of the library.",
    "unreadable": "The file cannot be looked at. Check its permissions.",
}


def _kind(entry: os.DirEntry[str], comics: Path) -> str:
    """What is found under a name: `file`, `folder`, or why it is neither."""
    try:
        if entry.is_symlink():
            target = os.path.realpath(entry.path, strict=True)
            if entry.is_dir() or not Path(target).is_relative_to(comics.resolve()):
                return "link"
        if entry.is_dir():
            return "folder"
        return "file" if entry.is_file() else "not_a_file"
    except OSError:
        return "dead_link" if entry.is_symlink() else "unreadable"


def _container(path: Path, extension: str) -> str:
    """What the file is by its content; where that cannot be told, what its name says (reading it then says why)."""
    try:
        return container_kind(path)
    except ItemError:
        return ARCHIVES[extension.lower()]


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _failure(path: Path, comics: Path, kind: str, message: str) -> Failure:
    return Failure(path.relative_to(comics).as_posix(), kind, message)


def source_stat(source: BookSource) -> str:
    """A token that changes when a file of the book does; only names, sizes, times and permissions are read."""
    return fingerprint([[name, *_stat(path)] for name, path in _files(source)])


def source_digest(source: BookSource) -> str:
    """Digest of the book's content, the names of a folder's files included. Raises OSError when reading breaks off."""
    return fingerprint([[name, _file_digest(path)] for name, path in _files(source)])


def _files(source: BookSource) -> list[tuple[str, Path]]:
    """What the book is made of, with its name in it: also folders that cannot be read, since one day they can."""
    root = Path(source.path)
    if source.container != "folder":
        return [("", root)]
    found = folder_files(root)
    return sorted((printable(name), root / name) for name in [*found.files, *found.unread])


def _stat(path: Path) -> list[int | bool]:
    try:
        found = path.stat()
    except OSError:  # a link to nothing
        found = path.lstat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, os.access(path, os.R_OK)]


def _file_digest(path: Path) -> str:
    try:
        if not path.is_file():
            return "no file"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return "not readable"
