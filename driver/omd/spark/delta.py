"""Delta tables of a run: as `omd.spark.tables`, with columns by name and a log of their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import NoRollbackExecutor, NothingKept, UnknownLakeTable
from omd._core.errors import CallerError, ConfigurationError
from omd.rooms.lake.rows import BeginWriteRow
from omd.spark import history
from omd.spark.names import quote
from omd.spark.parquet import fitting, joined, read_files, write_files
from omd.spark.writer import MAY_LACK
from omd.tables.compaction import Group
from omd.tables.delta import Delta, DeltaFile, delta_files
from omd.tables.delta_run import DeltaPending
from omd.tables.delta_undo import DeltaUndo
from omd.tables.footers import require_rows
from omd.tables.names import below
from omd.tables.run import LakeRun, lake_run

if TYPE_CHECKING:
    from omd.rooms.control.reads import Reads
    from omd.rooms.control.rows import ModuleDefinitionRow
    from omd.rooms.control.run import Run


def write(
    run: Run,
    stamped: DataFrame,
    begun: BeginWriteRow,
    mode: str,
    partition_by: Sequence[str] | None,
) -> int:
    """Write stamped rows into files that the commit of the run makes visible; return their number.

    See `omd.spark.tables.write`; ``partition_by`` names columns.
    """
    lake = lake_run(run)
    if mode == "history":
        stamped = history.Columns.of(run._module).opened(stamped)
    code = begun.table_code
    if begun.location is None:
        raise ConfigurationError(
            f"{code} lies in another catalogue, which OMD does not write to",
            hint="Name a table of this catalogue: namespace.table.",
        )
    table = Delta.find(begun.location)
    if table is None:
        lake.require_absent(code)
        table = Delta.create(begun.location, stamped.schema.jsonValue(), partition_by or ())
    elif partition_by is not None and list(partition_by) != table.partition_by:
        raise CallerError(
            f"{code} exists, and is partitioned otherwise",
            hint="Leave partition_by out: the table knows it.",
        )
    table.require_readable()
    pending = lake.delta.setdefault(code, DeltaPending(code, begun.location))
    if mode == "history":
        return _write_history(run, lake, table, pending, stamped, begun)
    number, counted, files = _put(lake, code, table, stamped, begun)
    if mode == "overwrite":
        pending.overwritten()
    pending.writes.append((number, counted))
    pending.added += files
    return counted


def _write_history(
    run: Run,
    lake: LakeRun,
    table: Delta,
    pending: DeltaPending,
    stamped: DataFrame,
    begun: BeginWriteRow,
) -> int:
    columns = history.Columns.of(run._module)
    new = fitting(stamped, table.spark_schema, pending.code, MAY_LACK).persist()
    try:
        reach = columns.reach(new)
        if reach is None:
            return 0
        files = [file for file in pending.over(table.files()) if reach.may_touch(file.counted)]
        old = _rows(new.sparkSession, table, files)
        merged = columns.merged(old, new, run.instance_id, reach)
        number, _, written = _put(lake, pending.code, table, merged, begun)
        pending.writes.append((number, reach.rows))
        pending.replaced(table, files, written)
        return reach.rows
    finally:
        new.unpersist()


def _put(
    lake: LakeRun,
    code: str,
    table: Delta,
    rows: DataFrame,
    begun: BeginWriteRow | None = None,
) -> tuple[int, int, list[DeltaFile]]:
    schema = table.spark_schema
    fit = fitting(rows, schema, code, MAY_LACK)
    number, folder = lake.announce(code, table.location, begun)
    partition = [F.col(quote(name)) for name in table.partition_by]
    counted, uris = write_files(fit, folder, partition)
    files = delta_files(table.location, below(folder, uris), schema, table.partition_by)
    require_rows(sum(file.rows for file in files), counted, code)
    return number, counted, files


def rewrite(
    run: Run, lake: LakeRun, code: str, undo: DeltaUndo, array: Sequence[int]
) -> tuple[int, int, list[DeltaFile]]:
    """Write the rows of mixed files that are of other runs."""
    spark = run._reads.spark
    if spark is None:
        raise NoRollbackExecutor(
            f"module {run} must rewrite files of {code} and has no session",
            hint="Pass spark=… to batch.module() or omd.connect().",
        )
    run.attach(spark)
    undo.table.require_readable()
    module = lake.module_of(code)
    if undo.touched:
        kept = _repaired(spark, module, undo, array)
    else:
        column = F.col(quote(module.insert_instance_column))
        kept = _rows(spark, undo.table, undo.mixed).where(
            ~F.coalesce(column.isin(list(array)), F.lit(False))
        )
    return _put(lake, code, undo.table, kept)


def _repaired(
    spark: SparkSession, module: ModuleDefinitionRow, undo: DeltaUndo, array: Sequence[int]
) -> DataFrame:
    """Return the rows of all files that a history touched, and let these files be rewritten."""
    columns = history.Columns.of(module)
    touched = columns.touched(_rows(spark, undo.table, undo.touched), array)
    reach = columns.reach(touched)
    if reach is None:
        return _rows(spark, undo.table, undo.mixed)
    for file in undo.table.files():
        if reach.may_touch(file.counted):
            undo.rewrite(file)
    return columns.repaired(_rows(spark, undo.table, undo.mixed), touched, array, reach)


def join(
    run: Run,
    spark: SparkSession,
    code: str,
    table: Delta,
    column: str,
    group: Group[DeltaFile],
) -> tuple[int, int, list[DeltaFile]]:
    """Write the rows of small files into few larger ones, those of each run together."""
    rows = joined(_rows(spark, table, group.files), column, group)
    return _put(lake_run(run), code, table, rows)


def _rows(spark: SparkSession, table: Delta, files: Sequence[DeltaFile]) -> DataFrame:
    return read_files(spark, table.spark_schema, [table.path_of(file) for file in files])


def read(
    reads: Reads,
    spark: SparkSession,
    code: str,
    *,
    as_of: datetime | int | None,
    columns: Sequence[str] | None,
    window: bool,
) -> DataFrame:
    """Return a Delta table as a DataFrame, of the moment at which this run reads everything.

    Args:
        as_of: an instant, or a version.
        columns: read only these.
        window: only the live rows that the runs in the load window have stamped.
    """
    lake = lake_run(reads.run)
    instances: list[int] | None = None
    if window:
        span = reads.window
        if span is None:
            raise CallerError(
                f"{reads.run} has no load window yet", hint=f'Call run.window(table="{code}").'
            )
        instances = lake.window_instances(code, span)
        as_of = span.end_value
    try:
        code, location, version = lake.held_version(code, as_of)
        table = _at(location, version, code)
    except NothingKept:
        if not window:
            raise
        code, location, version = lake.held_version(code, None)
        table = _at(location, version, code)
    table.require_readable()
    files = table.files()
    pending = lake.delta.get(code) if as_of is None else None
    if pending is not None:
        files = pending.over(files)
    condition = None
    if instances is not None:
        column = lake.module_of(code).insert_instance_column
        files = [file for file in files if file.share(column, instances) != "NONE"]
        condition = F.col(quote(column)).isin(instances)
    rows = _rows(spark, table, files)
    if condition is not None:
        rows = rows.where(condition)
    return rows if columns is None else rows.select(*(F.col(quote(name)) for name in columns))


def _at(location: str, version: int | None, code: str) -> Delta:
    try:
        table = Delta.find(location) if version is None else Delta(location, version)
    except NothingKept:
        if Delta.find(location) is not None:
            raise
        table = None
    if table is None:
        raise UnknownLakeTable(
            f"there is no Delta table {code} in {location}",
            hint="Write to it first: run.write creates it.",
        )
    return table
