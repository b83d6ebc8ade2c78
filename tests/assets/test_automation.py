"""The sensor asks for one rebuild for each state in which the library stands still."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from assets.automation import library_changes
from assets.tables import StoryloomResource

Tick = Callable[[], tuple[int, str]]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "library" / "comics").mkdir(parents=True)
    (tmp_path / "library" / "comics" / "a.cbz").write_bytes(b"PK one")
    return tmp_path / "library"


@pytest.fixture
def tick(library: Path, tmp_path: Path) -> Tick:
    """One look of the sensor: how many runs it asks for, and why it asks for none."""
    resource = StoryloomResource(library=str(library), lake=str(tmp_path / "lake"))
    cursor: list[str | None] = [None]

    def look() -> tuple[int, str]:
        context = dg.build_sensor_context(cursor=cursor[0])
        result = library_changes(context, storyloom=resource)
        assert isinstance(result, dg.SensorResult)
        cursor[0] = result.cursor or cursor[0]
        return len(result.run_requests or ()), str(result.skip_reason or "")

    return look


def test_it_waits_for_the_library_to_stand_still_and_asks_once(tick: Tick) -> None:
    asked, reason = tick()
    assert asked == 0 and "stand still" in reason
    assert [tick()[0] for _ in range(3)] == [1, 0, 0]


@pytest.mark.parametrize("change", ["added", "changed", "removed", "catalog", "annotation"])
def test_it_notices_what_happens_to_books_and_what_people_say_of_them(change: str, library: Path, tick: Tick) -> None:
    assert sum(tick()[0] for _ in range(3)) == 1
    book = library / "comics" / "a.cbz"
    if change == "added":
        (library / "comics" / "b.cbz").write_bytes(b"PK")
    elif change == "changed":
        book.write_bytes(b"PK other")
    elif change == "removed":
        book.unlink()
    elif change == "catalog":
        (library / "catalog.csv").write_text("book,split\na,test\n")
    else:
        (library / "annotations").mkdir()
        (library / "annotations" / "a.json").write_text("{}")
    assert [tick()[0] for _ in range(3)] == [0, 1, 0]


def test_a_library_that_comes_back_to_an_earlier_state_is_built_again(library: Path, tmp_path: Path) -> None:
    """Dagster skips a run key that it has seen, however long ago."""
    resource, cursor, requests = StoryloomResource(library=str(library), lake=str(tmp_path / "lake")), None, []
    for _ in range(2):
        for change in (lambda book: book.write_bytes(b"PK"), lambda book: book.unlink()):
            change(library / "comics" / "b.cbz")
            for _ in range(2):
                result = library_changes(dg.build_sensor_context(cursor=cursor), storyloom=resource)
                assert isinstance(result, dg.SensorResult)
                cursor = result.cursor or cursor
                requests += result.run_requests or ()
    assert [request.run_key for request in requests] == [None] * 4


def test_a_library_that_cannot_be_read_is_waited_for_with_the_reason(library: Path, tick: Tick) -> None:
    assert sum(tick()[0] for _ in range(2)) == 1
    (library / "catalog.csv").write_text("title\nx\n")
    for _ in range(2):
        asked, reason = tick()
        assert asked == 0 and "no column `book`" in reason and str(library / "catalog.csv") in reason
    (library / "catalog.csv").unlink()
    asked, reason = tick()
    assert asked == 0 and "has not changed" in reason
