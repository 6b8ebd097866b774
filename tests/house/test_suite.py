"""The suite's own machinery: the kept server, and what a run that is ended leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from omd.programs import embedded
from support import kept

TESTS = Path(__file__).parents[1]
WAITS = """
import time
from pathlib import Path
import psycopg

def test_that_does_not_end(server):
    with psycopg.connect(server) as conn:
        data, = conn.execute("SHOW data_directory").fetchone()
    Path("data.new").write_text(data)
    Path("data.new").rename("data")
    time.sleep(600)
"""


def until(condition, seconds: float = 120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


# Runs that are ended ---------------------------------------------------------------------------


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_server(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "test_waits.py").write_text(WAITS)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["support.server"]')
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", tmp_path, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={
            **{name: value for name, value in os.environ.items() if name != "OMD_TEST_DSN"},
            "PYTHONPATH": str(TESTS),
        },
    )
    try:
        until(lambda: (tmp_path / "data").exists() or run.poll() is not None)
        data = Path((tmp_path / "data").read_text())
        pid = int((data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, 0)
    finally:
        run.send_signal(number)
        run.wait()
    until(lambda: not data.parent.exists(), 60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# The kept server -------------------------------------------------------------------------------


class Made:
    """Servers that consist of one file."""

    def __init__(self, patch: pytest.MonkeyPatch, cache: Path) -> None:
        self.count = 0
        patch.setenv("OMD_TEST_CACHE", str(cache))
        patch.setattr(kept, "_make", self.make)
        patch.setattr(embedded, "start", lambda home: None)
        patch.setattr(embedded, "stop", lambda home: None)

    def make(self, home: Path, version: int, settings: object) -> None:
        self.count += 1
        time.sleep(0.2)  # another one would begin now
        (home / "postgres").mkdir()
        (home / "postgres" / "server.log").touch()
        (home / "postgres" / "PG_VERSION").write_text(f"{version}\n")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Made:
    return Made(monkeypatch, cache)


def start(home: Path, **settings: str) -> Path:
    home.mkdir()
    kept.start(home, embedded.DEFAULT_VERSION, settings)
    return home / "postgres"


def test_of_workers_that_start_at_once_one_makes_the_server(made: Made, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        copies = list(pool.map(start, [tmp_path / name for name in "abcd"]))
    assert made.count == 1
    assert {file.name for copy in copies for file in copy.iterdir()} == {"PG_VERSION"}


def test_other_settings_are_another_server_and_the_oldest_go(
    made: Made, tmp_path: Path, cache: Path
) -> None:
    for number in range(kept.KEPT + 2):
        start(tmp_path / str(number), work_mem=f"{number}MB")
        start(tmp_path / f"again-{number}", work_mem="0MB")
    assert made.count == kept.KEPT + 2
    assert len(list(cache.glob("*/postgres"))) == kept.KEPT
    assert {file.name for file in cache.iterdir() if file.is_file()} == {"lock"}


def test_one_that_could_not_be_made_is_not_kept(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(kept, "_copy", fail)
        with pytest.raises(InterruptedError):
            start(tmp_path / "a")
    assert start(tmp_path / "b").is_dir()
    assert made.count == 2


def test_each_file_of_an_installation_is_in_the_key(tmp_path: Path) -> None:
    """The parts are what an installation reads, and each counts by its place and its text."""
    parts = (tmp_path / "sql", tmp_path / "alone.py")
    parts[0].mkdir()
    keys = []
    for file in (parts[0] / "a.sql", parts[0] / "b.sql", parts[1]):
        for text in ("", "1"):
            file.write_text(text)
            keys.append(kept.key(embedded.DEFAULT_VERSION, {}, parts))
    (parts[0] / "a.sql").rename(parts[0] / "c.sql")
    keys.append(kept.key(embedded.DEFAULT_VERSION, {}, parts))
    keys.append(kept.key(embedded.DEFAULT_VERSION, {"jit": "off"}, parts))
    assert len(set(keys)) == len(keys)

    program = (
        "import sys, omd.programs.install, omd._core.version, omd.programs.embedded\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'omd'))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    for name in told.stdout.split():
        file = Path(name)
        assert any(part == file or part in file.parents for part in kept.PARTS), file


@pytest.mark.parametrize("state", ["open", "link", "none", "own"])
def test_a_folder_in_which_others_may_write_is_not_used(
    monkeypatch: pytest.MonkeyPatch, cache: Path, state: str
) -> None:
    monkeypatch.setenv("OMD_TEST_CACHE", "" if state == "none" else str(cache))
    if state == "open":
        cache.mkdir()
        cache.chmod(0o755)
    elif state == "link":
        (cache.parent / "elsewhere").mkdir(mode=0o700)
        cache.symlink_to(cache.parent / "elsewhere")
    assert kept.folder() == (cache if state == "own" else None)
    if state == "own":
        assert cache.stat().st_mode & 0o777 == 0o700
