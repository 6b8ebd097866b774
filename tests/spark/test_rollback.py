"""Rollback of targets that only Spark can write (rule R2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omd
from omd.rooms.control.rows import ModuleExecutionLogRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMN = "by `run`"  # a hostile name for the column that partitions the table


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A plain Parquet table, partitioned by the insert instance id."""
    spark.sql("CREATE DATABASE IF NOT EXISTS lake")
    spark.sql(
        "CREATE TABLE lake.t (v STRING, `by ``run``` BIGINT) USING parquet"
        f" PARTITIONED BY (`by ``run```) LOCATION '{tmp_path}/t'"
    )
    yield "lake.t"
    spark.sql("DROP TABLE lake.t")
    spark.sql("DROP DATABASE lake")


def rows(spark: SparkSession) -> list[tuple[str, int]]:
    return sorted(map(tuple, spark.sql("SELECT * FROM lake.t").collect()))


def test_the_next_run_drops_the_partitions_of_failed_ones(
    spark: SparkSession, control: omd.Control, lake: str
) -> None:
    control.calls.omd.register_module(
        "m",
        area_code="HSTG",
        table_code=lake,
        platform_code="SPARK",
        table_format_code="PARQUET",
        insert_instance_column=COLUMN,
    )

    def load(run: omd.Run, fails: bool) -> None:
        spark.sql(f"INSERT INTO lake.t VALUES ('x', {run.instance_id})")
        if fails:
            raise ZeroDivisionError

    ids = []
    for fails in (False, True, True, False):
        try:
            with control.module("m", spark=spark) as run:
                ids.append(run.instance_id)
                load(run, fails)
        except ZeroDivisionError:
            pass
    assert rows(spark) == [("x", ids[0]), ("x", ids[3])]
    undone = control.report(ModuleExecutionLogRow, rolled_back_by_module_instance_id=ids[2])
    assert [row.module_instance_id for row in undone] == [ids[1]]


def test_spark_can_parse_the_repair_of_a_satellite(
    spark: SparkSession, control: omd.Control
) -> None:
    control.calls.omd.register_module(
        "m",
        area_code="INT",
        table_code='lake."my sat"',
        table_type_code="SAT",
        platform_code="SPARK",
        business_key_columns=["k`1", "k2"],
        open_expiry_date="9999-12-31",
    )
    with pytest.raises(ZeroDivisionError), control.module("m") as run:
        raise ZeroDivisionError
    statements = control.calls.omd.build_rollback_sql(run.instance_id)
    assert [row.statement.split()[0] for row in statements] == ["MERGE", "DELETE"]
    parser = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]
    for row in statements:
        assert "UnresolvedRelation [lake, my sat]" in parser.parsePlan(row.statement).toString()
