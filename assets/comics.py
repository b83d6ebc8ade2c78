"""The tables of comic books: from files to pages, panels, texts, stories and captions.

What belongs here: which tables there are and what they depend on. How a row is computed stands in `pipelines.comics`.
"""

from collections.abc import Mapping

import dagster as dg

from assets.previews import page_pictures
from assets.tables import Finished, Found, TableSpec
from pipelines.comics.annotations.files import read_annotation_files
from pipelines.comics.annotations.matching import entries_digest, group_by_book
from pipelines.comics.annotations.resolve import ResolveAnnotations
from pipelines.comics.captions import WriteCaptions
from pipelines.comics.detect_panels import DetectPanels
from pipelines.comics.library import BookSource, source_digest, source_stat
from pipelines.comics.page_kinds import DecideKinds
from pipelines.comics.pages import ReadBooks, ReadPages
from pipelines.comics.panel_features import PanelFeatures
from pipelines.comics.stories import SplitStories
from pipelines.comics.texts import ReadTexts
from pipelines.errors import LibraryError
from pipelines.identity import fingerprint
from pipelines.markdown import escape, table
from pipelines.schemas import COMIC_CAPTIONS
from resources.build import Source
from resources.project import Project

_SHOWN_CAPTIONS = 9
_FILES = {"parquet"}
_VISION = {"parquet", "opencv"}


def find_pages(project: Project) -> Found:
    """The books of the library, with the digest of their content.

    Raises LibraryError where there is none and never was: most likely the path is wrong.
    """
    books, failures = project.books()
    # Each of the two tables that are built from files alone is emptied by its own run of this.
    if not books and not any(project.lake.has_table(table) for table in ("comic_books", "comic_pages")):
        found = (
            f" Of what is there nothing can be used: {failures[0].item_id}: {failures[0].message}" if failures else ""
        )
        raise LibraryError(
            "the library holds no book",
            where=str(project.comics),
            remedy=f"Set STORYLOOM_LIBRARY to a folder with books in it: archives, PDF, EPUB, folders of pictures.{found}",
        )
    return Found(_digested(project, books), failures=failures)


def _digested(project: Project, books: list[BookSource]) -> Mapping[str, Source]:
    return project.digested("books", {book.book_id: book for book in books}, source_stat, source_digest)


def _find_books(project: Project) -> Found:
    """The same, with what the catalog says of a book: that is no part of its content, so it moves this table alone."""
    pages = find_pages(project)
    sources = {}
    for book_id, source in (pages.sources or {}).items():
        book: BookSource = source.value
        sources[book_id] = Source(book, fingerprint([source.digest, book.relative_path, vars(book.catalog)]))
    return Found(sources, failures=pages.failures)


def _books(project: Project) -> Finished:
    has_books = project.lake.has_table("comic_books")
    note = f"The library holds no book any more ({project.comics}), so the tables are empty."
    return Finished({} if has_books else {"note": note})


def _find_annotations(project: Project) -> Found:
    """For each book the annotations that people made of it, from all files together."""
    books, _ = project.books()
    entries, unread = read_annotation_files(project.annotations)
    by_book, unknown = group_by_book(entries, [book.book_id for book in books])
    found = {book.book_id: by_book.get(book.book_id, []) for book in books}
    sources = {book: Source(of_book, entries_digest(of_book)) for book, of_book in found.items()}
    return Found(sources, failures=[*unread, *unknown])


def _captions(project: Project) -> Finished:
    """A few captions, or why there is none."""
    rows: list[dict[str, str]] = []
    for shard in sorted(project.lake.footers("comic_captions")):
        rows += project.lake.read("comic_captions", shard, COMIC_CAPTIONS).slice(0, 3).to_pylist()
        if len(rows) >= _SHOWN_CAPTIONS:
            break
    if rows:
        cells = [[escape(row["panel_id"]), escape(row["caption"], 600), escape(row["source"])] for row in rows]
        return Finished({"captions": dg.MetadataValue.md(table(["panel", "caption", "source"], cells, numbers=False))})
    note = (
        "No panel has a caption, so the task caption_relevance has no samples. Captions come from the files in the "
        "library's folder `annotations`, or from a `captioner` that the profile names."
    )
    return Finished({"note": note})


COMICS = [
    TableSpec(
        "comic_books",
        "One row a book: title, licence, split and reading direction, from the catalog, ComicInfo.xml or the file's name.",
        "books",
        _FILES,
        lambda project: ReadBooks(project.profile.limits, split_shares=project.split_shares),
        find=_find_books,
        finish=lambda project, progress, config: _books(project),
        version=2,
    ),
    TableSpec(
        "comic_pages",
        "One row a page: the picture's bytes as they came, its size, digest and perceptual hash.",
        "books",
        _FILES,
        lambda project: ReadPages(project.profile.limits),
        find=find_pages,
        version=2,
    ),
    TableSpec(
        "comic_annotations",
        "What people marked on pages, in pixels of the page: it replaces what models find there.",
        "books",
        _FILES,
        lambda project: ResolveAnnotations(),
        ("comic_books", "comic_pages"),
        find=_find_annotations,
    ),
    TableSpec(
        "comic_panels",
        "One row a panel, numbered in reading order.",
        "reading",
        _VISION,
        lambda project: DetectPanels(project.model("panel_detector")),
        ("comic_books", "comic_pages", "comic_annotations"),
        finish=lambda project, progress, config: Finished(page_pictures(project, texts=False)),
    ),
    TableSpec(
        "comic_texts",
        "One row a textbox with its transcription, in reading order, and the panel that holds it.",
        "reading",
        {"parquet", "onnx"},
        lambda project: ReadTexts(project.model("text_reader")),
        ("comic_books", "comic_pages", "comic_panels", "comic_annotations"),
        finish=lambda project, progress, config: Finished(page_pictures(project, texts=True)),
    ),
    TableSpec(
        "comic_panel_features",
        "What each panel's picture looks like in numbers: perceptual hash, sharpness, colours.",
        "reading",
        _VISION,
        lambda project: PanelFeatures(),
        ("comic_pages", "comic_panels"),
    ),
    TableSpec(
        "comic_page_kinds",
        "What each page is: cover, first page, advertisement, letters, text story or story page.",
        "stories",
        _FILES,
        lambda project: DecideKinds(classifier=project.model("page_classifier")),
        ("comic_pages", "comic_panels", "comic_texts", "comic_annotations"),
    ),
    TableSpec(
        "comic_stories",
        "The runs of pages that make a story.",
        "stories",
        _FILES,
        lambda project: SplitStories(),
        ("comic_page_kinds", "comic_annotations", "comic_pages", "comic_panels", "comic_texts"),
    ),
    TableSpec(
        "comic_captions",
        "What a panel shows, in words, without what is said in it.",
        "stories",
        _FILES,
        lambda project: WriteCaptions(project.model("captioner")),
        ("comic_panels", "comic_annotations", "comic_pages", "comic_texts", "comic_page_kinds"),
        finish=lambda project, progress, config: _captions(project),
    ),
]
