"""Stories for the tests of the tasks: panels on made-up pages, with texts of lifelike lengths."""

from __future__ import annotations

import random

from pipelines.geometry import Box
from pipelines.pick_a_panel.samples import StoryPanel, TextBox

PANEL = Box(100, 200, 600, 500)
BOXES = (Box(120, 220, 300, 120), Box(380, 520, 280, 110))
_SYLLABLES = ["ba", "ke", "mi", "to", "lu", "ran", "sel", "dor", "vin", "cha", "pe", "os", "ti", "gra", "mon", "ly"]


def words(random_source: random.Random, letters: int) -> str:
    """A text of about that many letters that no other call repeats."""
    text = ""
    while len(text) < letters:
        text += "".join(random_source.choices(_SYLLABLES, k=random_source.randint(1, 3))) + " "
    return text.strip().upper()


def text(content: str, number: int = 0, share: float = 1.0) -> TextBox:
    return TextBox(BOXES[number], content, share)


def plain_story(length: int, name: str = "book/s01") -> list[StoryPanel]:
    """Panels whose pictures all differ, without texts."""
    # Multiples of an odd constant: any two of the first thousand differ in 12 bits or more.
    hashes = [(number + 1) * 0x9E3779B97F4A7C15 % 2**64 for number in range(length)]
    return [StoryPanel(f"{name}/{n:03d}", PANEL, phash=value) for n, value in enumerate(hashes)]


def spoken_story(length: int, seed: int, name: str = "book/s01") -> list[StoryPanel]:
    """Panels with no, one or two textboxes of 4 to 90 letters, and captions."""
    source = random.Random(f"{seed} {name}")
    panels = []
    for panel in plain_story(length, name):
        count = source.choices((0, 1, 2), (2, 5, 5))[0]
        texts = tuple(text(words(source, int(source.lognormvariate(3.4, 0.6))), number) for number in range(count))
        panels.append(StoryPanel(panel.panel_id, PANEL, panel.phash, texts, "Two figures on a hill."))
    return panels
