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

import pyarrow as pa
import pytest
from pyspark.sql.types import BooleanType, LongType, StringType, StructType, TimestampType

import omd
from omd.spark.failure import TaskFailed
from omd.spark.source import OmdDataSource
from omd.spark.writer import Writer

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


# Without Spark: what a task and the driver do with the rows that they are given.


def batches(*rows: int, mark: bool | None = None) -> Iterator[pa.RecordBatch]:
    """Yield rows as Spark would; ``mark`` says whether there is a mark, and whether it is there."""
    ids = pa.array([*rows, None] if mark else rows, pa.int64())
    columns: dict[str, Any] = {"id": ids, "omd_insert_module_instance_id": pa.array([1] * len(ids))}
    columns["omd_insert_datetime"] = pa.array([0] * len(ids), pa.timestamp("us", "UTC"))
    columns["omd_record_source"] = pa.array(["x"] * len(ids))
    if mark is not None:
        columns["end"] = pa.array([False] * len(rows) + [True] * mark, pa.bool_())
    whole = pa.RecordBatch.from_pydict(columns)
    for start in range(0, whole.num_rows, 2):
        yield whole.slice(start, 2)


def writer(run: omd.Run, overwrite: bool = False, **options: object) -> Writer:
    given = {"url": run.dsn, "table": "t.target", "moduleInstance": run.instance_id}
    told = {name: str(value) for name, value in (given | {"writeNumber": 7} | options).items()}
    types = {
        "id": LongType(),
        "omd_insert_module_instance_id": LongType(),
        "omd_insert_datetime": TimestampType(),
        "omd_record_source": StringType(),
    }
    schema = StructType()
    for name, type_ in (types | ({"end": BooleanType()} if overwrite else {})).items():
        schema.add(name, type_)
    return OmdDataSource(told).writer(schema, overwrite)


@pytest.mark.parametrize("rows", [(), (1,), (1, 2), (1, 2, 3)], ids=len)
def test_an_overwrite_needs_the_mark_behind_its_rows(
    control: omd.Control, conn: Any, target: Callable[..., str], rows: tuple[int, ...]
) -> None:
    module = target("id bigint")
    conn.execute("INSERT INTO t.target VALUES (-1, 0, now(), 'before')")
    with control.module(module) as run:
        task = writer(run, overwrite=True, endMark=True)
        for early in (batches(*rows, mark=False), reversed([*batches(*rows, 9, 9, mark=True)])):
            with pytest.raises(TaskFailed, match=r"ended early|behind the mark"):
                task.write(iter(early))
            assert there(conn) == (1, 1, 1)
        message = task.write(batches(*rows, mark=True))
        assert message.read == len(rows)
        task.commit([message])
        assert there(conn) == (len(rows), len(rows), 0)


def test_a_task_that_has_read_another_number_commits_nothing(
    control: omd.Control, conn: Any, target: Callable[..., str]
) -> None:
    with control.module(target("id bigint")) as run:
        task = writer(run)
        ledger = task.ledger
        assert ledger is not None
        assert task._read_again(ledger, 0, batches(1)) is None
        message = task.write(batches(1, 2, 3))
        assert message.read == task._read_again(ledger, 0, batches(4, 5, 6)) == 3
        task.commit([message])
        for other in (batches(1, 2), batches(1, 2, 3, 4)):
            with pytest.raises(TaskFailed, match="with 3 rows read, and another one has read"):
                task.write(other)
        with pytest.raises(TaskFailed, match="with 3 rows read, and another one has read 0"):
            task.commit([task.write(batches())])
        assert there(conn) == (3, 3, 0)
