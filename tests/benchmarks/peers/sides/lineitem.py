"""Twenty rules about lineitem of TPC-H, said once for all sides, and what their scripts share.

A rule names a column. The four rules about two columns are Boolean expressions in the SQL of Spark
and of OMD; a side that knows rules of one column only gives each a column of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = ["l_orderkey", "l_linenumber"]
TYPES = {
    "l_orderkey": "bigint",
    "l_partkey": "integer",
    "l_suppkey": "integer",
    "l_linenumber": "integer",
    "l_quantity": "decimal(15,2)",
    "l_extendedprice": "decimal(15,2)",
    "l_discount": "decimal(15,2)",
    "l_tax": "decimal(15,2)",
    "l_returnflag": "string",
    "l_linestatus": "string",
    "l_shipdate": "date",
    "l_commitdate": "date",
    "l_receiptdate": "date",
    "l_shipinstruct": "string",
    "l_shipmode": "string",
    "l_comment": "string",
}
MANDATORY = ["l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_shipdate"]
VALUES = {
    "l_returnflag": ["A", "N", "R"],
    "l_linestatus": ["O", "F"],
    "l_shipinstruct": ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"],
    "l_shipmode": ["TRUCK", "MAIL", "REG AIR", "AIR", "FOB", "RAIL", "SHIP"],
}
BETWEEN: dict[str, tuple[float, float]] = {
    "l_quantity": (1, 50),
    "l_extendedprice": (0.01, 1e7),
    "l_discount": (0, 0.1),
    "l_tax": (0, 0.08),
    "l_linenumber": (1, 7),
}
LONGEST = {"l_comment": 44}
MATCHES = {"l_shipmode": "[A-Z ]+"}
RECORDS = {
    "received": "l_receiptdate > l_shipdate",
    "open": "l_linestatus <> 'O' OR l_shipdate > DATE '1995-06-17'",
    "returned": "l_returnflag = 'N' OR l_receiptdate <= DATE '1995-06-17'",
    "price": "l_extendedprice >= l_quantity * 900",
}
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
SETTINGS = {
    "spark.driver.memory": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}
MASTER = "local[2]"


def session() -> SparkSession:
    """Return a session with the settings of all sides."""
    builder = SparkSession.builder.master(MASTER)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def serve(spark: SparkSession, measures: dict[str, Callable[[Path], int]]) -> None:
    """Measure what standard input says: in each line a name, a tab and a file.

    It prints, as JSON, the seconds, those of the processors of JVM and Python, its workers too, and
    what the measure returned: the number of rows that violate a rule.
    """
    jvm = spark._jvm
    assert jvm is not None
    jvm_id = jvm.java.lang.ProcessHandle.current().pid()
    ticks = os.sysconf("SC_CLK_TCK")

    def processors() -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        spent: dict[int, float] = {}
        children: dict[int, list[int]] = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                told = entry.read_text().rpartition(")")[2].split()
                process = int(entry.parent.name)
                children.setdefault(int(told[1]), []).append(process)
                # Its own, and those of workers that it has waited for.
                spent[process] = sum(map(int, told[11:15])) / ticks
        total, left = own.ru_utime + own.ru_stime, [jvm_id]
        while left:
            process = left.pop()
            total += spent.get(process, 0)
            left += children.get(process, [])
        return total

    print(json.dumps(sorted(measures)), flush=True)
    for line in sys.stdin:
        name, _, path = line.partition("\t")
        start, before = time.perf_counter(), processors()
        found = measures[name](Path(path.strip()))
        seconds = time.perf_counter() - start
        print(json.dumps([seconds, processors() - before, found]), flush=True)
