"""The steps of an upgrade that come before and after the installation, while OMD is used.

Each is done in transactions of its own and noted in ``omd.upgrade_step``, so that a killed upgrade
goes on where it was, and another session sees what it does (``omd_report.upgrade``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd._core.error_codes import InstallationHeld
from omd.programs.install.manifest import Entry, InstallError, Phase
from omd.programs.install.planning import Step, pending
from omd.programs.install.running import execute, pinned
from omd.programs.install.transactions import ONLINE, Mode, Statement, Transaction

WAIT = timedelta(minutes=10)
LOCK_TIMEOUT = timedelta(milliseconds=200)
BETWEEN_TRIES = 2.0  # seconds
_AFTER = (Phase.CONCURRENT, Phase.CONTRACT)
# A waiting pg_advisory_lock would hold a snapshot, for which CREATE INDEX CONCURRENTLY waits.
_TRY = "SELECT pg_catalog.pg_try_advisory_lock(7302500, 1)"
_UNLOCK = "SELECT pg_catalog.pg_advisory_unlock(7302500, 1)"
_SETTING = "SELECT pg_catalog.current_setting(%s)"
_SET = "SELECT pg_catalog.set_config(%s, %s, false)"
_SET_OUTSIDE = ("role", "lock_timeout", "search_path")
_HOLDER = """
    SELECT l.pid, a.usename, a.application_name
    FROM pg_catalog.pg_locks AS l
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON l.pid OPERATOR(pg_catalog.=) a.pid
    WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory'
        AND l.classid OPERATOR(pg_catalog.=) 7302500
        AND l.objid OPERATOR(pg_catalog.=) 1
        AND l.objsubid OPERATOR(pg_catalog.=) 2
        AND l.granted
        AND l.database OPERATOR(pg_catalog.=) (
            SELECT d.oid FROM pg_catalog.pg_database AS d
            WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        )
"""
# Who holds a lock on one of the tables that a text names.
_HOLDERS = """
    SELECT DISTINCT l.pid
    FROM pg_catalog.pg_locks AS l
    INNER JOIN pg_catalog.pg_class AS c ON l.relation OPERATOR(pg_catalog.=) c.oid
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
    WHERE l.granted
        AND l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
        AND pg_catalog.format('%%s.%%s', n.nspname, c.relname) OPERATOR(pg_catalog.=) ANY (%s)
    ORDER BY 1
"""
# Which of the tables a vacuum holds, or something else that stops no load. Whose backend is an
# autovacuum, only members of pg_read_all_stats see.
_VACUUMED = """
    SELECT DISTINCT l.relation::pg_catalog.regclass::pg_catalog.text
    FROM pg_catalog.pg_locks AS l
    INNER JOIN pg_catalog.pg_class AS c ON l.relation OPERATOR(pg_catalog.=) c.oid
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
    WHERE l.granted
        AND l.mode OPERATOR(pg_catalog.=) 'ShareUpdateExclusiveLock'
        AND l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
        AND c.relkind OPERATOR(pg_catalog.=) 'r'
        AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) 'omd_owner'
        AND pg_catalog.format('%%s.%%s', n.nspname, c.relname) OPERATOR(pg_catalog.=) ANY (%s)
    ORDER BY 1
"""
# The server cancels an autovacuum for who has waited for it so long; a little more is waited.
_PATIENCE = """
    SELECT pg_catalog.set_config('lock_timeout', pg_catalog.concat(pg_catalog.date_part(
        'epoch',
        least(
            pg_catalog.current_setting('deadlock_timeout')::pg_catalog.interval
                OPERATOR(pg_catalog.+) '500 ms'::pg_catalog.interval,
            %s
        )
    ), 's'), true)
"""
_OLDER = """
    SELECT a.pid
    FROM pg_catalog.pg_stat_activity AS a
    WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
        AND (a.backend_xid IS NOT NULL OR a.backend_xmin IS NOT NULL)
        AND a.backend_type OPERATOR(pg_catalog.<>) ALL (
            '{autovacuum worker, parallel worker, walsender}'
        )
        AND a.xact_start OPERATOR(pg_catalog.<) %s
    ORDER BY 1
