"""Writes the rows of one shard: batches by bytes, a footer that says what they came from, and the rows beside it.

Failures and left-out items are written first and the shard last, so that a shard which exists is always whole
and always has its failure rows beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.identity import canonical_json, fingerprint
from pipelines.schemas import DROPPED, FAILURES
from pipelines.stage import PASSING, Dropped, Failure, Row, Stage
from resources.lake import Lake

GROUP_BYTES = 32 * 2**20
"""A row group is closed at this many bytes of pictures: what a reader holds at once."""
GROUP_ROWS = 16_384
WHOLE = "failed as a whole"
"""In place of a fingerprint, in the footer of the failure rows of a shard that could not be computed at all."""
UPSTREAM = "upstream failed: "
"""The same, with the name of a table after it, for a shard that was not computed since that table has none of it."""


@dataclass(frozen=True)
class ShardCounts:
    """What one shard came to."""

    rows: int
    failures: int
    dropped: int


def write_shard(
    lake: Lake, stage: Stage, shard: str, fingerprint: str, items: Iterable[Row | Failure | Dropped]
) -> ShardCounts:
    """Write all that a stage yields for one shard; nothing becomes visible when `items` raises."""
    column, values = stage.partitions or ("", ("",))
    failures: list[Failure] = []
    dropped: list[Dropped] = []
    with ExitStack() as stack:
        files = {v: _RowFile(stage.schema, lake, lake.shard_path(stage.output.format(v), shard)) for v in values}
        for file in files.values():
            file.open(stack.enter_context(lake.writing(file.target)))
            stack.callback(file.abandon)
        for item in items:
            if isinstance(item, Failure):
                failures.append(item)
            elif isinstance(item, Dropped):
                dropped.append(item)
            else:
                files[item[column] if column else ""].add(item)
        footer = {"fingerprint": fingerprint, "shard": shard, "stage": stage.name}
        footer |= {"failures": str(len(failures)), "dropped": str(len(dropped))}
        if any(failure.kind in PASSING for failure in failures):
            footer["passing"] = "1"
        for file in files.values():
            file.finish(footer)
        write_failures(lake, stage, shard, failures)
        _write_dropped(lake, stage, shard, dropped)
    return ShardCounts(sum(f.rows for f in files.values()), len(failures), len(dropped))


def beside(kind: str, output: str) -> str:
    """The folder of what stands beside a table: `_failures/<table>` or `_dropped/<table>`."""
    return f"{kind}/{output.replace('/{}', '')}"


def write_failures(lake: Lake, stage: Stage, shard: str, failures: Sequence[Failure], mark: str = "") -> None:
    """Replace the failure rows of a shard; without any the file goes away. `mark`: why there is no shard."""
    now = datetime.now(UTC)
    rows = [
        {"stage": stage.name, "shard": shard, "item_id": f.item_id, "kind": f.kind, "message": f.message, "time": now}
        for f in failures
    ]
    _write_beside(lake, beside("_failures", stage.output), shard, rows, FAILURES, mark)


def _write_dropped(lake: Lake, stage: Stage, shard: str, dropped: list[Dropped]) -> None:
    rows = [{"stage": stage.name, "shard": shard, "item_id": d.item_id, "reason": d.reason} for d in dropped]
    _write_beside(lake, beside("_dropped", stage.output), shard, rows, DROPPED)


def _write_beside(lake: Lake, table: str, shard: str, rows: list[Row], schema: pa.Schema, mark: str = "") -> None:
    if not rows:
        lake.remove(table, shard)
        return
    clean = [{k: _storable(v) for k, v in row.items()} for row in rows]
    target = lake.shard_path(table, shard)
    with lake.writing(target) as path, lake.stopping(target), lake.fs.open_output_stream(path) as stream:
        writer = pq.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True)
        writer.write_table(pa.Table.from_pylist(clean, schema=schema))
        writer.add_key_value_metadata({"storyloom.shard": shard, "storyloom.fingerprint": mark})
        writer.close()


def _storable(value: Any) -> Any:
    # File names may hold bytes that are no UTF-8; they reach us as lone surrogates, which Arrow refuses.
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@dataclass
class _RowFile:
    """One Parquet file in the making: collects rows, closes a row group by bytes, digests what it writes."""

    schema: pa.Schema
    lake: Lake
    target: str
    rows: int = 0
    _pending: list[Row] = field(default_factory=list)
    _bytes: int = 0

    def open(self, path: str) -> None:
        with self.lake.stopping(self.target):
            self._stream = self.lake.fs.open_output_stream(path)
        leaves = list(_leaves(self.schema))
        small = [leaf for leaf, is_picture in leaves if not is_picture]
        self._writer = pq.ParquetWriter(
            self._stream,
            self.schema,
            # Pictures are compressed already: zstd would cost time and save nothing.
            compression={leaf: "NONE" if pic else "ZSTD" for leaf, pic in leaves},  # pyright: ignore[reportArgumentType]
            use_dictionary=small,  # pyright: ignore[reportArgumentType]
            use_content_defined_chunking=True,
            write_statistics=small,  # pyright: ignore[reportArgumentType]
            write_page_checksum=True,
        )
        # The digest of a picture stands in a column of its own, so its bytes need no second one.
        self._digests = {name: hashlib.sha256() for name in self.schema.names if name != "image"}

    def add(self, row: Row) -> None:
        self._pending.append(row)
        self.rows += 1
        self._bytes += _picture_bytes(row)
        if self._bytes >= GROUP_BYTES or len(self._pending) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        names = self.schema.names
        batch = pa.RecordBatch.from_pylist([{k: r[k] for k in names} for r in self._pending], schema=self.schema)
        for name, digest in self._digests.items():
            digest.update(batch.select([name]).serialize())
        with self.lake.stopping(self.target):
            self._writer.write_batch(batch)
        self._pending, self._bytes = [], 0

    def finish(self, footer: dict[str, str]) -> None:
        if self._pending:
            self._flush()
        columns = {name: digest.hexdigest()[:16] for name, digest in self._digests.items()}
        meta = footer | {"content": fingerprint(columns), "columns": canonical_json(columns)}
        self._writer.add_key_value_metadata({f"storyloom.{k}": v for k, v in sorted(meta.items())})
        with self.lake.stopping(self.target):
            self._writer.close()
            self._stream.close()

    def abandon(self) -> None:
        # The writer first: it writes its footer when it goes, to a stream that must still be open. On a full disk
        # neither can: the error that led here says so.
        if not self._stream.closed:
            with contextlib.suppress(OSError):
                self._writer.close()
            with contextlib.suppress(OSError):
                self._stream.close()


def _leaves(schema: pa.Schema) -> Iterable[tuple[str, bool]]:
    """Parquet's path of each leaf column, and whether it holds picture bytes."""
    for item in schema:
        yield from _leaf_paths(item.name, item.type)


def _leaf_paths(path: str, kind: pa.DataType) -> Iterable[tuple[str, bool]]:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaf_paths(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for child in kind.fields:
            yield from _leaf_paths(f"{path}.{child.name}", child.type)
    else:
        yield path, pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _picture_bytes(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(_picture_bytes(v) for v in value.values())
    if isinstance(value, list):
        return sum(_picture_bytes(v) for v in value)
    return 0
