"""What a stage is: a pure function from the inputs of one shard to rows, with a name, a version and a typed configuration.

Engines run stages over shards, the lake stores what they return; neither is known here.
"""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pyarrow as pa

from pipelines.errors import ItemError
from pipelines.identity import canonical_json
from pipelines.schemas import TABLES

T = TypeVar("T")
Row = dict[str, Any]
"""One row of the stage's output table, by column name."""


PASSING = frozenset({"tool_missing", "no_space", "out_of_memory", "unreadable"})
"""Kinds of failures that lie in the machine and not in what was read: the next build tries such a shard again."""


@dataclass(frozen=True)
class Failure:
    """An item that could not be processed: a row of `_failures/<table>/<shard>.parquet`."""

    item_id: str
    kind: str
    message: str

    @classmethod
    def of(cls, item_id: str, error: ItemError) -> Failure:
        """The failure row of an item whose processing raised `error`."""
        return cls(item_id, error.kind, str(error))


@dataclass(frozen=True)
class Dropped:
    """An item left out by a documented rule (no fault of the item): a row of `_dropped/<table>/<shard>.parquet`."""

    item_id: str
    reason: str


class ShardInputs(Protocol):
    """What a stage can read while it works on one shard."""

    @property
    def shard(self) -> str:
        """The shard's key: the book's id for comics."""
        ...

    @property
    def source(self) -> Any:
        """What the shard is computed from besides tables (a `BookSource`, annotation entries), or None."""
        ...

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """The shard of an upstream table; an empty table when that shard does not exist."""
        ...

    def whole(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """All shards of a table that the stage `gathers`, in the order of their names."""
        ...

    def batches(self, name: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The same, a few rows at a time: for columns of picture bytes, so that memory stays flat."""
        ...


@dataclass(frozen=True)
class Stage(ABC):
    """A stage. Subclasses are frozen dataclasses whose fields are the stage's configuration."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Raised whenever the same inputs would give other rows."""
    table: ClassVar[str]
    """The output table, a key of `pipelines.schemas.TABLES`."""
    inputs: ClassVar[tuple[str, ...]] = ()
    """Upstream tables; the content of their shards is part of the fingerprint."""
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Of these upstream tables only these columns are read: a change in others leaves the shard as it is."""
    gathers: ClassVar[tuple[str, ...]] = ()
    """Upstream tables that are read whole, by stages whose shard is more than a book; small ones only."""
    partitions: ClassVar[tuple[str, tuple[str, ...]] | None] = None
    """A column and its values: each shard is then one file for each value, and the column itself is not stored."""

    @property
    def output(self) -> str:
        """Folder of the output below the lake; with partitions, `{}` in it stands for the value."""
        return self.table

    @property
    def reads(self) -> tuple[str, ...]:
        """Upstream tables of this instance: stages that exist once for each split override it."""
        return self.inputs

    @property
    def schema(self) -> pa.Schema:
        """Schema of the stored rows."""
        return TABLES[self.table]

    @abstractmethod
    def run(self, inputs: ShardInputs) -> Iterator[Row | Failure | Dropped]:
        """Compute one shard. Rows come in their final order; an item that fails is yielded as a `Failure`.

        An exception that leaves `run` fails the whole shard (never the table).
        """
        ...

    @property
    def models(self) -> tuple[Model[Any], ...]:
        """The models among the stage's fields."""
        values = (getattr(self, f.name) for f in dataclasses.fields(self))
        return tuple(value for value in values if isinstance(value, Model))

    @property
    def is_remote(self) -> bool:
        """Whether the stage mostly waits for a service; it then runs in threads of one process, which share the pace."""
        return any(model.is_remote for model in self.models)

    def config(self) -> dict[str, Any]:
        """The configuration as JSON values: part of the fingerprint."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}


@dataclass(frozen=True)
class Model(Generic[T]):
    """A model that a stage uses, by role: described everywhere, loaded only where a shard is computed.

    `source` names it in every row (`<adapter>/<model>@<version>`); `options` are the settings that decide what it says
    (JSON values, part of the fingerprint), `runtime` those that do not (an address, a pace, a device); `build` makes the
    adapter from both and must be importable by name in a worker process. `is_remote`: it waits for a service elsewhere.
    """

    source: str
    build: Callable[..., T]
    options: Mapping[str, Any] = field(default_factory=dict)
    runtime: Mapping[str, Any] = field(default_factory=dict)
    is_remote: bool = False

    def load(self) -> T:
        """The adapter, built once in each process."""
        key = self.build, canonical_json([_plain(self.options), _plain(self.runtime)])
        with _loading:
            if key not in _loaded:
                _loaded[key] = self.build(**self.options, **self.runtime)
            return _loaded[key]


_loaded: dict[tuple[Callable[..., Any], str], Any] = {}
_loading = threading.Lock()


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return {"source": value.source, "options": _plain(value.options)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
