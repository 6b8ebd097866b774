"""LISTEN omd_event: another session hears whose state has changed, and not to what."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest

from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Connection, Flow

    Heard = Callable[[], list[dict[str, Any]]]

KEYS = ["instance_type", "instance_id", "at"]  # no code, and no state


@pytest.fixture
def heard(flow: Flow, connect: Callable[..., Connection]) -> Heard:
    """A function that returns what another session has received since the last call, in order."""
    listener = connect()
    listener.execute("LISTEN omd_event")

    def heard() -> list[dict[str, Any]]:
        # The server sends earlier notifications before it answers this; the mark ends the wait.
        flow.conn.execute("NOTIFY omd_event, 'mark'")
        found = []
        for notify in listener.notifies(timeout=30):
            if notify.payload == "mark":
                return found
            assert len(notify.payload.encode()) < 8000
            event = json.loads(notify.payload)
            assert list(event) == KEYS
            assert dt.datetime.fromisoformat(event["at"]).tzinfo is not None
            found.append(event)
        pytest.fail("the mark did not come")

    return heard


def names(events: list[dict[str, Any]]) -> list[str]:
    """Return whose state has changed, as in 'Module 1'."""
    return [f"{e['instance_type'].split()[0]} {e['instance_id']}" for e in events]


def test_a_run_tells_its_begin_and_its_end(flow: Flow, heard: Heard) -> None:
    flow.module()
    flow.run_module()
    begun, ended = heard()
    assert names([begun, ended]) == ["Module 1", "Module 1"]
    (row,) = flow.rows(
        "SELECT start_datetime, end_datetime FROM omd.module_instance WHERE module_instance_id = 1"
    )
    assert dt.datetime.fromisoformat(begun["at"]) == row["start_datetime"]
    assert dt.datetime.fromisoformat(ended["at"]) == row["end_datetime"]


@pytest.mark.parametrize("status", ["F", "A", "C"])
def test_every_other_end_is_told(flow: Flow, heard: Heard, status: str) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch()
    flow.end_module(flow.begin_module("m", batch.id).id, status)
    flow.end_batch(batch.id, status)
    events = heard()
    assert names(events) == [
        "Batch 1",
        "Module 1",
        "Module 1",
        "Batch 1",
    ]


def test_a_run_that_is_not_let_in_is_told_once_with_the_reason(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    flow.begin_module()
    flow.begin_batch()
    heard()
    flow.begin_module()
    flow.begin_batch()
    flow.deactivate("module", "TRUE")
    assert names(heard()) == ["Module 2", "Batch 2"]
    flow.end_module(1, "S")
    flow.begin_module()
    assert names(heard()) == ["Module 1", "Module 3"]


def test_create_and_evaluate_are_told_each(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    batch = flow.create_batch()
    flow.evaluate_batch(batch)
    flow.evaluate_batch(batch)
    module = flow.create_module("m", batch)
    flow.evaluate_module(module)
    flow.evaluate_module(module)
    assert names(heard()) == [
        "Batch 1",
        "Batch 1",
        "Module 1",
        "Module 1",
    ]


@pytest.mark.parametrize("calls", ["begin", "evaluate"])
def test_a_rollback_in_the_same_transaction_is_told_as_proceed(
    flow: Flow, heard: Heard, calls: str
) -> None:
    flow.module()
    flow.run_module("m", "F")
    heard()
    if calls == "begin":
        flow.begin_module()
        assert names(heard()) == ["Module 2"]
    else:
        flow.evaluate_module(flow.create_module())
        assert names(heard()) == ["Module 2", "Module 2"]


@pytest.mark.parametrize("calls", ["begin", "evaluate"])
def test_a_rollback_elsewhere_is_told_and_so_is_its_confirmation(
    flow: Flow, heard: Heard, calls: str
) -> None:
    flow.module("m", platform_code="SPARK", table_code="lake.m")
    flow.run_module("m", "F")
    if calls == "begin":
        flow.begin_module()
    else:
        flow.evaluate_module(flow.create_module())
    flow.call("confirm_rollback", module_instance_id=2)
    assert names(heard())[-2:] == ["Module 2", "Module 2"]


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_an_edit_by_an_administrator_is_told(flow: Flow, heard: Heard, kind: str) -> None:
    flow.batch("b", "m")
    run = flow.run_batch("b", m="S")
    heard()
    flow.set_next("C", **{kind: run.id if kind == "batch" else run["m"].id})
    flow.set_next("C", **{kind: run.id if kind == "batch" else run["m"].id})
    assert names(heard()) == [f"{kind.capitalize()} 1"]


def test_who_is_given_up_is_told(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch("b", lease=PASSED)
    flow.begin_module("m", batch.id, lease=PASSED)
    heard()
    flow.call("reap_expired_instances")
    flow.call("reap_expired_instances")
    assert sorted(names(heard())) == ["Batch 1", "Module 1"]


def test_an_in_database_run_tells_what_a_run_elsewhere_tells(flow: Flow, heard: Heard) -> None:
    flow.module("m", executable="SELECT 1")
    flow.module("n", executable="SELECT 1/0")
    flow.batch("b", "m", "n")
    flow.call("run_batch", batch_code="b")
    assert names(heard()) == [
        "Batch 1",
        "Module 1",
        "Module 1",
        "Module 2",
        "Module 2",
        "Batch 1",
    ]


def test_what_is_rolled_back_or_refused_is_not_told(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    with flow.conn.transaction(force_rollback=True):
        flow.run_batch("b", m="F")
        flow.set_next("R", module=1)
    ended = flow.run_module()
    heard()
    flow.refused("OM101", "module_success", module_instance_id=ended)
    flow.refused("OM101", "module_failure", module_instance_id=ended)
    assert heard() == []


def test_a_session_s_format_of_dates_does_not_reach_the_event(flow: Flow, heard: Heard) -> None:
    flow.module()
    flow.conn.execute("SET DateStyle = 'German'")
    flow.conn.execute("SET TimeZone = 'Pacific/Kiritimati'")
    flow.run_module()
    begun, _ = heard()
    assert begun["at"].endswith("+14:00")


def test_a_server_may_do_without_events(flow: Flow, heard: Heard) -> None:
    flow.module()
    flow.conn.execute("SET omd.notify_events = off")
    assert flow.run_module() == 1
    assert heard() == []
    flow.conn.execute("RESET omd.notify_events")
    flow.run_module()
    assert len(heard()) == 2
