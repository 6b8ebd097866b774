"""The fence and the ledger of writes, as a writer in psql or on a JVM would use them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

    Another = Callable[..., Flow]


@pytest.fixture
def run(flow: Flow) -> int:
    flow.module()
    return flow.begin_module().id


def record(flow: Flow, run: int, write: int = 1, part: int = 0, rows: int = 2, **more: Any) -> Any:
    """Return whether the attempt is the first, and the rows that count."""
    given = {
        "module_instance_id": run,
        "write_number": write,
        "partition_number": part,
        "table_code": "dwh.m",
        "row_count": rows,
        **more,
    }
    answer = flow.call("record_write", **given)
    return answer["is_first"], answer["recorded_row_count"]


def attempt(flow: Flow, run: int, **arguments: Any) -> Any:
    """Do what the task of a writer must do: rows, ledger, then commit or rollback."""
    answer = None
    with flow.conn.transaction() as transaction:
        flow.write(run, rows=arguments.get("rows", 2))
        answer = record(flow, run, **arguments)
        if not answer[0]:
            raise psycopg.Rollback(transaction)
    return answer


def test_the_second_attempt_of_a_partition_counts_the_rows_of_the_first(
    flow: Flow, run: int
) -> None:
    assert attempt(flow, run, rows=2) == (True, 2)
    assert attempt(flow, run, rows=3) == (False, 2)
    assert flow.stamps() == {run: 2}


def test_an_attempt_that_has_read_another_number_of_rows_is_refused(flow: Flow, run: int) -> None:
    assert attempt(flow, run, rows=2, read_count=5) == (True, 2)
    assert attempt(flow, run, rows=3, read_count=5) == (False, 2)
    query = "SELECT omd.recorded_write(%s, 1, 0, 'dwh.m', %s)"
    assert flow.one(query, run, 5) == 2
    with pytest.raises(psycopg.Error) as caught:
        flow.one(query, run, 6)
    assert caught.value.sqlstate == "OM144"
    with pytest.raises(psycopg.Error) as caught:
        attempt(flow, run, rows=2, read_count=4)
    assert caught.value.sqlstate == "OM144"
    assert caught.value.diag.message_primary == (
        "dwh.m: an attempt has committed partition 0 with 5 rows read, and another one has read 4"
    )
    assert flow.stamps() == {run: 2}
    # Who does not say how many it has read is compared with nobody.
    assert attempt(flow, run, rows=9) == (False, 2)
    assert attempt(flow, run, part=1, rows=1) == (True, 1)
    assert attempt(flow, run, part=1, rows=1, read_count=7) == (False, 1)


@pytest.mark.parametrize(
    "other", [{"write": 2}, {"part": 1}, {"table_code": "dwh.n"}], ids=lambda o: next(iter(o))
)
def test_other_writes_partitions_and_tables_are_told_apart(
    flow: Flow, run: int, other: dict[str, Any]
) -> None:
    assert attempt(flow, run) == (True, 2)
    assert attempt(flow, run, **other) == (True, 2)
    assert flow.stamps() == {run: 4}


def test_the_next_run_may_use_the_same_numbers(flow: Flow, run: int) -> None:
    attempt(flow, run)
    flow.end_module(run, "S")
    assert attempt(flow, flow.begin_module().id) == (True, 2)


def test_an_attempt_that_did_not_commit_leaves_no_trace(flow: Flow, run: int) -> None:
    with flow.conn.transaction(force_rollback=True):
        flow.write(run)
        assert record(flow, run) == (True, 2)
    assert flow.one("SELECT omd.recorded_write(%s, 1, 0, 'dwh.m')", run) is None
    assert attempt(flow, run) == (True, 2)


def test_what_was_committed_can_be_asked_before_copying(flow: Flow, run: int) -> None:
    query = "SELECT omd.recorded_write(%s, 1, 0, 'dwh.m')"
    assert flow.one(query, run) is None
    attempt(flow, run, rows=5)
    assert flow.one(query, run) == 5


@pytest.mark.parametrize("first_commits", [True, False])
def test_of_two_attempts_at_once_one_counts(
    flow: Flow,
    run: int,
    another: Another,
    background: Callable[..., Future[Any]],
    until_settled: Any,
    first_commits: bool,
) -> None:
    first, second = another(), another()
    with first.conn.transaction(force_rollback=not first_commits):
        first.write(run, rows=2)
        assert record(first, run, rows=2) == (True, 2)
        waiting = background(attempt, second, run, rows=3)
        until_settled(second, waiting)
        assert not waiting.done()
    assert waiting.result() == ((False, 2) if first_commits else (True, 3))
    assert flow.stamps() == {run: 2 if first_commits else 3}


def test_a_run_that_has_ended_writes_nothing(flow: Flow, run: int) -> None:
    flow.end_module(run, "F")
    with pytest.raises(psycopg.Error) as caught:
        attempt(flow, run)
    assert caught.value.sqlstate == "OM101"
    assert flow.stamps() == {}


def test_a_run_can_not_end_while_a_partition_commits(
    flow: Flow,
    run: int,
    another: Another,
    background: Callable[..., Future[Any]],
    until_settled: Any,
) -> None:
    ender = another()
    with flow.conn.transaction():
        flow.write(run)
        record(flow, run)
        ending = background(ender.end_module, run, "F")
        until_settled(ender, ending)
        assert not ending.done()
    ending.result()
    assert flow.begin_module().array == [run]
    assert flow.stamps() == {}


def test_numbers_of_writes_are_never_the_same(flow: Flow) -> None:
    query = "SELECT omd.next_write_number()"
    assert flow.one(query) < flow.one(query)


@pytest.mark.parametrize(
    ("sqlstate", "arguments"),
    [
        ("OM004", {"module_instance_id": 999}),
        ("OM005", {"module_instance_id": None}),
        ("OM005", {"write_number": None}),
        ("OM005", {"partition_number": None}),
        ("OM005", {"row_count": None}),
        ("OM005", {"table_code": None}),
        ("OM013", {"table_code": " "}),
        ("OM007", {"row_count": -1}),
        ("OM007", {"read_count": -1}),
    ],
)
def test_a_senseless_record_is_refused(
    flow: Flow, run: int, sqlstate: str, arguments: dict[str, Any]
) -> None:
    given = {
        "module_instance_id": run,
        "write_number": 1,
        "partition_number": 0,
        "table_code": "dwh.m",
        "row_count": 1,
    }
    flow.refused(sqlstate, "record_write", **{**given, **arguments})


def test_an_old_snapshot_is_refused(flow: Flow, run: int) -> None:
    with flow.conn.transaction():
        flow.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(psycopg.Error) as caught:
            record(flow, run)
        assert caught.value.sqlstate == "OM014"


def test_the_log_of_writes_adds_the_partitions_up(flow: Flow, run: int) -> None:
    for part, rows in enumerate((1, 2, 3)):
        attempt(flow, run, part=part, rows=rows)
    attempt(flow, run, write=2, rows=7)
    found = flow.rows(
        "SELECT module_code, write_number, partition_count, row_count FROM omd_report.write_log"
        " WHERE module_instance_id = %s ORDER BY write_number",
        run,
    )
    assert [tuple(row.values()) for row in found] == [("m", 1, 3, 6), ("m", 2, 1, 7)]


def test_a_purge_takes_the_ledger_of_what_it_deletes(flow: Flow, run: int) -> None:
    attempt(flow, run)
    flow.end_module(run, "S")
    kept = flow.begin_module().id
    attempt(flow, kept)
    flow.end_module(kept, "S")
    flow.conn.execute("CALL omd.purge(interval '0')")
    assert flow.rows("SELECT module_instance_id AS id FROM omd.write_ledger") == [{"id": kept}]


def test_a_runner_records_and_can_not_touch_the_ledger(flow: Flow, run: int, another: Any) -> None:
    runner = another(role="omd_runner")
    assert record(runner, run) == (True, 2)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.conn.execute("DELETE FROM omd.write_ledger")
