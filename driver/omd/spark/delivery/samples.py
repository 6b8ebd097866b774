"""Samples of rows that violate constraints, for the quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omd.delivery.run import DeliveryRun
    from omd.spark.delivery.plan import Plan
    from omd.spark.delivery.stage1 import Checked
    from omd.spark.delivery.stage2 import Side

__all__ = ["Samples"]


class Samples:
    def __init__(self, run: DeliveryRun, plan: Plan) -> None:
        pass

    def take_checked(self, checked: Checked) -> None:
        pass

    def take_judged(self, side: Side) -> None:
        pass
