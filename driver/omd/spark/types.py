"""The type table of the data source: how columns pass between PostgreSQL and Spark.

Data moves as binary COPY, which converts nothing: the values of a column must have exactly the
layout that its type expects. So each PostgreSQL type names the Arrow type that is sent, the Spark
type as which it is read, and the Spark types that may be written to it. A type that is not in the
table is refused before a row moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
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

from omd._core.error_codes import UnsupportedType

_MAX_PRECISION = 38
_ROOMY_PRECISION = 76
_FIRST_DAY = -2440588  # the first day of PostgreSQL, November 24, 4714 BC, counted from 1970
_DAY_MICROSECONDS = 86_400_000_000
SEVERAL_DIMENSIONS = "an array has several dimensions"
_INTEGERS = (ByteType, ShortType, IntegerType, LongType)


_SPARK_NAMES: dict[type[DataType], str] = {DecimalType: "decimal", ArrayType: "array"}
_DISPLAYED = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "bpchar": "char(n)",
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """One PostgreSQL type as the data source sees it."""

    name: str  # the name in pg_type
    spark: DataType  # the Spark type as which it is read
    arrow: pa.DataType  # the layout that COPY takes for it
    writable: tuple[type[DataType], ...]  # the Spark types that may be written to it
    # Whether it is read through a cast to text, because its binary form has no Arrow type.
    as_text: bool = False
    # Whether comparisons mean the same in PostgreSQL and in Spark, so that filters may be pushed
    # down.
    filterable: bool = False
    # Converts values to that layout, where a cast does not.
    encode: Callable[[pa.Array], pa.Array] | None = None
    element: ColumnType | None = None  # the type of the elements of an array

    def accepts(self, given: DataType) -> bool:
        """Return whether values of this Spark type may be written to the column."""
        if self.element is not None:
            return isinstance(given, ArrayType) and self.element.accepts(given.elementType)
        return isinstance(given, self.writable)

    def expression(self, name: str) -> sql.Composable:
        """Return the expression that a read selects for a column of this name."""
        column = sql.Identifier(name)
        if self.element is None:
            return sql.SQL("{0}::pg_catalog.text AS {0}" if self.as_text else "{0}").format(column)
        # The transfer loses dimensions, and its lower bound is always 1, as that of a slice is.
        complaint = sql.Literal(f'{SEVERAL_DIMENSIONS}, column "{name}", ')
        return sql.SQL(
            "CASE WHEN pg_catalog.array_ndims({0}) OPERATOR(pg_catalog.>) 1"
            " THEN ({1} OPERATOR(pg_catalog.||) pg_catalog.array_dims({0}))::int"
            "::pg_catalog.text::pg_catalog.{2}"
            " ELSE {3} END AS {0}"
        ).format(
            column,
            complaint,
            sql.SQL("text[]" if self.as_text else f"{self.element.name}[]"),
            sql.SQL("{0}[:]::pg_catalog.text[]" if self.as_text else "{0}[:]").format(column),
        )


def _uuid(texts: pa.Array) -> pa.Array:
    """Return the 16 bytes of each UUID, without a Python object per row."""
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
    """Return the binary form of jsonb, which is its text after a version byte."""
    return pc.binary_join_element_wise(b"\x01", texts.cast(pa.binary()), b"")


def _plain(
    name: str,
    read_as: DataType,
    arrow: pa.DataType,
    *writable: type[DataType],
    filterable: bool = False,
) -> ColumnType:
    return ColumnType(name, read_as, arrow, writable or (type(read_as),), filterable=filterable)


def _texts(name: str, encode: Callable[[pa.Array], pa.Array] | None = None) -> ColumnType:
    """Return a type that is a text in Spark."""
    return ColumnType(name, StringType(), pa.string(), (StringType,), as_text=True, encode=encode)


_TYPES: dict[str, ColumnType] = {
    type_.name: type_
    for type_ in (
        _plain("bool", BooleanType(), pa.bool_(), filterable=True),
        _plain("int2", ShortType(), pa.int16(), *_INTEGERS, filterable=True),
        _plain("int4", IntegerType(), pa.int32(), *_INTEGERS, filterable=True),
        _plain("int8", LongType(), pa.int64(), *_INTEGERS, filterable=True),
        _plain("float4", FloatType(), pa.float32()),
        _plain("float8", DoubleType(), pa.float64(), FloatType, DoubleType),
        _plain("text", StringType(), pa.string(), filterable=True),
        _plain("varchar", StringType(), pa.string(), filterable=True),
        _plain("bpchar", StringType(), pa.string()),
        _plain("date", DateType(), pa.date32(), filterable=True),
        _plain("timestamp", TimestampNTZType(), pa.timestamp("us"), filterable=True),
        _plain("timestamptz", TimestampType(), pa.timestamp("us", "UTC"), filterable=True),
        _plain("bytea", BinaryType(), pa.binary()),
        _texts("uuid", _uuid),
        _texts("json"),
        _texts("jsonb", _jsonb),
    )
}


def _numeric(precision: int | None, scale: int | None) -> ColumnType:
    # A numeric without precision may hold any number; 18 of Spark's 38 digits are decimal places.
    digits, places = (precision, scale or 0) if precision else (_MAX_PRECISION, 18)
    if digits > _MAX_PRECISION or not 0 <= places <= digits:
        raise UnsupportedType(
            f"numeric({digits},{places}) does not fit into Spark's decimal({_MAX_PRECISION})",
            hint="Read a query that casts it to a numeric of at most 38 digits, or to text.",
        )
    return ColumnType(
        "numeric",
        DecimalType(digits, places),
        pa.decimal128(digits, places),
        (DecimalType, *_INTEGERS),
        as_text=True,
        filterable=True,
    )


def _array(element: ColumnType) -> ColumnType:
    return ColumnType(
        f"{element.name}[]",
        ArrayType(element.spark),
        pa.list_(element.arrow),
        (ArrayType,),
        as_text=element.as_text,
        element=element,
    )


class Described(NamedTuple):
    """A column of a result as the server describes it; a domain appears as its base type."""

    name: str  # the name of the column
    type_name: str  # the name of its type in pg_type, with [] for an array
    is_enum: bool  # whether the type is an enum
    precision: int | None  # the precision of a numeric
    scale: int | None  # the scale of a numeric


def column_type(column: Described) -> ColumnType:
    """Return the entry of the type table for a column of a result.

    Raises:
        UnsupportedType: there is none; the message names column and type.
    """
    type_name = column.type_name
    if column.is_enum:
        return _texts(type_name)
    of = type_name.removesuffix("[]")
    try:
        known = _numeric(column.precision, column.scale) if of == "numeric" else _TYPES.get(of)
    except UnsupportedType as error:
        raise UnsupportedType(f'column "{column.name}": {error}', hint=error.hint) from None
    if known is None:
        raise UnsupportedType(
            f'column "{column.name}" has the type {type_name}, which Spark does not have',
            hint="Read a query that casts it, for example to text.",
        )
    return known if of == type_name else _array(known)


def read_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return values of PostgreSQL as Spark expects them; fails where a value does not fit."""
    if pa.types.is_list(target):
        return _with_values(array, read_array(array.values, target.value_type))
    _check_range(array, "infinity, or before 4714 BC or after the year 294246")
    if pa.types.is_decimal(target):
        return _decimals(array, target)
    return array if array.type == target else array.cast(target)


