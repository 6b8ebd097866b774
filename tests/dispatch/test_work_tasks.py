"""Ready work becomes tasks that leave their retries to the back-off of their Module."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from psycopg.types.string import TextLoader

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

# A step reads the rows before the newest instant; one of a target with the row -1 fails.
TOPICS = """
    CREATE SCHEMA app;
    CREATE TABLE app.src (pos timestamptz, id bigint);
    CREATE INDEX ON app.src (pos, id);
    CREATE VIEW app.v AS SELECT b.pos, b.id FROM app.src AS b
        WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd_lineage.register_topic('app.src');
    INSERT INTO app.src VALUES (now() - interval '1 hour', 1), (now(), 2);
"""
STATES = "SELECT state, failures, not_before > now() AS waits FROM omd_report.work WHERE code = %s"


@pytest.fixture
def work(room: Room) -> Room:
    """A room with the topics app.a and app.b that are ready, work switched on, and w1."""
    room.conn.adapters.register_loader("timestamptz", TextLoader)  # a first block has no start
    room.conn.execute(TOPICS)
    for topic in "ab":
        room.conn.execute(
            f"CREATE TABLE app.{topic} (pos timestamptz, id bigint,"
            " omd_insert_module_instance_id bigint);"
            f"CREATE INDEX ON app.{topic} (pos, id)".encode()
        )
        room.call("omd_lineage.register_topic", topic=f"app.{topic}", depends_on=["app.src"],
                  transforms=["app.v"], repeat="0")  # fmt: skip
    room.call("omd_lineage.probe_sources")
    room.call("set_work", is_on=True)
    room.member("w1")
    return room


def fire(room: Room) -> int:
    """Read the sources as if they had rested; return how many tasks there are more."""
    room.owner("UPDATE omd_dispatch.task_source SET took = NULL")
    created = int(room.call("fire_sources")["created"])
    problems = room.rows("SELECT problem FROM omd_report.dispatch_sources")
    assert [row["problem"] for row in problems] == [None, None]
    return created


def in_task(room: Room, task: dict[str, Any]) -> None:
    """Let the session work for the task, as that of a worker does."""
    context = {key: task[key] for key in ("task_id", "claim_token")}
    room.conn.execute(
        "SELECT set_config('omd.execution_context', %s::text, FALSE)", [Jsonb(context)]
    )


def state(room: Room, code: str = "app.a") -> tuple[Any, ...]:
    (row,) = room.rows(STATES, code)
    return tuple(row.values())


def tasks(room: Room) -> list[tuple[Any, ...]]:
    rows = room.rows(
        "SELECT func_code, status, outcome FROM omd_dispatch.task_data_work ORDER BY task_id"
    )
    return [tuple(row.values()) for row in rows]


def test_what_is_ready_has_one_task_and_one_with_a_task_is_not_offered(
    work: Room, another: Callable[..., Room]
) -> None:
    assert fire(another(role="omd_runner")) == 2
    assert fire(work) == 0
    assert work.rows("SELECT * FROM omd_report.work_tasks_database") == []
    first, second = work.claim()
    assert (first["family_code"], first["task_type"]) == ("WORK", "DATABASE")
    assert first["criteria"] == {"CODE": "app.a", "KIND": "TOPIC"}
    assert work.rows("SELECT code, task_id FROM omd_report.work WHERE task_id IS NOT NULL"
                     " ORDER BY 1") == [
        {"code": "app.a", "task_id": first["task_id"]},
        {"code": "app.b", "task_id": second["task_id"]},
    ]  # fmt: skip
    in_task(work, first)
    answer = work.call("omd.run_module", module_code="app.a")
    assert answer["execution_status_code"] == "S"
    assert work.complete([first], "S") == []
    assert work.task(first["task_id"], "work")["module_instance_id"] == answer["module_instance_id"]


def test_ten_minutes_of_a_failing_topic_are_as_many_attempts_as_the_rule_says(work: Room) -> None:
    """Each failure is one task that is DONE; none waits, none is DEAD, and nothing piles up."""
    work.conn.execute("ALTER TABLE app.a ADD CHECK (id < 0)")
    attempts, seconds = 0, 0.0
    while seconds < 600:
        fire(work)
        mine = [t for t in work.claim() if t["criteria"]["CODE"] == "app.a"]
        (task,) = mine
        in_task(work, task)
        assert work.call("omd.run_module", module_code="app.a")["execution_status_code"] == "F"
        work.complete([task], "F", error="RuntimeError: it failed", error_code=None)
        attempts += 1
        assert state(work) == ("FAILED", attempts, True)
        assert work.task(task["task_id"], "work")["status"] == "DONE"
        assert fire(work) == 0, "it waits"
        seconds += work.one(
            "SELECT extract(epoch FROM not_before - now())::float8 FROM omd_report.work"
            " WHERE code = 'app.a'"
        )
        work.owner("UPDATE omd.module_state SET not_before = now()")
    # 10 s, 20 s, ... doubled: the sixth ends behind ten minutes.
    assert attempts == 6
    assert {(c, o) for c, _, o in tasks(work) if c == "app.a"} == {("app.a", "F")}
    assert work.rows("SELECT * FROM omd_report.dispatch_dead") == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("OM013: an argument", "OM013"),
        ("canceling statement due to lock timeout", "55P03"),
        ("canceling statement due to user request", "57014"),
        ("its process was ended by a signal and reported no outcome", None),
        ("ImportError: the target can't be imported", None),
    ],
)
def test_for_a_task_every_failure_counts_also_when_nothing_began(
    work: Room, error: str, code: str | None
) -> None:
    fire(work)
    first, second = work.claim()
    work.complete([first], "F", error=error, error_code=code)
    assert state(work) == ("FAILED", 1, True)
    assert work.task(first["task_id"], "work")["status"] == "DONE"
    # A result that is told twice counts once, as does one of another outcome.
    assert work.complete([first], "F", error=error) == [first["task_id"]]
    work.complete([second], "A")
    assert state(work) == ("FAILED", 1, True)
    assert state(work, "app.b")[1] == 0
    assert work.task(second["task_id"], "work")["status"] == "PENDING"


def test_a_begin_that_was_refused_and_its_task_count_as_one_failure(work: Room) -> None:
    fire(work)
    (task,) = (t for t in work.claim() if t["criteria"]["CODE"] == "app.a")
    in_task(work, task)
    work.conn.execute("DROP VIEW app.v CASCADE")
    try:
        answer = work.call("omd.run_module", module_code="app.a")
        assert answer["execution_status_code"] == "F"
    except psycopg.Error as error:
        assert error.sqlstate != "OM013"  # noqa: PT017
    assert state(work)[1] == 1
    work.complete([task], "F", error="it could not begin")
    assert state(work)[1] == 1
    work.conn.execute("RESET omd.execution_context")
    # What a person does afterwards counts by itself.
    work.call("omd.note_failure", module_code="app.a", detail="a person says so")
    assert state(work)[1] == 2


def test_a_look_that_found_nothing_makes_the_next_ones_rarer(work: Room) -> None:
    fire(work)
    first, _ = work.claim()
    work.complete([first], "C")
    assert work.rows("SELECT looks, failures, not_before > clock_timestamp() AS waits"
                       " FROM omd.module_state") == [
        {"looks": 1, "failures": 0, "waits": True}
    ]  # fmt: skip
    assert state(work)[0] == "BACK_OFF"


def lose(room: Room) -> dict[str, Any]:
    """Let w1 be dead; return what maintenance has done."""
    room.owner("DELETE FROM omd_dispatch.backend_registration WHERE backend_id = 'w1'")
    room.owner("UPDATE omd_dispatch.task_source SET took = NULL")
    return room.maintain()


def begun(room: Room, code: str = "app.a") -> tuple[dict[str, Any], int]:
    """Return a claimed task of the topic, and the instance of the step that it has begun."""
    task = next(t for t in room.claim() if t["criteria"]["CODE"] == code)
    in_task(room, task)
    step = room.call("omd_lineage.begin_step", topic=code, engine="POSTGRES", lease="1 day")
    assert step["outcome"] == "RUN"
    room.conn.execute("RESET omd.execution_context")
    return task, int(step["module_instance_id"])


def test_the_work_of_a_dead_worker_goes_on_at_once_and_a_second_death_waits(work: Room) -> None:
    fire(work)
    for deaths in (1, 2):
        task, instance = begun(work)
        done = lose(work)
        row = work.task(task["task_id"], "work")
        assert (row["status"], row["outcome"], row["attempt"]) == ("DONE", "F", 1)
        assert work.one(
            "SELECT event_return_code_details FROM omd.event_log WHERE module_instance_id = %s"
            " AND event_type_code = '2'", instance) == "WORKER LOST"  # fmt: skip
        assert state(work)[:2] == (("READY", 1) if deaths == 1 else ("FAILED", 2))
        # The round that has declared it dead has offered its work again, but after a second death.
        assert (done["fired"] > 0) == (deaths == 1)
        assert [t[1] for t in tasks(work) if t[0] == "app.a"].count("PENDING") == (deaths == 1)
        # The fence stops a worker that lives nevertheless.
        work.refused("OM101", "omd.module_success", module_instance_id=instance)
        work.member("w1")
    assert work.rows("SELECT * FROM omd_report.dispatch_dead") == []


def test_a_task_that_was_lost_before_it_began_counts_once_and_goes_on_at_once(work: Room) -> None:
    fire(work)
    assert len(work.claim()) == 2
    assert lose(work)["reclaimed"] == 2
    assert state(work)[:2] == ("READY", 1)
    assert sorted(t[1] for t in tasks(work) if t[0] == "app.a") == ["DONE", "PENDING"]


def test_a_stopped_worker_that_holds_its_run_keeps_nobody_from_maintenance(
    work: Room, another: Callable[..., Room]
) -> None:
    """Its claim is left to the next round; those of the others are settled."""
    fire(work)
    claimed = {t["criteria"]["CODE"]: t for t in work.claim()}
    instances = {}
    for code, task in claimed.items():
        in_task(work, task)
        step = work.call("omd_lineage.begin_step", topic=code, engine="POSTGRES", lease="1 day")
        instances[code] = step["module_instance_id"]
    work.conn.execute("RESET omd.execution_context")
    stopped = another(autocommit=False)
    stopped.rows(
        "SELECT FROM omd.module_instance WHERE module_instance_id = %s FOR NO KEY UPDATE",
        instances["app.a"],
    )
    work.conn.execute("SET lock_timeout = '5s'")
    assert lose(work)["reclaimed"] == 1
    assert work.task(claimed["app.a"]["task_id"], "work")["status"] == "CLAIMED"
    assert work.task(claimed["app.b"]["task_id"], "work")["status"] == "DONE"
    # So does one that holds the state of the Module.
    stopped.conn.rollback()
    work.call("omd.note_failure", module_code="app.a", detail="before")
    stopped.rows("SELECT FROM omd.module_state FOR NO KEY UPDATE")
    assert work.maintain()["reclaimed"] == 0
    stopped.conn.rollback()
    assert work.maintain()["reclaimed"] == 1
    assert work.task(claimed["app.a"]["task_id"], "work")["status"] == "DONE"
    assert state(work)[1] == 2


def test_a_run_whose_worker_says_that_it_has_ended_is_given_up(work: Room) -> None:
    """The process of a task was killed, and its worker lives."""
    fire(work)
    task, instance = begun(work)
    assert work.complete([task], "F", error="its process was ended by a signal") == []
    assert work.one("SELECT execution_status_code FROM omd.module_instance"
                    " WHERE module_instance_id = %s", instance) == "F"  # fmt: skip
    assert state(work)[:2] == ("READY", 1)
    # It has counted; who says so again changes nothing.
    work.call("omd.note_failure", module_code="app.a", module_instance_id=instance)
    assert state(work)[:2] == ("READY", 1)


def test_work_is_switched_on_and_off_from_a_shell(room: Room, omd_here: Any, dsn: str) -> None:
    off = "SELECT DISTINCT inactive_indicator FROM omd_report.dispatch_sources"
    for word, indicator in (("true", "N"), ("false", "Y")):
        done = omd_here("call", "omd_dispatch.set_work", "--is-on", word, "--dsn", dsn)
        assert (done.returncode, done.stdout) == (0, "")
        assert room.one(off) == indicator


def test_on_failure_is_retry_or_end(room: Room) -> None:
    room.family()
    room.refused("OM013", "register_task_type", family_code="F", task_type="T", on_failure="NO")
    room.call("register_task_type", family_code="F", task_type="T", on_failure="end")
    room.call("register_task_type", family_code="F", task_type="T", timeout="1 hour")
    task_id = room.create("no_module")
    room.member()
    assert room.complete(room.claim(), "F", error="no") == []
    row = room.task(task_id)
    assert (row["status"], row["outcome"], row["error"]) == ("DONE", "F", "no")
    assert timedelta(0) <= row["finished_at"] - row["created_at"]
