"""Dispatch as Python sees it: `DispatchCalls`."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd import errors
from omd.rooms.dispatch import rows
from omd.rooms.dispatch.calls import DispatchCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def door(dsn: str) -> Iterator[DispatchCalls]:
    with omd.connect(dsn) as control:
        yield control.calls.omd_dispatch


def test_a_task_from_python(door: DispatchCalls, conn: Connection) -> None:
    door.register_family("LOAD", {"CODE": "text", "DAY": "date"}, key_criteria=["CODE"])
    door.register_task_type("LOAD", "FULL", handler="PYTHON", target="m:f", timeout="1 minute")
    door.set_custom("LOAD", "FULL", "DAY", "O")
    day = datetime(2026, 1, 31, tzinfo=timezone.utc).date()
    created = door.create_task("LOAD", "FULL", {"CODE": "a", "DAY": day})
    assert created.is_new
    [row] = conn.execute("SELECT payload IS NULL AS no, func_day FROM omd_dispatch.task_data_load")
    assert row == {"no": True, "func_day": day}
    with pytest.raises(errors.lookup("OM170")) as duplicate:
        door.create_task("LOAD", "FULL", {"CODE": "a"})
    assert duplicate.value.detail["task_id"] == created.task_id

    soon = datetime.now(timezone.utc) + timedelta(days=1)
    many = door.create_tasks(
        "LOAD",
        "FULL",
        [
            {"criteria": {"CODE": "a"}},
            {"criteria": MappingProxyType({"CODE": "b"}), "payload": OrderedDict(n=1)},
            {"criteria": {"CODE": "c"}, "execution_time": soon, "priority": 0},
        ],
        on_duplicate="EXISTING",
    )
    assert (many.task_ids[0], many.created) == (created.task_id, 2)
    assert door.explain_task(many.task_ids[2]).execution_time == soon
    naive = soon.replace(tzinfo=None)
    with pytest.raises(errors.CallerError, match="no time zone"):
        door.create_task("LOAD", "FULL", {"CODE": "d"}, execution_time=naive)

    assert door.register_backend("WORKER", "w1", ttl=timedelta(seconds=30)).position == 0
    first, second = door.claim_tasks("w1", limit=10)
    assert (second.criteria, second.payload) == ({"CODE": "b"}, {"n": 1})
    told = {"task_id": first.task_id, "claim_token": first.claim_token, "outcome": "C"}
    wrong = {"task_id": second.task_id, "claim_token": 0, "outcome": "S"}
    assert door.complete_tasks("w1", (told, MappingProxyType(wrong))) == [second.task_id]
    assert door.complete_tasks("w1", []) == []

    door.allow_search("LOAD", "code", ["CODE"])
    [found] = door.search_tasks("LOAD", {"CODE": "a"})
    assert (found.status, found.outcome) == ("DONE", "C")
    assert door.explain_task(second.task_id).reason == "CLAIMED"
    assert door.purge_partition("LOAD", 77).outcome == "MISSING"
    door.allow_search("LOAD", "code", None)
    with pytest.raises(errors.lookup("OM079")):
        door.search_tasks("LOAD", {"CODE": "a"})


def test_every_report_has_the_columns_of_its_class(door: DispatchCalls) -> None:
    views = [row for row in vars(rows).values() if hasattr(row, "view")]
    shipped = {rows.DispatchSourcesRow: 2, rows.DispatchSchedulesRow: 1}  # of work; the purge
    assert set(shipped) < set(views)
    for view in views:
        assert len(door.report(view)) == shipped.get(view, 0)


def test_the_state_of_a_task_is_the_same_in_both_models(door: DispatchCalls) -> None:
    task = door.create_task("RUN", "BATCH", {"CODE": "b_x"}, payload={"n": [1]}).task_id
    states = [door.explain_task(task)]
    for status in (3, 2, 1, 0):
        door.set_migration_status("RUN", status)
        states.append(door.explain_task(task))
    assert states == states[:1] * 5
    with pytest.raises(errors.lookup("OM072")):
        door.explain_task(task + 1)
