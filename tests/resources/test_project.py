"""What a project remembers between runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.errors import LibraryError
from resources.project import Project, draw_sample_library
from tests.pipelines.comics.library_folder import cbz, ids, put


def test_what_is_remembered_is_made_anew_when_its_key_changes_or_the_cache_is_damaged(tmp_path: Path) -> None:
    project = Project.open(lake=str(tmp_path / "lake"))
    made: list[str] = []

    def remembered(key: str) -> bytes:
        def make() -> bytes:
            made.append(key)
            return f"\x00of {key}\n".encode()

        return project.remembered("picture", key, make)

    assert [remembered(key) for key in ("a", "a", "b", "b")] == [b"\x00of a\n"] * 2 + [b"\x00of b\n"] * 2
    assert made == ["a", "b"]
    kept = tmp_path / "lake/_cache/picture"
    whole = kept.read_bytes()
    for damaged in (b"b", b"", b"b\n", whole[:-1], whole.replace(b"of", b"\xff\xfe"), b"\xff" + whole):
        kept.write_bytes(damaged)
        assert remembered("b") == b"\x00of b\n"
        assert kept.read_bytes() == whole
    assert made == ["a", *"bbbbbbb"]


def _digested(project: Project, file: Path, read: list[Path]) -> str:
    def digest(path: Path) -> str:
        read.append(path)
        return path.read_text()

    return project.digested("books", {"a": file}, lambda path: str(path.stat().st_mtime_ns), digest)["a"].digest


@pytest.mark.parametrize(
    "damaged",
    [b"[]", b"null", b"3", b"\xff\xfe", b"{", b"[" * 100_000, b'{"a": []}', b'{"a": [1, 2]}', b'{"a": "bc"}', b""],
)
def test_a_damaged_cache_of_digests_counts_as_absent(tmp_path: Path, damaged: bytes) -> None:
    project = Project.open(lake=str(tmp_path / "lake"))
    file, read = tmp_path / "book.cbz", []
    file.write_text("pages")
    assert [_digested(project, file, read) for _ in range(2)] == ["pages"] * 2 and len(read) == 1
    kept = tmp_path / "lake/_cache/books.json"
    whole = kept.read_bytes()
    kept.write_bytes(damaged)
    assert [_digested(project, file, read) for _ in range(2)] == ["pages"] * 2 and len(read) == 2
    assert kept.read_bytes() == whole


def test_a_library_drawn_from_another_seed_is_moved_aside_with_what_people_put_into_it(tmp_path: Path) -> None:
    folder = draw_sample_library(tmp_path / "sample_library", 0)
    (folder / "comics" / "mine.cbz").write_bytes(b"PK")
    for seed, aside in ((1, "sample_library-1-0"), (0, "sample_library-1-1"), (1, "sample_library-1-0.2")):
        draw_sample_library(folder, seed)
        assert (tmp_path / aside / "comics").is_dir()
    assert (tmp_path / "sample_library-1-0" / "comics" / "mine.cbz").read_bytes() == b"PK"
    assert not (folder / "comics" / "mine.cbz").exists()


def opened(library: Path) -> Project:
    return Project.open(library=str(library), lake=str(library.parent / "lake"))


@pytest.mark.parametrize("folder", ["strips", "videos"])
def test_a_folder_of_any_name_in_a_folder_of_books_holds_books(tmp_path: Path, folder: str) -> None:
    cbz(tmp_path / "books" / "a.cbz")
    cbz(tmp_path / "books" / folder / "b.cbz")
    put(tmp_path / "books" / "annotations" / "1.jpg")
    books, failures = opened(tmp_path / "books").books()
    assert ids(books) == ["a", f"{folder}/b"] and failures == []


def test_books_beside_the_folder_of_comics_are_told(tmp_path: Path) -> None:
    library = tmp_path / "library"
    cbz(library / "comics" / "a.cbz")
    for beside in ("manga/deep/b.cbz", "manga/c.cbz", "d.cbz"):
        cbz(library / beside)
    put(library / "scans" / "1.jpg")
    for other in ("videos/1.jpg", "strips/1.jpg", "annotations/1.jpg", ".hidden/1.jpg", "notes/readme.md", "cover.jpg"):
        put(library / other)
    books, failures = opened(library).books()
    assert ids(books) == ["a"]
    assert [(f.item_id, f.kind) for f in failures] == [(name, "beside_comics") for name in ("d.cbz", "manga", "scans")]
    assert "manga/c.cbz" in failures[1].message and "rename" in failures[1].message


def test_what_belongs_to_the_books_is_found_from_the_folder_of_comics_too(tmp_path: Path) -> None:
    library = tmp_path / "library"
    cbz(library / "comics" / "a.cbz")
    (library / "annotations").mkdir()
    (library / "catalog.csv").write_text("book,split\na,test\n")
    for folder in (library, library / "comics"):
        project = opened(folder)
        (book,), _ = project.books()
        assert book.catalog.split == "test" and project.annotations == [library / "annotations"]


def test_a_lake_in_the_library_is_no_book_and_a_lake_that_is_the_library_stops(tmp_path: Path) -> None:
    for library in (tmp_path / "plain", tmp_path / "with"):
        comics = library / "comics" if library.name == "with" else library
        cbz(comics / "a.cbz")
        put(library / "lake" / "comic_books" / "a.parquet")
        put(library / "lake" / "releases" / "comicspap" / "figure.png")
        books, failures = Project.open(library=str(library), lake=str(library / "lake")).books()
        assert ids(books) == ["a"] and failures == []
        with pytest.raises(LibraryError, match="STORYLOOM_LAKE"):
            Project.open(library=str(library), lake=str(comics)).books()


def test_what_killed_runs_left_in_the_cache_goes_when_the_project_is_opened(tmp_path: Path) -> None:
    left = tmp_path / "lake/_cache/.tmp-nowhere-1-abc"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    Project.open(lake=str(tmp_path / "lake"))
    assert not left.exists()


def test_each_role_of_the_gpu_profile_is_described_without_loading_it(tmp_path: Path) -> None:
    project = Project.open(profile="gpu", lake=str(tmp_path / "lake"))
    assert project.model("captioner").source == "openai/allenai/Molmo-72B-0924"
    voters = project.model("voters")
    assert [voter.source for voter in voters] == [
        "gemini/gemini-2.5-pro",
        "gemini/gemini-2.5-flash",
        "gemini/gemini-2.5-flash-lite",
    ]
    assert {voter.runtime["replies"] for voter in voters} == {str(tmp_path / "lake")}
    assert Project.open(lake=str(tmp_path / "lake")).model("captioner") is None
