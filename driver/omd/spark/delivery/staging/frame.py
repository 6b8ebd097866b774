"""Rows that Spark has with their types: a DataFrame that was handed over, or a staging table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.staging.reader import Reader
from omd.spark.delivery.staging.staged import Staged
from omd.spark.sessions import in_session, most_rows

if TYPE_CHECKING:
    from omd.spark.delivery.plan import EntityPlan, Plan

_ROW_BYTES = 200  # about


class FrameReader(Reader):
    """Reads a DataFrame.

    Args:
        spark: a session of `working_session`.
        plan: the plan of stage 1.
        entity: the entity in it.
        frame: its rows; the frame may be of another session.
        origin: where samples say that a row comes from.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        entity: EntityPlan,
        frame: DataFrame,
        origin: str = "DataFrame",
    ) -> None:
        super().__init__(spark, plan, entity)
        self.frame = in_session(spark, frame)
        self.origin = origin

    def staged(self) -> Staged:
        """Return the staged rows."""
        return self.typed(self.frame, F.lit(self.origin), size=self.size())

    def size(self) -> int | None:
        """Return about how many bytes there are at most, where Spark knows how many rows."""
        rows = most_rows(self.frame)
        return None if rows is None else rows * _ROW_BYTES
