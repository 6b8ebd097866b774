"""Dispatch: what the server spends on tasks, and that it does not grow with history.

* ``create``: ``create_task`` against the bare INSERT of the same row, with the checks and indexes
  of its table and the notification of workers, sent in the same way, in turns: what a client waits
  for (bound 2) and, where the system tells it, the processor time of the server. Bare, the row
  knows its lane and its partition. So for a type without criteria, and for one with a key, whose
  bare statement writes the row of the key too. Then ``create_tasks`` in batches of 500 against
  single creates. Bound: 5 times.
* ``claim``: a claim and a completion of one task, and of batches of 100 and 500, in microseconds a
  task.
* ``history``: claims with ``--finished`` finished rows against claims with none, side by side: in a
  session that has made its plans while the tables were empty, and in a new one. The tables are
  never analysed. Bound: 1.2.
* ``snapshot``: 200,000 tasks are claimed while another session holds an old snapshot: the last
  tenth against the first. Bound: 1.5.
* ``exchange``: how long a purge of a partition with ``--finished`` rows holds its lock while claims
  go on. Bound: 50 ms.
* ``suspend``: 1 million pending tasks are suspended; until all are marked against one UPDATE of as
  many rows (bound: 2.5); and the rate of claims of another family meanwhile (bound: half).
* ``claimers``: 16 claimers, 100,000 tasks, members that come and go: each task once.

Run: ``python tests/benchmarks/dispatch.py [--dsn …] [--only history …]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from control_overhead import compare
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]


def prepare(server: str, name: str, family: str = "F", key: str = "{}") -> str:
    """Create a database with a family of one type and a member; return its connection string."""
    dsn = new_database(server, name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        new_family(conn, family, key)
    return dsn


def new_family(conn: Connection, family: str, key: str = "{}") -> None:
    group = f"G{family}"
    criteria = Jsonb({"CODE": "text"})
    conn.execute("CALL omd_dispatch.register_family(%s, %s, %s)", (family, criteria, key))
    conn.execute(
        "CALL omd_dispatch.register_task_type(%s, 'T', 'PYTHON', 'm:f', %s)", (family, group)
    )
    register(conn, f"w{family}", group)


def register(conn: Connection, member: str, group: str) -> None:
    conn.execute("CALL omd_dispatch.register_backend(%s, %s, '1 day')", (group, member))


def create(conn: Connection, tasks: int, family: str = "F", batch: int = 500) -> None:
    for begin in range(0, tasks, batch):
        many = [{"criteria": {"CODE": str(begin + n)}} for n in range(min(batch, tasks - begin))]
        conn.execute("CALL omd_dispatch.create_tasks(%s, 'T', %s)", (family, Jsonb(many)))


def claim(conn: Connection, limit: int, member: str = "wF") -> list[Any]:
    """Claim tasks and complete them; return their numbers."""
    claimed = conn.execute(
        "SELECT task_id, claim_token FROM omd_dispatch.claim_tasks(%s, %s)", (member, limit)
    ).fetchall()
    results = [{"task_id": i, "claim_token": t, "outcome": "S"} for i, t in claimed]
    row = conn.execute(
        "CALL omd_dispatch.complete_tasks(%s, %s)", (member, Jsonb(results))
    ).fetchone()
    assert row is not None and row[0] == [], row
    return [i for i, _ in claimed]


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def finish(conn: Connection, rows: int, code: str) -> None:
    """Insert finished rows as their owner, in the partitions that ``code`` says."""
    conn.execute(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome, func_code)"
        f" SELECT nextval('omd_dispatch.task_id'), {code}, 'T', 'GF', 5, now(), 'DONE', 1, now(),"
        f" now(), 'S', n::text FROM generate_series(1, {rows}) AS n".encode()
    )


BARE = """\
WITH task AS (
    INSERT INTO omd_dispatch.task_data_{family} (
        task_id, partition_code, task_type, lane, priority, execution_time, status, attempt,
        created_at, payload{columns}
    )
    VALUES (
        nextval('omd_dispatch.task_id'), {partition}, 'T', 'G', 5, clock_timestamp(), 'PENDING', 0,
        clock_timestamp(), $1::jsonb{values}
    )
    RETURNING task_id
){key}
SELECT t.task_id, omd_dispatch._tell_due('G') FROM task AS t"""
KEY = """,
held AS (
    INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)
    SELECT sha256(convert_to($2::text, 'UTF8')), 'K', 'T', $2::text, t.task_id FROM task AS t
    ON CONFLICT (key_hash) DO NOTHING
)"""


def processor_time(conn: Connection) -> float:
    """Return how many seconds the server has worked for a connection; 0 if nobody tells."""
    try:
        told = Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text()
    except OSError:
        return 0
    return int(told.split()[0]) / 1e9


def measure_single(conn: Connection, family: str, has_key: bool) -> None:
    """Compare the creation of one task with its bare INSERT."""
    row = conn.execute("SELECT omd_dispatch._partition_code('DAY_RING', 8, now())").fetchone()
    assert row is not None
    bare = BARE.format(
        family=family.lower(),
        partition=row[0],
        columns=", func_code, key_hash" if has_key else "",
        values=", $2::text, sha256(convert_to($2::text, 'UTF8'))" if has_key else "",
        key=KEY if has_key else "",
    ).encode()
    call = (
        f"CALL omd_dispatch.create_task('{family}', 'T', p_payload => $1::jsonb"
        f"{', p_criteria => jsonb_build_object($3::text, $2::text)' if has_key else ''})"
    ).encode()
    cursor, code = psycopg.RawCursor(conn), iter(range(10**9))
    spent: dict[bytes, list[float]] = {call: [], bare: []}

    def send(statement: bytes) -> None:
        values: list[Any] = [Jsonb({"n": 1})]
        if has_key:
            values.append(f"code {next(code)}")
        if has_key and statement is call:
            values.append("CODE")
        cursor.execute(statement, values, prepare=True)

    def turn(statement: bytes) -> None:
        start = processor_time(conn)
        for _ in range(100):
            send(statement)
        spent[statement].append(processor_time(conn) - start)

    a, b, ratio = compare(lambda _: turn(call), lambda _: turn(bare), 40, 1)
    cpu = {key: sorted(times)[len(times) // 10] / 100 for key, times in spent.items()}
    print(
        f"create_task {'with a key' if has_key else 'without criteria'}: {1e4 * a:.0f} us, its bare"
        f" INSERT {1e4 * b:.0f}, ratio {ratio:.2f} (bound 2)"
        + (
            f"; of the server {1e6 * cpu[call]:.0f} us and {1e6 * cpu[bare]:.0f},"
            f" ratio {cpu[call] / cpu[bare]:.2f}"
            if cpu[bare]
            else ""
        )
    )


def measure_create(server: str) -> None:
    with psycopg.connect(prepare(server, "bench_create"), autocommit=True) as conn:
        conn.execute("CALL omd_dispatch.register_family('N')")
        conn.execute("CALL omd_dispatch.register_task_type('N', 'T', 'PYTHON', 'm:f', 'G')")
        new_family(conn, "K", "{CODE}")
        measure_single(conn, "N", has_key=False)
        measure_single(conn, "K", has_key=True)
        single = seconds(lambda: create(conn, 500, batch=1)) / 500
        many = seconds(lambda: create(conn, 20_000)) / 20_000
    print(
        f"create: single {1e6 * single:.0f} us, in batches {1e6 * many:.0f} us a task,"
        f" ratio {single / many:.1f} (bound: at least 5)"
    )


def measure_claim(server: str) -> None:
    with psycopg.connect(prepare(server, "bench_claim"), autocommit=True) as conn:
        for batch, tasks in ((1, 500), (100, 20_000), (500, 20_000)):
            create(conn, tasks + 10 * batch)
            for _ in range(10):
                claim(conn, batch)
            took = [seconds(partial(claim, conn, batch)) for _ in range(tasks // batch)]
            median = statistics.median(took) / batch
            print(f"claim and completion in batches of {batch}: {1e6 * median:.0f} us a task")


def measure_history(server: str, finished: int) -> None:
    small, large = prepare(server, "bench_none"), prepare(server, "bench_many")
    with (
        psycopg.connect(small, autocommit=True) as none,
        psycopg.connect(large, autocommit=True) as old,
    ):
        for conn in (none, old):
            create(conn, 200)
            for _ in range(20):
                claim(conn, 10)
        finish(old, finished, "n % 8")
        old.execute("CHECKPOINT")
        for words, many in (("made while empty", old), ("made later", None)):
            with psycopg.connect(large, autocommit=True) as new:
                session = many or new
                for conn in (none, session):
                    create(conn, 100 * 41 * 10)
                a, b, ratio = compare(
                    lambda _, c=session: claim(c, 100), lambda _: claim(none, 100), 20, 20
                )
            print(
                f"claim with {finished:,} finished rows, plans {words}: {10 * 1e3 * a:.1f} us a"
                f" task, with none {10 * 1e3 * b:.1f}, ratio {ratio:.2f} (bound 1.2)"
            )


def measure_snapshot(server: str, tasks: int = 200_000) -> None:
    dsn = prepare(server, "bench_snapshot")
    with psycopg.connect(dsn) as old, psycopg.connect(dsn, autocommit=True) as conn:
        create(conn, tasks + 1000)
        for _ in range(10):
            claim(conn, 100)
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM omd_dispatch.task_conf_type_desc")
        took = [seconds(partial(claim, conn, 100)) for _ in range(tasks // 100)]
    tenth = len(took) // 10
    first, last = sum(took[:tenth]), sum(took[-tenth:])
    print(
        f"claims beside an old snapshot: first tenth {1e6 * first / tenth / 100:.1f} us a task,"
        f" last tenth {1e6 * last / tenth / 100:.1f}, ratio {last / first:.2f} (bound 1.5)"
    )


def beside(dsn: str, stop: threading.Event, times: list[float], member: str, batch: int) -> None:
    """Claim and complete until told to stop; note when each claim began and how long it took."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        while not stop.is_set():
            times.append(time.perf_counter())
            if not claim(conn, batch, member):
                raise AssertionError("there were too few tasks")


