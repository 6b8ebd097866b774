"""Clients and databases of different versions: what works, and what is refused (V4, V5)."""

from __future__ import annotations

import dataclasses
import importlib
import keyword
import pkgutil
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

import omd
import omd.rooms
from omd import errors
from omd._core import packages, versions
from omd._core.calls import JOBS, Calls, Routine
from omd._core.rows import Code, _codes_of, rows_of
from omd.rooms.control import rows as t

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
# By type: what is passed, as a literal of SQL, and what it is in Python.
SAMPLES: dict[str, tuple[str, Any]] = {
    "bigint": ("7", 7),
    "boolean": ("true", True),
    "date": ("'2026-01-02'", date(2026, 1, 2)),
    "double precision": ("1.5", 1.5),
    "integer": ("5", 5),
    "interval": ("'2 minutes'", timedelta(minutes=2)),
    "json": ("'{\"a\": 1}'", {"a": 1}),
    "jsonb": ("'{\"a\": 1}'", {"a": 1}),
    "numeric": ("2.5", Decimal("2.5")),
    "text": ("'?'", "?"),
    "timestamp with time zone": (f"'{NOW.isoformat()}'", NOW),
    "uuid": (f"'{UUID(int=7)}'", UUID(int=7)),
    "oid": ("5", 5),
    "void": ("NULL", None),
}


def sample(type_: str) -> tuple[str, Any]:
    if type_.endswith("[]"):
        literal, value = SAMPLES[type_[:-2]]
        return f"ARRAY[{literal}]::{type_}", [value]
    literal, value = SAMPLES[type_]
    return f"{literal}::{type_}" if type_ != "void" else literal, value


def rooms() -> list[str]:
    names = [module.name for module in pkgutil.iter_modules(omd.rooms.__path__) if module.ispkg]
    return [name for name in names if _exists(f"omd.rooms.{name}.calls")]


def _exists(name: str) -> bool:
    return importlib.util.find_spec(name) is not None  # type: ignore[attr-defined]


def calls_of(room: str) -> tuple[type[Calls], dict[str, Routine]]:
    module = importlib.import_module(f"omd.rooms.{room}.calls")
    [class_] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Calls)
        and value.__module__ == module.__name__
    ]
    routines = {
        name[1:].lower(): value
        for name, value in vars(module).items()
        if isinstance(value, Routine)
    }
    return class_, routines


def views() -> list[type]:
    found = []
    for name in [m.name for m in pkgutil.iter_modules(omd.rooms.__path__) if m.ispkg]:
        if _exists(f"omd.rooms.{name}.rows"):
            module = importlib.import_module(f"omd.rooms.{name}.rows")
            found += [
                v for v in vars(module).values() if isinstance(v, type) and hasattr(v, "view")
            ]
    return found


PROCEDURE = """\
SELECT p.prokind = 'p' AS is_procedure, p.proretset AS is_set,
    pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
    (
        SELECT coalesce(jsonb_agg(jsonb_build_array(a.name, format_type(a.type, NULL), a.mode)
            ORDER BY a.number), '[]')
        FROM unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]),
            coalesce(p.proargmodes, array_fill('i'::"char", ARRAY[p.pronargs::int])))
            WITH ORDINALITY AS a (name, type, mode, number)
        WHERE a.mode IN ('o', 'b', 't')
    ) AS answers
FROM pg_proc AS p WHERE p.oid = to_regproc(%s)"""


def stub(found: dict[str, Any], name: str, *, more: bool) -> str:
    """Return a routine that answers samples, as another minor version might have it."""
    answers, arguments, result = found["answers"], found["arguments"], found["result"]
    values = [sample(type_)[0] for _, type_, _ in answers]
    option = "p_new_option text DEFAULT NULL"
    given = [arguments, option] if arguments and more else [arguments or (option if more else "")]
    if found["is_procedure"]:
        given += ["INOUT p_new_answer text DEFAULT NULL"] if more else []
        body = " ".join(f"{a[0]} := {value};" for a, value in zip(answers, values, strict=True))
        head = f"PROCEDURE {name}({', '.join(given)})"
    else:
        if answers and more:
            values.append("'new'::text")
            if result.startswith("TABLE("):
                result = f"{result[:-1]}, new_column text)"
            else:
                given.append("OUT new_column text")
                result = "SETOF record" if found["is_set"] else "record"
        if answers:
            body = (
                f"RETURN QUERY SELECT {', '.join(values)};"
                if found["is_set"]
                else " ".join(f"{a[0]} := {v};" for a, v in zip(answers, values, strict=False))
            )
        else:
            base = result.removeprefix("SETOF ")
            value = sample(base)[0]
            body = f"RETURN NEXT {value};" if found["is_set"] else f"RETURN {value};"
            body = "RETURN;" if base == "void" else body
        head = f"FUNCTION {name}({', '.join(given)}) RETURNS {result}"
    return (
        f"CREATE {head} LANGUAGE plpgsql AS $stub$ #variable_conflict use_column\n"
        f"BEGIN {body} END $stub$"
    )


