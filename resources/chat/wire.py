"""What passes between the client and a service, the same for every protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Outcome = Literal["answered", "refused", "empty", "cut_off", "request_refused"]
"""How a call ended. All but `answered` would end so again, and are kept like answers; `request_refused` means that the
service calls the request itself invalid."""


@dataclass(frozen=True)
class MediaFile:
    """A picture or clip as it is sent."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Turn:
    """One turn of the conversation: the user's parts, or what the model said."""

    by_model: bool
    parts: tuple[str | MediaFile, ...]


@dataclass(frozen=True)
class Call:
    """One request to a service, all media encoded."""

    instruction: str
    turns: tuple[Turn, ...]
    schema_name: str
    schema: Mapping[str, Any]
    max_tokens: int


@dataclass(frozen=True)
class Reply:
    """What came back, and the tokens that were paid for it."""

    outcome: Outcome
    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class CallFailed(Exception):
    """The call had no reply, but may have one later; `retry_after` is in seconds, None where the service said nothing."""

    def __init__(self, what: str, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.what, self.retry_after = what, retry_after


BatchState = Literal["running", "done", "failed"]


@dataclass(frozen=True)
class BatchJob:
    """A provider's batch job: its id there, whether it has ended, and what went wrong with all of it."""

    id: str
    state: BatchState
    message: str = ""


class Service(Protocol):
    """One provider's protocol. Used from one event loop only.

    Raises `CallFailed` for what may pass, `StopStage` for what no retry mends (a key that is refused).
    """

    provider: str
    batch_bytes: int
    """How large a batch job's requests may be together."""

    async def call(self, call: Call) -> Reply:
        """One request and its reply."""
        ...

    async def submit(self, name: str, calls: Sequence[tuple[str, Call]]) -> str:
        """Start a batch job under a name that `find` can find; returns the provider's id of it."""
        ...

    async def find(self, name: str) -> str | None:
        """The id of the job that was submitted under this name; None where there is none."""
        ...

    async def look(self, job: str) -> BatchJob:
        """How far a job is."""
        ...

    async def results(self, job: str, keys: Sequence[str]) -> list[tuple[str, Reply]]:
        """The replies of an ended job by the keys that it was submitted with, in any order; failed ones are left out."""
        ...


def schema_words(call: Call) -> str:
    """The reply's schema in words, for services that do not take one."""
    schema = json.dumps(call.schema, sort_keys=True, ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It has to fit this JSON schema: {schema}"
