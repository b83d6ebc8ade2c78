"""Where a table or a task is empty, the asset says why, on its page and on the terminal."""

from __future__ import annotations

import logging
from pathlib import Path

import dagster as dg
import pytest

from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import BuildConfig, Finished, Found, StoryloomResource, TableSpec, table_assets
from pipelines.comics.captions import WriteCaptions
from pipelines.comics.stories import SplitStories
from pipelines.errors import LibraryError
from pipelines.schemas import COMIC_CAPTIONS
from resources.lake import Lake
from resources.project import Project
from resources.shard_writer import write_shard
from tests.hostile_pictures import page

SPECS = {spec.name: spec for spec in [*COMICS, *PICK_A_PANEL]}


def note_of(table: str, lake: Path) -> str:
    project = Project.open(lake=str(lake), library=str(lake.parent))
    return SPECS[table].finish(project, lambda *_: None, BuildConfig()).metadata.get("note", "")


def test_without_captions_the_table_says_where_they_come_from(lake: Path) -> None:
    assert note_of("comic_captions", lake) == ""
    for shard in Lake(str(lake)).footers("comic_captions"):
        Lake(str(lake)).remove("comic_captions", shard)
    assert Lake(str(lake)).read_table("comic_captions", COMIC_CAPTIONS).num_rows == 0
    note = note_of("comic_captions", lake)
    assert "caption_relevance has no samples" in note and "annotations" in note and "captioner" in note


def test_a_split_without_books_says_so(tmp_path: Path) -> None:
    assert "No book is in the split val" in note_of("comicspap_val", tmp_path / "empty")


def build_books(library: Path, lake: Path) -> list[str]:
    """The warnings of a run that builds the tables of books and pages."""
    specs = [SPECS["comic_books"], SPECS["comic_pages"]]
    resource = StoryloomResource(library=str(library), lake=str(lake))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(table_assets(specs), instance=instance, resources={"storyloom": resource})
        records = instance.event_log_storage.get_logs_for_run(result.run_id)
    return [record.user_message for record in records if record.level == logging.WARNING]


@pytest.mark.parametrize("folder", [".", "comics"])
def test_a_library_without_any_book_stops_and_is_named(tmp_path: Path, folder: str) -> None:
    place = tmp_path / "library" / folder
    place.mkdir(parents=True)
    with pytest.raises(LibraryError, match="holds no book") as error:
        build_books(tmp_path / "library", tmp_path / "lake")
    assert str(place.resolve()) in str(error.value) and "STORYLOOM_LIBRARY" in str(error.value)
    (place / "a.mobi").write_bytes(b"a book")
    with pytest.raises(LibraryError, match=r"a\.mobi: The file is no book that can be read"):
        build_books(tmp_path / "library", tmp_path / "lake")


def test_a_library_whose_books_were_all_removed_is_empty_with_a_note(tmp_path: Path) -> None:
    book = tmp_path / "library" / "a" / "1.jpg"
    book.parent.mkdir(parents=True)
    book.write_bytes(page(1))
    assert build_books(tmp_path / "library", tmp_path / "lake") == []
    book.unlink()
    assert "no book any more" in build_books(tmp_path / "library", tmp_path / "lake")[0]
    assert not any(Lake(str(tmp_path / "lake")).has_table(table) for table in ("comic_books", "comic_pages"))
    with pytest.raises(LibraryError):
        build_books(tmp_path / "library", tmp_path / "lake")


@pytest.mark.parametrize(("task", "reason"), [("text_closure", "textboxes"), ("char_coherence", "exactly two")])
def test_a_task_without_samples_says_what_it_needs(lake: Path, task: str, reason: str) -> None:
    note = note_of("comicspap_test", lake)
    assert f"{task} needs" in note and reason in note and "_dropped/comicspap_samples" in note


def test_a_note_is_said_on_the_terminal_too(tmp_path: Path) -> None:
    spec = TableSpec(
        "comic_stories",
        "Stories",
        "comics",
        {"parquet"},
        lambda project: SplitStories(),
        find=lambda project: Found({}),
        finish=lambda project, progress, config: Finished({"note": "There is nothing to tell."}),
    )
    resource = StoryloomResource(library=str(tmp_path), lake=str(tmp_path / "lake"))
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(table_assets([spec]), instance=instance, resources={"storyloom": resource})
        records = instance.event_log_storage.get_logs_for_run(result.run_id)
    said = [record.user_message for record in records if record.level == logging.WARNING]
    assert said == ["comic_stories: There is nothing to tell."]


def test_captions_are_shown_as_they_read_and_never_as_markup(lake: Path) -> None:
    row = {"panel_id": "one/0001/01", "book_id": "one", "source": "openai/seer@captions@1"}
    row["caption"] = "<img src=x onerror=alert(1)> | [here](javascript:x)"
    write_shard(Lake(str(lake)), WriteCaptions(), "one", "planted", [row])
    project = Project.open(lake=str(lake), library=str(lake.parent))
    shown = str(SPECS["comic_captions"].finish(project, lambda *_: None, BuildConfig()).metadata["captions"].value)
    assert "&lt;img src" in shown and "<img" not in shown and "](" not in shown
