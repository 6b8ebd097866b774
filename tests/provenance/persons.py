"""Persons in every layer, and a search of the whole database for what is left of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from facts.store import PERSON, PHONE, entity

if TYPE_CHECKING:
    import psycopg

    from facts.store import Store

    Connection = psycopg.Connection[dict[str, Any]]

ORDERS = entity(
    "orders",
    ["nbr"],
    ["nbr", "buyer", ("note", "text(40)")],
    relationships=[{"name": "by", "parent": "person", "columns": ["buyer"]}],
)
LINE = entity(
    "line",
    ["nbr", "pos"],
    ["nbr", "pos", ("what", "text(40)")],
    relationships=[
        {"name": "of_order", "parent": "orders", "columns": ["nbr"], "context_filter": False}
    ],
)
ANNA = ("anna@x.example", "anna2@x.example", "Anna Karenina", "5550199")


def set_up(store: Store) -> None:
    """Deliver Anna (7), whom Boris (8) has as his boss and who was deleted, and Vera (9)."""
    store.set_up(PERSON, PHONE, ORDERS, LINE)
    store.put(
        1,
        person=[
            ("N", 7, "anna@x.example", "1990", "Anna Karenina", None),
            ("N", 8, "boris@x.example", "1980", "Boris Godunov", None),
            ("N", 9, "vera@x.example", "1970", "Vera Figner", None),
        ],
        phone=[("N", 7, "home", "5550199"), ("N", 8, "home", "5550288")],
        orders=[("N", 1, 8, "a samovar")],
        line=[("N", 1, 1, "brass")],
    )
    store.put(2, person=[("A", 7, "anna2@x.example", "1990", "Anna Karenina", None)])
    store.put(3, person=[("A", 9, "vera@x.example", "1970", "Vera Sassulitsch", None)])


def erase(store: Store, keys: Any = ({"nbr": 7},), **arguments: Any) -> dict[str, Any]:
    """Erase; return the number and the items, each under its layer, table and outcome."""
    given = {
        "interface_code": store.interface,
        "entity_code": "person",
        "reference": "request 1",
        "is_dry_run": False,
        **arguments,
    }
    answer = store.call("omd_provenance.erase", keys=list(keys), **given)
    answer["by"] = {(i["layer"], i["table_code"], i["outcome"]): i for i in answer["items"]}
    return answer


def find(store: Store, keys: str = '[{"nbr": 7}]', entity: str = "person") -> list[tuple[Any, ...]]:
    rows = store.rows(
        "SELECT * FROM omd_provenance.find_subject(%s, %s, %s)", store.interface, entity, keys
    )
    return [tuple(r.values()) for r in rows]


def tables(conn: Connection) -> list[str]:
    return [
        r["name"]
        for r in conn.execute(
            "SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class AS c"
            " INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid"
            " WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_catalog|pg_toast|information_schema)'"
            " ORDER BY 1"
        )
    ]


def search(conn: Connection, *texts: str) -> list[str]:
    """Return the tables, and the statistics, of the whole database that have one of these texts."""
    found = []
    for table in tables(conn):
        query = (
            f"SELECT FROM {table} AS t, unnest(%s::text[]) AS x (text)"
            " WHERE strpos(to_jsonb(t)::text, btrim(to_jsonb(x.text)::text, '\"')) > 0 LIMIT 1"
        )
        if conn.execute(query.encode(), [list(texts)]).fetchall():
            found.append(table)
    shown = conn.execute(
        "SELECT DISTINCT format('pg_stats of %%I.%%I.%%I', schemaname, tablename, attname) AS name"
        " FROM pg_stats, unnest(%s::text[]) AS x (text) WHERE schemaname <> 'pg_catalog'"
        " AND strpos(concat_ws(' ', most_common_vals, histogram_bounds, most_common_elems), x.text)"
        " > 0",
        [list(texts)],
    ).fetchall()
    return found + [r["name"] for r in shown]


def rows_without(conn: Connection, *texts: str) -> dict[str, list[str]]:
    """Return all rows of tables of the interfaces and of users that have none of these texts."""
    return {
        table: sorted(
            r["row"]
            for r in conn.execute(f"SELECT to_jsonb(t)::text AS row FROM {table} AS t".encode())
            if not any(text in r["row"] for text in texts)
        )
        for table in tables(conn)
        if not table.startswith("omd")
    }
