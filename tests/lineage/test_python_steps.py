"""Lineage in the driver: typed answers, outcomes as data, and calls after a lost connection."""

from __future__ import annotations

import select
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd
from omd import errors
from omd.doors.lineage import Lineage
from omd.rooms.control.codes import ProcessingIndicator
from omd.rooms.control.rows import ModuleExecutionLogRow
from omd.rooms.lineage.codes import StepResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omd._core.listener import Listener

    Connect = Callable[..., psycopg.Connection[dict[str, Any]]]

NOON = datetime(2020, 1, 1, 12, tzinfo=timezone.utc)

SCHEMA = """
CREATE SCHEMA stg; CREATE SCHEMA etl; CREATE SCHEMA fact;
CREATE TABLE stg.a (pos timestamptz, id bigint, v int);
CREATE INDEX ON stg.a (pos, id);
CREATE TABLE fact.a (id bigint, v int, omd_insert_module_instance_id bigint);
CREATE VIEW etl.a AS
SELECT a.id, 100 / a.v AS v FROM stg.a AS a WHERE omd_lineage.in_block(a.pos, a.id);
GRANT USAGE ON SCHEMA stg, etl, fact TO omd_owner;
GRANT ALL ON ALL TABLES IN SCHEMA stg, etl, fact TO omd_owner;
"""


@pytest.fixture
def lineage(dsn: str) -> Iterator[Lineage]:
    """stg.a holds 10 rows, one per minute from noon; fact.a is made in blocks of at most 4 rows."""
    with omd.connect(dsn) as control:
        with control.transaction() as connection:
            connection.execute(SCHEMA)
        insert(control, *((i, 1) for i in range(1, 11)))
        lineage = Lineage(control)
        lineage.register_topic("stg.a")
        lineage.register_topic(
            "fact.a",
            depends_on=["stg.a"],
            transforms=["etl.a"],
            maxstep=4,
            repeat=timedelta(0),
            comment="A fact",
        )
        yield lineage


@pytest.fixture
def on_spark(lineage: Lineage) -> Lineage:
    """The same, but fact.a is made on Spark, where the driver begins and ends the step."""
    lineage.register_topic("fact.a", engine="SPARK", transforms=["SELECT id, v FROM block"])
    return lineage


def insert(control: omd.Control, *rows: tuple[int, int]) -> None:
    with control.transaction() as connection:
        for i, v in rows:
            connection.execute(
                "INSERT INTO stg.a VALUES (%s, %s, %s)", [NOON + timedelta(minutes=i), i, v]
            )


