"""In-database runs that are cancelled: each ends at once, or the next begin declares it dead."""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    Another = Callable[..., Flow]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Flow, Future[Any]], None]

LOAD = "INSERT INTO dwh.{} SELECT 'x', current_setting('omd.module_instance_id')::bigint"
WAIT = LOAD + "; SELECT pg_advisory_xact_lock(42)"
EXECUTING = """
    SELECT (SELECT count(*) FROM omd.batch_instance WHERE execution_status_code = 'E')
        + (SELECT count(*) FROM omd.module_instance WHERE execution_status_code = 'E')
"""


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    """b contains m, and its child c contains n."""
    flow.batch("b")
    flow.batch("c")
    flow.call("add_batch_to_parent_batch", batch_code="c", parent_batch_code="b")
    for batch, code in (("b", "m"), ("c", "n")):
        register(flow, code, LOAD)
        flow.call("add_module_to_batch", batch_code=batch, module_code=code)


def register(flow: Flow, code: str, executable: str) -> None:
    flow.module(code, executable=executable.format(code))


def one_event_each(flow: Flow) -> None:
    """Check that nothing executes, and that each failed instance has exactly one event."""
    assert flow.one(EXECUTING) == 0
    wrong = flow.rows(
        """
        SELECT 'M' AS kind, mi.module_instance_id AS id, count(e.event_id)
        FROM omd.module_instance AS mi
        LEFT JOIN omd.event_log AS e
            ON e.module_instance_id = mi.module_instance_id AND e.event_type_code = 2
        WHERE mi.module_instance_id <> 0
        GROUP BY mi.module_instance_id
        HAVING count(e.event_id) <> (mi.execution_status_code = 'F')::integer
        UNION ALL
        SELECT 'B', bi.batch_instance_id, count(e.event_id)
        FROM omd.batch_instance AS bi
        LEFT JOIN omd.event_log AS e
            ON e.batch_instance_id = bi.batch_instance_id
            AND e.module_instance_id = 0 AND e.event_type_code = 2
        WHERE bi.batch_instance_id <> 0
        GROUP BY bi.batch_instance_id
        HAVING count(e.event_id) <> (bi.execution_status_code = 'F')::integer
        """
    )
    assert wrong == []


def stop_before_its_end(flow: Flow, table: str = "module_instance") -> None:
    """Let each end of an instance fail, even the failure event, as a second Ctrl-C does."""
    flow.owner(
        f"CREATE FUNCTION dwh.broken_off() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE query_canceled; END $$;"
        f"CREATE TRIGGER broken_off BEFORE UPDATE ON omd.{table} FOR EACH ROW"
        f" WHEN (new.execution_status_code <> 'E' AND new.reason_code IS NULL)"
        f" EXECUTE FUNCTION dwh.broken_off()"
    )


@pytest.fixture
def broken_off(flow: Flow, another: Another) -> Flow:
    """A session that still lives; its run of b was cancelled in c, while n ran."""
    runner = another()
    flow.conn.execute("GRANT ALL ON SCHEMA dwh TO omd_owner")
    stop_before_its_end(flow)
    try:
        with pytest.raises(psycopg.errors.QueryCanceled):
            runner.call("run_batch", batch_code="b")
    finally:
        flow.owner("DROP TRIGGER broken_off ON omd.module_instance")
    assert flow.one(EXECUTING) > 1
    return runner


@pytest.mark.parametrize("same_session", [True, False])
def test_the_next_begin_gives_a_run_up_whose_session_is_still_there(
    flow: Flow, broken_off: Flow, same_session: bool
) -> None:
    session = broken_off if same_session else flow
    assert session.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    one_event_each(flow)


def test_a_reap_gives_it_up(flow: Flow, broken_off: Flow) -> None:
    assert flow.call("reap_expired_instances")["reaped"] == [1]
    one_event_each(flow)
    assert broken_off.one("SELECT 1") == 1


def test_it_lives_no_longer_while_its_session_does_something_else(
    flow: Flow, broken_off: Flow, background: Background, until_settled: UntilSettled
) -> None:
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    other = background(broken_off.rows, "SELECT pg_advisory_lock(42)")
    until_settled(broken_off, other)
    assert flow.begin_batch("b").pi == "P"
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    other.result(timeout=20)


