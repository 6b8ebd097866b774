"""Deltas: LVL, the queue, marks, physical deletes, reverts, purges, and the border to the facts."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from delivery.runs import OPEN, SHOP

if TYPE_CHECKING:
    from collections.abc import Callable

    from delivery.runs import Shop

HISTORY = (
    "SELECT email, acm_record_ind AS ind, acm_start_dt::date::text AS since,"
    " nullif(acm_end_dt, '9999-12-31Z')::date::text AS until"
    " FROM lvl_shop.customer WHERE nbr = %s ORDER BY acm_start_dt"
)


def history(shop: Shop, nbr: int) -> list[tuple[Any, ...]]:
    """Return email, indicator, first and last day of all versions."""
    shop.conn.execute("SET timezone = 'UTC'")
    return [
        (r["email"], r["ind"], r["since"][-2:], r["until"] and r["until"][-2:])
        for r in shop.rows(HISTORY, nbr)
    ]


def item_error(shop: Shop, function: str, *arguments: Any) -> str:
    marks = ", ".join(["%s"] * len(arguments))
    with pytest.raises(psycopg.Error) as caught:
        shop.one(f"SELECT omd_delivery.{function}({marks})", *arguments)
    return str(caught.value.sqlstate)


def test_a_delta_makes_versions_and_one_queue_row_in_one_transaction(shop: Shop) -> None:
    shop.deploy()
    shop.conn.execute("LISTEN omd_delivery")
    first, answer = shop.accept(
        1, {"customer": [("N", 1, "a"), ("N", 2, "b"), ("N", 3, None)], "orders": [("N", 7, 1, 5)]}
    )
    assert answer["delivery_status"] == "ACCEPTED"
    assert answer["row_counts"] == {
        "customer": {"N": 3, "A": 0, "R": 0},
        "orders": {"N": 1, "A": 0, "R": 0},
    }
    heard = [json.loads(n.payload) for n in shop.conn.notifies(timeout=0)]
    (interface,) = shop.rows("SELECT interface_id FROM omd_delivery.interface")
    assert {"event": "look", "queue_id": answer["queue_id"], **interface} in heard
    moves = ["RECEIVED", "LOADED", "LOADED", "VALIDATED", "ACCEPTED"]
    assert heard.count({"event": "look", "delivery_id": first.id}) == len(moves)
    assert [status for _, status in shop.events(first.id)] == moves
    # A changed row, one that is equal, one where NULL became a value, and a deleted one.
    run = shop.run(2, entities={"customer": "DELTA"})
    run.measure(1)
    run.verdict(1)
    run.measure(2, customer={"rows_delivered": 6, "rows_skipped": 1})
    run.verdict(2)
    run.write("customer", ("A", 1, "x"), ("A", 2, "b"), ("A", 3, "c"))
    second = run.apply(written={"customer": 3})
    assert second["row_counts"]["customer"] == {"N": 0, "A": 2, "R": 0}
    entity = shop.receipt(run.id)["entities"][0]
    assert (
        entity["rows_new"],
        entity["rows_changed"],
        entity["rows_deleted"],
        entity["rows_unchanged"],
    ) == (0, 2, 0, 3)
    (counts,) = shop.rows(
        "SELECT * FROM omd.module_instance WHERE module_instance_id = %s", run.instances["customer"]
    )
    assert [
        counts[f"rows_{c}"]
        for c in ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    ] == [6, 0, 2, 0, 3, 1]
    assert (
        shop.one(f"SELECT count(*) FROM {shop.delta('customer')} WHERE delivery_id = %s", run.id)
        == 2
    )
    # Deleted with the last values, and back again, also with the old values.
    shop.accept(3, {"customer": [("R", 1, None)]})
    assert shop.rows(f"SELECT email FROM {shop.delta('customer')} WHERE acm_record_ind = 'R'") == [
        {"email": "x"}
    ]
    assert shop.current("customer") == [(2, "b"), (3, "c")]
    shop.accept(4, {"customer": [("N", 1, "x")]})
    assert history(shop, 1) == [
        ("a", "N", "01", "02"),
        ("x", "A", "02", "03"),
        ("x", "R", "03", "04"),
        ("x", "N", "04", None),
    ]
    assert history(shop, 2) == [("b", "N", "01", None)]
    # Nothing changed: a queue row all the same.
    _, nothing = shop.accept(5, {"customer": []})
    queue = shop.rows("SELECT * FROM omd_delivery.delta_queue ORDER BY queue_id")
    ids = {r["entity_code"]: r["entity_id"] for r in shop.rows("SELECT * FROM omd_delivery.entity")}
    assert queue[-1]["entity_ids"] == []
    assert queue[-1]["delivered_entity_ids"] == [ids["customer"]]
    assert queue[0]["entity_ids"] == [ids["customer"], ids["orders"]]
    assert [q["queue_status"] for q in queue] == ["QUEUED"] * 5
    assert queue[0]["model_version"] == 1
    # A second call answers the same.
    again = shop.call("apply_delta", delivery_id=first.id, attempt=1)
    assert again == answer
    marks = {m["entity_code"]: m for m in shop.rows("SELECT * FROM omd_report.delivery_marks")}
    assert str(marks["orders"]["snapshot_datetime"])[:10] == "2020-01-01"
    assert str(marks["customer"]["snapshot_datetime"])[:10] == "2020-01-05"
    assert nothing["row_counts"] == {"customer": {"N": 0, "A": 0, "R": 0}}


def test_a_delta_that_does_not_fit_is_refused_and_changes_nothing(shop: Shop) -> None:
    shop.deploy()
    shop.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    shop.accept(2, {"customer": [("R", 2, None)]})
    before = shop.rows("SELECT * FROM lvl_shop.customer ORDER BY 1, 3")
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
        run = shop.run(3, entities={"customer": "DELTA"})
        run.validate()
        run.write("customer", *rows)
        shop.refused("OM134", "apply_delta", delivery_id=run.id, attempt=1, written=written)
        assert shop.status(run.id) == "VALIDATED"
        shop.call("cancel_delivery", delivery_id=run.id, reason="enough")
    assert shop.rows("SELECT * FROM lvl_shop.customer ORDER BY 1, 3") == before
    # What a cancelled run wrote goes with the next begin.
    shop.run(3)
    assert shop.one(f"SELECT count(*) FROM {shop.delta('customer')}") == 3


def test_values_decide_and_not_hashes_and_retired_attributes_keep_theirs(shop: Shop) -> None:
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
    shop.deploy(model)
    shop.accept(1, {"customer": [("N", 1, "k", "kept", 1.5, 11, 12)]})
    model["entities"][0]["attributes"][2]["retired"] = True
    shop.call("deploy_model", model=model)
    _, equal = shop.accept(2, {"customer": [("A", 1, "k", None, 1.5, 99, 99)]})
    assert equal["row_counts"]["customer"]["A"] == 0
    hashes = f"SELECT acm_hash_a, acm_hash_b FROM lvl_shop.customer WHERE acm_end_dt = '{OPEN}'"
    assert shop.rows(hashes) == [{"acm_hash_a": 99, "acm_hash_b": 99}]
    _, other = shop.accept(3, {"customer": [("A", 1, "k", None, 2.5, 11, 12)]})
    assert other["row_counts"]["customer"]["A"] == 1
    assert shop.current("customer") == [(1, "k", "kept", 2.5)]
    assert shop.rows(hashes) == [{"acm_hash_a": 11, "acm_hash_b": 12}]
    assert (
        shop.one(
            "SELECT model_version FROM omd_delivery.delta_queue ORDER BY queue_id DESC LIMIT 1"
        )
        == 2
    )
    # What comes back was not in the hash.
    model["entities"][0]["attributes"][2]["retired"] = False
    shop.call("deploy_model", model=model)
    assert shop.rows(hashes) == [{"acm_hash_a": None, "acm_hash_b": None}]


def test_a_physical_delete_removes_the_key_everywhere_with_proof(shop: Shop) -> None:
    shop.deploy()
    shop.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    changed, _ = shop.accept(2, {"customer": [("A", 1, "x"), ("A", 2, "y")]})
    third = shop.run(3, entities={"customer": "DELTA"})
    third.measure(1)
    sample = {"origin": "DELIVERED", "constraint_codes": ["customer.email.datatype"], "raw": {}}
    shop.call(
        "register_samples",
        delivery_id=third.id,
        attempt=1,
        entity_code="customer",
        samples=[{**sample, "record_key": k} for k in ({"nbr": 1}, {"nbr": 2}, None)],
    )
    shop.call("reject_delivery", delivery_id=third.id, reason="why")
    shop.agree("b")
    physical = shop.load(4, delete_type="PHYSICAL", entities={"customer": "DELTA"})
    shop.conn.execute("INSERT INTO stg_a.customer VALUES ('D', NULL, '1')")
    # It begins when all before it is persisted.
    assert shop.ask(physical)["outcome"] == "WAIT"
    for queue_id in (1, 2):
        shop.persist(queue_id)
    run = shop.begin(physical)
    run.validate()
    run.write("customer", ("R", 1, None), ("A", 2, "z"), ("N", 3, "n"))
    assert run.apply()["row_counts"]["customer"] == {"N": 1, "A": 1, "R": 1}
    assert history(shop, 1) == []
    assert shop.current("customer") == [(2, "z"), (3, "n")]
    left = shop.rows(
        "SELECT delivery_id, acm_record_ind AS ind, email"
        f" FROM {shop.delta('customer')} WHERE nbr = 1"
    )
    assert left == [{"delivery_id": run.id, "ind": "R", "email": None}]
    assert [r["record_key"] for r in shop.rows("SELECT * FROM omd_report.delivery_quarantine")] == [
        {"nbr": 2}
    ]
    assert shop.one("SELECT count(*) FROM stg_a.customer") == 0
    # The next delivery begins when it is persisted, and then nothing has the key.
    later = shop.load(5, code="b", entities={"customer": "DELTA"})
    assert (
        shop.ask(later)["detail"]
        == f"delivery {run.id} is not persisted yet, and it deletes physically"
    )
    shop.refused("OM133", "revert_delivery", delivery_id=run.id, reason="why")
    shop.persist(3)
    assert shop.one(f"SELECT count(*) FROM {shop.delta('customer')} WHERE nbr = 1") == 0
    assert item_error(shop, "requeue_alone", 3) == "OM135"
    proof = {
        (r["layer"], r["table_name"]): (r["key_count"], r["row_count"])
        for r in shop.rows(
            "SELECT * FROM omd_delivery.removal WHERE delivery_id = %s AND removal_id < 5", run.id
        )
    }
    assert proof == {
        ("LVL", "lvl_shop.customer"): (1, 2),
        ("DELTA", "wrk_shop.delta_customer"): (1, 2),
        ("SAMPLE", "omd_delivery.sample"): (1, 2),
        ("STAGING", "stg_a.customer"): (1, 1),
    }
    assert shop.begin(later).attempt == 1
    assert changed.id


def test_a_revert_takes_the_newest_back_and_then_the_one_before(shop: Shop) -> None:
    shop.deploy()
    first, _ = shop.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "b")]})
    second, _ = shop.accept(2, {"customer": [("A", 1, "x"), ("R", 2, None), ("N", 3, "c")]})
    assert shop.refused("OM133", "revert_delivery", delivery_id=first.id, reason="why")["problem"]
    pending = shop.load(3)
    shop.call("revert_delivery", delivery_id=second.id, reason="wrong month")
    assert shop.status(second.id) == "REVERTED"
    assert shop.current("customer") == [(1, "a"), (2, "b")]
    assert history(shop, 1) == [("a", "N", "01", None)]
    assert (
        shop.one(f"SELECT count(*) FROM {shop.delta('customer')} WHERE delivery_id = %s", second.id)
        == 0
    )
    assert shop.rows("SELECT delivery_id FROM omd_delivery.delta_queue") == [
        {"delivery_id": first.id}
    ]
    # Its time may be delivered again.
    shop.call("cancel_delivery", delivery_id=pending, reason="why")
    shop.accept(2, {"customer": [("A", 1, "y")]})
    (queue_id,) = [
        r["queue_id"]
        for r in shop.rows("SELECT queue_id FROM omd_delivery.delta_queue ORDER BY 1 DESC LIMIT 1")
    ]
    newest = shop.one(
        "SELECT delivery_id FROM omd_delivery.delta_queue WHERE queue_id = %s", queue_id
    )
    shop.call("revert_delivery", delivery_id=newest, reason="again")
    shop.one("SELECT omd_delivery.start_queue_item(1, 5)")
    shop.refused("OM133", "revert_delivery", delivery_id=first.id, reason="why")
    # An administrator who asks process control to undo an accepted run is refused too.
    shop.owner(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = %s",
        first.instances["customer"],
    )
    run_id = shop.load(5)
    assert shop.refused("OM133", "begin_delivery", delivery_id=run_id)["delivery_id"] == first.id
    shop.owner(
        "UPDATE omd.module_instance SET next_run_indicator = 'P' WHERE module_instance_id = %s",
        first.instances["customer"],
    )
    assert shop.begin(run_id).attempt == 1


def test_the_facts_take_items_in_order_and_may_put_them_back(shop: Shop) -> None:
    shop.deploy()
    one, _ = shop.accept(1, {"customer": [("N", 1, "a")]})
    two, _ = shop.accept(2, {"customer": [("A", 1, "b")]})
    interface_id = shop.one("SELECT interface_id FROM omd_delivery.interface")
    unfinished = "SELECT omd_delivery.unfinished_delivery(%s)"
    assert shop.one(unfinished, interface_id) == one.id
    assert item_error(shop, "start_queue_item", 2, 5) == "OM135"
    assert item_error(shop, "start_queue_item", 99, 5) == "OM135"
    assert item_error(shop, "finish_queue_item", 1) == "OM135"
    assert item_error(shop, "requeue_alone", 1) == "OM135"
    for instance in (5, 6):  # the load died and begins again
        shop.one("SELECT omd_delivery.start_queue_item(1, %s)", instance)
    assert shop.rows(
        "SELECT queue_status, module_instance_id FROM omd_delivery.delta_queue WHERE queue_id = 1"
    ) == [{"queue_status": "LOADING", "module_instance_id": 6}]
    for _ in range(2):
        shop.one("SELECT omd_delivery.finish_queue_item(1)")
    assert (shop.status(one.id), shop.status(two.id)) == ("PERSISTED", "ACCEPTED")
    assert item_error(shop, "start_queue_item", 1, 5) == "OM135"
    shop.persist(2)
    assert shop.one(unfinished, interface_id) is None
    for queue_id in (2, 1):
        shop.one("SELECT omd_delivery.requeue_alone(%s)", queue_id)
    assert (shop.status(one.id), shop.status(two.id)) == ("ACCEPTED", "ACCEPTED")
    assert shop.one(unfinished, interface_id) == one.id
    for queue_id in (1, 2):
        shop.persist(queue_id)
    for keep in ("1 hour", "290000 years"):  # the year of the latter is none of PostgreSQL
        assert shop.call("omd.purge", keep=keep, room="omd_delivery")["deleted"] == {
            "omd_delivery.delivery": 0
        }
    assert shop.call("omd.purge", keep="0", room="omd_delivery")["deleted"] == {
        "omd_delivery.delivery": 2
    }
    assert shop.one(f"SELECT count(*) FROM {shop.delta('customer')}") == 0
    assert item_error(shop, "requeue_alone", 2) == "OM135"
    assert shop.receipt(two.id)["entities"][0]["rows_changed"] == 1
    assert shop.call("omd.purge", keep="0", room="omd_delivery")["deleted"] == {
        "omd_delivery.delivery": 0
    }


def test_an_administrator_ends_deliveries_that_no_facts_take(
    shop: Shop, shops: Callable[..., Shop]
) -> None:
    shop.deploy()
    admin = shops(role="omd_admin")
    rows = {"customer": [("N", 1, "a")]}
    one, _ = shop.accept(1, rows)
    two, _ = shop.accept(2, {"customer": [("A", 1, "b")]})
    forget = shop.load(3, entities={"customer": "DELTA"}, delete_type="PHYSICAL")
    assert shop.ask(forget)["outcome"] == "WAIT"
    persist = {"interface_code": "shop"}
    assert admin.call("persist_deliveries", **persist, keep="1 day")["persisted"] == 0
    assert shop.status(one.id) == "ACCEPTED"
    assert admin.call("persist_deliveries", **persist)["persisted"] == 2
    assert (shop.status(one.id), shop.status(two.id)) == ("PERSISTED", "PERSISTED")
    assert admin.call("omd.purge", keep="0", room="omd_delivery")["deleted"] == {
        "omd_delivery.delivery": 2
    }
    run = shop.begin(forget)
    run.validate()
    run.write("customer", ("R", 1, None))
    run.apply()
    assert shop.ask(shop.load(4))["outcome"] == "WAIT"
    assert admin.call("persist_deliveries", **persist)["persisted"] == 1
    assert shop.one(f"SELECT count(*) FROM {shop.delta('customer')}") == 0
    assert admin.call("persist_deliveries", **persist)["persisted"] == 0
    shop.refused("OM031", "persist_deliveries", interface_code="none")
    # What the facts have taken once is theirs.
    shop.agree("b")
    queue_id = shop.accept(5, rows, code="b")[1]["queue_id"]
    shop.one("SELECT omd_delivery.start_queue_item(%s, 7)", queue_id)
    shop.refused("OM135", "persist_deliveries", **persist)
    shop.one("SELECT omd_delivery.finish_queue_item(%s)", queue_id)
    shop.accept(6, {"customer": [("A", 1, "b")]}, code="b")
    shop.refused("OM135", "persist_deliveries", **persist)


def test_the_facts_make_and_move_deliveries_of_their_own(shop: Shop) -> None:
    shop.deploy()
    shop.agree("g", layer_code="GDAL")
    insert = 'SELECT omd_delivery.insert_delivery(%s, %s, %s, \'{"mode": "FULL"}\')'
    made = shop.one(insert, "g", "GDAL", None)
    assert (shop.status(made), shop.delivery(made)["options"]) == ("RECEIVED", {"mode": "FULL"})
    assert item_error(shop, "move_delivery", made, "PERSISTED") == "OM130"
    shop.one("SELECT omd_delivery.move_delivery(%s, 'PERSISTING')", made)
    shop.one("SELECT omd_delivery.move_delivery(%s, 'PERSISTED', 'done')", made)
    assert shop.events(made)[-1] == ("move_delivery", "PERSISTED")
    assert item_error(shop, "move_delivery", made, "RECEIVED") == "OM130"
    lvl = shop.one(insert, "a", "LVL", "2020-01-01Z")
    assert shop.one(insert, "a", "LVL", "2020-01-01Z") == lvl + 1
    for sqlstate, arguments in (
        ("OM005", (None, "LVL", None)),
        ("OM033", ("x", "LVL", None)),
        ("OM036", ("g", "LVL", None)),
        ("OM005", ("a", "LVL", None)),
        ("OM038", ("a", "LVL", "2999-01-01Z")),
        ("OM036", ("a", "LVL", "-infinity")),
        ("OM036", ("g", "GDAL", "infinity")),
    ):
        with pytest.raises(psycopg.Error) as caught:
            shop.one(insert, *arguments)
        assert caught.value.sqlstate == sqlstate
    shop.agree("g", inactive_indicator="Y")
    with pytest.raises(psycopg.Error) as caught:
        shop.one(insert, "g", "GDAL", None)
    assert caught.value.sqlstate == "OM232"


def test_the_cost_of_a_delta_does_not_grow_with_history(shop: Shop) -> None:
    """No statement of apply_delta looks at closed rows, however it is planned."""
    shop.deploy()
    shop.accept(1, {"customer": [("N", n, "a") for n in range(100)]})
    shop.owner(
        "INSERT INTO lvl_shop.customer SELECT mod(n, 100), 'old',"
        " timestamptz '2000-01-01Z' + n * interval '1 h',"
        " timestamptz '2000-01-01Z' + (n + 1) * interval '1 h', 'A', 0"
        " FROM generate_series(0, 20000) AS n"
    )
    shop.conn.execute("ANALYZE")
    shop.conn.execute("SELECT pg_stat_force_next_flush()")
    reads = (
        "SELECT pg_stat_clear_snapshot(), seq_scan + coalesce(idx_scan, 0) AS n"
        " FROM pg_stat_user_tables WHERE relname = '_closed_customer'"
    )
    before = shop.rows(reads)[0]["n"]
    shop.accept(2, {"customer": [("A", 1, "x"), ("R", 2, None), ("N", 100, "n")]})
    shop.conn.execute("SELECT pg_stat_force_next_flush()")
    assert shop.rows(reads)[0]["n"] == before
    assert len(shop.current("customer")) == 100


@pytest.mark.parametrize("routine", ["begin_delivery", "stage_verdict", "apply_delta"])
def test_a_session_that_is_killed_in_the_middle_leaves_nothing(
    shop: Shop, shops: Callable[..., Shop], routine: str
) -> None:
    shop.deploy()
    shop.accept(1, {"customer": [("N", 1, "a")]})
    delivery_id = shop.load(2, entities={"customer": "DELTA"})
    arguments: dict[str, Any] = {"delivery_id": delivery_id}
    if routine != "begin_delivery":
        run = shop.begin(delivery_id)
        run.measure(1)
        run.verdict(1)
        run.measure(2)
        arguments["attempt"] = 1
        if routine == "stage_verdict":
            arguments["stage"] = 2
        else:
            run.verdict(2)
            run.write("customer", ("A", 1, "x"))
    before = shop.delivery(delivery_id)
    worker = shops()
    holder = shops()
    # It waits for a row that it needs late: of the Module, the delivery or the mark.
    blocker = {
        "begin_delivery": "omd.module WHERE module_code = 'lvl.shop.customer'",
        "stage_verdict": f"omd_delivery.delivery WHERE delivery_id = {delivery_id}",
        "apply_delta": "omd_delivery.high_water_mark",
    }[routine]
    failed: list[Exception] = []

    def work() -> None:
        try:
            worker.call(routine, **arguments)
        except psycopg.Error as error:
            failed.append(error)

    with holder.conn.transaction():
        holder.conn.execute(f"SELECT FROM {blocker} FOR UPDATE".encode())
        thread = threading.Thread(target=work)
        thread.start()
        pid = worker.conn.info.backend_pid
        while not shop.one("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid):
            pass
        assert shop.one("SELECT pg_terminate_backend(%s, 10000)", pid)
        thread.join()
    assert failed
    assert shop.delivery(delivery_id) == before
    assert shop.current("customer") == [(1, "a")]
    # Whoever comes next does it.
    if routine == "begin_delivery":
        assert shop.begin(delivery_id).attempt == 1
    elif routine == "stage_verdict":
        assert run.verdict(2)["verdict"] == "ACCEPTED"
    else:
        assert run.apply()["delivery_status"] == "ACCEPTED"
        assert shop.current("customer") == [(1, "x")]


def test_a_heartbeat_does_not_wait_for_a_long_delta(shop: Shop, shops: Callable[..., Shop]) -> None:
    shop.deploy()
    run = shop.begin(shop.load(1, entities={"customer": "DELTA"}), lease="1 hour")
    run.validate()
    holder = shops()
    with holder.conn.transaction():
        # As apply_delta, before its last step.
        holder.conn.execute("SELECT FROM omd_delivery.interface FOR NO KEY UPDATE")
        holder.conn.execute("SELECT FROM omd_delivery.delivery FOR NO KEY UPDATE")
        holder.conn.execute("LOCK TABLE lvl_shop.customer IN EXCLUSIVE MODE")
        shop.conn.execute("SET lock_timeout = '2s'")
        shop.call("heartbeat_delivery", delivery_id=run.id, attempt=1, lease="2 hours")
    left = shop.one(
        "SELECT min(lease_expires_at) > now() + interval '110 minutes' FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        run.instances["customer"],
    )
    assert left
    assert SHOP["interface"] == "shop"
