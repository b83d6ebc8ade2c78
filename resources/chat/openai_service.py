"""OpenAI's protocol by the `openai` SDK: OpenAI itself, and every server that speaks it (vLLM, SGLang, llama.cpp)."""

from __future__ import annotations

import base64
import io
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import openai

from pipelines.errors import SettingsError
from resources.chat.services import checked_url, failed, read_key, safe_text, shown
from resources.chat.wire import BatchJob, Call, CallFailed, MediaFile, Reply, schema_words

_BAD_REQUEST = (400, 413, 415, 422)
_STRUCTURED = ("schema", "object", "none")
_ENDED = {"completed", "expired", "cancelled"}
# The SDK logs requests with their headers when its level is low; ours stays above, whatever the root's is.
for _name in ("openai", "httpx2", "httpcore2"):
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
        self._key = read_key(key_variable, checked_url(base_url))
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none", base_url=base_url or None, max_retries=0, timeout=timeout
        )

    async def call(self, call: Call) -> Reply:
        """One chat completion."""
        try:
            done = await self._client.chat.completions.create(**self._body(call))
        except openai.APIStatusError as error:
            words = shown(error.message, self._key)
            if error.status_code in _BAD_REQUEST:
                return Reply("request_refused", words)
            raise failed(error.status_code, words, error.response.headers, self._key_variable) from None
        except openai.APITimeoutError:
            raise CallFailed("the service took too long") from None
        except openai.OpenAIError as error:
            raise CallFailed(shown(f"{type(error).__name__}: {error}", self._key)) from None
        except ValueError as error:  # the body of a reply that is no JSON
            raise CallFailed(shown(f"the reply is no JSON: {error}", self._key)) from None
        return self._reply(done.model_dump() if isinstance(done, openai.BaseModel) else None)

    def _body(self, call: Call) -> dict[str, Any]:
        """The request; OpenAI takes `max_completion_tokens`, most other servers know `max_tokens` alone."""
        instruction = call.instruction
        body: dict[str, Any] = {"model": self._model, **self._parameters}
        body["max_completion_tokens" if self._is_openai else "max_tokens"] = call.max_tokens
        if self._structured == "schema":
            schema = {"name": call.schema_name, "schema": call.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            instruction = f"{instruction}\n\n{schema_words(call)}"
            if self._structured == "object":
                body["response_format"] = {"type": "json_object"}
        messages: list[dict[str, Any]] = [{"role": "system", "content": instruction}]
        for turn in call.turns:
            if turn.by_model:
                messages.append({"role": "assistant", "content": "".join(p for p in turn.parts if isinstance(p, str))})
            else:
                messages.append({"role": "user", "content": [_part(part) for part in turn.parts]})
        return body | {"messages": messages}

    def _reply(self, done: Mapping[str, Any] | None) -> Reply:
        """The reply in a completion, which may be anything that a server could send."""
        usage = (done or {}).get("usage") or {}
        tokens = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
        choices = (done or {}).get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise CallFailed("the reply is no chat completion")
        message = choices[0].get("message") or {}
        refusal, text, reason = message.get("refusal"), message.get("content"), choices[0].get("finish_reason")
        if refusal or reason == "content_filter":
            return Reply("refused", safe_text(str(refusal or "stopped by the content filter"), self._key), *tokens)
        text = safe_text(text if isinstance(text, str) else "", self._key)
        if reason == "length":
            return Reply("cut_off", text, *tokens)
        return Reply("answered" if text.strip() else "empty", text, *tokens)

    async def submit(self, name: str, calls: Sequence[tuple[str, Call]]) -> str:
        """Upload the requests as a file and start a batch of them, named in its metadata."""
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": self._body(call)})
            for key, call in calls
        ]
        try:
            data = io.BytesIO("\n".join(lines).encode())
            file = await self._client.files.create(file=(f"{name}.jsonl", data), purpose="batch")
            batch = await self._client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"storyloom": name},
            )
        except openai.OpenAIError as error:
            raise self._batch_error(error) from None
        return batch.id

    async def find(self, name: str) -> str | None:
        """Look through the account's batches, newest first, for the one of that name."""
        try:
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get("storyloom") == name:
                    return batch.id
        except openai.OpenAIError as error:
            raise self._batch_error(error) from None
        return None

    async def look(self, job: str) -> BatchJob:
        """The state of a batch; an expired one is done as far as it got."""
        try:
            batch = await self._client.batches.retrieve(job)
        except openai.OpenAIError as error:
            raise self._batch_error(error) from None
        if batch.status in _ENDED:
            return BatchJob(job, "done")
        if batch.status == "failed":
            faults = (batch.errors.data or []) if batch.errors else []
            return BatchJob(job, "failed", shown("; ".join(fault.message or "" for fault in faults), self._key))
        return BatchJob(job, "running", str(batch.status))

    async def results(self, job: str, keys: Sequence[str]) -> AsyncIterator[tuple[str, Reply]]:
        """The lines of the output file, and of the error file those whose request was refused."""
        try:
            batch = await self._client.batches.retrieve(job)
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                content = await self._client.files.content(file)
                for line in content.text.splitlines():
                    found = self._result(line)
                    if found:
                        yield found
        except openai.OpenAIError as error:
            raise self._batch_error(error) from None

    def _result(self, line: str) -> tuple[str, Reply] | None:
        try:
            row = json.loads(line)
            key, response = str(row["custom_id"]), row.get("response") or {}
            status, body = response.get("status_code"), response.get("body")
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        if status in _BAD_REQUEST:
            return key, Reply("request_refused", shown(json.dumps(body), self._key))
        try:
            return (key, self._reply(body)) if status == 200 else None
        except CallFailed:
            return None

    def _batch_error(self, error: openai.OpenAIError) -> Exception:
        if isinstance(error, openai.APIStatusError):
            words = shown(error.message, self._key)
            return failed(error.status_code, words, error.response.headers, self._key_variable)
        return CallFailed(shown(f"{type(error).__name__}: {error}", self._key))


def _part(part: str | MediaFile) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    url = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"
    kind = "video_url" if part.media_type.startswith("video/") else "image_url"
    return {"type": kind, kind: {"url": url}}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
