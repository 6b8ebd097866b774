"""What a job does with its run: read, stamp, write (docs/explanation/jobs.md, rule J7)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from omd.control.rows import WriteLogRow
from omd.errors import CallerError
from omd.spark import lake
from omd.spark.failure import failure_in
from omd.spark.relation import Relation
from omd.spark.sessions import register
from omd.spark.source import OmdDataSource
from omd.spark.window import as_option
from omd.spark.writer import INSERT_DATETIME, RECORD_SOURCE, Ledger, Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from omd.control.run import ModuleRun

__all__ = ["WriteResult", "read", "stamp", "write"]

EVENT_DATETIME = "omd_event_datetime"
END_OF_TIME = date(9999, 12, 31)


@dataclass(frozen=True)
class WriteResult:
    """What a write did: the rows of all its partitions, as committed."""

    rows: int


def read(
    run: ModuleRun,
    spark: SparkSession,
    table: str | None = None,
    *,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    window: str | tuple[str | None, str | None] | None = None,
    predicates: Sequence[str] | None = None,
    **options: object,
) -> DataFrame:
    """A table, or a query, of the run's database as a DataFrame.

    Whatever a run reads from one database, in however many partitions, attempts and DataFrames, is
    of one moment: that of its first read, or of the first one after its last write with
    `ModuleRun.write`. What the job has changed otherwise shows after ``run.snapshot(renew=True)``.
    The DataFrame can be used until the run ends.

    Args:
        run: the run that reads.
        spark: the session.
        table: ``schema.table``.
        query: a SELECT instead of a table.
        columns: only these. Spark does not tell a Python data source which ones a job uses, so
            without it all of them are read.
        window: only the rows in the load window of the run, by these columns: a time, or the pair
            of a time and an id; `ModuleRun.window` comes before.
        predicates: SQL conditions, a partition each; together they must cover each row once.
        options: of the data source ``omd``, such as ``partitionColumn`` and ``numPartitions``.

    Raises:
        OmdError: there is no such table or column, or Spark can't take it.
        SnapshotGone: not from here, but from Spark, when the DataFrame is used after the run.
    """
    url = str(options.get("url") or run.dsn)
    given = {
        **options,
        "url": url,
        "table": table,
        "query": query,
        "predicates": None if predicates is None else json.dumps(list(predicates)),
        **({} if window is None else _window(run, window)),
    }
    told = {name: str(value) for name, value in given.items() if value is not None}
    if "snapshot" not in told:
        told["snapshot"] = run.snapshot(url)
    # Made here too, to complain before Spark starts and wraps the complaint.
    source = OmdDataSource(told)
    relation = source.relation()
    if columns is not None:
        relation = relation.selecting(columns)
    source.reader(relation.schema())
    return register(spark, url).read.format("omd").schema(relation.schema()).options(**told).load()


def _window(run: ModuleRun, columns: str | tuple[str | None, str | None]) -> dict[str, object]:
    """The options that tell the load window of the run."""
    window = run.load_window
    if window is None:
        raise CallerError(
            f"module {run} has no load window yet",
            hint="Call run.window(end_value=…, end_id=…) before.",
        )
    time_column, id_column = (columns, None) if isinstance(columns, str) else columns
    return {
        "windowTimeColumn": time_column,
        "windowIdColumn": id_column,
        "windowStart": as_option(window.start_value) if window.end_value else None,
        "windowStartId": window.start_id,
        "windowEnd": window.end_value and as_option(window.end_value),
        "windowEndId": window.end_id,
    }


def stamp(
    run: ModuleRun,
    df: DataFrame,
    *,
    record_source: str | None = None,
    event_datetime: Column | datetime | None = None,
    effective_date: Column | date | datetime | None = None,
) -> DataFrame:
    """The DataFrame with the audit columns of this run.

    Instance id and insert datetime are always this run's; a record source that the rows bring along
    stays.

    Args:
        run: the run that writes the rows.
        df: the rows.
        record_source: where they come from; default: what they bring along, else the Module's code.
        event_datetime: when what a row tells happened, where known.
        effective_date: for a target with history: the start of the validity. Adds the open end and
            the current indicator.
    """
    module = run.module
    columns = {
        module.insert_instance_column: F.lit(run.module_instance_id).cast("bigint"),
        INSERT_DATETIME: F.current_timestamp(),
    }
    if record_source is not None or RECORD_SOURCE not in df.columns:
        columns[RECORD_SOURCE] = F.lit(record_source or run.module_code)
    if event_datetime is not None:
        columns[EVENT_DATETIME] = F.lit(event_datetime)
    if effective_date is not None:
        history = (
            module.effective_date_column,
            module.expiry_date_column,
            module.current_indicator_column,
        )
        for name, value in zip(history, (effective_date, END_OF_TIME, "Y"), strict=True):
            if name is None:
                raise CallerError(f"module {run.module_code} names no columns for its history")
            columns[name] = F.lit(value)
    return df.withColumns(columns)


def write(
    run: ModuleRun,
    df: DataFrame,
    table: str | None = None,
    *,
    mode: Literal["append", "overwrite"] = "append",
) -> WriteResult:
    """Stamp the rows, write them, and add their number to the run's inserted rows.

    In PostgreSQL each partition is there once or not at all, however often Spark tries it. A target
    on Spark is written by the session: plain Parquet into a partition of the run (the table is
    created if it is not there), other formats as the session knows them.

    Args:
        run: the run that writes.
        df: the rows, under the column names of the table. Columns that it lacks get their default;
            a table without omd_insert_datetime or omd_record_source is written without.
        table: the target; default: the Module's.
        mode: ``overwrite`` truncates and loads as one visible change, through one partition. In
            plain Parquet the partitions of other runs go when the new one is there.

    Raises:
        OmdError: the rows do not fit the table, or the server refused them (`WriteFailed`), or the
            run may not write any more; names table, column and the way out. What is written
            already is rolled back by the next begin.
    """
    stamped = stamp(run, df)
    target = table or run.module.table_code
    if run.module.platform_code == "SPARK":
        result = WriteResult(lake.write(run, stamped, target, mode == "overwrite"))
    else:
        result = WriteResult(_write_table(run, stamped, target, mode))
    run.rows(inserted=result.rows)
    return result


def _write_table(
    run: ModuleRun, stamped: DataFrame, table: str, mode: Literal["append", "overwrite"]
) -> int:
    """Write stamped rows to PostgreSQL, and answer how many there are."""
    register(stamped.sparkSession, run.dsn)
    relation = Relation.describe(run.dsn, table, None)
    ledger = Ledger(run.module_instance_id, run.control.next_write_number(), str(relation))
    # Made here too, to complain before Spark starts and wraps the complaint.
    Writer(run.dsn, relation, stamped.schema, mode == "overwrite", ledger)
    if mode == "overwrite":
        stamped = stamped.coalesce(1)
    options = {
        "url": run.dsn,
        "table": table,
        "moduleInstance": str(ledger.module_instance_id),
        "writeNumber": str(ledger.write_number),
        "writePlan": relation.plan(),
    }
    try:
        stamped.write.format("omd").mode(mode).options(**options).save()
    except PySparkException as error:
        failure = failure_in(error)
        if failure is None:
            raise  # the job's own
        raise failure from error
    written = run.control.report(
        WriteLogRow,
        module_instance_id=ledger.module_instance_id,
        write_number=ledger.write_number,
    )
    return sum(row.row_count for row in written)
