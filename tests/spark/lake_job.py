"""The job of the kill test of the lake: it writes to a Parquet table of a Hive metastore."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import omd
import omd.spark

ROWS = 1000


def held(batches):  # type: ignore[no-untyped-def]
    """The second partition waits until the job is killed."""
    from pyspark import TaskContext

    yield from batches
    context = TaskContext.get()
    if context is not None and context.partitionId() == 1:
        print("writing", file=sys.stderr, flush=True)
        time.sleep(600)


def main(folder: Path, dsn: str, then: str) -> None:
    spark = omd.spark.session(
        "local[2]",
        {
            "spark.sql.catalogImplementation": "hive",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={folder}/metastore;create=true"
            ),
            "spark.driver.extraJavaOptions": (
                "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
                f" -Dderby.stream.error.file={folder}/derby.log"
            ),
            "spark.log.level": "OFF",
        },
    )
    spark.sql("CREATE DATABASE IF NOT EXISTS lake")
    df = spark.range(0, ROWS, 1, 2)
    if then == "wait":  # to be killed
        df = df.mapInArrow(held, "id bigint")
    with omd.connect(dsn, spark=spark) as control, control.module("m_lake") as run:
        run.write(df)
    rows = spark.table("lake.t").groupBy("omd_insert_module_instance_id").count().collect()
    print(run.instance_id, sorted(map(tuple, rows)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
