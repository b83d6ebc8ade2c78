"""Fetching one file whose content is known beforehand: with a bar, within a size, placed whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from pipelines.errors import ModelMissingError, SettingsError

_SECONDS = 30.0
_TRIES = 3
_CHUNK = 1 << 20


class _Cut(Exception):
    """The connection ended before the file did."""


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from an encrypted address to one that is not."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise urllib.error.HTTPError(req.full_url, code, f"it leads to {newurl}, unencrypted", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(url: str, path: Path, sha256: str, limit: int, *, remedy: str = "") -> None:
    """Fetch `url` to `path`, if what comes has this SHA-256 (or starts with it) and at most `limit` bytes.

    Raises ModelMissingError where nothing or too much comes, SettingsError where it is something else. Nothing is left
    behind then. A cut connection is tried again.
    """
    if not url.startswith(("https://", "http://")):
        raise SettingsError("weights are fetched by https or http alone", where=url)
    for left in reversed(range(_TRIES)):
        part = Path(tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)[1])
        try:
            found = _download(url, part, limit)
            if not found.startswith(sha256):
                raise SettingsError(
                    f"what was fetched is not what is on record: its sha256 is {found}, not {sha256}",
                    where=url,
                    remedy=f"It was thrown away. {remedy}",
                )
            os.chmod(part, 0o644)
            os.replace(part, path)
            return
        except (OSError, HTTPException, _Cut) as error:
            if left and not isinstance(error, urllib.error.HTTPError):
                continue
            raise ModelMissingError(
                f"the weights {path.name} are not there and cannot be fetched: {error}", where=url, remedy=remedy
            ) from error
        finally:
            part.unlink(missing_ok=True)


def _download(url: str, part: Path, limit: int) -> str:
    """The SHA-256 of what was written to `part`."""
    request = urllib.request.Request(url, headers={"User-Agent": "storyloom", "Accept-Encoding": "identity"})
    digest, got = hashlib.sha256(), 0
    with (
        urllib.request.build_opener(_CarefulRedirects).open(request, timeout=_SECONDS) as reply,
        part.open("wb") as out,
    ):
        announced = int(reply.headers.get("Content-Length") or 0)
        _within(url, announced, limit)
        name = url.rpartition("/")[2]
        with tqdm(total=announced or None, desc=name, unit="B", unit_scale=True, leave=False) as bar:
            while chunk := reply.read(_CHUNK):
                got += len(chunk)
                _within(url, got, limit)
                digest.update(chunk)
                out.write(chunk)
                bar.update(len(chunk))
        if got < announced:
            raise _Cut(f"the connection was cut after {got} of {announced} bytes")
    return digest.hexdigest()


def _within(url: str, size: int, limit: int) -> None:
    if size > limit:
        raise ModelMissingError(f"what the address sends is larger than the {limit} bytes on record", where=url)
