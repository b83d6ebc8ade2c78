"""The text reader that is a chat model: it sees a page and lists the balloons and narration boxes with their words.

What does not belong here: asking (`resources.chat`), and what is done with a textbox (`pipelines.comics.texts`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from pipelines.chat import ChatModel, ChatRequest, Media, ReplyForm, Words
from pipelines.comics.text_boxes import TextBox
from pipelines.errors import ItemError
from pipelines.geometry import Box
from pipelines.jpeg import encode_jpeg
from resources.models import chat

IS_REMOTE = True
PROMPT = "page-texts@1"
"""Name and version of the wording below; a new version reads all pages anew."""
_INSTRUCTION = (
    "You transcribe pages of comics. List every balloon, narration box, caption and sign on the page, in the order in which "
    "it is read. Give the words exactly as they are lettered, with the spelling and punctuation that stand there, without "
    "line breaks, and put words that are parted at a line's end together. Balloons that are joined by a neck are two texts. Leave out "
    "sounds that are drawn as part of the picture, signatures and page numbers. For each text give the box that just holds its "
    "lettering: left, top, right and bottom as whole numbers from 0 to 1000, of the picture's width and height. If "
    "nothing is lettered, the list is empty."
)
_LONGEST_SIDE = 1600
_QUALITY = 90
_SCALE = 1000
_MAX_TOKENS = 6000
_EXPECTED_TOKENS = 700


class LetteredText(ReplyForm):
    """One text: its words, and its box in thousandths of the picture."""

    words: str
    left: int
    top: int
    right: int
    bottom: int


class PageTextsReply(ReplyForm):
    """What the model replies."""

    texts: list[LetteredText]


def source(adapter: str, options: Mapping[str, Any]) -> str:
    """What rows say of the reader: protocol, model, and the version of the wording."""
    return f"{chat.source(adapter, options)}@{PROMPT}"


def openai_texts(**options: Any) -> ChatTexts:
    """The reader on OpenAI or a server with its protocol; options as `chat.openai_chat` takes them."""
    return ChatTexts(chat.openai_chat(**options))


def gemini_texts(**options: Any) -> ChatTexts:
    """The reader on Gemini; options as `chat.gemini_chat` takes them."""
    return ChatTexts(chat.gemini_chat(**options))


class ChatTexts:
    """`pipelines.comics.text_boxes.TextReader` by a chat model.

    It gives whole textboxes. A chat model does not say how sure it is: each has a confidence of 1.
    """

    def __init__(self, model: ChatModel) -> None:
        self.client = model

    def read(self, images: Sequence[np.ndarray]) -> list[list[TextBox] | ItemError]:
        """The textboxes of each RGB picture (H, W, 3) of bytes, in its pixels."""
        answers = self.client.ask(map(_request, images))
        return [
            answer if isinstance(answer, ItemError) else _boxes(answer, image)
            for image, answer in zip(images, answers, strict=True)
        ]


def _request(image: np.ndarray) -> ChatRequest[PageTextsReply]:
    height, width = image.shape[:2]
    shrink = min(_LONGEST_SIDE / max(height, width), 1.0)
    size = max(round(width * shrink), 1), max(round(height * shrink), 1)

    def encode() -> bytes:
        smaller = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA)) if shrink < 1 else image
        return encode_jpeg(smaller, _QUALITY)

    digest = hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()
    picture = Media(f"{digest} {width} {height} {_LONGEST_SIDE} jpeg{_QUALITY}", "image/jpeg", *size, encode)
    parts = (Words("The page:"), picture)
    return ChatRequest(PROMPT, _INSTRUCTION, parts, PageTextsReply, _MAX_TOKENS, _EXPECTED_TOKENS, _complaint)


def _complaint(reply: PageTextsReply) -> str:
    """What is wrong with the boxes; empty when nothing is."""
    for number, text in enumerate(reply.texts, start=1):
        if not (0 <= text.left < text.right <= _SCALE and 0 <= text.top < text.bottom <= _SCALE):
            return f"The box of text {number} is none: left < right and top < bottom must hold, from 0 to {_SCALE}"
    return ""


def _boxes(reply: PageTextsReply, image: np.ndarray) -> list[TextBox]:
    height, width = image.shape[:2]
    found = []
    for text in reply.texts:
        left, right = (round(edge * width / _SCALE) for edge in (text.left, text.right))
        top, bottom = (round(edge * height / _SCALE) for edge in (text.top, text.bottom))
        words = " ".join(text.words.split())
        if words:
            found.append(TextBox(Box(left, top, max(right - left, 1), max(bottom - top, 1)), words, 1.0))
    return found
