"""In-memory inputs for a stage, and a run that checks each row against the schema of the stage's table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipelines.schemas import TABLES
from pipelines.stage import Dropped, Failure, Row, Stage


@dataclass
class FakeInputs:
    """`ShardInputs` over tables in memory, each given as an Arrow table or as a list of rows."""

    shard: str
    tables: Mapping[str, pa.Table | list[Row]] = field(default_factory=dict)
    source: Any = None

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        rows = self.tables.get(name, [])
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema=TABLES[name])
        return table.select(columns) if columns else table

    def whole(self, name: str, columns: list[str] | None = None) -> pa.Table:
        return self.table(name, columns)

    def batches(self, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self.table(name, columns).to_batches(max_chunksize=2)


def run_stage(stage: Stage, inputs: FakeInputs) -> tuple[list[Row], list[Failure], list[Dropped]]:
    """Run a stage over one shard; rows come back as the stored table would give them."""
    found = list(stage.run(inputs))
    rows = [item for item in found if isinstance(item, dict)]
    schema = stage.schema
    for row in rows:
        assert set(row) == set(schema.names), set(row) ^ set(schema.names)
    table = pa.Table.from_pylist(rows, schema=schema)
    table.validate(full=True)
    for name in schema.names:
        if not schema.field(name).nullable:
            assert table[name].null_count == 0, name
    failures = [item for item in found if isinstance(item, Failure)]
    return table.to_pylist(), failures, [item for item in found if isinstance(item, Dropped)]
