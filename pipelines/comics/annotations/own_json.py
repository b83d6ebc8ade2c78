"""Reader of Storyloom's own annotation JSON: kinds, panels, texts, captions by page, and the stories of a book.

One file is one book. A page with an error is left out whole, since captions and texts count its panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.comics.annotations import entries
from pipelines.comics.annotations.entries import AnnotationEntry, Limits, Region, bad, wrong
from pipelines.errors import ItemError
from pipelines.schemas import PAGE_KINDS
from pipelines.stage import Failure

KEY = "storyloom_annotations"
VERSION = 1
_FORMAT = "storyloom"
_MAX_PAGE = 1_000_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Panel(_Strict):
    box: Any = None
    polygon: Any = None


class _Text(_Panel):
    text: str | None = None
    panel: int | None = Field(None, ge=1, le=9_999)


class _Page(_Strict):
    page: int | None = Field(None, ge=1, le=_MAX_PAGE)
    member: str | None = None
    width: float | None = Field(None, gt=0)
    height: float | None = Field(None, gt=0)
    kind: str | None = None
    panels: list[_Panel] | None = None
    texts: list[_Text] | None = None
    captions: dict[Annotated[str, Field(pattern="^[1-9][0-9]{0,3}$")], str] | None = None


class _Story(_Strict):
    first_page: int = Field(ge=1, le=_MAX_PAGE)
    last_page: int = Field(ge=1, le=_MAX_PAGE)


class _Stories(_Strict):
    stories: list[_Story]


def read(data: dict[str, Any], file: str, limits: Limits) -> Iterator[AnnotationEntry | Failure]:
    """The entries of one parsed file; each page, and the stories, that cannot be used is a failure of its own."""
    if type(data[KEY]) is not int or data[KEY] != VERSION:
        what = f"version {entries.excerpt(data[KEY])} of the format is not known"
        yield bad(file, "", ItemError("unknown_format", what, remedy=f'Write "{KEY}": {VERSION}.'))
        return
    for key in sorted(set(data) - {KEY, "book", "stories", "pages"}):
        yield bad(file, entries.excerpt(key), wrong("the file's top level has no such key", "See docs/annotations.md."))
    try:
        book = entries.words(data.get("book", ""), "the book's id", limits)
    except ItemError as error:
        yield bad(file, "book", error)
        return
    if "stories" in data:
        try:
            yield AnnotationEntry(file, _FORMAT, "stories", book, aspects={"stories": _stories(data["stories"])})
        except ItemError as error:
            yield bad(file, "stories", error)
    pages = data.get("pages", [])
    if not isinstance(pages, list) or len(pages) > limits.pages:
        yield bad(file, "pages", wrong(f"pages is not a list of at most {limits.pages} pages"))
        return
    for position, page in enumerate(pages):
        item = f"pages[{position}]"
        try:
            yield _page(page, file, item, book, limits)
        except ItemError as error:
            yield bad(file, item, error)


def _stories(value: Any) -> list[dict[str, int]]:
    stories = [story.model_dump() for story in _validated(_Stories, {"stories": value}).stories]
    stories.sort(key=lambda story: story["first_page"])
    for story in stories:
        if story["last_page"] < story["first_page"]:
            raise wrong(f"a story ends on page {story['last_page']}, before its first page {story['first_page']}")
    for before, after in zip(stories, stories[1:], strict=False):
        if after["first_page"] <= before["last_page"]:
            raise wrong(f"two stories share page {after['first_page']}")
    return stories


def _page(value: Any, file: str, item: str, book: str, limits: Limits) -> AnnotationEntry:
    page = _validated(_Page, value)
    if (page.page is None) == (page.member is None):
        raise wrong("a page is named by `page` (its number) or by `member` (its file), one of them")
    if (page.width is None) != (page.height is None):
        raise wrong("`width` and `height` go together: the size of the picture that the coordinates are on")
    if page.kind is not None and page.kind not in PAGE_KINDS:
        raise wrong(f"the kind {entries.excerpt(page.kind)} is not known", f"Use one of {', '.join(PAGE_KINDS)}.")
    aspects: dict[str, Any] = {}
    if page.kind is not None:
        aspects["kind"] = page.kind
    for name in ("panels", "texts"):
        regions = getattr(page, name)
        if regions is not None:
            entries.too_many(regions, limits)
            aspects[name] = [_region(region, f"{name}[{i}]", limits) for i, region in enumerate(regions)]
    if page.captions is not None:
        aspects["captions"] = {
            number: entries.words(text, f"the caption of panel {number}", limits)
            for number, text in page.captions.items()
            if text.strip()
        }
    _check_panel_numbers(aspects)
    return AnnotationEntry(
        file,
        _FORMAT,
        item,
        book,
        page.page if page.member is None else entries.words(page.member, "`member`", limits),
        aspects,
        entries.size(page.width, page.height),
        ordered=True,
    )


def _region(region: _Panel, what: str, limits: Limits) -> Region:
    if region.box is None and region.polygon is None:
        raise wrong(f"{what} has neither a box nor a polygon")
    found: Region = {}
    if region.box is not None:
        found["box"] = entries.box(region.box, what)
    if region.polygon is not None:
        found["polygon"] = entries.polygon(region.polygon, what, limits)
    if isinstance(region, _Text):
        found["text"] = None if region.text is None else entries.words(region.text, f"the text of {what}", limits)
        found["panel"] = region.panel
    return found


def _check_panel_numbers(aspects: dict[str, Any]) -> None:
    if "panels" not in aspects:
        return
    count = len(aspects["panels"])
    used = [("a textbox", text["panel"]) for text in aspects.get("texts", ()) if text["panel"]]
    used += [("a caption", int(number)) for number in aspects.get("captions", ())]
    for what, number in used:
        if number > count:
            raise wrong(f"{what} names panel {number}, but the page has {count} panels")


def _validated(model: type[BaseModel], value: Any) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        more = f" ({error.error_count() - 1} more errors)" if error.error_count() > 1 else ""
        raise wrong(
            f"{entries.excerpt(place)[1:-1] or 'the entry'}: {first['msg']}{more}", "See docs/annotations.md."
        ) from None
