"""The procedures of administrators: they end, remove, rename, retire, and add codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.errors import InsufficientPrivilege

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from support.flow import Flow

    Another = Callable[..., Flow]

ANNA = "omd_test_anna"


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> Iterator[None]:
    flow.batch("b", "m", "n")
    flow.batch("parent")
    flow.call("add_batch_to_parent_batch", batch_code="b", parent_batch_code="parent")
    flow.owner("DELETE FROM omd.event_log")
    yield
    flow.owner("DELETE FROM omd.event_log")
    flow.owner("UPDATE omd.batch SET frequency_code = 'Adhoc'")
    flow.owner("DELETE FROM omd.area WHERE area_code = 'RAW'")
    flow.owner("DELETE FROM omd.table_type WHERE table_type_code = 'BRIDGE'")
    flow.owner("DELETE FROM omd.event_type WHERE event_type_code >= 100")
    flow.owner("DELETE FROM omd.frequency WHERE frequency_code = 'Quarterly'")


@pytest.fixture
def anna(flow: Flow, another: Another) -> Iterator[Flow]:
    """The session of a person, whose login is a member of omd_admin and of nothing else."""
    flow.conn.execute(f"DROP ROLE IF EXISTS {ANNA}".encode())
    flow.conn.execute(f"CREATE ROLE {ANNA} LOGIN IN ROLE omd_admin".encode())
    session = another(user=ANNA)
    yield session
    session.conn.close()
    flow.conn.execute(f"DROP ROLE {ANNA}".encode())


def trail(flow: Flow) -> list[str]:
    """The texts of all edits, in order."""
    return [
        row["event_detail"]
        for row in flow.rows(
            "SELECT event_detail FROM omd.event_log WHERE event_type_code = 4 ORDER BY event_id"
        )
    ]


def members(flow: Flow, batch: str) -> list[str]:
    return [row["member_code"] for row in flow.rows("SELECT * FROM omd.batch_members(%s)", batch)]


# Ending runs that hang ----------------------------------------------------------------------------


def test_a_hung_module_is_ended_and_its_rows_are_rolled_back(flow: Flow, anna: Flow) -> None:
    hung = flow.begin_module().id
    flow.write(hung)
    anna.call("end_module_instance", module_instance_id=hung, event_detail="the host is down")
    assert flow.codes(module=hung) == "F P R"
    [event] = flow.rows("SELECT * FROM omd.event_log WHERE event_type_code = 2")
    assert event["event_detail"] == f"ended by {ANNA}: the host is down"
    assert event["module_instance_id"] == hung
    assert trail(flow) == [f"ended by {ANNA}: the host is down"]
    flow.refused("OM101", "module_success", module_instance_id=hung)
    assert flow.begin_module().array == [hung]
    assert flow.stamps() == {}


def test_a_hung_batch_is_ended_with_what_executes_in_it(flow: Flow, anna: Flow) -> None:
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    anna.call("end_batch_instance", batch_instance_id=batch)
    assert (flow.codes(batch=batch), flow.codes(module=module)) == ("F P P", "F P R")
    assert (flow.failures(batch=batch), flow.failures(module=module)) == (1, 1)
    assert trail(flow) == [f"ended by {ANNA}"]
    assert flow.begin_batch().pi == "P"


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_ending_again_changes_nothing(flow: Flow, anna: Flow, kind: str) -> None:
    id = (flow.begin_batch if kind == "batch" else flow.begin_module)().id
    for _ in range(2):
        anna.call(f"end_{kind}_instance", **{f"{kind}_instance_id": id})
    assert flow.failures(**{kind: id}) == 1
    assert len(trail(flow)) == 1


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_two_who_end_at_once_end_it_once(
    flow: Flow,
    another: Another,
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
    kind: str,
) -> None:
    id = (flow.begin_batch if kind == "batch" else flow.begin_module)().id
    first, second = another(), another()
    with first.conn.transaction():
        first.call(f"end_{kind}_instance", **{f"{kind}_instance_id": id})
        call = background(second.call, f"end_{kind}_instance", **{f"{kind}_instance_id": id})
        until_settled(second, call)
        assert not call.done()
    call.result()
    assert flow.failures(**{kind: id}) == 1
    assert len(trail(flow)) == 1


@pytest.mark.parametrize("status", ["S", "A", "C"])
def test_what_has_ended_otherwise_is_not_ended_again(flow: Flow, status: str) -> None:
    batch = flow.end_batch(flow.begin_batch().id, status)
    module = flow.end_module(flow.begin_module().id, status)
    flow.owner("DELETE FROM omd.event_log")
    flow.refused("OM101", "end_batch_instance", batch_instance_id=batch)
    flow.refused("OM101", "end_module_instance", module_instance_id=module)
    assert trail(flow) == []


def test_only_what_exists_is_ended(flow: Flow) -> None:
    flow.refused("OM003", "end_batch_instance", batch_instance_id=99)
    flow.refused("OM004", "end_module_instance", module_instance_id=99)
    flow.refused("OM005", "end_module_instance", module_instance_id=None)


# Removing places ----------------------------------------------------------------------------------


def test_a_module_is_taken_out_of_a_batch(flow: Flow, anna: Flow) -> None:
    executing = flow.begin_module("m", flow.begin_batch().id)
    for _ in range(2):
        anna.call("remove_module_from_batch", batch_code="b", module_code="m")
    assert members(flow, "b") == ["n"]
    assert trail(flow) == [
        (
            f"DELETE batch_module (Batch b, Module m) by {ANNA}: batch_id = '1',"
            " inactive_indicator = 'N', module_id = '1', sequence = '1'"
        )
    ]
    flow.end_module(executing.id, "S")
    assert flow.begin_module("m", 1).reason == "NOT_REGISTERED"
    assert flow.one("SELECT count(*) FROM omd_report.module_execution_log") == 2


def test_a_batch_is_taken_from_its_parent(flow: Flow, anna: Flow) -> None:
    for _ in range(2):
        anna.call("remove_batch_from_parent_batch", batch_code="b", parent_batch_code="parent")
    assert members(flow, "parent") == []
    assert trail(flow) == [
        (
            f"DELETE batch_hierarchy (Batch b, under parent) by {ANNA}: batch_id = '1',"
            " inactive_indicator = 'N', parent_batch_id = '2', sequence = '1'"
        )
    ]


def test_only_what_is_registered_is_taken_out(flow: Flow) -> None:
    for routine, batch, other, sqlstate in (
        ("remove_module_from_batch", "nope", {"module_code": "m"}, "OM001"),
        ("remove_module_from_batch", "b", {"module_code": "nope"}, "OM002"),
        ("remove_batch_from_parent_batch", "nope", {"parent_batch_code": "parent"}, "OM001"),
        ("remove_batch_from_parent_batch", "b", {"parent_batch_code": "nope"}, "OM001"),
    ):
        flow.refused(sqlstate, routine, batch_code=batch, **other)


# Renaming -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_history_follows_a_new_code_also_of_a_run_that_executes(
    flow: Flow, anna: Flow, kind: str
) -> None:
    old, new = kind[0], 'a "new" name'
    flow.run_batch("b", m="F", n="S")
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    names = {f"{kind}_code": old, f"new_{kind}_code": new}
    for _ in range(2):
        anna.call(f"rename_{kind}", **names)
    assert trail(flow) == [
        f"UPDATE {kind} ({kind.title()} {new}) by {ANNA}: {kind}_code from '{old}' to '{new}'"
    ]
    flow.end_module(module, "S")
    flow.end_batch(batch, "S")
    log = f"SELECT count(*) FROM omd_report.{kind}_execution_log WHERE {kind}_code = %s"
    assert (flow.one(log, new), flow.one(log, old)) == (2, 0)
    begin = flow.begin_batch if kind == "batch" else flow.begin_module
    assert begin(new).pi == "P"


@pytest.mark.parametrize(("kind", "sqlstate"), [("batch", "OM001"), ("module", "OM002")])
def test_a_code_that_is_taken_or_makes_no_sense_is_refused(
    flow: Flow, kind: str, sqlstate: str
) -> None:
    old, taken = ("b", "parent") if kind == "batch" else ("m", "n")
    code, new = f"{kind}_code", f"new_{kind}_code"
    for bad in (taken, " ", "é" * 1301):
        flow.refused("OM013", f"rename_{kind}", **{code: old, new: bad})
    flow.refused(sqlstate, f"rename_{kind}", **{code: "nope", new: "nor this"})
    flow.refused("OM005", f"rename_{kind}", **{code: old, new: None})
    flow.call(f"rename_{kind}", **{code: old, new: old})
    assert trail(flow) == []


# Retiring -----------------------------------------------------------------------------------------


def test_a_module_retires_and_stays_known(flow: Flow, anna: Flow) -> None:
    flow.run_module("m", "S")
    for _ in range(2):
        anna.call("retire_module", module_code="m")
    assert members(flow, "b") == ["n"]
    assert flow.begin_module("m").answer == ("C", "INACTIVE")
    assert flow.one("SELECT inactive_indicator FROM omd_report.module_list WHERE module_id = 1")
    assert [line.split(" by ")[0] for line in trail(flow)] == [
        "UPDATE module (Module m)", "DELETE batch_module (Batch b, Module m)",
    ]  # fmt: skip
    flow.call("register_module", module_code="m", inactive_indicator="N")
    assert flow.begin_module("m").pi == "P"


def test_a_batch_retires_and_keeps_its_members(flow: Flow, anna: Flow) -> None:
    flow.run_batch("b", m="S", n="S")
    for _ in range(2):
        anna.call("retire_batch", batch_code="b")
    assert (members(flow, "parent"), members(flow, "b")) == ([], ["m", "n"])
    assert flow.begin_batch("b").answer == ("C", "INACTIVE")
    assert len(trail(flow)) == 2


def test_what_executes_does_not_retire(flow: Flow, anna: Flow) -> None:
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    for kind, code, id in (("batch", "b", batch), ("module", "m", module)):
        detail = anna.refused("OM113", f"retire_{kind}", **{f"{kind}_code": code})
        assert detail["next_command"] == f"CALL omd.end_{kind}_instance({id});"
    assert members(flow, "b") == ["m", "n"]
    assert trail(flow) == []


def test_what_waits_for_a_rollback_does_not_retire(flow: Flow, anna: Flow) -> None:
    flow.run_batch("b", m="F", n="S")
    anna.refused("OM113", "retire_module", module_code="m")
    anna.refused("OM113", "retire_batch", batch_code="b")
    anna.call("retire_module", module_code="n")
    flow.run_module("m", "S")
    anna.call("retire_module", module_code="m")


def test_a_begin_that_is_under_way_is_waited_for(
    flow: Flow,
    another: Another,
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    first, second = another(), another()
    with first.conn.transaction():
        first.begin_module("m")
        call = background(second.refused, "OM113", "retire_module", module_code="m")
        until_settled(second, call)
    assert call.result()["because"] == "its instance 1 executes"
    assert flow.codes(module=1) == "E P P"


# Adding codes -------------------------------------------------------------------------------------


def test_an_area_is_added_and_changed(flow: Flow, anna: Flow) -> None:
    anna.refused("OM005", "register_area", area_code="RAW")
    anna.refused("OM006", "register_area", area_code="RAW", layer_code="nope")
    anna.call("register_area", area_code="RAW", layer_code="staging", area_description="as it came")
    anna.call("register_area", area_code="raw", layer_code="Integration")
    anna.call("register_area", area_code="RAW")
    assert flow.rows("SELECT * FROM omd.area WHERE upper(area_code) = 'RAW'") == [
        {"area_code": "RAW", "layer_code": "Integration", "area_description": "as it came"}
    ]
    flow.module("r", area_code="Raw")
    assert trail(flow) == [
        (
            f"INSERT area (area RAW) by {ANNA}: area_code = 'RAW', area_description = 'as it came',"
            " layer_code = 'Staging'"
        ),
        f"UPDATE area (area RAW) by {ANNA}: layer_code from 'Staging' to 'Integration'",
    ]
    flow.owner("DELETE FROM omd.module WHERE module_code = 'r'")


def test_a_table_type_is_added_and_changed(flow: Flow, anna: Flow) -> None:
    anna.call("register_table_type", table_type_code="BRIDGE")
    anna.call("register_table_type", table_type_code="bridge", table_type_description="Bridge.")
    anna.call("register_table_type", table_type_code="BRIDGE")
    assert flow.rows("SELECT * FROM omd.table_type WHERE table_type_code ILIKE 'bridge'") == [
        {"table_type_code": "BRIDGE", "table_type_description": "Bridge."}
    ]
    assert len(trail(flow)) == 2


def test_an_event_type_is_added_outside_the_range_of_the_product(flow: Flow, anna: Flow) -> None:
    for code in (0, 1, 7, 99, -100):
        anna.refused("OM013", "register_event_type", event_type_code=code)
    for text in ("Quality.", None):
        anna.call("register_event_type", event_type_code=100, event_type_description=text)
    anna.call("log_event", event_detail="x", event_type_code=100)
    assert flow.one("SELECT event_type_description FROM omd_report.event_log"
                    " WHERE event_type_code = 100") == "Quality."  # fmt: skip
    assert len(trail(flow)) == 1


def test_a_frequency_is_added_and_tuned(flow: Flow, anna: Flow) -> None:
    anna.call("register_frequency", frequency_code="Quarterly", frequency_interval="3 months")
    anna.call("register_frequency", frequency_code="quarterly")
    flow.batch("b", frequency_code="Quarterly")
    flow.run_batch("b", m="S")
    assert flow.begin_batch().answer == ("C", "FREQUENCY")
    anna.call("register_frequency", frequency_code="Quarterly", frequency_interval="1 microsecond")
    assert flow.begin_batch().pi == "P"
    for bad in ("0", "-1 day", "101 years", "178000000 years"):
        anna.refused(
            "OM013", "register_frequency", frequency_code="Quarterly", frequency_interval=bad
        )
    assert len([line for line in trail(flow) if "frequency Quarterly" in line]) == 2


# Who ----------------------------------------------------------------------------------------------

ROUTINES = {
    "end_module_instance": {"module_instance_id": 1},
    "end_batch_instance": {"batch_instance_id": 1},
    "remove_module_from_batch": {"batch_code": "b", "module_code": "m"},
    "remove_batch_from_parent_batch": {"batch_code": "b", "parent_batch_code": "parent"},
    "rename_batch": {"batch_code": "b", "new_batch_code": "c"},
    "rename_module": {"module_code": "m", "new_module_code": "c"},
    "retire_batch": {"batch_code": "b"},
    "retire_module": {"module_code": "m"},
    "register_area": {"area_code": "RAW", "layer_code": "Staging"},
    "register_table_type": {"table_type_code": "BRIDGE"},
    "register_event_type": {"event_type_code": 100},
    "register_frequency": {"frequency_code": "Quarterly"},
}


@pytest.mark.parametrize("role", ["omd_runner", "omd_reader"])
@pytest.mark.parametrize("routine", ROUTINES)
def test_nobody_else_administers(another: Another, routine: str, role: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        another(role=role).call(routine, **ROUTINES[routine])
