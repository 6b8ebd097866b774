"""Attempts that failed elsewhere and left no row: `omd.record_failure` (rule P24)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb

from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    Another = Callable[..., Flow]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Flow, Future[Any]], None]

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m", "n")


def record(flow: Flow, code: str | None = "m", **given: Any) -> int:
    found: int = flow.call("record_failure", module_code=code, **given)["module_instance_id"]
    return found


def instance(flow: Flow, id: int) -> dict[str, Any]:
    (row,) = flow.rows(
        "SELECT mi.*, clock_timestamp() - mi.end_datetime < interval '1 min' AS is_now"
        " FROM omd.module_instance AS mi WHERE mi.module_instance_id = %s",
        id,
    )
    return row


def test_it_is_a_failed_run_that_has_proceeded_and_is_rolled_back_by_itself(flow: Flow) -> None:
    start = datetime(2026, 1, 2, tzinfo=timezone.utc)
    id = record(
        flow,
        event_detail="Database Error: division by zero",
        event_return_code_details="22012",
        execution_context={"dbt": {"unique_id": "model.shop.m"}},
        start_datetime=start,
    )
    assert flow.codes(module=id) == "F P R"
    found = instance(flow, id)
    assert found["rolled_back_by_module_instance_id"] == found["newest_instance_id"] == id
    assert found["has_proceeded"] is True
    assert (found["start_datetime"], found["is_now"]) == (start, True)
    assert found["batch_instance_id"] == 0
    assert found["execution_context"] == {"dbt": {"unique_id": "model.shop.m"}}
    assert found["started_by"] == flow.one("SELECT session_user")
    assert flow.failures(module=id) == 1
    (event,) = flow.rows("SELECT * FROM omd.event_log WHERE module_instance_id = %s", id)
    assert event["event_detail"] == "Database Error: division by zero"
    assert event["event_return_code_details"] == "22012"
    assert flow.one("SELECT count(*) FROM omd_report.pending_rollbacks") == 0


def test_the_next_begin_has_nothing_to_undo(flow: Flow) -> None:
    record(flow)
    begun = flow.begin_module("m")
    assert (begun.pi, begun.array) == ("P", [])


def test_without_a_text_the_event_says_who_recorded_it(flow: Flow) -> None:
    id = record(flow)
    detail = flow.one("SELECT event_detail FROM omd.event_log WHERE module_instance_id = %s", id)
    assert detail == f"failed by {flow.one('SELECT session_user')}"


def test_two_calls_record_two_attempts_and_the_pause_of_the_module_doubles(flow: Flow) -> None:
    assert record(flow, event_detail="no") < record(flow, event_detail="not again")
    (state,) = flow.rows("SELECT * FROM omd.module_state")
    assert state["failures"] == 2
    pause = state["not_before"] - state["failed_since"]
    assert timedelta(seconds=19) < pause < timedelta(seconds=25)
    flow.run_module("m")
    assert flow.one("SELECT count(*) FROM omd.module_state") == 0


def test_the_session_says_to_what_the_attempt_belongs(flow: Flow) -> None:
    flow.conn.execute("""SET omd.execution_context = '{"task_id": 7}'""")
    found = instance(flow, record(flow, execution_context={"dag": "d"}))
    assert found["execution_context"] == {"dag": "d", "task_id": 7}


# In a Batch


def test_its_batch_succeeds_only_after_a_newer_run(flow: Flow) -> None:
    batch = flow.begin_batch("b").id
    id = record(flow, batch_instance_id=batch)
    assert instance(flow, id)["batch_instance_id"] == batch
    with pytest.raises(psycopg.Error) as refused:
        flow.end_batch(batch, "S")
    assert checked(refused.value, "OM104")["module_instance_ids"] == [id]
    flow.run_module("m", batch=batch)
    flow.end_batch(batch, "S")


def test_a_partial_restart_runs_the_module_again_and_no_other(flow: Flow) -> None:
    batch = flow.begin_batch("b").id
    flow.run_module("m", batch=batch)
    record(flow, "n", batch_instance_id=batch)
    flow.end_batch(batch, "F")
    again = flow.run_batch("b", m="S", n="S")
    assert again["m"].answer == ("C", "ALREADY_SUCCEEDED")
    assert again["n"].answer == ("P", None)
    assert again["n"].array == []


def test_a_success_of_the_chain_counts_no_more_once_an_attempt_after_it_has_failed(
    flow: Flow,
) -> None:
    batch = flow.begin_batch("b").id
    flow.run_module("m", batch=batch)
    flow.end_batch(batch, "F")
    record(flow)
    assert flow.run_batch("b", m="S")["m"].answer == ("P", None)


def test_a_run_at_work_goes_on_beside_it(flow: Flow) -> None:
    running = flow.begin_module("m")
    record(flow)
    assert flow.begin_module("m").answer == ("A", "RUNNING")
    flow.end_module(running.id, "S")
    assert flow.codes(module=running.id) == "S P P"


def test_a_batch_that_has_ended_takes_none(flow: Flow) -> None:
    batch = flow.run_batch("b", m="S").id
    with pytest.raises(psycopg.Error) as refused:
        record(flow, batch_instance_id=batch)
    assert checked(refused.value, "OM101")["instance_id"] == batch
    assert flow.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 1


def test_a_batch_that_may_not_proceed_takes_none(flow: Flow) -> None:
    batch = flow.create_batch("b")
    with pytest.raises(psycopg.Error) as refused:
        record(flow, batch_instance_id=batch)
    checked(refused.value, "OM102")


def test_a_batch_does_not_end_between_the_look_at_it_and_the_commit(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    batch = flow.begin_batch("b").id
    one, two = another(), another()
    one.conn.execute("BEGIN")
    id = record(one, batch_instance_id=batch)
    ending = background(two.end_batch, batch, "S")
    until_settled(two, ending)
    assert not ending.done()
    one.conn.execute("COMMIT")
    error = ending.exception(timeout=60)
    assert isinstance(error, psycopg.Error)
    assert checked(error, "OM104")["module_instance_ids"] == [id]


def test_what_waited_for_the_end_of_its_batch_is_refused(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    batch = flow.begin_batch("b").id
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.end_batch(batch, "S")
    recording = background(record, two, batch_instance_id=batch)
    until_settled(two, recording)
    assert not recording.done()
    one.conn.execute("COMMIT")
    error = recording.exception(timeout=60)
    assert isinstance(error, psycopg.Error)
    checked(error, "OM101")
    assert flow.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0


# What is refused


@pytest.mark.parametrize(
    ("given", "sqlstate"),
    [
        ({"code": None}, "OM005"),
        ({"code": "x"}, "OM002"),
        ({"batch_instance_id": 77}, "OM003"),
        ({"start_datetime": datetime.now(timezone.utc) + HOUR}, "OM013"),
        ({"execution_context": Jsonb([1])}, "OM013"),
        ({"execution_context": {"text": "x" * 17000}}, "OM013"),
    ],
)
def test_a_mistake_records_nothing(flow: Flow, given: dict[str, Any], sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        record(flow, **given)
    checked(refused.value, sqlstate)
    assert flow.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0
    assert flow.one("SELECT count(*) FROM omd.event_log") == 0


@pytest.mark.parametrize("start", ["infinity", "-infinity", "0044-03-15 12:00 BC"])
def test_a_start_is_a_moment_of_the_past(flow: Flow, start: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        flow.conn.execute(
            "CALL omd.record_failure('m', p_start_datetime => %s::timestamptz)", [start]
        )
    assert checked(refused.value, "OM013")["argument"] == "p_start_datetime"


def test_runners_record_and_readers_do_not(flow: Flow, another: Another) -> None:
    assert record(another(role="omd_runner"))
    with pytest.raises(InsufficientPrivilege):
        record(another(role="omd_reader"))
