"""Facts beside a Data Vault of dbt, and beside plain tables: TPC-H is loaded, read and written.

* Loads: all eight tables, and then 1 % of their rows: 0.8 % changed, 0.1 % new, 0.1 % deleted.
  ``CALL omd_facts.load`` beside a dbt-postgres 1.9 project (sides/vault.py) that reads the same
  delta tables; of that, only the execution times of its models count. Both must have the same
  current rows. Bound: half the time, each.
* Reads: orders with the keys of their customers, beside the same from that Data Vault (half the
  time); and beside a plain table with the same columns: a prepared point query (1.5 times), an
  aggregate of two attributes (2 times), COPY of all columns (3 times). As of the traveling now: the
  aggregate (2 times the current view's), the point query (2.5 times). All of it again with 20
  closed versions of each key (1.1 times what it took before).
* As-of reads of entities of two and three contexts, with six versions of each key: at the traveling
  now (2 times the current view's), at a moment after which a tenth of the keys has changed (2.5
  times), and at an old one, after which all have: there a closed row is looked up for each context
  that is named. Beside them the floor, a join of all contexts by their intervals. The history of
  one key reads as many buffers where there are ten times as many keys (1.5 times: trees grow).
* Writes: transactions of one UPDATE of one row, beside those of the plain table (3 times), and
  10,000 rows in one UPDATE (per row no longer than one by one).

The sides take turns, several rounds, each in a database of its own; medians of the ratios are
shown, of elapsed time and, for loads, of the processor time of the server.

Run: ``python tests/benchmarks/peers/vaults.py [--scale 1] [--rounds 3]
[--only loads|reads|contexts]``. dbt is installed from peers/locks. It starts an embedded, durable
server of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import peers
from bench.peers import SIDES
from bench.server import a_server, copy_database, new_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TABLES: dict[str, dict[str, Any]] = json.loads((SIDES / "tpch_tables.json").read_text())
COMMENTS = {
    name: next(c for c in table["columns"] if c.endswith("_comment"))
    for name, table in TABLES.items()
}
LOADS = ("all rows", "1 % of them")
VERSIONS = 20
PARTS = (
    10  # a version of all keys comes in so many deltas, as tables are rarely changed all at once
)
CLOCK = os.sysconf("SC_CLK_TCK")


def model() -> dict[str, Any]:
    """Return the model of the eight tables."""
    return {
        "interface": "tpch",
        "entities": [
            {
                "name": name,
                "key": table["key"],
                "attributes": [{"name": n, "type": t} for n, t in table["columns"].items()],
                "relationships": [
                    {"name": f"of_{parent}", "parent": parent, "columns": columns}
                    for parent, columns in table["parents"].items()
                ],
            }
            for name, table in TABLES.items()
        ],
    }


def prepare(dsn: str, folder: Path, scale: float) -> None:
    """Fill the source tables, and deploy the model with its facts."""
    program = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [program, "csv", f"-s{scale:g}", f"--output-dir={folder}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA src")
        for name, table in TABLES.items():
            columns = ", ".join(f"{n} {t}" for n, t in table["columns"].items())
            conn.execute(f"CREATE TABLE src.{name} ({columns})".encode())
            with (
                (folder / f"{name}.csv").open("rb") as file,
                conn.cursor().copy(f"COPY src.{name} FROM STDIN (FORMAT csv, HEADER)") as copy,
            ):
                while block := file.read(1 << 20):
                    copy.write(block)
        conn.execute("CALL omd_delivery.deploy_model(p_model => %s)", (Jsonb(model()),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement('a', 't', 'tpch')")
        conn.execute("CALL omd_delivery.register_agreement('desk', 't', 'tpch', 'GDAL')")
        conn.execute("CALL omd_facts.deploy('tpch')")
        for day, _ in enumerate(LOADS, 1):
            at = f"2024-01-{day:02} 00:00:00+00"
            queue(conn, at, lambda name, day=day: delta(name, day))
        conn.execute("VACUUM (ANALYZE, FREEZE)")


def delta(name: str, day: int) -> str:
    """Return the query of the delta of a table: indicator, zero, and its columns."""
    columns, key = TABLES[name]["columns"], TABLES[name]["key"][0]
    if day == 1:
        return f"SELECT 'N', 0, {', '.join(columns)} FROM src.{name}"
    place = f"abs(hashtext({key}::text)) % 1000"
    values = {n: n for n in columns}
    values[COMMENTS[name]] = f"CASE WHEN {place} < 8 THEN 'changed' ELSE {COMMENTS[name]} END"
    values[key] = f"CASE WHEN {place} = 9 THEN {key} + 1000000000 ELSE {key} END"
    # A part that is new names itself in its new suppliers' rows, an order in its lines.
    return (
        f"SELECT CASE WHEN {place} < 8 THEN 'A' WHEN {place} = 8 THEN 'R' ELSE 'N' END, 0,"
        f" {', '.join(values.values())} FROM src.{name} WHERE {place} <= 9"
    )


def queue(
    conn: psycopg.Connection[Any],
    at: str,
    of: Callable[[str], str | None],
    interface: str = "tpch",
    tables: dict[str, dict[str, Any]] = TABLES,
) -> None:
    """Put a delta of all tables into the queue, as an accepted delivery would."""
    row = conn.execute("SELECT omd_delivery.insert_delivery('a', 'LVL', %s)", [at]).fetchone()
    assert row is not None
    names = []
    for name, table in tables.items():
        query = of(name)
        if query is not None:
            names.append(name)
            columns = ", ".join(table["columns"])
            conn.execute(
                f"INSERT INTO wrk_{interface}.delta_{name} (delivery_id, acm_record_ind,"
                f" acm_audit_id, {columns}) SELECT {row[0]}, * FROM ({query}) AS q".encode()
            )
            conn.execute(f"ANALYZE wrk_{interface}.delta_{name}".encode())
    conn.execute(
        "UPDATE omd_delivery.delivery SET delivery_status = 'ACCEPTED', verdict = 'ACCEPTED'"
        " WHERE delivery_id = %s",
        [row[0]],
    )
    conn.execute(
        "INSERT INTO omd_delivery.delta_queue (delivery_id, interface_id, snapshot_datetime,"
        " entity_ids, delivered_entity_ids) SELECT %s, i.interface_id, %s, e.ids, e.ids"
        " FROM omd_delivery.interface AS i CROSS JOIN (SELECT array_agg(entity_id) AS ids"
        " FROM omd_delivery.entity WHERE entity_code = ANY(%s)) AS e",
        [row[0], at, names],
    )


def processors(conn: psycopg.Connection[Any]) -> float:
    """Return the processor seconds of the server until now, with those of sessions that ended."""
    row = conn.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    parent = Path(f"/proc/{row[0]}/stat").read_text().rpartition(") ")[2].split()[1]
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, told = stat.parent.name, stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if pid == parent:
            total += sum(map(int, told[11:15]))
        elif told[1] == parent:
            total += sum(map(int, told[11:13]))
    return total / CLOCK


@contextmanager
def copied(server: str, template: str, name: str) -> Iterator[str]:
    """Yield a copy of a database, which is removed afterwards."""
    copy = copy_database(server, name, template)
    try:
        yield copy
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def settle(conn: psycopg.Connection[Any]) -> None:
    """Write what is dirty, so that nobody pays for another one's pages."""
    conn.execute("CHECKPOINT")


