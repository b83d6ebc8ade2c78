"""What all services share: keys from the environment, words of a server made safe to show, and how long it wants to rest."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from pipelines.errors import SettingsError, StopStage
from resources.chat.wire import CallFailed

_SHOWN = 400
_MARKS_OF_KEYS = re.compile(r"(?i)\b(bearer|api[-_ ]?key|authorization)\b(\W{0,4})\S{8,}")


def read_key(variable: str, base_url: str) -> str:
    """The service's key from the environment; servers with an address of their own may go without.

    Raises `StopStage` that names the variable when the service needs a key and there is none.
    """
    key = os.environ.get(variable, "").strip()
    if not key and not base_url:
        remedy = f"Set {variable} in the environment, or `base_url` to a server that needs no key."
        raise StopStage("the chat service needs a key", where=variable, remedy=remedy)
    return key


def checked_url(base_url: str) -> str:
    """The address as it is; raises `SettingsError` when it is none or holds a name and password, which logs would show."""
    parts = urlsplit(base_url)
    if base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise SettingsError("`base_url` is no http address", where=parts.path, remedy="Write http://host:port/v1.")
    if parts.username or parts.password:
        remedy = "Put the key in the environment and name its variable in `key_variable`."
        raise SettingsError("`base_url` holds a name or password", where=parts.hostname or "", remedy=remedy)
    return base_url


def safe_text(text: str, key: str) -> str:
    """What a server said, without the key, and without lone surrogates that no file takes."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text.replace(key, "[key]") if len(key) >= 4 else text


def shown(text: str, key: str) -> str:
    """An error's words in one line that is short enough for a message and shows no key."""
    return _MARKS_OF_KEYS.sub(r"\1\2[key]", " ".join(safe_text(text, key).split()))[:_SHOWN]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date; None without."""
    try:
        return max(float(headers["retry-after-ms"]) / 1000, 0.0)
    except (KeyError, ValueError):
        pass
    said = headers.get("retry-after", "").strip()
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


def failed(status: int, words: str, headers: Mapping[str, str], key_variable: str) -> CallFailed | StopStage:
    """The error of a call that the server refused for a reason that does not lie in the request itself."""
    if status in (401, 403):
        remedy = f"Check the key in {key_variable}."
        return StopStage(f"the service refuses the key ({status}): {words}", where=key_variable, remedy=remedy)
    if status == 404:
        return StopStage(f"the service knows no such model or address (404): {words}",
                         remedy="Check `model` and `base_url` in the profile.")  # fmt: skip
    if "insufficient_quota" in words or "billing" in words:
        return StopStage(f"the account has no credit left ({status}): {words}", where=key_variable)
    return CallFailed(f"status {status}: {words}", retry_after(headers))
