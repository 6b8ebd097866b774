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
import itertools
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

from bench import dispatch
import event_overhead
from bench import facts as facts_of
import psycopg
from bench.server import durable_server, new_database
from psycopg.types.json import Jsonb

Run = Callable[[], None]
STAGE = {
    "stage": "s",
    "ruleset": "r",
    "links": [{"name": "a", "source": "public.a", "arrival": "id"}],
    "outputs": [{"name": "o", "parameter": "out", "table": "public.decided"}],
}
PARTS = 12
SURROUNDINGS = ("alone", "sleeper", "fresh")


def begin(conn: psycopg.Connection) -> Run:
    """Begin and success of one Module."""
    conn.execute("CREATE TABLE IF NOT EXISTS public.target (omd_insert_module_instance_id bigint)")
    conn.execute("CALL omd.register_module('m_begin', 'HSTG', 'public.target')")

    def run() -> None:
        row = conn.execute("CALL omd.begin_module('m_begin')").fetchone()
        assert row is not None and row[1] == "P", row
        conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (row[0],))

    return run


def batch(conn: psycopg.Connection) -> Run:
    """A Batch of ten Modules: begin and success of it and of each."""
    conn.execute("CREATE TABLE IF NOT EXISTS public.target (omd_insert_module_instance_id bigint)")
    conn.execute("CALL omd.register_batch('b_ten')")
    for number in range(10):
        conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.target')", (f"m_ten{number}",))
        conn.execute("CALL omd.add_module_to_batch('b_ten', %s)", (f"m_ten{number}",))

    def run() -> None:
        row = conn.execute("CALL omd.begin_batch('b_ten')").fetchone()
        assert row is not None and row[1] == "P", row
        for number in range(10):
            begun = conn.execute(
                "CALL omd.begin_module(%s, %s)", (f"m_ten{number}", row[0])
            ).fetchone()
            assert begun is not None and begun[1] == "P", begun
            conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (begun[0],))
        conn.execute("CALL omd.batch_success(%s)", (row[0],))

    return run


def step(conn: psycopg.Connection) -> Run:
    """A step of a topic over one new row of its source."""
    conn.execute("CREATE TABLE public.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id))")
    conn.execute(
        "CREATE TABLE public.fact ("
        "pos timestamptz, id bigint, omd_insert_module_instance_id bigint)"
    )
    conn.execute("CREATE INDEX ON public.fact (pos, id)")
    conn.execute(
        "CREATE VIEW public.transform AS SELECT b.pos, b.id FROM public.base AS b"
        " WHERE omd_lineage.in_block(b.pos, b.id)"
    )
    conn.execute(
        "INSERT INTO public.base SELECT timestamptz '2024-01-01' + n * interval '1 second', n"
        " FROM generate_series(1, 50000) AS n"
    )
    conn.execute("CALL omd_lineage.register_topic('public.base')")
    conn.execute(
        "CALL omd_lineage.register_topic('public.fact', ARRAY['public.base'], p_transforms =>"
        " ARRAY['public.transform'], p_maxstep => 1)"
    )

    def run() -> None:
        row = conn.execute("CALL omd_lineage.step('public.fact')").fetchone()
        assert row is not None and row[0] == "DONE", row

    return run


def facts(conn: psycopg.Connection) -> Run:
    """A delta of ten rows is written, accepted and loaded."""
    conn.execute("CALL omd_delivery.register_tenant('t')")
    facts_of.set_up(conn, "orders", changes=False)
    days = itertools.count(1)
    conn.execute("SET client_min_messages = error")

    def run() -> None:
        day = next(days)
        facts_of.load(conn, "orders", day, "n <= 10", "N" if day == 1 else "A")

    return run


