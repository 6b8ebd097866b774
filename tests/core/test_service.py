"""What a service manager hears over its socket, from each program that runs for long."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from omd.programs.service.service import Service
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.kill  # what hangs can be ended in no other way

OMD = Path(sys.executable).with_name("omd")
WATCHDOG = 0.4  # seconds

PROGRAMS = {
    "worker": ["worker", "--workers", "1"],
    "scheduler": ["worker", "--kind", "TOPIC"],
    "loader": ["worker", "--kind", "FACTS"],
    "sender": ["send"],
    "openlineage": ["send", "--openlineage"],
    "metrics": ["report", "metrics", "--output", "prometheus", "--listen", "0"],
    "web": ["web", "--port", "0", "--no-open"],
}


class Manager:
    """The socket of a service manager, and what has come to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.heard: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self._socket.setblocking(False)

    def all(self) -> list[str]:
        with contextlib.suppress(BlockingIOError):
            while True:
                self.heard.append(self._socket.recv(4096).decode())
        return self.heard

    def hears(self, line: str, seconds: float = 60) -> None:
        """Wait for a line."""
        until(lambda: any(line in text.split("\n") for text in self.all()), seconds)

    def is_silent(self, seconds: float) -> bool:
        """Whether nobody says that it lives, so long."""
        self.all()
        self.heard.clear()
        time.sleep(seconds)
        return "WATCHDOG=1" not in self.all()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest) -> Iterator[Manager]:
    yield from opened(request.param)


@pytest.fixture
def one_manager() -> Iterator[Manager]:
    yield from opened("path")


def opened(kind: str) -> Iterator[Manager]:
    with tempfile.TemporaryDirectory() as folder:
        at = f"{folder}/notify" if kind == "path" else f"@omd-test-{secrets.token_hex(8)}"
        manager = Manager(at)
        yield manager
        manager.close()


def environment(manager: Manager, dsn: str = "", watchdog: float | None = WATCHDOG) -> dict:
    variables = {**os.environ, "NOTIFY_SOCKET": manager.address, "OMD_DSN": dsn}
    return variables | ({"WATCHDOG_USEC": str(int(watchdog * 1e6))} if watchdog else {})


@contextlib.contextmanager
def started(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as it:
        try:
            yield it
        finally:
            it.kill()


@pytest.mark.alone
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_says_that_it_is_ready_lives_and_ends(one_manager, dsn, name):
    manager = one_manager
    if name == "sender":
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("CALL omd_event.register_sink('a', 'COMMAND', p_target => '/bin/true')")
    with started([OMD, *PROGRAMS[name]], environment(manager, dsn)) as process:
        manager.hears("READY=1")
        ready = next(text for text in manager.heard if "READY=1" in text)
        assert ready.split("\n")[1].startswith("STATUS=")
        assert len(ready.split("\n")[1]) > len("STATUS=")
        # It has nothing to do, and lives all the same: at half of the time at least.
        manager.all()
        manager.heard.clear()
        began = time.monotonic()
        until(lambda: manager.all().count("WATCHDOG=1") >= 7)
        assert time.monotonic() - began < 5 * WATCHDOG
        assert "STOPPING=1" not in manager.heard
        process.send_signal(signal.SIGTERM)
        manager.hears("STOPPING=1")
        assert process.wait(timeout=60) == 0
    assert manager.all().count("STOPPING=1") == 1
    assert sum("READY=1" in text for text in manager.heard) <= 1


def test_a_worker_is_ready_once_it_has_registered(manager, dsn):
    with (
        psycopg.connect(dsn, autocommit=True) as conn,
        started([OMD, "worker"], environment(manager, dsn, None)),
    ):
        manager.hears("READY=1")
        [(backend,)] = conn.execute("SELECT backend_id FROM omd_report.dispatch_backends")
        assert f"STATUS={backend} serves WORKER" in manager.heard[0]
        assert "WATCHDOG=1" not in manager.heard


def test_nothing_is_said_before_it_can_work(one_manager, empty_dsn):
    for name in ("worker", "scheduler", "loader", "web", "openlineage"):
        with started([OMD, *PROGRAMS[name]], environment(one_manager, empty_dsn)) as process:
            assert process.wait(timeout=60) != 0
    assert not any("READY=1" in text for text in one_manager.all())


def test_a_program_whose_main_loop_hangs_is_silent_though_its_threads_go_on(one_manager, dsn):
    """The scheduler reads the ready list in its main loop; its publisher is a thread."""
    manager = one_manager
    command = [OMD, "worker", "--kind", "TOPIC", "--poll", "0.1"]
    with (
        psycopg.connect(dsn) as conn,
        started(command, environment(manager, dsn)),
    ):
        manager.hears("READY=1")
        manager.hears("WATCHDOG=1")
        conn.execute("LOCK omd_lineage.topic IN ACCESS EXCLUSIVE MODE")
        until(
            lambda: conn.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted"
                " AND relation = 'omd_lineage.topic'::regclass"
            ).fetchone()
        )
        assert manager.is_silent(4 * WATCHDOG)
        conn.rollback()
        manager.hears("WATCHDOG=1")


