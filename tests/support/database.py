"""A database for each test, with OMD or without.

One with OMD is a copy: of a database that comes with the server (support.kept), or that
pytest-postgresql makes in the server of OMD_TEST_DSN. pytest-postgresql can't start a server as
root, so `omd.programs.embedded` starts it (support.server), and the plugin gets its address.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from pytest_postgresql import factories
from pytest_postgresql.executors import NoopExecutor

import omd.programs.install
from support import user_code
from support.kept import TEMPLATE
from support.server import GIVEN_DSN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.scenes import Place

    Connection = psycopg.Connection[dict[str, Any]]

# Suites that share a server (OMD_TEST_DSN) must not share databases.
NAME = f"omd_test_{os.getpid()}"

_number = itertools.count(1)


class Server(NoopExecutor):
    """The address of the server; its databases are empty at first."""

    template_dbname = "template0"


def install(**where: Any) -> None:
    """Install OMD, in the database that pytest-postgresql makes the template."""
    with psycopg.connect(**where) as conn:
        omd.programs.install.install(conn)
        user_code.lay(conn)


@pytest.fixture(scope="session")
def postgresql_server(bare_server: str) -> Server:
    """The server without OMD, in the form that pytest-postgresql needs."""
    with psycopg.connect(bare_server) as conn:
        return Server(
            conn.info.host,
            conn.info.port,
            conn.info.user,
            options="",
            dbname=f"{NAME}_empty",
            password=conn.info.password or None,
            maintenance_dbname=conn.info.dbname,
        )


postgresql_noproc = factories.postgresql_noproc(
    dbname=NAME, load=[install], load_autocommit=True, depends_on="postgresql_server"
)
postgresql_empty = factories.postgresql("postgresql_server")


@pytest.fixture
def dsn(
    scene_place: Place, new_database: Callable[..., AbstractContextManager[str]]
) -> Iterator[str]:
    """The connection string of a fresh database with OMD, or with a scene too, as a superuser.

    No test before has used its name: what a failed test has left at work, as a task of a Spark job,
    does not find this database in place of its own.
    """
    scene_place.is_settled = True
    with new_database(scene_place.original) as dsn:
        yield dsn


@pytest.fixture
def empty_dsn(bare_server: str, postgresql_empty: psycopg.Connection[Any]) -> str:
    """The connection string of a fresh database without OMD, as a superuser."""
    return make_conninfo(bare_server, dbname=postgresql_empty.info.dbname)


@pytest.fixture(scope="session")
def template(request: pytest.FixtureRequest) -> str:
    """The name of a database with OMD, which others are copied from."""
    if GIVEN_DSN:
        return str(request.getfixturevalue("postgresql_noproc").template_dbname)
    return TEMPLATE


def copied(server: str, original: str, name: str) -> str:
    """Create a database as a copy of another one, in place of one of this name; return its DSN."""
    database = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
        # To copy files takes half of the time of the other strategy, which logs each page.
        conn.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                database, sql.Identifier(original)
            )
        )
        # A copy of a database has the rights on what is in it, and not those on itself.
        conn.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO omd_owner").format(database))
    copy = make_conninfo(server, dbname=name)
    # It is as after an installation of its own: a confirmation would leave rows.
    with psycopg.connect(copy, autocommit=True) as conn:
        conn.execute(
            "UPDATE omd.installation SET database_oid = s.database_oid,"
            " server_start = s.server_start FROM omd._server_now() AS s"
        )
        user_code.WATCH.switch(conn)
    return copy


@pytest.fixture(scope="session")
def new_database(
    server: str, template: str
) -> Iterator[Callable[..., AbstractContextManager[str]]]:
    """A function that creates a database with OMD, for more than one test, and drops it.

    One that is named, and to which no session is connected, is copied with what is in it.
    """
    user_code.WATCH.begin(server, NAME)

    @contextlib.contextmanager
    def create(original: str | None = None) -> Iterator[str]:
        name = f"{NAME}_{next(_number)}"
        copy = copied(server, original or template, name)
        try:
            yield copy
        finally:
            with psycopg.connect(server, autocommit=True) as conn:
                conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    yield create
    user_code.WATCH.end()


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Connection]]:
    """A function that opens connections, which are closed after the test.

    ``connect()`` connects a superuser to the database of ``dsn``; ``role=`` sets a role, ``dsn=``
    names another database; other arguments go to psycopg.
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
