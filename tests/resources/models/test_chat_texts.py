"""A chat model as text reader: textboxes in pixels of the picture, each page its own answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from pipelines.comics.text_boxes import TextBox
from pipelines.errors import ItemError
from pipelines.geometry import Box
from resources.models.registry import describe_model
from tests.resources.chat.servers import Answer, Asked, serving


def reply(*texts: tuple[str, int, int, int, int]) -> str:
    names = ("words", "left", "top", "right", "bottom")
    return json.dumps({"texts": [dict(zip(names, text, strict=True)) for text in texts]})


def reader(adapter: str, url: str, lake: Path) -> Any:
    address = {"openai": f"{url}/v1", "gemini": url}[adapter]
    runtime = {"base_url": address, "replies": str(lake)}
    model = describe_model("text_reader", adapter, {"model": "seer"}, runtime)
    assert model.source == f"{adapter}/seer@page-texts@1" and model.is_remote
    return model.load()


@pytest.mark.parametrize("adapter", ["openai", "gemini"])
def test_textboxes_come_in_pixels_of_each_picture(adapter: str, tmp_path: Path) -> None:
    def answers(asked: Asked) -> Answer | str:
        picture = cv2.imdecode(np.frombuffer(asked.pictures[0], np.uint8), cv2.IMREAD_GRAYSCALE)
        assert picture is not None and max(picture.shape) <= 1600
        if picture.mean() < 50:
            return Answer("", refusal="I do not look at that.")
        return reply(("WHO\n GOES  THERE?", 100, 200, 300, 250), (" ", 0, 0, 10, 10))

    pages = [
        np.full((800, 600, 3), 250, np.uint8),
        np.zeros((90, 90, 3), np.uint8),
        np.full((4000, 2000, 3), 99, np.uint8),
    ]
    with serving(answers) as server:
        mine = reader(adapter, server.url, tmp_path)
        first, second, third = mine.read(pages)
        assert mine.read(pages)[0] == first
        assert len(server.asked) == 3
    assert first == [TextBox(Box(60, 160, 120, 40), "WHO GOES THERE?", 1.0)]
    assert isinstance(second, ItemError) and second.kind == "reply_refused"
    assert third == [TextBox(Box(200, 800, 400, 200), "WHO GOES THERE?", 1.0)]


def test_a_box_that_is_none_is_asked_for_again(tmp_path: Path) -> None:
    def answers(asked: Asked) -> str:
        return reply(("HI", 0, 0, 500, 500)) if len(asked.turns) > 1 else reply(("HI", 500, 0, 100, 2000))

    with serving(answers) as server:
        (boxes,) = reader("openai", server.url, tmp_path).read([np.zeros((100, 100, 3), np.uint8)])
        assert "box of text 1" in server.asked[1].turns[-1][1]
    assert boxes == [TextBox(Box(0, 0, 50, 50), "HI", 1.0)]
