"""omd doctor --health: 0 or 1, in time, whatever there is."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from core.test_service import OMD, PROGRAMS, environment, opened, started
from omd._core.versions import refusal
from omd.programs import install

if TYPE_CHECKING:
    from collections.abc import Iterator


CERTIFICATE = Path(__file__).parents[1] / "web/loopback.pem"


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port at which somebody listens who never says anything."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_a_database_with_omd_is_well(dsn, omd_here):
    done = omd_here("doctor", "--health", dsn=dsn)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"It is well: the database answers, omd {install.product_version()}.\n"


def test_who_may_only_run_may_ask(dsn, omd_here):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE prober LOGIN IN ROLE omd_runner")
    try:
        assert omd_here("doctor", "--health", dsn=make_conninfo(dsn, user="prober")).returncode == 0
    finally:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("DROP ROLE prober")


def test_a_database_without_omd_is_not(empty_dsn, omd_here):
    done = omd_here("doctor", "--health", dsn=empty_dsn)
    assert done.returncode == 1
    assert "omd install" in done.stderr


def test_no_database_is_1_too(dsn, omd_here):
    for where in ("host=/nowhere", "host=127.0.0.1 port=1", make_conninfo(dsn, dbname="nowhere")):
        done = omd_here("doctor", "--health", dsn=where)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ["--dsn", "garbage"],
        *(["--port", port] for port in ("0", "65536", "x")),
        ["--timeout", "0"],
        ["more"],
        ["--what"],
    ],
)
def test_wrong_usage_is_1_too(omd_here, wrong):
    done = omd_here("doctor", "--health", *wrong)
    assert done.returncode == 1
    assert "Error: " in done.stderr


@pytest.mark.alone
def test_a_database_that_says_nothing_is_1_in_time(silent_port, omd_here):
    began = time.monotonic()
    done = omd_here(
        "doctor", "--health", "--timeout", "1",
        "--dsn", f"host=127.0.0.1 port={silent_port} dbname=d user=u",
    )  # fmt: skip
    assert done.returncode == 1
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("client", "database", "fits"),
    [
        ("1.0.0", "1.0.0", True),
        ("1.0.3", "1.0.0", True),
        ("1.2.0", "1.7.1", True),  # the database is upgraded first
        ("1.3.0", "1.2.0", True),
        ("1.4.0", "1.2.9", False),
        ("2.0.0", "1.9.0", False),
        ("1.9.0", "2.0.0", False),
        ("0+unknown", "1.0.0", True),
        ("1.0.0", "unknown", True),
    ],
)
def test_which_versions_fit(client, database, fits):
    assert (refusal(client, database) is None) == fits


def test_a_database_of_another_major_version_is_not_well(dsn, omd_here):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE omd.installed_file SET product_version = '99.0.0'")
    done = omd_here("doctor", "--health", dsn=dsn)
    assert done.returncode == 1
    assert "99.0.0" in done.stderr


@pytest.mark.kill
@pytest.mark.parametrize("name", ["metrics", "web"])
def test_a_program_that_listens_is_asked(dsn, omd_here, name):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [port if argument == "0" else argument for argument in PROGRAMS[name]]
    assert omd_here("doctor", "--health", "--port", port).returncode == 1  # nobody listens
    for manager in opened("path"):
        with started([OMD, *command], environment(manager, dsn)):
            manager.hears("READY=1")
            done = omd_here("doctor", "--health", "--port", port, dsn="host=/nowhere")
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout == f"It is well: port {port} is ready.\n"


@pytest.mark.kill
def test_a_page_that_speaks_tls_is_asked(dsn, omd_here):
    """Its certificate is for the name that browsers use, so the probe does not look at it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    tls = ["--tls-cert", str(CERTIFICATE), "--tls-key", str(CERTIFICATE), "--login", "database"]
    for manager in opened("path"):
        with started([OMD, "web", "--no-open", "--port", port, *tls], environment(manager, dsn)):
            manager.hears("READY=1")
            done = omd_here("doctor", "--health", "--port", port)
            assert (done.returncode, done.stderr) == (0, "")


@contextmanager
def answering(answer: bytes | None) -> Iterator[str]:
    """The port of somebody who gives this answer; None is no answer."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def serve() -> None:
            with suppress(OSError):  # the test has ended: nobody asked a second time
                for _ in range(2):
                    client, _address = listening.accept()
                    if answer is not None:
                        client.recv(4096)
                        client.sendall(answer)
                        client.close()

        threading.Thread(target=serve, daemon=True).start()
        yield str(listening.getsockname()[1])


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 503 no\r\nContent-Length: 5\r\n\r\nlost\n", b"\x15\x03\x01\x00\x02", b"", None],
)
def test_any_other_answer_is_1(omd_here, answer):
    with answering(answer) as port:
        done = omd_here("doctor", "--health", "--port", port, "--timeout", "1")
        assert done.returncode == 1
        assert done.stderr.startswith(f"port {port}: ")


@pytest.mark.alone
@pytest.mark.parametrize("answer", [b"", None])
def test_a_program_that_says_nothing_is_1_in_time(omd_here, answer):
    with answering(answer) as port:
        began = time.monotonic()
        assert omd_here("doctor", "--health", "--port", port, "--timeout", "1").returncode == 1
        assert time.monotonic() - began < 5
