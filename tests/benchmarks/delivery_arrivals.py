"""Arrivals: what a look at many folders costs, and what is asked while nothing changes.

* ``first``: one ``report_arrivals`` with ``--folders`` folders of three files, all of them new.
* ``again``: the same look again, at which nothing has changed, against the floor: the JSON is
  parsed and hashed, nothing is compared. It happens at each look.
* ``work``: ``omd_delivery.delivery_work`` with all these folders FOUND, and with all DONE.
* ``list``: what Python needs to list them on a local disk.

Run: ``python tests/benchmarks/delivery_arrivals.py [--dsn …] [--folders 10000]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from psycopg.types.json import Jsonb

from omd.delivery.folders import LocalFolders

ROUNDS = 5
FILES = ("customers.csv", "orders.csv", "_SUCCESS")
FLOOR = """
SELECT count(*) FROM jsonb_array_elements(%s) AS s
CROSS JOIN LATERAL (
    SELECT sha256(convert_to(string_agg(f.value::text, '' ORDER BY f.value ->> 'path'), 'UTF8'))
    FROM jsonb_array_elements(s.value -> 'files') AS f
) AS h (hash)
WHERE h.hash IS NOT NULL
"""
MODEL = {
    "interface": "shop",
    "entities": [
        {"name": name, "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}
        for name in ("customers", "orders")
    ],
}


def seconds(conn: psycopg.Connection[Any], query: str, *parameters: Any) -> float:
    """Return how long a statement takes."""
    start = time.perf_counter()
    conn.execute(query.encode(), parameters)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--folders", type=int, default=10_000)
    arguments = parser.parse_args()
    days = [str(date(1990, 1, 1) + timedelta(days=n)) for n in range(arguments.folders)]
    with tempfile.TemporaryDirectory(prefix="omd-drop-") as root:
        for day in days:
            folder = Path(root) / day
            folder.mkdir()
            for file in FILES:
                (folder / file).touch()
        start = time.perf_counter()
        seen = LocalFolders(root, {"ready": {"marker": "_SUCCESS"}}).seen()
        listing = time.perf_counter() - start
    look = "CALL omd_delivery.report_arrivals('shop', %s)"
    work = "SELECT * FROM omd_delivery.delivery_work"
    with (
        durable_server(arguments.dsn) as dsn,
        psycopg.connect(new_database(dsn, "omd_arrivals"), autocommit=True) as conn,
    ):
        conn.execute("CALL omd_delivery.deploy_model(%s)", (Jsonb(MODEL),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute(
            "CALL omd_delivery.register_agreement('shop', 't', 'shop',"
            """ p_arrival => '{"location": "/drop"}')"""
        )
        first = seconds(conn, look, Jsonb(seen))
        conn.execute("ANALYZE omd_delivery.arrival")
        again, floor, found = [], [], []
        for _ in range(ROUNDS):
            again.append(seconds(conn, look, Jsonb(seen)))
            floor.append(seconds(conn, FLOOR, Jsonb(seen)))
            found.append(seconds(conn, work))
        conn.execute("UPDATE omd_delivery.arrival SET arrival_status = 'DONE'")
        done = [seconds(conn, work) for _ in range(ROUNDS)]
    base = statistics.median(floor)
    print(f"{arguments.folders:,} folders")
    print(f"list   {listing:8.3f} s on a local disk")
    print(f"first  {first:8.3f} s")
    print(f"again  {statistics.median(again):8.3f} s, {statistics.median(again) / base:.1f} times")
    print(f"floor  {base:8.3f} s")
    print(f"work   {statistics.median(found) * 1000:8.2f} ms with all FOUND")
    print(f"work   {statistics.median(done) * 1000:8.2f} ms with all DONE")


if __name__ == "__main__":
    main()
