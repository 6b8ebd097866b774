"""The statistics of files, from their footers, as the manifests of a table state them.

A file that would make the table wrong or unreadable is refused here, before anything names it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    DecimalType,
    DoubleType,
    FloatType,
    NestedField,
    PrimitiveType,
    StringType,
)
from pyiceberg.utils.truncate import (
    truncate_upper_bound_binary_string,
    truncate_upper_bound_text_string,
)

from omd._core.error_codes import LakeFilesUnfit
from omd.tables.schema import leaves

_THREADS = 8
_SHORT = 16  # of a text, a bound has no more characters
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


@dataclass(slots=True)
class Column:
    """What the footers say about one column of a file."""

    size: int = 0
    values: int = 0
    nulls: int | None = 0
    low: Any = None
    high: Any = None
    bounded: bool = True  # in each row group with a value there are bounds

    def add(self, chunk: pq.ColumnChunkMetaData, type_: PrimitiveType) -> None:
        """Add what the footer says about one row group."""
        self.size += chunk.total_compressed_size
        self.values += chunk.num_values
        statistics = chunk.statistics if chunk.is_stats_set else None
        if statistics is None or not statistics.has_null_count:
            self.nulls = None
        elif self.nulls is not None:
            self.nulls += statistics.null_count
            if statistics.null_count == chunk.num_values:
                return
        if statistics is None or not statistics.has_min_max:
            self.bounded = False
            return
        low, high = _value(statistics.min_raw, type_), _value(statistics.max_raw, type_)
        if _is_nan(low) or _is_nan(high):
            self.bounded = False
            return
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)


def data_files(
    io: FileIO, paths: Sequence[str], schema: Schema, spec: PartitionSpec
) -> list[DataFile]:
    """Return the files that hold rows, with their statistics.

    Args:
        io: reads them.
        paths: the files; their columns are those of the schema, in its order.
        schema: the schema of the table.
        spec: how the table is partitioned; each file must be of one partition.

    Raises:
        LakeFilesUnfit: a file can't become part of the table.
    """
    columns = leaves(schema)
    return [
        _data_file(path, size, footer, columns, schema, spec)
        for path, size, footer in read_footers(io, paths)
    ]


def read_footers(io: FileIO, paths: Sequence[str]) -> list[tuple[str, int, pq.FileMetaData]]:
    """Return path, size and footer of the files that hold rows."""

    def read(path: str) -> tuple[str, int, pq.FileMetaData]:
        file = io.new_input(path)
        with file.open() as stream:
            return path, len(file), pq.read_metadata(stream)

    if len(paths) < 2:
        footers = [read(path) for path in paths]
    else:
        with ThreadPoolExecutor(_THREADS) as pool:
            footers = list(pool.map(read, paths))
    return [(path, size, footer) for path, size, footer in footers if footer.num_rows]


def require_rows(held: int, rows: int, table: str) -> None:
    """Refuse files that hold other rows than Spark has counted while it wrote them."""
    if held != rows:
        raise LakeFilesUnfit(
            f"{table}: Spark has written {rows} rows, and its files hold {held}",
            hint="Start the Module again: its begin removes these files.",
        )


def _data_file(
    path: str,
    size: int,
    footer: pq.FileMetaData,
    columns: Sequence[NestedField],
    schema: Schema,
    spec: PartitionSpec,
) -> DataFile:
    require_plain(path, footer)
    _require_columns(path, footer, columns)
    by_id = {column.field_id: Column() for column in columns}
    offsets = []
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for place, column in enumerate(columns):
            chunk = group.column(place)
            if place == 0:
                offsets.append(_offset(chunk))
            type_ = column.field_type
            assert isinstance(type_, PrimitiveType)  # noqa: S101 - a leaf is one
            by_id[column.field_id].add(chunk, type_)
    for column in columns:
        if column.required and by_id[column.field_id].nulls != 0:
            raise LakeFilesUnfit(
                f'{path} has a NULL in the required column "{column.name}"',
                hint="Fill it, for example with coalesce(), or filter such rows out.",
            )
    lower, upper = {}, {}
    for column in columns:
        known = by_id[column.field_id]
        if known.bounded and known.low is not None:
            low, high = _bounds(column.field_type, known)
            lower[column.field_id] = low
            if high is not None:
                upper[column.field_id] = high
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=_partition(path, by_id, schema, spec),
        record_count=footer.num_rows,
        file_size_in_bytes=size,
        column_sizes={field_id: known.size for field_id, known in by_id.items()},
        value_counts={field_id: known.values for field_id, known in by_id.items()},
        null_value_counts={
            field_id: known.nulls for field_id, known in by_id.items() if known.nulls is not None
        },
        nan_value_counts=None,
        lower_bounds=lower,
        upper_bounds=upper,
        key_metadata=None,
        split_offsets=sorted(offsets),
        equality_ids=None,
        sort_order_id=None,
    )
    file.spec_id = spec.spec_id
    return file


def require_plain(path: str, footer: pq.FileMetaData) -> None:
    """Refuse times and dates that other readers take for others."""
    metadata = footer.metadata or {}
    if any(key in metadata for key in _LEGACY):
        raise LakeFilesUnfit(
            f"{path} has dates of the legacy calendar",
            hint="Set spark.sql.parquet.datetimeRebaseModeInWrite to CORRECTED.",
        )
    for place in range(footer.num_columns):
        column = footer.schema.column(place)
        if column.physical_type == "INT96":
            raise LakeFilesUnfit(
                f'{path} has INT96 in the column "{column.path}"',
                hint="Another session has set spark.sql.parquet.outputTimestampType meanwhile;"
                " start the Module again.",
            )


def _require_columns(path: str, footer: pq.FileMetaData, columns: Sequence[NestedField]) -> None:
    """Check that the leaves of the file are those of the table, by their ids."""
    ids = [column.field_id for column in columns]
    held = _ids(footer.schema.to_arrow_schema())
    if held != ids:
        raise LakeFilesUnfit(
            f"{path} has columns with the field ids {held}, not {ids}",
            hint="Let Spark write field ids: spark.sql.parquet.fieldId.write.enabled.",
        )


def _ids(fields: Any) -> list[int]:
    """Return the field ids of the innermost fields of an Arrow schema or struct; 0 for none."""
    ids = []
    for field in fields:
        if hasattr(field.type, "get_field_index"):  # a struct
            ids += _ids(field.type)
        else:
            ids.append(int((field.metadata or {}).get(b"PARQUET:field_id", 0)))
    return ids


def _offset(chunk: pq.ColumnChunkMetaData) -> int:
    start: int = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    return start


def _value(raw: Any, type_: PrimitiveType) -> Any:
    """Return a bound of the footer in the form in which a table counts it."""
    if isinstance(type_, DecimalType):
        unscaled = raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)
        return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -type_.scale))
    if isinstance(type_, StringType) and isinstance(raw, bytes):
        return raw.decode()
    return raw


def _bounds(type_: Any, known: Column) -> tuple[bytes, bytes | None]:
    low, high = known.low, known.high
    if isinstance(type_, StringType):
        if len(low) > _SHORT:
            low = low[:_SHORT]
        if len(high) > _SHORT:
            high = truncate_upper_bound_text_string(high, _SHORT)
    elif isinstance(type_, BinaryType):
        low = low[:_SHORT]
        if len(high) > _SHORT:
            high = truncate_upper_bound_binary_string(high, _SHORT)
    elif isinstance(type_, (FloatType, DoubleType)):
        low, high = low or -0.0, high or 0.0  # the two zeros are one value in some writers
    return to_bytes(type_, low), None if high is None else to_bytes(type_, high)


def _partition(path: str, by_id: dict[int, Column], schema: Schema, spec: PartitionSpec) -> Record:
    values: list[Any] = []
    for field in spec.fields:
        column = by_id[field.source_id]
        apply = field.transform.transform(schema.find_type(field.source_id))
        if column.nulls is not None and column.nulls == column.values:
            values.append(None)
            continue
        if not column.bounded or column.nulls != 0:
            one = other = None
        else:
            one, other = apply(column.low), apply(column.high)
        if one is None or one != other:
            raise LakeFilesUnfit(
                f'{path} has rows of several partitions of "{field.name}", or of unknown ones'
            )
        values.append(one)
    return Record(*values)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
