"""The functions of a job: read, stamp, write (docs/explanation/jobs.md, rule J7)."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core import packages
from omd._core.engines import POSTGRES, SPARK, WriteResult
from omd._core.errors import CallerError, ConfigurationError
from omd._core.names import parts
from omd.rooms.control.rows import WriteLogRow
from omd.rooms.lake.calls import LakeCalls
from omd.spark import lake
from omd.spark.failure import failure_in
from omd.spark.relation import Relation
from omd.spark.sessions import register
from omd.spark.source import OmdDataSource
from omd.spark.window import as_option
from omd.spark.writer import INSERT_DATETIME, RECORD_SOURCE, Ledger, Writer

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection
    from omd.rooms.control.reads import Reads
    from omd.rooms.control.run import Run

EVENT_DATETIME = "omd_event_datetime"
END_OF_TIME = date(9999, 12, 31)

# The module that moves the rows of a format, and the extras that it needs.
_LAKES = {"ICEBERG": ("omd.spark.tables", "lake"), "DELTA": ("omd.spark.delta", "lake,delta")}
_COMMITS = ("commit_datetime", "sequence_number")  # the position of rows in a lake table


def read(
    reads: Reads,
    spark: SparkSession,
    table: str | None = None,
    *,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    window: bool | str | tuple[str | None, str | None] | None = None,
    predicates: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002 - Spark's name for it
    as_of: datetime | int | None = None,
    **options: object,
) -> DataFrame:
    """Return a table, or a query, of the database of a run; see `omd.Run.read`."""
    kind = None if table is None or "url" in options else _lake_format(reads, table, format)
    if kind is not None:
        if query is not None or predicates is not None or options:
            raise CallerError(f"the lake table {table} takes only columns, window and as_of")
        if window not in (None, True, False, _COMMITS):
            raise CallerError(
                f"the load window of the lake table {table} is one of commits, not of {window}",
                hint="run.window(table=…), then run.read(spark, table, window=True).",
            )
        rows: DataFrame = _lake(kind).read(
            reads, spark, table, as_of=as_of, columns=columns, window=bool(window)
        )
        return rows
    if as_of is not None or window is True:
        raise CallerError("as_of and window=True are for lake tables", hint="Name the format.")
    url = str(options.get("url") or reads.dsn)
    given = {
        **options,
        "url": url,
        "table": table,
        "query": query,
        "predicates": None if predicates is None else json.dumps(list(predicates)),
        **({} if not window else _window(reads, window)),
    }
    settings = {name: str(value) for name, value in given.items() if value is not None}
    if "snapshot" not in settings:
        settings["snapshot"] = reads.snapshot(url)
        if reads.block is not None and url == reads.dsn:
            settings["block"] = reads.block
    # It is made here too, so that its errors are raised before Spark starts and wraps them.
    source = OmdDataSource(settings)
    relation = source.relation()
    if columns is not None:
        relation = relation.selecting(columns)
    source.reader(relation.schema())
    return (
        register(spark, url).read.format("omd").schema(relation.schema()).options(**settings).load()
    )


def _lake_format(reads: Reads, table: str, format_: str | None) -> str | None:
    """Return the format of a table whose files OMD commits: Modules tell it, or the caller."""
    if format_ is None and len(parts(table)) not in (2, 3):
        return None  # no Module can load it by such a name
    if format_ is not None and format_.upper() == POSTGRES:
        return None
    row = LakeCalls(reads.run._control._link).find_table(table, table_format_code=format_)
    return row.table_format_code if row.table_format_code in _LAKES else None


def _lake(format_: str) -> Any:
    """Return the module that moves the rows of a format; from here on its extra is needed."""
    name, extra = _LAKES[format_]
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(
            f"tables with the format {format_} need more packages: {error}",
            hint=packages.install(extra),
        ) from error


def _window(reads: Reads, columns: str | tuple[str | None, str | None]) -> dict[str, object]:
    """Return the options that hold the load window of the run."""
    window = reads.window
    if window is None:
        raise CallerError(
            f"module {reads.run} has no load window yet",
            hint="Call run.window(end_value=…, end_id=…) first.",
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
    run: Run,
    df: DataFrame,
    *,
    record_source: str | None = None,
    event_datetime: Column | datetime | None = None,
    effective_date: Column | date | datetime | None = None,
) -> DataFrame:
    """Return rows with the audit columns of a run; see `omd.Run.stamp`."""
    # Spark's clock is that of another host, and may be behind the start of the run.
    instant = run._control._omd.stamp_datetime(run.instance_id)
    return _stamped(run, df, instant, record_source, event_datetime, effective_date)


def _stamped(
    run: Run,
    df: DataFrame,
    instant: datetime,
    record_source: str | None = None,
    event_datetime: Column | datetime | None = None,
    effective_date: Column | date | datetime | None = None,
) -> DataFrame:
    """Return the DataFrame with the audit columns of this run, as `stamp` describes them."""
    module = run._module
    columns = {
        module.insert_instance_column: F.lit(run.instance_id).cast("bigint"),
        INSERT_DATETIME: _literal(instant),
    }
    if record_source is not None or RECORD_SOURCE not in df.columns:
        columns[RECORD_SOURCE] = F.lit(record_source or run.code)
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
                raise CallerError(f"module {run.code} names no columns for its history")
            columns[name] = F.lit(value)
    return df.withColumns(columns)


def _literal(instant: datetime) -> Column:
    """Return a column with an instant, whatever the time zone of the session."""
    since = instant - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return F.timestamp_micros(F.lit(since // timedelta(microseconds=1)))


def write(
    run: Run,
    df: DataFrame,
    table: str | None = None,
    *,
    mode: Literal["append", "overwrite", "history"] = "append",
    partition_by: Sequence[str] | None = None,
) -> WriteResult:
    """Stamp the rows, write them, and count them as inserted by the run; see `omd.Run.write`."""
    target = table or run._module.table_code
    format_ = run._module.table_format_code
    if format_ in _LAKES:
        kind = _lake(format_)
        from omd.spark.parquet import require_mode  # the extra lake is needed

        require_mode(mode)
        calls = LakeCalls(run._control._link)
        begun = calls.begin_write(run.instance_id, target, format_)
        stamped = _stamped(run, df, begun.insert_datetime)
        result = WriteResult(kind.write(run, stamped, begun, mode, partition_by))
        run.rows(inserted=result.rows)
        return result
    if mode == "history" or partition_by is not None:
        raise CallerError(
            f"{target} is no lake table: it takes no history and no partition_by",
            hint="Register the Module with p_table_format_code => 'ICEBERG'.",
        )
    if run._module.platform_code == SPARK:
        result = WriteResult(lake.write(run, stamp(run, df), target, mode == "overwrite"))
    else:
        numbered = run._control._omd.begin_write(run.instance_id)
        result = WriteResult(
            write_table(
                run._control,
                run.instance_id,
                _stamped(run, df, numbered.insert_datetime),
                target,
                mode=mode,
                write_number=numbered.write_number,
            )
        )
    run.rows(inserted=result.rows)
    return result


def write_table(
    control: Connection,
    module_instance_id: int,
    rows: DataFrame,
    table: str,
    *,
    mode: Literal["append", "overwrite"] = "append",
    write_number: int | None = None,
    through: tuple[Relation, str] | None = None,
) -> int:
    """Write rows that carry their Module Instance ID to PostgreSQL; return how many there are.

    Args:
        control: the control of the run.
        module_instance_id: the run that writes; each partition is committed under its fence, once.
        rows: the rows.
        table: the target.
        mode: see `write`.
        write_number: of omd.begin_write; by default a new one.
        through: a temporary table into which the rows go, and the CALL that takes them from there;
            the rows that this has written are counted.
    """
    dsn = control._executor_dsn
    register(rows.sparkSession, dsn)
    relation = Relation.describe(dsn, table, None) if through is None else through[0]
    name = str(relation) if through is None else table
    if write_number is None:
        write_number = control._omd.next_write_number()
    ledger = Ledger(module_instance_id, write_number, name)
    # It is made here too, so that its errors are raised before Spark starts and wraps them.
    Writer(dsn, relation, rows.schema, mode == "overwrite", ledger)
    if mode == "overwrite":
        rows = _marked(rows)
    options = {
        "url": dsn,
        "table": table,
        "moduleInstance": str(ledger.module_instance_id),
        "writeNumber": str(ledger.write_number),
        "writePlan": relation.plan(),
        "endMark": str(mode == "overwrite"),
        **({} if through is None else {"writeThrough": through[1]}),
    }
    try:
        rows.write.format("omd").mode(mode).options(**options).save()
    except PySparkException as error:
        failure = failure_in(error)
        if failure is None:
            raise  # the job itself failed
        raise failure from error
    written = control.report(
        WriteLogRow,
        module_instance_id=ledger.module_instance_id,
        write_number=ledger.write_number,
    )
    return sum(row.row_count for row in written)


def _marked(rows: DataFrame) -> DataFrame:
    """Return the rows in one partition, with a row behind them that marks their end."""
    nothing = (F.lit(None).cast(field.dataType) for field in rows.schema)
    end = rows.sparkSession.range(1).select(*nothing, F.lit(True))
    # A union has the partitions of both sides in their order.
    return rows.coalesce(1).select("*", F.lit(False)).unionAll(end).coalesce(1)
