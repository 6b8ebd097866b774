"""Parallel begins have one winner, also when an open transaction stops one of them (rule P10).

OMD_ROUNDS is how often the 64 sessions begin together (3; 1000 for the full run).
"""

from __future__ import annotations

import os
import threading
from collections import Counter
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

ROUNDS = int(os.environ.get("OMD_ROUNDS", "3"))
SESSIONS = 64


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m")


@pytest.mark.parametrize("kind", ["module", "batch"])
@pytest.mark.parametrize("calls", ["begin", "create and evaluate"])
def test_of_64_parallel_begins_exactly_one_proceeds(
    flow: Flow, another: Another, background: Background, kind: str, calls: str
) -> None:
    together = threading.Barrier(SESSIONS)

    def begin(session: Flow) -> list[Begun]:
        try:
            return rounds(session)
        except BaseException:
            together.abort()
            raise

    def rounds(session: Flow) -> list[Begun]:
        answers = []
        for _ in range(ROUNDS):
            together.wait(timeout=60)
            if calls == "begin":
                answer = session.begin_module() if kind == "module" else session.begin_batch()
            elif kind == "module":
                answer = session.evaluate_module(session.create_module())
            else:
                answer = session.evaluate_batch(session.create_batch())
            answers.append(answer)
            together.wait(timeout=60)
            if answer.pi == "P":
                (session.end_module if kind == "module" else session.end_batch)(answer.id, "S")
        return answers

    sessions = [another() for _ in range(SESSIONS)]
    calls_made = [background(begin, session) for session in sessions]
    problems = [call.exception(timeout=60 + ROUNDS) for call in calls_made]
    assert {type(e) for e in problems} - {threading.BrokenBarrierError} == {type(None)}, problems
    for answers in zip(*(call.result() for call in calls_made), strict=True):
        answered = Counter(answer.answer for answer in answers)
        assert answered == {("P", None): 1, ("A", "RUNNING"): SESSIONS - 1}


@pytest.mark.parametrize("kind", ["module", "batch"])
def test_an_instance_created_but_not_committed_is_not_overtaken(
    another: Another, background: Background, until_settled: UntilSettled, kind: str
) -> None:
    """The lowest id wins, even when the second session can't see the first one yet."""
    one, two = another(), another()

    def begin(session: Flow) -> Begun:
        return session.begin_module() if kind == "module" else session.begin_batch()

    one.conn.execute("BEGIN")
    first = one.create_module() if kind == "module" else one.create_batch()
    second = background(begin, two)
    until_settled(two, second)
    one.conn.execute("COMMIT")
    answers = [
        one.evaluate_module(first).pi if kind == "module" else one.evaluate_batch(first).pi,
        second.result(timeout=20).pi,
    ]
    assert sorted(answers) == ["A", "P"]


@pytest.mark.parametrize("kind", ["module", "batch"])
def test_a_begin_that_is_rolled_back_leaves_the_way_free(
    another: Another, background: Background, until_settled: UntilSettled, kind: str
) -> None:
    one, two = another(), another()
    one.conn.execute("BEGIN")
    assert (one.begin_module() if kind == "module" else one.begin_batch()).pi == "P"
    second = background(two.begin_module if kind == "module" else two.begin_batch)
    until_settled(two, second)
    one.conn.execute("ROLLBACK")
    assert second.result(timeout=20).answer == ("P", None)


@pytest.mark.parametrize("first_evaluated", [0, 1])
def test_two_evaluations_at_once_let_the_lowest_id_in(
    flow: Flow,
    another: Another,
    background: Background,
    until_settled: UntilSettled,
    first_evaluated: int,
) -> None:
    ids = [flow.create_module(), flow.create_module()]
    one, two = another(), another()
    one.conn.execute("BEGIN")
    first = one.evaluate_module(ids[first_evaluated])
    other = background(two.evaluate_module, ids[1 - first_evaluated])
    until_settled(two, other)
    one.conn.execute("COMMIT")
    answers = {first.id: first.answer, ids[1 - first_evaluated]: other.result(timeout=20).answer}
    assert answers == {ids[0]: ("P", None), ids[1]: ("A", "RUNNING")}


