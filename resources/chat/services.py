"""What all services share: keys from the environment, words of a server made safe to show, and how long it wants to rest."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from pipelines.errors import SettingsError, StopStage
from resources.chat.wire import CallFailed

_SHOWN = 400
_MARKS_OF_KEYS = re.compile(r"(?i)\b(bearer\s+|(?:api[-_ ]?key|authorization)[\"']?\s*[:=]\s*[\"']?)[^\s\"']{8,}")
_SECRET = re.compile(r"(?i)(key|token|secret|password)$")
_SENT_BY_SDK = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Variables that the SDK reads by itself and sends as headers."""
_SHORTEST_SECRET = 8
_NO_CREDIT = re.compile(r"insufficient_quota|billing_not_active|billing_hard_limit")


def read_key(variable: str, base_url: str) -> str:
    """The service's key from the environment; servers with an address of their own may go without.

    Raises `StopStage` that names the variable when the service needs a key and there is none.
    """
    key = os.environ.get(variable, "").strip()
    if not key and not base_url:
        remedy = f"Set {variable} in the environment, or `base_url` to a server that needs no key."
        raise StopStage("the chat service needs a key", where=variable, remedy=remedy)
    return key


def secrets_of(key: str) -> tuple[str, ...]:
    """What a server might send back and nobody may see: the key, and what the environment calls a secret or sends along."""
    found = {key} if len(key) >= 4 else set()
    for name, value in os.environ.items():
        if _SECRET.search(name):
            found.add(value.strip())
        elif name in _SENT_BY_SDK:
            found |= {line.rpartition(":")[2].strip() for line in value.splitlines()}
    # The longest first: one may be the start of another.
    return tuple(sorted((s for s in found if s == key or len(s) >= _SHORTEST_SECRET), key=lambda s: (-len(s), s)))


def checked_url(base_url: str) -> str:
    """The address as it is; raises `SettingsError` when it is none or holds more than an address, which logs would show."""
    if not base_url:
        return ""
    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address, parts = False, urlsplit("")
    if not is_address:
        raise SettingsError("`base_url` is no http address", remedy="Write http://host:port/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        remedy = "Put the key in the environment and name its variable in `key_variable`."
        raise SettingsError("`base_url` holds more than an address", where=parts.hostname or "", remedy=remedy)
    return base_url


def safe_text(text: str, secrets: Sequence[str]) -> str:
    """What a server said, without secrets, and without lone surrogates that no file takes."""
    text = text.encode("utf-8", "backslashreplace").decode()
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text


def shown(text: str, secrets: Sequence[str]) -> str:
    """An error's words in one line that is short enough for a message and shows no key."""
    return _MARKS_OF_KEYS.sub(r"\1[key]", " ".join(safe_text(text, secrets).split()))[:_SHOWN]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date; None without."""
    try:
        return max(float(headers["retry-after-ms"]) / 1000, 0.0)
    except (KeyError, ValueError):
        pass
    said = (headers.get("retry-after") or "").strip()
    try:
        return max(float(said), 0.0)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(said)
    except (ValueError, TypeError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def failed(
    status: int, words: str, headers: Mapping[str, str], key_variable: str, code: str = ""
) -> CallFailed | StopStage:
    """The error of a call that the server refused for a reason that does not lie in the request itself.

    `code` is the service's own word for the error.
    """
    if status in (401, 403):
        remedy = f"Check the key in {key_variable}."
        return StopStage(f"the service refuses the key ({status}): {words}", where=key_variable, remedy=remedy)
    if status == 404:
        return StopStage(f"the service knows no such model or address (404): {words}",
                         remedy="Check `model` and `base_url` in the profile.")  # fmt: skip
    if status == 402 or _NO_CREDIT.search(code):
        return StopStage(f"the account has no credit left ({status}): {words}", where=key_variable)
    return CallFailed(f"status {status}: {words}", retry_after(headers))
