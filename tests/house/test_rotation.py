"""The rotation of what is dear: it is recorded, and each part comes at least every third time."""

from __future__ import annotations

import random
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from support import costs, rotation
from support.offenders import assert_none
from support.rotation import Row, choose

OLDEST = timedelta(days=14)
RUNS = 3


def test_parts_that_failed_come_first_then_those_that_passed_longest_ago() -> None:
    rows = [
        Row("a", "1", "d", 10, "passed"),
        Row("b", "1", "d", 10, "passed"),
        Row("c", "2", "d", 10, "passed"),
        Row("b", "2", "d", 10, "failed"),
    ]
    parts = {"a": 10.0, "b": 10.0, "c": 10.0, "d": 10.0}
    assert choose(parts, rows) == ["b", "d"]
    assert choose(parts, rows[:3]) == ["d", "a"]


def test_what_is_touched_comes_beside_a_third_until_two_fifths() -> None:
    names = [f"{number:02}" for number in range(30)]
    parts = dict.fromkeys(names, 10.0)
    assert choose(parts, []) == names[:10]
    assert choose(parts, [], {"29"}) == [*names[:10], "29"]
    assert choose(parts, [], set(names[20:])) == [*names[:10], "20", "21"]


@pytest.mark.random
@pytest.mark.parametrize("seed", range(20))
def test_each_part_is_run_at_least_every_third_time(seed: int) -> None:
    lots = random.Random(seed)
    parts = {str(n): lots.uniform(1, 300) for n in range(lots.randrange(1, 60))}
    rows: list[Row] = []
    for run in range(9):
        chosen = choose(parts, rows)
        rows += [Row(part, str(run), "d", parts[part], "passed") for part in chosen]
    for first in range(7):
        runs = {str(run) for run in range(first, first + RUNS)}
        assert {row.part for row in rows if row.commit in runs} == parts.keys()


def test_the_rotation_is_recorded() -> None:
    """No part is left out in three runs, and the newest is not two weeks older than HEAD."""
    rows = rotation.read()
    runs = list(dict.fromkeys(row.run for row in rows))[-RUNS:]
    if len(runs) == RUNS:
        recent = {row.part for row in rows if row.run in runs}
        present = {row.part for row in rows if (rotation.ROOT / row.part).exists()}
        assert_none((part, "is in none of the last three runs") for part in present - recent)
    told = subprocess.run(
        ["git", "-C", rotation.ROOT, "log", "-1", "--format=%ct"],
        check=False,
        capture_output=True,
        text=True,
    )
    if told.returncode:
        pytest.skip("there is no git here")
    committed = datetime.fromtimestamp(int(told.stdout), UTC)
    newest = max(datetime.strptime(row.date, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC) for row in rows)
    assert committed - newest < OLDEST, ".ci/run --record, and commit what it writes"


def test_a_record_is_a_median_of_three_and_what_is_cheap_or_gone_goes(tmp_path) -> None:
    case, gone = "tests/a/test_b.py::test_c", "tests/a/test_b.py::test_gone"
    (tmp_path / "a").mkdir()
    for seconds in (9.0, 1.5, 3.0, 4.0):
        costs.write({case: seconds, gone: 5.0}, [case, gone], tmp_path)
    assert costs.read(tmp_path).cases == {case: 3.0, gone: 5.0}
    costs.write({}, [case], tmp_path)
    assert costs.read(tmp_path).cases == {case: 3.0, gone: 5.0}  # nothing was measured
    for _ in range(2):
        costs.write({case: costs.LISTED - 0.1}, [case], tmp_path)
    assert costs.read(tmp_path).cases == {}
