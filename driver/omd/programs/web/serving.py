"""The page as a program: its socket, and the server that answers on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from omd.programs.service.service import Service
from omd.programs.web.answers import HEADERS

if TYPE_CHECKING:
    from omd.programs.web.site import Site

GRACE = 3  # seconds that requests have to end after SIGTERM
LAST = 4.5  # seconds after which the process ends, whatever its threads do
SOCKET_MODE = 0o660


class _Strict(h11.Connection):
    """Refuses a request with two lengths: a proxy may believe the one, and h11 the other."""

    def next_event(self) -> Any:
        """Return what has arrived."""
        event = super().next_event()
        if isinstance(event, h11.Request) and {b"content-length", b"transfer-encoding"} <= {
            name for name, _ in event.headers
        }:
            raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding")
        return event


class Protocol(H11Protocol):
    """Answers what is no HTTP with the headers of every answer, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Strict(h11.SERVER)

    def send_400_response(self, msg: str) -> None:
        """Say that the request can't be read."""
        kept = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
        headers = [
            (name.encode(), value.encode())
            for name, value in {**HEADERS, "Cache-Control": "no-store", **kept}.items()
        ]
        for event in (
            h11.Response(status_code=400, headers=headers),
            h11.Data(data=msg.encode("ascii", "replace")),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event))
        self.transport.close()


class Server(uvicorn.Server):
    """A server that ends quietly after SIGTERM or Ctrl-C.

    Args:
        config: of `configured`.
        entered: is called when somebody presses Enter in the terminal.
    """

    def __init__(self, config: uvicorn.Config, entered: Callable[[], None] | None = None) -> None:
        super().__init__(config)
        self._entered = entered
        self._service = Service()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals; uvicorn itself would raise them again at the end.

        Not through the loop, which loses them when threads have much to say to it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._service = Service.of_environment()
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = [signal.signal(number, self.handle_exit) for number in numbers]
        if self._entered is not None:
            _read_terminal(asyncio.get_running_loop(), self._entered)
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer from now on."""
        await super().startup(sockets)
        self._service.ready("answering")

    async def on_tick(self, counter: int) -> bool:
        """Let the service manager know that the loop turns; it does ten times a second."""
        self._service.beat()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and say so."""
        self._service.stopping()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; streams, which would go on for ever, end at once."""
        for end in site_of(self.config.app).at_end:
            end()
        await super().shutdown(sockets)


@contextmanager
def ending_quietly() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the program well before it answers, too."""

    def end(_number: int, _frame: object) -> None:
        raise SystemExit(0)

    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is one that is free.

    Raises:
        OSError: the address is not of this machine, or in use.
    """
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = min(places, key=lambda p: p[0] != socket.AF_INET)
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    listening.listen(128)
    return listening


@contextmanager
def bound_file(path: Path) -> Iterator[socket.socket]:
    """Return a Unix socket, which its owner and group may use, while the block lasts.

    Raises:
        OSError: there is another file, or another page answers there.
    """
    if path.exists():
        if not stat.S_ISSOCK(path.stat().st_mode) or _answers(path):
            raise FileExistsError(f"{path} is there already")
        path.unlink()
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o777 & ~SOCKET_MODE)
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    listening.listen(128)
    try:
        yield listening
    finally:
        listening.close()
        path.unlink(missing_ok=True)


def site_of(application: Any) -> Site:
    """Return the page that an application answers for."""
    site: Site = application.site
    return site


def configured(application: Any, **tls: Any) -> uvicorn.Config:
    """Return the settings of the server: it trusts no header and adds none."""
    # Its lines have the query, and so the token of a link.
    logging.getLogger("uvicorn.access").disabled = True
    return uvicorn.Config(
        application,
        http=Protocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
        **tls,
    )


def serve(
    application: Any,
    listening: socket.socket,
    entered: Callable[[], None] | None = None,
    **tls: Any,
) -> None:
    """Answer until SIGTERM or Ctrl-C."""
    # What it says of itself is nothing that a person needs.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    server = Server(configured(application, **tls), entered)
    site_of(application).at_end.append(_end_in_time)
    try:
        asyncio.run(server.serve(sockets=[listening]))
    finally:
        site_of(application).close()


def _end_in_time() -> None:
    """End the process in time, also when a thread still waits for the database."""
    timer = threading.Timer(LAST, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        return client.connect_ex(str(path)) == 0


def _read_terminal(loop: asyncio.AbstractEventLoop, entered: Callable[[], None]) -> None:
    """Call something for each line of standard input."""
    try:
        number = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return  # there is none

    def read() -> None:
        # A program in the background that reads would be stopped.
        if os.isatty(number) and os.tcgetpgrp(number) != os.getpgrp():
            return
        given = os.read(number, 4096)
        if not given:
            loop.remove_reader(number)
        elif b"\n" in given:
            entered()

    with contextlib.suppress(OSError):  # a file, or nothing: there is nobody to press a key
        loop.add_reader(number, read)
