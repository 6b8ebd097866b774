"""Writes what `.ci/run --record` has run into tests/rotation.tsv and tests/flaky.tsv.

Run: ``python tools/record.py ROTATION OTHERS AGAIN`` with files that ``pytest --results`` has
written: of the rotation, of the other suites, and of what was run again after it had failed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import rotation  # noqa: E402
from support.rotation import Row  # noqa: E402

FLAKY = ROOT / "tests" / "flaky.tsv"
RUNS = 6  # of the rotation: each part is in one of three


def results(file: str) -> list[dict[str, Any]]:
    """Return the lines of a file of results; there may be no such file."""
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def record_rotation(ran: list[dict[str, Any]], red: set[str], commit: str, date: str) -> None:
    """Add a row for each part, and take out those of old runs."""
    rows = rotation.read()
    for told in ran:
        result = "failed" if red & told["failed"].keys() else "passed"
        rows.append(Row(told["file"], commit, date, told["seconds"], result))
    runs = list(dict.fromkeys(row.run for row in rows))[-RUNS:]
    lines = [rotation.HEADER, *(str(row) for row in rows if row.run in runs)]
    rotation.FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def record_flaky(failed: dict[str, str], red: set[str], date: str) -> None:
    """Add a row for each case that has failed, and has passed when it was run again."""
    with FLAKY.open("a", encoding="utf-8") as out:
        for case, error in failed.items():
            if case not in red:
                out.write(f"{case}\t{date[:10]}\t{error}\n")


def main(of_rotation: str, of_others: str, of_again: str) -> None:
    """Read the results, and write both files."""
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    again = results(of_again)
    ran = [*results(of_rotation), *results(of_others)]
    once = {case: error for told in ran for case, error in told["failed"].items()}
    twice = {case for told in again for case in told["failed"]}
    # What was not run again is red: there were too many.
    files = {told["file"] for told in again}
    red = {case for case in once if case in twice or case.partition("::")[0] not in files}
    record_rotation(results(of_rotation), red, commit, date)
    record_flaky(once, red, date)


if __name__ == "__main__":
    main(*sys.argv[1:4])
