"""``omd report`` shows rows of any view (issue 56, 1)."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import urllib.request
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd._core import catalogue
from omd._core.link import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """x' OR 1=1; DROP TABLE dwh.t; -- "q" $1 %s"""


@pytest.fixture
def report(omd_here: Command, dsn: str, conn: Connection) -> Command:
    """Run ``omd report`` on a database with three Modules and five events."""
    for number, code in enumerate(("m_a", "m_b", HOSTILE)):
        conn.execute(
            "CALL omd.register_module(%s::text, p_area_code => 'INT', p_table_code => 'dwh.t',"
            " p_module_description => %s::text)",
            [code, "" if number == 0 else f"number {number}"],
        )
    for number in range(5):
        conn.execute("CALL omd.log_event(%s::text)", [f"event {number}"])
    return lambda *arguments, **options: omd_here("report", *arguments, dsn=dsn, **options)


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def codes(report: Command, *where: str, view: str = "module_list") -> set[str]:
    given = [part for condition in where for part in ("--where", condition)]
    return {row["module_code"] for row in rows(report(view, *given, "--output", "json"))}


# Conditions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ([], {"m_a", "m_b", HOSTILE}),
        (["module_code=m_a"], {"m_a"}),
        (["module_code=M_A"], set()),
        ([f"module_code={HOSTILE}"], {HOSTILE}),
        (["module_code!=m_a"], {"m_b", HOSTILE}),
        (["module_code<m_b"], {"m_a"}),
        (["module_code<=m_b"], {"m_a", "m_b"}),
        (["module_code>m_a", "module_code<=m_b"], {"m_b"}),
        (["module_code~^m_.$"], {"m_a", "m_b"}),
        (["module_code~b|a"], {"m_a", "m_b"}),
        (["module_description~null"], set()),
        (["last_start_datetime~null"], {"m_a", "m_b", HOSTILE}),
        # != is not true of NULL.
        (["last_module_instance_id!=1"], set()),
        (["module_id>=0", "module_id<1000000"], {"m_a", "m_b", HOSTILE}),
        (["module_id~^-"], set()),
    ],
)
def test_conditions_choose_rows(report: Command, where: list[str], found: set[str]) -> None:
    assert codes(report, *where) == found


def test_nothing_behind_the_sign_is_the_empty_text(report: Command, conn: Connection) -> None:
    conn.execute("CALL omd.register_batch('b', p_frequency_code => 'Adhoc')")
    for value in ("", "null", "x=y"):
        conn.execute("CALL omd.set_parameter('p', %s::text, p_batch_code => 'b')", [value])
        for given, count in ((value, 1), ("other", 0)):
            found = rows(
                report("parameter_list", "--where", f"parameter_value={given}", "--output", "json")
            )
            assert len(found) == count, value


def test_a_value_has_the_type_of_its_column(report: Command) -> None:
    """As texts, 9 would be greater than 10."""
    assert codes(report, "module_id>-1", "module_id<999999999") == {"m_a", "m_b", HOSTILE}
    done = report("module_list", "--where", "module_id=many")
    assert (done.returncode, done.stdout) == (1, "")
    assert "SQLSTATE: 22P02" in done.stderr
    assert report("module_list", "--where", "module_id=").returncode == 1
    found = rows(
        report("event_log", "--where", "event_datetime>2026-01-01T00:00Z", "--output", "json")
    )
    assert len(found) == 5
    assert report("event_log", "--where", "event_datetime>soon").returncode == 1
    assert report("module_list", "--where", "module_code~(").returncode == 1


@pytest.mark.parametrize(
    "given", ["module_code", "=x", "module_code+1=2", "", "a b=c", "module_code<>m_a"]
)
def test_what_is_no_condition_is_wrong_use(report: Command, given: str) -> None:
    done = report("module_list", "--where", given)
    assert (done.returncode, done.stdout) == (2, "")
    assert "column=value" in done.stderr


