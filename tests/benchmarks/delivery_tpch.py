"""TPC-H through the whole room: a first delivery, a delta of 1 %, and one within a context.

1. All eight tables, Full.
2. ``orders`` and ``lineitem``, Full: 0.8 % of the orders are changed with their lines, 0.1 % are
   gone, 0.1 % are new.
3. One customer in a hundred as Delta, and Full what belongs to them: a twentieth of their orders
   are gone with their lines, as many are changed.

What each makes of the tables is computed in plain Spark too: the current rows of each table must
be the same, counted and as a sum of hashes, and so must the rows that are new, changed and deleted.
Each is compared with a bare scan of its files, with the same casts; the bound of the second is 2.
The memory is the highest of the JVM and of one Python worker.

Run: ``pip install tpchgen-cli``, ``python tests/benchmarks/delivery_tpch.py [--scale 1]``. It
starts an embedded, durable server of its own and removes it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from bench.server import durable_server, new_database
from pyspark.sql import functions as F  # noqa: N812
from tpch_round_trip import TYPES, WorkerMemory, generate, in_postgresql, in_spark

import omd
import omd.spark

sys.path.append(str(Path(__file__).parent / "peers" / "sides"))
import lineitem
from omd_rules import agree, same_casts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame, SparkSession

State = dict[str, "DataFrame"]

KEYS = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "customer": ["c_custkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}
PARENTS: dict[str, dict[str, list[str]]] = {
    "nation": {"region": ["n_regionkey"]},
    "supplier": {"nation": ["s_nationkey"]},
    "partsupp": {"part": ["ps_partkey"], "supplier": ["ps_suppkey"]},
    "customer": {"nation": ["c_nationkey"]},
    "orders": {"customer": ["o_custkey"]},
    "lineitem": {"orders": ["l_orderkey"], "partsupp": ["l_partkey", "l_suppkey"]},
}
AS_IS = {
    "header": "true",
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
FILTERS = {("orders", "customer")}  # beside those of the parents in the key
BOUND = 2


@contextmanager
def tables(scale: float) -> Iterator[tuple[str, Path, SparkSession]]:
    """Yield a server, a folder with the eight tables as Parquet files, and a session."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with durable_server(None) as server, tempfile.TemporaryDirectory(prefix="omd-tpch-") as home:
        folder = Path(home)
        generate(folder, scale)
        spark = omd.spark.session(lineitem.MASTER, lineitem.SETTINGS)
        yield server, folder, spark
        spark.stop()


def model(state: State) -> dict[str, Any]:
    """Return the model of the eight tables."""
    entities = []
    for name, key in KEYS.items():
        attributes = [{"name": n, "type": TYPES[kind]} for n, kind in state[name].dtypes]
        relationships = [
            {"name": f"of_{parent}", "parent": parent, "columns": columns}
            | ({"context_filter": True} if (name, parent) in FILTERS else {})
            for parent, columns in PARENTS.get(name, {}).items()
        ]
        entities.append(
            {"name": name, "key": key, "attributes": attributes, "relationships": relationships}
        )
    return {"interface": "tpch", "entities": entities}


def thousandth(key: str) -> Column:
    """Return a number from 0 to 999 for a key."""
    return F.pmod(F.hash(F.col(key).cast("bigint")), F.lit(1000))


def changed(rows: DataFrame, key: str, least: int, most: int) -> DataFrame:
    """Return the rows, with another comment where the key says so."""
    comment = next(name for name in rows.columns if name.endswith("_comment"))
    hit = thousandth(key).between(least, most)
    return rows.withColumn(comment, F.when(hit, F.lit("changed")).otherwise(F.col(comment)))


def second(state: State) -> State:
    """Return what the second delivery delivers, which is the new state of its tables."""
    said = {}
    for name, key in ("orders", "o_orderkey"), ("lineitem", "l_orderkey"):
        rows = state[name]
        new = rows.filter(thousandth(key) == 9).withColumn(key, F.col(key) + 1_000_000_000)
        kept = rows.filter(thousandth(key) != 8)
        said[name] = changed(kept, key, 0, 7).unionByName(new)
    return said


def third(state: State) -> tuple[State, State]:
    """Return what the third delivery delivers, and the state after it."""
    is_ours = thousandth("o_custkey") < 10
    ours = state["orders"].filter(is_ours)
    kept = ours.filter(thousandth("o_orderkey") >= 50)
    lines = state["lineitem"].join(kept.select("o_orderkey"), F.expr("l_orderkey = o_orderkey"))
    others = state["lineitem"].join(
        ours.select("o_orderkey"), F.expr("l_orderkey = o_orderkey"), "left_anti"
    )
    said = {
        "customer": changed(
            state["customer"].filter(thousandth("c_custkey") < 10), "c_custkey", 0, 9
        ),
        "orders": changed(kept, "o_orderkey", 50, 99),
        "lineitem": changed(lines.drop("o_orderkey"), "l_orderkey", 50, 99),
    }
    after = {
        "customer": state["customer"].filter(thousandth("c_custkey") >= 10),
        "orders": state["orders"].filter(~is_ours),
        "lineitem": others,
    }
    return said, {name: rows.unionByName(said[name]) for name, rows in after.items()}


