"""Targets that Spark itself writes: plain Parquet, or a table format that the session supports.

Plain Parquet is partitioned by the insert instance column, so that each run is a partition, and its
rollback drops that partition. There is no ledger and no fence: files that Spark commits are visible
at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.errors import CallerError, ConfigurationError
from omd._core.names import parts
from omd.spark.names import quote
from omd.spark.writer import MAY_LACK

if TYPE_CHECKING:
    from omd.rooms.control.rows import RollbackStepsRow
    from omd.rooms.control.run import Run

_log = logging.getLogger("omd.spark")


def write(run: Run, stamped: DataFrame, table: str, overwrite: bool) -> int:
    """Write stamped rows with their own session, and return how many there were."""
    name = _quoted(table)
    counted = Observation()
    observed = stamped.observe(counted, F.count(F.lit(1)).alias("rows"))
    if run._module.table_format_code == "PARQUET":
        _write_parquet(run, observed, name, overwrite)
    elif overwrite:
        observed.writeTo(name).overwrite(F.lit(True))
    else:
        observed.writeTo(name).append()
    # Spark may know before that there are no rows, and then it counts nothing.
    written = int(counted.get.get("rows") or 0)
    if overwrite and run._module.table_format_code == "PARQUET":
        _drop_replaced(run, stamped.sparkSession, name, written)
    return written


def execute_rollback(spark: SparkSession, step: RollbackStepsRow) -> None:
    """Execute a step of a rollback.

    Dropping a partition removes the files of a managed table only, and of these only the files that
    the catalogue knows. The files that a killed job has left, and those of an external table, would
    stay, and the next repair of the table would add them again. So each partition is emptied first.
    """
    if step.statement_kind == "PARTITIONS":
        name = _quoted(step.table_code)
        if not spark.catalog.tableExists(name):
            _log.info("%s does not exist: nothing to roll back", name)
            return
        _empty(spark, name, quote(step.insert_instance_column), step.instance_array)
    spark.sql(step.statement)


def _write_parquet(run: Run, stamped: DataFrame, name: str, overwrite: bool) -> None:
    spark = stamped.sparkSession
    column = run._module.insert_instance_column
    key = quote(column)
    if not spark.catalog.tableExists(name):
        columns = ", ".join(f"{quote(f.name)} {f.dataType.simpleString()}" for f in stamped.schema)
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING parquet PARTITIONED BY ({key})"
        )
    there = spark.catalog.listColumns(name)
    if [field.name for field in there if field.isPartition] != [column]:
        raise ConfigurationError(
            f"{name} is not partitioned by {column} alone, so a run could not be rolled back",
            hint=f"Create it with PARTITIONED BY ({key}), or let run.write create it.",
        )
    names = [field.name for field in there if not field.isPartition]
    extra = [c for c in stamped.columns if c not in (*names, column) and c not in MAY_LACK]
    if extra:
        raise CallerError(
            f'{name} has no column "{extra[0]}"', hint=f"Its columns are {', '.join(names)}."
        )
    # The catalogue gets the partition before its first file, so that any rollback finds it.
    spark.sql(f"ALTER TABLE {name} ADD IF NOT EXISTS PARTITION ({key} = {run.instance_id})")
    values = [F.col(quote(c)) if c in stamped.columns else F.lit(None) for c in names]
    rows = stamped.select(*values, F.lit(run.instance_id))
    rows.write.option("partitionOverwriteMode", "dynamic").insertInto(name, overwrite=overwrite)


def _drop_replaced(run: Run, spark: SparkSession, name: str, written: int) -> None:
    """Drop the partitions that an overwrite replaces, after the new rows are written."""
    key, kept = quote(run._module.insert_instance_column), run.instance_id
    if not written:  # a partition without new rows was not overwritten
        _empty(spark, name, key, [kept])
    values = (row[0].rpartition("=")[2] for row in spark.sql(f"SHOW PARTITIONS {name}").collect())
    others = [int(value) for value in values if value.isdigit() and int(value) != kept]
    if others:
        _empty(spark, name, key, others)
        drops = ", ".join(f"PARTITION ({key} = {value})" for value in others)
        spark.sql(f"ALTER TABLE {name} DROP IF EXISTS {drops}")


def _empty(spark: SparkSession, name: str, key: str, instances: Iterable[int]) -> None:
    """Remove the files of the partitions of runs, whether or not the catalogue knows them."""
    columns = spark.catalog.listColumns(name)
    nulls = ", ".join("NULL" for column in columns if not column.isPartition)
    for run in instances:
        spark.sql(f"INSERT OVERWRITE {name} PARTITION ({key} = {run}) SELECT {nulls} WHERE false")


def _quoted(table: str) -> str:
    """Return the name as Spark quotes it; it is registered as PostgreSQL quotes it."""
    return ".".join(map(quote, parts(table)))
