"""``omd call`` calls any public routine (issue 56, 1)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd._core import catalogue
from omd._core.link import Link
from omd.programs.cli.call import _options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """x'); DROP TABLE dwh.t; -- "q" $1 %s %(a)s {0} \\ \n <b> é"""


@pytest.fixture
def call(omd_here: Command, dsn: str) -> Command:
    """Run ``omd call`` on an emptied database."""
    return lambda *arguments, **options: omd_here("call", *arguments, dsn=dsn, **options)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def register(call: Command, *more: str, code: str = "m") -> subprocess.CompletedProcess[str]:
    return call(
        *("register_module", "--module-code", code, "--area-code", "INT"),
        *("--table-code", "dwh.t", "--output", "json", *more),
    )


def module(conn: Connection) -> dict[str, Any]:
    [row] = conn.execute("SELECT * FROM omd_report.module_list").fetchall()
    return row


# What it prints ---------------------------------------------------------------------------------


def test_a_name_without_schema_is_of_omd(call: Command, conn: Connection) -> None:
    [version] = conn.execute("SELECT omd.version() AS v").fetchone().values()  # type: ignore[union-attr]
    for name in ("version", "omd.version", "OMD.Version"):
        assert answer(call(name, "--output", "json")) == {"version": version}
    assert version in call("version").stdout


def test_a_procedure_prints_the_row_that_it_answers(call: Command, conn: Connection) -> None:
    told = answer(register(call))
    assert told == {"module_id": module(conn)["module_id"]}


