"""COCO JSON, read and written: panels and textboxes by the names of their categories.

COCO tells neither reading order nor transcriptions, and cannot tell a page without panels from one that nobody looked at:
an image covers an aspect when it has a region of it. Not here: matching images to pages, and detection scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa

from pipelines.comics.annotations import entries
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, Region, bad, wrong
from pipelines.errors import ItemError
from pipelines.stage import Failure, Row

CATEGORIES = ("panel", "character", "balloon", "text", "onomatopoeia", "link", "face")
"""CoMix's categories; ids count from 1 (FORMAT.md and the benchmark of github.com/emanuelevivoli/CoMix)."""
PAGE_COLUMNS = ["page_id", "book_id", "member", "width", "height"]
"""What the writer needs of `comic_pages`: all but the pictures."""
_FORMAT = "coco"


def is_coco(data: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed JSON value has the parts of a COCO file."""
    return isinstance(data, dict) and "images" in data and ("annotations" in data or "categories" in data)


def read(data: dict[str, Any], file: str, limits: Limits) -> Iterator[AnnotationEntry | Failure]:
    """One entry for each image with panels or textboxes; what refers to nothing is a failure for each missing id."""
    try:
        images, regions = (_objects(data, part) for part in ("images", "annotations"))
        aspects = _aspects(_objects(data, "categories"))
    except ItemError as error:
        yield bad(file, "", error)
        return
    if len(images) > limits.pages:
        yield bad(file, "images", wrong(f"there are {len(images)} images, over the limit of {limits.pages}"))
        return
    of_image: dict[int | str, list[dict[str, Any]]] = {}
    for image in images:
        identity = _id(image.get("id"))
        if identity is None or identity in of_image:
            fault = "is no number or word" if identity is None else "is that of another image too"
            yield bad(file, f"image {entries.excerpt(image.get('id'))}", wrong(f"the image's id {fault}"))
        else:
            of_image[identity] = []
    lost: Counter[tuple[str, str]] = Counter()
    for region in regions:
        image, category = _id(region.get("image_id")), _id(region.get("category_id"))
        if image not in of_image:
            lost["image", entries.excerpt(region.get("image_id"))] += 1
        elif category not in aspects:
            lost["category", entries.excerpt(region.get("category_id"))] += 1
        elif aspects[category]:
            of_image[image].append(region)
    for (part, identity), count in lost.items():
        what = f"{count} annotations name the {part} {identity}, which the file does not list"
        yield bad(file, f"{part} {identity}", wrong(what, "Export the whole file again."))
    for image in images:
        identity = _id(image.get("id"))
        found = of_image.pop(identity, None) if identity is not None else None
        if found:
            try:
                yield _entry(image, found, aspects, file, limits)
            except ItemError as error:
                yield bad(file, f"image {entries.excerpt(identity)}", error)


def _objects(data: dict[str, Any], part: str) -> list[dict[str, Any]]:
    value = data.get(part)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise wrong(f"{part} is not a list of objects", "Export the file again, as COCO JSON.")
    return value


def _aspects(categories: list[dict[str, Any]]) -> dict[int | str, str | None]:
    """The aspect of each category id; None for categories that are not used, such as characters."""
    found: dict[int | str, str | None] = {}
    for category in categories:
        identity, aspect = _id(category.get("id")), entries.aspect_of(category.get("name"))
        if identity is None:
            raise wrong(f"the category {entries.excerpt(category.get('name'))} has no id")
        if found.setdefault(identity, aspect) != aspect:
            raise wrong(f"two categories have the id {entries.excerpt(identity)}")
    if not any(found.values()):
        names = [category.get("name") for category in categories]
        raise wrong(f"no category is called panel or text: {entries.excerpt(names)}", "Rename the categories.")
    return found


def _id(value: Any) -> int | str | None:
    return value if type(value) in (int, str) else None


def _entry(
    image: dict[str, Any],
    regions: list[dict[str, Any]],
    aspects: dict[int | str, str | None],
    file: str,
    limits: Limits,
) -> AnnotationEntry:
    found: dict[str, list[Region]] = {}
    entries.too_many(regions, limits)
    for region in regions:
        what = f"annotation {entries.excerpt(region.get('id'))}"
        found.setdefault(str(aspects[region["category_id"]]), []).append(_region(region, what, limits))
    book, page = entries.page_of_id(image["page_id"], limits) if "page_id" in image else ("", image.get("file_name"))
    if not isinstance(page, int):
        page = entries.words(page, "the image's file_name", limits)
    return AnnotationEntry(
        file,
        _FORMAT,
        f"image {entries.excerpt(image['id'])}",
        book,
        page,
        dict(sorted(found.items())),
        entries.size(image.get("width"), image.get("height")),
    )


def _region(region: dict[str, Any], what: str, limits: Limits) -> Region:
    """A region with its box, and its outline where the segmentation is one polygon; masks (RLE) are not decoded."""
    found: Region = {}
    parts = region.get("segmentation")
    parts = [_points(part, what, limits) for part in parts] if isinstance(parts, list) else []
    if len(parts) == 1:
        found["polygon"] = parts[0]
    if region.get("bbox") is not None:
        found["box"] = entries.box(region["bbox"], what)
    elif len(parts) > 1:
        xs, ys = zip(*(point for part in parts for point in part), strict=True)
        found["box"] = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    if not found:
        raise wrong(f"{what} has neither a bbox nor a polygon", "Export boxes or polygons; masks alone are not read.")
    return found


def _points(values: Any, what: str, limits: Limits) -> list[list[float]]:
    if not isinstance(values, list) or len(values) % 2:
        raise wrong(f"the segmentation of {what} is not a list of x and y in turn")
    return entries.polygon([values[i : i + 2] for i in range(0, len(values), 2)], what, limits)


def coco(pages: pa.Table, panels: pa.Table, texts: pa.Table) -> dict[str, Any]:
    """A COCO dataset of pages with their panels and textboxes: rows of `comic_pages`, `comic_panels`, `comic_texts`.

    Images are named `<book_id>/<member>` and carry their `page_id` besides. Panels come in reading order, textboxes after
    them; ids count from 1. Regions of pages that are not in `pages` are left out.
    """
    images: dict[str, Row] = {}
    for number, page in enumerate(pages.select(PAGE_COLUMNS).sort_by("page_id").to_pylist(), 1):
        size = {"width": page["width"], "height": page["height"]}
        name = f"{page['book_id']}/{page['member']}"
        images[page["page_id"]] = {"id": number, "file_name": name, **size, "page_id": page["page_id"]}
    annotations: list[Row] = []
    for table, category in ((panels, "panel"), (texts, "text")):
        box = ["page_id", "reading_order", "x", "y", "w", "h"]
        rows = table.select([*box, "polygon"] if "polygon" in table.column_names else box)
        for row in rows.sort_by([("page_id", "ascending"), ("reading_order", "ascending")]).to_pylist():
            if row["page_id"] in images:
                annotations.append(_annotation(row, len(annotations) + 1, images[row["page_id"]]["id"], category))
    categories = [{"id": number, "name": name} for number, name in enumerate(CATEGORIES, 1)]
    return {"images": list(images.values()), "annotations": annotations, "categories": categories}


def write_coco(path: Path, pages: pa.Table, panels: pa.Table, texts: pa.Table) -> None:
    """Write `coco(pages, panels, texts)` as strict JSON in UTF-8."""
    path.write_text(json.dumps(coco(pages, panels, texts), ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _annotation(row: Row, number: int, image: int, category: str) -> Row:
    x, y, w, h = (row[side] for side in "xywh")
    outline = row.get("polygon") or [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]
    return {
        "id": number,
        "image_id": image,
        "category_id": CATEGORIES.index(category) + 1,
        "bbox": [x, y, w, h],
        "area": w * h,
        "segmentation": [[value for point in outline for value in point]],
        "iscrowd": 0,
    }
