"""Stage 1: the checks that need no other row than those delivered (delivery.md, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

    from omd.spark.delivery.plan import Constraint, EntityPlan
    from omd.spark.delivery.staging import Staged

__all__ = ["Checked", "check", "has"]


def has(bit: int) -> Column:
    """Return whether the bit of a constraint is set in ``_mask`` (an array of bigints)."""
    raise NotImplementedError


@dataclass(frozen=True)
class Checked:
    """The rows of an entity after stage 1; bit i of ``_mask`` belongs to ``constraints[i]``."""

    entity: EntityPlan
    constraints: tuple[Constraint, ...]
    narrow: DataFrame
    _rows: Callable[[], DataFrame]
    _measures: Mapping[str, Any]

    def rows(self) -> DataFrame:
        """Return all rows, read again: typed attributes, flags, mask, hash, ``_raw``, ``_from``."""
        return self._rows()

    def measures(self) -> dict[str, Any]:
        """Return what `omd_delivery.register_violations` takes for stage 1."""
        return dict(self._measures)

    def release(self) -> None:
        """Free the narrow frame."""
        self.narrow.unpersist()


def check(
    spark: SparkSession, entity: EntityPlan, staged: Staged, keep: Collection[str] = ()
) -> Checked:
    """Check the staged rows of an entity: one scan.

    Args:
        spark: the session that works.
        entity: the entity in the plan of stage 1.
        staged: its rows.
        keep: attributes that the narrow frame has beside the key.
    """
    raise NotImplementedError
