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

from pipelines.errors import ItemError, ModelMissingError, ServiceError, SettingsError, StopStage
from resources.chat.client import ChatClient, Question, encoded, loop
from resources.chat.prices import input_tokens
from resources.chat.spending import Spending
from resources.chat.wire import Call, MediaFile
from resources.lake import Lake

T = TypeVar("T")

_FOLDER = "_chat/batches"
_MOST_REQUESTS = 20_000
_OVERHEAD = 1.4
"""A picture is a third longer as base64, words have escapes."""
_AROUND = 500
"""Bytes of JSON that stand around the words and pictures of a request."""
_MARGIN = 1.25
"""How far our own count of tokens may be off: a job's real ones are known only when it is paid."""


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
            try:
                job = record["job"] or _wait(self.client.find_batch(name))
                if job is None:  # killed before it was submitted
                    self._forget(name)
                    continue
                state = _wait(self.client.look_at_batch(job))
                if state.state == "done":
                    _wait(self._keep(job, record))
            except StopStage as error:
                remedy = f"{error.remedy} If the service has lost the job, delete {_FOLDER}/{name}.json in the lake."
                raise StopStage(error.what, where=name, remedy=remedy.strip()) from None
            if state.state == "running":
                running.append(name)
                continue
            self._forget(name)
            if state.state == "failed":
                raise StopStage(f"the batch job failed: {state.message}", where=f"{name}, {job}",
                                remedy="Mend what it names, then run again: its requests are submitted anew.")  # fmt: skip
        return running

    def _forget(self, name: str) -> None:
        self.store.delete(f"{_FOLDER}/{name}.json")

    def add(self, question: Question[Any]) -> None:
        """Take a request for the next job; a full job goes out at once."""
        price, request = self.client.price, question.request
        tokens = input_tokens(request, price)
        with self._lock:
            if self.run.budget is not None:
                if price is None:
                    raise StopStage(f"the run has a budget, but the price of {self.client.model} is not known",
                                    remedy="Add it to the profile's file of prices.")  # fmt: skip
                most = price.dollars(tokens * _MARGIN, request.max_tokens, batch=True)
                if self.run.dollars + self._committed + most > self.run.budget:
                    self.beyond_budget += 1
                    return
                self._committed += most
            try:
                call = encoded(question)
            except ItemError:  # the stage meets it again, and says it, when it is computed
                return
            size = _size(call)
            if self._waiting and self._bytes + size > self.client.batch_bytes:
                self._submit()
            self._waiting.append((question.key, request.prompt, call))
            self._bytes += size
            if len(self._waiting) >= _MOST_REQUESTS:
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
        calls = [(key, call) for key, _, call in self._waiting]
        self._waiting, self._bytes = [], 0.0
        try:
            job = _wait(self.client.submit_batch(name, calls))
        except (ServiceError, SettingsError, ModelMissingError) as error:
            # Whether the service has the job is not known: the record stays, and the next run looks for it by name.
            raise StopStage(f"a batch job could not be submitted: {error.what}", where=error.where,
                            remedy=error.remedy) from None  # fmt: skip
        self._write(name, record | {"job": job})
        self.submitted += len(calls)

    async def _keep(self, job: str, record: dict[str, Any]) -> None:
        prompts = dict(record["asked"])
        for key, reply in await self.client.batch_results(job, list(prompts)):
            # A provider may send anything: only what was asked in this job is taken, and once.
            prompt = prompts.pop(key, None)
            if prompt is not None:
                tokens = reply.input_tokens, reply.output_tokens
                self.run.paid(self.client.model, self.client.price, 0.0, tokens[0], tokens, batch=True)
                await asyncio.to_thread(self.client.keep, key, prompt, reply)

    def _records(self) -> dict[str, dict[str, Any]]:
        found = {}
        mine = {"provider": self.client.provider, "model": self.client.model, "table": self.table}
        for path in self.store.files(_FOLDER):
            try:
                record = json.loads(self.store.get(f"{_FOLDER}/{path}") or b"{}")
                is_mine = {name: record[name] for name in mine} == mine and {"job", "asked"} <= record.keys()
            except (ValueError, TypeError, KeyError, AttributeError):
                raise StopStage("the record of a batch job is damaged", where=f"{_FOLDER}/{path}",
                                remedy="Restore it, or delete it to submit its requests anew.") from None  # fmt: skip
            if is_mine:
                found[path.removesuffix(".json")] = record
        return found

    def _write(self, name: str, record: dict[str, Any]) -> None:
        self.store.put(f"{_FOLDER}/{name}.json", json.dumps(record).encode())


def _size(call: Call) -> float:
    """About how many bytes a request takes as JSON."""
    parts = [part for turn in call.turns for part in turn.parts]
    words = [call.instruction, json.dumps(call.schema), *(part for part in parts if isinstance(part, str))]
    media = sum(len(part.data) for part in parts if isinstance(part, MediaFile))
    return _OVERHEAD * (media + sum(len(text.encode()) for text in words)) + _AROUND


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, loop()).result()
