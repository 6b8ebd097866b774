"""Stage 2 as a whole: its order, and what it measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from omd.spark.delivery.stage2.contexts import join_current
from omd.spark.delivery.stage2.existing import count_existing
from omd.spark.delivery.stage2.rounds import Rounds
from omd.spark.delivery.stage2.side import Side
from omd.spark.delivery.stage2.sides import Sides

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun
    from omd.spark.delivery.plan import Plan
    from omd.spark.delivery.stage1 import Checked


class Judgement:
    """Stage 2 of a run.

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
        self._sides = Sides(run, spark, plan, checked)
        self.planned = self._sides.planned
        self.delivered = self._sides.delivered

    def about(self) -> Iterator[int]:
        """Yield about how many rows are read of each entity, as far as that is known before."""
        for side in self.delivered:
            yield side.delivered
            if side.plan is not None and side.plan.load == "FULL":
                yield side.current.about

    def work_in_one_task(self) -> None:
        """Have the delivered rows in one partition."""
        for side in self.delivered:
            assert side.checked is not None  # noqa: S101 - it is delivered
            side.checked = side.checked.in_one_task()

    def judge(self) -> None:
        """Find all violations; afterwards each side has its counts."""
        for side in self.delivered:
            join_current(self._sides, side)
        Rounds(self._sides).run()
        for side in self.planned:
            for constraint in side.constraints:
                count_existing(self._sides, side, constraint)

    def measures(self, side: Side) -> dict[str, Any]:
        """Return what `omd_delivery.register_violations` takes for stage 2."""
        measures: dict[str, Any] = {
            "violations": {
                c.code: {
                    "rows": side.counts.get(c.code, 0),
                    "existing": side.existing.get(c.code, 0),
                }
                for c in side.constraints
                if c.type != "deletes"
            }
        }
        if side.checked is None or side.plan is None:
            return measures
        first = side.checked.measures()
        measures["rows_delivered"] = first["rows_delivered"]
        measures["rows_skipped"] = first["rows_skipped"] + side.skipped
        findings = {}
        if side.rows["unknown"]:
            findings["DELETE_OF_UNKNOWN_KEY"] = side.rows["unknown"]
        if side.plan.load == "FULL":
            measures["rows_in_scope"] = side.rows["scope"]
            measures["rows_implicit_deletes"] = side.rows["implicit"]
            if side.rows["unreadable"]:
                findings["DELETES_SUPPRESSED"] = side.rows["missing"]
        measures["findings"] = findings
        return measures

    def release(self) -> None:
        """Free what is kept."""
        self._sides.release()
