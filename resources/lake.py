"""The lake: tables as folders of Parquet shards, on a path or in an object store.

It knows where a shard lies, whether its footer says it is current, and how it is written so that no reader
ever sees half of one. What a shard means is the stage's business; which shards to build
is decided in `resources.build`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from pipelines.errors import DamagedFile, LakeError, LakeStop
from pipelines.identity import fingerprint

_KEY = "storyloom."
_SAFE = " ()+,!&@~'"
_LONGEST_NAME = 180
_TEMPORARY = ".tmp-"
_ELSEWHERE = "Set STORYLOOM_LAKE to a folder that can be written or made, or to a URL."
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
    _is_copy: bool = field(init=False, default=False, repr=False)
    _cleaned: set[str] = field(init=False, default_factory=set, repr=False)
    _footers: dict[str, tuple[tuple[int, int], Footer | None]] = field(init=False, default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if "://" in self.url:
            try:
                self.fs, self.root = pafs.FileSystem.from_uri(self.url)
            except (pa.ArrowException, OSError) as error:
                raise LakeError(f"the lake cannot be opened: {error}", where=self.url) from error
        else:
            self.fs, self.root = pafs.LocalFileSystem(), str(Path(self.url).expanduser().resolve())
        if self.is_local and not _can_be_folder(Path(self.root)):
            raise LakeError("the lake is no folder, and can be none", where=self.root, remedy=_ELSEWHERE)

    def __getstate__(self) -> dict[str, str]:
        """Only the address travels to workers; each opens the store for itself."""
        return {"url": self.url}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["url"])
        self._is_copy = True

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
        named = {i.base_name: i for i in self._listed(table) if i.base_name.endswith(".parquet")}
        return {name.removesuffix(".parquet"): named[name] for name in sorted(named)}

    def _listed(self, folder: str) -> list[pafs.FileInfo]:
        """The files in a folder, without hidden ones; none where there is no such folder."""
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True)
        try:
            infos = self.fs.get_file_info(selector)
        except OSError as error:
            what = f"a folder of the lake cannot be read: {_reason(error)}"
            raise LakeStop(what, where=self.path(folder), remedy="Mend that, then run again.") from error
        return [i for i in infos if i.type == pafs.FileType.File and i.base_name[0] not in "._"]

    def footers(self, table: str, but: Collection[str] = ()) -> dict[str, Footer]:
        """The footer of each shard by its key, without the shards `but`; a file that is no shard of ours counts as missing.

        Footers are remembered by size and time, so that asking again costs one listing.
        """
        found: dict[str, Footer] = {}
        passed = set(map(shard_name, but))
        for info in (info for name, info in self.listing(table).items() if name not in passed):
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
            values = {k.decode(): v.decode() for k, v in (meta.metadata or {}).items() if k.startswith(_KEY.encode())}
            get = {k.removeprefix(_KEY): v for k, v in values.items()}
            counts = int(get.get("failures", 0)), int(get.get("dropped", 0))
            columns = json.loads(get.get("columns", "{}"))
        except (pa.ArrowException, OSError, ValueError):
            return None
        if "fingerprint" not in get or "shard" not in get or not isinstance(columns, dict):
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
        """One shard, a row group at a time; nothing when it does not exist.

        Raises `LakeStop` for one that cannot be read, `DamagedFile` where it does not hold what was written.
        """
        path = self.shard_path(table, shard)
        try:
            with (
                self.fs.open_input_file(path) as file,
                pq.ParquetFile(file, memory_map=False, page_checksum_verification=True) as reader,
            ):
                for group in range(reader.num_row_groups):
                    # One group at a time: the groups of picture tables are cut by bytes, so this bounds memory.
                    yield from reader.read_row_group(group, columns=columns, use_threads=False).to_batches(rows)
        except FileNotFoundError:
            return
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(path, error) from error

    def _unreadable(self, path: str, error: Exception) -> LakeStop:
        """The error of a file that cannot be read. What a disk, a network or too little memory refused is no damage."""
        what = _reason(error)
        if not self.is_local or getattr(error, "errno", None) or isinstance(error, MemoryError):
            remedy = "Run again; if the same file is named, delete it: the next run makes it anew."
            return LakeStop(f"a file of the lake cannot be read: {what}", where=path, remedy=remedy)
        # Another worker may be reading all of the table, and must not find it without this shard: where this is a
        # worker, the process that drives it deletes the file once all have ended.
        if not self._is_copy:
            self.discard(path)
        remedy = "Run again: it is made anew. If it is named again, delete it."
        return DamagedFile(f"a file of the lake is damaged: {what}", where=path, remedy=remedy)

    def discard(self, path: str) -> None:
        """Delete a damaged file, if that is allowed, so that it counts as missing; `path` as `DamagedFile` names it."""
        with contextlib.suppress(OSError):
            self.fs.delete_file(path)

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
        """Write a small file (a dataset card, a cache) so that a reader sees the old or the new, never half.

        One that holds these bytes already is left as it is. The first one of a folder takes along what killed runs left
        there.
        """
        folder = path.rpartition("/")[0]
        if folder not in self._cleaned:
            self._cleaned.add(folder)
            self.clean(folder)
        if self.get(path) == data:
            return
        target = self.path(path)
        with self.writing(target) as temporary, self.stopping(target), self.fs.open_output_stream(temporary) as stream:
            stream.write(data)

    def delete(self, path: str) -> None:
        """Delete a small file; deleting what is not there is fine."""
        try:
            self.fs.delete_file(self.path(path))
        except FileNotFoundError:
            return
        except OSError as error:
            # A store that may not be written says so even of a file that is not there.
            if self.fs.get_file_info(self.path(path)).type != pafs.FileType.NotFound:
                raise self._unwritable(self.path(path), error) from error

    def files(self, folder: str) -> list[str]:
        """Names of the small files in a folder, in order; hidden ones are left out."""
        return sorted(info.base_name for info in self._listed(folder))

    def get(self, path: str) -> bytes | None:
        """A small file's bytes, None when it does not exist."""
        try:
            with self.fs.open_input_stream(self.path(path)) as stream:
                return stream.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            what = f"a file of the lake cannot be read: {_reason(error)}"
            raise LakeStop(
                what, where=self.path(path), remedy="Mend that, or delete the file, then run again."
            ) from error

    def writing(self, target: str) -> Placing:
        """A name to write to that becomes `target` once the writing ends well."""
        return Placing(self, target)

    @contextlib.contextmanager
    def stopping(self, target: str) -> Iterator[None]:
        """Whatever the store refuses while `target` is written becomes an error that names it and says what to do."""
        try:
            yield
        except OSError as error:
            raise self._unwritable(target, error) from error

    def _unwritable(self, path: str, error: OSError) -> LakeError:
        if not self.is_local:  # stores are asked over a network: the next shard may fare better
            return LakeError(f"the lake could not be written: {_reason(error)}", where=path, remedy="Run again.")
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "Make room, then run again: what is finished is kept."
            return LakeStop(f"the disk of the lake is full: {_reason(error)}", where=path, remedy=remedy)
        remedy = f"Mend that, or choose another lake. {_ELSEWHERE}"
        return LakeStop(f"the lake cannot be written: {_reason(error)}", where=path, remedy=remedy)

    def clean(self, folder: str) -> None:
        """Delete what killed runs left unfinished in a folder."""
        if not self.is_local:
            return
        for path in Path(self.path(folder)).glob(f"{_TEMPORARY}*"):
            try:
                host, pid = path.name.removeprefix(_TEMPORARY).rsplit("-", 2)[:2]
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
        with self.lake.stopping(self.target):
            os.makedirs(folder, exist_ok=True)
        token = fingerprint([name, time.monotonic_ns()])[:12]
        self.temporary = f"{folder}/{_TEMPORARY}{_host()}-{os.getpid()}-{token}"
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not self.lake.is_local:
            return
        if error is None:
            with self.lake.stopping(self.target):
                os.replace(self.temporary, self.target)
        else:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)


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


def _can_be_folder(path: Path) -> bool:
    """Whether the path is a folder, or nothing yet below one."""
    return next(place for place in (path, *path.parents) if os.path.exists(place)).is_dir()


def _reason(error: Exception) -> str:
    """What an error says, on one line and without the temporary name that Arrow wrote to."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else " ".join(str(error).split())


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
