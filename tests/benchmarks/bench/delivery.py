"""Delivery: what the server spends on a delta and on a begin, and that history costs nothing.

* ``apply``: ``apply_delta`` with a delta of 1 % over ``--rows`` rows (nine in ten change a row, the
  others are new or delete one) against a bare UPDATE and INSERT into a table like that of LVL.
  Bound: 3 times.
* ``twice``: a delta of twice as many rows. Bound: 2.2 times.
* ``versions``: a delta over 10,000 keys with ``--versions`` closed versions each against one over
  keys without any, side by side. Bound: 1.1.
* ``begins``: 64 simultaneous calls of ``begin_delivery``, ``--turns`` times: one RUN each time.

Run: ``python tests/benchmarks/delivery_overhead.py [--dsn …] [--only apply …]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]
OPEN = "'9999-12-31 00:00:00+00'"
COLUMNS = {"a": "text(30)", "b": "text(30)", "c": "text(30)", "x": "numeric(12,2)", "y": "date"}
NAMES = f"n, {', '.join(COLUMNS)}"
ROUNDS = 9
SESSIONS = 64


class Interface:
    """An interface of one entity, ``line``, with the agreement of the same name."""

    def __init__(self, conn: Connection, code: str) -> None:
        self.conn, self.code = conn, code
        self.time = datetime(2020, 1, 1, tzinfo=timezone.utc)
        attributes = {"n": "bigint", **COLUMNS}
        model = {
            "interface": code,
            "entities": [
                {
                    "name": "line",
                    "key": ["n"],
                    "attributes": [{"name": n, "type": t} for n, t in attributes.items()],
                }
            ],
        }
        conn.execute("CALL omd_delivery.deploy_model(%s)", (Jsonb(model),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement(%s, 't', %s)", (code, code))

    def answer(self, query: str, *parameters: Any) -> Any:
        row = self.conn.execute(query.encode(), parameters).fetchone()
        assert row is not None
        return row

    def load(self) -> int:
        """Create a delivery, and say that its data is there."""
        self.time += timedelta(days=1)
        delivery_id, _ = self.answer(
            """CALL omd_delivery.create_delivery(%s, %s, '{"line": "DELTA"}')""",
            self.code,
            self.time,
        )
        self.conn.execute("CALL omd_delivery.report_loaded(%s)", (delivery_id,))
        return int(delivery_id)

    def validate(self, delivery_id: int) -> int:
        """Begin a run and pass both stages; return the Module Instance."""
        outcome, _, _, instances, _ = self.answer(
            "CALL omd_delivery.begin_delivery(%s)", delivery_id
        )
        assert outcome == "RUN", outcome
        for stage in (1, 2):
            plan = self.answer("SELECT omd_delivery.validation_plan(%s, %s)", delivery_id, stage)[0]
            measures = {
                "rows_delivered": 1,
                "rows_skipped": 0,
                "violations": {
                    c["constraint"]: {"rows": 0} for c in plan["entities"][0]["constraints"]
                },
            }
            self.conn.execute(
                "CALL omd_delivery.register_violations(%s, 1, %s, 'line', %s)",
                (delivery_id, stage, Jsonb(measures)),
            )
            self.conn.execute("CALL omd_delivery.stage_verdict(%s, 1, %s)", (delivery_id, stage))
        return int(instances["line"])

    def write(self, select: str) -> int:
        """Write a delta: the query gives indicator and number of each row."""
        delivery_id = self.load()
        instance = self.validate(delivery_id)
        self.conn.execute(
            f"INSERT INTO wrk_{self.code}.delta_line"
            f" SELECT {delivery_id}, i, {instance}, n, 'alpha {delivery_id}', 'beta ' || n,"
            f" 'gamma', n / 7.0, DATE '2020-01-01' + (n % 1000)::integer, n, {delivery_id}"
            f" FROM ({select}) AS s (i, n)".encode()
        )
        self.conn.execute(f"ANALYZE wrk_{self.code}.delta_line".encode())
        return delivery_id

    def apply(self, delivery_id: int) -> float:
        """Apply the delta of a delivery; return the seconds that it took."""
        start = time.perf_counter()
        self.conn.execute("CALL omd_delivery.apply_delta(%s, 1)", (delivery_id,))
        return time.perf_counter() - start

    def fill(self, rows: int) -> None:
        self.apply(self.write(f"SELECT 'N', n FROM generate_series(1, {rows}) AS n"))
        self.settle()

    def settle(self) -> None:
        """Do what time does: the server's maintenance must not fall on one side alone."""
        self.conn.execute(f"VACUUM ANALYZE lvl_{self.code}.line".encode())
        self.conn.execute("CHECKPOINT")


