"""``omd demo decision`` shows what is true, and its proof can fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from demo.reading import check_what_reads
from omd.programs.demo import files
from omd.programs.demo.decision import proof, story

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/decision.md"
ONE = "id = (SELECT min(id) FROM care.decision)"


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
        yield dsn, omd_command("demo", "decision", "--quick", "--master", "local[2]", dsn=dsn)


@pytest.mark.spark
class TestPlayed:
    def test_it_tells_what_happened(self, played: tuple[str, Any]) -> None:
        done = played[1]
        assert done.returncode == 0, done.stdout + done.stderr
        acts = re.split(r"(?m)^(?:\d\. |The proof)", done.stdout)
        assert len(acts) == 8, done.stdout
        for act, what in zip(
            acts[1:],
            (
                r"✓ care_table(?s:.*)✓ care_function",
                r"\na call +1642\nLEFTOVER +weather +2\nKEY_MISMATCH +weather +585\n",
                r"✗ january_care +failed(?s:.*)✓ january_care +27,004 decisions in 1,642 calls",
                r"✓ flight_care +80,789 decisions",
                "and the same calls, decisions and rejects",
                r"DL +269 +ATL +599 +a hotel +0 +row 3\n(?s:.*)row 3: Sky.storm true, delay",
                r"\ncare\.january .* ✓\nrejected weather +1674 .* ✓\n",
            ),
            strict=True,
        ):
            assert re.search(what, act), act
        shown = re.findall(r"(?ms)^```text demo\n(.*?)^```$", TUTORIAL.read_text())
        assert shown
        for block in shown:
            assert block in done.stdout
        assert "docs/tutorial/decision.md" in done.stdout
        assert "\033" not in done.stdout  # it is no terminal, so the lines are plain

    @pytest.mark.parametrize(
        ("statement", "failed"),
        [
            ("UPDATE care.decision SET dollars = dollars", {}),
            (
                f"INSERT INTO care.decision SELECT * FROM care.decision WHERE {ONE}",
                {"care.decision": "1 rows are there twice"},
            ),
            (
                f"UPDATE care.decision SET dollars = dollars + 1 WHERE {ONE}",
                {"care.decision": "a value has changed"},
            ),
            (
                f"DELETE FROM care.january WHERE {ONE}",
                {"care.january": "1 rows too few"},
            ),
            (
                f"UPDATE care.january SET omd_insert_module_instance_id = 0 WHERE {ONE}",
                {"care.january": "1 rows are of no succeeded run"},
            ),
            (
                "UPDATE omd_decision.reject SET code = 'KEY_MISMATCH' WHERE code = 'LEFTOVER'",
                {"rejected weather": "a value has changed"},
            ),
        ],
    )
    def test_the_proof_fails_when_something_is_wrong(
        self,
        connection: psycopg.Connection[Any],
        source: files.Source,
        statement: str,
        failed: dict[str, str],
    ) -> None:
        assert connection.execute(statement.encode()).rowcount
        checks = proof.prove(connection, source, story.QUICK)
        assert {c.expected.table_code: c.problem for c in checks if not c.holds} == failed


def test_it_does_not_touch_a_schema_that_is_not_its_own(
    dsn: str, conn: Any, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    conn.execute("CREATE SCHEMA care; CREATE TABLE care.flights (mine text)")
    done = omd_command("demo", "decision", dsn=dsn)
    assert done.returncode == 1
    assert "The schema care exists and is not the demo's." in done.stderr
    assert conn.execute("SELECT count(mine) n FROM care.flights").fetchone() == {"n": 0}


@pytest.mark.spark
def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)
