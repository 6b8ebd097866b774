"""The control connection: it is in autocommit, takes short statements, and reconnects."""

from __future__ import annotations

import logging
import random
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus

from omd._core import rights, standby, versions
from omd._core.adapters import adapt
from omd._core.conninfo import read_conninfo
from omd._core.errors import AnswerLost, ConnectionFailed, StateError
from omd._core.pooling import ISOLATION, Pooler, judged, local
from omd._core.rows import MissingColumns, rows_of
from omd._core.session import Session
from omd._core.settling import settle
from omd._core.transactional import Connection

T = TypeVar("T")

_log = logging.getLogger("omd.connection")
_server_log = logging.getLogger("omd.server")

_LEVELS = {
    "DEBUG": logging.DEBUG,
    "LOG": logging.INFO,
    "INFO": logging.INFO,
    "NOTICE": logging.INFO,
    "WARNING": logging.WARNING,
}

# One round trip; the second statement fails where OMD is older, or nobody may ask it.
_LOOK = b"SELECT pg_catalog.pg_backend_pid(); SELECT omd.version()"
_LOOK_AGAIN = b"SELECT pg_catalog.pg_backend_pid()"
_INTERPRETED = "SET LOCAL jit = off"

# All that DISCARD ALL does, except that the session keeps its plans.
_RESET = (
    "SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *;"
    " SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES"
)


