"""What a project remembers between runs."""

from __future__ import annotations

from pathlib import Path

from resources.project import Project, draw_sample_library


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


def test_a_library_drawn_from_another_seed_is_moved_aside_with_what_people_put_into_it(tmp_path: Path) -> None:
    folder = draw_sample_library(tmp_path / "sample_library", 0)
    (folder / "comics" / "mine.cbz").write_bytes(b"PK")
    for seed, aside in ((1, "sample_library-1-0"), (0, "sample_library-1-1"), (1, "sample_library-1-0.2")):
        draw_sample_library(folder, seed)
        assert (tmp_path / aside / "comics").is_dir()
    assert (tmp_path / "sample_library-1-0" / "comics" / "mine.cbz").read_bytes() == b"PK"
    assert not (folder / "comics" / "mine.cbz").exists()