def operations(before: DataFrame | None, after: DataFrame, key: list[str]) -> dict[str, int]:
    """Return how many rows are new, changed and deleted."""
    if before is None:
        return {"N": after.count(), "A": 0, "R": 0}
    old, new = (
        rows.select(*key, F.xxhash64(*rows.columns).alias(name))
        for rows, name in ((before, "old"), (after, "new"))
    )
    found = (
        old.join(new, key, "full")
        .select(F.expr("CASE WHEN old IS NULL THEN 'N' WHEN new IS NULL THEN 'R' ELSE 'A' END"))
        .filter("NOT coalesce(old = new, FALSE)")
    )
    return dict.fromkeys("NAR", 0) | dict(found.toDF("op").groupBy("op").count().collect())


def resident(pid: int) -> int:
    """Return the highest resident set of a process, in MB."""
    told = Path(f"/proc/{pid}/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) // 1024


class Bench:
    """The deliveries, one after the other."""

    def __init__(self, spark: SparkSession, dsn: str, folder: Path, first: State) -> None:
        self.spark, self.dsn, self.folder = spark, dsn, folder
        self.state: State = {}
        self.versions = dict.fromkeys(KEYS, 0)
        assert spark._jvm is not None
        self.jvm = spark._jvm.java.lang.ProcessHandle.current()
        agree(dsn, model(first))

    def deliver(self, day: int, said: State, after: State, loads: dict[str, Any]) -> None:
        """Deliver the rows said, and compare the tables with the state after it."""
        title = f"delivery {day}"
        files = {name: str(self.folder / f"{day}-{name}") for name in said}
        for name, rows in said.items():
            rows.write.options(**AS_IS).csv(files[name])
        # Later states are computed from files, not from all that came before.
        for name, rows in after.items():
            rows.write.parquet(str(self.folder / f"{day}-after-{name}"))
        after = {n: self.spark.read.parquet(str(self.folder / f"{day}-after-{n}")) for n in after}

        scanned = self.measured(lambda: self.scan(files, said))
        with WorkerMemory() as memory, omd.connect(self.dsn) as control:
            at = datetime(2024, 1, day, tzinfo=timezone.utc)
            taken = self.measured(
                lambda: control.deliver(
                    "a", entities=files, loads=loads, snapshot_datetime=at, spark=self.spark
                )
            )
        print(
            f"{title}: {taken[0]:.1f} s, {taken[0] / scanned[0]:.2f} times a scan"
            f" ({scanned[0]:.1f} s); processor of the JVM {taken[1]:.1f} s,"
            f" {taken[1] / scanned[1]:.2f} times; memory: JVM {resident(self.jvm.pid())} MB,"
            f" a Python worker {memory.peak} MB",
            flush=True,
        )
        self.compare(day, after)
        self.state |= after

    def measured(self, work: Any) -> tuple[float, float]:
        """Return the seconds, and those of the processors of the JVM."""
        start, before = time.perf_counter(), self.jvm.info().totalCpuDuration().get().toMillis()
        work()
        spent = self.jvm.info().totalCpuDuration().get().toMillis() - before
        return time.perf_counter() - start, spent / 1000

    def scan(self, files: dict[str, str], said: State) -> None:
        """Read the files with the casts of OMD, and nothing else."""
        for name, path in files.items():
            types = {n: TYPES[kind] for n, kind in said[name].dtypes}
            rows = same_casts(self.spark, types, path)
            rows.write.format("noop").mode("overwrite").save()

    def compare(self, day: int, after: State) -> None:
        """Compare the tables with the state, and the delta with what has changed."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            row = conn.execute(
                "SELECT row_counts FROM omd_delivery.delta_queue ORDER BY queue_id DESC LIMIT 1"
            ).fetchone()
            assert row is not None
            for name, rows in after.items():
                counts = operations(self.state.get(name), rows, KEYS[name])
                assert row[0][name] == counts, (day, name, row[0][name], counts)
                self.versions[name] += sum(counts.values())
                found = in_postgresql(conn, f"lvl_tpch._open_{name}", rows.columns, OPEN)
                assert found == in_spark(rows), (day, name, found)
                whole = conn.execute(f"SELECT count(*) FROM lvl_tpch.{name}".encode()).fetchone()
                assert whole == (self.versions[name],), (day, name, whole)
                shown = " ".join(f"{op} {n:,}" for op, n in counts.items())
                print(f"    {name:9} {found[0]:>9,} rows as computed in Spark: {shown}")


OPEN = "acm_record_ind <> 'R'"


def main() -> None:
    """Deliver, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    given = parser.parse_args()
    with tables(given.scale) as (server, folder, spark):
        first = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in KEYS}
        bench = Bench(spark, new_database(server, "tpch"), folder, first)
        bench.deliver(1, first, first, dict.fromkeys(first, "FULL"))
        said = second(first)
        whole = {"load": "FULL", "context": "ALL"}
        bench.deliver(2, said, said, {"orders": whole, "lineitem": "FULL"})
        said, after = third(bench.state)
        bench.deliver(3, said, after, {"customer": "DELTA", "orders": "FULL", "lineitem": "FULL"})


if __name__ == "__main__":
    main()
