"""Asking a chat model what a page is and whether a story starts on it, in place of the signals.

What does not belong here: what a person or the file says, which goes first (`page_kinds`), and asking (`resources.chat`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pipelines.chat import ChatRequest, Part, Quoted, ReplyForm, Words
from pipelines.comics.page_media import PageMedia

PROMPT = "page-kinds@1"
"""Name and version of the wording below; a new version asks about all pages anew."""
_INSTRUCTION = (
    "You sort the pages of comic books. Say which of these the page is.\n"
    "cover: the front or back of a book, or of an issue inside a collection.\n"
    "first_page: a page before the story with the title, credits, contents or imprint, without panels that tell.\n"
    "advertisement: a page that sells something, also one that does so in panels.\n"
    "letters: readers' letters, the editor's column, announcements, credits at the end.\n"
    "text_story: a story told in prose.\n"
    "story: a page that tells a part of a comic in panels, a splash page too.\n"
    "Say also whether a new story starts on the page: one with other characters or another plot than what came before, as "
    "a rule under a title of its own. A new scene, or a next chapter of the same story, is no new story. Only a page of "
    "kind story can start one."
)
_LONGEST_SIDE = 1024
_MAX_TOKENS = 200
_EXPECTED_TOKENS = 50
_MOST_LETTERING = 2000


class PageReply(ReplyForm):
    """What the model replies; the reason comes first, so that it is thought of before the answer."""

    reason: str
    kind: Literal["cover", "first_page", "advertisement", "letters", "text_story", "story"]
    starts_story: bool


def page_requests(
    pages: Iterable[str], media: PageMedia, texts: Mapping[str, Sequence[str]]
) -> Iterator[ChatRequest[PageReply]]:
    """One question for each page id, with the page's picture and what is lettered on it."""
    for page_id in pages:
        parts: list[Part] = [Words("The page:"), media.picture(page_id, _LONGEST_SIDE)]
        if lettering := "\n".join(texts.get(page_id, ())):
            parts += [Words("What is lettered on it:"), Quoted("lettering", lettering[:_MOST_LETTERING])]
        yield ChatRequest(PROMPT, _INSTRUCTION, tuple(parts), PageReply, _MAX_TOKENS, _EXPECTED_TOKENS)
