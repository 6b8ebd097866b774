"""Try an installation: everything is executed, looked at, and rolled back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.install.catalogue import Change, difference, look
from omd.programs.install.manifest import InstallError, read_manifest
from omd.programs.install.planning import Part, Step, plan_of
from omd.programs.install.running import execute, pinned, require_idle
from omd.programs.install.transactions import Transaction, transactions_of

_POLL = 0.02
# Each of them stops whoever writes into the table; the weaker ones stop nobody who works.
_STOPPING = (
    "ShareLock",
    "ShareRowExclusiveLock",
    "ExclusiveLock",
    "AccessExclusiveLock",
)
# What an installation locks only against others; nobody else writes it.
_OWN = "omd.installed_file"
_LOCKS = """
    SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname), l.mode
    FROM pg_catalog.pg_locks AS l
    INNER JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) l.relation
    INNER JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE l.pid OPERATOR(pg_catalog.=) %s
        AND l.granted
        AND l.locktype OPERATOR(pg_catalog.=) 'relation'
        AND l.database OPERATOR(pg_catalog.=) (
            SELECT d.oid FROM pg_catalog.pg_database AS d
            WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        )
        AND l.mode OPERATOR(pg_catalog.=) ANY (%s)
        AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'
        AND n.nspname OPERATOR(pg_catalog.<>) 'pg_toast'
        AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'v', 'm']::pg_catalog."char"[])
"""
_WAITS_FOR = """
    SELECT b.pid, a.usename, a.application_name
    FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids(%s)) AS b (pid)
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) b.pid
"""
_SETTINGS = ("role", "client_min_messages", "lock_timeout", "plpgsql.extra_errors")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that stops others, on a table or view that was there before, and its seconds."""

    table: str
    mode: str
    held: float


@dataclass(slots=True)
class DryRun:
    """What an installation would have changed.

    Attributes:
        changes: of the catalogue.
        locks: what it held.
        skipped: files that are not executed, with the phase: those of steps that take their time,
            and in the cleanup what a rollback does not take back.
        stopped: why it was broken off; then there are no changes.
    """

    changes: list[Change] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    stopped: str | None = None


class _RolledBack(Exception):  # noqa: N818 - it says what happens
    """The transaction of a dry run ends."""


def dry_run(
    conn: psycopg.Connection[Any],
    watching: Callable[[], psycopg.Connection[Any]],
    root: Path | None = None,
    *,
    allow_downgrade: bool = False,
    only: Part | None = None,
    installer: str | None = None,
    lock_timeout: float = 2,
    hold_limit: float = 1,
) -> DryRun:
    """Execute an installation in one transaction, and roll it back.

    Args:
        conn: the connection.
        watching: opens another connection, which sees what the first one holds.
        root: the folder with the SQL; the default is that of this package.
        allow_downgrade: see `install`.
        only: see `install`.
        installer: see `install`.
        lock_timeout: seconds that it waits for a lock.
        hold_limit: seconds that it may stop others.

    Raises:
        InstallError: as `install`; a lock was not free.
    """
    require_idle(conn)
    entries = read_manifest(root)
    done = DryRun()

    def planned() -> list[Step]:
        return plan_of(conn, entries, allow_downgrade)

    def seen() -> list[Step] | None:
        try:
            with conn.transaction():
                return planned()
        except psycopg.errors.InsufficientPrivilege:
            return None

    transactions = transactions_of(
        entries,
        planned,
        look=seen,
        only=only,
        installer=installer,
    )
    with watching() as other:
        other.autocommit = True
        watch = _Watch(conn, other, hold_limit)
        with suppress(_RolledBack), pinned(conn):
            milliseconds = max(1, round(lock_timeout * 1000))
            conn.execute(f"SET LOCAL lock_timeout = {milliseconds}")
            before = look(conn)
            with watch.watching():
                try:
                    _execute(conn, transactions, watch, done)
                    after = look(conn)
                except (InstallError, psycopg.errors.QueryCanceled) as error:
                    if not watch.is_over:
                        raise _with_holder(error, watch) from error
                    done.stopped = watch.at
            watch.look()
            done.locks = watch.locks()
            if done.stopped is None:
                done.changes = difference(before, after)
            raise _RolledBack
    return done


