"""Files find their book, and what they call a page finds the page; a doubtful name is a failure, never a guess."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.comics.annotations.entries import AnnotationEntry
from pipelines.comics.annotations.matching import PageNames, entries_digest, group_by_book
from pipelines.errors import ItemError

BOOKS = ["hero", "series/hero 2", "series/hero 2/extra", "caf\u00e9", "Vol. 1"]


def entry(*, file: str = "any.json", book: str = "", page: int | str | None = 1) -> AnnotationEntry:
    return AnnotationEntry(file, "coco", "image 1", book, page, {"panels": []})


@pytest.mark.parametrize(
    ("given", "book", "page"),
    [
        (entry(book="hero"), "hero", 1),
        (entry(book="comics/hero.cbz"), "hero", 1),
        (entry(book="hero.tar.gz"), "hero", 1),
        (entry(book="cafe\u0301"), "caf\u00e9", 1),
        (entry(book="Vol. 1"), "Vol. 1", 1),
        (entry(page="hero/003.jpg"), "hero", "003.jpg"),
        (entry(page="/home/me/comics/series/hero 2.cbz/ch1/003.jpg"), "series/hero 2", "ch1/003.jpg"),
        (entry(page="series/hero 2/extra/1.png"), "series/hero 2/extra", "1.png"),
        (entry(page="series\\hero 2\\1.png"), "series/hero 2", "1.png"),
        (entry(page="images/003.jpg", file="hero.json"), "hero", "images/003.jpg"),
        (entry(page="003.jpg", file="series/hero 2/by ann.json"), "series/hero 2", "003.jpg"),
        (entry(page=None, file="exports/hero.json"), "hero", None),
        (entry(page="hero/1.jpg", file="caf\u00e9.json"), "hero", "1.jpg"),
    ],
)
def test_a_book_is_found_by_id_by_the_picture_or_by_the_file(
    given: AnnotationEntry, book: str, page: int | str | None
) -> None:
    found, failures = group_by_book([given], BOOKS)
    assert failures == []
    assert found == {book: [replace(given, book=book, page=page)]}


def test_books_that_are_not_there_are_one_failure_for_each_file_and_name() -> None:
    entries = [entry(book="herro"), entry(book="herro", page=2), entry(page="nobody/1.jpg"), entry(book="hero")]
    found, failures = group_by_book([*entries, entry()], BOOKS)
    assert {book: len(of_book) for book, of_book in found.items()} == {"hero": 1}
    assert {f.kind for f in failures} == {"unknown_book"}
    assert [f.item_id for f in failures] == ["any.json#herro", "any.json#nobody", "any.json"]
    assert "2 annotations" in failures[0].message
    assert "Did you mean 'hero'?" in failures[0].message
    assert "Name the file after the book" in failures[2].message


def test_a_named_book_that_is_not_there_never_falls_back_to_the_file_name() -> None:
    found, failures = group_by_book([entry(book="other", file="hero.json")], BOOKS)
    assert found == {}
    assert len(failures) == 1


def test_the_digest_changes_with_what_is_said_and_with_nothing_else() -> None:
    one, two = entry(), entry(page=2)
    assert entries_digest([one, two]) == entries_digest([entry(), entry(page=2)])
    for other in ([two, one], [one], [one, replace(two, size=(1.0, 2.0))], [one, replace(two, aspects={"texts": []})]):
        assert entries_digest(other) != entries_digest([one, two])


def names(*members: str) -> PageNames:
    rows = [{"page_id": f"b/{n:04d}", "page_number": n, "member": member} for n, member in enumerate(members, 1)]
    return PageNames(rows)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (2, 2),
        ("ch1/002.jpg", 2),
        ("work/ch1/002.jpg", 2),
        ("ch1/002.png", 2),
        ("ch2/002", 3),
        ("cover.jpg", 1),
        ("images/cover.webp", 1),
        ("0a1b2c3d-cover.jpg", 1),
        ("7", 4),
        ("title/0007", 4),
        ("00a\u0308.jpg", 5),
    ],
)
def test_a_page_is_found_by_what_files_call_it(name: int | str, number: int) -> None:
    pages = names("cover.jpg", "ch1/002.jpg", "ch2/002.jpg", "E01P07.jpg", "00\u00e4.jpg")
    assert pages.find(name) == f"b/{number:04d}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("002.jpg", "ambiguous_page"),
        ("ch3/002.jpg", "ambiguous_page"),
        ("2", "ambiguous_page"),
        ("004.jpg", "unknown_page"),
        ("9", "unknown_page"),
        ("", "unknown_page"),
        (5, "unknown_page"),
        (0, "unknown_page"),
    ],
)
def test_a_name_that_fits_no_page_or_several_is_an_error(name: int | str, kind: str) -> None:
    with pytest.raises(ItemError) as caught:
        names("ch1/002.jpg", "ch2/002.jpg", "003.jpg").find(name)
    assert caught.value.kind == kind
    assert caught.value.remedy


def test_a_whole_path_goes_before_the_end_of_another() -> None:
    assert names("extras/001.jpg", "001.jpg").find("001.jpg") == "b/0002"
