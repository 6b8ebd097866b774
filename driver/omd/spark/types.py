"""How columns cross the border between PostgreSQL and Spark: the type table of the data source.

Data moves as binary COPY, which converts nothing: what arrives in a column must have exactly the
layout that its type expects. So each PostgreSQL type names the Arrow type that is sent, the Spark
type it is read as, and the Spark types that may be written to it. A type that is not here is
refused before a row moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from omd.errors import OmdError

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Column

__all__ = ["ColumnType", "UnsupportedType", "column_type", "read_array", "write_array"]

_MAX_PRECISION = 38
_INTEGERS = (ByteType, ShortType, IntegerType, LongType)


class UnsupportedType(OmdError):  # noqa: N818 - named like the other errors of OMD
    """A column's type has no counterpart on the other side."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """One PostgreSQL type as the data source sees it.

    Attributes:
        spark: the type it is read as.
        arrow: the layout that COPY takes for it.
        writable: the Spark types that may be written to it.
        as_text: read through a cast to text, because its binary form has no Arrow type.
        filterable: comparing means the same there and in Spark, so filters may be pushed down.
        encode: makes that layout, where a cast does not.
    """

    spark: DataType
    arrow: pa.DataType
    writable: tuple[type[DataType], ...]
    as_text: bool = False
    filterable: bool = False
    encode: Callable[[pa.Array], pa.Array] | None = None

    def accepts(self, given: DataType) -> bool:
        """Whether values of this Spark type may be written to the column."""
        if isinstance(self.spark, ArrayType):
            return isinstance(given, ArrayType) and given.elementType == self.spark.elementType
        return isinstance(given, self.writable)


def _uuid(texts: pa.Array) -> pa.Array:
    """The 16 bytes of each UUID, without a Python object per row."""
    present = texts.is_valid()
    digits = pc.replace_substring(texts.filter(present), "-", "")
    if not pc.all(pc.equal(pc.binary_length(digits), 32), min_count=0).as_py():
        raise ValueError("a value is not a UUID")
    _, _, characters = digits.buffers()
    joined = characters.to_pybytes()[: 32 * len(digits)].decode("ascii") if len(digits) else ""
    packed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(digits), [None, pa.py_buffer(bytes.fromhex(joined))]
    )
    position = pc.subtract(pc.cumulative_sum(present.cast(pa.int64())), 1)
    return packed.take(pc.if_else(present, position, pa.scalar(None, pa.int64())))


def _jsonb(texts: pa.Array) -> pa.Array:
    """The binary form of jsonb is its text behind a version byte."""
    return pc.binary_join_element_wise(b"\x01", texts.cast(pa.binary()), b"")


def _plain(
    read_as: DataType,
    arrow: pa.DataType,
    *writable: type[DataType],
    filterable: bool = False,
) -> ColumnType:
    return ColumnType(read_as, arrow, writable or (type(read_as),), filterable=filterable)


def _texts(encode: Callable[[pa.Array], pa.Array] | None = None) -> ColumnType:
    """A type that Spark only knows as text."""
    return ColumnType(StringType(), pa.string(), (StringType,), as_text=True, encode=encode)


_TYPES: dict[str, ColumnType] = {
    "bool": _plain(BooleanType(), pa.bool_(), filterable=True),
    "int2": _plain(ShortType(), pa.int16(), *_INTEGERS, filterable=True),
    "int4": _plain(IntegerType(), pa.int32(), *_INTEGERS, filterable=True),
    "int8": _plain(LongType(), pa.int64(), *_INTEGERS, filterable=True),
    "float4": _plain(FloatType(), pa.float32()),
    "float8": _plain(DoubleType(), pa.float64(), FloatType, DoubleType),
    "text": _plain(StringType(), pa.string(), filterable=True),
    "varchar": _plain(StringType(), pa.string(), filterable=True),
    "bpchar": _plain(StringType(), pa.string()),
    "date": _plain(DateType(), pa.date32(), filterable=True),
    "timestamp": _plain(TimestampNTZType(), pa.timestamp("us")),
    "timestamptz": _plain(TimestampType(), pa.timestamp("us", "UTC")),
    "bytea": _plain(BinaryType(), pa.binary()),
    "uuid": _texts(_uuid),
    "json": _texts(),
    "jsonb": _texts(_jsonb),
}
_ELEMENTS = ("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar")


def _numeric(precision: int | None, scale: int | None) -> ColumnType:
    # A numeric without precision may hold anything; 18 of Spark's digits go behind the point.
    digits, places = (precision, scale or 0) if precision else (_MAX_PRECISION, 18)
    if digits > _MAX_PRECISION or not 0 <= places <= digits:
        raise UnsupportedType(
            f"numeric({digits},{places}) does not fit into Spark's decimal({_MAX_PRECISION})",
            hint="Read a query that casts it to a numeric of at most 38 digits, or to text.",
        )
    return ColumnType(
        DecimalType(digits, places),
        pa.decimal128(digits, places),
        (DecimalType, *_INTEGERS),
        as_text=True,
        filterable=True,
    )


def column_type(column: Column, type_name: str | None) -> ColumnType:
    """The table's entry for a column of a result.

    Args:
        column: as described by the server.
        type_name: name of its type in pg_type, None when psycopg does not know it.

    Raises:
        UnsupportedType: there is none; the message names column and type.
    """
    try:
        if type_name == "numeric":
            return _numeric(column.precision, column.scale)
    except UnsupportedType as error:
        raise UnsupportedType(f'column "{column.name}": {error}', hint=error.hint) from None
    if type_name in _TYPES:
        return _TYPES[type_name]
    if type_name and type_name.endswith("[]") and type_name[:-2] in _ELEMENTS:
        element = _TYPES[type_name[:-2]]
        return _plain(ArrayType(element.spark), pa.list_(element.arrow))
    name = type_name or column.type_display
    raise UnsupportedType(
        f'column "{column.name}" has the type {name}, which Spark can\'t take',
        hint="Read a query that casts it, for example to text.",
    )


def read_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """What PostgreSQL sent, as Spark expects it."""
    return array if array.type == target else array.cast(target)


def write_array(array: pa.Array, column: ColumnType) -> pa.Array:
    """What Spark sent, in the layout that COPY takes; fails where a value does not fit."""
    if column.encode is not None:
        return column.encode(array)
    if pa.types.is_decimal(column.arrow):
        # The server checks the precision and rounds to the scale, as it does for an INSERT.
        return array if pa.types.is_decimal(array.type) else array.cast(pa.decimal128(19, 0))
    return array if array.type == column.arrow else array.cast(column.arrow)
