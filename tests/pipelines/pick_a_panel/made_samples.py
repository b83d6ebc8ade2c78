"""Samples with random answers, and a way to plant a shortcut in them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from pipelines.stage import Row

OPTIONS = {
    "sequence_filling": 5,
    "char_coherence": 2,
    "visual_closure": 7,
    "text_closure": 4,
    "caption_relevance": 4,
}


Plant = Callable[[Row, dict[str, Row]], None]
"""Changes a sample, given all panels by id (rows of both tables of panels in one)."""


def a_panel(name: str, source: random.Random) -> Row:
    """A panel that looks like nothing in particular: columns of `comic_panels` and `comic_panel_features`."""
    colours = [source.random() ** 4 for _ in range(64)]
    return {
        "panel_id": name,
        "w": source.randint(200, 900),
        "h": source.randint(200, 900),
        "sharpness": source.uniform(50, 900),
        "edge_density": source.random(),
        "jpeg_bytes": source.randint(10_000, 90_000),
        "phash": f"{source.getrandbits(64):016x}",
        "colours": [value / sum(colours) for value in colours],
    }


def an_edit(source: random.Random) -> Row:
    box = {"x": 0, "y": 0, "w": source.randint(60, 300), "h": source.randint(30, 200)}
    return box | {"text": "x" * source.randint(10, 90)}


def made(task: str, count: int, seed: int, plant: Plant = lambda sample, panels: None) -> dict[str, Any]:
    """Tables with samples of a task whose answers are random, then changed by `plant`; no panel is used twice."""
    source = random.Random(f"{task} {seed}")
    rows: list[Row] = []
    panels: dict[str, Row] = {}
    for number in range(count):
        names = [f"b/{number:04d}/{place:02d}" for place in range(12)]
        panels |= {name: a_panel(name, source) for name in names}
        options = [{"panel_id": name, "edits": []} for name in names[4 : 4 + OPTIONS[task]]]
        if task == "text_closure":
            options = [{"panel_id": names[4], "edits": [an_edit(source)]} for _ in options]
        if task == "char_coherence":
            edits = [an_edit(source), an_edit(source)]
            texts = [edit["text"] for edit in edits]
            swapped = [edit | {"text": text} for edit, text in zip(edits, reversed(texts), strict=True)]
            options = [{"panel_id": names[4], "edits": edits}, {"panel_id": names[4], "edits": swapped}]
        rows.append(
            {
                "sample_id": f"{task}/{names[0]}",
                "task_type": task,
                "split": "test",
                "book_id": "b",
                "story_id": "b/s01",
                "context": [] if task == "caption_relevance" else names[:4],
                "index": 4,
                "options": options,
                "solution_index": source.randrange(len(options)),
                "font_size": None,
                "previous_panel_caption": "",
                "source": "test",
            }
        )
        plant(rows[-1], panels)
    table = pa.Table.from_pylist(list(panels.values()))
    return {"comicspap_test": rows, "comic_panels": table, "comic_panel_features": table}
