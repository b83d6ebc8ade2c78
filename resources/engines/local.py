"""The engine of a single machine: a pool of processes, one shard each at a time."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.util import Finalize
from pathlib import Path

from pipelines.stage import Stage
from resources.build import HEARTBEAT, ShardReport, ShardTask
from resources.engines.worker import compute_shard, fail_shard, prepare_process
from resources.lake import Lake

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PRELOAD = ["numpy", "cv2", "PIL.Image", "pyarrow.parquet", "resources.engines.worker"]
_SECONDS_TO_DIE = 5.0
_pools: dict[int, ProcessPoolExecutor] = {}
_folders: dict[int, tempfile.TemporaryDirectory[str]] = {}


@dataclass(frozen=True)
class LocalEngine:
    """Runs shards in `workers` processes (None: one for each core that this process may use).

    A shard that takes longer than `shard_seconds` (None: however long it takes) is ended and fails: a hostile file can
    keep a library busy for ever.
    """

    workers: int | None = None
    shard_seconds: float | None = None

    def run(self, stage: Stage, tasks: list[ShardTask], lake: Lake) -> Iterator[ShardReport | str]:
        """Report each shard as it ends. A worker that dies or is ended takes no other shard with it."""
        workers = self.workers or available_cores()
        pool = _Run(stage, lake, self.shard_seconds)
        queue = deque(tasks)
        try:
            while queue:
                suspects = yield from pool.work(workers, queue)
                for task in suspects:
                    # One at a time: if its worker dies again, it is the culprit.
                    if (yield from pool.work(1, deque([task]))):
                        yield fail_shard(stage, task, lake, "worker_died", _DIED)
        except BaseException:
            # The run was cancelled: what the workers are still at is not wanted.
            _discard(workers)
            _discard(1)
            raise


_DIED = (
    "the worker process died (out of memory, or a crash inside a library); "
    "lower the profile's workers or its size limits, or take the item out"
)


@dataclass(frozen=True)
class _Run:
    """A stage at work on a lake."""

    stage: Stage
    lake: Lake
    shard_seconds: float | None

    def work(self, workers: int, queue: deque[ShardTask]) -> Generator[ShardReport | str, None, list[ShardTask]]:
        """Work through the queue; returns the shards that were in flight when a worker died (none when all went well)."""
        flying: dict[Future[ShardReport], ShardTask] = {}
        since: dict[Future[ShardReport], float] = {}
        try:
            while queue or flying:
                # Twice as many as workers: none waits for work, and few are under suspicion when one dies.
                while queue and len(flying) < 2 * workers:
                    future = _submit(workers, self.stage, queue[0], self.lake)
                    flying[future] = queue.popleft()
                # They are taken up in their order: those at work are the first ones that have not ended.
                for future in islice(flying, workers):
                    since.setdefault(future, time.monotonic())
                done, _ = wait(flying, self._wait(since.values()), FIRST_COMPLETED)
                for future in done:
                    report = future.result()
                    del flying[future]
                    since.pop(future, None)
                    yield report
                if not done:
                    yield self._longest(flying, since)
                late = [flying[future] for future, start in since.items() if self._is_late(start) and not future.done()]
                if late:
                    _discard(workers)
                    yield from (self._end(task) for task in late)
                    queue.extendleft(task for task in reversed(flying.values()) if task not in late)
                    flying, since = {}, {}
        except BrokenProcessPool:
            _discard(workers)
            return list(flying.values())
        return []

    def _wait(self, starts: Collection[float]) -> float:
        if self.shard_seconds is None or not starts:
            return HEARTBEAT
        return min(HEARTBEAT, max(min(starts) + self.shard_seconds - time.monotonic(), 0.0))

    def _is_late(self, start: float) -> bool:
        return self.shard_seconds is not None and time.monotonic() - start >= self.shard_seconds

    def _longest(
        self, flying: Mapping[Future[ShardReport], ShardTask], since: Mapping[Future[ShardReport], float]
    ) -> str:
        future = min(since, key=lambda future: since[future])
        return f"{flying[future].shard} has taken {time.monotonic() - since[future]:,.0f} s"

    def _end(self, task: ShardTask) -> ShardReport:
        message = (
            f"it took longer than {self.shard_seconds:,.0f} s and was ended: a file in it may be made to keep its reader "
            "busy; take it out, or raise engine.shard_seconds in the profile"
        )
        return fail_shard(self.stage, task, self.lake, "timed_out", message)


def _submit(workers: int, stage: Stage, task: ShardTask, lake: Lake) -> Future[ShardReport]:
    if workers not in _pools:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        # What a worker that is ended leaves in its folder for temporary files goes away with the pool.
        _folders[workers] = tempfile.TemporaryDirectory(prefix="storyloom-", ignore_cleanup_errors=True)
        start = os.getpid(), _folders[workers].name
        _pools[workers] = ProcessPoolExecutor(workers, context, prepare_process, start)
    with _quick_start():
        return _pools[workers].submit(compute_shard, stage, task, lake)


@contextmanager
def _quick_start() -> Iterator[None]:
    """Start workers with one thread for each library, and without importing this program's main module.

    A worker would otherwise run Dagster's command line module once more, a second for each process.
    """
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name, None) for name in ("__spec__", "__file__")}
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    try:
        os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
        main.__spec__ = None
        if hidden["__file__"] is not None:
            del main.__file__
        yield
    finally:
        main.__spec__ = hidden["__spec__"]
        if hidden["__file__"] is not None:
            main.__file__ = hidden["__file__"]
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _discard(workers: int) -> None:
    pool = _pools.pop(workers, None)
    if pool is None:
        return
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join(_SECONDS_TO_DIE)
    _folders.pop(workers).cleanup()


def _discard_all() -> None:
    for workers in list(_pools):
        _discard(workers)


# Dagster's UI runs in a child of `multiprocessing`, which knows no `atexit`, but calls these before it waits for its own
# children: without, it would wait for its workers for ever.
Finalize(None, _discard_all, exitpriority=100)


def available_cores(cpu_max: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores that this process may use: a task set's or a container's share, not the machine's.

    `cpu_max` is the file in which Linux says how much of the processors' time a container gets (control groups, version 2).
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = cpu_max.read_text().split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(min(cores, math.ceil(int(quota) / int(period))), 1)
