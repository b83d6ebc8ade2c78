"""Chat models by the name of their protocol: the client of `resources.chat` on the service that a profile names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipelines.errors import SettingsError
from resources.chat.cache import ReplyCache
from resources.chat.client import ChatClient
from resources.chat.prices import load_prices
from resources.chat.wire import Service
from resources.lake import Lake
from resources.models.registry import clear_errors

IS_REMOTE = True


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """What rows say of a chat model, before the version of the prompt: `openai/gpt-5.4-mini`."""
    if not options.get("model"):
        raise SettingsError(f"the adapter {adapter} needs to know which model", remedy="Add `options: {model: ...}`.")
    return f"{adapter}/{options['model']}"


def openai_chat(
    model: str,
    parameters: Mapping[str, Any] | None = None,
    structured: str = "schema",
    *,
    base_url: str = "",
    key_variable: str = "OPENAI_API_KEY",
    timeout: float = 120.0,
    **pace: Any,
) -> ChatClient:
    """A model of OpenAI, or of a server with its protocol at `base_url`. `pace` is `_client`'s.

    Without `parameters`, a server's model is asked at temperature 0; OpenAI's newer models refuse any temperature.
    """
    parameters = ({"temperature": 0} if base_url else {}) if parameters is None else parameters

    def service() -> Service:
        with clear_errors("the extra `chat`"):
            from resources.chat.openai_service import OpenAIService

        return OpenAIService(
            model, base_url=base_url, key_variable=key_variable, timeout=timeout, parameters=parameters,
            structured=structured,
        )  # fmt: skip

    settings = {"parameters": dict(parameters), "structured": structured}
    return _client(service, "openai", model, settings, base_url=base_url, **pace)


def gemini_chat(
    model: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    base_url: str = "",
    key_variable: str = "GEMINI_API_KEY",
    timeout: float = 120.0,
    **pace: Any,
) -> ChatClient:
    """A Gemini model; without `parameters` it is asked at temperature 0. `pace` is `_client`'s."""
    parameters = {"temperature": 0} if parameters is None else parameters

    def service() -> Service:
        with clear_errors("the extra `chat`"):
            from resources.chat.gemini_service import GeminiService

        return GeminiService(
            model, base_url=base_url, key_variable=key_variable, timeout=timeout, parameters=parameters
        )

    return _client(service, "gemini", model, {"parameters": dict(parameters)}, base_url=base_url, **pace)


def _client(
    service: Callable[[], Service],
    provider: str,
    model: str,
    settings: dict[str, Any],
    *,
    replies: str = "lake",
    prices: str = "",
    base_url: str = "",
    in_flight: int = 16,
    per_minute: int | None = None,
    tries: int = 6,
    batch: bool = False,
) -> ChatClient:
    """The client: replies are kept in the lake `replies`, prices are those of a file over the ones that ship here."""
    if min(in_flight, tries, 1 if per_minute is None else per_minute) < 1:
        raise SettingsError("`in_flight`, `per_minute` and `tries` are whole numbers of at least 1", where=model)
    return ChatClient(
        service,
        provider=provider,
        model=model,
        settings=settings,
        kept=ReplyCache(Lake(replies)),
        prices=load_prices(prices),
        in_flight=in_flight,
        per_minute=per_minute,
        tries=tries,
        base_url=base_url,
        batch=batch,
    )
