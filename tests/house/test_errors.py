"""Errors: the catalogue, the texts, the COMMENTs and the Python classes agree."""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from house.catalog import NEVER, SCHEMAS
from house.exceptions import NEVER_LEAVE, NULL_IS_AN_ANSWER, RAISED_BY_PROGRAMS
from omd import errors
from omd._core import errors as core
from omd._core.errors import MADE
from omd.rooms.control.outcome import _RunError
from support.imports import MODULES, nodes_of
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
    assert {code: kind.__name__ for code, kind in MADE.items()} == found
    for sqlstate in found:
        assert errors.lookup(sqlstate) is psycopg.errors.lookup(sqlstate)


def exceptions() -> dict[str, set[str]]:
    """Return the exceptions that the driver defines, by module, and those that it raises."""
    defined: dict[str, set[str]] = {}
    known = {name for name, value in vars(builtins).items() if _is_exception(value)}
    known |= {"OmdError", "click.ClickException", "psycopg.Error", "psycopg.OperationalError"}
    known |= {*errors.__all__, "InstallError"} - {"lookup"}
    nodes = [
        (module, node)
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.ClassDef)
    ]
    while True:  # a class may be below another one
        before = len(known)
        for module, node in nodes:
            if {ast.unparse(base).partition("[")[0] for base in node.bases} & known:
                known.add(node.name)
                defined.setdefault(module, set()).add(node.name)
        if len(known) == before:
            return defined


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def test_every_exception_of_ours_that_reaches_a_user_is_public_or_has_an_sqlstate() -> None:
    found = exceptions()
    assert len(found["omd._core.errors"]) > len(errors.__all__) - 1
    for name in found.pop("omd._core.errors"):
        value = getattr(core, name)
        is_public = getattr(errors, name, None) is value if name in errors.__all__ else False
        assert is_public or value.sqlstate, name
    # `Outcome.result` raises it for a run that failed elsewhere; who catches it names StateError.
    assert found.pop("omd.rooms.control.outcome") == {"_RunError"}
    assert issubclass(_RunError, errors.StateError)
    others = {f"{module}.{name}" for module, names in found.items() for name in names}
    assert others == set(NEVER_LEAVE)


def test_the_driver_raises_no_bare_exception() -> None:
    """`raise Exception` and the like tell nobody what to catch."""
    assert_none(
        (module, ast.unparse(node))
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.Raise)
        and node.exc is not None
        and re.match(r"(Base)?Exception\b|psycopg\.(Database)?Error\b", ast.unparse(node.exc))
    )


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
