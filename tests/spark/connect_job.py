"""A job over Spark Connect, with its own server. Arguments: dsn, libpq service, event log."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

import omd
import omd.spark

dsn, service, events = sys.argv[1:]
builder = SparkSession.builder.remote("local[1]")
settings = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": events,
    "spark.log.level": "ERROR",
}
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
assert omd.spark.session() is spark
assert not hasattr(spark, "sparkContext")

with omd.connect(dsn, executor_dsn=service) as control:
    with control.module("m_t", spark=spark) as run:
        print("written:", run.write(spark.range(0, 1000, 1, 4)))
        print("read:", run.read(spark, "t.target").where("id > 989").count())
    outcome = control.run("m_t", lambda run: run.write(spark.range(3).selectExpr("id AS nosuch")))
    print("refused:", outcome.error)

with omd.connect(dsn) as control:
    for job in (
        lambda run: run.write(spark.range(3)),
        lambda run: run.read(spark, "t.target").count(),
    ):
        print("refused:", control.run("m_t", job).error)
spark.stop()