def bare(conn: Connection, code: str, delivery_id: int) -> float:
    """Do what must be done for a delta, to the table ``bare.line``; return the seconds."""
    delta = f"wrk_{code}.delta_line"
    start = time.perf_counter()
    with conn.transaction():
        conn.execute(
            f"UPDATE bare.line AS l SET acm_end_dt = '2019-01-01' FROM {delta} AS d"
            f" WHERE d.delivery_id = {delivery_id} AND l.n = d.n AND l.acm_end_dt = {OPEN}".encode()
        )
        conn.execute(
            f"INSERT INTO bare.line ({NAMES}, acm_start_dt, acm_end_dt, acm_record_ind,"
            f" acm_audit_id, acm_hash_a, acm_hash_b) SELECT {NAMES}, now(), {OPEN}, acm_record_ind,"
            f" acm_audit_id, acm_hash_a, acm_hash_b FROM {delta}"
            f" WHERE delivery_id = {delivery_id}".encode()
        )
    return time.perf_counter() - start


def make_bare(conn: Connection, code: str) -> None:
    """Make a table like that of LVL, with its rows, partitions and indexes."""
    conn.execute(
        f"""
        CREATE SCHEMA bare;
        CREATE TABLE bare.line (LIKE lvl_{code}.line INCLUDING ALL) PARTITION BY LIST (acm_end_dt);
        CREATE TABLE bare.open PARTITION OF bare.line FOR VALUES IN ({OPEN});
        CREATE TABLE bare.closed PARTITION OF bare.line DEFAULT;
        CREATE UNIQUE INDEX ON bare.open (n);
        CREATE INDEX ON bare.closed (n);
        INSERT INTO bare.line SELECT * FROM lvl_{code}.line;
        """.encode()
    )
    conn.execute("VACUUM ANALYZE bare.line")


def changes(rows: int, share: int, turn: int) -> str:
    """Return a delta of every share-th row: most change, some are new or go."""
    first = turn % share + 1
    some = f"SELECT n FROM generate_series({first}, {rows}, {share}) AS n"
    return (
        f"SELECT CASE n / {share} % 20 WHEN 0 THEN 'R' ELSE 'A' END, n FROM ({some}) AS c"
        f" UNION ALL SELECT 'N', {rows} + n + {rows} * {turn}::bigint FROM ({some}) AS c"
        f" WHERE n / {share} % 20 = 1"
    )


def measure_apply(server: str, rows: int) -> None:
    with psycopg.connect(new_database(server, "bench_apply"), autocommit=True) as conn:
        line = Interface(conn, "lines")
        line.fill(rows)
        make_bare(conn, "lines")
        ours: list[float] = []
        theirs: list[float] = []
        for turn in range(ROUNDS):
            delivery_id = line.write(changes(rows, 100, turn))
            sides = [
                lambda d=delivery_id: ours.append(line.apply(d)),
                lambda d=delivery_id: theirs.append(bare(conn, "lines", d)),
            ]
            for side in sides if turn % 2 else reversed(sides):
                side()
            line.settle()
    ratio = statistics.median(a / b for a, b in zip(ours[1:], theirs[1:], strict=True))
    print(
        f"apply_delta of 1 % of {rows:,} rows: {statistics.median(ours[1:]):.2f} s, UPDATE and"
        f" INSERT {statistics.median(theirs[1:]):.2f} s, ratio {ratio:.2f} (bound 3)"
    )


