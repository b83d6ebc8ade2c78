"""RAR books: with a stand-in for the tool that unpacks them, which is not installed everywhere."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rarfile

from pipelines.comics.archives import Book, Limits, open_book
from pipelines.comics.library import BookSource
from pipelines.errors import ItemError
from tests.hostile_pictures import page
from tests.rar_files import NORMAL, block, printing_tool, rar

PAGES = [(f"{number}.jpg", page(number)) for number in range(1, 6)]
END = block(5, b"\0")


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[Book]:
    path.write_bytes(data)
    with open_book(BookSource("book", str(path), path.name, "rar"), Limits()) as book:
        yield book


@pytest.fixture
def no_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Path("no such program"))


def use(monkeypatch: pytest.MonkeyPatch, tool: Path) -> None:
    """Let the library find this tool alone."""
    monkeypatch.setattr(rarfile, "CURRENT_SETUP", None)
    monkeypatch.setattr(rarfile, "UNRAR_TOOL", str(tool))
    for other in ("UNAR_TOOL", "BSDTAR_TOOL", "SEVENZIP_TOOL", "SEVENZIP2_TOOL"):
        monkeypatch.setattr(rarfile, other, "no such program")


@pytest.mark.usefixtures("no_tool")
def test_stored_pages_need_no_tool_and_packed_ones_say_what_to_install(tmp_path: Path) -> None:
    with opened(tmp_path / "book.cbr", rar(PAGES)) as book:
        assert [(name, book.read(name)) for name in book.members()] == PAGES and not book.faults
    with pytest.raises(ItemError, match="Install unrar") as error, opened(tmp_path / "b", rar(PAGES, method=NORMAL)):
        pass
    assert error.value.kind == "tool_missing"


def test_a_solid_archive_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [("notes.txt", b"first"), *PAGES]
    use(monkeypatch, printing_tool(tmp_path, b"".join(data for _, data in files)))
    with opened(tmp_path / "book.cbr", rar(files, solid=True, method=NORMAL)) as book:
        assert [(name, book.read(name)) for name in book.members()] == PAGES and not book.faults
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_pages_that_a_solid_archive_lost_are_told_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(data for _, data in PAGES)
    second = len(PAGES[0][1]) + 10
    use(monkeypatch, printing_tool(tmp_path, whole[:second] + b"damage" + whole[second + 6 : -10]))
    kinds = []
    with opened(tmp_path / "book.cbr", rar(PAGES, solid=True, method=NORMAL)) as book:
        for name, data in PAGES:
            try:
                assert book.read(name) == data
                kinds.append("whole")
            except ItemError as error:
                kinds.append(error.kind)
    assert kinds == ["whole", "corrupt", "whole", "whole", "corrupt"]


def test_a_tool_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = printing_tool(tmp_path, b"")
    tool.write_text('#!/bin/sh\n[ "$1" = p ] || exit 0\nexec cat /dev/zero\n')
    use(monkeypatch, tool)
    with opened(tmp_path / "book.cbr", rar(PAGES, solid=True, method=NORMAL)) as book, pytest.raises(ItemError):
        book.read("1.jpg")


@pytest.mark.usefixtures("no_tool")
def test_links_in_an_archive_fail(tmp_path: Path) -> None:
    with opened(tmp_path / "book.cbr", rar(PAGES[:1], link="2.jpg")) as book:
        assert book.members() == ["1.jpg", "2.jpg"]
        with pytest.raises(ItemError) as error:
            book.read("2.jpg")
    assert error.value.kind == "unsafe_name"


@pytest.mark.usefixtures("no_tool")
@pytest.mark.parametrize("end", [-1, -len(END), -len(END) - 12])
def test_a_cut_archive_says_that_pages_may_be_missing(end: int, tmp_path: Path) -> None:
    with opened(tmp_path / "book.cbr", rar(PAGES)[:end]) as book:
        assert [book.read(name) for name, _ in PAGES[:-1]] == [data for _, data in PAGES[:-1]]
        assert [fault.kind for fault in book.faults] == ["corrupt"]


@pytest.mark.usefixtures("no_tool")
def test_an_archive_that_goes_on_with_what_is_not_known_says_that_pages_may_be_missing(tmp_path: Path) -> None:
    with opened(tmp_path / "book.cbr", rar(PAGES[:1])[: -len(END)] + block(9, b"") + rar(PAGES[1:])[8:]) as book:
        assert book.members() == ["1.jpg"]
        assert [fault.kind for fault in book.faults] == ["truncated"]


@pytest.mark.usefixtures("no_tool")
def test_a_damaged_header_is_told_and_the_pages_before_it_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "book.cbr", rar(PAGES).replace(b"3.jpg", b"3.jqg")) as book:
        assert book.members() == ["1.jpg", "2.jpg"]
        assert [fault.kind for fault in book.faults] == ["corrupt"]


def test_a_solid_archive_for_which_there_is_no_space_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, printing_tool(tmp_path, b"".join(data for _, data in PAGES)))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(tmp_path / "book.cbr", rar(PAGES, solid=True, method=NORMAL)) as book:
        monkeypatch.setattr("pipelines.comics.archive_rar._copy", refuse)
        for name, _ in PAGES:
            with pytest.raises(ItemError) as error:
                book.read(name)
            assert error.value.kind == "no_space"
