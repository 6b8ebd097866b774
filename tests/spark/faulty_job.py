"""The job of the fault test: it writes ROWS rows for each database that it reads from stdin."""

from __future__ import annotations

import sys
from datetime import timedelta

import omd
import omd.spark

ROWS = 8000
PARTITIONS = 4
SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.log.level": "OFF",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    # A task that is not done at once is tried on the other machine as well, if there is one.
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.01",
}


def main(master: str) -> None:
    spark = omd.spark.session(master, SETTINGS)
    df = spark.range(0, ROWS, 1, PARTITIONS).selectExpr("id", "md5(string(id)) AS note")
    print("ready", flush=True)
    for line in sys.stdin:
        with omd.connect(line.strip(), lease=timedelta(seconds=20)) as control:
            outcome = control.run("m_t", lambda run: run.write(df), spark=spark)
            print(outcome.status.value, flush=True)
            if outcome.error is not None:
                print(f"{type(outcome.error).__name__}: {outcome.error}"[:2000], file=sys.stderr)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
