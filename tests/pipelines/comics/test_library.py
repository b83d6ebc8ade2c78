"""Books are found by rules that lose nothing in silence, and a changed book is noticed."""

from __future__ import annotations

import errno
import os
import unicodedata
from pathlib import Path

import pytest

from pipelines.comics.archives import Limits, open_book
from pipelines.comics.library import find_books, source_digest, source_stat
from pipelines.errors import ItemError
from tests.pipelines.comics.library_folder import PICTURE, catalog, cbz, ids, put


def test_archives_and_folders_of_pictures_are_books(comics: Path) -> None:
    cbz(comics / "b" / "Vol. 1.cbz")
    cbz(comics / "a.v2.zip")
    put(comics / "pages" / "10.jpg")
    put(comics / "pages" / "extra" / "1.png")
    put(comics / "deep" / "er" / "1.jpg")
    put(comics / "old.tar.gz", b"\x1f\x8b")
    books, failures = find_books(comics)
    assert ids(books) == ["a.v2", "b/Vol. 1", "deep/er", "old", "pages"]
    assert [book.container for book in books] == ["zip", "zip", "folder", "tar", "folder"]
    assert failures == []


def test_what_lies_beside_books_is_passed_over_or_told(comics: Path) -> None:
    cbz(comics / "shelf" / "book.cbz")
    put(comics / "shelf" / "cover.jpg")
    put(comics / "notes.txt")
    put(comics / ".hidden" / "1.jpg")
    put(comics / "annotations" / "page.png")
    put(comics / "book.mobi")
    books, failures = find_books(comics)
    assert ids(books) == ["shelf/book"]
    assert {(f.item_id, f.kind) for f in failures} == {("shelf", "loose_pictures"), ("book.mobi", "unknown_file")}


def test_of_two_books_with_one_id_the_first_counts(comics: Path) -> None:
    cbz(comics / "a.cbz")
    put(comics / "a.pdf", b"%PDF-1.4")
    accent = "caf\u00e9"
    cbz(comics / f"{accent}.cbz")
    cbz(comics / f"{unicodedata.normalize('NFD', accent)}.zip")
    cbz(comics / "A.cbz")
    books, failures = find_books(comics)
    assert ids(books) == ["A", accent]
    assert [(f.item_id, f.kind) for f in failures[:2]] == [("a.cbz", "id_collision"), ("a.pdf", "id_collision")]
    assert len(failures) == 3 and "case" in failures[0].message and "A.cbz" in failures[0].message


def test_ids_that_differ_in_the_case_of_a_folder_collide(comics: Path) -> None:
    cbz(comics / "shelf" / "a.cbz")
    cbz(comics / "Shelf" / "a.cbz")
    books, failures = find_books(comics)
    assert ids(books) == ["Shelf/a"] and [f.item_id for f in failures] == ["shelf/a.cbz"]


def test_links_are_not_followed_out_of_the_library(comics: Path, tmp_path: Path) -> None:
    outside = cbz(tmp_path / "elsewhere" / "secret.cbz")
    (comics / "book.cbz").symlink_to(outside)
    (comics / "loop").symlink_to(comics)
    books, failures = find_books(comics)
    assert books == [] and {f.kind for f in failures} == {"link"}


def test_links_in_a_circle_and_to_nothing_are_told_and_the_rest_goes_on(comics: Path) -> None:
    (comics / "self.cbz").symlink_to("self.cbz")
    (comics / "self").symlink_to("self")
    (comics / "dead.cbz").symlink_to("nowhere.cbz")
    for one, other in (("x", "y"), ("y", "x")):
        (comics / one).mkdir()
        (comics / one / "across").symlink_to(comics / other)
    cbz(comics / "z.cbz")
    books, failures = find_books(comics)
    assert ids(books) == ["z"]
    assert {(f.item_id, f.kind) for f in failures} == {
        ("self.cbz", "dead_link"),
        ("self", "dead_link"),
        ("dead.cbz", "dead_link"),
        ("x/across", "link"),
        ("y/across", "link"),
    }


def test_what_is_no_file_is_told_and_never_waited_for(comics: Path) -> None:
    os.mkfifo(comics / "pipe.cbz")
    put(comics / "book" / "1.jpg")
    os.mkfifo(comics / "book" / "2.jpg")
    (comics / "book" / "3.jpg").symlink_to("3.jpg")
    books, failures = find_books(comics)
    assert ids(books) == ["book"] and [(f.item_id, f.kind) for f in failures] == [("pipe.cbz", "not_a_file")]
    assert source_stat(books[0]) and source_digest(books[0])
    with open_book(books[0], Limits()) as book:
        assert book.members() == ["1.jpg", "2.jpg", "3.jpg"] and book.read("1.jpg") == PICTURE
        for name, kind in (("2.jpg", "not_a_file"), ("3.jpg", "unreadable")):
            with pytest.raises(ItemError) as error:
                book.read(name)
            assert error.value.kind == kind


