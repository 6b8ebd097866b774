"""`omd worker`, as processes of their own."""

from __future__ import annotations

import os
import signal
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omd.doors.task import Task
from support.workers import Process, until

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from conftest import Room

    Connection = psycopg.Connection[dict[str, Any]]

MODULE = "handlers_of_tests"


@pytest.fixture
def seen(connect: Callable[..., Connection]) -> Callable[[int], list[str]]:
    """A function that waits for what so many handlers tell."""
    conn = connect()
    conn.execute("LISTEN seen")

    def wait(number: int = 1) -> list[str]:
        told = [n.payload for n in conn.notifies(timeout=60, stop_after=number)]
        assert len(told) >= number, told
        return told

    return wait


# A step reads the rows before the newest instant.
TOPIC = """
    CREATE TABLE app.t (pos timestamptz, id bigint, omd_insert_module_instance_id bigint);
    CREATE INDEX ON app.t (pos, id);
    CREATE TABLE app.src (pos timestamptz, id bigint);
    CREATE INDEX ON app.src (pos, id);
    CREATE VIEW app.v AS SELECT b.pos, b.id FROM app.src AS b
        WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd_lineage.register_topic('app.src');
    CALL omd_lineage.register_topic('app.t', ARRAY['app.src'],
        p_transforms => ARRAY['app.v'], p_repeat => '0');
    INSERT INTO app.src VALUES (now() - interval '1 hour', 1), (now(), 2);
"""
WAITS = {"backoff": "1 hour", "backoff_limit": "1 hour", "later_after": "1 hour"}


def register(room: Room, task_type: str, function: str, /, **arguments: Any) -> None:
    target = f"{MODULE}:{function}"
    room.type(task_type, family_code="CALL", target=target, **WAITS, **arguments)


def create(room: Room, task_type: str, payload: Any = None) -> int:
    from psycopg.types.json import Jsonb

    given = {} if payload is None else {"payload": Jsonb(payload)}
    return room.create(family_code="CALL", task_type=task_type, criteria=None, **given)


def ended(room: Room, task_id: int, family: str = "call") -> tuple[Any, ...]:
    row = room.task(task_id, family)
    return row["status"], row["outcome"], row["attempt"]


