"""Connections of a run whose commits are fenced (docs/explanation/jobs.md, rule J10).

What such a program commits goes with the fence in one message: whoever is frozen has either sent
all of it or nothing. A fence that was a call of its own would hold the instance while its client is
frozen, and nobody could declare the run dead.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import psycopg
from psycopg import generators, sql
from psycopg.abc import PQGen
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import Row

from omd._core.error_codes import (
    InstanceNotExecuting,
    LeaseExpired,
    MissingArgument,
    UncommittedWork,
    UnfencedCommit,
)
from omd._core.errors import CallerError, LeaseLost, OmdError
from omd._core.pooling import local

if TYPE_CHECKING:
    from typing_extensions import Self

    from omd.rooms.control.block import Block

_CLASS, _MOST = 1869440114, 2**31 - 1  # of the lock by which omd._sessions_of_undone finds it
_MARK = "omd.fenced"  # the transaction that a writer has begun; its value is the Module Instance
_VALUE = f"pg_catalog.current_setting('{_MARK}', TRUE)"
# nullif would look up its operator by the path of the session.
_ID = f"(CASE WHEN {_VALUE} OPERATOR(pg_catalog.<>) '' THEN {_VALUE}::pg_catalog.int8 END)"
# Deferred constraints come before the fence, since they may take long, and others must be able to
# declare the run dead meanwhile. Without the mark the fence gets NULL, which it refuses.
_CHECK = b"SET CONSTRAINTS ALL IMMEDIATE; "
_COMMIT = _CHECK + f"CALL omd.fence({_ID}); COMMIT".encode()
# What perhaps wrote nothing needs no fence then, and leaves no lock.
_COMMIT_PERHAPS = (
    _CHECK
    + f"""DO $omd$ BEGIN
    IF pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL OR {_ID} IS NULL THEN
        CALL omd.fence({_ID});
    END IF;
END $omd$; COMMIT""".encode()
)
IDLE = TransactionStatus.IDLE
_LOOK = f"SELECT {_VALUE}".encode()
_HAS_WRITTEN = b"SELECT pg_catalog.pg_current_xact_id_if_assigned()"
_READ_COMMITTED = "read committed"
# What is refused, and what to do instead.
_AUTOCOMMIT = ("autocommit", "Call commit() after some lines, or use transaction().")

_LITERALS = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(\$(?:[A-Za-z_]\w*)?\$).*?\1", re.DOTALL
)
_WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE")  # tags of what has written, if it had rows
_ENDS = frozenset({"ABORT", "COMMIT", "END", "PREPARE", "ROLLBACK"})
_COMMITS = frozenset({"COMMIT", "END"})
_ENDING = re.compile(rf"\b(?:{'|'.join(sorted(_ENDS))})\b", re.IGNORECASE)


class Writers:
    """The connections of a run that commit with its fence.

    Args:
        run: the run.
    """

    def __init__(self, run: Block[Any]) -> None:
        self.run = run
        self.unfenced: OmdError | None = None  # a text has committed by itself
        self._lock = threading.Lock()
        self._open: set[RunConnection[Any]] = set()
        self._is_ending = False
        self._beats = 0
        self._beaten = threading.Condition()

    def connect(self, **options: Any) -> RunConnection[Any]:
        """Return another connection; the options are those of psycopg and libpq."""
        self.require_open()
        if options.pop("autocommit", False):
            raise _refused(*_AUTOCOMMIT)
        control = self.run._control
        options.setdefault("application_name", f"{control._application_name}-writer")
        options.setdefault("client_encoding", "utf8")
        connection = RunConnection.connect(control._link.dsn, **options)
        connection.writers = self
        connection.settings = control._settings
        if control._link.is_pooled:
            connection.prepare_threshold = None  # a statement of its name may be another's
        else:
            connection.tell(self.run._instance_id)
        with self._lock:
            self._open.add(connection)
        return connection

    def remove(self, connection: RunConnection[Any]) -> None:
        """Forget a connection that is closed."""
        with self._lock:
            self._open.discard(connection)

    def require_open(self) -> None:
        """Raise where the run may not write.

        Raises:
            LeaseLost: the run outlived its lease.
            CallerError: it has not begun, or has ended.
        """
        self.run._lease.check()
        if self._is_ending or not self.run._open:
            said = "has ended" if self.run._began else "has not begun"
            raise CallerError(f"{self.run._kind} {self.run} {said}", hint="Write while it runs.")

    def look(self) -> None:
        """Find out whether the run was declared dead."""
        run = self.run
        try:
            run._control._omd.fence(run._instance_id)
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            run._lease.lose(refusal.message)
        except psycopg.Error:
            pass  # what is known is raised

    def unsettled(self) -> BaseException | None:
        """End the writing; return why the run can't succeed, if there is anything."""
        self._is_ending = True
        if self.unfenced is not None:
            return self.unfenced
        for connection in self._all():
            left = connection.left()
            if left is not None:
                return UncommittedWork(
                    f"{self.run._kind} {self.run} leaves a transaction open {left}",
                    hint="Call commit() or rollback() before the end of the block.",
                )
        return None

    def interrupt(self) -> None:
        """Cancel the statements at work; of a run that is lost, roll back what nobody uses."""
        for connection in self._all():
            connection.interrupt(is_lost=self.run._lease.is_lost)

    def close(self) -> None:
        """Close what is still open; what was not committed is rolled back by the server."""
        self._is_ending = True
        for connection in self._all():
            connection.close()

    def _all(self) -> list[RunConnection[Any]]:
        with self._lock:
            return list(self._open)

    @contextmanager
    def beat(self) -> Iterator[None]:
        """Renew the lease inside: no fence begins meanwhile.

        A fence locks the instance FOR SHARE and does not queue behind the renewal, which would wait
        for ever while many threads commit.
        """
        with self._beaten:
            self._beats += 1
        try:
            yield
        finally:
            with self._beaten:
                self._beats -= 1
                self._beaten.notify_all()

    def let_beat(self) -> None:
        """Wait for a renewal that is on its way, but for no longer than until the next one."""
        lease = self.run._lease.length
        if self._beats and lease is not None:
            with self._beaten:
                self._beaten.wait_for(lambda: not self._beats, lease.total_seconds() / 5)


