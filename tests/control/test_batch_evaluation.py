"""Batch evaluation: each line of rule P4, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.flow import Flow

INTERVALS = {
    "Hourly": "1 hour",
    "Daily": "1 day",
    "Weekly": "7 days",
    "Fortnightly": "14 days",
    "Monthly": "1 month",
}


def started_ago(flow: Flow, id: int, interval: str) -> None:
    flow.owner(
        "UPDATE omd.batch_instance SET start_datetime = clock_timestamp() - %s::interval,"
        " end_datetime = clock_timestamp() WHERE batch_instance_id = %s",
        interval,
        id,
    )


# Rule 1


def test_the_instance_with_the_lowest_id_runs(flow: Flow) -> None:
    flow.batch()
    first, second = flow.create_batch(), flow.create_batch()
    assert flow.evaluate_batch(second).answer == ("A", "RUNNING")
    assert flow.evaluate_batch(first).answer == ("P", None)
    assert flow.begin_batch().answer == ("A", "RUNNING")
    flow.end_batch(first, "S")
    assert flow.begin_batch().answer == ("P", None)


def test_an_instance_that_was_only_created_counts_as_executing(flow: Flow) -> None:
    flow.batch()
    flow.create_batch()
    assert flow.begin_batch().answer == ("A", "RUNNING")


def test_another_batch_may_run_at_the_same_time(flow: Flow) -> None:
    flow.batch("b")
    flow.batch("c")
    assert flow.begin_batch("b").pi == flow.begin_batch("c").pi == "P"


# Rule 2


def test_an_inactive_batch_is_skipped(flow: Flow) -> None:
    flow.batch(inactive_indicator="Y")
    assert flow.begin_batch().answer == ("C", "INACTIVE")
    flow.call("register_batch", batch_code="b", inactive_indicator="N")
    assert flow.begin_batch().answer == ("P", None)


def test_a_place_under_a_parent_is_inactive_there_only(flow: Flow) -> None:
    for code in ("child", "parent", "other"):
        flow.batch(code)
    for parent, inactive in (("parent", "Y"), ("other", "N")):
        flow.call(
            "add_batch_to_parent_batch",
            batch_code="child",
            parent_batch_code=parent,
            inactive_indicator=inactive,
        )
    parent, other = flow.begin_batch("parent").id, flow.begin_batch("other").id
    assert flow.begin_batch("child", parent_batch_instance_id=parent).answer == ("C", "INACTIVE")
    inside = flow.begin_batch("child", parent_batch_instance_id=other)
    assert inside.answer == ("P", None)
    flow.end_batch(inside.id, "S")
    assert flow.begin_batch("child").answer == ("P", None)


# Rule 3


@pytest.mark.parametrize("status", ["S", "F", "A", "C"])
def test_an_administrators_skip_holds_once(flow: Flow, status: str) -> None:
    flow.batch()
    id = flow.end_batch(flow.begin_batch().id, status)
    flow.set_next("C", batch=id)
    skipped = flow.begin_batch()
    assert skipped.answer == ("C", "DIRECTIVE")
    assert flow.codes(batch=id) == f"{status} {'P' if status in 'SF' else status} P"
    assert flow.codes(batch=skipped.id) == "C C P"
    assert flow.begin_batch().answer == ("P", None)


def test_a_skip_is_found_behind_later_runs(flow: Flow) -> None:
    flow.batch()
    first = flow.run_batch().id
    flow.run_batch()
    flow.set_next("C", batch=first)
    assert flow.begin_batch().answer == ("C", "DIRECTIVE")
    assert flow.begin_batch().answer == ("P", None)


def test_a_skip_of_another_batch_is_not_ours(flow: Flow) -> None:
    flow.batch("b")
    flow.batch("c")
    flow.set_next("C", batch=flow.run_batch("c").id)
    assert flow.begin_batch("b").answer == ("P", None)


# Rule 4


@pytest.mark.parametrize("frequency", INTERVALS)
def test_a_batch_that_succeeded_within_its_interval_is_skipped(flow: Flow, frequency: str) -> None:
    flow.batch(frequency_code=frequency)
    first = flow.run_batch().id
    tolerance = 3 if frequency == "Hourly" else 70  # minutes

    # A month after a start is not always a month before now: the starts are tried one by one.
    def start(which: str, compared: str, minutes: int) -> None:
        flow.owner(
            f"UPDATE omd.batch_instance SET start_datetime = (SELECT {which}(start)"
            " FROM generate_series(clock_timestamp() - %s::interval - interval '4 days',"
            " clock_timestamp(), '1 minute') start"
            f" WHERE start + %s::interval {compared} clock_timestamp() + %s * interval '1 minute'),"
            " end_datetime = clock_timestamp() WHERE batch_instance_id = %s",
            INTERVALS[frequency],
            INTERVALS[frequency],
            minutes,
            first,
        )

    start("min", ">", tolerance + 1)
    assert flow.begin_batch().answer == ("C", "FREQUENCY")
    start("max", "<", tolerance - 1)
    assert flow.begin_batch().answer == ("P", None)


@pytest.mark.parametrize("frequency", ["Adhoc", "Continuous"])
def test_without_an_interval_a_batch_may_always_run(flow: Flow, frequency: str) -> None:
    flow.batch(frequency_code=frequency)
    flow.run_batch()
    assert flow.begin_batch().answer == ("P", None)


def test_every_frequency_has_its_interval(flow: Flow) -> None:
    rows = flow.rows("SELECT frequency_code, frequency_interval::text AS i FROM omd.frequency")
    found = {row["frequency_code"]: row["i"] for row in rows}
    assert found.pop("Adhoc") is None
    assert found.pop("Continuous") is None
    for code, interval in INTERVALS.items():
        assert flow.one("SELECT %s::interval = %s::interval", found.pop(code), interval)
    assert found == {}


def test_a_batch_can_be_forced(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    flow.run_batch()
    assert flow.begin_batch(force=True).answer == ("P", None)


def test_force_overrides_nothing_but_the_frequency(flow: Flow) -> None:
    flow.batch()
    id = flow.run_batch().id
    flow.set_next("C", batch=id)
    assert flow.begin_batch(force=True).answer == ("C", "DIRECTIVE")
    flow.deactivate("batch", "true")
    assert flow.begin_batch(force=True).answer == ("C", "INACTIVE")
    flow.deactivate("batch", "true", "N")
    flow.begin_batch()
    assert flow.begin_batch(force=True).answer == ("A", "RUNNING")


def test_the_frequency_never_holds_up_a_rerun_after_a_failure(flow: Flow) -> None:
    flow.batch("b", "m", frequency_code="Daily")
    flow.run_batch("b", m="S")
    flow.end_batch(flow.begin_batch(force=True).id, "F")
    assert flow.begin_batch().answer == ("P", None)


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_the_frequency_never_holds_up_a_rollback(flow: Flow, kind: str) -> None:
    flow.batch("b", "m", frequency_code="Daily")
    run = flow.run_batch("b", m="S")
    if kind == "batch":
        flow.set_next("R", batch=run.id)
    else:
        flow.set_next("R", module=run["m"].id)
    assert flow.begin_batch().answer == ("P", None)


def test_what_did_not_run_decides_no_frequency(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    first = flow.run_batch().id
    started_ago(flow, first, "2 days")
    for status in ("A", "C"):
        flow.end_batch(flow.create_batch(), status)
    assert flow.begin_batch().answer == ("P", None)


def test_what_did_not_run_hides_no_frequency(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    flow.run_batch()
    for status in ("A", "C"):
        flow.end_batch(flow.create_batch(), status)
    assert flow.begin_batch().answer == ("C", "FREQUENCY")


def test_the_last_real_run_is_found_by_id_not_by_time(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    first, second = flow.run_batch().id, flow.begin_batch(force=True).id
    flow.end_batch(second, "S")
    started_ago(flow, second, "3 days")
    flow.owner(
        "UPDATE omd.batch_instance SET end_datetime = now() + interval '1 hour'"
        " WHERE batch_instance_id = %s",
        first,
    )
    assert flow.begin_batch().answer == ("P", None)


# Order


def test_running_comes_before_inactive(flow: Flow) -> None:
    flow.batch()
    flow.begin_batch()
    flow.deactivate("batch", "true")
    assert flow.begin_batch().answer == ("A", "RUNNING")


def test_inactive_comes_before_a_directive_and_leaves_it(flow: Flow) -> None:
    flow.batch()
    flow.set_next("C", batch=flow.run_batch().id)
    flow.deactivate("batch", "true")
    assert flow.begin_batch().answer == ("C", "INACTIVE")
    flow.deactivate("batch", "true", "N")
    assert flow.begin_batch().answer == ("C", "DIRECTIVE")


def test_a_directive_waits_for_the_start_that_the_frequency_would_let_in(flow: Flow) -> None:
    flow.batch(frequency_code="Daily")
    first = flow.run_batch().id
    flow.set_next("C", batch=first)
    assert flow.begin_batch().answer == ("C", "FREQUENCY")
    assert flow.codes(batch=first) == "S P C"
    started_ago(flow, first, "1 day")
    assert flow.begin_batch().answer == ("C", "DIRECTIVE")
    assert flow.begin_batch().answer == ("P", None)


def test_a_skip_comes_before_a_rollback_and_leaves_it(flow: Flow) -> None:
    flow.batch("b", "m")
    first, second = flow.run_batch("b", m="S"), flow.run_batch("b", m="S")
    flow.set_next("R", batch=first.id)
    flow.set_next("C", batch=second.id)
    assert flow.begin_batch().answer == ("C", "DIRECTIVE")
    third = flow.begin_batch()
    assert third.answer == ("P", None)
    assert flow.begin_module("m", third.id).array == [first["m"].id]


def test_an_aborted_start_consumes_no_directive(flow: Flow) -> None:
    flow.batch()
    first = flow.run_batch().id
    running = flow.begin_batch().id
    flow.set_next("C", batch=first)
    assert flow.begin_batch().answer == ("A", "RUNNING")
    flow.end_batch(running, "S")
    assert flow.begin_batch().answer == ("C", "DIRECTIVE")


# The end


@pytest.mark.parametrize("status", ["S", "C", "A"])
def test_a_batch_succeeds_when_no_module_failed(flow: Flow, status: str) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id
    flow.end_module(flow.begin_module("m", batch).id, status)
    assert flow.codes(batch=flow.end_batch(batch, "S")) == "S P P"


@pytest.mark.parametrize("status", ["F", "E"])
def test_a_batch_with_a_module_that_failed_or_executes_can_not_succeed(
    flow: Flow, status: str
) -> None:
    flow.batch("b", "m", "n")
    batch = flow.begin_batch().id
    flow.end_module(flow.begin_module("n", batch).id, "S")
    module = flow.begin_module("m", batch).id
    if status == "F":
        flow.end_module(module, "F")
    detail = flow.refused("OM104", "batch_success", batch_instance_id=batch)
    assert str(module) in str(detail["module_instance_ids"])
    assert flow.codes(batch=batch) == "E P P"
    assert flow.codes(batch=flow.end_batch(batch, "F")) == "F P P"


def test_a_batch_with_a_child_that_failed_or_executes_can_not_succeed(flow: Flow) -> None:
    flow.batch("parent")
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="parent")
    parent = flow.begin_batch("parent").id
    child = flow.begin_batch("child", parent_batch_instance_id=parent).id
    flow.refused("OM104", "batch_success", batch_instance_id=parent)
    flow.end_batch(child, "F")
    flow.refused("OM104", "batch_success", batch_instance_id=parent)


def test_the_previous_instance_is_the_last_real_run(flow: Flow) -> None:
    flow.batch()
    query = "SELECT * FROM omd.previous_batch_instance('b')"
    assert flow.rows(query) == []
    flow.run_batch()
    failed = flow.end_batch(flow.begin_batch().id, "F")
    for status in ("A", "C"):
        flow.end_batch(flow.create_batch(), status)
    flow.create_batch()
    (row,) = flow.rows(query)
    assert row["batch_instance_id"] == failed
    assert row["execution_status_code"] == "F"
    assert row["next_run_indicator"] == "P"


def test_creating_and_evaluating_gives_what_beginning_gives(flow: Flow) -> None:
    flow.batch("b", "m", frequency_code="Daily")
    failed = flow.run_batch("b", m="F")
    batch = flow.create_batch()
    assert flow.evaluate_batch(batch).answer == ("P", None)
    module = flow.create_module("m", batch)
    answer = flow.evaluate_module(module)
    assert (answer.pi, answer.array) == ("P", [failed["m"].id])
    flow.end_module(module, "S")
    flow.end_batch(batch, "S")
    assert flow.evaluate_batch(flow.create_batch()).answer == ("C", "FREQUENCY")
