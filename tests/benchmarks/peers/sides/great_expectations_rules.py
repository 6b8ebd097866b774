"""The rules of lineitem in Great Expectations, with and without its cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import great_expectations as gx
import great_expectations.expectations as gxe
import lineitem
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
COUNTS = {"result_format": "BASIC", "partial_unexpected_count": 0}


def suite() -> gx.ExpectationSuite:
    """Return the rules."""
    rules = [gxe.ExpectCompoundColumnsToBeUnique(column_list=lineitem.KEY)]
    rules += [gxe.ExpectColumnValuesToNotBeNull(column=name) for name in lineitem.MANDATORY]
    rules += [
        gxe.ExpectColumnValuesToBeInSet(column=name, value_set=values)
        for name, values in lineitem.VALUES.items()
    ]
    rules += [
        gxe.ExpectColumnValuesToBeBetween(column=name, min_value=least, max_value=most)
        for name, (least, most) in lineitem.BETWEEN.items()
    ]
    rules += [
        gxe.ExpectColumnValueLengthsToBeBetween(column=name, max_value=most)
        for name, most in lineitem.LONGEST.items()
    ]
    rules += [
        gxe.ExpectColumnValuesToMatchRegex(column=name, regex=f"^{pattern}$")
        for name, pattern in lineitem.MATCHES.items()
    ]
    rules += [
        gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[True]) for name in lineitem.RECORDS
    ]
    return gx.ExpectationSuite(name="lineitem", expectations=rules)


def main() -> None:
    spark = lineitem.session()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    rules = context.suites.add(suite())
    definitions = {}
    for name in ("cached", "uncached"):
        source = context.data_sources.add_spark(name, persist=name == "cached")
        asset = source.add_dataframe_asset("lineitem")
        batch = asset.add_batch_definition_whole_dataframe("whole")
        definitions[name] = context.validation_definitions.add(
            gx.ValidationDefinition(data=batch, suite=rules, name=name)
        )

    def read(path: Path) -> DataFrame:
        reader = spark.read.option("header", "true").option("escape", '"')
        rows = reader.schema(lineitem.SCHEMA).csv(str(path))
        return rows.withColumns({n: F.expr(rule) for n, rule in lineitem.RECORDS.items()})

    def validate(path: Path, name: str) -> int:
        result = definitions[name].run(
            batch_parameters={"dataframe": read(path)}, result_format=COUNTS
        )
        spark.catalog.clearCache()
        return sum(r.result.get("unexpected_count", 0) for r in result.results)

    lineitem.serve(spark, {name: lambda path, n=name: validate(path, n) for name in definitions})


if __name__ == "__main__":
    main()
