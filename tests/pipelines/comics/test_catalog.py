"""What `catalog.csv` says of books, and what is said of a catalog that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.comics.library import find_books
from tests.pipelines.comics.library_folder import catalog, cbz, ids, put


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
        comics, "book,split,reading_direction,colour\na,exam,up,red\nb,val,,\nb,test,,\nzzz,test,,\n,val,,\n"
    )
    told = sorted(f"{f.item_id}: {f.message}" for f in failures)
    assert books["b"].catalog.split == "val" and books["a"].catalog.split is None
    assert len(told) == 6
    assert any("line 2" in t and "exam" in t for t in told) and any("line 2" in t and "'up'" in t for t in told)
    assert any("line 4" in t and "row already" in t for t in told)
    assert any("zzz" in t and "not in the library" in t for t in told)
    assert any("line 6" in t for t in told) and any("colour" in t for t in told)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"book\n\xff\xfe", "UTF-8"), (b"title\nx\n", "no column `book`"), (b"", ""), (b'book\n"a\n', "")],
)
def test_an_unusable_catalog_is_one_failure_and_the_books_stay(comics: Path, data: bytes, said: str) -> None:
    cbz(comics / "a.cbz")
    (comics / "catalog.csv").write_bytes(data)
    books, failures = find_books(comics)
    assert ids(books) == ["a"]
    assert said in "".join(f.message for f in failures)
