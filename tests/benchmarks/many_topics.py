"""A row through ten topics, alone and beside 10,000 others: what others cost who isn't concerned.

Each of the ten topics reads the one before. The time runs from the insert of a row into the source
until it is in the last table; the look at the source (``probe_sources``) is part of it. The two
databases are of one server, each with its own program that waits, and rows are sent in turns.

* ``scheduler``: ``omd worker --kind TOPIC``, whose next poll is in an hour;
* ``work``: ``omd worker`` with work switched on.

The others have five dependencies each, on 2,000 tables whose offsets are set by hand (``--others``
says how many topics they are); with ``--fresh`` no table was ever analysed. Bound: 1.5 times alone,
by the medians.

Run: ``python tests/benchmarks/many_topics.py [--dsn …] [--others 10000] [--rows 30]``. Without a
DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from bench.lineage import register
from bench.server import a_server, new_database

from omd.programs.cli.common import PROGRAM

TOPICS = 10
PROGRAMS = {
    "scheduler": [
        "worker",
        "--kind",
        "TOPIC",
        "--poll",
        "3600",
        "--workers",
        "2",
        "--topic",
        "public.*",
    ],
    "work": ["worker", "--workers", "2"],
}


def set_up(dsn: str, others: int, *, is_fresh: bool) -> None:
    """Make the chain, and the others, none of which is ready."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        if others:
            register(conn, others, is_analysed=not is_fresh)
            # Nobody has anything to do.
            conn.execute(
                "UPDATE omd_lineage.offsets SET last = ROW(timestamptz '2024-02-01', 0),"
                " run = now() WHERE topic LIKE 'f.%'"
            )
        conn.execute("CREATE TABLE public.c0 (pos timestamptz, id bigint, PRIMARY KEY (pos, id))")
        conn.execute("CALL omd_lineage.register_topic('public.c0')")
        for n in range(1, TOPICS + 1):
            conn.execute(
                f"CREATE TABLE public.c{n} (pos timestamptz, id bigint,"
                f" omd_insert_module_instance_id bigint);"
                f"CREATE INDEX ON public.c{n} (pos, id);"
                f"CREATE VIEW public.v{n} AS SELECT b.pos, b.id FROM public.c{n - 1} AS b"
                f" WHERE omd_lineage.in_block(b.pos, b.id);"
                f"CALL omd_lineage.register_topic('public.c{n}', ARRAY['public.c{n - 1}'],"
                f" p_transforms => ARRAY['public.v{n}'], p_repeat => '0')".encode()
            )
        conn.execute("CALL omd_lineage.probe_sources()")
        if not is_fresh:
            conn.execute("VACUUM (ANALYZE)")


@contextmanager
def running(dsn: str, program: str) -> Iterator[None]:
    """Run the program until the end of the block."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd_dispatch.set_work(%s)", (program == "work",))
    process = subprocess.Popen(
        [*PROGRAM, *PROGRAMS[program]],
        env={**os.environ, "OMD_DSN": dsn},
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(6)  # it has started, and has read the whole list
        yield
    finally:
        process.terminate()
        process.wait()


def through(conn: psycopg.Connection[tuple[int]], number: int) -> float:
    """Send a row, and one a second later since the newest instant waits for more; in seconds."""
    began = time.perf_counter()
    conn.execute(
        "INSERT INTO public.c0 VALUES (now() - interval '1 second', %s), (now(), -%s)",
        (number, number),
    )
    conn.execute("CALL omd_lineage.probe_sources()")
    query = f"SELECT FROM public.c{TOPICS} WHERE id = %s AND pos > now() - interval '1 hour'"
    while conn.execute(query.encode(), (number,)).rowcount == 0:
        if time.perf_counter() - began > 60:
            raise TimeoutError("the row is not in the last table")
        time.sleep(0.001)
    return time.perf_counter() - began


def measure(dsns: list[str], program: str, rows: int) -> list[list[float]]:
    """Return the times alone, and beside the others."""
    times: list[list[float]] = [[] for _ in dsns]
    with ExitStack() as stack:
        for dsn in dsns:
            stack.enter_context(running(dsn, program))
        conns = [stack.enter_context(psycopg.connect(dsn, autocommit=True)) for dsn in dsns]
        for number in range(1, rows + 6):
            for conn, took in zip(conns, times, strict=True):
                seconds = through(conn, number)
                if number > 5:
                    took.append(seconds)
            time.sleep(1.2)  # the rows of the next round come after those of this one
        for conn in conns:
            conn.execute("DELETE FROM public.c10")
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn")
    parser.add_argument("--others", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--fresh", action="store_true", help="no table was ever analysed")
    parser.add_argument("--program", action="append", choices=list(PROGRAMS))
    given = parser.parse_args()
    with a_server(given.dsn) as server:
        dsns = [new_database(server, name) for name in ("many_topics_alone", "many_topics_beside")]
        for dsn, others in zip(dsns, (0, given.others), strict=True):
            set_up(dsn, others, is_fresh=given.fresh)
        for program in given.program or PROGRAMS:
            alone, beside = measure(dsns, program, given.rows)
            ratio = statistics.median(beside) / statistics.median(alone)
            low = statistics.quantiles(beside, n=10)[0] / statistics.quantiles(alone, n=10)[0]
            print(
                f"{program:<9} a row through {TOPICS} topics: alone"
                f" {1000 * statistics.median(alone):.0f} ms, beside {given.others:,} others"
                f" {1000 * statistics.median(beside):.0f} ms: {ratio:.2f} times (bound 1.5);"
                f" of the first deciles {low:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