def measure_exchange(server: str, finished: int) -> None:
    dsn = prepare(server, "bench_exchange")
    with psycopg.connect(dsn, autocommit=True) as conn:
        now = conn.execute("SELECT omd_dispatch._partition_code('DAY_RING', 8, now())").fetchone()
        assert now is not None
        code = (now[0] + 4) % 8
        finish(conn, finished, str(code))
        conn.execute("CHECKPOINT")
        create(conn, 50_000)
        stop, times = threading.Event(), list[float]()
        thread = threading.Thread(target=beside, args=(dsn, stop, times, "wF", 10))
        thread.start()
        time.sleep(1)
        table = "omd_dispatch.task_data_f"
        held = []
        for _ in range(100):
            try:
                with conn.transaction():
                    conn.execute("SET LOCAL lock_timeout = '50ms'")
                    conn.execute(f"LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE".encode())
                    start = time.perf_counter()
                    row = conn.execute(
                        "SELECT omd_dispatch._exchange_partition('F', %s)", (code,)
                    ).fetchone()
                    assert row is not None and row[0]
                held.append(time.perf_counter() - start)
                break
            except psycopg.errors.LockNotAvailable:
                time.sleep(0.05)
        stop.set()
        thread.join()
    print(
        f"exchange of a partition with {finished:,} rows holds its lock for {1e3 * held[0]:.0f} ms"
        " (bound 50)"
    )


