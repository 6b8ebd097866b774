"""A Batch of many small Modules: what a Module costs must not depend on how many there are.

* ``run``: ``run_batch`` of Batches of 10, 100 and 500 Modules, each with one small INSERT as its
  executable, the same number of Modules in each turn. Bound: a Module of the Batch of 500 costs at
  most 1.1 times what one of the Batch of 10 costs. The floor is the same INSERT, bare, with an
  INSERT and an UPDATE of a row beside it, in three transactions as a run has them.
* ``driver``: the same Batches from a client: ``begin_module`` and ``module_success`` of all members
  one after the other, within ``begin_batch`` and ``batch_success``. Bound: 1.1 too.
* ``open``: 500 begins of the members of one Batch Instance, all of which stay open, and then 500
  successes: the last fifty against the first fifty. Bound: 1.1.

What is shown is the time that a client waits, and the processor time of the server where the system
tells it; the ratios are those of the latter then. First deciles, in turns.

Run: ``python tests/benchmarks/batch_of_many.py [--dsn …] [--rounds 10] [--only open …]``. Without a
DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from bench.dispatch import processor_time

Connection = psycopg.Connection[Any]
SIZES = (10, 100, 500)
BOUND = 1.1


def prepare(conn: Connection) -> None:
    """Register the Batches, and make the tables of their Modules."""
    conn.execute("CREATE TABLE public.bare (id bigint PRIMARY KEY, state text NOT NULL)")
    conn.execute("CREATE TABLE public.written (v text, omd_insert_module_instance_id bigint)")
    for size in SIZES:
        batch = f"b{size}"
        conn.execute("CALL omd.register_batch(%s)", [batch])
        for n in range(size):
            code = f"{batch}_{n:03}"
            columns = "v text, omd_insert_module_instance_id bigint"
            conn.execute(f"CREATE TABLE public.{code} ({columns})".encode())
            conn.execute(
                "CALL omd.register_module(%s, 'HSTG', %s, p_executable => %s)",
                [code, f"public.{code}", insert(code)],
            )
            conn.execute("CALL omd.add_module_to_batch(%s, %s, %s)", [batch, code, n])
    conn.execute("VACUUM ANALYZE")


def insert(table: str) -> str:
    return (
        f"INSERT INTO public.{table} SELECT 'v', current_setting('omd.module_instance_id')::bigint"
    )


def run(conn: Connection, size: int) -> None:
    row = conn.execute("CALL omd.run_batch(%s)", [f"b{size}"]).fetchone()
    assert row is not None and row[1] == "S", row


def begin_batch(conn: Connection, size: int) -> int:
    row = conn.execute("CALL omd.begin_batch(%s)", [f"b{size}"], prepare=True).fetchone()
    assert row is not None and row[1] == "P", row
    return int(row[0])


def begin(conn: Connection, batch: int, code: str) -> int:
    row = conn.execute("CALL omd.begin_module(%s, %s)", [code, batch], prepare=True).fetchone()
    assert row is not None and row[1] == "P", row
    return int(row[0])


def succeed(conn: Connection, instance: int) -> None:
    conn.execute("CALL omd.module_success(%s)", [instance], prepare=True)


def drive(conn: Connection, size: int) -> None:
    batch = begin_batch(conn, size)
    for n in range(size):
        succeed(conn, begin(conn, batch, f"b{size}_{n:03}"))
    conn.execute("CALL omd.batch_success(%s)", [batch])


def bare(conn: Connection, size: int) -> None:
    """What a run writes, without OMD."""
    conn.execute("SELECT set_config('omd.module_instance_id', '1', FALSE)")
    statement = insert("written").encode()
    for _ in range(size):
        row = conn.execute(
            "INSERT INTO public.bare SELECT coalesce(max(id), 0) + 1, 'E' FROM public.bare"
            " RETURNING id",
            prepare=True,
        ).fetchone()
        assert row is not None
        conn.execute(statement, prepare=True)
        conn.execute("UPDATE public.bare SET state = 'S' WHERE id = %s", [row[0]], prepare=True)


def decile(times: list[float]) -> float:
    return sorted(times)[len(times) // 10]


class Watch:
    """Notes what calls take, of the client and of the server."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.waited: list[float] = []
        self.worked: list[float] = []

    def note(self, call: Callable[[], object], times: int) -> None:
        """Take a call; note what one of its ``times`` parts took."""
        worked, waited = processor_time(self._conn), time.perf_counter()
        call()
        self.waited.append((time.perf_counter() - waited) / times)
        self.worked.append((processor_time(self._conn) - worked) / times)

    @property
    def told(self) -> float:
        return decile(self.worked) or decile(self.waited)

    def __str__(self) -> str:
        return f"{1e6 * decile(self.waited):.0f} us ({1e6 * decile(self.worked):.0f} of the server)"


