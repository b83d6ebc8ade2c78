"""Batch jobs of a provider: many requests handed over at once, fetched by a later run, at the provider's lower price.

Each job is a record in `<store>/_chat/batches/`, written before the job is submitted and completed after, so that a kill
in between leads to a look for the job by its name and never to a second one. Replies go to the cache, from which the
stage is then computed as if it had asked itself.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pipelines.errors import ItemError, StopStage
from resources.chat.client import ChatClient, Question, encoded, loop
from resources.chat.prices import input_tokens
from resources.chat.spending import Spending
from resources.chat.wire import Call, MediaFile
from resources.lake import Lake

T = TypeVar("T")

_FOLDER = "_chat/batches"
_MOST_REQUESTS = 20_000
_OVERHEAD = 1.4
"""A picture is a third longer as base64, and its words stand around it."""


@dataclass
class BatchJobs:
    """The jobs of one table's stage for one model: fetched first, then what is still missing is submitted."""

    store: Lake
    table: str
    client: ChatClient
    run: Spending
    submitted: int = 0
    """Requests that went out in this run."""
    beyond_budget: int = 0
    """Requests that were not submitted, since the budget does not allow them."""
    _waiting: list[tuple[str, str, Call]] = field(default_factory=list)
    _bytes: float = 0.0
    _committed: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fetch(self) -> list[str]:
        """Put the replies of ended jobs into the cache; returns the names of those that still run.

        Raises `StopStage` when a job failed as a whole: what the provider says must be mended first.
        """
        running = []
        for name, record in sorted(self._records().items()):
            job = record["job"] or _wait(self.client.find_batch(name))
            if job is None:  # killed before it was submitted
                self.store.delete(f"{_FOLDER}/{name}.json")
                continue
            state = _wait(self.client.look_at_batch(job))
            if state.state == "running":
                running.append(name)
                continue
            if state.state == "done":
                _wait(self._keep(job, record))
            self.store.delete(f"{_FOLDER}/{name}.json")
            if state.state == "failed":
                raise StopStage(f"the batch job failed: {state.message}", where=f"{name}, {job}",
                                remedy="Mend what it names, then run again: its requests are submitted anew.")  # fmt: skip
        return running

    def add(self, question: Question[Any]) -> None:
        """Take a request for the next job; a full job goes out at once."""
        price, request = self.client.price, question.request
        tokens = input_tokens(request, price)
        if self.run.budget is not None:
            if price is None:
                raise StopStage(f"the run has a budget, but the price of {self.client.model} is not known",
                                remedy="Add it to the profile's file of prices.")  # fmt: skip
            most = price.dollars(tokens, request.max_tokens, batch=True)
            if self.run.dollars + self._committed + most > self.run.budget:
                self.beyond_budget += 1
                return
            self._committed += most
        try:
            call = encoded(question)
        except ItemError:  # the stage meets it again, and says it, when it is computed
            return
        with self._lock:
            self._waiting.append((question.key, request.prompt, call))
            self._bytes += _OVERHEAD * sum(_size(part) for turn in call.turns for part in turn.parts)
            if len(self._waiting) >= _MOST_REQUESTS or self._bytes >= self.client.batch_bytes:
                self._submit()

    def flush(self) -> None:
        """Submit what is left."""
        with self._lock:
            if self._waiting:
                self._submit()

    def _submit(self) -> None:
        name = f"storyloom-{self.table}-{secrets.token_hex(6)}"
        asked = [[key, prompt] for key, prompt, _ in self._waiting]
        record = {"provider": self.client.provider, "model": self.client.model, "table": self.table, "asked": asked}
        self._write(name, record | {"job": None})
        job = _wait(self.client.submit_batch(name, [(key, call) for key, _, call in self._waiting]))
        self._write(name, record | {"job": job})
        self.submitted += len(self._waiting)
        self._waiting, self._bytes = [], 0.0

    async def _keep(self, job: str, record: dict[str, Any]) -> None:
        prompts = dict(record["asked"])
        async for key, reply in self.client.batch_results(job, list(prompts)):
            # A provider may send anything: only what was asked in this job is taken.
            if key in prompts:
                tokens = reply.input_tokens, reply.output_tokens
                self.run.paid(self.client.model, self.client.price, 0.0, tokens[0], tokens, batch=True)
                await asyncio.to_thread(self.client.keep, key, prompts[key], reply)

    def _records(self) -> dict[str, dict[str, Any]]:
        found = {}
        for path in self.store.files(_FOLDER):
            record = json.loads(self.store.get(f"{_FOLDER}/{path}") or b"{}")
            mine = {"provider": self.client.provider, "model": self.client.model, "table": self.table}
            if mine.items() <= record.items():
                found[path.removesuffix(".json")] = record
        return found

    def _write(self, name: str, record: dict[str, Any]) -> None:
        self.store.put(f"{_FOLDER}/{name}.json", json.dumps(record).encode())


def _size(part: str | MediaFile) -> int:
    return len(part) if isinstance(part, str) else len(part.data)


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, loop()).result()
