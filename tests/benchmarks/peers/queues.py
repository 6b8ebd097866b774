"""No-op tasks: dispatch, procrastinate, pgqueuer and graphile-worker on one server.

Each side has one worker process with the same number of slots, a database of its own made anew for
each measurement, its own client to create tasks, and the settings that its documentation gives for
many short jobs (sides/*_jobs.*). All connect in the same way. In each round the sides take turns in
random order; a ratio is that of one round, and the median over the rounds is shown.

* ``run``: the time from the start of the worker until no task is left, of tasks that were created
  before. procrastinate gets a twentieth of them: it takes one job at a time, so its rate doesn't
  depend on their number.
* ``start``: the time from the call that creates a task to its start, while nothing else is to do.
* ``create``: tasks created a thousand at a time, and one by one.

Run: ``python tests/benchmarks/peers/queues.py [--tasks 50000] [--rounds 5] [--slots 10] [--save]``.
The peers are installed from peers/locks; graphile-worker needs Node.js.

The scripts of the sides connect by PGHOST and its like, and know four commands:
``install`` prints the version, ``work TASKS SLOTS`` when it starts and, when so many tasks have
started, when each did, ``many TASKS BATCH`` the seconds that it took to create them, ``single TASKS
PAUSE`` when each call began and ended. All times are nanoseconds of the monotonic clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import peers, results
from bench.peers import SIDES
from bench.server import a_server, copy_database, new_database

PEERS = ("procrastinate", "pgqueuer", "graphile-worker")
LEFT = {
    "omd": "omd_dispatch.task_data_call WHERE status IN ('PENDING', 'CLAIMED')",
    "procrastinate": "procrastinate_jobs",
    "pgqueuer": "pgqueuer",
    "graphile-worker": "graphile_worker._private_jobs",
}
BATCH = 1000
DATABASE = "bench_dispatch"


@dataclass
class Side:
    """A queue to measure.

    Attributes:
        name: its name.
        command: starts its script.
        folder: where the script is started.
        dsn: the server.
    """

    name: str
    command: list[str]
    folder: Path
    dsn: str

    @property
    def template(self) -> str:
        """The database in which it is installed."""
        return f"{DATABASE}_{self.name}"

    def start(self, *arguments: object, database: str = DATABASE) -> subprocess.Popen[str]:
        """Start its script."""
        parts = {**conninfo_to_dict(self.dsn), "dbname": database}
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
        names["dbname"] = "PGDATABASE"
        env = {names[key]: str(value) for key, value in parts.items() if key in names}
        return subprocess.Popen(
            [*self.command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            # A worker tells there that it has started and that it was stopped.
            stderr=subprocess.DEVNULL if arguments[0] == "work" else None,
            text=True,
            cwd=self.folder,
            env={**os.environ, **env},
        )

    def call(self, *arguments: object, database: str = DATABASE) -> str:
        """Run its script and return what it prints."""
        process = self.start(*arguments, database=database)
        answer, _ = process.communicate()
        if process.returncode:
            sys.exit(f"{self.name} {arguments} failed")
        return answer

    def install(self) -> str:
        """Make the database that is copied for each measurement; return the version."""
        if self.name == "omd":
            new_database(self.dsn, self.template)
        else:
            copy_database(self.dsn, self.template, "template1")
        return self.call("install", 0, database=self.template).strip()

    def fresh(self) -> None:
        """Make an empty database."""
        copy_database(self.dsn, DATABASE, self.template)


def run(side: Side, tasks: int, slots: int) -> dict[str, float]:
    """Create tasks and run them; then create some one by one."""
    side.fresh()
    figures = {"create_tasks": tasks / float(side.call("many", tasks, BATCH))}
    with psycopg.connect(make_conninfo(side.dsn, dbname=DATABASE), autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")
        conn.execute("CHECKPOINT")
        worker = side.start("work", tasks, slots)
        assert worker.stdout is not None
        began = int(worker.stdout.readline())
        worker.stdout.readline()  # the last task has started
        left = f"SELECT EXISTS (SELECT FROM {LEFT[side.name]})".encode()
        while conn.execute(left).fetchone() != (False,):
            time.sleep(0.005)
        figures["run"] = tasks / (time.monotonic_ns() - began) * 1e9
        worker.terminate()
        worker.communicate()
    calls = json.loads(side.call("single", min(BATCH, tasks), 0))
    figures["create_task"] = len(calls) / sum(end - began for began, end in calls) * 1e9
    return figures


def start(side: Side, tasks: int, slots: int) -> dict[str, float]:
    """Create tasks one by one for a worker that has nothing to do."""
    side.fresh()
    warm = 20
    worker = side.start("work", warm + tasks, slots)
    calls = json.loads(side.call("single", warm + tasks, 0.06))
    assert worker.stdout is not None
    worker.stdout.readline()
    starts = json.loads(worker.stdout.readline())
    worker.terminate()
    worker.communicate()
    took = [(at - began) / 1e6 for (began, _), at in zip(calls, starts, strict=True)][warm:]
    return {"p50": statistics.median(took), "p99": statistics.quantiles(took, n=100)[98]}


def find(dsn: str) -> dict[str, Side]:
    """Return all sides, ready to start."""
    sides = {"omd": Side("omd", [sys.executable, str(SIDES / "omd_jobs.py")], Path.cwd(), dsn)}
    for name in PEERS[:2]:
        command = [str(peers.python_of(name)), str(SIDES / f"{name}_jobs.py")]
        sides[name] = Side(name, command, Path.cwd(), dsn)
    if shutil.which("npm") is None:
        print("There is no npm, of Node.js: graphile-worker is left out.")
        return sides
    command = ["node", str(SIDES / "graphile_jobs.mjs")]
    sides["graphile-worker"] = Side("graphile-worker", command, peers.node_modules(), dsn)
    return sides


def ratios(r: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return the ratios of a round; above 1 dispatch is better."""
    omd, others = r["omd"], {name: r[name] for name in PEERS if name in r}
    python = max(others["procrastinate"]["run"], others["pgqueuer"]["run"])
    return {
        "run, to the better of procrastinate and pgqueuer": omd["run"] / python,
        **{
            f"run, to {name}": omd["run"] / others[name]["run"]
            for name in others
            if name == "graphile-worker"
        },
        "p50, to the best": min(peer["p50"] for peer in others.values()) / omd["p50"],
        "p99, to the best": min(peer["p99"] for peer in others.values()) / omd["p99"],
        "create_tasks, to single create_task": omd["create_tasks"] / omd["create_task"],
        **{
            f"create_tasks, to {name}": omd["create_tasks"] / peer["create_tasks"]
            for name, peer in others.items()
        },
        **{
            f"create_task, to {name}": omd["create_task"] / peer["create_task"]
            for name, peer in others.items()
        },
    }


