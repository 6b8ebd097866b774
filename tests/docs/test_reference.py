"""The generated reference, calls and rows agree with the catalog of the database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "tools" / "generate.py"


def check(dsn: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, GENERATOR, "--check", "--dsn", dsn],
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_committed_files_are_up_to_date(dsn):
    done = check(dsn)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_sees_a_changed_comment(dsn, conn):
    conn.execute("COMMENT ON PROCEDURE omd.begin_batch IS 'Changed.'")
    done = check(dsn)
    assert done.returncode == 1
    assert "+Changed." in done.stdout  # the reference
    assert '+        """Changed."""' in done.stdout  # the calls
