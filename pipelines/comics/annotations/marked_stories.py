"""Stories from pages that each name their story, as CoMix XML does.

Here: turning names into runs of pages. Not here: stories that a file gives as runs, and which pages a story leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipelines.comics.annotations.entries import AnnotationEntry, excerpt
from pipelines.errors import ItemError

_Stories = list[dict[str, int]]


def stories_of_pages(
    pages: Iterable[tuple[int, AnnotationEntry]],
) -> Iterator[tuple[AnnotationEntry, _Stories | ItemError]]:
    """The stories of each file whose pages name one: from a story's first page to its last, in page order.

    `pages` are page numbers with what a file says of that page. Each file comes with one of its entries. Stories that
    overlap give an error instead.
    """
    files: dict[str, tuple[AnnotationEntry, dict[str, list[int]]]] = {}
    for number, entry in pages:
        if entry.story:
            _, stories = files.setdefault(entry.file, (entry, {}))
            stories.setdefault(entry.story, []).append(number)
    for entry, stories in files.values():
        yield entry, _runs(stories)


def _runs(stories: dict[str, list[int]]) -> _Stories | ItemError:
    runs = sorted((min(numbers), max(numbers), name) for name, numbers in stories.items())
    for (_, last, one), (first, _, other) in zip(runs, runs[1:], strict=False):
        if first <= last:
            what = f"the stories {excerpt(one)} and {excerpt(other)} overlap on page {first}"
            return ItemError("annotation_conflict", what, remedy="Give each story pages of its own.")
    return [{"first_page": first, "last_page": last} for first, last, _ in runs]
