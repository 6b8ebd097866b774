"""Events are what was committed, in one order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import psycopg
import pytest

from support.events import after, publish, published
from support.flow import Flow


def test_a_batch_and_its_modules_make_their_events_in_order(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    batch = flow.begin_batch()
    flow.run_module("m", batch=batch.id)
    failed = flow.begin_module("n", batch.id)
    flow.call("module_failure", module_instance_id=failed.id, event_return_code_details="22012")
    flow.end_batch(batch.id, "F")
    assert published(flow) == [
        ("BATCH_BEGAN", batch.id),
        ("RUN_BEGAN", 1),
        ("RUN_SUCCEEDED", 1),
        ("RUN_BEGAN", 2),
        ("RUN_FAILED", 2),
        ("BATCH_FAILED", batch.id),
    ]
    rows = flow.rows("SELECT * FROM omd_report.events ORDER BY event_number")
    assert [row["event_number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["code"] for row in rows] == ["b", "m", "m", "n", "n", "b"]
    assert rows[4]["detail"] == {"batch_instance_id": batch.id, "return_code": "22012"}
    started, ended = flow.rows(
        "SELECT start_datetime, end_datetime FROM omd.module_instance WHERE module_instance_id = 2"
    )[0].values()
    assert (rows[3]["started_datetime"], rows[3]["event_datetime"]) == (started, started)
    assert (rows[4]["started_datetime"], rows[4]["event_datetime"]) == (started, ended)


def test_who_reads_on_after_a_number_gets_the_rows_of_the_view(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    flow.run_module(status="F")
    published(flow)
    rows = flow.rows("SELECT * FROM omd_report.events ORDER BY event_number")
    assert flow.rows("SELECT * FROM omd_event.events_after(0)") == rows
    assert flow.rows("SELECT * FROM omd_event.events_after(1, 2)") == rows[1:3]
    assert flow.rows("SELECT * FROM omd_event.events_after(0, 10, '{RUN_FAILED}')") == rows[3:]
    for arguments, error in (
        ("NULL", "OM005"),
        ("0, 0", "OM013"),
        ("0, NULL", "OM013"),
        ("0, 1, '{RUN_LOST}'", "OM013"),
        ("0, 1, ARRAY[NULL]::text[]", "OM013"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            flow.rows(f"SELECT * FROM omd_event.events_after({arguments})")
        assert caught.value.sqlstate == error


# What makes an event ------------------------------------------------------------------------------


def test_an_instance_that_never_proceeded_makes_none(flow: Flow) -> None:
    flow.batch("b", "m")
    first = flow.begin_batch()
    run = flow.begin_module("m", first.id)
    assert flow.begin_batch().answer == ("A", "RUNNING")
    assert flow.begin_module("m", first.id).answer == ("A", "RUNNING")
    flow.deactivate("module", "module_code = 'm'")
    flow.end_module(run.id, "S")
    assert flow.begin_module("m", first.id).answer == ("C", "INACTIVE")
    waiting = flow.create_module("m", first.id)
    assert published(flow) == [
        ("BATCH_BEGAN", first.id),
        ("RUN_BEGAN", run.id),
        ("RUN_SUCCEEDED", run.id),
    ]
    flow.end_module(waiting, "A")
    assert published(flow) == []
    assert flow.one("SELECT count(*) FROM omd_event.open_run WHERE subject_type = 'MODULE'") == 0


def test_begun_and_aborted_differs_from_aborted_at_once_by_has_proceeded_alone(flow: Flow) -> None:
    flow.module()
    ran = flow.begin_module()
    assert flow.begin_module().answer == ("A", "RUNNING")
    flow.end_module(ran.id, "A")
    rows = flow.rows(
        "SELECT execution_status_code, processing_indicator, next_run_indicator, has_proceeded"
        " FROM omd.module_instance WHERE module_instance_id > 0 ORDER BY module_instance_id"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("A", "A", "P", True),
        ("A", "A", "P", False),
    ]
    assert published(flow) == [("RUN_BEGAN", ran.id), ("RUN_ABORTED", ran.id)]
    assert flow.one("SELECT detail FROM omd_report.events WHERE event_number = 2") == {
        "status": "A"
    }


@pytest.mark.parametrize("status", ["E", "S", "F", "A", "C"])
def test_an_instance_that_does_not_say_whether_it_has_proceeded_says_it_by_its_state(
    flow: Flow, status: str
) -> None:
    """It is older than the column."""
    flow.module()
    flow.conn.execute(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator)"
        " VALUES (1, now(), CASE WHEN %s <> 'E' THEN now() END, %s,"
        " CASE WHEN %s IN ('A', 'C') THEN %s ELSE 'P' END, 'P')",
        [status] * 4,
    )
    proceeded = flow.one("SELECT has_proceeded FROM omd.followed_module_instance")
    assert proceeded == (status not in "AC")


def test_a_failure_before_the_evaluation_is_a_run_that_began(flow: Flow) -> None:
    flow.batch("b", "m")
    batch, module = flow.create_batch(), flow.create_module()
    assert published(flow) == []
    flow.end_module(module, "F")
    flow.end_batch(batch, "F")
    assert published(flow) == [
        ("BATCH_BEGAN", batch),
        ("RUN_BEGAN", module),
        ("RUN_FAILED", module),
        ("BATCH_FAILED", batch),
    ]


def test_an_answer_of_r_lets_a_run_proceed_and_its_rollback_is_an_event(flow: Flow) -> None:
    flow.module()
    failed = flow.run_module(status="F")
    run = flow.begin_module()
    assert run.array == [failed]
    assert published(flow) == [
        ("RUN_BEGAN", failed),
        ("RUN_FAILED", failed),
        ("RUN_BEGAN", run.id),
        ("RUN_UNDONE", failed),
    ]
    assert flow.one("SELECT detail FROM omd_report.events WHERE event_type = 'RUN_UNDONE'") == {
        "undone_by": run.id
    }


def test_what_is_rolled_back_leaves_none(flow: Flow, another: Callable[..., Flow]) -> None:
    flow.module()
    failed = flow.run_module(status="F")
    published(flow)
    other = another(autocommit=False)
    other.begin_module()
    other.conn.rollback()
    other.conn.execute("SAVEPOINT s")
    other.begin_module()
    other.conn.execute("ROLLBACK TO SAVEPOINT s")
    kept = other.begin_module()
    other.conn.commit()
    assert published(flow) == [("RUN_BEGAN", kept.id), ("RUN_UNDONE", failed)]
    assert published(flow) == []


def test_an_event_published_in_a_transaction_goes_with_it(flow: Flow) -> None:
    flow.module()
    with flow.conn.transaction(force_rollback=True):
        flow.run_module()
        assert publish(flow) == 2
    assert published(flow) == []
    run = flow.run_module()
    assert published(flow) == [("RUN_BEGAN", run), ("RUN_SUCCEEDED", run)]
    assert flow.one("SELECT max(event_number) FROM omd_report.events") == 2


def test_what_was_deleted_by_hand_is_forgotten(flow: Flow) -> None:
    flow.module()
    run = flow.begin_module()
    assert published(flow) == [("RUN_BEGAN", run.id)]
    flow.owner("DELETE FROM omd.module_instance WHERE module_instance_id = %s", run.id)
    assert published(flow) == []
    assert flow.rows("SELECT FROM omd_event.open_run") == []


# What an event says -------------------------------------------------------------------------------


def test_an_event_keeps_the_code_of_its_time(flow: Flow) -> None:
    flow.module("m")
    flow.run_module("m")
    published(flow)
    flow.call("rename_module", module_code="m", new_module_code="renamed")
    flow.run_module("renamed")
    published(flow)
    rows = flow.rows("SELECT code FROM omd_report.events ORDER BY event_number")
    assert [row["code"] for row in rows] == ["m", "m", "renamed", "renamed"]


@pytest.mark.parametrize("code", ["secret of row 7", "x" * 65, "line\nbreak", ""])
def test_a_return_code_that_is_no_word_is_left_out(flow: Flow, code: str) -> None:
    flow.batch("b", "m")
    batch, run = flow.begin_batch(), flow.begin_module()
    for kind, id in (("module", run.id), ("batch", batch.id)):
        flow.call(
            f"{kind}_failure",
            **{f"{kind}_instance_id": id},
            event_detail="secret of row 7",
            event_return_code_details=code,
        )
    published(flow)
    rows = flow.rows("SELECT detail FROM omd_report.events")
    assert [row["detail"] for row in rows] == [{}] * 4
    assert "secret" not in str(flow.rows("SELECT * FROM omd_event.event"))


# Order --------------------------------------------------------------------------------------------


def test_what_was_evaluated_later_than_created_begins_at_its_evaluation(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    batch, module = flow.create_batch(), flow.create_module("m")
    before = flow.run_module("n")
    assert flow.evaluate_batch(batch).pi == "P"
    assert flow.evaluate_module(module).pi == "P"
    assert published(flow) == [
        ("RUN_BEGAN", before),
        ("RUN_SUCCEEDED", before),
        ("BATCH_BEGAN", batch),
        ("RUN_BEGAN", module),
    ]


def test_causes_precede_effects_whatever_the_clock_did(flow: Flow) -> None:
    flow.batch("parent")
    flow.batch("child", "m")
    flow.call("add_batch_to_parent_batch", parent_batch_code="parent", batch_code="child")
    parent = flow.begin_batch("parent")
    child = flow.begin_batch("child", parent_batch_instance_id=parent.id)
    failed = flow.begin_module("m", child.id)
    flow.end_module(failed.id, "F")
    again = flow.begin_module("m", child.id)
    flow.end_module(again.id, "S")
    flow.end_batch(child.id, "S")
    flow.end_batch(parent.id, "S")
    # The clock was set back a day after each begin of a Batch and of the first run.
    for table, id, days in (("batch", parent.id, 3), ("batch", child.id, 2), ("module", 1, 1)):
        flow.owner(
            f"UPDATE omd.{table}_instance"
            f" SET start_datetime = start_datetime + %s * interval '1 day'"
            f" WHERE {table}_instance_id = %s",
            days,
            id,
        )
    numbers = {event: number for number, event in enumerate(published(flow))}
    expected = [
        ("BATCH_BEGAN", parent.id),
        ("BATCH_BEGAN", child.id),
        ("RUN_BEGAN", failed.id),
        ("RUN_FAILED", failed.id),
        ("RUN_UNDONE", failed.id),
    ]
    assert [numbers[event] for event in expected] == sorted(numbers[event] for event in expected)
    assert numbers[("BATCH_BEGAN", child.id)] < numbers[("RUN_BEGAN", again.id)]
    for begin, end, id in (
        ("RUN_BEGAN", "RUN_SUCCEEDED", again.id),
        ("BATCH_BEGAN", "BATCH_SUCCEEDED", child.id),
        ("BATCH_BEGAN", "BATCH_SUCCEEDED", parent.id),
    ):
        assert numbers[(begin, id)] < numbers[(end, id)]


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_a_round_that_is_cut_says_nothing_later_than_what_it_left_out(
    flow: Flow, limit: int
) -> None:
    flow.batch("b", "m", "n")
    failed = flow.run_module("m", "F")
    batch = flow.begin_batch()
    flow.run_module("m", batch=batch.id)
    flow.run_module("n", batch=batch.id)
    flow.end_batch(batch.id, "S")
    flow.run_module("n")
    flow.begin_module("m")
    starts = {
        (kind, row["id"]): row["start_datetime"]
        for kind, table in (("MODULE", "module"), ("BATCH", "batch"))
        for row in flow.rows(
            f"SELECT {table}_instance_id AS id, start_datetime FROM omd.{table}_instance"
            f" WHERE {table}_instance_id > 0"
        )
    }
    while (done := publish(flow, limit)) != 0:
        marks = flow.rows("SELECT module_instance_id, batch_instance_id FROM omd_event.setting")[0]
        left = [
            start
            for (kind, id), start in starts.items()
            if id > marks["module_instance_id" if kind == "MODULE" else "batch_instance_id"]
        ]
        newest = flow.one("SELECT max(event_datetime) FROM omd_event.event")
        assert done is not None
        assert not left or newest <= min(left)
    cut = after(flow)
    flow.owner("DELETE FROM omd_event.event")
    flow.owner("DELETE FROM omd_event.open_run")
    flow.owner("UPDATE omd_event.setting SET module_instance_id = 0, batch_instance_id = 0")
    whole = published(flow)
    assert [event for event in cut if event[0] != "RUN_UNDONE"] == whole
    assert ("RUN_UNDONE", failed) in cut


def test_a_round_that_is_cut_before_it_can_say_anything_goes_on(flow: Flow) -> None:
    flow.module("m")
    flow.module("n")
    for _ in range(3):
        flow.run_module("m")
    last = flow.run_module("n")
    # As a failure that is recorded afterwards: it began long ago.
    flow.owner(
        "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '1 day'"
        " WHERE module_instance_id = %s",
        last,
    )
    assert publish(flow, 1)
    assert sorted(published(flow) + after(flow)[:1])
    assert len(after(flow)) == 8


def test_what_an_undone_run_says_waits_for_its_end(flow: Flow) -> None:
    flow.module("m")
    flow.module("n")
    flow.run_module("n")
    failed = flow.run_module("m", "F")
    flow.begin_module("m")
    events: list[tuple[str, int]] = []
    while publish(flow, 1) != 0:
        events = after(flow)
        if ("RUN_UNDONE", failed) in events:
            assert ("RUN_FAILED", failed) in events
    assert events.index(("RUN_UNDONE", failed)) > events.index(("RUN_FAILED", failed))


# One publisher ------------------------------------------------------------------------------------


def test_one_session_publishes_and_the_other_answers_null(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    flow.module()
    flow.run_module()
    other = another(autocommit=False)
    assert publish(other) == 2
    answer = flow.call("omd_event.publish")
    assert answer == {"published": None, "event_number": 0}
    other.conn.commit()
    assert flow.call("omd_event.publish") == {"published": 0, "event_number": 2}


def test_the_newest_number_is_notified_once_committed(flow: Flow) -> None:
    flow.module()
    flow.conn.execute("LISTEN omd_published")
    assert publish(flow) == 0
    flow.run_module()
    assert publish(flow) == 2
    heard = list(flow.conn.notifies(timeout=60, stop_after=1))
    assert [(notice.channel, notice.payload) for notice in heard] == [("omd_published", "2")]


def test_wrong_calls_are_refused(flow: Flow) -> None:
    for limit in (0, -1):
        flow.refused("OM013", "omd_event.publish", limit=limit)
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute("CALL omd_event.publish(NULL)")
    assert caught.value.sqlstate == "OM005"
    assert flow.call("omd_event.publish", limit=2**31 - 1)["published"] == 0
    flow.conn.execute("SET default_transaction_isolation = 'repeatable read'")
    flow.refused("OM014", "omd_event.publish")


def test_readers_read_and_runners_publish(flow: Flow, another: Callable[..., Flow]) -> None:
    flow.module()
    run = flow.run_module()
    assert publish(another(role="omd_runner")) == 2
    reader = another(role="omd_reader")
    assert [row["event_number"] for row in reader.rows("SELECT * FROM omd_report.events")] == [1, 2]
    assert after(reader) == [("RUN_BEGAN", run), ("RUN_SUCCEEDED", run)]
    assert reader.one("SELECT omd_event.run_id('MODULE', %s)", run)
    assert reader.one("SELECT omd_event.parent_id('MODULE', %s)", run)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        publish(reader)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.rows("SELECT target FROM omd_event.sink")


def test_a_publisher_that_is_killed_leaves_nothing_half_done(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    """It waits in its INSERT, as its rows have a trigger here that waits."""
    flow.module()
    flow.run_module()
    flow.conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock_shared(38); RETURN NULL; END'"
    )
    flow.conn.execute(
        "CREATE TRIGGER wait AFTER INSERT ON omd_event.event EXECUTE FUNCTION dwh.wait()"
    )
    flow.conn.execute("SELECT pg_advisory_lock(38)")
    other = another()
    call = background(publish, other)
    until_settled(other, call)
    assert publish(flow) is None
    flow.conn.execute("SELECT pg_terminate_backend(%s, 5000)", [other.conn.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        call.result(timeout=30)
    flow.conn.execute("SELECT pg_advisory_unlock(38)")
    assert published(flow) == [("RUN_BEGAN", 1), ("RUN_SUCCEEDED", 1)]


def test_a_look_whether_something_is_new_reads_no_history(flow: Flow) -> None:
    """The planner expects to find a newer instance soon, and would read all that are older."""
    flow.module()
    flow.run_module()
    published(flow)
    flow.conn.execute(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator, has_proceeded)"
        " SELECT 1, now(), now(), 'S', 'P', 'P', TRUE FROM generate_series(1, 20000)"
    )
    flow.conn.execute("ANALYZE omd.module_instance")
    published(flow)
    scans = (
        "SELECT seq_scan FROM pg_stat_xact_user_tables"
        " WHERE relid = 'omd.module_instance'::regclass"
    )
    with flow.conn.transaction():
        before = flow.one(scans)  # what is not told yet counts too
        (look,) = flow.rows("SELECT * FROM omd_event._is_idle()")
        after = flow.one(scans)
    assert look["p_is_idle"]
    assert after == before
