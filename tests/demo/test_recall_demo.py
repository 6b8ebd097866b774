"""``omd demo recall`` shows what is true, and its proof can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import dict_row

from omd.programs.demo import files
from omd.programs.demo.platform import night
from omd.programs.demo.platform.supplier import Supplier
from omd.programs.demo.recall import proof, story

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_the_world_is_as_if_the_delivery_had_never_been(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    supplier = Supplier(files.prepare(tmp_path), tmp_path, night.DAYS)
    supplier.flights[story.WRONG + 1] += supplier.wrong(story.WRONG)[: story.REPEATED]
    right = {day: rows for day, rows in supplier.flights.items() if day != story.WRONG}
    with new_database() as dsn:
        lake = str(tmp_path / "lake")
        command = ("demo", "recall", "--master", "local[2]", "--folder", lake)
        done = omd_command(*command, dsn=dsn, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "in which January 3 never was" in done.stdout
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
            # The carrier that was erased afterwards is in no table any more.
            kept = {day: [row for row in rows if row[0] != "HA"] for day, rows in right.items()}
            checks = proof.prove(connection, proof.NAME, kept)
            there = [check.expected.table_code for check in checks if check.holds]
            assert f"mart_{proof.NAME}.departure" in there
            with connection.transaction(force_rollback=True):
                connection.execute(
                    b"DELETE FROM mart_nyc_recall.departure WHERE ctid ="
                    b" (SELECT ctid FROM mart_nyc_recall.departure LIMIT 1)"
                )
                wrong = [c for c in proof.prove(connection, proof.NAME, kept) if not c.holds]
                assert f"mart_{proof.NAME}.departure" in [c.expected.table_code for c in wrong]
            assert (
                connection.execute(
                    b"SELECT problem_code, subject FROM omd_report.problems"
                ).fetchall()
                == []
            )
