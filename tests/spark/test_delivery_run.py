"""Deliveries on Spark, from what is handed over to the queue of the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from delivery.runs import SHOP

if TYPE_CHECKING:
    from spark.desk import Desk


def test_a_full_delivery_and_what_changes_later(desk: Desk) -> None:
    desk.deploy(SHOP)
    customers = desk.texts(["nbr", "email"], [(1, "a@x"), (2, "b@x"), (3, None)])
    orders = desk.texts(["nbr", "customer", "amount"], [(10, 1, "1.50"), (11, 2, "2")])
    receipt = desk.deliver(1, entities={"customer": customers, "orders": orders})
    assert (receipt.delivery_status, receipt.verdict) == ("ACCEPTED", "ACCEPTED")
    assert (receipt.attempt, receipt.queue_id) == (1, 1)
    customers = desk.texts(["nbr", "email"], [(1, "a@x"), (2, "c@x"), (4, "d")])
    receipt = desk.deliver(2, entities={"customer": customers, "orders": orders})
    assert receipt.queue_id == 2
    (customer, _) = receipt.document["entities"]
    assert [customer[f"rows_{n}"] for n in ("new", "changed", "deleted", "unchanged")] == [1] * 4
    assert desk.current("customer") == [(1, "a@x"), (2, "c@x"), (4, "d")]
