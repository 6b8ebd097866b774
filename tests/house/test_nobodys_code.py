"""No statement that runs as the owner of OMD names what belongs to a user."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from house.open_statements import KNOWN, OURS
from house.reach import GENERATED, Reach
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]

LISTED: Counter[str] = Counter()
for _routines in [group[-1] for group in [*OURS, *KNOWN]]:
    LISTED.update(_routines)


@pytest.fixture(scope="module")
def generated(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[Connection]:
    """A database with an interface and families, whose routines OMD has written."""
    with new_database() as dsn, psycopg.connect(dsn, row_factory=dict_row) as conn:
        conn.autocommit = True
        conn.execute(GENERATED.encode())
        yield conn


def offenders(conn: Connection) -> list[tuple[str, str]]:
    """Return where open statements that run as the owner are not as they are listed."""
    reach = Reach(conn)
    found = reach.reached()
    number = {
        name.removesuffix("()"): sum(reach.nodes[name].open.values())
        for name in found
        if reach.nodes[name].open
    }
    return [
        (
            name,
            f"{number.get(name, 0)} open statements, {LISTED[name]} on the list; "
            + (reach.way(f"{name}()", found) if name in number else "none is reached"),
        )
        for name in sorted(number.keys() | LISTED.keys())
        if number.get(name, 0) != LISTED[name]
    ]


def test_each_open_statement_that_runs_as_the_owner_is_listed(generated: Connection) -> None:
    assert_none(offenders(generated))


def test_no_routine_with_the_owner_s_rights_takes_a_value_of_any_type(
    generated: Connection,
) -> None:
    """A value of a user's type brings his functions with it, and a cursor his query."""
    takes = generated.execute(
        """
        SELECT p.oid::regprocedure::text AS name, format_type(t.oid, NULL) AS type
        FROM pg_proc AS p
        INNER JOIN pg_type AS t ON t.oid = ANY(p.proargtypes)
        WHERE p.proowner = 'omd_owner'::regrole AND p.prosecdef
            AND (t.typtype = 'p' OR t.oid = 'refcursor'::regtype)
        """
    )
    assert_none((row["name"], row["type"]) for row in takes)


# Looks that are put back, each by another way --------------------------------------------------

LOOK = """
    CREATE FUNCTION omd._look(p_statement text) RETURNS void LANGUAGE plpgsql SECURITY INVOKER
    SET search_path = pg_catalog, pg_temp AS $$ BEGIN EXECUTE p_statement; END $$;
    ALTER FUNCTION omd._look OWNER TO omd_owner;
    CREATE SCHEMA dwh;
    CREATE VIEW dwh.v AS SELECT 1 AS one;
"""
MUTANTS = {
    "a read": "EXECUTE 'SELECT count(*) FROM dwh.m';",
    "a read of a view": "EXECUTE 'SELECT count(*) FROM dwh.v';",
    "a write": "EXECUTE 'UPDATE dwh.m SET v = v';",
    "a read by another routine": "PERFORM omd._look('SELECT count(*) FROM dwh.m');",
    "a read whose error nobody sees": "BEGIN PERFORM omd._look('TABLE dwh.m');"
    " EXCEPTION WHEN OTHERS THEN END;",
    "a read that may not write": "SET TRANSACTION READ ONLY; EXECUTE 'TABLE dwh.m';",
}


@pytest.fixture
def looked_at(flow: Flow) -> Flow:
    """A database whose routines may look at tables of users, and a Module with its table."""
    flow.conn.execute(LOOK)
    flow.module()
    return flow


@pytest.mark.parametrize("look", MUTANTS.values(), ids=MUTANTS)
def test_a_look_that_is_put_back_is_found_twice(
    looked_at: Flow,
    replaced: Callable[[str, str, str], None],
    told: Callable[[], list[str]],
    look: str,
) -> None:
    flow = looked_at
    assert "omd.module_success" not in LISTED
    begun = flow.begin_module()
    assert told() == []
    replaced("omd.module_success", "\nBEGIN\n", f"\nBEGIN\n{look}\n")
    with contextlib.suppress(psycopg.Error):
        flow.end_module(begun.id, "S")
    [alarm] = told()
    assert "runs as omd_owner" in alarm
    assert "omd.module_success" in alarm
    assert [where for where, _ in offenders(flow.conn)] != []


