"""What a project remembers between runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from resources.project import Project


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


def test_what_killed_runs_left_in_the_cache_goes_when_the_project_is_opened(tmp_path: Path) -> None:
    left = tmp_path / "lake/_cache/.tmp-nowhere-1-abc"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    Project.open(lake=str(tmp_path / "lake"))
    assert not left.exists()
