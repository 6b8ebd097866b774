"""Stage 1 of a delivery beside a bare scan of the same CSV file with the same casts.

The file is lineitem of TPC-H, as ``tpchgen-cli csv`` writes it. Twenty rules: five mandatory
attributes, four enumerations, seven values, four records; and the types of all attributes, the key
check and the counts.

* ``stage 1``: staging, checks, duplicate keys and counts, as a delivery has them.
* ``same casts``: Spark's CSV reader, the casts of OMD, and nothing else.
* ``own casts``: Spark's CSV reader with a schema of the same types, which reads less strictly.

In each round the sides take turns; a ratio is that of one round, and the median over the rounds is
shown, of elapsed time and of the processor time of the JVM.

Run: ``pip install tpchgen-cli``, ``python tests/benchmarks/delivery_scan.py [--scale 1]
[--rounds 5]``. It starts an embedded server of its own and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from _server import durable_server, new_database
from psycopg.types.json import Jsonb
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

import omd.spark
from omd.spark.delivery.casts import spark_type, typed
from omd.spark.delivery.plan import Plan
from omd.spark.delivery.stage1 import check
from omd.spark.delivery.staging import stage, working_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

TYPES = {
    "l_orderkey": "bigint",
    "l_partkey": "integer",
    "l_suppkey": "integer",
    "l_linenumber": "integer",
    "l_quantity": "numeric(15,2)",
    "l_extendedprice": "numeric(15,2)",
    "l_discount": "numeric(15,2)",
    "l_tax": "numeric(15,2)",
    "l_returnflag": "text(1)",
    "l_linestatus": "text(1)",
    "l_shipdate": "date",
    "l_commitdate": "date",
    "l_receiptdate": "date",
    "l_shipinstruct": "text(25)",
    "l_shipmode": "text(10)",
    "l_comment": "text(44)",
}
MANDATORY = {"l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_shipdate"}
VALUES = {
    "l_returnflag": ["A", "N", "R"],
    "l_linestatus": ["O", "F"],
    "l_shipinstruct": ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"],
    "l_shipmode": ["TRUCK", "MAIL", "REG AIR", "AIR", "FOB", "RAIL", "SHIP"],
}
CHECKS = {
    "l_quantity": "l_quantity BETWEEN 1 AND 50",
    "l_extendedprice": "l_extendedprice > 0",
    "l_discount": "l_discount BETWEEN 0 AND 0.1",
    "l_tax": "l_tax BETWEEN 0 AND 0.08",
    "l_linenumber": "l_linenumber BETWEEN 1 AND 7",
    "l_comment": "length(l_comment) <= 44",
    "l_shipmode": "matches(l_shipmode, '[A-Z ]+')",
}
RECORDS = {
    "received": "l_receiptdate > l_shipdate",
    "open": "l_linestatus <> 'O' OR l_shipdate > DATE '1995-06-17'",
    "returned": "l_returnflag = 'N' OR l_receiptdate <= DATE '1995-06-17'",
    "price": "l_extendedprice >= l_quantity * 900",
}


def model() -> dict[str, Any]:
    """Return the model of lineitem."""
    attributes = [
        {"name": name, "type": kind, "mandatory": name in MANDATORY}
        | ({"values": VALUES[name]} if name in VALUES else {})
        for name, kind in TYPES.items()
    ]
    rules = [
        {"name": f"v_{name}", "type": "value", "attribute": name, "check": said}
        for name, said in CHECKS.items()
    ] + [{"name": name, "type": "record", "check": said} for name, said in RECORDS.items()]
    lineitem = {
        "name": "lineitem",
        "key": ["l_orderkey", "l_linenumber"],
        "attributes": attributes,
        "constraints": rules,
    }
    return {"interface": "tpch", "entities": [lineitem]}


def plan(dsn: str) -> Plan:
    """Deploy the model, create a delivery and return its plan."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd_delivery.deploy_model(p_model => %s)", (Jsonb(model()),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement('a', 't', 'tpch')")
        row = conn.execute("CALL omd_delivery.create_delivery('a')").fetchone()
        assert row is not None
        conn.execute("CALL omd_delivery.report_loaded(%s)", (row[0],))
        conn.execute("CALL omd_delivery.begin_delivery(%s)", (row[0],))
        answer = conn.execute("SELECT omd_delivery.validation_plan(%s, 1)", (row[0],)).fetchone()
        assert answer is not None
        return Plan.read(answer[0])


def sides(spark: SparkSession, said: Plan, path: Path) -> dict[str, Callable[[], None]]:
    """Return what is measured, by its name."""
    entity = said.entities["lineitem"]
    reader = spark.read.option("header", "true").option("escape", '"')
    own = ", ".join(f"{a.name} {spark_type(a.type)}" for a in entity.attributes)
    texts = ", ".join(f"{a.name} string" for a in entity.attributes)

    def scan(frame: DataFrame) -> None:
        frame.write.format("noop").mode("overwrite").save()

    def stage_1() -> None:
        checked = check(entity, stage(spark, said, {"lineitem": path})["lineitem"])
        assert checked.measures()["rows_skipped"] == 0, checked.measures()
        checked.release()

    def same() -> None:
        columns = [
            typed(a, F.col(a.name), StringType(), a.name).alias(a.name) for a in entity.attributes
        ]
        scan(reader.schema(texts).csv(str(path)).select(columns))

    return {
        "stage 1": stage_1,
        "same casts": same,
        "own casts": lambda: scan(reader.schema(own).csv(str(path))),
    }


def processor_seconds(spark: SparkSession) -> float:
    """Return the processor time of the JVM."""
    bean = spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration()  # type: ignore[union-attr]
    return bean.get().toMillis() / 1000


def main() -> None:
    """Measure, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with durable_server(None) as server, tempfile.TemporaryDirectory() as folder:
        said = plan(new_database(server, "bench_delivery"))
        program = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run(
            [program, "csv", f"-s{given.scale:g}", "-Tlineitem", f"--output-dir={folder}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        spark = omd.spark.session("local[2]")
        bare = sides(spark, said, Path(folder, "lineitem.csv"))
        ours = sides(working_session(spark), said, Path(folder, "lineitem.csv"))["stage 1"]
        measured = bare | {"stage 1": ours}
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in measured}
        for n in range(given.rounds + 1):
            for name, work in measured.items():
                start, cpu = time.perf_counter(), processor_seconds(spark)
                work()
                seconds = time.perf_counter() - start, processor_seconds(spark) - cpu
                if n:  # the first round is the warm-up
                    taken[name].append(seconds)
        for name, rounds in taken.items():
            shown = [f"{name:<12}"]
            for what, kind in enumerate(("elapsed", "processor")):
                ratio = statistics.median(
                    a[what] / b[what] for a, b in zip(taken["stage 1"], rounds, strict=True)
                )
                median = statistics.median(r[what] for r in rounds)
                shown.append(f"{kind} {median:7.2f} s, stage 1 is {ratio:.2f} times it")
            print("  ".join(shown))
        spark.stop()


if __name__ == "__main__":
    main()
