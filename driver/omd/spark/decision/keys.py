"""The sort key and the JSON of rows of a DataFrame, as the database makes them of its own.

``omd_decision._sort_key_sql`` is the definition of the sort key. No expression here looks at the
settings of the session, above all not at its time zone: a DataFrame belongs to the session of the
job.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

_FAMILIES: dict[type[DataType], str] = {
    BooleanType: "boolean",
    ByteType: "integer",
    ShortType: "integer",
    IntegerType: "integer",
    LongType: "integer",
    StringType: "text",
    DateType: "date",
    TimestampNTZType: "timestamp",
    TimestampType: "timestamptz",
}
_EPOCH = 946_684_800_000_000  # 2000-01-01 in microseconds since 1970
_DAY = 86_400_000_000


def named(name: str) -> Column:
    """Return the column of a name, whatever characters it has."""
    return F.col("`{}`".format(name.replace("`", "``")))


def family_of(type_: DataType) -> str | None:
    """Return the family of a type, as `omd_decision._type_family` does; a UUID is a text."""
    return next((family for kind, family in _FAMILIES.items() if isinstance(type_, kind)), None)


def sort_key(column: Column, family: str, direction: str) -> Column:
    """Return the sort key of a column, whose type is of this family.

    Args:
        column: the column; one of the family uuid is a text.
        family: boolean, integer, text, date, timestamp, timestamptz or uuid.
        direction: ASC or DESC.
    """
    if family == "boolean":
        digits = F.when(column, "01").otherwise("00")
    elif family == "text":
        digits = F.concat(F.lower(F.hex(F.encode(column, "UTF-8"))), F.lit("00"))
    elif family == "uuid":
        digits = F.lower(F.replace(column, F.lit("-"), F.lit("")))
    elif family == "date":
        digits = _hex(F.datediff(column, F.make_date(F.lit(2000), F.lit(1), F.lit(1))) + 2**31, 8)
    else:
        number = {"timestamp": _micros, "timestamptz": F.unix_micros}.get(family)
        value = column.cast("long") if number is None else number(column) - F.lit(_EPOCH)
        digits = _hex(value.bitwiseXOR(F.lit(-(2**63))), 16)
    text = F.when(column.isNull(), "0").otherwise(F.concat(F.lit("1"), digits))
    if direction == "ASC":
        return text
    return F.translate(text, "0123456789abcdef", "fedcba9876543210")


def _hex(number: Column, digits: int) -> Column:
    text = F.hex(number)
    # To pad a text costs as much as all else here; that of a negative number is complete.
    return F.lower(F.when(number < 0, text).otherwise(F.lpad(text, digits, "0")))


def _micros(column: Column) -> Column:
    """Return the microseconds since 1970 of a time without a zone."""
    seconds = F.hour(column) * 3600 + F.minute(column) * 60
    return (
        F.unix_date(F.to_date(column)).cast("long") * _DAY
        + seconds.cast("long") * 1_000_000
        + (F.extract(F.lit("SECOND"), column) * 1_000_000).cast("long")
    )


def json_of(names: dict[str, DataType]) -> Column:
    """Return columns as the JSON that the database makes of such a row."""
    fields = [_plain(named(name), type_).alias(name) for name, type_ in names.items()]
    return F.to_json(F.struct(*fields), {"ignoreNullFields": "false"})


def _plain(column: Column, type_: DataType) -> Column:
    """Return a value in a type that Spark writes to JSON as the database does."""
    if isinstance(type_, TimestampNTZType):
        return _moment(column)
    if isinstance(type_, TimestampType):
        start = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        seconds = F.unix_micros(column).cast("decimal(20,0)") / F.lit(1_000_000)
        length = F.make_dt_interval(secs=seconds.cast("decimal(18,6)"))
        return F.concat(_moment(start + length), F.lit("+00:00"))
    if isinstance(type_, BinaryType):
        return F.concat(F.lit("\\x"), F.lower(F.hex(column)))
    if isinstance(type_, ArrayType):
        return F.transform(column, lambda item: _plain(item, type_.elementType))
    if isinstance(type_, MapType):
        return F.transform_values(column, lambda _, item: _plain(item, type_.valueType))
    if isinstance(type_, StructType):
        fields = [
            _plain(column.getField(field.name), field.dataType).alias(field.name)
            for field in type_.fields
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return column


def _moment(column: Column) -> Column:
    return F.replace(column.cast("string"), F.lit(" "), F.lit("T"))
