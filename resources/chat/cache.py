"""Replies on disk or in an object store: one small file for each request that was ever paid."""

from __future__ import annotations

import dataclasses
import json
import logging
from dataclasses import dataclass
from typing import Any, get_args

from pipelines.identity import fingerprint
from resources.chat.wire import Outcome, Reply
from resources.lake import Lake

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReplyCache:
    """Replies by the key of their request, in `<store>/_chat/replies/`.

    A file carries a digest of itself. One that is damaged counts as missing, is renamed to `<key>.damaged` and reported.
    """

    store: Lake

    def path(self, key: str) -> str:
        """Where a reply lies below the store."""
        return f"_chat/replies/{key[:2]}/{key}.json"

    def get(self, key: str) -> Reply | None:
        """The reply to a request; None when it was never paid, or its file is damaged."""
        data = self.store.get(self.path(key))
        if data is None:
            return None
        try:
            return _reply(json.loads(data), key)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            aside = self.path(key).removesuffix(".json") + ".damaged"
            self.store.put(aside, data)
            self.store.delete(self.path(key))
            _log.warning("The kept reply %s is damaged (%s). It was set aside as %s; the model is asked again.",
                         self.path(key), error, aside)  # fmt: skip
            return None

    def clean(self) -> None:
        """Delete what killed runs left half written."""
        for first in range(256):
            self.store.clean(f"_chat/replies/{first:02x}")

    def put(self, key: str, reply: Reply, about: dict[str, Any]) -> None:
        """Keep a reply; `about` says what was asked (model, prompt), for people who look at the file."""
        content = {"key": key, "about": about, "reply": dataclasses.asdict(reply)}
        document = content | {"digest": fingerprint(content)}
        self.store.put(self.path(key), json.dumps(document, ensure_ascii=False, indent=1).encode())


def _reply(document: Any, key: str) -> Reply:
    content = {name: document[name] for name in ("key", "about", "reply")}
    if document["digest"] != fingerprint(content) or document["key"] != key:
        raise ValueError("its digest does not fit what it holds")
    reply = Reply(**document["reply"])
    if reply.outcome not in get_args(Outcome):
        raise ValueError(f"unknown outcome {reply.outcome!r}")
    return reply
