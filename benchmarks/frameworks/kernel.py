"""The work that is the same in every framework: a page's bytes become rows, one for each panel, with the panel's JPEG."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import pyarrow as pa

from pipelines.comics.page_pictures import decode
from pipelines.comics.panels import detect_panels
from pipelines.jpeg import encode_jpeg

CROPS = pa.schema(
    [
        pa.field("page", pa.string()),
        pa.field("x", pa.int32()),
        pa.field("y", pa.int32()),
        pa.field("w", pa.int32()),
        pa.field("h", pa.int32()),
        pa.field("image", pa.binary()),
    ]
)
_QUALITY = 90


def cut_page(page: str, data: bytes) -> list[dict[str, Any]]:
    """The panels of a page as rows of `CROPS`; the page is decoded once. One thread, as its caller runs many."""
    cv2.setNumThreads(1)
    pixels = decode(data)
    rows = []
    for panel in detect_panels(pixels):
        box = panel.box
        crop = encode_jpeg(pixels[box.y : box.bottom, box.x : box.right], _QUALITY)
        rows.append({"page": page, "x": box.x, "y": box.y, "w": box.w, "h": box.h, "image": crop})
    return rows


def cut_file(path: str) -> list[dict[str, Any]]:
    """The same from a file; the page's name is that of its book's folder and its own."""
    file = Path(path)
    return cut_page(f"{file.parent.name}/{file.stem}", file.read_bytes())


@dataclass(frozen=True)
class Task:
    """What a contender is told: the pages, the folder to write Parquet files to, and how many processes to use."""

    files: list[str]
    output: Path
    workers: int


def contend(work: Callable[[Task], None]) -> None:
    """Run a contender's work with the paths and the number of workers from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("comics", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("workers", type=int)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    work(Task(sorted(map(str, given.comics.glob("*/*.jpg"))), given.output, given.workers))
