"""Loads of all rooms, all the time: an upgrade is tested beside them (test_upgrade_beside_loads).

It is a program of its own, since PYTHONPATH gives it the omd of a former version. It says
``ready`` when each load was done once, goes on until after its input has ended, and then tells as
JSON how often each was done since, how long the longest took, and its errors.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
import traceback
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg

import omd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DSN = sys.argv[1]
_NONE = timedelta(0)  # a connection that breaks is an error


def module() -> Iterator[None]:
    with omd.connect(DSN, patience=_NONE) as control:
        while True:
            with control.module("m_loop") as run:
                run.rows_inserted = 1
            yield


def batch() -> Iterator[None]:
    with omd.connect(DSN, patience=_NONE) as control:
        while True:
            with control.batch("b_loop") as block:
                outcome = block.run("m_1", lambda run: None)
                assert outcome.status == "S", outcome
                outcome = block.run("m_2", lambda run: None)
                assert outcome.status == "S", outcome
            yield


def in_database() -> Iterator[None]:
    """SQL of a user, who knows no driver."""
    with psycopg.connect(DSN, autocommit=True) as conn:
        while True:
            row = conn.execute("CALL omd.run_batch('b_sql')").fetchone()
            assert row is not None
            assert row[1] == "S", row
            yield


def heartbeat() -> Iterator[None]:
    """One run that lives all the time."""
    with psycopg.connect(DSN, autocommit=True) as conn:
        row = conn.execute("CALL omd.begin_module('m_beat', p_lease => '1 hour')").fetchone()
        assert row is not None
        try:
            while True:
                conn.execute("CALL omd.heartbeat(%s, '1 hour')", [row[0]])
                yield
        finally:
            conn.execute("CALL omd.module_success(%s)", [row[0]])


def step() -> Iterator[None]:
    with omd.connect(DSN, patience=_NONE) as control, psycopg.connect(DSN) as conn:
        while True:
            conn.execute(
                "INSERT INTO dwh.src SELECT max(pos) + interval '1 s', max(id) + 1 FROM dwh.src"
            )
            conn.commit()
            control.lineage.probe_sources()
            outcome = control.lineage.step("dwh.f")
            assert outcome.outcome in ("DONE", "NOJOBS"), outcome
            yield


def tasks() -> Iterator[None]:
    with omd.connect(DSN, patience=_NONE) as control:
        room = control.dispatch
        room.register_backend("WORKER", "former", ttl="10 minutes")
        for number in itertools.count():
            task_id = room.create_task("PARCEL", "LOOP", {"DEPOT": str(number)}).task_id
            claims = room.claim_tasks("former", limit=10)
            assert task_id in [claim.task_id for claim in claims]
            results = [
                {"task_id": c.task_id, "claim_token": c.claim_token, "outcome": "S"} for c in claims
            ]
            assert room.complete_tasks("former", results) == []
            yield


def facts() -> Iterator[None]:
    """Rows that are written through a view of the facts, under a delivery, and read as of."""
    with omd.connect(DSN, patience=_NONE) as control:
        for number in itertools.count(1):
            with control.facts.delivery("desk") as desk:
                desk.connection.execute(
                    "INSERT INTO gdal_shop.orders (nbr, amount) VALUES (%s, 1)", [number]
                )
                desk.connection.execute("SELECT omd_facts.as_of(now())")
                desk.connection.execute("SELECT count(*) FROM asof_shop.orders")
            yield


def events() -> Iterator[None]:
    with omd.connect(DSN, patience=_NONE) as control:
        while True:
            control.event.publish()
            yield


LOADS: dict[str, Callable[[], Iterator[None]]] = {
    load.__name__: load
    for load in (module, batch, in_database, heartbeat, step, tasks, facts, events)
}


class Loop(threading.Thread):
    """One load, again and again."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.is_ready = threading.Event()
        self.count, self.longest = 0, 0.0
        self.error: str | None = None

    def run(self) -> None:
        began, last = time.monotonic(), 2
        try:
            for _ in LOADS[self.name]():
                now = time.monotonic()
                if self.is_ready.is_set():
                    self.count += 1
                    self.longest = max(self.longest, now - began)
                self.is_ready.set()
                if OVER.is_set():
                    last -= 1
                if last == 0:  # it has begun one since, too
                    return
                began = time.monotonic()
        except BaseException:  # noqa: BLE001 - it is told
            self.error = traceback.format_exc()
            self.is_ready.set()


OVER = threading.Event()


def main() -> None:
    loops = [Loop(name) for name in LOADS]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.is_ready.wait()
    print("ready", omd.__file__, flush=True)
    sys.stdin.read()
    OVER.set()
    for loop in loops:
        loop.join()
    told = {loop.name: [loop.count, round(loop.longest, 3), loop.error] for loop in loops}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
