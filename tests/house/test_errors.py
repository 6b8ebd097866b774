"""Errors: the catalogue, the texts, the COMMENTs and the Python classes agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from house.catalog import NEVER, SCHEMAS
from house.exceptions import NULL_IS_AN_ANSWER, RAISED_BY_PROGRAMS
from omd import errors
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from house.catalog import Catalog, Routine

    Connection = psycopg.Connection[dict[str, Any]]

CODE = re.compile(r"\bOM\d{3}\b")


def catalogue(conn: Connection) -> dict[str, str]:
    rows = conn.execute("SELECT * FROM omd.error_catalogue")
    return {row["sqlstate_code"]: row["error_name"] for row in rows}


def test_every_error_of_the_catalogue_is_raised_and_every_raised_one_is_in_it(
    installed: Connection, catalog: Catalog
) -> None:
    raised = {code for routine in catalog for code in routine.raises} | RAISED_BY_PROGRAMS
    assert raised == {code for code in catalogue(installed) if code < "OM9"}
    named = {c for r in catalog for c in CODE.findall(r.definition + r.comment)}
    assert named <= set(catalogue(installed))


def test_every_error_has_a_class_of_its_name_and_every_class_an_error(
    installed: Connection,
) -> None:
    found = catalogue(installed)
    for sqlstate, name in found.items():
        assert getattr(errors, name) is psycopg.errors.lookup(sqlstate)
    classes = (getattr(errors, name) for name in errors.__all__)
    # ServerIsStandby and RightMissing have the SQLSTATE of PostgreSQL.
    theirs = (None, "25006", "42501")
    ours = {c.__name__ for c in classes if getattr(c, "sqlstate", None) not in theirs}
    assert ours == set(found.values())


def said(catalog: Catalog, routine: Routine) -> set[str]:
    """Return the errors in a COMMENT; `as begin_step` means those of the COMMENT of begin_step."""
    codes = set(CODE.findall(routine.comment))
    for other in re.findall(r"Errors: as (\w+)", routine.comment):
        named = catalog.routines.get(f"{routine.schema}.{other}")
        codes |= said(catalog, named) if named else {other}
    return codes


def misnamed(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for _, routine in catalog.of_files():
        raised, named = catalog.raised(routine.name), said(catalog, routine)
        for code in sorted(named - raised):
            yield routine.name, f"{code} is named in the COMMENT, and never raised"
        if routine.is_called:
            for code in sorted(raised - named):
                yield routine.name, f"{code} is raised, and not named in the COMMENT"


def test_a_comment_names_the_errors_that_are_raised(catalog: Catalog) -> None:
    """A COMMENT lists a routine's own errors and its callees'; internal ones need not list all."""
    assert_none(misnamed(catalog))


def unneeded(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for edge, codes in NEVER.items():
        caller, _, callee = edge.partition(" > ")
        if not {caller, callee} <= catalog.routines.keys():
            yield edge, "one of them does not exist"
            continue
        text = catalog.routines[caller].text
        if callee not in catalog.calls[caller] | catalog.fired(caller, text):
            yield edge, "it does not call it"
        for code in sorted(codes - catalog.raised(callee)):
            yield edge, f"{code} is never raised there"


def test_the_exceptions_are_needed(catalog: Catalog) -> None:
    assert_none(unneeded(catalog))


# NULL


def state(conn: Connection) -> dict[str, Any]:
    """Return the contents of every table."""
    tables = conn.execute(
        f"SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace IN ({SCHEMAS})"
        " AND relkind IN ('r', 'p') ORDER BY 1"
    ).fetchall()
    rows = "SELECT string_agg(t::text, chr(10) ORDER BY t::text) AS rows FROM {} AS t"
    return {
        table["name"]: conn.execute(rows.format(table["name"]).encode()).fetchone()
        for table in tables
    }


def test_no_routine_takes_null_for_what_it_needs(conn: Connection, catalog: Catalog) -> None:
    """Every routine that somebody calls from outside is called with every argument NULL."""
    conn.execute("CALL omd.register_batch('b', 'Adhoc')")
    conn.execute("CALL omd.register_module('m', 'HSTG', 'public.t')")
    conn.execute("CALL omd.begin_module('m')")
    # A round of maintenance would say when it was made.
    conn.execute("UPDATE omd.maintenance SET begun_datetime = 'infinity'")
    before = state(conn)
    answered, wrong = set(), []
    public = [r for r in catalog if r.is_called and r.arguments and not r.is_trigger]
    public.remove(catalog.routines["omd.raise_error"])  # it raises what it is told to
    assert len(public) > 50
    for routine in public:
        call = sql.SQL("CALL {}({})" if routine.kind == "p" else "SELECT * FROM {}({})").format(
            sql.Identifier(routine.schema, routine.routine),
            sql.SQL(", ").join([sql.NULL] * routine.arguments),
        )
        try:
            conn.execute(call)
            answered.add(routine.name)
        except psycopg.Error as error:
            if error.sqlstate != "OM005" or not error.diag.message_hint:
                wrong.append(f"{routine.name}: {error}")
    assert wrong == []
    assert answered == set(NULL_IS_AN_ANSWER)
    assert state(conn) == before