def measure(
    conn: Connection, name: str, call: Callable[[Connection, int], None], rounds: int
) -> None:
    """Take the Batches in turns, of each as many Modules, and compare what one of them costs."""
    watches = {size: Watch(conn) for size in SIZES}
    floor = Watch(conn)
    largest = max(SIZES)
    for n in range(rounds + 1):
        if n == 1:  # the first turn has made the plans
            watches, floor = {size: Watch(conn) for size in SIZES}, Watch(conn)
        for size in SIZES if n % 2 else reversed(SIZES):
            for _ in range(largest // size if size > 10 else 10):
                watches[size].note(lambda size=size: call(conn, size), size)  # type: ignore[misc]
        floor.note(lambda: bare(conn, 100), 100)
    each = ", ".join(f"of {size} {watch}" for size, watch in watches.items())
    ratio = watches[largest].told / watches[min(SIZES)].told
    print(f"{name}: a Module of a Batch {each}; bare {floor}")
    print(f"{name}: {largest} to {min(SIZES)}: ratio {ratio:.2f} (bound {BOUND})", flush=True)


def measure_open(conn: Connection, rounds: int) -> None:
    """Begin all members and leave them open, and then end all."""
    size, part = max(SIZES), max(SIZES) // 10
    parts = {(verb, end): Watch(conn) for verb in ("begin", "success") for end in ("first", "last")}
    for _ in range(rounds):
        batch = begin_batch(conn, size)
        codes = [f"b{size}_{n:03}" for n in range(size)]
        instances: list[int] = []

        def begins(some: list[str], batch: int = batch, into: list[int] = instances) -> None:
            into.extend(begin(conn, batch, code) for code in some)

        def ends(some: list[int]) -> None:
            for instance in some:
                succeed(conn, instance)

        parts["begin", "first"].note(lambda: begins(codes[:part]), part)  # noqa: B023
        begins(codes[part:-part])
        parts["begin", "last"].note(lambda: begins(codes[-part:]), part)  # noqa: B023
        parts["success", "first"].note(lambda: ends(instances[:part]), part)  # noqa: B023
        ends(instances[part:-part])
        parts["success", "last"].note(lambda: ends(instances[-part:]), part)  # noqa: B023
        conn.execute("CALL omd.batch_success(%s)", [batch])
    for verb in ("begin", "success"):
        first, last = parts[verb, "first"], parts[verb, "last"]
        print(
            f"open: {verb} of the first {part} of {size} {first}, of the last {last}, ratio"
            f" {last.told / first.told:.2f} (bound {BOUND})",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parts = ("run", "driver", "open")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    args = parser.parse_args()
    with durable_server(args.dsn) as server:
        dsn = new_database(server, "bench_batch_of_many")
        with psycopg.connect(dsn, autocommit=True) as conn:
            prepare(conn)
            if "run" in args.only:
                measure(conn, "run", run, args.rounds)
            if "driver" in args.only:
                measure(conn, "driver", drive, args.rounds)
            if "open" in args.only:
                measure_open(conn, args.rounds)


if __name__ == "__main__":
    main()
