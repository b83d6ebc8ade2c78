"""Gemini's protocol by the `google-genai` SDK."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from pipelines.errors import SettingsError
from resources.chat.services import checked_url, failed, read_key, safe_text, secrets_of, shown
from resources.chat.wire import BatchJob, Call, CallFailed, MediaFile, Reply

T = TypeVar("T")

_BAD_REQUEST = (400, 413, 422)
_INVALID_ARGUMENT = 3
_RETRY_DELAY = re.compile(r"'retryDelay': '([0-9.]+)s'")
"""How long to wait stands in the body of an error, not in a header."""
_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR",
             "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}  # fmt: skip
_DONE = {"JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_EXPIRED", "JOB_STATE_CANCELLED"}
# As in `openai_service`: nothing that logs a request with its headers gets to speak.
for _name in ("google_genai", "google_genai.models", "httpx2", "httpcore2", "httpx", "httpcore"):
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
        try:
            types.GenerateContentConfig(**self._parameters)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            raise SettingsError(f"the model's `parameters` are not valid: {faults}", where=model) from None
        key = read_key(key_variable, checked_url(base_url))
        self._secrets, self._timeout = secrets_of(key), timeout
        options = types.HttpOptions(base_url=base_url or None, api_version="v1beta", timeout=round(timeout * 1000))
        self._client = genai.Client(vertexai=False, api_key=key or "none", http_options=options).aio

    async def call(self, call: Call) -> Reply:
        """One generated content."""
        try:
            # The SDK's own limit is for each piece of the reply: a server that drips would hold the call for ever.
            async with asyncio.timeout(self._timeout):
                done = await self._client.models.generate_content(
                    model=self._model, contents=_contents(call), config=self._config(call)
                )
        except errors.APIError as error:
            if error.code in _BAD_REQUEST and not self._is_about_key(error):
                return Reply("request_refused", self._words(error))
            raise self._error(error) from None
        except Exception as error:  # the HTTP library's own errors pass through the SDK as they are
            raise self._error(error) from None
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
        tokens = max(usage.prompt_token_count or 0 if usage else 0, 0), max(spent, 0)
        feedback = done.prompt_feedback
        if feedback and feedback.block_reason:
            return Reply("refused", f"the request was blocked: {_name_of(feedback.block_reason)}", *tokens)
        candidate = done.candidates[0] if done.candidates else types.Candidate()
        if candidate.content is None and candidate.finish_reason is None:
            raise CallFailed("the reply has no candidate")
        parts = (candidate.content.parts or []) if candidate.content else []
        text = safe_text("".join(part.text or "" for part in parts if not part.thought), self._secrets)
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
        config = types.CreateBatchJobConfig(display_name=name)
        batch = await self._tried(self._client.batches.create(model=self._model, src=requests, config=config))
        return batch.name or ""

    async def find(self, name: str) -> str | None:
        """Look through the account's batches for the one of that display name."""

        async def look() -> str | None:
            async for batch in await self._client.batches.list(config=types.ListBatchJobsConfig(page_size=100)):
                if batch.display_name == name:
                    return batch.name
            return None

        return await self._tried(look())

    async def look(self, job: str) -> BatchJob:
        """The state of a batch; an expired one is done as far as it got."""
        batch = await self._tried(self._client.batches.get(name=job))
        state = _name_of(batch.state)
        if state in _DONE:
            return BatchJob(job, "done")
        if state == "JOB_STATE_FAILED":  # why, the SDK leaves out
            return BatchJob(job, "failed", shown((batch.error.message if batch.error else "") or state, self._secrets))
        return BatchJob(job, "running", state)

    async def results(self, job: str, keys: Sequence[str]) -> list[tuple[str, Reply]]:
        """The inlined responses, each with the key of its request."""
        batch = await self._tried(self._client.batches.get(name=job))
        responses = (batch.dest.inlined_responses or []) if batch.dest else []
        found = []
        for place, response in enumerate(responses):
            # Without a key of its own a response belongs to the request at its place, if all are there.
            key = (response.metadata or {}).get("key") or (keys[place] if len(keys) == len(responses) else "")
            if response.error is not None and response.error.code in (_INVALID_ARGUMENT, *_BAD_REQUEST):
                found.append((key, Reply("request_refused", shown(response.error.message or "", self._secrets))))
            elif response.response is not None:
                try:
                    found.append((key, self._reply(response.response)))
                except CallFailed:
                    continue
        return found

    async def _tried(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except Exception as error:
            raise self._error(error) from None

    def _words(self, error: errors.APIError) -> str:
        return shown(str(error.message or error.status or ""), self._secrets)

    def _is_about_key(self, error: errors.APIError) -> bool:
        """A wrong key is a bad request here, as a picture that cannot be read is."""
        words = f"{error.message} {error.details}".lower()
        return "api key" in words or "api_key" in words

    def _error(self, error: Exception) -> Exception:
        if isinstance(error, errors.APIError):
            code = 401 if error.code in _BAD_REQUEST and self._is_about_key(error) else error.code or 500
            headers = dict(getattr(error.response, "headers", None) or {})
            headers = {name.lower(): value for name, value in headers.items()}
            if "retry-after" not in headers and (delay := _RETRY_DELAY.search(str(error.details))):
                headers["retry-after"] = delay[1]
            return failed(code, self._words(error), headers, self._key_variable)
        if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
            return CallFailed("the service took too long")
        return CallFailed(shown(f"{type(error).__name__}: {error}", self._secrets))


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
