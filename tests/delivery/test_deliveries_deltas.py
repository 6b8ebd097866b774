"""Deltas: LVL, the queue, marks, physical deletes, reverts, purges, and the border to the facts."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from delivery.conftest import OPEN, SHOP

if TYPE_CHECKING:
    from collections.abc import Callable

    from delivery.conftest import Room

HISTORY = (
    "SELECT email, acm_record_ind AS ind, acm_audit_id AS by, (acm_start_dt AT TIME ZONE 'UTC')::date::text"
    " AS since, nullif(acm_end_dt, '9999-12-31Z')::date::text AS until"
    " FROM lvl_shop.customer WHERE nbr = %s ORDER BY acm_start_dt"
)


def history(room: Room, nbr: int) -> list[tuple[Any, ...]]:
    """Return email, indicator, first and last day of all versions."""
    room.conn.execute("SET timezone = 'UTC'")
    return [
        (r["email"], r["ind"], r["since"][-2:], r["until"] and r["until"][-2:])
        for r in room.rows(HISTORY, nbr)
    ]


def item_error(room: Room, function: str, *arguments: Any) -> str:
    marks = ", ".join(["%s"] * len(arguments))
    with pytest.raises(psycopg.Error) as caught:
        room.one(f"SELECT omd_delivery.{function}({marks})", *arguments)
    return str(caught.value.sqlstate)


def test_a_delta_makes_versions_and_one_queue_row_in_one_transaction(room: Room) -> None:
    room.deploy()
    room.conn.execute("LISTEN omd_delivery")
    first, answer = room.accept(
        1, {"customer": [("N", 1, "a"), ("N", 2, "b"), ("N", 3, None)], "orders": [("N", 7, 1, 5)]}
    )
    assert answer["delivery_status"] == "ACCEPTED"
    assert answer["row_counts"] == {
        "customer": {"N": 3, "A": 0, "R": 0},
        "orders": {"N": 1, "A": 0, "R": 0},
    }
    heard = [json.loads(n.payload) for n in room.conn.notifies(timeout=0)]
    assert {"event": "queued", "queue_id": answer["queue_id"], "interface": "shop"} in heard
    assert [h["to_status"] for h in heard if "to_status" in h] == [
        "RECEIVED",
        "LOADED",
        "LOADED",
        "VALIDATED",
        "ACCEPTED",
    ]
    # A changed row, one that is equal, one where NULL became a value, and a deleted one.
    run = room.run(2, entities={"customer": "DELTA"})
    run.measure(1)
    run.verdict(1)
    run.measure(2, customer={"rows_delivered": 6, "rows_skipped": 1})
    run.verdict(2)
    run.write("customer", ("A", 1, "x"), ("A", 2, "b"), ("A", 3, "c"))
    second = run.apply(written={"customer": 3})
    assert second["row_counts"]["customer"] == {"N": 0, "A": 2, "R": 0}
    entity = room.receipt(run.id)["entities"][0]
    assert (
        entity["rows_new"],
        entity["rows_changed"],
        entity["rows_deleted"],
        entity["rows_unchanged"],
    ) == (0, 2, 0, 3)
    (counts,) = room.rows(
        "SELECT * FROM omd.module_instance WHERE module_instance_id = %s", run.instances["customer"]
    )
    assert [
        counts[f"rows_{c}"]
        for c in ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    ] == [6, 0, 2, 0, 3, 1]
    assert (
        room.one(f"SELECT count(*) FROM {room.delta('customer')} WHERE delivery_id = %s", run.id)
        == 2
    )
    # Deleted with the last values, and back again, also with the old values.
    room.accept(3, {"customer": [("R", 1, None)]})
    assert room.rows(f"SELECT email FROM {room.delta('customer')} WHERE acm_record_ind = 'R'") == [
        {"email": "x"}
    ]
    assert room.current("customer") == [(2, "b"), (3, "c")]
    room.accept(4, {"customer": [("N", 1, "x")]})
    assert history(room, 1) == [
        ("a", "N", "01", "02"),
        ("x", "A", "02", "03"),
        ("x", "R", "03", "04"),
        ("x", "N", "04", None),
    ]
    assert history(room, 2) == [("b", "N", "01", None)]
    # Nothing changed: a queue row all the same.
    _, nothing = room.accept(5, {"customer": []})
    queue = room.rows("SELECT * FROM omd_delivery.delta_queue ORDER BY queue_id")
    ids = {r["entity_code"]: r["entity_id"] for r in room.rows("SELECT * FROM omd_delivery.entity")}
    assert queue[-1]["entity_ids"] == []
    assert queue[-1]["delivered_entity_ids"] == [ids["customer"]]
    assert queue[0]["entity_ids"] == [ids["customer"], ids["orders"]]
    assert [q["queue_status"] for q in queue] == ["QUEUED"] * 5
    assert queue[0]["model_version"] == 1
    # A second call answers the same.
    again = room.call("apply_delta", delivery_id=first.id, attempt=1)
    assert again == answer
    marks = {m["entity_code"]: m for m in room.rows("SELECT * FROM omd_report.delivery_marks")}
    assert str(marks["orders"]["snapshot_datetime"])[:10] == "2020-01-01"
    assert str(marks["customer"]["snapshot_datetime"])[:10] == "2020-01-05"
    assert nothing["row_counts"] == {"customer": {"N": 0, "A": 0, "R": 0}}


def test_a_delta_that_does_not_fit_is_refused_and_changes_nothing(room: Room) -> None:
    room.deploy()
    room.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    room.accept(2, {"customer": [("R", 2, None)]})
    before = room.rows("SELECT * FROM lvl_shop.customer ORDER BY 1, 3")
    for rows, written in (
        ([("N", 1, "x")], None),
        ([("A", 2, "x")], None),
        ([("A", 9, "x")], None),
        ([("R", 2, None)], None),
        ([("R", 9, None)], None),
        ([("A", 1, "x"), ("A", 1, "y")], None),
        ([("A", 1, "x")], {"customer": 2}),
        ([], {"customer": 1}),
        ([], {"orders": 0}),
        ([], {"customer": -1}),
        ([], ["customer"]),
    ):
        run = room.run(3, entities={"customer": "DELTA"})
        run.validate()
        run.write("customer", *rows)
        room.refused("OM134", "apply_delta", delivery_id=run.id, attempt=1, written=written)
        assert room.status(run.id) == "VALIDATED"
        room.call("cancel_delivery", delivery_id=run.id, reason="enough")
    assert room.rows("SELECT * FROM lvl_shop.customer ORDER BY 1, 3") == before
    # What a cancelled run wrote goes with the next begin.
    room.run(3)
    assert room.one(f"SELECT count(*) FROM {room.delta('customer')}") == 3


def test_values_decide_and_not_hashes_and_retired_attributes_keep_theirs(room: Room) -> None:
    model = {
        "interface": "shop",
        "entities": [
            {
                "name": "customer",
                "key": ["nbr", "Select"[:0] + "select"],
                "attributes": [
                    {"name": "nbr", "type": "integer"},
                    {"name": "select", "type": "text(5)"},
                    {"name": "old", "type": "text"},
                    {"name": "order", "type": "double precision"},
                ],
            }
        ],
    }
    room.deploy(model)
    room.accept(1, {"customer": [("N", 1, "k", "kept", 1.5, 11, 12)]})
    model["entities"][0]["attributes"][2]["retired"] = True
    room.call("deploy_model", model=model)
    _, equal = room.accept(2, {"customer": [("A", 1, "k", None, 1.5, 99, 99)]})
    assert equal["row_counts"]["customer"]["A"] == 0
    _, other = room.accept(3, {"customer": [("A", 1, "k", None, 2.5, 11, 12)]})
    assert other["row_counts"]["customer"]["A"] == 1
    assert room.current("customer") == [(1, "k", "kept", 2.5)]
    (row,) = room.rows(f"SELECT * FROM lvl_shop.customer WHERE acm_end_dt = '{OPEN}'")
    assert (row["acm_hash_a"], row["acm_hash_b"]) == (11, 12)
    assert (
        room.one(
            "SELECT model_version FROM omd_delivery.delta_queue ORDER BY queue_id DESC LIMIT 1"
        )
        == 2
    )


def test_a_physical_delete_removes_the_key_everywhere_with_proof(room: Room) -> None:
    room.deploy()
    room.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    changed, _ = room.accept(2, {"customer": [("A", 1, "x"), ("A", 2, "y")]})
    third = room.run(3, entities={"customer": "DELTA"})
    third.measure(1)
    sample = {"origin": "DELIVERED", "constraint_codes": ["customer.email.datatype"], "raw": {}}
    room.call(
        "register_samples",
        delivery_id=third.id,
        attempt=1,
        entity_code="customer",
        samples=[{**sample, "record_key": k} for k in ({"nbr": 1}, {"nbr": 2}, None)],
    )
    room.call("reject_delivery", delivery_id=third.id, reason="why")
    room.agree("b")
    physical = room.load(4, delete_type="PHYSICAL", entities={"customer": "DELTA"})
    room.conn.execute("INSERT INTO stg_a.customer VALUES ('D', NULL, '1')")
    # It begins when all before it is persisted.
    assert room.ask(physical)["outcome"] == "WAIT"
    for queue_id in (1, 2):
        room.persist(queue_id)
    run = room.begin(physical)
    run.validate()
    run.write("customer", ("R", 1, None), ("A", 2, "z"), ("N", 3, "n"))
    assert run.apply()["row_counts"]["customer"] == {"N": 1, "A": 1, "R": 1}
    assert history(room, 1) == []
    assert room.current("customer") == [(2, "z"), (3, "n")]
    left = room.rows(
        f"SELECT delivery_id, acm_record_ind AS ind, email FROM {room.delta('customer')} WHERE nbr = 1"
    )
    assert left == [{"delivery_id": run.id, "ind": "R", "email": None}]
    assert [r["record_key"] for r in room.rows("SELECT * FROM omd_delivery.quarantine")] == [
        {"nbr": 2}
    ]
    assert room.one("SELECT count(*) FROM stg_a.customer") == 0
    # The next delivery begins when it is persisted, and then nothing has the key.
    later = room.load(5, code="b", entities={"customer": "DELTA"})
    assert (
        room.ask(later)["detail"]
        == f"delivery {run.id} is not persisted yet, and it deletes physically"
    )
    room.refused("OM133", "revert_delivery", delivery_id=run.id, reason="why")
    room.persist(3)
    assert room.one(f"SELECT count(*) FROM {room.delta('customer')} WHERE nbr = 1") == 0
    assert item_error(room, "requeue_item", 3) == "OM135"
    proof = {
        (r["layer"], r["table_name"]): (r["key_count"], r["row_count"])
        for r in room.rows(
            "SELECT * FROM omd_delivery.removal WHERE delivery_id = %s AND removal_id < 5", run.id
        )
    }
    assert proof == {
        ("LVL", "lvl_shop.customer"): (1, 2),
        ("DELTA", "wrk_shop.delta_customer"): (1, 2),
        ("SAMPLE", "omd_delivery.sample"): (1, 2),
        ("STAGING", "stg_a.customer"): (1, 1),
    }
    assert room.begin(later).attempt == 1
    assert changed.id


def test_a_revert_takes_the_newest_back_and_then_the_one_before(room: Room) -> None:
    room.deploy()
    first, _ = room.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    second, _ = room.accept(2, {"customer": [("A", 1, "x"), ("R", 2, None), ("N", 3, "c")]})
    assert room.refused("OM133", "revert_delivery", delivery_id=first.id, reason="why")["problem"]
    pending = room.load(3)
    room.call("revert_delivery", delivery_id=second.id, reason="wrong month")
    assert room.status(second.id) == "REVERTED"
    assert room.current("customer") == [(1, "a"), (2, "b")]
    assert history(room, 1) == [("a", "N", "01", None)]
    assert (
        room.one(f"SELECT count(*) FROM {room.delta('customer')} WHERE delivery_id = %s", second.id)
        == 0
    )
    assert room.rows("SELECT delivery_id FROM omd_delivery.delta_queue") == [
        {"delivery_id": first.id}
    ]
    # Its time may be delivered again.
    room.call("cancel_delivery", delivery_id=pending, reason="why")
    room.accept(2, {"customer": [("A", 1, "y")]})
    (queue_id,) = [
        r["queue_id"]
        for r in room.rows("SELECT queue_id FROM omd_delivery.delta_queue ORDER BY 1 DESC LIMIT 1")
    ]
    newest = room.one(
        "SELECT delivery_id FROM omd_delivery.delta_queue WHERE queue_id = %s", queue_id
    )
    room.call("revert_delivery", delivery_id=newest, reason="again")
    room.one("SELECT omd_delivery.start_queue_item(1, 5)")
    room.refused("OM133", "revert_delivery", delivery_id=first.id, reason="why")
    # An administrator who asks process control to undo an accepted run is refused too.
    room.owner(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = %s",
        first.instances["customer"],
    )
    run_id = room.load(5)
    assert room.refused("OM133", "begin_delivery", delivery_id=run_id)["delivery_id"] == first.id
    room.owner(
        "UPDATE omd.module_instance SET next_run_indicator = 'P' WHERE module_instance_id = %s",
        first.instances["customer"],
    )
    assert room.begin(run_id).attempt == 1


def test_the_facts_take_items_in_order_and_may_put_them_back(room: Room) -> None:
    room.deploy()
    one, _ = room.accept(1, {"customer": [("N", 1, "a")]})
    two, _ = room.accept(2, {"customer": [("A", 1, "b")]})
    interface_id = room.one("SELECT interface_id FROM omd_delivery.interface")
    unfinished = "SELECT omd_delivery.unfinished_delivery(%s)"
    assert room.one(unfinished, interface_id) == one.id
    assert item_error(room, "start_queue_item", 2, 5) == "OM135"
    assert item_error(room, "start_queue_item", 99, 5) == "OM135"
    assert item_error(room, "finish_queue_item", 1) == "OM135"
    assert item_error(room, "requeue_item", 1) == "OM135"
    for instance in (5, 6):  # the load died and begins again
        room.one("SELECT omd_delivery.start_queue_item(1, %s)", instance)
    assert room.rows(
        "SELECT queue_status, module_instance_id FROM omd_delivery.delta_queue WHERE queue_id = 1"
    ) == [{"queue_status": "LOADING", "module_instance_id": 6}]
    for _ in range(2):
        room.one("SELECT omd_delivery.finish_queue_item(1)")
    assert (room.status(one.id), room.status(two.id)) == ("PERSISTED", "ACCEPTED")
    assert item_error(room, "start_queue_item", 1, 5) == "OM135"
    room.persist(2)
    assert room.one(unfinished, interface_id) is None
    assert item_error(room, "requeue_item", 1) == "OM135"
    for queue_id in (2, 1):
        room.one("SELECT omd_delivery.requeue_item(%s)", queue_id)
    assert (room.status(one.id), room.status(two.id)) == ("ACCEPTED", "ACCEPTED")
    assert room.one(unfinished, interface_id) == one.id
    for queue_id in (1, 2):
        room.persist(queue_id)
    assert room.call("purge_deliveries", keep="1 hour")["purged"] == 0
    assert room.call("purge_deliveries", keep="0")["purged"] == 2
    assert room.one(f"SELECT count(*) FROM {room.delta('customer')}") == 0
    assert item_error(room, "requeue_item", 2) == "OM135"
    assert room.receipt(two.id)["entities"][0]["rows_changed"] == 1
    assert room.call("purge_deliveries", keep="0")["purged"] == 0


def test_the_facts_make_and_move_deliveries_of_their_own(room: Room) -> None:
    room.deploy()
    room.agree("g", layer_code="GDAL")
    room.owner(
        "INSERT INTO omd_delivery.delivery_status VALUES ('GDAL', 'RECEIVED', false, '-'), ('GDAL', 'PERSISTED', true, '-')"
    )
    room.owner(
        "INSERT INTO omd_delivery.delivery_transition VALUES ('GDAL', 'RECEIVED', 'PERSISTED', 'facts')"
    )
    insert = 'SELECT omd_delivery.insert_delivery(%s, %s, %s, \'{"mode": "FULL"}\')'
    made = room.one(insert, "g", "GDAL", None)
    assert (room.status(made), room.delivery(made)["options"]) == ("RECEIVED", {"mode": "FULL"})
    room.one("SELECT omd_delivery.move_delivery(%s, 'PERSISTED', 'done')", made)
    assert room.events(made)[-1] == ("move_delivery", "PERSISTED")
    assert item_error(room, "move_delivery", made, "RECEIVED") == "OM130"
    lvl = room.one(insert, "a", "LVL", "2020-01-01Z")
    assert room.one(insert, "a", "LVL", "2020-01-01Z") == lvl + 1
    for sqlstate, arguments in (
        ("OM005", (None, "LVL", None)),
        ("OM033", ("x", "LVL", None)),
        ("OM036", ("g", "LVL", None)),
        ("OM005", ("a", "LVL", None)),
        ("OM038", ("a", "LVL", "2999-01-01Z")),
    ):
        with pytest.raises(psycopg.Error) as caught:
            room.one(insert, *arguments)
        assert caught.value.sqlstate == sqlstate
    room.agree("g", inactive_indicator="Y")
    with pytest.raises(psycopg.Error) as caught:
        room.one(insert, "g", "GDAL", None)
    assert caught.value.sqlstate == "OM232"


def test_the_cost_of_a_delta_does_not_grow_with_history(room: Room) -> None:
    """No statement of apply_delta looks at closed rows, however it is planned."""
    room.deploy()
    room.accept(1, {"customer": [("N", n, "a") for n in range(100)]})
    room.owner(
        "INSERT INTO lvl_shop.customer SELECT mod(n, 100), 'old', timestamptz '2000-01-01Z' + n * interval '1 h',"
        " timestamptz '2000-01-01Z' + (n + 1) * interval '1 h', 'A', 0 FROM generate_series(0, 20000) AS n"
    )
    room.conn.execute("ANALYZE")
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    reads = (
        "SELECT pg_stat_clear_snapshot(), seq_scan + coalesce(idx_scan, 0) AS n"
        " FROM pg_stat_user_tables WHERE relname = '_closed_customer'"
    )
    before = room.rows(reads)[0]["n"]
    room.accept(2, {"customer": [("A", 1, "x"), ("R", 2, None), ("N", 100, "n")]})
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    assert room.rows(reads)[0]["n"] == before
    assert len(room.current("customer")) == 100


@pytest.mark.parametrize("routine", ["begin_delivery", "stage_verdict", "apply_delta"])
def test_a_session_that_is_killed_in_the_middle_leaves_nothing(
    room: Room, another: Callable[..., Room], routine: str
) -> None:
    room.deploy()
    room.accept(1, {"customer": [("N", 1, "a")]})
    delivery_id = room.load(2, entities={"customer": "DELTA"})
    arguments: dict[str, Any] = {"delivery_id": delivery_id}
    if routine != "begin_delivery":
        run = room.begin(delivery_id)
        run.measure(1)
        run.verdict(1)
        run.measure(2)
        arguments["attempt"] = 1
        if routine == "stage_verdict":
            arguments["stage"] = 2
        else:
            run.verdict(2)
            run.write("customer", ("A", 1, "x"))
    before = room.delivery(delivery_id)
    worker = another()
    holder = another()
    # It waits for a row that it needs late: of the Module, the delivery or the mark.
    blocker = {
        "begin_delivery": "SELECT FROM omd.module WHERE module_code = 'lvl.shop.customer' FOR UPDATE",
        "stage_verdict": f"SELECT FROM omd_delivery.delivery WHERE delivery_id = {delivery_id} FOR UPDATE",
        "apply_delta": "SELECT FROM omd_delivery.high_water_mark FOR UPDATE",
    }[routine]
    failed: list[Exception] = []

    def work() -> None:
        try:
            worker.call(routine, **arguments)
        except psycopg.Error as error:
            failed.append(error)

    with holder.conn.transaction():
        holder.conn.execute(blocker.encode())
        thread = threading.Thread(target=work)
        thread.start()
        pid = worker.conn.info.backend_pid
        while not room.one("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid):
            pass
        assert room.one("SELECT pg_terminate_backend(%s, 10000)", pid)
        thread.join()
    assert failed
    assert room.delivery(delivery_id) == before
    assert room.current("customer") == [(1, "a")]
    # Whoever comes next does it.
    if routine == "begin_delivery":
        assert room.begin(delivery_id).attempt == 1
    elif routine == "stage_verdict":
        assert run.verdict(2)["verdict"] == "ACCEPTED"
    else:
        assert run.apply()["delivery_status"] == "ACCEPTED"
        assert room.current("customer") == [(1, "x")]


def test_a_heartbeat_does_not_wait_for_a_long_delta(
    room: Room, another: Callable[..., Room]
) -> None:
    room.deploy()
    run = room.begin(room.load(1, entities={"customer": "DELTA"}), lease="1 hour")
    run.validate()
    holder = another()
    with holder.conn.transaction():
        # As apply_delta, before its last step.
        holder.conn.execute("SELECT FROM omd_delivery.interface FOR NO KEY UPDATE")
        holder.conn.execute("SELECT FROM omd_delivery.delivery FOR NO KEY UPDATE")
        holder.conn.execute("LOCK TABLE lvl_shop.customer IN EXCLUSIVE MODE")
        room.conn.execute("SET lock_timeout = '2s'")
        room.call("heartbeat_delivery", delivery_id=run.id, attempt=1, lease="2 hours")
    left = room.one(
        "SELECT min(lease_expires_at) > now() + interval '110 minutes' FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        run.instances["customer"],
    )
    assert left
    assert SHOP["interface"] == "shop"
