"""One open project: the settings, the profile, the lake, the engine and the library that a run works with."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pipelines.comics.library import COMICS, BookSource, books_beside, find_books
from pipelines.errors import LibraryError
from pipelines.schemas import SPLITS
from pipelines.stage import Failure, Model, Stage
from resources.build import Engine, Source
from resources.engines.local import LocalEngine
from resources.engines.threads import ThreadEngine
from resources.lake import Lake
from resources.models.registry import describe_model
from resources.settings import ModelProfile, Profile, Settings, load_profile, load_settings

SAMPLE_LIBRARY = "sample_library"
_CACHE = "_cache"
_DRAWN = ".drawn"
_SAMPLE_VERSION = "1"


@dataclass(frozen=True)
class Project:
    """Everything that an asset needs to build its table."""

    settings: Settings
    profile: Profile
    lake: Lake

    @classmethod
    def open(cls, **overrides: Any) -> Project:
        """Open the project that the environment describes, with the overrides that are not None."""
        settings = load_settings(**overrides)
        return cls(settings, load_profile(settings.profile), _open_lake(settings.lake))

    def engine(self, stage: Stage) -> Engine:
        """The engine that runs a stage: the profile's, or threads of this process for one that waits for a service."""
        engine = self.profile.engine
        return ThreadEngine() if stage.is_remote else LocalEngine(engine.workers, engine.shard_seconds)

    @cached_property
    def library(self) -> Path:
        """The library's folder; without a setting, the sample library, drawn once."""
        if not self.settings.library:
            return draw_sample_library(Path.cwd() / SAMPLE_LIBRARY, self.settings.seed)
        folder = Path(self.settings.library).expanduser().resolve()
        if not folder.is_dir():
            remedy = "Set STORYLOOM_LIBRARY to a folder with books in it."
            raise LibraryError("the library is no folder that can be read", where=str(folder), remedy=remedy)
        return folder

    @property
    def comics(self) -> Path:
        """The folder of books: `comics/` in the library where there is one, else the library itself."""
        folder = self.library / COMICS
        return folder if folder.is_dir() else self.library

    def books(self) -> tuple[list[BookSource], list[Failure]]:
        """The library's books, and what in it is none or cannot be used. Raises LibraryError where nothing can be told."""
        if self.lake.is_local and Path(self.lake.root) == self.comics:
            remedy = "Set STORYLOOM_LAKE to another folder, which may lie in it."
            raise LibraryError("the lake is the folder of books itself", where=self.lake.root, remedy=remedy)
        books, failures = find_books(self.comics)
        return books, [*failures, *books_beside(self.library)]

    @property
    def annotations(self) -> list[Path]:
        """The folders of annotation files: in the folder of books, or beside it."""
        beside = [self.comics.parent] if self.comics.name == COMICS else []
        folders = [folder / "annotations" for folder in (self.comics, *beside)]
        return [folder for folder in folders if folder.is_dir()]

    @property
    def split_shares(self) -> tuple[tuple[str, float], ...]:
        """The share of books that each split gets, in the order in which a hash is laid over them."""
        return tuple((split, self.profile.split_shares.get(split, 0.0)) for split in SPLITS)

    def model(self, role: str) -> Any:
        """The model that the profile chose for a role, all of them where a role takes several; None for one left open."""
        chosen: ModelProfile | tuple[ModelProfile, ...] | None = getattr(self.profile.models, role)
        if isinstance(chosen, tuple):
            return tuple(self._described(role, each) for each in chosen)
        return None if chosen is None else self._described(role, chosen)

    def _described(self, role: str, chosen: ModelProfile) -> Model[Any]:
        model = describe_model(role, chosen.adapter, chosen.options, chosen.runtime)
        if not model.is_remote:
            return model
        chat = self.profile.chat
        of_project = {"replies": chat.replies or self.settings.lake, "prices": chat.prices}
        return dataclasses.replace(model, runtime=of_project | chosen.runtime)

    def digested(
        self, name: str, items: Mapping[str, Any], stat: Callable[[Any], str], digest: Callable[[Any], str]
    ) -> dict[str, Source]:
        """Sources with the digest of their content, read again only where size or time of a file changed.

        The digests are remembered in `<lake>/_cache/<name>.json`, which can be thrown away at any time.
        """
        path = f"{_CACHE}/{name}.json"
        known = _known_digests(self.lake.get(path) or b"{}")

        def look_at(key: str) -> list[str]:
            try:
                token = stat(items[key])
                old = known.get(key, ["", ""])
                return old if old[0] == token else [token, digest(items[key])]
            except OSError as error:
                # The stage will meet the same error and say it in the shard's failure row.
                return ["", f"unreadable: {error}"]

        # Threads, since hashing lets others run: the disk is the limit.
        with ThreadPoolExecutor() as threads:
            fresh = dict(zip(items, threads.map(look_at, items), strict=True))
        if fresh != known:
            self.lake.put(path, json.dumps(fresh, sort_keys=True).encode())
        return {key: Source(item, fresh[key][1]) for key, item in items.items()}

    def remembered(self, name: str, key: str, make: Callable[[], bytes]) -> bytes:
        """What `make` returned when the key was last this one; made anew where it was another.

        Kept in `<lake>/_cache/<name>`, under the key and a digest of itself; it can be thrown away at any time.
        """
        path = f"{_CACHE}/{name}"
        head, _, value = (self.lake.get(path) or b"").partition(b"\n")
        if head != _head(key, value):
            value = make()
            self.lake.put(path, _head(key, value) + b"\n" + value)
        return value


def _known_digests(data: bytes) -> dict[str, list[str]]:
    """The entries of a cache of digests that are what `Project.digested` writes: a damaged file has fewer, or none."""
    try:
        entries = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {
        key: entry
        for key, entry in entries.items()
        if isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, str) for part in entry)
    }


def _head(key: str, value: bytes) -> bytes:
    return f"{key} {hashlib.sha256(value).hexdigest()}".encode()


@lru_cache(maxsize=8)
def _open_lake(url: str) -> Lake:
    """One for all steps of a run, so that each footer is read once."""
    lake = Lake(url)
    lake.clean(_CACHE)
    return lake


def draw_sample_library(folder: Path, seed: int) -> Path:
    """The sample library in `folder`, drawn when it is not there yet; a kill while drawing leaves nothing behind.

    One that was drawn from another seed or by another version is moved aside, with all that people put into it.
    """
    from pipelines.samples.library import draw_library

    mark = f"{_SAMPLE_VERSION} {seed}"
    if (folder / _DRAWN).is_file() and (folder / _DRAWN).read_text() == mark:
        return folder
    if folder.exists() and not (folder / _DRAWN).is_file():
        raise LibraryError(
            "the folder for the sample library holds something else",
            where=str(folder),
            remedy="Move it away, or set STORYLOOM_LIBRARY to a folder with books in it.",
        )
    drawing = folder.with_name(f".{folder.name}-{os.getpid()}")
    shutil.rmtree(drawing, ignore_errors=True)
    draw_library(drawing, seed=seed)
    (drawing / _DRAWN).write_text(mark)
    if folder.exists():
        before = (folder / _DRAWN).read_text().replace(" ", "-")
        folder.rename(_free(folder.with_name(f"{folder.name}-{before}")))
    drawing.rename(folder)
    return folder


def _free(path: Path) -> Path:
    """The path, or the first of its numbered neighbours that nothing has."""
    names = itertools.chain([path], (path.with_name(f"{path.name}.{n}") for n in itertools.count(2)))
    return next(name for name in names if not name.exists())
