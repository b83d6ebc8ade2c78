"""Reading the pictures of some pages of a book from `comic_pages`, one at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pipelines.stage import ShardInputs


def page_images(inputs: ShardInputs, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Id and bytes of each wanted page in page order.

    Nothing of the pictures is read where no page is wanted, nor after the last one that is.
    """
    left = set(wanted)
    if not left:
        return
    for batch in inputs.batches("comic_pages", ["page_id", "image"]):
        for row, page_id in enumerate(batch.column("page_id").to_pylist()):
            if page_id in left:
                left.remove(page_id)
                yield page_id, batch.column("image")[row].as_py()
        if not left:
            return
