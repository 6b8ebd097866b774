"""LISTEN omd_event: another session receives each change of state of an instance, as JSON."""

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

KEYS = [
    "instance_type",
    "instance_id",
    "code",
    "batch_instance_id",
    "execution_status_code",
    "processing_indicator",
    "next_run_indicator",
    "reason_code",
    "at",
]


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


def states(events: list[dict[str, Any]]) -> list[str]:
    """Return each event, as in 'Module m 1: E P P'."""
    return [
        f"{e['instance_type'].split()[0]} {e['code']} {e['instance_id']}:"
        f" {e['execution_status_code']} {e['processing_indicator']} {e['next_run_indicator']}"
        + (f" {e['reason_code']}" if e["reason_code"] else "")
        for e in events
    ]


def test_a_run_tells_its_begin_and_its_end(flow: Flow, heard: Heard) -> None:
    flow.module()
    flow.run_module()
    begun, ended = heard()
    assert states([begun, ended]) == ["Module m 1: E P P", "Module m 1: S P P"]
    assert begun["batch_instance_id"] == 0
    assert begun["reason_code"] is None
    (row,) = flow.rows(
        "SELECT start_datetime, end_datetime FROM omd.module_instance WHERE module_instance_id = 1"
    )
    assert dt.datetime.fromisoformat(begun["at"]) == row["start_datetime"]
    assert dt.datetime.fromisoformat(ended["at"]) == row["end_datetime"]


@pytest.mark.parametrize(("status", "end"), [("F", "F P R"), ("A", "A A P"), ("C", "C C P")])
def test_every_other_end_is_told(flow: Flow, heard: Heard, status: str, end: str) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch()
    flow.end_module(flow.begin_module("m", batch.id).id, status)
    flow.end_batch(batch.id, status)
    events = heard()
    assert states(events) == [
        "Batch b 1: E P P",
        "Module m 1: E P P",
        f"Module m 1: {end}",
        f"Batch b 1: {end.replace('R', 'P')}",
    ]
    assert [e["batch_instance_id"] for e in events] == [0, batch.id, batch.id, 0]


def test_a_run_that_is_not_let_in_is_told_once_with_the_reason(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    flow.begin_module()
    flow.begin_batch()
    heard()
    flow.begin_module()
    flow.begin_batch()
    flow.deactivate("module", "TRUE")
    assert states(heard()) == ["Module m 2: A A P RUNNING", "Batch b 2: A A P RUNNING"]
    flow.end_module(1, "S")
    flow.begin_module()
    assert states(heard()) == ["Module m 1: S P P", "Module m 3: C C P INACTIVE"]


def test_create_and_evaluate_are_told_each(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    batch = flow.create_batch()
    flow.evaluate_batch(batch)
    flow.evaluate_batch(batch)
    module = flow.create_module("m", batch)
    flow.evaluate_module(module)
    flow.evaluate_module(module)
    assert states(heard()) == [
        "Batch b 1: E A P",
        "Batch b 1: E P P",
        "Module m 1: E A P",
        "Module m 1: E P P",
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
        assert states(heard()) == ["Module m 2: E P P"]
    else:
        flow.evaluate_module(flow.create_module())
        assert states(heard()) == ["Module m 2: E A P", "Module m 2: E P P"]


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
    assert states(heard())[-2:] == ["Module m 2: E R P", "Module m 2: E P P"]


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_an_edit_by_an_administrator_is_told(flow: Flow, heard: Heard, kind: str) -> None:
    flow.batch("b", "m")
    run = flow.run_batch("b", m="S")
    heard()
    flow.set_next("C", **{kind: run.id if kind == "batch" else run["m"].id})
    flow.set_next("C", **{kind: run.id if kind == "batch" else run["m"].id})
    (event,) = heard()
    name = {"batch": "Batch b 1", "module": "Module m 1"}[kind]
    assert states([event]) == [f"{name}: S P C"]
    assert event["batch_instance_id"] == (0 if kind == "batch" else run.id)


def test_who_is_given_up_is_told(flow: Flow, heard: Heard) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch("b", lease=PASSED)
    flow.begin_module("m", batch.id, lease=PASSED)
    heard()
    flow.call("reap_expired_instances")
    flow.call("reap_expired_instances")
    assert sorted(states(heard())) == ["Batch b 1: F P P", "Module m 1: F P R"]


def test_an_in_database_run_tells_what_a_run_elsewhere_tells(flow: Flow, heard: Heard) -> None:
    flow.module("m", executable="SELECT 1")
    flow.module("n", executable="SELECT 1/0")
    flow.batch("b", "m", "n")
    flow.call("run_batch", batch_code="b")
    assert states(heard()) == [
        "Batch b 1: E P P",
        "Module m 1: E P P",
        "Module m 1: S P P",
        "Module n 2: E P P",
        "Module n 2: F P R",
        "Batch b 1: F P P",
    ]


def test_a_child_batch_names_its_parent(flow: Flow, heard: Heard) -> None:
    flow.batch("b")
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    parent = flow.begin_batch()
    flow.begin_batch("child", parent_batch_instance_id=parent.id)
    assert [e["batch_instance_id"] for e in heard()] == [0, parent.id]


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


@pytest.mark.parametrize(
    "code",
    [
        "q\"\\/\b\n{}%s $1 '",
        "ключ é 🦉",
        "x" * 2600,
        "\x01" * 2600,
        "🦉" * 650,
        '"' * 2600,
    ],
    ids=["hostile", "unicode", "long", "control", "wide", "quotes"],
)
def test_any_code_fits(flow: Flow, heard: Heard, code: str) -> None:
    flow.batch(code)
    flow.call("register_module", module_code=code, area_code="HSTG", table_code="dwh.t")
    flow.call("add_module_to_batch", batch_code=code, module_code=code)
    batch = flow.begin_batch(code)
    flow.end_module(flow.begin_module(code, batch.id).id, "S")
    flow.end_batch(batch.id, "S")
    events = heard()
    assert [e["code"] for e in events] == [code[:1000]] * 4


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
