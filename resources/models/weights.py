"""Weights of models: known by name, fetched on first use, checked by SHA-256, placed whole or not at all.

What does not belong here: how a library reads them (`torch_weights`, the adapters).

    python -m resources.models.weights FILE_OR_FOLDER ...       # prints the sha256 that a profile has to say
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache as remembered
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from pipelines.errors import ModelMissingError, SettingsError
from resources.models.fetch import fetch

MAX_BYTES = 8 << 30
"""No file is fetched beyond this where its size is not on record."""


@dataclass(frozen=True)
class Weights:
    """A file or folder of weights on record; see `weights.yaml`."""

    name: str
    licence: str = ""
    url: str = ""
    page: str = ""
    package: str = ""
    member: str = ""
    size: int = 0
    sha256: str = ""
    sha256_start: str = ""


@remembered
def known_weights() -> Mapping[str, Weights]:
    """The weights on record, by name."""
    text = (files("resources") / "models" / "weights.yaml").read_text(encoding="utf-8")
    return {name: Weights(name, **fields) for name, fields in yaml.safe_load(text).items()}


def checksum(name: str, sha256: str = "") -> str:
    """The SHA-256 of weights, or its first digits: what the profile says, or what is on record; empty for neither."""
    record = known_weights().get(name, Weights(name))
    return (sha256 or record.sha256 or record.sha256_start).lower()


def weights_source(adapter: str, name: str, sha256: str = "") -> str:
    """What rows say of a model with these weights: `torchvision/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth@258fb6c6`."""
    return f"{adapter}/{name}@{checksum(name, sha256)[:8] or 'unchecked'}"


def weights_path(name: str, sha256: str = "", *, file: str = "", cache: str = "") -> Path:
    """Where the weights lie, checked; fetched to the cache folder when they are not there and it is known from where.

    `file` is a path of the user's own. Raises ModelMissingError where they cannot be had, and SettingsError where their
    content is not the one on record or none is on record.
    """
    if not name or Path(name).name != name:
        raise SettingsError(
            "`weights` is a name", where=name, remedy="Say where the file lies as `runtime: {file: PATH}`."
        )
    record = known_weights().get(name, Weights(name))
    expected = checksum(name, sha256)
    path = _place(record, file, cache)
    if not expected:
        raise SettingsError(
            f"no checksum of the weights {name} is known",
            where=str(path),
            remedy=f"{_get(record, path)} Then say `sha256: ...` in the model's options; "
            "`python -m resources.models.weights PATH` prints it.",
        )
    if not path.exists():
        if file or record.package or not record.url:
            raise ModelMissingError(f"the weights {name} are not there", where=str(path), remedy=_get(record, path))
        with _locked(path):
            if not path.exists():  # another process may have fetched them meanwhile
                fetch(record.url, path, expected, record.size or MAX_BYTES, remedy=_get(record, path))
                return path
    _check(path, expected, record.size)
    return path


def default_cache() -> Path:
    """The folder of weights: STORYLOOM_WEIGHTS, or one in the user's cache."""
    if chosen := os.environ.get("STORYLOOM_WEIGHTS"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "storyloom" / "weights"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, or of a folder: of the list of its files' sums and names, in order, as `sha256sum` prints it.

    Names that start with a dot are left out: tools that download a folder keep their notes in such.
    """
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    members = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
    shown = [m for m in members if not any(part.startswith(".") for part in m.split("/"))]
    return hashlib.sha256("".join(f"{sha256_of(path / m)}  {m}\n" for m in shown).encode()).hexdigest()


def _place(record: Weights, file: str, cache: str) -> Path:
    if file:
        return Path(file).expanduser()
    if record.package:
        spec = find_spec(record.package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            return Path(folder) / record.member
    return (Path(cache).expanduser() if cache else default_cache()) / record.name


def _get(record: Weights, path: Path) -> str:
    """How the user gets the weights."""
    if record.package:
        return f"Install the package {record.package.replace('_', '-')}, or put the file at {path}."
    origin = record.url or record.page
    return (f"Get {'it' if record.url else 'them'} from {origin} and put" if origin else "Put") + f" it at {path}."


def _check(path: Path, expected: str, size: int) -> None:
    try:
        actual = sha256_of(path)
    except OSError as error:
        raise ModelMissingError(f"the weights cannot be read: {error}", where=str(path)) from error
    if not actual.startswith(expected):
        bytes_there = f", {path.stat().st_size} bytes where {size} are on record" if size and path.is_file() else ""
        raise SettingsError(
            f"the weights are not those on record: their sha256 is {actual}, not {expected}{bytes_there}",
            where=str(path),
            remedy="Delete them, to have them fetched again, or say the sha256 of your own in the model's options.",
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Only one process of this machine fetches a file; the others wait for it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock: Any = path.with_name(f".{path.name}.lock").open("w")
    except OSError as error:
        raise ModelMissingError(
            f"the folder of weights cannot be written: {error}",
            where=str(path.parent),
            remedy="Set STORYLOOM_WEIGHTS to a folder that can.",
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(sha256_of(Path(argument)), "", argument)
