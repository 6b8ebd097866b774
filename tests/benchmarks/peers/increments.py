"""Increments of a source under late commits and kills: a topic, dbt-postgres and SQLMesh.

Writers insert rows into one table and commit up to two seconds later; a tenth of them roll back.
Meanwhile every side copies the new rows into a table of its own, step by step, on the same server,
and each is killed now and then: a dbt or SQLMesh process with SIGKILL, the session of a topic by
pg_terminate_backend. At the end the writers stop, every side steps until nothing is new, and the
destinations are compared with the source: rows lost, rows doubled, and the time of a step.

dbt and SQLMesh are shown twice: with the filter of their documentation, and with a span that is
read again and is longer than any transaction of the writers (``lookback``). Their steps run in one
process each, so that no start of a process counts. SQLMesh plans whole intervals of five minutes at
least, so the time of the source is 300 times as fast as the clock, for every side.

Run: ``python tests/benchmarks/peers/increments.py [--seconds 60] [--kills 4] [--save]``. dbt and
SQLMesh are installed from peers/locks.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

import omd

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import peers, results
from bench.peers import SIDES
from bench.server import a_server, new_database

KINDS = ("plain", "lookback")
SOURCE = """
    CREATE SCHEMA src;
    CREATE TABLE src.clock_base AS SELECT clock_timestamp() AS real_start,
        clock_timestamp() - interval '30 days' AS start;
    CREATE FUNCTION src.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        'SELECT start + (clock_timestamp() - real_start) * 300 FROM src.clock_base';
    CREATE FUNCTION src.clock_start() RETURNS timestamptz LANGUAGE sql STABLE AS
        'SELECT start FROM src.clock_base';
    CREATE TABLE src.orders (
        id bigint GENERATED ALWAYS AS IDENTITY,
        pos timestamptz NOT NULL DEFAULT src.clock(),
        amount integer NOT NULL
    );
    CREATE INDEX ON src.orders (pos, id);
    CREATE SCHEMA topic_out;
    CREATE TABLE topic_out.orders (
        id bigint, pos timestamptz, amount integer, omd_insert_module_instance_id bigint
    );
    CREATE VIEW topic_out.new_orders AS
        SELECT o.id, o.pos, o.amount FROM src.orders AS o
        WHERE omd_lineage.in_block(o.pos, o.id);
    CALL omd_lineage.register_topic('src.orders');
    CALL omd_lineage.register_topic('topic_out.orders', ARRAY['src.orders'],
        p_transforms => ARRAY['topic_out.new_orders'], p_repeat => interval '0');
"""


@dataclass
class Side:
    """One way to copy the rows, and what came of it."""

    name: str
    table: str
    seconds: list[float] = field(default_factory=list)
    kills: int = 0


def write(dsn: str, until: float) -> None:
    """Write rows that are committed late."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        while time.monotonic() < until:
            with suppress(psycopg.Rollback), conn.transaction():
                for _ in range(random.randint(1, 20)):
                    conn.execute("INSERT INTO src.orders (amount) VALUES (1)")
                time.sleep(random.choice([0, 0, 0.2, random.uniform(0, 2)]))
                if random.random() < 0.1:
                    raise psycopg.Rollback


def topic(dsn: str, side: Side, until: float, kills: int) -> None:
    """Take steps of the topic; kill the session now and then."""
    pauses = sorted(random.uniform(0, until - time.monotonic()) for _ in range(kills))
    began = time.monotonic()
    conn = psycopg.connect(dsn, autocommit=True)
    while time.monotonic() < until:
        if pauses and time.monotonic() - began > pauses[0]:
            pauses.pop(0)
            victim = conn.info.backend_pid
            killer = threading.Timer(random.uniform(0, 0.02), _terminate, (dsn, victim))
            killer.start()
            side.kills += 1
        at = time.perf_counter()
        try:
            outcome = conn.execute(
                "CALL omd_lineage.step('topic_out.orders')", prepare=True
            ).fetchone()
        except psycopg.OperationalError:
            conn.close()
            conn = psycopg.connect(dsn, autocommit=True)
            continue
        if outcome and outcome[0] == "DONE":
            side.seconds.append(time.perf_counter() - at)
        time.sleep(0.02)
    conn.close()


