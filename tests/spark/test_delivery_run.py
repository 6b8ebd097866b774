"""Deliveries on Spark, from what is handed over to the queue of the facts."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd
from delivery.runs import SHOP
from omd.errors import lookup
from omd.rooms.delivery.calls import DeliveryCalls
from spark.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

pytestmark = pytest.mark.spark

PARTS: dict[str, Any] = {
    "interface": "parts",
    "entities": [
        {"name": "part", "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]},
        {
            "name": "supplier",
            "key": ["part", "nbr"],
            "attributes": [
                {"name": "part", "type": "integer"},
                {"name": "nbr", "type": "integer"},
                {"name": "qty", "type": "integer"},
            ],
            "relationships": [{"name": "of", "parent": "part", "columns": ["part"]}],
        },
    ],
}
ORDERS: dict[str, Any] = {
    "interface": "orders",
    "entities": [
        {
            "name": "organization",
            "key": ["code"],
            "attributes": [{"name": "code", "type": "text(2)"}],
        },
        {
            "name": "orders",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "text(2)"},
                {"name": "organization", "type": "text(2)"},
                {"name": "note", "type": "text(9)"},
            ],
            "relationships": [
                {
                    "name": "of",
                    "parent": "organization",
                    "columns": ["organization"],
                    "context_filter": True,
                }
            ],
        },
        {
            "name": "lines",
            "key": ["orders", "line"],
            "attributes": [
                {"name": "orders", "type": "text(2)"},
                {"name": "line", "type": "integer"},
            ],
            "relationships": [{"name": "of", "parent": "orders", "columns": ["orders"]}],
        },
    ],
}


def outcomes(desk: Desk, name: str, delivery_id: int) -> dict[str, set[tuple[Any, ...]]]:
    """Return the keys of the delta by their operation."""
    rows = desk.rows(f"SELECT * FROM {desk.delta(name)} WHERE delivery_id = %s", delivery_id)
    found: dict[str, set[tuple[Any, ...]]] = {}
    size = {"supplier": 2, "lines": 2}.get(name, 1)
    for row in rows:
        key = tuple(v for n, v in row.items() if n != "delivery_id" and not n.startswith("acm_"))
        found.setdefault(row["acm_record_ind"], set()).add(key[:size])
    return found


def test_a_full_delivery_and_what_changes_later(desk: Desk, tmp_path: Path) -> None:
    desk.deploy(SHOP)
    customers = desk.texts(["nbr", "email"], [(1, "a@x"), (2, "b@x"), (3, None)])
    (tmp_path / "orders.csv").write_text("nbr,customer,amount\n10,1,1.50\n11,2,2\n")
    (tmp_path / "readme.txt").write_text("not delivered")
    orders = str(tmp_path / "orders.csv")
    receipt = desk.deliver(1, entities={"customer": customers, "orders": orders})
    assert (receipt.facts["delivery_status"], receipt.facts["verdict"]) == ("ACCEPTED", "ACCEPTED")
    assert (receipt.facts["attempt"], receipt.facts["queue_id"]) == (1, 1)
    (tmp_path / "customer.csv").write_text("nbr,email\n1,a@x\n2,c@x\n4,d\n")
    receipt = desk.deliver(2, files=tmp_path)
    assert receipt.facts["queue_id"] == 2
    (customer, _) = receipt.facts["document"]["entities"]
    assert [customer[f"rows_{n}"] for n in ("new", "changed", "deleted", "unchanged")] == [1] * 4
    assert desk.current("customer") == [(1, "a@x"), (2, "c@x"), (4, "d")]


def test_the_rows_of_a_runner_pass_the_guard_of_the_delta(desk: Desk, dsn: str) -> None:
    desk.deploy(SHOP)
    dsn = make_conninfo(dsn, options="-c role=omd_runner")
    with omd.connect(dsn) as control:
        runner = Desk(desk.conn, control, desk.spark)
        customers = desk.texts(["nbr", "email"], [(n, "a@x") for n in range(50)])
        receipt = runner.deliver(1, entities={"customer": customers.repartition(4)})
        assert receipt.facts["delivery_status"] == receipt.facts["verdict"] == "ACCEPTED"
        with runner.block(2, staging="postgres", loads={"customer": "DELTA"}) as block:
            with psycopg.connect(dsn) as conn:
                conn.execute("INSERT INTO stg_a.customer (nbr, email) VALUES ('1', 'b')")
            assert block.run().facts["delivery_status"] == "ACCEPTED"
    assert len(desk.current("customer")) == 50


def test_example_1_of_context(desk: Desk) -> None:
    desk.deploy(PARTS)
    desk.put("part", *[{"nbr": nbr} for nbr in (1, 2, 3, 200)])
    suppliers = [(1, 10, 5), (1, 11, 1), (2, 10, 1), (3, 10, 1), (200, 12, 1)]
    desk.put("supplier", *[dict(zip(("part", "nbr", "qty"), r, strict=True)) for r in suppliers])
    desk.put("supplier", {"part": 1, "nbr": 14, "qty": 1}, acm_record_ind="R")
    delivered = {
        "part": desk.texts(["nbr"], [(1,), (2,), (200,)]),
        "supplier": desk.texts(
            ["part", "nbr", "qty"], [(1, 10, 50), (1, 13, 1), (200, 12, 1), (1, 14, 1)]
        ),
    }
    receipt = desk.deliver(1, entities=delivered, loads={"part": "DELTA"})
    assert outcomes(desk, "supplier", receipt.facts["delivery_id"]) == {
        "A": {(1, 10)},
        "N": {(1, 13), (1, 14)},
        "R": {(1, 11), (2, 10)},
    }
    assert outcomes(desk, "part", receipt.facts["delivery_id"]) == {}
    loads = {"part": "DELTA", "supplier": {"context": "ALL"}}
    receipt = desk.deliver(2, entities=delivered, loads=loads)
    assert outcomes(desk, "supplier", receipt.facts["delivery_id"]) == {"R": {(3, 10)}}


def test_example_2_of_context(desk: Desk) -> None:
    desk.deploy(ORDERS)
    desk.put("organization", {"code": "NL"}, {"code": "DE"})
    desk.put(
        "orders",
        {"nbr": "O1", "organization": "NL"},
        {"nbr": "O2", "organization": "NL"},
        {"nbr": "O9", "organization": "DE"},
    )
    lines = [("O1", 1), ("O1", 2), ("O2", 1), ("O9", 1)]
    desk.put("lines", *[{"orders": o, "line": n} for o, n in lines])
    delivered = {
        "organization": desk.texts(["code"], [("NL",)]),
        "orders": desk.texts(
            ["nbr", "organization", "note"], [("O1", "NL", "changed"), ("O3", "NL", None)]
        ),
        "lines": desk.texts(["orders", "line"], [("O1", 1), ("O1", 3), ("O3", 1)]),
    }
    accepted = desk.deliver(1, entities=delivered, loads={"organization": "DELTA"})
    first = accepted.facts["delivery_id"]
    assert outcomes(desk, "orders", first) == {"A": {("O1",)}, "N": {("O3",)}, "R": {("O2",)}}
    assert outcomes(desk, "lines", first) == {
        "N": {("O1", 3), ("O3", 1)},
        "R": {("O1", 2), ("O2", 1)},
    }
    # A bound tenant deletes nothing of others by delivering what they belong to.
    desk.agree(context={"organization": [{"code": "NL"}]})
    both = {**delivered, "organization": desk.texts(["code"], [("NL",), ("DE",)])}
    bound = desk.deliver(2, entities=both, loads={"organization": "DELTA"}).facts["delivery_id"]
    assert outcomes(desk, "orders", bound) == outcomes(desk, "lines", bound) == {}
    desk.agree(context={})
    loads = {
        "organization": "DELTA",
        "orders": {"context": "ALL"},
        "lines": {"context": "ALL"},
    }
    second = desk.deliver(3, entities=delivered, loads=loads).facts["delivery_id"]
    assert outcomes(desk, "orders", second) == {"R": {("O9",)}}
    assert outcomes(desk, "lines", second) == {"R": {("O9", 1)}}


@pytest.mark.parametrize(
    ("record", "raw"),
    [
        ('11,1,"5', {"nbr": "11", "customer": "1", "amount": "5"}),
        ('"11,1,5', {"nbr": "11,1,5", "customer": None, "amount": None}),
        ("11,1", {"nbr": "11", "customer": "1", "amount": None}),
        ("11", {"nbr": "11", "customer": None, "amount": None}),
        ("11,1,5,6", {"nbr": "11", "customer": "1", "amount": "5"}),
    ],
)
def test_a_record_of_bad_format_is_shown_as_it_was_staged(
    desk: Desk, tmp_path: Path, record: str, raw: dict[str, str | None]
) -> None:
    desk.deploy(SHOP)
    desk.put("customer", {"nbr": 1, "email": "a@x"})
    path = tmp_path / "orders.csv"
    path.write_text(f"nbr,customer,amount\n10,1,5\n{record}\n")
    receipt = desk.deliver(1, entities={"orders": str(path)})
    (shown,) = desk.rows("SELECT * FROM omd_report.delivery_quarantine")
    assert (shown["constraint_codes"], shown["raw"]) == (["orders.row_format"], raw), receipt


def test_a_rejection_is_a_receipt_and_shows_samples_as_they_were_staged(desk: Desk) -> None:
    lifted = {"orders.of": {"action": "EMPTY COLUMN", "threshold": 1}}
    model = {**SHOP, "settings": {**lifted, "orders.positive": {"threshold": 1}}}
    desk.deploy(model, options={"max_concurrent_entities": 1, "max_sample_size": 2})
    desk.put("customer", {"nbr": 1, "email": "a@x"})
    rows = [
        (10, 1, "5"),
        (11, 7, "5"),
        (12, 8, "5"),
        ("x\x00", 1, "5"),
        (13, 1, "-1"),
        (13, 1, "1"),
    ]
    orders = desk.texts(["nbr", "customer", "amount"], rows)
    receipt = desk.deliver(1, entities={"orders": orders})
    assert (receipt.facts["delivery_status"], receipt.facts["verdict"]) == ("REFUSED", "REJECTED")
    assert (receipt.status, receipt.reason, receipt.error) == ("F", "REJECTED", None)
    reasons = {r["constraint"]: r["violations"] for r in receipt.facts["document"]["reasons"]}
    assert reasons == {"orders.nbr.datatype": 1, "orders.primary_key": 3}
    shown = desk.rows(
        "SELECT * FROM omd_report.delivery_quarantine ORDER BY raw->>'nbr', raw->>'amount'"
    )
    assert [(r["record_key"], r["raw"]["nbr"], r["is_skipped"]) for r in shown] == [
        ({"nbr": 13}, "13", True),
        (None, "x\ufffd", True),
    ]
    receipt = desk.deliver(2, entities={"orders": desk.texts(orders.columns, rows[:3])})
    assert {r["constraint"]: r["violations"] for r in receipt.facts["document"]["reasons"]} == {
        "orders.of": 2
    }
    settings = {"orders.of": {"threshold": 2}}
    desk.agree(settings=settings)
    good = desk.texts(orders.columns, rows[:3])
    receipt = desk.deliver(3, entities={"orders": good}, dry_run=True)
    assert (receipt.facts["delivery_status"], receipt.facts["queue_id"]) == ("CHECKED", None)
    receipt = desk.deliver(3, entities={"orders": good})
    assert receipt.facts["verdict"] == "ACCEPTED WITH FINDINGS"
    assert [row[:2] for row in desk.current("orders")] == [(10, 1), (11, None), (12, None)]
    shown = desk.rows(
        "SELECT * FROM omd_report.delivery_quarantine WHERE delivery_id = %s ORDER BY raw->>'nbr'",
        receipt.facts["delivery_id"],
    )
    assert [(r["record_key"], r["constraint_codes"], r["raw"]["customer"]) for r in shown] == [
        ({"nbr": 11}, ["orders.of"], "7"),
        ({"nbr": 12}, ["orders.of"], "8"),
    ]


def test_a_failed_run_is_resumed_and_waits_for_another(desk: Desk) -> None:
    desk.deploy(SHOP)
    desk.agree("b")
    other = desk.run(1, code="b", entities=["customer"])
    orders = desk.texts(["nbr", "email"], [(1, "a")])
    with desk.block(2, entities={"customer": orders}, wait=timedelta(0)) as block:
        waits = block.run()
        assert (waits.kind, waits.status, waits.reason) == ("DELIVERY", "A", "WAIT")
        assert waits.detail == f"delivery {other.id} of the interface runs"
        assert desk.status(block.delivery_id) == "LOADED"
    desk.call("cancel_delivery", delivery_id=other.id, reason="it is in the way")
    fails = orders.selectExpr("nbr", "raise_error('broken') AS email")
    told = {"delivery_id": block.delivery_id, "spark": desk.spark}
    broken = desk.control.delivery.deliver(entities={"customer": fails}, **told)
    assert (broken.status, broken.reason) == ("F", "FAILED")
    with pytest.raises(Exception, match="broken"):
        broken.result()
    assert desk.status(block.delivery_id) == "LOADED"
    (failed,) = desk.rows(
        "SELECT * FROM omd.module_instance WHERE execution_status_code = 'F'"
        " ORDER BY module_instance_id DESC LIMIT 1"
    )
    assert desk.rows("SELECT FROM omd.event_log WHERE event_detail LIKE '%%broken%%'"), failed
    receipt = desk.control.delivery.deliver("a", entities={"customer": orders}, **told)
    assert (receipt.facts["delivery_status"], receipt.facts["attempt"]) == ("ACCEPTED", 2)
    assert desk.control.delivery.deliver(entities={"customer": orders}, **told) == receipt


def test_a_renewal_between_the_end_of_a_delivery_and_that_of_its_block_is_no_loss(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.deploy(SHOP)
    tried = threading.Event()
    apply, renew = DeliveryCalls.apply_delta, DeliveryCalls.heartbeat_delivery

    def applied(self: DeliveryCalls, *arguments: Any) -> Any:
        answer = apply(self, *arguments)
        tried.clear()
        assert tried.wait(30)
        return answer

    def renewed(self: DeliveryCalls, *arguments: Any) -> None:
        try:
            renew(self, *arguments)
        finally:
            tried.set()

    monkeypatch.setattr(DeliveryCalls, "apply_delta", applied)
    monkeypatch.setattr(DeliveryCalls, "heartbeat_delivery", renewed)
    customers = desk.texts(["nbr", "email"], [(1, "a")])
    receipt = desk.deliver(1, entities={"customer": customers}, lease=timedelta(seconds=2))
    assert receipt.facts["delivery_status"] == "ACCEPTED"


def test_a_run_stops_when_the_delivery_is_cancelled(desk: Desk, tmp_path: Path) -> None:
    desk.deploy(SHOP)
    started = tmp_path / "started"

    def stuck(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        started.touch()
        time.sleep(600)  # a task that is cancelled is killed
        yield from batches

    rows = desk.texts(["nbr", "email"], [(1, "a")]).mapInArrow(stuck, "nbr string, email string")
    block = desk.block(1, entities={"customer": rows}, lease=timedelta(seconds=5))
    with block:

        def cancel() -> None:
            while not started.exists():
                time.sleep(0.05)
            desk.call("cancel_delivery", delivery_id=block.delivery_id, reason="not wanted")

        canceller = threading.Thread(target=cancel)
        canceller.start()
        cancelled = block.run()
        canceller.join()
    assert (cancelled.status, cancelled.reason) == ("C", "CANCELLED")
    assert isinstance(cancelled.error, lookup("OM130"))
    assert desk.status(block.delivery_id) == "CANCELLED"
    tags = desk.spark.sparkContext.statusTracker().getActiveJobsIds()
    assert list(tags) == []


def test_physical_deletes_and_staging_in_tables(desk: Desk) -> None:
    desk.deploy(SHOP)
    desk.put("customer", {"nbr": 1, "email": "a"}, {"nbr": 2, "email": "b"})
    desk.put("customer", {"nbr": 3, "email": "c"}, acm_record_ind="R")
    told: dict[str, Any] = {"staging": "postgres", "loads": {"customer": "DELTA"}}
    with desk.block(1, delete_type="PHYSICAL", **told) as block:
        desk.rows(
            "INSERT INTO stg_a.customer (nbr, acm_source_transaction_ind)"
            " VALUES ('1', 'D'), ('3', 'D'), ('4', 'D') RETURNING 1"
        )
        receipt = block.run()
    assert receipt.facts["document"]["entities"][0]["findings"] == {"DELETE_OF_UNKNOWN_KEY": 1}
    assert desk.one("SELECT array_agg(nbr) FROM lvl_shop.customer") == [2]


def test_a_delivery_whose_block_fails_before_its_run_is_cancelled(desk: Desk) -> None:
    desk.deploy(SHOP)
    with pytest.raises(ZeroDivisionError), desk.block(1, staging="postgres") as block:
        1 / 0  # noqa: B018
    assert desk.status(block.delivery_id) == "CANCELLED"
