"""A run that is killed between two of its calls repeats at most those that were in flight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from tests.resources.chat.asking import echo, kept_files, number_asked
from tests.resources.chat.servers import Asked, serving

CALLS, IN_FLIGHT, MOMENT = 1000, 16, 400


def test_a_kill_in_the_middle_of_a_thousand_calls_repeats_those_in_flight_alone(protocol: str, tmp_path: Path) -> None:
    is_halfway, asked_for = threading.Event(), Counter[int]()

    def answer(asked: Asked) -> str:
        asked_for[number_asked(asked)] += 1
        if asked_for.total() == MOMENT:
            is_halfway.set()
        return echo(asked)

    with serving(answer) as server:
        command = [sys.executable, "-m", "tests.resources.chat.asks_many", protocol, server.url, str(tmp_path), str(CALLS)]  # fmt: skip
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
        first = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert is_halfway.wait(120)
        first.send_signal(signal.SIGKILL)
        said, _ = first.communicate()
        assert first.returncode == -signal.SIGKILL and said == ""
        before = len(server.asked)
        assert MOMENT <= before < CALLS
        second = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        assert second.stdout.strip() == str(CALLS), "every answer is there, in its place"
    assert CALLS <= len(server.asked) <= CALLS + IN_FLIGHT
    assert max(asked_for.values()) <= 2
    assert len(kept_files(tmp_path)) == CALLS, "and nothing half written"
