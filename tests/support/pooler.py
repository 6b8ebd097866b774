"""A real PgBouncer before the server of the tests.

Without pgbouncer a test that uses it is skipped; with OMD_REQUIRE_PGBOUNCER it fails.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

WHY = "there is no pgbouncer; Debian has it as the package pgbouncer"


def program() -> str:
    """Return the path of pgbouncer, or skip the test."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        if os.environ.get("OMD_REQUIRE_PGBOUNCER"):
            pytest.fail(WHY)
        pytest.skip(WHY)
    return found


@contextlib.contextmanager
def bouncing(dsn: str, *, mode: str = "transaction", size: int = 1) -> Iterator[str]:
    """Start PgBouncer before a database; yield the connection string through it.

    Args:
        dsn: the server's; all users of it are let in, as the embedded server does.
        mode: session, transaction or statement.
        size: so many server connections there are for a user and database.
    """
    bouncer = program()
    with psycopg.connect(dsn) as conn:
        host, port, user = conn.info.host, conn.info.port, conn.info.user
        names = [name for (name,) in conn.execute("SELECT rolname FROM pg_roles").fetchall()]
    folder = Path(tempfile.mkdtemp(prefix="omd-pool-"))
    try:
        owner = _owner(host) if os.geteuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            listens = free.getsockname()[1]
        (folder / "users.txt").write_text("".join(f'"{name}" ""\n' for name in names))
        (folder / "pgbouncer.ini").write_text(
            f"""\
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listens}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 500
logfile = {folder}/log
"""
        )
        if owner is not None:
            for path in (folder, *folder.iterdir()):
                os.chown(path, *owner)
        process = subprocess.Popen(
            [bouncer, "-q", str(folder / "pgbouncer.ini")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **({} if owner is None else {"user": owner[0], "group": owner[1], "extra_groups": []}),
        )
        try:
            _await(process, listens, folder / "log")
            given = conninfo_to_dict(dsn)
            yield make_conninfo(
                "",
                **{name: value for name, value in given.items() if name != "hostaddr"}
                | {"host": "127.0.0.1", "port": str(listens), "user": user},
            )
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder)


def _owner(host: str) -> tuple[int, int]:
    """Return who pgbouncer runs as, since not as root: who owns the server's socket, or nobody."""
    if host.startswith("/"):
        found = Path(host).stat()
        return found.st_uid, found.st_gid
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            told = log.read_text() if log.exists() else ""
            pytest.fail(f"pgbouncer does not start: {told[-2000:]}")
        time.sleep(0.02)


@pytest.fixture
def pooled(dsn: str) -> Callable[..., AbstractContextManager[str]]:
    """A function that starts PgBouncer before the database of ``dsn``."""

    def start(**options: object) -> AbstractContextManager[str]:
        return bouncing(dsn, **options)  # type: ignore[arg-type]

    return start


@pytest.fixture
def pooled_dsn(dsn: str) -> Iterator[str]:
    """The connection string through PgBouncer, with one server connection for all clients."""
    with bouncing(dsn) as through:
        yield through
