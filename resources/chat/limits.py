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

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_LONGEST_RETRY_AFTER = 600.0
_BREAKER = 20
"""Calls that fail one after the other, with none answered between them, after which the service counts as down."""


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
    _failures: int = 0
    _broken: str = ""

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.in_flight)

    async def call(self, send: Callable[[], Awaitable[T]], service: str) -> T:
        """What `send` returns, at the pace of the limits and after as many tries as they allow.

        Raises `ServiceError` when the tries are used up, `StopStage` when the service counts as down.
        """
        async with self._slots:
            for tried in range(1, self.tries + 1):
                await self._turn()
                if self._broken:
                    raise StopStage(
                        f"{_BREAKER} calls in a row failed, so no more are made; the last: {self._broken}",
                        where=service,
                        remedy="Check that the service runs and that its address and key are right, then run again: "
                        "replies so far are kept.",
                    )
                try:
                    result = await send()
                except CallFailed as failed:
                    await self._note(failed, tried, service)
                else:
                    self._failures = 0
                    return result
        raise AssertionError("the last try returns or raises")

    async def _note(self, failed: CallFailed, tried: int, service: str) -> None:
        self._failures += 1
        if self._failures >= _BREAKER:
            self._broken = failed.what
        if tried == self.tries:
            raise ServiceError(
                f"no answer in {self.tries} tries; the last: {failed.what}",
                where=service,
                remedy="Run again later: replies so far are kept.",
            ) from None
        if failed.retry_after is not None:
            self._hold(min(failed.retry_after, _LONGEST_RETRY_AFTER))
            return
        pause = min(_FIRST_PAUSE * 2 ** (tried - 1), _LONGEST_PAUSE)
        # Half of the pause is drawn, so that calls that failed together do not come back together.
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))

    def _hold(self, seconds: float) -> None:
        """No call of this client begins in the next seconds."""
        self._next = max(self._next, _now() + seconds)

    async def _turn(self) -> None:
        """Wait until a call may begin. With a rate, calls begin at even distances; a whole minute's at once never."""
        while (wait := self._next - _now()) > 0:
            await asyncio.sleep(wait)
        if self.per_minute:
            self._next = max(self._next, _now()) + 60 / self.per_minute


def _now() -> float:
    return asyncio.get_running_loop().time()
