"""The Arrow types of Spark's types, as Spark itself maps them; its own function is not public."""

from __future__ import annotations

import pyarrow as pa
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
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

_TYPES: dict[type[DataType], pa.DataType] = {
    BooleanType: pa.bool_(),
    ByteType: pa.int8(),
    ShortType: pa.int16(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    FloatType: pa.float32(),
    DoubleType: pa.float64(),
    StringType: pa.string(),
    BinaryType: pa.binary(),
    DateType: pa.date32(),
    TimestampType: pa.timestamp("us", "UTC"),
    TimestampNTZType: pa.timestamp("us"),
}


def arrow_type(given: DataType) -> pa.DataType:
    """Return the Arrow type of a Spark type that the data source or a delivery has."""
    if isinstance(given, DecimalType):
        return pa.decimal128(given.precision, given.scale)
    if isinstance(given, ArrayType):
        element = arrow_type(given.elementType)
        return pa.list_(pa.field("element", element, nullable=given.containsNull))
    return _TYPES[type(given)]


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of such types; instants are in UTC."""
    fields = ((f.name, arrow_type(f.dataType), f.nullable) for f in schema)
    return pa.schema([pa.field(*field) for field in fields])


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema of an Arrow schema whose types have no parameters."""
    kinds = {arrow: kind for kind, arrow in _TYPES.items()}
    return StructType([StructField(f.name, kinds[f.type](), f.nullable) for f in schema])
