"""What it costs that an agreement keeps file and line of each row, on two databases in turns.

The file is lineitem of TPC-H as CSV, with the rules of peers/lineitem.py. First it is delivered to
empty tables, so that the delta has all rows; then in each round the other of two states, of which
1 % differs (delivery_delta.py).

* ``all rows``: the delivery with lines against the one without, to empty tables.
* ``1 %``: the same with a delta of 1 %.

No bound is set yet: it was not measured on a machine at rest. Counting the lines of each split
takes 0.35 of the CPU time of a bare scan with casts.

Run: ``pip install tpchgen-cli``, ``python tests/benchmarks/delivery_lines.py [--scale 0.5]
[--rounds 5]``. It starts an embedded, durable server of its own and removes it.
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

import omd

sys.path.append(str(Path(__file__).parent / "peers" / "sides"))
from omd_rules import agree, model

KINDS = ("all rows", "1 %")


def main() -> None:
    """Deliver in rounds, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tables(given.scale) as (server, folder, spark):
        names = ("orders", "lineitem")
        first = {name: spark.read.parquet(str(folder / f"{name}.parquet")) for name in names}
        files = [str(folder / f"state{n}") for n in range(2)]
        for rows, file in zip([first["lineitem"], second(first)["lineitem"]], files, strict=True):
            rows.write.options(**AS_IS).csv(file)
        ratios: dict[str, list[float]] = {name: [] for name in KINDS}
        # The first pair warms Spark up.
        for pair in range(3):
            sides = {name: new_database(server, f"{name}{pair}") for name in ("plain", "lines")}
            for name, dsn in sides.items():
                agree(dsn, model())
                if name == "lines":
                    with psycopg.connect(dsn, autocommit=True) as conn:
                        conn.execute(
                            "CALL omd_delivery.register_agreement("
                            "'a', p_options => '{\"lines\": true}')"
                        )
            for n in range(given.rounds + 1 if pair == 2 else 1):
                taken = {}
                for name in sorted(sides, reverse=n % 2 == 0):
                    begin = time.perf_counter()
                    with omd.connect(sides[name]) as control:
                        receipt = control.deliver(
                            "a",
                            entities={"lineitem": files[n % 2]},
                            snapshot_datetime=datetime(2024, 1, n + 1, tzinfo=timezone.utc),
                            spark=spark,
                        )
                    taken[name] = time.perf_counter() - begin
                    assert receipt.delivery_status == "ACCEPTED", receipt
                print(*(f"{name} {seconds:.1f} s" for name, seconds in taken.items()), flush=True)
                if pair:
                    ratios["1 %" if n else "all rows"].append(taken["lines"] / taken["plain"])
        for name, measured in ratios.items():
            shown = statistics.median(measured)
            print(f"{name:10}{shown:6.2f} times without lines")


if __name__ == "__main__":
    main()
