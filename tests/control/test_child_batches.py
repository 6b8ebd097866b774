"""Child Batches: their place under a parent, their partial restart, the success of a parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.flow import Begun, Flow


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    """p contains c with m, and d with n."""
    flow.batch("p")
    for child, module in (("c", "m"), ("d", "n")):
        flow.batch(child, module)
        flow.call("add_batch_to_parent_batch", batch_code=child, parent_batch_code="p")


def child(flow: Flow, code: str, parent: int, status: str = "S") -> Begun:
    """Run a child Batch with its Module as a whole, if it may run."""
    begun = flow.begin_batch(code, parent_batch_instance_id=parent)
    if begun.pi == "P":
        module = flow.begin_module({"c": "m", "d": "n"}[code], begun.id)
        if module.pi == "P":
            flow.end_module(module.id, status)
        flow.end_batch(begun.id, status)
    return begun


def failed_parent(flow: Flow, c: str = "S", d: str = "F") -> tuple[int, int]:
    """Let a run of p fail; returns it and the run of c in it."""
    parent = flow.begin_batch("p").id
    ran = child(flow, "c", parent, c).id
    child(flow, "d", parent, d)
    flow.end_batch(parent, "F")
    return parent, ran


def test_a_batch_without_a_place_under_the_caller_is_not_let_in(flow: Flow) -> None:
    flow.batch("stranger")
    flow.deactivate("batch", "batch_code = 'stranger'")
    parent = flow.begin_batch("p").id
    begun = flow.begin_batch("stranger", parent_batch_instance_id=parent)
    assert begun.answer == ("A", "NOT_REGISTERED")
    flow.end_batch(parent, "S")
    begun = flow.begin_batch("stranger", parent_batch_instance_id=parent)
    assert begun.answer == ("A", "BATCH_NOT_PROCEEDING")


def test_a_child_that_has_succeeded_is_skipped_by_the_restart_of_its_parent(flow: Flow) -> None:
    failed_parent(flow)
    parent = flow.begin_batch("p").id
    assert child(flow, "c", parent).answer == ("C", "ALREADY_SUCCEEDED")
    assert child(flow, "d", parent).answer == ("P", None)
    flow.end_batch(parent, "S")
    again = flow.begin_batch("p").id
    assert child(flow, "c", again).answer == ("P", None)


def test_it_is_skipped_through_the_whole_chain_of_failures(flow: Flow) -> None:
    failed_parent(flow)
    for _ in range(2):
        parent = flow.begin_batch("p").id
        assert child(flow, "c", parent).answer == ("C", "ALREADY_SUCCEEDED")
        child(flow, "d", parent, "F")
        flow.end_batch(parent, "F")


def test_only_reruns_of_that_parent_skip_it(flow: Flow) -> None:
    flow.batch("q")
    flow.call("add_batch_to_parent_batch", batch_code="c", parent_batch_code="q")
    failed_parent(flow)
    assert child(flow, "c", 0).answer == ("P", None)
    assert child(flow, "c", flow.begin_batch("q").id).answer == ("P", None)
    assert child(flow, "c", flow.begin_batch("p").id).answer == ("C", "ALREADY_SUCCEEDED")


def test_a_newer_failure_of_its_own_runs_it_again(flow: Flow) -> None:
    failed_parent(flow)
    child(flow, "c", 0, "F")
    parent = flow.begin_batch("p").id
    assert child(flow, "c", parent).answer == ("P", None)


@pytest.mark.parametrize("what", ["parent", "child", "module"])
def test_what_is_to_be_rolled_back_runs_again(flow: Flow, what: str) -> None:
    failed, ran = failed_parent(flow)
    module = flow.one(
        "SELECT module_instance_id FROM omd.module_instance WHERE batch_instance_id = %s", ran
    )
    if what == "module":
        flow.set_next("R", module=module)
    else:
        flow.set_next("R", batch=failed if what == "parent" else ran)
    parent = flow.begin_batch("p").id
    begun = flow.begin_batch("c", parent_batch_instance_id=parent)
    assert begun.answer == ("P", None)
    assert flow.begin_module("m", begun.id).array == [module]


def test_what_was_rolled_back_on_its_own_runs_again(flow: Flow) -> None:
    _, ran = failed_parent(flow)
    module = flow.one(
        "SELECT module_instance_id FROM omd.module_instance WHERE batch_instance_id = %s", ran
    )
    flow.set_next("R", module=module)
    flow.run_module("m")
    assert child(flow, "c", flow.begin_batch("p").id).answer == ("P", None)


def test_the_restart_comes_before_a_directive_and_leaves_it(flow: Flow) -> None:
    _, ran = failed_parent(flow)
    flow.set_next("C", batch=ran)
    assert child(flow, "c", flow.begin_batch("p").id).answer == ("C", "ALREADY_SUCCEEDED")
    assert flow.codes(batch=ran) == "S P C"


def test_a_failure_that_was_retried_with_success_bars_no_success(flow: Flow) -> None:
    flow.batch("p", "o")
    parent = flow.begin_batch("p").id
    flow.run_module("o", "F", parent)
    child(flow, "c", parent, "F")
    detail = flow.refused("OM104", "batch_success", batch_instance_id=parent)
    assert detail["members"] == "Module Instance 1 and Batch Instance 2"
    flow.run_module("o", "S", parent)
    detail = flow.refused("OM104", "batch_success", batch_instance_id=parent)
    assert (detail["module_instance_ids"], detail["members"]) == ([], "Batch Instance 2")
    child(flow, "c", parent, "S")
    flow.end_batch(parent, "S")


def test_a_success_that_failed_again_in_the_same_batch_bars_it(flow: Flow) -> None:
    flow.batch("p", "o")
    parent = flow.begin_batch("p").id
    flow.run_module("o", "S", parent)
    failed = flow.run_module("o", "F", parent)
    skipped = flow.create_module("o", parent)
    flow.end_module(skipped, "C")
    detail = flow.refused("OM104", "batch_success", batch_instance_id=parent)
    assert detail["module_instance_ids"] == [failed]
