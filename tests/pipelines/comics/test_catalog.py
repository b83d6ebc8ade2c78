"""What `catalog.csv` says of books, and what is said of a catalog that is wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.comics.catalog import CatalogEntry
from pipelines.comics.library import find_books
from pipelines.comics.pages import ReadBooks
from pipelines.errors import LibraryError
from tests.pipelines.comics.library_folder import catalog, cbz, put
from tests.stage_inputs import FakeInputs, run_stage


def test_the_catalog_gives_title_licence_split_and_direction(comics: Path) -> None:
    cbz(comics / "x" / "a.cbz")
    cbz(comics / "b.cbz")
    put(comics / "shelf" / "part 1" / "1.jpg")
    text = (
        "\ufeffbook;title;license;split;reading_direction\nx/a;Ä;CC BY 4.0;test;rtl\nb.cbz;;;TRAIN;\nshelf;;;val;ltr\n"
    )
    books, failures = catalog(comics, text)
    assert failures == []
    entry = books["x/a"].catalog
    assert (entry.title, entry.licence, entry.split, entry.right_to_left) == ("Ä", "CC BY 4.0", "test", True)
    assert books["b"].catalog.split == "train" and books["b"].catalog.right_to_left is None
    assert books["shelf"].catalog.split == "val", "a folder that the catalog names is a book as a whole"


def test_bad_rows_of_the_catalog_are_told_by_line_and_the_rest_holds(comics: Path) -> None:
    cbz(comics / "a.cbz")
    cbz(comics / "b.cbz")
    books, failures = catalog(
        comics, "book,split,reading_direction,colour\na,,up,red\nb,val,,\nb,val,,\nzzz,test,,\n,val,,\n"
    )
    told = sorted(f"{f.item_id}: {f.message}" for f in failures)
    assert books["b"].catalog.split == "val" and books["a"].catalog.split is None
    assert not any(book.catalog.fault for book in books.values())
    assert len(told) == 5
    assert any("line 2" in t and "'up'" in t for t in told)
    assert any("line 4" in t and "row already" in t for t in told)
    assert any("zzz" in t and "not in the library" in t for t in told)
    assert any("line 6" in t for t in told) and any("colour" in t for t in told)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,A,exam", "line 2: The split 'exam' is none of train, val, test"),
        ("a,A", "line 2: The row has 2 cells, and the catalog has 3 columns"),
        ("a,Cat, Dog,test", "line 2: The row has 4 cells"),
        ("a,A,test\nb,B,val\na,A,train", "line 4: The row of a in line 2 says another split"),
        ("a,A,test\na.cbz,A,train", "a and a.cbz are one book, and their rows say different splits"),
    ],
)
def test_a_book_whose_split_is_in_doubt_is_in_none_until_its_row_is_corrected(
    comics: Path, rows: str, said: str
) -> None:
    """A hash would put it somewhere, and the answers of what was in `test` might be published in `train`."""
    cbz(comics / "a.cbz")
    cbz(comics / "b.cbz")
    books, _ = catalog(comics, f"book,title,split\n{rows}\n")
    assert books["b"].catalog.fault == ""
    found, failures, _ = run_stage(ReadBooks(), FakeInputs("a", source=books["a"]))
    assert found == [] and [(f.item_id, f.kind) for f in failures] == [("a", "catalog")]
    assert said in failures[0].message and "left out until the row is corrected" in failures[0].message


def test_two_rows_of_a_book_that_agree_are_one_and_empty_cells_at_the_end_do_not_count(comics: Path) -> None:
    cbz(comics / "a.cbz")
    books, failures = catalog(comics, "book,split\na,test,,\na.cbz,TEST\n")
    assert books["a"].catalog == CatalogEntry(split="test")
    assert [f.item_id for f in failures] == ["catalog.csv: a.cbz"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"book\n\xff", "byte 5 is not UTF-8"),
        (b"\xff\xfeb", "UTF-16"),
        ("book\na\n".encode("utf-16-le"), "zero bytes"),
        (b"title\nx\n", "no column `book`"),
        (b"", "no column `book`"),
        (b"book,splt\na,test\n", "a column `splt` and none `split`"),
        (b"book,split,split\na,test,val\n", "the column `split` twice"),
        (b'book,title,split\na,"Cat,test\nb,B,val\n', "line 2"),
        (b'book,title,split\na,A,val\nb,"Cat,test\nc,C",val\nd,D,val\n', "line 3"),
        (b'book,title,split\na,"Cat" Dog,test\n', "line 2"),
    ],
)
def test_a_catalog_that_cannot_be_read_as_a_whole_stops(comics: Path, data: bytes, said: str) -> None:
    """Without it, books would be dealt to other splits: a stray quotation mark hides all rows up to the next one."""
    cbz(comics / "a.cbz")
    (comics / "catalog.csv").write_bytes(data)
    with pytest.raises(LibraryError, match=r"decides the books' splits") as error:
        find_books(comics)
    assert said in str(error.value) and str(comics / "catalog.csv") in error.value.where and error.value.remedy


def _shut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    path.write_bytes(b"book\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)  # permissions do not bind the user that tests may run as


@pytest.mark.parametrize(
    ("put_there", "said"),
    [
        (lambda path, _: path.mkdir(), "Is a directory"),
        (lambda path, _: path.symlink_to("nowhere.csv"), "No such file"),
        (lambda path, _: os.mkfifo(path), "no file"),
        (_shut, "Permission denied"),
    ],
)
@pytest.mark.parametrize("folder", [".", ".."])
def test_what_is_called_like_a_catalog_and_cannot_be_read_stops(
    folder: str,
    put_there: Callable[[Path, pytest.MonkeyPatch], None],
    said: str,
    comics: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_there(comics / folder / "catalog.csv", monkeypatch)
    with pytest.raises(LibraryError, match=said):
        find_books(comics)


def test_two_catalogs_stop(comics: Path) -> None:
    for folder in (comics, comics.parent):
        (folder / "catalog.csv").write_text("book\n")
    with pytest.raises(LibraryError, match="two catalogs"):
        find_books(comics)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_spreadsheets_save_as_unicode_is_read(comics: Path, encoding: str) -> None:
    cbz(comics / "a.cbz")
    books, failures = catalog(comics, "book\ttitle\tsplit\r\na\t\u00c4 \u6f2b\ttest\r\n", encoding)
    assert books["a"].catalog == CatalogEntry(title="\u00c4 \u6f2b", split="test") and failures == []
