"""The stages that write a release: samples with their pictures, the same as single pictures, and the hidden answers.

What does not belong here: which samples a split has (`selection`), how a panel is cut and encoded (`sample_pictures`),
how a single picture looks (`render`), the dataset card (`card`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from pipelines.comics.page_pictures import decode
from pipelines.errors import SettingsError
from pipelines.jpeg import encode_jpeg
from pipelines.pick_a_panel.release_schema import ANSWERS, RELEASE, RELEASE_NAME, SINGLE_IMAGE, SINGLE_IMAGE_SUFFIX
from pipelines.pick_a_panel.render import Rendering, Scene, render_sample
from pipelines.pick_a_panel.sample_pictures import PicturedSample, pictured_samples
from pipelines.schemas import TASKS
from pipelines.stage import Dropped, Failure, Row, ShardInputs, Stage


@dataclass(frozen=True)
class _PicturedRelease(Stage):
    """A release of one split in which each sample carries its pictures: one file a book and skill."""

    partitions = ("task_type", TASKS)
    inputs = ("comicspap_samples", "comic_panels", "comic_pages")
    split: str
    hide_answers: bool = False
    jpeg_quality: int = 90

    def __post_init__(self) -> None:
        """Refuse a quality that JPEG does not have."""
        if not 1 <= self.jpeg_quality <= 100:
            raise SettingsError(f"jpeg_quality is {self.jpeg_quality}", remedy="Set it from 1 to 100.")

    @property
    def reads(self) -> tuple[str, ...]:
        """The split's samples, and the panels and pages of the book."""
        return (f"comicspap_{self.split}", "comic_panels", "comic_pages")

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the book's samples, each task in its order in the table of samples."""
        samples = inputs.table(f"comicspap_{self.split}").to_pylist()
        for item in pictured_samples(inputs, samples, self.jpeg_quality):
            yield item if isinstance(item, Failure) else self._common(item.sample) | self._pictures(item)

    def _common(self, sample: Row) -> Row:
        kept = {name: sample[name] for name in ("sample_id", "index", "split", "task_type", "previous_panel_caption")}
        return kept | {"solution_index": -1 if self.hide_answers else sample["solution_index"]}

    @abstractmethod
    def _pictures(self, item: PicturedSample) -> Row:
        """The columns that hold a sample's pictures."""
        ...


@dataclass(frozen=True)
class ReleaseSamples(_PicturedRelease):
    """The columns of the published ComicsPAP: context and options as lists of JPEGs."""

    name = "release_samples"
    version = 1
    table = "comicspap_release"

    @property
    def output(self) -> str:
        """`releases/comicspap/<skill>/<split>`."""
        return f"releases/{RELEASE_NAME}/{{}}/{self.split}"

    @property
    def schema(self) -> pa.Schema:
        """The columns that other people's readers expect."""
        return RELEASE

    def _pictures(self, item: PicturedSample) -> Row:
        return {"context": [_image(data) for data in item.context], "options": [_image(data) for data in item.options]}


@dataclass(frozen=True)
class ReleaseRendered(_PicturedRelease):
    """Each sample as the one picture that single-image models are shown, made from the JPEGs that a release holds."""

    name = "release_rendered"
    version = 1
    table = "comicspap_single_image"
    rendering: Rendering = field(default_factory=Rendering)

    @property
    def output(self) -> str:
        """`releases/comicspap/<skill>_single_image/<split>`."""
        return f"releases/{RELEASE_NAME}/{{}}{SINGLE_IMAGE_SUFFIX}/{self.split}"

    @property
    def schema(self) -> pa.Schema:
        """One picture a sample."""
        return SINGLE_IMAGE

    def _pictures(self, item: PicturedSample) -> Row:
        context, options = map(decode, item.context), map(decode, item.options)
        picture = render_sample(Scene(tuple(context), tuple(options), item.sample["index"]), self.rendering)
        return {"image": _image(encode_jpeg(picture, self.jpeg_quality)), "option_count": len(item.options)}


@dataclass(frozen=True)
class KeepAnswers(Stage):
    """The answers of a split whose release hides them, in a folder of their own."""

    name = "keep_answers"
    version = 1
    table = "comicspap_answers"
    inputs = ("comicspap_samples",)
    split: str

    @property
    def output(self) -> str:
        """`releases/comicspap_answers/<split>`: outside the release, so that publishing it publishes no answer."""
        return f"releases/{RELEASE_NAME}_answers/{self.split}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The split's samples."""
        return (f"comicspap_{self.split}",)

    @property
    def schema(self) -> pa.Schema:
        """Sample, skill, answer."""
        return ANSWERS

    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Yield the answers in the order of the table of samples."""
        yield from inputs.table(f"comicspap_{self.split}", ANSWERS.names).to_pylist()


def _image(data: bytes) -> Row:
    # The path stays empty: a panel's id would say where in the story it stands, and so give the answer away.
    return {"bytes": data, "path": None}
