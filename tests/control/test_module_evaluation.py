"""Module evaluation: each line of rule P5, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow


# Rule 1


def test_the_instance_with_the_lowest_id_runs(flow: Flow) -> None:
    flow.module()
    first, second = flow.create_module(), flow.create_module()
    assert flow.evaluate_module(second).answer == ("A", "RUNNING")
    assert flow.evaluate_module(first).answer == ("P", None)
    assert flow.begin_module().answer == ("A", "RUNNING")
    flow.end_module(first, "S")
    assert flow.begin_module().answer == ("P", None)


def test_a_module_runs_once_at_a_time_from_whatever_batch(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("c", "m")
    one, two = flow.begin_batch("b").id, flow.begin_batch("c").id
    running = flow.begin_module("m", one)
    assert running.answer == ("P", None)
    for batch in (two, 0, one):
        assert flow.begin_module("m", batch).answer == ("A", "RUNNING")
    flow.end_module(running.id, "S")
    assert flow.begin_module("m", two).answer == ("P", None)


# Rule 2


def test_a_batch_that_was_not_evaluated_lets_no_module_in(flow: Flow) -> None:
    flow.batch("b", "m")
    assert flow.begin_module("m", flow.create_batch()).answer == ("A", "BATCH_NOT_PROCEEDING")


@pytest.mark.parametrize("status", ["S", "F", "A", "C"])
def test_a_batch_that_has_ended_lets_no_module_in(flow: Flow, status: str) -> None:
    flow.batch("b", "m")
    batch = flow.end_batch(flow.begin_batch().id, status)
    assert flow.begin_module("m", batch).answer == ("A", "BATCH_NOT_PROCEEDING")


def test_a_module_that_is_not_registered_in_the_batch_is_aborted(flow: Flow) -> None:
    flow.batch("b")
    flow.batch("c", "m")
    assert flow.begin_module("m", flow.begin_batch("b").id).answer == ("A", "NOT_REGISTERED")


# Rule 3


def test_a_module_inactive_in_a_batch_runs_elsewhere(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("c", "m")
    flow.call("add_module_to_batch", batch_code="b", module_code="m", inactive_indicator="Y")
    inside = flow.begin_module("m", flow.begin_batch("b").id)
    assert inside.answer == ("C", "INACTIVE_IN_BATCH")
    flow.run_module("m")
    flow.run_module("m", batch=flow.begin_batch("c").id)


def test_an_inactive_module_runs_nowhere(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.call("register_module", module_code="m", inactive_indicator="Y")
    for batch in (0, flow.begin_batch().id):
        assert flow.begin_module("m", batch).answer == ("C", "INACTIVE")
    flow.call("register_module", module_code="m", inactive_indicator="N")
    assert flow.begin_module("m").answer == ("P", None)


# Rule 4 (skips of a partial restart: test_restart.py)


@pytest.mark.parametrize("status", ["S", "F", "A", "C"])
@pytest.mark.parametrize("inside", [True, False], ids=["in a Batch", "on its own"])
def test_an_administrators_skip_holds_once_wherever_it_runs(
    flow: Flow, status: str, inside: bool
) -> None:
    flow.batch("b", "m")
    first = flow.end_module(flow.begin_module().id, status)
    flow.set_next("C", module=first)
    batch = flow.begin_batch().id if inside else 0
    skipped = flow.begin_module("m", batch)
    assert skipped.answer == ("C", "DIRECTIVE")
    assert skipped.array == []
    assert flow.codes(module=skipped.id) == "C C P"
    following = flow.begin_module("m", batch)
    assert following.answer == ("P", None)
    assert following.array == ([first] if status == "F" else [])


def test_a_skip_is_found_behind_later_runs(flow: Flow) -> None:
    flow.module()
    first = flow.run_module()
    flow.run_module()
    flow.set_next("C", module=first)
    assert flow.begin_module().answer == ("C", "DIRECTIVE")
    assert flow.codes(module=first) == "S P P"
    assert flow.begin_module().answer == ("P", None)


def test_a_skip_of_another_module_is_not_ours(flow: Flow) -> None:
    flow.module("m")
    flow.module("n")
    flow.set_next("C", module=flow.run_module("n"))
    assert flow.begin_module("m").answer == ("P", None)


# Rule 5


@pytest.mark.parametrize("inside", [True, False], ids=["in a Batch", "on its own"])
def test_a_failed_run_is_rolled_back_by_the_next(flow: Flow, inside: bool) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id if inside else 0
    first = flow.begin_module("m", batch).id
    flow.write(first)
    flow.end_module(first, "F")
    second = flow.begin_module("m", batch)
    assert (second.pi, second.array) == ("P", [first])
    assert flow.stamps() == {}
    assert flow.codes(module=second.id) == "E P P"
    flow.end_module(second.id, "S")
    assert flow.begin_module("m", batch).array == []


def test_the_array_holds_failures_from_every_batch_in_id_order(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("c", "m")
    ids = []
    for batch in ("b", 0, "c", "b", 0, "c"):
        run = flow.begin_batch(batch).id if isinstance(batch, str) else 0
        created = flow.create_module("m", run)
        ids.append(flow.end_module(created, "F"))
        if run:
            flow.end_batch(run, "F")
    assert flow.begin_module("m").array == sorted(ids)


def test_runs_that_failed_during_the_rollback_join_the_array(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    ids = [flow.run_module("m", "F")]
    for _ in range(3):
        begun = flow.begin_module()
        assert (begun.pi, begun.array) == ("R", ids)
        ids.append(flow.end_module(begun.id, "F"))


def test_what_was_rolled_back_is_not_rolled_back_again(flow: Flow) -> None:
    flow.module()
    first = flow.run_module("m", "F")
    second = flow.begin_module()
    assert second.array == [first]
    flow.end_module(second.id, "F")
    assert flow.begin_module().array == [second.id]
    by = "SELECT rolled_back_by_module_instance_id FROM omd.module_instance"
    assert flow.one(f"{by} WHERE module_instance_id = %s", first) == second.id


def test_only_an_administrator_marks_a_succeeded_run(flow: Flow) -> None:
    flow.module()
    good, bad, marked = flow.run_module(), flow.run_module("m", "F"), 0
    flow.write(good)
    begun = flow.begin_module()
    assert begun.array == [bad]
    flow.write(begun.id)
    marked = flow.end_module(begun.id, "S")
    flow.set_next("R", module=marked)
    last = flow.begin_module()
    assert (last.pi, last.array) == ("P", [marked])
    assert flow.stamps() == {good: 2}
    flow.end_module(last.id, "S")
    assert flow.begin_module().array == []


@pytest.mark.parametrize("status", ["A", "C"])
def test_an_administrator_may_mark_any_ended_run(flow: Flow, status: str) -> None:
    flow.module()
    id = flow.end_module(flow.begin_module().id, status)
    flow.set_next("R", module=id)
    assert flow.begin_module().array == [id]


@pytest.mark.parametrize("indicator", ["P", "C"])
def test_the_flag_of_a_failed_run_does_not_decide_about_its_rollback(
    flow: Flow, indicator: str
) -> None:
    flow.module()
    id = flow.run_module("m", "F")
    if indicator == "P":
        with pytest.raises(psycopg.Error) as caught:
            flow.set_next("P", module=id)
        assert caught.value.sqlstate == "OM106"
        assert flow.codes(module=id) == "F P R"
    else:
        flow.set_next(indicator, module=id)
    if indicator == "C":
        assert flow.begin_module().answer == ("C", "DIRECTIVE")
    assert flow.begin_module().array == [id]


def test_what_happens_in_between_hides_no_failure(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("stranger")
    failed = flow.run_module("m", "F")
    flow.end_module(flow.create_module(), "A")
    flow.end_module(flow.create_module(), "C")
    flow.deactivate("module", "true")
    assert flow.begin_module().answer == ("C", "INACTIVE")
    flow.deactivate("module", "true", "N")
    batch = flow.begin_batch().id
    flow.deactivate("batch_module", "true")
    assert flow.begin_module("m", batch).answer == ("C", "INACTIVE_IN_BATCH")
    flow.deactivate("batch_module", "true", "N")
    stranger = flow.begin_batch("stranger").id
    assert flow.begin_module("m", stranger).answer == ("A", "NOT_REGISTERED")
    flow.set_next("C", module=flow.end_module(flow.create_module(), "C"))
    assert flow.begin_module("m").answer == ("C", "DIRECTIVE")
    assert flow.begin_module("m", batch).array == [failed]


def test_the_array_is_as_long_as_it_must_be(flow: Flow) -> None:
    flow.module()
    flow.owner(
        """INSERT INTO omd.module_instance
               (module_id, start_datetime, end_datetime,
                execution_status_code, processing_indicator, next_run_indicator)
           SELECT module_id, now(), now(), 'F', 'P', 'R'
           FROM omd.module, generate_series(1, 10000)"""
    )
    flow.conn.execute(
        "INSERT INTO dwh.m SELECT 'x', module_instance_id"
        " FROM omd.module_instance WHERE module_id > 0"
    )
    begun = flow.begin_module()
    assert begun.array == list(range(1, 10_001))
    assert flow.stamps() == {}
    flow.end_module(begun.id, "S")
    assert flow.begin_module().array == []


def test_an_empty_array_is_not_null(flow: Flow) -> None:
    flow.module()
    assert flow.begin_module().array == []
    assert flow.begin_module().array == []  # aborted


# Order


def test_running_comes_before_everything_else(flow: Flow) -> None:
    flow.batch("b")
    flow.module()
    flow.begin_module()
    flow.deactivate("module", "true")
    assert flow.begin_module("m", flow.create_batch()).answer == ("A", "RUNNING")


def test_a_batch_that_does_not_proceed_comes_before_not_registered(flow: Flow) -> None:
    flow.batch("b")
    flow.module()
    assert flow.begin_module("m", flow.create_batch()).answer == ("A", "BATCH_NOT_PROCEEDING")


def test_not_registered_comes_before_inactive(flow: Flow) -> None:
    flow.batch("b")
    flow.module("m", inactive_indicator="Y")
    assert flow.begin_module("m", flow.begin_batch().id).answer == ("A", "NOT_REGISTERED")


def test_inactive_in_the_batch_comes_before_inactive(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.deactivate("batch_module", "true")
    flow.deactivate("module", "true")
    assert flow.begin_module("m", flow.begin_batch().id).answer == ("C", "INACTIVE_IN_BATCH")


@pytest.mark.parametrize(
    ("table", "reason"), [("module", "INACTIVE"), ("batch_module", "INACTIVE_IN_BATCH")]
)
def test_inactive_comes_before_a_directive_and_leaves_it(
    flow: Flow, table: str, reason: str
) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id
    flow.set_next("C", module=flow.run_module("m", batch=batch))
    flow.deactivate(table, "true")
    assert flow.begin_module("m", batch).answer == ("C", reason)
    flow.deactivate(table, "true", "N")
    assert flow.begin_module("m", batch).answer == ("C", "DIRECTIVE")


def test_a_skip_comes_before_a_rollback_and_leaves_it(flow: Flow) -> None:
    flow.module()
    marked, skipping = flow.run_module(), flow.run_module()
    flow.set_next("R", module=marked)
    flow.set_next("C", module=skipping)
    assert flow.begin_module().answer == ("C", "DIRECTIVE")
    assert flow.begin_module().array == [marked]


def test_an_aborted_start_consumes_no_directive(flow: Flow) -> None:
    flow.module()
    first = flow.run_module()
    running = flow.begin_module().id
    flow.set_next("C", module=first)
    assert flow.begin_module().answer == ("A", "RUNNING")
    flow.end_module(running, "S")
    assert flow.begin_module().answer == ("C", "DIRECTIVE")


# The examples of rule P7


def test_example_of_a_batch_with_two_modules(flow: Flow) -> None:
    flow.batch("x", "m1", "m2")
    one = flow.run_batch("x", m1="S", m2="F")
    two = flow.begin_batch("x").id
    assert flow.begin_module("m1", two).answer == ("C", "ALREADY_SUCCEEDED")
    retry = flow.begin_module("m2", two)
    assert (retry.pi, retry.array) == ("P", [one["m2"].id])
    flow.end_module(retry.id, "S")
    flow.end_batch(two, "S")
    three = flow.run_batch("x", m1="F")
    four = flow.begin_batch("x").id
    assert flow.begin_module("m1", four).array == [three["m1"].id]


def test_example_of_a_start_that_aborts_while_the_first_fails(flow: Flow) -> None:
    flow.module()
    first = flow.begin_module()
    assert flow.begin_module().answer == ("A", "RUNNING")
    flow.end_module(first.id, "F")
    third = flow.begin_module()
    assert (third.pi, third.array) == ("P", [first.id])


def test_the_previous_instance_comes_with_the_array_of_the_next_begin(flow: Flow) -> None:
    flow.module()
    query = "SELECT * FROM omd.previous_module_instance('m')"
    assert flow.rows(query) == []
    marked = flow.run_module()
    failed = flow.run_module("m", "F")
    flow.set_next("R", module=marked)
    flow.end_module(flow.create_module(), "A")
    (row,) = flow.rows(query)
    assert row["module_instance_id"] == failed
    assert row["execution_status_code"] == "F"
    assert row["instance_array"] == [marked, failed]
    assert flow.begin_module().array == [marked, failed]
