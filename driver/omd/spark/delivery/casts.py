"""How a staged value becomes a typed one (docs/explanation/delivery.md, rule Q6).

A value that can't be cast is NULL while the staged one is not: that is what datatype violations
are. All expressions are meant for a session of `working_session`: there a cast that fails is NULL,
and times are UTC.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    IntegralType,
    LongType,
    NullType,
    NumericType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from omd._core.error_codes import DeliveryArgumentInvalid

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Attribute

_SIZED = re.compile(r"(numeric|character varying)\((\d+)(?:,(\d+))?\)")
_SPARK = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "double precision": "double",
    "text": "string",
    "date": "date",
    "timestamp without time zone": "timestamp_ntz",
    "timestamp with time zone": "timestamp",
}
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
_ZONE = "(?:Z|[+-][0-9]{2}:[0-9]{2})"
_PATTERNS = {
    "bigint": "[+-]?[0-9]+",
    "double precision": r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
    "timestamp without time zone": _DAY + _TIME,
    "timestamp with time zone": _DAY + _TIME + _ZONE + "?",
}
_MONTHS = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_REGULAR_DAY = f"[1-9][0-9]{{3}}-(?:{_MONTHS}|02-(?:0[1-9]|1[0-9]|2[0-8]))"
_REGULAR_TIME = r"[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_REGULAR: dict[str, tuple[str, DataType]] = {
    "smallint": ("-?(?:[0-9]{1,4}|[12][0-9]{4})", ShortType()),
    "integer": ("-?(?:[0-9]{1,9}|1[0-9]{9}|20[0-9]{8})", IntegerType()),
    "bigint": ("-?(?:[0-9]{1,18}|[1-8][0-9]{18})", LongType()),
    "double precision": (r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?", DoubleType()),
    "date": (_REGULAR_DAY, DateType()),
    "timestamp without time zone": (_REGULAR_DAY + _REGULAR_TIME, TimestampNTZType()),
    "timestamp with time zone": (_REGULAR_DAY + _REGULAR_TIME, TimestampNTZType()),
}
_ZONED = re.compile(r"[VzOXxZ]")  # the letters of patterns that stand for a zone
_QUOTED = re.compile(r"'[^']*'")
_TOO_BIG = 9_223_372_036_854_775_808.0  # as a bigint it would be one less
_EXACT = 9_007_199_254_740_992  # up to it every integer is a double


def spark_type(data_type: str) -> str:
    """Return the Spark type of the values of a type, which is as format_type prints it."""
    kind, size = _sized(data_type)
    if kind == "numeric":
        return "decimal({},{})".format(*size)
    return _SPARK["text" if kind == "character varying" else kind]


def regular(attribute: Attribute) -> tuple[str, DataType] | None:
    """Return a pattern of texts that are values, and the type as which Arrow reads these texts.

    It is a pattern of RE2, and passes over texts that are rare or that Arrow takes differently.
    None: all texts are left to `typed`.
    """
    kind, size = _sized(attribute.type)
    if attribute.format is not None:
        return None
    if kind == "numeric":
        precision, scale = size
        digits = f"[0-9]{{1,{precision - scale}}}" if precision > scale else "0"
        behind = rf"(?:\.[0-9]{{1,{scale}}})?" if scale else ""
        return f"-?{digits}{behind}", DecimalType(precision, scale)
    return _REGULAR.get(kind)


def fitting(attribute: Attribute, column: Column, read: DataType) -> Column:
    """Return the typed value of an attribute from what Arrow has read of a `regular` text.

    Args:
        column: of the type that `regular` says, or a text that is not empty and without U+0000.
        read: the type of the column.
    """
    target = spark_type(attribute.type)
    if attribute.format is None and target == "string":
        return F.when(_is_short(column, _sized(attribute.type)[1]), column)
    if _is_text(read):  # which any text may be
        return _from_text(attribute, column)
    return column.cast(target)


def present(attribute: Attribute, column: Column, staged: DataType) -> Column:
    """Return whether there is a staged value: a text that is empty is none."""
    if not _is_text(staged):
        return column.isNotNull()
    text = column if spark_type(attribute.type) == "string" else F.trim(column)
    return column.isNotNull() & (text != "")


def typed(attribute: Attribute, column: Column, staged: DataType, place: str) -> Column:
    """Return the typed value of an attribute; NULL where there is none, or none that fits.

    Args:
        column: its staged column.
        staged: the type of that column.
        place: the name of the staged column, for an error.

    Raises:
        DeliveryArgumentInvalid: values of this type can't become values of the attribute's.
    """
    if isinstance(staged, NullType):
        return F.lit(None).cast(spark_type(attribute.type))
    if _is_text(staged):
        return _from_text(attribute, column)
    value = _from_typed(attribute, column, staged)
    if value is None:
        raise DeliveryArgumentInvalid(
            f"{place} is of Spark's type {staged.simpleString()}, which can't become"
            f" {attribute.type}",
            hint="Cast the column before it is delivered.",
        )
    return value


def literal(attribute: Attribute, value: str | int | float | bool) -> Column:
    """Return a value of an enumeration, which the model writes as its type is staged."""
    if isinstance(value, bool) or spark_type(attribute.type) == "string":
        return F.lit(value)
    said = str(value) if isinstance(value, str) else format(Decimal(str(value)), "f")
    if attribute.type == "timestamp with time zone" and not re.search(_ZONE + "$", said):
        said += "Z"
    return F.lit(said).cast(spark_type(attribute.type))


def _sized(data_type: str) -> tuple[str, tuple[int, ...]]:
    match = _SIZED.fullmatch(data_type)
    if match is None:
        return data_type, ()
    return match[1], tuple(int(n) for n in match.groups()[1:] if n is not None)


def _is_text(staged: DataType) -> bool:
    return isinstance(staged, (StringType, CharType, VarcharType))


def _has(text: Column, pattern: str) -> Column:
    return text.rlike(rf"\A(?:{pattern})\z")


def _prints_back(value: Column, text: Column, pattern: str) -> Column:
    """Return the value where its text is the staged one, or else has the pattern.

    Most staged values are written as Spark prints them, and a comparison is cheaper than a regular
    expression.
    """
    return _where((value.cast("string") == text) | _has(text, pattern), value)


def _where(fits: Column, value: Column) -> Column:
    """Return the value where it fits.

    Spark casts once what a condition names twice, but again what only its result names.
    """
    return F.when(value.isNotNull() & fits, value)


def _from_text(attribute: Attribute, column: Column) -> Column:
    kind, size = _sized(attribute.type)
    target = spark_type(attribute.type)
    if target == "string":
        fits = (column != "") & ~F.contains(column, F.lit("\0"))
        return F.when(fits & _is_short(column, size), column)
    text = F.trim(column)
    if attribute.format is not None:
        return _from_format(attribute, text, attribute.format)
    if kind == "boolean":
        word = F.lower(text)
        return F.when(word.isin(*_TRUE), True).when(word.isin(*_FALSE), False)
    if target in ("smallint", "int", "bigint"):
        return _prints_back(text.try_cast(target), text, _PATTERNS["bigint"])
    if kind == "numeric":
        return _from_digits(text, size)
    value = text.try_cast(target)
    if kind == "double precision":
        return F.when(_finite(value) & _has(text, _PATTERNS[kind]), value)
    if kind == "date":
        return F.when(_in_years(value, target) & (value.cast("string") == text), value)
    return F.when(_in_years(value, target), _prints_back(value, text, _PATTERNS[kind]))


def _is_short(text: Column, size: tuple[int, ...]) -> Column:
    """Return whether a text has at most so many characters, if that is said."""
    if not size:
        return F.lit(True)
    # Characters are counted only where there are more bytes.
    return (F.octet_length(text) <= size[0]) | (F.char_length(text) <= size[0])


def _from_digits(text: Column, size: tuple[int, ...]) -> Column:
    precision, scale = size
    value = text.try_cast(f"decimal({precision},{scale})")
    # The cast would round, and read an exponent.
    whole, point = "[0-9]+(?:\\.0*)?|\\.0+", f"[0-9]+(?:\\.[0-9]{{0,{scale}}}0*)?"
    pattern = f"[+-]?(?:{point}|\\.[0-9]{{1,{scale}}}0*)" if scale else f"[+-]?(?:{whole})"
    # Spark prints all digits of the scale: 17 is the beginning of 17.00.
    printed = value.cast("string").startswith(text)
    return _where(printed | _has(text, pattern), value)


def _from_format(attribute: Attribute, text: Column, pattern: str) -> Column:
    target, said = spark_type(attribute.type), F.lit(pattern)
    if target == "date":
        value = F.to_date(text, pattern)
    elif target == "timestamp":
        value = F.try_to_timestamp(text, said)
    else:
        value = F.to_timestamp_ntz(text, said)
    fits = _in_years(value, target)
    # What has a zone is printed in another one. The parser is as strict, but for texts of months.
    if not _ZONED.search(_QUOTED.sub("", pattern)):
        fits &= F.date_format(value, pattern) == text
    return F.when(fits, value)


def _finite(value: Column) -> Column:
    largest = F.lit(1.7976931348623157e308)
    return (value <= largest) & (value >= -largest)  # NaN is larger than all


def _in_years(value: Column, target: str) -> Column:
    """Return whether a date or time is of the years 0001 to 9999."""
    last = "9999-12-31" if target == "date" else "9999-12-31 23:59:59.999999"
    return (value >= F.lit("0001-01-01").cast(target)) & (value <= F.lit(last).cast(target))


def _from_typed(attribute: Attribute, column: Column, staged: DataType) -> Column | None:
    """Return a typed value where nothing is lost; None where the types have nothing in common."""
    kind, _ = _sized(attribute.type)
    target = spark_type(attribute.type)
    is_number = isinstance(staged, NumericType)
    if target == "string":
        known = (NumericType, BooleanType, DateType, TimestampType, TimestampNTZType)
        if not isinstance(staged, known):
            return None
        written = column.cast("string")
        fits = _from_text(attribute, written)
        is_float = isinstance(staged, (DoubleType, FloatType))
        return F.when(_finite(column.cast("double")), fits) if is_float else fits
    if kind == "boolean":
        if isinstance(staged, BooleanType):
            return column
        return F.when(column == 1, True).when(column == 0, False) if is_number else None
    if kind in ("date", "timestamp without time zone", "timestamp with time zone"):
        if not isinstance(staged, (DateType, TimestampType, TimestampNTZType)):
            return None
        value = column.cast(target)
        fits = _in_years(value, target)
        if target == "date" and not isinstance(staged, DateType):
            fits &= value.cast("timestamp_ntz") == column.cast("timestamp_ntz")
        return F.when(fits, value)
    if not is_number:
        return None
    return _number(column, staged, target)


def _number(column: Column, staged: DataType, target: str) -> Column:
    value = column.try_cast(target)
    if isinstance(staged, (DoubleType, FloatType)):
        if target == "double":
            return F.when(_finite(value), value)
        # A double is the decimal that prints as it does: 0.1 is 0.10.
        fits = _finite(column.cast("double")) & (value.cast(staged) == column)
        if target == "bigint":
            fits &= column < _TOO_BIG
        return F.when(fits, value)
    if target == "double":
        if isinstance(staged, IntegralType):
            return F.when((column >= -_EXACT) & (column <= _EXACT), value)
        return _where(value.try_cast(staged) == column, value)
    if isinstance(staged, DecimalType):
        # Compared as decimals: a cast to an integer drops what is behind the point.
        return _where(value.try_cast(staged) == column, value)
    return value
