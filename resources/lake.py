"""The lake: tables as folders of Parquet shards, on a path or in an object store.

It knows where a shard lies, whether its footer says it is current, and how it is written so that no reader
ever sees half of one. What a shard means is the stage's business; which shards to build
is decided in `resources.build`.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from pipelines.errors import LakeError
from pipelines.identity import fingerprint

_KEY = "storyloom."
_SAFE = " ()+,!&@~'"
_LONGEST_NAME = 180
_TEMPORARY = ".tmp-"
_STALE_SECONDS = 24 * 3600
_SETTLED_SECONDS = 2
"""Age at which a file's time tells it from a later version: object stores know whole seconds only."""


@dataclass(frozen=True)
class Footer:
    """What the footer of a shard says: what it was computed from, what it holds."""

    fingerprint: str
    content: str
    """Digest of the rows: equal for equal rows, whatever they were computed from."""
    rows: int
    failures: int
    dropped: int
    shard: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """Digest of each column, except pictures."""
    passing: bool = False
    """Whether some of it failed for a reason that lies in the machine (`pipelines.stage.PASSING`): it is tried again."""


@dataclass
class Lake:
    """A lake at a local path or a URL (`s3://bucket/prefix`)."""

    url: str
    fs: pafs.FileSystem = field(init=False, repr=False)
    root: str = field(init=False, repr=False)
    _footers: dict[str, tuple[tuple[int, int], Footer | None]] = field(init=False, default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if "://" in self.url:
            try:
                self.fs, self.root = pafs.FileSystem.from_uri(self.url)
            except (pa.ArrowException, OSError) as error:
                raise LakeError(f"the lake cannot be opened: {error}", where=self.url) from error
        else:
            self.fs, self.root = pafs.LocalFileSystem(), str(Path(self.url).expanduser().resolve())

    def __getstate__(self) -> dict[str, str]:
        """Only the address travels to workers; each opens the store for itself."""
        return {"url": self.url}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["url"])

    @property
    def is_local(self) -> bool:
        """Whether the lake is a folder of this machine."""
        return isinstance(self.fs, pafs.LocalFileSystem)

    def path(self, *parts: str) -> str:
        """A path below the lake in the file system's own form."""
        return "/".join([self.root, *parts])

    def shard_path(self, table: str, shard: str) -> str:
        """Where a shard lies: `<table>/<shard>.parquet`, the shard's key made safe for every file system."""
        return self.path(table, shard_name(shard) + ".parquet")

    def listing(self, table: str) -> dict[str, pafs.FileInfo]:
        """The files of a table by file name without `.parquet`: one listing request, no file is opened."""
        selector = pafs.FileSelector(self.path(table), allow_not_found=True)
        infos = (i for i in self.fs.get_file_info(selector) if i.type == pafs.FileType.File)
        named = {i.base_name: i for i in infos if i.base_name.endswith(".parquet") and i.base_name[0] not in "._"}
        return {name.removesuffix(".parquet"): named[name] for name in sorted(named)}

    def footers(self, table: str) -> dict[str, Footer]:
        """The footer of each shard by its key; a file that is no shard of ours counts as missing.

        Footers are remembered by size and time, so that asking again costs one listing.
        """
        found: dict[str, Footer] = {}
        for info in self.listing(table).values():
            stamp = (info.size or 0, info.mtime_ns or 0)
            known = self._footers.get(info.path)
            if known is None or known[0] != stamp:
                known = (stamp, self._read_footer(info.path))
                if time.time_ns() - stamp[1] > _SETTLED_SECONDS * 1e9:
                    self._footers[info.path] = known
            if known[1] is not None:
                found[known[1].shard] = known[1]
        return found

    def _read_footer(self, path: str) -> Footer | None:
        try:
            with self.fs.open_input_file(path) as file:
                meta = pq.read_metadata(file)
        except (pa.ArrowException, OSError):
            return None
        values = {k.decode(): v.decode() for k, v in (meta.metadata or {}).items() if k.startswith(_KEY.encode())}
        get = {k.removeprefix(_KEY): v for k, v in values.items()}
        if "fingerprint" not in get or "shard" not in get:
            return None
        try:
            counts = int(get.get("failures", 0)), int(get.get("dropped", 0))
            columns = json.loads(get.get("columns", "{}"))
        except ValueError:
            return None
        content, passing = get.get("content", ""), "passing" in get
        return Footer(get["fingerprint"], content, meta.num_rows, *counts, get["shard"], columns, passing)

    def has_table(self, table: str) -> bool:
        """Whether a table has any shard."""
        return bool(self.listing(table))

    def content(self, tables: Iterable[str]) -> str:
        """Digest of what tables hold: equal for equal rows, so that a rebuild that changes nothing can be told."""
        return fingerprint([{s: f.content for s, f in self.footers(table).items()} for table in tables])

    def read(self, table: str, shard: str, schema: pa.Schema, columns: list[str] | None = None) -> pa.Table:
        """One shard as a table; an empty table of that schema when it does not exist."""
        batches = list(self.batches(table, shard, columns=columns))
        wanted = pa.schema([schema.field(c) for c in columns]) if columns else schema
        return pa.Table.from_batches(batches, batches[0].schema if batches else wanted)

    def batches(
        self, table: str, shard: str, *, columns: list[str] | None = None, rows: int = 1024
    ) -> Iterator[pa.RecordBatch]:
        """One shard, a row group at a time; nothing when it does not exist."""
        try:
            file = self.fs.open_input_file(self.shard_path(table, shard))
        except FileNotFoundError:
            return
        with file, pq.ParquetFile(file, memory_map=False) as reader:
            for group in range(reader.num_row_groups):
                # One group at a time: the groups of picture tables are cut by bytes, so this bounds memory.
                yield from reader.read_row_group(group, columns=columns, use_threads=False).to_batches(rows)

    def read_table(self, table: str, schema: pa.Schema, columns: list[str] | None = None) -> pa.Table:
        """All shards of a table, in the order of their names, as one Arrow table (for small tables)."""
        shards = [shard for shard, footer in sorted(self.footers(table).items()) if footer.rows]
        wanted = pa.schema([schema.field(c) for c in columns]) if columns else schema
        parts = [self.read(table, shard, schema, columns) for shard in shards]
        return pa.concat_tables([p.cast(wanted) for p in parts]) if parts else wanted.empty_table()

    def remove(self, table: str, shard: str) -> None:
        """Delete a shard; deleting what is not there is fine."""
        self.delete(f"{table}/{shard_name(shard)}.parquet")

    def put(self, path: str, data: bytes) -> None:
        """Write a small file (a dataset card, a cache) so that a reader sees the old or the new, never half."""
        with self.writing(self.path(path)) as temporary, self.fs.open_output_stream(temporary) as stream:
            stream.write(data)

    def delete(self, path: str) -> None:
        """Delete a small file; deleting what is not there is fine."""
        try:
            self.fs.delete_file(self.path(path))
        except FileNotFoundError:
            return

    def files(self, folder: str) -> list[str]:
        """Names of the small files in a folder, in order; hidden ones are left out."""
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True)
        infos = self.fs.get_file_info(selector)
        return sorted(i.base_name for i in infos if i.type == pafs.FileType.File and i.base_name[0] not in "._")

    def get(self, path: str) -> bytes | None:
        """A small file's bytes, None when it does not exist."""
        try:
            with self.fs.open_input_stream(self.path(path)) as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def writing(self, target: str) -> Placing:
        """A name to write to that becomes `target` once the writing ends well."""
        return Placing(self, target)

    def clean(self, table: str) -> None:
        """Delete what killed runs left unfinished in a table's folder."""
        if not self.is_local:
            return
        for path in Path(self.path(table)).glob(f"{_TEMPORARY}*"):
            host, pid = path.name.removeprefix(_TEMPORARY).rsplit("-", 2)[:2]
            try:
                old = time.time() - path.stat().st_mtime > _STALE_SECONDS
                if old or (host == _host() and not _alive(int(pid))):
                    path.unlink(missing_ok=True)
            except (OSError, ValueError):
                continue


