"""What a file that is no readable picture really is, told from its first and last bytes, in words that help.

Only messages and kinds are decided here; nothing is decoded.
"""

from __future__ import annotations

from pipelines.errors import ItemError

COPY_AGAIN = "Copy the file again from its source."

_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")
_OTHER_PICTURES = (
    (b"\0\0\0\x0cjP  ", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"\xff\x0a", "a JPEG XL picture"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL picture"),
    (b"8BPS", "a Photoshop document"),
    (b"\0\0\1\0", "an icon"),
)
_OTHER_FILES = (
    (b"PK\3\4", "a ZIP archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "gzip-compressed data"),
)


def describe_unknown(data: bytes, error: Exception) -> ItemError:
    """The error for bytes that no picture format claims: a damaged picture, another format, or something else."""
    start = data[:2048]
    iso = start[8:12] if start[4:8] == b"ftyp" else b""
    webp = start[:4] == b"RIFF" and start[8:12] == b"WEBP"
    if start.startswith(_PICTURES) or webp or iso in (b"avif", b"avis"):
        if looks_cut(data) or "truncated" in str(error):
            return ItemError("truncated", "The picture file ends before the picture does", remedy=COPY_AGAIN)
        return ItemError(
            "corrupt", f"The picture file is damaged, its header cannot be read: {error}", remedy=COPY_AGAIN
        )
    for magic, name in (*_OTHER_PICTURES, (b"", "a HEIF picture")):
        if start.startswith(magic) if magic else iso:
            return ItemError(
                "unsupported",
                f"The file is {name}, a format that is not read",
                remedy="Save it as JPEG, PNG, WebP, TIFF, GIF, BMP or AVIF.",
            )
    return ItemError(
        "not_a_picture",
        f"The file has a picture's name but is {_guess(start)}",
        remedy="Fetch the picture again from its source, or take the file out of the book.",
    )


def looks_cut(data: bytes) -> bool:
    """Whether a picture file lacks the end that its format demands."""
    if data.startswith(b"\xff\xd8"):
        return b"\xff\xd9" not in data[-4096:]
    if data.startswith(b"\x89PNG"):
        return b"IEND" not in data[-4096:]
    if data.startswith(b"RIFF"):
        return int.from_bytes(data[4:8], "little") + 8 > len(data)
    if data.startswith(b"BM"):
        return int.from_bytes(data[2:6], "little") > len(data)
    return False


def _guess(start: bytes) -> str:
    for magic, name in _OTHER_FILES:
        if start.startswith(magic):
            return name
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html")) or b"<html" in text[:512]:
        return "a web page, perhaps the error page of a download that failed"
    if b"<svg" in text:
        return "an SVG drawing, which is not read"
    if text.startswith((b"<?xml", b"<")):
        return "an XML document"
    if not text.strip(b"\0"):
        return "nothing but zeros"
    if all(byte >= 32 or byte in b"\t\r\n" for byte in text):
        return f"text that begins with {text[:40].decode('utf-8', 'replace')!r}"
    return "of no known picture format"