class Vault:
    """The process of the peer."""

    def __init__(self, python: Path, folder: Path, dsn: str) -> None:
        self._process = subprocess.Popen(
            [python, "-I", SIDES / "vault.py", folder, dsn],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(folder), "DO_NOT_TRACK": "1"},
        )

    def load(self, delivery: int, day: int) -> float:
        """Run all models; return the seconds of their execution."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(delivery, f"2024-01-{day:02}T00:00:00Z", file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().split()
        if answer[1:] != ["True"]:
            sys.exit("dbt has failed")
        return float(answer[0])

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


CURRENT = """
    SELECT count(*), sum(s.o_totalprice), sum(c.c_custkey)
    FROM vault.hub_orders AS h
    JOIN (SELECT DISTINCT ON (orders_hk) * FROM vault.sat_orders
        ORDER BY orders_hk, load_date DESC) AS s ON h.orders_hk = s.orders_hk
    JOIN (SELECT DISTINCT ON (orders_hk) orders_hk, record_ind FROM vault.rts_orders
        ORDER BY orders_hk, load_date DESC) AS r
        ON h.orders_hk = r.orders_hk AND r.record_ind <> 'R'
    JOIN vault.link_orders_customer AS l ON h.orders_hk = l.orders_hk
    JOIN (SELECT DISTINCT ON (orders_customer_hk) orders_customer_hk, record_ind
        FROM vault.rts_orders_customer ORDER BY orders_customer_hk, load_date DESC) AS lr
        ON l.orders_customer_hk = lr.orders_customer_hk AND lr.record_ind <> 'R'
    JOIN vault.hub_customer AS c ON l.customer_hk = c.customer_hk
