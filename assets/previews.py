"""The pictures that assets show in the Dagster UI: which pages and samples, taken from the lake.

How they are drawn stands in `pipelines.previews`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dagster as dg
import numpy as np

from pipelines.comics.page_pictures import decode
from pipelines.comics.stored_pages import page_images
from pipelines.errors import ItemError
from pipelines.identity import fingerprint
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
_VERSION = 1
"""Of the drawing: higher where pictures that are remembered must be drawn anew."""


def page_pictures(project: Project, *, texts: bool) -> dict[str, Any]:
    """A few pages with their panels outlined and numbered in reading order, on request with their textboxes."""
    from pipelines.previews import markdown_image, page_preview, side_by_side

    def draw() -> bytes:
        drawn = [page_preview(picture, panels, found if texts else ()) for picture, panels, found in _pages(project)]
        return markdown_image(side_by_side(drawn), "pages").encode() if drawn else b""

    shown = ["comic_pages", "comic_panels", *(["comic_texts"] if texts else [])]
    return _preview(project, shown[-1], shown, draw)


def sample_pictures(project: Project, split: str) -> dict[str, Any]:
    """A contact sheet with one sample of each task of a split, the right options marked."""
    from pipelines.previews import contact_sheet, markdown_image

    def draw() -> bytes:
        scenes = sample_scenes(project, split, answers=True)
        headings = [(f"{task}: {caption}" if caption else task, scene) for task, (scene, caption) in scenes.items()]
        return markdown_image(contact_sheet(headings), f"{split} samples").encode() if headings else b""

    return _preview(project, f"comicspap_{split}", scene_tables([split]), draw)


def _preview(project: Project, name: str, shown: Sequence[str], draw: Callable[[], bytes]) -> dict[str, Any]:
    text = project.remembered(f"preview_{name}.md", picture_key(project, shown), draw).decode()
    return {"preview": dg.MetadataValue.md(text)} if text else {}


def picture_key(project: Project, shown: Sequence[str]) -> str:
    """What pictures of the rows of some tables depend on."""
    return fingerprint([_VERSION, project.settings.seed, project.lake.content(shown)])


def scene_tables(splits: Sequence[str]) -> list[str]:
    """The tables that scenes of samples come from."""
    return ["comic_pages", "comic_panels", *(f"comicspap_{split}" for split in splits)]


def _pages(project: Project) -> Iterator[tuple[np.ndarray, list[Row], list[Row]]]:
    """One page of each of the first books, with its panels and textboxes: the first page of three panels or more."""
    lake, found = project.lake, 0
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


def _picture(inputs: LakeInputs, page_id: str) -> np.ndarray | None:
    for _, data in page_images(inputs, [page_id]):
        try:
            return decode(data)
        except ItemError:
            return None
    return None


def sample_scenes(project: Project, split: str, *, answers: bool) -> dict[str, tuple[Scene, str]]:
    """One sample of each task that the split has, with its caption, from different books where there are several.

    Which sample of a book is random, and the same each time.
    """
    lake, seed = project.lake, project.settings.seed
    scenes: dict[str, tuple[Scene, str]] = {}
    shards = sorted(lake.footers(f"comicspap_{split}"))
    for place, task in enumerate(TASKS):
        turned = shards[place % len(shards) :] + shards[: place % len(shards)] if shards else []
        found = next(filter(None, (_scene_of(lake, split, shard, task, seed) for shard in turned)), None)
        if found is not None:
            scenes[task] = (_scene(found, answers), found.sample["previous_panel_caption"])
    return scenes


def _scene_of(lake: Lake, split: str, shard: str, task: str, seed: int) -> PicturedSample | None:
    """A sample of the task from one book with its pictures, or None."""
    rows = lake.read(f"comicspap_{split}", shard, COMICSPAP_SAMPLES).to_pylist()
    of_task = [row for row in rows if row["task_type"] == task]
    if not of_task:
        return None
    chosen = min(of_task, key=lambda row: sample_hash(seed, row["sample_id"]))
    pictured = pictured_samples(LakeInputs(shard, None, lake), [chosen], _JPEG_QUALITY)
    return next((item for item in pictured if isinstance(item, PicturedSample)), None)


def _scene(item: PicturedSample, answers: bool) -> Scene:
    solution = item.sample["solution_index"] if answers else -1
    return Scene(tuple(map(decode, item.context)), tuple(map(decode, item.options)), item.sample["index"], solution)
