"""Fetching, against a real server on this machine that does what servers do wrong."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipelines.errors import ModelMissingError, SettingsError
from resources.models import fetch as fetching
from resources.models import weights
from resources.models.weights import Weights, known_weights, sha256_of, weights_path

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    asked: list[str]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            self.end_headers()
            return
        if self.path == "/gone":
            self.send_error(404)
            return
        body = CONTENT[::-1] if self.path == "/wrong" else CONTENT
        self.send_response(200)
        if self.path != "/endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = self.path == "/cut" or (self.path == "/cut-once" and server.asked.count("/cut-once") == 1)
        self.wfile.write(body[: len(body) // 3] if cut else body)
        if self.path == "/endless":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def on_record(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Puts weights on record that lie at a path of the server; they are named `net.onnx`."""

    def record(path: str, **fields: object) -> Path:
        url = f"http://127.0.0.1:{server.server_port}{path}"
        entry = Weights(**{"name": "net.onnx", "url": url, "sha256": SHA256, "size": len(CONTENT)} | fields)  # type: ignore[arg-type]
        monkeypatch.setattr(weights, "known_weights", lambda: {"net.onnx": entry})
        monkeypatch.setenv("STORYLOOM_WEIGHTS", str(tmp_path / "cache"))
        return tmp_path / "cache" / "net.onnx"

    return record


def left(place: Path) -> list[str]:
    return sorted(p.name for p in place.parent.iterdir() if not p.name.endswith(".lock"))


@pytest.mark.parametrize("path", ["/good", "/moved", "/cut-once"])
def test_weights_are_fetched_once_and_kept(path: str, server: Server, on_record) -> None:
    place = on_record(path)
    assert weights_path("net.onnx") == place
    assert place.read_bytes() == CONTENT and left(place) == ["net.onnx"]
    asked = list(server.asked)
    assert weights_path("net.onnx") == place and server.asked == asked


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        ("/wrong", SettingsError, "not what is on record"),
        ("/cut", ModelMissingError, "cut after"),
        ("/gone", ModelMissingError, "404"),
        ("/endless", ModelMissingError, "larger than the"),
    ],
)
def test_a_bad_reply_leaves_nothing_behind(
    path: str, error: type[Exception], said: str, server: Server, on_record
) -> None:
    place = on_record(path)
    with pytest.raises(error, match=said):
        weights_path("net.onnx")
    assert left(place) == []
    assert len(server.asked) == (3 if path == "/cut" else 1)


def test_a_file_that_says_it_is_too_large_is_not_read(server: Server, on_record) -> None:
    place = on_record("/good", size=len(CONTENT) - 1)
    with pytest.raises(ModelMissingError, match="larger than the"):
        weights_path("net.onnx")
    assert left(place) == []


def test_offline_the_error_names_the_file_and_its_place(on_record) -> None:
    place = on_record("/good", url="http://127.0.0.1:1/net.onnx")
    with pytest.raises(ModelMissingError) as error:
        weights_path("net.onnx")
    assert "http://127.0.0.1:1/net.onnx" in str(error.value) and f"put it at {place}" in str(error.value)


def test_several_that_want_it_at_once_fetch_it_once(server: Server, on_record) -> None:
    on_record("/good")
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: weights_path("net.onnx"), range(8)))) == 1
    assert server.asked == ["/good"]


def test_a_file_that_was_changed_on_the_disk_is_refused(server: Server, on_record) -> None:
    place = on_record("/good")
    weights_path("net.onnx").write_bytes(b"something else")
    with pytest.raises(SettingsError, match="not those on record"):
        weights_path("net.onnx")
    assert place.read_bytes() == b"something else", "what the user may have put there is not touched"


def test_the_start_of_a_checksum_is_enough_where_no_more_is_known(server: Server, on_record) -> None:
    assert on_record("/good", sha256="", sha256_start=SHA256[:8]) == weights_path("net.onnx")


def test_a_redirect_to_an_open_address_is_refused() -> None:
    import urllib.request

    request = urllib.request.Request("https://example.org/a")
    with pytest.raises(OSError, match="unencrypted"):
        fetching._CarefulRedirects().redirect_request(request, None, 302, "", None, "http://example.org/b")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="https or http alone"):
        fetching.fetch("file:///etc/passwd", Path("x"), "", 9)


def test_own_weights_need_a_path_and_a_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORYLOOM_WEIGHTS", str(tmp_path / "cache"))
    mine = tmp_path / "panels.pt"
    mine.write_bytes(CONTENT)
    with pytest.raises(SettingsError, match=r"no checksum of the weights panels\.pt"):
        weights_path("panels.pt", file=str(mine))
    assert weights_path("panels.pt", SHA256.upper(), file=str(mine)) == mine
    with pytest.raises(ModelMissingError, match="are not there"):
        weights_path("panels.pt", SHA256)
    with pytest.raises(SettingsError, match="`weights` is a name"):
        weights_path("../panels.pt", SHA256)


def test_a_folder_is_checked_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "sub" / "model.safetensors").write_bytes(b"1")
    before = sha256_of(tmp_path)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "note").write_text("kept by a downloader")
    assert sha256_of(tmp_path) == before
    (tmp_path / "code.py").write_text("")
    assert sha256_of(tmp_path) != before


def test_what_is_on_record_is_well_formed() -> None:
    for name, record in known_weights().items():
        assert record.licence and Path(name).name == name, name
        assert record.url.startswith("https://") or record.page.startswith("https://") or record.package, name
        for digits, length in ((record.sha256, 64), (record.sha256_start, 8)):
            assert digits == "" or (len(digits) == length and int(digits, 16)), name


def test_small_real_weights_are_not_those_on_record(real_models: Path) -> None:
    with pytest.raises(SettingsError, match=r"their sha256 is e8af0749.* bytes where 3659407 are on record"):
        weights_path("yolox_nano.onnx", file=str(real_models / "yolox_nano_coco.onnx"))
