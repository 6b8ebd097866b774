"""Foreign names that hide ours and those of pg_catalog: the use of one raises EVIL0."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.scenes import Built

SCHEMAS = "(SELECT oid FROM pg_namespace WHERE nspname ~ '^omd(_|$)')"


@pytest.fixture
def traps(built: Built) -> Iterator[str]:
    """Create a foreign schema: the use of any object in it raises the error EVIL0."""
    flow = built(Flow, lay)
    yield "evil"
    flow.conn.execute("DROP SCHEMA evil CASCADE")


def lay(flow: Flow) -> None:
    """Create all of it; the role is the server's, and stays for the next database."""
    if not flow.rows("SELECT FROM pg_roles WHERE rolname = 'omd_test_mallory'"):
        flow.conn.execute("CREATE ROLE omd_test_mallory")
    flow.conn.execute("CREATE SCHEMA evil AUTHORIZATION omd_test_mallory")
    flow.conn.execute("GRANT USAGE ON SCHEMA evil TO PUBLIC")
    flow.conn.execute(
        "CREATE FUNCTION evil.trap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'evil, as %', current_user USING ERRCODE = 'EVIL0'; END $$"
    )
    lay_functions(flow)
    lay_operators(flow)
    lay_types(flow)
    for relation in relations(flow):
        flow.conn.execute(
            sql.SQL("CREATE TABLE {} (x int)").format(sql.Identifier("evil", relation))
        )


def lay_functions(flow: Flow) -> None:
    """Hide each function of pg_catalog or of ours that a body of ours calls."""
    for routine in flow.rows(
        f"""
        SELECT DISTINCT p.proname AS name, pg_get_function_identity_arguments(p.oid) AS arguments,
            format_type(p.prorettype, NULL) AS result
        FROM pg_proc AS p
        INNER JOIN (
            SELECT DISTINCT m[1] AS name FROM pg_proc AS o, regexp_matches(
                o.prosrc || ' ' || coalesce(pg_get_function_sqlbody(o.oid), ''),
                '([a-z_0-9]+)[(]', 'g'
            ) AS m
            WHERE o.pronamespace IN {SCHEMAS}
        ) AS used ON p.proname = used.name
        WHERE (p.pronamespace = 'pg_catalog'::regnamespace OR p.pronamespace IN {SCHEMAS})
            AND p.prokind = 'f' AND NOT p.proretset
            AND format_type(p.prorettype, NULL) !~ '^(trigger|internal|record|cstring|any)'
            AND pg_get_function_identity_arguments(p.oid) !~ '(internal|cstring|OUT |ORDER BY)'
        """
    ):
        arguments = routine["arguments"].replace('VARIADIC "any"', "VARIADIC text[]")
        if not re.search(r"\bany", arguments):
            trap(flow, f'evil."{routine["name"]}"({arguments})', routine["result"])


def lay_operators(flow: Flow) -> None:
    """Hide the operators on the types that our routines compare and join."""
    for type_ in ("text", "bigint", "integer", "boolean", "timestamptz", "jsonb", "bigint[]"):
        for n, operator in enumerate(("=", "<>", "<", ">", "<=", ">=", "||")):
            name = f'evil."op_{n}_{type_}"'
            trap(flow, f"{name}(a {type_}, b {type_})", type_ if operator == "||" else "boolean")
            flow.conn.execute(
                f"CREATE OPERATOR evil.{operator} (LEFTARG = {type_}, RIGHTARG = {type_},"
                f" FUNCTION = {name})".encode()
            )


def lay_types(flow: Flow) -> None:
    trap(flow, "evil.checked(pg_catalog.text)", "boolean")
    for type_ in ("text", "record", "timestamptz", "jsonb", "regclass", "name"):
        flow.conn.execute(
            f"CREATE DOMAIN evil.{type_} AS pg_catalog.text CHECK (evil.checked(value))".encode()
        )


def trap(flow: Flow, signature: str, result: str) -> None:
    flow.conn.execute(
        f"CREATE FUNCTION {signature} RETURNS {result} LANGUAGE plpgsql"
        " AS $$ BEGIN PERFORM evil.trap(); END $$".encode()
    )


def relations(flow: Flow) -> list[str]:
    """Return the tables and views that our routines read."""
    return [
        row["name"]
        for row in flow.rows(
            "SELECT DISTINCT relname AS name FROM pg_class WHERE relkind IN ('r', 'v') AND"
            f" (relnamespace IN {SCHEMAS} OR relname IN ('pg_class', 'pg_locks', 'pg_namespace',"
            " 'pg_database', 'pg_attribute'))"
        )
    ]


def lay_temporary_names(session: Flow) -> None:
    """Create temporary tables and types, which are found before every schema of the search_path."""
    for relation in relations(session):
        session.conn.execute(
            sql.SQL("CREATE TEMP TABLE {} (x int)").format(sql.Identifier(relation))
        )
    for type_ in ("text", "record", "jsonb", "timestamptz", "regclass"):
        session.conn.execute(
            f"CREATE DOMAIN pg_temp.{type_} AS pg_catalog.text CHECK (value IS NULL)".encode()
        )