def test_a_column_that_is_not_there(report: Command) -> None:
    done = report("module_list", "--where", "module_cod=x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "omd_report.module_list has no column module_cod" in done.stderr
    assert "module_code" in done.stderr


# Views ------------------------------------------------------------------------------------------


def test_without_a_view_all_are_listed(report: Command, conn: Connection) -> None:
    found = rows(report("--output", "json"))
    names = [row["view"] for row in found]
    assert names == sorted(names)
    there = conn.execute(
        "SELECT c.relname, p.audience, p.comment FROM pg_class AS c"
        " CROSS JOIN omd.comment_parts(obj_description(c.oid, 'pg_class')) AS p"
        " WHERE c.relnamespace = 'omd_report'::regnamespace AND c.relkind = 'v'"
    ).fetchall()
    others = [row for row in there if row["audience"] not in ("PERSON", "PROGRAM")]
    assert set(names) == {row["relname"] for row in there if row not in others}
    comments = {row["relname"]: " ".join(row["comment"].split()) for row in there}
    assert [row for row in found if not comments[row["view"]].startswith(row["what"])] == []
    told = {row["view"]: row["what"] for row in found}
    assert told["event_log"] == "The event log, with the names of Batches and Modules."
    assert all(row["what"].endswith(".") for row in found)
    assert "module_list" in report().stdout
    for row in others:
        assert report(row["relname"]).returncode == 1


def test_a_view_that_is_not_there(report: Command) -> None:
    for named in ("modul_list", "omd_report.modul_list"):
        done = report(named)
        assert (done.returncode, done.stdout) == (1, "")
        assert "there is no public view omd_report.modul_list" in done.stderr
        assert "Did you mean 'omd report module_list'" in done.stderr
    for named in ("omd.module", 'x" UNION', "pg_class"):
        assert report(named).returncode == 1
    assert len(rows(report("omd_report.module_list", "--output", "json"))) == 3


def test_each_view_can_be_shown(report: Command, dsn: str) -> None:
    assert report().returncode == 0
    link = Link(dsn, application_name="test", patience=timedelta(0))
    try:
        public = catalogue.views(link)
        assert len(public) > 50
        for view in public:
            names = catalogue.columns(link, view)
            shown = catalogue.rows_of_view(link, view, names, limit=1)
            assert all(len(row) == len(names) for row in shown), view
    finally:
        link.close()


# Limit, newest, fail ----------------------------------------------------------------------------


def test_the_newest_come_first(report: Command) -> None:
    found = rows(report("event_log", "--newest", "--limit", "2", "--output", "json"))
    assert [row["event_detail"] for row in found] == ["event 4", "event 3"]
    done = report("event_log", "--limit", "2")
    assert "There may be more than 2: --limit" in done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert report("flow", "--newest").returncode == 2


def test_a_pipe_gets_all_rows(report: Command, conn: Connection) -> None:
    conn.execute("DO $$ BEGIN FOR i IN 1..120 LOOP CALL omd.log_event('more'); END LOOP; END $$")
    assert len(report("event_log").stdout.splitlines()) == 2 + 125
    assert len(rows(report("event_log", "--output", "json"))) == 125


def test_a_monitor_fails_when_there_is_a_row(report: Command) -> None:
    for where, code in (("module_code=m_a", 1), ("module_code=none", 0)):
        done = report("module_list", "--where", where, "--fail")
        assert done.returncode == code, done.stderr
        assert report("module_list", "--where", where).returncode == 0
    assert "m_a" in report("module_list", "--where", "module_code=m_a", "--fail").stdout


@pytest.mark.parametrize(
    "given",
    [
        ["--fail"],
        ["--newest"],
        ["--where", "a=b"],
        ["--output", "mermaid"],
        ["module_list", "--output", "mermaid"],
        ["module_list", "--output", "prometheus"],
        ["module_list", "--listen", "0"],
        ["metrics", "--listen", "0"],
        ["flow", "--output", "mermaid", "--where", "from_code=x"],
        ["metrics", "--output", "prometheus", "--where", "metric_name=omd_info"],
        ["flow", "--files", "there"],
        ["--files", "there", "--output", "json"],
        ["module_list", "--limit", "0"],
        ["module_list", "more"],
    ],
)
def test_what_does_not_fit_together_is_wrong_use(report: Command, given: list[str]) -> None:
    done = report(*given)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr


# Outputs ----------------------------------------------------------------------------------------


def test_csv_has_a_header_without_rows_too(report: Command) -> None:
    for where, count in (("module_code=m_a", 1), ("module_code=none", 0)):
        done = report("module_list", "--where", where, "--output", "csv")
        found = list(csv.reader(io.StringIO(done.stdout)))
        assert found[0][:2] == ["module_id", "module_code"]
        assert len(found) == 1 + count


def test_a_table_has_the_names_of_the_columns(report: Command) -> None:
    lines = report("module_list", "--where", "module_code=m_a").stdout.splitlines()
    assert lines[0].split()[:2] == ["module_id", "module_code"]
    assert len(lines) == 3


def test_metrics_are_printed_for_prometheus(report: Command, conn: Connection) -> None:
    done = report("metrics", "--output", "prometheus")
    assert done.returncode == 0, done.stderr
    names = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("# TYPE")]
    assert "omd_info" in names
    listed = conn.execute("SELECT line FROM omd_report.prometheus").fetchall()
    assert names == [row["line"].split()[2] for row in listed if row["line"].startswith("# TYPE")]


