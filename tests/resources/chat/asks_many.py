"""A process that asks many questions, to be killed: `python -m tests.resources.chat.asks_many PROTOCOL URL STORE COUNT`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.resources.chat.asking import a_client, a_question, ask, numbers

if __name__ == "__main__":
    protocol, url, store, count = sys.argv[1:]
    answers = ask(a_client(protocol, url, Path(store), in_flight=16), [a_question(n) for n in range(int(count))])
    print(sum(number == place for place, number in enumerate(numbers(answers))))
