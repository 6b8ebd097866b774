"""`run.connect()`: what a program commits goes with the fence of its run."""
# ruff: noqa: PT012 - the tests are about what happens in which block

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import IsolationLevel, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

import omd
from omd import errors
from support.lots import SEED, draws

from . import writing
from .writing import WAYS, insert

if TYPE_CHECKING:
    from collections.abc import Callable

    from omd.rooms.control.writer import RunConnection

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]

SHORT = timedelta(seconds=1)


def rows(conn: Connection) -> list[int]:
    found = conn.execute("SELECT * FROM dwh.t ORDER BY 1").fetchall()
    return [row["omd_insert_module_instance_id"] for row in found]


def wait_until(condition: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


# What commits -----------------------------------------------------------------------------------


EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@EACH_WAY
def test_what_a_run_that_lives_writes_is_there(
    control: omd.Control, conn: Connection, way: Callable[..., None]
) -> None:
    with control.module("m_alone") as run:
        way(run, bool)
        assert rows(conn) == [run.instance_id] * 2


@EACH_WAY
def test_a_run_that_was_declared_dead_commits_nothing(
    control: omd.Control, conn: Connection, way: Callable[..., None]
) -> None:
    with pytest.raises(errors.LeaseLost), control.module("m_alone") as run:
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        with pytest.raises(errors.LeaseLost):
            way(run, bool)
        assert run._lease.is_lost
    assert rows(conn) == []


def test_it_is_a_connection_of_psycopg(control: omd.Control) -> None:
    with control.module("m_alone") as run, run.connect(row_factory=dict_row) as db:
        assert isinstance(db, psycopg.Connection)
        assert db.execute("SELECT 1 AS one").fetchone() == {"one": 1}
        assert db.cursor("some").execute("SELECT 1 AS one").fetchall() == [{"one": 1}]
        assert db.execute("SHOW application_name").fetchone() == {"application_name": "omd-writer"}
        assert not db.autocommit


def rolling_back(run: omd.Run, db: RunConnection[Any], *, is_named: bool) -> None:
    with db.transaction() as transaction:
        insert(run, db)
        raise psycopg.Rollback(transaction if is_named else None)


def test_a_rollback_of_a_block_leaves_nothing(control: omd.Control, conn: Connection) -> None:
    with control.module("m_alone") as run:
        db = run.connect()
        with db.transaction(force_rollback=True):
            insert(run, db)
        rolling_back(run, db, is_named=True)
        rolling_back(run, db, is_named=False)
        with suppress(KeyError), db.transaction():
            insert(run, db)
            raise KeyError
        with pytest.raises(psycopg.ProgrammingError), db.transaction():
            db.commit()
        with pytest.raises(psycopg.ProgrammingError), db.transaction():
            db.rollback()
        assert db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert rows(conn) == []


def test_deferred_constraints_are_checked_before_the_fence(
    control: omd.Control, conn: Connection
) -> None:
    conn.execute(
        "CREATE TABLE dwh.other (id bigint PRIMARY KEY);"
        "CREATE TABLE dwh.one (id bigint REFERENCES dwh.other DEFERRABLE INITIALLY DEFERRED);"
        "GRANT ALL ON ALL TABLES IN SCHEMA dwh TO PUBLIC"
    )
    with control.module("m_alone") as run:
        db = run.connect()
        db.execute("INSERT INTO dwh.one VALUES (1)")
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            db.commit()
        db.rollback()


def test_a_transaction_that_wrote_nothing_takes_no_fence(
    control: omd.Control, conn: Connection, connect: Callable[..., Connection]
) -> None:
    with control.module("m_alone") as run, run.connect() as db:
        holder = connect(autocommit=False)
        holder.execute(
            "SELECT FROM omd.module_instance WHERE module_instance_id = %s FOR UPDATE",
            [run.instance_id],
        )
        db.execute("SET LOCAL lock_timeout = '100ms'; SELECT 1")
        db.commit()
        insert(run, db)
        db.execute("SET LOCAL lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            db.commit()
        db.rollback()
        holder.rollback()
        holder.close()


# Frozen and woken -------------------------------------------------------------------------------


class Writer:
    """A process that writes as a Module of its own."""

    def __init__(self, control: omd.Control, dsn: str, way: str = "") -> None:
        self.code = f"m_{way or uuid4().hex}"
        self.table = f"dwh.{self.code}"
        with control.transaction() as connection:
            connection.execute(
                f"CREATE TABLE {self.table} (omd_insert_module_instance_id bigint);"
                f"CALL omd.register_module('{self.code}', 'INT', '{self.table}', 'HUB')"
            )
        command = [sys.executable, writing.__file__, dsn, self.code, *([way] if way else [])]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_until_stopped(self) -> None:
        wait_until(lambda: Path(f"/proc/{self.process.pid}/stat").read_text().split()[2] == "T", 60)

    def write_as_the_next(self, control: omd.Control) -> int:
        """Begin when the lease is over, write, and succeed; return the run that was undone."""
        deadline = time.monotonic() + 30
        while True:
            with suppress(errors.Aborted), control.module(self.code) as run:
                with run.connect() as db:
                    insert(run, db)
                (undone,) = run.instance_array
                return undone
            assert time.monotonic() < deadline, f"{self.code} does not begin"
            time.sleep(0.1)

    def wake(self) -> str:
        """Let the process go on to its end, and return what it says."""
        self.process.send_signal(signal.SIGCONT)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode not in (0, None)
        return said

    def left(self, conn: Connection, run: int) -> int:
        """Return how many rows of a run there are."""
        query = f"SELECT FROM {self.table} WHERE omd_insert_module_instance_id = %s"
        return conn.execute(query.encode(), [run]).rowcount

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.mark.kill
def test_who_is_frozen_and_woken_after_the_next_success_leaves_no_row(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    writers = [Writer(control, dsn, way.__name__) for way in WAYS]
    try:
        for writer in writers:
            writer.wait_until_stopped()
        dead = {writer.code: writer.write_as_the_next(control) for writer in writers}
        said = {writer.code: writer.wake().strip().splitlines() for writer in writers}
        assert not {code for code, lines in said.items() if "LeaseLost" not in "".join(lines)}
        assert {w.code: w.left(conn, dead[w.code]) for w in writers} == dict.fromkeys(dead, 0)
    finally:
        for writer in writers:
            writer.close()


@pytest.mark.kill
@pytest.mark.random
def test_whenever_a_writer_is_frozen_the_next_begin_proceeds_and_no_row_stays(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    moments = random.Random(SEED)
    left = draws(200, least=20)
    while left > 0:
        writers = [Writer(control, dsn) for _ in range(min(left, 10))]
        left -= len(writers)
        try:
            for writer in writers:
                assert writer.process.stdout is not None
                assert writer.process.stdout.readline() == "writes\n", writer.wake()
            for writer in writers:
                time.sleep(moments.random() / 20)
                writer.process.send_signal(signal.SIGSTOP)
            dead = {writer.code: writer.write_as_the_next(control) for writer in writers}
            for writer in writers:
                assert "LeaseLost" in writer.wake()
            assert {w.code: w.left(conn, dead[w.code]) for w in writers} == dict.fromkeys(dead, 0)
        finally:
            for writer in writers:
                writer.close()


def holding(control: omd.Control, dsn: str) -> Writer:
    """A writer that is frozen while it holds a lock on a row that a rollback deletes."""
    writer = Writer(control, dsn, "holding")
    writer.wait_until_stopped()
    return writer


@pytest.mark.kill
def test_a_rollback_ends_the_session_of_the_dead_run_for_whose_lock_it_waits(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    writer = holding(control, dsn)
    try:
        dead = writer.write_as_the_next(control)
        assert "LeaseLost" in writer.wake()
        assert writer.left(conn, dead) == 0
    finally:
        writer.close()


@pytest.mark.kill
def test_who_may_not_end_that_session_gives_up_after_ten_seconds(
    control: omd.Control, conn: Connection, dsn: str, module_row: Row
) -> None:
    conn.execute(
        "CREATE ROLE other_loader LOGIN BYPASSRLS IN ROLE omd_runner;"
        "GRANT ALL ON SCHEMA dwh TO PUBLIC"
    )
    writer = holding(control, dsn)
    try:
        conn.execute(f"GRANT ALL ON {writer.table} TO PUBLIC".encode())
        [(pid,)] = [
            (row["pid"],)
            for row in conn.execute(
                "SELECT pid FROM pg_locks WHERE classid = 1869440114 AND granted"
            )
        ]
        other = make_conninfo(dsn, user="other_loader")
        wait_until(
            lambda: (
                conn.execute(
                    "SELECT FROM omd.module_instance WHERE lease_expires_at > clock_timestamp()"
                ).rowcount
                == 0
            )
        )
        with omd.connect(other, lease=None) as control_of_other:
            began = time.monotonic()
            with (
                pytest.raises(errors.lookup("OM100")) as caught,
                control_of_other.module(writer.code),
            ):
                pytest.fail("it began")
        assert caught.value.sqlstate == "OM100"
        assert time.monotonic() - began > 9
        assert str(pid) in caught.value.message
        assert str(pid) in (caught.value.hint or "")
        newest = conn.execute(
            "SELECT execution_status_code AS s FROM omd.module_instance"
            " ORDER BY module_instance_id DESC LIMIT 1"
        ).fetchone()
        assert newest == {"s": "F"}
    finally:
        writer.close()
        conn.execute("DROP OWNED BY other_loader; DROP ROLE other_loader")


# What is refused --------------------------------------------------------------------------------


def refused_autocommit(run: omd.Run, _db: Any) -> None:
    run.connect(autocommit=True)


def refused_autocommit_later(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.autocommit = True


def refused_set_autocommit(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.set_autocommit(True)


def refused_isolation(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.isolation_level = IsolationLevel.SERIALIZABLE


def refused_set_isolation(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.set_isolation_level(IsolationLevel.REPEATABLE_READ)


def refused_default(run: omd.Run, _db: Any) -> None:
    run.connect(options="-c default_transaction_isolation=serializable").execute("SELECT 1")


def refused_set_default(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    db.commit()
    db.execute("SELECT 1")


def refused_two_phases(_run: omd.Run, db: RunConnection[Any]) -> None:
    db.tpc_begin("x")


REFUSALS = [value for name, value in list(globals().items()) if name.startswith("refused_")]


@pytest.mark.parametrize("refused", REFUSALS, ids=lambda one: one.__name__)
def test_what_has_no_fence_is_refused_with_a_hint(
    control: omd.Control, refused: Callable[..., None]
) -> None:
    with control.module("m_alone") as run, run.connect() as db:
        with pytest.raises(errors.CallerError) as caught:
            refused(run, db)
        assert caught.value.hint
        db.rollback()
        db.close()


COMMITTING = [
    "COMMIT",
    "END",
    "commit and chain",
    "COMMIT; BEGIN",
    "/* why */ COMMIT; BEGIN -- so",
    "SELECT 1; COMMIT; BEGIN; SELECT 2",
    "COMMIT; SELECT 1 / 0",
    "COMMIT; BEGIN; SELECT 1 / 0",
]


@pytest.mark.parametrize("text", COMMITTING)
@pytest.mark.parametrize("is_swallowed", [False, True])
def test_a_text_that_commits_by_itself_fails_the_run(
    control: omd.Control, conn: Connection, module_row: Row, text: str, is_swallowed: bool
) -> None:
    with (
        pytest.raises(errors.lookup("OM140")),
        control.module("m_alone") as run,
        run.connect() as db,
    ):
        insert(run, db)
        with pytest.raises(errors.lookup("OM140")) as caught:
            db.execute(text.encode())
        assert caught.value.hint
        if not is_swallowed:
            raise caught.value
    row = module_row(run.instance_id)
    assert (row["execution_status_code"], row["next_run_indicator"]) == ("F", "R")
    assert rows(conn) == [run.instance_id]
    with control.module("m_alone") as again:
        assert again.instance_array == [run.instance_id]
        assert rows(conn) == []


@pytest.mark.parametrize("text", ["CALL dwh.commits()", "DO 'BEGIN COMMIT; END'"])
def test_a_routine_that_commits_is_refused_by_the_server(
    control: omd.Control, conn: Connection, text: str
) -> None:
    conn.execute("CREATE PROCEDURE dwh.commits() LANGUAGE plpgsql AS 'BEGIN COMMIT; END'")
    with control.module("m_alone") as run, run.connect() as db:
        insert(run, db)
        with pytest.raises(psycopg.errors.InvalidTransactionTermination):
            db.execute(text)
        db.rollback()
    assert rows(conn) == []


@pytest.mark.parametrize(
    "text", ["ROLLBACK", "SELECT 'COMMIT; BEGIN'", "SAVEPOINT one; RELEASE one", "SELECT 1; -- END"]
)
def test_a_text_that_does_not_commit_is_left_alone(control: omd.Control, text: str) -> None:
    with control.module("m_alone") as run, run.connect() as db:
        db.execute(sql.SQL(text))  # type: ignore[arg-type, unused-ignore]
        insert(run, db)


# The end of the run -----------------------------------------------------------------------------


def test_a_block_that_leaves_what_it_wrote_uncommitted_fails(
    control: omd.Control, conn: Connection, module_row: Row
) -> None:
    with pytest.raises(errors.lookup("OM141")) as caught, control.module("m_alone") as run:
        insert(run, run.connect())
    assert caught.value.hint
    assert module_row(run.instance_id)["execution_status_code"] == "F"
    assert rows(conn) == []


def test_a_block_that_leaves_nothing_succeeds(control: omd.Control, module_row: Row) -> None:
    with control.module("m_alone") as run:
        rolled_back, closed, reading = run.connect(), run.connect(), run.connect()
        insert(run, rolled_back)
        rolled_back.rollback()
        insert(run, closed)
        closed.close()
        reading.execute("SELECT 1")
    assert module_row(run.instance_id)["execution_status_code"] == "S"


def test_after_the_end_each_call_says_that_the_run_has_ended(control: omd.Control) -> None:
    with pytest.raises(errors.CallerError, match="has not begun"):
        control.module("m_alone").connect()
    with control.module("m_alone") as run:
        db = run.connect()
        cursor = db.cursor()
    for call in (
        run.connect,
        db.commit,
        db.cursor,
        lambda: db.execute("SELECT 1"),
        lambda: cursor.execute("SELECT 1"),
        lambda: cursor.executemany("SELECT 1", [[]]),
        lambda: list(cursor.stream("SELECT 1")),
        lambda: cursor.copy("COPY dwh.t TO STDOUT").__enter__(),
        lambda: db.transaction().__enter__(),
        lambda: db.pipeline().__enter__(),
    ):
        with pytest.raises(errors.CallerError, match="has ended"):
            call()
    db.rollback()
    db.close()


def test_at_a_loss_the_statement_at_work_is_cancelled_and_each_call_says_so(
    control: omd.Control, conn: Connection
) -> None:
    with pytest.raises(errors.LeaseLost), control.module("m_alone", lease=SHORT) as run:
        db, other = run.connect(), run.connect()
        insert(run, other)
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        with pytest.raises(errors.LeaseLost):
            db.execute("SELECT pg_sleep(600)")
        for call in (db.commit, db.cursor, run.connect, other.commit):
            with pytest.raises(errors.LeaseLost):
                call()
        db.rollback()
        other.rollback()
        left = conn.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'omd-writer' AND backend_xid IS NOT NULL"
        )
        assert left.rowcount == 0
        db.close()


@pytest.mark.parametrize("seconds", [3])
def test_many_threads_that_commit_do_not_starve_the_renewal(
    control: omd.Control, seconds: int
) -> None:
    stop = threading.Event()

    def write(run: omd.Run) -> int:
        count = 0
        with run.connect() as db:
            while not stop.is_set():
                insert(run, db)
                db.commit()
                count += 1
        return count

    with control.module("m_alone", lease=SHORT) as run, ThreadPoolExecutor(8) as pool:
        written = [pool.submit(write, run) for _ in range(8)]
        stop.wait(seconds)
        assert not run._lease.is_lost
        stop.set()
        assert all(one.result() for one in written)


def test_its_connections_leave_the_run_fenced(control: omd.Control, module_row: Row) -> None:
    with control.module("m_alone") as run:
        with run.connect() as db:
            insert(run, db)
        fenced = module_row(run.instance_id)["execution_context"]
        assert fenced["writers"] == "FENCED"
        assert run.dsn
        taken_back = module_row(run.instance_id)["execution_context"]
        assert taken_back.get("writers") != "FENCED"
