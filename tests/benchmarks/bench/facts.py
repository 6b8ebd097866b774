"""Changes of facts: what they cost a load, and what a block costs.

Two interfaces have the same entity of ``--rows`` rows, and one keeps changes. In each round a load
changes ``--changed`` of them in both, and the two take turns to be first. Bound: 1.15.

A block of a number of keys, at the newest change and as of an earlier one, is read in full, and
in turns a join of the same keys, in a table with statistics, with a plain table of the same
columns. Bound: 5 at the newest change, and as of an earlier one from 1,000 keys on.

Run: ``python tests/benchmarks/facts.py [--dsn …]``. Without a DSN it starts an embedded,
durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import time

import psycopg
from bench.server import durable_server, new_database
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[tuple[object, ...]]


def model(interface: str, changes: bool) -> dict[str, object]:
    """Return a model of one entity with two contexts."""
    return {
        "interface": interface,
        "entities": [
            {
                "name": "orders",
                "key": ["nbr"],
                "attributes": [
                    {"name": "nbr", "type": "integer"},
                    {"name": "amount", "type": "integer"},
                    {"name": "status", "type": "text(10)"},
                    {"name": "note", "type": "text(40)"},
                    {"name": "ship", "type": "text(40)"},
                ],
                "facts": {
                    "contexts": [{"name": "shipping", "attributes": ["ship"]}],
                    **({"changes": True} if changes else {}),
                },
            }
        ],
    }


def set_up(conn: Connection, interface: str, changes: bool) -> None:
    """Deploy an interface and its agreement, which has the name of the interface."""
    conn.execute("CALL omd_delivery.deploy_model(%s)", (Jsonb(model(interface, changes)),))
    conn.execute(
        "CALL omd_delivery.register_agreement(%s, 't', p_interface_code => %s)",
        (interface, interface),
    )
    conn.execute("CALL omd_facts.deploy(%s)", (interface,))


def load(conn: Connection, interface: str, day: int, where: str, indicator: str) -> float:
    """Load a delta of the keys of this condition; return the seconds."""
    row = conn.execute(
        "SELECT omd_delivery.insert_delivery(%s, 'LVL',"
        " timestamptz '2020-01-01 00:00+00' + make_interval(days => %s))",
        (interface, day),
    ).fetchone()
    assert row is not None
    conn.execute(
        f"INSERT INTO wrk_{interface}.delta_orders SELECT %s, %s, 0, n, n + %s, 'open',"
        " md5(n::text), md5((n + 1)::text) FROM generate_series(1, 200000) AS n"
        f" WHERE {where}".encode(),
        (row[0], indicator, day),
    )
    conn.execute(
        "UPDATE omd_delivery.delivery SET delivery_status = 'ACCEPTED', verdict = 'ACCEPTED'"
        " WHERE delivery_id = %s",
        (row[0],),
    )
    conn.execute(
        "INSERT INTO omd_delivery.delta_queue (delivery_id, interface_id, snapshot_datetime,"
        " entity_ids, delivered_entity_ids) SELECT d.delivery_id, d.interface_id,"
        " d.snapshot_datetime, e.ids, e.ids FROM omd_delivery.delivery AS d, LATERAL (SELECT"
        " array_agg(entity_id) AS ids FROM omd_delivery.entity AS e"
        " WHERE e.interface_id = d.interface_id) AS e WHERE d.delivery_id = %s",
        (row[0],),
    )
    conn.execute("CHECKPOINT")
    start = time.perf_counter()
    answer = conn.execute("CALL omd_facts.load(%s)", (interface,)).fetchone()
    taken = time.perf_counter() - start
    assert answer is not None and answer[0] == "PERSISTED", answer
    return taken


def read(conn: Connection, floor: str, block: tuple[int, int]) -> tuple[float, float]:
    """Return the seconds of a block and of its floor, both in turns, and of each the best of eight.

    All columns of all rows are read. The driver prepares the queries meanwhile, and the plan is
    kept, as that of a transform is.
    """
    best = {"SELECT * FROM changes_kept.orders": 1e9, floor: 1e9}
    for _ in range(8):
        for query in best:
            for _ in range(2):
                with conn.transaction():
                    conn.execute("CALL omd_facts.show_changes('kept', %s, %s)", block)
                    start = time.perf_counter()
                    conn.execute(
                        f"SELECT count(q), sum(length(q::text)) FROM ({query}) AS q".encode()
                    )
                    best[query] = min(best[query], time.perf_counter() - start)
    block_seconds, floor_seconds = best.values()
    return block_seconds, floor_seconds


def join_of(count: int) -> str:
    """Return the floor: a join of so many keys with a plain table."""
    return f"SELECT p.* FROM public.keys_{count} AS k INNER JOIN public.plain AS p USING (acm_id)"


def newest(conn: Connection) -> int:
    """Return the newest change."""
    row = conn.execute("SELECT max(change_id) FROM omd_facts.change").fetchone()
    assert row is not None and isinstance(row[0], int)
    return row[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--changed", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with (
        durable_server(args.dsn) as server,
        psycopg.connect(new_database(server, "facts_changes"), autocommit=True) as conn,
    ):
        conn.execute("CALL omd_delivery.register_tenant('t')")
        for interface in ("plain", "kept"):
            set_up(conn, interface, interface == "kept")
            load(conn, interface, 0, f"n <= {args.rows}", "N")
            conn.execute("VACUUM ANALYZE")
        taken: dict[str, list[float]] = {"plain": [], "kept": []}
        step = args.rows // args.changed
        for day in range(1, args.rounds + 1):
            order = ["plain", "kept"] if day % 2 else ["kept", "plain"]
            for interface in order:
                where = f"n <= {args.rows} AND mod(n, {step}) = {day % step}"
                taken[interface].append(load(conn, interface, day, where, "A"))
        ratios = [k / p for k, p in zip(taken["kept"], taken["plain"], strict=True)]
        print(f"a load of {args.changed:,} of {args.rows:,} rows")
        print(f"  without changes  {statistics.median(taken['plain']):8.3f} s")
        print(f"  with changes     {statistics.median(taken['kept']):8.3f} s")
        print(f"  ratio            {statistics.median(ratios):8.2f}   (at most 1.15)")
        conn.execute(
            "CREATE TABLE public.plain AS SELECT nbr, amount, status, note, ship, acm_id,"
            " acm_start_dt, acm_audit_id FROM gdal_kept.orders"
        )
        conn.execute("ALTER TABLE public.plain ADD PRIMARY KEY (acm_id)")
        blocks: list[tuple[int, int, int]] = []
        day = args.rounds
        for count in (10, 100, 1_000, 10_000, 100_000, 200_000):
            if count > args.rows:
                continue
            day += 1
            before = newest(conn)
            load(conn, "kept", day, f"n <= {args.rows} AND mod(n, {args.rows // count}) = 0", "A")
            blocks.append((count, before, newest(conn)))
            conn.execute(
                f"CREATE TABLE public.keys_{count} AS SELECT acm_id FROM omd_facts.change_key"
                f" WHERE change_id = {newest(conn)}".encode()
            )
            conn.execute("ANALYZE")
            block, floor = read(conn, join_of(count), blocks[-1][1:])
            print(
                f"{count:>9,} keys, newest   {block * 1000:9.1f} ms, join {floor * 1000:9.1f} ms,"
                f" ratio {block / floor:6.2f}   (at most 5)"
            )
        # Now each of them but the last is as of an earlier change.
        for count, after, upto in blocks[:-1]:
            block, floor = read(conn, join_of(count), (after, upto))
            print(
                f"{count:>9,} keys, earlier  {block * 1000:9.1f} ms, join {floor * 1000:9.1f} ms,"
                f" ratio {block / floor:6.2f}   (at most 5 from 1,000 on)"
            )


if __name__ == "__main__":
    main()
