"""Each kind of container gives its pages in reading order, byte for byte."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import py7zr
import pytest
from PIL import Image

from pipelines.comics.archive_epub import EpubContainer
from pipelines.comics.archives import Limits, container_kind, open_book
from pipelines.comics.comic_info import MAX_BYTES
from pipelines.comics.library import BookSource
from pipelines.errors import ItemError
from tests.rar_files import rar


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (40, 60)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "JPEG")
    return file.getvalue()


PAGES = {f"ch/{n}.jpg": jpeg((n * 20, 0, 0)) for n in (10, 2, 1)}
Files = Iterable[tuple[str, bytes]]
INFO = b"<ComicInfo><Title>A &amp; B</Title><Series>S</Series><Manga>YesAndRightToLeft</Manga></ComicInfo>"
FILES = PAGES | {"ComicInfo.xml": INFO, "__MACOSX/ch/._1.jpg": b"junk", "Thumbs.db": b"junk"}
BOOK = tuple(FILES.items())


def make_zip(path: Path, files: Files = BOOK) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)


def make_7z(path: Path, files: Files = BOOK) -> None:
    with py7zr.SevenZipFile(path, "w") as archive:
        for name, data in files:
            archive.writestr(data, name)


def make_tar(mode: str) -> Callable[..., None]:
    def make(path: Path, files: Files = BOOK) -> None:
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
            for name, data in files:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))

    return make


def make_folder(path: Path, files: Files = BOOK) -> None:
    for name, data in files:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)


def make_epub(path: Path, files: Files) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in [("mimetype", b"application/epub+zip"), *files]:
            archive.writestr(name, data)


def make_rar(path: Path, files: Files) -> None:
    path.write_bytes(rar(files))


KINDS = {
    "zip": make_zip,
    "7z": make_7z,
    "tar": make_tar("w"),
    "gz": make_tar("w:gz"),
    "bz2": make_tar("w:bz2"),
    "xz": make_tar("w:xz"),
    "folder": make_folder,
}


def source(path: Path) -> BookSource:
    return BookSource("book", str(path), path.name, "")


@pytest.mark.parametrize("kind", KINDS)
def test_pages_come_in_order_byte_for_byte(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "misnamed.cbr"
    KINDS[kind](path)
    with open_book(source(path), Limits()) as book:
        assert book.members() == ["ch/1.jpg", "ch/2.jpg", "ch/10.jpg"]
        assert {name: book.read(name) for name in book.members()} == PAGES
        info = book.comic_info()
    assert info is not None and (info.title, info.series, info.right_to_left) == ("A & B", "S", True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_over_the_limit_is_told_and_the_others_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "book"
    KINDS[kind](path)
    limits = Limits(max_member_bytes=min(len(data) for data in PAGES.values()) - 1)
    with open_book(source(path), limits) as book, pytest.raises(ItemError, match="limit") as error:
        book.read("ch/2.jpg")
    assert error.value.kind == "too_large"


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_page_is_read_after_the_description(kind: str, tmp_path: Path) -> None:
    """The description has a limit of its own, which must not become that of the pages."""
    path, large = tmp_path / "book", random.Random(0).randbytes(MAX_BYTES + 1)
    KINDS[kind](path, [*BOOK, ("ch/3.jpg", large), ("./ch//4.jpg", PAGES["ch/2.jpg"])])
    with open_book(source(path), Limits()) as book:
        assert book.comic_info() is not None
        assert book.read("ch/3.jpg") == large
        assert [book.read(name) for name in book.members() if name.endswith("4.jpg")] == [PAGES["ch/2.jpg"]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_book_over_the_limits_is_refused_as_a_whole(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "book"
    KINDS[kind](path)
    for limits in (Limits(max_members=3), Limits(max_total_bytes=100)):
        with pytest.raises(ItemError) as error, open_book(source(path), limits) as book:
            book.members()
        assert error.value.kind == "too_large"


def test_a_pdf_of_scans_gives_the_scans_and_other_pages_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    scan = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 60, 3), np.uint8))
    scan.save(path, "PDF", save_all=True, append_images=[Image.new("L", (60, 90), 200)], quality=80)
    with open_book(source(path), Limits()) as book:
        assert book.members() == ["page-00001.jpg", "page-00002.jpg"]
        first = Image.open(io.BytesIO(book.read("page-00001.jpg")))
        second = Image.open(io.BytesIO(book.read("page-00002.jpg")))
    assert first.size == (60, 90) and first.format == "JPEG"
    assert abs(np.asarray(second.convert("L"), float).mean() - 200) < 2


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalog."""
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return data + table + trailer


