"""Reader of Label Studio's JSON export: rectangles and polygons in percent, transcriptions in text areas.

One task is one page. A person's submitted annotations count; predictions, drafts and skipped tasks do not. A task covers an
aspect when it has a region of it. Not here: the other exports of Label Studio (its COCO export is read as COCO).
See https://labelstud.io/guide/task_format
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeGuard
from urllib.parse import unquote, urlsplit

from pipelines.comics.annotations import entries
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, Region, bad, wrong
from pipelines.errors import ItemError
from pipelines.stage import Failure

_FORMAT = "label_studio"
_LOCAL = "/data/local-files/?d="
_LABELS = ("rectanglelabels", "polygonlabels", "labels")
_PICTURE = re.compile(r"\.(jpe?g|png|webp|gif|tiff?|bmp|avif)$", re.IGNORECASE)


def is_label_studio(data: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a parsed JSON value is a list of tasks with annotations."""
    return isinstance(data, list) and all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in data
    )


def read(data: list[dict[str, Any]], file: str, limits: Limits) -> Iterator[AnnotationEntry | Failure]:
    """One entry for each submitted annotation of a task, ground truth first, then the latest."""
    if len(data) > limits.pages:
        yield bad(file, "", wrong(f"there are {len(data)} tasks, over the limit of {limits.pages}"))
        return
    for position, task in enumerate(data):
        item = f"task {entries.excerpt(task['id'])}" if "id" in task else f"[{position}]"
        try:
            for number, annotation in enumerate(_submitted(task)):
                entry = _entry(task["data"], annotation, file, f"{item}, annotation {number + 1}", limits)
                if entry.aspects:
                    yield entry
        except ItemError as error:
            yield bad(file, item, error)


def _submitted(task: dict[str, Any]) -> list[dict[str, Any]]:
    found = task.get("annotations", [])
    if not isinstance(found, list) or not all(isinstance(a, dict) for a in found):
        raise wrong("`annotations` is not a list of objects", "Export the project again, as JSON.")
    done = [a for a in found if not a.get("was_cancelled")]
    latest = sorted(done, key=lambda a: str(a.get("updated_at") or a.get("created_at") or ""), reverse=True)
    return sorted(latest, key=lambda a: a.get("ground_truth") is not True)


def _entry(data: dict[str, Any], annotation: dict[str, Any], file: str, item: str, limits: Limits) -> AnnotationEntry:
    results = annotation.get("result", [])
    if not isinstance(results, list) or not all(isinstance(r, dict) for r in results):
        raise wrong("`result` is not a list of objects", "Export the project again, as JSON.")
    size = next((s for r in results if (s := entries.size(r.get("original_width"), r.get("original_height")))), None)
    aspects: dict[str, list[Region]] = {}
    for identity, parts in _by_region(results).items():
        labels = [label for part in parts for key in _LABELS for label in _listed(part.get(key))]
        aspect = next((a for label in labels if (a := entries.aspect_of(label))), None)
        if aspect:
            region = _region(parts, f"region {entries.excerpt(identity)}", size, limits)
            if aspect == "texts":
                region["text"] = _transcription(parts, limits)
            aspects.setdefault(aspect, []).append(region)
    for regions in aspects.values():
        entries.too_many(regions, limits)
    if aspects and any(result.get("image_rotation") for result in results):
        raise wrong("the picture was turned in Label Studio", "Turn the page itself, and annotate it upright.")
    if "page_id" in data:
        book, page = entries.page_of_id(data["page_id"], limits)
    else:
        book, page = "", picture_path(_location(data, limits))
    return AnnotationEntry(file, _FORMAT, item, book, page, dict(sorted(aspects.items())), size, percent=True)


def _by_region(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The values of each region: its shape, its labels and its text are separate results with one id."""
    found: dict[str, list[dict[str, Any]]] = {}
    for position, result in enumerate(results):
        value = result.get("value")
        if isinstance(value, dict):
            found.setdefault(str(result.get("id") or f"#{position}"), []).append(value)
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _region(parts: list[dict[str, Any]], what: str, size: tuple[float, float] | None, limits: Limits) -> Region:
    for part in parts:
        if "points" in part:
            return {"polygon": entries.polygon(part["points"], what, limits)}
        if "width" in part:
            box = entries.box([part.get(key) for key in ("x", "y", "width", "height")], what)
            turn = entries.finite([part.get("rotation") or 0], 1, f"the rotation of {what}")[0]
            return {"polygon": _turned(box, turn, what, size)} if turn else {"box": box}
    raise wrong(f"{what} has neither a rectangle nor a polygon", "Use RectangleLabels or PolygonLabels.")


def _turned(box: list[float], degrees: float, what: str, size: tuple[float, float] | None) -> list[list[float]]:
    """Corners in percent of a rectangle that is turned clockwise about its top left corner, as Label Studio does it."""
    if size is None:
        raise wrong(f"{what} is turned, and the picture's size is not given", "Export with original_width and _height.")
    across, down = size[0] / 100, size[1] / 100
    x, y, w, h = box[0] * across, box[1] * down, box[2] * across, box[3] * down
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = ((0, 0), (w, 0), (w, h), (0, h))
    return [[(x + u * cos - v * sin) / across, (y + u * sin + v * cos) / down] for u, v in corners]


def _transcription(parts: list[dict[str, Any]], limits: Limits) -> str | None:
    """What the region's text areas hold, lines joined by spaces; None where nobody wrote anything."""
    texts = [part["text"] for part in parts if "text" in part]
    lines = [line for text in texts for line in (text if isinstance(text, list) else [text])]
    joined = " ".join(entries.words(line, "a transcription", limits).strip() for line in lines).strip()
    return entries.words(joined, "a transcription", limits) or None


def _location(data: dict[str, Any], limits: Limits) -> str:
    """Where the task's picture is: under `image`, else the only value that looks like a picture's path."""
    if isinstance(data.get("image"), str):
        return entries.words(data["image"], "the task's image", limits)
    named = [value for value in data.values() if isinstance(value, str) and _PICTURE.search(picture_path(value))]
    if len(named) != 1:
        raise wrong("nothing says which picture the task is about", 'Give it as "image" in the task\'s data.')
    return entries.words(named[0], "the task's image", limits)


def picture_path(location: str) -> str:
    """The path in what Label Studio calls an image: a local file, an upload, a URL of the web or of a bucket.

    Examples:
        >>> picture_path("/data/local-files/?d=comics/Tom%20%26%20Jerry/003.jpg")
        'comics/Tom & Jerry/003.jpg'
        >>> picture_path("s3://bucket/batman #1/003.jpg")
        'bucket/batman #1/003.jpg'
    """
    _, local, path = location.partition(_LOCAL)
    if local:
        return unquote(path)
    scheme, separator, rest = location.partition("://")
    if not separator:
        return unquote(location) if location.startswith("/data/") else location
    if scheme.lower() not in ("http", "https"):
        return rest
    try:
        return unquote(urlsplit(location).path)
    except ValueError:
        return rest
