"""What a project remembers between runs."""

from __future__ import annotations

import os
from pathlib import Path

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
    (tmp_path / "lake/_cache/picture").write_bytes(b"b")
    assert remembered("b") == b"\x00of b\n"
    assert made == ["a", "b", "b"]


def test_what_killed_runs_left_in_the_cache_goes_when_the_project_is_opened(tmp_path: Path) -> None:
    left = tmp_path / "lake/_cache/.tmp-nowhere-1-abc"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    Project.open(lake=str(tmp_path / "lake"))
    assert not left.exists()
