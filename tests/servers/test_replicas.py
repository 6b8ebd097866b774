"""A hot standby answers whatever only reads, and says where to write (V22).

What there is comes from the catalogue, and from the tree of commands, so nothing new is forgotten.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from demo.reading import READING, words
from omd.programs.terminal.commands import ExitCode
from omd.programs.web import routes
from omd.web import app
from support.offenders import assert_none
from support.server import VERSION
from support.servers import wait
from web.conftest import Page
from web.world import build

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from support.servers import Connection, Server, Servers

    Command = Callable[..., subprocess.CompletedProcess[str]]

VIEWS = """
    SELECT c.oid::regclass::text AS name FROM pg_class AS c
    WHERE c.relkind IN ('v', 'm') AND c.relnamespace::regnamespace::text ~ '^omd(_|$)'
        AND has_table_privilege(%s, c.oid, 'SELECT')
    ORDER BY 1"""
READERS = """
    SELECT p.oid::regproc::text AS name, p.provolatile AS volatility,
        coalesce(p.proargnames, '{}') AS names,
        ARRAY(
            SELECT format_type(a.t, NULL)
            FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (t, n) ORDER BY a.n
        ) AS types
    FROM pg_proc AS p
    WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)' AND p.prokind = 'f'
        AND has_function_privilege('omd_reader', p.oid, 'EXECUTE')
        AND p.prorettype <> 'trigger'::regtype
    ORDER BY 1"""
# What a parameter may be: the greatest value in a column of its name.
COLUMNS = """
    SELECT DISTINCT ON (a.attname) a.attname AS name, c.oid::regclass::text AS view
    FROM pg_class AS c INNER JOIN pg_attribute AS a ON c.oid = a.attrelid AND a.attnum > 0
    WHERE c.relnamespace = 'omd_report'::regnamespace
        AND has_table_privilege('omd_reader', c.oid, 'SELECT')
        AND format_type(a.atttypid, NULL) IN ('text', 'bigint', 'integer')
    ORDER BY a.attname, c.relname"""

BATCH_INSTANCES = """
    SELECT DISTINCT ON (execution_status_code) batch_instance_id FROM omd.batch_instance
    WHERE batch_instance_id > 0 ORDER BY execution_status_code, batch_instance_id"""

# They perform something and take it back, which only the primary can; the hint leads there.
TRIED = {"call omd_facts.build_deploy_sql --interface-code"}
# What it answers depends on what is wrong, which the world has plenty of.
UNWELL = {"status", "doctor"}


@pytest.fixture(scope="module")
def primary(place: Servers) -> Server:
    server = place.with_omd(VERSION)
    with contextlib.closing(server.connect()) as conn:
        build(conn)
        conn.execute("CREATE ROLE looker LOGIN IN ROLE omd_reader")
        conn.execute("CREATE ROLE loader LOGIN IN ROLE omd_runner")
    return server


@pytest.fixture(scope="module")
def standby(place: Servers, primary: Server) -> Server:
    server = place.standby(primary)
    server.follow(primary)
    return server


@pytest.fixture
def both(primary: Server, standby: Server) -> Iterator[tuple[Connection, Connection]]:
    """A connection to each, as omd_reader."""
    with (
        contextlib.closing(primary.connect(role="omd_reader")) as one,
        contextlib.closing(standby.connect(role="omd_reader")) as other,
    ):
        yield one, other


def outcome(conn: Connection, query: str, *parameters: Any) -> int | str:
    """Return how many rows a query has, or the SQLSTATE of its error."""
    try:
        return len(conn.execute(query.encode(), parameters or None).fetchall())
    except psycopg.Error as error:
        return f"{error.sqlstate}: {error}"


@pytest.mark.parametrize("role", ["omd_reader", "omd_admin"])
def test_each_view_reads_the_same_as_on_the_primary(
    primary: Server, standby: Server, role: str
) -> None:
    with (
        contextlib.closing(primary.connect(role=role)) as one,
        contextlib.closing(standby.connect(role=role)) as other,
    ):
        names = [row["name"] for row in one.execute(VIEWS, [role])]
        assert len(names) > 150
        # Times that Python can't hold come as texts.
        queries = {name: f"SELECT v::text FROM {name} AS v" for name in names}
        assert_none(
            (name, f"{outcome(other, query)}, and on the primary {outcome(one, query)}")
            for name, query in queries.items()
            if outcome(one, query) != outcome(other, query)
        )
        assert sum(outcome(other, query) != 0 for query in queries.values()) > 100


def values(conn: Connection) -> dict[str, Any]:
    found = {}
    for row in conn.execute(COLUMNS).fetchall():
        query = f"SELECT max({row['name']}) AS it FROM {row['view']}"
        [value] = conn.execute(query.encode()).fetchall()
        found[row["name"]] = value["it"]
    return found


def test_each_function_that_only_reads_answers_as_on_the_primary(
    both: tuple[Connection, Connection],
) -> None:
    one = both[0]
    known = values(one)
    wrong = []
    given = 0
    readers = one.execute(READERS).fetchall()
    assert len(readers) > 100
    for reader in readers:
        names = [name.removeprefix("p_") for name in reader["names"]]
        names += [""] * (len(reader["types"]) - len(names))
        of = list(zip(names, reader["types"], strict=False))
        for arguments in (
            [
                known.get(name) if kind in ("text", "bigint", "integer") else None
                for name, kind in of
            ],
            [None] * len(of),
        ):
            given += any(argument is not None for argument in arguments)
            places = ", ".join(f"%s::{kind}" for _, kind in of)
            query = f"SELECT x::text FROM {reader['name']}({places}) AS x"
            found = [
                outcome(conn, f"{query} -- %s" if not of else query, *(arguments or [0]))
                for conn in both
            ]
            # This one tells of the server.
            if found[0] != found[1] and reader["name"] != "omd.primary_server":
                wrong.append((reader["name"], f"{arguments}: {found}"))
    assert_none(wrong)
    assert given > 50


def address(server: Server) -> str:
    return f"{psycopg.conninfo.conninfo_to_dict(server.dsn())['host']} port 5432"


def run(dsn: str, omd_here: Command, command: str, *given: str) -> tuple[int, str]:
    done = omd_here(*words(command, *given), dsn=dsn)
    return done.returncode, f"{done.stdout[-300:]}{done.stderr[-600:]}"


def test_each_command_that_only_reads_works(
    primary: Server, standby: Server, both: tuple[Connection, Connection], omd_here: Command
) -> None:
    wrong = []
    ran = 0
    for command, query in READING.items():
        found: list[list[str]] = [[]]
        if query is not None:
            rows = primary.execute(query)
            found = [
                [str(value) for value in row.values()] for row in rows if None not in row.values()
            ]
        for given in found[:5]:
            code, told = run(standby.dsn(), omd_here, command, *given)
            ran += 1
            if command in TRIED:
                assert "25006" in told
                assert "Hint: Connect to the primary: " in told
            elif command in UNWELL:
                expected, _ = run(primary.dsn(), omd_here, command, *given)
                if code != expected:
                    wrong.append((command, told))
            elif code not in (ExitCode.OK, ExitCode.SKIPPED, ExitCode.ABORTED):
                wrong.append((f"{command} {given}", told))
    assert_none(wrong)
    assert ran > len(READING) - 10


WRITING = (
    *("call reap_expired_instances", "install", "call omd_event.publish"),
    *("call omd_dispatch.suspend --family-code RUN", "worker --kind TOPIC --once"),
    *("call register_batch --batch-code b_new", "call purge --keep 1d"),
    "call set_next_run_indicator --next-run-indicator C --module-instance-id 3",
    *("call omd_lineage.step --topic dwh.t_still", "call omd_dispatch.maintain"),
    "call set_parameter --parameter-code a --parameter-value b --module-code m_s",
)


@pytest.mark.parametrize("command", WRITING)
def test_a_command_that_writes_names_the_primary(
    primary: Server, standby: Server, omd_here: Command, command: str
) -> None:
    code, told = run(standby.dsn(), omd_here, command)
    assert code == ExitCode.FAILURE, told
    assert "SQLSTATE: 25006" in told
    assert f"Hint: Connect to the primary: {address(primary)}" in told


def test_whoever_may_only_write_learns_where(primary: Server, standby: Server) -> None:
    """The statistics of replication are not for the role, and the password for nobody."""
    dsn = psycopg.conninfo.make_conninfo(standby.dsn(), user="loader")
    with (
        omd.connect(dsn) as control,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as caught,
    ):
        control.calls.omd.begin_module("m_s")
    assert isinstance(caught.value, omd.errors.OmdError)
    assert caught.value.sqlstate == "25006"
    assert caught.value.hint == f"Connect to the primary: {address(primary)}"
    assert isinstance(caught.value, psycopg.errors.ReadOnlySqlTransaction)
    assert "cannot execute" in caught.value.message


def test_on_a_primary_that_only_reads_the_error_is_postgresqls(primary: Server) -> None:
    dsn = psycopg.conninfo.make_conninfo(
        primary.dsn(), options="-c default_transaction_read_only=on"
    )
    with omd.connect(dsn) as control, pytest.raises(psycopg.Error) as caught:
        control.calls.omd.begin_module("m_s")
    assert type(caught.value) is psycopg.errors.ReadOnlySqlTransaction
    with contextlib.closing(primary.connect()) as conn:
        assert conn.execute("SELECT omd.primary_server() AS it").fetchall() == [{"it": None}]


def test_the_page_is_alive_on_a_standby(
    primary: Server, standby: Server, both: tuple[Connection, Connection]
) -> None:
    """Nothing can be listened to there, so each section looks at its interval."""
    dsn = psycopg.conninfo.make_conninfo(standby.dsn(), user="looker")
    page = Page(app(dsn, read_only=True))
    try:
        known = values(both[0])
        paths = [
            "/", "/todo", "/work", "/queue", "/deliveries", "/lake", "/log", "/grid", "/graph",
            "/find?q=m_", "/module/m_s", "/module/m_active", "/batch/b_s", "/run/module/3",
            f"/delivery/{known['delivery_id']}", "/facts/shop/person",
        ]  # fmt: skip
        assert {path.split("/")[1].split("?")[0] for path in paths} <= {
            pattern.split("/")[1] for pattern in routes.SCREENS
        }
        for path in paths:
            answer = page.get(path)
            assert answer.status == 200, path
            assert "25006" not in answer.text, path
            assert "read-only transaction" not in answer.text, path
        watches = page.site.watches
        seen: list[Any] = []

        class Viewer:
            def see(self, watch: Any) -> None:
                seen.append(watch.picture.html)

            def be_live(self, is_live: bool) -> None:
                del is_live

        query = "SELECT count(*) AS n FROM omd.module_instance"
        viewer = Viewer()
        watch, _ = watches.show(
            "runs", lambda conn: str(conn.execute(query).fetchone()["n"]), viewer
        )
        try:
            wait(lambda: bool(seen) and watches.is_live, "the page is live")
            primary.execute("CALL omd.begin_module('m_s')")
            now = str(primary.one(query))
            wait(lambda: seen[-1] == now, "the page shows what the primary has done")
        finally:
            watches.leave(watch, viewer)
    finally:
        page.close()


def test_what_a_begin_would_answer_is_foreseen_as_it_is_tried_on_the_primary(
    primary: Server, standby: Server
) -> None:
    with (
        contextlib.closing(primary.connect()) as one,
        contextlib.closing(standby.connect(role="omd_reader")) as other,
    ):
        standby.follow(primary)
        calls = [
            f"omd.explain_begin(p_{kind}_code => %s, p_batch_instance_id => %s)"
            for kind in ("module", "batch")
        ]
        instances = [0, *(r["batch_instance_id"] for r in one.execute(BATCH_INSTANCES))]
        wrong = []
        answers = set()
        for kind, call in zip(("module", "batch"), calls, strict=True):
            codes = [
                row["code"] for row in one.execute(f"SELECT {kind}_code AS code FROM omd.{kind}")
            ]
            for code in codes:
                for instance in instances:
                    found = [
                        conn.execute(f"SELECT * FROM {call}".encode(), [code, instance]).fetchall()
                        for conn in (one, other)
                    ]
                    answers.add((kind, found[0][0]["processing_indicator"], found[0][0]["reason"]))
                    # It would fail: only who tries it knows.
                    if found[0][0]["processing_indicator"] is None:
                        continue
                    if kind == "batch":
                        for rows in found:
                            rows[0]["instance_array"] = None
                    if found[0] != found[1]:
                        wrong.append((f"{kind} {code} in {instance}", f"{found}"))
        assert_none(wrong)
        assert len(answers) > 9, answers


def test_a_run_in_the_database_of_the_primary_is_alive_on_the_standby(
    primary: Server, standby: Server
) -> None:
    """Its session is not seen there, and no report says that it is dead."""
    query = """
        SELECT omd._cause_of_death(NULL, TRUE, %s, statement_timestamp(), 'P', 0) AS it"""
    assert standby.execute(query, 1) == [{"it": None}]
    assert primary.execute(query, 1) == [{"it": "the statement that ran it has ended"}]
