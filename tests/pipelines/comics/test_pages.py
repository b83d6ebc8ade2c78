from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines.comics.library import BookSource, CatalogEntry
from pipelines.comics.page_pictures import decode
from pipelines.comics.pages import ReadBooks, ReadPages
from pipelines.stage import Dropped, Failure, Row
from tests import hostile_pictures as pictures
from tests.hostile_library import zip_book
from tests.hostile_pictures import drawn, encoded, page
from tests.stage_inputs import FakeInputs, run_stage

_INFO = b"""<ComicInfo><Title>Ink</Title><Series>Tales</Series><Manga>YesAndRightToLeft</Manga><Pages>
<Page Image="0" Type="Story"/><Page Image="2" Type="Advertisement" DoublePage="true"/></Pages></ComicInfo>"""


def _source(folder: Path, members: Mapping[str, bytes], catalog: CatalogEntry | None = None) -> BookSource:
    path = folder / "shelf" / "book.cbz"
    zip_book(path, members)
    return BookSource(
        book_id="shelf/book",
        path=str(path),
        relative_path="shelf/book.cbz",
        container="zip",
        catalog=catalog or CatalogEntry(title=None, licence=None, split=None, right_to_left=None),
    )


def _pages(source: BookSource) -> tuple[list[Row], list[Failure], list[Dropped]]:
    return run_stage(ReadPages(), FakeInputs(source.book_id, source=source))


def _book(source: BookSource) -> tuple[list[Row], list[Failure], list[Dropped]]:
    return run_stage(ReadBooks(), FakeInputs(source.book_id, source=source))


def test_pages_keep_their_bytes_and_their_place(tmp_path: Path) -> None:
    data = {"10.jpg": page(10), "2.jpg": page(2), "1.png": encoded(drawn(1), "PNG"), "ComicInfo.xml": b"<ComicInfo/>"}
    rows, failures, _ = _pages(_source(tmp_path, data))
    assert not failures
    assert [(row["page_id"], row["member"], row["page_number"]) for row in rows] == [
        ("shelf/book/0001", "1.png", 1),
        ("shelf/book/0002", "2.jpg", 2),
        ("shelf/book/0003", "10.jpg", 3),
    ]
    assert [row["image"] for row in rows] == [data["1.png"], data["2.jpg"], data["10.jpg"]]
    assert [row["media_type"] for row in rows] == ["image/png", "image/jpeg", "image/jpeg"]
    assert [row["kind"] for row in rows] == ["cover", "story", "story"]
    assert {(row["width"], row["height"]) for row in rows} == {pictures.SIZE}


def test_a_bad_page_leaves_a_gap_and_a_reason(tmp_path: Path) -> None:
    data = {"1.jpg": page(1), "2.jpg": pictures.WEB_PAGE, "3.jpg": page(3)}
    rows, failures, _ = _pages(_source(tmp_path, data))
    assert [row["page_number"] for row in rows] == [1, 3]
    assert [(f.item_id, f.kind) for f in failures] == [("shelf/book/0002", "not_a_picture")]
    assert "web page" in failures[0].message
    assert "shelf/book.cbz: 2.jpg" in failures[0].message


def test_what_a_damaged_book_lost_is_told_after_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "book.cbt"
    with tarfile.open(path, "w") as archive:
        for name in ("1.jpg", "2.jpg"):
            info = tarfile.TarInfo(name)
            info.size = len(page(1))
            archive.addfile(info, io.BytesIO(page(1)))
    path.write_bytes(path.read_bytes().replace(b"2.jpg", b"2.jqg"))
    source = BookSource("shelf/book", str(path), "shelf/book.cbt", "tar")
    rows, failures, _ = _pages(source)
    assert [row["member"] for row in rows] == ["1.jpg"]
    assert [(f.item_id, f.kind) for f in failures] == [("shelf/book", "corrupt")]
    assert "shelf/book.cbt" in failures[0].message
    path.write_bytes(path.read_bytes()[:300])
    for read in (_pages, _book):
        assert [f.kind for f in read(source)[1]] == ["corrupt"], "a book that lost all pages is one failure"


