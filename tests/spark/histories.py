"""A history of notes: what a Module writes, and what an independent reader sees of it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["HISTORY", "chain", "versions"]

HISTORY: dict[str, Any] = {
    "area_code": "INT",
    "table_type_code": "SAT",
    "business_key_columns": ["id"],
}


def versions(spark: SparkSession, *rows: tuple[int, str, str]) -> DataFrame:
    """Return new versions: id, note, effective date."""
    return spark.createDataFrame(
        [(id, note, date.fromisoformat(day)) for id, note, day in rows],
        "id bigint, note string, omd_effective_date date",
    )


def chain(rows: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the versions that a table holds, without the runs that inserted them."""
    return sorted(
        (
            row["id"],
            row["note"],
            str(row["omd_effective_date"]),
            str(row["omd_expiry_date"]),
            row["omd_current_record_indicator"],
            row["omd_update_module_instance_id"],
        )
        for row in rows
    )
