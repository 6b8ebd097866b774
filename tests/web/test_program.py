"""The command ``omd web``: its options, its output, and how it ends."""

from __future__ import annotations

import contextlib
import html
import http.client
import queue
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = Any
    Command = Callable[..., subprocess.CompletedProcess[str]]

CERTIFICATE = Path(__file__).with_name("loopback.pem")
PROGRAM = Path(sys.executable).with_name("omd")


class Program:
    """A running ``omd web``, whose lines are read as they come."""

    def __init__(self, dsn: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "web", "--dsn", dsn, "--no-open", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self.line()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())

    def line(self) -> str:
        return self._lines.get(timeout=60)

    def press_enter(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def ends(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float, str]:
        """Send a signal; return the exit code, how long it took, and what stderr says."""
        began = time.monotonic()
        self._process.send_signal(number)
        code = self._process.wait(60)
        assert self._process.stderr is not None
        return code, time.monotonic() - began, self._process.stderr.read()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def web(dsn: str) -> Iterator[Callable[..., Program]]:
    """A function that starts the command."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> Program:
            program = Program(dsn, *arguments)
            stack.callback(program.close)
            return program

        yield start


def get(url: str, cookie: str | None = None) -> http.client.HTTPResponse:
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    headers = {"Cookie": cookie} if cookie else {}
    connection.request("GET", url.partition(parts.netloc)[2], headers=headers)
    return connection.getresponse()


def ask_in_vain(url: str, cookie: str) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        get(url, cookie)


def test_the_first_line_is_a_link_and_enter_prints_another(web: Callable[..., Program]) -> None:
    program = web("--port", "0", "--prefix", "/omd/")
    assert program.url.startswith("http://127.0.0.1:")
    program.press_enter()
    other = program.line()
    assert urlsplit(other).netloc == urlsplit(program.url).netloc
    assert get(program.url).status == 403  # only the newest one works
    answer = get(other)
    assert answer.status == 303
    assert answer.headers["Location"] == "/omd/"
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    page = f"{other.partition('?')[0]}work"
    assert get(page, cookie).status == 200
    code, _, log = program.ends()
    assert code == 0
    assert program._lines.empty()
    lines = [line.split(" ", 2)[2] for line in log.splitlines()]
    assert lines[-1].startswith("GET /omd/work 200 ")
    assert "token" not in log


@pytest.mark.alone
def test_sigterm_ends_what_is_at_work_in_time(
    web: Callable[..., Program], conn: Connection
) -> None:
    program = web("--port", "0")
    cookie = get(program.url).headers["Set-Cookie"].split(";")[0]
    page = f"{program.url.partition('?')[0]}work"
    conn.execute("BEGIN; LOCK TABLE omd.module IN ACCESS EXCLUSIVE MODE")
    asking = threading.Thread(target=ask_in_vain, args=[page, cookie])
    asking.start()
    waits = (
        "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'omd.module'::regclass"
    )
    until(lambda: conn.execute(waits).fetchone()["n"])
    code, seconds, _ = program.ends()
    assert (code, seconds < 5) == (0, True)
    conn.execute("ROLLBACK")
    asking.join(20)
    assert web("--port", "0").ends(signal.SIGINT)[0] == 0


@pytest.mark.alone
def test_sigterm_is_heard_with_a_hundred_tabs(
    web: Callable[..., Program], conn: Connection
) -> None:
    program = web("--port", "0")
    link = urlsplit(program.url)
    cookie = get(program.url).headers["Set-Cookie"].split(";")[0]
    text = get(f"{program.url.partition('?')[0]}", cookie).read().decode()
    stream = html.unescape(re.findall(r'hx-sse:connect="([^"]*)"', text)[0])
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            tab = stack.enter_context(
                contextlib.closing(http.client.HTTPConnection(link.hostname, link.port, timeout=20))
            )
            tab.request("GET", stream, headers={"Cookie": cookie})
            answer = stack.enter_context(tab.getresponse())
            assert answer.readline() == b"event: on\n"
        conn.execute("CALL omd.register_batch('b', p_frequency_code => 'Adhoc')")
        conn.execute("CALL omd.begin_batch('b')")  # each of them is told
        code, seconds, _ = program.ends()
        assert (code, seconds < 5) == (0, True)


def test_a_socket_is_for_its_owner_and_group(
    web: Callable[..., Program], omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    file = tmp_path / "web.sock"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(file))
    stale.close()
    program = web("--socket", str(file))
    mode = file.stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o660
    link = urlsplit(program.url)

    def ask(path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(file))
        connection.request("GET", path)
        return connection.getresponse()

    assert ask("/healthz").read() == b"ok\n"
    assert ask(f"/?{link.query}").status == 303
    assert program.ends()[0] == 0
    assert not file.exists()
    file.write_text("mine")
    done = omd_here("web", "--socket", str(file), dsn=dsn)
    assert done.returncode == 1
    assert "is there already" in done.stderr
    assert file.read_text() == "mine"


def test_tls(web: Callable[..., Program]) -> None:
    pem = str(CERTIFICATE)
    program = web("--port", "0", "--tls-cert", pem, "--tls-key", pem, "--host", "localhost")
    assert program.url.startswith("https://localhost:")
    parts = urlsplit(program.url)
    context = ssl.create_default_context(cafile=pem)
    assert parts.hostname
    connection = http.client.HTTPSConnection(parts.hostname, parts.port, context=context)
    connection.request("GET", f"/?{parts.query}")
    answer = connection.getresponse()
    assert answer.status == 303
    assert answer.headers["Set-Cookie"].endswith("; Secure")


def test_what_would_be_open_to_others_is_refused_with_the_way_out(
    omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    pem = str(CERTIFICATE)
    broken = tmp_path / "broken.pem"
    broken.write_text("nothing")
    for arguments, hint in [
        (["--host", "0.0.0.0"], "--login database"),
        (["--host", "192.0.2.1", "--tls-cert", pem, "--tls-key", pem], "--login header"),
        (["--host", "::", "--login", "database"], "--tls-cert"),
        (["--login", "database", "--host", "192.0.2.1", "--public-url", "http://x"], "--tls-cert"),
        (["--login", "header"], "--trusted-proxy"),
        (["--login", "header", "--public-url", "https://x"], "--socket"),
        (["--tls-cert", pem], "--tls-key"),
        (["--tls-cert", str(broken), "--tls-key", pem], "certificate"),
        (["--public-url", "omd.example"], "https://"),
        (["--public-url", "https://omd.example/omd"], "--prefix /omd"),
        (["--prefix", "omd"], "/omd"),
        (["--trusted-proxy", "proxy"], "address"),
        (["--idle", "soon"], "30m"),
    ]:
        done = omd_here("web", "--no-open", *arguments, dsn=dsn)
        assert done.returncode == 2, (arguments, done.stderr)
        assert hint in done.stderr, done.stderr
        assert done.stdout == ""


def test_a_port_in_use_a_missing_database_and_an_empty_one_are_told(
    omd_here: Command, dsn: str, empty_dsn: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = omd_here("web", "--no-open", "--port", port, dsn=dsn)
    assert done.returncode == 1
    assert "--port 0" in done.stderr
    done = omd_here("web", "--no-open", "--port", "0", dsn="host=/nowhere")
    assert done.returncode == 6
    done = omd_here("web", "--no-open", "--port", "0", dsn=empty_dsn)
    assert done.returncode == 5
    assert "omd install" in done.stderr


def test_the_address_is_opened_by_a_file_that_others_cannot_read() -> None:
    from omd.programs.cli.web import _leading_to

    with _leading_to("http://127.0.0.1:1/?token=a&b") as file:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "url=http://127.0.0.1:1/?token=a&amp;b" in file.read_text()
    assert not file.exists()
