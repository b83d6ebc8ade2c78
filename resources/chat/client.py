"""The one client for chat models: many questions in flight, each reply kept and paid once, and read as the form it must have.

What does not belong here: protocols (`openai_service`, `gemini_service`), pace (`limits`), money (`spending`).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from pipelines.chat import GUARD, ChatRequest, Media, Quoted, R, schema_of
from pipelines.errors import ItemError, ModelMissingError, SettingsError, StopStage
from pipelines.identity import fingerprint
from resources.chat.cache import ReplyCache
from resources.chat.limits import Limits, Stopped
from resources.chat.prices import Price, input_tokens, price_of
from resources.chat.services import checked_url
from resources.chat.spending import Spending, current_spending
from resources.chat.wire import BatchJob, Call, MediaFile, Reply, Service, Turn

T = TypeVar("T")

_SHOWN = 300
_ALL_REFUSED = 20
"""Requests that the service calls invalid, with none answered: the settings are wrong, not the requests."""
_OUTCOMES = {
    "refused": ("reply_refused", "The model refused", "Ask another model, or annotate the item by hand."),
    "empty": ("reply_empty", "The model's reply is empty", "Ask another model, or annotate the item by hand."),
    "cut_off": ("reply_cut_off", "The reply was cut off at the limit of its length", "Ask another model."),
    "request_refused": (
        "request_refused",
        "The service calls the request invalid",
        "To have it asked again, delete the kept reply if there is one and build the shard with `force: true`.",
    ),
}


@dataclass(frozen=True)
class Question(Generic[R]):
    """A request with all that follows from it: its key, its price, and what an earlier reply to it was."""

    request: ChatRequest[R]
    key: str
    earlier: tuple[str, str] | None = None
    """The reply that did not fit, and the complaint about it."""


class ChatClient:
    """`pipelines.chat.ChatModel` on one service: `service` makes it, on first use and in the client's own thread."""

    def __init__(
        self,
        service: Callable[[], Service],
        *,
        provider: str,
        model: str,
        settings: dict[str, Any],
        kept: ReplyCache,
        prices: dict[str, Price],
        in_flight: int = 16,
        per_minute: int | None = None,
        tries: int = 6,
        base_url: str = "",
        batch: bool = False,
    ) -> None:
        self.batch = batch
        self.provider, self.model, self.kept = provider, model, kept
        self.price = price_of(model, prices)
        self._settings, self._make, self._service = settings, service, None
        self._pace, self._in_flight = (in_flight, per_minute, tries), in_flight
        self._limits: Limits | None = None
        self._flying: dict[str, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._answered = False
        self._doubtful: list[tuple[Question[Any], Reply]] = []
        """Replies that call a request invalid, while none was answered."""
        self._where = f"{provider} {model}" + (f" at {checked_url(base_url)}" if base_url else "")

    def ask(self, requests: Iterable[ChatRequest[R]]) -> Iterator[R | ItemError]:
        """The answers in order; twice as many questions as may be in flight are looked at ahead."""
        run = current_spending()
        window: deque[tuple[Question[R], Future[Reply] | Reply | ItemError]] = deque()
        try:
            for request in requests:
                question = Question(request, self.key(request))
                window.append((question, self._begin(question, run)))
                if len(window) >= 2 * self._in_flight:
                    yield self._settle(*window.popleft(), run)
            while window:
                yield self._settle(*window.popleft(), run)
        except Exception:
            # What was sent is paid: it is waited for, so that it is kept.
            for _, begun in window:
                if isinstance(begun, Future):
                    begun.exception()
            raise

    def key(self, request: ChatRequest[Any], earlier: tuple[str, str] | None = None) -> str:
        """The name under which the reply is kept: a digest of everything that the model is given."""
        return fingerprint([self.provider, self.model, self._settings, *_content(request), *(earlier or ())])

    def _begin(self, question: Question[Any], run: Spending) -> Future[Reply] | Reply | ItemError:
        """The reply that is there, or the call for it: one call, whoever else asks the same meanwhile."""
        if run.mode == "note":
            return self._noted(question, run)
        with self._lock:
            flying = self._flying.get(question.key)
            if flying is None:
                future = self._flying[question.key] = Future()
        if flying is not None:
            run.kept(self.model)
            return flying
        # Only after the claim: what another thread asked before is kept by now.
        try:
            known = self._known(question, run)
            sent = None if known else self._send(question, run)
        except BaseException as error:
            self._landed(question.key).set_exception(error)
            if isinstance(error, ItemError):
                return error
            raise
        if known is not None:
            self._landed(question.key).set_result(known)
            return known
        if sent is not None:
            sent.add_done_callback(partial(self._pass_on, question.key))
        return future

    def _landed(self, key: str) -> Future[Reply]:
        with self._lock:
            return self._flying.pop(key)

    def _pass_on(self, key: str, sent: Future[Reply]) -> None:
        future, error = self._landed(key), sent.exception()
        if error is None:
            future.set_result(sent.result())
        else:
            future.set_exception(error)

    def _known(self, question: Question[Any], run: Spending) -> Reply | None:
        known = self.kept.get(question.key)
        if known is not None:
            run.kept(self.model)
            self._answered = self._answered or known.outcome == "answered"
        return known

    def _noted(self, question: Question[Any], run: Spending) -> Reply | ItemError:
        """The reply that is there; else the request is counted, and not sent."""
        known = self._known(question, run)
        if known is not None:
            return known
        tokens, expected = self._tokens(question), question.request.expected_tokens
        if run.note(self.model, self.price, question.key, tokens, expected) and run.noted:
            run.noted(self, question)
        return ItemError("pending", "The model was not asked yet", where=question.request.prompt)

    def _tokens(self, question: Question[Any]) -> int:
        """Our own count of what is sent."""
        return input_tokens(question.request, self.price) + (question.request.max_tokens if question.earlier else 0)

    def _send(self, question: Question[Any], run: Spending) -> Future[Reply]:
        """Begin the call, once the budget allows it; raises the `ItemError` of media that cannot be made."""
        call, tokens = encoded(question), self._tokens(question)
        if run.stopped:
            raise run.stopped
        held = run.reserve(self.model, self.price, tokens, call.max_tokens)
        return asyncio.run_coroutine_threadsafe(self._reply(question, call, tokens, held, run), loop())

    async def _reply(self, question: Question[Any], call: Call, tokens: int, held: float, run: Spending) -> Reply:
        """Call the service, count what it cost, and keep the reply before anyone sees it."""

        async def send() -> Reply:
            nonlocal held
            reply = await self.service.call(call)
            spent = reply.input_tokens, reply.output_tokens
            run.paid(self.model, self.price, held, tokens, spent, repair=question.earlier is not None)
            held = 0.0
            # A call is in flight until its reply is kept: a kill then costs no more calls than may be in flight.
            for asked, answer in self._judge(question, reply, run):
                await asyncio.to_thread(self.keep, asked.key, asked.request.prompt, answer)
            return reply

        try:
            return await self.paced(send, lambda: run.stopped)
        except BaseException as error:
            run.unpaid(self.model, held)
            if isinstance(error, (SettingsError, ModelMissingError)):
                error = StopStage(error.what, where=error.where, remedy=error.remedy)
            if isinstance(error, StopStage):
                run.stop(error)
            raise error from None

    def keep(self, key: str, prompt: str, reply: Reply) -> None:
        """Keep a paid reply; raises `StopStage` when it cannot be, for the next ones would be lost as well."""
        about = {"provider": self.provider, "model": self.model, "prompt": prompt}
        try:
            self.kept.put(key, reply, about)
        except OSError as error:
            remedy = "Free space or mend the rights of the lake, then run again."
            raise StopStage(
                f"a paid reply cannot be kept: {error}", where=self.kept.store.url, remedy=remedy
            ) from error

    def _judge(self, question: Question[Any], reply: Reply, run: Spending) -> list[tuple[Question[Any], Reply]]:
        """What can be kept now. A request that is called invalid is the request's fault where others are answered, else
        that of the settings, and must be asked again once they are mended."""
        self._doubtful.append((question, reply))
        if reply.outcome == "request_refused" and not self._answered:
            if len(self._doubtful) >= _ALL_REFUSED:
                self._doubtful.clear()
                what = f"the service calls every request invalid; the last: {reply.text}"
                remedy = "Check the model's `options` and `runtime` in the profile."
                run.stop(StopStage(what, where=self._where, remedy=remedy))
            return []
        self._answered = True
        certain = list(self._doubtful)
        self._doubtful.clear()
        return certain

    @property
    def service(self) -> Service:
        """The service, made on first use in the thread of the event loop."""
        if self._service is None:
            self._service = self._make()
            _services.append(self._service)
            self._limits = Limits(*self._pace)
            self.kept.clean()
        return self._service

    @property
    def batch_bytes(self) -> int:
        """How large a batch job's requests may be together."""
        return self.service.batch_bytes

    async def submit_batch(self, name: str, calls: list[tuple[str, Call]]) -> str:
        """Submit a batch job under a name; returns the provider's id of it."""
        is_tried = False

        async def submit() -> str:
            # A try that failed may have reached the service all the same, and a second job would be paid too.
            nonlocal is_tried
            found = await self.service.find(name) if is_tried else None
            is_tried = True
            return found or await self.service.submit(name, calls)

        return await self.paced(submit)

    async def find_batch(self, name: str) -> str | None:
        """The id of the job that was submitted under this name."""
        return await self.paced(lambda: self.service.find(name))

    async def look_at_batch(self, job: str) -> BatchJob:
        """How far a job is."""
        return await self.paced(lambda: self.service.look(job))

    async def batch_results(self, job: str, keys: list[str]) -> list[tuple[str, Reply]]:
        """The replies of an ended job."""
        return await self.paced(lambda: self.service.results(job, keys))

    async def paced(self, send: Callable[[], Awaitable[T]], stopped: Stopped = lambda: None) -> T:
        """What `send` gives, within the client's limits."""
        service = self.service  # made here, with its limits
        assert service is not None and self._limits is not None
        return await self._limits.call(send, self._where, stopped)

    def _settle(self, question: Question[R], begun: Future[Reply] | Reply | ItemError, run: Spending) -> R | ItemError:
        """The value of a reply; one that does not fit is asked for once more, with what is wrong with it."""
        if isinstance(begun, ItemError):
            return begun
        try:
            reply = begun.result() if isinstance(begun, Future) else begun
        except ItemError as error:  # media that another thread could not make
            return error
        value = self._value(question, reply)
        if not isinstance(value, str):
            return value
        if question.earlier is None:
            earlier = (reply.text, value)
            again = Question(question.request, self.key(question.request, earlier), earlier)
            return self._settle(again, self._begin(again, run), run)
        return self._error("reply_invalid", f"The reply does not fit, also when asked again: {value}", question, reply)

    def _value(self, question: Question[R], reply: Reply) -> R | ItemError | str:
        """The reply as the request's form, an error where there is no reply, or the complaint where it does not fit."""
        if reply.outcome != "answered":
            kind, what, remedy = _OUTCOMES[reply.outcome]
            return self._error(kind, what, question, reply, remedy)
        try:
            value = question.request.reply.model_validate_json(_json_in(reply.text))
        except ValidationError as error:
            return "; ".join(_fault(dict(fault)) for fault in error.errors()[:5])
        return (question.request.check(value) if question.request.check else "") or value

    def _error(self, kind: str, what: str, question: Question[Any], reply: Reply, remedy: str = "") -> ItemError:
        where = f"{self._where}, reply kept as {self.kept.path(question.key)}"
        said = f": {reply.text[:_SHOWN]!r}" if reply.text else ""
        return ItemError(kind, f"{what}{said}", where=where, remedy=remedy or "Ask another model, or annotate by hand.")


def _fault(fault: dict[str, Any]) -> str:
    """One fault of a reply, in words of ours: a name that the model made up is none."""
    if fault["type"] == "extra_forbidden":
        return "it has a field that was not asked for"
    return f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}"


