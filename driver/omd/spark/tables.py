"""Lake tables of a run: Spark moves the rows, the driver commits the files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import DataFile
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import LakeTableUnreadable, NoRollbackExecutor, UnsupportedType
from omd._core.errors import CallerError
from omd._core.names import parts
from omd.rooms.lake.rows import BeginWriteRow
from omd.spark import history
from omd.spark.names import quote
from omd.spark.parquet import (
    fitting,
    joined,
    partition_value,
    read_files,
    write_files,
)
from omd.spark.writer import MAY_LACK
from omd.tables.compaction import Group
from omd.tables.elsewhere import catalog_name
from omd.tables.files import CATALOG
from omd.tables.footers import data_files, require_rows
from omd.tables.names import below
from omd.tables.plan import Plan, plan_read
from omd.tables.run import LakeRun, LakeTable, Rewritten, lake_run
from omd.tables.schema import FIELD_ID, UnknownType, spark_schema
from omd.tables.undo import Undo

if TYPE_CHECKING:
    from omd.rooms.control.reads import LoadWindow, Reads
    from omd.rooms.control.run import Run
    from omd.tables.delta import DeltaFile
    from omd.tables.delta_undo import DeltaUndo


def write(
    run: Run,
    stamped: DataFrame,
    begun: BeginWriteRow,
    mode: str,
    partition_by: Sequence[str] | None,
) -> int:
    """Write stamped rows into files that the commit of the run makes visible; return their number.

    Args:
        stamped: the rows.
        begun: what `omd_lake.begin_write` has answered for the table.
        mode: append, overwrite or history.
        partition_by: how a missing table is partitioned.
    """
    lake = lake_run(run)
    if mode == "history":
        stamped = history.Columns.of(run._module).opened(stamped)
    try:
        table = lake.made(begun, stamped.schema.jsonValue(), partition_by)
    except UnknownType as error:
        raise UnsupportedType(
            f"{begun.table_code}: {error}",
            hint="Cast the column, or let the Module write DELTA, which takes lists and maps.",
        ) from None
    rows = fitting(stamped, spark_schema(table.metadata.schema), table.code, MAY_LACK)
    if mode == "history":
        return _write_history(run, lake, table, rows, begun)
    number, counted, files = _put(lake, table, rows, begun)
    lake.written(table, number, counted, files, mode)
    return counted


def _put(
    lake: LakeRun, table: LakeTable, rows: DataFrame, begun: BeginWriteRow | None = None
) -> tuple[int, int, list[DataFile]]:
    """Write rows with field ids into a folder of their own."""
    metadata = table.metadata
    number, folder = lake.announce(table.code, metadata.location, begun)
    names = {field.field_id: field.name for field in metadata.schema.fields}
    partition = [partition_value(rows, names[f.source_id], f) for f in metadata.spec.fields]
    counted, uris = write_files(rows, folder, partition)
    files = data_files(table.io, below(folder, uris), metadata.schema, metadata.spec)
    require_rows(sum(file.record_count for file in files), counted, table.code)
    return number, counted, files


def _read(spark: SparkSession, table: LakeTable, files: Sequence[DataFile]) -> DataFrame:
    return read_files(
        spark,
        spark_schema(table.metadata.schema),
        [file.file_path for file in files],
    )


# History ------------------------------------------------------------------------------------------


def _write_history(
    run: Run, lake: LakeRun, table: LakeTable, rows: DataFrame, begun: BeginWriteRow
) -> int:
    columns = history.Columns.of(run._module)
    new = rows.persist()
    try:
        reach = columns.reach(new)
        if reach is None:
            return 0
        files = [
            (manifest, file)
            for manifest, file in lake.live_files(table)
            if reach.may_touch(history.bounds_in(table.metadata.schema, file))
        ]
        old = _read(new.sparkSession, table, [file for _, file in files])
        merged = columns.merged(old, new, run.instance_id, reach)
        fit = fitting(merged, spark_schema(table.metadata.schema), table.code, frozenset())
        number, _, written = _put(lake, table, fit, begun)
        removed: dict[str, set[str]] = {}
        for manifest, file in files:
            removed.setdefault(manifest, set()).add(file.file_path)
        lake.replaced(table, number, reach.rows, written, removed)
        return reach.rows
    finally:
        new.unpersist()


# Rollback -----------------------------------------------------------------------------------------


def roll_back(run: Run, instances: Sequence[int]) -> None:
    """Take back what runs did to lake tables; Spark is needed only for mixed files.

    Args:
        run: the run that begins.
        instances: the runs to take back.
    """
    lake = lake_run(run)

    def rewrite_with(table: LakeTable, undo: Undo, array: Sequence[int]) -> Rewritten[DataFile]:
        if run._reads.spark is None:
            raise NoRollbackExecutor(
                f"module {run} must rewrite files of {table.code} and has no session",
                hint="Pass spark=… to batch.module() or omd.connect().",
            )
        return rewrite(run, run._reads.spark, lake, table, undo, array)

    def rewrite_delta(code: str, undo: DeltaUndo, array: Sequence[int]) -> Rewritten[DeltaFile]:
        from omd.spark import delta  # the extra delta is needed

        return Rewritten(*delta.rewrite(run, lake, code, undo, array))

    lake.undo(instances, rewrite_with, rewrite_delta)


def rewrite(
    run: Run,
    spark: SparkSession,
    lake: LakeRun,
    table: LakeTable,
    undo: Undo,
    instances: Sequence[int],
) -> Rewritten[DataFile]:
    """Write the rows of mixed files that stay, and of a history what its chains become."""
    run.attach(spark)
    if undo.touched:
        kept = _repaired(lake, spark, table, undo, instances)
    else:
        column = F.col(quote(lake.module_of(table.code).insert_instance_column))
        kept = _read(spark, table, undo.mixed).where(
            ~F.coalesce(column.isin(list(instances)), F.lit(False))
        )
    fit = fitting(kept, spark_schema(table.metadata.schema), table.code, frozenset())
    return Rewritten(*_put(lake, table, fit))


def _repaired(
    lake: LakeRun,
    spark: SparkSession,
    table: LakeTable,
    undo: Undo,
    array: Sequence[int],
) -> DataFrame:
    """Return the rows of all files that a history touched, and let these files be rewritten."""
    columns = history.Columns.of(lake.module_of(table.code))
    touched = columns.touched(_read(spark, table, undo.touched), array)
    reach = columns.reach(touched)
    if reach is None:
        return _read(spark, table, undo.mixed)
    for manifest, file in lake.live_files(table):
        if reach.may_touch(history.bounds_in(table.metadata.schema, file)):
            undo.rewrite(manifest, file)
    return columns.repaired(_read(spark, table, undo.mixed), touched, array, reach)


# Maintenance --------------------------------------------------------------------------------------


def join(
    run: Run, spark: SparkSession, table: LakeTable, column: str, group: Group[DataFile]
) -> Rewritten[DataFile]:
    """Write the rows of small files into few larger ones, those of each run together."""
    return written_again(run, table, joined(_read(spark, table, group.files), column, group))


def written_again(run: Run, table: LakeTable, rows: DataFrame) -> Rewritten[DataFile]:
    """Write rows of a table into files that take the place of others."""
    fit = fitting(rows, spark_schema(table.metadata.schema), table.code, frozenset())
    return Rewritten(*_put(lake_run(run), table, fit))


# Read ---------------------------------------------------------------------------------------------


def read(
    reads: Reads,
    spark: SparkSession,
    code: str,
    *,
    as_of: datetime | int | None,
    columns: Sequence[str] | None,
    window: bool,
) -> DataFrame:
    """Return a lake table as a DataFrame, of the moment at which this run reads everything.

    Args:
        as_of: an instant, or the id of a snapshot.
        columns: read only these.
        window: only the live rows that the runs in the load window have stamped.
    """
    lake = lake_run(reads.run)
    try:
        if window:
            return _read_window(reads, lake, spark, code, columns)
        table, snapshot = lake.held(code, as_of)
        plan = plan_read(table.io, table.metadata, snapshot)
        files = plan.files
        pending = lake.staged(table.code) if as_of is None else None
        if pending is not None:
            files = pending.over(files)
        return _selected(spark, plan, files, columns)
    except LakeTableUnreadable:
        rows = _read_native(reads, lake, spark, code, as_of, window)
        if rows is None:
            raise
    return rows if columns is None else rows.select(*(F.col(quote(name)) for name in columns))


def _read_native(
    reads: Reads,
    lake: LakeRun,
    spark: SparkSession,
    code: str,
    as_of: datetime | int | None,
    window: bool,
) -> DataFrame | None:
    """Read a table through the native jar of its format; None where the session has none."""
    instances: list[int] | None = None
    if window:
        table, snapshot, instances = lake.in_window(code, _span(reads, code))
    else:
        table, snapshot = lake.held(code, as_of)
    name = parts(table.code)
    if catalog_name(table.code) is None:
        name = [CATALOG, *name]
    if spark.conf.get(f"spark.sql.catalog.{name[0]}", None) is None:
        return None
    reader = spark.read.format("iceberg")
    if snapshot is not None:
        reader = reader.option("snapshot-id", str(snapshot["snapshot-id"]))
    rows = reader.table(".".join(map(quote, name)))
    if instances is not None:
        return rows.where(
            F.col(quote(lake.module_of(table.code).insert_instance_column)).isin(instances)
        )
    pending = lake.staged(table.code) if as_of is None else None
    if pending is None or not pending.changes:
        return rows
    ours = _read(spark, table, pending.added)
    return ours if pending.operation == "OVERWRITE" else rows.unionByName(ours)


def _selected(
    spark: SparkSession, plan: Plan, files: Sequence[DataFile], columns: Sequence[str] | None
) -> DataFrame:
    schema = spark_schema(plan.schema)
    rows = read_files(spark, schema, [file.file_path for file in files])
    names = list(columns) if columns is not None else rows.columns
    # The ids belong to this table; in another one they would name other columns.
    return rows.select(
        *(F.col(quote(name)).alias(name, metadata=_without_id(rows, name)) for name in names)
    )


def _read_window(
    reads: Reads,
    lake: LakeRun,
    spark: SparkSession,
    code: str,
    columns: Sequence[str] | None,
) -> DataFrame:
    """Return the rows of the load window, as of its end, or of now if that has expired."""
    table, snapshot, instances = lake.in_window(code, _span(reads, code))
    column = lake.module_of(table.code).insert_instance_column
    plan = plan_read(table.io, table.metadata, snapshot, instances=(column, instances))
    rows = _selected(spark, plan, plan.files, None).where(F.col(quote(column)).isin(instances))
    return rows if columns is None else rows.select(*(F.col(quote(name)) for name in columns))


def _span(reads: Reads, code: str) -> LoadWindow:
    if reads.window is None:
        raise CallerError(
            f"{reads.run} has no load window yet", hint=f'Call run.window(table="{code}").'
        )
    return reads.window


def _without_id(df: DataFrame, name: str) -> dict[str, Any]:
    return {k: v for k, v in df.schema[name].metadata.items() if k != FIELD_ID}