def measure_suspend(server: str, tasks: int = 1_000_000) -> None:
    dsn = prepare(server, "bench_suspend")
    with psycopg.connect(dsn, autocommit=True) as conn:
        new_family(conn, "OTHER")
        create(conn, tasks, batch=5000)
        create(conn, 60_000, "OTHER", 5000)
        conn.execute("VACUUM")
        conn.execute("CHECKPOINT")
        stop, times = threading.Event(), list[float]()
        thread = threading.Thread(target=beside, args=(dsn, stop, times, "wOTHER", 10))
        thread.start()
        time.sleep(5)
        begin = time.perf_counter()
        conn.execute("CALL omd_dispatch.suspend('F')")
        assert claim(conn, 100) == []
        held = time.perf_counter() - begin
        while True:
            row = conn.execute("CALL omd_dispatch.maintain()").fetchone()
            assert row is not None
            if not row[2]:
                break
        end = time.perf_counter()
        stop.set()
        thread.join()
        before = sum(begin - 5 < t < begin for t in times) / 5
        during = sum(begin < t < end for t in times) / (end - begin)
        row = conn.execute(
            "SELECT count(*) FROM omd_dispatch.task_data_f WHERE suspension_id IS NULL"
        ).fetchone()
        assert row is not None and row[0] == 0, row
        one = seconds(lambda: conn.execute("UPDATE omd_dispatch.task_data_f SET suspension_id = 0"))
    print(f"a suspension of {tasks:,} tasks holds after {1e3 * held:.0f} ms")
    print(
        f"all are marked after {end - begin:.1f} s, one UPDATE takes {one:.1f} s, ratio"
        f" {(end - begin) / one:.2f} (bound 2.5)"
    )
    print(f"claims of another family meanwhile: {during / before:.2f} of before (bound 0.5)")


def measure_claimers(server: str, tasks: int = 100_000, claimers: int = 16) -> None:
    dsn = prepare(server, "bench_claimers", key="{CODE}")
    started: Counter[int] = Counter()
    errors: list[Exception] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                for turn in range(tasks):
                    name = f"w{number}_{turn // 20}"
                    if turn % 20 == 0:
                        register(conn, name, "GF")
                    ids = claim(conn, chance.randint(1, 200), name)
                    started.update(ids)
                    if turn % 20 == 19:
                        conn.execute("CALL omd_dispatch.leave_backend(%s)", (name,))
                    if not ids:
                        return
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    with psycopg.connect(dsn, autocommit=True) as conn:
        create(conn, tasks, batch=1000)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(claimers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        row = conn.execute(
            "SELECT count(*) FILTER (WHERE status = 'DONE' AND attempt = 1),"
            " (SELECT count(*) FROM omd_dispatch.mutex) FROM omd_dispatch.task_data_f"
        ).fetchone()
    assert not errors, errors
    assert row == (tasks, 0), row
    assert len(started) == tasks and set(started.values()) == {1}
    print(f"{claimers} claimers, {tasks:,} tasks, members that come and go: each task once")


def main() -> None:
    """Measure and print."""
    parts = ("create", "claim", "history", "snapshot", "exchange", "suspend", "claimers")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--finished", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    args = parser.parse_args()
    sized = {"history": measure_history, "exchange": measure_exchange}
    plain = {
        "create": measure_create,
        "claim": measure_claim,
        "snapshot": measure_snapshot,
        "suspend": measure_suspend,
        "claimers": measure_claimers,
    }
    with durable_server(args.dsn) as server:
        for part in args.only:
            if part in sized:
                sized[part](server, args.finished)
            else:
                plain[part](server)


if __name__ == "__main__":
    main()
