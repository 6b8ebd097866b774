"""Deliveries on Spark, from what is handed over to the queue of the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from delivery.runs import SHOP, Shop

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import DataFrame, SparkSession

    import omd


class Desk(Shop):
    """A shop whose deliveries are run by Spark."""

    control: omd.Control
    spark: SparkSession

    def frame(self, columns: str, *rows: tuple[Any, ...]) -> DataFrame:
        """Return rows of texts under the names of columns."""
        return self.spark.createDataFrame(
            list(rows), ", ".join(f"{name} string" for name in columns.split())
        )

    def deliver(self, day: int, /, code: str = "a", **arguments: Any) -> Any:
        from datetime import datetime, timezone

        at = datetime(2020, 1, day, tzinfo=timezone.utc)
        return self.control.delivery.deliver(
            code, snapshot_datetime=at, spark=self.spark, **arguments
        )


@pytest.fixture
def desk(conn: psycopg.Connection[dict[str, Any]], control: omd.Control, spark: Any) -> Desk:
    desk = Desk(conn)
    desk.control = control
    desk.spark = spark
    return desk


def test_a_full_delivery_and_what_changes_later(desk: Desk) -> None:
    desk.deploy(SHOP)
    customers = desk.frame("nbr email", ("1", "a@x"), ("2", "b@x"), ("3", None))
    orders = desk.frame("nbr customer amount", ("10", "1", "1.50"), ("11", "2", "2"))
    receipt = desk.deliver(1, entities={"customer": customers, "orders": orders})
    print(receipt)
    assert (receipt.delivery_status, receipt.verdict, receipt.attempt) == ("ACCEPTED", "ACCEPTED", 1)
    customers = desk.frame("nbr email", ("1", "a@x"), ("2", "c@x"), ("4", "d"))
    orders = desk.frame("nbr customer amount", ("10", "1", "1.50"), ("11", "2", "2"))
    receipt = desk.deliver(2, entities={"customer": customers, "orders": orders})
    print(receipt.document)
    print(desk.current("customer"))
    assert 0
