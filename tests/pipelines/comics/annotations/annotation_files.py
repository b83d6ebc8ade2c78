"""Writes annotation files and takes them the whole way to rows of `comic_annotations`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.comics.annotations.files import read_annotation_files
from pipelines.comics.annotations.matching import group_by_book
from pipelines.comics.annotations.resolve import ResolveAnnotations
from pipelines.schemas import COMIC_PAGES
from pipelines.stage import Dropped, Failure, Row
from tests.stage_inputs import FakeInputs, run_stage

WIDTH, HEIGHT = 1000, 1500
COLUMNS = ["page_id", "book_id", "page_number", "member", "width", "height"]


@dataclass
class Resolved:
    """Rows by (page number or None, aspect), and all that was not taken."""

    rows: list[Row]
    failures: list[Failure]
    dropped: list[Dropped]

    def __getitem__(self, key: tuple[int | None, str]) -> Any:
        page, aspect = key
        end = None if page is None else f"/{page:04d}"
        found = [
            r
            for r in self.rows
            if r["aspect"] == aspect and (r["page_id"] is None if end is None else (r["page_id"] or "").endswith(end))
        ]
        assert len(found) == 1, found
        return json.loads(found[0]["payload"])

    @property
    def kinds(self) -> list[str]:
        return [failure.kind for failure in self.failures]


def pages(book: str, members: Sequence[str]) -> pa.Table:
    rows = [
        {
            "page_id": f"{book}/{number:04d}",
            "book_id": book,
            "page_number": number,
            "member": member,
            "width": WIDTH,
            "height": HEIGHT,
        }
        for number, member in enumerate(members, 1)
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema([COMIC_PAGES.field(name) for name in COLUMNS]))


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write each file: bytes and str as they are, other values as JSON."""
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
        path.write_bytes(data)
    return folder


def resolve(
    folder: Path,
    files: Mapping[str, Any],
    *,
    book: str = "hero",
    members: Sequence[str] = ("001.jpg", "002.jpg", "003.jpg"),
    right_to_left: bool = False,
) -> Resolved:
    """What becomes of these files in a library with this one book."""
    entries, failures = read_annotation_files(write(folder, files))
    by_book, unknown = group_by_book(entries, [book])
    of_book = {
        "book_id": book,
        "title": book,
        "series": None,
        "licence": None,
        "split": "train",
        "right_to_left": right_to_left,
        "container": "zip",
        "path": book,
    }
    tables = {"comic_pages": pages(book, members), "comic_books": _one_book(of_book)}
    rows, faults, dropped = run_stage(ResolveAnnotations(), FakeInputs(book, tables, by_book.get(book)))
    return Resolved(rows, [*failures, *unknown, *faults], dropped)


def _one_book(row: Row) -> pa.Table:
    return pa.Table.from_pylist([row])


def own(book: str, *of_pages: Mapping[str, Any], **top: Any) -> dict[str, Any]:
    return {"storyloom_annotations": 1, "book": book, "pages": list(of_pages), **top}


def coco(images: Sequence[Mapping[str, Any]], regions: Sequence[tuple[int, str, Any]], **more: Any) -> dict[str, Any]:
    """A COCO file; `regions` are (image id, category name, bbox or a dict of the annotation's own keys)."""
    names = ["panel", "character", "balloon", "text"]
    annotations = [
        {
            "id": number,
            "image_id": image,
            "category_id": names.index(name) + 1,
            **(shape if isinstance(shape, dict) else {"bbox": shape}),
        }
        for number, (image, name, shape) in enumerate(regions, 1)
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(names, 1)]
    return {"images": list(images), "annotations": annotations, "categories": categories, **more}


WHOLE: dict[str, Any] = {
    "page": 2,
    "kind": "story",
    "panels": [{"box": [500, 0, 500, 700]}, {"polygon": [[0, 0], [480, 0], [500, 700], [0, 700]]}],
    "texts": [{"box": [510, 10, 50, 20], "text": "Hi!", "panel": 1}, {"box": [1, 1, 9, 9]}],
    "captions": {"1": "A door.", "2": "  "},
}
