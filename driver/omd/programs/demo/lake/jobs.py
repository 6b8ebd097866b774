"""The Modules of the demo as Spark jobs, into Iceberg tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import omd
from omd._core.engines import SPARK
from omd.programs.demo.files import YEAR, Source

if TYPE_CHECKING:
    from omd.rooms.control.run import Run


@dataclass(frozen=True)
class Month:
    """The values that the jobs of one run share."""

    spark: SparkSession
    source: Source  # the supplier's deliveries
    namespace: str  # the one of the tables
    number: int  # the month, 1 to 12
    # Whether the job of the flights shows its rows early, and fails afterwards.
    breaks: bool = False


Job = Callable[["Run", Month], object]


def _flights(run: Run, month: Month) -> None:
    """Add the flights of the month."""
    df = month.spark.read.parquet(month.source.delivery("flights", month.number))
    run.write(df, partition_by=["month"])
    if month.breaks:
        run.commit()
        raise RuntimeError("demo: the number of rows is not what the supplier says")


def _weather(run: Run, month: Month) -> None:
    """Add the weather of the month."""
    run.write(month.spark.read.parquet(month.source.delivery("weather", month.number)))


def _aircraft(run: Run, month: Month) -> None:
    """Add a version of each aircraft whose usual carrier or airport has changed."""
    flown = run.read(month.spark, f"{month.namespace}.flights").where(
        (F.col("month") == month.number) & F.col("tailnum").isNotNull()
    )
    # mode() takes the most frequent value, and of equally frequent ones the first alphabetically.
    seen = flown.groupBy("tailnum").agg(
        F.mode("carrier", True).alias("carrier_code"),
        F.mode("origin", True).alias("base_airport_code"),
    )
    if month.number > 1:
        current = run.read(month.spark, run._module.table_code).where(
            "omd_current_record_indicator = 'Y'"
        )
        names = ["tailnum", "carrier_code", "base_airport_code"]
        seen = seen.join(F.broadcast(current.select(names)), names, "left_anti")
    day = date(YEAR, month.number, 1)
    run.write(run.stamp(seen, effective_date=day), mode="history")


def _delays(run: Run, month: Month) -> None:
    """Replace the delays by carrier and month, from all flights."""
    flights = run.read(month.spark, f"{month.namespace}.flights")
    delays = flights.groupBy("year", "month", "carrier").agg(
        F.count("*").alias("flights"),
        F.count_if(F.col("dep_time").isNull()).alias("cancelled"),
        F.coalesce(F.sum("dep_delay"), F.lit(0)).alias("dep_delay_minutes"),
        F.coalesce(F.sum("arr_delay"), F.lit(0)).alias("arr_delay_minutes"),
    )
    airlines = month.spark.read.parquet(month.source.delivery("airlines", month.number))
    run.write(delays.join(F.broadcast(airlines), "carrier", "left"), mode="overwrite")


JOBS: dict[str, Job] = {
    "flights": _flights,
    "weather": _weather,
    "sat_aircraft": _aircraft,
    "carrier_month": _delays,
}
"""The job of each table, in the order of the Batch."""

_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "flights": {"area_code": "HSTG", "table_type_code": "HSTG"},
    "weather": {"area_code": "HSTG", "table_type_code": "HSTG"},
    "sat_aircraft": {
        "area_code": "INT",
        "table_type_code": "SAT",
        "business_key_columns": ["tailnum"],
    },
    "carrier_month": {"area_code": "PRES", "table_type_code": "FACT"},
    "proof": {"area_code": "HELPER", "table_type_code": "FACT"},
}


def batch_of(namespace: str) -> str:
    """Return the Batch that loads the tables of a namespace."""
    return f"b_{namespace}"


def module_of(namespace: str, table: str) -> str:
    """Return the Module that loads a table."""
    return f"m_{namespace}_{table}"


def register(control: omd.Control, namespace: str, location: str) -> None:
    """Register the namespace, and the Batch with a Module for each table. A DBA does it once."""
    control.calls.omd_lake.register_namespace(namespace, location)
    batch = batch_of(namespace)
    control.calls.omd.register_batch(
        batch, batch_description="The flights from New York, in Iceberg tables"
    )
    for number, (table, attributes) in enumerate(_ATTRIBUTES.items(), 1):
        module = module_of(namespace, table)
        control.calls.omd.register_module(
            module,
            table_code=f"{namespace}.{table}",
            platform_code=SPARK,
            table_format_code="ICEBERG",
            **attributes,
        )
        if table in JOBS:  # the proof is a run of its own
            control.calls.omd.add_module_to_batch(batch, module, sequence=number)
