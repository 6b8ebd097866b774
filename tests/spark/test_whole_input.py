"""What feeds a write fails, and the writer sees a normal end of its rows.

Whether the write succeeds then depends on a look at the insides of Spark. That the rows are right
does not: each test also runs with workers that can't look.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .breaking_job import BEFORE, FIRST, SECOND
from .test_faults import PATIENCE, Job, blindness, settle

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("breaking_job.py")

__all__ = ["blindness"]


@pytest.fixture(scope="module", params=[False, True], ids=["", "no task sees an early end"])
def is_blind(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def job(is_blind: bool, blindness: str) -> Iterator[Job]:
    job = Job("local[2,4]", JOB, **({"PYTHONPATH": blindness} if is_blind else {}))
    yield job
    job.close()


@pytest.fixture
def written(
    job: Job, conn: Any, dsn: str, target: Callable[..., str]
) -> Callable[[int, str], list[Any]]:
    """A function that writes, and returns the status, the rows, and the error."""
    target("id bigint")
    conn.execute("INSERT INTO t.target VALUES (-1, 0, now(), 'before')")

    def write(attempts: int, mode: str) -> list[Any]:
        job.write(json.dumps({"dsn": dsn, "attempts": attempts, "mode": mode}))
        return list(json.loads(job.answer(3 * PATIENCE)))

    return write


def there(conn: Any) -> tuple[int, int, int]:
    """Return the rows, the different ones, and those that were there before."""
    found = conn.execute(
        "SELECT count(*) AS n, count(DISTINCT id) AS ids, count(*) FILTER (WHERE id = -1) AS old"
        " FROM t.target"
    ).fetchone()
    return found["n"], found["ids"], found["old"]


def test_an_attempt_that_breaks_off_is_never_counted(
    written: Callable[[int, str], list[Any]], conn: Any, is_blind: bool
) -> None:
    status, rows, error, message = written(1, "append")
    whole = FIRST + SECOND
    if is_blind:
        assert (status, error) == ("F", "InputIncomplete")
        told = re.search(
            r"partition 1 with (\d+) rows read, and another one has read (\d+)", message
        )
        assert told is not None
        half, read = map(int, told.groups())
        assert (0 < half <= BEFORE, read) == (True, SECOND)
        assert there(conn) == (1 + FIRST + half, 1 + FIRST + half, 1)
        settle(conn, "m_t")
        assert there(conn) == (1, 1, 1)
        status, rows, *_ = written(0, "append")
    assert (status, rows) == ("S", whole)
    assert there(conn) == (1 + whole, 1 + whole, 1)


def test_an_overwrite_that_breaks_off_leaves_what_was_there(
    written: Callable[[int, str], list[Any]], conn: Any
) -> None:
    status, _, error, message = written(4, "overwrite")
    assert (status, there(conn)) == ("F", (1, 1, 1)), (error, message)
    settle(conn, "m_t")
    status, rows, *_ = written(1, "overwrite")  # the next attempt brings all
    whole = FIRST + SECOND
    assert (status, rows, there(conn)) == ("S", whole, (whole, whole, 0))
