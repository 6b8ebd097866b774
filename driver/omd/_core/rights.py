"""The error for whoever lacks a right: which of our roles has it, and who grants that."""

from __future__ import annotations

import re
from contextlib import suppress

import psycopg

from omd._core.errors import RightMissing

# The least of them comes first.
_ROLES = ["omd_reader", "omd_data_reader", "omd_runner", "omd_data_writer", "omd_admin"]
_OURS = re.compile(r"\b(omd(?:_[a-z]+)?)\.([a-z_]+)")
_OF_OTHERS = "lacks a right on an object of others: its owner grants it."
_LOOK = """
SELECT
    r.rolname,
    pg_catalog.pg_has_role(r.oid, 'USAGE'),
    pg_catalog.quote_ident(session_user),
    ARRAY(
        SELECT pg_catalog.quote_ident(a.rolname)
        FROM pg_catalog.pg_auth_members AS m
        JOIN pg_catalog.pg_roles AS a ON m.member OPERATOR(pg_catalog.=) a.oid
        WHERE m.roleid OPERATOR(pg_catalog.=) r.oid AND m.admin_option AND NOT a.rolsuper
        ORDER BY a.rolname
    )
FROM pg_catalog.pg_roles AS r
WHERE
    r.rolname OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.name[])
    AND (
        EXISTS (
            SELECT FROM pg_catalog.pg_proc AS p
            JOIN pg_catalog.pg_namespace AS n ON p.pronamespace OPERATOR(pg_catalog.=) n.oid
            WHERE
                n.nspname OPERATOR(pg_catalog.=) %s
                AND p.proname OPERATOR(pg_catalog.=) %s
                AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
        )
        OR EXISTS (
            SELECT FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
            WHERE
                n.nspname OPERATOR(pg_catalog.=) %s
                AND c.relname OPERATOR(pg_catalog.=) %s
                AND pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT')
        )
    )
ORDER BY pg_catalog.array_position(%s::pg_catalog.name[], r.rolname)
LIMIT 1
"""


def refused(conninfo: str, error: psycopg.Error, query: str = "") -> RightMissing:
    """Return what to raise in place of an error of rights; its hint names the role.

    The connection of the error may be in a transaction that has failed, so another one asks.

    Args:
        conninfo: the connection string of who lacks the right.
        error: the error.
        query: the statement; it names the routine or view.
    """
    message = error.diag.message_primary or str(error).strip()
    hint = error.diag.message_hint
    role = None
    if hint is None:
        hint, role = _hint(conninfo, f"{query} {error.diag.context or ''} {message}")
    return RightMissing(message, hint=hint, detail={"role": role})


def _hint(conninfo: str, text: str) -> tuple[str, str | None]:
    ours = _OURS.search(text.replace('"', ""))
    if ours is not None:
        with (
            suppress(psycopg.Error),
            psycopg.connect(
                conninfo, autocommit=True, connect_timeout=10, prepare_threshold=None
            ) as connection,
        ):
            name = [ours[1], ours[2]]
            given = [_ROLES, *name, *name, _ROLES]
            for role, has_it, user, admins in connection.execute(_LOOK, given):
                if not has_it:
                    who = " or ".join(["A superuser", *admins])
                    return f"{who} grants it: GRANT {role} TO {user};", str(role)
                return f"{user} has {role}, and {_OF_OTHERS}", None
    return "Its owner or a superuser grants the right; omd doctor says which roles you have.", None