@pytest.mark.parametrize("kind", ["module", "batch"])
@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_snapshot_lets_nobody_in(
    flow: Flow, another: Another, kind: str, isolation: str
) -> None:
    late = another()
    late.conn.execute(f"BEGIN ISOLATION LEVEL {isolation}".encode())
    late.conn.execute("SELECT 1 FROM omd.module_instance")
    if kind == "module":
        flow.begin_module()
        routine, code = "begin_module", {"module_code": "m"}
    else:
        flow.begin_batch()
        routine, code = "begin_batch", {"batch_code": "b"}
    try:
        answer = late.call(routine, **code)
    except psycopg.Error as error:
        assert error.sqlstate in ("OM014", "40001")  # noqa: PT017 - either is good
    else:
        assert answer["processing_indicator"] == "A"


def test_success_wins_against_a_giving_up_that_comes_second(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    id = flow.begin_module(lease=PASSED).id
    owner, rival = another(), another()
    owner.conn.execute("BEGIN")
    owner.call("module_success", module_instance_id=id)
    begun = background(rival.begin_module)
    until_settled(rival, begun)
    owner.conn.execute("COMMIT")
    assert begun.result(timeout=20).answer in (("P", None), ("A", "RUNNING"))
    assert begun.result().array == []
    assert flow.codes(module=id) == "S P P"
    assert flow.failures(module=id) == 0


def test_giving_up_wins_against_a_success_that_comes_second(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    id = flow.begin_module(lease=PASSED).id
    owner, rival = another(), another()
    rival.conn.execute("BEGIN")
    assert rival.begin_module().array == [id]
    ended = background(owner.call, "module_success", module_instance_id=id)
    until_settled(owner, ended)
    rival.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        ended.result(timeout=20)
    assert caught.value.sqlstate == "OM101"
    assert flow.codes(module=id) == "F P R"
    assert flow.failures(module=id) == 1


def test_a_heartbeat_and_a_giving_up_agree(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    id = flow.begin_module(lease=PASSED).id
    owner, rival = another(), another()
    rival.conn.execute("BEGIN")
    assert rival.begin_module().pi == "P"
    beat = background(owner.call, "heartbeat", module_instance_id=id, lease="1 hour")
    until_settled(owner, beat)
    rival.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        beat.result(timeout=20)
    assert caught.value.sqlstate in ("OM101", "OM107")
    assert flow.codes(module=id) == "F P R"


def test_a_dead_run_is_given_up_once_by_many(
    flow: Flow, another: Another, background: Background
) -> None:
    id = flow.begin_module(lease=PASSED).id
    sessions = [another() for _ in range(8)]
    calls = [
        background(session.begin_module)
        if n % 2
        else background(session.call, "reap_expired_instances")
        for n, session in enumerate(sessions)
    ]
    answers = [call.result(timeout=20) for call in calls]
    begun = [answer.pi for answer in answers[1::2]]
    if "P" not in begun:  # a session that declared it dead held it until all others had looked
        assert sum(id in answer["reaped"] for answer in answers[::2]) == 1
        begun.append(flow.begin_module().pi)
    assert begun.count("P") == 1
    assert sum(id in answer["reaped"] for answer in answers[::2]) <= 1
    assert flow.failures(module=id) == 1


def test_a_module_that_begins_before_the_batch_ends_keeps_it_from_success(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    batch = flow.begin_batch().id
    one, two = another(), another()
    one.conn.execute("BEGIN")
    assert one.begin_module("m", batch).pi == "P"
    ended = background(two.call, "batch_success", batch_instance_id=batch)
    until_settled(two, ended)
    one.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        ended.result(timeout=20)
    assert caught.value.sqlstate == "OM104"


@pytest.mark.parametrize("status", ["S", "F"])
def test_a_module_that_begins_after_the_batch_ended_is_aborted(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled, status: str
) -> None:
    batch = flow.begin_batch().id
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.end_batch(batch, status)
    begun = background(two.begin_module, "m", batch)
    until_settled(two, begun)
    one.conn.execute("COMMIT")
    assert begun.result(timeout=20).answer == ("A", "BATCH_NOT_PROCEEDING")


def test_a_child_that_begins_before_the_parent_ends_keeps_it_from_success(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    parent = flow.begin_batch().id
    one, two = another(), another()
    one.conn.execute("BEGIN")
    assert one.begin_batch("child", parent_batch_instance_id=parent).pi == "P"
    ended = background(two.call, "batch_success", batch_instance_id=parent)
    until_settled(two, ended)
    one.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        ended.result(timeout=20)
    assert caught.value.sqlstate == "OM104"


def test_two_modules_of_one_batch_begin_at_once_without_waiting(
    flow: Flow, another: Another
) -> None:
    flow.batch("b", "m", "n")
    batch = flow.begin_batch().id
    one, two = another(), another()
    two.conn.execute("SET lock_timeout = '5 s'")
    one.conn.execute("BEGIN")
    assert one.begin_module("m", batch).pi == "P"
    assert two.begin_module("n", batch).pi == "P"


def test_standalone_runs_of_different_modules_do_not_wait_for_each_other(
    flow: Flow, another: Another
) -> None:
    flow.module("n")
    one, two = another(), another()
    two.conn.execute("SET lock_timeout = '5 s'")
    one.conn.execute("BEGIN")
    one.run_module("m", "F")
    assert two.begin_module("n").pi == "P"


def test_two_batches_that_share_a_module_begin_at_once_without_waiting(
    flow: Flow, another: Another
) -> None:
    flow.batch("c", "m")
    for code in ("b", "c"):
        flow.run_batch(code, m="S")
        flow.end_batch(flow.begin_batch(code).id, "F")
    one, two = another(), another()
    two.conn.execute("SET lock_timeout = '5 s'")
    one.conn.execute("BEGIN")
    assert one.begin_batch("b").pi == "P"
    assert two.begin_batch("c").pi == "P"


def test_an_administrators_edit_and_an_evaluation_never_both_lose(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    first = flow.run_module()
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.set_next("C", module=first)
    begun = background(two.begin_module)
    until_settled(two, begun)
    one.conn.execute("COMMIT")
    if begun.result(timeout=20).answer == ("P", None):  # the next run sees the edit
        two.end_module(begun.result().id, "S")
        assert flow.begin_module().answer == ("C", "DIRECTIVE")
    else:
        assert begun.result().answer == ("C", "DIRECTIVE")


def test_batches_that_share_modules_in_opposite_orders_never_deadlock(
    flow: Flow, another: Another, background: Background
) -> None:
    modules = ("m1", "m2", "m3")
    flow.batch("x", *modules)
    flow.batch("y", *reversed(modules))
    flow.batch("z", *modules[1:], modules[0])
    orders = {"x": modules, "y": modules[::-1], "z": (*modules[1:], modules[0])}

    def rounds(session: Flow, code: str, seed: int) -> None:
        for n in range(6):
            batch = session.begin_batch(code)
            if batch.pi != "P":
                continue
            failed = False
            for module in orders[code]:
                begun = session.begin_module(module, batch.id)
                if begun.pi == "P":
                    bad = (n + seed + begun.id) % 3 == 0
                    failed |= bad
                    session.end_module(begun.id, "F" if bad else "S")
            session.end_batch(batch.id, "F" if failed else "S")
            if n % 2:
                session.set_next("R", batch=batch.id)

    calls = [background(rounds, another(), code, seed) for seed, code in enumerate([*orders] * 2)]
    for call in calls:
        call.result(timeout=60)  # a deadlock is an error of one of them
    assert (
        flow.one("SELECT count(*) FROM omd.module_instance WHERE execution_status_code = 'E'") == 0
    )


def test_opposite_orders_inside_two_transactions_do_not_deadlock_while_ending(
    flow: Flow, another: Another
) -> None:
    """The end of an instance locks only its own rows."""
    flow.batch("b", "m", "n")
    batch = flow.begin_batch().id
    ids = [flow.begin_module(code, batch).id for code in ("m", "n")]
    one, two = another(), another()
    two.conn.execute("SET lock_timeout = '5 s'")
    one.conn.execute("BEGIN")
    one.end_module(ids[0], "F")
    two.end_module(ids[1], "F")
    one.conn.execute("COMMIT")
    assert [flow.codes(module=id) for id in ids] == ["F P R", "F P R"]


def test_a_long_rollback_keeps_nobody_from_renewing_or_ending_the_batch(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    failed = flow.begin_module("m").id
    flow.write(failed)
    flow.end_module(failed, "F")
    batch = flow.begin_batch(lease=timedelta(hours=1)).id
    target, beginner = another(), another()
    with target.conn.transaction():
        target.conn.execute("SELECT FROM dwh.m FOR UPDATE")  # the rollback takes as long as this
        begun = background(beginner.begin_module, "m", batch)
        until_settled(beginner, begun)
        assert not begun.done()
        flow.conn.execute("SET lock_timeout = '5 s'")
        flow.call("heartbeat_batch", batch_instance_id=batch, lease=timedelta(hours=1))
        flow.call("batch_failure", batch_instance_id=batch)
    with pytest.raises(psycopg.Error) as caught:
        begun.result(timeout=20)
    assert caught.value.sqlstate == "OM101"
    assert flow.stamps() == {failed: 2}  # all of it was undone
    assert flow.begin_module("m").array == [failed]
