"""What each kind of work leaves on the disk, writes to the log, and asks of the server.

For each kind: by how much OMD's own tables and indexes grow, the write-ahead log, and the answers
that a client waits for. Rows of users are few and small; where there are any (one a delivery) they
count for the log only.

Run: ``python tests/benchmarks/costs.py [--dsn …] [--write]``. Without a DSN it starts an embedded
server of its own, which writes no whole pages to the log and waits for no disk: neither changes
what is counted. ``--write`` puts the table into docs/explanation/costs.md, between its marks; a
test compares its bytes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from bench import control, dispatch, lineage
from bench.delivery import Interface
from bench.server import a_server, new_database

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "costs.md"
MARKS = ("<!-- costs: begin -->", "<!-- costs: end -->")
SIZES = """
    SELECT c.oid::regclass::text, pg_total_relation_size(c.oid)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname ~ '^omd(_|$)' AND c.relkind = 'r'
"""
# The first page of each table and index is not the cost of a run.
WARM_UP = 50
PARTS = 10

Connection = psycopg.Connection[Any]
Unit = Callable[[], object]


@dataclass(frozen=True)
class Work:
    """A kind of work.

    Attributes:
        name: as the page has it.
        count: how often it is done.
        prepare: makes what it needs, and returns what does it once.
        less: the kind whose cost is no part of it.
    """

    name: str
    count: int
    prepare: Callable[[Connection, int], Unit]
    less: str | None = None


@dataclass(frozen=True)
class Cost:
    """What one unit costs: bytes that stay, bytes of the log, answers that are waited for."""

    size: float
    log: float
    answers: float


def a_run(conn: Connection, _: int) -> Unit:
    control.module(conn, "m_run")
    return partial(control.run, conn, "m_run")


def a_failed_run(conn: Connection, _: int) -> Unit:
    control.module(conn, "m_failed")

    def fail_and_repeat() -> None:
        instance = control.begin(conn, "m_failed")
        conn.execute("CALL omd.module_failure(%s, 'the network is gone')", (instance,))
        control.run(conn, "m_failed")

    return fail_and_repeat


def a_batch_of_ten(conn: Connection, _: int) -> Unit:
    conn.execute("CALL omd.register_batch('b_ten')")
    for number in range(10):
        control.module(conn, f"m_ten_{number}")
        conn.execute("CALL omd.add_module_to_batch('b_ten', %s)", (f"m_ten_{number}",))

    def run() -> None:
        row = conn.execute("CALL omd.begin_batch('b_ten')").fetchone()
        assert row is not None
        for number in range(10):
            control.run(conn, f"m_ten_{number}", row[0])
        conn.execute("CALL omd.batch_success(%s)", (row[0],))

    return run


def a_step(conn: Connection, _: int) -> Unit:
    lineage.make_topic(conn)
    return partial(lineage.step, conn)


def a_task(conn: Connection, _: int) -> Unit:
    dispatch.new_family(conn, "F")

    def perform() -> None:
        dispatch.create(conn, 1)
        assert len(dispatch.claim(conn, 1)) == 1

    return perform


class Customers(Interface):
    """An interface; each of its deliveries brings one new row."""

    number = 0

    def deliver(self) -> None:
        self.number += 1
        delivery_id = self.load()
        instance = self.validate(delivery_id)
        self.conn.execute(
            f"INSERT INTO wrk_{self.code}.delta_line (delivery_id, acm_record_ind, acm_audit_id, n)"
            f" VALUES ({delivery_id}, 'N', {instance}, {self.number})".encode()
        )
        self.conn.execute("CALL omd_delivery.apply_delta(%s, 1)", (delivery_id,))


def a_delivery(conn: Connection, _: int) -> Unit:
    return Customers(conn, "delivered").deliver


def a_facts_load(conn: Connection, count: int) -> Unit:
    customers = Customers(conn, "kept")
    conn.execute("CALL omd_facts.deploy('kept')")
    for _ in range(count):
        customers.deliver()

    def load() -> None:
        row = conn.execute("CALL omd_facts.load('kept')").fetchone()
        assert row is not None
        assert row[0] == "PERSISTED", row

    return load


WORKS = (
    Work("a run of a Module", 2000, a_run),
    Work("a run that fails, and its rollback", 2000, a_failed_run, "a run of a Module"),
    Work("a run of a Batch of ten Modules", 200, a_batch_of_ten),
    Work("a step of a topic", 2000, a_step),
    Work("a task, created, claimed and ended", 2000, a_task),
    Work("a delivery of one entity", 200, a_delivery),
    Work("a load of a delivery into the facts", 200, a_facts_load),
)
LAKE = "a run that commits a file to a lake table"


def sizes(conn: Connection) -> dict[str, int]:
    """Return the size of each table of OMD, with its indexes."""
    return dict(conn.execute(SIZES.encode()).fetchall())


@contextmanager
def answers(of: Connection) -> Iterator[list[int]]:
    """Count the answers that a connection waits for."""
    seen: list[int] = []
    with tempfile.NamedTemporaryFile("r") as file:
        of.pgconn.trace(file.fileno())
        try:
            yield seen
        finally:
            of.pgconn.untrace()
        seen.append(len(re.findall(r"\tB\t\d+\tReadyForQuery", Path(file.name).read_text())))


def vacuum(conn: Connection, before: dict[str, int]) -> None:
    """Do what autovacuum does meanwhile, so that what is dead makes room for what comes."""
    for name, bytes_now in sizes(conn).items():
        if bytes_now > before[name]:
            conn.execute(f"VACUUM {name}".encode())


def position(conn: Connection) -> int:
    row = conn.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone()
    assert row is not None
    return int(row[0])


def measure(conn: Connection, unit: Unit, count: int, of: Connection | None = None) -> Cost:
    """Do the work so often, and return what one costs."""
    for _ in range(WARM_UP):
        unit()
    with answers(of or conn) as seen:
        unit()
    before, log = sizes(conn), 0
    for _ in range(PARTS):
        start = position(conn)
        for _ in range(count // PARTS):
            unit()
        log += position(conn) - start
        vacuum(conn, before)
    grown = sum(sizes(conn).values()) - sum(before.values())
    return Cost(grown / count, log / count, seen[0])


def measure_all(dsn: str, most: int = 2000) -> dict[str, Cost]:
    """Return the cost of each kind of work, in a database that has done nothing yet.

    Each is done at most so often.
    """
    costs: dict[str, Cost] = {}
    for work in WORKS:
        with psycopg.connect(dsn, autocommit=True) as conn:
            count = min(most, work.count)
            unit = work.prepare(conn, count + WARM_UP + 1)
            cost = measure(conn, unit, count)
        if work.less:
            less = costs[work.less]
            cost = Cost(cost.size - less.size, cost.log - less.log, cost.answers - less.answers)
        costs[work.name] = cost
    return costs


def measure_lake(dsn: str, count: int) -> Cost:
    from bench.lake import Appender

    import omd

    folder = Path(tempfile.mkdtemp(prefix="omd-lake-"))
    warnings.filterwarnings("ignore")
    try:
        with (
            omd.connect(dsn, lease=None) as control,
            psycopg.connect(dsn, autocommit=True) as conn,
        ):
            control.calls.omd_lake.register_namespace("lake", str(folder))
            control.calls.omd.register_module(
                "m_lake",
                area_code="HSTG",
                table_code="lake.rows",
                table_type_code="HSTG",
                platform_code="SPARK",
                table_format_code="ICEBERG",
            )
            appender = Appender(control, "lake.rows", "m_lake")
            connection = control._link._connection
            assert connection is not None
            return measure(conn, appender.run, count, connection)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def table(empty: int, costs: dict[str, Cost]) -> str:
    """Return the costs as the page has them."""
    lines = [
        f"A new installation takes {empty / 2**20:.1f} MB.",
        "",
        "| what | bytes that stay | a million of them | bytes of the log | round trips |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {cost.size:,.0f} | {cost.size / 1000:,.2f} GB | {cost.log:,.0f}"
        f" | {cost.answers:.0f} |"
        for name, cost in costs.items()
    ]
    return "\n".join(lines)


def written(text: str) -> dict[str, int]:
    """Return the bytes that a page says, for each kind of work."""
    rows = re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|", text.partition(MARKS[0])[2], re.MULTILINE)
    return {name: int(size.replace(",", "")) for name, size in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dsn", help="a server; by default an embedded one is started")
    parser.add_argument("--most", type=int, default=2000, help="how often each is done")
    parser.add_argument("--write", action="store_true", help="write the page")
    given = parser.parse_args()
    with a_server(given.dsn, is_durable=False) as server:
        dsn = new_database(server, "omd_bench_costs")
        with psycopg.connect(dsn, autocommit=True) as conn:
            if not given.dsn:
                conn.execute("ALTER SYSTEM SET autovacuum = off")
                conn.execute("SELECT pg_reload_conf()")
            empty = sum(sizes(conn).values())
        costs = measure_all(dsn, given.most) | {LAKE: measure_lake(dsn, min(given.most, 100))}
    text = table(empty, costs)
    print(text)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(MARKS[0])
        _, _, tail = rest.partition(MARKS[1])
        PAGE.write_text(f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