"""
_INVALID = """
    SELECT i.indexrelid::pg_catalog.regclass::pg_catalog.text
    FROM pg_catalog.pg_index AS i
    INNER JOIN pg_catalog.pg_class AS c ON i.indexrelid OPERATOR(pg_catalog.=) c.oid
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
    WHERE NOT i.indisvalid
        AND c.relkind OPERATOR(pg_catalog.=) 'i'
        AND pg_catalog.lower(%s) OPERATOR(pg_catalog.~) pg_catalog.concat('\\m', c.relname, '\\M')
        AND n.nspname OPERATOR(pg_catalog.~) '^omd(_|$)'
"""


class Upgrade:
    """Performs the transactions of an installation on one session."""

    def __init__(self, conn: psycopg.Connection[Any], wait: timedelta = WAIT) -> None:
        self._conn = conn
        self._wait = wait.total_seconds()

    @contextmanager
    def alone(self, entries: list[Entry], look: Callable[[], list[Step] | None]) -> Iterator[None]:
        """Take the lock of those who perform such steps, if there may be one to perform."""
        if not any(entry.phase in (*ONLINE, Phase.CONTRACT) for entry in entries):
            yield
            return
        steps = look()
        if steps is not None and not pending(steps, *ONLINE, Phase.CONTRACT):
            yield
            return
        deadline = time.monotonic() + self._wait
        while not self._value(_TRY):
            if time.monotonic() >= deadline:
                self._complain()
            time.sleep(1)
        try:
            yield
        finally:
            with suppress(psycopg.Error):
                self._value(_UNLOCK)

    def perform(self, transaction: Transaction) -> None:
        """Perform a transaction; what goes wrong in a step is noted."""
        try:
            if transaction.mode is Mode.PATIENT:
                self._patiently(transaction)
            elif transaction.mode is Mode.REPEATED:
                self._repeatedly(transaction)
            elif transaction.mode is Mode.ALONE:
                self._outside(transaction)
            else:
                with pinned(self._conn):
                    for statement in transaction.statements:
                        execute(self._conn, statement.path, statement.text)
        except Exception as error:
            if transaction.step is not None:
                with suppress(psycopg.Error):
                    self._note(transaction.step, "error = %s", str(error))
            raise

    def _patiently(self, transaction: Transaction) -> None:
        """Wait a moment for each lock, since whoever comes later waits behind; then try again."""
        statements = list(transaction.statements)
        deadline = time.monotonic() + self._wait
        timeout = f"SET LOCAL lock_timeout = {int(LOCK_TIMEOUT.total_seconds() * 1000)}"
        while (blocked := self._blocked(statements, timeout)) is not None:
            holders = self._holders(statements)
            if time.monotonic() >= deadline:
                raise self._held(statements[0].path, holders) from blocked
            if transaction.step is not None:
                waits = f"waits for a lock of: {_listed(holders)}"
                self._note(transaction.step, "error = %s", waits)
            time.sleep(min(BETWEEN_TRIES, max(0.0, deadline - time.monotonic())))

    def _blocked(self, statements: list[Statement], timeout: str) -> InstallError | None:
        """Execute the statements; return the error if a lock was not free."""
        try:
            with pinned(self._conn):
                self._stop_vacuums(statements)
                self._conn.execute(timeout.encode())
                for statement in statements:
                    execute(self._conn, statement.path, statement.text)
        except InstallError as error:
            if error.sqlstate not in ("55P03", "40P01"):
                raise
            return error
        return None

    def _stop_vacuums(self, statements: list[Statement]) -> None:
        """Wait until no autovacuum holds a table; then none begins until the transaction ends.

        An autovacuum of a large table takes longer than an upgrade has patience, and is cancelled
        only for who waits longer than the moment that loads can wait. So first a lock is waited for
        that stops no load.
        """
        if tables := self._column(_VACUUMED, _tables(statements)):
            self._conn.execute("SET LOCAL ROLE omd_owner")
            self._conn.execute(_PATIENCE, [timedelta(seconds=self._wait)])
            lock = f"LOCK TABLE {', '.join(tables)} IN SHARE UPDATE EXCLUSIVE MODE"
            execute(self._conn, statements[0].path, lock)

    def _repeatedly(self, transaction: Transaction) -> None:
        """Fill what is there, and again what those have written who did not know of it."""
        (statement,) = transaction.statements
        step = transaction.step or statement.path
        began = self._value("SELECT pg_catalog.clock_timestamp()")
        self._fill(step, statement)
        deadline = time.monotonic() + self._wait
        while older := self._column(_OLDER, began):
            if time.monotonic() >= deadline:
                raise self._held(statement.path, older)
            time.sleep(min(1.0, max(0.0, deadline - time.monotonic())))
        self._note(step, "last_key = %s", None)
        self._fill(step, statement)

    def _fill(self, step: str, statement: Statement) -> None:
        rows = 1
        while rows > 0:
            with pinned(self._conn):
                self._conn.execute("SET LOCAL ROLE omd_owner")
                before = self._rows_done(step)
                rows = execute(self._conn, statement.path, statement.text).rowcount
                # A statement that keeps its last key has counted its rows too.
                if rows > 0 and self._rows_done(step) == before:
                    self._conn.execute(
                        "UPDATE omd.upgrade_step AS s SET rows_done = s.rows_done"
                        " OPERATOR(pg_catalog.+) %s WHERE s.step_code OPERATOR(pg_catalog.=) %s",
                        [rows, step],
                    )

    def _rows_done(self, step: str) -> int:
        return int(
            self._value(
                "SELECT s.rows_done FROM omd.upgrade_step AS s"
                " WHERE s.step_code OPERATOR(pg_catalog.=) %s",
                step,
            )
            or 0
        )

    def _outside(self, transaction: Transaction) -> None:
        """Execute statements outside a transaction, and make an index again that a kill left."""
        was = [(name, self._value(_SETTING, name)) for name in _SET_OUTSIDE]
        before = (
            "SET search_path = pg_catalog, pg_temp",
            "SET lock_timeout = 0",  # it would leave an index that is invalid
            "SET ROLE omd_owner",
        )
        try:
            for setting in before:
                self._conn.execute(setting.encode())
            for statement in transaction.statements:
                for index in self._column(_INVALID, statement.text):
                    self._conn.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}".encode())
                try:
                    execute(self._conn, statement.path, statement.text)
                except InstallError as error:
                    # The server has gone on with it when its installer was killed.
                    if error.sqlstate != "42P07":
                        raise
        finally:
            if not self._conn.closed:
                # RESET would leave the path, or the role, that the session began with.
                for name, value in was:
                    self._value(_SET, name, value)

    def _note(self, step: str, what: str, value: str | None) -> None:
        with pinned(self._conn):
            self._conn.execute("SET LOCAL ROLE omd_owner")
            self._conn.execute(
                f"UPDATE omd.upgrade_step AS s SET {what}"  # noqa: S608 - from this file
                " WHERE s.step_code OPERATOR(pg_catalog.=) %s".encode(),
                [value, step],
            )

    def _holders(self, statements: list[Statement]) -> list[int]:
        return self._column(_HOLDERS, _tables(statements))

    def _held(self, path: str, holders: list[int]) -> InstallError:
        error = InstallError(
            f"{path} has waited {self._wait:g} s for others; these processes are in the way: "
            f"{_listed(holders)}",
            hint="Install again when they have ended, or with a longer --wait. What is done stays.",
        )
        error.sqlstate = "55P03"
        return error

    def _complain(self) -> None:
        with self._conn.cursor(row_factory=tuple_row) as cur:
            pid, user, application = cur.execute(_HOLDER).fetchone() or (None, None, None)
        error = InstallError(
            f"the process {pid} of {user} ({application}) holds the lock of an upgrade",
            hint=f"Install again when it has ended, or end it: SELECT pg_terminate_backend({pid});",
        )
        error.sqlstate = InstallationHeld.sqlstate
        raise error

    def _value(self, query: str, *values: Any) -> Any:
        with self._conn.cursor(row_factory=tuple_row) as cur:
            row = cur.execute(query.encode(), list(values) or None).fetchone()
        return row[0] if row else None

    def _column(self, query: str, *values: Any) -> list[Any]:
        with self._conn.cursor(row_factory=tuple_row) as cur:
            return [row[0] for row in cur.execute(query.encode(), list(values)).fetchall()]


def _listed(pids: list[int]) -> str:
    return ", ".join(map(str, pids)) or "none that is still there"


def _tables(statements: list[Statement]) -> list[str]:
    """Return what may be the tables of users of OMD that the statements name."""
    names = {
        name for statement in statements for name in re.findall(r"\b\w+\.\w+\b", statement.text)
    }
    return sorted(names - {"omd.installed_file", "omd.upgrade_step"})
