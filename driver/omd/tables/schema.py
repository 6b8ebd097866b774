"""The columns of a table: Spark's types and Iceberg's, joined by field ids.

Spark's schema is taken and returned as its JSON, so that nothing of Spark is needed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from omd._core.error_codes import LakeTableUnreadable
from omd._core.errors import CallerError

FIELD_ID = "parquet.field.id"

_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TEXT = re.compile(r"(var)?char\(\d+\)")
_TO_ICEBERG: dict[str, IcebergType] = {
    "boolean": BooleanType(),
    "byte": IntegerType(),
    "short": IntegerType(),
    "integer": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "string": StringType(),
    "binary": BinaryType(),
    "date": DateType(),
    "timestamp": TimestamptzType(),
    "timestamp_ntz": TimestampType(),
}
_TO_SPARK = {
    str(type_): name for name, type_ in _TO_ICEBERG.items() if name not in ("byte", "short")
}

_PARTITION = re.compile(
    r"(?:(?P<unit>years|months|days|hours)\((?P<of>.+)\)"
    r"|truncate\((?P<width>[1-9]\d*)\s*,\s*(?P<cut>.+)\)|(?P<plain>.+))"
)
_UNITS: dict[str, tuple[Transform[Any, Any], str]] = {
    "years": (YearTransform(), "year"),
    "months": (MonthTransform(), "month"),
    "days": (DayTransform(), "day"),
    "hours": (HourTransform(), "hour"),
}


class UnknownType(Exception):  # noqa: N818 - it is turned into an error of OMD
    """A column has a type that the table format, or the way to it, does not know."""

    def __init__(self, column: str, type_: str) -> None:
        super().__init__(f'column "{column}" is of the type {type_}')


def iceberg_schema(spark: dict[str, Any]) -> Schema:
    """Return the schema of a new table, from Spark's schema as JSON.

    Raises:
        UnknownType: there is no such type in such a table.
        CallerError: two columns differ only in case.
    """
    ids = count(1)
    return Schema(*_fields(spark, ids, ""), schema_id=0)


def iceberg_type(spark: str) -> PrimitiveType:
    """Return the type that counts bounds as a simple type of Spark does.

    Raises:
        UnknownType: there is none.
    """
    type_ = _iceberg_type(spark, count(1), spark)
    assert isinstance(type_, PrimitiveType)  # noqa: S101 - the name of a type is one
    return type_


def _fields(struct: dict[str, Any], ids: Iterator[int], within: str) -> list[NestedField]:
    require_distinct([field["name"] for field in struct["fields"]])
    # The fields of one level get their ids before those inside them, as in other writers.
    numbered = [(next(ids), field) for field in struct["fields"]]
    return [
        NestedField(
            field_id=number,
            name=field["name"],
            field_type=_iceberg_type(field["type"], ids, within + field["name"]),
            required=False,
        )
        for number, field in numbered
    ]


def _iceberg_type(spark: Any, ids: Iterator[int], column: str) -> IcebergType:
    if isinstance(spark, dict):
        if spark["type"] != "struct":
            raise UnknownType(column, spark["type"])
        return StructType(*_fields(spark, ids, f"{column}."))
    known = _TO_ICEBERG.get(spark)
    if known is not None:
        return known
    if _TEXT.fullmatch(spark):
        return StringType()
    decimal = _DECIMAL.fullmatch(spark)
    if decimal is None or int(decimal[2]) < 0:
        raise UnknownType(column, spark)
    return DecimalType(int(decimal[1]), int(decimal[2]))


def require_distinct(names: Sequence[str]) -> None:
    """Refuse names that differ only in case: Spark can't tell them apart."""
    twice = [name for name, number in Counter(map(str.lower, names)).items() if number > 1]
    if twice:
        alike = " and ".join(name for name in names if name.lower() == twice[0])
        raise CallerError(
            f"the columns {alike} differ at most in case", hint="Rename one, or drop it."
        )


def spark_schema(schema: Schema | StructType) -> dict[str, Any]:
    """Return Spark's schema as JSON: each field carries its id, and may be NULL.

    Raises:
        LakeTableUnreadable: Spark can't read such a column by its id.
    """
    require_distinct([field.name for field in schema.fields])
    return {
        "type": "struct",
        "fields": [
            {
                "name": field.name,
                "type": _spark_type(field),
                "nullable": True,
                "metadata": {FIELD_ID: field.field_id},
            }
            for field in schema.fields
        ],
    }


def _spark_type(field: NestedField) -> Any:
    type_ = field.field_type
    if isinstance(type_, StructType):
        return spark_schema(type_)
    if isinstance(type_, DecimalType):
        return f"decimal({type_.precision},{type_.scale})"
    known = _TO_SPARK.get(str(type_))
    if known is None:
        raise LakeTableUnreadable(
            f'column "{field.name}" is of the type {type_}, which plain Parquet readers of Spark'
            " can't find by its id",
            hint="Read the table with the native jar of its format.",
        )
    return known


def leaves(schema: Schema | StructType) -> list[NestedField]:
    """Return the columns as a Parquet file has them: the innermost fields, in order.

    Each is required only if all around it are.
    """
    fields: list[NestedField] = []
    for field in schema.fields:
        if isinstance(field.field_type, StructType):
            for inner in leaves(field.field_type):
                needed = inner.required and field.required
                fields.append(inner.model_copy(update={"required": needed}))
        else:
            fields.append(field)
    return fields


def partition_spec(schema: Schema, partition_by: Sequence[str]) -> PartitionSpec:
    """Return how a new table is partitioned.

    Args:
        schema: its columns.
        partition_by: columns, ``years(c)``, ``months(c)``, ``days(c)``, ``hours(c)`` or
            ``truncate(n, c)``.

    Raises:
        CallerError: there is no such column, or no such partition of its type.
    """
    fields = []
    for number, text in enumerate(partition_by, PARTITION_FIELD_ID_START):
        match = _PARTITION.fullmatch(text.strip())
        if match is None:
            raise CallerError("partition_by has an empty entry", hint="Name a column.")
        transform: Transform[Any, Any]
        if match["unit"]:
            transform, end = _UNITS[match["unit"]]
            column, name = match["of"].strip(), f"{match['of'].strip()}_{end}"
        elif match["width"]:
            transform = TruncateTransform(int(match["width"]))
            column = match["cut"].strip()
            name = f"{column}_trunc"
        else:
            transform, column = IdentityTransform(), match["plain"]
            name = column
        source = next((field for field in schema.fields if field.name == column), None)
        if source is None:
            raise CallerError(
                f'the table has no column "{column}", by which it is to be partitioned',
                hint=f"Its columns are {', '.join(schema.column_names)}.",
            )
        type_ = source.field_type
        if not isinstance(type_, PrimitiveType) or not transform.can_transform(type_):
            raise CallerError(f'a table can\'t be partitioned by {text}: "{column}" is of {type_}')
        fields.append(PartitionField(source.field_id, number, transform, name))
    return PartitionSpec(*fields, spec_id=0)
