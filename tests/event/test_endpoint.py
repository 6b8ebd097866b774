"""The endpoint: /metrics, /healthz and /readyz beside programs that run for long."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest

from omd.programs.report.metrics import listening
from omd.programs.service.endpoint import Endpoint, Shared
from omd.programs.service.loop import Loop
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

OMD = Path(sys.executable).with_name("omd")
METRICS = ["report", "metrics", "--output", "prometheus"]


def get(url: str, path: str, method: str = "GET") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request(method, path)
    answer = connection.getresponse()
    kind = answer.headers.get("Content-Type", "")
    text = answer.read().decode()
    connection.close()
    return answer.status, kind, text


@contextmanager
def program(dsn: str, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a command that listens; yields where."""
    process = subprocess.Popen(
        [OMD, *arguments, "--listen", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMD_DSN": dsn},
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if match := re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line):
                break
        assert match
        yield match[1], process
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def endpoint(
    metrics: Callable[[], str] = lambda: "",
    turns: Callable[[], bool] = lambda: True,
    unready: Callable[[], str | None] = lambda: None,
) -> Iterator[str]:
    with Endpoint("127.0.0.1", 0, metrics=metrics, turns=turns, unready=unready) as it:
        yield it.url


@contextmanager
def listens(dsn: str) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        told: list[str] = []
        patch.setattr("click.echo", lambda line, **_: told.append(line))
        with listening(("127.0.0.1", 0), dsn, lambda: True):
            yield told[0].removeprefix("listening on ")


@pytest.mark.parametrize(
    "command", [METRICS, ["worker", "--group", "NONE"], ["worker", "--kind", "TOPIC"]]
)
def test_a_program_that_runs_for_long_answers_until_sigterm(
    conn: Connection, dsn: str, command: list[str]
) -> None:
    with program(dsn, *command) as (url, process):
        status, kind, text = get(url, "/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        assert re.search(r'^omd_info\{version="[^"]+"\} 1$', text, re.MULTILINE)
        assert get(url, "/healthz")[::2] == (200, "ok\n")
        assert get(url, "/readyz")[::2] == (200, "ok\n")
        assert get(url, "/other")[0] == 404
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0


def test_no_codes_hold_over_http_too(conn: Connection, dsn: str) -> None:
    Flow(conn).batch("secret")
    with program(dsn, *METRICS, "--where", "is_per_code=false") as (url, _):
        text = get(url, "/metrics")[2]
    assert "secret" not in text
    assert "omd_info" in text


def test_who_asks_meanwhile_gets_the_same_answer_and_who_comes_later_another() -> None:
    began, may_end, asked = threading.Event(), threading.Event(), []

    def ask() -> int:
        asked.append(1)
        began.set()
        assert may_end.wait(30)
        return len(asked)

    shared, answers = Shared(ask), list[int]()
    threads = [
        threading.Thread(target=lambda: answers.append(shared.get()), daemon=True) for _ in range(5)
    ]
    threads[0].start()
    assert began.wait(30)
    for thread in threads[1:]:
        thread.start()
    on_its_way = shared._on_its_way
    assert on_its_way is not None
    until = time.monotonic() + 30
    while len(on_its_way._condition._waiters) < 4:  # type: ignore[attr-defined]
        assert time.monotonic() < until
        os.sched_yield()
    may_end.set()
    for thread in threads:
        thread.join(30)
    assert answers == [1] * 5
    assert shared.get() == 2


def test_an_error_reaches_all_who_wait_and_is_not_kept(conn: Connection) -> None:
    answers = iter([ValueError("secret"), "text"])

    def metrics() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with endpoint(metrics) as url:
        status, _, text = get(url, "/metrics")
        assert status == 503
        assert "secret" not in text
        assert get(url, "/metrics")[::2] == (200, "text")


def test_a_loop_that_does_not_turn_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(lambda _: None)
    with endpoint(turns=lambda: loop.turns) as url:
        loop.wait(0)
        assert get(url, "/healthz")[0] == 200
        began = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: began + 61)
        assert loop.turns is False
        monkeypatch.undo()
    with endpoint(turns=lambda: False) as url:
        assert get(url, "/healthz")[0] == 503


def test_a_loop_that_waits_for_an_hour_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(lambda _: None)
    seen = []
    began = time.monotonic()

    class Descriptor:
        def fileno(self) -> int:  # it is asked for while the loop begins to wait
            monkeypatch.setattr(time, "monotonic", lambda: began + 3500)
            seen.append(loop.turns)
            loop.wake()
            return ours.fileno()

    ours, theirs = socket.socketpair()
    loop.wait(3600, Descriptor())
    monkeypatch.undo()
    assert seen[0] is True
    ours.close()
    theirs.close()


def test_a_database_of_another_version_or_without_omd_is_not_ready(
    conn: Connection, dsn: str
) -> None:
    version = Flow(conn).one("SELECT max(product_version) FROM omd.installed_file")
    try:
        conn.execute("UPDATE omd.installed_file SET product_version = '9.9.9'")
        with listens(dsn) as url:
            status, _, text = get(url, "/readyz")
            assert (status, "9.9.9" in text) == (503, True)
    finally:
        conn.execute("UPDATE omd.installed_file SET product_version = %s", [version])
    without = psycopg.conninfo.make_conninfo(dsn, dbname="template1")
    with listens(without) as url:
        assert get(url, "/readyz")[0] == 503


def test_without_a_database_it_is_healthy_and_not_ready(dsn: str) -> None:
    nowhere = psycopg.conninfo.make_conninfo(dsn, dbname="there_is_none")
    with listens(nowhere) as url:
        assert get(url, "/healthz")[0] == 200
        for path in ("/readyz", "/metrics"):
            status, _, text = get(url, path)
            assert (status, text) == (503, "ConnectionFailed; the log says more\n")


def test_the_connection_comes_back_after_it_was_ended(conn: Connection, dsn: str) -> None:
    with listens(dsn) as url:
        assert get(url, "/metrics")[0] == 200
        conn.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name LIKE 'omd-endpoint%'"
        )
        assert get(url, "/metrics")[0] == 200


