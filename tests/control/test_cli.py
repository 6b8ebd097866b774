"""The commands of process control, run as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import yaml

import omd
from support.documents import document
from support.programs import OMD
from support.terminal import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., subprocess.CompletedProcess[str]]

REGISTERED = """
modules:
  m_stg:
    area_code: STG
    table_code: dwh.stg
    table_type_code: HUB
    platform_code: POSTGRES
    executable: INSERT INTO dwh.stg VALUES (1), (2)
  m_int:
    area_code: INT
    table_code: dwh.int
    table_type_code: HUB
    platform_code: POSTGRES
    business_key_columns: [a, b]
    executable: INSERT INTO dwh.int SELECT 1/n FROM dwh.divisor
    parameters: {retention: 30}
batches:
  b_day:
    frequency_code: Adhoc
    batch_description: One day
    modules:
      - m_stg
      - m_int: {sequence: 15, inactive_indicator: no}
    batches: [b_child]
    parameters: {region: EU}
  b_child:
    frequency_code: Daily
"""


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Iterator[Command]:
    """The command ``omd`` on a database whose Module m_int fails while dwh.divisor holds a 0."""
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "CREATE SCHEMA IF NOT EXISTS dwh;"
            "CREATE TABLE dwh.stg (omd_insert_module_instance_id bigint);"
            "CREATE TABLE dwh.int (omd_insert_module_instance_id bigint);"
            "CREATE TABLE dwh.divisor (n bigint); INSERT INTO dwh.divisor VALUES (0);"
            "GRANT USAGE ON SCHEMA dwh TO omd_owner;"
            "GRANT ALL ON ALL TABLES IN SCHEMA dwh TO omd_owner;"
        )
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


@pytest.fixture
def registered(omd_: Command, tmp_path: Path) -> Command:
    (tmp_path / "dwh.yaml").write_text(REGISTERED)
    done = omd_("apply", str(tmp_path / "dwh.yaml"), "--output", "json")
    assert done.returncode == 0, done.stderr
    new = {c["document"] for c in json.loads(done.stdout) if c["path"] == "NEW"}
    assert new == {"module:m_stg", "module:m_int", "batch:b_day", "batch:b_child"}
    return omd_


def one(dsn: str, statement: str) -> Any:
    with psycopg.connect(dsn) as conn:
        row = conn.execute(statement.encode()).fetchone()
    return row[0] if row else None


def repair(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE dwh.divisor SET n = 1")


def rows(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# register ---------------------------------------------------------------------------------------


def test_a_yaml_file_registers_all_it_names(registered: Command, dsn: str) -> None:
    modules = {
        row["module_code"]: row
        for row in rows(registered("report", "module_list", "--output", "json"))
    }
    assert modules["m_int"]["batch_codes"] == ["b_day"]
    batches = rows(registered("report", "batch_list", "--output", "json"))
    assert {row["batch_code"]: row["module_count"] for row in batches} == {"b_day": 2, "b_child": 0}
    with psycopg.connect(dsn) as conn:
        places = conn.execute(
            "SELECT sequence, coalesce(module_code, child_batch_code), inactive_indicator"
            " FROM omd_report.batch_module_list WHERE batch_code = 'b_day'"
        ).fetchall()
    assert set(places) == {(10, "m_stg", "N"), (15, "m_int", "N"), (10, "b_child", "N")}


def test_a_file_keeps_what_it_does_not_say(registered: Command, tmp_path: Path) -> None:
    (tmp_path / "more.yml").write_text("batches: {b_day: {batch_description: Changed}}")
    assert registered("apply", str(tmp_path / "more.yml")).returncode == 0
    [day] = [
        row
        for row in rows(registered("report", "batch_list", "--output", "json"))
        if row["batch_code"] == "b_day"
    ]
    assert (day["batch_description"], day["frequency_code"]) == ("Changed", "Adhoc")


def test_a_yaml_file_counts_whole_or_not_at_all(omd_: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        "batches: {b_new: {frequency_code: Daily, modules: [m_nowhere]}}"
    )
    done = omd_("apply", str(tmp_path / "bad.yaml"))
    assert done.returncode == 1
    assert "m_nowhere" in done.stderr
    assert "OM002" in done.stderr
    assert rows(omd_("report", "batch_list", "--output", "json")) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("batches: {b: {frequency: Daily}}", "frequency is not known"),
        ("jobs: {}", "jobs is not known"),
        ("batches: [b]", "a mapping is expected"),
        ("batches: {b: {modules: m}}", "must be a list"),
        ("batches: {b: {modules: [[m]]}}", "must hold codes"),
        ("batches: {b: {frequency_code: Daily, modules: [m: {order: 1}]}}", "order is not known"),
        ("batches: {", "expected"),
    ],
)
def test_a_yaml_file_that_says_nothing_sensible_is_wrong_usage(
    omd_: Command, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    done = omd_("apply", str(tmp_path / "bad.yaml"))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr


def test_a_sql_file_counts_whole_or_not_at_all(omd_: Command, tmp_path: Path) -> None:
    good = "CALL omd.register_batch('b_%', 'Daily');"
    (tmp_path / "bad.sql").write_text(good + "CALL omd.add_module_to_batch('b_%', 'm_no', 1);")
    assert omd_("apply", str(tmp_path / "bad.sql")).returncode == 1
    assert rows(omd_("report", "batch_list", "--output", "json")) == []
    (tmp_path / "good.sql").write_text(good)
    assert omd_("apply", str(tmp_path / "good.sql")).returncode == 0
    assert rows(omd_("report", "batch_list", "--output", "json"))[0]["batch_code"] == "b_%"


def test_registering_by_calls(omd_: Command, dsn: str) -> None:
    for call in (
        "register_batch --batch-code b --frequency-code Hourly --continue-on-failure true",
        "register_batch --batch-code b_top --frequency-code Daily --inactive-indicator Y",
        "register_module --module-code m --area-code INT --table-code dwh.int --start-hint x",
        "add_module_to_batch --batch-code b --module-code m --sequence 7",
        "add_batch_to_parent_batch --batch-code b --parent-batch-code b_top --sequence 1",
    ):
        done = omd_("call", *call.split())
        assert done.returncode == 0, done.stderr
    assert yaml.safe_load(document(dsn, "module", "m"))["modules"]["m"] == {
        "area_code": "INT",
        "table_code": 'dwh."int"',
        "start_hint": "x",
    }
    assert yaml.safe_load(document(dsn, "batch", "b"))["batches"]["b"] == {
        "frequency_code": "Hourly",
        "continue_on_failure": True,
        "modules": [{"m": {"sequence": 7}}],
    }
    done = omd_(
        "call", "add_batch_to_parent_batch", "--batch-code", "b_top", "--parent-batch-code", "b"
    )
    assert done.returncode == 1
    assert "OM008" in done.stderr


def test_what_is_shown_as_a_document_changes_nothing(
    registered: Command, dsn: str, tmp_path: Path
) -> None:
    """Also: what differs is told, and a Module that does not exist is an error with a hint."""
    registered("call", "register_module", "--module-code", "m_int", "--backoff", "1:30:00")
    file = tmp_path / "shown.yaml"
    for kind, key in (("batch", "b_day"), ("batch", "b_child"), ("module", "m_int")):
        shown = registered("show", f"{kind}:{key}", "--output", "yaml")
        assert shown.returncode == 0, shown.stderr
        file.write_text(shown.stdout)
        done = registered("diff", str(file))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), file.read_text()
    file.write_text(file.read_text().replace("01:30:00", "00:30:00").replace("[a, b]", "[b]"))
    done = registered("diff", str(file), "--output", "json")
    assert done.returncode == 1
    assert [tuple(change.values()) for change in json.loads(done.stdout)] == [
        ("module:m_int", "backoff", "01:30:00", "00:30:00"),
        ("module:m_int", "business_key_columns", ["a", "b"], ["b"]),
    ]
    none = registered("show", "batch:b_day", "--output", "odcs")
    assert (none.returncode, "is of interface" in none.stderr) == (2, True)
    with pytest.raises(omd.errors.lookup("OM002")):
        document(dsn, "module", "nowhere")


def test_files_of_many_kinds_are_applied_together_or_not_at_all(
    omd_: Command, dsn: str, tmp_path: Path
) -> None:
    """SQL comes first, whatever the order of the files, and tells which rows it has written."""
    files = {
        "a_topics.yaml": "topics: {dwh.src: {pos_column: t, id_column: n}}",
        "b_night.yaml": REGISTERED,
        "c_tables.sql": "CREATE TABLE dwh.src (t timestamptz, n bigint);\n"
        "CREATE INDEX ON dwh.src (t, n); INSERT INTO dwh.stg VALUES (1), (2);",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in files]
    counted = "SELECT (SELECT count(*) FROM dwh.stg), to_regclass('dwh.src')::text"
    differs = omd_("diff", *paths, "--output", "json")
    assert differs.returncode == 1, differs.stderr
    with psycopg.connect(dsn) as conn:
        assert conn.execute(counted).fetchall() == [(0, None)]
    changes = json.loads(differs.stdout)
    by_sql = {c["path"]: c["new"] for c in changes if c["document"] == paths[2]}
    assert by_sql["dwh.stg"] == "rows: 2 inserted"
    assert "definitions" in by_sql
    named = [c["document"] for c in changes if c["path"] == "NEW"]
    assert named == [
        "module:m_stg", "module:m_int", "batch:b_day", "batch:b_child", "topic:dwh.src"
    ]  # fmt: skip

    (tmp_path / "d.yaml").write_text("stage: s\nmode: KEY\n")
    refused = omd_("apply", *paths, str(tmp_path / "d.yaml"))
    assert (refused.returncode, "OM082" in refused.stderr) == (1, True), refused.stderr
    with psycopg.connect(dsn) as conn:
        assert conn.execute(counted).fetchall() == [(0, None)]
        assert conn.execute("SELECT FROM omd_report.batch_list").fetchall() == []
    done = omd_("apply", *paths)
    assert done.returncode == 0, done.stderr
    assert f"Files: 3; changes: {len(changes)}." in done.stderr
    assert omd_("diff", *paths[:2]).returncode == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT 1;\nCOMMIT;", "2: COMMIT"),
        ("begin;", "1: BEGIN"),
        ("/* ; */ ROLLBACK", "1: ROLLBACK"),
        ("SELECT 'COMMIT; ';\n-- COMMIT;\nDO $x$ BEGIN NULL; END $x$;\nEND;", "4: END"),
    ],
)
def test_a_sql_file_that_ends_its_transaction_is_refused_before_anything_is_done(
    omd_: Command, tmp_path: Path, text: str, word: str
) -> None:
    (tmp_path / "ends.sql").write_text(text)
    for verb in ("apply", "diff"):
        done = omd_(verb, str(tmp_path / "ends.sql"))
        assert done.returncode == 2
        assert f"ends.sql:{word} would end the transaction" in done.stderr


def test_a_sql_file_may_have_savepoints_and_words_in_bodies(omd_: Command, tmp_path: Path) -> None:
    (tmp_path / "fine.sql").write_text(
        "SAVEPOINT a; ROLLBACK TO a; RELEASE a; SELECT E'\\'; COMMIT;';"
        "CREATE FUNCTION dwh.f() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT 1; END;"
        "DO $$ BEGIN NULL; END $$;"
    )
    done = omd_("diff", str(tmp_path / "fine.sql"), "--output", "json")
    assert done.returncode == 1, done.stderr
    assert [c["path"] for c in json.loads(done.stdout)] == ["definitions"]


def test_a_file_of_no_kind_is_wrong_usage(omd_: Command, tmp_path: Path) -> None:
    (tmp_path / "dwh.json").write_text("{}")
    assert omd_("apply", str(tmp_path / "dwh.json")).returncode == 2


# run --------------------------------------------------------------------------------------------


def test_a_dry_run_says_what_it_would_do_and_begins_nothing(registered: Command, dsn: str) -> None:
    act = rows(registered("run", "m_stg", "--dry-run", "--output", "json"))
    assert (act["act"], act["status"]) == ("STATEMENT", None)
    assert act["arguments"]["module_code"] == "m_stg"
    begin = rows(registered("run", "batch:b_day", "--dry-run", "--output", "json"))
    assert begin["processing_indicator"] == "P"
    assert [m["member_code"] for m in begin["members"]] == ["m_stg", "m_int", "b_child"]
    assert one(dsn, "SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 0
    assert one(dsn, "SELECT count(*) FROM omd.batch_instance WHERE batch_instance_id > 0") == 0


def test_what_two_things_have_for_a_name_is_refused_and_nothing_begins(
    registered: Command, dsn: str
) -> None:
    call = "CALL omd.register_batch('m_stg', 'Adhoc')"
    with psycopg.connect(dsn) as conn:
        conn.execute(call)
    for verb in (("run",), ("show",), ("log",), ("run", "--dry-run")):
        done = registered(*verb, "m_stg")
        assert done.returncode == 2
        assert "m_stg is module:m_stg and batch:m_stg: name one of them" in done.stderr
    assert one(dsn, "SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 0
    assert registered("run", "module:m_stg").returncode == 0
    assert registered("run", "batch:m_stg").returncode == 0


def test_only_what_has_an_end_is_run_until_it_is_done(registered: Command) -> None:
    for code in ("m_stg", "batch:b_day"):
        done = registered("run", code, "--until-done")
        assert done.returncode == 2
        assert "each run of it does something" in done.stderr


def test_run_tells_by_its_exit_code_how_it_went(registered: Command, dsn: str) -> None:
    failed = registered("run", "batch:b_day")
    assert failed.returncode == 1
    assert "division by zero" in failed.stderr
    repair(dsn)
    done = registered("run", "batch:b_day")
    assert done.returncode == 0, done.stderr
    assert "ALREADY_SUCCEEDED" in done.stdout
    assert registered("run", "batch:b_child").returncode == 3
    with omd.connect(dsn) as control, control.module("m_stg"):
        assert registered("run", "m_stg").returncode == 4
    ran = registered("run", "m_stg", "--output", "json")
    assert rows(ran)["run"]["rows_inserted"] == 2


def test_running_the_unknown_is_an_error_with_a_hint(omd_: Command) -> None:
    done = omd_("run", "nowhere")
    assert done.returncode == 1
    assert "there is no module, batch, topic or stage nowhere" in done.stderr
    assert "Hint: " in done.stderr


# status, list, show, log ------------------------------------------------------------------------


def test_status_fits_the_terminal_and_is_whole_in_a_pipe(registered: Command, dsn: str) -> None:
    registered("run", "batch:b_day")
    with omd.connect(dsn) as control, control.batch("b_child"):
        told = shown([OMD, "status"], 120, {**os.environ, "OMD_DSN": dsn})
        done = registered("status")
    assert max(map(len, told.splitlines())) <= 120, told
    assert "…" not in told
    assert done.returncode == 1, "a run has failed"
    for title in ("Running now", "Last Batch Instances", "Rolled back by the next begin"):
        assert title in told
        assert title in done.stdout
    assert "b_child" in done.stdout
    assert [line for line in done.stdout.splitlines() if "…" in line] == []
    assert [line for line in done.stdout.splitlines() if "division by zero SQL statement" in line]
    assert "execute_module" not in done.stdout, "what of ours called it is no news"


def test_status_as_json(registered: Command) -> None:
    registered("run", "batch:b_day")
    done = registered("status", "--output", "json")
    assert done.returncode == 1, "a run has failed"
    found = json.loads(done.stdout)
    assert found["rolled_back_by_the_next_begin"][0]["module_code"] == "m_int"
    assert found["running_now"] == []
    assert next(iter(found)) == "problems"
    assert len(found["last_module_instances"]) <= 5


def test_status_of_an_empty_database(omd_: Command) -> None:
    done = omd_("status")
    assert (done.returncode, done.stderr) == (0, "")


def test_showing_the_unknown_is_an_error(omd_: Command) -> None:
    for kind in ("batch", "module"):
        done = omd_("show", f"{kind}:nowhere")
        assert done.returncode == 1
        assert "nowhere" in done.stderr


def test_a_run_takes_an_execution_context(registered: Command, dsn: str) -> None:
    told = json.dumps({"dag": "nightly"})
    for code in ("batch:b_day", "m_stg"):
        registered("run", code, "--context", told)
    with psycopg.connect(dsn) as conn:
        found = conn.execute(
            "SELECT execution_context ->> 'dag' FROM omd.batch_instance WHERE batch_instance_id > 0"
            " UNION ALL SELECT execution_context ->> 'dag' FROM omd.module_instance"
            " WHERE execution_context ? 'dag'"
        ).fetchall()
    assert found == [("nightly",)] * 2
    for wrong, code in (("{", 2), ("[1]", 1)):
        done = registered("run", "m_stg", "--context", wrong)
        assert done.returncode == code, done.stderr


def test_csv_holds_no_formula_and_no_control_characters(omd_: Command, dsn: str) -> None:
    """A spreadsheet executes what begins like a formula; a terminal obeys escape sequences."""
    hostile = {
        "=cmd|' /C calc'!A1": "'=cmd|' /C calc'!A1",
        "@SUM(A1)": "'@SUM(A1)",
        "+1+cmd": "'+1+cmd",
        " -2+3": "' -2+3",
        "\uff1d1+1": "'\uff1d1+1",
        "\x1b[31mred": "\ufffd[31mred",
        "-17.5e3": "-17.5e3",
        "a=b": "a=b",
    }
    with omd.connect(dsn) as control:
        for told in hostile:
            control.calls.omd.log_event(told)
    events = csv.DictReader(io.StringIO(omd_("log", "--kind", "event", "--output", "csv").stdout))
    assert [event["event_detail"] for event in events] == list(hostile.values())
    assert {*hostile} <= {
        event["event_detail"] for event in rows(omd_("log", "--kind", "event", "--output", "json"))
    }


def test_the_log_and_its_filters(registered: Command) -> None:
    registered("run", "batch:b_day")
    assert [row["module_code"] for row in rows(registered("log", "--output", "json"))] == [
        "m_stg",
        "m_int",
    ]
    [failed] = rows(registered("log", "--status", "F", "--output", "json"))
    assert failed["module_code"] == "m_int"
    assert len(rows(registered("log", "m_stg", "--output", "json"))) == 1
    instance = f"batchrun:{failed['batch_instance_id']}"
    assert len(rows(registered("log", instance, "--output", "json"))) == 2
    of_run = rows(registered("log", f"run:{failed['module_instance_id']}", "--output", "json"))
    events = registered("log", "m_int", "--kind", "event", "--output", "csv")
    [event] = csv.DictReader(io.StringIO(events.stdout))
    assert "division by zero" in event["event_detail"]
    assert [entry["event_id"] for entry in of_run] == [int(event["event_id"])]
    for of_batch in (("--kind", "batch"), ("b_day",), ("batch:b_day",)):
        assert "b_day" in registered("log", *of_batch).stdout
    assert registered("log", "--kind", "event", "--status", "F").returncode == 2
    assert registered("log", "m_int", "--kind", "batch").returncode == 2
    for former in ("events", "batch", "module"):
        assert registered("log", former).returncode == 2


def test_the_log_can_be_followed(registered: Command, dsn: str) -> None:
    program = Path(sys.executable).with_name("omd")
    follow = subprocess.Popen(
        [program, "log", "--follow", "--interval", "0.05", "--output", "json", "--dsn", dsn],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert follow.stdout is not None
    with omd.connect(dsn) as control:
        with control.module("m_stg") as run:
            began = json.loads(follow.stdout.readline())
        ended = json.loads(follow.stdout.readline())
    follow.send_signal(signal.SIGINT)
    assert follow.wait(timeout=30) == 0
    follow.stdout.close()
    assert began["module_instance_id"] == ended["module_instance_id"] == run.instance_id
    assert (began["execution_status_code"], ended["execution_status_code"]) == ("E", "S")


# Administration ---------------------------------------------------------------------------------


def test_setting_the_next_run_indicator(registered: Command, dsn: str) -> None:
    def mark(indicator: str, instance: str) -> int:
        return registered(
            "call", "set_next_run_indicator", "--next-run-indicator", indicator,
            "--module-instance-id", instance,
        ).returncode  # fmt: skip

    [run] = [rows(registered("run", "m_stg", "--output", "json"))]
    instance = str(run["instance_id"])
    assert mark("C", instance) == 0
    assert "DIRECTIVE" in registered("run", "m_stg").stdout
    assert mark("R", instance) == 0
    with psycopg.connect(dsn) as conn:
        found = conn.execute("SELECT next_run_indicator FROM omd_report.directives").fetchall()
    assert found == [("R",)]
    assert mark("X", instance) == 1
    assert mark("C", "999") == 1


def test_parameters(registered: Command) -> None:
    given = ("call", "set_parameter", "--parameter-code", "region", "--parameter-value", "US")
    assert registered(*given, "--module-code", "m_stg").returncode == 0
    assert registered(*given).returncode == 1
    found = {
        (row["parameter_code"], row["batch_code"], row["module_code"]): row["parameter_value"]
        for row in rows(registered("report", "parameter_list", "--output", "json"))
    }
    assert found == {
        ("region", "b_day", None): "EU",
        ("region", None, "m_stg"): "US",
        ("retention", None, "m_int"): "30",
    }


def test_reaping_tells_what_was_given_up_and_why(registered: Command, dsn: str) -> None:
    with omd.connect(dsn) as control:
        batch = control.calls.omd.begin_batch(
            "b_day", lease=timedelta(milliseconds=10)
        ).batch_instance_id
        inside = control.calls.omd.begin_module("m_stg", batch_instance_id=batch).module_instance_id
        alone = control.calls.omd.begin_module(
            "m_int", lease=timedelta(milliseconds=10)
        ).module_instance_id
    done = rows(registered("call", "reap_expired_instances", "--output", "json"))
    assert done == {"reaped": [inside, alone], "reaped_batches": [batch]}
    for run, why in (
        (f"run:{inside}", f"Batch Instance {batch} has ended"),
        (f"run:{alone}", "its lease has expired"),
        (f"batchrun:{batch}", "its lease has expired"),
    ):
        told = rows(registered("log", run, "--kind", "event", "--output", "json"))
        assert f"the run was declared dead because {why}" in [row["event_detail"] for row in told]
    again = rows(registered("call", "reap_expired_instances", "--output", "json"))
    assert again == {"reaped": [], "reaped_batches": []}


def test_a_database_without_omd_needs_an_install(omd_here: Command, empty_dsn: str) -> None:
    done = omd_here("status", dsn=empty_dsn)
    assert done.returncode == 5
    assert "omd install" in done.stderr


def test_no_server_is_no_connection(omd_here: Command) -> None:
    assert omd_here("status", dsn="host=/nowhere").returncode == 6


# Administration by procedures -------------------------------------------------------------------


def test_explain_shows_what_a_begin_would_answer(registered: Command, dsn: str) -> None:
    proceed = registered("explain", "m_stg")
    assert (proceed.returncode, proceed.stderr) == (0, "")
    assert proceed.stdout.startswith("m_stg would begin now: P proceed.\n")
    with omd.connect(dsn) as control, control.module("m_stg") as run:
        done = registered("explain", "m_stg", "--output", "json")
        assert done.returncode == 4
        told = json.loads(done.stdout)
        assert (told["processing_indicator"], told["reason"]) == ("A", "RUNNING")
        assert str(run.instance_id) in json.dumps(told["details"])
    assert registered("run", "batch:b_child").returncode in (0, 3)
    assert registered("explain", "batch:b_child").returncode == 3
    assert registered("explain", "nowhere").returncode == 1
    assert registered("explain").returncode == 2


def test_explain_is_a_failure_where_a_begin_would_fail(registered: Command, dsn: str) -> None:
    registered("run", "m_int")  # fails
    with psycopg.connect(dsn) as conn:
        conn.execute("DROP TABLE dwh.int")
    done = registered("explain", "m_int")
    assert done.returncode == 1
    assert "A begin would fail with OM202" in done.stdout


def test_explain_in_a_batch_instance(registered: Command, dsn: str) -> None:
    with omd.connect(dsn) as control:
        batch = control.calls.omd.begin_batch("b_child").batch_instance_id
    done = registered("explain", "m_stg", "--batch-instance", str(batch), "--output", "json")
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (4, "NOT_REGISTERED")


def test_a_hung_run_is_ended(registered: Command, dsn: str) -> None:
    with omd.connect(dsn) as control:
        batch = control.calls.omd.begin_batch("b_day").batch_instance_id
        inside = control.calls.omd.begin_module("m_stg", batch_instance_id=batch).module_instance_id
    for kind, instance in (("run", inside), ("batchrun", batch)):
        done = registered("end", f"{kind}:{instance}", "--reason", "the host is down")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"{kind}:{instance} has ended with status F.\n"
    events = rows(registered("log", "--kind", "event", "--output", "json"))
    assert any("the host is down" in event["event_detail"] for event in events)
    done = registered("end", "run:999")
    assert (done.returncode, "there is no run 999" in done.stderr) == (1, True)
    for wrong in ("module:m_stg", "run:m_stg", str(inside)):  # the last one is a batchrun too
        assert registered("end", wrong).returncode == 2


def test_rename_and_retire(registered: Command) -> None:
    def call(routine: str, **given: str) -> tuple[int, str]:
        options = (word for name, value in given.items() for word in (f"--{name}", value))
        done = registered("call", routine, *options)
        return done.returncode, done.stderr

    assert call("rename_module", module_code="m_stg", new_module_code="m_first") == (0, "")
    assert call("rename_batch", batch_code="b_child", new_batch_code="b_last") == (0, "")
    listed = rows(registered("report", "module_list", "--output", "json"))
    assert {row["module_code"] for row in listed} == {"m_first", "m_int"}
    registered("run", "m_int")  # fails: a rollback waits
    code, told = call("retire_module", module_code="m_int")
    assert (code, "OM113" in told) == (1, True)
    for kind, name in (("module", "m_first"), ("batch", "b_last")):
        assert call(f"retire_{kind}", **{f"{kind}_code": name})[0] == 0
        listed = rows(registered("report", f"{kind}_list", "--output", "json"))
        assert [r["inactive_indicator"] for r in listed if r[f"{kind}_code"] == name] == ["Y"]
    code, told = call("rename_module", module_code="m_first", new_module_code="m_int")
    assert (code, "OM013" in told) == (1, True)


def test_removing_places(registered: Command, dsn: str) -> None:
    of_batch = ("call", "remove_module_from_batch", "--batch-code", "b_day", "--module-code")
    assert registered(*of_batch, "m_stg").returncode == 0
    of_parent = ("remove_batch_from_parent_batch", "--batch-code", "b_child")
    assert registered("call", *of_parent, "--parent-batch-code", "b_day").returncode == 0
    assert one(
        dsn,
        "SELECT array_agg(coalesce(module_code, child_batch_code))"
        " FROM omd_report.batch_module_list WHERE batch_code = 'b_day'",
    ) == ["m_int"]
    assert registered(*of_batch, "nowhere").returncode == 1


def test_registering_how_a_module_is_rolled_back(registered: Command, dsn: str) -> None:
    templates = "SELECT count(*) FROM omd.rollback_template WHERE module_id IS NOT NULL"
    assert registered("call", "register_rollback", "--module-code", "m_stg").returncode == 0
    done = registered(
        "call", "register_rollback", "--module-code", "m_stg", "--step", "2",
        "--keeps-rows", "true", "--statement-template", "ANALYZE {table}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert one(dsn, templates) == 2
    removed = ("register_rollback", "--module-code", "m_stg", "--is-removed", "true")
    assert registered("call", *removed, "--step", "2").returncode == 0
    assert registered("call", *removed).returncode == 0
    assert one(dsn, templates) == 0
    refused = registered(
        "call", "register_rollback", "--module-code", "m_stg",
        "--statement-template", "DELETE {what}",
    )  # fmt: skip
    assert (refused.returncode, "OM209" in refused.stderr) == (1, True)


def test_registering_codes(omd_: Command, dsn: str) -> None:
    for routine, *arguments in (
        ("area", "--area-code", "RAW", "--layer-code", "Staging", "--area-description", "Raw"),
        ("table_type", "--table-type-code", "BRIDGE", "--table-type-description", "Joins hubs"),
        ("event_type", "--event-type-code", "100", "--event-type-description", "Quality"),
        ("frequency", "--frequency-code", "Quarterly", "--frequency-interval", "3 months"),
    ):
        done = omd_("call", f"register_{routine}", *arguments)
        assert done.returncode == 0, done.stderr
    assert one(dsn, "SELECT area_description FROM omd.area WHERE area_code = 'RAW'") == "Raw"
    assert one(
        dsn,
        "SELECT frequency_interval = interval '3 months' FROM omd.frequency"
        " WHERE frequency_code = 'Quarterly'",
    )
    assert one(dsn, "SELECT count(*) FROM omd.event_type WHERE event_type_code = 100") == 1
    assert one(dsn, "SELECT count(*) FROM omd.table_type WHERE table_type_code = 'BRIDGE'") == 1
    for arguments, said in (
        (["register_area", "--area-code", "NEW"], "OM005"),
        (["register_area", "--area-code", "NEW", "--layer-code", "Attic"], "OM006"),
        (["register_event_type", "--event-type-code", "7"], "OM013"),
        (["register_event_type", "--event-type-code", "seven"], "22P02"),
    ):
        done = omd_("call", *arguments)
        assert (done.returncode, said in done.stderr) == (1, True), done.stderr


def test_a_hostile_code_can_t_write_to_the_terminal(omd_: Command, tmp_path: Path) -> None:
    (tmp_path / "hostile.yaml").write_text('batches: {"b\\e[2J{0}": {frequency_code: Adhoc}}')
    done = omd_("apply", str(tmp_path / "hostile.yaml"))
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "b\N{REPLACEMENT CHARACTER}[2J{0}" in done.stdout
