"""What is no run is heard by triggers, in the transaction that changes it."""

from __future__ import annotations

from typing import Any

import pytest

from facts.store import Store, entity
from lake.conftest import Room as Lake
from support.events import published
from support.flow import Flow


def told(flow: Flow, like: str) -> list[tuple[Any, ...]]:
    """Publish, and return what was told of these types: type, subject, code and detail."""
    published(flow)
    rows = flow.rows(
        "SELECT event_type, subject_type, subject_id, code, detail FROM omd_report.events"
        " WHERE event_type LIKE %s ORDER BY event_number",
        like,
    )
    return [tuple(row.values()) for row in rows]


def test_the_ways_of_a_delivery(flow: Flow) -> None:
    store = Store(flow.conn)
    flow.conn.prepare_threshold = None
    store.set_up(entity("thing", ["nbr"], ["nbr", ("name", "text(20)")]))
    delivery = store.queue(1, thing=[("N", 1, "aap")])
    assert store.take()["outcome"] == "PERSISTED"
    (agreement,) = store.rows(
        "SELECT agreement_code FROM omd_delivery.agreement INNER JOIN omd_delivery.delivery"
        " USING (agreement_id) WHERE delivery_id = %s",
        delivery,
    )
    events = [event for event in told(store, "DELIVERY%") if event[2] == delivery]
    assert [(*event[:4], event[4]["status"]) for event in events] == [
        (f"DELIVERY_{status}", "DELIVERY", delivery, agreement["agreement_code"], status)
        for status in ("ACCEPTED", "PERSISTED")
    ]
    # Whoever moves it to another status makes an event, and none by writing the same one.
    store.conn.execute(
        "UPDATE omd_delivery.delivery SET delivery_status = delivery_status WHERE delivery_id = %s",
        [delivery],
    )
    for status in (
        "ACCEPTED",
        "PERSISTED WITH VIOLATED CONSTRAINTS",
        "REVERTED",
        "REFUSED",
        "CANCELLED",
    ):
        store.conn.execute(
            "UPDATE omd_delivery.delivery SET delivery_status = %s WHERE delivery_id = %s",
            [status, delivery],
        )
    later = [event for event in told(store, "DELIVERY%") if event[2] == delivery][2:]
    assert [(event[0], event[4]["status"]) for event in later] == [
        ("DELIVERY_ACCEPTED", "ACCEPTED"),
        ("DELIVERY_PERSISTED", "PERSISTED WITH VIOLATED CONSTRAINTS"),
        ("DELIVERY_REVERTED", "REVERTED"),
        ("DELIVERY_REFUSED", "REFUSED"),
    ]


def test_the_commit_of_lake_tables(flow: Flow) -> None:
    room = Lake(flow.conn)
    room.scene("m", "n")
    run = room.begin("m")
    with room.conn.transaction(force_rollback=True):
        room.append(run, "lake.m", write=7)
    assert told(room, "LAKE%") == []
    first, second = room.append(run, "lake.m", "lake.n")
    assert told(room, "LAKE%") == [
        (
            "LAKE_COMMITTED",
            "LAKE_COMMIT",
            id,
            table,
            {"module_instance_id": run, "operation": "APPEND", "rows": 10},
        )
        for id, table in ((first, "lake.m"), (second, "lake.n"))
    ]


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_run_of_a_batch_that_is_undone(flow: Flow, is_batch: bool) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id if is_batch else 0
    failed = flow.run_module("m", "F", batch)
    again = flow.begin_module("m", batch)
    expected = {"undone_by": again.id, **({"batch_instance_id": batch} if is_batch else {})}
    assert told(flow, "RUN_UNDONE") == [("RUN_UNDONE", "MODULE", failed, "m", expected)]