def measure_twice(server: str, rows: int) -> None:
    with psycopg.connect(new_database(server, "bench_twice"), autocommit=True) as conn:
        line = Interface(conn, "lines")
        line.fill(rows)
        once: list[float] = []
        twice: list[float] = []
        for turn in range(2 * ROUNDS):
            share, times = ((100, once), (50, twice))[turn % 2]
            times.append(line.apply(line.write(changes(rows, share, turn))))
            line.settle()
    ratio = statistics.median(b / a for a, b in zip(once[1:], twice[1:], strict=True))
    print(
        f"apply_delta of 1 % of {rows:,} rows: {statistics.median(once):.2f} s, of 2 %"
        f" {statistics.median(twice):.2f} s, ratio {ratio:.2f} (bound 2.2)"
    )


def measure_versions(server: str, versions: int, keys: int = 10_000) -> None:
    with psycopg.connect(new_database(server, "bench_versions"), autocommit=True) as conn:
        old, new = Interface(conn, "old"), Interface(conn, "new")
        for line in (old, new):
            line.fill(keys)
        conn.execute(
            f"INSERT INTO lvl_old.line SELECT {NAMES}, acm_start_dt - v * interval '1 day',"
            " acm_start_dt - (v - 1) * interval '1 day', 'A', 1, 1, 1"
            f" FROM lvl_old.line CROSS JOIN generate_series(1, {versions}) AS v".encode()
        )
        old.settle()
        times: dict[str, list[float]] = {"old": [], "new": []}
        for turn in range(4 * ROUNDS):
            sides = [old, new] if turn % 2 else [new, old]
            for line in sides:
                delivery_id = line.write(f"SELECT 'A', n FROM generate_series(1, {keys}, 4) AS n")
                times[line.code].append(line.apply(delivery_id))
    ratio = statistics.median(a / b for a, b in zip(times["old"], times["new"], strict=True))
    print(
        f"apply_delta over keys with {versions:,} closed versions:"
        f" {1e3 * statistics.median(times['old']):.1f} ms, without"
        f" {1e3 * statistics.median(times['new']):.1f} ms, ratio {ratio:.2f} (bound 1.1)"
    )


def measure_begins(server: str, turns: int) -> None:
    dsn = new_database(server, "bench_begins")
    barrier = threading.Barrier(SESSIONS + 1)
    answers: list[str] = []
    begin = "CALL omd_delivery.begin_delivery(%s)"
    now = [0]

    def work() -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                while True:
                    barrier.wait()
                    if not now[0]:
                        return
                    row = conn.execute(begin, now).fetchone()
                    answers.append(row[0] if row else "")
                    barrier.wait()
        except BaseException:
            barrier.abort()
            raise

    with psycopg.connect(dsn, autocommit=True) as conn:
        line = Interface(conn, "lines")
        threads = [threading.Thread(target=work) for _ in range(SESSIONS)]
        for thread in threads:
            thread.start()
        all_answers: Counter[str] = Counter()
        for _ in range(turns):
            now[0] = line.load()
            answers.clear()
            barrier.wait()
            barrier.wait()
            assert answers.count("RUN") == 1 and set(answers) <= {"RUN", "WAIT", "RUNNING"}, answers
            all_answers.update(answers)
            conn.execute("CALL omd_delivery.cancel_delivery(%s, 'enough')", now)
        now[0] = 0
        barrier.wait()
        for thread in threads:
            thread.join()
    counts = dict(all_answers)
    print(f"{SESSIONS} simultaneous begins, {turns:,} times: {counts}, one RUN each time")


def main() -> None:
    """Measure and print."""
    parts = ("apply", "twice", "versions", "begins")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--versions", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    args = parser.parse_args()
    with durable_server(args.dsn) as server:
        for part in args.only:
            match part:
                case "apply":
                    measure_apply(server, args.rows)
                case "twice":
                    measure_twice(server, args.rows)
                case "versions":
                    measure_versions(server, args.versions)
                case "begins":
                    measure_begins(server, args.turns)


if __name__ == "__main__":
    main()
