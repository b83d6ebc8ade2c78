"""Every table's Arrow schema, one constant each. The only place where a column's type, unit and meaning are written.

Assets show these comments as column descriptions; writers cast to these types; nothing else defines columns.
"""

from __future__ import annotations

import pyarrow as pa


def _column(name: str, kind: pa.DataType, comment: str, *, null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"comment": comment})


_SOURCE = _column("source", pa.string(), "Who made the row: `human`, or `<adapter>/<model>@<version>`")
_BOOK = _column("book_id", pa.string(), "The book's path under `comics/`, without extension, Unicode NFC")
_PAGE = _column("page_id", pa.string(), "`<book_id>/0007`")
_NUMBER = _column("page_number", pa.int32(), "Place of the page in its book, from 1")
_BOX = [
    _column("x", pa.int32(), "Left edge in pixels of the upright page"),
    _column("y", pa.int32(), "Top edge in pixels of the upright page"),
    _column("w", pa.int32(), "Width in pixels"),
    _column("h", pa.int32(), "Height in pixels"),
]
_POLYGON = pa.list_(pa.list_(pa.int32()))
EDIT = pa.struct(
    [
        pa.field("x", pa.int32(), nullable=False),
        pa.field("y", pa.int32(), nullable=False),
        pa.field("w", pa.int32(), nullable=False),
        pa.field("h", pa.int32(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)
OPTION = pa.struct(
    [
        pa.field("panel_id", pa.string(), nullable=False),
        pa.field("edits", pa.list_(EDIT), nullable=False),
    ]
)

COMIC_BOOKS = pa.schema(
    [
        _BOOK,
        _column("title", pa.string(), "From the catalog, else ComicInfo.xml, else the file's name"),
        _column("series", pa.string(), "From ComicInfo.xml", null=True),
        _column("licence", pa.string(), "From the catalog; null means unknown", null=True),
        _column("split", pa.string(), "`train`, `val` or `test`: from the catalog, else a hash of the book's id"),
        _column("right_to_left", pa.bool_(), "Reading direction: from the catalog, else ComicInfo.xml, else false"),
        _column("container", pa.string(), "`zip`, `rar`, `7z`, `tar`, `pdf`, `epub` or `folder`"),
        _column("path", pa.string(), "Path of the book under `comics/` as it is on disk"),
        _SOURCE,
    ]
)
COMIC_PAGES = pa.schema(
    [
        _PAGE,
        _BOOK,
        _NUMBER,
        _column("member", pa.string(), "Path of the picture inside the book"),
        _column("image", pa.large_binary(), "The picture's bytes as they came"),
        _column("media_type", pa.string(), "Found from the bytes, never from the name: `image/jpeg`, ..."),
        _column("width", pa.int32(), "Pixels, after the EXIF rotation"),
        _column("height", pa.int32(), "Pixels, after the EXIF rotation"),
        _column("sha256", pa.string(), "Digest of the bytes, hex"),
        _column("phash", pa.string(), "64-bit perceptual hash (DCT) of the upright page, 16 hex digits"),
        _column("spread", pa.bool_(), "A double page in one picture"),
        _column("duplicate_of", pa.string(), "The earlier page of this book that shows the same", null=True),
        _column("kind", pa.string(), "What the file itself says: `cover`, `advertisement`, ..., else `story`"),
        _SOURCE,
    ]
)
COMIC_ANNOTATIONS = pa.schema(
    [
        _BOOK,
        _column("page_id", pa.string(), "The page it covers; null for what covers the book", null=True),
        _column("aspect", pa.string(), "What is annotated: `kind`, `panels`, `texts`, `captions` or `stories`"),
        _column("payload", pa.string(), "The annotation as canonical JSON, in pixels of the upright page"),
        _column("file", pa.string(), "The annotation file, under `annotations/`"),
        _SOURCE,
    ]
)
COMIC_PANELS = pa.schema(
    [
        _column("panel_id", pa.string(), "`<page_id>/03`, counted in reading order"),
        _PAGE,
        _BOOK,
        _NUMBER,
        _column("reading_order", pa.int32(), "Place of the panel on its page, from 1"),
        *_BOX,
        _column("polygon", _POLYGON, "Outline as [x, y] points in pixels"),
        _column("confidence", pa.float32(), "0 to 1; 1 for human rows"),
        _SOURCE,
    ]
)
COMIC_PANEL_FEATURES = pa.schema(
    [
        _column("panel_id", pa.string(), "The panel"),
        _PAGE,
        _BOOK,
        _NUMBER,
        _column("phash", pa.string(), "64-bit perceptual hash (DCT) of the panel's picture, 16 hex digits"),
        _column("contrast", pa.float32(), "Standard deviation of grey, 0 to 128: near 0 for an empty panel"),
        _column("sharpness", pa.float32(), "Variance of the Laplacian of grey: low for a blurred picture"),
        _column("edge_density", pa.float32(), "Share of pixels on an edge (Canny), 0 to 1"),
        _column("jpeg_bytes", pa.int32(), "Size as a JPEG of quality 90, at about 1000 pixels a page's width"),
        _column("colours", pa.list_(pa.float32()), "Shares of pixels in 4 x 4 x 4 cells of RGB, 64 values"),
        _SOURCE,
    ]
)
COMIC_TEXTS = pa.schema(
    [
        _column("text_id", pa.string(), "`<page_id>/t03`, counted in reading order"),
        _PAGE,
        _column("panel_id", pa.string(), "The panel with the largest share of the box, else the nearest", null=True),
        _BOOK,
        _NUMBER,
        _column("reading_order", pa.int32(), "Place of the textbox on its page, panel by panel, from 1"),
        *_BOX,
        _column("text", pa.string(), "Transcription, lines joined by spaces"),
        _column("confidence", pa.float32(), "0 to 1; 1 for human rows"),
        _column("panel_share", pa.float32(), "Share of the box's area inside its panel, 0 to 1"),
        _SOURCE,
    ]
)
COMIC_PAGE_KINDS = pa.schema(
    [
        _PAGE,
        _BOOK,
        _NUMBER,
        _column("kind", pa.string(), "`cover`, `first_page`, `advertisement`, `letters`, `text_story` or `story`"),
        _column("reason", pa.string(), "The signal that decided, or the model's words"),
        _column("starts_story", pa.bool_(), "Whether a story starts here, says a model; null: signals tell", null=True),
        _SOURCE,
    ]
)
COMIC_STORIES = pa.schema(
    [
        _column("story_id", pa.string(), "`<book_id>/s02`"),
        _BOOK,
        _column("first_page", pa.int32(), "First page number of the story"),
        _column("last_page", pa.int32(), "Last page number of the story, included"),
        _SOURCE,
    ]
)
COMIC_CAPTIONS = pa.schema(
    [
        _column("panel_id", pa.string(), "The panel that the caption describes"),
        _BOOK,
        _column("caption", pa.string(), "What the panel shows, without its spoken or narrated words"),
        _SOURCE,
    ]
)
COMICSPAP_SAMPLES = pa.schema(
    [
        _column("sample_id", pa.string(), "Unique over all tasks and splits: `<task>/<first panel of the window>`"),
        _column("task_type", pa.string(), "The task: `sequence_filling`, `char_coherence`, ..."),
        _column("split", pa.string(), "`train`, `val` or `test`: the split of the book"),
        _BOOK,
        _column("story_id", pa.string(), "The story that the window lies in"),
        _column("context", pa.list_(pa.string()), "Panel ids that are shown, in reading order"),
        _column("index", pa.int32(), "Where the missing panel goes in the context, from 0; -1 without context"),
        _column("options", pa.list_(OPTION), "Panels to choose from, with the textboxes that are drawn anew"),
        _column("solution_index", pa.int32(), "Place of the right option, from 0"),
        _column("font_size", pa.int32(), "Size in pixels of the text that is drawn anew, in all options", null=True),
        _column("previous_panel_caption", pa.string(), "The caption shown in `caption_relevance`, else empty"),
        _SOURCE,
    ]
)
COMICSPAP_AUDIT = pa.schema(
    [
        _column("split", pa.string(), "The split whose samples were tried"),
        _column("task_type", pa.string(), "The task"),
        _column("solver", pa.string(), "What the solver picks, looking at no story"),
        _column("samples", pa.int32(), "How many samples it tried"),
        _column("accuracy", pa.float64(), "Percent right; an option that ties with others counts in part"),
        _column("low", pa.float64(), "Lower end of the accuracy's 95% interval (Wilson), percent"),
        _column("high", pa.float64(), "Upper end, percent"),
        _column("chance", pa.float64(), "Percent right of a blind guess: the mean of 1/k over samples with k options"),
        _column(
            "p_value", pa.float64(), "Bound on the chance that a blind guess scores as much (Hoeffding), not corrected"
        ),
        _column("leak", pa.bool_(), "Beats chance at the 5% level, corrected for the number of solvers"),
        _SOURCE,
    ]
)
FAILURES = pa.schema(
    [
        _column("stage", pa.string(), "The stage that could not process the item"),
        _column("shard", pa.string(), "The shard the item belongs to"),
        _column("item_id", pa.string(), "The book, page, panel or file"),
        _column("kind", pa.string(), "Groups alike failures: `corrupt`, `encrypted`, `too_large`, ..."),
        _column("message", pa.string(), "What happened, where, and what can be done"),
        _column("time", pa.timestamp("us", tz="UTC"), "When it was found"),
    ]
)
DROPPED = pa.schema(
    [
        _column("stage", pa.string(), "The stage whose rule left the item out"),
        _column("shard", pa.string(), "The shard the item belongs to"),
        _column("item_id", pa.string(), "The window, page or panel"),
        _column("reason", pa.string(), "The rule that left it out"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "comic_books": COMIC_BOOKS,
    "comic_pages": COMIC_PAGES,
    "comic_annotations": COMIC_ANNOTATIONS,
    "comic_panels": COMIC_PANELS,
    "comic_panel_features": COMIC_PANEL_FEATURES,
    "comic_texts": COMIC_TEXTS,
    "comic_page_kinds": COMIC_PAGE_KINDS,
    "comic_stories": COMIC_STORIES,
    "comic_captions": COMIC_CAPTIONS,
    "comicspap_samples": COMICSPAP_SAMPLES,
    "comicspap_train": COMICSPAP_SAMPLES,
    "comicspap_val": COMICSPAP_SAMPLES,
    "comicspap_test": COMICSPAP_SAMPLES,
    "comicspap_audit": COMICSPAP_AUDIT,
}
PAGE_KINDS = ("cover", "first_page", "advertisement", "letters", "text_story", "story")
SPLITS = ("train", "val", "test")
TASKS = ("sequence_filling", "char_coherence", "visual_closure", "text_closure", "caption_relevance")
