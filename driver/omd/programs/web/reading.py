"""The connections with which the page reads what every omd_reader may see."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql

from omd._core.errors import ConfigurationError, NotInstalled
from omd._core.versions import OTHER_DATABASE
from omd.programs.web.opening import (
    PINNED,
    PINNED_LOCAL,
    Connection,
    is_standby,
    opened,
)
from omd.programs.web.selects import Row, Select

AT_ONCE = 4

# What a section may take (W9).
PATIENCE = "5s"

# A login of the page that may do more reads no more than every omd_reader does.
_BEGIN = f"""\
{PINNED};
SET statement_timeout = '{PATIENCE}'; SET jit = off; SET default_transaction_read_only = on"""
_ROLE = """;
DO $$BEGIN SET ROLE omd_reader; EXCEPTION
    WHEN insufficient_privilege OR undefined_object OR invalid_parameter_value THEN NULL;
END$$;"""

# The same for one transaction.
_BEGIN_LOCAL = f"""\
{PINNED_LOCAL};
SET LOCAL statement_timeout = '{PATIENCE}'; SET LOCAL jit = off; SET TRANSACTION READ ONLY"""
_ROLE_LOCAL = "; SET LOCAL ROLE omd_reader"

_CHECK = """\
SELECT
    session_user AS login,
    pg_catalog.to_regnamespace('omd_web') IS NOT NULL AS is_there,
    coalesce(pg_catalog.pg_has_role(
        (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = 'omd_reader'), 'USAGE'
    ), FALSE) AS is_reader"""


class Reader:
    """Lends connections to threads, at most `AT_ONCE`; each is opened when it is needed first.

    Args:
        dsn: the database.
        is_own: whether what is read is what its login may see, and not what every omd_reader may.
    """

    def __init__(self, dsn: str, *, is_own: bool = False) -> None:
        self._dsn = dsn
        self._is_own = is_own
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._idle: list[Connection] = []
        self._lent: set[Connection] = set()
        self.database = ""  # its name, once it has answered
        self.is_pooled = False  # a pooler in transaction mode is between, once it has answered

    def ping(self) -> None:
        """Ask the database for nothing."""
        self.read(Select("SELECT"))

    def read(self, select: Select) -> list[Row]:
        """Return the rows of a query; a connection that has broken meanwhile is replaced once."""
        while True:
            with self.lent() as (connection, is_new):
                try:
                    return rows_of(connection, select)
                except psycopg.OperationalError:
                    if is_new or not connection.broken:
                        raise

    def check(self) -> None:
        """Look whether the page can read at all.

        Raises:
            NotInstalled: the database has no OMD, or one without the page.
            ConfigurationError: the page's login may not read.
        """
        [row] = self.read(Select(_CHECK))
        if not row["is_there"]:
            raise NotInstalled("the database has no OMD of this version", hint=OTHER_DATABASE)
        if not row["is_reader"]:
            raise ConfigurationError(
                f"the page's login {row['login']} may not read",
                hint=f"GRANT omd_reader TO {sql.Identifier(row['login']).as_string(None)};",
            )

    @contextmanager
    def lent(self) -> Iterator[tuple[Connection, bool]]:
        """Lend a connection; it comes with whether it was opened for this."""
        with self._free:
            connection, is_new = self._idle.pop() if self._idle else None, False
            if connection is None:
                connection, is_new = self.opened(), True
            self._lent.add(connection)
            try:
                yield connection, is_new
            finally:
                self._lent.discard(connection)
                if not connection.closed:
                    self._idle.append(connection)

    def opened(self) -> Connection:
        """Open a connection that only reads, and without `is_own` what every omd_reader may see."""
        connection = opened(self._dsn)
        if not connection.is_pooled:
            connection.execute(_BEGIN if self._is_own else _BEGIN + _ROLE)
        elif self._is_own:
            connection.first = _BEGIN_LOCAL
        else:
            _begin_each(connection)
        self.database = connection.info.dbname
        self.is_pooled = connection.is_pooled
        return connection

    def close(self) -> None:
        """Close all connections; what they execute is cancelled."""
        for connection in list(self._lent):
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=2)
        while self._idle:
            with suppress(psycopg.Error):
                self._idle.pop().close()


def _begin_each(connection: Connection) -> None:
    """Begin each transaction so; a login that may do less than omd_reader stays as it is."""
    connection.first = _BEGIN_LOCAL + _ROLE_LOCAL
    try:
        connection.execute("SELECT")
    except (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedObject,
        psycopg.errors.InvalidParameterValue,
    ):
        connection.first = _BEGIN_LOCAL


def rows_of(connection: psycopg.Connection[Any], select: Select) -> list[Row]:
    """Return the rows of a query, whose text is sent as it is shown."""
    # On a standby nothing can be tried; what is asked there foresees it.
    if select.is_trial and not is_standby(connection):
        with connection.transaction(force_rollback=True):
            connection.execute("SET TRANSACTION READ WRITE")
            return connection.execute(select.sent.encode()).fetchall()
    return connection.execute(select.sent.encode()).fetchall()
