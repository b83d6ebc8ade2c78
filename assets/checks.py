"""Asset checks over finished tables: the samples are what they must be, no split gives another away, no shortcut wins."""

from collections import defaultdict

import dagster as dg
import pyarrow as pa

from assets.pick_a_panel import task_settings
from assets.releases import books_of
from assets.tables import StoryloomResource
from pipelines.markdown import escape
from pipelines.pick_a_panel.check_samples import Story, faults
from pipelines.pick_a_panel.near_duplicates import LEAST_CONTRAST, near_duplicates
from pipelines.pick_a_panel.solvers import BY_DESIGN
from pipelines.schemas import (
    COMIC_BOOKS,
    COMIC_CAPTIONS,
    COMIC_PAGE_KINDS,
    COMIC_PAGES,
    COMIC_PANEL_FEATURES,
    COMIC_PANELS,
    COMIC_STORIES,
    COMIC_TEXTS,
    COMICSPAP_AUDIT,
    COMICSPAP_SAMPLES,
    SPLITS,
)
from resources.lake import Lake

_SHOWN = 20
_GAP = 1000


def _listed(lines: list[str]) -> dg.MarkdownMetadataValue:
    more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    shown = [escape(line, longest=400) for line in lines[:_SHOWN]]
    return dg.MetadataValue.md("\n".join(f"* {line}" for line in [*shown, *more]) or "none")


def _stories(lake: Lake, books: set[str]) -> dict[str, Story]:
    """The panels of which each story's samples may be made, in reading order.

    They stand on its pages of kind `story` that repeat no other page of it, and their looks are known.
    """
    found = {}
    for book in books:
        kinds = lake.read("comic_page_kinds", book, COMIC_PAGE_KINDS).to_pylist()
        pages = {row["page_id"]: row["page_number"] for row in kinds if row["kind"] == "story"}
        panels = lake.read("comic_panels", book, COMIC_PANELS).to_pylist()
        panels.sort(key=lambda row: (row["page_number"], row["reading_order"]))
        features = lake.read("comic_panel_features", book, COMIC_PANEL_FEATURES, ["panel_id", "phash"]).to_pylist()
        hashes = {row["panel_id"]: int(row["phash"], 16) for row in features}
        copies = lake.read("comic_pages", book, COMIC_PAGES, ["page_id", "page_number", "duplicate_of"]).to_pylist()
        original = {row["page_id"]: row["duplicate_of"] for row in copies}
        read = {row["page_number"] for row in copies}
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for row in lake.read("comic_texts", book, COMIC_TEXTS, ["panel_id", "text"]).to_pylist():
            texts[row["panel_id"]].append(" ".join(row["text"].split()))
        written = lake.read("comic_captions", book, COMIC_CAPTIONS, ["panel_id", "caption"]).to_pylist()
        captions = {row["panel_id"]: row["caption"] for row in written}
        for story in lake.read("comic_stories", book, COMIC_STORIES).to_pylist():
            numbers = range(story["first_page"], story["last_page"] + 1)
            mine = {page for page, number in pages.items() if number in numbers}
            once = {page for page in mine if original.get(page) not in mine}
            lost = [number for number in numbers if number not in read]
            places = {}
            for place, row in enumerate(row for row in panels if row["page_id"] in once):
                # A lost page leaves a gap, and so does a panel that was not looked at.
                if row["panel_id"] in hashes:
                    places[row["panel_id"]] = place + _GAP * sum(number < row["page_number"] for number in lost)
            found[story["story_id"]] = Story(places, hashes, texts, captions)
    return found


def _samples_valid(split: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=f"comicspap_{split}",
        name="samples_valid",
        description="Options, distances, contents and places of right options are what the tasks ask for",
    )
    def check(storyloom: StoryloomResource) -> dg.AssetCheckResult:
        project = storyloom.open()
        rows = project.lake.read_table(f"comicspap_{split}", COMICSPAP_SAMPLES).to_pylist()
        found = faults(rows, _stories(project.lake, {row["book_id"] for row in rows}), task_settings(project))
        strange = sorted({row["book_id"] for row in rows} - set(books_of(project, split)))
        found += [f"{book} is no book of the split {split}" for book in strange]
        return dg.AssetCheckResult(passed=not found, metadata={"samples": len(rows), "faults": _listed(found)})

    return check


def _items(lake: Lake) -> pa.Table:
    """Story pages and their panels that show something, with the columns `id`, `book_id`, `phash`.

    Other pages give no samples, and pages of prose all look alike.
    """
    kinds = lake.read_table("comic_page_kinds", COMIC_PAGE_KINDS, ["page_id", "kind"]).to_pylist()
    story = {row["page_id"] for row in kinds if row["kind"] == "story"}
    pages = lake.read_table("comic_pages", COMIC_PAGES, ["page_id", "book_id", "phash"]).to_pylist()
    columns = ["panel_id", "page_id", "book_id", "phash", "contrast"]
    panels = lake.read_table("comic_panel_features", COMIC_PANEL_FEATURES, columns).to_pylist()
    found = [(row["page_id"], row) for row in pages if row["page_id"] in story]
    found += [(r["panel_id"], r) for r in panels if r["page_id"] in story and r["contrast"] >= LEAST_CONTRAST]
    rows = [{"id": name, "book_id": row["book_id"], "phash": row["phash"]} for name, row in found]
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in ("id", "book_id", "phash")]))


def _no_near_duplicates(split: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=f"comicspap_{split}",
        name="near_duplicates",
        description="No page or panel of this split is nearly one of another split",
    )
    def check(storyloom: StoryloomResource) -> dg.AssetCheckResult:
        lake = storyloom.open().lake
        books = lake.read_table("comic_books", COMIC_BOOKS, ["book_id", "split"]).to_pylist()
        pairs = near_duplicates(_items(lake), {row["book_id"]: row["split"] for row in books}, split)
        lines = [f"{pair.item} and {pair.other} ({pair.distance} bits)" for pair in pairs]
        return dg.AssetCheckResult(passed=not pairs, metadata={"pairs": _listed(lines)})

    return check


@dg.asset_check(
    asset="comicspap_audit", name="shortcuts", description="No simple solver beats chance by more than luck explains"
)
def shortcuts(storyloom: StoryloomResource) -> dg.AssetCheckResult:
    """A warning that lists the solvers that do; those that must, because of what the tasks are, are listed apart."""
    rows = storyloom.open().lake.read_table("comicspap_audit", COMICSPAP_AUDIT).to_pylist()
    lines: dict[bool, list[str]] = {False: [], True: []}
    for row in rows:
        if row["leak"]:
            lines[row["solver"] in BY_DESIGN].append(
                f"{row['split']}, {row['task_type']}: {row['solver']} gets {row['accuracy']:.1f}% "
                f"({row['low']:.1f} to {row['high']:.1f}) where chance is {row['chance']:.1f}%"
            )
    return dg.AssetCheckResult(
        passed=not lines[False],
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"shortcuts": _listed(lines[False]), "by_design": _listed(lines[True])},
    )


CHECKS = [*(make(split) for split in SPLITS for make in (_samples_valid, _no_near_duplicates)), shortcuts]