class Link:
    """One connection that several threads may share; it executes one statement at a time.

    Args:
        conninfo: a complete libpq connection string.
        application_name: the name that pg_stat_activity shows.
        patience: for how long a lost connection is tried again.
        like: an open link to the same address, which has looked what is there; None: it looks.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        application_name: str,
        patience: timedelta,
        like: Link | None = None,
        **options: str,
    ) -> None:
        # With these a server that vanished is noticed within a minute; libpq would take hours.
        defaults = {
            "connect_timeout": "10",
            "keepalives_idle": "30",
            "keepalives_interval": "10",
            "keepalives_count": "3",
            "tcp_user_timeout": "60000",
        }
        ours = {**options, "application_name": application_name, "client_encoding": "utf8"}
        self._conninfo = make_conninfo("", **{**defaults, **read_conninfo(conninfo), **ours})
        self._patience = patience.total_seconds()
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._closed = False
        self._in_transaction = False
        self._settings: dict[str, str] = {}
        self._looks = like is None  # at the first connection; at later ones it always looks
        self._pooler: Pooler = (
            Pooler.NONE if like is None else like._pooler
        )  # as of the last connection
        # Of OMD in the database, as of `open`; None: it is not known.
        self._version: str | None = None if like is None else like._version

    @property
    def is_pooled(self) -> bool:
        """Whether a pooler in transaction mode is between: nothing stays in a session."""
        with self._lock:
            self._ready(time.monotonic())
            return self._pooler is Pooler.TRANSACTION

    @property
    def is_alive(self) -> bool:
        """Whether its connection still works, as far as can be seen without asking the server."""
        with self._lock:
            return self._session is not None and _is_alive(self._session.connection)

    @property
    def settings(self) -> dict[str, str]:
        """The parameters that it has set."""
        return dict(self._settings)

    @property
    def dsn(self) -> str:
        """A complete connection string, with which other processes need no service file."""
        with self._lock:
            info = self._ready(time.monotonic()).connection.info
            settings = {
                name: value
                for name, value in info.get_parameters().items()
                if name not in ("application_name", "client_encoding", "passfile", "service")
            }
            return make_conninfo(
                "", **settings, **({"password": info.password} if info.password else {})
            )

    def open(self) -> None:
        """Connect once, without patience, so that a wrong address is reported at once.

        Raises:
            ConnectionFailed: the database does not answer.
            NotInstalled: it has OMD of an older version with which this client can't work.
            NewerInstalled: it has another major version, which is newer.
        """
        with self._lock:
            try:
                self._session = self._connect(is_first=True)
                refusal = versions.refusal(versions.mine(), self._version)
                if refusal is not None:
                    self._session.connection.close()
                    raise refusal
            except psycopg.OperationalError as error:
                raise ConnectionFailed(
                    f"there is no connection to the database: {_text(error)}",
                    hint="Name the database: --dsn, OMD_DSN, DATABASE_URL or PGHOST, PGSERVICE.",
                ) from error

    def set(self, **settings: str) -> None:
        """Set parameters of the session, and of the one that replaces it when it is lost.

        Behind a pooler in transaction mode they are set for each transaction; a procedure that ends
        transactions itself is called without them.
        """
        self._settings.update(settings)
        with self._lock:
            connection = self._connection
            if connection is None or connection.closed:
                return
            if self._pooler is not Pooler.TRANSACTION:
                for name, value in settings.items():
                    self.execute(_set(name, value), (), tuple, repeatable=True)
                return
            connection.first = local(self._settings).decode()
            if self._in_transaction and settings.keys() - {ISOLATION}:
                here = {name: value for name, value in settings.items() if name != ISOLATION}
                connection.execute(local(here))

    def close(self) -> None:
        """Close the connection; it is not opened again."""
        self._closed = True
        if self._connection is not None:
            self._connection.close()

    def rest(self) -> None:
        """Close the connection until there is something to do, so that the server has one less."""
        with self._lock:
            if self._connection is not None and not self._in_transaction:
                self._connection.close()

    def cancel(self) -> None:
        """Ask the server to cancel the statement that it still executes, if nobody waits for it.

        The request is not sent twice: a second one might arrive while the server records the
        failure. When a signal has ended the wait, psycopg 3.3 has sent it already; psycopg 3.2
        does so for Ctrl-C only.
        """
        connection = self._connection
        if connection is not None and not connection.closed:
            with suppress(psycopg.Error):
                if connection.info.transaction_status is TransactionStatus.ACTIVE:
                    connection.cancel_safe(timeout=5)

    def end_statement(self, seconds: float = 4.0) -> None:
        """Cancel the statement that the server still executes, and wait until it has ended.

        A connection that is closed too early ends the session of the server while it records the
        failure of a run. The answer is lost.
        """
        self.cancel()
        connection = self._connection
        if connection is None or connection.closed:
            return
        pgconn = connection.pgconn
        deadline = time.monotonic() + seconds
        with suppress(psycopg.Error, OSError, ValueError):
            while pgconn.transaction_status == TransactionStatus.ACTIVE:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([pgconn.socket], [], [], left)[0]:
                    return
                pgconn.consume_input()
                while not pgconn.is_busy() and pgconn.get_result() is not None:
                    pass

    def reset(self) -> bool:
        """Undo what statements have left in the session; returns whether it can be used again."""
        self._settings.clear()
        connection = self._connection
        if connection is None or connection.closed:
            return connection is None
        if self._pooler is Pooler.TRANSACTION:
            connection.first = ""
            return True  # it has no session, and that of the moment may be another's next
        try:
            connection.execute(_RESET)
        except psycopg.Error:
            return False
        return True

    def execute(
        self,
        query: bytes,
        arguments: Sequence[Any],
        row: type[T] | str,
        *,
        repeatable: bool,
        settled: Callable[[StateError], bool] | None = None,
        is_alone: bool = False,
        may_lack: bool = False,
        is_interpreted: bool = False,
    ) -> list[T]:
        """Execute one statement, whose parameters are $1 and so on, and return its rows.

        A statement that is not repeatable is sent once: when the connection breaks under it, nobody
        knows whether it was executed. A connection that is found broken *before* sending is
        replaced in either case. When a statement was sent again and is refused, `settled` tells
        whether the refusal means that the first one had its effect. One that is alone can't be a
        part of a transaction. What may lack is NULL where the answer of an older database has none.
        One that is interpreted is not compiled, whatever the server does with others: to compile
        the plan of a view over all rooms takes longer than to execute it. In a transaction of the
        caller it is as that one has it.

        Raises:
            ConnectionFailed: no connection could be made within the patience.
            AnswerLost: the connection broke under a statement that may not be repeated.
            NotInstalled: the routine or view does not exist.
        """
        with self._lock:
            deadline = time.monotonic() + self._patience
            sent_again = False
            while True:
                session = self._ready(deadline)
                try:
                    first = []
                    if not (is_alone or self._in_transaction):
                        if self._settings and not session.prepares:
                            first.append(session.connection.first)
                        if is_interpreted and session.compiles:
                            first.append(_INTERPRETED)
                    if first:
                        answer = _execute_behind(session, "; ".join(first), query, arguments)
                    else:
                        answer = session.execute(query, arguments)
                except StateError as error:
                    if sent_again and settled is not None and settled(error):
                        return []
                    raise
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if not _is_lost(session.connection, error):
                        raise
                    session.connection.close()
                    if not repeatable or self._in_transaction or time.monotonic() >= deadline:
                        raise AnswerLost(
                            f"the connection was lost during {_name_of(query)}: {_text(error)}"
                        ) from error
                    _log.warning("the connection was lost in %s, trying again", _name_of(query))
                    sent_again = True
                except psycopg.ProgrammingError as error:
                    if _is_missing(error):
                        raise versions.lacking(
                            _name_of(query),
                            versions.mine(),
                            self._version,
                            error.diag.message_primary or "",
                            versions.place_of(session.connection.info),
                        ) from error
                    if isinstance(error, psycopg.errors.InsufficientPrivilege):
                        raise rights.refused(
                            self._conninfo, error, query.decode(errors="replace")
                        ) from error
                    raise
                except psycopg.errors.ReadOnlySqlTransaction as error:
                    if (refusal := standby.refused(self._conninfo, error)) is not None:
                        raise refusal from error
                    raise
                else:
                    try:
                        return rows_of(row, *answer, may_lack=may_lack)
                    except MissingColumns as error:
                        raise versions.lacking(
                            _name_of(query), versions.mine(), self._version, str(error)
                        ) from error

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Execute what is inside as one transaction; a lost connection ends it."""
        with self._lock:
            connection = self._ready(time.monotonic() + self._patience).connection
            try:
                with connection.transaction():
                    self._in_transaction = True
                    try:
                        yield connection
                    finally:
                        self._in_transaction = False
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if not _is_lost(connection, error):
                    raise
                connection.close()
                raise AnswerLost(
                    f"the connection was lost at the commit: {_text(error)}"
                ) from error

    @property
    def server_version(self) -> int:
        """The version of the server, as libpq has it: 180000 is 18.0."""
        with self._lock:
            return self._ready(time.monotonic()).connection.info.server_version

    @property
    def is_in_transaction(self) -> bool:
        """Whether this thread is inside a transaction; one of another thread is not waited for."""
        if not self._lock.acquire(blocking=False):
            return False  # another thread is at work, which has the lock for its transaction too
        try:
            return self._in_transaction
        finally:
            self._lock.release()

    @property
    def _connection(self) -> Connection[Any] | None:
        session = self._session
        return None if session is None else session.connection

    def _ready(self, deadline: float) -> Session:
        if self._closed:
            raise ConnectionFailed("the control connection is closed")
        session = self._session
        if session is not None and (self._in_transaction or _is_alive(session.connection)):
            return session
        pause = 0.1
        while True:
            try:
                self._session = self._connect()
            except psycopg.OperationalError as error:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ConnectionFailed(
                        f"there is no connection to the database: {_text(error)}"
                    ) from error
                _log.warning("there is no connection, trying again: %s", _text(error))
            else:
                return self._session
            # The pause has a random part, so that not all drivers reach a restarted server at once.
            time.sleep(min(left, pause * (0.5 + random.random())))  # noqa: S311
            pause = min(pause * 2, 5.0)

    def _connect(self, *, is_first: bool = False) -> Session:
        # Behind a pooler, two clients must not name a statement alike, as psycopg's own names are;
        # what comes often is prepared by the session, under a name of its own.
        connection: Connection[Any] = Connection.connect(
            self._conninfo, autocommit=True, prepare_threshold=None
        )
        connection.add_notice_handler(_forward_notice)
        adapt(connection)
        try:
            session = Session(connection)
            if self._looks:
                pid, version = session.look(_LOOK if is_first else _LOOK_AGAIN)
                self._pooler = judged(connection.info.backend_pid, pid)
                if is_first:
                    self._version = version
            self._looks = True
            session.prepares = self._pooler is not Pooler.TRANSACTION
            if session.prepares:
                for name, value in self._settings.items():
                    connection.execute(_set(name, value))
            else:
                connection.first = local(self._settings).decode()
            settle(connection)
        except BaseException:
            connection.close()
            raise
        return session