class RunConnection(psycopg.Connection[Row]):
    """A connection of psycopg that commits only with the fence of its run; `run.connect` makes it.

    `commit()`, the end of `with connection` and that of the outermost `transaction()` check the
    deferred constraints, fence and commit in one message. A transaction that wrote nothing takes no
    fence.

    Attributes:
        writers: the run's connections.
        settings: parameters that are set in each transaction.
    """

    writers: Writers
    settings: dict[str, str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._blocks = 0  # how many blocks of `transaction` are open
        self._pipelines: list[psycopg.Pipeline] = []
        self._has_written = False  # surely, in this transaction
        self._asked_level: psycopg.IsolationLevel | None = None
        self._begins: tuple[object, bytes] | None = None

    # Transactions -----------------------------------------------------------------------------

    def commit(self) -> None:
        """Check the deferred constraints, fence and commit, in one message.

        Raises:
            LeaseLost: the run was declared dead, or has outlived its lease: nothing is committed.
            UnfencedCommit: a text has ended the transaction before.
        """
        self.require_usable()
        if self._blocks:
            raise psycopg.ProgrammingError("commit() is not for the inside of transaction()")
        self._commit()

    def rollback(self) -> None:
        """Roll back; after a loss, and after the end of the run, it does not raise either."""
        if self._blocks and self._is_usable():
            raise psycopg.ProgrammingError("rollback() is not for the inside of transaction()")
        self._roll_back()

    @contextmanager
    def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> Iterator[psycopg.Transaction]:
        """Begin a transaction, which commits with the fence, or a subtransaction in it."""
        self.require_usable()
        is_outermost = self._is(IDLE)
        self.begin()
        self._blocks += 1
        try:
            if not is_outermost or savepoint_name is not None:
                with super().transaction(savepoint_name, force_rollback) as transaction:
                    yield transaction
            else:
                transaction = psycopg.Transaction(self, None, force_rollback)
                yield transaction
        except BaseException as error:
            self._blocks -= 1
            if not is_outermost:
                raise
            self._roll_back()
            is_swallowed = isinstance(error, psycopg.Rollback) and (
                error.transaction is None or error.transaction is transaction
            )
            if not is_swallowed:
                raise
        else:
            self._blocks -= 1
            if is_outermost:
                if force_rollback:
                    self._roll_back()
                else:
                    self._commit_or_roll_back()

    def begin(self) -> None:
        """Begin a transaction, if none is open, and mark it as one that ends with the fence."""
        if not self._is(IDLE):
            return
        with self._outside_of_pipelines(), self.lock:
            if not self._is(IDLE):
                return  # another thread has begun
            self._has_written = False
            level = self._script(self._beginning())[-1].get_value(0, 0)
            if level is not None and level.decode() == _READ_COMMITTED:
                return
            self._script(b"ROLLBACK")
        raise _refused(
            f"isolation level {(level or b'').decode()}",
            "Use READ COMMITTED; default_transaction_isolation is what a transaction begins with.",
        )

    def tell(self, instance: int) -> None:
        """Let a lock say whose session it is; a rollback of the run may end it."""
        with self.lock:
            self._script(
                f"SELECT pg_catalog.pg_advisory_lock_shared({_CLASS}, {instance % _MOST})".encode()
            )

    def _beginning(self) -> bytes:
        """Return what begins a transaction; it answers its isolation level."""
        key = (self._asked_level, self.read_only, tuple(self.settings.items()))
        if self._begins is None or self._begins[0] != key:
            self._begins = key, self._composed()
        return self._begins[1]

    def _composed(self) -> bytes:
        modes = []
        if self._asked_level is not None:
            modes.append("ISOLATION LEVEL READ COMMITTED")
        if self.read_only is not None:
            modes.append("READ ONLY" if self.read_only else "READ WRITE")
        begin = f"BEGIN {' '.join(modes)}; ".encode()
        settings = local(self.settings) + b"; " if self.settings else b""
        mark = sql.SQL(
            "SELECT pg_catalog.current_setting('transaction_isolation'),"
            " pg_catalog.set_config({}, {}, TRUE)"
        ).format(_MARK, str(self.writers.run._instance_id))
        return begin + settings + mark.as_bytes(None)

    def _commit(self) -> None:
        if self._is(IDLE) and not self._pipelines:
            return
        self.writers.let_beat()
        try:
            with self._outside_of_pipelines(), self.lock:
                if not self._is(IDLE):
                    self._script(_COMMIT if self._has_written else _COMMIT_PERHAPS)
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            self._roll_back()
            self.writers.run._lease.lose(refusal.message)
            raise self._lost() from refusal
        except MissingArgument as error:
            self.raise_unfenced(error)
        except psycopg.Error as error:
            self.require_not_lost(error)
            raise

    def _commit_or_roll_back(self) -> None:
        """Commit at the end of a block, behind which nobody can roll back."""
        try:
            self.require_usable()
            self._commit()
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self.closed:
            return
        try:
            super().rollback()
        except psycopg.Error:
            # It is in a block of psycopg, or broken, or does what can't be interrupted.
            self.close()

    # Statements -------------------------------------------------------------------------------

    @contextmanager
    def statement(self, query: Any, cursor: psycopg.Cursor[Any]) -> Iterator[None]:
        """Execute a statement inside, in a transaction that ends with the fence.

        Raises:
            LeaseLost: the run outlived its lease.
            UnfencedCommit: the statement has ended the transaction.
        """
        self.require_usable()
        self.begin()
        try:
            yield
        except psycopg.Error as error:
            self.require_not_lost(error)
            if not self.closed and not self._is_in_pipeline:
                is_idle = self._is(IDLE)
                words = self._first_words(query) if not is_idle else []
                if is_idle or (len(words) > 1 and not _COMMITS.isdisjoint(words)):
                    self.raise_unfenced(error)
            raise
        if not self._is_in_pipeline and cursor.rowcount > 0:
            self._has_written |= (cursor.statusmessage or "").startswith(_WRITES)
        if self._is_in_pipeline:
            if not _ENDS.isdisjoint(self._first_words(query)):
                self._pipelines[0].sync()
                self._require_mark(cursor)
        elif self._is(IDLE) or not _ENDS.isdisjoint(self._first_words(query)):
            self._require_mark(cursor)

    def _require_mark(self, cursor: psycopg.Cursor[Any]) -> None:
        """Raise where a text has committed; a ROLLBACK alone has not."""
        if self._is(TransactionStatus.INERROR):
            return
        if self._is(IDLE):
            if cursor.statusmessage == "ROLLBACK" and cursor.nextset() is None:
                return
            self.raise_unfenced()
        with self._outside_of_pipelines(), self.lock:
            mark = self._script(_LOOK)[-1].get_value(0, 0)
        if not mark:
            self.raise_unfenced()

    def raise_unfenced(self, cause: BaseException | None = None) -> NoReturn:
        """Let the run end with F, whatever becomes of the exception, and raise it."""
        run = self.writers.run
        error = UnfencedCommit(
            f"a text has ended a transaction of {run._kind} {run} without the fence",
            hint="Call commit(), or use transaction(); the next begin rolls back what was written.",
        )
        if self.writers.unfenced is None:
            self.writers.unfenced = error
        self._roll_back()
        raise error from cause

    def _first_words(self, query: Any) -> list[str]:
        """Return the first word of each statement of a query that may end a transaction."""
        if isinstance(query, bytes):
            query = query.decode(self.info.encoding, "replace")
        elif isinstance(query, sql.Composable):
            query = query.as_string(self)
        if not isinstance(query, str):
            return ["END"]  # it is looked at what it has done
        if not _ENDING.search(query):
            return []
        words = (part.split(maxsplit=1) for part in _LITERALS.sub(" ", query).split(";"))
        return [word[0].upper() for word in words if word]

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        """Return a cursor, whose statements are in a transaction that ends with the fence."""
        self.require_usable()
        self.cursor_factory = _fenced(self.cursor_factory)  # type: ignore[arg-type]
        self.server_cursor_factory = _fenced(self.server_cursor_factory)  # type: ignore[arg-type]
        return super().cursor(*arguments, **options)

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        """Begin a pipeline; its transactions are committed with the fence."""
        self.require_usable()
        with super().pipeline() as pipeline:
            self._pipelines.append(pipeline)
            try:
                yield pipeline
            finally:
                self._pipelines.pop()

    # What is refused --------------------------------------------------------------------------

    @property
    def autocommit(self) -> bool:
        """It is never in autocommit: what commits by itself would have no fence."""
        return False

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self.set_autocommit(value)

    def set_autocommit(self, value: bool) -> None:
        """Refuse autocommit."""
        if value:
            raise _refused(*_AUTOCOMMIT)

    @property
    def isolation_level(self) -> psycopg.IsolationLevel | None:
        """READ COMMITTED, or None for what the server begins with, which has to be that."""
        return self._asked_level

    @isolation_level.setter
    def isolation_level(self, value: psycopg.IsolationLevel | None) -> None:
        self.set_isolation_level(value)

    def set_isolation_level(self, value: psycopg.IsolationLevel | None) -> None:
        """Refuse all but READ COMMITTED: a fence must see what has become of its run."""
        if value is not None and value != psycopg.IsolationLevel.READ_COMMITTED:
            name = psycopg.IsolationLevel(value).name.replace("_", " ")
            raise _refused(f"isolation level {name}", "Use READ COMMITTED.")
        self._asked_level = value

    def tpc_begin(self, *_arguments: Any, **_options: Any) -> NoReturn:
        """Refuse a two-phase commit, which would end after the fence."""
        raise _refused("a two-phase commit", "Use commit().")

    tpc_prepare = tpc_commit = tpc_rollback = tpc_recover = tpc_begin

    # The run ----------------------------------------------------------------------------------

    def require_usable(self) -> None:
        """Raise where the run may not write; a transaction that is open then is rolled back.

        Raises:
            LeaseLost: the run outlived its lease.
            CallerError: it has ended.
        """
        try:
            self.writers.require_open()
        except psycopg.Error:
            self.interrupt(is_lost=True)
            raise

    def require_not_lost(self, cause: BaseException) -> None:
        """Raise `LeaseLost` instead of what has followed from the loss."""
        if self.closed and isinstance(cause, psycopg.OperationalError):
            self.writers.look()  # a rollback of the run ends its sessions
        if self.writers.run._lease.is_lost:
            raise self._lost() from cause

    def left(self) -> str | None:
        """Return what its open transaction holds, in words; None: nothing would be lost."""
        if self.closed or self._is(IDLE):
            return None
        try:
            with self._outside_of_pipelines():
                if not self._is(TransactionStatus.INTRANS) or not self.lock.acquire(timeout=1):
                    return "that is at work or has failed"
                try:
                    written = self._script(_HAS_WRITTEN)[-1].get_value(0, 0)
                finally:
                    self.lock.release()
        except psycopg.Error as error:
            return f"that has failed: {error}"
        return None if written is None else "that has written"

    def interrupt(self, *, is_lost: bool) -> None:
        """Cancel the statement at work; of a run that is lost, roll back what nobody works at."""
        if self.closed:
            return
        with suppress(psycopg.Error):
            if self._is(TransactionStatus.ACTIVE):
                self.cancel_safe(timeout=5)
            elif (
                is_lost
                and not self._is(IDLE)
                and not self._is_in_pipeline
                and self.lock.acquire(blocking=False)
            ):
                try:
                    self._script(b"ROLLBACK")
                finally:
                    self.lock.release()

    def close(self) -> None:
        """Close the connection; what was not committed is rolled back."""
        with suppress(psycopg.Error):
            super().close()
        self.writers.remove(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except BaseException:
            self._roll_back()
            self.close()
            raise

    def _lost(self) -> LeaseLost:
        return self.writers.run._lease.error()

    def _is_usable(self) -> bool:
        try:
            self.writers.require_open()
        except psycopg.Error:
            return False
        return True

    # libpq ------------------------------------------------------------------------------------

    def _is(self, status: TransactionStatus) -> bool:
        return self.pgconn.transaction_status == status

    @property
    def _is_in_pipeline(self) -> bool:
        return self.pgconn.pipeline_status != PipelineStatus.OFF

    @contextmanager
    def _outside_of_pipelines(self) -> Iterator[None]:
        """Leave the pipeline for a message of its own; all that was sent has been answered then."""
        if not self._is_in_pipeline:
            yield
            return
        self._pipelines[0].sync()
        self.pgconn.exit_pipeline_mode()
        try:
            yield
        finally:
            if not self.closed:
                self.pgconn.enter_pipeline_mode()

    def _script(self, statements: bytes) -> list[PGresult]:
        """Execute several statements as one message; whoever calls holds the lock."""
        results = self.wait(self._sent(statements))
        for result in results:
            if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                raise error_from_result(result, encoding=self.info.encoding)
        return results

    def _sent(self, statements: bytes) -> PQGen[list[PGresult]]:
        self.pgconn.send_query(statements)
        results: list[PGresult] = yield from generators.execute(self.pgconn)
        return results


class _Fenced:
    """What a cursor of a `RunConnection` does, of whatever class it is."""

    connection: Any

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
        with self.connection.statement(query, self):
            super().execute(query, *arguments, **options)  # type: ignore[misc]
        return self

    def executemany(self, query: Any, *arguments: Any, **options: Any) -> None:
        with self.connection.statement(query, self):
            super().executemany(query, *arguments, **options)  # type: ignore[misc]

    def stream(self, query: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        with self.connection.statement(query, self):
            yield from super().stream(query, *arguments, **options)  # type: ignore[misc]

    @contextmanager
    def copy(self, statement: Any, *arguments: Any, **options: Any) -> Iterator[psycopg.Copy]:
        with (
            self.connection.statement(statement, self),
            super().copy(statement, *arguments, **options) as copy,  # type: ignore[misc]
        ):
            yield copy


def _asking(name: str) -> Callable[..., Any]:
    """Return a method of a server cursor that asks the server."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        self.connection.require_usable()
        try:
            return getattr(super(_FencedOnServer, self), name)(*arguments, **options)
        except psycopg.Error as error:
            self.connection.require_not_lost(error)
            raise

    method.__name__ = name
    return method


class _FencedOnServer(_Fenced):
    """What a cursor on the server does."""

    itersize: int

    fetchone, fetchmany, fetchall = (_asking(n) for n in ("fetchone", "fetchmany", "fetchall"))
    scroll = _asking("scroll")

    def __iter__(self) -> Iterator[Any]:
        while rows := self.fetchmany(self.itersize):
            yield from rows
            if len(rows) < self.itersize:
                return

    def __next__(self) -> Any:
        return next(self._rows)

    @functools.cached_property
    def _rows(self) -> Iterator[Any]:
        return iter(self)


@functools.cache
def _fenced(factory: type[Any]) -> type[Any]:
    """Return the class of cursors of a `RunConnection` that is like another one."""
    if issubclass(factory, _Fenced):
        return factory
    is_on_server = issubclass(factory, psycopg.ServerCursor)
    base = _FencedOnServer if is_on_server else _Fenced
    return type(f"Fenced{factory.__name__}", (base, factory), {})


def _refused(what: str, hint: str) -> CallerError:
    return CallerError(f"a connection of a run refuses {what}", hint=hint)