def test_a_procedure_that_answers_nothing_prints_nothing(call: Command) -> None:
    register(call)
    for output in ("table", "json"):
        done = call(
            *("set_parameter", "--parameter-code", "p", "--parameter-value", "1"),
            *("--module-code", "m", "--output", output),
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_function_prints_its_rows(call: Command, conn: Connection) -> None:
    conn.execute("CALL omd.register_batch('b', p_frequency_code => 'Adhoc')")
    assert answer(call("batch_members", "--batch-code", "b", "--output", "json")) == []
    for code in ("m1", "m2"):
        register(call, code=code)
        conn.execute("CALL omd.add_module_to_batch('b', %s::text)", [code])
    told = answer(call("batch_members", "--batch-code", "b", "--output", "json"))
    assert [row["member_code"] for row in told] == ["m1", "m2"]
    table = call("batch_members", "--batch-code", "b").stdout.splitlines()
    assert table[0].split()[:2] == ["member_type", "member_code"]


# Values -----------------------------------------------------------------------------------------


def test_a_hostile_value_is_a_value(call: Command, conn: Connection) -> None:
    conn.execute("CREATE TABLE dwh.t (a integer)")
    register(call, "--module-description", HOSTILE, code=HOSTILE)
    assert (module(conn)["module_code"], module(conn)["module_description"]) == (HOSTILE, HOSTILE)
    conn.execute("SELECT FROM dwh.t")


def test_a_hostile_element_of_an_array_is_an_element(call: Command, conn: Connection) -> None:
    elements = ['{a,"b"}', "NULL", "\\", " x ", HOSTILE]
    given = [part for element in elements for part in ("--business-key-columns", element)]
    register(call, *given)
    [row] = conn.execute("SELECT business_key_columns FROM omd.module WHERE module_id > 0")
    assert list(row.values()) == [elements]


def test_numbers_of_an_array_are_numbers(call: Command) -> None:
    given = ["omd_dispatch.release_tasks", "--backend-id", "b", "--task-ids", "1", "--task-ids"]
    for value, code in (("2", 0), ("two", 1)):
        done = call(*given, value)
        assert done.returncode == code, done.stderr
        assert ('type bigint: "two"' in done.stderr) == (value == "two")


@pytest.mark.parametrize("spelled", ["--module-code", "--module_code", "--MODULE"])
def test_a_parameter_is_named_without_its_p(call: Command, spelled: str) -> None:
    done = call("register_module", spelled, "m", "--area-code", "INT", "--table-code", "dwh.t")
    assert done.returncode == (2 if spelled == "--MODULE" else 0), done.stderr


def test_a_value_may_be_a_file_or_stdin(call: Command, conn: Connection, tmp_path: Path) -> None:
    file = tmp_path / "long.sql"
    file.write_bytes(f"SELECT '{HOSTILE}'\r\n".encode())
    for given, stdin, stored in (
        (f"@{file}", None, file.read_bytes().decode()),
        ("-", HOSTILE, HOSTILE),
        (f"@@{file}", None, f"@{file}"),
        ("@@", None, "@"),
        ("-1", None, "-1"),
        ("--dsn", None, "--dsn"),
        ("", None, ""),
    ):
        done = call(
            *("register_module", "--module-code", "m", "--area-code", "INT", "--table-code"),
            *("dwh.t", "--module-description", given),
            input=stdin,
        )
        assert done.returncode == 0, done.stderr
        assert module(conn)["module_description"] == stored


def test_a_file_that_is_not_there_is_wrong_use(call: Command, tmp_path: Path) -> None:
    done = register(call, "--module-description", f"@{tmp_path}/nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/nowhere: No such file" in done.stderr
    (tmp_path / "odd").write_bytes(b"a\0b")
    assert register(call, "--module-description", f"@{tmp_path}/odd").returncode == 2
    (tmp_path / "odd").write_bytes(b"\xff")
    assert register(call, "--module-description", f"@{tmp_path}/odd").returncode == 2


def test_what_is_not_given_is_not_sent_and_null_is_sent(call: Command) -> None:
    given = ["omd_dispatch.cron_next", "--cron", "0 3 * * *", "--output", "json"]
    given += ["--after", "2026-01-01T00:00:00Z"]
    next_ = datetime.fromisoformat(answer(call(*given))["cron_next"])
    assert next_ == datetime(2026, 1, 1, 3, tzinfo=timezone.utc), "the zone is UTC by default"
    told = call(*given, "--time-zone-null")
    assert told.returncode == 1 or answer(told)["cron_next"] is None


def test_a_parameter_without_default_may_be_null_but_not_left_out(call: Command) -> None:
    register(call)
    given = ["set_parameter", "--parameter-code", "p", "--module-code", "m"]
    done = call(*given)
    assert done.returncode == 2
    assert "--parameter-value" in done.stderr
    assert call(*given, "--parameter-value-null").returncode == 0
    done = call(*given, "--parameter-value-null", "--parameter-value", "1")
    assert done.returncode == 2
    assert "either" in done.stderr


def test_a_boolean_is_true_or_false(call: Command, conn: Connection) -> None:
    conn.execute("CALL omd.register_batch('b', p_frequency_code => 'Adhoc')")
    for value, code in (("true", 0), ("FALSE", 0), ("yes", 2), ("", 2)):
        done = call("run_batch", "--batch-code", "b", "--force", value)
        assert done.returncode == code, done.stderr


def test_an_empty_text_is_an_empty_list(call: Command, conn: Connection) -> None:
    conn.execute("CREATE TABLE dwh.t (a integer)")
    conn.execute("CREATE TABLE dwh.read (a integer)")
    register(call)
    for tables in (["dwh.read"], [""]):
        given = [part for table in tables for part in ("--tables", table)]
        done = call("declare_inputs", "--module-code", "m", *given)
        assert done.returncode == 0, done.stderr
        rows = conn.execute("SELECT table_code FROM omd_report.module_inputs").fetchall()
        assert [row["table_code"] for row in rows] == [table for table in tables if table]


def test_a_wrong_value_is_an_error_of_the_database(call: Command) -> None:
    done = register(call, "--max-failures", "many")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'invalid input syntax for type integer: "many"' in done.stderr
    assert "SQLSTATE: 22P02" in done.stderr
    done = register(call, "--area-code", "nowhere")
    assert done.returncode == 1
    assert "SQLSTATE: OM006" in done.stderr


# Transactions -----------------------------------------------------------------------------------


def test_a_procedure_may_end_its_transactions(call: Command, conn: Connection) -> None:
    conn.execute("CREATE TABLE dwh.t (a integer, omd_insert_module_instance_id bigint)")
    conn.execute("CALL omd.register_batch('b', p_frequency_code => 'Adhoc')")
    register(call, "--executable", "INSERT INTO dwh.t SELECT 1")
    conn.execute("CALL omd.add_module_to_batch('b', 'm')")
    told = answer(call("run_batch", "--batch-code", "b", "--output", "json"))
    assert told == {"batch_instance_id": 1, "execution_status_code": "S"}


def test_ctrl_c_cancels_the_statement_of_the_server(
    forked_omd: Callable[[Mapping[str, str]], Path], conn: Connection, dsn: str
) -> None:
    conn.execute("CREATE TABLE dwh.t (a integer, omd_insert_module_instance_id bigint)")
    conn.execute(
        "CALL omd.register_module('m', p_area_code => 'HSTG', p_table_code => 'dwh.t',"
        " p_executable => 'INSERT INTO dwh.t SELECT 1 FROM pg_sleep(600)')"
    )
    running = (
        "SELECT count(*) AS running FROM pg_stat_activity"
        " WHERE application_name = 'omd-cli' AND state = 'active'"
        " AND wait_event = 'PgSleep' AND datname = current_database()"
    )
    for number, code in ((signal.SIGINT, 1), (signal.SIGTERM, 143)):
        process = subprocess.Popen(
            [forked_omd(os.environ), "call", "run_module", "--module-code", "m"],
            env={**os.environ, "OMD_DSN": dsn},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        await_count(conn, running, 1, process)
        process.send_signal(number)
        _, told = process.communicate(timeout=20)
        assert process.returncode == code, told
        assert b"Traceback" not in told
        await_count(conn, running, 0)
        [row] = conn.execute(
            "SELECT execution_status_code FROM omd_report.module_execution_log"
            " ORDER BY module_instance_id DESC LIMIT 1"
        ).fetchall()
        assert row["execution_status_code"] == "F"


def await_count(
    conn: Connection, query: str, count: int, process: subprocess.Popen[bytes] | None = None
) -> None:
    deadline = time.monotonic() + 20
    while True:
        row = conn.execute(query.encode()).fetchone()
        assert row is not None
        if next(iter(row.values())) == count:
            return
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, row
        time.sleep(0.05)


# What is not there ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("register_modul", "omd call omd.register_module"),
        ("omd_lineage.restat", "omd call omd_lineage.restate"),
        ("restate", "omd call omd_lineage.restate"),
        ("purge_history", "Did you mean 'omd call omd.purge'?"),  # formerly
        ("omd_lineage.retry", "Did you mean 'omd call omd.retry'?"),
        ("backfill", "Did you mean 'omd call omd_lineage.restate'?"),  # what its COMMENT says
        ("retri", "Did you mean 'omd call omd.retry'?"),  # the schema makes no name near
        ("xyz", "omd report routine_list"),
        ("ask_for_rollback", ""),  # for rooms
        ("_show_row", ""),
        ("pg_catalog.pg_sleep", ""),
        ("version; SELECT 1", ""),
    ],
)
def test_what_is_not_public_is_not_there(call: Command, named: str, meant: str) -> None:
    done = call(named, "--help")
    assert (done.returncode, done.stdout) == (1, "")
    name = named if "." in named else f"omd.{named}"
    assert f"there is no public routine {name}" in done.stderr
    assert meant in done.stderr


def test_a_mistyped_parameter_names_what_may_be_meant(call: Command) -> None:
    done = call("register_module", "--module-cod", "m")
    assert done.returncode == 2
    assert "--module-code" in done.stderr
    assert call().returncode == 2
    assert call("version", "extra").returncode == 2


def test_no_database_is_6(omd_here: Command) -> None:
    done = omd_here("call", "version", "--dsn", "host=/nowhere")
    assert (done.returncode, done.stdout) == (6, "")


# Help and completion ----------------------------------------------------------------------------


def test_the_help_is_the_comment(call: Command) -> None:
    done = call("set_parameter", "--help")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert told.startswith("Usage: omd call omd.set_parameter [OPTIONS]")
    for part in ("--parameter-code TEXT", "[required]", "--dsn", "--output", "Errors: OM"):
        assert part in told, told
    assert "--parameter-code-null" not in told
    told = call("run_batch", "--help").stdout
    assert "--force [true|false]" in told
    assert "--batch-instance-id" not in told, "it is only answered"
    assert "--parent-batch-instance-id BIGINT" in told


def test_the_help_names_parameters_as_options(call: Command, link: Link) -> None:
    told = " ".join(call("omd_lineage.restate", "--help").stdout.split())
    assert "--from" in told, told
    assert "p_from" not in told, told
    for name in catalogue.routines(link):
        found = catalogue.signature(link, name)
        assert found is not None
        helps = " ".join(option.help or "" for option in _options(found))  # type: ignore[attr-defined]
        names = {parameter.name for parameter in found.parameters}
        shown = names.intersection(re.findall(r"\bp_\w+", helps))
        assert not shown, name


@pytest.fixture
def complete(omd_command: Command, dsn: str) -> Callable[..., list[str]]:
    """Return what a shell proposes for the last of these words."""

    def proposed(*words: str) -> list[str]:
        done = omd_command(
            dsn=dsn,
            env={
                "_OMD_COMPLETE": "bash_complete",
                "COMP_WORDS": " ".join(["omd", *words]),
                "COMP_CWORD": str(len(words)),
            },
        )
        assert done.stderr == ""
        return [line.partition(",")[2] for line in done.stdout.split()]

    return proposed


def test_names_and_parameters_are_completed(complete: Callable[..., list[str]]) -> None:
    assert "run_module" in complete("call", "run_")
    assert "omd.run_module" in complete("call", "omd.run_")
    assert complete("call", "omd_lineage.restat") == ["omd_lineage.restate"]
    assert "ask_for_rollback" not in complete("call", "ask")
    assert complete("call", "run_batch", "--for") == ["--force"]
    assert complete("call", "run_batch", "--force", "t") == ["true"]
    assert complete("call", "xyzzy", "--for") == []


@pytest.fixture
def link(dsn: str) -> Iterator[Link]:
    link = Link(dsn, application_name="test", patience=timedelta(0))
    yield link
    link.close()


def test_each_public_routine_can_be_called(link: Link, conn: Connection) -> None:
    """None has a parameter that an option of the command hides, or that no option can give."""
    public = catalogue.routines(link)
    rows = conn.execute("SELECT routine FROM omd_report.routine_list WHERE is_public").fetchall()
    assert sorted(public) == sorted(row["routine"] for row in rows)
    assert len(public) > 100
    wrong = []
    for name in public:
        found = catalogue.signature(link, name)
        assert found is not None
        own = {"--dsn", "--output", "--help", "-h"}
        given = [option for parameter in _options(found) for option in parameter.opts]
        if len(given) != len(set(given)) or own & set(given):
            wrong.append(name)
        if any(parameter.mode not in "iobt" for parameter in found.parameters):
            wrong.append(name)
    assert wrong == []
