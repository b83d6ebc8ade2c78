"""The files of a folder that is a book: its pages and its ComicInfo.xml, whatever else lies between them.

What does not belong here: which folders are books (`library`), and reading the files (`archive_folder`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pipelines.comics.page_names import archive_extension, is_comic_info, is_hidden, is_page
from pipelines.errors import ItemError


@dataclass(frozen=True)
class FolderFiles:
    """Paths below the folder, with slashes: what can be a page or ComicInfo.xml, archives, and folders that are not read."""

    files: list[str] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    unread: dict[str, ItemError] = field(default_factory=dict)


def folder_files(root: Path) -> FolderFiles:
    """All files in a folder and in those below it, sorted; what systems leave behind is passed over, and so is a lake.

    Links to folders are not followed, so that no circle of links is walked. Links to files are files, and those that
    lead nowhere too: reading them then says why not.
    """
    found, folders = FolderFiles(), [""]
    while folders:
        name = folders.pop()
        try:
            entries = list(os.scandir(root / name))
        except OSError as error:
            found.unread[name] = _unreadable(name, error)
            continue
        for entry in entries:
            path = str(PurePosixPath(name, entry.name))
            if is_hidden(path):
                continue
            if _is_folder(entry) and entry.is_symlink():
                found.unread[path] = _link(path)
            elif _is_folder(entry):
                folders += [] if is_lake(root / path) else [path]
            elif is_page(path) or is_comic_info(path):
                found.files.append(path)
            elif archive_extension(path):
                found.archives.append(path)
    return FolderFiles(sorted(found.files), sorted(found.archives), dict(sorted(found.unread.items())))


def is_lake(folder: Path) -> bool:
    """Whether a folder holds our own tables, whose pictures are no pages: by its first table, or that table's failures.

    People who work in the folder of their comics have a lake in it.
    """
    return any(next((folder / table).glob("*.parquet"), None) for table in ("comic_books", "_failures/comic_books"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False


def _unreadable(path: str, error: OSError) -> ItemError:
    what = f"The folder cannot be read: {error.strerror}; its pages are missing"
    return ItemError("unreadable", what, where=path, remedy="Check its permissions.")


def _link(path: str) -> ItemError:
    what = "Links to folders are not followed; the pages in it are missing"
    return ItemError("link", what, where=path, remedy="Copy the folder itself.")
