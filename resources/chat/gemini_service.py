"""Gemini's protocol by the `google-genai` SDK."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from google import genai
from google.genai import errors, types

from resources.chat.services import checked_url, failed, read_key, safe_text, shown
from resources.chat.wire import BatchJob, Call, CallFailed, MediaFile, Reply

_BAD_REQUEST = (400, 413, 422)
_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR",
             "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}  # fmt: skip
_DONE = {"JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_EXPIRED", "JOB_STATE_CANCELLED"}
for _name in ("google_genai", "google_genai.models", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class GeminiService:
    """`resources.chat.wire.Service` for one Gemini model."""

    provider = "gemini"
    batch_bytes = 14 * 2**20

    def __init__(
        self, model: str, *, base_url: str = "", key_variable: str = "GEMINI_API_KEY", timeout: float = 120.0,
        parameters: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self._model, self._parameters, self._key_variable = model, dict(parameters), key_variable
        self._key = read_key(key_variable, checked_url(base_url))
        options = types.HttpOptions(base_url=base_url or None, api_version="v1beta", timeout=round(timeout * 1000))
        self._client = genai.Client(vertexai=False, api_key=self._key or "none", http_options=options).aio

    async def call(self, call: Call) -> Reply:
        """One generated content."""
        try:
            done = await self._client.models.generate_content(
                model=self._model, contents=_contents(call), config=self._config(call)
            )
        except errors.APIError as error:
            words = shown(error.message or str(error.status or ""), self._key)
            # A wrong key is a bad request here, as a picture that cannot be read is.
            if error.code in _BAD_REQUEST and "api key" not in words.lower() and "API_KEY" not in words:
                return Reply("request_refused", words)
            headers = getattr(error.response, "headers", None) or {}
            raise failed(401 if error.code in _BAD_REQUEST else error.code or 500, words, headers,
                         self._key_variable) from None  # fmt: skip
        except TimeoutError:
            raise CallFailed("the service took too long") from None
        except Exception as error:  # the HTTP library's own errors pass through the SDK as they are
            raise CallFailed(shown(f"{type(error).__name__}: {error}", self._key)) from None
        return self._reply(done)

    def _config(self, call: Call) -> types.GenerateContentConfig:
        fields = {
            "system_instruction": call.instruction,
            "max_output_tokens": call.max_tokens,
            "response_mime_type": "application/json",
            "response_json_schema": call.schema,
        }
        return types.GenerateContentConfig(**fields | self._parameters)

    def _reply(self, done: types.GenerateContentResponse) -> Reply:
        usage = done.usage_metadata
        # Thoughts are paid like the words that follow them.
        spent = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage else 0
        tokens = (usage.prompt_token_count or 0 if usage else 0), spent
        feedback = done.prompt_feedback
        if feedback and feedback.block_reason:
            return Reply("refused", f"the request was blocked: {_name_of(feedback.block_reason)}", *tokens)
        if not done.candidates:
            raise CallFailed("the reply has no candidate")
        candidate = done.candidates[0]
        parts = (candidate.content.parts or []) if candidate.content else []
        text = safe_text("".join(part.text or "" for part in parts if not part.thought), self._key)
        reason = _name_of(candidate.finish_reason)
        if reason in _REFUSALS:
            return Reply("refused", text or f"stopped: {reason}", *tokens)
        if reason == "MAX_TOKENS":
            return Reply("cut_off", text, *tokens)
        return Reply("answered" if text.strip() else "empty", text, *tokens)

    async def submit(self, name: str, calls: Sequence[tuple[str, Call]]) -> str:
        """Start a batch of inlined requests under that display name; its replies come in the order of the requests."""
        requests = [
            types.InlinedRequest(contents=_contents(call), config=self._config(call), metadata={"key": key})
            for key, call in calls
        ]
        try:
            batch = await self._client.batches.create(
                model=self._model, src=requests, config=types.CreateBatchJobConfig(display_name=name)
            )
        except errors.APIError as error:
            raise self._batch_error(error) from None
        return batch.name or ""

    async def find(self, name: str) -> str | None:
        """Look through the account's batches for the one of that display name."""
        try:
            async for batch in await self._client.batches.list(config=types.ListBatchJobsConfig(page_size=100)):
                if batch.display_name == name:
                    return batch.name
        except errors.APIError as error:
            raise self._batch_error(error) from None
        return None

    async def look(self, job: str) -> BatchJob:
        """The state of a batch; an expired one is done as far as it got."""
        batch = await self._got(job)
        state = _name_of(batch.state)
        if state in _DONE:
            return BatchJob(job, "done")
        if state == "JOB_STATE_FAILED":
            return BatchJob(job, "failed", shown((batch.error.message if batch.error else "") or "", self._key))
        return BatchJob(job, "running", state)

    async def results(self, job: str, keys: Sequence[str]) -> AsyncIterator[tuple[str, Reply]]:
        """The inlined responses, each with the key of its request."""
        batch = await self._got(job)
        responses = (batch.dest.inlined_responses or []) if batch.dest else []
        for key, response in zip(keys, responses, strict=False):
            key = (response.metadata or {}).get("key", key)
            if response.error is not None and response.error.code in (3, *_BAD_REQUEST):
                yield key, Reply("request_refused", shown(response.error.message or "", self._key))
            elif response.response is not None:
                try:
                    yield key, self._reply(response.response)
                except CallFailed:
                    continue

    async def _got(self, job: str) -> types.BatchJob:
        try:
            return await self._client.batches.get(name=job)
        except errors.APIError as error:
            raise self._batch_error(error) from None

    def _batch_error(self, error: errors.APIError) -> Exception:
        headers = getattr(error.response, "headers", None) or {}
        return failed(error.code or 500, shown(error.message or "", self._key), headers, self._key_variable)


def _contents(call: Call) -> Any:
    return [
        types.Content(role="model" if turn.by_model else "user", parts=[_part(part) for part in turn.parts])
        for turn in call.turns
    ]


def _part(part: str | MediaFile) -> types.Part:
    if isinstance(part, str):
        return types.Part.from_text(text=part)
    return types.Part.from_bytes(data=part.data, mime_type=part.media_type)


def _name_of(value: Any) -> str:
    return str(getattr(value, "name", value) or "")