def test_a_book_of_one_page_has_no_cover(tmp_path: Path) -> None:
    rows, _, _ = _pages(_source(tmp_path, {"1.jpg": page(1)}))
    assert rows[0]["kind"] == "story"


def test_comic_info_decides_on_kinds_spreads_and_direction(tmp_path: Path) -> None:
    members = {f"{n}.jpg": page(n) for n in (1, 2, 3)} | {"ComicInfo.xml": _INFO}
    source = _source(tmp_path, members)
    rows, _, _ = _pages(source)
    assert [(row["kind"], row["spread"]) for row in rows] == [
        ("story", False),
        ("story", False),
        ("advertisement", True),
    ]
    book = _book(source)[0][0]
    assert (book["title"], book["series"], book["right_to_left"]) == ("Ink", "Tales", True)


def test_the_catalog_wins_over_comic_info(tmp_path: Path) -> None:
    catalog = CatalogEntry(title="Paper", licence="CC0", split="val", right_to_left=False)
    rows, failures, _ = _book(_source(tmp_path, {"1.jpg": page(1), "ComicInfo.xml": _INFO}, catalog))
    assert not failures
    assert (rows[0]["title"], rows[0]["licence"], rows[0]["split"], rows[0]["right_to_left"]) == (
        "Paper",
        "CC0",
        "val",
        False,
    )


def test_a_book_without_any_description_is_called_by_its_name(tmp_path: Path) -> None:
    rows, _, _ = _book(_source(tmp_path, {"1.jpg": page(1)}))
    assert (rows[0]["title"], rows[0]["right_to_left"], rows[0]["path"]) == ("book", False, "shelf/book.cbz")


def test_a_bad_comic_info_costs_its_own_words_alone(tmp_path: Path) -> None:
    source = _source(tmp_path, {"1.jpg": page(1), "ComicInfo.xml": b"<ComicInfo"})
    rows, failures, _ = _book(source)
    assert len(rows) == 1
    assert [f.kind for f in failures] == ["bad_comic_info"]
    assert [len(found) for found in _pages(source)] == [1, 0, 0]


@pytest.mark.parametrize("read", [_book, _pages])
def test_a_book_without_pages_is_one_failure(tmp_path: Path, read: object) -> None:
    assert callable(read)
    rows, failures, _ = read(_source(tmp_path, {"readme.txt": b"no picture"}))
    assert not rows
    assert [(f.item_id, f.kind) for f in failures] == [("shelf/book", "no_pages")]


def test_spreads_are_marked_against_the_books_usual_page(tmp_path: Path) -> None:
    sizes = [(200, 150)] + [(100, 150)] * 20 + [(200, 150)]
    members = {f"{n}.jpg": encoded(drawn(n, size)) for n, size in enumerate(sizes)}
    rows, _, _ = _pages(_source(tmp_path, members))
    assert [row["page_number"] for row in rows if row["spread"]] == [1, 22]


def test_repeated_pages_name_the_first(tmp_path: Path) -> None:
    members = {"1.jpg": page(1), "2.jpg": page(2), "3.jpg": page(1), "4.png": encoded(drawn(2), "PNG")}
    rows, _, _ = _pages(_source(tmp_path, members))
    assert [row["duplicate_of"] for row in rows] == [None, None, "shelf/book/0001", "shelf/book/0002"]


def test_further_pictures_of_a_tiff_are_counted_as_left_out(tmp_path: Path) -> None:
    tiff = encoded(drawn(1), "TIFF", save_all=True, append_images=[drawn(2), drawn(3)])
    rows, _, dropped = _pages(_source(tmp_path, {"1.tif": tiff}))
    assert [d.item_id for d in dropped] == ["shelf/book/0001#2-3"]
    assert decode(rows[0]["image"]).shape == (144, 96, 3)
