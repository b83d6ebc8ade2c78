"""Every book of a hostile library ends as rows or as failures with a reason that a person understands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.comics.archives import Limits
from pipelines.comics.library import BookSource, find_books, source_digest, source_stat
from pipelines.comics.pages import ReadBooks, ReadPages
from pipelines.stage import Failure, Row
from tests.hostile_library import make_hostile_library
from tests.hostile_pictures import page
from tests.stage_inputs import FakeInputs, run_stage

_LARGE = "large/thousand.cbz"
_MEASURE = """
import resource, sys
from pathlib import Path
from pipelines.comics.archives import Limits
from pipelines.comics.library import find_books
from pipelines.comics.pages import ReadPages
from tests.hostile_library import make_hostile_library
from tests.stage_inputs import FakeInputs
make_hostile_library(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for source in find_books(Path(sys.argv[1], "comics"))[0]:
    for item in ReadPages(Limits()).run(FakeInputs(source.book_id, source=source)):
        del item
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


class Library:
    """The hostile library with what is expected of it and what was found in it."""

    def __init__(self, root: Path) -> None:
        self.expected = make_hostile_library(root)
        self.sources, self.failures = find_books(root / "comics")

    def pages(self, source: BookSource) -> tuple[list[Row], list[Failure]]:
        rows, failures, _ = run_stage(ReadPages(Limits()), FakeInputs(source.book_id, source=source))
        return rows, failures

    def outcomes(self) -> dict[str, tuple[str, list[Failure]]]:
        """For each expected book its outcome in the words of the expectation, and its failures."""
        found: dict[str, tuple[str, list[Failure]]] = {}
        for source in self.sources:
            rows, failures = self.pages(source)
            found[source.relative_path] = (" ".join([str(len(rows)), *(f.kind for f in failures)]), failures)
        for failure in self.failures:
            found[failure.item_id] = (f"0 {failure.kind}", [failure])
        return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("hostile"))


def test_each_book_ends_as_expected(library: Library) -> None:
    found = library.outcomes()
    assert {path: outcome for path, (outcome, _) in found.items()} == library.expected
    for path, (_, failures) in found.items():
        for failure in failures:
            message = failure.message
            assert 20 < len(message) < 1000, (path, message)
            assert Path(path).name in message or failure.item_id == path, (path, message)
            assert "Traceback" not in message and "Error(" not in message, (path, message)


def test_each_readable_book_has_one_row_and_each_other_one_failure(library: Library) -> None:
    for source in library.sources:
        rows, failures, _ = run_stage(ReadBooks(Limits()), FakeInputs(source.book_id, source=source))
        opened = [f for f in failures if f.kind != "bad_comic_info"]
        assert len(rows) + len(opened) == 1, source


def test_each_book_has_a_digest_and_a_token_of_its_state(library: Library) -> None:
    digests = {source.book_id: (source_digest(source), source_stat(source)) for source in library.sources}
    assert digests == {source.book_id: (source_digest(source), source_stat(source)) for source in library.sources}


def test_no_page_comes_from_outside_the_library(library: Library) -> None:
    for source in library.sources:
        if source.relative_path.startswith("links/"):
            rows, _ = library.pages(source)
            assert page(99) not in [row["image"] for row in rows]


def test_pages_of_a_large_book_are_in_natural_order(library: Library) -> None:
    source = next(s for s in library.sources if s.relative_path == _LARGE)
    rows, _ = library.pages(source)
    assert [row["member"] for row in rows] == [f"{n}.jpg" for n in range(1, 1001)]
    assert rows[-1]["page_id"] == "large/thousand/1000"
    assert not any(row["duplicate_of"] or row["spread"] for row in rows)


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """The whole library, bombs of four gigabytes included, in a process of its own."""
    command = [sys.executable, "-c", _MEASURE, str(tmp_path)]
    run = subprocess.run(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, text=True, check=True)
    assert int(run.stdout) < 400


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("zip.zip", "1"), ("7zip.7z", "1"), ("komga.pdf", "1"), ("epub3.epub", "2"), ("zip-encrypted.zip", "0 encrypted")],
)
def test_real_archives_are_read(real_data: Path, name: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes((real_data / "archives" / name).read_bytes())
    (source,), failures = find_books(tmp_path)
    rows, bad, _ = run_stage(ReadPages(Limits()), FakeInputs(source.book_id, source=source))
    assert not failures
    assert " ".join([str(len(rows)), *(f.kind for f in bad)]) == outcome


def test_a_real_rar_under_another_name_is_read_or_says_what_is_missing(real_data: Path, tmp_path: Path) -> None:
    (tmp_path / "rar.cbz").write_bytes((real_data / "archives" / "rar5.rar").read_bytes())
    (source,), _ = find_books(tmp_path)
    rows, failures, _ = run_stage(ReadPages(Limits()), FakeInputs(source.book_id, source=source))
    assert rows or "unrar" in failures[0].message
