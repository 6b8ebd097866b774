"""Rule J9: our writer and reader, compared with Spark's own JDBC and the server's COPY.

The data are ``--rows`` rows of seven mixed columns, cached in Spark in four partitions with
``local[2]``. In each round every side writes (or reads) the same rows, in turns; the ratios are
medians over the rounds.

* write: with ledger and fence, against JDBC plain (bound: at least 3 times its speed), JDBC with
  reWriteBatchedInserts (at least 1.5 times), each with its default batch size and with 10,000 (the
  faster one counts), and the server's COPY FROM of a binary file of the same rows (at most 2.5
  times its time).
* read: against JDBC with the same partitioning and a fetch size of 10,000 (no slower).

Both connect over TCP, because JDBC has no Unix sockets; a further side shows ours over the socket.
Beside the elapsed seconds it prints the CPU seconds of each side (Spark, its workers and the
server), and the share of the machine that other processes used meanwhile, so that a busy machine
can be distinguished from a slow path.

Run: ``python tests/benchmarks/peers/jdbc.py [--jar …]``. It needs the JDBC driver (Debian:
libpostgresql-jdbc-java), starts an embedded, durable server of its own on port 5432 and removes it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from omd.programs import embedded

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.server import new_database
from bench.spark import COLUMNS, PARTS, rows_of, session


class Meter:
    """The elapsed seconds, the CPU seconds of this side, and the load by other processes."""

    def __init__(self, server: psutil.Process) -> None:
        self._roots = (psutil.Process(), server)

    def __call__(self, work: Callable[[], object]) -> tuple[float, float, float]:
        start, cpu, busy = time.perf_counter(), self._cpu(), self._busy()
        work()
        taken, cpu, busy = time.perf_counter() - start, self._cpu() - cpu, self._busy() - busy
        others = max(0.0, busy - cpu) / (taken * (os.cpu_count() or 1))
        return taken, cpu, others

    def _cpu(self) -> float:
        """Return the CPU time of both process trees; a parent includes its ended children."""
        total = 0.0
        for root in self._roots:
            for process in (root, *root.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    total += sum(process.cpu_times()[:4])
        return total

    @staticmethod
    def _busy() -> float:
        times = psutil.cpu_times()
        return sum(times) - times.idle - getattr(times, "iowait", 0.0) - times.guest


Times = dict[str, list[tuple[float, float, float]]]


def rounds(
    meter: Meter, sides: dict[str, Callable[[], object]], before: Callable[[], None], number: int
) -> Times:
    """Return the times of each side in each round; a first round warms up and does not count."""
    times: Times = {name: [] for name in sides}
    for n in range(number + 1):
        names = list(sides)
        for name in names[n % len(names) :] + names[: n % len(names)]:
            before()
            taken = meter(sides[name])
            if n:
                times[name].append(taken)
    return times


def ratio(times: Times, left: str, *right: str) -> float:
    """Return the time of one side divided by that of the fastest of the others."""
    return max(
        statistics.median(a[0] / b[0] for a, b in zip(times[left], times[name], strict=True))
        for name in right
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", default="/usr/share/java/postgresql.jar")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if not Path(args.jar).exists():
        sys.exit(f"there is no {args.jar}; Debian: apt-get install libpostgresql-jdbc-java")

    home = Path(tempfile.mkdtemp(prefix="omd-bench-"))
    # JDBC has no Unix sockets.
    embedded.start(home, settings={"listen_addresses": "'127.0.0.1'", "max_wal_size": "'8GB'"})
    socket_dsn = new_database(embedded.dsn(home, "postgres"), "bench_spark")
    spark = session(**{"spark.jars": args.jar, "spark.driver.memory": "4g"})
    try:
        print(f"{os.cpu_count()} CPUs, load {', '.join(f'{n:.1f}' for n in os.getloadavg())}")
        measure(spark, socket_dsn, home, args)
    finally:
        spark.stop()
        embedded.stop(home)
        shutil.rmtree(home)


def measure(spark, socket_dsn: str, home: Path, args: argparse.Namespace) -> None:
    dsn = make_conninfo(socket_dsn, host="127.0.0.1")
    url = "jdbc:postgresql://127.0.0.1/bench_spark"
    df = rows_of(spark, args.rows)
    conn = psycopg.connect(dsn, autocommit=True)
    postmaster = next(home.rglob("postmaster.pid"))
    meter = Meter(psutil.Process(int(postmaster.read_text().split()[0])))
    for table in ("ours", "jdbc", "copied"):
        conn.execute(f"CREATE TABLE public.{table} ({COLUMNS})".encode())
    conn.execute("CALL omd.register_module('m', 'HSTG', 'public.ours')")
    begun = conn.execute("CALL omd.begin_module('m')").fetchone()
    assert begun is not None
    file = home / "rows"  # the server must be able to write there
    home.chmod(0o777)

    def empty() -> None:
        for table in ("ours", "jdbc", "copied"):
            conn.execute(f"TRUNCATE public.{table}".encode())
        conn.execute("CHECKPOINT")

    def ours(url: str = dsn) -> None:
        options = {"url": url, "table": "public.ours", "moduleInstance": str(begun[0])}
        df.write.format("omd").mode("append").options(**options).save()

    def jdbc(**more: str) -> None:
        options = {
            "url": url,
            "dbtable": "public.jdbc",
            "user": "postgres",
            "driver": "org.postgresql.Driver",
            **more,
        }
        df.write.format("jdbc").mode("append").options(**options).save()

    empty()
    ours()
    conn.execute(f"COPY public.ours TO '{file}' (FORMAT binary)".encode())
    found = conn.execute("SELECT count(*), sum(id), sum(price) FROM public.ours").fetchone()
    assert found == tuple(df.selectExpr("count(*)", "sum(id)", "sum(price)").collect()[0]), found

    large = {"batchsize": "10000"}
    write = rounds(
        meter,
        {
            "omd": ours,
            "omd over the socket": lambda: ours(socket_dsn),
            "jdbc": jdbc,
            "jdbc, 10,000": lambda: jdbc(**large),
            "jdbc rewritten": lambda: jdbc(reWriteBatchedInserts="true"),
            "jdbc rewritten, 10,000": lambda: jdbc(reWriteBatchedInserts="true", **large),
            "copy": lambda: conn.execute(
                f"COPY public.copied FROM '{file}' (FORMAT binary)".encode()
            ),
        },
        empty,
        args.rounds,
    )
    show(f"write {args.rows:,} rows", write)
    plain = 1 / ratio(write, "omd", "jdbc", "jdbc, 10,000")
    print(f"speed against JDBC {plain:.2f} (bound: at least 3)")
    faster = 1 / ratio(write, "omd", "jdbc rewritten", "jdbc rewritten, 10,000")
    print(f"speed against JDBC with reWriteBatchedInserts {faster:.2f} (bound: at least 1.5)")
    print(f"time against COPY {ratio(write, 'omd', 'copy'):.2f} (bound: at most 2.5)")

    empty()
    ours()
    conn.execute("VACUUM ANALYZE public.ours")

    def read(format_: str, **options: str) -> None:
        loaded = spark.read.format(format_).options(**options).load()
        loaded.write.format("noop").mode("overwrite").save()

    split = {"partitionColumn": "id", "numPartitions": str(PARTS)}
    times = rounds(
        meter,
        {
            "omd": lambda: read("omd", url=dsn, table="public.ours", **split),
            "jdbc": lambda: read(
                "jdbc",
                url=url,
                dbtable="public.ours",
                user="postgres",
                driver="org.postgresql.Driver",
                fetchsize="10000",
                lowerBound="0",
                upperBound=str(args.rows),
                **split,
            ),
        },
        lambda: None,
        args.rounds,
    )
    show(f"read {args.rows:,} rows", times)
    print(f"time against JDBC {ratio(times, 'omd', 'jdbc'):.2f} (bound: at most 1)")


def show(what: str, times: Times) -> None:
    print(f"{what}, medians:")
    for name, taken in times.items():
        wall, cpu, others = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"  {name:24} {wall:6.2f} s, CPU {cpu:6.2f} s, others used {others:4.0%}")


if __name__ == "__main__":
    main()
