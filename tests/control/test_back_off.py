"""Back-off: how long work waits after a failure, what counts as one, and what ends it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from support.flow import Flow
from support.lots import SEED, draws

MINUTE = timedelta(minutes=1)


def module(flow: Flow, code: str = "m", **given: Any) -> str:
    flow.conn.execute(b"CREATE TABLE IF NOT EXISTS dwh.t (omd_insert_module_instance_id bigint)")
    flow.call("register_module", module_code=code, area_code="HSTG", table_code="dwh.t", **given)
    return code


def state(flow: Flow, code: str = "m") -> dict[str, Any] | None:
    rows = flow.rows(
        "SELECT s.*, extract(epoch FROM s.not_before - clock_timestamp())::float8 AS pause,"
        " p.state FROM omd.module_state AS s INNER JOIN omd.module AS m USING (module_id)"
        " INNER JOIN omd.module_pause AS p USING (module_id) WHERE m.module_code = %s",
        code,
    )
    return rows[0] if rows else None


def begin(flow: Flow, code: str = "m", **given: Any) -> int:
    answer = flow.call("begin_module", module_code=code, **given)
    assert answer["processing_indicator"] == "P", answer
    found: int = answer["module_instance_id"]
    return found


def fail(flow: Flow, code: str = "m", detail: str = "no", sqlstate: str = "22012") -> int:
    run = begin(flow, code)
    flow.call(
        "module_failure",
        module_instance_id=run,
        event_detail=detail,
        event_return_code_details=sqlstate,
    )
    return run


def die(flow: Flow, code: str = "m") -> int:
    run = begin(flow, code, lease=MINUTE)
    flow.owner(
        "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'"
        " WHERE module_instance_id = %s",
        run,
    )
    return run


def test_the_pause_doubles_up_to_its_limit_and_then_the_module_has_failed(flow: Flow) -> None:
    # OMD itself performs it: of one that a program outside begins, retry forgets nothing.
    module(
        flow,
        backoff=timedelta(seconds=100),
        backoff_limit=timedelta(seconds=350),
        executable="SELECT 1",
    )
    first: datetime | None = None
    for n, pause in enumerate((100, 200, 350, 350, 350, 350, 350, 350, 350, 350), 1):
        run = fail(flow)
        found = state(flow)
        assert found
        assert found["failures"] == n
        assert pause - 10 < found["pause"] <= pause
        assert found["state"] == ("FAILED" if n == 10 else "BACK_OFF")
        assert found["last_module_instance_id"] == run
        first = first or found["failed_since"]
        assert found["failed_since"] == first
    assert flow.call("retry", module_code="m")["was"] is True
    assert state(flow) is None
    assert flow.call("retry", module_code="m")["was"] is False


def test_zero_is_never_and_the_count_goes_on_without_an_end(flow: Flow) -> None:
    module(flow, max_failures=0, backoff=timedelta(days=36000), backoff_limit=timedelta(hours=2))
    fail(flow)
    flow.owner("UPDATE omd.module_state SET failures = 9223372036854775000")
    fail(flow)
    found = state(flow)
    assert found
    assert (found["state"], 7190 < found["pause"] <= 7200) == ("BACK_OFF", True)
    flow.call("register_module", module_code="m", backoff=timedelta(0), max_failures=0)
    fail(flow)
    found = state(flow)
    assert found
    assert (found["state"], found["failures"]) == (None, 9223372036854775002)


@pytest.mark.random
def test_the_formula_holds_for_any_numbers(flow: Flow) -> None:
    draw = random.Random(SEED)
    for _ in range(draws(200)):
        backoff = draw.choice([0, 0.5, 1, 10, 3600, 10**9])
        limit = draw.choice([0, 1, 30, 3600, 10**9])
        failures = draw.choice([1, 2, 3, 10, 63, 64, 1024, 2**62])
        pause = flow.one(
            "SELECT extract(epoch FROM omd._pause_after(make_interval(secs => %s),"
            " make_interval(secs => %s), %s))::float8",
            backoff,
            limit,
            failures,
        )
        assert pause == min(backoff * 2.0 ** min(failures - 1, 100), limit)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("backoff", "-1 s"),
        ("backoff_limit", "-1 s"),
        ("backoff", "101 years"),
        ("backoff_limit", "101 years"),
        ("max_failures", -1),
    ],
)
def test_what_is_no_pause_is_refused(flow: Flow, argument: str, value: Any) -> None:
    module(flow)
    detail = flow.refused("OM013", "register_module", module_code="m", **{argument: value})
    assert detail["argument"] == f"p_{argument}"


def test_null_keeps_what_is_registered(flow: Flow) -> None:
    module(flow, backoff=MINUTE, backoff_limit=2 * MINUTE, max_failures=3)
    module(flow)
    assert flow.rows("SELECT backoff, backoff_limit, max_failures FROM omd.module") == [
        {"backoff": MINUTE, "backoff_limit": 2 * MINUTE, "max_failures": 3}
    ]


def test_success_clears_the_row_and_skips_aborts_and_rollbacks_leave_it(flow: Flow) -> None:
    module(flow)
    fail(flow)
    kept = state(flow)
    assert kept
    for call in ("module_skip", "module_abort"):
        flow.call(call, module_instance_id=begin(flow))
        found = state(flow)
        assert found
        assert found["failures"] == 1
        assert found["not_before"] == kept["not_before"]
    with flow.conn.transaction(force_rollback=True):
        flow.call("module_success", module_instance_id=begin(flow))
        assert state(flow) is None
    assert state(flow), "it is the transaction of the success that clears it"
    flow.call("module_success", module_instance_id=begin(flow))
    assert state(flow) is None


def test_a_failure_counts_in_its_own_transaction(flow: Flow) -> None:
    module(flow)
    run = begin(flow)
    with flow.conn.transaction(force_rollback=True):
        flow.call("module_failure", module_instance_id=run)
        assert state(flow)
    assert state(flow) is None


def test_a_run_ended_by_hand_does_not_count(flow: Flow) -> None:
    module(flow)
    flow.call("end_module_instance", module_instance_id=begin(flow), event_detail="too long")
    assert state(flow) is None


def test_the_first_death_in_a_row_has_no_pause(flow: Flow) -> None:
    """H13: else nobody goes on within the bound when a worker dies."""
    module(flow)
    first = die(flow)
    flow.call("reap_expired_instances")
    found = state(flow)
    assert found
    assert (found["failures"], found["not_before"], found["state"]) == (1, None, None)
    assert (found["last_code"], found["last_module_instance_id"]) == ("GIVEN UP", first)
    second = die(flow)
    run = begin(flow)  # declares it dead
    found = state(flow)
    assert found
    assert (found["failures"], found["last_module_instance_id"]) == (2, second)
    assert 15 < found["pause"] <= 20
    flow.call("module_success", module_instance_id=run)
    assert state(flow) is None


def test_a_failure_is_noted_once_for_a_run(flow: Flow) -> None:
    """A9: a worker that reports what the run has reported already changes nothing."""
    module(flow)
    run = fail(flow)
    kept = state(flow)
    assert kept
    flow.call("note_failure", module_code="m", detail="late", module_instance_id=run)
    found = state(flow)
    assert found
    assert (found["failures"], found["not_before"]) == (1, kept["not_before"])
    # One that is noted while it executes does not count again when it ends.
    run = begin(flow)
    flow.call("note_failure", module_code="m", code="57P01", module_instance_id=run)
    flow.call("module_failure", module_instance_id=run)
    found = state(flow)
    assert found
    assert (found["failures"], found["last_code"]) == (2, "57P01")
    # What began none counts each time, whatever its code: a worker would meet it again at once.
    for code in ("55P03", "57014", "OM002", None):
        flow.call("note_failure", module_code="m", code=code)
    found = state(flow)
    assert found
    assert found["failures"] == 6
    flow.refused("OM005", "note_failure", module_code=None)
    flow.refused("OM002", "note_failure", module_code="none")
    module(flow, "other")
    flow.refused("OM004", "note_failure", module_code="other", module_instance_id=run)
    flow.refused("OM005", "retry", module_code=None)
    flow.refused("OM002", "retry", module_code="none")


def test_the_last_problem_is_one_line_without_values_of_rows(flow: Flow) -> None:
    module(flow, max_failures=0)
    for detail, code, shown in (
        (
            'invalid input syntax for type integer: "secret"',
            "22P02",
            "error 22P02: a text can not be read as the type that it should have",
        ),
        ("secret is no date\nsecond line", None, "error without a code"),
        (
            'duplicate key value violates unique constraint "pk"\nKey (a)=(secret)',
            "23505",
            "error 23505: two rows have the same unique key",
        ),
        (
            'Topic "x" is not registered\nmore',
            "OM015",
            "error OM015: topic … is not registered",
        ),
    ):
        flow.call("note_failure", module_code="m", detail=detail, code=code)
        found = state(flow)
        assert found
        assert found["last_problem"] == shown


def test_looks_that_find_nothing_pause_up_to_30_seconds(flow: Flow) -> None:
    module(flow)
    module_id = flow.one("SELECT module_id FROM omd.module")
    for pause in (1, 2, 4, 8, 16, 30, 30):
        flow.owner("SELECT omd.note_look(%s)", module_id)
        found = state(flow)
        assert found
        assert pause - 1 < found["pause"] <= pause
        assert (found["state"], found["failures"]) == (None, 0)
    # A failure ends the looks, and a look does not shorten its pause.
    fail(flow)
    kept = state(flow)
    assert kept
    assert (kept["looks"], kept["looked_datetime"]) == (0, None)
    flow.owner("SELECT omd.note_look(%s)", module_id)
    found = state(flow)
    assert found
    assert (found["not_before"], found["state"]) == (kept["not_before"], "BACK_OFF")


def test_two_sessions_that_fail_at_once_both_count(
    flow: Flow, another: Any, background: Any, until_settled: Any
) -> None:
    module(flow)
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.call("note_failure", module_code="m", detail="first")
    call = background(two.call, "note_failure", module_code="m", detail="second")
    until_settled(two, call)
    assert not call.done(), "the state is locked"
    one.conn.execute("COMMIT")
    call.result(timeout=20)
    found = state(flow)
    assert found
    assert found["failures"] == 2


def test_who_runs_may_note_and_who_administers_may_retry(flow: Flow, another: Any) -> None:
    module(flow, executable="SELECT 1")
    runner, admin = another(role="omd_runner"), another(role="omd_admin")
    runner.call("note_failure", module_code="m")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.call("retry", module_code="m")
    assert admin.call("retry", module_code="m")["was"] is True


def test_a_module_that_stands_for_a_batch_counts_the_runs_of_the_batch(flow: Flow) -> None:
    module(flow)
    module(flow, "delivery.x")
    flow.call("register_batch", batch_code="m", frequency_code="Adhoc")
    flow.call("register_batch", batch_code="delivery.x", frequency_code="Adhoc")
    flow.owner(
        "SELECT omd.set_module_kind(module_id, 'DELIVERY', 'SPARK') FROM omd.module"
        " WHERE module_code = 'delivery.x'"
    )

    def begin_batch(code: str) -> int:
        found: int = flow.call("begin_batch", batch_code=code)["batch_instance_id"]
        return found

    flow.call("batch_failure", batch_instance_id=begin_batch("m"))
    assert state(flow) is None, "a Module that has the name of a Batch by chance"
    flow.call(
        "batch_failure",
        batch_instance_id=begin_batch("delivery.x"),
        event_detail="no such file",
        event_return_code_details="OM037",
    )
    found = state(flow, "delivery.x")
    assert found
    assert (found["failures"], found["last_code"], found["state"]) == (1, "OM037", "BACK_OFF")
    flow.call("end_batch_instance", batch_instance_id=begin_batch("delivery.x"))
    found = state(flow, "delivery.x")
    assert found
    assert found["failures"] == 1