def test_folders_of_a_book_that_are_not_read_are_told(comics: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(comics / "book" / "1.jpg")
    for folder in ("open", "shut", ".hidden"):
        put(comics / "book" / folder / "1.jpg")
    (comics / "book" / "link").symlink_to(comics / "book" / "open")
    scandir = os.scandir
    (source,) = find_books(comics)[0]
    whole = source_stat(source), source_digest(source)

    def refuse(path: Path | str) -> object:
        if Path(path).name in ("shut", ".hidden"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # permissions do not bind the user that tests may run as
    (source,), failures = find_books(comics)
    assert failures == []
    with open_book(source, Limits()) as book:
        assert book.members() == ["1.jpg", "open/1.jpg"]
        assert {(fault.where, fault.kind) for fault in book.faults} == {("shut", "unreadable"), ("link", "link")}
    assert source_stat(source) != whole[0] and source_digest(source) != whole[1]


def test_archives_below_pictures_are_books(comics: Path) -> None:
    put(comics / "series" / "cover.jpg")
    cbz(comics / "series" / "1" / "a.cbz")
    books, failures = find_books(comics)
    assert ids(books) == ["series/1/a"] and [(f.item_id, f.kind) for f in failures] == [("series", "loose_pictures")]
    named = catalog(comics, "book\nseries\n")[0]["series"]
    with open_book(named, Limits()) as book:
        assert [(fault.where, fault.kind) for fault in book.faults] == [("1/a.cbz", "book_in_book")]


def test_a_deep_tree_of_folders_is_walked(comics: Path) -> None:
    deep = comics
    for _ in range(600):
        deep = deep / "d"
        deep.mkdir()
    put(comics / "d" / "d" / "1.jpg")
    books, failures = find_books(comics)
    assert ids(books) == ["d/d"] and failures == []
    assert source_digest(books[0])


def test_what_systems_leave_in_a_folder_does_not_change_the_book(comics: Path) -> None:
    put(comics / "book" / "1.jpg")
    (book,) = find_books(comics)[0]
    before = source_stat(book), source_digest(book)
    for name in (".DS_Store", "Thumbs.db", "notes.txt", "__MACOSX/._1.jpg", ".trash/1.jpg"):
        put(comics / "book" / name)
    assert (source_stat(book), source_digest(book)) == before
    put(comics / "book" / "ComicInfo.xml", b"<ComicInfo/>")
    assert source_digest(book) != before[1]


def test_a_change_shows_in_the_cheap_token_and_in_the_digest(comics: Path) -> None:
    cbz(comics / "a.cbz")
    put(comics / "pages" / "1.jpg")
    archive, folder = find_books(comics)[0]
    before = [(source_stat(b), source_digest(b)) for b in (archive, folder)]
    assert before == [(source_stat(b), source_digest(b)) for b in (archive, folder)]
    put(comics / "pages" / "2.jpg")
    put(comics / "a.cbz", b"PK\x03\x04 other")
    after = [(source_stat(b), source_digest(b)) for b in (archive, folder)]
    assert all(old[0] != new[0] and old[1] != new[1] for old, new in zip(before, after, strict=True))


def test_renaming_a_page_changes_the_digest_and_touching_it_does_not(comics: Path) -> None:
    page = put(comics / "pages" / "1.jpg")
    (book,) = find_books(comics)[0]
    stat, digest = source_stat(book), source_digest(book)
    os.utime(page, (1, 1))
    assert source_digest(book) == digest and source_stat(book) != stat
    page.rename(page.with_name("3.jpg"))
    assert source_digest(book) != digest


def test_a_thumbnail_makes_no_book_of_a_series(comics: Path) -> None:
    for book in ("Book 1", "Book 2"):
        put(comics / "Series" / book / "1.jpg")
    put(comics / "Series" / "folder.jpg")
    books, failures = find_books(comics)
    assert ids(books) == ["Series/Book 1", "Series/Book 2"] and failures == []
    put(comics / "Loose" / "folder.jpg")
    assert "Loose" in ids(find_books(comics)[0])


def test_a_catalog_beside_a_folder_of_books_is_not_the_library_s(tmp_path: Path) -> None:
    books = tmp_path / "my books"
    cbz(books / "a.cbz")
    (tmp_path / "catalog.csv").write_text("product,price\nsoap,1\n")
    assert find_books(books)[1] == []


@pytest.mark.parametrize("first", ["comic_books", "_failures/comic_books"])
def test_a_lake_in_the_library_or_in_a_book_holds_no_pages(comics: Path, first: str) -> None:
    cbz(comics / "a.cbz")
    put(comics / "book" / "1.jpg")
    before = [(source_stat(book), source_digest(book)) for book in find_books(comics)[0]]
    for lake in (comics / "lake", comics / "old" / "lake", comics / "book" / "lake"):
        put(lake / first / "a.parquet")
        put(lake / "_cache" / "release_figure.png")
        put(lake / "releases" / "comicspap" / "figure.png")
    books, failures = find_books(comics)
    assert ids(books) == ["a", "book"] and failures == []
    assert [(source_stat(book), source_digest(book)) for book in books] == before
    with open_book(books[1], Limits()) as book:
        assert book.members() == ["1.jpg"] and not book.faults
    put(comics / "comic_books" / "1.jpg")
    assert ids(find_books(comics)[0]) == ["a", "book", "comic_books"]