def encoded(question: Question[Any]) -> Call:
    """The call of a question, its media encoded; raises the `ItemError` of media that cannot be made."""
    request = question.request
    parts: list[str | MediaFile] = []
    for part in request.parts:
        if isinstance(part, Media):
            parts.append(MediaFile(part.media_type, part.encode()))
        else:
            parts.append(part.fenced() if isinstance(part, Quoted) else part.text)
    turns = [Turn(False, tuple(parts))]
    if question.earlier:
        reply, complaint = question.earlier
        words = (
            f"That reply cannot be used. {complaint}. Reply again to the same request, in the form that was asked for."
        )
        turns += [Turn(True, (reply,)), Turn(False, (words,))]
    name = request.prompt.partition("@")[0].replace("-", "_")
    return Call(_instruction(request), tuple(turns), name, schema_of(request.reply), request.max_tokens)


def _instruction(request: ChatRequest[Any]) -> str:
    needs_guard = any(isinstance(part, (Quoted, Media)) for part in request.parts)
    return f"{request.instruction}\n\n{GUARD}" if needs_guard else request.instruction


def _content(request: ChatRequest[Any]) -> list[Any]:
    parts = [
        [part.media_type, part.identity, part.width, part.height, part.seconds]
        if isinstance(part, Media)
        else [part.fenced() if isinstance(part, Quoted) else part.text]
        for part in request.parts
    ]
    return [request.prompt, _instruction(request), parts, schema_of(request.reply), request.max_tokens]


def _json_in(text: str) -> str:
    """The JSON object in a reply: models put it in code fences, behind their thoughts, or between sentences."""
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


_services: list[Service] = []
"""Services live as long as the process: collected in another thread, their sockets would be closed under the loop, and
a later connection that gets the same number would never be woken."""


_loops: list[asyncio.AbstractEventLoop] = []
_starting = threading.Lock()


def loop() -> asyncio.AbstractEventLoop:
    """The event loop of all clients of this process, in a thread of its own."""
    with _starting:  # shards that begin together ask for it together, and there must be one
        if not _loops:
            _loops.append(asyncio.new_event_loop())
            threading.Thread(target=_loops[0].run_forever, name="chat", daemon=True).start()
        return _loops[0]
