"""The types of attributes, and those of other tools that are the same."""

from __future__ import annotations

import re
from typing import Any

MOST_DIGITS = 38
LONGEST_TEXT = 10_485_760

_FIXED = {
    "boolean": ("boolean", "bool"),
    "smallint": ("smallint", "int2", "tinyint", "byte", "short", "int8_t", "i8", "i16", "int16"),
    "integer": ("integer", "int", "int4", "mediumint", "int32", "i32", "integertype"),
    "bigint": ("bigint", "int8", "long", "int64", "i64", "longtype"),
    "double precision": (
        *("double precision", "double", "real", "float", "float4", "float8", "float32"),
        *("float64", "binary_double", "doubletype", "floattype", "f32", "f64"),
    ),
    "date": ("date", "datetype"),
    "timestamp": (
        *("timestamp", "timestamp without time zone", "timestamp_ntz", "datetime", "datetime2"),
        *("datetime64[ns]", "smalldatetime", "timestampntztype"),
    ),
    "timestamptz": (
        *("timestamptz", "timestamp with time zone", "timestamp_tz", "timestamp_ltz"),
        *("timestamp with local time zone", "datetimeoffset", "timestamptype"),
    ),
}
_NAMES = {name: data_type for data_type, names in _FIXED.items() for name in names} | {
    "shorttype": "smallint",
    "bytetype": "smallint",
    "booleantype": "boolean",
}
_TEXTS = {
    *("text", "string", "str", "varchar", "character varying", "nvarchar", "varchar2", "object"),
    *("nvarchar2", "char", "character", "nchar", "bpchar", "clob", "stringtype", "varchartype"),
}
_NUMBERS = {"numeric", "decimal", "dec", "number", "decimaltype"}
_WRITTEN = re.compile(
    r"([a-z][a-z0-9_ \[\]]{0,60}?)(?: ?\( ?(\d{1,9})(?: char| byte)? ?(?:, ?(\d{1,9}) ?)?\))?"
)


def numeric(precision: Any, scale: Any) -> str | None:
    """Return the type of numbers with these digits; None where there is none."""
    if not isinstance(precision, int) or not isinstance(scale, int) or isinstance(precision, bool):
        return None
    return (
        f"numeric({precision},{scale})"
        if 1 <= precision <= MOST_DIGITS and 0 <= scale <= precision
        else None
    )


def text(length: Any = None) -> str:
    """Return the type of texts of at most this length."""
    is_length = isinstance(length, int) and not isinstance(length, bool)
    return f"text({length})" if is_length and 1 <= length <= LONGEST_TEXT else "text"


def written(name: Any) -> str | None:
    """Return the type that a database or a data frame has under this name; None: there is none."""
    if not isinstance(name, str) or len(name) > 100:
        return None
    plain = " ".join(name.lower().split()).removesuffix("()")
    # How many digits a second has is no part of a model.
    plain = re.sub(r"^(timestamp|datetime2?|datetimeoffset) ?\( ?\d ?\)", r"\1", plain)
    match = _WRITTEN.fullmatch(plain)
    if match is None:
        return None
    word, first, second = match[1].strip(), match[2], match[3]
    if word in _NUMBERS:
        return None if first is None else numeric(int(first), int(second or 0))
    if word in _TEXTS:
        return text(int(first) if first else None) if second is None else None
    if word in ("uuid", "uniqueidentifier"):
        return text(36)
    return _NAMES.get(word) if second is None else None


def kind(data_type: str) -> str:
    """Return what the values of a type are compared as."""
    word = data_type.partition("(")[0]
    return {"smallint": "integer", "bigint": "integer", "double precision": "double"}.get(
        word, word
    )


def is_number(data_type: str) -> bool:
    """Whether the values of a type are numbers."""
    return kind(data_type) in ("integer", "numeric", "double")