@pytest.mark.parametrize(
    ("page", "kind", "said"),
    [((), "no_pages", "has no page"), ((b"<</Type/Page/Parent 2 0 R>>",), "corrupt", "none of its 1 pages")],
)
def test_a_pdf_that_lists_no_page_says_so(page: tuple[bytes, ...], kind: str, said: str, tmp_path: Path) -> None:
    bad, path = tmp_path / "bad.pdf", tmp_path / "empty.pdf"
    bad.write_bytes(b"%PDF-1.7\n" + bytes(range(256)))
    path.write_bytes(pdf_of(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>", *page))
    # The library keeps the error of the last file that had one.
    for book, expected in ((path, kind), (bad, "corrupt"), (path, kind)):
        with pytest.raises(ItemError) as error, open_book(source(book), Limits()):
            pass
        assert error.value.kind == expected
    assert said in str(error.value)


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    path = tmp_path / "book.epub"
    package = """<package xmlns="http://www.idpf.org/2007/opf"><manifest>
        <item id="p1" href="text/1.xhtml"/><item id="p2" href="text/2.xhtml"/></manifest>
        <spine><itemref idref="p2"/><itemref idref="p1"/></spine></package>"""
    container = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
        <rootfile full-path="OEBPS/content.opf"/></rootfiles></container>"""
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><img src="../images/{}"/></body></html>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OEBPS/content.opf", package)
        archive.writestr("OEBPS/text/1.xhtml", page.format("z%20a.jpg"))
        archive.writestr("OEBPS/text/2.xhtml", page.format("b.jpg"))
        for name in ("unused.jpg", "z a.jpg", "b.jpg"):
            archive.writestr(f"OEBPS/images/{name}", PAGES["ch/1.jpg"])
    assert container_kind(path) == "epub"
    with open_book(source(path), Limits()) as book:
        assert book.members() == ["OEBPS/images/b.jpg", "OEBPS/images/z a.jpg", "OEBPS/images/unused.jpg"]


def spine_of(path: Path, pages: dict[str, str], spine: list[str]) -> None:
    """An EPUB of these pages with pictures `a.jpg` and `b.jpg`, whose spine names pages by their names."""
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in pages)
    references = "".join(f'<itemref idref="{name}"/>' for name in spine)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="book.opf"/></container>')
        archive.writestr("book.opf", f"<package><manifest>{items}</manifest><spine>{references}</spine></package>")
        for name, text in pages.items():
            archive.writestr(name, text)
        for name in ("a.jpg", "b.jpg"):
            archive.writestr(name, PAGES["ch/1.jpg"])


def test_a_page_that_the_spine_names_again_and_again_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    whole = EpubContainer._xml
    monkeypatch.setattr(EpubContainer, "_xml", lambda self, member: (read.append(member.name), whole(self, member))[1])
    pages = {"1": '<html><img src="b.jpg"/></html>', "2": '<html><img src="a.jpg"/></html>'}
    spine_of(tmp_path / "book", pages, ["1", "2"] * 10_000)
    with open_book(source(tmp_path / "book"), Limits()) as book:
        assert book.members() == ["b.jpg", "a.jpg"] and book.faults == []
    assert read.count("1") == read.count("2") == 1 and len(read) == 4


def test_pages_with_more_text_than_a_comic_has_end_the_order_and_are_told(tmp_path: Path) -> None:
    filler = " " * 4_000_000
    pages = {f"{number}": f"<html>{filler}</html>" for number in range(20)}
    pages = {"first": '<html><img src="b.jpg"/></html>', **pages, "last": '<html><img src="a.jpg"/></html>'}
    spine_of(tmp_path / "book", pages, list(pages))
    with open_book(source(tmp_path / "book"), Limits()) as book:
        assert book.members() == ["b.jpg", "a.jpg"]
        assert [(fault.where, fault.kind) for fault in book.faults] == [("16", "too_large")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make", [make_zip, make_epub, make_tar("w"), make_7z, make_rar])
def test_of_two_pages_with_one_name_the_first_is_read_and_the_other_told(
    make: Callable[..., None], tmp_path: Path
) -> None:
    path, first, second = tmp_path / "book", jpeg((1, 2, 3)), jpeg((200, 100, 50), (90, 90))
    make(path, [("a.jpg", first), ("b.jpg", second), ("a.jpg", second), ("Thumbs.db", b""), ("Thumbs.db", b"")])
    with open_book(source(path), Limits()) as book:
        assert book.members() == ["a.jpg", "b.jpg"]
        assert (book.read("a.jpg"), book.read("b.jpg")) == (first, second)
        assert [(fault.where, fault.kind) for fault in book.faults] == [("a.jpg", "repeated_name")]


def test_an_encrypted_7z_says_so(tmp_path: Path) -> None:
    path = tmp_path / "book.cb7"
    with py7zr.SevenZipFile(path, "w", password="secret") as archive:
        archive.writestr(PAGES["ch/1.jpg"], "1.jpg")
    with pytest.raises(ItemError) as error, open_book(source(path), Limits()) as book:
        book.read(book.members()[0])
    assert error.value.kind == "encrypted"


@pytest.mark.parametrize(
    ("data", "kind"), [(b"", "empty"), (b"<html>404", "not_an_archive"), (b"\x00" * 2000, "not_an_archive")]
)
def test_what_is_no_archive_says_why(data: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "book.cbz"
    path.write_bytes(data)
    with pytest.raises(ItemError) as error, open_book(source(path), Limits()):
        pass
    assert error.value.kind == kind


def test_archives_that_other_programs_made(real_data: Path) -> None:
    pages = {
        "7zip.7z": ["komga.png"],
        "zip.zip": ["komga.png"],
        "zip-bzip2.zip": ["komga.png"],
        "komga.pdf": ["page-00001.jpg"],
    }
    for name, members in pages.items():
        with open_book(source(real_data / "archives" / name), Limits()) as book:
            assert book.members() == members
            assert Image.open(io.BytesIO(book.read(members[0]))).width >= 48
    with open_book(source(real_data / "archives" / "epub3.epub"), Limits()) as book:
        assert book.members() == ["cover.jpeg", "0_0.png"]
    with open_book(source(real_data / "archives" / "zip-encrypted.zip"), Limits()) as book:
        with pytest.raises(ItemError) as error:
            book.read("komga.png")
        assert error.value.kind == "encrypted"


def test_a_real_rar_of_stored_pages_is_read_with_or_without_a_tool(real_data: Path) -> None:
    with open_book(source(real_data / "archives" / "rar5.rar"), Limits()) as book:
        assert book.members() == ["komga.png"]
        assert Image.open(io.BytesIO(book.read("komga.png"))).width >= 48
