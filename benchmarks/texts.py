"""Textboxes and their transcription on the real pages of Craphound, ours beside `rapidocr` as it comes.

    STORYLOOM_REAL_DATA=... python -m benchmarks.texts [--pages N]

A text area counts as found when a line with at least half of its own area in it was read. Character error is over all areas of the
truth, not found ones included: lines are joined as `join_lines` does and compared as `pipelines.evaluation.plain` says (case
and spacing do not count, punctuation does). "By lines" takes the lines inside an area; "by boxes" takes the textbox
that was matched to it at IoU 0.3, so wrong joins and splits count as well. Seconds are of the processor, so that threads and other work on
the machine do not flatter anybody; the first page is read once before.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.comics.page_pictures import decode
from pipelines.comics.text_boxes import TextLine, join_lines, text_box
from pipelines.comics.text_panels import assign, text_order
from pipelines.comics.texts import MIN_CONFIDENCE
from pipelines.errors import ItemError
from pipelines.evaluation import Counts, character_error, count, in_order, kendall_tau, match, share
from pipelines.geometry import Box, intersection, polygon_box

Read = Callable[[np.ndarray], list[TextLine]]


@dataclass(frozen=True)
class Truth:
    """What a person found on one page: panels, and textboxes with their words, in reading order."""

    image: str
    panels: list[Box]
    boxes: list[Box]
    texts: list[str]


@dataclass(frozen=True)
class Result:
    """How one reader did on all pages together."""

    areas_found: float
    error_by_lines: float
    error_by_boxes: float
    boxes: Counts
    pages_in_order: float
    tau: float
    seconds: float


def craphound(data: Path) -> list[Truth]:
    """The truth of the pages under `data`/comics; footnote marks, which are not on the page, are left out."""
    pages = json.loads((data / "comics" / "craphound-1.truth.json").read_text())
    return [
        Truth(
            page["image"],
            [polygon_box(polygon) for polygon in page["panels"]],
            [polygon_box(text["polygon"]) for text in page["texts"]],
            [text["text"].replace("[*]", "") for text in page["texts"]],
        )
        for page in pages
    ]


def measure(read: Read, pages: list[Truth], data: Path) -> Result:
    """Read all pages and compare them with the truth, on the panels of the truth."""
    found, seconds = [], 0.0
    counts = Counts()
    by_lines: list[tuple[str, str]] = []
    by_boxes: list[tuple[str, str]] = []
    orders = []
    for number, page in enumerate(pages):
        picture = decode((data / "comics" / "craphound-1" / page.image).read_bytes())
        if not number:
            read(picture)
        started = time.process_time()
        lines = read(picture)
        boxes = join_lines(lines, page.panels)
        seconds += time.process_time() - started
        places = [box.box for box in boxes]
        counts += count(places, page.boxes)
        matched = {truth: ours for ours, truth in match(places, page.boxes, 0.3)}
        for place, (area, text) in enumerate(zip(page.boxes, page.texts, strict=True)):
            inside = [line for line in lines if _inside(polygon_box(line.polygon), area)]
            found.append(bool(inside))
            by_lines.append((text_box(inside).text if inside else "", text))
            by_boxes.append((boxes[matched[place]].text if place in matched else "", text))
        orders.append(_order(places, {ours: truth for truth, ours in matched.items()}, page))
    return Result(
        share(found),
        character_error(by_lines),
        character_error(by_boxes),
        counts,
        share(in_order(order) for order in orders),
        sum(kendall_tau(order) for order in orders) / len(orders),
        seconds / len(pages),
    )


def _order(boxes: list[Box], truth_of: dict[int, int], page: Truth) -> list[int]:
    """Places in truth, where panels come first, of the matched boxes in our order."""
    homes = [assign(box, page.panels)[0] for box in boxes]
    true_homes = [assign(box, page.panels)[0] for box in page.boxes]
    rank = sorted(range(len(page.boxes)), key=lambda i: (true_homes[i] or 0, i))
    return [rank.index(truth_of[i]) for i in text_order(boxes, homes, page.panels) if i in truth_of]


def _inside(line: Box, area: Box) -> bool:
    return intersection(line, area) >= 0.5 * max(line.area, 1)


def ours() -> Read:
    """The project's reader with its defaults, and what the stage keeps of it."""
    from resources.models.rapidocr_texts import RapidOcrTexts

    reader = RapidOcrTexts()

    def read(picture: np.ndarray) -> list[TextLine]:
        (lines,) = reader.read([picture])
        if isinstance(lines, ItemError):
            raise lines
        return [line for line in lines if line.confidence >= MIN_CONFIDENCE]

    return read


def plain_rapidocr() -> Read:
    """`rapidocr` with its own defaults, its own bound on confidence among them, on one thread."""
    from rapidocr import RapidOCR

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    engine = RapidOCR(params={"Global.log_level": "critical", **threads})

    def read(picture: np.ndarray) -> list[TextLine]:
        found: Any = engine(np.ascontiguousarray(picture[..., ::-1]))
        if found.boxes is None:
            return []
        rows = zip(found.boxes, found.txts, found.scores, strict=True)
        return [TextLine(tuple((float(x), float(y)) for x, y in box), text, score) for box, text, score in rows]

    return read


def main() -> None:
    """Print one line of a table for each reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=None, help="only the first pages")
    pages = parser.parse_args().pages
    data = Path(os.environ["STORYLOOM_REAL_DATA"])
    truth = craphound(data)[:pages]
    print("| reader | areas found | error by lines | by boxes | F1 at IoU 0.5 | pages in order | tau | s a page |")
    print("|---|---|---|---|---|---|---|---|")
    for name, build in (("Storyloom", ours), ("rapidocr", plain_rapidocr)):
        r = measure(build(), truth, data)
        print(
            f"| {name} | {r.areas_found:.1%} | {r.error_by_lines:.1%} | {r.error_by_boxes:.1%} | {r.boxes.f1:.3f} "
            f"| {r.pages_in_order:.0%} | {r.tau:.3f} | {r.seconds:.2f} |"
        )


if __name__ == "__main__":
    main()