BOUNDS = {
    "run, to the better of procrastinate and pgqueuer": 2,
    "run, to graphile-worker": 0.8,
    "p50, to the best": 1,
    "p99, to the best": 1,
    "create_tasks, to single create_task": 5,
}


def show(rounds: list[dict[str, dict[str, float]]]) -> None:
    """Print the medians, and the ratios with their bounds."""
    names = list(rounds[0])
    print(f"\n{'median':24}" + "".join(f"{name:>17}" for name in names))
    for figure, unit in (
        ("run", "tasks/s"),
        ("p50", "ms to start"),
        ("p99", "ms to start"),
        ("create_tasks", "tasks/s"),
        ("create_task", "tasks/s"),
    ):
        medians = [statistics.median(r[name][figure] for r in rounds) for name in names]
        form = ".2f" if unit == "ms to start" else ",.0f"
        print(f"{figure + ', ' + unit:24}" + "".join(f"{median:17{form}}" for median in medians))
    print(f"\n{'ratio':50}{'median':>7}{'bound':>7}   of the rounds")
    columns = [ratios(r) for r in rounds]
    for text in columns[0]:
        each = [column[text] for column in columns]
        rest = " ".join(f"{ratio:.2f}" for ratio in each)
        print(f"{text:50}{statistics.median(each):7.2f}{BOUNDS.get(text, ''):>7}   {rest}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slots", type=int, default=10)
    parser.add_argument("--starts", type=int, default=600, help="tasks for the time to start")
    parser.add_argument("--save", action="store_true", help="keep the results, for the page")
    arguments = parser.parse_args()
    with a_server(arguments.dsn) as dsn:
        sides = find(dsn)
        versions = {name: side.install() for name, side in sides.items()}
        print(", ".join(versions.values()))
        print(f"{arguments.tasks:,} tasks, {arguments.slots} slots, {arguments.rounds} rounds")
        rounds = []
        for _ in range(arguments.rounds):
            figures: dict[str, dict[str, float]] = {name: {} for name in sides}
            measures = [(name, measure) for name in sides for measure in (run, start)]
            random.shuffle(measures)
            for name, measure in measures:
                tasks = arguments.tasks if measure is run else arguments.starts
                if measure is run and name == "procrastinate":
                    tasks //= 20
                figures[name].update(measure(sides[name], tasks, arguments.slots))
            rounds.append(figures)
            print(json.dumps(figures), flush=True)
        show(rounds)
    if arguments.save:
        medians = {
            name: {f: statistics.median(r[name][f] for r in rounds) for f in rounds[0][name]}
            for name in sides
        }
        size = f"{arguments.tasks} tasks, {arguments.slots} slots, {arguments.rounds} rounds"
        results.save("queues", size, versions, medians)


if __name__ == "__main__":
    sys.exit(main())