def test_each_handler_ends_its_task_as_it_went(
    room: Room, start: Callable[..., Process], seen: Callable[..., list[str]]
) -> None:
    room.conn.execute(
        """
        CREATE SCHEMA app;
        CREATE TABLE app.log (payload jsonb);
        CREATE PROCEDURE app."Load it"(payload jsonb) LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO app.log VALUES (payload);
            COMMIT;
            IF payload ? 'division' THEN RAISE division_by_zero; END IF;
            IF payload ? 'unknown' THEN RAISE 'no module' USING ERRCODE = 'OM002'; END IF;
        END $$;
        """
    )
    room.conn.execute(TOPIC)
    room.conn.execute("CALL omd_lineage.probe_sources()")
    for code, executable in (("m_good", "SELECT 1"), ("m_bad", "SELECT 1/0"), ("m_job", None)):
        room.call(
            "omd.register_module",
            module_code=code,
            area_code="HSTG",
            table_code="app.t",
            executable=executable,
        )
    room.call("omd.register_batch", batch_code="b_good")
    room.call("omd.add_module_to_batch", batch_code="b_good", module_code="m_good")
    for name in ("nothing", "answer", "fail", "leave", "where", "missing"):
        register(room, name.upper(), name)
    register(room, "PROCESS", "where", timeout="1 minute")
    room.type("BEGIN", family_code="RUN", target=f"{MODULE}:begin")
    room.type("LOAD", family_code="CALL", handler="SQL", target='App."Load it"', **WAITS)
    room.type("LOST", family_code="CALL", handler="SQL", target="app.lost", **WAITS)
    for handler in ("BATCH", "MODULE"):
        room.type(handler, family_code="RUN", handler=handler, target=None, **WAITS)
        target = f"{MODULE}:job_of_{handler.lower()}"
        room.type(f"JOB_{handler}", family_code="RUN", handler=handler, target=target, **WAITS)

    def run(task_type: str, code: str) -> int:
        return room.create(code, family_code="RUN", task_type=task_type)

    calls = {
        create(room, task_type, payload): wanted
        for task_type, payload, wanted in (
            ("NOTHING", None, ("DONE", "S", 1)),
            ("ANSWER", None, ("DONE", "S", 1)),
            ("ANSWER", "S", ("DONE", "S", 1)),
            ("ANSWER", "C", ("DONE", "C", 1)),
            ("ANSWER", "A", ("PENDING", "A", 0)),
            ("ANSWER", "F", ("PENDING", "F", 1)),
            ("ANSWER", 7, ("PENDING", "F", 1)),
            ("FAIL", None, ("PENDING", "F", 1)),
            ("LEAVE", None, ("PENDING", "F", 1)),
            ("MISSING", None, ("PENDING", "F", 1)),
            ("WHERE", [1], ("DONE", "S", 1)),
            ("PROCESS", {"a": "b"}, ("DONE", "S", 1)),
            ("LOAD", {"day": 1}, ("DONE", "S", 1)),
            ("LOAD", None, ("DONE", "S", 1)),
            ("LOAD", {"division": 0}, ("PENDING", "F", 1)),
            ("LOAD", {"unknown": 1}, ("DEAD", "F", 1)),
            ("LOST", None, ("PENDING", "F", 1)),
        )
    }
    runs = {
        run(task_type, code): wanted
        for task_type, code, wanted in (
            ("MODULE", "m_good", ("DONE", "S", 1)),
            ("MODULE", "m_bad", ("PENDING", "F", 1)),
            ("MODULE", "nonesuch", ("DEAD", "F", 1)),
            ("JOB_MODULE", "m_job", ("PENDING", "F", 1)),
            ("BEGIN", "m_job", ("DONE", "S", 1)),
            ("TOPIC", "app.t", ("DONE", "S", 1)),
            ("TOPIC", "app.nonesuch", ("DEAD", "F", 1)),
        )
    }
    batches = [run("BATCH", "b_good"), run("JOB_BATCH", "b_good")]
    # One slot: runs of a Module, and of the Batch that has it, would abort each other.
    worker = start("--until-quiet")
    told = worker.ends(code=1)  # some have failed

    assert {i: ended(room, i) for i in calls} == calls
    assert {i: ended(room, i, "run") for i in runs} == runs
    assert [ended(room, i, "run") for i in batches] == [("DONE", "S", 1)] * 2
    assert [r["payload"] for r in room.rows("SELECT payload FROM app.log")] == [
        {"day": 1}, None, {"division": 0}, {"unknown": 1}
    ]  # fmt: skip
    assert room.one("SELECT count(*) FROM app.t") == 1

    tasks = [room.task(i, "call") for i in calls]
    errors = {task["task_type"]: task["error"] for task in tasks}
    assert errors["FAIL"].startswith("ValueError: it is \\x00 bad\nat ")
    assert "in fail" in errors["FAIL"]
    assert errors["MISSING"].startswith(f"ImportError: the target {MODULE}:missing can't be")
    assert errors["LOAD"].startswith("UnknownModule: no module")
    assert errors["LOST"].startswith("UndefinedFunction: procedure app.lost(jsonb) does not exist")
    assert "returned 7; a handler returns None or 'S'" in told
    assert errors["NOTHING"] is None
    room.conn.execute("SET ROLE omd_reader")
    shown = {i: room.one("SELECT error FROM omd_dispatch.explain_task(%s)", i) for i in calls}
    room.conn.execute("RESET ROLE")
    assert set(shown.values()) == {
        None, "error without a code",
        *("error ValueError", "error ImportError", "error SystemExit"),
        *("error UnknownModule", "error UndefinedFunction", "error DivisionByZero"),
    }  # fmt: skip

    # What a task begins names the task and the claim, and the task names it.
    for task_id in [*runs, *batches]:
        task = room.task(task_id, "run")
        for kind in ("module", "batch"):
            if (instance := task[f"{kind}_instance_id"]) is not None:
                context = room.one(
                    f"SELECT execution_context FROM omd.{kind}_instance"
                    f" WHERE {kind}_instance_id = %s",
                    instance,
                )
                assert context["task_id"] == task_id
                assert context["claim_token"] > 0
    assert sum(room.task(i, "run")["module_instance_id"] is not None for i in runs) == 5
    assert all(room.task(i, "run")["batch_instance_id"] is not None for i in batches)
    first, second, instance = sorted(seen(3), key=len, reverse=True)
    assert {t.split(" ", 1)[0] for t in (first, second)} == {
        str(worker.process.pid), str(os.getpid())
    }  # fmt: skip
    assert int(instance) > 0
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []


