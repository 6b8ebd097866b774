"""`omd worker` performs ready work as soon as it is ready, until all is quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.workers import Process, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from concurrent.futures import Future

    from conftest import Room


def topic(room: Room, name: str, base: str) -> None:
    room.conn.execute(
        f"CREATE TABLE app.{name} (pos timestamptz, id bigint,"
        " omd_insert_module_instance_id bigint);"
        f"CREATE INDEX ON app.{name} (pos, id);"
        f"CREATE VIEW app.v_{name} AS SELECT b.pos, b.id FROM app.{base} AS b"
        " WHERE omd_lineage.in_block(b.pos, b.id)".encode()
    )
    room.call("omd_lineage.register_topic", topic=f"app.{name}", depends_on=[f"app.{base}"],
              transforms=[f"app.v_{name}"], repeat="0")  # fmt: skip


@pytest.fixture
def work(room: Room) -> Room:
    room.conn.execute(
        "CREATE SCHEMA app; CREATE TABLE app.src (pos timestamptz, id bigint);"
        "CREATE INDEX ON app.src (pos, id); CALL omd_lineage.register_topic('app.src')"
    )
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


def test_a_worker_that_stops_when_all_is_quiet_does_not_wait_for_the_clock_to_stop(
    room: Room, start: Callable[..., Process]
) -> None:
    """A source by the clock has always moved, and most often there is nothing new in it."""
    room.conn.execute(
        "CREATE SCHEMA app; CREATE TABLE app.src (pos timestamptz, id bigint);"
        "CREATE INDEX ON app.src (pos, id);"
        "CALL omd_lineage.register_topic('app.src', p_source_offset => 'CLOCK')"
    )
    topic(room, "a", "src")
    feed(room, 3)
    room.call("set_work", is_on=True)
    start("--until-quiet").ends()
    assert rows(room, "a") == [0, 1, 2, 3]


# A worker of one kind -----------------------------------------------------------------------------


def test_a_worker_of_topics_needs_no_tasks_and_makes_none(
    work: Room, start: Callable[..., Process]
) -> None:
    topic(work, "a", "src")
    topic(work, "b", "a")
    feed(work, 3)
    start("--kind", "TOPIC", "--topic", "app.b*", "--until-quiet").ends()
    assert rows(work, "a") == []
    start("--kind", "TOPIC", "--once").ends()
    assert (rows(work, "a"), rows(work, "b")) == ([1, 2, 3], [])
    start("--kind", "TOPIC", "--until-quiet").ends()
    assert rows(work, "b") == [1, 2, 3]
    assert work.one("SELECT count(*) FROM omd_report.dispatch_queue") == 0
    work.conn.execute("ALTER TABLE app.a ADD CHECK (id < 0) NOT VALID")
    feed(work, 1)
    start("--kind", "TOPIC", "--until-quiet").ends(code=1)


def test_it_is_not_quiet_while_a_step_runs_elsewhere(
    work: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Room, Future[Any]], None],
    start: Callable[..., Process],
) -> None:
    """What ends elsewhere makes others ready: here the step of a, which b reads."""
    topic(work, "a", "src")
    topic(work, "b", "a")
    feed(work, 3)
    gate = "SELECT pg_advisory_xact_lock_shared(44)"
    work.conn.execute(
        "CREATE OR REPLACE VIEW app.v_a AS SELECT s.pos, s.id"
        f" FROM app.src AS s, ({gate}) AS gate WHERE omd_lineage.in_block(s.pos, s.id)".encode()
    )
    work.call("omd_lineage.probe_sources")
    other = another()
    with work.conn.transaction():
        work.conn.execute("SELECT pg_advisory_xact_lock(44)")
        step = background(other.call, "omd_lineage.step", topic="app.a")
        until_settled(other, step)
        worker = start("--kind", "TOPIC", "--until-quiet")
        with another().conn as watch:
            until(
                lambda: (
                    watch.execute(
                        "SELECT count(*) > 0 AS looked FROM pg_stat_activity"
                        " WHERE application_name = 'omd-cli' AND state = 'idle'"
                        " AND query LIKE '%lineage_ready%' AND state_change > query_start"
                    ).fetchone()
                    == {"looked": True}
                )
            )
    assert step.result(60)["outcome"] == "DONE"
    worker.ends()
    assert rows(work, "b") == [1, 2, 3]


def test_options_of_one_kind_are_refused_with_another(
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    for wrong, said in (
        (("--kind", "FACTS", "--topic", "x"), "--topic goes with --kind TOPIC."),
        (("--kind", "TOPIC", "--interface", "x"), "--interface goes with --kind FACTS."),
        (("--kind", "TOPIC", "--sql", "off"), "--sql goes with tasks."),
        (("--topic", "x"), "--topic goes with --kind TOPIC."),
        (("--once",), "--once goes with --kind TOPIC or --kind FACTS."),
        (("--kind", "TOPIC", "--once", "--until-quiet"), "Give either --once or --until-quiet."),
        (("--kind", "STAGE"), "'STAGE'"),
    ):
        done = omd_command("worker", *wrong, dsn="host=nowhere.invalid")
        assert done.returncode == 2, wrong
        assert said in done.stderr
