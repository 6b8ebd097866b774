"""Who runs, begins, recalls or is killed beside a recall: all is taken back, or nothing.

The rollback of the Module `slow` waits for whoever holds the advisory lock 7, so the act can be held
in its middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from provenance.recalls import Recalls

    Recallers = Callable[..., Recalls]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Recalls, Future[Any]], None]

RUNS = "SELECT v FROM (SELECT pg_advisory_xact_lock_shared(8)) AS gate, dwh.{} AS t"


@pytest.fixture
def scene(recalls: Recalls) -> Recalls:
    """Five tables in a row, the third of which waits when rows of it are deleted."""
    names = ["a", "b", "slow", "d", "e"]
    for name, read in zip(names, [None, *names], strict=False):
        recalls.made(name, *([read] if read else []))
    recalls.conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;"
        "CREATE TRIGGER wait BEFORE DELETE ON dwh.slow FOR EACH STATEMENT"
        " EXECUTE FUNCTION dwh.wait()"
    )
    recalls.go(*names)
    return recalls


@pytest.fixture
def gate(scene: Recalls) -> Iterator[Callable[[int], None]]:
    """A function that closes the gate of this number until the test has ended or opens it."""
    yield lambda number: scene.conn.execute("SELECT pg_advisory_lock(%s)", [number]) and None
    scene.conn.execute("SELECT pg_advisory_unlock_all()")


def test_a_reader_sees_the_world_before_or_after(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    probe = " UNION ALL ".join(f"SELECT count(*) AS n FROM dwh.{n}" for n in ["a", "b", "slow", "d", "e"])

    def probed() -> list[int]:
        return [row["n"] for row in other.rows(f"SELECT n FROM ({probe}) AS p")]

    recall, other, acting = scene.plan(scene.standing()[0]), recallers(), recallers()
    gate(7)
    call = background(acting.recall, recall)
    until_settled(acting, call)
    assert probed() == [3] * 5
    assert other.one("SELECT count(*) FROM omd_report.recalls WHERE module_instance_id > 0") == 0
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    call.result()
    assert probed() == [0] * 5


@pytest.mark.kill
def test_what_is_killed_in_the_act_has_done_nothing(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    runs = scene.standing()
    recall, acting = scene.plan(runs[0]), recallers()
    gate(7)
    call = background(acting.recall, recall)
    until_settled(acting, call)
    scene.conn.execute("SELECT pg_terminate_backend(%s, 10000)", [acting.conn.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        call.result()
    assert scene.standing() == runs
    assert scene.values("e") == [1, 2, 3]
    assert scene.rows("SELECT FROM omd.module_return") == []
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    scene.recall(recall)
    assert scene.standing() == []


def test_a_cancelled_act_has_done_nothing(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    runs = scene.standing()
    recall, acting = scene.plan(runs[0]), recallers()
    gate(7)
    call = background(acting.recall, recall)
    until_settled(acting, call)
    scene.conn.execute("SELECT pg_cancel_backend(%s)", [acting.conn.info.backend_pid])
    with pytest.raises(psycopg.errors.QueryCanceled):
        call.result()
    assert scene.standing() == runs


def test_who_begins_meanwhile_reads_what_is_left(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    """The Module has no run yet, and may read a table of the plan."""
    scene.made("first", "a")
    recall, acting, beginning, free = (
        scene.plan(scene.standing()[0]),
        *(recallers() for _ in range(3)),
    )
    gate(7)
    call = background(acting.recall, recall)
    until_settled(acting, call)
    begin = background(beginning.go, "first")
    until_settled(beginning, begin)
    assert not begin.done()
    scene.conn.execute("CREATE TABLE dwh.x (v bigint)")  # nobody else stands still
    free.made("free")
    free.go("free")
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    call.result()
    begin.result()
    assert scene.values("first") == []


def test_a_run_at_work_is_waited_for_without_locks(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    scene.made("late", "b", rows=RUNS.format("b"))
    scene.call("declare_inputs", module_code="late", tables=["dwh.b"])
    runs = scene.standing()
    recall, acting, reading, free = scene.plan(runs[0]), *(recallers() for _ in range(3))
    gate(8)
    read = background(reading.go, "late")
    until_settled(reading, read)
    # At once it is refused, and says who is at work.
    detail = free.refused("OM194", "omd_provenance.recall", recall_id=recall, wait="0")
    assert [(r["module_code"], r["backend_pid"]) for r in detail["runs"]] == [
        ("late", reading.conn.info.backend_pid)
    ]
    call = background(acting.recall, recall, "GROWTH", wait="1 minute")
    ran = free.go("a")  # a Module of the plan runs while the recall waits
    scene.conn.execute("SELECT pg_advisory_unlock(8)")
    late = read.result()
    call.result()
    assert scene.standing() == [ran]
    assert late in [run for (run,) in scene.items(recall, "module_instance_id")]
    assert scene.values("late") == []


def test_without_consent_what_has_read_meanwhile_stops_the_act(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    scene.made("late", "b", rows=RUNS.format("b"))
    scene.call("declare_inputs", module_code="late", tables=["dwh.b"])
    runs = scene.standing()
    recall, acting, reading = scene.plan(runs[0]), recallers(), recallers()
    gate(8)
    read = background(reading.go, "late")
    until_settled(reading, read)
    call = background(acting.recall, recall, wait="1 minute")
    scene.conn.execute("SELECT pg_advisory_unlock(8)")
    late = read.result()
    with pytest.raises(psycopg.Error) as caught:
        call.result()
    assert caught.value.sqlstate == "OM190"
    assert scene.standing() == [*runs, late]


def test_one_recall_at_a_time(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    """The second one waits, and finds what the first one has left."""
    scene.made("other")
    other = scene.go("other")
    runs = scene.standing()[:5]
    plans = [scene.plan(runs[0]), scene.plan(runs[1]), scene.plan(other)]
    sessions = [recallers() for _ in plans]
    gate(7)
    calls = []
    for session, plan in zip(sessions, plans, strict=True):
        calls.append(background(session.recall, plan, wait="1 minute"))
        until_settled(session, calls[-1])
    assert not any(call.done() for call in calls)
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    calls[0].result()
    calls[2].result()
    with pytest.raises(psycopg.Error) as caught:
        calls[1].result()
    assert caught.value.sqlstate == "OM190"
    assert scene.standing() == []


def test_the_same_recall_twice_at_once_happens_once(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    recall = scene.plan(scene.standing()[0])
    first, second = recallers(), recallers()
    gate(7)
    calls = [background(first.recall, recall)]
    until_settled(first, calls[0])
    calls.append(background(second.recall, recall, wait="1 minute"))
    until_settled(second, calls[1])
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    calls[0].result()
    with pytest.raises(psycopg.Error) as caught:
        calls[1].result()
    assert caught.value.sqlstate == "OM193"


def test_a_wait_for_locks_ends(scene: Recalls, recallers: Recallers) -> None:
    recall, holding = scene.plan(scene.standing()[0]), recallers()
    with holding.conn.transaction():
        holding.conn.execute("SELECT FROM omd.module WHERE module_code = 'e' FOR UPDATE")
        detail = scene.refused("OM194", "omd_provenance.recall", recall_id=recall, wait="0")
        assert "lock" in detail["problem"]
    scene.recall(recall)


def test_a_wait_before_the_plan_makes_it_the_plan_of_the_act(
    scene: Recalls,
    gate: Callable[[int], None],
    recallers: Recallers,
    background: Background,
    until_settled: UntilSettled,
) -> None:
    scene.made("late", "b", rows=RUNS.format("b"))
    scene.call("declare_inputs", module_code="late", tables=["dwh.b"])
    recall, waiting, reading = scene.plan(scene.standing()[0]), recallers(), recallers()
    gate(8)
    read = background(reading.go, "late")
    until_settled(reading, read)
    call = background(
        waiting.call, "omd_provenance.wait_for_runs", recall_id=recall, wait="1 minute"
    )
    scene.conn.execute("SELECT pg_advisory_unlock(8)")
    read.result()
    call.result()
    scene.recalled(scene.standing()[0])
    assert scene.standing() == []