@pytest.mark.kill
def test_tasks_of_a_killed_and_of_a_frozen_worker_are_done_by_another_one(
    room: Room, start: Callable[..., Process], seen: Callable[..., list[str]], tmp_path: Path
) -> None:
    register(room, "THREAD", "wait")
    register(room, "PROCESS", "wait", timeout="1 hour")
    ids: list[int] = []
    workers = []
    for number in range(2):
        pid = tmp_path / f"pid{number}"
        ids += [create(room, "THREAD"), create(room, "PROCESS", {"pid": str(pid)})]
        workers.append(start("--workers", "2", "--ttl", "2"))
        assert {told.split()[0] for told in seen(2)} == {"began"}
    killed, frozen = workers
    killed.signal(signal.SIGKILL)
    frozen.signal(signal.SIGSTOP)
    another = start("--workers", "4", "--ttl", "2", "--until-quiet")
    # The process of a task has ended with its worker, or since the worker was silent.
    assert sorted(seen(4)) == sorted(f"again {i} alone" for i in ids)
    another.ends()
    assert [ended(room, i) for i in ids] == [("DONE", "S", 2)] * 4

    frozen.signal(signal.SIGCONT)
    frozen.until("was declared dead: it ends what it runs, and registers anew")
    register(room, "NOTHING", "nothing")
    done = create(room, "NOTHING")
    until(lambda: ended(room, done) == ("DONE", "S", 1))
    assert [ended(room, i) for i in ids] == [("DONE", "S", 2)] * 4
    frozen.signal(signal.SIGTERM)
    frozen.ends()
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []


def test_a_worker_gives_back_what_it_can_not_start_and_lets_the_rest_end(
    room: Room, start: Callable[..., Process], seen: Callable[..., list[str]]
) -> None:
    register(room, "BLOCK", "block")

    def claimed() -> int:
        return int(room.one("SELECT coalesce(sum(claimed), 0)::int FROM omd_report.dispatch_queue"))

    def fill(key: int) -> list[int]:
        room.conn.execute("SELECT pg_advisory_lock(%s)", [key])
        return list(
            room.create_many([{"payload": key}, *[{}] * 50], family_code="CALL", task_type="BLOCK")[
                "task_ids"
            ]
        )

    worker = start()
    worker.until("serves WORKER with 1 slot")
    quick = room.create_many([{}] * 20, family_code="CALL", task_type="BLOCK")["task_ids"]
    until(lambda: all(ended(room, i)[0] == "DONE" for i in quick))
    ids = fill(1)
    seen()
    until(lambda: claimed() > 1)  # quick ones are claimed ahead,
    until(lambda: claimed() == 1)  # and given back when they can't start soon
    assert {ended(room, i) for i in ids[1:]} == {("PENDING", None, 0)}
    room.conn.execute("SELECT pg_advisory_unlock(1)")
    until(lambda: all(ended(room, i) == ("DONE", "S", 1) for i in ids))

    ids = fill(2)
    seen()
    until(lambda: claimed() > 1)
    worker.signal(signal.SIGTERM)
    worker.until("waiting for task")
    until(lambda: claimed() == 1)
    room.conn.execute("SELECT pg_advisory_unlock(2)")
    worker.ends()
    assert ended(room, ids[0]) == ("DONE", "S", 1)
    assert {ended(room, i) for i in ids[1:]} == {("PENDING", None, 0)}
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []

    # A thread can't be ended, so the process ends under it.
    room.conn.execute("SELECT pg_advisory_lock(3)")
    task_id = create(room, "BLOCK", 3)
    worker = start("--grace", "600")
    seen()
    for pattern in ("waiting for task", "is asked to end", "it is left"):
        worker.signal(signal.SIGTERM)
        worker.until(pattern)
    worker.ends()
    assert ended(room, task_id)[0] == "PENDING"
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []


def test_what_runs_is_ended_by_a_cancel_a_timeout_and_the_loss_of_the_member(
    room: Room, start: Callable[..., Process], seen: Callable[..., list[str]]
) -> None:
    room.conn.execute(
        "CREATE SCHEMA app;"
        "CREATE PROCEDURE app.nap(payload jsonb) LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_notify('seen', 'naps'); COMMIT; PERFORM pg_sleep(600); END $$;"
    )
    register(room, "THREAD", "wait")
    register(room, "PROCESS", "wait", timeout="1 hour")
    register(room, "SHORT", "sleep", timeout="1 second", max_attempts=1)
    nap = {"family_code": "CALL", "handler": "SQL", "target": "app.nap"}
    room.type("NAP", **nap)
    room.type("SHORT_NAP", **nap, timeout="1 second", max_attempts=1)

    worker = start("--workers", "5", "--ttl", "2")
    ids = [create(room, t) for t in ("THREAD", "PROCESS", "NAP")]
    late = [create(room, t) for t in ("SHORT", "SHORT_NAP")]
    seen(4)
    for task_id in ids:
        room.call("cancel_task", task_id=task_id, running=True)
    # A thread that ends by itself was successful.
    wanted = [("DONE", "S", 1), ("CANCELLED", "F", 1), ("CANCELLED", "F", 1)]
    until(lambda: [ended(room, i) for i in ids] == wanted)
    until(lambda: [ended(room, i) for i in late] == [("DEAD", "F", 1)] * 2)
    for task_id in late:
        assert room.task(task_id, "call")["error"].startswith("its timeout of 0:00:01 is over: ")

    task_id = create(room, "THREAD")
    seen()
    assert room.one("SELECT count(*) FROM omd_dispatch.backend_registration") == 1
    room.conn.execute("DELETE FROM omd_dispatch.backend_registration")
    worker.until("registers anew")
    assert seen() == [f"again {task_id} alone"]
    until(lambda: ended(room, task_id) == ("DONE", "S", 2))

    # A lost connection ends nothing.
    task_id = create(room, "PROCESS")
    seen()
    room.conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name LIKE 'omd-dispatch%' AND datname = current_database()"
    )
    worker.until("the connection is back")
    room.call("cancel_task", task_id=task_id, running=True)
    until(lambda: ended(room, task_id) == ("CANCELLED", "F", 1))
    worker.signal(signal.SIGINT)
    worker.ends()
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []


