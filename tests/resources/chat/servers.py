"""A real HTTP server on loopback that speaks the chat protocols of OpenAI and of Gemini, with faults to order."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    gemini: bool
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def instruction(self) -> str:
        if self.gemini:
            return "".join(part["text"] for part in self.body["systemInstruction"]["parts"])
        return next(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def turns(self) -> list[tuple[str, str]]:
        """(role, text) of each turn after the instruction."""
        if self.gemini:
            return [(t["role"], "\n".join(p.get("text", "") for p in t["parts"])) for t in self.body["contents"]]
        found = []
        for message in self.body["messages"]:
            content = message["content"]
            text = content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content)
            found.append((message["role"], text))
        return [turn for turn in found if turn[0] != "system"]

    @property
    def pictures(self) -> list[bytes]:
        if self.gemini:
            parts = [part for turn in self.body["contents"] for part in turn["parts"]]
            data = [part["inlineData"]["data"] for part in parts if "inlineData" in part]
            return [base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) for text in data]
        messages = [m["content"] for m in self.body["messages"] if isinstance(m["content"], list)]
        urls = [p[p["type"]]["url"] for content in messages for p in content if p["type"] in ("image_url", "video_url")]
        return [base64.b64decode(url.partition(",")[2]) for url in urls]


@dataclass(frozen=True)
class Answer:
    """What the server does with a request: a reply, or a fault."""

    text: str = ""
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """These bytes in place of the JSON."""
    cut: bool = False
    """The connection is closed before the reply is whole."""
    wait: threading.Event | None = None
    """The reply is held back until this is set."""
    drip: threading.Event | None = None
    """The reply comes byte by byte, one every hundredth of a second, until this is set."""
    input_tokens: int = 100
    output_tokens: int = 10


Answers = Callable[[Asked], Answer | str]
_GEMINI_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


@dataclass
class ChatServer:
    """The server: what it was asked, and how it answers."""

    answers: Answers
    asked: list[Asked] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    run_batches: bool = True
    """Whether a batch job is done as soon as it is looked at."""
    batch_end: str = "completed"
    """How batch jobs end: `completed`, `failed`, or `expired` with the first half of their requests answered."""
    routes: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request that is no chat."""
    cut_after: str = ""
    """The next request to a path with this in it is carried out, but its reply is cut."""
    url: str = ""

    def completion(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        if asked.gemini:
            usage = {"promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens}
            if answer.refusal:
                return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}
            content = {"role": "model", "parts": [{"text": answer.text}]}
            reason = _GEMINI_REASONS.get(answer.finish, answer.finish)
            return {"candidates": [{"content": content, "finishReason": reason}], "usageMetadata": usage}
        message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
        usage = {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, "total_tokens": 0}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    def answer(self, asked: Asked) -> Answer:
        found = self.answers(asked)
        return Answer(found) if isinstance(found, str) else found


@contextmanager
def serving(answers: Answers) -> Iterator[ChatServer]:
    """A server on a free port of loopback, for as long as the block lasts."""
    server = ChatServer(answers)
    http = _Server(("127.0.0.1", 0), _handler(server))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._other(b"")

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            if "chat/completions" not in self.path and ":generateContent" not in self.path:
                self._other(data)
                return
            asked = Asked("v1beta" in self.path, self.path, dict(self.headers), json.loads(data))
            with lock:
                server.asked.append(asked)
            answer = server.answer(asked)
            if answer.wait:
                answer.wait.wait(60)
            body = answer.raw
            if body is None and answer.status != 200:
                body = json.dumps({"error": {"message": answer.text, "code": answer.status}}).encode()
            self._send(
                answer.status,
                body if body is not None else json.dumps(server.completion(asked, answer)).encode(),
                answer.headers,
                cut=answer.cut,
                drip=answer.drip,
            )

        def _send(
            self,
            status: int,
            body: bytes,
            headers: dict[str, str],
            *,
            cut: bool = False,
            drip: threading.Event | None = None,
        ) -> None:
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            for place in range(len(body) if drip else 0):
                if drip and not drip.wait(0.01):
                    self.wfile.write(body[place : place + 1])
                    body = b""
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut

        def _other(self, data: bytes) -> None:
            from tests.resources.chat.batch_routes import route

            with lock:
                server.routes.append((self.command, self.path))
                status, found = route(server, self.command, self.path, dict(self.headers), data)
                cut = bool(server.cut_after) and server.cut_after in self.path
                server.cut_after = "" if cut else server.cut_after
            self._send(status, found if isinstance(found, bytes) else json.dumps(found).encode(), {}, cut=cut)

    return Handler
