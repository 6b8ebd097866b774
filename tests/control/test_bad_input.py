"""Bad input leads to a clear error or a defined no-op, never to a silent success (rule P18)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.errors import OmdError

if TYPE_CHECKING:
    from support.flow import Flow

MODULE_CALLS: dict[str, dict[str, Any]] = {
    "evaluate_module": {},
    "module_success": {},
    "module_failure": {},
    "module_skip": {},
    "module_abort": {},
    "rollback_module": {},
    "confirm_rollback": {},
    "heartbeat": {"lease": timedelta(minutes=1)},
    "create_load_window": {"end_id": 1},
    "set_next_run_indicator": {"next_run_indicator": "R"},
    "log_event": {"event_detail": "x"},
}
BATCH_CALLS: dict[str, dict[str, Any]] = {
    "evaluate_batch": {},
    "batch_success": {},
    "batch_failure": {},
    "batch_skip": {},
    "batch_abort": {},
    "heartbeat_batch": {"lease": timedelta(minutes=1)},
    "set_next_run_indicator": {"next_run_indicator": "R"},
    "log_event": {"event_detail": "x"},
    "begin_module": {"module_code": "m"},
    "create_module_instance": {"module_code": "m"},
    "run_module": {"module_code": "m", "executable": "SELECT 1"},
}
PARENT_CALLS: dict[str, dict[str, Any]] = {
    "begin_batch": {"batch_code": "b"},
    "create_batch_instance": {"batch_code": "b"},
    "run_batch": {"batch_code": "b"},
}
MEANS_NONE = (
    "log_event",
    "begin_module",
    "create_module_instance",
    "run_module",
)  # given a Batch 0


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m")


def everything(flow: Flow) -> list[Any]:
    tables = ["batch", "module", "batch_instance", "module_instance", "event_log", "source_control"]
    return [flow.one(f"SELECT count(*) FROM omd.{table}") for table in tables]


@pytest.mark.parametrize("id", [999, 0, -1, 2**62])
@pytest.mark.parametrize("call", MODULE_CALLS)
def test_an_unknown_module_instance_is_refused(flow: Flow, call: str, id: int) -> None:
    before = everything(flow)
    if id == 0 and call == "log_event":
        flow.call(call, module_instance_id=0, event_detail="about no Module")
        return
    detail = flow.refused("OM004", call, module_instance_id=id, **MODULE_CALLS[call])
    assert detail["module_instance_id"] == id
    assert everything(flow) == before


@pytest.mark.parametrize("id", [999, 0, -1, 2**62])
@pytest.mark.parametrize("call", BATCH_CALLS)
def test_an_unknown_batch_instance_is_refused(flow: Flow, call: str, id: int) -> None:
    if id == 0 and call in MEANS_NONE:
        flow.call(call, batch_instance_id=0, **BATCH_CALLS[call])
        return
    before = everything(flow)
    detail = flow.refused("OM003", call, batch_instance_id=id, **BATCH_CALLS[call])
    assert detail["batch_instance_id"] == id
    assert everything(flow) == before


@pytest.mark.parametrize("call", PARENT_CALLS)
def test_an_unknown_parent_is_refused(flow: Flow, call: str) -> None:
    flow.call("register_module", module_code="m", executable="SELECT 1")
    before = everything(flow)
    flow.refused("OM003", call, parent_batch_instance_id=999, **PARENT_CALLS[call])
    assert everything(flow) == before
    flow.call(call, parent_batch_instance_id=0, **PARENT_CALLS[call])


@pytest.mark.parametrize("status", ["S", "F", "A", "C"])
def test_a_parent_that_has_ended_lets_no_child_in(flow: Flow, status: str) -> None:
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    parent = flow.end_batch(flow.begin_batch().id, status)
    assert flow.begin_batch("child", parent_batch_instance_id=parent).pi == "A"


@pytest.mark.parametrize(
    "routine",
    [
        "previous_batch_instance('nope')",
        "previous_module_instance('nope')",
        "build_rollback_sql(999)",
        "parameter_value('nope')",
    ],
)
def test_functions_refuse_what_does_not_exist(flow: Flow, routine: str) -> None:
    with pytest.raises(OmdError):
        flow.rows(f"SELECT * FROM omd.{routine}")


@pytest.mark.parametrize(
    "count", ["input", "inserted", "updated", "deleted", "discarded", "rejected"]
)
@pytest.mark.parametrize("value", [-1, -(2**62)])
def test_a_negative_count_is_refused_and_the_run_goes_on(
    flow: Flow, count: str, value: int
) -> None:
    id = flow.begin_module().id
    detail = flow.refused(
        "OM007", "module_success", module_instance_id=id, **{f"rows_{count}": value}
    )
    assert detail["module_instance_id"] == id
    assert flow.codes(module=id) == "E P P"
    flow.call("module_success", module_instance_id=id, **{f"rows_{count}": 2**63 - 1})


@pytest.mark.parametrize("indicator", ["E", "A", "S", "X", "", "PP"])
def test_a_next_run_indicator_is_p_r_or_c(flow: Flow, indicator: str) -> None:
    id = flow.run_module()
    with pytest.raises(psycopg.Error) as caught:
        flow.call("set_next_run_indicator", next_run_indicator=indicator, module_instance_id=id)
    assert caught.value.sqlstate in ("OM005", "OM006")
    with pytest.raises(psycopg.Error):
        flow.set_next(indicator, module=id)
    assert flow.codes(module=id) == "S P P"


def test_a_directive_names_one_instance(flow: Flow) -> None:
    module, batch = flow.run_module(), flow.run_batch().id
    flow.refused("OM013", "set_next_run_indicator", next_run_indicator="R")
    flow.refused(
        "OM013",
        "set_next_run_indicator",
        next_run_indicator="R",
        module_instance_id=module,
        batch_instance_id=batch,
    )
    assert flow.codes(module=module) == flow.codes(batch=batch) == "S P P"


def test_a_success_that_was_rolled_back_can_not_be_marked_again(flow: Flow) -> None:
    """A failure can: rows of its run may have come after its rollback."""
    undone = flow.run_module("m", "S")
    flow.set_next("R", module=undone)
    flow.run_module()
    flow.set_next("P", module=undone)
    with pytest.raises(psycopg.Error) as caught:
        flow.set_next("R", module=undone)
    assert caught.value.sqlstate == "OM106"


@pytest.mark.parametrize("target", [{}, {"batch_code": "b", "module_code": "m"}])
def test_a_parameter_belongs_to_a_batch_or_a_module(flow: Flow, target: dict[str, str]) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.call("set_parameter", parameter_code="p", parameter_value="v", **target)
    assert caught.value.sqlstate in ("OM005", "OM013")


@pytest.mark.parametrize("event_type", [0, 99, -1])
def test_an_unknown_event_type_is_refused(flow: Flow, event_type: int) -> None:
    flow.refused("OM006", "log_event", event_detail="x", event_type_code=event_type)


@pytest.mark.parametrize("platform", ["POSTGRES", "SPARK"])
def test_evaluating_again_answers_the_same(flow: Flow, platform: str) -> None:
    flow.module(platform_code=platform)
    failed = flow.run_module("m", "F")
    begun = flow.begin_module()
    assert begun.array == [failed]
    assert flow.evaluate_module(begun.id) == begun
    batch = flow.begin_batch()
    assert flow.evaluate_batch(batch.id) == batch


def test_a_failure_needs_no_words(flow: Flow) -> None:
    module, batch = flow.begin_module().id, flow.begin_batch().id
    flow.end_module(module, "F")
    flow.end_batch(batch, "F")
    assert flow.failures(module=module) == flow.failures(batch=batch) == 1


@pytest.mark.parametrize("text", ["", "x" * 1_000_000, "'; DROP TABLE omd.module; --", "ünï\n\t🚕"])
def test_a_failure_keeps_its_words(flow: Flow, text: str) -> None:
    id = flow.begin_module().id
    flow.call(
        "module_failure", module_instance_id=id, event_detail=text, event_return_code_details=text
    )
    (event,) = flow.rows("SELECT * FROM omd.event_log WHERE module_instance_id = %s", id)
    assert event["event_return_code_details"] == text
    assert event["event_detail"] in (text, text or None)


def test_events_of_a_run_are_kept_as_given(flow: Flow) -> None:
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    flow.call(
        "log_event",
        event_detail="42 rows without a name",
        module_instance_id=module,
        event_return_code_details="DQ-7",
        error_bitmap=2**40 + 1,
    )
    (event,) = flow.rows("SELECT * FROM omd.event_log")
    assert (event["module_instance_id"], event["batch_instance_id"]) == (module, batch)
    assert event["error_bitmap"] == 2**40 + 1
    assert event["event_return_code_details"] == "DQ-7"
    assert event["event_type_code"] == 3
