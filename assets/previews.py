"""The pictures that assets show in the Dagster UI: which pages and samples, taken from the lake.

How they are drawn stands in `pipelines.previews`.
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from pipelines.comics.page_pictures import decode
from pipelines.errors import ItemError
from pipelines.pick_a_panel.render import Scene
from pipelines.pick_a_panel.sample_pictures import PicturedSample, pictured_samples
from pipelines.pick_a_panel.selection import sample_hash
from pipelines.schemas import COMICSPAP_SAMPLES, TASKS
from pipelines.stage import Row
from resources.engines.worker import LakeInputs
from resources.lake import Lake
from resources.project import Project

_PAGES = 3
_JPEG_QUALITY = 85


def page_pictures(project: Project, *, texts: bool) -> dict[str, Any]:
    """A few pages with their panels outlined and numbered in reading order, on request with their textboxes."""
    from pipelines.previews import markdown_image, page_preview, side_by_side

    drawn = [
        page_preview(picture, panels, of_page if texts else ()) for picture, panels, of_page in _pages(project.lake)
    ]
    return {"preview": dg.MetadataValue.md(markdown_image(side_by_side(drawn), "pages"))} if drawn else {}


def _pages(lake: Lake) -> Iterator[tuple[Any, list[Row], list[Row]]]:
    """One page of each of the first books, with its panels and textboxes: the first page of three panels or more."""
    found = 0
    for shard in sorted(lake.footers("comic_panels")):
        inputs = LakeInputs(shard, None, lake)
        panels = inputs.table("comic_panels").to_pylist()
        by_page: dict[str, list[Row]] = {}
        for panel in panels:
            by_page.setdefault(panel["page_id"], []).append(panel)
        chosen = next((page for page, rows in by_page.items() if len(rows) >= 3), next(iter(by_page), None))
        if chosen is None or (picture := _picture(inputs, chosen)) is None:
            continue
        texts = [row for row in inputs.table("comic_texts").to_pylist() if row["page_id"] == chosen]
        yield picture, by_page[chosen], texts
        found += 1
        if found == _PAGES:
            return


def _picture(inputs: LakeInputs, page_id: str) -> Any:
    for batch in inputs.batches("comic_pages", ["page_id", "image"]):
        for row, found in enumerate(batch.column("page_id").to_pylist()):
            if found == page_id:
                try:
                    return decode(batch.column("image")[row].as_py())
                except ItemError:
                    return None
    return None


def sample_scenes(lake: Lake, split: str, *, answers: bool, seed: int) -> dict[str, tuple[Scene, str]]:
    """One sample of each task that the split has, with its caption; which one is random, and the same each time."""
    scenes: dict[str, tuple[Scene, str]] = {}
    for shard in sorted(lake.footers(f"comicspap_{split}")):
        inputs = LakeInputs(shard, None, lake)
        rows = lake.read(f"comicspap_{split}", shard, COMICSPAP_SAMPLES).to_pylist()
        wanted = [task for task in TASKS if task not in scenes]
        of_task = {task: [row for row in rows if row["task_type"] == task] for task in wanted}
        chosen = [min(found, key=lambda r: sample_hash(seed, r["sample_id"])) for found in of_task.values() if found]
        for item in pictured_samples(inputs, chosen, _JPEG_QUALITY):
            if isinstance(item, PicturedSample):
                scenes[item.sample["task_type"]] = (_scene(item, answers), item.sample["previous_panel_caption"])
        if len(scenes) == len(TASKS):
            break
    return scenes


def _scene(item: PicturedSample, answers: bool) -> Scene:
    solution = item.sample["solution_index"] if answers else -1
    return Scene(tuple(map(decode, item.context)), tuple(map(decode, item.options)), item.sample["index"], solution)
