"""The paths that every run takes, beside those of an earlier revision of this repository.

Both revisions are installed on one server, each in a database of its own, with the same
definitions and history. Each path is taken by one connection a side, in turns; the figure is the
median of the ratios of all rounds, this revision to the earlier one. Bound: 1.05, of the mean of
some launches: one launch differs from the next by some hundredths.

* ``begin``: begin + success of a Module.
* ``rollback``, ``rollback many``, ``cascade``: a begin that rolls back a failed run of 10 and of
  20,000 rows, and of 10 rows to which other tables refer with ON DELETE CASCADE.
* ``step``: a step of lineage over one row.
* ``task``: a task is created, claimed and completed.
* ``create``, ``create key``: a task is created, without criteria and with a key.
* ``exchange``: a purge of a partition with 100,000 finished tasks.
* ``delta``, ``facts``: a delta of 10,000 rows is applied, and loaded into the facts.
* ``current``, ``now``, ``point``: the current rows, the rows as of the traveling now, and one key.

Run: ``python tests/benchmarks/before.py REVISION [--dsn …] [--only rollback …]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from bench.delivery import Interface, changes
from bench.dispatch import claim, create, finish, new_family
from bench.lineage import make_topic, step
from psycopg.types.json import Jsonb

ROOT = Path(__file__).parents[2]
STAMP = "omd_insert_module_instance_id"

Connection = psycopg.Connection[Any]
Take = Callable[[], float]  # Take the path once; return the seconds that count.


def begin(conn: Connection) -> Take:
    conn.execute(f"CREATE TABLE public.t_begin ({STAMP} bigint)".encode())
    conn.execute("CALL omd.register_module('begin', 'HSTG', 'public.t_begin')")

    def take() -> float:
        start = time.perf_counter()
        for _ in range(50):
            row = conn.execute("CALL omd.begin_module('begin')").fetchone()
            assert row is not None and row[1] == "P", row
            conn.execute("CALL omd.module_success(%s)", (row[0],))
        return time.perf_counter() - start

    return take


def rolled_back(conn: Connection, table: str, rows: int, more: str = "") -> Take:
    """Return the path of a begin that rolls back a failed run, which wrote ``rows`` rows."""
    conn.execute(
        f"CREATE TABLE public.{table} (n bigint PRIMARY KEY, v text, {STAMP} bigint);"
        f" CREATE INDEX ON public.{table} ({STAMP});"
        f" INSERT INTO public.{table} SELECT -n, 'v', 0 FROM generate_series(1, 100000) AS n;"
        f" {more}".encode()
    )
    conn.execute("CALL omd.register_module(%s, 'HSTG', %s)", (table, f"public.{table}"))
    conn.execute("VACUUM ANALYZE")

    def take() -> float:
        row = conn.execute("CALL omd.begin_module(%s)", (table,)).fetchone()
        assert row is not None and row[1] == "P", row
        conn.execute(
            f"INSERT INTO public.{table} SELECT n, 'v', %s"
            " FROM generate_series(1, %s) AS n".encode(),
            (row[0], rows),
        )
        conn.execute("CALL omd.module_failure(%s)", (row[0],))
        start = time.perf_counter()
        again = conn.execute("CALL omd.begin_module(%s)", (table,)).fetchone()
        taken = time.perf_counter() - start
        assert again is not None and again[1:3] == ("P", [row[0]]), again
        conn.execute("CALL omd.module_success(%s)", (again[0],))
        return taken

    return take


def rollback(conn: Connection) -> Take:
    return rolled_back(conn, "few", 10)


def rollback_many(conn: Connection) -> Take:
    return rolled_back(conn, "many", 20_000)


def cascade(conn: Connection) -> Take:
    return rolled_back(
        conn,
        "parent",
        10,
        f"CREATE TABLE public.child (p bigint REFERENCES public.parent ON DELETE CASCADE,"
        f" {STAMP} bigint); CREATE INDEX ON public.child (p);"
        " INSERT INTO public.child SELECT n, 0 FROM public.parent",
    )


def one_step(conn: Connection) -> Take:
    make_topic(conn)
    for _ in range(200):
        step(conn)

    def take() -> float:
        start = time.perf_counter()
        for _ in range(20):
            step(conn)
        return time.perf_counter() - start

    return take


def task(conn: Connection) -> Take:
    new_family(conn, "F")
    create(conn, 1000)

    def take() -> float:
        start = time.perf_counter()
        for _ in range(20):
            create(conn, 1, batch=1)
            claim(conn, 1)
        return time.perf_counter() - start

    return take


def created(conn: Connection, call: str) -> Take:
    new_family(conn, "F", "{CODE}")
    conn.execute("CALL omd_dispatch.register_task_type('CALL', 'T', 'PYTHON', 'm:f')")
    code = iter(range(10**9))

    def take() -> float:
        start = time.perf_counter()
        for _ in range(50):
            conn.execute(call.encode(), [Jsonb({"CODE": str(next(code))})], prepare=True)
        return time.perf_counter() - start

    return take


def create_one(conn: Connection) -> Take:
    return created(conn, "CALL omd_dispatch.create_task('CALL', 'T', p_payload => %s)")


def create_key(conn: Connection) -> Take:
    return created(conn, "CALL omd_dispatch.create_task('F', 'T', %s)")


def exchange(conn: Connection) -> Take:
    new_family(conn, "F")
    now = conn.execute("SELECT omd_dispatch._partition_code('DAY_RING', 8, now())").fetchone()
    assert now is not None
    code = (now[0] + 4) % 8

    def take() -> float:
        finish(conn, 100_000, str(code))
        conn.execute("CHECKPOINT")
        start = time.perf_counter()
        row = conn.execute("CALL omd_dispatch.purge_partition('F', %s)", (code,)).fetchone()
        assert row is not None and row[0] == "PURGED", row
        return time.perf_counter() - start

    return take


def interface(conn: Connection) -> Interface:
    """Return an interface of 200,000 rows."""
    line = Interface(conn, "lines")
    line.fill(200_000)
    return line


def delta(conn: Connection) -> Take:
    line, turns = interface(conn), iter(range(1000))

    def take() -> float:
        delivery = line.write(changes(200_000, 20, next(turns)))
        taken = line.apply(delivery)
        line.settle()
        return taken

    return take


def loaded(conn: Connection) -> None:
    row = conn.execute("CALL omd_facts.load('lines')").fetchone()
    assert row is not None


def facts(conn: Connection) -> Take:
    line, turns = interface(conn), iter(range(1000))
    conn.execute("CALL omd_facts.deploy('lines')")
    loaded(conn)

    def take() -> float:
        line.apply(line.write(changes(200_000, 20, next(turns))))
        conn.execute("CHECKPOINT")
        start = time.perf_counter()
        loaded(conn)
        taken = time.perf_counter() - start
        line.settle()
        return taken

    return take


def read(conn: Connection, query: str, times: int = 1) -> Take:
    """Return the path of a query over facts with some history."""
    line = interface(conn)
    conn.execute("CALL omd_facts.deploy('lines')")
    loaded(conn)
    for turn in range(3):
        line.apply(line.write(changes(200_000, 20, turn)))
        loaded(conn)
    conn.execute("VACUUM ANALYZE")

    def take() -> float:
        start = time.perf_counter()
        for n in range(times):
            conn.execute(query.encode(), {"n": n + 1} if "%(n)" in query else None).fetchall()
        return time.perf_counter() - start

    return take


def current(conn: Connection) -> Take:
    return read(conn, "SELECT a, sum(x) FROM gdal_lines.line GROUP BY a")


def traveling(conn: Connection) -> Take:
    return read(conn, "SELECT a, sum(x) FROM asof_lines.line GROUP BY a")


def point(conn: Connection) -> Take:
    return read(conn, "SELECT * FROM asof_lines.line WHERE n = %(n)s", 200)


# Each path, and how many rounds of it are counted.
PATHS: dict[str, tuple[Callable[[Connection], Take], int]] = {
    "begin": (begin, 60),
    "rollback": (rollback, 60),
    "rollback many": (rollback_many, 15),
    "cascade": (cascade, 40),
    "step": (one_step, 40),
    "task": (task, 60),
    "create": (create_one, 60),
    "create key": (create_key, 60),
    "exchange": (exchange, 12),
    "delta": (delta, 9),
    "facts": (facts, 9),
    "current": (current, 20),
    "now": (traveling, 20),
    "point": (point, 20),
}


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Yield a folder with the files of a revision."""
    with tempfile.TemporaryDirectory(prefix="omd-before-") as folder:
        git = ["git", "-C", str(ROOT)]
        archive = subprocess.run([*git, "archive", revision], check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        # The installation asks for its version under the name that its distribution had then.
        project = re.search(
            r'^name = "(.+)"', Path(folder, "pyproject.toml").read_text(), re.MULTILINE
        )
        assert project is not None
        metadata = Path(folder, f"driver/{project[1]}-0.dist-info/METADATA")
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {project[1]}\nVersion: 0\n")
        yield Path(folder)


def install_from(root: Path, dsn: str, name: str) -> str:
    """Create a database with OMD as the files of a revision have it."""
    folders = [root / "driver", root / "tests/benchmarks"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(f) for f in folders)}
    code = "import sys; from bench.server import new_database; print(new_database(*sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, dsn, name],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def measure(server: str, earlier: Path, name: str) -> None:
    """Take a path on both sides, and print the ratio."""
    prepare, rounds = PATHS[name]
    with ExitStack() as stack:
        sides: list[tuple[Take, list[float]]] = []
        for dsn in (new_database(server, "bench_after"), install_from(earlier, server, "before")):
            conn = stack.enter_context(psycopg.connect(dsn, autocommit=True))
            sides.append((prepare(conn), []))
        for n in range(rounds + 3):
            for take, times in sides if n % 2 else reversed(sides):
                times.append(take())
        (_, after), (_, before) = sides
        ratios = [a / b for a, b in zip(after[3:], before[3:], strict=True)]
        spread = statistics.quantiles(ratios, n=4)
        print(
            f"{name}: {1e3 * statistics.median(after[3:]):.2f} ms, before"
            f" {1e3 * statistics.median(before[3:]):.2f} ms, ratio"
            f" {statistics.median(ratios):.2f} (quartiles {spread[0]:.2f} to {spread[2]:.2f};"
            f" of the minima {min(after) / min(before):.2f})",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("--dsn")
    parser.add_argument("--only", nargs="*", choices=PATHS, default=list(PATHS))
    args = parser.parse_args()
    with checkout(args.revision) as earlier, durable_server(args.dsn) as server:
        for name in args.only:
            measure(server, earlier, name)


if __name__ == "__main__":
    main()
