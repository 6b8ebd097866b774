"""All that a role may read of OMD's own tables and views, to look for what it must not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

from house.catalog import SCHEMAS

if TYPE_CHECKING:
    from support.flow import Flow

READABLE = f"""
    SELECT n.nspname AS schema, c.relname AS name,
        array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace IN ({SCHEMAS}) AND c.relkind IN ('r', 'p', 'v')
       AND has_column_privilege(%s, c.oid, a.attnum, 'SELECT')
     GROUP BY n.nspname, c.relname
"""


def readable(session: Flow, role: str) -> str:
    """Return all that the role can read, a line for each relation."""
    found = []
    for relation in session.rows(READABLE, role):
        rows = session.conn.execute(
            sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(
                    sql.SQL("{}::text").format(sql.Identifier(name)) for name in relation["columns"]
                ),
                sql.Identifier(relation["schema"], relation["name"]),
            )
        ).fetchall()
        found.append(f"{relation['schema']}.{relation['name']}: {rows}")
    return "\n".join(found)
