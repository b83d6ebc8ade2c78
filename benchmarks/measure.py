"""Running a command as users would, with its time and the memory of all of its processes.

What does not belong here: what is measured (each script says so itself).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import yaml

PROJECT = Path(__file__).resolve().parents[1]
_SAMPLE_SECONDS = 0.1


@dataclass(frozen=True)
class Measured:
    """What a command took: seconds by the clock, and the most memory (bytes) that its processes held together."""

    seconds: float
    peak_bytes: int


def run(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Measured:
    """Run a command in the project's folder with its output in `log`; raises RuntimeError with the log's end if it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        started = monotonic()
        process = subprocess.Popen(
            command, cwd=PROJECT, env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT
        )
        memory = _Memory(process.pid)
        code = process.wait()
        seconds = monotonic() - started
        peak = memory.stop()
    if code:
        end = log.read_text(errors="replace")[-3000:]
        raise RuntimeError(f"{' '.join(command)} ended with {code}:\n{end}")
    return Measured(seconds, peak)


class _Memory:
    """Watches a process and its descendants: the most that they hold together, shared pages counted in each."""

    def __init__(self, pid: int) -> None:
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(pid,), daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._peak

    def _watch(self, pid: int) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            self._peak = max(self._peak, _resident(pid))


def _resident(pid: int) -> int:
    total = 0
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for process in family:
        try:
            total += process.memory_info().rss
        except psutil.Error:  # it ended meanwhile
            continue
    return total


@dataclass(frozen=True)
class Workplace:
    """A folder with a library, a lake and a Dagster home: one project as a user has it."""

    folder: Path
    library: Path

    @property
    def lake(self) -> Path:
        """Where the tables are."""
        return self.folder / "lake"

    @property
    def environment(self) -> dict[str, str]:
        """The settings that make Storyloom work here."""
        home = self.folder / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / "dagster.yaml", home)
        return {
            "DAGSTER_HOME": str(home),
            "STORYLOOM_LIBRARY": str(self.library),
            "STORYLOOM_LAKE": str(self.lake),
            "STORYLOOM_PROFILE": str(self.folder / "profile.yaml"),
        }

    def materialize(
        self, selection: str, *, module: str = "assets.definitions", profile: Mapping[str, Any] | None = None
    ) -> Measured:
        """`dagster asset materialize` of a selection, with changes to the default profile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "profile.yaml").write_text(yaml.safe_dump(dict(profile or {})))
        command = [sys.executable, "-m", "dagster", "asset", "materialize", "-m", module, "--select", selection]
        return run(command, self.environment, self.folder / "dagster.log")

    def start(self) -> Measured:
        """The same command with an asset that does nothing: what Dagster itself takes."""
        return self.materialize("nothing", module="benchmarks.nothing")

    def seconds(self, table: str) -> float:
        """How long the last build of a table took, without Dagster, from the table's own metadata."""
        return float(self.metadata(table)["seconds"])

    def metadata(self, table: str) -> dict[str, Any]:
        """The metadata of a table's last materialization."""
        import dagster as dg

        with dg.DagsterInstance.from_config(self.environment["DAGSTER_HOME"]) as instance:
            event = instance.get_latest_materialization_event(dg.AssetKey(table))
            if event is None or event.asset_materialization is None:
                raise LookupError(f"{table} was not built")
            return {name: value.value for name, value in event.asset_materialization.metadata.items()}
