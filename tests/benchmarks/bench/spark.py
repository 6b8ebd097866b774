"""Rows of seven mixed columns, which Spark writes and reads."""

from __future__ import annotations

import atexit
import os

from bench.control import begin, module
from bench.turns import Connection, Take, seconds
from pyspark.sql import DataFrame, SparkSession

import omd.spark

PARTS = 4
COLUMNS = (
    "id bigint, quantity integer, price numeric(12, 2), weight double precision, name text,"
    " ordered_on date, changed_at timestamptz"
)
QUERY = """
    SELECT id, CAST(id % 1000 AS int) AS quantity, CAST(id * 1.37 AS decimal(12, 2)) AS price,
        id / 7D AS weight, md5(CAST(id AS string)) AS name,
        date_add(DATE '2020-01-01', CAST(id % 2000 AS int)) AS ordered_on,
        timestamp_seconds(1600000000 + id) AS changed_at
    FROM range(0, {rows}, 1, {parts})
"""


def session(**more: str) -> SparkSession:
    """Return a session on two cores, which ends with the program."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.driver.memory": "2g", "spark.ui.enabled": "false", "spark.log.level": "OFF"}
    spark = omd.spark.session("local[2]", settings | more)
    atexit.register(spark.stop)
    return spark


def rows_of(spark: SparkSession, rows: int) -> DataFrame:
    """Return so many rows, which Spark holds."""
    frame = spark.sql(QUERY.format(rows=rows, parts=PARTS)).cache()
    assert frame.count() == rows
    return frame


def written(conn: Connection, dsn: str, rows: int) -> Take:
    """Return the path of a write into an empty table."""
    frame = rows_of(session(), rows)
    conn.execute(f"CREATE TABLE public.ours ({COLUMNS})".encode())
    module(conn, "m_spark", "public.ours")
    options = {"url": dsn, "table": "public.ours", "moduleInstance": str(begin(conn, "m_spark"))}

    def take() -> float:
        conn.execute("TRUNCATE public.ours")
        conn.execute("CHECKPOINT")
        write = frame.write.format("omd").mode("append").options(**options)
        return seconds(write.save)

    return take


def read(conn: Connection, dsn: str, rows: int) -> Take:
    """Return the path of a read of the whole table."""
    written(conn, dsn, rows)()
    conn.execute("VACUUM ANALYZE public.ours")
    options = {"url": dsn, "table": "public.ours", "partitionColumn": "id"}
    frame = session().read.format("omd").options(**options, numPartitions=str(PARTS)).load()
    return lambda: seconds(frame.write.format("noop").mode("overwrite").save)
