"""The entities of a run in stage 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.frames import Keeper
from omd.spark.delivery.lvl import Current
from omd.spark.delivery.stage2.joins import without
from omd.spark.delivery.stage2.side import Side, kept

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun
    from omd.spark.delivery.plan import Plan, Relationship
    from omd.spark.delivery.stage1 import Checked


class Sides:
    """The entities of a run: those of the plan, and those that are only looked up.

    Args:
        plan: the plan of stage 2.
        checked: the delivered entities after stage 1.
    """

    def __init__(
        self,
        run: DeliveryRun,
        spark: SparkSession,
        plan: Plan,
        checked: Mapping[str, Checked],
    ) -> None:
        self._run = run
        self.spark = spark
        self.plan = plan
        self.keeper = Keeper()  # keeps their frames until `release`
        self._by_name: dict[str, Side] = {
            name: Side(
                name, entity.key, self._current(name), entity, checked.get(name), kept(entity)
            )
            for name, entity in plan.entities.items()
        }
        self.planned = list(self._by_name.values())  # the entities of the plan, in its order
        # Those of them of which rows were delivered.
        self.delivered = [side for side in self.planned if side.is_delivered]

    def _current(self, name: str) -> Current:
        return Current(self._run, self.spark, self.plan.lvl_tables[name])

    def get(self, name: str) -> Side | None:
        """Return an entity that the plan has, or that was looked up before."""
        return self._by_name.get(name)

    def side(self, name: str, key: Sequence[str]) -> Side:
        """Return an entity; one that the plan does not have is known by its key alone."""
        if name not in self._by_name:
            self._by_name[name] = Side(name, tuple(key), self._current(name))
        return self._by_name[name]

    def state(self, side: Side) -> DataFrame:
        """Return the state of an entity, with what this delivery takes for existing rows."""
        return side.state(include_existing=self.plan.include_existing)

    def rest(
        self,
        side: Side,
        names: Sequence[str],
        wanted: DataFrame,
        columns: Sequence[str],
        at_most: int | None,
    ) -> DataFrame:
        """Return current rows that are not among those joined, by the values of columns.

        Args:
            names: the columns.
            wanted: their values.
            columns: the columns that are returned.
            at_most: how many values there are at most, if that is known.
        """
        needed = list(dict.fromkeys([*side.key, *names, *columns]))
        # If the same columns are wanted each time, the rows are read once.
        read = side.columns if set(side.columns) >= set(needed) else needed
        rows = side.current.matching(names, wanted, read, at_most)
        if side.joined is not None:
            rows = rows.join(side.joined, list(side.key), "left_anti")
        return rows.select(*columns)

    def childless(
        self, rows: DataFrame, child: Side, relationship: Relationship, at_most: int | None
    ) -> DataFrame:
        """Return the parents that no current row, which the delivery does not touch, refers to."""
        pairs = [(p, c) for c, p in relationship.pairs]
        wanted = rows.select(*(F.col(p).alias(c) for p, c in pairs)).distinct()
        columns = relationship.columns
        return without(rows, self.rest(child, columns, wanted, columns, at_most), pairs)

    def release(self) -> None:
        """Free what is kept."""
        self.keeper.release()
        for side in self._by_name.values():
            side.current.release()
