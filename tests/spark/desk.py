"""`Desk` hands deliveries over to Spark, in one line each."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from delivery.runs import Shop, insert_open

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from pyspark.sql import DataFrame, SparkSession

    import omd
    from omd.rooms.control.outcome import Outcome
    from omd.rooms.delivery.run import DeliveryBlock
    from spark.delivery_oracle import Entity

__all__ = ["Desk"]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value


class Desk(Shop):
    """A shop whose deliveries are run by Spark."""

    def __init__(
        self,
        conn: psycopg.Connection[dict[str, Any]],
        control: omd.Control,
        spark: SparkSession,
    ) -> None:
        super().__init__(conn)
        self.control = control
        self.spark = spark

    def texts(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> DataFrame:
        """Return rows as texts; a value beyond the columns is the mark of deletes."""
        names = [*columns, "acm_source_transaction_ind"]
        names = names[: len(rows[0])] if rows else names
        texts = [
            [None if v is None else str(v) for v in column] for column in zip(*rows, strict=True)
        ]
        texts = texts or [[] for _ in names]
        arrays = [pa.array(column, pa.string()) for column in texts]
        return self.spark.createDataFrame(pa.Table.from_arrays(arrays, names))

    def put(self, name: str, *rows: dict[str, Any], **more: Any) -> None:
        """Insert open rows into a table of the Logical Validation Layer, without hashes."""
        insert_open(self, self.lvl(name), "2019-01-01 00:00:00+00", rows, more)

    def block(self, day: int, /, code: str = "a", **arguments: Any) -> DeliveryBlock:
        """Return a delivery of this day of 2020 as a block."""
        at = datetime(2020, 1, day, tzinfo=timezone.utc)
        return self.control.delivery.create(
            code, snapshot_datetime=at, spark=self.spark, **arguments
        )

    def deliver(self, day: int, /, code: str = "a", **arguments: Any) -> Outcome[None]:
        at = datetime(2020, 1, day, tzinfo=timezone.utc)
        return self.control.delivery.deliver(
            code, snapshot_datetime=at, spark=self.spark, **arguments
        )

    def written(
        self, name: str, delivery_id: int, entity: Entity
    ) -> dict[tuple[Any, ...], tuple[str, dict[str, Any] | None]]:
        """Return the delta of a delivery: the operation and the row of each key."""
        found = {}
        for row in self.rows(
            f"SELECT * FROM {self.delta(name)} WHERE delivery_id = %s", delivery_id
        ):
            operation = row["acm_record_ind"]
            values = {a: _plain(row[a]) for a in entity.attributes}
            key = entity.key_of(values)
            assert key not in found
            found[key] = (operation, None if operation == "R" else values)
        return found

    def measured(self, delivery_id: int) -> dict[str, tuple[int, int]]:
        """Return how many current rows were in scope, and how many would be deleted."""
        return {
            row["entity_code"]: (row["rows_in_scope"], row["rows_implicit_deletes"])
            for row in self.rows(
                "SELECT e.entity_code, r.rows_in_scope, r.rows_implicit_deletes"
                " FROM omd_delivery.entity_result AS r JOIN omd_delivery.entity AS e"
                " USING (entity_id) WHERE r.delivery_id = %s AND r.stage = 2",
                delivery_id,
            )
        }
