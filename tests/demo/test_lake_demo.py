"""``omd demo lake`` shows what is true, and its proof can fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.reading import check_what_reads
from omd.programs.demo import files
from omd.programs.demo.lake import proof, reader, story

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import psycopg

    from omd.programs.demo.control.proof import Contents

pytestmark = pytest.mark.spark

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/control.md"
FLIGHTS = "table_code = 'nyc_lake.flights'"


@pytest.fixture(scope="module")
def played(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, subprocess.CompletedProcess[str]]]:
    """A database in which the demo was played, and its output."""
    folder = str(tmp_path_factory.mktemp("it's a lake"))
    with new_database() as dsn:
        arguments = ("--quick", "--master", "local[2]", "--folder", folder)
        yield dsn, omd_command("demo", "lake", *arguments, dsn=dsn, timeout=900)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> list[Contents]:
    """What the source files require of the tables."""
    return proof.expected(files.prepare(tmp_path_factory.mktemp("source")), story.QUICK)


def test_it_tells_what_happened(played: tuple[str, Any]) -> None:
    done = played[1]
    assert done.returncode == 0, done.stdout + done.stderr
    acts = re.split(r"(?m)^(?=2013-0\d$|The commits|As of|The proof)", done.stdout)
    assert len(acts) == 7, done.stdout
    january, february = "2013-01 27,004", "2013-02 24,951"
    killed = rf"! flights +kill -KILL(?s:.*)DuckDB sees flights of {january}\n(?s:.*)declared dead"
    for act, what in zip(
        acts,
        (
            r"DuckDB reads them too",
            rf"✓ flights +27,004 rows(?s:.*)DuckDB sees flights of {january}\n",
            rf"{killed}(?s:.*)the folder of \d+ is removed(?s:.*) {january}, {february}\n",
            rf"✗ flights +failed(?s:.*) {february}, 2013-03 28,834\n(?s:.*)rows after the UNDO of",
            r"APPEND +\d+ +F failed +\d+ (?s:.*)UNDO +\d+ +S succeeded +0 +0 +1 +28834 +51955\n",
            r"flights +80789 +51955 +51955\nweather +6463 +4236 +4236\nsat_aircraft +4837 ",
            r"2013-03 +28834 +28834 +28834\n(?s:.*)carrier_month +46 +46 +46 .* ✓\nEach month was",
        ),
        strict=True,
    ):
        assert re.search(what, act), act
    assert "TABLE omd_report.lake_commits" in acts[-1]
    shown = re.findall(r"(?ms)^```text demo lake\n(.*?)^```$", TUTORIAL.read_text())
    assert len(shown) == 3
    for line in "".join(shown).splitlines():
        assert re.search(".*".join(map(re.escape, line.split("…"))), done.stdout), line
    assert "\033" not in done.stdout  # it is no terminal, so the lines are plain


def test_only_finished_runs_have_files_and_what_was_never_committed_is_removed(
    connection: psycopg.Connection[Any],
) -> None:
    removed = connection.execute(
        "SELECT folder FROM omd_report.lake_folders WHERE folder_state = 'REMOVED'"
    ).fetchall()
    assert len(removed) == 1
    assert not Path(removed[0][0]).exists()
    # The rollback wrote no file: its run announced one write, its own.
    undone = connection.execute(
        "SELECT count(*), min(f.folder_state) FROM omd_report.lake_folders AS f"
        " JOIN omd_report.lake_commits AS c USING (module_instance_id)"
        f" WHERE c.operation = 'UNDO' AND c.{FLIGHTS}"
    ).fetchone()
    assert undone == (1, "COMMITTED")


@pytest.mark.parametrize("name", ["DuckDB", "pyiceberg"])
def test_the_proof_fails_for_a_table_as_it_was_before(
    connection: psycopg.Connection[Any],
    wanted: list[Contents],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    if name != "DuckDB":
        monkeypatch.setattr(reader, "_EXTENSIONS", ("none_of_this_name",))
    other = reader.Reader()
    assert other.name == name
    runs = connection.execute(
        "SELECT split_part(m.table_code, '.', 2), l.module_instance_id"
        " FROM omd_report.module_execution_log AS l JOIN omd_report.module_list AS m"
        " USING (module_code) WHERE l.execution_status_code = 'S'"
    ).fetchall()
    now = connection.execute("SELECT table_name, metadata_location FROM omd_lake.iceberg_tables")
    tables = dict(now.fetchall())
    commits = connection.execute(
        f"SELECT operation, execution_status_code, metadata_location FROM omd_report.lake_commits"
        f" WHERE {FLIGHTS}"
    ).fetchall()
    then = {(operation, status): location for operation, status, location in commits}
    other.rows(proof.succeeded(runs), {})

    def failed(**old: str) -> dict[str, str | None]:
        checks = proof.compare(wanted, lambda sql: other.rows(sql, tables | old))
        return {check.expected.table_code: check.problem for check in checks if check.problem}

    assert failed() == {}
    assert failed(flights=then["APPEND", "F"]) == {"flights": "28834 rows are of no succeeded run"}
    assert failed(flights=then["UNDO", "S"]) == {"flights": "28834 rows too few"}


def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)
