"""How long a run waits while OMD is upgraded (docs/how-to/operate/upgrade.md).

A session begins and ends runs of a Module all the time; the longest call counts, whether it is the
begin or the success that the upgrade meets.

* ``anew``: while every file but migrations is applied anew, the median of the rounds, beside that
  of as long a time after each, in the same database. Bound: 0.1 s.
* ``released``: while a database of the oldest release becomes this one, the longest call that
  begins or ends a run, and beside it the longest heartbeat of another run: the longest of the
  rounds, each in a new database. Bound: 1 s. A lease that is shorter would be lost.
* ``column``: while a column of the instances is added, filled, indexed and made NOT NULL in the
  phases of an upgrade, beside the same in one transaction. Bound: 0.1.

Run: ``python tests/benchmarks/upgrade.py [--dsn …] [--instances 1000000] [--only anew …]``. Without
a DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from bench.server import a_server, new_database

from omd.programs import embedded, install

sys.path.insert(0, str(Path(__file__).parents[1]))

BOUNDS = {"column": 0.1, "anew": 0.1, "released": 1.0}
TABLE = "omd.module_instance"
IN_ONE = f"""
    ALTER TABLE {TABLE} ADD COLUMN doubled bigint;
    UPDATE {TABLE} SET doubled = 2 * module_instance_id;
    CREATE INDEX ix_module_instance_doubled ON {TABLE} (doubled);
    ALTER TABLE {TABLE} ALTER COLUMN doubled SET DEFAULT 0;
    ALTER TABLE {TABLE} ALTER COLUMN doubled SET NOT NULL;
