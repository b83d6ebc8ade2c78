"""What a run asked of chat models and what it cost: counted as it goes, held under the run's budget.

One `Spending` belongs to a run. Stages that ask a chat model run in threads of the process that drives the run, so one
object sees every call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from pipelines.errors import StopStage
from resources.chat.prices import Price

Mode = Literal["ask", "note"]
"""`ask`: requests are sent. `note`: those that would be sent are counted (and given to `noted`), nothing is."""


@dataclass
class Usage:
    """Totals of one model in one run; `dollars` is None when its price is not known."""

    calls: int = 0
    kept_replies: int = 0
    """Requests whose reply was there already."""
    repairs: int = 0
    """Calls that asked again because a reply did not fit, counted in `calls` too."""
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0


@dataclass
class Spending:
    """The money of one run.

    A call is made only when what it may cost at most still fits under the budget together with all calls in flight, so
    that the budget is not passed. What it may cost is our own count of its tokens, raised by the largest error that this
    count had so far; a model's first call goes alone, since its reply tells how far off the count is.
    """

    budget: float | None = None
    mode: Mode = "ask"
    noted: Callable[[Any, Any], None] | None = None
    """In mode `note`: called with the client and the question of each request that would be sent."""
    usage: dict[str, Usage] = field(default_factory=dict)
    _reserved: float = 0.0
    _margin: float = 1.25
    _unmeasured: dict[str, bool] = field(default_factory=dict)
    """Models without a reply so far; whether their first call is in flight."""
    _stopped: StopStage | None = None
    _used_up: StopStage | None = None
    _seen: set[str] = field(default_factory=set, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def of(self, model: str) -> Usage:
        """The totals of a model."""
        with self._changed:
            return self.usage.setdefault(model, Usage())

    @property
    def dollars(self) -> float:
        """What the run has cost so far, as far as prices are known."""
        return sum(usage.dollars or 0.0 for usage in self.usage.values())

    def kept(self, model: str) -> None:
        """Count a reply that was there already."""
        usage = self.of(model)
        with self._changed:
            usage.kept_replies += 1

    def reserve(self, model: str, price: Price | None, tokens: int, max_tokens: int) -> float:
        """Hold back what a call may cost at most; waits for calls in flight where they hold what it needs.

        Raises `StopStage` when the budget does not allow the call, or cannot be kept since the price is not known.
        """
        if self.budget is None:
            return 0.0
        if price is None:
            remedy = "Add it to the profile's file of prices, or run without a budget."
            self.stop(StopStage(f"the run has a budget, but the price of {model} is not known", remedy=remedy))
        with self._changed:
            while not (self._stopped or self._used_up):
                most = price.dollars(tokens * self._margin, max_tokens) if price else 0.0
                if self.dollars + most > self.budget:
                    self._used_up = self._exhausted(most)
                elif self.dollars + self._reserved + most <= self.budget and not self._unmeasured.get(model):
                    self._unmeasured.setdefault(model, True)
                    self._reserved += most
                    return most
                else:
                    self._changed.wait()
            self._changed.notify_all()
            raise self._stopped or self._used_up or AssertionError

    def _exhausted(self, most: float) -> StopStage:
        spent = f"${self.dollars:.4f} is spent, the next call may cost ${most:.4f}"
        return StopStage(
            f"the budget of ${self.budget:.2f} is used up: {spent}",
            remedy="What was computed and every reply so far is kept. Run again with a larger `budget`, in the run's "
            "configuration or under `chat` in the profile, to go on from there.",
        )

    def note(self, model: str, price: Price | None, key: str, tokens: int, expected: int) -> bool:
        """Count a request that would be sent; False when one of the same key was counted before."""
        with self._changed:
            is_new = key not in self._seen
            self._seen.add(key)
        if is_new:
            self.paid(model, price, 0.0, tokens, (tokens, expected))
        else:
            self.kept(model)
        return is_new

    def stop(self, error: StopStage) -> None:
        """Let no further call begin, in any thread of the run."""
        with self._changed:
            self._stopped = self._stopped or error
            self._changed.notify_all()

    @property
    def stopped(self) -> StopStage | None:
        """Why no further call may begin; None while they may. A budget that is used up stops none that was allowed before."""
        return self._stopped

    def paid(
        self, model: str, price: Price | None, reserved: float, estimated: int, tokens: tuple[int, int], *,
        batch: bool = False, repair: bool = False,
    ) -> None:  # fmt: skip
        """Count a call that was answered, by the tokens that the service named, and free what was held back for it."""
        usage = self.of(model)
        with self._changed:
            usage.calls += 1
            usage.repairs += repair
            usage.input_tokens += tokens[0]
            usage.output_tokens += tokens[1]
            dollars = price.dollars(*tokens, batch=batch) if price else None
            usage.dollars = None if dollars is None or usage.dollars is None else usage.dollars + dollars
            self._margin = max(self._margin, tokens[0] / max(estimated, 1))
            self._unmeasured[model] = False
            self._release(reserved)

    def unpaid(self, model: str, reserved: float) -> None:
        """Free what was held back for a call that had no reply."""
        with self._changed:
            if self._unmeasured.get(model):
                del self._unmeasured[model]
            self._release(reserved)

    def _release(self, reserved: float) -> None:
        self._reserved = max(self._reserved - reserved, 0.0)
        self._changed.notify_all()


_current: list[Spending] = []


@contextmanager
def spending(run: Spending) -> Iterator[Spending]:
    """Make `run` the one that calls of this process are counted in, while the block lasts."""
    _current.append(run)
    try:
        yield run
    finally:
        _current.remove(run)


def open_spending() -> Spending | None:
    """The innermost run that is being counted."""
    return _current[-1] if _current else None


def current_spending() -> Spending:
    """The same; outside of any, one without a budget whose counts nobody reads."""
    return open_spending() or Spending()
