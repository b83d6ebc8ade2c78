"""What the tests of the client share: a client of either protocol on a loopback server, and small questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipelines.chat import ChatRequest, Media, Part, ReplyForm, Words
from pipelines.errors import ItemError
from resources.chat.client import ChatClient
from resources.chat.spending import Spending, spending
from resources.models.chat import gemini_chat, openai_chat
from tests.resources.chat.servers import Asked, ChatServer

PROTOCOLS = ("openai", "gemini")
MODEL = "model-x"
PRICES = f"{MODEL}: {{input: 10.0, output: 1000.0, picture: 50, clip_second: 30, batch: 0.5}}\n"
"""A call of 100 tokens in and 10 out costs 0.011 dollars."""
CALL_COSTS = (100 * 10 + 10 * 1000) / 1e6


class Number(ReplyForm):
    number: int


def a_client(protocol: str, server: ChatServer | str, store: Path, **options: Any) -> ChatClient:
    """A fresh client, as a new process would make it; without `prices` the model's price is not known."""
    url = server if isinstance(server, str) else server.url
    make = {"openai": openai_chat, "gemini": gemini_chat}[protocol]
    base_url = f"{url}/v1" if protocol == "openai" else url
    return make(**{"model": MODEL, "base_url": base_url, "replies": str(store), "timeout": 20.0} | options)


def prices(folder: Path) -> str:
    path = folder / "prices.yaml"
    path.write_text(PRICES)
    return str(path)


def a_question(
    number: int = 1, *parts: Part, check: Callable[[Number], str] | None = None, max_tokens: int = 20
) -> ChatRequest[Number]:
    words = Words(f"Which number is this: {number}?")
    return ChatRequest("numbers@1", "Say the number.", (words, *parts), Number, max_tokens, 8, check)


def a_picture(data: bytes, identity: str = "", kind: str = "image/jpeg", seconds: float = 0.0) -> Media:
    return Media(identity or data.hex(), kind, 10, 10, lambda: data, seconds)


def number_asked(asked: Asked) -> int:
    return int(asked.turns[0][1].partition("this: ")[2].partition("?")[0])


def echo(asked: Asked) -> str:
    """The right answer to `a_question`."""
    return json.dumps({"number": number_asked(asked)})


def ask(
    client: ChatClient, requests: Sequence[ChatRequest[Number]], run: Spending | None = None
) -> list[Number | ItemError]:
    with spending(run or Spending()):
        return list(client.ask(requests))


def numbers(answers: Sequence[Number | ItemError]) -> list[int | str]:
    """The numbers, or the kinds of errors."""
    return [answer.kind if isinstance(answer, ItemError) else answer.number for answer in answers]


def kept_files(store: Path) -> dict[str, str]:
    """The files of the cache by their name."""
    paths = sorted(path for path in (store / "_chat" / "replies").rglob("*") if path.is_file())
    return {path.name: path.read_text("utf-8") for path in paths}
