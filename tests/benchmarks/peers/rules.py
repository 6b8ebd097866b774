"""The rules of a delivery, beside Great Expectations, pandera and a bare scan of the file.

The file is lineitem of TPC-H as CSV, the rules are those of sides/lineitem.py: five mandatory
columns, four lists of values, seven rules about a column, four about two columns, and the key.

* ``omd``: stage 1 of a delivery. It stages the file, casts each column and tells what can't be
  cast, checks all rules and the key, and counts the rows that violate each.
* ``same casts``: Spark's CSV reader, the casts of OMD, and nothing else. Bound: 1.5 times.
* ``own casts``: Spark's CSV reader with a schema of the same types, which reads less strictly.
* ``great_expectations``: it counts too. Bound: a fifth.
* ``pandera``: it says for each rule whether a row violates it. Bound: once.

The peers read the file with a schema, with and without their cache; the better one of a round
counts. Each side has a process and a JVM of its own with the same settings. In each round the sides
take turns; a ratio is that of one round, and the median over the rounds is shown, of elapsed time
and of processor time. As many rounds come before, in which the JVMs compile what they run often.

Run: ``python tests/benchmarks/peers/rules.py [--scale 1] [--rounds 3] [--only pandera]``;
``--only`` with nothing measures no peer. The peers are installed from peers/locks. It starts an
embedded, durable server of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import peers
from bench.peers import SIDES
from bench.server import a_server, new_database

PEERS = ["great_expectations", "pandera"]
BOUNDS = {"same casts": 1.5, "great_expectations": 0.2, "pandera": 1}


class Side:
    """A process that measures."""

    def __init__(self, name: str, python: Path, dsn: str = "") -> None:
        self.name = name
        self._process = subprocess.Popen(
            [python, SIDES / f"{name}_rules.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMD_DSN": dsn, "SPARK_LOCAL_IP": "127.0.0.1"},
        )
        self.measures: list[str] = self._answer()

    def _answer(self) -> list:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} has ended")
        return json.loads(line)

    def measure(self, name: str, file: Path) -> tuple[float, float]:
        """Return the seconds, and those of processors."""
        assert self._process.stdin is not None
        print(f"{name}\t{file}", file=self._process.stdin, flush=True)
        seconds, processors, found = self._answer()
        assert found == 0, (self.name, name, found)
        return seconds, processors

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def show(rounds: list[dict[str, tuple[float, float]]]) -> None:
    """Print medians and ratios."""
    print(f"{'':24}{'elapsed':>10}{'processor':>11}   omd is … times it: {'bound':>5}")
    for name in rounds[0]:
        shown = [statistics.median(r[name][kind] for r in rounds) for kind in (0, 1)]
        ratios = [
            statistics.median(r["omd"][kind] / r[name][kind] for r in rounds) for kind in (0, 1)
        ]
        print(
            f"{name:24}{shown[0]:8.2f} s{shown[1]:9.2f} s"
            f"{ratios[0]:12.2f}{ratios[1]:7.2f}{BOUNDS.get(name, ''):>7}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=PEERS, default=PEERS)
    given = parser.parse_args()
    with a_server(None) as server, tempfile.TemporaryDirectory() as folder:
        program = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run(
            [program, "csv", f"-s{given.scale:g}", "-Tlineitem", f"--output-dir={folder}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        file = Path(folder, "lineitem.csv")
        sides = [Side("omd", Path(sys.executable), new_database(server, "bench_delivery"))]
        if given.only:
            python = peers.python_of("rules")
            sides += [Side(name, python) for name in given.only]
        rounds = []
        for n in range(given.rounds * 2):
            taken: dict[str, tuple[float, float]] = {}
            turns = [(side, name) for side in sides for name in side.measures]
            random.shuffle(turns)
            for side, name in turns:
                shown = {"stage 1": "omd", "cached": side.name, "uncached": side.name}
                title, seconds = shown.get(name, name), side.measure(name, file)
                taken[title] = min(taken.get(title, seconds), seconds)
                print(f"{side.name:20}{name:12}{seconds[0]:8.2f} s{seconds[1]:8.2f} s", flush=True)
            if n >= given.rounds:  # the others are the warm-up
                rounds.append(taken)
        for side in sides:
            side.end()
        show(rounds)


if __name__ == "__main__":
    main()