def test_a_person_runs_what_he_reads(looked_at: Flow, told: Callable[[], list[str]]) -> None:
    """The trap is silent where nobody but the caller runs it, as whatever role he has taken."""
    for role in ("none", "omd_owner", "omd_runner", "omd_admin"):
        looked_at.conn.execute(
            "GRANT USAGE ON SCHEMA dwh TO PUBLIC; GRANT ALL ON dwh.m, dwh.v TO PUBLIC"
        )
        looked_at.conn.execute(f"SET ROLE {role}".encode())
        looked_at.conn.execute("UPDATE dwh.m SET v = 'x'; TABLE dwh.m; TABLE dwh.v")
        looked_at.conn.execute("RESET ROLE")
    assert told() == []


# Names of a user's tables in each argument -----------------------------------------------------

MINE = """
    CREATE SCHEMA mine;
    CREATE TABLE mine.t (pos timestamptz, id bigint, v text, omd_insert_module_instance_id bigint);
    CREATE INDEX ON mine.t (pos, id);
    INSERT INTO mine.t SELECT '2020-01-01', n, 'v', 1 FROM generate_series(1, 3) AS n;
    CREATE VIEW mine.v AS SELECT t.* FROM mine.t AS t WHERE omd_lineage.in_block(t.pos, t.id);
    CREATE TABLE mine.d (LIKE mine.t);
    GRANT USAGE ON SCHEMA mine TO PUBLIC;
    GRANT ALL ON ALL TABLES IN SCHEMA mine TO PUBLIC;
    CALL omd.register_module('m', 'INT', 'mine.t', 'HUB');
    CALL omd_lineage.register_topic('mine.t', p_pos_column => 'pos', p_id_column => 'id');
    CALL omd_lineage.register_topic('mine.d', '{mine.t}', p_transforms => '{mine.v}');
    INSERT INTO mine.d TABLE mine.t;
    CALL omd_lineage.set_offset('mine.d', '2020-01-01', 3);
"""
CALLABLE = """
    SELECT p.oid::regprocedure::text AS name, p.prokind AS kind, r.role,
        concat(quote_ident(n.nspname), '.', quote_ident(p.proname)) AS routine,
        coalesce(p.proargmodes::text[], array_fill('i'::text, ARRAY[p.pronargs])) AS modes,
        ARRAY(
            SELECT format_type(t.id, NULL)
            FROM unnest(coalesce(p.proallargtypes, p.proargtypes)) WITH ORDINALITY AS t (id, n)
            ORDER BY t.n
        ) AS types
    FROM pg_proc AS p
    INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
    CROSS JOIN LATERAL (
        SELECT min(r) AS role FROM unnest(ARRAY['omd_admin', 'omd_reader', 'omd_runner']) AS r
        WHERE has_function_privilege(r, p.oid, 'EXECUTE')
    ) AS r
    WHERE p.proowner = 'omd_owner'::regrole AND p.prokind IN ('f', 'p') AND r.role IS NOT NULL
        AND p.prorettype <> 'trigger'::regtype
    ORDER BY 1"""
GIVEN = {
    "text": "'{0}'",
    "text[]": "ARRAY['{0}']",
    "regclass": "'mine.d'::regclass",
    "oid": "'mine.d'::regclass::oid",
    "bigint": "1",
    "integer": "1",
    "bigint[]": "'{{1}}'",
    "integer[]": "'{{1}}'",
    "boolean": "true",
    "jsonb": "'{{}}'",
    "timestamp with time zone": "'2020-01-01'",
    "interval": "'1 day'",
    "uuid": "gen_random_uuid()",
}


def test_no_name_of_a_user_s_table_is_looked_up_as_the_owner(
    flow: Flow, told: Callable[[], list[str]]
) -> None:
    """Each routine that somebody may call gets the names of tables of his for each text."""
    flow.conn.execute(MINE)
    flow.conn.execute("SET statement_timeout = '5s'")
    found: dict[str, str] = {}
    called = 0
    for row in flow.rows(CALLABLE):
        arguments = [
            type_
            for type_, mode in zip(row["types"], row["modes"], strict=True)
            if mode in "ivb" or (mode == "o" and row["kind"] == "p")
        ]
        for named in ("mine.d", "mine.v", "m"):
            given = ", ".join(GIVEN.get(type_, "NULL").format(named) for type_ in arguments)
            verb = "CALL" if row["kind"] == "p" else "SELECT"
            with flow.conn.transaction(force_rollback=True):
                flow.conn.execute(f"SET LOCAL ROLE {row['role']}".encode())
                with contextlib.suppress(psycopg.Error):
                    flow.conn.execute(f"{verb} {row['routine']}({given})".encode(), prepare=False)
                    called += 1
            if alarms := told():
                found[row["name"]] = alarms[0]
    assert called > 1000
    assert_none(found.items())