def _execute(
    conn: psycopg.Connection[Any],
    transactions: Iterable[Transaction],
    watch: _Watch,
    done: DryRun,
) -> None:
    names = list(_SETTINGS)
    with conn.cursor(row_factory=tuple_row) as cur:
        cur.execute(
            "SELECT pg_catalog.array_agg(pg_catalog.current_setting(s.name, TRUE) ORDER BY s.at)"
            " FROM pg_catalog.unnest(%s::pg_catalog.text[]) WITH ORDINALITY AS s (name, at)",
            [names],
        )
        row = cur.fetchone()
    values = row[0] if row else []
    for transaction in transactions:
        # What is set for a transaction ends with it, and here they are one.
        conn.execute(
            "SELECT pg_catalog.set_config(s.name, s.value, TRUE)"
            " FROM ROWS FROM (pg_catalog.unnest(%s::pg_catalog.text[]),"
            " pg_catalog.unnest(%s::pg_catalog.text[])) AS s (name, value)"
            " WHERE s.value IS NOT NULL",
            [names, values],
        )
        for statement in transaction.statements:
            if not transaction.is_tried:
                if statement.checksum is not None:
                    done.skipped.append((statement.path, transaction.phase))
                continue
            watch.at = statement.path
            execute(conn, statement.path, statement.text)
            if watch.is_over:
                raise psycopg.errors.QueryCanceled(statement.path)


def _with_holder(error: Exception, watch: _Watch) -> Exception:
    """Return the error; its hint says who held what it waited for."""
    if isinstance(error, InstallError) and error.sqlstate == "55P03" and watch.waited_for:
        failure = InstallError(error.message, hint=f"Try again when {watch.waited_for} has ended.")
        failure.sqlstate = error.sqlstate
        return failure
    return error


class _Watch:
    """Another session that looks what this one holds, and breaks it off in time.

    It sees only what is committed, so only tables that were there before.

    Attributes:
        at: the file that is executed; the watched thread writes it.
        is_over: whether the time is over; the watching thread writes it.
        waited_for: who held what it waited for last; the watching thread writes it.
    """

    def __init__(
        self, conn: psycopg.Connection[Any], other: psycopg.Connection[Any], limit: float
    ) -> None:
        self._conn = conn
        self._other = other
        self._limit = limit
        self._pid = conn.info.backend_pid
        self._since: dict[tuple[str, str], float] = {}
        self._ended = threading.Event()
        self._now = time.monotonic()
        self.at = ""
        self.is_over = False
        self.waited_for = ""

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def locks(self) -> list[Lock]:
        return [
            Lock(table, mode.removesuffix("Lock"), self._now - since)
            for (table, mode), since in sorted(self._since.items(), key=lambda held: held[1])
        ]

    def look(self) -> None:
        with self._other.cursor(row_factory=tuple_row) as cur:
            rows = cur.execute(_LOCKS, [self._pid, list(_STOPPING)]).fetchall()
            self._now = time.monotonic()
            for table, mode in rows:
                self._since.setdefault((table, mode), self._now)
            blocking = cur.execute(_WAITS_FOR, [self._pid]).fetchone()
            if blocking is not None:
                pid, user, application = blocking
                self.waited_for = f"the process {pid} of {user} ({application})"

    def _watch(self) -> None:
        while not self._ended.wait(_POLL):
            self.look()
            stopping = [since for (table, _), since in self._since.items() if table != _OWN]
            if stopping and self._now - min(stopping) > self._limit:
                self.is_over = True
                # Between two statements it has no effect, so it is repeated.
                self._conn.cancel_safe(timeout=5)
