"""The statements of a connection: what is prepared, and what errors and signals leave behind."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd
from omd._core import session
from omd._core.calls import Calls
from omd._core.link import Link
from omd._core.session import Session
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.server

PREPARED = "SELECT statement FROM pg_prepared_statements ORDER BY prepare_time"


@pytest.fixture
def ours(dsn: str) -> Iterator[Session]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield Session(connection)


def prepared(ours: Session) -> list[str]:
    return [row[0] for row in ours.connection.execute(PREPARED, prepare=False).fetchall()]


def test_a_statement_with_parameters_is_prepared_when_it_comes_again(ours: Session) -> None:
    queries = [f"SELECT $1::text AS a{n}".encode() for n in range(3)]
    for query in queries:
        assert ours.execute(query, ["x"])[1] == [("x",)]
    assert prepared(ours) == []
    for turn in range(3):
        for n, query in enumerate(queries):
            names, rows = ours.execute(query, [f"{turn} {n}"])
            assert (names, rows) == ((f"a{n}".encode(),), [(f"{turn} {n}",)])
    assert prepared(ours) == [query.decode() for query in queries]


def test_each_set_of_types_has_a_statement_of_its_own(ours: Session) -> None:
    for value in (1, [1], [1 << 40], 1 << 40, True, 1.5, 2, [2], False):
        ((told,),) = ours.execute(b"SELECT to_jsonb($1)", [value])[1]
        assert told == value


def test_a_statement_without_parameters_is_never_prepared(ours: Session) -> None:
    for _ in range(3):
        assert ours.execute(b"SET work_mem = '5MB'", ()) == ((), [])
        assert ours.execute(b"SHOW work_mem", ()) == ((b"work_mem",), [("5MB",)])
    assert prepared(ours) == []


def test_the_statements_that_came_last_are_prepared_and_others_executed_all_the_same(
    ours: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_MOST", 3)

    def run(*numbers: int) -> None:
        for n in numbers:
            assert ours.execute(f"SELECT $1::int + {n}".encode(), [1])[1] == [(n + 1,)]

    def found() -> list[int]:
        return sorted(int(text.rsplit(" ", 1)[1]) for text in prepared(ours))

    run(0, 0, 1, 1, 2, 2)
    assert found() == [0, 1, 2]
    run(0, 3)
    assert found() == [0, 1, 2]
    run(3)  # 1 has not come for the longest time
    assert found() == [0, 2, 3]
    run(1, 1, 2, 0, 3, 1)
    assert len(found()) == 3
    for _ in range(3):  # so many in turn that none comes again while it is remembered
        run(*range(10, 20))
    assert len(found()) == 3


def test_statements_that_come_once_leave_room_for_those_that_come_again(
    ours: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_MOST", 3)
    for n in range(20):
        ours.execute(f"SELECT $1::int + {n}".encode(), [1])
    for _ in range(2):
        ours.execute(b"SELECT $1::text", ["x"])
    for n in range(20, 40):
        ours.execute(f"SELECT $1::int + {n}".encode(), [1])
    assert prepared(ours) == ["SELECT $1::text"]
    assert len(ours._once) == 3


def test_a_statement_that_must_go_in_a_failed_transaction_is_prepared_again(
    ours: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_MOST", 1)
    first, second = b"SELECT $1::int AS a", b"SELECT $1::int AS b"
    for query in (first, first, second):
        ours.execute(query, [1])
    ours.execute(b"BEGIN", ())
    with pytest.raises(psycopg.errors.UndefinedTable):
        ours.execute(b"SELECT FROM nothing", ())
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        ours.execute(second, [1])
    ours.execute(b"ROLLBACK", ())
    for query in (second, first, first, second):
        assert ours.execute(query, [1])[1] == [(1,)]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_error_leaves_the_session_as_it_was(ours: Session, times: int) -> None:
    query = b"SELECT 1 / $1::int AS a"
    for _ in range(times - 1):
        assert ours.execute(query, [1])[1] == [(1,)]
    with pytest.raises(psycopg.errors.DivisionByZero) as raised:
        ours.execute(query, [0])
    assert raised.value.diag.message_primary == "division by zero"
    assert ours.execute(query, [1])[1] == [(1,)]
    for _ in range(2):
        with pytest.raises(psycopg.errors.UndefinedFunction):
            ours.execute(b"SELECT no_such($1::int)", [1])
    assert ours.execute(query, [1])[1] == [(1,)]
    with pytest.raises(psycopg.ProgrammingError, match="cannot adapt"):
        ours.execute(query, [object()])
    assert ours.execute(query, [1])[1] == [(1,)]


def test_a_signal_cancels_the_statement_and_the_session_goes_on(ours: Session, dsn: str) -> None:
    pid = ours.connection.info.backend_pid
    asleep = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %s"

    def interrupt() -> None:
        with psycopg.connect(dsn, autocommit=True) as other:
            until(lambda: other.execute(asleep, [pid]).fetchone() == (True,))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    deadline = time.monotonic() + 300
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        ours.execute(b"SELECT pg_sleep($1::float8)", [600])
    assert time.monotonic() < deadline  # it did not wait for the end of the statement
    assert ours.execute(b"SELECT $1::int", [1])[1] == [(1,)]


def test_a_lost_connection_is_told(ours: Session, dsn: str) -> None:
    pid = ours.connection.info.backend_pid
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    with pytest.raises(psycopg.OperationalError):
        ours.execute(b"SELECT $1::int", [1])
    assert ours.connection.closed


def test_two_clients_of_a_pooler_never_name_a_statement_alike(ours: Session) -> None:
    """In transaction mode one server connection serves several clients, a transaction each."""
    first, second = Session(ours.connection), Session(ours.connection)
    for _ in range(3):
        assert first.execute(b"SELECT $1::text || ' failed'", ["a"])[1] == [("a failed",)]
        assert second.execute(b"SELECT $1::text || ' succeeded'", ["b"])[1] == [("b succeeded",)]
    assert len(prepared(ours)) == 2


def test_no_connection_of_the_driver_has_psycopg_s_own_names(control: omd.Control) -> None:
    with control.transaction() as connection:
        for n in range(20):
            connection.execute("SELECT %s::int", [n])
        assert connection.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE '\\_pg3%'"
        ).fetchone() == (0,)


# What is interpreted ------------------------------------------------------------------------------


@pytest.fixture
def compiling(dsn: str) -> Iterator[str]:
    """Return the address of a session that compiles all plans, and has a view that says so."""
    with psycopg.connect(dsn, autocommit=True, options="-c jit=on") as conn:
        if conn.execute("SELECT pg_jit_available()").fetchone() != (True,):
            pytest.skip("this server has no jit")
        conn.execute("CREATE VIEW omd_report.plans AS SELECT current_setting('jit') AS jit")
        yield make_conninfo(dsn, options="-c jit=on -c jit_above_cost=0")
        conn.execute("DROP VIEW omd_report.plans")


def test_a_view_that_is_read_is_not_compiled_whatever_the_server_says(compiling: str) -> None:
    def jit() -> str:
        [(told,)] = link.execute(
            b"SELECT pg_catalog.current_setting('jit')", (), tuple, repeatable=True
        )
        return told

    with closing(Link(compiling, application_name="test", patience=timedelta())) as link:
        calls = Calls(link)
        for _ in range(3):
            assert [row.jit for row in calls.report("plans", jit="off")] == ["off"]
            assert jit() == "on"
        link.set(work_mem="5MB")
        assert [row.jit for row in calls.report("plans")] == ["off"]
        with link.transaction():
            assert [row.jit for row in calls.report("plans")] == ["on"]
        assert jit() == "on"


def test_nothing_is_asked_for_where_the_server_compiles_nothing(dsn: str) -> None:
    address = make_conninfo(dsn, options="-c jit=off")
    with closing(Link(address, application_name="test", patience=timedelta())) as link:
        assert Calls(link).report("work", limit=1) == []
        assert link._session is not None
        assert not link._session.compiles