def _terminate(dsn: str, pid: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pg_terminate_backend(%s)", [pid])


def peer(
    python: Path,
    script: str,
    arguments: list[str],
    side: Side,
    seconds: float,
    kills: int,
    home: str,
) -> None:
    """Run a peer's loop; kill its process now and then, and start it again."""
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        last = kills <= side.kills or left < 8
        errors = Path(home) / "errors.txt"
        with errors.open("w") as told:
            process = subprocess.Popen(
                [python, SIDES / script, *arguments, str(max(left, 0))],
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
                env={**os.environ, "HOME": home, "DO_NOT_TRACK": "1"},
            )
        timer = None
        assert process.stdout is not None
        for line in process.stdout:
            took = line.split()
            if len(took) != 2 or took[1] not in ("True", "False"):
                continue
            side.seconds.append(float(took[0]))
            # A first plan of SQLMesh that is killed is never carried out, so kills come after it.
            if timer is None and not last:
                pause = random.uniform(0, max(0.5, seconds / (kills + 1)))
                timer = threading.Timer(pause, process.send_signal, (signal.SIGKILL,))
                timer.start()
        code = process.wait()
        if timer is not None:
            timer.cancel()
        if code == 0:
            return
        if code != -signal.SIGKILL:
            raise RuntimeError(f"{script} ended with {code}: {errors.read_text()[-2000:]}")
        side.kills += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--save", action="store_true", help="keep the results, for the page")
    arguments = parser.parse_args()
    pythons = {name: peers.python_of(name) for name in ("dbt", "sqlmesh")}
    with (
        tempfile.TemporaryDirectory(prefix="omd-peers-") as folder,
        a_server(arguments.dsn) as server,
    ):
        dsn = new_database(server, "bench_peers")
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(SOURCE)
        figures = compare(dsn, pythons, Path(folder), arguments)
    if arguments.save:
        size = f"{arguments.seconds:g} s a side, {arguments.kills} kills"
        versions = {"omd": f"OMD {omd.__version__}"}
        for name, package in (("dbt", "dbt-core"), ("sqlmesh", "sqlmesh")):
            version = peers.version_of(pythons[name], package)
            versions |= {f"{name}, {k}": f"{package} {version}, {k}," for k in KINDS}
        results.save("increments", size, versions, figures)


def compare(
    dsn: str, pythons: dict[str, Path], folder: Path, arguments: argparse.Namespace
) -> dict[str, dict[str, float]]:
    seconds = arguments.seconds
    sides = [Side("omd", "topic_out.orders")]
    loops = []
    for name, schema in (("dbt", "dbt"), ("sqlmesh", "sqlmesh_peers")):
        for kind in KINDS:
            side = Side(f"{name}, {kind}", f"{schema}.orders_{kind}")
            sides.append(side)
            place = folder / f"{name}-{kind}"
            place.mkdir()
            loops.append((pythons[name], f"{name}_steps.py", [str(place), dsn, kind], side, place))
    # Each side has the source to itself for a while, so that the sides don't slow each other down;
    # the writers work all the time.
    stop = time.monotonic() + seconds * len(sides)
    writers = [threading.Thread(target=write, args=(dsn, stop)) for _ in range(arguments.writers)]
    for writer in writers:
        writer.start()
    topic(dsn, sides[0], time.monotonic() + seconds, arguments.kills)
    for python, script, parts, side, place in loops:
        peer(python, script, parts, side, seconds, arguments.kills, str(place))
    for writer in writers:
        writer.join()
    time.sleep(2)  # for SQLMesh the interval of the last row must be over
    # A topic takes a row when there is a newer one; the newest is compared for no side.
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("INSERT INTO src.orders (amount) VALUES (1)")
    topic(dsn, Side("", ""), time.monotonic() + 5, 0)
    for python, script, parts, _, place in loops:
        peer(python, script, parts, Side("", ""), 0, 0, str(place))

    with psycopg.connect(dsn, autocommit=True) as conn:
        rows = conn.execute("SELECT count(*) FROM src.orders").fetchone()
        figures: dict[str, dict[str, float]] = {}
        print(f"{rows[0] if rows else 0:,} rows, {arguments.writers} writers, {seconds:g} s a side")
        for side in sides:
            lost, doubled = conn.execute(
                f"""
                SELECT count(*) FILTER (WHERE d.n IS NULL), count(*) FILTER (WHERE d.n > 1)
                FROM src.orders AS s
                LEFT JOIN (SELECT id, count(*) AS n FROM {side.table} GROUP BY id) AS d USING (id)
                WHERE s.id < (SELECT max(id) FROM src.orders)
                """.encode()
            ).fetchone() or (0, 0)
            step = statistics.median(side.seconds) if side.seconds else float("nan")
            print(
                f"{side.name:20} lost {lost:6,}  doubled {doubled:6,}  killed {side.kills}"
                f"  steps {len(side.seconds):5,}  median step {step * 1000:9.1f} ms"
            )
            figures[side.name] = {"lost": lost, "doubled": doubled, "step": 1000 * step}
    return figures


if __name__ == "__main__":
    sys.exit(main())
