"""Files of an Iceberg table are written again without some keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyiceberg.manifest import DataFile, ManifestContent
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, DecimalType, IntegralType

from omd._core.error_codes import LakeTableUnreadable
from omd.spark.names import quote
from omd.spark.parquet import read_files
from omd.spark.tables import written_again
from omd.tables.compaction import Group
from omd.tables.erasure import Forgotten, Wanted
from omd.tables.run import lake_run
from omd.tables.schema import spark_schema
from omd.tables.staging import live_entries

if TYPE_CHECKING:
    from omd.rooms.control.run import Run
    from omd.tables.run import LakeTable


def forget(run: Run, spark: SparkSession, table: LakeTable, wanted: Wanted) -> Forgotten:
    """Write each file that holds one of the keys again, without them."""
    schema = spark_schema(table.metadata.schema)
    names = table.metadata.schema.column_names
    missing = [name for name in wanted.columns if name not in names]
    if missing:
        raise LakeTableUnreadable(f"{table.code} has no column {missing[0]}")
    live = {file.file_path: file for _, file in lake_run(run).live_files(table)}
    numbers = {
        entry.data_file.file_path: entry.sequence_number
        for manifest in table.metadata.manifests(table.io)
        if manifest.content == ManifestContent.DATA
        for entry in live_entries(table.io, manifest)
    }
    rows = read_files(spark, schema, list(live))
    match = _match(rows, wanted)
    theirs = rows.where(match)
    holding = theirs.select(F.input_file_name().alias("f")).groupBy("f").count().collect()
    if not holding:
        return Forgotten(0, 0)
    keys = theirs.select(F.struct(*(F.col(quote(name)) for name in wanted.columns))).distinct()
    ends = {end for row in holding for end in (_end(row["f"]), unquote(_end(row["f"])))}
    files = []
    for path, file in live.items():
        if _end(path) not in ends:
            continue
        kept = _without(read_files(spark, schema, [path]), wanted)
        group: Group[DataFile] = Group((file,), numbers[path])
        files.append((group, written_again(run, table, kept)))
    return Forgotten(keys.count(), sum(row["count"] for row in holding), files)


def _end(path: str) -> str:
    """Return the name of a file; no two of a table have the same."""
    return path.rpartition("/")[2]


def _without(rows: DataFrame, wanted: Wanted) -> DataFrame:
    match = _match(rows, wanted)
    if wanted.action == "DELETE":
        return rows.where(~match)
    return rows.select(
        *(
            F.when(match & _holds(rows, name, wanted), F.lit(None))
            .otherwise(F.col(quote(name)))
            .alias(name, metadata=rows.schema[name].metadata)
            if name in wanted.columns
            else F.col(quote(name))
            for name in rows.columns
        )
    )


def _match(rows: DataFrame, wanted: Wanted) -> Column:
    """Return whether a row holds a key; an attribute may be in more than one column."""
    by_attribute: dict[str, list[str]] = {}
    for name, attribute in wanted.columns.items():
        by_attribute.setdefault(attribute, []).append(name)
    if len(by_attribute) == 1:
        return reduce(Column.__or__, (_holds(rows, name, wanted) for name in wanted.columns))
    return reduce(
        Column.__or__,
        (
            reduce(
                Column.__and__,
                (
                    reduce(Column.__or__, (_equals(rows, name, [key], attribute) for name in names))
                    for attribute, names in by_attribute.items()
                ),
            )
            for key in wanted.keys
        ),
    )


def _holds(rows: DataFrame, name: str, wanted: Wanted) -> Column:
    return _equals(rows, name, wanted.keys, wanted.columns[name])


def _equals(rows: DataFrame, name: str, keys: Any, attribute: str) -> Column:
    """Return whether a column has one of the values, compared as its type or as texts."""
    column, kind = F.col(quote(name)), rows.schema[name].dataType
    texts = [_text(key, attribute) for key in keys]
    same = column.isin([_as(text, kind) for text in texts])
    return F.coalesce(same, F.lit(False)) | F.coalesce(
        column.cast("string").isin(texts), F.lit(False)
    )


def _text(key: Mapping[str, Any], attribute: str) -> str:
    value = key[attribute]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as(text: str, kind: DataType) -> Column:
    value = F.lit(text)
    if isinstance(kind, (IntegralType, DecimalType)):
        value = value.try_cast("decimal(38, 9)")  # 7.0 is 7
    return value.try_cast(kind)
