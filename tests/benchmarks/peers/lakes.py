"""Lake tables: what a write, a commit and a rollback cost beside those of others.

* write: ``--rows`` rows of ten columns, by ``run.write`` with its commit, against
  ``df.write.parquet`` in turns; the ratio is that of the medians. Bound: 1.1, plus 0.5 s and 2 ms a
  file.
* commit: one file is appended, at ``--snapshots`` snapshots, by the driver (with its transaction),
  by pyiceberg's own ``add_files``, and as a Delta table by delta-rs' own writer. Bound: five times
  as fast as ``add_files``; at twice as many snapshots at most four times its cost at ten.
* rollback: a run in the middle is taken back in a table of ``--files`` files. Bound: 2 s.

Seconds of CPU of this process are shown beside the elapsed ones, because the machine may be shared.

Run: ``python tests/benchmarks/peers/lakes.py``. It starts an embedded, durable server of its own.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

import omd
import omd.lake
import omd.spark
from omd.errors import Skipped

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.control import STAMP
from bench.lake import COLUMNS, Appender, clocked, register
from bench.server import a_server, new_database

if TYPE_CHECKING:
    pass

QUERY = """
    SELECT id, cast(id % 1000 AS int) AS quantity, cast(id * 1.37 AS decimal(12, 2)) AS price,
        id / 7D AS weight, md5(cast(id AS string)) AS name,
        date_add(DATE '2020-01-01', cast(id % 2000 AS int)) AS ordered_on,
        timestamp_seconds(1600000000 + id) AS changed_at
    FROM range(0, {rows}, 1, 4)
"""


def medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


def measure_write(control: omd.Control, folder: Path, rows: int, rounds: int) -> None:
    spark = omd.spark.session("local[2]", {"spark.log.level": "OFF"})
    df = spark.sql(QUERY.format(rows=rows)).cache()
    df.count()
    plain = df.selectExpr(
        "*",
        f"CAST(1 AS bigint) AS {STAMP}",
        "current_timestamp() AS omd_insert_datetime",
        "'x' AS omd_record_source",
    )
    ours, theirs = [], []

    def write() -> None:
        with control.module("m_written", spark=spark) as run:
            run.write(df)

    for number in range(rounds + 1):
        one = clocked(lambda: plain.write.parquet(str(folder / f"plain-{number}")))  # noqa: B023
        other = clocked(write)
        if number:
            theirs.append(one)
            ours.append(other)
    spark.stop()
    (mine, _), (plain_time, _) = medians(ours), medians(theirs)
    bound = 1.1 * plain_time + 0.5 + 4 * 0.002
    print(
        f"write of {rows:,} rows: {mine:.2f} s, df.write.parquet {plain_time:.2f} s,"
        f" ratio {mine / plain_time:.2f} (bound {bound:.2f} s)"
    )


def measure_commit(control: omd.Control, folder: Path, snapshots: int) -> None:
    ours = Appender(control, "lake.ours", "m_ours")
    catalog = omd.lake.catalog(control)
    theirs = Appender(control, "lake.theirs", "m_theirs")
    at: dict[int, list[tuple[float, float]]] = {}
    for number in range(2 * snapshots):
        _, taken = ours.run()
        at.setdefault(min((10, snapshots, 2 * snapshots), key=lambda n: abs(n - number)), [])
        for mark in (10, snapshots, 2 * snapshots):
            if mark - 5 <= number + 1 <= mark + 5:
                at.setdefault(mark, []).append(taken)
        if number < snapshots:
            theirs.run()
    table = catalog.load_table("lake.theirs")
    with table.transaction() as change:
        change.set_properties(
            **{"schema.name-mapping.default": table.schema().name_mapping.model_dump_json()}
        )
    added = []
    for number in range(5):
        path = theirs.path.with_name(f"added-{number}.parquet")
        # add_files takes no files with field ids.
        pq.write_table(pa.table({name: list(range(10)) for name in COLUMNS}), path)
        table = catalog.load_table("lake.theirs")
        added.append(clocked(lambda: table.add_files([str(path)])))  # noqa: B023
    told = {mark: medians(times) for mark, times in at.items() if times}
    for mark, (elapsed, cpu) in sorted(told.items()):
        print(f"commit at {mark} snapshots: {1000 * elapsed:.0f} ms ({1000 * cpu:.0f} ms CPU)")
    elapsed, cpu = medians(added)
    mine = told[snapshots]
    print(
        f"pyiceberg add_files at {snapshots}: {1000 * elapsed:.0f} ms ({1000 * cpu:.0f} ms CPU):"
        f" {elapsed / mine[0]:.1f} times ours (bound 5), CPU {cpu / mine[1]:.1f} times"
    )
    growth = told[2 * snapshots][0] / told[10][0]
    print(f"commit at {2 * snapshots} is {growth:.1f} times that at 10 (bound 4)")
    measure_delta(folder, snapshots)


def measure_delta(folder: Path, snapshots: int) -> None:
    from deltalake import DeltaTable, write_deltalake

    path = str(folder / "delta")
    rows = pa.table({name: list(range(10)) for name in COLUMNS})
    for _ in range(snapshots):
        write_deltalake(path, rows, mode="append")
    taken = [
        clocked(lambda: write_deltalake(DeltaTable(path), rows, mode="append")) for _ in "12345"
    ]
    elapsed, cpu = medians(taken)
    print(
        f"delta-rs write and commit at {snapshots}: {1000 * elapsed:.0f} ms"
        f" ({1000 * cpu:.0f} ms CPU)"
    )


def measure_rollback(control: omd.Control, files: int) -> None:
    runs = 100
    table = Appender(control, "lake.undone", "m_undone")
    done = [table.run(files // runs)[0] for _ in range(runs)]
    for instance in (done[runs // 2], done[2], done[-1]):
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
        run = control.module("m_undone")
        try:
            taken = clocked(run.__enter__)
            run.__exit__(None, None, None)
        except Skipped:
            continue
        print(
            f"begin with the rollback of {len(run.instance_array)} run(s) in {files:,} files:"
            f" {taken[0]:.2f} s ({taken[1]:.2f} s CPU; bound 2 s)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dsn", help="a server; by default an embedded one is started")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--snapshots", type=int, default=500)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--only", choices=["write", "commit", "rollback"])
    told = parser.parse_args()
    warnings.filterwarnings("ignore")
    folder = Path(tempfile.mkdtemp(prefix="omd-lake-"))
    try:
        with a_server(told.dsn) as server:
            dsn = new_database(server, "omd_bench_lake")
            with omd.connect(dsn, lease=None) as control:
                control.calls.omd_lake.register_namespace("lake", str(folder))
                for name in ("written", "ours", "theirs", "undone"):
                    register(control, name)
                if told.only in (None, "commit"):
                    measure_commit(control, folder, told.snapshots)
                if told.only in (None, "rollback"):
                    measure_rollback(control, told.files)
                if told.only in (None, "write"):
                    measure_write(control, folder, told.rows, told.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
