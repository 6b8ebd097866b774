"""Leases: a run whose driver has died is declared dead and can't return (rules P11 and P12)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

LONG = timedelta(hours=1)


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m")


def test_a_run_whose_lease_has_passed_is_given_up_by_the_next_begin(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    flow.write(dead)
    begun = flow.begin_module()
    assert (begun.pi, begun.array) == ("P", [dead])
    assert flow.codes(module=dead) == "F P R"
    assert flow.failures(module=dead) == 1
    assert flow.stamps() == {}


def test_creating_and_evaluating_gives_up_too(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    answer = flow.evaluate_module(flow.create_module())
    assert (answer.pi, answer.array) == ("P", [dead])
    dead = flow.begin_batch(lease=PASSED).id
    assert flow.evaluate_batch(flow.create_batch()).answer == ("P", None)
    assert flow.codes(batch=dead) == "F P P"


def test_a_batch_whose_lease_has_passed_is_given_up_by_the_next_begin(flow: Flow) -> None:
    dead = flow.begin_batch(lease=PASSED).id
    assert flow.begin_batch().answer == ("P", None)
    assert flow.codes(batch=dead) == "F P P"
    assert flow.failures(batch=dead) == 1


def test_the_modules_of_a_dead_batch_restart_in_part(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    dead = flow.begin_batch(lease=PASSED).id
    flow.run_module("m", batch=dead)
    lost = flow.begin_module("n", dead, lease=PASSED).id
    again = flow.begin_batch().id
    assert flow.begin_module("m", again).answer == ("C", "ALREADY_SUCCEEDED")
    retry = flow.begin_module("n", again)
    assert (retry.pi, retry.array) == ("P", [lost])


@pytest.mark.parametrize("lease", [None, LONG])
def test_a_run_that_may_live_is_left_alone(flow: Flow, lease: timedelta | None) -> None:
    module, batch = flow.begin_module("m", lease=lease).id, flow.begin_batch(lease=lease).id
    assert flow.begin_module().answer == flow.begin_batch().answer == ("A", "RUNNING")
    assert flow.call("reap_expired_instances")["reaped"] == []
    flow.end_module(module, "S")
    flow.end_batch(batch, "S")


def test_a_run_that_was_given_up_can_not_come_back(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    flow.end_module(flow.begin_module().id, "S")
    for call, more in {
        "module_success": {},
        "module_failure": {"event_detail": "late"},
        "heartbeat": {"lease": LONG},
        "create_load_window": {"end_id": 1},
    }.items():
        detail = flow.refused("OM101", call, module_instance_id=dead, **more)
        assert detail["execution_status_code"] == "F"
    assert flow.failures(module=dead) == 1
    dead = flow.begin_batch(lease=PASSED).id
    flow.end_batch(flow.begin_batch().id, "S")
    for call, more in {
        "batch_success": {},
        "batch_failure": {"event_detail": "late"},
        "heartbeat_batch": {"lease": LONG},
    }.items():
        flow.refused("OM101", call, batch_instance_id=dead, **more)
    assert flow.failures(batch=dead) == 1


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_a_heartbeat_prolongs_the_lease_from_now(flow: Flow, kind: str) -> None:
    begin = flow.begin_batch if kind == "batch" else flow.begin_module
    heartbeat = "heartbeat_batch" if kind == "batch" else "heartbeat"
    id = begin(lease=timedelta(minutes=1)).id
    before = flow.one("SELECT clock_timestamp()")
    flow.call(heartbeat, **{f"{kind}_instance_id": id}, lease=LONG)
    after = flow.one("SELECT clock_timestamp()")
    lease = flow.one(
        f"SELECT lease_expires_at FROM omd.{kind}_instance WHERE {kind}_instance_id = 1"
    )
    assert before + LONG <= lease <= after + LONG
    # a shorter one counts as well
    flow.call(heartbeat, **{f"{kind}_instance_id": id}, lease=PASSED)
    assert begin().answer == ("P", None)


@pytest.mark.parametrize(
    ("kind", "routine"), [("batch", "heartbeat_batch"), ("module", "heartbeat")]
)
def test_a_heartbeat_after_the_lease_is_too_late(flow: Flow, kind: str, routine: str) -> None:
    id = (flow.begin_batch if kind == "batch" else flow.begin_module)(lease=PASSED).id
    flow.refused("OM107", routine, **{f"{kind}_instance_id": id}, lease=LONG)
    assert flow.codes(**{kind: id}) == "E P P"


@pytest.mark.parametrize("lease", ["0", "-1 minute", "1 month -40 days"])
@pytest.mark.parametrize("routine", ["begin_module", "begin_batch", "heartbeat", "heartbeat_batch"])
def test_a_lease_is_longer_than_nothing(flow: Flow, routine: str, lease: str) -> None:
    module, batch = flow.begin_module(lease=LONG).id, flow.begin_batch(lease=LONG).id
    arguments: dict[str, dict[str, Any]] = {
        "begin_module": {"module_code": "m"},
        "begin_batch": {"batch_code": "b"},
        "heartbeat": {"module_instance_id": module},
        "heartbeat_batch": {"batch_instance_id": batch},
    }
    flow.refused("OM011", routine, **arguments[routine], lease=lease)


def test_reaping_gives_up_everything_that_is_dead(flow: Flow) -> None:
    for code in ("n", "o"):
        flow.module(code)
    dead = [flow.begin_module(code, lease=PASSED).id for code in ("n", "o")]
    alive = flow.begin_module("m", lease=LONG).id
    batch = flow.begin_batch(lease=PASSED).id
    reaped = flow.call("reap_expired_instances")["reaped"]
    assert set(dead) <= set(reaped)
    assert alive not in reaped
    assert [flow.codes(module=id) for id in (*dead, alive)] == ["F P R", "F P R", "E P P"]
    assert flow.codes(batch=batch) == "F P P"
    assert [flow.failures(module=id) for id in dead] == [1, 1]
    assert flow.failures(batch=batch) == 1
    assert flow.call("reap_expired_instances")["reaped"] == []
    assert flow.one("SELECT count(*) FROM omd.event_log") == 3


def test_one_dead_run_is_given_up_once_by_two_begins(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    flow.begin_module()
    flow.begin_module()
    assert flow.failures(module=dead) == 1


def test_a_begin_that_fails_afterwards_gives_nothing_up(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    with flow.conn.transaction(force_rollback=True):
        flow.begin_module()
    assert flow.codes(module=dead) == "E P P"
    assert flow.failures(module=dead) == 0
    with pytest.raises(psycopg.Error):
        flow.call("heartbeat", module_instance_id=dead, lease=LONG)


def test_the_event_says_why_a_run_was_given_up(flow: Flow) -> None:
    dead = flow.begin_module("m", lease=PASSED).id
    flow.begin_module()
    detail = flow.one("SELECT event_detail FROM omd.event_log WHERE module_instance_id = %s", dead)
    assert "lease" in detail


def test_what_runs_in_a_dead_batch_ends_with_it(flow: Flow) -> None:
    """Otherwise it could succeed after the next run of the Batch has decided to repeat it."""
    flow.batch("child", "n")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    dead = flow.begin_batch(lease=PASSED).id
    child = flow.begin_batch("child", parent_batch_instance_id=dead, lease=LONG).id
    modules = [
        flow.begin_module("m", dead, lease=LONG).id,
        flow.begin_module("n", child, lease=LONG).id,
    ]
    again = flow.begin_batch().id
    assert flow.codes(batch=child) == "F P P"
    for module in modules:
        assert flow.codes(module=module) == "F P R"
        flow.refused("OM101", "fence", module_instance_id=module)
        flow.refused("OM101", "module_success", module_instance_id=module)
    assert [flow.failures(batch=child), *(flow.failures(module=id) for id in modules)] == [1, 1, 1]
    assert flow.begin_module("m", again).array == modules[:1]


@pytest.mark.parametrize("end", ["batch_failure", "batch_abort", "batch_skip"])
def test_what_runs_in_a_batch_that_is_ended_ends_with_it(flow: Flow, end: str) -> None:
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    flow.module("n")
    alone = flow.begin_module("n").id
    flow.call(end, batch_instance_id=batch)
    assert flow.codes(module=module) == "F P R"
    assert flow.codes(module=alone) == "E P P"
    assert flow.failures(module=module) == 1


def test_reaping_tells_what_ended_with_its_batch(flow: Flow) -> None:
    flow.batch("child", "n")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    batch = flow.begin_batch(lease=PASSED).id
    child = flow.begin_batch("child", parent_batch_instance_id=batch, lease=LONG).id
    flow.end_module(flow.begin_module("m", batch).id, "F")  # before: it is not reaped
    modules = [flow.begin_module("m", batch).id, flow.begin_module("n", child, lease=LONG).id]
    reaped = flow.call("reap_expired_instances")
    assert (reaped["reaped"], reaped["reaped_batches"]) == (modules, [batch, child])
    assert flow.call("reap_expired_instances") == {"reaped": [], "reaped_batches": []}


def test_a_heartbeat_and_the_end_of_its_batch_wait_for_each_other(
    flow: Flow, another: Callable[..., Flow], background: Callable[..., Any], until_settled: Any
) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch(lease="1 hour").id
    module = flow.begin_module("m", batch, lease="1 hour").id
    beating, ending = another(), another()
    with flow.conn.transaction():
        flow.rows(
            "SELECT FROM omd.module_instance WHERE module_instance_id = %s FOR UPDATE", module
        )
        # Both need the two rows, and the row of the Module is locked.
        beat = background(beating.call, "heartbeat", module_instance_id=module, lease="1 hour")
        until_settled(beating, beat)
        end = background(ending.end_batch, batch, "F")
        until_settled(ending, end)
    beat.result()
    assert end.result() == batch
    assert flow.codes(module=module) == "F P R"


@pytest.mark.parametrize("routine", ["begin_module", "begin_batch"])
def test_a_lease_that_no_run_could_keep_is_refused(flow: Flow, routine: str) -> None:
    flow.batch("b", "m")
    code = {"module_code": "m"} if routine == "begin_module" else {"batch_code": "b"}
    for lease in ("1 microsecond", "9999 microseconds"):
        detail = flow.refused("OM013", routine, lease=lease, **code)
        assert detail["argument"] == "p_lease"
    flow.refused("OM011", routine, lease="0", **code)
