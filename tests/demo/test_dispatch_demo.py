"""``omd demo dispatch`` shows what is true, and its proof can fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from demo.reading import check_what_reads
from omd.programs.demo import files
from omd.programs.demo.dispatch import proof
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/dispatch.md"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> files.Source:
    return files.prepare(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def played(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
) -> Iterator[tuple[str, subprocess.CompletedProcess[str]]]:
    """A database in which the demo was played, and its output."""
    with new_database() as dsn:
        yield dsn, omd_command("demo", "dispatch", dsn=dsn)


def test_its_workers_end_with_it(
    new_database: Callable[[], AbstractContextManager[str]],
) -> None:
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    with new_database() as dsn, psycopg.connect(dsn, autocommit=True) as connection:

        def count(filter: str = "") -> int:
            row = connection.execute(f"{sessions} {filter}".encode()).fetchone()
            assert row is not None
            return int(row[0])

        demo = subprocess.Popen(
            [Path(sys.executable).with_name("omd"), "demo", "dispatch"],
            env={**os.environ, "OMD_DSN": dsn},
            stdout=subprocess.DEVNULL,
        )
        try:
            until(lambda: count("AND application_name LIKE 'omd-dispatch%'"))
            demo.terminate()
            assert demo.wait(60) == 128 + signal.SIGTERM
        finally:
            demo.terminate()
        until(lambda: count() == 1)


class TestPlayed:
    def test_it_tells_what_happened(self, played: tuple[str, Any]) -> None:
        done = played[1]
        assert done.returncode == 0, done.stdout + done.stderr
        acts = re.split(r"(?m)^\d\. ", done.stdout)
        assert len(acts) == 7
        for act, what in zip(
            acts[1:],
            (
                r"\nREFRESH +DONE +[89] ",
                (
                    r"\$ kill -KILL (\d+)\n(?s:.*)\n *\d+ +FLIGHTS +1 +\1\n"
                    r"(?s:.*)\n *(\d+) +S +(\d+)\n *\3 +F\n"
                ),
                r"\nFLIGHTS +0 +0 +1 +other disks",
                r"\nworker +summaries\n[- ]+\n(\d+ +\d+\n)+",
                r"in \d+\.\d\d s; 0 of them are left",
                r"\n +0 +0\n(?s:.*)\n *\d+ +FLIGHTS +b_night .* 2 +DONE +S +F S +1 +✓",
            ),
            strict=True,
        ):
            assert re.search(what, act), act
        shown = re.findall(r"(?ms)^```text demo\n(.*?)^```$", TUTORIAL.read_text())
        assert shown
        for block in shown:
            assert block in done.stdout
        assert "docs/tutorial/dispatch.md" in done.stdout
        assert "\033" not in done.stdout  # it is no terminal, so the lines are plain

    def test_the_tables_hold_what_the_files_say_and_each_task_has_one_effect(
        self, connection: psycopg.Connection[Any], source: files.Source
    ) -> None:
        checks = proof.prove(connection, source)
        assert [(c.expected.table_code, c.found.rows, c.problem) for c in checks] == [
            ("night.flight", 27_004, None),
            ("night.departure", 27_004, None),
            ("night.delay_day", checks[2].expected.rows, None),
        ]
        tasks = proof.tasks(connection)
        assert [task for task in tasks if not task.holds] == []
        loads = [task for task in tasks if task.task_type == "FLIGHTS"]
        assert [(task.attempt, task.runs) for task in loads][:4] == [
            (1, "S"),
            (2, "F S"),
            (1, "S"),
            (1, "S"),
        ]

    def test_it_leaves_nothing_that_others_would_run(
        self, connection: psycopg.Connection[Any]
    ) -> None:
        left = connection.execute(
            "SELECT (SELECT count(*) FROM omd_report.dispatch_schedules"
            "  WHERE inactive_indicator = 'N'),"
            " (SELECT count(*) FROM omd_report.dispatch_backends),"
            " (SELECT count(*) FROM omd_report.dispatch_suspensions),"
            " (SELECT count(*) FROM omd_report.dispatch_queue)"
        ).fetchone()
        assert left == (0, 0, 0, 0)

    @pytest.mark.parametrize(
        ("statement", "failed"),
        [
            (
                "INSERT INTO night.departure SELECT * FROM night.departure LIMIT 1",
                {"night.departure": "1 rows are there twice"},
            ),
            (
                "DELETE FROM night.flight WHERE id = (SELECT min(id) FROM night.flight)",
                {"night.flight": "1 rows too few"},
            ),
            (
                (
                    "UPDATE night.delay_day SET flights = flights + 1"
                    " WHERE ctid = (SELECT min(ctid) FROM night.delay_day)"
                ),
                {"night.delay_day": "a value has changed"},
            ),
            (
                (
                    "UPDATE night.flight SET omd_insert_module_instance_id = ("
                    "SELECT max(module_instance_id) FROM omd_report.module_execution_log"
                    " WHERE execution_status_code = 'F')"
                    " WHERE id = (SELECT min(id) FROM night.flight)"
                ),
                {"night.flight": "1 rows are of no succeeded run"},
            ),
            (
                "INSERT INTO night.board SELECT * FROM night.board LIMIT 1",
                {"REFRESH": ("DONE", 2)},
            ),
            (
                "DELETE FROM night.summary WHERE ctid = (SELECT min(ctid) FROM night.summary)",
                {"SUMMARY": ("DONE", 0)},
            ),
            (
                (
                    "UPDATE omd_dispatch.task_data_night SET status = 'DEAD', outcome = 'F'"
                    " WHERE task_type = 'FLIGHTS' AND attempt = 2"
                ),
                {"FLIGHTS": ("DEAD", 1)},
            ),
            (
                "UPDATE omd_dispatch.task_data_night SET outcome = 'C' WHERE attempt = 2",
                {"FLIGHTS": ("DONE", 1)},
            ),
        ],
    )
    def test_the_proof_fails_when_something_is_wrong(
        self,
        connection: psycopg.Connection[Any],
        source: files.Source,
        statement: str,
        failed: dict[str, Any],
    ) -> None:
        assert connection.execute(statement.encode()).rowcount == 1
        found: dict[str, Any] = {
            check.expected.table_code: check.problem
            for check in proof.prove(connection, source)
            if not check.holds
        }
        found |= {
            task.task_type: (task.status, task.effects)
            for task in proof.tasks(connection)
            if not task.holds
        }
        assert found == failed


def test_it_does_not_touch_a_schema_that_is_not_its_own(
    dsn: str, conn: Any, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    conn.execute("CREATE SCHEMA night; CREATE TABLE night.flight (mine text)")
    done = omd_command("demo", "dispatch", dsn=dsn)
    assert done.returncode == 1
    assert "The schema night exists and is not the demo's." in done.stderr
    assert conn.execute("SELECT count(mine) n FROM night.flight").fetchone() == {"n": 0}
    families = conn.execute(
        "SELECT count(*) AS n FROM omd_dispatch.task_conf_family_desc WHERE family_code = 'NIGHT'"
    ).fetchone()
    assert families == {"n": 0}


def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)
