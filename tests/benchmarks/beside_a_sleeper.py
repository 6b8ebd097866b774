"""What a path costs beside a transaction that sleeps, and before the first ANALYZE.

A dump, a report or a forgotten psql holds a snapshot for hours; vacuum may remove no version of a
row that is newer, and each index entry of such a version is passed over again by whoever looks
there. Each path runs ``--calls`` times, and the time of a quick call (the first decile) of each
part of them is printed as a curve, with what the last part is of the first one of the same path,
and of the same part alone:

* ``alone``: every table is analysed, and nobody sleeps;
* ``sleeper``: the same in another database of the server, where a snapshot is held;
* ``fresh``: no table has been analysed.

The surroundings take turns, a part each, so that all meet the same noise of the machine.

Run: ``python tests/benchmarks/beside_a_sleeper.py [--dsn …] [--calls 12000] [--path begin …]``.
Without a DSN it starts an embedded server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
from contextlib import ExitStack

import psycopg
from bench import paths
from bench.server import a_server, copy_database, new_database
from bench.turns import Take

PARTS = 12
SURROUNDINGS = ("alone", "sleeper", "fresh")

# Each path, and what its number of calls is divided by.
PATHS = {
    "begin": 1,
    "batch": 10,
    "step": 2,
    "facts": 30,
    "stage": 10,
    "task": 1,
    "create": 1,
    "publish": 2,
    "heartbeat": 1,
    "ready": 5,
}


def measure(takes: dict[str, Take], calls: int) -> dict[str, list[float]]:
    """Return the first decile in seconds of each part, by surrounding."""
    curves: dict[str, list[float]] = {name: [] for name in takes}
    for _ in range(PARTS):
        for name, take in takes.items():
            times = [take() for _ in range(calls // PARTS)]
            curves[name].append(statistics.quantiles(times, n=10, method="inclusive")[0])
    return curves


def show(path: str, curves: dict[str, list[float]]) -> None:
    """Print the curves of a path in microseconds, and the ratios that have a bound."""
    for name, curve in curves.items():
        print(f"{path:<8} {name:<8}", *(f"{1e6 * part:6.0f}" for part in curve))
    last = {name: statistics.median(curve[-2:]) for name, curve in curves.items()}
    first = {name: statistics.median(curve[:2]) for name, curve in curves.items()}
    print(
        f"{path:<8} sleeper: {last['sleeper'] / first['sleeper']:.2f} of its first (bound 1.2), "
        f"{last['sleeper'] / last['alone']:.2f} of alone (bound 1.3); "
        f"fresh: {last['fresh'] / last['alone']:.2f} of analysed (bound 1.2)",
        flush=True,
    )


def main() -> None:
    """Measure each path in three databases of one server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", help="a server, as a superuser; the default is one of its own")
    parser.add_argument("--calls", type=int, default=12_000)
    parser.add_argument("--path", action="append", choices=list(PATHS))
    options = parser.parse_args()
    with a_server(options.dsn) as server:
        new_database(server, "omd_bench_new")
        for path in options.path or PATHS:
            with ExitStack() as stack:
                takes = {}
                for name in SURROUNDINGS:
                    dsn = copy_database(server, f"omd_bench_{name}", "omd_bench_new")
                    conn = stack.enter_context(
                        psycopg.connect(
                            dsn,
                            autocommit=True,
                            prepare_threshold=0,
                            options="-c synchronous_commit=off",
                        )
                    )
                    takes[name] = paths.prepare(path, conn)
                    if name == "fresh":
                        continue
                    for _ in range(100):
                        takes[name]()
                    conn.execute("VACUUM (ANALYZE)")
                    if name == "sleeper":
                        sleeper = stack.enter_context(psycopg.connect(dsn))
                        sleeper.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                        sleeper.execute("SELECT FROM omd.module")
                show(path, measure(takes, options.calls // PATHS[path]))


if __name__ == "__main__":
    main()
