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

Run: ``python tests/benchmarks/peers/queues.py [--tasks 50000] [--rounds 5] [--slots 10]``. It
needs Node.js, and makes environments with the peers in a temporary folder, or takes those of
``--peers`` (the folders procrastinate, pgqueuer and graphile-worker in it).

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
import tempfile
import time
import venv
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.server import durable_server, new_database

HERE = Path(__file__).parent / "sides"
NEEDS = {
    "procrastinate": ["procrastinate", "psycopg[binary,pool]", "uvloop"],
    "pgqueuer": ["pgqueuer", "asyncpg", "uvloop"],
    "graphile-worker": ["graphile-worker"],
}
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
            self._create(self.template, "template1")
        return self.call("install", 0, database=self.template).strip()

    def fresh(self) -> None:
        """Make an empty database."""
        self._create(DATABASE, self.template)

    def _create(self, name: str, template: str) -> None:
        names = sql.Identifier(name), sql.Identifier(template)
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(names[0]))
            conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        # It has another OID, so workers of OMD would wait for an administrator.
        with psycopg.connect(make_conninfo(self.dsn, dbname=name), autocommit=True) as conn:
            found = conn.execute("SELECT to_regnamespace('omd') IS NOT NULL").fetchone()
            if found == (True,):
                conn.execute("CALL omd.confirm_server('moved', 'a copy of the benchmark')")


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
    calls = json.loads(side.call("single", BATCH, 0))
    figures["create_task"] = BATCH / sum(end - began for began, end in calls) * 1e9
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


def environment(folder: Path, name: str) -> None:
    """Make an environment with a peer when there is none."""
    if name == "graphile-worker":
        if not (folder / name / "node_modules").exists():
            (folder / name).mkdir(parents=True, exist_ok=True)
            npm = ["npm", "install", "--silent", "--prefix", ".", *NEEDS[name]]
            subprocess.run(npm, cwd=folder / name, check=True)
    elif not (folder / name / "bin" / "python").exists():
        venv.create(folder / name, with_pip=True)
        pip = [folder / name / "bin" / "python", "-m", "pip", "install", "-q", *NEEDS[name]]
        subprocess.run(pip, check=True)


def find(folder: Path, dsn: str) -> dict[str, Side]:
    """Return all sides, ready to start."""
    if shutil.which("npm") is None:
        sys.exit("npm is needed, of Node.js")
    sides = {"omd": Side("omd", [sys.executable, str(HERE / "omd_jobs.py")], Path.cwd(), dsn)}
    for name in NEEDS:
        environment(folder, name)
        if name == "graphile-worker":
            command = ["node", str(HERE / "graphile_jobs.mjs")]
        else:
            python = (folder / name / "bin" / "python").absolute()
            command = [str(python), str(HERE / f"{name}_jobs.py")]
        sides[name] = Side(name, command, folder / name, dsn)
    return sides


def ratios(r: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return the ratios of a round; above 1 dispatch is better."""
    omd, peers = r["omd"], {name: r[name] for name in NEEDS}
    python = max(peers["procrastinate"]["run"], peers["pgqueuer"]["run"])
    return {
        "run, to the better of procrastinate and pgqueuer": omd["run"] / python,
        "run, to graphile-worker": omd["run"] / peers["graphile-worker"]["run"],
        "p50, to the best": min(peer["p50"] for peer in peers.values()) / omd["p50"],
        "p99, to the best": min(peer["p99"] for peer in peers.values()) / omd["p99"],
        "create_tasks, to single create_task": omd["create_tasks"] / omd["create_task"],
        **{
            f"create_tasks, to {name}": omd["create_tasks"] / peer["create_tasks"]
            for name, peer in peers.items()
        },
        **{
            f"create_task, to {name}": omd["create_task"] / peer["create_task"]
            for name, peer in peers.items()
        },
    }


BOUNDS = [2, 0.8, 1, 1, 5]


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
    for (text, _), bound in zip_longest(columns[0].items(), BOUNDS):
        each = [column[text] for column in columns]
        rest = " ".join(f"{ratio:.2f}" for ratio in each)
        print(f"{text:50}{statistics.median(each):7.2f}{bound or '':>7}   {rest}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slots", type=int, default=10)
    parser.add_argument("--starts", type=int, default=600, help="tasks for the time to start")
    parser.add_argument("--peers", type=Path)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="omd-peers-") as folder,
        durable_server(arguments.dsn) as dsn,
    ):
        sides = find(arguments.peers or Path(folder), dsn)
        print(", ".join(side.install() for side in sides.values()))
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


if __name__ == "__main__":
    sys.exit(main())
