"""Text from books, files and users made safe inside Markdown: it is shown as it reads and never as markup."""

from __future__ import annotations

import re
import unicodedata

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_MARKUP = frozenset("\\`*_{}[]()#!~@:$^=+\"'")
_LIST_OR_LINK = re.compile(r"^[-+.]|(?<=www)\.|(?<=^\d)[.)]", re.IGNORECASE)


def escape(text: str, longest: int = 120) -> str:
    """The text on one line, at most `longest` characters of it, fit for a paragraph, a heading or a table's cell.

    Control and direction characters become spaces, markup and what would turn into a link is escaped.
    """
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    plain = " ".join(plain.split())
    if len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    marked = {match.start() for match in _LIST_OR_LINK.finditer(plain)}
    parts = (f"\\{c}" if c in _MARKUP or place in marked else _ENTITIES.get(c, c) for place, c in enumerate(plain))
    return "".join(parts)


def table(head: list[str], rows: list[list[str]], *, numbers: bool = True) -> str:
    """A Markdown table of cells that are Markdown already; with `numbers`, columns after the first are set to the right."""
    lines = [head, ["---", *["---:" if numbers else "---"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def fenced(text: str, language: str = "") -> str:
    """A block of code whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
