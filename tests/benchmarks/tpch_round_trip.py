"""TPC-H through the data source: eight tables are written and read back, in constant memory.

Each table goes from Parquet to PostgreSQL with `run.write` and back with `run.read`. Three sums
over the hashes of its rows, in any order, must agree: Spark's sum of the Parquet file, the server's
sum of the table, and Spark's sum of what was read. The memory is the highest of one Python worker.

Run: ``pip install tpchgen-cli``, ``python tests/benchmarks/tpch_round_trip.py [--scale 1]``. It
starts an embedded server of its own and removes it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from bench.server import new_database
from psycopg.rows import tuple_row

import omd
import omd.spark
from omd.programs import embedded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AUDIT = (
    "omd_insert_module_instance_id bigint, omd_insert_datetime timestamptz, omd_record_source text"
)
TYPES = {
    "bigint": "bigint",
    "int": "integer",
    "decimal(15,2)": "numeric(15,2)",
    "date": "date",
    "string": "text",
}


def generate(folder: Path, scale: float) -> None:
    """Write the eight tables as Parquet files."""
    program = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [program, "parquet", f"--scale-factor={scale:g}", f"--output-dir={folder}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def in_spark(df: DataFrame) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes."""
    row = f"concat_ws('|', {', '.join(df.columns)})"
    hashed = f"cast(conv(substr(md5({row}), 1, 15), 16, 10) AS decimal(20))"
    rows, total = df.selectExpr("count(*)", f"sum({hashed})").collect()[0]
    return rows, int(total)


def in_postgresql(
    conn: psycopg.Connection[Any], table: str, columns: list[str], condition: str = "TRUE"
) -> tuple[int, int]:
    """Return the same for a table."""
    row = f"concat_ws('|', {', '.join(columns)})"
    hashed = f"('x' || substr(md5({row}), 1, 15))::bit(60)::bigint"
    with conn.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(f"SELECT count(*), sum({hashed}) FROM {table} WHERE {condition}".encode())
        found = cursor.fetchone()
    assert found is not None
    return found[0], int(found[1])


def round_trip(
    spark: SparkSession, control: omd.Control, conn: psycopg.Connection[Any], file: Path
) -> tuple[int, float, float]:
    """Write a table and read it back; returns the number of rows, and the seconds of both.

    Raises:
        AssertionError: the contents differ.
    """
    table = f"tpch.{file.stem}"
    df = spark.read.parquet(str(file))
    columns = ", ".join(f"{name} {TYPES[type_]}" for name, type_ in df.dtypes)
    conn.execute(f"CREATE TABLE {table} ({columns}, {AUDIT})".encode())
    code = f"m_{file.stem}"
    control.calls.omd.register_module(
        code, area_code="HSTG", table_type_code="HSTG", table_code=table
    )
    with control.module(code) as run:
        start = time.perf_counter()
        written = run.write(df)
        written_in = time.perf_counter() - start
        start = time.perf_counter()
        back = in_spark(run.read(spark, table, columns=df.columns))
        read_in = time.perf_counter() - start
    expected = in_spark(df)
    assert written == expected[0], (table, written, expected)
    assert in_postgresql(conn, table, df.columns) == expected, table
    assert back == expected, table
    return written, written_in, read_in


class WorkerMemory:
    """Watches the Python workers below this process, and keeps the largest resident set of one."""

    def __init__(self) -> None:
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> WorkerMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    told = status.read_text()
                    if b"pyspark.daemon" in status.with_name("cmdline").read_bytes():
                        high = next(line for line in told.splitlines() if line.startswith("VmHWM"))
                        self.peak = max(self.peak, int(high.split()[1]) // 1024)
                except (OSError, StopIteration):
                    continue


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    args = parser.parse_args()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    home = Path(tempfile.mkdtemp(prefix="omd-bench-"))
    files = Path(tempfile.mkdtemp(prefix="omd-tpch-"))
    try:
        generate(files, args.scale)
        embedded.start(home)
        dsn = new_database(embedded.dsn(home, "postgres"), "tpch")
        spark = omd.spark.session(
            # Each task has a worker of its own, so that its memory is that of its partition.
            "local[2]",
            {"spark.python.worker.reuse": "false", "spark.log.level": "ERROR"},
        )
        with psycopg.connect(dsn, autocommit=True) as conn, omd.connect(dsn) as control:
            conn.execute("CREATE SCHEMA tpch")
            for file in sorted(files.glob("*.parquet"), key=lambda file: file.stat().st_size):
                with WorkerMemory() as memory:
                    rows, written_in, read_in = round_trip(spark, control, conn, file)
                print(
                    f"{file.stem:9} {rows:>9,} rows identical: written in {written_in:5.1f} s, read"
                    f" in {read_in:5.1f} s, peak of a Python worker {memory.peak} MB",
                    flush=True,
                )
        spark.stop()
    finally:
        embedded.stop(home)
        shutil.rmtree(home)
        shutil.rmtree(files)


if __name__ == "__main__":
    main()
