"""Staging: what was handed over, as one DataFrame per entity whose columns are the staged ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from omd.spark.delivery.plan import Plan

__all__ = ["Staged", "stage"]


def _never() -> None:
    return None


@dataclass(frozen=True)
class Staged:
    """The staged rows of an entity.

    ``frame`` has the staged columns by their staged names, ``_from`` (text: file or table) and
    ``_bad`` (boolean: the row can't be read, or has another number of fields).
    """

    entity: str
    frame: DataFrame
    findings: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    unchanged: Callable[[], None] = _never


def stage(spark: SparkSession, plan: Plan, given: Any) -> dict[str, Staged]:
    """Return the staged rows of the entities of the plan.

    Args:
        spark: the session that reads them.
        plan: the plan of stage 1.
        given: DataFrames or paths by entity; the path of a folder; or ``"postgres"``.
    """
    raise NotImplementedError
