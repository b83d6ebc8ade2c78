"""On PYTHONPATH it ends every try to reach another machine, in each Python process, and writes down who tried.

The tries go to the file that STORYLOOM_TESTS_REACHED names: code that swallows the error is found as well. What stays on
the machine (Dagster's processes speak with each other) goes through.
"""

from __future__ import annotations

import ipaddress
import os
import sys
import traceback
from typing import Any

_OWN = {None, "", b"", "localhost"}
_ADDRESS_AT = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
"""The place of the address or host among what Python tells of each event."""


def _is_own(address: Any) -> bool:
    host = address[0] if isinstance(address, tuple) else address
    if host in _OWN or host == os.uname().nodename:
        return True
    text = host.decode("utf-8", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        # The path of a socket in the file system, but for events that are given names of hosts.
        return isinstance(address, (str, bytes)) and "/" in text


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if event not in _ADDRESS_AT or _is_own(args[_ADDRESS_AT[event]]):
        return
    told = f"{event} {args[_ADDRESS_AT[event]]!r}"
    with open(os.environ["STORYLOOM_TESTS_REACHED"], "a", encoding="utf-8") as file:
        file.write(f"{told} by {sys.argv}\n{''.join(traceback.format_stack(limit=12))}\n")
    raise PermissionError(f"the tests let nothing reach the network: {told}")


sys.addaudithook(_watch)
