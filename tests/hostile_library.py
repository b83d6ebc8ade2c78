"""A library of hostile books, made in a temporary folder: each must end as rows or as a failure that a person understands.

Expectations are keyed by the book's path under `comics/`: the number of its pages that make rows, then the kinds of its
failures, in page order: `"2 truncated"`, `"0 encrypted"`.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import py7zr
from PIL import Image

from tests import hostile_pictures as pictures
from tests.hostile_pictures import encoded, page

_COMIC_INFO = b"<ComicInfo><Title>Ink</Title><Manga>YesAndRightToLeft</Manga></ComicInfo>"
_ENTITY_BOMB = b'<!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;&b;&b;">]><ComicInfo><Title>&c;</Title></ComicInfo>'


def make_hostile_library(root: Path) -> dict[str, str]:
    """Make `root/comics`; returns for each book, by its path under it, the expected outcome (see above)."""
    comics = root / "comics"
    comics.mkdir(parents=True)
    expected = {}
    for part in (_broken_pages, _odd_pictures, _broken_archives, _bombs, _names, _links, _large):
        expected |= part(comics)
    return expected


def zip_book(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a stored ZIP with these members in their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def _between(data: bytes, name: str = "2.jpg") -> dict[str, bytes]:
    """A book of three pages, the second of which is `data`."""
    return {"1.jpg": page(1), name: data, "3.jpg": page(3)}


def _broken_pages(comics: Path) -> dict[str, str]:
    """Books that are well but for one page."""
    books = {
        "pages/corrupt.cbz": (_between(pictures.corrupt(), "2.png"), "2 corrupt"),
        "pages/truncated.cbz": (_between(pictures.truncated()), "2 truncated"),
        "pages/truncated-closed.cbz": (_between(pictures.truncated(closed=True)), "2 truncated"),
        "pages/empty.cbz": (_between(b""), "2 empty"),
        "pages/web-page.cbz": (_between(pictures.WEB_PAGE), "2 not_a_picture"),
        "pages/zeros.cbz": (_between(bytes(5000)), "2 not_a_picture"),
        "pages/bomb.cbz": (_between(pictures.bomb(), "2.png"), "2 too_large"),
        "pages/all-bad.cbz": ({"1.jpg": b"", "2.jpg": pictures.truncated()}, "0 empty truncated"),
        "pages/comic-info.cbz": ({**_between(page(2)), "ComicInfo.xml": _COMIC_INFO}, "3"),
        "pages/entity-bomb.cbz": ({**_between(page(2)), "ComicInfo.xml": _ENTITY_BOMB}, "3"),
    }
    return _write(comics, books)


def _odd_pictures(comics: Path) -> dict[str, str]:
    """Pictures that are good, and come out wrong where a reader takes a short way."""
    books = {
        "pictures/cmyk.cbz": ({"1.jpg": pictures.cmyk(adobe=False)}, "1"),
        "pictures/cmyk-adobe.cbz": ({"1.jpg": pictures.cmyk(adobe=True)}, "1"),
        "pictures/sixteen-bit.cbz": ({"1.png": pictures.sixteen_bit()}, "1"),
        "pictures/palette.cbz": ({"1.png": pictures.palette()}, "1"),
        "pictures/animated.cbz": ({"1.gif": pictures.animated()}, "1"),
        "pictures/rotated.cbz": ({"1.jpg": pictures.rotated()}, "1"),
        "pictures/webp-named-jpg.cbz": ({"1.jpg": encoded(pictures.drawn(4), "WEBP")}, "1"),
        "pictures/20000-pixels.cbz": ({"1.jpg": encoded(Image.new("L", (400, 20_000), 90))}, "1"),
    }
    return _write(comics, books)


def _broken_archives(comics: Path) -> dict[str, str]:
    folder = comics / "archives"
    folder.mkdir()
    good = io.BytesIO()
    with zipfile.ZipFile(good, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.jpg", page(number))
    data = good.getvalue()
    with py7zr.SevenZipFile(folder / "encrypted-7z.cb7", "w", password="secret", header_encryption=True) as archive:
        archive.writestr(page(1), "1.jpg")
    files = {
        "encrypted.cbz": (_marked_encrypted(data), "0 encrypted encrypted encrypted"),
        "empty.cbz": (b"", "0 empty"),
        "cut.cbz": (data[: len(data) // 2], "0 corrupt"),
        "noise-cbz.cbz": (bytes(range(256)) * 20, "0 not_an_archive"),
        "noise-cb7.cb7": (b"7z\xbc\xaf\x27\x1c" + bytes(range(256)), "0 corrupt"),
        "noise-cbt.cbt": (bytes(range(256)) * 20, "0 not_an_archive"),
        "noise-pdf.pdf": (b"%PDF-1.7\n" + bytes(range(256)), "0 corrupt"),
        "rar-named.cbz": (b"Rar!\x1a\x07\x01\x00" + bytes(range(256)), "0 corrupt"),
        "zip-named.cbr": (data, "3"),
        "web-page.cbz": (pictures.WEB_PAGE, "0 not_an_archive"),
    }
    for name, (content, _) in files.items():
        (folder / name).write_bytes(content)
    zip_book(folder / "no-pages.cbz", {"readme.txt": b"nothing here", "ComicInfo.xml": _COMIC_INFO})
    outcomes = {f"archives/{name}": outcome for name, (_, outcome) in files.items()}
    return outcomes | {"archives/encrypted-7z.cb7": "0 encrypted", "archives/no-pages.cbz": "0 no_pages"}


def _marked_encrypted(data: bytes) -> bytes:
    """A stored ZIP whose headers say that each member is encrypted."""
    marked = bytearray(data)
    for magic, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = marked.find(magic)
        while at >= 0:
            marked[at + place] |= 1
            at = marked.find(magic, at + 4)
    return bytes(marked)


def _bombs(comics: Path) -> dict[str, str]:
    """Archives of four megabytes that unpack to four gigabytes, one of which lies about it."""
    folder = comics / "bombs"
    folder.mkdir()
    (folder / "honest.cbz").write_bytes(_zip_bomb(claimed=None))
    (folder / "lying.cbz").write_bytes(_zip_bomb(claimed=1000))
    return {"bombs/honest.cbz": "0 too_large", "bombs/lying.cbz": "0 corrupt"}


def _zip_bomb(claimed: int | None, pieces: int = 3900) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    body = piece * pieces + squeeze.flush(zlib.Z_FINISH)
    name = b"001.jpg"
    size = pieces * 2**20 if claimed is None else claimed
    facts = struct.pack("<HHHHHIIIH", 20, 0, 8, 0, 33, 0, len(body), size, len(name))
    local = b"PK\3\4" + facts + struct.pack("<H", 0) + name
    central = b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<HHHHII", 0, 0, 0, 0, 0, 0) + name
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(body), 0)
    return local + body + central + end


def _names(comics: Path) -> dict[str, str]:
    composed = unicodedata.normalize("NFC", "Café")
    decomposed = unicodedata.normalize("NFD", "Café")
    books = {
        "names/with spaces, and commas.cbz": ({" a page .jpg": page(1)}, "1"),
        "names/emoji 🎉.cbz": ({"🎉.jpg": page(2)}, "1"),
        f"names/{decomposed} alone.cbz": ({f"{decomposed}.jpg": page(3)}, "1"),
        f"names/{'long ' * 39}book.cbz": ({f"{'long ' * 30}.jpg": page(4)}, "1"),
        "names/Case.cbz": ({"1.jpg": page(5)}, "1"),
        "names/case.cbz": ({"1.jpg": page(6)}, "0 id_collision"),
        f"names/{decomposed}.cbz": ({"1.jpg": page(8)}, "1"),
        f"names/{composed}.cbz": ({"1.jpg": page(7)}, "0 id_collision"),
    }
    outcomes = _write(comics, books)
    # Names from before UTF-8: the byte is an e with an acute accent in Latin-1.
    zip_book(comics / "names" / os.fsdecode(b"Caf\xe9.cbz"), {"1.jpg": page(9)})
    folder = comics / "names" / "old pages"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.jpg")).write_bytes(page(10))
    return outcomes | {os.fsdecode(b"names/Caf\xe9.cbz"): "0 bad_name", "names/old pages": "1"}


def _links(comics: Path) -> dict[str, str]:
    """Members and links that point out of their folder, to a picture that must not be read."""
    secret = comics.parent / "secret"
    secret.mkdir()
    (secret / "1.jpg").write_bytes(page(99))
    zip_book(comics / "links" / "climbing.cbz", {"../../secret/1.jpg": page(98), "1.jpg": page(1)})
    with tarfile.open(comics / "links" / "tar.cbt", "w") as archive:
        good = tarfile.TarInfo("1.jpg")
        good.size = len(page(1))
        archive.addfile(good, io.BytesIO(page(1)))
        link = tarfile.TarInfo("2.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret / "1.jpg")
        archive.addfile(link)
    folder = comics / "links" / "folder"
    folder.mkdir()
    (folder / "1.jpg").write_bytes(page(1))
    (folder / "2.jpg").symlink_to(secret / "1.jpg")
    os.mkfifo(folder / "3.jpg")
    (folder / "4.jpg").symlink_to("4.jpg")
    (folder / "circle").symlink_to(folder, target_is_directory=True)
    os.mkfifo(comics / "links" / "pipe.cbz")
    (comics / "links" / "self.cbz").symlink_to("self.cbz")
    (comics / "links" / "out").symlink_to(secret, target_is_directory=True)
    return {
        "links/climbing.cbz": "1 unsafe_name",
        "links/tar.cbt": "1 unsafe_name",
        "links/folder": "1 unsafe_name not_a_file unreadable link",
        "links/pipe.cbz": "0 not_a_file",
        "links/self.cbz": "0 dead_link",
        "links/out": "0 link",
    }


def _large(comics: Path) -> dict[str, str]:
    zip_book(comics / "large" / "thousand.cbz", {f"{n}.jpg": page(n) for n in range(1, 1001)})
    return {"large/thousand.cbz": "1000"}


def _write(comics: Path, books: Mapping[str, tuple[Mapping[str, bytes], str]]) -> dict[str, str]:
    for path, (members, _) in books.items():
        zip_book(comics / path, members)
    return {path: outcome for path, (_, outcome) in books.items()}