def test_metrics_are_answered_over_http(
    forked_omd: Callable[[Mapping[str, str]], Path], dsn: str
) -> None:
    process = subprocess.Popen(
        [
            *(forked_omd(os.environ), "report", "metrics", "--output", "prometheus"),
            *("--listen", "127.0.0.1:0"),
        ],
        env={**os.environ, "OMD_DSN": dsn},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    url = re.search(r"http://\S+", process.stderr.readline())
    assert url is not None
    with urllib.request.urlopen(f"{url[0].rstrip('/')}/metrics", timeout=20) as answered:
        assert b"# TYPE omd_info" in answered.read()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


def test_the_flow_is_drawn(report: Command, conn: Connection) -> None:
    assert report("flow", "--output", "mermaid").returncode == 0
    conn.execute("CALL omd_lineage.register_topic('dwh.read')")
    conn.execute("CREATE TABLE IF NOT EXISTS dwh.t (a integer)")
    done = report("flow", "--output", "mermaid")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("graph", "flowchart"))


def test_the_former_report_says_where_the_page_is(report: Command) -> None:
    for given in (["--output", "page.html"], ["--since", "7d"], ["--output", "-"]):
        done = report(*given)
        assert (done.returncode, done.stdout) == (2, "")
        assert "omd status --html FILE" in done.stderr


def test_views_and_columns_are_completed(omd_command: Command, dsn: str) -> None:
    for words, found in (
        (["report", "module_l"], ["module_list"]),
        (["report", "module_list", "--where", "module_co"], ["module_code="]),
        (["report", "module_list", "--outp"], ["--output"]),
    ):
        done = omd_command(
            dsn=dsn,
            env={
                "_OMD_COMPLETE": "bash_complete",
                "COMP_WORDS": " ".join(["omd", *words]),
                "COMP_CWORD": str(len(words)),
            },
        )
        assert [line.partition(",")[2] for line in done.stdout.split()] == found
        assert done.stderr == ""


def test_without_a_database_a_shell_proposes_nothing(omd_command: Command) -> None:
    for words in (["report", "mod"], ["call", "run"]):
        done = omd_command(
            dsn="host=/nowhere",
            env={
                "_OMD_COMPLETE": "bash_complete",
                "COMP_WORDS": " ".join(["omd", *words]),
                "COMP_CWORD": str(len(words)),
            },
        )
        assert (done.stdout.strip(), done.stderr) == ("", "")
