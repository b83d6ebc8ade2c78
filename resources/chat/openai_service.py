"""OpenAI's protocol by the `openai` SDK: OpenAI itself, and every server that speaks it (vLLM, SGLang, llama.cpp)."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

import openai

from pipelines.errors import SettingsError
from resources.chat.services import checked_url, failed, read_key, safe_text, secrets_of, shown
from resources.chat.wire import BatchJob, Call, CallFailed, MediaFile, Reply, schema_words

T = TypeVar("T")

_BAD_REQUEST = (400, 413, 415, 422)
_ENDPOINT = "/v1/chat/completions"
_STRUCTURED = ("schema", "object", "none")
_ENDED = {"completed", "expired", "cancelled"}
# The SDK logs requests with their headers when its level is low; ours stays above, whatever the root's is.
for _name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class OpenAIService:
    """`resources.chat.wire.Service` for one model.

    `structured` says how the reply's form is asked for: `schema` (the server holds the model to it), `object` (some JSON
    object), `none` (words alone, for servers that know neither).
    """

    provider = "openai"
    batch_bytes = 100 * 2**20

    def __init__(
        self, model: str, *, base_url: str = "", key_variable: str = "OPENAI_API_KEY", timeout: float = 120.0,
        parameters: Mapping[str, Any], structured: str = "schema",
    ) -> None:  # fmt: skip
        if structured not in _STRUCTURED:
            raise SettingsError(f"`structured` is {structured!r}", remedy=f"It can be {', '.join(_STRUCTURED)}.")
        self._model, self._parameters, self._structured = model, dict(parameters), structured
        self._key_variable, self._is_openai = key_variable, not base_url
        key = read_key(key_variable, checked_url(base_url))
        self._secrets, self._timeout = secrets_of(key), timeout
        self._client = openai.AsyncOpenAI(
            api_key=key or "none", base_url=base_url or None, max_retries=0, timeout=timeout
        )

    async def call(self, call: Call) -> Reply:
        """One chat completion."""
        try:
            # The SDK's own limit is for each piece of the reply: a server that drips would hold the call for ever.
            async with asyncio.timeout(self._timeout):
                done = await self._client.chat.completions.create(
                    model=self._model, messages=self._messages(call), extra_body=self._settings(call)
                )  # fmt: skip
        except openai.APIStatusError as error:
            if error.status_code in _BAD_REQUEST:
                return Reply("request_refused", self._words(error))
            raise self._error(error) from None
        except (openai.OpenAIError, ValueError, TimeoutError) as error:
            raise self._error(error) from None
        return self._reply(done.model_dump(warnings=False) if isinstance(done, openai.BaseModel) else None)

    def _settings(self, call: Call) -> dict[str, Any]:
        """The request but for model and messages; what only some servers know may stand in `parameters` too.

        OpenAI takes `max_completion_tokens`, most other servers know `max_tokens` alone.
        """
        settings = {**self._parameters, "max_completion_tokens" if self._is_openai else "max_tokens": call.max_tokens}
        if self._structured == "schema":
            schema = {"name": call.schema_name, "schema": call.schema, "strict": True}
            settings["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self._structured == "object":
            settings["response_format"] = {"type": "json_object"}
        return settings

    def _messages(self, call: Call) -> list[Any]:
        instruction = call.instruction
        if self._structured != "schema":
            instruction = f"{instruction}\n\n{schema_words(call)}"
        messages: list[Any] = [{"role": "system", "content": instruction}]
        for turn in call.turns:
            if turn.by_model:
                messages.append({"role": "assistant", "content": "".join(p for p in turn.parts if isinstance(p, str))})
            else:
                messages.append({"role": "user", "content": [_part(part) for part in turn.parts]})
        return messages

    def _reply(self, done: Any) -> Reply:
        """The reply in a completion, which may be anything that a server could send."""
        done = _mapping(done)
        choices = done.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise CallFailed("the reply is no chat completion")
        usage, message = _mapping(done.get("usage")), _mapping(choices[0].get("message"))
        tokens = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
        refusal, text, reason = message.get("refusal"), message.get("content"), choices[0].get("finish_reason")
        if refusal or reason == "content_filter":
            return Reply("refused", safe_text(str(refusal or "stopped by the content filter"), self._secrets), *tokens)
        text = safe_text(text if isinstance(text, str) else "", self._secrets)
        if reason == "length":
            return Reply("cut_off", text, *tokens)
        return Reply("answered" if text.strip() else "empty", text, *tokens)

    async def submit(self, name: str, calls: Sequence[tuple[str, Call]]) -> str:
        """Upload the requests as a file and start a batch of them, named in its metadata."""
        lines = []
        for key, call in calls:
            body = {"model": self._model, "messages": self._messages(call), **self._settings(call)}
            lines.append(json.dumps({"custom_id": key, "method": "POST", "url": _ENDPOINT, "body": body}))
        data = io.BytesIO("\n".join(lines).encode())
        file = await self._tried(self._client.files.create(file=(f"{name}.jsonl", data), purpose="batch"))
        batch = await self._tried(
            self._client.batches.create(
                input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h", metadata={"storyloom": name}
            )
        )
        return batch.id

    async def find(self, name: str) -> str | None:
        """Look through the account's batches, newest first, for the one of that name."""

        async def look() -> str | None:
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get("storyloom") == name:
                    return batch.id
            return None

        return await self._tried(look())

    async def look(self, job: str) -> BatchJob:
        """The state of a batch; an expired one is done as far as it got."""
        batch = await self._tried(self._client.batches.retrieve(job))
        if batch.status in _ENDED:
            return BatchJob(job, "done")
        if batch.status == "failed":
            faults = (batch.errors.data or []) if batch.errors else []
            return BatchJob(job, "failed", shown("; ".join(fault.message or "" for fault in faults), self._secrets))
        return BatchJob(job, "running", str(batch.status))

    async def results(self, job: str, keys: Sequence[str]) -> list[tuple[str, Reply]]:
        """The lines of the output file, and of the error file those whose request was refused."""
        batch = await self._tried(self._client.batches.retrieve(job))
        found = []
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = await self._tried(self._client.files.content(file))
            found += [self._result(line) for line in content.content.decode("utf-8", "replace").split("\n")]
        return [result for result in found if result]

    def _result(self, line: str) -> tuple[str, Reply] | None:
        try:
            row = json.loads(line)
            key, response = str(row["custom_id"]), _mapping(row["response"])
        except (ValueError, TypeError, KeyError):
            return None
        status, body = response.get("status_code"), response.get("body")
        if status in _BAD_REQUEST:
            return key, Reply("request_refused", shown(json.dumps(body), self._secrets))
        try:
            return (key, self._reply(body)) if status == 200 else None
        except CallFailed:
            return None

    async def _tried(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except (openai.OpenAIError, ValueError) as error:
            raise self._error(error) from None

    def _words(self, error: BaseException) -> str:
        words = error.message if isinstance(error, openai.APIStatusError) else f"{type(error).__name__}: {error}"
        return shown(words, self._secrets)

    def _error(self, error: BaseException) -> Exception:
        if isinstance(error, openai.APIStatusError):
            words, headers = self._words(error), error.response.headers
            return failed(error.status_code, words, headers, self._key_variable, f"{error.code} {error.type}")
        if isinstance(error, (openai.APITimeoutError, TimeoutError)):
            return CallFailed("the service took too long")
        if isinstance(error, ValueError):  # the SDK lets it pass where a body is no JSON
            return CallFailed(shown(f"the reply is no JSON: {error}", self._secrets))
        return CallFailed(self._words(error))


def _part(part: str | MediaFile) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    url = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"
    kind = "video_url" if part.media_type.startswith("video/") else "image_url"
    return {"type": kind, kind: {"url": url}}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
