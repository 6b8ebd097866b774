"""Problems become events when they begin and when they are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from support.flow import Flow

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def flow(conn: Connection) -> Flow:
    return Flow(conn)


def watch(flow: Flow, **arguments: Any) -> tuple[int | None, int | None]:
    row = flow.call("omd_event.watch", **arguments)
    return row["began"], row["ended"]


def events(flow: Flow) -> list[tuple[str, str, dict[str, Any]]]:
    flow.call("omd_event.publish")
    rows = flow.rows(
        "SELECT * FROM omd_report.events WHERE subject_type = 'PROBLEM' ORDER BY event_number"
    )
    assert {row["subject_id"] for row in rows} <= {0}
    return [(row["event_type"], row["code"], row["detail"]) for row in rows]


def test_a_problem_makes_an_event_when_it_begins_and_one_when_it_is_gone(flow: Flow) -> None:
    flow.batch("b")
    assert watch(flow) == (0, 0)
    flow.end_batch(flow.begin_batch("b").id, "F")
    assert watch(flow) == (1, 0)
    assert watch(flow) == (0, 0), "it is known"
    flow.end_batch(flow.begin_batch("b").id, "S")
    assert watch(flow) == (0, 1)
    assert watch(flow) == (0, 0)
    assert events(flow) == [
        ("PROBLEM_BEGAN", "LAST_RUN_FAILED/Batch b", {"severity": "ERROR"}),
        ("PROBLEM_ENDED", "LAST_RUN_FAILED/Batch b", {"severity": "ERROR"}),
    ]


def test_a_problem_that_says_something_else_is_the_same(flow: Flow) -> None:
    flow.module("m")
    flow.call("register_batch", batch_code="b", frequency_code="Adhoc")
    for _ in range(2):
        flow.end_batch(flow.begin_batch("b").id, "F")
        watch(flow)
    assert [event[0] for event in events(flow)] == ["PROBLEM_BEGAN"]


def test_a_look_that_is_rolled_back_has_said_nothing(flow: Flow) -> None:
    flow.batch("b")
    flow.end_batch(flow.begin_batch("b").id, "F")
    with flow.conn.transaction(force_rollback=True):
        assert watch(flow) == (1, 0)
    assert events(flow) == []
    assert watch(flow) == (1, 0)


def test_of_two_who_look_at_once_one_does_and_none_waits(flow: Flow, dsn: str) -> None:
    flow.batch("b")
    flow.end_batch(flow.begin_batch("b").id, "F")
    with (
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as other,
        flow.conn.transaction(),
    ):
        assert watch(flow) == (1, 0)
        other.execute("SET lock_timeout = '10s'")
        assert watch(Flow(other)) == (None, None)
    assert [event[0] for event in events(flow)] == ["PROBLEM_BEGAN"]


def test_who_publishes_does_not_wait_for_who_looks(flow: Flow, dsn: str) -> None:
    with (
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as other,
        flow.conn.transaction(),
    ):
        assert watch(flow) == (0, 0)
        other.execute("SET lock_timeout = '10s'")
        assert Flow(other).call("omd_event.publish")["published"] == 0


def test_nobody_looks_again_before_the_time_has_passed(flow: Flow) -> None:
    assert watch(flow, every="1 hour") == (0, 0), "nobody has looked yet"
    flow.batch("b")
    flow.end_batch(flow.begin_batch("b").id, "F")
    assert watch(flow, every="1 hour") == (None, None)
    assert watch(flow, every="0 s") == (1, 0)
    flow.refused("OM005", "omd_event.watch", every=None)
    flow.refused("OM013", "omd_event.watch", every="-1 s")


def test_a_runner_looks_and_a_reader_does_not(flow: Flow) -> None:
    flow.conn.execute("SET ROLE omd_runner")
    assert watch(flow) == (0, 0)
    flow.conn.execute("SET ROLE omd_reader")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        watch(flow)


def test_hostile_subjects_pass(flow: Flow) -> None:
    code = "line\nbreak \"'{}" * 50
    flow.batch(code)
    flow.end_batch(flow.begin_batch(code).id, "F")
    assert watch(flow) == (1, 0)
    assert [event[1] for event in events(flow)] == [f"LAST_RUN_FAILED/Batch {code}"]
