"""`omd dispatch run` performs ready work of any kind, whatever happens to a worker."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest

from facts.store import Store, entity
from support.workers import Process, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Room

TTL = 2
# The bound of a killed worker's work: its TTL and 15 s.
BOUND = TTL + 15
# A transform that waits while somebody holds the lock, and says so.
PAUSE = """
    CREATE FUNCTION app.pause() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        IF NOT pg_try_advisory_xact_lock_shared(36) THEN
            PERFORM pg_advisory_xact_lock_shared(36);
        END IF;
        RETURN TRUE;
    END $$;
"""


def topic(room: Room, name: str, base: str, extra: str = "TRUE") -> None:
    room.conn.execute(
        f"CREATE TABLE app.{name} (pos timestamptz, id bigint,"
        " omd_insert_module_instance_id bigint);"
        f"CREATE INDEX ON app.{name} (pos, id);"
        f"CREATE VIEW app.v_{name} AS SELECT b.pos, b.id FROM app.{base} AS b"
        f" WHERE omd_lineage.in_block(b.pos, b.id) AND {extra}".encode()
    )
    room.call("omd_lineage.register_topic", topic=f"app.{name}", depends_on=[f"app.{base}"],
              transforms=[f"app.v_{name}"], repeat="0")  # fmt: skip


@pytest.fixture
def work(room: Room) -> Room:
    room.conn.execute(
        "CREATE SCHEMA app; CREATE TABLE app.src (pos timestamptz, id bigint);"
        "CREATE INDEX ON app.src (pos, id); CALL omd_lineage.register_topic('app.src')"
    )
    room.conn.execute(PAUSE)
    return room


def feed(room: Room, number: int) -> None:
    """Let the source have so many rows more, the last of which closes the block."""
    room.conn.execute(
        "INSERT INTO app.src SELECT clock_timestamp() - interval '1 hour', n"
        " FROM generate_series(1, %s) AS n UNION ALL SELECT clock_timestamp(), 0",
        [number],
    )


def rows(room: Room, table: str) -> list[int]:
    return [row["id"] for row in room.rows(f"SELECT id FROM app.{table} ORDER BY id")]


def test_a_source_is_read_at_its_notification_and_at_the_end_of_a_task(
    room: Room, start: Callable[..., Process]
) -> None:
    """Its own time would come in an hour: each row follows the task of the one before."""
    room.conn.execute("CREATE TABLE public.n (n bigint)")
    room.conn.execute(
        "CREATE PROCEDURE public.add(jsonb) LANGUAGE sql AS"
        " 'INSERT INTO public.n SELECT count(*) + 1 FROM public.n';"
        "CREATE VIEW public.next AS SELECT count(*)::text AS code FROM public.n"
        " HAVING count(*) BETWEEN 1 AND 5"
    )
    room.family("F", ("CODE",))
    room.call("register_task_type", family_code="F", task_type="T", handler="SQL",
              target="public.add")  # fmt: skip
    worker = start("--poll", "3600")
    worker.until("serves WORKER")
    room.call("register_source", family_code="F", task_type="T", source="public.next",
              every="1 hour", listen=["go"])  # fmt: skip
    until(lambda: room.one("SELECT last_fired_at IS NOT NULL FROM omd_dispatch.task_source"
                           " WHERE family_code = 'F'"))  # fmt: skip
    room.conn.execute("INSERT INTO public.n VALUES (1); NOTIFY go")
    until(lambda: room.one("SELECT count(*) FROM public.n") == 6)


def test_ready_work_runs_through_a_chain_of_topics_and_until_all_is_quiet(
    work: Room, start: Callable[..., Process]
) -> None:
    topic(work, "a", "src")
    feed(work, 3)
    start("--until-quiet").ends()
    assert rows(work, "a") == [], "work is switched off"
    work.call("set_work", is_on=True)
    start("--until-quiet").ends()
    assert rows(work, "a") == [1, 2, 3]
    assert work.rows("SELECT 1 FROM omd_dispatch.mutex") == []


def claimed(room: Room) -> dict[str, object]:
    """Wait until a task of work runs and waits for a lock; return it."""
    (claim,) = until(lambda: room.rows(
        "SELECT t.claimed_by, t.task_id FROM omd_dispatch.task_data_work AS t"
        " WHERE t.status = 'CLAIMED' AND EXISTS (SELECT FROM pg_stat_activity AS a"
        " WHERE a.application_name LIKE 'omd%%' AND cardinality(pg_blocking_pids(a.pid)) > 0)"
    ), 120)  # fmt: skip
    return dict(claim)


def strike(room: Room, workers: list[Process], number: signal.Signals) -> tuple[Process, float]:
    """Kill or stop the worker that runs a task, and wait until its claim is settled."""
    claim = claimed(room)
    (struck,) = (w for w in workers if f":{w.process.pid}:" in str(claim["claimed_by"]))
    struck.signal(number)
    at = time.monotonic()
    until(lambda: room.one("SELECT status <> 'CLAIMED' FROM omd_dispatch.task_data_work"
                           " WHERE task_id = %s", claim["task_id"]))  # fmt: skip
    return struck, at


LOST = "SELECT count(*) FROM omd.event_log WHERE event_return_code_details = 'WORKER LOST'"


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_step_of_a_killed_or_stopped_worker_is_done_by_the_other_one(
    work: Room, start: Callable[..., Process], another: Callable[..., Room], number: signal.Signals
) -> None:
    topic(work, "a", "src", "app.pause()")
    holder = another()
    holder.rows("SELECT pg_advisory_lock(36)")
    feed(work, 3)
    work.call("set_work", is_on=True)
    workers = [start("--ttl", str(TTL)) for _ in range(2)]
    struck, at = strike(work, workers, number)
    holder.rows("SELECT pg_advisory_unlock(36)")
    until(lambda: rows(work, "a"))
    assert time.monotonic() - at < BOUND
    assert rows(work, "a") == [1, 2, 3]
    assert work.one(LOST) == 1
    if number is signal.SIGSTOP:
        struck.signal(signal.SIGCONT)
        struck.until("was declared dead")
    until(lambda: work.rows("SELECT 1 FROM omd_dispatch.mutex") == [])
    assert rows(work, "a") == [1, 2, 3], "what the stopped one did does not count"


@pytest.mark.kill
def test_a_load_of_a_killed_worker_is_done_by_the_other_one(
    room: Room, start: Callable[..., Process], another: Callable[..., Room]
) -> None:
    store = Store(room.conn)
    store.set_up(entity("person", ["nbr"], ["nbr", "age"]))
    holder = another(autocommit=False)
    holder.conn.execute("LOCK TABLE cfl_shop.h_person IN SHARE MODE")
    for day in (1, 2):
        store.queue(day, person=[("N", day, 30 + day)])
    room.call("set_work", is_on=True)
    workers = [start("--ttl", str(TTL)) for _ in range(2)]
    _, at = strike(room, workers, signal.SIGKILL)
    holder.conn.rollback()
    until(lambda: len(store.now("person")) == 2)
    assert time.monotonic() - at < BOUND
    assert store.sound()
    assert room.one(LOST) == 1
    until(lambda: room.rows("SELECT 1 FROM omd_dispatch.mutex") == [])


@pytest.mark.kill
@pytest.mark.spark
@pytest.mark.slow
def test_a_delivery_of_a_killed_worker_goes_on_and_its_facts_are_loaded(
    room: Room, start: Callable[..., Process], another: Callable[..., Room], tmp_path: Path
) -> None:
    """A folder appears; Spark delivers it, and the database loads it: no call of ours."""
    ttl = 6
    store = Store(room.conn)
    store.set_up(entity("person", ["nbr"], ["nbr", "age"]))
    store.agree("a", arrival={"location": str(tmp_path / "drop"), "every": "1 second"})
    holder = another(autocommit=False)
    holder.conn.execute("LOCK TABLE omd_delivery.entity_result IN EXCLUSIVE MODE")
    room.call("set_work", is_on=True)
    workers = [start("--ttl", str(ttl)) for _ in range(2)]
    folder = tmp_path / "drop" / "2020-01-01"
    folder.mkdir(parents=True)
    (folder / "person.csv").write_text("nbr,age\n1,30\n2,40\n")
    (folder / "_SUCCESS").touch()
    _, at = strike(room, workers, signal.SIGKILL)
    holder.conn.rollback()
    until(lambda: room.one("SELECT count(*) FROM omd_dispatch.task_data_work"
                           " WHERE task_type = 'SPARK' AND claim_token IS NOT NULL"))  # fmt: skip
    assert time.monotonic() - at < ttl + 15
    until(lambda: store.now("person") == [(1, 30), (2, 40)], 120)
    assert room.rows("SELECT arrival_status FROM omd_report.arrivals") == [
        {"arrival_status": "DONE"}
    ]
