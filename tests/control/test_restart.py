"""A Batch after a failure: what it skips and rolls back, and what administrators request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

SKIPPED = ("C", "ALREADY_SUCCEEDED")


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("x", "m1", "m2")
    flow.batch("y", "m1")


# Partial restart


def test_what_succeeded_in_the_failed_batch_is_skipped(flow: Flow) -> None:
    first = flow.run_batch("x", m1="S", m2="F")
    second = flow.run_batch("x", m1="S", m2="S")
    assert second["m1"].answer == SKIPPED
    assert (second["m2"].pi, second["m2"].array) == ("P", [first["m2"].id])
    third = flow.run_batch("x", m1="S", m2="S")
    assert third["m1"].answer == third["m2"].answer == ("P", None)


def test_what_succeeded_stays_skipped_through_a_chain_of_failures(flow: Flow) -> None:
    flow.run_batch("x", m1="S", m2="F")
    for _ in range(3):
        assert flow.run_batch("x", m1="S", m2="F")["m1"].answer == SKIPPED
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == ("P", None)


def test_the_chain_ends_at_the_last_success_of_the_batch(flow: Flow) -> None:
    flow.run_batch("x", m1="S", m2="S")
    flow.run_batch("x", m1="F", m2="F")
    third = flow.run_batch("x", m1="S", m2="S")
    assert third["m1"].answer == third["m2"].answer == ("P", None)


def test_a_module_may_succeed_late_in_the_chain(flow: Flow) -> None:
    flow.run_batch("x", m1="F")
    flow.run_batch("x", m1="S", m2="F")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED


def test_a_batch_that_failed_on_its_own_restarts_where_it_was(flow: Flow) -> None:
    batch = flow.begin_batch("x").id
    flow.run_module("m1", batch=batch)
    flow.end_batch(batch, "F")
    again = flow.run_batch("x", m1="S", m2="S")
    assert again["m1"].answer == SKIPPED
    assert again["m2"].answer == ("P", None)


@pytest.mark.parametrize("elsewhere", ["y", None], ids=["in another Batch", "on its own"])
def test_a_partial_restart_skips_in_this_batch_only(flow: Flow, elsewhere: str | None) -> None:
    flow.run_batch("x", m1="S", m2="F")
    restart = flow.begin_batch("x").id
    other = flow.begin_batch(elsewhere).id if elsewhere else 0
    flow.run_module("m1", batch=other)
    assert flow.begin_module("m1", restart).answer == SKIPPED


def test_a_failed_batch_that_shares_the_module_does_not_skip_it_elsewhere(flow: Flow) -> None:
    flow.run_batch("x", m1="S", m2="F")
    assert flow.run_batch("y", m1="S")["m1"].answer == ("P", None)
    flow.run_module("m1")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED


def test_two_batches_restart_side_by_side(flow: Flow) -> None:
    flow.batch("y", "m1", "m3")
    flow.run_batch("x", m1="S", m2="F")
    flow.run_batch("y", m1="S", m3="F")
    x, y = flow.begin_batch("x").id, flow.begin_batch("y").id
    assert flow.begin_module("m1", x).answer == SKIPPED
    assert flow.begin_module("m1", y).answer == SKIPPED


@pytest.mark.parametrize("elsewhere", ["y", None], ids=["in another Batch", "on its own"])
def test_a_newer_failure_of_its_own_is_not_skipped(flow: Flow, elsewhere: str | None) -> None:
    flow.run_batch("x", m1="S", m2="F")
    failed = (flow.run_batch("y", m1="F")["m1"].id) if elsewhere else flow.run_module("m1", "F")
    again = flow.run_batch("x", m1="S", m2="S")
    assert (again["m1"].pi, again["m1"].array) == ("P", [failed])


def test_a_success_after_its_own_failure_in_the_same_chain_is_skipped(flow: Flow) -> None:
    batch = flow.begin_batch("x").id
    flow.run_module("m1", "F", batch)
    flow.run_module("m1", "S", batch)
    flow.end_batch(batch, "F")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED


@pytest.mark.parametrize("status", ["A", "C"])
def test_a_start_that_did_not_run_hides_no_restart(flow: Flow, status: str) -> None:
    flow.run_batch("x", m1="S", m2="F")
    flow.end_batch(flow.create_batch("x"), status)
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED


def test_a_deactivation_in_between_hides_no_restart(flow: Flow) -> None:
    flow.run_batch("x", m1="S", m2="F")
    flow.deactivate("batch", "batch_code = 'x'")
    assert flow.begin_batch("x").answer == ("C", "INACTIVE")
    flow.deactivate("batch", "batch_code = 'x'", "N")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == SKIPPED


def test_an_unused_skip_of_a_restart_does_not_outlive_it(flow: Flow) -> None:
    flow.run_batch("x", m1="S", m2="F")
    flow.run_batch("x", m2="S")  # the restart succeeds without asking for m1
    following = flow.run_batch("x", m1="S", m2="S")
    assert following["m1"].answer == ("P", None)


def test_a_module_that_aborted_in_the_failed_batch_is_not_skipped(flow: Flow) -> None:
    running = flow.begin_module("m1").id
    batch = flow.begin_batch("x").id
    assert flow.begin_module("m1", batch).answer == ("A", "RUNNING")
    flow.end_batch(batch, "F")
    flow.end_module(running, "S")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == ("P", None)


def test_rows_of_a_skipped_module_stay(flow: Flow) -> None:
    batch = flow.begin_batch("x").id
    good = flow.begin_module("m1", batch).id
    flow.write(good, "dwh.m1")
    flow.end_module(good, "S")
    flow.end_batch(batch, "F")
    flow.run_batch("x", m1="S", m2="S")
    assert flow.stamps("dwh.m1") == {good: 2}


# R: an administrator's full rollback


def test_r_on_a_failed_batch_rolls_the_whole_failed_chain_back(flow: Flow) -> None:
    before = flow.run_batch("x", m1="S", m2="S")
    one = flow.run_batch("x", m1="S", m2="F")
    two = flow.run_batch("x", m1="S", m2="F")
    assert two["m1"].answer == SKIPPED
    flow.set_next("R", batch=two.id)
    batch = flow.begin_batch("x").id
    assert flow.begin_module("m1", batch).array == [one["m1"].id]
    # m2 of the first run was rolled back by the second
    assert flow.begin_module("m2", batch).array == [two["m2"].id]
    assert flow.codes(module=before["m1"].id) == "S P P"
    assert flow.codes(batch=two.id) == "F P P"


def test_r_in_the_middle_of_the_chain_takes_the_whole_chain(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="F")
    two = flow.run_batch("x", m1="S", m2="F")
    flow.set_next("R", batch=one.id)
    batch = flow.begin_batch("x").id
    assert flow.begin_module("m1", batch).array == [one["m1"].id]
    assert flow.begin_module("m2", batch).array == [two["m2"].id]


def test_r_on_an_older_success_takes_the_failed_chain_with_it(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    two = flow.run_batch("x", m1="S", m2="F")
    flow.set_next("R", batch=one.id)
    batch = flow.begin_batch("x").id
    for module in ("m1", "m2"):
        assert flow.begin_module(module, batch).array == [one[module].id, two[module].id]


def test_r_on_a_succeeded_batch_rolls_its_modules_back(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    two = flow.run_batch("x", m1="S", m2="S")
    flow.set_next("R", batch=two.id)
    batch = flow.begin_batch("x").id
    for module in ("m1", "m2"):
        begun = flow.begin_module(module, batch)
        assert (begun.pi, begun.array) == ("P", [two[module].id])
        flow.end_module(begun.id, "S")
        assert flow.codes(module=one[module].id) == "S P P"
    flow.end_batch(batch, "S")
    assert flow.codes(batch=two.id) == "S P P"
    last = flow.begin_batch("x").id
    assert flow.begin_module("m1", last).array == []


def test_r_is_consumed_once_and_then_is_a_fact(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    flow.set_next("R", batch=one.id)
    flow.end_batch(flow.begin_batch("x").id, "S")  # no Module was asked for
    assert flow.codes(batch=one.id) == "S P P"
    assert flow.begin_module("m1").array == [one["m1"].id]


def test_r_on_a_batch_leaves_the_modules_of_other_batches(flow: Flow) -> None:
    mine = flow.run_batch("x", m1="S", m2="S")
    other = flow.run_batch("y", m1="S")
    alone = flow.run_module("m1")
    flow.set_next("R", batch=mine.id)
    batch = flow.begin_batch("x").id
    assert flow.begin_module("m1", batch).array == [mine["m1"].id]
    assert flow.codes(module=other["m1"].id) == flow.codes(module=alone) == "S P P"


def test_r_on_a_batch_comes_after_the_frequency_does_not_hold(flow: Flow) -> None:
    flow.call("register_batch", batch_code="x", frequency_code="Monthly")
    one = flow.run_batch("x", m1="S", m2="S")
    assert flow.begin_batch("x").answer == ("C", "FREQUENCY")
    flow.set_next("R", batch=one.id)
    assert flow.run_batch("x", m1="S", m2="S")["m1"].array == [one["m1"].id]


def test_r_on_a_module_wins_over_its_partial_restart(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="F")
    flow.set_next("R", module=one["m1"].id)
    again = flow.run_batch("x", m1="S", m2="S")
    assert (again["m1"].pi, again["m1"].array) == ("P", [one["m1"].id])


def test_a_success_that_was_rolled_back_is_not_skipped(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="F")
    flow.set_next("R", module=one["m1"].id)
    alone = flow.begin_module("m1")
    assert alone.array == [one["m1"].id]
    flow.end_module(alone.id, "S")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == ("P", None)


def test_p_takes_an_administrators_r_back(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    flow.set_next("R", batch=one.id)
    flow.set_next("P", batch=one.id)
    flow.set_next("R", module=one["m2"].id)
    flow.set_next("P", module=one["m2"].id)
    again = flow.run_batch("x", m1="S", m2="S")
    assert again["m1"].array == again["m2"].array == []


def test_p_takes_the_skip_of_a_partial_restart_back(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="F")
    batch = flow.begin_batch("x").id
    assert flow.codes(module=one["m1"].id) == "S P C"
    flow.set_next("P", module=one["m1"].id)
    assert flow.begin_module("m1", batch).answer == ("P", None)


# C: an administrator's skip


def test_c_on_a_batch_leaves_its_partial_restart(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="F")
    flow.set_next("C", batch=one.id)
    assert flow.begin_batch("x").answer == ("C", "DIRECTIVE")
    again = flow.run_batch("x", m1="S", m2="S")
    assert again["m1"].answer == SKIPPED
    assert again["m2"].array == [one["m2"].id]


def test_c_on_a_module_skips_it_in_the_next_batch_once(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    flow.set_next("C", module=one["m1"].id)
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == ("C", "DIRECTIVE")
    assert flow.run_batch("x", m1="S", m2="S")["m1"].answer == ("P", None)


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize("indicator", ["C", "R"])
def test_a_directive_on_an_executing_instance_is_refused_or_kept(
    flow: Flow, kind: str, indicator: str
) -> None:
    """Evaluation reads ended instances only, so the end must not drop the directive silently."""
    if kind == "batch":
        id = flow.begin_batch("x").id
        module = flow.run_module("m1", batch=id)
    else:
        id = module = flow.begin_module("m1").id
    try:
        flow.set_next(indicator, **{kind: id})
    except psycopg.Error as error:
        assert error.sqlstate == "OM106"  # noqa: PT017 - either is good
        return
    again = flow.begin_batch("x") if kind == "batch" else flow.begin_module("m1")
    assert again.answer == ("A", "RUNNING")
    if kind == "batch":
        flow.end_batch(id, "S")
        next_run = flow.begin_batch("x")
    else:
        flow.end_module(id, "S")
        next_run = flow.begin_module("m1")
    if indicator == "C":
        assert next_run.answer == ("C", "DIRECTIVE")
    elif kind == "batch":
        assert flow.begin_module("m1", next_run.id).array == [module]
    else:
        assert next_run.array == [id]


def test_set_next_run_indicator_is_the_same_as_the_update(flow: Flow) -> None:
    one = flow.run_batch("x", m1="S", m2="S")
    flow.call("set_next_run_indicator", next_run_indicator="R", batch_instance_id=one.id)
    flow.call("set_next_run_indicator", next_run_indicator="C", module_instance_id=one["m2"].id)
    assert flow.codes(batch=one.id) == "S P R"
    assert flow.codes(module=one["m2"].id) == "S P C"


# Batches in Batches


def test_a_child_restarts_by_its_own_history(flow: Flow) -> None:
    flow.batch("parent")
    flow.call("add_batch_to_parent_batch", batch_code="x", parent_batch_code="parent")
    parent = flow.begin_batch("parent").id
    child = flow.begin_batch("x", parent_batch_instance_id=parent).id
    flow.run_module("m1", batch=child)
    failed = flow.run_module("m2", "F", child)
    flow.end_batch(child, "F")
    flow.end_batch(parent, "F")
    # the child is rerun on its own: the same failed chain
    again = flow.run_batch("x", m1="S", m2="S")
    assert again["m1"].answer == SKIPPED
    assert again["m2"].array == [failed]