def _execute_behind(
    session: Session, first: str, query: bytes, arguments: Sequence[Any]
) -> tuple[tuple[bytes | None, ...], list[Any]]:
    """Execute a statement in a transaction in which the parameters were set first."""
    try:
        session.script(f"BEGIN; {first}".encode())
        answer = session.execute(query, arguments)
        session.script(b"COMMIT")
    except BaseException:
        with suppress(psycopg.Error):
            session.script(b"ROLLBACK")
        raise
    return answer


def _set(name: str, value: str) -> bytes:
    parameter = sql.Identifier(*name.split("."))
    return sql.SQL("SET {} = {}").format(parameter, value).as_bytes(None)


def _text(error: psycopg.Error) -> str:
    return str(error).strip()


def _name_of(query: bytes) -> str:
    """Return the routine or view of a statement, for messages."""
    return query.decode().split("(")[0].replace('"', "")


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Return whether an idle connection still works; reads what the server has sent since."""
    if connection.closed:
        return False
    pgconn = connection.pgconn
    try:
        poll = select.poll()
        poll.register(pgconn.socket, select.POLLIN)
        while poll.poll(0):
            pgconn.consume_input()
            pgconn.is_busy()  # parses what has arrived, so that notices reach their handler
    except (psycopg.Error, OSError, ValueError):
        connection.close()
        return False
    return True


def _is_lost(connection: psycopg.Connection[Any], error: psycopg.Error) -> bool:
    state = error.sqlstate or ""
    return (
        connection.closed or state.startswith("08") or state in ("57P01", "57P02", "57P03", "57P05")
    )


def _is_missing(error: psycopg.Error) -> bool:
    # An error from inside a routine has a context; an error of our own statement has none.
    return error.diag.context is None and isinstance(
        error,
        psycopg.errors.UndefinedFunction
        | psycopg.errors.UndefinedTable
        | psycopg.errors.UndefinedColumn
        | psycopg.errors.InvalidSchemaName,
    )


def _forward_notice(diagnostic: psycopg.errors.Diagnostic) -> None:
    level = _LEVELS.get(diagnostic.severity_nonlocalized or "", logging.INFO)
    _server_log.log(level, "%s", diagnostic.message_primary)
