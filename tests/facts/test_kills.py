"""A load is stopped at each of its steps, in each way; the next one loads the item, once.

A lock lets the load wait at a step. Then

terminate          the server ends its session
cancel             the server cancels its statement
statement_timeout  it has taken too long
lock_timeout       it has waited too long
kill               its program is killed; the server does not know, and ends the load

Each day it is a third of the steps, in a whole run each step in one way; OMD_SOAK=5 are all ways.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.people import stored
from facts.store import PERSON, PHONE
from facts.test_random_writes import MOMENT, Case, Model
from support.lots import IS_WHOLE, SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from facts.store import Store

WAYS = ["terminate", "cancel", "statement_timeout", "lock_timeout", "kill"]
# What a load takes, in this order.
STEPS = [
    "SELECT FROM omd.module WHERE module_code = 'facts.shop' FOR UPDATE",
    "LOCK TABLE omd.module_instance IN SHARE MODE",
    "SELECT FROM omd_delivery.delta_queue WHERE queue_status <> 'PERSISTED' FOR UPDATE",
    "SELECT FROM omd_facts.interface FOR UPDATE",
    "LOCK TABLE cfl_shop.h_person IN SHARE MODE",
    "LOCK TABLE cfl_shop.s_person_properties_now IN SHARE MODE",
    "LOCK TABLE cfl_shop.s_person_properties_past IN SHARE MODE",
    "LOCK TABLE cfl_shop.s_person_mail_now IN SHARE MODE",
    "LOCK TABLE cfl_shop.s_person_birth_now IN SHARE MODE",
    "LOCK TABLE cfl_shop.s_person_phone_now IN SHARE MODE",
    "SELECT FROM omd_facts.entity_mark FOR UPDATE",
    "LOCK TABLE omd_facts.load_log IN SHARE MODE",
    "SELECT FROM omd_delivery.delivery WHERE delivery_status = 'ACCEPTED' FOR UPDATE",
    "LOCK TABLE omd_delivery.delivery_event IN SHARE MODE",
]
PROGRAM = """
import sys, psycopg
conn = psycopg.connect(sys.argv[1], autocommit=True)
print(conn.info.backend_pid, flush=True)
conn.execute(sys.argv[2])
"""
LOAD = "CALL omd_facts.load('shop')"


@pytest.fixture
def stop(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
    dsn: str,
) -> Callable[[str, str, str], None]:
    """A function that stops a call in some way, while it waits for a lock."""

    def gone(pid: int) -> bool:
        return not store.rows("SELECT FROM pg_stat_activity WHERE pid = %s", pid)

    def waits(pid: int) -> bool:
        return bool(store.one("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid))

    def until(found: Callable[[int], bool], pid: int) -> None:
        for _ in range(20_000):
            if found(pid):
                return
        pytest.fail(f"session {pid} does not come so far")

    def stop(way: str, lock: str, call: str) -> None:
        blocker = stores()
        if way == "kill":
            with blocker.conn.transaction():
                blocker.conn.execute(lock.encode())
                program = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, dsn, call], stdout=subprocess.PIPE, text=True
                )
                assert program.stdout
                pid = int(program.stdout.readline())
                until(waits, pid)
                program.send_signal(signal.SIGKILL)
                program.communicate()
            until(gone, pid)
            return
        other = stores()
        pid = other.conn.info.backend_pid
        if way.endswith("timeout"):
            other.conn.execute(f"SET {way} = '250ms'".encode())
        with blocker.conn.transaction():
            blocker.conn.execute(lock.encode())
            run = background(other.conn.execute, call.encode())
            until_settled(other, run)
            # Where the machine is slow, a timeout comes before the step.
            assert way.endswith("timeout") or not run.done(), f"it does not wait: {lock}"
            if way == "terminate":
                store.one("SELECT pg_terminate_backend(%s, 10000)", pid)
            elif way == "cancel":
                store.one("SELECT pg_cancel_backend(%s)", pid)
            try:
                (answer,) = run.result(30)
            except psycopg.Error:
                pass
            else:
                assert "FAILED" in answer.values()

    return stop


@pytest.mark.random
@pytest.mark.kill
def test_a_load_that_is_stopped_at_any_step_is_done_once(
    store: Store, stop: Callable[[str, str, str], None]
) -> None:
    store.set_up(PERSON, PHONE)
    case = Case(store, seed=SEED)
    first: dict[str, list[Any]] = {"person": [("N", 1, "a", None, "x", None)], "phone": []}
    store.push(store.one("SELECT clock_timestamp()"), **first)
    case.take(first)
    chance = random.Random(SEED)
    model: Model = case.model
    steps = list(enumerate(STEPS))
    steps = steps if IS_WHOLE else steps[SEED % 3 :: 3]
    for number, lock in steps:
        for turn in range(draws(1)):
            way = WAYS[(number + turn) % len(WAYS)]
            # Each step has something to do: one row of each indicator in each entity.
            deltas = {
                "person": [
                    ("A", 1, "a", None, chance.choice("xyz") + f"{chance.random():.6f}", None),
                    ("N", 100 + len(case.moments), None, "1990", None, 1),
                    ("R", 99 + len(case.moments), *[None] * 4),
                ],
                "phone": [("A", 1, "home", f"{chance.random():.6f}"), ("R", 1, "work", None)],
            }
            at = store.one("SELECT clock_timestamp()")
            store.push(at, **deltas)
            before = model.tables()
            stop(way, lock, LOAD)
            if way != "kill":
                assert stored(store, MOMENT) == before, (way, lock)
                case.take(deltas)
            else:
                # The server has ended the load, or has not begun it.
                assert [store.take()["outcome"] for _ in range(2)][-1] == "NOTHING"
                case.moments.append(case.now())
                model.load(case.moments[-1], deltas)
            case.check()
            assert store.sound()
    queued = "SELECT count(*) FROM omd_delivery.delta_queue WHERE queue_status <> 'PERSISTED'"
    assert store.one(queued) == 0
    done = len(steps) * draws(1) + 1
    assert store.one("SELECT count(*) FROM omd_facts.load_log") == done


@pytest.mark.kill
@pytest.mark.parametrize("way", ["terminate", "kill"])
def test_an_undo_that_is_stopped_is_done_once(
    store: Store, stop: Callable[[str, str, str], None], way: str
) -> None:
    store.set_up(PERSON, PHONE)
    store.put(1, person=[("N", 1, "a", None, "x", None)], phone=[("N", 1, "home", "1")])
    load = store.put(2, person=[("A", 1, "b", "1990", "y", None)], phone=[("R", 1, "home", None)])
    after = stored(store, MOMENT)
    call = f"CALL omd_facts.undo('shop', {load})"
    stop(way, "LOCK TABLE cfl_shop.s_person_phone_now IN SHARE MODE", call)
    undone = store.undo(load)
    assert undone == ([] if way == "kill" else [load])
    assert store.now("person") == [(1, "a", None, "x", None)]
    assert store.now("phone") == [(1, "home", "1")]
    assert store.take()["outcome"] == "PERSISTED"
    assert stored(store, MOMENT) == after
    assert store.sound()


@pytest.mark.kill
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_load_is_undone_although_the_one_after_it_has_died(
    store: Store, stop: Callable[[str, str, str], None], by_hand: bool
) -> None:
    """The dead one leaves its item LOADING, and each later load and undo was refused (OM153)."""
    store.set_up(PERSON, PHONE)
    first = store.put(1, person=[("N", 1, "a", None, "x", None)])
    store.queue(2, person=[("N", 2, "b", None, "y", None)])
    stop("terminate", "LOCK TABLE omd_facts.load_log IN SHARE MODE", LOAD)
    status = "SELECT queue_status FROM omd_delivery.delta_queue WHERE queue_id = 2"
    assert store.one(status) == "LOADING"
    if by_hand:
        assert store.undo(first) == [first]
    else:
        store.set_next("R", module=first)
    assert [store.take()["outcome"] for _ in range(3)] == ["PERSISTED", "PERSISTED", "NOTHING"]
    assert [nbr for nbr, *_ in store.now("person")] == [1, 2]
    standing = "SELECT count(*) FROM omd_report.facts_loads WHERE undone_by IS NULL"
    assert store.one(standing) == 2
    assert store.sound()
