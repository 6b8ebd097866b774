"""``omd demo`` shows what is true, and its proof can fail; the tutorial says what it shows.

It is played once, from the wheel, for all of them; so they stand in one file.
"""

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
from docs.examples import DEMO_TUTORIAL, play
from omd.programs.demo import files
from omd.programs.demo.control import proof
from omd.programs.demo.pages import Page, pattern

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.spark

MONTHS = (1, 2, 3)


@pytest.fixture(scope="module")
def played(demo_from_wheel: tuple[str, str]) -> tuple[str, str]:
    """A database in which the demo was played, and its output."""
    return demo_from_wheel


def demo(dsn: str, until: str) -> str:
    """Play the demo, and send Ctrl-C when it has printed something; return what it prints."""
    process = subprocess.Popen(
        [Path(sys.executable).with_name("omd"), "demo", "--quick", "--master", "local[2]"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMD_DSN": dsn},
    )
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(line)
        if until in line and not any(until in before for before in told[:-1]):
            process.send_signal(signal.SIGINT)
    assert process.wait(120) == 1, told
    return "".join(told)


def test_what_an_interrupted_demo_left_is_undone_by_the_next_one(dsn: str, conn: Any) -> None:
    first = demo(dsn, until="m_int_link_flight")
    assert "2013-02" not in first
    second = demo(dsn, until="of an earlier demo failed; it is undone")
    assert "of an earlier demo failed; it is undone" in second


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> files.Source:
    return files.prepare(tmp_path_factory.mktemp("source"))


def test_it_tells_what_happened(played: tuple[str, str]) -> None:
    told = played[1]
    for what in (
        "is aborted, RUNNING",
        "SET next_run_indicator = 'C'",
        "is skipped, DIRECTIVE",
        "failed inside its Spark job",
        "skipped: ALREADY_SUCCEEDED",
        "rows after the rollback of",
        "dep_time 8,255",
        "Each of 80,789 flights is there exactly once",
        "\nPlayed: omd demo control, ",
    ):
        assert what in told
    assert "\033" not in told  # it is no terminal, so the lines are plain


def test_it_shows_a_half_written_load_and_its_rollback(
    connection: psycopg.Connection[Any],
) -> None:
    failed, rolled_back = connection.execute(
        """
        SELECT f.module_instance_id, r.rollback_instance_array
          FROM omd_report.module_execution_log AS f
          JOIN omd_report.module_execution_log AS r
            ON r.module_instance_id = f.rolled_back_by_module_instance_id
         WHERE f.module_code = 'm_hstg_flights' AND f.execution_status_code = 'F'
         ORDER BY f.module_instance_id DESC LIMIT 1
        """
    ).fetchone() or (None, None)
    assert rolled_back == [failed]
    skipped = connection.execute(
        "SELECT count(*) FROM omd_report.module_execution_log"
        " WHERE reason_code = 'ALREADY_SUCCEEDED'"
    ).fetchone()
    assert skipped == (5,)


def test_the_targets_hold_what_the_files_say(
    connection: psycopg.Connection[Any], source: files.Source
) -> None:
    checks = proof.prove(connection, source, MONTHS)
    assert [check.problem for check in checks] == [None] * 11
    flights = next(check for check in checks if check.found.table_code == "hstg.flights")
    assert flights.found.rows == 27_004 + 24_951 + 28_834


FIRST = "ctid = (SELECT min(ctid) FROM hstg.flights WHERE dep_time IS NULL)"
FAILED = (
    "SELECT max(module_instance_id) FROM omd_report.module_execution_log"
    " WHERE execution_status_code = 'F'"
)
OPENED = "SET omd_expiry_date = '9999-12-31' WHERE omd_current_record_indicator = 'N'"


@pytest.mark.parametrize(
    ("statement", "table", "problem"),
    [
        (f"DELETE FROM hstg.flights WHERE {FIRST}", "hstg.flights", "1 rows too few"),
        (
            f"UPDATE hstg.flights SET dep_time = 0 WHERE {FIRST}",
            "hstg.flights",
            "a value has changed",
        ),
        (
            "INSERT INTO hstg.weather SELECT * FROM hstg.weather LIMIT 3",
            "hstg.weather",
            "3 rows are there twice",
        ),
        (
            "UPDATE int.link_flight SET arr_delay = arr_delay + 1 WHERE tailnum = 'N14228'",
            "int.link_flight",
            "a value has changed",
        ),
        (
            f"UPDATE int.hub_carrier SET omd_insert_module_instance_id = ({FAILED})",
            "int.hub_carrier",
            "16 rows are of no succeeded run",
        ),
        (f"UPDATE int.sat_aircraft {OPENED}", "int.sat_aircraft", "a value has changed"),
        ("TRUNCATE pres.carrier_month", "pres.carrier_month", "46 rows too few"),
    ],
)
def test_the_proof_fails_when_a_target_is_wrong(
    connection: psycopg.Connection[Any],
    source: files.Source,
    statement: str,
    table: str,
    problem: str,
) -> None:
    connection.execute(statement.encode())
    failed = {
        check.expected.table_code: check.problem
        for check in proof.prove(connection, source, MONTHS)
        if not check.holds
    }
    assert failed == {table: problem}


def test_the_business_key_of_a_flight_is_a_key(source: files.Source) -> None:
    flights = list(source.rows("flights"))
    keys = {tuple(row[i] for i in (0, 1, 2, 9, 10, 12, 4)) for row in flights}
    assert len(flights) == len(keys) == 336_776


def test_every_gap_is_told(source: files.Source) -> None:
    names = [gap.column for gap in source.gaps if gap.table == "flights"]
    assert names == ["dep_time", "dep_delay", "arr_time", "arr_delay", "tailnum", "air_time"]
    columns = zip(*source.rows("flights"), strict=True)
    assert [gap.missing for gap in source.gaps if gap.table == "flights"] == [
        missing for column in columns if (missing := column.count("NA"))
    ]


def test_it_does_not_touch_a_schema_that_is_not_its_own(
    dsn: str, conn: Any, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    conn.execute("CREATE SCHEMA stg; CREATE TABLE stg.flights (mine text)")
    done = omd_command("demo", "--quick", dsn=dsn)
    assert done.returncode == 1
    assert "The schema stg exists and is not the demo's." in done.stderr
    assert conn.execute("SELECT count(mine) n FROM stg.flights").fetchone() == {"n": 0}
    assert conn.execute("SELECT to_regnamespace('hstg') AS made").fetchone() == {"made": None}


def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)


def test_the_tutorial_shows_what_the_demo_prints_and_leaves(
    played: tuple[str, str], forked_omd: Callable[[dict[str, str]], Path], tmp_path: Path
) -> None:
    dsn, told = played
    page = Page(DEMO_TUTORIAL)
    for block in [*Page("README.md").blocks, *page.blocks]:
        if block.kind == "text demo":
            assert re.search(pattern(block.text), told), f"{block}\nin\n{told}"
    assert play(page, dsn, tmp_path, forked_omd) > 5