def test_workers_alone_keep_topics_moving(room: Room, start: Callable[..., Process]) -> None:
    room.conn.execute("CREATE SCHEMA app")
    room.conn.execute(TOPIC)
    room.call(
        "register_schedule",
        schedule_code="topics",
        family_code="RUN",
        task_type="TOPIC",
        every="1 second",
        source="omd_report.ready_topic_tasks",
    )
    start("--poll", "0.2").until("RUN TOPIC app.t: done")
    assert room.rows("SELECT id FROM app.t") == [{"id": 1}]


def test_short_tasks_are_not_given_back_because_others_come_after_them(
    room: Room, start: Callable[..., Process]
) -> None:
    register(room, "NOTHING", "nothing")
    register(room, "ANSWER", "answer")
    room.create_many([{}] * 300, family_code="CALL", task_type="NOTHING")
    room.create_many([{}] * 100, family_code="CALL", task_type="ANSWER")
    start("--until-quiet").ends()
    # If it kept one of each claim, it would claim more than twice as often.
    assert room.one("SELECT last_value FROM omd_dispatch.claim_token") < 30


def test_a_task_starts_at_its_notification_whatever_else_is_notified(
    room: Room, start: Callable[..., Process], seen: Callable[..., list[str]]
) -> None:
    register(room, "WHERE", "where")
    start("--poll", "600").until("serves WORKER")
    create(room, "WHERE", [1])
    seen()
    big = "9" * 30
    for payload in (
        *("", " ", "WORKER  ", "WORKER CALL", "WORKER NO 5", "WORKER CALL 77777", "X Y"),
        *("WORKER NO 0 1", "WORKER CALL 0 1", f"WORKER CALL {big} 1", f"WORKER CALL 0 {big}"),
    ):
        room.conn.execute("SELECT pg_notify('omd_dispatch', %s)", [payload])
    for number in range(3):
        create(room, "WHERE", [number])
        assert f"[{number}]" in seen()[0]


def test_a_handler_gets_each_digit_of_a_number() -> None:
    told = "0.1234567890123456789"
    given = f'{{"n": {told}}}'
    task = Task(None, 1, "CALL", "T", given, given, datetime.now(timezone.utc), 1, 1, 0)
    assert task.payload == task.criteria == {"n": Decimal(told)}


def test_a_handler_can_not_change_its_task() -> None:
    """The worker goes by its task when the handler has ended."""
    task = Task(None, 1, "CALL", "T", '{"n": 1}', "{}", datetime.now(timezone.utc), 1, 7, 0)
    for name in (*(n for n in dir(task) if not n.startswith("_") and n != "control"), "new"):
        with pytest.raises(AttributeError):
            setattr(task, name, 2)
    task.criteria["n"] = 2
    assert (task.task_id, task._claim.claim_token, task.criteria, str(task)) == (
        *(1, 7, {"n": 1}),
        "task 1, CALL T 1",
    )


def test_short_tasks_run_once_although_the_connection_that_claims_them_is_lost(
    room: Room, start: Callable[..., Process], tmp_path: Path
) -> None:
    register(room, "COUNT", "count")
    file, number = tmp_path / "ran", 3000
    file.touch()
    made = room.create_many(
        [{"payload": str(file)}] * number, family_code="CALL", task_type="COUNT"
    )
    worker = start("--until-quiet", "--workers", "2")
    claimed = []
    for lost in (1, 2, 3):
        until(lambda lost=lost: len(file.read_text().split()) > lost * number / 5)
        room.conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'omd-dispatch-exchange' AND datname = current_database()"
        )
        claimed.append(
            room.one("SELECT count(*) FROM omd_dispatch.task_data_call WHERE status = 'CLAIMED'")
        )
    worker.ends()
    assert sorted(map(int, file.read_text().split())) == sorted(made["task_ids"])
    assert room.rows(
        "SELECT status, outcome, attempt, count(*) FROM omd_dispatch.task_data_call"
        " GROUP BY 1, 2, 3"
    ) == [{"status": "DONE", "outcome": "S", "attempt": 1, "count": number}]
    assert max(claimed) <= 502  # 500 ahead