@pytest.fixture
def others(
    dsn: str, empty_dsn: str, connect: Callable[..., Connection]
) -> tuple[Connection, Connection]:
    """The database with OMD, and one for stubs."""
    real, stubs = connect(dsn), connect(empty_dsn)
    for name in {
        s for room in rooms() for r in calls_of(room)[1].values() for s in [r.name.split(".")[0]]
    }:
        stubs.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name)))
    stubs.execute("CREATE SCHEMA IF NOT EXISTS omd_report")
    return real, stubs


def have_version(conn: Connection, version: str) -> None:
    conn.execute(
        sql.SQL("CREATE OR REPLACE FUNCTION omd.version() RETURNS text LANGUAGE sql AS {}").format(
            f"SELECT '{version}'::text"
        )
    )


def arguments_of(routine: Routine) -> dict[str, Any]:
    return {
        (name + "_" if keyword.iskeyword(name) else name): sample(type_)[1]
        for name, type_ in ((n.removeprefix("p_"), t) for n, t in routine.parameters.items())
    }


def test_each_call_works_with_a_database_that_takes_and_answers_more(
    others: tuple[Connection, Connection], empty_dsn: str
) -> None:
    real, stubs = others
    count = 0
    for room in rooms():
        class_, routines = calls_of(room)
        for routine in routines.values():
            if routine.name == "omd.version":  # below
                continue
            found = real.execute(PROCEDURE, [routine.name]).fetchone()
            assert found is not None, routine.name
            stubs.execute(stub(found, routine.name, more=True).encode())
            count += 1
    assert count > 200
    major, minor = versions.parts(versions.mine()) or (0, 0)
    have_version(stubs, f"{major}.{minor + 3}.1")
    with omd.connect(empty_dsn) as control:
        for room in rooms():
            class_, routines = calls_of(room)
            calls = class_(control._link)
            for name, routine in routines.items():
                answer = getattr(calls, name)(**arguments_of(routine))
                rows = answer if isinstance(answer, list) else [answer]
                for row in filter(dataclasses.is_dataclass, rows):
                    assert not hasattr(row, "new_answer")
                    assert not hasattr(row, "new_column")
                    for field in _codes_of(type(row)):
                        # A code that this client does not know is the text.
                        assert getattr(row, field) == "?"
                        assert type(getattr(row, field)) is str
                if routine.answer is not None:
                    assert not dataclasses.is_dataclass(answer)


def test_each_view_is_read_that_has_columns_and_codes_more(
    others: tuple[Connection, Connection], empty_dsn: str
) -> None:
    real, stubs = others
    for row in views():
        name: str = row.view
        columns = real.execute(
            """\
SELECT a.attname AS name, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS type
FROM pg_attribute AS a JOIN pg_type AS t ON a.atttypid = t.oid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum""",
            [name],
        ).fetchall()
        told = [f'{sample(c["type"])[0]} AS "{c["name"]}"' for c in columns]
        schema = sql.Identifier(name.split(".")[0])
        stubs.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        stubs.execute(
            f"CREATE OR REPLACE VIEW {name} AS SELECT 'new'::text AS new_first,"
            f" {', '.join(told)}, 'new'::text AS new_last".encode()
        )
    with omd.connect(empty_dsn) as control:
        for row in views():
            [read] = control.report(row)
            for field in _codes_of(row):
                assert getattr(read, field) == "?"


def test_a_code_that_is_not_known_stays_a_text() -> None:
    class Colour(Code):
        RED = "R"

    @dataclasses.dataclass
    class Row:
        colour: Any

    Row.__annotations__["colour"] = Colour
    names = (b"p_new", b"p_colour")
    assert [r.colour for r in rows_of(Row, names, [(1, "R"), (2, "Z"), (3, None)])] == [
        Colour.RED, "Z", None
    ]  # fmt: skip


NEXT, HERE = "1.4.0", "1.3.7"


@pytest.fixture
def older(
    control: omd.Control, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], None]:
    """A function that gives client and database their versions."""

    def have(client: str, database: str) -> None:
        monkeypatch.setattr(versions, "mine", lambda: client)
        have_version(conn, database)

    return have


@pytest.mark.parametrize(
    ("client", "database"), [("1.4.0", "1.2.9"), ("2.0.0", "1.9.0"), ("1.0.0", "0.1.0")]
)
def test_a_client_that_is_too_new_is_refused_at_connect(
    older: Callable[[str, str], None], dsn: str, omd_here: Any, client: str, database: str
) -> None:
    older(client, database)
    with pytest.raises(errors.NotInstalled) as caught:
        omd.connect(dsn)
    for version in (client, database):
        assert version in caught.value.message
    assert caught.value.hint == "Run: omd install"
    done = omd_here("status", dsn=dsn)
    assert done.returncode == 5
    assert client in done.stderr