"""
OURS = "SELECT count(*), sum(o_totalprice), sum(o_custkey) FROM gdal_tpch.orders"


def loads(server: str, template: str, python: Path, n: int) -> dict[str, tuple[float, float]]:
    """Return how long each side took, elapsed and processors: (name, side) by load, and the read.

    Raises:
        AssertionError: the current rows differ.
    """
    taken: dict[str, tuple[float, float]] = {}
    with (
        copied(server, template, "bench_facts") as dsn,
        tempfile.TemporaryDirectory() as folder,
        psycopg.connect(dsn, autocommit=True) as conn,
    ):
        vault = Vault(python, Path(folder), dsn)
        deliveries = [
            row[0]
            for row in conn.execute("SELECT delivery_id FROM omd_delivery.delta_queue ORDER BY 1")
        ]

        def ours(day: int) -> float:
            began = time.perf_counter()
            row = conn.execute("CALL omd_facts.load('tpch')").fetchone()
            assert row is not None
            assert row[0] == "PERSISTED", row
            del day
            return time.perf_counter() - began

        def theirs(day: int) -> float:
            return vault.load(deliveries[day - 1], day)

        for day, title in enumerate(LOADS, 1):
            turns: list[tuple[str, Callable[[int], float]]] = [("omd", ours), ("dbt", theirs)]
            if n % 2:
                turns.reverse()
            conn.execute("VACUUM (ANALYZE)")  # as autovacuum would by then
            for side, load in turns:
                settle(conn)
                before = processors(conn)
                spent = load(day)
                taken[f"{title} {side}"] = spent, processors(conn) - before
                told = taken[f"{title} {side}"]
                print(f"{title:14}{side:6}{told[0]:8.2f} s{told[1]:8.2f} s", flush=True)
        vault.end()
        conn.execute("VACUUM ANALYZE")
        for query, side in ((OURS, "omd"), (CURRENT, "dbt")):
            times = []
            for _ in range(3):
                before, began = processors(conn), time.perf_counter()
                found = conn.execute(query.encode()).fetchone()
                times.append((time.perf_counter() - began, processors(conn) - before))
            taken[f"orders read {side}"] = min(times)
            print(f"{'orders read':14}{side:6}{min(times)[0]:8.2f} s  {found}", flush=True)
            taken.setdefault("found", found)  # type: ignore[arg-type]
            assert taken["found"] == found
        del taken["found"]
        sound = conn.execute("SELECT * FROM omd_facts.verify('tpch')").fetchall()
        assert sound == [], sound
    return taken


def timed(work: Callable[[], Any], times: int) -> float:
    """Return the least seconds of a call, of several."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return min(spent)


