"""``omd demo lineage`` shows what is true, and its proof can fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from demo.reading import check_what_reads
from omd.programs.demo import files
from omd.programs.demo.lineage import proof as lineage_proof
from omd.programs.demo.lineage.chart import LagSampler, chart

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/lineage.md"


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
        yield dsn, omd_command("demo", "lineage", "--master", "local[2]", dsn=dsn)


@pytest.mark.spark
class TestPlayed:
    def test_it_tells_what_happened(self, played: tuple[str, Any]) -> None:
        done = played[1]
        assert done.returncode == 0, done.stdout + done.stderr
        for what in (
            "no offset: feed.weather",
            "fact.departure: DONE, 3611 rows",
            "writes to feed.flights",
            "fact.departure: DONE, 6109 rows",
            "terminating connection due to administrator command",
            "fact.departure: DONE, 2722 rows",
            "fact.departure: DONE, 3296 rows",
            "nothing before 2013-02-01 00:00:00-05",
            "$ kill -KILL",
            "Each flight is in the fact exactly once",
            "told it in each of the six acts",
            "docs/tutorial/lineage.md",
        ):
            assert what in done.stdout
        shown = re.findall(r"(?ms)^```text demo\n(.*?)^```$", TUTORIAL.read_text())
        assert shown
        for block in shown:
            assert block in done.stdout
        # What the killed run on Spark had written was there, and was undone.
        killed, retry = re.findall(r"^ *(\d+) +([FS]) ", done.stdout, re.MULTILINE)[:2][::-1]
        assert (killed[1], retry[1]) == ("F", "S")
        assert re.search(rf"^ *{retry[0]} +S +{killed[0]} ", done.stdout, re.MULTILINE)
        assert "\033" not in done.stdout  # it is no terminal, so the lines are plain

    def test_the_tables_hold_what_the_files_say(
        self, connection: psycopg.Connection[Any], source: files.Source
    ) -> None:
        checks = lineage_proof.prove(connection, source)
        assert [(c.expected.table_code, c.found.rows, c.problem) for c in checks] == [
            ("feed.flights", 27_004, None),
            ("feed.weather", 2_226, None),
            ("fact.departure", 27_004, None),
            ("dash.sky_day", checks[3].expected.rows, None),
        ]

    @pytest.mark.parametrize(
        ("statement", "failed"),
        [
            (
                "INSERT INTO fact.departure SELECT * FROM fact.departure LIMIT 1",
                {"fact.departure": "1 rows are there twice"},
            ),
            (
                "DELETE FROM fact.departure WHERE id = 5",
                {"fact.departure": "1 rows too few"},
            ),
            (
                "UPDATE fact.departure SET sky = 'rain' WHERE id = 5 AND sky <> 'rain'",
                {"fact.departure": "a value has changed"},
            ),
            (
                (
                    "INSERT INTO dash.sky_day SELECT day, sky, flights, cancelled, delay_minutes,"
                    " (SELECT max(module_instance_id) FROM omd_report.module_execution_log"
                    " WHERE execution_status_code = 'F') FROM dash.sky_day LIMIT 1"
                ),
                {"dash.sky_day": "1 rows are of no succeeded run"},
            ),
            (
                (
                    "UPDATE dash.sky_day SET flights = flights + 1"
                    " WHERE day = '2013-01-10' AND sky = 'clear'"
                ),
                {"dash.sky_day": "a value has changed"},
            ),
        ],
    )
    def test_the_proof_fails_when_a_table_is_wrong(
        self,
        connection: psycopg.Connection[Any],
        source: files.Source,
        statement: str,
        failed: dict[str, str],
    ) -> None:
        assert connection.execute(statement.encode()).rowcount == 1
        assert {
            check.expected.table_code: check.problem
            for check in lineage_proof.prove(connection, source)
            if not check.holds
        } == failed


def test_it_does_not_touch_a_schema_that_is_not_its_own(
    dsn: str, conn: Any, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    conn.execute("CREATE SCHEMA fact; CREATE TABLE fact.departure (mine text)")
    done = omd_command("demo", "lineage", dsn=dsn)
    assert done.returncode == 1
    assert "The schema fact exists and is not the demo's." in done.stderr
    assert conn.execute("SELECT count(mine) n FROM fact.departure").fetchone() == {"n": 0}
    assert conn.execute("SELECT to_regnamespace('feed') AS made").fetchone() == {"made": None}


def test_the_chart_shows_lag_where_it_was() -> None:
    from datetime import timedelta

    sampler = LagSampler("")
    days = [0, 8, 4, 0]
    sampler.samples = [(float(i), {"fact.x": timedelta(days=d)}) for i, d in enumerate(days)]
    sampler.marks = [(0.0, "1"), (2.0, "2")]
    assert chart(sampler, ["fact.x"], width=8, height=1).splitlines() == [
        "  fact.x    8.0 d ┤    ████▄▄▄▄▄▄▄",
        "                  └┴───────┴───────",
        "                   1 (2 s) 2 (1 s)",
    ]


@pytest.mark.spark
def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)
