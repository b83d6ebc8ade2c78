"""A drawn book with its pages, panels and samples as tables: what the release stages read."""

from __future__ import annotations

import io
from typing import Any

import cv2
import numpy as np
from PIL import Image

from pipelines.identity import page_id, panel_id
from pipelines.schemas import TASKS
from pipelines.stage import Row
from tests.stage_inputs import FakeInputs

BOOK = "series/a book"
WIDTH, HEIGHT = 96, 80
"""Size of each panel."""
PANELS = 4
"""Panels on a page."""


def page_picture(number: int) -> np.ndarray:
    """A page of 2 x 2 panels in smooth, different colours, the same each time."""
    random = np.random.default_rng(number)
    coarse = random.integers(0, 256, (10, 12, 3), dtype=np.uint8)
    return cv2.resize(coarse, (WIDTH * 2 + 8, HEIGHT * 2 + 8), interpolation=cv2.INTER_LINEAR)


def panel_box(order: int) -> tuple[int, int, int, int]:
    return (order - 1) % 2 * (WIDTH + 8), (order - 1) // 2 * (HEIGHT + 8), WIDTH, HEIGHT


def panel(number: int) -> str:
    """The id of the n-th panel of the book, from 0."""
    return panel_id(page_id(BOOK, number // PANELS + 1), number % PANELS + 1)


def png(picture: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def option(number: int, *texts: str) -> Row:
    x, y, _, _ = panel_box(number % PANELS + 1)
    edits = [{"x": x + 10, "y": y + 11 + 34 * i, "w": 60, "h": 22, "text": text} for i, text in enumerate(texts)]
    return {"panel_id": panel(number), "edits": edits}


def sample(task: str, first: int, context: list[int], options: list[Row], index: int, solution: int = 1) -> Row:
    return {
        "sample_id": f"{task}/{panel(first)}",
        "task_type": task,
        "split": "test",
        "book_id": BOOK,
        "story_id": f"{BOOK}/s01",
        "context": [panel(number) for number in context],
        "index": index,
        "options": options,
        "solution_index": solution,
        "font_size": 12 if any(o["edits"] for o in options) else None,
        "previous_panel_caption": "A fox runs." if task == "caption_relevance" else "",
        "source": "storyloom/build_samples@1",
    }


def samples(pages: int) -> list[Row]:
    """Two samples of each task; those of a task in window order, tasks one after the other."""
    rows: dict[str, list[Row]] = {task: [] for task in TASKS}
    for first in (0, (pages - 2) * PANELS):
        a, b, c, d, e, *others = range(first, first + 8)
        rows["sequence_filling"].append(
            sample("sequence_filling", a, [a, b, d, e], [option(n) for n in (others[0], c, others[1])], 2)
        )
        rows["char_coherence"].append(
            sample("char_coherence", a, [a, b, c], [option(d, "why", "so"), option(d, "so", "why")], 3)
        )
        rows["visual_closure"].append(sample("visual_closure", a, [a, b, c], [option(n) for n in (e, d, *others)], 3))
        texts = [option(d, text) for text in ("a cat", "a dog", "a cow", "a hen")]
        rows["text_closure"].append(sample("text_closure", a, [a, b, c], texts, 3))
        rows["caption_relevance"].append(sample("caption_relevance", a, [], [option(n) for n in (c, b, e, d)], -1))
    return [row for task in TASKS for row in rows[task]]


def tables(pages: int = 4, **images: bytes) -> dict[str, list[Row]]:
    """The book's tables; `images` replaces the picture of a page, `p2=b"..."` that of page 2."""
    numbers = range(1, pages + 1)
    page_rows: list[Row] = [
        {
            "page_id": page_id(BOOK, n),
            "book_id": BOOK,
            "page_number": n,
            "member": f"{n}.png",
            "image": images.get(f"p{n}") or png(page_picture(n)),
            "media_type": "image/png",
            "width": WIDTH * 2 + 8,
            "height": HEIGHT * 2 + 8,
            "sha256": "0" * 64,
            "phash": "0" * 16,
            "spread": False,
            "duplicate_of": None,
            "kind": "story",
            "source": "made",
        }
        for n in numbers
    ]
    panel_rows = [_panel_row(n, order) for n in numbers for order in range(1, PANELS + 1)]
    return {"comic_pages": page_rows, "comic_panels": panel_rows, "comicspap_test": samples(pages)}


def inputs(pages: int = 4, **images: bytes) -> FakeInputs:
    return FakeInputs(BOOK, tables(pages, **images))


def _panel_row(page: int, order: int) -> dict[str, Any]:
    x, y, w, h = panel_box(order)
    return {
        "panel_id": panel_id(page_id(BOOK, page), order),
        "page_id": page_id(BOOK, page),
        "book_id": BOOK,
        "page_number": page,
        "reading_order": order,
        "x": x,
        "y": y,
        "w": w,
        "h": h,
        "polygon": [],
        "confidence": 1.0,
        "source": "human",
    }
