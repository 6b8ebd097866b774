"""How the JVMs of tests are started: each ends soon, so that its start is most of what it costs.

The second compiler and a second thread that collects would cost a third of its time. An archive
that holds Spark's classes as the JVM has them in memory (class data sharing) spares another third:
``make setup`` writes it, once for each set of packages. A JVM that the archive does not fit goes on
without it and says nothing.

Run: ``python tests/support/spark_classes.py`` writes the archive anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SHARED = f"-Xlog:disable -Xlog:all=error:stderr -XX:SharedArchiveFile={ARCHIVE}"


def environment(options: str = f"{SHORT_LIVED} {SHARED}") -> dict[str, str]:
    """Return the variables by which a program starts its JVMs, those of executors too.

    They are not in a file of Spark's: its folder would be the first of the class path, and a class
    path with a folder that holds something fits no archive.
    """
    submitted = [
        options,
        f'-Dspark.executor.extraJavaOptions="{options}"',
        "-Dspark.ui.enabled=false",  # nobody looks at its page
    ]
    return {"SPARK_SUBMIT_OPTS": " ".join(submitted)}


def write() -> None:
    """Write the archive: it gets the classes that this program loads until its JVM ends."""
    os.environ.pop("SPARK_CONF_DIR", None)
    os.environ.update(environment(f"{SHORT_LIVED} -XX:ArchiveClassesAtExit={ARCHIVE}"))
    os.environ["SPARK_SUBMIT_OPTS"] += " -Xlog:disable"
    os.environ["PYSPARK_PYTHON"] = sys.executable

    from pyspark import SparkContext
    from pyspark.sql import SparkSession, Window, functions

    ARCHIVE.unlink(missing_ok=True)
    session = SparkSession.builder.master("local[2]").config("spark.log.level", "OFF").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        rows = session.createDataFrame(
            [(1, "a", 1.5), (1, "b", None), (2, None, 0.5)], "k int, t string, d double"
        )
        rows = rows.withColumn("m", functions.current_timestamp()).withColumn(
            "n", functions.expr("d :: decimal")
        )
        for form in ("parquet", "json", "csv"):
            rows.write.mode("overwrite").format(form).save(f"{folder}/{form}")
            read = session.read.schema(rows.schema).format(form).load(f"{folder}/{form}")
            window = Window.partitionBy("k").orderBy("t")
            read = read.withColumn("first", functions.row_number().over(window)).where("first < 5")
            grouped = read.groupBy("k").agg(
                functions.count("*"), functions.max("t"), functions.collect_list("d")
            )
            read.join(functions.broadcast(grouped), "k").join(rows.hint("merge"), "k").collect()
        rows.mapInArrow(lambda batches: batches, rows.schema).repartition(2).cache().count()
        rows.createOrReplaceTempView("v")
        query = "SELECT k, struct(t, d) FROM v WHERE t LIKE 'a%' UNION SELECT 1, NULL"
        session.sql(query).toPandas()
    session.stop()
    # The JVM ends when nobody writes to it any more, and then it writes the archive.
    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    if not ARCHIVE.is_file():
        raise SystemExit("The JVM wrote no archive of its classes.")


if __name__ == "__main__":
    write()
