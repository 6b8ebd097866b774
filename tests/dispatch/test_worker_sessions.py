"""How many sessions a worker holds, and that it recovers each of them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd._core.link import Link
from omd.programs.service.loop import Links, Shared
from support.workers import Process, until

if TYPE_CHECKING:
    from conftest import Room

MOST = 4  # what an idle worker holds
OURS = (
    "FROM pg_stat_activity"
    " WHERE starts_with(application_name, 'omd-') AND datname = current_database()"
)


def sessions(room: Room) -> list[str]:
    return sorted(row["name"] for row in room.rows(f"SELECT application_name AS name {OURS}"))


def rests(room: Room, most: int = MOST) -> bool:
    """Whether it holds no more than it may for three seconds, in which it does all its rounds."""
    end = time.monotonic() + 3
    while time.monotonic() < end:
        if len(sessions(room)) > most:
            return False
        time.sleep(0.02)
    return True


def test_an_idle_worker_holds_four_sessions(room: Room, start: Callable[..., Process]) -> None:
    worker = start("--workers", "4", "--ttl", "6")
    worker.until("serves WORKER")
    until(lambda: len(sessions(room)) == MOST and rests(room))
    assert sessions(room) == [
        f"omd-dispatch-{name}" for name in ("exchange", "listen", "look", "renew")
    ]
    worker.signal(signal.SIGTERM)
    worker.ends()
    assert sessions(room) == []


def test_of_two_idle_workers_one_does_what_is_done_for_all(
    room: Room, start: Callable[..., Process]
) -> None:
    """It looks each second, and the other one a third of its TTL apart."""
    for _ in range(2):
        start("--workers", "1").until("serves WORKER")

    def leaves_it_to_the_other() -> bool:
        looks: dict[int, set[object]] = {}
        while not looks or max(map(len, looks.values())) < 15:
            for row in room.rows(
                f"SELECT pid, state_change {OURS} AND application_name = 'omd-dispatch-look'"
            ):
                looks.setdefault(row["pid"], set()).add(row["state_change"])
            time.sleep(0.02)
        other, busy = sorted([0, *map(len, looks.values())])[-2:]
        return other < busy / 2

    until(leaves_it_to_the_other)


def test_a_busy_worker_holds_one_more_for_each_task(
    room: Room, start: Callable[..., Process]
) -> None:
    room.conn.execute(
        "CREATE PROCEDURE public.sleep(p jsonb) LANGUAGE plpgsql AS"
        " $$BEGIN PERFORM pg_sleep(3600); END$$"
    )
    room.call(
        "register_task_type",
        family_code="CALL",
        task_type="SLEEP",
        handler="SQL",
        target="public.sleep",
    )
    for _ in range(3):
        room.call("create_task", family_code="CALL", task_type="SLEEP")
    start("--workers", "3").until("serves WORKER")
    until(
        lambda: room.one(f"SELECT count(*) {OURS} AND starts_with(query, 'CALL public.sleep')") == 3
    )
    until(lambda: len(sessions(room)) <= MOST + 3)


@pytest.mark.parametrize("name", ["exchange", "listen", "look", "renew"])
def test_a_session_that_is_lost_comes_back(
    room: Room, start: Callable[..., Process], name: str
) -> None:
    room.conn.execute(
        "CREATE TABLE public.done (n int); CREATE PROCEDURE public.note(p jsonb) LANGUAGE sql AS"
        " $$INSERT INTO public.done VALUES (1)$$"
    )
    room.call(
        "register_task_type",
        family_code="CALL",
        task_type="NOTE",
        handler="SQL",
        target="public.note",
    )
    start("--ttl", "6")
    until(lambda: len(sessions(room)) == MOST)  # it ends when its first connection can't be made
    killed = until(
        lambda: room.rows(
            f"SELECT pid, pg_terminate_backend(pid, 10000) {OURS} AND application_name = %s",
            f"omd-dispatch-{name}",
        )
    )[0]["pid"]
    until(
        lambda: (
            room.one(
                f"SELECT count(*) {OURS} AND application_name = %s AND pid <> %s",
                f"omd-dispatch-{name}",
                killed,
            )
            or name == "exchange"
        )  # it comes back with the next task
    )
    room.call("create_task", family_code="CALL", task_type="NOTE")
    until(lambda: room.one("SELECT count(*) FROM public.done"))
    until(lambda: rests(room, MOST + 1))  # that of the task stays for a minute
    assert room.one("SELECT count(*) FROM omd_report.dispatch_backends WHERE is_alive") == 1


def test_a_fleet_is_told_how_many_sessions_it_needs(
    room: Room, omd_here: Callable[..., CompletedProcess[str]], dsn: str
) -> None:
    for number, slots in ((1, 4), (2, 8), (3, None)):
        room.call("register_backend", backend_type="W", backend_id=str(number), slots=slots)
    (row,) = room.rows("SELECT * FROM omd_report.dispatch_sessions")
    assert (row["workers"], row["slots"], row["sessions"]) == (3, 12, 8 + 12 + 5)
    assert row["available"] < row["max_connections"]
    assert not row["is_too_many"]
    told = omd_here("doctor", dsn=dsn).stdout
    assert "3 workers with 12 slots need 25 of" in told
    assert "Raise max_connections" not in told
    room.call("register_backend", backend_type="W", backend_id="4", slots=row["available"])
    assert room.one("SELECT is_too_many FROM omd_report.dispatch_sessions")
    assert "Raise max_connections" in omd_here("doctor", dsn=dsn).stdout


# The connections to look --------------------------------------------------------------------------


@pytest.fixture
def shared(dsn: str) -> Iterator[Shared]:
    made = Shared(lambda: Link(dsn, application_name="omd-shared", patience=timedelta(0)))
    yield made
    made.close()


def pid(link: Link) -> int:
    row: Any = link.execute(b"SELECT pg_backend_pid()", (), tuple, repeatable=True)
    number: int = row[0][0]
    return number


def test_one_after_the_other_uses_the_same_connection(room: Room, shared: Shared) -> None:
    with shared.take() as link:
        first = pid(link)
    with shared.take() as link:
        link.set(statement_timeout="30s")
        assert pid(link) == first
    with shared.take() as link:
        assert pid(link) == first
        assert link.execute(b"SHOW statement_timeout", (), tuple, repeatable=True) == [("0",)]
    assert sessions(room) == ["omd-shared"]


def test_who_waits_too_long_for_it_gets_another_one(room: Room, shared: Shared) -> None:
    with shared.take() as slow:
        held = pid(slow)
        for _ in range(3):
            with shared.take(0.01) as link:
                assert pid(link) != held
        assert len(sessions(room)) == 2
    until(lambda: len(sessions(room)) == 1)


def test_who_waits_for_a_short_look_gets_its_connection(room: Room, shared: Shared) -> None:
    taken, go = threading.Event(), threading.Event()
    pids = []

    def look() -> None:
        with shared.take() as link:
            pids.append(pid(link))
            taken.set()
            go.wait(60)

    thread = threading.Thread(target=look)
    thread.start()
    taken.wait(60)
    threading.Timer(0.1, go.set).start()
    with shared.take(60) as link:
        assert [pid(link)] == pids
    thread.join()


def test_connections_of_tasks_close_when_nothing_uses_them(room: Room, dsn: str) -> None:
    links = Links(lambda: Link(dsn, application_name="omd-tasks", patience=timedelta(0)))
    taken = [links.take() for _ in range(3)]
    assert len({pid(link) for link in taken}) == 3
    for link in taken[1:]:
        links.give_back(link)
    links.end_idle(time.monotonic() - 60)
    assert len(sessions(room)) == 3
    links.end_idle(time.monotonic())
    until(lambda: len(sessions(room)) == 1)
    links.give_back(taken[0])
    assert links.take() is taken[0]
    taken[0].close()


def test_a_connection_that_rests_is_opened_again(room: Room, dsn: str) -> None:
    link = Link(dsn, application_name="omd-rests", patience=timedelta(0))
    link.set(statement_timeout="30s")
    first = pid(link)
    with link.transaction():
        link.rest()
        assert pid(link) == first
    link.rest()
    until(lambda: sessions(room) == [])
    assert pid(link) != first
    assert link.execute(b"SHOW statement_timeout", (), tuple, repeatable=True) == [("30s",)]
    link.close()


def test_a_look_that_fails_leaves_no_connection(room: Room, shared: Shared) -> None:
    with pytest.raises(psycopg.Error), shared.take() as link:
        link.execute(b"SELECT 1 / 0", (), tuple, repeatable=True)
    until(lambda: sessions(room) == [])
