"""Columns of the released files: what readers of the published ComicsPAP already expect, and nothing more.

The tables of the lake are in `pipelines.schemas`; these are exports. Each schema names its columns' types to Hugging
Face `datasets` too, so that its readers get pictures and not bytes.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pipelines.identity import canonical_json

RELEASE_NAME = "comicspap"
SINGLE_IMAGE_SUFFIX = "_single_image"

_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
_IMAGES = pa.list_(_IMAGE)


def _column(name: str, kind: pa.DataType, comment: str) -> pa.Field:
    # No value is ever null, but `datasets` knows nullable columns only, and takes pictures for bytes in others.
    return pa.field(name, kind, metadata={"comment": comment})


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """What `datasets` calls a column of that type; `Sequence` is the list that all of its versions read."""
    if kind == _IMAGES:
        return {"feature": {"_type": "Image"}, "_type": "Sequence"}
    return {"_type": "Image"} if kind == _IMAGE else {"dtype": str(kind), "_type": "Value"}


def _schema(*columns: pa.Field) -> pa.Schema:
    features = {column.name: _feature(column.type) for column in columns}
    return pa.schema(columns, metadata={"huggingface": canonical_json({"info": {"features": features}})})


_SAMPLE_ID = _column("sample_id", pa.string(), "Unique over all skills and splits")
_SOLUTION = _column("solution_index", pa.int32(), "Place of the right option, from 0; -1 where answers are hidden")
_SPLIT = _column("split", pa.string(), "`train`, `val` or `test`")
_TASK = _column("task_type", pa.string(), "The skill: `sequence_filling`, `char_coherence`, ...")
_CAPTION = _column("previous_panel_caption", pa.string(), "Caption of the panel before, empty but for that skill")
_INDEX = _column("index", pa.int32(), "Where the missing panel goes in the context, from 0; -1 without context")

RELEASE = _schema(
    _SAMPLE_ID,
    _column("context", _IMAGES, "The panels that are shown, in reading order, without a mask"),
    _column("options", _IMAGES, "The panels to choose from"),
    _INDEX,
    _SOLUTION,
    _SPLIT,
    _TASK,
    _CAPTION,
)
SINGLE_IMAGE = _schema(
    _SAMPLE_ID,
    _column("image", _IMAGE, "Context with its mask and numbered options in one picture"),
    _INDEX,
    _column("option_count", pa.int32(), "How many options the picture shows"),
    _SOLUTION,
    _SPLIT,
    _TASK,
    _CAPTION,
)
ANSWERS = _schema(_SAMPLE_ID, _TASK, _SOLUTION)