def write_array(array: pa.Array, column: ColumnType) -> pa.Array:
    """Return values of Spark in the layout that COPY takes; fails where a value does not fit."""
    if column.element is not None:
        return _with_values(array, write_array(array.values, column.element))
    if column.encode is not None:
        return column.encode(array)
    if pa.types.is_decimal(column.arrow):
        # The server checks the precision and rounds to the scale, as it does for an INSERT.
        return array if pa.types.is_decimal(array.type) else array.cast(pa.decimal128(19, 0))
    _check_range(array, "before 4714 BC")
    return array if array.type == column.arrow else array.cast(column.arrow)


def _with_values(array: pa.ListArray, values: pa.Array) -> pa.ListArray:
    """Return the same lists with other values."""
    return pa.ListArray.from_buffers(
        pa.list_(values.type),
        len(array),
        array.buffers()[:2],
        array.null_count,
        array.offset,
        [values],
    )


def _decimals(texts: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    """Return texts as numbers. Arrow ignores an overflow, so all digits must have room first."""
    length = pc.binary_length(texts)
    if (pc.max(length).as_py() or 0) + target.scale > _MAX_PRECISION:
        point = pc.find_substring(texts, ".")
        whole = pc.max(pc.if_else(pc.less(point, 0), length, point)).as_py()
        if whole + target.scale > _ROOMY_PRECISION:
            raise ValueError(f"a value has more than {_MAX_PRECISION} digits")
        texts = texts.cast(pa.decimal256(_ROOMY_PRECISION, target.scale))
    return texts.cast(target)


def _check_range(array: pa.Array, problem: str) -> None:
    """Refuse times that only one side has.

    The transfer moves the epoch by 30 years and does not check the range: a value that overflows,
    such as infinity, becomes one before the first day of PostgreSQL, in 4714 BC.
    """
    least = _FIRST_DAY if pa.types.is_date32(array.type) else _FIRST_DAY * _DAY_MICROSECONDS
    if pa.types.is_date32(array.type):
        smallest = pc.min(array.view(pa.int32())).as_py()
    elif pa.types.is_timestamp(array.type):
        smallest = pc.min(array.view(pa.int64())).as_py()
    else:
        return
    if smallest is not None and smallest < least:
        raise ValueError(f"a value is {problem}")


def type_table() -> str:
    """Return the table of types in Markdown, for the documentation."""
    lines = ["| PostgreSQL | read as | written from |", "|---|---|---|"]
    for type_ in [*_TYPES.values(), _numeric(12, 2), _numeric(None, None), _array(_TYPES["int4"])]:
        name, read_as = _DISPLAYED.get(type_.name, type_.name), type_.spark.simpleString()
        written = ", ".join(
            _SPARK_NAMES.get(kind) or kind().simpleString() for kind in type_.writable
        )
        if type_.name == "numeric":
            limited = type_.spark != DecimalType(_MAX_PRECISION, 18)
            name = f"numeric(p, s), p ≤ {_MAX_PRECISION}" if limited else "numeric"
            read_as = read_as if not limited else "decimal(p, s)"
        elif type_.element is not None:
            name, read_as, written = "arrays of these", "array", "arrays of what the elements take"
        lines.append(f"| {name} | {read_as} | {written} |")
    return "\n".join([*lines, "| enums | string | string |"]) + "\n"