def test_a_client_of_an_older_major_version_is_refused_at_connect(
    older: Callable[[str, str], None], dsn: str
) -> None:
    older("1.7.0", "2.0.1")
    with pytest.raises(errors.lookup("OM903"), match=r"omd 1\.7\.0.*omd 2\.0\.1") as caught:
        omd.connect(dsn)
    assert caught.value.hint == f"Run: {packages.install_version(2)}"


@pytest.mark.parametrize("database", ["1.4.0", "1.4.9", "1.3.0", "1.5.0", "1.99.0", "1.5.0rc1"])
def test_other_versions_work(older: Callable[[str, str], None], dsn: str, database: str) -> None:
    older("1.4.2", database)
    with omd.connect(dsn, lease=None) as client:
        begun = client.calls.omd.begin_module("m_alone")
        client.calls.omd.module_success(begun.module_instance_id)


def test_a_client_one_minor_newer_runs_jobs(
    older: Callable[[str, str], None], dsn: str, conn: Connection
) -> None:
    older(NEXT, HERE)
    with omd.connect(dsn, lease=timedelta(minutes=1)) as client:
        with pytest.raises(ZeroDivisionError), client.module("m_alone"):
            _ = 1 / 0
        with client.module("m_alone") as run:
            assert run.instance_id > 0
            client.calls.omd.heartbeat(run.instance_id, timedelta(minutes=1))
    [row] = conn.execute("SELECT count(*) AS n FROM omd.module_instance WHERE module_id > 0")
    assert row["n"] == 2


def test_what_an_older_database_lacks_is_told_with_the_version_that_has_it(
    older: Callable[[str, str], None], dsn: str, conn: Connection, omd_here: Any
) -> None:
    older(NEXT, HERE)
    conn.execute("DROP PROCEDURE omd.retry")
    with omd.connect(dsn) as client:
        with pytest.raises(errors.NotInstalled) as caught:
            client.calls.omd.retry("m_alone")
        assert "the database has omd 1.3.7" in caught.value.message
        assert "omd 1.4 has it" in caught.value.message
        assert caught.value.hint == "Run: omd install"
        assert caught.value.detail["since"] == "1.4"
    conn.execute("ALTER VIEW omd_report.batch_list RENAME COLUMN frequency_code TO was")
    with omd.connect(dsn) as client, pytest.raises(errors.NotInstalled, match=r"omd 1\.4 has it"):
        client.report(t.BatchListRow)
    assert omd_here("retry", "m_alone", dsn=dsn).returncode == 5


def test_an_answer_that_lacks_something_is_null_for_jobs_only(
    others: tuple[Connection, Connection],
    empty_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, stubs = others
    monkeypatch.setattr(versions, "mine", lambda: NEXT)
    tried = 0
    for room in rooms():
        for routine in calls_of(room)[1].values():
            found = real.execute(PROCEDURE, [routine.name]).fetchone()
            assert found is not None
            *answers, last = found["answers"] or [[None, None, None]]
            if not answers:
                continue
            text = stub(found, routine.name, more=False)
            if found["is_procedure"]:
                head, _, rest = text.partition(f"INOUT {last[0]} ")
                default = rest[: _end(rest)]
                text = head.rstrip(", ") + rest[len(default) :].lstrip(",").replace(
                    f"{last[0]} := {sample(last[1])[0]};", ""
                )
                text = (
                    text
                    if head.rstrip().endswith("(")
                    else _with_comma(head, rest[len(default) :], last)
                )
            elif found["result"].startswith("TABLE("):
                text = text.replace(f", {last[0]} {last[1]})", ")").replace(
                    f", {sample(last[1])[0]};", ";"
                )
            else:
                continue
            stubs.execute(text.encode())
            tried += 1
    assert tried > 30
    have_version(stubs, HERE)
    with omd.connect(empty_dsn) as control:
        for room in rooms():
            class_, routines = calls_of(room)
            calls = class_(control._link)
            for name, routine in routines.items():
                if routine.name == "omd.version" or stubs.execute(
                    "SELECT to_regproc(%s) AS o", [routine.name]
                ).fetchone() == {"o": None}:
                    continue
                call = getattr(calls, name)
                if routine.name in JOBS:
                    answer = call(**arguments_of(routine))
                    row = answer[0] if isinstance(answer, list) else answer
                    assert None in [getattr(row, f.name) for f in dataclasses.fields(row)]
                else:
                    with pytest.raises(errors.NotInstalled, match=r"omd 1\.4 has it"):
                        call(**arguments_of(routine))


def _end(text: str) -> int:
    """Return where the type and default of a parameter end."""
    depth = 0
    for place, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            if depth == 0:
                return place
            depth -= 1
        elif letter == "," and depth == 0:
            return place
    raise AssertionError(text)


def _with_comma(head: str, rest: str, last: list[str]) -> str:
    rest = rest.replace(f"{last[0]} := {sample(last[1])[0]};", "")
    return head + rest[1:].lstrip() if rest.startswith(",") else head.rstrip().rstrip(",") + rest
