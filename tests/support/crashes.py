"""A server that only the fault tests use and may kill, with databases of theirs."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd.programs.install
from omd.programs import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VERSION = int(os.environ.get("OMD_TEST_PG", embedded.DEFAULT_VERSION))
SETTINGS = {
    "fsync": "off",  # the operating system survives
    "full_page_writes": "off",
    "deadlock_timeout": "200ms",
    "max_connections": "200",
    "shared_buffers": "64MB",
}


class Server:
    """An embedded server that can be restarted as after a crash."""

    def __init__(self, home: Path) -> None:
        self.home = home
        embedded.start(home, version=VERSION, settings=SETTINGS)
        self.dsn = embedded.dsn(home, "postgres")
        self._databases = 0

    def restart(self) -> None:
        """Do `pg_ctl -m immediate restart`: no session ends in an orderly way."""
        pid = embedded.status(self.home).pid
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        embedded.start(self.home)

    def new_database(self) -> str:
        """A fresh database with OMD."""
        self._databases += 1
        name = f"faults_{self._databases}"
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {name}")
        dsn = make_conninfo(self.dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True) as conn:
            omd.programs.install.install(conn)
        return dsn


@pytest.fixture(scope="session")
def fault_server(new_home: Callable[[], Path]) -> Iterator[Server]:
    server = Server(new_home())
    yield server
    with contextlib.suppress(embedded.EmbeddedError):
        embedded.start(server.home)  # the server is needed for an orderly stop
