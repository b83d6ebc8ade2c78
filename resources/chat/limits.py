"""How fast a service is asked: requests in flight and a minute, pauses, another try, and when to give up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pipelines.errors import ServiceError, StopStage
from resources.chat.wire import CallFailed

T = TypeVar("T")
Stopped = Callable[[], StopStage | None]
"""Why the run makes no further call; None while it may."""

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_LONGEST_RETRY_AFTER = 600.0
_BREAKER = 5
"""Calls that used up all of their tries, with none answered between them, after which the service counts as down. Single
failures do not count: a moment's overload fails all calls in flight at once."""
_LONGEST_SLEEP = 0.5
"""Seconds after which a waiting call looks whether the run was stopped."""


def _never() -> None:
    return None


@dataclass
class Limits:
    """The pace at which one client asks. Used from one event loop.

    `tries` counts the first call too; seconds between them double from one to a minute, half of each drawn at random.
    What the service says in Retry-After counts instead, and holds for all calls of the client.
    """

    in_flight: int
    per_minute: int | None
    tries: int
    _slots: asyncio.Semaphore = field(init=False, repr=False)
    _next: float = 0.0
    _unanswered: int = 0

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.in_flight)

    async def call(self, send: Callable[[], Awaitable[T]], service: str, stopped: Stopped = _never) -> T:
        """What `send` returns, at the pace of the limits and after as many tries as they allow.

        Raises `ServiceError` when the tries are used up, `StopStage` when the service counts as down or the run was
        stopped while the call waited.
        """
        async with self._slots:
            for tried in range(1, self.tries + 1):
                await self._turn(stopped)
                if stop := stopped():
                    raise stop
                try:
                    result = await send()
                except CallFailed as failed:
                    if tried == self.tries:
                        raise self._given_up(failed, service) from None
                    await self._rest(failed, tried, stopped)
                else:
                    self._unanswered = 0
                    return result
        raise AssertionError("the last try returns or raises")

    def _given_up(self, failed: CallFailed, service: str) -> ServiceError | StopStage:
        self._unanswered += 1
        if self._unanswered < _BREAKER:
            what = f"no answer in {self.tries} tries; the last: {failed.what}"
            return ServiceError(what, where=service, remedy="Run again later: replies so far are kept.")
        self._unanswered = 0  # a later run of this process looks for itself
        return StopStage(
            f"{_BREAKER} calls in a row had no answer in {self.tries} tries, so no more are made; the last: {failed.what}",
            where=service,
            remedy="Check that the service runs and that its address is right, then run again: replies so far are kept.",
        )

    async def _rest(self, failed: CallFailed, tried: int, stopped: Stopped) -> None:
        """Wait before the next try, as long as the service says or as the number of tries says."""
        if failed.retry_after:
            # No call of this client begins before: the others would be sent away as well.
            self._next = max(self._next, _now() + min(failed.retry_after, _LONGEST_RETRY_AFTER))
            return
        # Half of the pause is drawn, so that calls that failed together do not come back together.
        pause = min(_FIRST_PAUSE * 2 ** (tried - 1), _LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        end = _now() + pause
        await _sleep(lambda: end, stopped)

    async def _turn(self, stopped: Stopped) -> None:
        """Wait until a call may begin. With a rate, calls begin at even distances; a whole minute's at once never."""
        await _sleep(lambda: self._next, stopped)
        if self.per_minute:
            self._next = max(self._next, _now()) + 60 / self.per_minute


async def _sleep(until: Callable[[], float], stopped: Stopped) -> None:
    while (left := until() - _now()) > 0 and not stopped():
        await asyncio.sleep(min(left, _LONGEST_SLEEP))


def _now() -> float:
    return asyncio.get_running_loop().time()
