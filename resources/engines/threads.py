"""The engine of stages that wait for a service: threads of this process, which share its pace and its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from pipelines.errors import StopStage
from pipelines.stage import Stage
from resources.build import HEARTBEAT, ShardReport, ShardTask
from resources.chat.spending import current_spending
from resources.engines.worker import compute_shard
from resources.lake import Lake

_THREADS = 8
"""Shards at a time; each keeps its own questions in flight, so few are enough to fill a service's pace."""


@dataclass(frozen=True)
class ThreadEngine:
    """Runs shards in threads; `work` does one of them."""

    work: Callable[[Stage, ShardTask, Lake], ShardReport] = compute_shard

    def run(self, stage: Stage, tasks: list[ShardTask], lake: Lake) -> Iterator[ShardReport | str]:
        """Report each shard as it ends. After `StopStage` those that can still end do, then it is raised."""
        stopped: StopStage | None = None
        with ThreadPoolExecutor(_THREADS, "shard") as threads:
            left: set[Future[ShardReport]] = {threads.submit(self.work, stage, task, lake) for task in tasks}
            try:
                while left:
                    done, left = wait(left, HEARTBEAT, FIRST_COMPLETED)
                    if not done:
                        yield ""
                    for future in done:
                        if future.cancelled():
                            continue
                        try:
                            yield future.result()
                        except StopStage as error:
                            stopped = stopped or error
                            for other in left:
                                other.cancel()
            except BaseException:
                # The run was cancelled: no further question is asked, and what was asked is waited for.
                current_spending().stop(StopStage("the run was cancelled"))
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        if stopped:
            raise stopped
