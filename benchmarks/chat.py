"""Calls a second of the chat client, for both protocols, and replies a second once they are kept.

The server runs in a process of its own on loopback and answers at once with the same words. What it can give is measured too, by
plain sockets that send the bytes of a request as large and wait for the reply; the rest is the client: making the request,
the SDK, and keeping the reply on disk. Each request has a picture of its own.

    python -m benchmarks.chat --calls 1000 --picture 100
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter

from pipelines.chat import ChatRequest, Media, ReplyForm, Words
from pipelines.errors import ItemError
from pipelines.markdown import table
from resources.chat.client import ChatClient
from resources.models.chat import gemini_chat, openai_chat

_SAID = json.dumps({"caption": "A hill under a wide sky, and a woman who looks at it. " * 5})
_CALLS = {
    "openai": {
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": _SAID}}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290},
    },
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": _SAID}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1200, "candidatesTokenCount": 90},
    },
}  # fmt: skip
_PATHS = {"openai": "/v1/chat/completions", "gemini": "/v1beta/models/m:generateContent"}


class _Caption(ReplyForm):
    caption: str


def main() -> None:
    """Measure both protocols and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--picture", type=int, default=100, help="kB of each picture; a panel has about 100")
    parser.add_argument("--in-flight", type=int, default=16)
    given = parser.parse_args()
    port, server = _start_server()
    rows = []
    try:
        for protocol in _CALLS:
            limit = asyncio.run(_limit(protocol, port, given.calls, given.picture * 1000, given.in_flight))
            asked, kept = _client_speed(protocol, port, given.calls, given.picture * 1000, given.in_flight)
            rows.append([protocol, f"{asked:,.0f}", f"{limit:,.0f}", f"{kept:,.0f}"])
    finally:
        server.kill()
    print(f"{given.calls:,} calls with a picture of {given.picture} kB each, {given.in_flight} in flight\n")
    print(table(["protocol", "calls/s", "the server's own limit", "kept replies/s"], rows))


def _client_speed(protocol: str, port: int, calls: int, size: int, in_flight: int) -> tuple[float, float]:
    """Calls a second of the client, then replies a second from the cache, each by a client that is new."""
    store = Path(tempfile.mkdtemp(prefix="storyloom-chat-"))
    try:
        # The first call loads the SDK and opens a connection: a few before are not counted.
        _ask(_client(protocol, port, store, in_flight), _requests(in_flight, size, "warm"))
        asked = calls / _ask(_client(protocol, port, store, in_flight), _requests(calls, size, "measured"))
        return asked, calls / _ask(_client(protocol, port, store, in_flight), _requests(calls, size, "measured"))
    finally:
        shutil.rmtree(store)


def _client(protocol: str, port: int, store: Path, in_flight: int) -> ChatClient:
    url = f"http://127.0.0.1:{port}"
    if protocol == "openai":
        return openai_chat("m", base_url=f"{url}/v1", replies=str(store), in_flight=in_flight)
    return gemini_chat("m", base_url=url, replies=str(store), in_flight=in_flight)


def _ask(client: ChatClient, requests: Iterator[ChatRequest[_Caption]]) -> float:
    started = perf_counter()
    for answer in client.ask(requests):
        assert not isinstance(answer, ItemError), answer
    return perf_counter() - started


def _requests(count: int, size: int, name: str) -> Iterator[ChatRequest[_Caption]]:
    """As a stage makes them: an instruction, and a picture that no other request has."""
    rest = random.Random(0).randbytes(size)
    for number in range(count):
        picture = Media(f"{name} {number}", "image/jpeg", 1024, 700, lambda n=number: rest[:-8] + n.to_bytes(8))
        yield ChatRequest("bench@1", "Say what you see. " * 30, (Words("The panel:"), picture), _Caption, 512, 90)


async def _limit(protocol: str, port: int, calls: int, size: int, in_flight: int) -> float:
    """Requests a second of as many plain connections, with a body as large as the client's."""
    body = b"x" * (size * 4 // 3 + 2000)
    head = f"POST {_PATHS[protocol]} HTTP/1.1\r\nhost: a\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    left = iter(range(calls))

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            writer.writelines((head, body))
            await writer.drain()
            await reader.readexactly(await _body_length(reader))
        writer.close()

    started = perf_counter()
    await asyncio.gather(*(connection() for _ in range(in_flight)))
    return calls / (perf_counter() - started)


async def _body_length(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    return int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])


def _start_server() -> tuple[int, BaseProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    return ours.recv(), process


def _serve(port: Connection) -> None:
    asyncio.run(_serve_forever(port))


async def _serve_forever(port: Connection) -> None:
    bodies = {protocol: json.dumps(reply).encode() for protocol, reply in _CALLS.items()}
    replies = {
        protocol: b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
        % (len(body), body)
        for protocol, body in bodies.items()
    }

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0]))
                writer.write(replies["openai" if b"chat/completions" in head else "gemini"])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


if __name__ == "__main__":
    main()
