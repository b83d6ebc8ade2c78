"""The commands that the README shows, as people type them, in processes of their own."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pyarrow.dataset as ds
import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from pipelines.samples.library import draw_library
from pipelines.schemas import SPLITS, TASKS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a drawn library, and room for a lake and for Dagster's records."""
    place = tmp_path_factory.mktemp("commands")
    draw_library(place / "library")
    (place / "home").mkdir()
    return place


def _in_shell(command: str, place: Path, **environment: str) -> tuple[list[str], dict[str, str]]:
    """The command for a shell that sources the environment file; lake, library and records lie in `place`."""
    own = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "STORYLOOM_LIBRARY": str(place / "library"),
        "STORYLOOM_LAKE": str(place / "lake"),
        "PYTHONPATH": str(ROOT / "tests" / "no_network"),
        "STORYLOOM_TESTS_REACHED": str(place / "reached"),
    }
    sourced = f". ./storyloom.env && export DAGSTER_HOME='{place / 'home'}' && {command}"
    # A proxy on this machine would be a way out of it that nobody sees.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("STORYLOOM_", "DAGSTER_"))}
    clean = {k: v for k, v in clean.items() if not k.lower().endswith("_proxy")}
    return ["bash", "-c", sourced], clean | own | environment


def reached(place: Path) -> str:
    """Who tried to reach the network since this was asked last; empty where nobody did."""
    file = place / "reached"
    found = file.read_text("utf-8") if file.exists() else ""
    file.unlink(missing_ok=True)
    return found


def run(command: str, place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; none may try to reach the network, whether or not it minds that it cannot."""
    args, variables = _in_shell(command, place, **environment)
    result = subprocess.run(args, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert reached(place) == ""
    return result


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('192.0.2.1', 443), timeout=1)",
        "import urllib.request; urllib.request.urlopen('https://storyloom.invalid/', timeout=1)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    ],
)
def test_a_try_to_reach_the_network_is_ended_and_seen(place: Path, code: str) -> None:
    """What the other commands are held to: the guard itself works, in their processes and in those they start."""
    child = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {code!r}]))"
    args, variables = _in_shell(f"python -c {shlex.quote(child)}", place)
    assert subprocess.run(args, cwd=ROOT, env=variables, capture_output=True, check=False).returncode != 0
    assert "192.0.2.1" in (found := reached(place)) or "storyloom.invalid" in found


@pytest.fixture(scope="module")
def built(place: Path) -> Path:
    """The place after the bare command has run on an empty lake."""
    result = run("dagster asset materialize --select comicspap_test", place)
    assert result.returncode == 0, result.stderr[-3000:]
    return place


def test_the_bare_command_builds_all_that_stands_before_and_records_it(built: Path) -> None:
    with dg.DagsterInstance.from_config(str(built / "home"), "none.yaml") as instance:
        for table in ("comic_books", "comic_pages", "comic_panels", "comic_texts", "comicspap_samples"):
            event = instance.get_latest_materialization_event(dg.AssetKey(table))
            assert event is not None and event.asset_materialization is not None, table
            rows = event.asset_materialization.metadata["dagster/row_count"].value
            assert rows == ds.dataset(built / "lake" / table).count_rows() > 0, table
    tasks = set(ds.dataset(built / "lake" / "comicspap_test").to_table(columns=["task_type"])["task_type"].to_pylist())
    assert tasks == set(TASKS)


def test_a_second_run_computes_nothing(built: Path) -> None:
    def state() -> dict[str, int]:
        return {str(p): p.stat().st_mtime_ns for p in (built / "lake").rglob("*.parquet")}

    before = state()
    result = run("dagster asset materialize -m assets.definitions --select comicspap_test", built)
    assert result.returncode == 0, result.stderr[-3000:]
    assert state() == before


def test_other_profiles_name_what_is_missing_and_build_it_when_asked(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "lake", tmp_path / "lake")
    for table in ("comic_books", "comic_page_kinds"):
        shutil.rmtree(tmp_path / "lake" / table)
    gpu = {"STORYLOOM_PROFILE": "gpu", "STORYLOOM_LAKE": str(tmp_path / "lake")}
    only = run("dagster asset materialize --select comicspap_val", built, **gpu)
    assert only.returncode != 0
    assert "lack shards: comic_books, " in only.stderr, only.stderr[-3000:]
    assert "comic_page_kinds, " in only.stderr and "--select '+comicspap_val'" in only.stderr
    result = run("dagster asset materialize --select '+comic_page_kinds'", built, **gpu)
    assert result.returncode == 0, result.stderr[-3000:]
    assert ds.dataset(tmp_path / "lake" / "comic_page_kinds").count_rows() > 0


def test_the_newer_form_of_the_command(built: Path) -> None:
    result = run("dg launch --assets comicspap_val,comicspap_train,comicspap_audit", built)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    for split in SPLITS:
        table = ds.dataset(built / "lake" / f"comicspap_{split}").to_table(columns=["task_type", "split"])
        assert set(table["task_type"].to_pylist()) == set(TASKS), split
        assert set(table["split"].to_pylist()) == {split}


def test_the_ui_starts_with_the_environment_file_sourced(built: Path) -> None:
    """`dagster dev` hangs where the environment names the module that workspace.yaml names too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command, environment = _in_shell(f"dagster dev -p {port}", built)
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", HTTPAdapter(max_retries=Retry(total=None, connect=200, backoff_factor=0.5, backoff_max=1)))
    with (built / "dev.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            answer = session.get(f"http://127.0.0.1:{port}/server_info", timeout=60)
            assert "dagster_webserver_version" in answer.json()
        finally:
            # It may miss a request to end while it still starts; nothing of it is needed any more.
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
