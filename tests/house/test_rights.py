"""Rights: every role may do with every table and routine what the rules say, and no more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import DatatypeMismatch, InsufficientPrivilege

from house.catalog import ROLES, SCHEMAS
from house.exceptions import (
    ACTS_OF_KINDS,
    ADMIN_COLUMNS,
    ADMIN_DELETES,
    ADMIN_ROWS,
    CALLED_BY_THE_WORKER,
    CHANGES_NOTHING,
    CONTROLS_TRANSACTIONS,
    HOLDS_ROWS,
    MAINTENANCE,
    NAMED_IN_TEXTS,
    OVER_GENERATED_TABLES,
    PARTS_OF_KINDS,
    READ_BY_NOBODY,
    RUNNER_INSERTS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]

RELATIONS = (
    f"FROM pg_class AS c WHERE c.relnamespace IN ({SCHEMAS})"
    " AND c.relkind IN ('r', 'v', 'm', 'p', 'f')"
)
WRITES = ["INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]


def names(conn: Connection, query: str, *parameters: Any) -> set[str]:
    return {row["name"] for row in conn.execute(query.encode(), parameters)}


def test_no_schema_is_usable_by_everyone(installed: Connection) -> None:
    query = "SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^omd(_|$)'"
    assert names(installed, query) >= {"omd", "omd_lineage", "omd_report"}
    public = f"{query} AND has_schema_privilege('public', oid, 'USAGE, CREATE')"
    assert names(installed, public) == set()
    for role in ROLES:
        assert (
            names(installed, f"{query} AND has_schema_privilege(%s, oid, 'CREATE')", role) == set()
        )
        hidden = f"{query} AND NOT has_schema_privilege(%s, oid, 'USAGE')"
        assert names(installed, hidden, role) == set()


def test_nothing_is_open_to_everyone(installed: Connection, catalog: Catalog) -> None:
    assert {routine.name for routine in catalog if "PUBLIC" in routine.granted} == set()
    relations = (
        f"SELECT c.relname AS name FROM pg_class AS c, aclexplode(c.relacl) AS a"
        f" WHERE c.relnamespace IN ({SCHEMAS}) AND a.grantee = 0"
    )
    columns = (
        "SELECT c.relname AS name FROM pg_attribute AS t"
        " INNER JOIN pg_class AS c ON t.attrelid = c.oid, aclexplode(t.attacl) AS a"
        f" WHERE c.relnamespace IN ({SCHEMAS}) AND a.grantee = 0"
    )
    assert names(installed, relations) == names(installed, columns) == set()


def test_everything_belongs_to_the_owner_and_nobody_is_a_member(
    installed: Connection, catalog: Catalog
) -> None:
    assert {routine.name for routine in catalog if routine.owner != "omd_owner"} == set()
    others = (
        "SELECT relname AS name FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relowner <> 'omd_owner'::regrole"
        " UNION ALL SELECT typname FROM pg_type"
        f" WHERE typnamespace IN ({SCHEMAS}) AND typowner <> 'omd_owner'::regrole"
        " UNION ALL SELECT nspname FROM pg_namespace"
        " WHERE nspname ~ '^omd(_|$)' AND nspowner <> 'omd_owner'::regrole"
    )
    assert names(installed, others) == set()
    members = """
        SELECT m.member::regrole::text AS name FROM pg_auth_members AS m
        INNER JOIN pg_roles AS r ON m.member = r.oid
        WHERE m.roleid = 'omd_owner'::regrole AND NOT r.rolsuper"""
    assert names(installed, members) == set()
    roles = (
        "SELECT rolname AS name FROM pg_roles WHERE rolname ~ '^omd_(owner|runner|admin|reader)$'"
    )
    harmless = f"{roles} AND NOT (rolcanlogin OR rolsuper OR rolcreaterole OR rolcreatedb"
    assert len(names(installed, f"{harmless} OR rolbypassrls OR rolreplication)")) == 4


def test_what_the_owner_creates_later_is_not_public(installed: Connection) -> None:
    """No default privilege gives away what an upgrade adds; each file has its REVOKE."""
    defaults = f"""
        SELECT d.defaclobjtype::text AS name FROM pg_default_acl AS d, aclexplode(d.defaclacl) AS a
        WHERE (d.defaclrole = 'omd_owner'::regrole OR d.defaclnamespace IN ({SCHEMAS}))
        AND a.grantee <> 'omd_owner'::regrole"""
    assert names(installed, defaults) == set()


# Tables


@pytest.mark.parametrize("role", [*ROLES, "pg_monitor", "public"])
def test_nobody_has_a_write_but_the_administrator_s(installed: Connection, role: str) -> None:
    rows = names(
        installed,
        "SELECT c.oid::regclass || ' ' || p AS name"
        f" FROM pg_class AS c, unnest(%s::text[]) AS p WHERE c.relnamespace IN ({SCHEMAS})"
        " AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND has_table_privilege(%s, c.oid, p)",
        WRITES,
        role,
    )
    columns = names(
        installed,
        "SELECT c.oid::regclass || '.' || a.attname AS name FROM pg_class AS c"
        " INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0"
        " AND NOT a.attisdropped, unnest(ARRAY['INSERT', 'UPDATE', 'REFERENCES']) AS p"
        f" WHERE c.relnamespace IN ({SCHEMAS}) AND c.relkind IN ('r', 'v', 'm', 'p', 'f')"
        " AND has_column_privilege(%s, c.oid, a.attnum, p)",
        role,
    )
    if role == "omd_admin":
        whole = {f"{t} {p}" for t in ADMIN_ROWS for p in ("INSERT", "UPDATE", "DELETE")}
        assert rows == whole | {f"{t} DELETE" for t in ADMIN_DELETES}
        assert {c for c in columns if c.rpartition(".")[0] not in ADMIN_ROWS} == ADMIN_COLUMNS
    elif role == "omd_runner":
        assert rows == {f"{t} INSERT" for t in RUNNER_INSERTS}
        assert {c for c in columns if c.rpartition(".")[0] not in RUNNER_INSERTS} == set()
    else:
        assert rows == columns == set()


@pytest.mark.parametrize("role", ["omd_runner", "omd_reader"])
def test_a_runner_and_a_reader_touch_no_table(
    conn: Connection, connect: Callable[..., Connection], role: str
) -> None:
    """Each table is really accessed; its grants are not only read."""
    tables = conn.execute(
        "SELECT c.relnamespace::regnamespace::text AS schema, c.relname AS name,"
        " (SELECT a.attname FROM pg_attribute AS a"
        " WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attidentity = '' LIMIT 1) AS column"
        f" FROM pg_class AS c WHERE c.relnamespace IN ({SCHEMAS}) AND relkind IN ('r', 'p')"
    ).fetchall()
    assert len(tables) > 25
    session = connect(role=role)
    for table in tables:
        for statement in (
            "INSERT INTO {} DEFAULT VALUES",
            "UPDATE {} SET {} = NULL",
            "DELETE FROM {}",
            "TRUNCATE {} CASCADE",
            "LOCK TABLE {} IN SHARE MODE",
        ):
            name = f"{table['schema']}.{table['name']}"
            if role == "omd_runner" and name in RUNNER_INSERTS and "INSERT" in statement:
                continue
            command = sql.SQL(statement).format(
                sql.Identifier(table["schema"], table["name"]), sql.Identifier(table["column"])
            )
            with pytest.raises(InsufficientPrivilege), session.transaction():
                session.execute(command)


@pytest.mark.parametrize("role", ROLES)
def test_whoever_has_a_role_reads_everything_but_what_is_hidden(
    conn: Connection, connect: Callable[..., Connection], role: str
) -> None:
    """Views run the functions in them with the rights of the reader."""
    relations = conn.execute(
        f"SELECT c.relnamespace::regnamespace::text AS schema, relname AS name {RELATIONS}"
    ).fetchall()
    assert len(relations) > 50
    session = connect(role=role)
    for row in relations:
        query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(row["schema"], row["name"]))
        name = f"{row['schema']}.{row['name']}"
        if name in READ_BY_NOBODY or (HOLDS_ROWS.fullmatch(name) and role != "omd_runner"):
            with pytest.raises(InsufficientPrivilege), session.transaction():
                session.execute(query)
        else:
            session.execute(query)


# Routines


@pytest.fixture
def person(conn: Connection) -> Iterator[str]:
    """A login without any rights."""
    conn.execute("DROP ROLE IF EXISTS omd_test_stranger")
    conn.execute("CREATE ROLE omd_test_stranger LOGIN")
    yield "omd_test_stranger"
    conn.execute("RESET ROLE")
    conn.execute("DROP OWNED BY omd_test_stranger")
    conn.execute("DROP ROLE omd_test_stranger")


@pytest.mark.parametrize("role", [*ROLES, "a stranger"])
def test_what_is_not_granted_can_not_be_called(
    conn: Connection, catalog: Catalog, person: str, role: str
) -> None:
    """Each routine is really called; its grants are not only read."""
    if role == "a stranger":
        role = person
        for schema in {routine.schema for routine in catalog}:
            conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {person}".encode())
    refused = [r for r in catalog if role not in r.callable_by and not r.is_trigger]
    assert len(refused) > 50
    conn.execute(f"SET ROLE {role}".encode())
    called = []
    for routine in refused:
        call = sql.SQL("CALL {}({})" if routine.kind == "p" else "SELECT {}({})")
        for null in (sql.NULL, sql.SQL("NULL::text")):
            given = sql.SQL(", ").join([null] * routine.arguments)
            try:
                conn.execute(call.format(sql.Identifier(routine.schema, routine.routine), given))
            except InsufficientPrivilege:
                break
            except DatatypeMismatch:  # anyelement: rights are looked at later
                continue
            except psycopg.Error:
                pass
            called.append(routine.name)
            break
    assert called == []


def used_by_views(conn: Connection, role: str) -> set[str]:
    """Return the routines in the views that a role may read: they run with its rights."""
    return names(
        conn,
        "SELECT DISTINCT d.refobjid::regproc::text AS name FROM pg_rewrite AS w"
        " INNER JOIN pg_depend AS d ON w.oid = d.objid AND d.classid = 'pg_rewrite'::regclass"
        " AND d.refclassid = 'pg_proc'::regclass"
        " INNER JOIN pg_proc AS p ON d.refobjid = p.oid"
        f" WHERE p.pronamespace IN ({SCHEMAS}) AND has_table_privilege(%s, w.ev_class, 'SELECT')",
        role,
    )


def fired_by_edits(conn: Connection, role: str) -> set[str]:
    """Return the trigger functions on tables that a role may edit; they need no EXECUTE."""
    return names(
        conn,
        "SELECT DISTINCT t.tgfoid::regproc::text AS name FROM pg_trigger AS t"
        " INNER JOIN pg_proc AS p ON t.tgfoid = p.oid"
        f" WHERE NOT t.tgisinternal AND p.pronamespace IN ({SCHEMAS})"
        " AND has_any_column_privilege(%s, t.tgrelid, 'INSERT, UPDATE')",
        role,
    )


def checked_by_edits(conn: Connection, role: str) -> set[str]:
    """The routines in the checks of domains of what a role may edit: they run with its rights."""
    return names(
        conn,
        "SELECT DISTINCT d.refobjid::regproc::text AS name FROM pg_constraint AS k"
        " INNER JOIN pg_depend AS d ON k.oid = d.objid AND d.classid = 'pg_constraint'::regclass"
        " AND d.refclassid = 'pg_proc'::regclass"
        " INNER JOIN pg_attribute AS a ON k.contypid = a.atttypid"
        f" WHERE k.connamespace IN ({SCHEMAS})"
        " AND has_column_privilege(%s, a.attrelid, a.attnum, 'INSERT, UPDATE')",
        role,
    )


def named_in_rows(conn: Connection) -> set[str]:
    """The steps of a purge, and the procedure that the shipped task of a purge calls."""
    rows = conn.execute(
        "SELECT schema_name || '.' || step_routine AS name FROM omd.purge_step"
        " UNION SELECT target FROM omd_dispatch.task_conf_type_desc"
        " WHERE handler = 'SQL' AND deliver_id = 'ADMIN'"
    )
    return {row["name"] for row in rows}


@pytest.mark.parametrize("role", ROLES)
def test_what_is_internal_is_granted_where_a_call_reaches_it_and_nowhere_else(
    installed: Connection, catalog: Catalog, role: str
) -> None:
    """A routine of SECURITY INVOKER calls others with the rights of its caller."""
    viewed = used_by_views(installed, role) | checked_by_edits(installed, role)
    reached = set(viewed)
    open_ = [r.name for r in catalog if r.is_called and role in r.callable_by]
    open_ += [*viewed, *fired_by_edits(installed, role)]
    named = {name for name in NAMED_IN_TEXTS if role in catalog.routines[name].callable_by}
    open_ += named
    reached |= named
    if role == "omd_runner":  # the parts of kinds are named in a table
        open_ += [r.name for r in catalog if r.routine in PARTS_OF_KINDS]
        reached |= set(open_) & {r.name for r in catalog if r.routine in PARTS_OF_KINDS}
    if "omd.next_act" in open_:  # and so are those that say what is next
        open_ += ACTS_OF_KINDS
        reached |= ACTS_OF_KINDS
    if role in ("omd_runner", "omd_admin"):  # and so is what workers do between tasks
        open_ += [r.name for r in catalog if r.routine in MAINTENANCE]
        reached |= {r.name for r in catalog if r.routine in MAINTENANCE}
    if role == "omd_admin":  # and what a purge calls, and tasks of its group
        open_ += named_in_rows(installed)
        reached |= named_in_rows(installed)
    seen = set()
    while open_:
        name = open_.pop()
        if name not in seen:
            seen.add(name)
            if not catalog.routines[name].definer:
                reached |= catalog.calls[name]
                open_ += catalog.calls[name]
    granted = {r.name for r in catalog if role in r.callable_by}
    assert reached - granted == set(), "a call of this role ends in permission denied"
    internal = {name for name in granted if not catalog.routines[name].is_called}
    if role == "omd_runner":
        reached |= CALLED_BY_THE_WORKER
    assert internal - reached == set(), "this role has no use for it"


def test_a_reader_can_execute_nothing_that_changes_anything(catalog: Catalog) -> None:
    """PostgreSQL itself refuses a change in a function that is not volatile."""
    readers = [routine for routine in catalog if "omd_reader" in routine.callable_by]
    assert len(readers) > 5
    assert {routine.name for routine in readers if routine.is_volatile} == set(CHANGES_NOTHING)


def test_every_routine_pins_its_search_path(catalog: Catalog) -> None:
    """A body of BEGIN ATOMIC is resolved when it is created: no search path reaches it."""
    pinned = "search_path=pg_catalog, pg_temp"
    loose = {r.name for r in catalog if not r.atomic and pinned not in r.settings}
    assert loose == CONTROLS_TRANSACTIONS
    assert {r.name for r in catalog if r.definer} & CONTROLS_TRANSACTIONS == set()


def test_no_routine_with_the_owner_s_rights_executes_text(catalog: Catalog) -> None:
    """It would run SQL of an administrator, or the name of a table, as omd_owner."""
    definers = [routine for routine in catalog if routine.definer]
    assert len(definers) > 40
    found = {routine.name for routine in definers if routine.executes_text}
    assert found == OVER_GENERATED_TABLES


def test_text_over_generated_tables_is_composed_by_format_and_contains_no_argument(
    catalog: Catalog,
) -> None:
    for name in OVER_GENERATED_TABLES:
        body = catalog.routines[name].text
        executed = re.findall(r"\bEXECUTE\s+(?!FUNCTION|ON FUNCTION)(\w+)", body)
        assert set(executed) <= {"format", "v_statement"}, name
