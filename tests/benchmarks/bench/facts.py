"""Interfaces with facts, and loads of them."""

from __future__ import annotations

import time

from bench.turns import Connection
from psycopg.types.json import Jsonb


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
