"""The tables of a book with as many speaking, captioned panels as a test asks for, and their samples."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from pipelines.identity import page_id, panel_id, text_id
from pipelines.pick_a_panel.build import BuildSamples
from pipelines.schemas import TABLES
from pipelines.stage import Row
from tests.pipelines.pick_a_panel.made_stories import BOXES, PANEL, words
from tests.stage_inputs import FakeInputs, run_stage

BOOK = "série/one"


def page_row(number: int, duplicate_of: int | None = None) -> Row:
    return {
        "page_id": page_id(BOOK, number),
        "book_id": BOOK,
        "page_number": number,
        "member": f"{number}.png",
        "image": b"",
        "media_type": "image/png",
        "width": 900,
        "height": 900,
        "sha256": "",
        "phash": "",
        "spread": False,
        "duplicate_of": page_id(BOOK, duplicate_of) if duplicate_of else None,
        "kind": "story",
        "source": "test",
    }


def book(
    panels_on: dict[int, int],
    stories: list[tuple[int, int]],
    *,
    split: str = "train",
    kinds: dict[int, str] | None = None,
    duplicates: dict[int, int] | None = None,
) -> dict[str, Any]:
    """The tables of a book: `panels_on` gives each page's number of panels; each panel speaks and is captioned."""
    source = random.Random(7)
    tables: dict[str, Any] = {name: [] for name in BuildSamples.inputs}
    shared = {"book_id": BOOK, "source": "test"}
    tables["comic_books"].append(
        {**shared, "title": "One", "split": split, "right_to_left": False, "container": "zip", "path": "one.cbz"}
    )
    for number, count in panels_on.items():
        page = {**shared, "page_id": page_id(BOOK, number), "page_number": number}
        tables["comic_pages"].append(page_row(number, (duplicates or {}).get(number)))
        tables["comic_page_kinds"].append({**page, "kind": (kinds or {}).get(number, "story"), "reason": "test"})
        for order in range(1, count + 1):
            panel = panel_id(page["page_id"], order)
            tables["comic_panels"].append(
                {**page, "panel_id": panel, "reading_order": order, **PANEL._asdict(), "polygon": [], "confidence": 1}
            )
            phash = f"{random.Random(panel).getrandbits(64):016x}"
            tables["comic_panel_features"].append({"panel_id": panel, "phash": phash})
            tables["comic_captions"].append({**shared, "panel_id": panel, "caption": "A hill."})
            for place, box in enumerate(BOXES):
                tables["comic_texts"].append(
                    {
                        **page,
                        "text_id": text_id(page["page_id"], 2 * order + place),
                        "panel_id": panel,
                        "reading_order": 2 * order + place,
                        **box._asdict(),
                        "text": words(source, 20),
                        "confidence": 1,
                        "panel_share": 1,
                    }
                )
    for number, (first, last) in enumerate(stories, 1):
        tables["comic_stories"].append(
            {**shared, "story_id": f"{BOOK}/s{number:02d}", "first_page": first, "last_page": last}
        )
    features = pa.table(
        {
            name: [row[name] for row in tables["comic_panel_features"]] or pa.array([], pa.string())
            for name in ("panel_id", "phash")
        }
    )
    rows = {
        name: pa.Table.from_pylist(rows, schema=TABLES[name])
        for name, rows in tables.items()
        if name != "comic_panel_features"
    }
    return {**rows, "comic_panel_features": features}


def run(tables: dict[str, Any]) -> tuple[list[Row], list[Any], dict[str, str]]:
    rows, failures, dropped = run_stage(BuildSamples(), FakeInputs(BOOK, tables))
    return rows, failures, {item.item_id: item.reason for item in dropped}


def of_task(rows: list[Row], task: str) -> list[Row]:
    return [row for row in rows if row["task_type"] == task]
