"""Money: a budget is never passed, what was paid is counted right, and an estimate asks nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines.chat import Quoted
from pipelines.errors import ItemError, SettingsError, StopStage
from resources.chat.client import ChatClient
from resources.chat.prices import Price, input_tokens, load_prices, price_of
from resources.chat.spending import Spending, spending
from tests.resources.chat.asking import (
    CALL_COSTS,
    MODEL,
    Number,
    a_client,
    a_picture,
    a_question,
    ask,
    echo,
    number_asked,
    numbers,
    prices,
)
from tests.resources.chat.servers import Answer, Asked, serving


def costing(tokens_in: int, tokens_out: int) -> Callable[[Asked], Answer]:
    return lambda asked: Answer(echo(asked), input_tokens=tokens_in, output_tokens=tokens_out)


def shards(client: ChatClient, run: Spending, count: int = 6, each: int = 20) -> list[str]:
    """Ask in as many threads as an engine would: what stopped each."""

    def shard(start: int) -> str:
        try:
            answers = list(client.ask([a_question(100 * start + n) for n in range(each)]))
        except StopStage as stopped:
            return str(stopped)
        assert all(isinstance(answer, Number) for answer in answers)
        return ""

    with spending(run), ThreadPoolExecutor(count) as threads:
        return list(threads.map(shard, range(count)))


def test_what_was_asked_is_counted(protocol: str, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        is_bad = number_asked(asked) == 3 and len(asked.turns) == 1
        return Answer("?" if is_bad else echo(asked), input_tokens=200, output_tokens=30)

    run = Spending()
    with serving(answer) as server:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path))
        ask(client, [a_question(n) for n in (1, 2, 3, 1)], run)
    usage = run.usage[MODEL]
    assert (usage.calls, usage.repairs, usage.kept_replies) == (4, 1, 1)
    assert (usage.input_tokens, usage.output_tokens) == (800, 120)
    assert usage.dollars == pytest.approx((800 * 10 + 120 * 1000) / 1e6) == run.dollars


def test_thoughts_are_paid(tmp_path: Path) -> None:
    body = (
        b'{"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "{\\"number\\": 5}"}]}, '
        b'"finishReason": "STOP"}], '
        b'"usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 70}}'
    )
    run = Spending()
    with serving(lambda asked: Answer(raw=body)) as server:
        assert numbers(ask(a_client("gemini", server, tmp_path), [a_question()], run)) == [5]
    assert (run.usage[MODEL].input_tokens, run.usage[MODEL].output_tokens) == (11, 75)


def test_an_unknown_price_is_not_taken_for_nothing(protocol: str, tmp_path: Path) -> None:
    run = Spending()
    with serving(echo) as server:
        ask(a_client(protocol, server, tmp_path), [a_question()], run)
    assert run.usage[MODEL].calls == 1 and run.usage[MODEL].dollars is None


def test_a_budget_without_a_price_stops_before_the_first_call(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server, pytest.raises(StopStage, match=rf"price of {MODEL} is not known.*file of prices"):
        ask(a_client(protocol, server, tmp_path), [a_question()], Spending(budget=5.0))
    assert server.asked == []


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out"),
    [(100, 10), (5000, 20), (200_000, 20), (1, 1)],
    ids=["as we count", "more than we count", "very much more", "less"],
)
def test_the_budget_is_not_passed_by_many_calls_at_once(
    protocol: str, tokens_in: int, tokens_out: int, tmp_path: Path
) -> None:
    one = (tokens_in * 10 + tokens_out * 1000) / 1e6
    budget = 12.5 * one + 0.025
    run = Spending(budget=budget)
    with serving(costing(tokens_in, tokens_out)) as server:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path))
        ends = shards(client, run)
        assert any(ends) and all("budget of" in end for end in ends if end)
        assert run.dollars == pytest.approx(one * len(server.asked))
        assert one < run.dollars <= budget
        first = len(server.asked)
        # What one call may cost at most (20 tokens out) is what the rest of the budget was too small for.
        assert run.dollars + max(tokens_in * 1.25, 400) * 10 / 1e6 + 20 * 1000 / 1e6 > budget
        more = Spending(budget=1000.0)
        assert shards(a_client(protocol, server, tmp_path, prices=prices(tmp_path)), more) == [""] * 6
    assert len(server.asked) == 6 * 20, "nothing is paid twice"
    assert more.usage[MODEL].calls == 120 - first and more.usage[MODEL].kept_replies == first


def test_the_end_of_the_budget_says_how_to_go_on(protocol: str, tmp_path: Path) -> None:
    with serving(echo) as server, pytest.raises(StopStage) as caught:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path))
        ask(client, [a_question(n) for n in range(50)], Spending(budget=0.1))
    words = str(caught.value)
    assert "budget of $0.10 is used up" in words and "is kept" in words and "larger `budget`" in words


def test_what_calls_in_flight_hold_back_is_waited_for(protocol: str, tmp_path: Path) -> None:
    """Each may cost three times what it does: all can be paid, though never all at once."""
    run = Spending(budget=20 * CALL_COSTS + 0.03)
    with serving(echo) as server:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path))
        found = ask(client, [a_question(n, max_tokens=30) for n in range(20)], run)
    assert numbers(found) == list(range(20)) and len(server.asked) == 20


def test_money_held_for_a_call_that_failed_is_free_again(protocol: str, tmp_path: Path) -> None:
    answers = [Answer("", status=500)] * 4
    run = Spending(budget=0.05)
    with serving(lambda asked: answers.pop() if answers else Answer(echo(asked))) as server:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path), tries=2)
        for number in range(2):
            with pytest.raises(Exception, match="no answer in 2 tries"):
                ask(client, [a_question(number)], run)
        assert numbers(ask(client, [a_question(3), a_question(4)], run)) == [3, 4]
    assert run.dollars == pytest.approx(2 * CALL_COSTS)


def test_a_budget_of_nothing_asks_nothing_that_costs(protocol: str, tmp_path: Path) -> None:
    free = tmp_path / "free.yaml"
    free.write_text(f"{MODEL}: {{input: 0, output: 0}}")
    with serving(echo) as server:
        with pytest.raises(StopStage, match="used up"):
            ask(a_client(protocol, server, tmp_path, prices=prices(tmp_path)), [a_question()], Spending(budget=0.0))
        assert server.asked == []
        client = a_client(protocol, server, tmp_path, prices=str(free))
        assert numbers(ask(client, [a_question(7)], Spending(budget=0.0))) == [7]


def test_an_estimate_asks_nothing(protocol: str, tmp_path: Path) -> None:
    run, noted = Spending(mode="note"), []
    run.noted = lambda client, question: noted.append((client, question.key))
    questions = [a_question(n, a_picture(b"p"), Quoted("balloon", "x" * 700)) for n in (1, 2, 2, 9)]
    with serving(echo) as server:
        client = a_client(protocol, server, tmp_path, prices=prices(tmp_path))
        ask(client, questions[3:])
        asked = len(server.asked)
        assert numbers(ask(client, questions, run)) == ["pending"] * 3 + [9]
        assert len(server.asked) == asked
    usage = run.usage[MODEL]
    assert (usage.calls, usage.kept_replies) == (2, 2), "the same question twice is one call"
    assert usage.input_tokens == sum(input_tokens(q, client.price) for q in questions[:2])
    assert usage.output_tokens == 2 * 8
    assert usage.dollars == pytest.approx((usage.input_tokens * 10 + 16 * 1000) / 1e6)
    assert noted == [(client, client.key(question)) for question in questions[:2]]


def test_an_estimate_needs_no_key_and_no_library(protocol: str, tmp_path: Path) -> None:
    client = a_client(protocol, "x", tmp_path, base_url="")
    run = Spending(mode="note")
    (answer,) = ask(client, [a_question()], run)
    assert isinstance(answer, ItemError) and run.usage[MODEL].dollars is None


def test_tokens_are_counted_from_words_pictures_and_seconds() -> None:
    price = Price(input=1, output=1, picture=1000, clip_second=50)
    plain = input_tokens(a_question(), price)
    assert 20 < plain < 200
    assert input_tokens(a_question(1, a_picture(b"p")), price) == plain + 1000
    assert input_tokens(a_question(1, a_picture(b"p", kind="video/mp4", seconds=4.0)), price) == plain + 200
    assert input_tokens(a_question(1, Quoted("balloon", "é" * 350)), price) > plain + 200
    assert input_tokens(a_question(1, Quoted("balloon", "\ud800")), price) > plain


def test_prices_of_the_user_stand_over_those_that_ship(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("mine: {input: 1, output: 2}\ngpt-4o: {input: 9, output: 9, batch: 0.25}\n")
    known = load_prices(str(file))
    assert known["mine"].dollars(1e6, 1e6) == 3.0
    assert known["gpt-4o"].dollars(1e6, 1e6, batch=True) == 4.5
    assert known["gemini-2.5-pro"].batch == 0.5
    assert price_of("gpt-4o-2024-08-06", known) == known["gpt-4o"]
    assert price_of("models/gemini-2.5-pro", known) == known["gemini-2.5-pro"]
    assert [price_of(name, known) for name in ("gpt-4o-20x", "gpt-4o-huge", "never-heard-of")] == [None] * 3


@pytest.mark.parametrize("text", ["- a", "m: {input: -1, output: 2}", "m: {input: 1}", "m: {in: 1}", "m: ["])
def test_a_file_of_prices_that_makes_no_sense_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"(?s)prices is not valid.*prices\.yaml"):
        load_prices(str(file))