def test_a_loop_that_sleeps_is_silent(one_manager, tmp_path):
    manager = one_manager
    silence_is_over = tmp_path / "over"
    program = textwrap.dedent(f"""
        import pathlib, sys, threading, time
        from omd.programs.service.loop import Loop
        over = pathlib.Path({str(silence_is_over)!r})
        threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
        loop = Loop(print)
        with loop.signals():
            loop.service.ready("it is")
            loop.wait(1)
            loop.service.status("nobody turns it")
            while not over.exists():
                time.sleep(0.01)
            loop.service.status("it turns again")
            loop.wait(30)
    """)
    with started([sys.executable, "-c", program], environment(manager)):
        manager.hears("WATCHDOG=1")
        manager.hears("STATUS=nobody turns it")
        assert manager.is_silent(4 * WATCHDOG)
        silence_is_over.touch()
        manager.hears("STATUS=it turns again")
        manager.heard.clear()
        manager.hears("WATCHDOG=1")


def test_what_the_loop_looks_after_must_turn_too(one_manager):
    service = Service(one_manager.address, WATCHDOG)
    turns = False
    service.turns = lambda: turns
    service.beat()
    assert one_manager.all() == []
    assert 0 < service.pause <= WATCHDOG / 2  # the loop looks again, and not in a hurry
    turns = True
    until(lambda: service.beat() or one_manager.all() == ["WATCHDOG=1"], 5)


def test_a_lost_database_is_the_status(one_manager, dsn, server):
    manager = one_manager
    with (
        psycopg.connect(server, autocommit=True) as conn,
        started([OMD, *PROGRAMS["scheduler"]], environment(manager, dsn)),
    ):
        manager.hears("READY=1")
        name = conninfo_to_dict(dsn)["dbname"]
        conn.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            [name],
        )
        until(lambda: any("STATUS=there is no connection" in text for text in manager.all()))
        manager.heard.clear()
        manager.hears("WATCHDOG=1")  # it lives, and waits for the database
        conn.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        manager.hears("STATUS=polling every 10 s")


@pytest.mark.parametrize(
    ("variables", "beats"),
    [
        ({"WATCHDOG_USEC": "400000"}, True),
        ({"WATCHDOG_USEC": "400000", "WATCHDOG_PID": str(os.getpid())}, True),
        ({"WATCHDOG_USEC": "400000", "WATCHDOG_PID": "1"}, False),
        ({"WATCHDOG_USEC": "0"}, False),
        ({"WATCHDOG_USEC": "soon"}, False),
        ({"WATCHDOG_USEC": "-1"}, False),
        ({}, False),
    ],
)
def test_the_watchdog_is_for_the_process_that_is_named(one_manager, variables, beats):
    given = {"NOTIFY_SOCKET": one_manager.address, "OTHER": "1", **variables}
    service = Service.of_environment(given)
    assert given == {"OTHER": "1"}  # children of the program are not meant
    service.beat()
    service.ready("it is")
    said = ["WATCHDOG=1"] if beats else []
    assert one_manager.all() == [*said, "READY=1\nSTATUS=it is"]
    assert service.pause == (pytest.approx(0.2, abs=0.1) if beats else float("inf"))


@pytest.mark.parametrize("address", ["", "@", "relative", "vsock:2:1", "/nowhere/at/all"])
def test_a_manager_that_is_not_there_stops_nobody(address):
    service = Service.of_environment({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000"})
    service.ready("it is")
    service.beat()
    service.stopping()


def test_a_status_is_one_line(one_manager):
    service = Service(one_manager.address)
    service.status("lost:\nREADY=1\n\tX" + "x" * 1000)
    [text] = one_manager.all()
    assert text.startswith("STATUS=lost: READY=1 X")
    assert "\n" not in text
    assert len(text) < 300
