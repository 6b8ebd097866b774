"""Decision in the database: what it costs to form cycles, and to run a stage.

* ``cycles``: ``omd_decision.cycles`` over three links (5, 2.5 and 1 records a key, ``--keys`` keys)
  against a PL/pgSQL loop over one ordered cursor of the same records that counts keys. Bound: 3
  times. The loop also without the records as JSON, for comparison.
* ``rejects``: the same with a key that no primary record has in every hundredth place.
* ``single``: the same where the third link is no array.
* ``run``: ``run_stage`` with a ruleset that counts its arrays, keep NONE, against ``cycles``.
  Bound: 2 times.

What is compared is measured in turns, ``--rounds`` times; a ratio is that of the medians. It is CPU
time of the backend where /proc tells it, else elapsed time.

Run: ``python tests/benchmarks/decision_overhead.py [--dsn …] [--keys 200000]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

import psycopg
from _server import durable_server, new_database
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]

LOOP = """
    DO $$
    DECLARE
        r record;
        v_last integer;
        v_keys integer := 0;
    BEGIN
        FOR r IN
            SELECT u.* FROM (
                SELECT k, 1 AS l, id{record} FROM app.l1 AS s
                UNION ALL SELECT k, 2, id{record} FROM app.l2 AS s
                UNION ALL SELECT k, 3, id{record} FROM app.l3 AS s
            ) AS u
            ORDER BY u.k, u.l, u.id
        LOOP
            IF r.k IS DISTINCT FROM v_last THEN
                v_keys := v_keys + 1;
                v_last := r.k;
            END IF;
        END LOOP;
    END
    $$
"""


def prepare(conn: Connection, keys: int) -> None:
    """Create the links, in no order of their keys, the rulesets and the stages."""
    conn.execute("SET client_min_messages = error")
    conn.execute("CREATE SCHEMA app")
    for link, rows, value in (
        (1, 5 * keys, "'v' || g"),
        (2, 5 * keys // 2, "g * 1.5"),
        (3, keys, "g"),
    ):
        conn.execute(
            f"CREATE TABLE app.l{link} AS SELECT g::bigint AS id,"
            f" ((g::bigint * 7919) % {keys})::integer AS k, {value} AS v"
            f" FROM generate_series(1, {rows}) AS g; ANALYZE app.l{link}".encode()
        )
    conn.execute(
        "CREATE TABLE app.l4 AS SELECT id, CASE WHEN id % 100 = 0 THEN -k ELSE k END AS k, v"
        " FROM app.l2; ANALYZE app.l4;"
        "CREATE TABLE app.out (a integer, b integer, omd_insert_module_instance_id bigint);"
        "CREATE FUNCTION app.count_arrays(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$"
        "SELECT jsonb_build_object('out', jsonb_build_object('a', jsonb_array_length(p -> 'l1'),"
        " 'b', jsonb_array_length(p -> 'l2'))) $$"
    )
    conn.execute(
        "CALL omd_decision.define_ruleset(%s, p_activate => TRUE)",
        [Jsonb({"ruleset": "f", "kind": "FUNCTION", "content": "app.count_arrays"})],
    )
    for stage, second, third in (("all", 2, True), ("single", 2, False), ("rejects", 4, True)):
        links: list[dict[str, Any]] = [
            {
                "name": f"l{n}",
                "source": f"app.l{source}",
                "arrival": "id",
                "array": array,
                "reject": {"on": ["LEFTOVER", "KEY_MISMATCH"]},
            }
            for n, source, array in ((1, 1, True), (2, second, True), (3, 3, third))
        ]
        document = {
            "stage": stage,
            "mode": "KEY",
            "keys": [{"column": "k"}],
            "ruleset": "f",
            "keep": "NONE",
            "links": links,
            "outputs": [{"name": "out", "table": "app.out"}],
        }
        conn.execute("CALL omd_decision.define_stage(%s)", [Jsonb(document)])


def spent(pid: int) -> float:
    """Return the CPU seconds of a backend, or the time where nobody tells them."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return time.perf_counter()
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(conn: Connection, rounds: int) -> dict[str, float]:
    """Measure all in turns; return the median of each."""
    statements = {
        "loop": LOOP.format(record=", to_jsonb(s) AS record"),
        "bare loop": LOOP.format(record=""),
        **{
            name: f"SELECT count(*), count(params) FROM omd_decision.cycles('{name}')"
            for name in ("all", "single", "rejects")
        },
        "run": "CALL omd_decision.run_stage('all')",
    }
    found: dict[str, list[float]] = {name: [] for name in statements}
    pid = conn.info.backend_pid
    for _ in range(rounds):
        for name, statement in statements.items():
            conn.execute("TRUNCATE app.out")
            before = spent(pid)
            conn.execute(statement.encode())
            found[name].append(spent(pid) - before)
    return {name: statistics.median(times) for name, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--dsn", help="a server to measure on, as a superuser")
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with durable_server(options.dsn) as server:
        dsn = new_database(server, "omd_bench_decision")
        with psycopg.connect(dsn, autocommit=True) as conn:
            prepare(conn, options.keys)
            took = measure(conn, options.rounds)
    for name, seconds in took.items():
        print(f"{name:10} {seconds:8.2f} s")
    for name, one, other, bound in (
        ("cycles", "all", "loop", 3.0),
        ("rejects", "rejects", "loop", 3.0),
        ("single", "single", "loop", 3.0),
        ("run", "run", "all", 2.0),
    ):
        ratio = took[one] / took[other]
        verdict = "ok" if ratio <= bound else "MISSED"
        print(f"{name:10} {ratio:8.2f} times (bound {bound:g}) {verdict}")
    print(f"{'cycles':10} {took['all'] / took['bare loop']:8.2f} times the loop without records")


if __name__ == "__main__":
    main()
