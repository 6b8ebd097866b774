"""The rules of lineitem in pandera, with and without its cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import lineitem
import pandera.pyspark as pa
from pandera.config import config_context
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, StructType

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def schema() -> pa.DataFrameSchema:
    """Return the rules."""
    columns = {}
    for field in StructType.fromDDL(lineitem.SCHEMA):
        checks = []
        if field.name in lineitem.VALUES:
            checks.append(pa.Check.isin(lineitem.VALUES[field.name]))
        if field.name in lineitem.BETWEEN:
            least, most = lineitem.BETWEEN[field.name]
            checks.append(pa.Check.in_range(least, most))
        if field.name in lineitem.MATCHES:
            checks.append(pa.Check.str_matches(f"^{lineitem.MATCHES[field.name]}$"))
        if field.name in lineitem.LONGEST:
            checks.append(pa.Check.str_matches(f"^.{{0,{lineitem.LONGEST[field.name]}}}$"))
        columns[field.name] = pa.Column(
            field.dataType, checks, nullable=field.name not in lineitem.MANDATORY
        )
    for name in lineitem.RECORDS:
        columns[name] = pa.Column(BooleanType(), pa.Check.equal_to(True), nullable=True)
    return pa.DataFrameSchema(columns, unique=lineitem.KEY)


def main() -> None:
    spark = lineitem.session()
    said = schema()

    def read(path: Path) -> DataFrame:
        reader = spark.read.option("header", "true").option("escape", '"')
        rows = reader.schema(lineitem.SCHEMA).csv(str(path))
        return rows.withColumns({n: F.expr(rule) for n, rule in lineitem.RECORDS.items()})

    def validate(path: Path, *, cached: bool) -> int:
        with config_context(cache_dataframe=cached, keep_cached_dataframe=False):
            errors = said.validate(read(path)).pandera.errors
        return len(errors)

    lineitem.serve(
        spark,
        {
            "cached": lambda path: validate(path, cached=True),
            "uncached": lambda path: validate(path, cached=False),
        },
    )


if __name__ == "__main__":
    main()