"""


def connect(dsn: str) -> psycopg.Connection[Any]:
    return psycopg.connect(dsn, autocommit=True)


def prepare(dsn: str, instances: int) -> None:
    with connect(dsn) as conn:
        conn.execute("CREATE TABLE public.target (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'HSTG', 'public.target')")
        conn.execute(
            f"""
            INSERT INTO {TABLE} (module_id, start_datetime, end_datetime, execution_status_code,
                processing_indicator, next_run_indicator, has_proceeded)
            SELECT 1, now(), now(), 'S', 'P', 'P', TRUE FROM generate_series(1, {instances})
            """.encode()
        )
        conn.execute(f"VACUUM (ANALYZE) {TABLE}".encode())
        conn.execute("CHECKPOINT")


def begin_and_end(conn: psycopg.Connection[Any]) -> float:
    """Return how long the longer of the two took."""
    began = time.perf_counter()
    row = conn.execute("CALL omd.begin_module('m')").fetchone()
    begun = time.perf_counter()
    assert row is not None
    conn.execute("CALL omd.module_success(%s)", [row[0]])
    return max(begun - began, time.perf_counter() - begun)


def heartbeat(conn: psycopg.Connection[Any], run: int) -> float:
    """Return how long a heartbeat of this run took."""
    began = time.perf_counter()
    conn.execute("CALL omd.heartbeat(%s, '1 day')", [run])
    return time.perf_counter() - began


@contextmanager
def calls(
    dsn: str, call: Callable[[psycopg.Connection[Any]], float] = begin_and_end
) -> Iterator[Callable[[], float]]:
    """Call all the time; yields a function that returns the longest since then."""
    over = threading.Event()
    longest, count = 0.0, 0
    failures: list[Exception] = []

    def work() -> None:
        nonlocal longest, count
        try:
            with connect(dsn) as conn:
                while not over.is_set():
                    longest = max(longest, call(conn))
                    count += 1
        except Exception as error:  # noqa: BLE001 - it is told below
            failures.append(error)

    def take() -> float:
        nonlocal longest
        before = count
        while count == before and not failures:  # one that waits has begun before
            time.sleep(0.001)
        if failures:
            raise failures[0]
        taken, longest = longest, 0.0
        return taken

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1)  # its plans are there
    take()
    try:
        yield take
    finally:
        over.set()
        thread.join()
        if failures:
            raise failures[0]


def anew(dsn: str, rounds: int) -> tuple[float, float]:
    """Return the median longest call of upgrades of everything, and that of as long a time."""
    during, idle = [], []
    with calls(dsn) as longest, connect(dsn) as conn:
        for _ in range(rounds):
            conn.execute("DELETE FROM omd.installed_file WHERE kind = 'repeatable'")
            longest()
            began = time.perf_counter()
            install.install(conn)
            took = time.perf_counter() - began
            during.append(longest())
            time.sleep(took)
            idle.append(longest())
            print(
                f"  anew: {took:5.2f} s, longest call {during[-1]:6.3f} s, idle {idle[-1]:6.3f} s"
            )
    return statistics.median(during), statistics.median(idle)


def released(server: str, instances: int, rounds: int) -> tuple[float, float]:
    """Return the longest begin or end, and the longest heartbeat, while a release is upgraded."""
    from support.released import ON_THIS_SERVER, RELEASED

    dump = gzip.decompress(RELEASED[0].read_bytes())
    begins, beats = [], []
    for number in range(rounds):
        name = f"bench_upgrade_released_{number}"
        dsn = psycopg.conninfo.make_conninfo(server, dbname=name)
        with connect(server) as conn:
            conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            conn.execute(f"CREATE DATABASE {name}".encode())
        roles = (install.sql_root() / "sql/roles.sql").read_bytes()
        psql = [embedded.binaries() / "psql", "--no-psqlrc", "--quiet", "-f", "-", dsn]
        subprocess.run(psql, input=roles + dump, check=True, capture_output=True)
        with connect(dsn) as conn:
            conn.execute(ON_THIS_SERVER)
        prepare(dsn, instances)
        with connect(dsn) as conn:
            conn.execute("CALL omd.register_module('beat', 'HSTG', 'public.target')")
            row = conn.execute("CALL omd.begin_module('beat', p_lease => '1 day')").fetchone()
        assert row is not None
        beats_of_it = partial(heartbeat, run=row[0])
        with calls(dsn) as begin, calls(dsn, beats_of_it) as beat, connect(dsn) as conn:
            begin(), beat()
            began = time.perf_counter()
            install.install(conn)
            took = time.perf_counter() - began
            begins.append(begin())
            beats.append(beat())
        print(
            f"  released: {took:5.2f} s, longest begin {begins[-1]:6.3f} s,"
            f" longest heartbeat {beats[-1]:6.3f} s"
        )
    return max(begins), max(beats)


def column(server: str, instances: int) -> tuple[float, float]:
    """Return the longest call while a column comes in phases, and in one transaction."""
    from install.conftest import Tree
    from support import next_release

    found = []
    for way in ("phases", "one"):
        dsn = new_database(server, f"bench_upgrade_{way}")
        prepare(dsn, instances)
        with tempfile.TemporaryDirectory() as folder, calls(dsn) as longest, connect(dsn) as conn:
            tree = Tree(Path(folder))
            next_release.make(tree)
            longest()
            began = time.perf_counter()
            if way == "phases":
                install.install(conn, tree.root)
            else:
                with conn.transaction():
                    conn.execute("SET LOCAL ROLE omd_owner")  # the guard lets it pass
                    conn.execute(IN_ONE.encode())
            took = time.perf_counter() - began
            found.append(longest())
        print(f"  column, {way}: {took:6.2f} s, longest call {found[-1]:6.3f} s")
    return found[0], found[1]


def told(found: float, bound: float) -> str:
    """Say the bound, and whether it is kept."""
    return f"bound {bound}{'' if found <= bound else '  MISSED'}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn")
    parser.add_argument("--instances", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", choices=["anew", "released", "column"])
    options = parser.parse_args()
    with a_server(options.dsn) as server:
        if not options.only or "anew" in options.only:
            dsn = new_database(server, "bench_upgrade_anew")
            prepare(dsn, min(options.instances, 100_000))
            during, idle = anew(dsn, options.rounds)
            kept = told(during, BOUNDS["anew"])
            print(f"anew: {during:.3f} s, {idle:.3f} s without it; {kept}")
        if not options.only or "released" in options.only:
            begin, beat = released(server, min(options.instances, 100_000), options.rounds)
            kept = told(max(begin, beat), BOUNDS["released"])
            print(f"released: begin {begin:.3f} s, heartbeat {beat:.3f} s; {kept}")
        if not options.only or "column" in options.only:
            phases, one = column(server, options.instances)
            ratio = phases / one
            kept = told(ratio, BOUNDS["column"])
            print(f"column: {phases:.3f} s, {ratio:.3f} of {one:.3f} s; {kept}")


if __name__ == "__main__":
    main()
