"""A delivery of a whole file, of which 1 % differs from the current rows.

The file is lineitem of TPC-H as CSV, with the rules of sides/lineitem.py. In each round the other
of two states is delivered, Full: 0.8 % of the rows are changed, 0.1 % are gone, 0.1 % are new.

* ``stage 1``: until its verdict; its bound is in rules.py, where it is measured alone.
* ``delta``: what follows: the current rows are read and compared, the delta is written and applied.
  Bound: 2 times the scan.
* ``delivery``: the whole.

Each is compared with a bare scan of the file, with the same casts, which precedes it.

Run: ``pip install tpchgen-cli``, ``python tests/benchmarks/delivery_delta.py [--scale 1]
[--rounds 3]``. It starts an embedded, durable server of its own and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import psycopg
from bench.server import new_database
from delivery_tpch import AS_IS, second, tables
from tpch_round_trip import TYPES

import omd

sys.path.append(str(Path(__file__).parent / "peers" / "sides"))
from omd_rules import agree, model, same_casts

BOUND = 2


def main() -> None:
    """Deliver in rounds, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tables(given.scale) as (server, folder, spark):
        names = ("orders", "lineitem")
        first = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in names}
        states = [first["lineitem"], second(first)["lineitem"]]
        files = [str(folder / f"state{n}") for n in range(2)]
        for rows, file in zip(states, files, strict=True):
            rows.write.options(**AS_IS).csv(file)
        types = {name: TYPES[kind] for name, kind in states[0].dtypes}
        dsn = new_database(server, "delta")
        agree(dsn, model())
        ratios: list[dict[str, float]] = []
        with omd.connect(dsn) as control, psycopg.connect(dsn, autocommit=True) as conn:
            for n in range(given.rounds + 1):
                begin = time.time()
                scanned = same_casts(spark, types, files[n % 2])
                scanned.write.format("noop").mode("overwrite").save()
                scan = time.time() - begin
                begin = time.time()
                receipt = control.deliver(
                    "a",
                    entities={"lineitem": files[n % 2]},
                    snapshot_datetime=datetime(2024, 1, n + 1, tzinfo=timezone.utc),
                    spark=spark,
                )
                whole = time.time() - begin
                row = conn.execute(
                    "SELECT extract(epoch FROM decided_datetime) FROM omd_delivery.stage_result"
                    " WHERE delivery_id = %s AND stage = 1",
                    (receipt.delivery_id,),
                ).fetchone()
                assert row is not None
                stage = float(row[0]) - begin
                taken = {"stage 1": stage, "delta": whole - stage, "delivery": whole}
                told = receipt.document["entities"][0]
                counts = {kind: told[f"rows_{kind}"] for kind in ("new", "changed", "deleted")}
                print(
                    f"scan {scan:.1f} s",
                    *(f"{name} {seconds:.1f} s" for name, seconds in taken.items()),
                    *(f"{count:,} {kind}" for kind, count in counts.items()),
                    sep="   ",
                    flush=True,
                )
                if n:  # the first delivery makes all rows
                    assert 0 < sum(counts.values()) < told["rows_delivered"] / 50, counts
                    ratios.append({name: seconds / scan for name, seconds in taken.items()})
        for name in ratios[0]:
            shown = statistics.median(r[name] for r in ratios)
            bound = f"   bound {BOUND}" if name == "delta" else ""
            print(f"{name:10}{shown:6.2f} times the scan{bound}")


if __name__ == "__main__":
    main()
