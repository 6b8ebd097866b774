"""A real network between the driver and the server, which a test can cut."""

from __future__ import annotations

import contextlib
import selectors
import socket
import tempfile
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import omd

if TYPE_CHECKING:
    from collections.abc import Iterator


class Wire:
    """A real connection between driver and server that a test can cut.

    It forwards bytes between two Unix or TCP sockets; nothing about PostgreSQL is imitated.
    """

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as conn:
            self._host, self._port = conn.info.host, conn.info.port
        self._folder = tempfile.TemporaryDirectory(prefix="omd-wire-")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self._folder.name) / ".s.PGSQL.5432"))
        self._listener.listen()
        given = {
            k: v for k, v in conninfo_to_dict(dsn).items() if k not in ("host", "hostaddr", "port")
        }
        self.dsn = make_conninfo("", **given, host=self._folder.name, port="5432")
        self.connections = self.refused = 0
        self.refusing = False
        self.swallow_answer_to: bytes | None = None
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._forward)
        self._thread.start()

    def _server(self) -> socket.socket:
        if self._host.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{self._host}/.s.PGSQL.{self._port}")
            return server
        return socket.create_connection((self._host, self._port))

    def _forward(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            doomed: set[socket.socket] = set()  # servers whose next answer is swallowed
            other: dict[socket.socket, socket.socket] = {}

            def drop(end: socket.socket) -> None:
                for one in (end, other.get(end)):
                    if one is not None and one in other:
                        selector.unregister(one)
                        del other[one]
                        one.close()

            while not self._stop.is_set():
                if self.refusing:
                    for end in list(other):
                        drop(end)
                for key, _ in selector.select(timeout=0.02):
                    if key.fileobj is self._listener:
                        client, _ = self._listener.accept()
                        if self.refusing:
                            client.close()
                            self.refused += 1
                            continue
                        self.connections += 1
                        server = self._server()
                        other[client], other[server] = server, client
                        self._clients = getattr(self, "_clients", set()) | {client}
                        for end in (client, server):
                            selector.register(end, selectors.EVENT_READ)
                        continue
                    end = key.fileobj
                    assert isinstance(end, socket.socket)
                    if end not in other:
                        continue
                    try:
                        data = end.recv(65536)
                        if not data:
                            drop(end)
                        elif end in doomed:
                            doomed.discard(end)
                            drop(end)
                        else:
                            word = self.swallow_answer_to
                            if end in self._clients and word is not None and word in data:
                                self.swallow_answer_to = None
                                doomed.add(other[end])
                            other[end].sendall(data)
                    except OSError:
                        drop(end)
            for end in list(other):
                drop(end)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._listener.close()
        self._folder.cleanup()


@pytest.fixture
def wire(dsn: str) -> Iterator[Wire]:
    """A connection to the database of ``dsn`` that a test can cut."""
    with contextlib.closing(Wire(dsn)) as wire:
        yield wire


@pytest.fixture
def wired(control: omd.Control, wire: Wire) -> Iterator[omd.Control]:
    """A control over the wire, on the same database as ``control``."""
    with omd.connect(wire.dsn, lease=None, patience=timedelta(seconds=20)) as wired:
        yield wired