@pytest.mark.parametrize("setting", ["lock_timeout", "statement_timeout"])
@pytest.mark.parametrize(
    ("routine", "arguments"),
    [("run_module", {"module_code": "n"}), ("run_batch", {"batch_code": "b"})],
)
def test_a_run_that_ran_into_a_timeout_is_over(
    flow: Flow,
    another: Another,
    background: Background,
    until_settled: UntilSettled,
    setting: str,
    routine: str,
    arguments: dict[str, str],
) -> None:
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    for seconds in (0.3, 3, 30):
        runner.conn.execute(f"SET {setting} = '{seconds} s'".encode())
        running = background(runner.call, routine, **arguments)
        until_settled(runner, running)
        if was_waiting := not running.done():  # its time was not over before that
            break
    assert was_waiting
    try:
        assert running.result(timeout=60)["execution_status_code"] == "F"
    except psycopg.errors.QueryCanceled:
        assert setting == "statement_timeout"
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert flow.call(routine, **arguments)["execution_status_code"] == "S"
    one_event_each(flow)


def test_a_run_that_executes_lives(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(runner.call, "run_batch", batch_code="b")
    until_settled(runner, running)
    assert flow.call("reap_expired_instances")["reaped_batches"] == []
    assert flow.begin_batch("b").answer == ("A", "RUNNING")
    assert flow.begin_module("n").answer == ("A", "RUNNING")
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert running.result(timeout=20)["execution_status_code"] == "S"


def test_an_older_look_at_the_activity_declares_no_run_dead(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    """A transaction sees pg_stat_activity as it was at the first read."""
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner, reaper = another(), another()
    with reaper.conn.transaction():
        reaper.rows("SELECT count(*) FROM pg_stat_activity")
        running = background(runner.call, "run_batch", batch_code="b")
        until_settled(runner, running)
        assert reaper.call("reap_expired_instances")["reaped_batches"] == []
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert running.result(timeout=20)["execution_status_code"] == "S"


def test_without_the_right_to_see_statements_a_run_lives_as_long_as_its_backend(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(runner.call, "run_module", module_code="n")
    until_settled(runner, running)
    flow.conn.execute("REVOKE pg_read_all_stats FROM omd_owner")
    try:
        assert flow.begin_module("n").answer == ("A", "RUNNING")
        flow.conn.execute("SELECT pg_terminate_backend(%s, 10000)", [runner.conn.info.backend_pid])
        assert flow.begin_module("n").pi == "P"
    finally:
        flow.conn.execute("GRANT pg_read_all_stats TO omd_owner")
    with pytest.raises(psycopg.OperationalError):
        running.result(timeout=20)


def test_nobody_can_fake_a_live_run_with_a_lock(
    flow: Flow, broken_off: Flow, another: Another
) -> None:
    flow.conn.execute("CREATE ROLE nobody")
    try:
        nobody = another(role="nobody")
        for key in range(7302500, 7302504):
            for id in range(4):
                nobody.conn.execute("SELECT pg_advisory_lock(%s)", [key * 2**40 + id])
        assert flow.begin_batch("b").pi == "P"
        nobody.conn.close()
    finally:
        flow.conn.execute("DROP ROLE nobody")


def test_a_session_that_is_signalled_twice_records_its_failure(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    """Up to PostgreSQL 17 one request to cancel, such as Ctrl-C in psql, signals twice."""
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    pid = runner.conn.info.backend_pid
    signal_twice = f"""
        DO $$
        DECLARE
            v_signals integer := 0;
        BEGIN
            WHILE v_signals < 2 LOOP
                IF EXISTS (SELECT FROM pg_locks WHERE pid = {pid} AND NOT granted)
                    = (v_signals = 0)
                THEN
                    PERFORM pg_cancel_backend({pid});
                    v_signals := v_signals + 1;
                END IF;
            END LOOP;
        END
        $$
    """.encode()
    for id in range(1, 9):  # one in two second signals would hit the record
        running = background(runner.call, "run_module", module_code="n")
        until_settled(runner, running)
        flow.conn.execute(signal_twice)
        with pytest.raises(psycopg.errors.QueryCanceled, match=f"Instance {id} was cancelled"):
            running.result(timeout=20)
        one_event_each(flow)


@pytest.mark.random
def test_a_run_cancelled_at_any_moment_is_over_at_once(
    flow: Flow, another: Another, background: Background
) -> None:
    rng = random.Random(SEED)
    runner = another()
    assert runner.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    whole = math.inf
    for _ in range(5):  # one may have waited for a busy machine
        started = time.perf_counter()
        runner.call("run_batch", batch_code="b")
        whole = min(whole, time.perf_counter() - started)
    tries, cancelled = draws(150), 0
    for _ in range(tries):
        running = background(runner.call, "run_batch", batch_code="b")
        time.sleep(rng.uniform(0, whole))  # the test cancels at any moment
        runner.conn.cancel()
        try:
            running.result(timeout=20)
        except psycopg.errors.QueryCanceled:
            cancelled += 1
        begun = flow.begin_batch("b")
        assert begun.pi == "P", begun
        flow.end_batch(begun.id, "S")
        flow.call("reap_expired_instances")
        one_event_each(flow)
    assert cancelled > tries / 15
