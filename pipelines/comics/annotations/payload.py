"""What the table `comic_annotations` says of a page or a book, as typed values: the vocabulary that other stages read.

Here: the models of the payloads and the two functions that read them. Not here: the formats of annotation files, and
the matching of files to books and pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, TypeAdapter

from pipelines.geometry import Box


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnnotatedPanel(_Model):
    """A panel that a person drew; a list of them is in reading order. Pixels of the upright page, inside it."""

    box: Box
    polygon: tuple[tuple[int, int], ...]


class AnnotatedText(_Model):
    """A textbox that a person drew; a list of them is in reading order. Pixels of the upright page, inside it.

    `text` is None where nobody transcribed it (COCO and XML cannot): the box is human, its words are still to be read.
    `panel` is the reading order, from 1, of the panel it belongs to, or None when the person left that open.
    """

    box: Box
    text: str | None = None
    panel: int | None = None


class AnnotatedStory(_Model):
    """A run of pages that a person called one story; page numbers from 1, both included."""

    first_page: int
    last_page: int


ASPECTS: Mapping[str, TypeAdapter[Any]] = {
    "kind": TypeAdapter(str),
    "panels": TypeAdapter(list[AnnotatedPanel]),
    "texts": TypeAdapter(list[AnnotatedText]),
    "captions": TypeAdapter(dict[int, str]),
    "stories": TypeAdapter(list[AnnotatedStory]),
}
"""Each aspect that a person can annotate, and the type of its payload."""


def page_aspect(annotations: pa.Table, aspect: str) -> dict[str, Any]:
    """What people said about one aspect, by page_id: only the pages whose model rows are to be replaced.

    `kind` gives a str, `panels` and `texts` lists of `AnnotatedPanel` and `AnnotatedText`, `captions` a dict from the
    panel's reading order to its caption. An empty list or dict is an annotation too: the page has none.
    """
    adapter = ASPECTS[aspect]
    columns = (annotations[name].to_pylist() for name in ("page_id", "aspect", "payload"))
    return {
        page: adapter.validate_json(payload)
        for page, name, payload in zip(*columns, strict=True)
        if name == aspect and page
    }


def book_stories(annotations: pa.Table) -> list[AnnotatedStory] | None:
    """The stories that a person marked in this book, in page order; None where nobody did."""
    for aspect, payload in zip(annotations["aspect"].to_pylist(), annotations["payload"].to_pylist(), strict=True):
        if aspect == "stories":
            return ASPECTS["stories"].validate_json(payload)
    return None
