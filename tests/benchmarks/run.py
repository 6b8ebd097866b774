"""The benchmarks one after the other, each at a size that ends within a few minutes.

What a machine lacks is said, and what needs it is left out; so is the comparison with an earlier
revision where there is none. Bounds that are missed are printed by each benchmark: they are judged
on a machine at rest, at the whole size.

Run: ``python tests/benchmarks/run.py [--size smallest|short|whole] [--dsn …] [NAME …]``. A name is
that of a file, without its ending: ``scale``, ``peers/queues``. ``whole`` takes the sizes that the
benchmarks have of themselves, which are hours.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
JDBC = Path("/usr/share/java/postgresql.jar")
TPCH = Path(sys.executable).with_name("tpchgen-cli")


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark is started.

    Attributes:
        smallest: arguments with which it ends at once; its figures say nothing.
        short: arguments with which it ends within a few minutes.
        needs: programs and files that must be there.
        takes_dsn: whether it can be told of a server.
    """

    smallest: str
    short: str
    needs: tuple[str | Path, ...] = ()
    takes_dsn: bool = True

    def lacks(self) -> list[str]:
        """Return what this machine lacks."""
        return [
            str(need)
            for need in self.needs
            if not (need.exists() if isinstance(need, Path) else shutil.which(need))
        ]


# The dear ones come last.
BENCHMARKS = {
    "before": Benchmark("--only begin --size 0.005 --rounds 2", "--short"),
    "control_overhead": Benchmark(
        "--history 20000 --rounds 2 --per-round 5", "--history 200000 --rounds 20"
    ),
    "fenced_commit": Benchmark("--rounds 2 --per-round 5", "--rounds 40"),
    "costs": Benchmark("--most 10", "--most 200"),
    "beside_a_sleeper": Benchmark("--calls 720", "--calls 2400"),
    "ready_work": Benchmark("--topics 50 --runs 2", "--topics 2000 --runs 100"),
    "many_topics": Benchmark("--others 50 --rows 2", "--others 2000 --rows 10"),
    "idle_fleet": Benchmark(
        "--workers 1 --topics 50 --seconds 2 --rest 1", "--topics 2000 --seconds 30"
    ),
    "upgrade": Benchmark("--instances 1000 --rounds 1", "--instances 100000 --rounds 3"),
    "scale": Benchmark(
        "--scale 0.0005 --minutes 0.1 --sessions 2", "--scale 0.005 --minutes 1 --sessions 4"
    ),
    "tpch_round_trip": Benchmark("--scale 0.001", "--scale 0.05", ("java", TPCH), False),
    "peers/queues": Benchmark(
        "--tasks 40 --rounds 1 --starts 5", "--tasks 5000 --rounds 3 --starts 100"
    ),
    "peers/increments": Benchmark("--seconds 4 --kills 0", "--seconds 20 --kills 1"),
    "peers/lakes": Benchmark(
        "--rows 1000 --rounds 1 --snapshots 6 --files 100",
        "--rows 100000 --rounds 3 --snapshots 50 --files 1000",
        ("java",),
    ),
    "peers/jdbc": Benchmark(
        "--rows 1000 --rounds 1", "--rows 200000 --rounds 2", ("java", JDBC), False
    ),
    "peers/decisions": Benchmark("--scale 0.001 --rounds 1", "--scale 0.02 --rounds 1", ("java",)),
    # Of a smaller scale the generated keys of partsupp are not unique.
    "peers/vaults": Benchmark(
        "--scale 0.01 --rounds 1 --keys 500",
        "--scale 0.02 --rounds 1 --keys 10000",
        (TPCH,),
        False,
    ),
    "peers/rules": Benchmark(
        "--scale 0.001 --rounds 1", "--scale 0.05 --rounds 1", ("java", TPCH), False
    ),
}


def command(name: str, size: str, dsn: str | None) -> list[str]:
    """Return how a benchmark is started."""
    of = BENCHMARKS[name]
    told = {"smallest": of.smallest, "short": of.short, "whole": ""}[size].split()
    server = ["--dsn", dsn] if dsn and of.takes_dsn else []
    return [sys.executable, str(HERE / f"{name}.py"), *told, *server]


def main() -> int:
    """Run them, and return 1 if one has failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--size", choices=["smallest", "short", "whole"], default="short")
    parser.add_argument("--dsn", help="a server, as a superuser; by default each has its own")
    given = parser.parse_args()
    if unknown := set(given.names) - BENCHMARKS.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    told = []
    for name in given.names or BENCHMARKS:
        if lacking := BENCHMARKS[name].lacks():
            told.append(f"{name}: left out, there is no {', '.join(lacking)}")
            continue
        print(f"== {name}", flush=True)
        start = time.monotonic()
        code = subprocess.run(command(name, given.size, given.dsn)).returncode
        took = f"{time.monotonic() - start:.0f} s"
        told.append(f"{name}: {took}" if code == 0 else f"{name}: ended with {code} after {took}")
    print("\n== all", *told, sep="\n")
    return int(any("ended with" in line for line in told))


if __name__ == "__main__":
    sys.exit(main())
