"""The engine of a single machine: a pool of processes, one shard each at a time."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

from pipelines.stage import Stage
from resources.build import HEARTBEAT, ShardReport, ShardTask
from resources.engines.worker import compute_shard, fail_shard, prepare_process
from resources.lake import Lake

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PRELOAD = ["numpy", "cv2", "PIL.Image", "pyarrow.parquet", "resources.engines.worker"]
_pools: dict[int, ProcessPoolExecutor] = {}


@dataclass(frozen=True)
class LocalEngine:
    """Runs shards in `workers` processes (None: one for each core that this process may use)."""

    workers: int | None = None

    def run(self, stage: Stage, tasks: list[ShardTask], lake: Lake) -> Iterator[ShardReport | None]:
        """Report each shard as it ends. A worker that dies takes no other shard with it."""
        workers = self.workers or available_cores()
        queue = deque(tasks)
        try:
            while queue:
                suspects = yield from _run_pool(workers, queue, stage, lake)
                for task in suspects:
                    yield _run_alone(task, stage, lake)
        except BaseException:
            # The run was cancelled: what the workers are still at is not wanted.
            _discard(workers)
            raise


def _run_pool(
    workers: int, queue: deque[ShardTask], stage: Stage, lake: Lake
) -> Generator[ShardReport | None, None, list[ShardTask]]:
    """Work through the queue; returns the shards that were in flight when a worker died (none when all went well)."""
    flying: dict[Future[ShardReport], ShardTask] = {}
    try:
        while queue or flying:
            # Twice as many as workers: none waits for work, and few are under suspicion when one dies.
            while queue and len(flying) < 2 * workers:
                future = _submit(workers, stage, queue[0], lake)
                flying[future] = queue.popleft()
            done, _ = wait(flying, HEARTBEAT, FIRST_COMPLETED)
            if not done:
                yield None
            for future in done:
                report = future.result()
                del flying[future]
                yield report
    except BrokenProcessPool:
        _discard(workers)
        return list(flying.values())
    return []


def _run_alone(task: ShardTask, stage: Stage, lake: Lake) -> ShardReport:
    """Run a shard that was in flight when a worker died: if its worker dies again, it is the culprit."""
    try:
        return _submit(1, stage, task, lake).result()
    except BrokenProcessPool:
        _discard(1)
        message = (
            "the worker process died (out of memory, or a crash inside a library); "
            "lower the profile's workers or its size limits, or take the item out"
        )
        return fail_shard(stage, task, lake, "worker_died", message)


def _submit(workers: int, stage: Stage, task: ShardTask, lake: Lake) -> Future[ShardReport]:
    if workers not in _pools:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOAD)
        _pools[workers] = ProcessPoolExecutor(workers, context, prepare_process, (os.getpid(),))
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