def stage(conn: psycopg.Connection) -> Run:
    """A run of a stage over ten rows."""
    conn.execute("CREATE TABLE public.a (id integer, k integer, n integer)")
    conn.execute("CREATE TABLE public.decided (k integer, omd_insert_module_instance_id bigint)")
    conn.execute("INSERT INTO public.a SELECT n, n, n FROM generate_series(1, 10) AS n")
    conn.execute(
        "CREATE FUNCTION public.rules(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS"
        """ $$BEGIN RETURN '{"out": [{"k": 1}]}'; END$$"""
    )
    ruleset = {"ruleset": "r", "kind": "FUNCTION", "content": "public.rules"}
    conn.execute("CALL omd_decision.define_ruleset(p_ruleset => %s)", (Jsonb(ruleset),))
    conn.execute("CALL omd_decision.activate_ruleset('r', 1)")
    conn.execute("CALL omd_decision.define_stage(%s)", (Jsonb(STAGE),))

    def run() -> None:
        row = conn.execute("CALL omd_decision.run_stage('s')").fetchone()
        assert row is not None, row

    return run


def task(conn: psycopg.Connection) -> Run:
    """A task is created, claimed and completed; 1,000 wait already."""
    dispatch.new_family(conn, "F")
    dispatch.create(conn, 1000)

    def run() -> None:
        conn.execute(
            "CALL omd_dispatch.create_task('F', 'T', p_criteria => %s)", (Jsonb({"CODE": "a"}),)
        )
        assert dispatch.claim(conn, 1)

    return run


def create(conn: psycopg.Connection) -> Run:
    """A task is created, and nobody claims it."""
    dispatch.new_family(conn, "F")

    def run() -> None:
        conn.execute(
            "CALL omd_dispatch.create_task('F', 'T', p_criteria => %s)", (Jsonb({"CODE": "a"}),)
        )

    return run


def publish(conn: psycopg.Connection) -> Run:
    """A run ends, and its events are published."""
    conn.execute("CALL omd_event.register_sink('s', 'PULL')")
    take = begin(conn)

    def run() -> None:
        take()
        event_overhead.publish(conn)

    return run


def heartbeat(conn: psycopg.Connection) -> Run:
    """The lease of one run is renewed."""
    conn.execute("CREATE TABLE IF NOT EXISTS public.target (omd_insert_module_instance_id bigint)")
    conn.execute("CALL omd.register_module('m_beat', 'HSTG', 'public.target')")
    row = conn.execute("CALL omd.begin_module('m_beat', p_lease => '1 day')").fetchone()
    assert row is not None and row[1] == "P", row

    def run() -> None:
        conn.execute("CALL omd.heartbeat(%s, '1 day')", (row[0],))

    return run


def ready(conn: psycopg.Connection) -> Run:
    """What could run now, after a step."""
    take = step(conn)

    def run() -> None:
        take()
        conn.execute("SELECT * FROM omd_report.ready_work").fetchall()

    return run


PATHS: dict[str, tuple[Callable[[psycopg.Connection], Run], int]] = {
    "begin": (begin, 1),
    "batch": (batch, 10),
    "step": (step, 2),
    "facts": (facts, 30),
    "stage": (stage, 10),
    "task": (task, 1),
    "create": (create, 1),
    "publish": (publish, 2),
    "heartbeat": (heartbeat, 1),
    "ready": (ready, 5),
}
"""Each path, and what its number of calls is divided by."""


def measure(runs: dict[str, Run], calls: int) -> dict[str, list[float]]:
    """Return the first decile in seconds of each part, by surrounding."""
    curves: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(PARTS):
        for name, run in runs.items():
            times = []
            for _ in range(calls // PARTS):
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
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
    with durable_server(options.dsn) as server:
        for path in options.path or PATHS:
            prepare, divisor = PATHS[path]
            with ExitStack() as stack:
                runs = {}
                for name in SURROUNDINGS:
                    dsn = new_database(server, f"omd_bench_{name}")
                    conn = stack.enter_context(
                        psycopg.connect(
                            dsn,
                            autocommit=True,
                            prepare_threshold=0,
                            options="-c synchronous_commit=off",
                        )
                    )
                    runs[name] = prepare(conn)
                    if name == "fresh":
                        continue
                    for _ in range(100):
                        runs[name]()
                    conn.execute("VACUUM (ANALYZE)")
                    if name == "sleeper":
                        sleeper = stack.enter_context(psycopg.connect(dsn))
                        sleeper.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                        sleeper.execute("SELECT FROM omd.module")
                show(path, measure(runs, options.calls // divisor))


if __name__ == "__main__":
    main()