def written(conn: psycopg.Connection[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in conn.execute("SELECT id FROM fact.a ORDER BY id")]


def test_a_step_moves_on_by_a_block_and_tells_so(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    outcome = lineage.step("fact.a")
    assert (outcome.kind, outcome.code, outcome.status) == ("TOPIC", "fact.a", "S")
    assert outcome.facts["rows"] == 4
    assert outcome.facts["end"] == (NOON + timedelta(minutes=4), 4)
    assert (outcome.reason, outcome.detail, outcome.error) == (None, None, None)
    assert outcome.succeeded
    assert outcome.instance_id
    assert written(conn) == [1, 2, 3, 4]
    [run] = lineage._control.report(ModuleExecutionLogRow, module_instance_id=outcome.instance_id)
    assert (run.module_code, run.execution_status_code, run.rows_inserted) == ("fact.a", "S", 4)


def test_the_plan_is_what_the_step_then_takes(lineage: Lineage) -> None:
    lineage.step("fact.a")
    plan = lineage.plan("fact.a")
    assert plan is not None
    assert (plan.start_pos, plan.start_id) == (NOON + timedelta(minutes=4), 4)
    assert (plan.end_pos, plan.end_id) == (NOON + timedelta(minutes=8), 8)
    assert (plan.row_count, plan.is_full, plan.is_planned) == (4, True, False)
    lineage.step("fact.a")
    again = lineage.plan("fact.a")
    assert again is not None
    assert (again.start_pos, again.start_id) == (plan.end_pos, plan.end_id)


def test_the_first_block_starts_before_all(lineage: Lineage) -> None:
    plan = lineage.plan("fact.a")
    assert plan is not None
    assert plan.start_pos == datetime.min.replace(tzinfo=timezone.utc)


def test_nothing_to_do_is_an_outcome(lineage: Lineage) -> None:
    while lineage.step("fact.a").succeeded:
        pass
    outcome = lineage.step("fact.a")
    assert (outcome.status, outcome.reason, outcome.instance_id) == ("C", "NOJOBS", None)
    assert not outcome.succeeded
    assert outcome.detail


def test_an_error_of_a_transform_is_an_outcome_and_recorded(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    conn.execute("UPDATE stg.a SET v = 0 WHERE id = 3")
    outcome = lineage.step("fact.a")
    assert (outcome.status, outcome.reason) == ("F", "ERROR")
    assert "division by zero" in (outcome.detail or "")
    assert written(conn) == []
    [error] = lineage._control.report("lineage_errors")
    assert (error.topic, error.module_instance_id) == ("fact.a", outcome.instance_id)
    assert (error.end_id, error.error_code) == (4, "22012")
    plan = lineage.plan("fact.a")
    assert plan is not None
    assert (plan.is_planned, plan.end_id) == (True, 4)
    insert(lineage._control, (11, 1))  # there are more rows now, but the block stays the same
    conn.execute("UPDATE stg.a SET v = 1")
    assert lineage.step("fact.a").succeeded
    assert written(conn) == [1, 2, 3, 4]


def test_after_ten_attempts_a_topic_waits_for_retry(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    conn.execute("UPDATE stg.a SET v = 0 WHERE id = 3")
    for _ in range(10):
        assert lineage.step("fact.a").status == "F"
    [row] = lineage.ready_list("fact.a")
    assert (row.is_ready, row.reason, row.attempts) == (False, "FAILED", 10)
    conn.execute("UPDATE stg.a SET v = 1")
    lineage._control.calls.omd.retry("fact.a")
    assert [row.topic for row in lineage.ready_list(only_ready=True)] == ["fact.a"]
    assert lineage.step("fact.a").succeeded


def test_an_inactive_topic_is_skipped(lineage: Lineage) -> None:
    lineage.register_topic("fact.a", inactive_indicator="Y")
    outcome = lineage.step("fact.a")
    assert (outcome.status, outcome.reason) == ("C", "SKIPPED")


def test_a_topic_that_is_held_is_no_error(on_spark: Lineage) -> None:
    begun = on_spark.begin_step("fact.a", hostid="other:1", lease=timedelta(minutes=1))
    assert begun.outcome is StepResult.RUN
    outcome = on_spark.step("fact.a")
    assert (outcome.status, outcome.reason) == ("A", "MUTEX")
    assert "other:1" in (outcome.detail or "")
    [lag] = on_spark._control.report("lineage_lag")
    assert (lag.reason, lag.hostid) == ("HELD", "other:1")


@pytest.mark.parametrize("call", ["step", "plan", "topic_definition", "release", "remove_topic"])
def test_an_unknown_topic_is_an_error(lineage: Lineage, call: str) -> None:
    with pytest.raises(errors.lookup("OM015")) as caught:
        getattr(lineage, call)("no.where")
    assert caught.value.hint


@pytest.mark.parametrize("engine", ["POSTGRES", "SPARK"])
def test_a_step_that_cannot_begin_counts_as_tried(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]], engine: str
) -> None:
    lineage.register_topic("fact.a", engine=engine)
    conn.execute("ALTER TABLE stg.a RENAME pos TO moment")
    outcome = lineage.step("fact.a")
    assert (outcome.status, outcome.reason, outcome.instance_id) == ("F", "ERROR", None)
    assert "can't be read by blocks" in (outcome.detail or "")
    [row] = lineage.ready_list("fact.a")
    assert row.attempts == 1
    assert "pos" in row.state


def test_a_step_that_is_cancelled_is_recorded(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    lineage.register_topic("fact.a", before_sql=["SELECT pg_cancel_backend(pg_backend_pid())"])
    outcome = lineage.step("fact.a")
    assert (outcome.status, outcome.reason) == ("F", "ERROR")
    [error] = lineage._control.report("lineage_errors")
    assert error.module_instance_id == outcome.instance_id
    assert [row.attempts for row in lineage.ready_list()] == [1]


def test_a_step_of_a_source_is_an_error(lineage: Lineage) -> None:
    with pytest.raises(errors.lookup("OM208")):
        lineage.step("stg.a")


def test_a_cycle_and_a_bad_name_are_errors(lineage: Lineage) -> None:
    lineage.register_topic("fact.b", depends_on=["fact.a"], transforms=["etl.b"])
    with pytest.raises(errors.lookup("OM017")):
        lineage.register_topic("fact.a", depends_on=["stg.a", "fact.b"])
    with pytest.raises(errors.lookup("OM016")):
        lineage.register_topic("no schema")


# Steps of a driver ------------------------------------------------------------------------------


def test_a_step_that_was_released_cannot_commit(
    on_spark: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    begun = on_spark.begin_step("fact.a", lease=timedelta(minutes=1))
    assert begun.module_instance_id is not None
    assert begun.plan_number is not None
    assert begun.processing_indicator is ProcessingIndicator.PROCEED
    on_spark.release("fact.a")
    with pytest.raises(errors.lookup("OM108")):
        on_spark.commit_step(begun.module_instance_id, begun.plan_number)
    other = on_spark.begin_step("fact.a", lease=timedelta(minutes=1))
    assert (other.outcome, other.end_id) == (StepResult.RUN, begun.end_id)
    with pytest.raises(errors.OmdError):
        on_spark.commit_step(begun.module_instance_id, begun.plan_number)
    assert other.module_instance_id is not None
    assert other.plan_number is not None
    on_spark.commit_step(
        other.module_instance_id, other.plan_number, rows_inserted=4, nulls={"v": 2}
    )
    log = conn.execute("SELECT * FROM omd_lineage.log").fetchall()
    assert [(row["module_instance_id"], row["rows"], row["nulls"]) for row in log] == [
        (other.module_instance_id, 4, {"v": 2})
    ]
    [hour] = on_spark._control.report("lineage_throughput")
    assert (hour.topic, hour.steps, hour.rows) == ("fact.a", 1, 4)


def test_the_block_of_a_failed_step_is_taken_again(on_spark: Lineage) -> None:
    begun = on_spark.begin_step("fact.a", lease=timedelta(minutes=1))
    assert begun.module_instance_id is not None
    on_spark.fail_step(begun.module_instance_id, event_detail="it \0 broke")
    on_spark.fail_step(begun.module_instance_id)
    insert(on_spark._control, (11, 1))
    again = on_spark.begin_step("fact.a", lease=timedelta(minutes=1))
    assert again.module_instance_id != begun.module_instance_id
    for name in ("start_pos", "start_id", "end_pos", "end_id"):
        assert getattr(again, name) == getattr(begun, name)


def test_an_error_before_there_is_an_instance_counts(
    on_spark: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    conn.execute("CALL omd_lineage.note_error('fact.a', 'no way')")
    [row] = on_spark.ready_list("fact.a")
    assert row.attempts == 1
    assert "no way" in row.state


def test_a_commit_whose_answer_was_lost_counts_once(
    on_spark: Lineage, wire: Any, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    with omd.connect(wire.dsn, lease=None, patience=timedelta(seconds=20)) as control:
        wired = Lineage(control)
        begun = wired.begin_step("fact.a", lease=timedelta(minutes=1))
        assert begun.module_instance_id is not None
        assert begun.plan_number is not None
        wire.swallow_answer_to = b"commit_step"
        wired.commit_step(begun.module_instance_id, begun.plan_number, rows_inserted=4)
    assert wire.swallow_answer_to is None
    assert conn.execute("SELECT rows FROM omd_lineage.log").fetchall() == [{"rows": 4}]


def test_a_step_whose_answer_was_lost_is_not_sent_twice(
    lineage: Lineage, wire: Any, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    with omd.connect(wire.dsn, patience=timedelta(seconds=20)) as control:
        wire.swallow_answer_to = b"omd_lineage"  # the second call is the step
        definition = Lineage(control).topic_definition("fact.a")
        assert (definition.base_table, definition.pos_column) == ("stg.a", "pos")
        wire.swallow_answer_to = b'"step"'
        with pytest.raises(errors.ConnectionFailed) as caught:
            Lineage(control).step("fact.a")
        assert caught.value.sqlstate == "08007"


# Sources ----------------------------------------------------------------------------------------


def test_the_offset_of_a_source_is_told_by_hand(lineage: Lineage) -> None:
    lineage.register_topic("stg.h", source_offset="HAND")
    lineage.register_topic("fact.a", depends_on=["stg.a", "stg.h"])
    [row] = lineage.ready_list("fact.a")
    assert row.blocker == "no offset: stg.h"
    lineage.set_offset("stg.h", NOON + timedelta(minutes=3))
    [row] = lineage.ready_list("fact.a")
    assert (row.blocker, row.upto) == ("stg.h", NOON + timedelta(minutes=3))
    assert lineage.step("fact.a").facts["rows"] == 2
    with pytest.raises(errors.CallerError, match="time zone"):
        lineage.set_offset("stg.h", datetime(2020, 1, 1))  # noqa: DTZ001 - the point


def test_probing_tells_how_many_sources_moved(lineage: Lineage) -> None:
    lineage.probe_sources()
    assert lineage.probe_sources() == 0
    insert(lineage._control, (20, 1))
    assert lineage.probe_sources() == 1


def test_who_listens_hears_the_topics_that_move(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    row = conn.execute("SELECT topic_id FROM omd_lineage.topic WHERE topic = 'fact.a'").fetchone()
    assert row is not None
    topic_id = row["topic_id"]
    with lineage.listen() as news:
        assert news.heard() == set()
        lineage.step("fact.a")
        select.select([news], [], [], 60)
        assert str(topic_id) in news.heard()  # any login may listen, so it hears no name
        assert news.heard() == set()


def test_who_listens_notices_that_the_connection_is_lost(
    lineage: Lineage, conn: psycopg.Connection[dict[str, Any]]
) -> None:
    with lineage.listen() as news:
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'omd-listen'"
        )
        with pytest.raises(errors.ConnectionFailed):
            listen_on(news)


def listen_on(news: Listener) -> None:
    while True:
        select.select([news], [], [], 60)
        news.heard()


def test_a_view_can_be_looked_at_with_the_block_of_a_topic(lineage: Lineage) -> None:
    with lineage._control.transaction() as connection:
        lineage.set_block("fact.a")
        rows = connection.execute("SELECT id FROM etl.a ORDER BY id").fetchall()
    assert [row[0] for row in rows] == [1, 2, 3, 4]


# Reports ----------------------------------------------------------------------------------------


def test_the_graph_and_the_gaps_are_typed(lineage: Lineage) -> None:
    rows = lineage._control.report("lineage_graph", order_by=["topic"])
    assert [(row.topic, row.processor, row.source_topic) for row in rows] == [
        ("fact.a", "STEP", "stg.a"),
        ("stg.a", None, None),
    ]
    assert lineage._control.report("lineage_gaps") == []


def test_a_topic_can_be_removed(lineage: Lineage) -> None:
    lineage.remove_topic("fact.a")
    assert lineage.ready_list() == []


@pytest.mark.parametrize("engine", ["POSTGRES", "SPARK"])
def test_a_runner_may_run_steps_and_no_more(lineage: Lineage, dsn: str, engine: str) -> None:
    with lineage._control.transaction() as connection:
        connection.execute(
            "GRANT USAGE ON SCHEMA stg, etl, fact TO omd_runner;"
            "GRANT ALL ON ALL TABLES IN SCHEMA stg, etl, fact TO omd_runner;"
        )
    lineage.register_topic("fact.a", engine=engine)
    with omd.connect(make_conninfo(dsn, options="-c role=omd_runner")) as control:
        runner = Lineage(control)
        runner.probe_sources()
        assert [row.topic for row in runner.ready_list(only_ready=True)] == ["fact.a"]
        assert runner.plan("fact.a")
        if engine == "POSTGRES":
            assert runner.step("fact.a").succeeded
        else:
            assert runner.topic_definition("fact.a").engine == "SPARK"
            begun = runner.begin_step("fact.a", lease=timedelta(minutes=1))
            runner.commit_step(begun.module_instance_id or 0, begun.plan_number or 0)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            runner.release("fact.a")


def test_a_step_in_the_database_needs_no_spark(lineage: Lineage, dsn: str) -> None:
    program = (
        "import sys, omd\n"
        f"with omd.connect({dsn!r}) as control:\n"
        "    assert control.run('fact.a').succeeded\n"
        "assert not {'pyspark', 'pyarrow', 'pandas', 'omd.spark'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
