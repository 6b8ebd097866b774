"""Frequencies: their tolerance, intervals tuned by administrators, and force (rule P4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from omd.programs import install

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.flow import Flow


@pytest.fixture
def tuned(flow: Flow) -> Iterator[Flow]:
    yield flow
    flow.owner(
        "UPDATE omd.frequency SET frequency_interval = interval '1 day',"
        " frequency_tolerance = NULL WHERE frequency_code = 'Daily'"
    )


def started_ago(flow: Flow, id: int, interval: str) -> None:
    flow.owner(
        "UPDATE omd.batch_instance SET start_datetime = clock_timestamp() - %s::interval"
        " WHERE batch_instance_id = %s",
        interval,
        id,
    )


def test_a_start_a_moment_early_is_let_in(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    started_ago(flow, flow.run_batch().id, "23:59:59.4")
    assert flow.begin_batch().answer == ("P", None)


@pytest.mark.parametrize(
    ("tolerance", "ago", "answer"),
    [
        ("0", "23:59:59", ("C", "FREQUENCY")),
        ("3 hours", "21:00:01", ("P", None)),
        ("3 hours", "20:59:00", ("C", "FREQUENCY")),
    ],
)
def test_the_tolerance_can_be_tuned(
    tuned: Flow, tolerance: str, ago: str, answer: tuple[str, str | None]
) -> None:
    tuned.call("register_frequency", frequency_code="daily", frequency_tolerance=tolerance)
    tuned.batch(frequency_code="Daily")
    started_ago(tuned, tuned.run_batch().id, ago)
    assert tuned.begin_batch().answer == answer


@pytest.mark.parametrize(
    "arguments",
    [
        {"frequency_tolerance": "-1 s"},
        {"frequency_tolerance": "1 day"},
        {"frequency_tolerance": "2 hours", "frequency_interval": "1 hour"},
    ],
)
def test_a_tolerance_is_shorter_than_the_interval(flow: Flow, arguments: dict[str, str]) -> None:
    flow.refused("OM013", "register_frequency", frequency_code="Daily", **arguments)


def test_an_interval_stays_longer_than_the_tolerance(tuned: Flow) -> None:
    tuned.call("register_frequency", frequency_code="Daily", frequency_tolerance="2 hours")
    tuned.refused(
        "OM013", "register_frequency", frequency_code="Daily", frequency_interval="1 hour"
    )


def test_until_when_a_frequency_holds_counts_the_tolerance(tuned: Flow) -> None:
    tuned.call("register_frequency", frequency_code="Daily", frequency_tolerance="3 hours")
    tuned.batch(frequency_code="Daily")
    tuned.run_batch()
    told = tuned.rows(
        "SELECT (details ->> 'holds_until')::timestamptz"
        " - (details ->> 'start_datetime')::timestamptz = interval '21 hours' AS is_so"
        " FROM omd.explain_begin(p_batch_code => 'b')"
    )
    assert told == [{"is_so": True}]


def test_a_tolerance_is_not_negative(flow: Flow) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        flow.owner("UPDATE omd.frequency SET frequency_tolerance = '-1 s'")


def test_an_installation_keeps_what_was_tuned(tuned: Flow) -> None:
    tuned.owner(
        "UPDATE omd.frequency SET frequency_interval = '20 hours', frequency_tolerance = '1 s'"
        " WHERE frequency_code = 'Daily'"
    )
    codes = install.sql_root() / "sql" / "reference" / "omd" / "codes.sql"
    tuned.owner(codes.read_text())
    row = tuned.rows(
        "SELECT frequency_interval::text AS i, frequency_tolerance::text AS t"
        " FROM omd.frequency WHERE frequency_code = 'Daily'"
    )
    assert row == [{"i": "20:00:00", "t": "00:00:01"}]


def test_a_run_in_the_database_can_be_forced_with_its_children(flow: Flow) -> None:
    flow.batch("b", frequency_code="Daily")
    flow.batch("c", frequency_code="Daily")
    flow.call("add_batch_to_parent_batch", batch_code="c", parent_batch_code="b")
    run = {"batch_code": "b"}
    assert flow.call("run_batch", **run)["execution_status_code"] == "S"
    assert flow.call("run_batch", **run)["execution_status_code"] == "C"
    assert flow.call("run_batch", **run, force=True)["execution_status_code"] == "S"
    statuses = flow.rows(
        "SELECT execution_status_code AS s FROM omd.batch_instance AS bi JOIN omd.batch AS b"
        " USING (batch_id) WHERE batch_code = 'c' ORDER BY batch_instance_id"
    )
    assert [row["s"] for row in statuses] == ["S", "S"]


def test_force_does_not_lift_a_directive(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    flow.set_next("C", batch=flow.run_batch().id)
    assert flow.begin_batch(force=True).answer == ("C", "DIRECTIVE")
    assert flow.begin_batch(force=True).answer == ("P", None)


def test_a_job_of_the_same_local_time_runs_on_the_day_when_clocks_go_forward(flow: Flow) -> None:
    """It starts 23 hours after the last one."""
    flow.batch("b", "m", frequency_code="Daily")
    flow.run_batch("b", m="S")
    for ago, answer in (("22:49", "C"), ("22:51", "P")):
        flow.owner(
            "UPDATE omd.batch_instance SET start_datetime = clock_timestamp() - %s::interval"
            " WHERE batch_instance_id = 1",
            ago,
        )
        assert flow.begin_batch("b").pi == answer
