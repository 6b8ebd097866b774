"""A look at 1,000 folders of three files, of which nothing has changed, and its work."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb

from omd.rooms.delivery.folders import LocalFolders

ROUNDS = 15
FILES = ("customers.csv", "orders.csv", "_SUCCESS")
MODEL = {
    "interface": "shop",
    "entities": [
        {"name": name, "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}
        for name in ("customers", "orders")
    ],
}


def prepare(conn: Connection, size: float = 1) -> Take:
    with tempfile.TemporaryDirectory(prefix="omd-drop-") as root:
        for n in range(max(10, round(1000 * size))):
            folder = Path(root) / f"{1000 + n}-01-01"
            folder.mkdir()
            for file in FILES:
                (folder / file).touch()
        seen = Jsonb(LocalFolders(root, {"ready": {"marker": "_SUCCESS"}}).seen())
    conn.execute("CALL omd_delivery.deploy_model(%s)", (Jsonb(MODEL),))
    conn.execute("CALL omd_delivery.register_tenant('t')")
    conn.execute(
        "CALL omd_delivery.register_agreement('shop', 't', 'shop',"
        """ p_arrival => '{"location": "/drop"}')"""
    )

    def look() -> None:
        conn.execute("CALL omd_delivery.report_arrivals('shop', %s)", (seen,))
        conn.execute("SELECT * FROM omd_delivery.delivery_work").fetchall()

    look()
    conn.execute("ANALYZE omd_delivery.arrival")
    return timed(look)
