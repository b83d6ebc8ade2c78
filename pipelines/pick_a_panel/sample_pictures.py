"""The encoded pictures of a book's samples: each page is decoded once, each panel cut and encoded once.

What does not belong here: the form in which samples are released (`release`) and how an option's words are drawn
(`drawn_options`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pipelines.comics.page_pictures import decode
from pipelines.comics.stored_pages import page_images
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.jpeg import encode_jpeg
from pipelines.pick_a_panel.drawn_options import option_image
from pipelines.pick_a_panel.samples import Edit
from pipelines.stage import Failure, Row, ShardInputs


@dataclass(frozen=True)
class Cut:
    """A picture to make: a panel as it is, or with textboxes drawn anew at a font size in pixels."""

    panel_id: str
    edits: tuple[Edit, ...] = ()
    font_size: int | None = None


@dataclass(frozen=True)
class PicturedSample:
    """A row of a table of samples with the JPEGs of its panels, in the order of its `context` and `options`."""

    sample: Row
    context: list[bytes]
    options: list[bytes]


@dataclass(frozen=True)
class _Job:
    """A sample and the pictures that it shows."""

    sample: Row
    context: list[Cut]
    options: list[Cut]

    @property
    def cuts(self) -> list[Cut]:
        return self.context + self.options


@dataclass
class _Plan:
    """What to make of each page, and which samples are whole once it is done.

    Samples are done within each task in their own order, as soon as the last page that they need has been cut. So only
    the pictures of a few neighbouring pages are held, however long the book is.
    """

    cuts: dict[str, list[Cut]] = field(default_factory=lambda: defaultdict(list))
    due: dict[str, list[_Job]] = field(default_factory=lambda: defaultdict(list))
    uses: Counter[Cut] = field(default_factory=Counter)

    @classmethod
    def of(cls, jobs: Iterable[_Job], page_of: Mapping[str, str], pages: list[str]) -> _Plan:
        plan = cls()
        place = {page: number for number, page in enumerate(pages)}
        latest: Counter[str] = Counter()
        for job in jobs:
            task = job.sample["task_type"]
            latest[task] = max(latest[task], *(place[page_of[cut.panel_id]] for cut in job.cuts))
            plan.due[pages[latest[task]]].append(job)
            for cut in job.cuts:
                if cut not in plan.uses:
                    plan.cuts[page_of[cut.panel_id]].append(cut)
                plan.uses[cut] += 1
        return plan


def pictured_samples(inputs: ShardInputs, samples: list[Row], quality: int) -> Iterator[PicturedSample | Failure]:
    """Yield the samples of one book with their pictures, in order within each task, as their pages come by.

    `samples` are rows of `comicspap_samples`; the shard's `comic_pages` and `comic_panels` are read. `quality` is
    JPEG's, 1 to 100. Pages, panels and samples that cannot be shown are failures.
    """
    pages: list[str] = inputs.table("comic_pages", ["page_id"])["page_id"].to_pylist()
    boxes, page_of = _panels(inputs, set(pages))
    whole: list[_Job] = []
    for job in map(_job, samples):
        missing = [cut.panel_id for cut in job.cuts if cut.panel_id not in boxes]
        if missing:
            yield _incomplete(job, missing)
        else:
            whole.append(job)
    plan = _Plan.of(whole, page_of, pages)
    pictures: dict[Cut, bytes] = {}
    for page_id, data in page_images(inputs, plan.cuts.keys() | plan.due.keys()):
        for made in _cut_page(page_id, data, plan.cuts[page_id], boxes, quality):
            if isinstance(made, Failure):
                yield made
            else:
                pictures[made[0]] = made[1]
        for job in plan.due[page_id]:
            yield _pictured(job, pictures)
            _forget(job, plan.uses, pictures)


def _job(sample: Row) -> _Job:
    options = [
        # Without edits the font size says nothing: such an option is the panel that other samples show.
        Cut(o["panel_id"], tuple(map(Edit.of, o["edits"])), sample["font_size"] if o["edits"] else None)
        for o in sample["options"]
    ]
    return _Job(sample, [Cut(panel_id) for panel_id in sample["context"]], options)


def _panels(inputs: ShardInputs, pages: set[str]) -> tuple[dict[str, Box], dict[str, str]]:
    """Box and page of each panel whose page is there."""
    columns = ["panel_id", "page_id", "x", "y", "w", "h"]
    rows = [row for row in inputs.table("comic_panels", columns).to_pylist() if row["page_id"] in pages]
    boxes = {row["panel_id"]: Box(row["x"], row["y"], row["w"], row["h"]) for row in rows}
    return boxes, {row["panel_id"]: row["page_id"] for row in rows}


def _cut_page(
    page_id: str, data: bytes, cuts: list[Cut], boxes: Mapping[str, Box], quality: int
) -> Iterator[tuple[Cut, bytes] | Failure]:
    try:
        page = decode(data)
    except ItemError as error:
        yield Failure.of(page_id, error)
        return
    for cut in cuts:
        try:
            yield cut, _encoded(page, boxes[cut.panel_id], cut, quality)
        except ItemError as error:
            yield Failure.of(cut.panel_id, error)


def _encoded(page: np.ndarray, box: Box, cut: Cut, quality: int) -> bytes:
    inside = box.clipped(page.shape[1], page.shape[0])
    if not cut.edits:
        return encode_jpeg(page[inside.y : inside.bottom, inside.x : inside.right], quality)
    try:
        drawn = option_image(page, inside, cut.edits, cut.font_size)
    except ValueError as error:
        raise ItemError("text_does_not_fit", f"The option's text cannot be drawn: {error}") from None
    # Colour at half resolution would bleed from a drawn box into its surroundings and tell the options apart there.
    return encode_jpeg(drawn, quality, full_colour=True)


def _pictured(job: _Job, pictures: Mapping[Cut, bytes]) -> PicturedSample | Failure:
    missing = [cut.panel_id for cut in job.cuts if cut not in pictures]
    if missing:
        return _incomplete(job, missing)
    return PicturedSample(job.sample, [pictures[c] for c in job.context], [pictures[c] for c in job.options])


def _forget(job: _Job, uses: Counter[Cut], pictures: dict[Cut, bytes]) -> None:
    """Drop the pictures that no later sample shows."""
    for cut in job.cuts:
        uses[cut] -= 1
        if not uses[cut]:
            pictures.pop(cut, None)


def _incomplete(job: _Job, missing: list[str]) -> Failure:
    return Failure(
        job.sample["sample_id"],
        "picture_missing",
        f"The sample shows panels without a picture: {', '.join(dict.fromkeys(missing))}. See the other failures here "
        "and those of comic_pages.",
    )
