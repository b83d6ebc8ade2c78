"""Shows how a build gets on: a bar on a terminal, else a line in the log every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tqdm import tqdm

_SECONDS_BETWEEN_LINES = 10.0


@dataclass
class ProgressReporter:
    """Called by a build after each shard and while none ends (see `resources.build.Progress`)."""

    log: Callable[[str], None]
    _started: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)
    _bar: tqdm | None = None

    def __call__(self, table: str, done: int, total: int, rows: int, at_work: str) -> None:
        """Show the state after one more shard, or while none ends, and what takes long."""
        seconds = max(time.monotonic() - self._started, 1e-6)
        rate = f"{rows / seconds:,.0f} rows/s"
        if sys.stderr.isatty():
            if self._bar is None:
                self._bar = tqdm(total=total, desc=table, unit="shard", leave=False)
            self._bar.set_postfix_str(", ".join(filter(None, (rate, at_work))), refresh=False)
            self._bar.update(done - self._bar.n)
            if done == total:
                self._bar.close()
            return
        now = time.monotonic()
        if now - self._last >= 0.9 * _SECONDS_BETWEEN_LINES and done < total:
            self._last = now
            left = f"about {seconds / done * (total - done):.0f} s to go" if done else f"{seconds:.0f} s so far"
            state = f"{table}: {done} of {total} shards, {total - done} left, {rate}, {left}"
            self.log(", ".join(filter(None, (state, at_work))))
