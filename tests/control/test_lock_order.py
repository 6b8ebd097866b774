"""The lock order of process control: no deadlocks (its file: _close_batch_instance.sql)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Begun, Flow

    Another = Callable[..., Flow]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Flow, Future[Any]], None]

HOUR = timedelta(hours=1)


class Rollback:
    """begin_module declares an instance of its Batch dead, and rolls it back for a long time."""

    def __init__(
        self, flow: Flow, another: Another, background: Background, until_settled: UntilSettled
    ) -> None:
        self.flow = flow
        flow.batch("b", "m")
        self.batch = flow.begin_batch(lease=HOUR).id
        self.dead = flow.begin_module("m", self.batch, lease=PASSED).id
        flow.write(self.dead)
        self.target, self.beginner = another(), another()
        self.target.conn.execute("BEGIN")
        self.target.conn.execute("SELECT FROM dwh.m FOR UPDATE")
        self.begun = background(self.beginner.begin_module, "m", self.batch)
        until_settled(self.beginner, self.begun)
        assert not self.begun.done()

    def goes_on(self) -> Begun:
        self.target.conn.execute("COMMIT")
        return self.begun.result(timeout=20)


@pytest.fixture
def rollback(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> Rollback:
    return Rollback(flow, another, background, until_settled)


@pytest.mark.parametrize("end", ["batch_failure", "batch_abort", "batch_skip"])
def test_the_end_of_a_batch_and_a_begin_in_it_do_not_deadlock(
    flow: Flow,
    rollback: Rollback,
    another: Another,
    background: Background,
    until_settled: UntilSettled,
    end: str,
) -> None:
    ender = another()
    ended = background(ender.call, end, batch_instance_id=rollback.batch)
    until_settled(ender, ended)
    begun = rollback.goes_on()
    assert begun.answer == ("P", None)
    ended.result(timeout=20)
    assert flow.codes(module=begun.id) == "F P R"
    assert flow.failures(module=begun.id) == flow.failures(module=rollback.dead) == 1


def test_a_heartbeat_and_a_begin_in_the_same_batch_do_not_deadlock(
    rollback: Rollback, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    late = another()
    beat = background(late.call, "heartbeat", module_instance_id=rollback.dead, lease=HOUR)
    until_settled(late, beat)
    assert rollback.goes_on().answer == ("P", None)
    with pytest.raises(psycopg.Error) as caught:
        beat.result(timeout=20)
    assert caught.value.sqlstate in ("OM101", "OM107")


def test_a_batch_that_is_given_up_and_a_begin_in_it_do_not_deadlock(
    flow: Flow, rollback: Rollback
) -> None:
    flow.owner(
        "UPDATE omd.batch_instance SET lease_expires_at = clock_timestamp() - interval '1 s'"
        " WHERE batch_instance_id = %s",
        rollback.batch,
    )
    flow.conn.execute("SET lock_timeout = '10 s'")
    assert flow.begin_batch().pi == "P"
    with pytest.raises(psycopg.Error) as caught:
        rollback.goes_on()
    assert caught.value.sqlstate == "OM101"
    # The instance that was skipped, because the begin held it, is dead: its Batch has ended.
    assert flow.codes(module=rollback.dead) == "E P P"
    assert flow.begin_module().array == [rollback.dead]
    assert flow.failures(module=rollback.dead) == 1


def test_what_executes_in_a_batch_that_has_ended_is_dead(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("c")
    flow.call("add_batch_to_parent_batch", batch_code="c", parent_batch_code="b")
    parent = flow.begin_batch().id
    module = flow.begin_module("m", parent).id
    child = flow.begin_batch("c", parent_batch_instance_id=parent).id
    flow.owner(
        "UPDATE omd.batch_instance SET execution_status_code = 'F', end_datetime = now()"
        " WHERE batch_instance_id = %s",
        parent,
    )
    assert flow.call("reap_expired_instances") == {"reaped": [module], "reaped_batches": [child]}


def test_begins_ends_and_heartbeats_of_one_batch_never_deadlock(
    flow: Flow, another: Another, background: Background
) -> None:
    flow.batch("b", "m", "n")
    flow.batch("c", "n", "m")
    flow.call("add_batch_to_parent_batch", batch_code="c", parent_batch_code="b")

    def rounds(seed: int) -> list[str]:
        session = another()
        seen = []

        def attempt(routine: str, /, **arguments: Any) -> dict[str, Any]:
            try:
                return session.call(routine, **arguments)
            except psycopg.Error as error:
                seen.append(error.sqlstate or str(error))
                return {}

        for n in range(25):
            lease = PASSED if (n + seed) % 3 == 0 else HOUR
            batch = attempt("begin_batch", batch_code="b", lease=lease)
            newest = session.one("SELECT max(batch_instance_id) FROM omd.batch_instance")
            id = batch.get("batch_instance_id") or newest
            child = attempt("begin_batch", batch_code="c", parent_batch_instance_id=newest)
            for code in ("m", "n") if seed % 2 else ("n", "m"):
                begun = attempt(
                    "begin_module", module_code=code, batch_instance_id=newest, lease=lease
                )
                if begun.get("processing_indicator") == "P":
                    attempt(
                        "heartbeat", module_instance_id=begun["module_instance_id"], lease=lease
                    )
                    if n % 4:
                        end = "module_success" if n % 2 else "module_failure"
                        attempt(end, module_instance_id=begun["module_instance_id"])
            if child.get("processing_indicator") == "P":
                attempt("batch_failure", batch_instance_id=child["batch_instance_id"])
            attempt("batch_failure" if n % 2 else "batch_success", batch_instance_id=id)
            attempt("reap_expired_instances")
        return seen

    calls = [background(rounds, seed) for seed in range(6)]
    seen = {code for call in calls for code in call.result(timeout=120)}
    assert seen <= {"OM101", "OM102", "OM104", "OM107"}, seen