def test_other_methods_and_odd_requests_are_refused(conn: Connection) -> None:
    with endpoint(metrics=lambda: "text") as url:
        assert get(url, "/metrics?x=1")[::2] == (200, "text")
        assert get(url, "/metrics", "HEAD")[::2] == (200, "")
        assert get(url, "/metrics", "POST")[0] == 501
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as sock:
            sock.sendall(b"GET \0\xff HTTP/9\r\n\r\n")
            sock.shutdown(socket.SHUT_WR)
            assert b" 400 " in sock.recv(1000)
        assert get(url, "/metrics")[0] == 200, "it goes on"


def test_more_clients_than_it_serves_are_closed_and_it_goes_on(conn: Connection) -> None:
    with endpoint(metrics=lambda: "text") as url:
        place = (urlsplit(url).hostname, urlsplit(url).port)
        idle = [socket.create_connection(place, timeout=30) for _ in range(40)]
        closed = 0
        for sock in reversed(idle):  # the last ones had no place
            sock.setblocking(True)
            if closed < 8:
                assert sock.recv(1) == b""
                closed += 1
            sock.close()
        until = time.monotonic() + 30
        while True:  # the threads of those that have gone end
            try:
                assert get(url, "/metrics")[0] == 200
                break
            except (ConnectionError, http.client.HTTPException):
                assert time.monotonic() < until


@pytest.mark.parametrize(("given", "code"), [("x", 2), ("1:99999", 2), ("1.2.3.4:", 2)])
def test_an_address_that_is_none_is_a_wrong_usage(
    omd_here: Command, dsn: str, given: str, code: int
) -> None:
    done = omd_here(*METRICS, "--listen", given, dsn=dsn)
    assert done.returncode == code
    assert "9464" in done.stderr


def test_a_port_that_is_taken_ends_the_program_with_1(omd_here: Command, dsn: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = omd_here(*METRICS, "--listen", str(taken.getsockname()[1]), dsn=dsn)
    assert done.returncode == 1
    assert "can't listen" in done.stderr
