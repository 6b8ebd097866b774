"""Parquet files that a table format names: written with field ids, and read by them.

The table itself is no matter of Spark: the driver commits the files, and plans which are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyiceberg.partitioning import PartitionField
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType, TimestampType

from omd._core.error_codes import UnsupportedType
from omd._core.errors import CallerError
from omd.spark.micros import micros
from omd.spark.names import quote
from omd.tables.schema import require_distinct

if TYPE_CHECKING:
    from omd.tables.compaction import Group

_READ_IDS = "spark.sql.parquet.fieldId.read.enabled"
_MARKER = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_PART = "omd_part"
_MANY = 100  # paths; more of them are given to Spark as folders, where these hold nothing else

_MODES = ("append", "overwrite", "history")
_LARGE = 256 * 1024 * 1024


def require_mode(mode: str) -> None:
    """Refuse a mode in which no lake table is written."""
    if mode not in _MODES:
        raise CallerError(
            f"a lake table is not written by {mode!r}", hint=f"Say one of {', '.join(_MODES)}."
        )


def fitting(
    df: DataFrame, schema: dict[str, Any], table: str, may_lack: frozenset[str]
) -> DataFrame:
    """Return the rows with exactly the columns of a table, each with its field id.

    Args:
        df: the rows; a column that they lack is NULL.
        schema: the schema of the table as JSON, with field ids.
        table: its name, for messages.
        may_lack: columns of the rows that the table need not have.

    Raises:
        CallerError: the table has no such column.
        UnsupportedType: a column does not take the type.
    """
    require_distinct(df.columns)
    wanted = StructType.fromJson(schema)
    known = {name.lower(): name for name in wanted.names}
    for name in df.columns:
        if name.lower() not in known and name not in may_lack:
            raise CallerError(
                f'{table} has no column "{name}"',
                hint=f"Its columns are {', '.join(wanted.names)}.",
            )
    try:
        fit = df.to(StructType([StructField(f.name, f.dataType) for f in wanted]))
        fit.schema  # noqa: B018 - Spark Connect tells only now
    except AnalysisException as error:
        raise UnsupportedType(f"{table}: {error.getMessage()}", hint="Cast the column.") from error
    # The optimizer keeps the metadata of an alias, and that inside of a type.
    return fit.select(
        *(
            F.col(quote(field.name)).cast(field.dataType).alias(field.name, metadata=field.metadata)
            for field in wanted
        )
    )


def write_files(df: DataFrame, folder: str, partition: Sequence[Column]) -> tuple[int, list[str]]:
    """Write rows into a folder; return how many Spark counted, and the URIs of its files.

    Args:
        df: the rows, with field ids.
        folder: the folder, which is new.
        partition: what the rows of one file must have in common. The folders inside are named by
            its hash, so that no value has to be escaped; the footers tell the value.
    """
    spark = df.sparkSession
    counted = Observation()
    writer = df.observe(counted, F.count(F.lit(1)).alias("rows"))
    if partition:
        writer = writer.withColumn(_PART, F.xxhash64(*partition))
    with micros(spark):
        save = writer.write.mode("append").option(_MARKER, "false")
        (save.partitionBy(_PART) if partition else save).parquet(folder)
    written = _reader(spark, df.schema).parquet(folder)
    # Spark may know before that there are no rows, and then it counts nothing.
    return int(counted.get.get("rows") or 0), written.inputFiles()


def read_files(spark: SparkSession, schema: dict[str, Any], paths: Sequence[str]) -> DataFrame:
    """Return the rows of some files, whose columns are found by their field ids.

    Args:
        schema: the columns as JSON, with field ids.
    """
    wanted = StructType.fromJson(schema)
    if not paths:
        return spark.createDataFrame([], wanted)
    spark.conf.set(_READ_IDS, "true")  # it changes nothing for a schema without ids
    reader = _reader(spark, wanted)
    if len(paths) > _MANY:
        rows = reader.parquet(*_folders(paths))
        if len(rows.inputFiles()) == len(paths):
            return rows
    return reader.parquet(*paths)


def _reader(spark: SparkSession, schema: StructType) -> DataFrameReader:
    """Return a reader to which a path is no pattern: a table may lie in a folder such as a*b."""
    return (
        spark.read.schema(schema)
        .option("recursiveFileLookup", "true")
        .option("__globPaths__", "false")
    )


def _folders(paths: Sequence[str]) -> list[str]:
    """Return the folders of the files, without those inside another one of them."""
    folders: list[str] = []
    for folder in sorted({path.rpartition("/")[0] for path in paths}):
        if not (folders and f"{folder}/".startswith(f"{folders[-1]}/")):
            folders.append(folder)
    return folders


def joined(rows: DataFrame, column: str, group: Group[Any]) -> DataFrame:
    """Return the rows of small files so that they are written into few, those of a run together.

    Args:
        column: the insert instance column.
        group: the files.
    """
    number = -(-group.bytes // _LARGE)
    if group.sequence_number is not None:  # all are of one run
        return rows.coalesce(number)
    return rows.repartitionByRange(number, F.col(quote(column))).sortWithinPartitions(
        F.col(quote(column))
    )


def partition_value(df: DataFrame, column: str, field: PartitionField) -> Column:
    """Return an expression that differs where the partitions of two rows do.

    Days and hours are counted in UTC, as the table counts them, whatever the zone of the session.
    """
    value = F.col(quote(column))
    name, _, width = str(field.transform).partition("[")
    if name == "identity":
        return value
    type_ = df.schema[column].dataType
    if name == "truncate":
        return _truncated(
            value, type_.typeName(), int(width.rstrip("]")), getattr(type_, "scale", 0)
        )
    if isinstance(type_, TimestampType):
        hour = F.floor(F.unix_micros(value) / F.lit(3_600_000_000))
        day = F.date_add(F.lit("1970-01-01").cast("date"), F.floor(hour / 24).cast("int"))
    else:
        day = value.cast("date")
        hour = F.concat(day.cast("string"), F.hour(value).cast("string"))
    return {
        "hour": hour,
        "day": day,
        "month": F.trunc(day, "month"),
        "year": F.year(day),
    }[name]


def _truncated(value: Column, type_: str, width: int, scale: int) -> Column:
    if type_ in ("string", "binary"):
        return F.substring(value, 1, width)
    return F.floor(value * F.lit(10**scale) / F.lit(width))
