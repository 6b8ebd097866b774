"""A program with a Spark session of its own, which delivers what it is told."""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

import omd
from omd.errors import ConfigurationError


def main(told: dict[str, object], settings: dict[str, str]) -> None:
    builder = SparkSession.builder.master("local[1]").config("spark.log.level", "OFF")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    with omd.connect(str(told["dsn"])) as control:
        try:
            outcome = control.delivery.deliver(
                delivery_id=told["delivery_id"], entities=told["entities"], spark=spark
            )
            outcome.result()
        except ConfigurationError as error:
            print(error, error.hint, sep="\n")
            tracker = spark.sparkContext.statusTracker()
            print("jobs:", len(tracker.getJobIdsForGroup()), "failed before:", error.__cause__)
        else:
            print(outcome.facts["delivery_status"], outcome.facts["attempt"])
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