class Reads:
    """The reads and writes of one database, in turns."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self.conn = conn
        # Of any place: keys of a few blocks are neighbours in what was loaded, but not in what was
        # changed, and would tell how much the cache of a processor holds.
        rows = conn.execute(
            "SELECT o_orderkey FROM src.orders TABLESAMPLE BERNOULLI (5)"
        ).fetchall()
        self.keys = [row[0] for row in rows]
        columns = conn.execute("SELECT * FROM gdal_tpch.orders LIMIT 0").description or ()
        self.columns = ", ".join(c.name for c in columns)

    def points(self, tables: Sequence[str], turns: int = 20) -> dict[str, float]:
        """Return the seconds of a prepared point query of each table, measured in turns."""
        queries = {t: f"SELECT * FROM {t} WHERE o_orderkey = %s".encode() for t in tables}
        best: dict[str, float] = {}
        with self.conn.cursor() as cursor:
            for _ in range(turns):
                keys = random.choices(self.keys, k=200)
                for table, query in queries.items():
                    seconds = self._seconds(cursor, query, keys)
                    best[table] = min(seconds, best.get(table, seconds))
        return best

    def _seconds(self, cursor: psycopg.Cursor[Any], query: bytes, keys: list[int]) -> float:
        began = time.perf_counter()
        for key in keys:
            cursor.execute(query, (key,), prepare=True)
        return (time.perf_counter() - began) / len(keys)

    def scans(self, tables: Sequence[str], turns: int = 9) -> dict[str, float]:
        """Return the seconds of an aggregate of two attributes of each table, measured in turns."""
        best = dict.fromkeys(tables, float("inf"))
        for _ in range(turns):
            for table in tables:
                query = f"SELECT sum(o_totalprice), max(o_orderdate) FROM {table}".encode()
                spent = timed(lambda query=query: self.conn.execute(query), 1)
                best[table] = min(spent, best[table])
        return best

    def copy(self, table: str) -> float:
        """Return the seconds of a COPY of all columns."""
        query = f"COPY (SELECT {self.columns} FROM {table}) TO STDOUT"

        def work() -> None:
            with self.conn.cursor().copy(query) as copy:
                for _ in copy:
                    pass

        return timed(work, 2)

    def measured(self) -> dict[str, float]:
        """Return the ratios of reads."""
        view, plain, past = "gdal_tpch.orders", "plain.orders", "asof_tpch.orders"
        point = self.points((plain, view, past))
        scan = self.scans((plain, view, past))
        return {
            "point query / plain": point[view] / point[plain],
            "aggregate / plain": scan[view] / scan[plain],
            "COPY / plain": self.copy(view) / self.copy(plain),
            "as of: aggregate / current": scan[past] / scan[view],
            "as of: point query / current": point[past] / point[view],
        }

    def written(self) -> dict[str, float]:
        """Return the ratios of writes."""
        self.conn.execute("CALL omd_facts.open_delivery('desk')")

        def singly(table: str) -> float:
            query = f"UPDATE {table} SET o_clerk = %s WHERE o_orderkey = %s".encode()
            keys = random.sample(self.keys, min(500, len(self.keys)))
            with self.conn.cursor() as cursor:
                for key in keys[:10]:
                    cursor.execute(query, ("warm", key), prepare=True)
                began = time.perf_counter()
                for n, key in enumerate(keys):
                    cursor.execute(query, (f"c{n}", key), prepare=True)
                return (time.perf_counter() - began) / len(keys)

        plain, ours = singly("plain.orders"), singly("gdal_tpch.orders")
        many = random.sample(self.keys, min(10000, len(self.keys)))
        query = b"UPDATE gdal_tpch.orders SET o_clerk = 'many' WHERE o_orderkey = ANY(%s)"
        bulk = timed(lambda: self.conn.execute(query, (many,)), 1) / len(many)
        return {"UPDATE of a row / plain": ours / plain, "in bulk / one by one": bulk / ours}


BOUNDS = {
    "all rows omd": 0.5,
    "1 % of them omd": 0.5,
    "orders read omd": 0.5,
    "point query / plain": 1.5,
    "aggregate / plain": 2,
    "COPY / plain": 3,
    "as of: aggregate / current": 2,
    "as of: point query / current": 2.5,
    "with history: point": 1.1,
    "with history: aggregate": 1.1,
    "UPDATE of a row / plain": 3,
    "in bulk / one by one": 1,
}


def reads(server: str, template: str) -> dict[str, float]:
    """Return the ratios of reads and writes."""
    with (
        copied(server, template, "bench_facts") as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
    ):
        conn.execute("CALL omd_facts.load_all()")
        conn.execute("CREATE SCHEMA plain")
        conn.execute("CREATE TABLE plain.orders AS SELECT * FROM gdal_tpch.orders")
        conn.execute("ALTER TABLE plain.orders ADD PRIMARY KEY (o_orderkey)")
        conn.execute("VACUUM ANALYZE")
        bench = Reads(conn)
        first = bench.measured()
        for n in range(VERSIONS * PARTS):
            queue(conn, f"2024-02-01 00:00:{n / 10:04.1f}+00", lambda name, n=n: changed(name, n))
            conn.execute("CALL omd_facts.load_all()")
            conn.execute("VACUUM (ANALYZE) cfl_tpch.s_orders_properties_now")
        conn.execute("VACUUM ANALYZE")
        later = bench.measured()
        found = first | {f"{name}, history": ratio for name, ratio in later.items()}
        for name in ("point query / plain", "aggregate / plain"):
            found[f"with history: {name.partition(' ')[0]}"] = later[name] / first[name]
        return found | bench.written()


def changed(name: str, n: int) -> str | None:
    """Return a delta in which a tenth of the orders change."""
    if name != "orders":
        return None
    values = {column: column for column in TABLES[name]["columns"]}
    values["o_clerk"] = f"'clerk {n}'"
    return (
        f"SELECT 'A', 0, {', '.join(values.values())} FROM gdal_tpch.orders"
        f" WHERE abs(hashint8(o_orderkey)) % {PARTS} = {n % PARTS}"
    )


CHAINS = {
    name: {"columns": {"nbr": "integer", **{f"a{n}": "integer" for n in range(1, count + 1)}}}
    for name, count in (("two", 2), ("three", 3))
}
CHAIN_VERSIONS = 6  # of each key; one more of a tenth of them
AT = "(SELECT current_setting('omd_facts.as_of')::timestamptz)"
MOMENTS = {
    "now": "9999-01-01 00:00:00+00",
    "a tenth changed": f"2024-01-{CHAIN_VERSIONS:02} 12:00:00+00",
    "all changed": "2024-01-01 12:00:00+00",
}
CHAIN_BOUNDS = {"now": 2, "a tenth changed": 2.5}


def chains(dsn: str, keys: int) -> None:
    """Load entities whose attributes are contexts of their own, and their floors as views."""
    model = {
        "interface": "many",
        "entities": [
            {
                "name": name,
                "key": ["nbr"],
                "attributes": [{"name": n, "type": t} for n, t in table["columns"].items()],
                "facts": {
                    "contexts": [
                        {"name": code, "attributes": [code]} for code in list(table["columns"])[2:]
                    ]
                },
            }
            for name, table in CHAINS.items()
        ],
    }
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd_delivery.deploy_model(p_model => %s)", (Jsonb(model),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement('a', 't', 'many')")
        conn.execute("CALL omd_facts.deploy('many')")
        for n in range(CHAIN_VERSIONS + 1):
            some = "TRUE" if n < CHAIN_VERSIONS else "hashint4(k) % 10 = 0"

            def delta(name: str, n: int = n, some: str = some) -> str:
                values = "".join(f", k + {n}" for _ in list(CHAINS[name]["columns"])[1:])
                return (
                    f"SELECT '{'A' if n else 'N'}', 0, k{values}"
                    f" FROM generate_series(1, {keys}) AS k WHERE {some} ORDER BY hashint4(k + {n})"
                )

            queue(conn, f"2024-01-{n + 1:02} 00:00:00+00", delta, "many", CHAINS)
            conn.execute("CALL omd_facts.load_all()")
        conn.execute("CREATE SCHEMA floor")
        for name, table in CHAINS.items():
            codes = list(table["columns"])[2:]
            columns = "".join(f", {c}.{c}" for c in codes)
            joins = "".join(
                f" LEFT JOIN cfl_many.s_{name}_{c} AS {c} ON p.acm_id = {c}.acm_id"
                f" AND {c}.acm_start_dt <= {AT} AND {c}.acm_end_dt > {AT}"
                f" AND {c}.acm_record_ind <> 'R'"
                for c in codes
            )
            conn.execute(
                f"CREATE VIEW floor.{name} AS SELECT a.nbr, p.a1{columns}"
                f" FROM cfl_many.s_{name}_properties AS p"
                f" LEFT JOIN cfl_many.h_{name} AS a ON p.acm_id = a.acm_id{joins}"
                f" WHERE p.acm_record_ind <> 'R' AND p.acm_start_dt <= {AT}"
                f" AND p.acm_end_dt > {AT}".encode()
            )
        conn.execute("VACUUM (ANALYZE)")


def history_buffers(conn: psycopg.Connection[Any], name: str) -> int:
    """Return how many buffers the history of one key reads."""
    query = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM history_many.{name} WHERE nbr=7"
    for _ in range(2):  # the second time, nothing is read of the catalog
        row = conn.execute(query.encode()).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def chain_reads(server: str, keys: int, rounds: int) -> None:
    """Print how long reads as of moments take, beside the current view and the floor."""
    buffers: dict[tuple[str, int], int] = {}
    for size in (keys // 10, keys):
        dsn = new_database(server, f"bench_chains_{size}")
        chains(dsn, size)
        with psycopg.connect(dsn) as conn:
            for name in CHAINS:
                buffers[name, size] = history_buffers(conn, name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        for name, table in CHAINS.items():
            codes = list(table["columns"])[1:]
            reads = {
                ", ".join(some): "SELECT " + ", ".join(f"sum({c})" for c in some) + " FROM {}"
                for some in ([codes[0]], [codes[1]], codes[:2], codes)
            }
            reads["*"] = "SELECT count(x) FROM (SELECT * FROM {} OFFSET 0) AS x"
            reads["point"] = "SELECT * FROM {} WHERE nbr = %s"
            for title, text in reads.items():
                chain_read(conn, name, title, text, keys, rounds)
            ratio = buffers[name, keys] / buffers[name, keys // 10]
            show(f"{name}: history of a key, buffers of 10 times the keys", [ratio], 1.5)


def chain_read(
    conn: psycopg.Connection[Any], name: str, title: str, text: str, keys: int, rounds: int
) -> None:
    """Measure one read of each side in turns, and print its ratios."""
    numbers = random.Random(1).sample(range(1, keys), 50) if title == "point" else [None]

    def spent(relation: str, moment: str) -> float:
        conn.execute("SELECT set_config('omd_facts.as_of', %s, FALSE)", [moment])
        query = text.format(relation).encode()
        began = time.perf_counter()
        for number in numbers:
            conn.execute(query, None if number is None else (number,), prepare=True)
        return time.perf_counter() - began

    ratios: dict[tuple[str, str], list[float]] = {}
    for _ in range(3 * rounds):
        now = spent(f"gdal_many.{name}", "")
        for moment, at in MOMENTS.items():
            for side in ("asof_many", "floor"):
                ratio = spent(f"{side}.{name}", at) / now
                ratios.setdefault((moment, side), []).append(ratio)
    for (moment, side), found in ratios.items():
        bound = CHAIN_BOUNDS.get(moment) if side == "asof_many" else None
        if bound is not None and title == "point":
            bound = BOUNDS["as of: point query / current"]
        show(f"{name}: {title}; {moment}{'' if side == 'asof_many' else ', floor'}", found, bound)


def show(name: str, ratios: list[float], bound: float | None) -> None:
    """Print a median and its bound."""
    middle = statistics.median(ratios)
    mark = "" if bound is None else f"  bound {bound:g}{'' if middle <= bound else '  MISSED'}"
    print(f"{name:52}{middle:8.2f}{mark}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["loads", "reads", "contexts"])
    parser.add_argument("--keys", type=int, default=100_000)
    given = parser.parse_args()
    with a_server(None) as server, tempfile.TemporaryDirectory() as folder:
        if given.only in ("contexts", None):
            chain_reads(server, given.keys, given.rounds)
        if given.only == "contexts":
            return
        prepare(new_database(server, "bench_tpch"), Path(folder), given.scale)
        if given.only != "reads":
            python = peers.python_of("dbt")
            rounds = [loads(server, "bench_tpch", python, n) for n in range(given.rounds)]
            print(f"omd / dbt{'':43} elapsed, then processor")
            for title in (*LOADS, "orders read"):
                for kind, bound in ((0, BOUNDS[f"{title} omd"]), (1, None)):
                    ratios = [r[f"{title} omd"][kind] / r[f"{title} dbt"][kind] for r in rounds]
                    show(title, ratios, bound)
        if given.only != "loads":
            found = [reads(server, "bench_tpch") for _ in range(given.rounds)]
            for name in found[0]:
                show(name, [f[name] for f in found], BOUNDS.get(name.removesuffix(", history")))


if __name__ == "__main__":
    main()
