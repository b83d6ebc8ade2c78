from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipelines.comics.annotations.files import read_annotation_files
from pipelines.comics.annotations.matching import group_by_book
from pipelines.comics.annotations.resolve import ResolveAnnotations
from pipelines.comics.captions import WriteCaptions
from pipelines.comics.detect_panels import DetectPanels
from pipelines.comics.library import BookSource, find_books
from pipelines.comics.page_kinds import DecideKinds
from pipelines.comics.pages import ReadBooks, ReadPages
from pipelines.comics.panel_features import PanelFeatures
from pipelines.comics.stories import SplitStories
from pipelines.comics.texts import ReadTexts
from pipelines.geometry import Box, intersection
from pipelines.lettering import missing_glyphs
from pipelines.pick_a_panel.build import BuildSamples
from pipelines.samples.library import draw_library, library_specs
from pipelines.schemas import SPLITS, TASKS
from pipelines.stage import Stage
from tests.stage_inputs import FakeInputs, run_stage


class NoModel:
    """Fails the test where a stage asks a model about a page that people have annotated."""

    source = "test/none@1"

    def load(self) -> Any:
        raise AssertionError("a model was asked about an annotated page")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("samples")
    draw_library(root)
    return root


@pytest.fixture(scope="module")
def books(library: Path) -> dict[str, BookSource]:
    found, failures = find_books(library / "comics")
    assert not failures
    return {book.book_id: book for book in found}


@pytest.fixture(scope="module")
def annotated(library: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((library / "annotations").iterdir())}


def test_books_come_in_all_splits_containers_and_both_directions(library: Path, books: dict[str, BookSource]) -> None:
    with (library / "catalog.csv").open(encoding="utf-8") as file:
        rows = {row["book"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(books)
    assert {row["split"] for row in rows.values()} == set(SPLITS)
    assert {row["reading_direction"] for row in rows.values()} == {"ltr", "rtl"}
    assert {book.container for book in books.values()} == {"zip", "folder", "tar", "pdf"}
    for name, book in books.items():
        assert (book.catalog.title, book.catalog.split) == (rows[name]["title"], rows[name]["split"])


def test_one_training_book_is_left_to_the_detectors(
    books: dict[str, BookSource], annotated: dict[str, dict[str, Any]]
) -> None:
    (bare,) = set(books) - set(annotated)
    assert books[bare].catalog.split == "train"


def test_the_truth_lies_on_the_page_and_texts_in_their_panels(annotated: dict[str, dict[str, Any]]) -> None:
    for book in annotated.values():
        for page in book["pages"]:
            sheet = Box(0, 0, page["width"], page["height"])
            panels = [Box(*panel["box"]) for panel in page["panels"]]
            for box in (*panels, *(Box(*text["box"]) for text in page["texts"])):
                assert box.area and intersection(box, sheet) == box.area
            for text in page["texts"]:
                box = Box(*text["box"])
                assert not missing_glyphs(text["text"])
                if "panel" in text:
                    assert intersection(box, panels[text["panel"] - 1]) >= 0.8 * box.area, (book["book"], text)
            assert set(page["captions"]) == {str(number) for number in range(1, len(panels) + 1)}


def test_each_book_has_a_cover_an_advertisement_and_two_long_stories(annotated: dict[str, dict[str, Any]]) -> None:
    for book in annotated.values():
        kinds = Counter(page["kind"] for page in book["pages"])
        assert kinds["cover"] == 1 and kinds["advertisement"] >= 1 and kinds["first_page"] == 2
        for story in book["stories"]:
            pages = book["pages"][story["first_page"] - 1 : story["last_page"]]
            assert sum(len(page["panels"]) for page in pages) >= 16


def test_the_same_seed_gives_the_same_bytes(library: Path, tmp_path: Path) -> None:
    draw_library(tmp_path)
    assert digests(tmp_path) == digests(library)


def test_another_seed_deals_the_scripts_anew() -> None:
    dealt = [[spec.name for spec in library_specs(seed)] for seed in (0, 1)]
    assert dealt[0] != dealt[1] and sorted(dealt[0]) == sorted(dealt[1])


def digests(root: Path) -> dict[Path, str]:
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_every_split_has_samples_of_every_task(library: Path, books: dict[str, BookSource]) -> None:
    entries, failures = read_annotation_files(library / "annotations")
    assert not failures
    by_book, unknown = group_by_book(entries, list(books))
    assert not unknown
    counts: Counter[tuple[str, str]] = Counter()
    for name in by_book:
        tables: dict[str, Any] = {}
        run(ReadBooks(), tables, name, books[name])
        run(ReadPages(), tables, name, books[name])
        run(ResolveAnnotations(), tables, name, by_book[name])
        for stage in (
            DetectPanels(NoModel()),  # pyright: ignore[reportArgumentType]
            ReadTexts(NoModel()),  # pyright: ignore[reportArgumentType]
            DecideKinds(),
            SplitStories(),
            WriteCaptions(),
            PanelFeatures(),
            BuildSamples(),
        ):
            run(stage, tables, name, None)
        counts.update((row["split"], row["task_type"]) for row in tables["comicspap_samples"])
    assert set(counts) == {(split, task) for split in SPLITS for task in TASKS}, counts


def run(stage: Stage, tables: dict[str, Any], book: str, source: Any) -> None:
    """Add what a stage makes of a book to the tables; it must not fail on anything."""
    rows, failures, _ = run_stage(stage, FakeInputs(book, tables, source))
    assert not failures
    tables[stage.table] = rows
