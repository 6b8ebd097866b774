"""A person has two connections, and what is at work goes on until it is stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.web import sending
from omd.programs.web.doing import AtWork, State
from omd.programs.web.opening import opened
from omd.programs.web.person import Person
from omd.programs.web.personal import AllAtWorkError, Personal
from omd.programs.web.sessions import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT = "SELECT pg_advisory_lock(39)"
OPEN = (
    "SELECT pid, state FROM pg_stat_activity"
    " WHERE application_name = 'omd web' AND datname = current_database()"
)
AT_WORK = f"{OPEN} AND wait_event = 'advisory'"


@pytest.fixture
def person(dsn: str) -> Iterator[Person]:
    person = Person("ada", lambda: opened(dsn))
    yield person
    person.personal.end_all()


@pytest.fixture
def ada(person: Person) -> Personal:
    return person.personal


@pytest.fixture
def session(person: Person) -> Session:
    return Session.of(person)


@pytest.fixture
def until(conn: Any) -> Callable[[str, int], None]:
    """A function that waits until a query has so many rows."""

    def until(query: str, count: int) -> None:
        for _ in range(2000):
            if len(conn.execute(query).fetchall()) == count:
                return
            conn.execute("SELECT pg_sleep(0.005)")
        raise AssertionError(f"never {count}: {query}")

    return until


@pytest.fixture
def blocked(connect: Callable[..., Any]) -> Any:
    """The lock that WAIT wants is held."""
    other = connect()
    other.execute("SELECT pg_advisory_lock(39)")
    return other


def waits(work: Any, connection: Any) -> None:
    connection.execute(WAIT)


def test_a_connection_is_used_again_and_a_transaction_left_open_is_undone(
    ada: Personal, conn: Any
) -> None:
    with ada.connection() as first:
        pid = first.info.backend_pid
        first.execute("BEGIN")
        first.execute("CREATE TABLE public.left_open ()")
    with ada.connection() as second:
        assert second.info.backend_pid == pid
        # A statement whose page was killed ends.
        [row] = second.execute("SHOW client_connection_check_interval").fetchall()
        assert row == {"client_connection_check_interval": "10s"}
    assert conn.execute("SELECT to_regclass('public.left_open') AS t").fetchone()["t"] is None
    assert len(conn.execute(OPEN).fetchall()) == 1


def test_a_person_has_two_connections(
    ada: Personal, dsn: str, conn: Any, until: Callable[[str, int], None]
) -> None:
    grace = Person("grace", lambda: opened(dsn))
    with ada.connection(), ada.connection():
        with pytest.raises(AllAtWorkError), ada.connection(wait=0):
            pass
        with grace.own():
            assert len(conn.execute(OPEN).fetchall()) == 3
    grace.personal.end_all()
    until(OPEN, 2)


def test_who_waits_gets_the_connection_that_is_given_back(ada: Personal) -> None:
    one, two = ada.take(), ada.take()
    pids: list[int] = []

    def wait() -> None:
        with ada.connection(wait=30) as third:
            pids.append(third.info.backend_pid)

    thread = threading.Thread(target=wait)
    thread.start()
    pid = one.opened.info.backend_pid
    ada.give_back(one)
    thread.join(30)
    assert pids == [pid]
    ada.give_back(two)


def test_an_idle_connection_is_closed_after_its_rest(
    dsn: str, until: Callable[[str, int], None]
) -> None:
    personal = Personal(lambda: opened(dsn), rest=0.05)
    for _ in range(2):
        with personal.connection():
            until(OPEN, 1)
        until(OPEN, 0)


def test_a_connection_that_died_while_idle_is_opened_anew(ada: Personal, conn: Any) -> None:
    with ada.connection() as first:
        pid = first.info.backend_pid
    conn.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
    with ada.connection() as second:
        assert second.info.backend_pid != pid


def test_logging_out_ends_what_that_session_has_begun(
    ada: Personal, person: Person, session: Session, blocked: Any, until: Callable[[str, int], None]
) -> None:
    other = AtWork().begin(Session.of(person), "waits", WAIT, "/", waits)
    work = AtWork().begin(session, "waits", WAIT, "/", waits)
    until(AT_WORK, 2)
    ada.end(session)
    until(OPEN, 1)
    assert work.wait(30)
    assert work.state in (State.REFUSED, State.LOST)  # cancelled, or cut off before the answer
    assert other.state is State.AT_WORK
    ada.end_all()
    until(OPEN, 0)
    assert other.wait(30)


def test_a_session_that_expired_leaves_its_work(
    ada: Personal, session: Session, blocked: Any, until: Callable[[str, int], None]
) -> None:
    with ada.connection():
        work = AtWork().begin(session, "waits", WAIT, "/", waits)
        until(AT_WORK, 1)
    ada.rest()
    until(OPEN, 1)
    assert ada.is_at_work
    blocked.execute("SELECT pg_advisory_unlock(39)")
    assert work.wait(30)
    assert work.state is State.DONE
    until(OPEN, 0)
    assert not ada.is_at_work


def test_stop_cancels_the_statement_and_nothing_else(
    session: Session, ada: Personal, blocked: Any, until: Callable[[str, int], None], conn: Any
) -> None:
    conn.execute("CREATE TABLE public.done (n integer)")

    def chunks(work: Any, connection: Any) -> None:
        for number in range(3):
            if work.is_stopped:
                return
            work.report(number, 3, f"{number} of 3")
            connection.execute("INSERT INTO public.done VALUES (%s)", (number,))
            if number == 1:
                connection.execute(WAIT)

    at_work = AtWork()
    work = at_work.begin(session, "waits", WAIT, "/", chunks)
    until(AT_WORK, 1)
    assert work.progress == "1 of 3"
    assert at_work.of(work.number, "grace") is None
    assert at_work.of(work.number, "ada") is work
    work.stop()
    assert work.wait(30)
    assert work.state is State.STOPPED
    assert [row["n"] for row in conn.execute("SELECT n FROM public.done ORDER BY n")] == [0, 1]
    work.stop()  # what is over is left alone
    with ada.connection() as connection:
        connection.execute("SELECT 1")


def test_a_killed_connection_is_no_refusal(
    session: Session, ada: Personal, blocked: Any, until: Callable[[str, int], None], conn: Any
) -> None:
    work = AtWork().begin(session, "waits", WAIT, "/", waits)
    until(AT_WORK, 1)
    conn.execute(f"SELECT pg_terminate_backend(pid) FROM ({AT_WORK}) AS a")
    assert work.wait(30)
    assert work.state is State.LOST
    with ada.connection() as connection:
        connection.execute("SELECT 1")


def test_what_is_refused_says_why(session: Session, ada: Personal) -> None:
    work = AtWork().begin(
        session,
        "x",
        "x",
        "/",
        lambda work, connection: sending.send(work, connection, "SELECT 1/0;", "x"),
    )
    assert work.wait(30)
    assert work.state is State.REFUSED
    assert isinstance(work.error, psycopg.errors.DivisionByZero)


HOSTILE = [
    "ticket 4711",
    "a\nCALL omd.nothing();\nRESET omd.reason;",
    "';\nDROP TABLE x; --",
    "\\'; SELECT 1; \\",
    "E'\"; $$ ; $a$",
    "100 % %s %(x)s ; \N{RIGHT-TO-LEFT OVERRIDE} \N{SNOWMAN}",
    "x" * 10_000,
]


@pytest.mark.parametrize("reason", HOSTILE, ids=range(len(HOSTILE)))
def test_a_statement_of_lines_is_sent_line_by_line(
    session: Session, conn: Any, ada: Personal, reason: str
) -> None:
    row = conn.execute("SELECT quote_literal(%s) AS r", (reason,)).fetchone()
    call = f"""SELECT {row["r"]} AS "a;b'", current_setting('omd.reason') AS reason;"""
    lines = [f"SET omd.reason = {row['r']};", call, "RESET omd.reason;"]
    assert sending.parts("\n".join(lines)) == lines
    work = AtWork().begin(
        session, "x", "x", "/", lambda work, c: sending.send(work, c, "\n".join(lines), "x")
    )
    assert work.wait(30)
    assert work.error is None
    assert work.answers == [{"a;b'": reason, "reason": reason}]


def test_a_transaction_is_sent_at_once(session: Session, ada: Personal, conn: Any) -> None:
    text = "BEGIN;\nSET LOCAL omd.reason = 'x%';\nSELECT current_query() AS q;\nCOMMIT;"
    work = AtWork().begin(session, "x", "x", "/", lambda work, c: sending.send(work, c, text, "x"))
    assert work.wait(30)
    assert work.answers == [{"q": text}]


def test_what_an_earlier_action_left_is_undone_first(session: Session, ada: Personal) -> None:
    with ada.connection() as connection:
        connection.execute("SET omd.reason = 'earlier'")
    call = "SELECT nullif(current_setting('omd.reason', true), '') AS r;"
    work = AtWork().begin(session, "x", "x", "/", lambda work, c: sending.send(work, c, call, "x"))
    assert work.wait(30)
    assert work.answers == [{"r": None}]