@dataclass
class Placing:
    """Context manager: yields a name to write to, which becomes the target when the block ends well.

    On a local path that is a hidden temporary file and an atomic rename; an object store shows whole
    objects only.
    """

    lake: Lake
    target: str

    def __enter__(self) -> str:
        folder, _, name = self.target.rpartition("/")
        if not self.lake.is_local:
            self.temporary = self.target
            return self.target
        os.makedirs(folder, exist_ok=True)
        token = fingerprint([name, time.monotonic_ns()])[:12]
        self.temporary = f"{folder}/{_TEMPORARY}{_host()}-{os.getpid()}-{token}"
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not self.lake.is_local:
            return
        if error is None:
            os.replace(self.temporary, self.target)
        else:
            Path(self.temporary).unlink(missing_ok=True)


def shard_name(shard: str) -> str:
    """A shard's key as a file name: readable, unique, and seen by every Parquet reader.

    Letters of every script stay; what file systems, globs or URLs treat specially is percent-encoded, as is a leading
    dot or underscore (readers skip such files). A name too long for a file system keeps its start and gets a digest.
    """
    parts = [c if c.isalnum() or c in _SAFE or c in "-_." else quote(c, safe="") for c in shard]
    name = "".join(parts)
    if name[:1] in "._":
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name.encode()) > _LONGEST_NAME:
        start = name.encode()[: _LONGEST_NAME - 34].decode(errors="ignore")
        name = f"{start}~{fingerprint(shard)}"
    return name


def _host() -> str:
    return socket.gethostname().replace("/", "_")[:64]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
