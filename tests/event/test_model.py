"""Random sessions, transactions, savepoints and rounds, beside a model of the specification.

The model knows of each call which events its commit makes, and when its transaction began and
committed. It reads nothing of the database but the ids that calls answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from support.events import after, publish
from support.flow import Flow
from support.lots import seeds

pytestmark = pytest.mark.random

STEPS = 100

ENDS = {"S": "SUCCEEDED", "F": "FAILED", "A": "ABORTED", "C": "ABORTED"}


@dataclass
class Told:
    """An event that a commit makes; its order is known by the steps of its transaction."""

    event: tuple[str, int]
    is_ordered: bool  # its time is within its transaction
    began: int = 0
    committed: int = 0


@dataclass
class State:
    """What a session has committed, or would have: what a rollback gives back."""

    batch: int | None = None
    runs: dict[str, tuple[int, bool]] = field(default_factory=dict)  # the id, and whether evaluated
    failed: dict[str, list[int]] = field(default_factory=dict)
    # Of the Batch that executes: runs in it, and Modules that have failed in it and not succeeded.
    members: set[int] = field(default_factory=set)
    unhealed: set[str] = field(default_factory=set)

    def copy(self) -> State:
        failed = {code: list(ids) for code, ids in self.failed.items()}
        return State(self.batch, dict(self.runs), failed, set(self.members), set(self.unhealed))


class Session:
    """One session with Modules and a Batch of its own, so that it waits for nobody."""

    def __init__(self, flow: Flow, number: int, lots: random.Random) -> None:
        self.flow = flow
        self.batch = f"b{number}"
        self.modules = [f"m{number}_{n}" for n in range(3)]
        self.lots = lots
        self.state = State()
        self.told: list[Told] = []  # committed
        self.pending: list[Told] = []
        self.began: int | None = None  # the step at which the transaction began
        self.saved: State | None = None
        self.savepoints: list[tuple[State, int]] = []

    def step(self, now: int) -> None:
        act = self.lots.random()
        if self.began is None and act < 0.4:
            self.flow.conn.execute("BEGIN")
            self.began, self.saved = now, self.state.copy()
        elif self.began is not None and act < 0.25:
            self.end(now, is_kept=self.lots.random() < 0.7)
        elif self.began is not None and act < 0.35:
            self.flow.conn.execute(f"SAVEPOINT s{len(self.savepoints)}".encode())
            self.savepoints.append((self.state.copy(), len(self.pending)))
        elif self.savepoints and act < 0.45:
            self.state, kept = self.savepoints.pop()
            self.flow.conn.execute(f"ROLLBACK TO SAVEPOINT s{len(self.savepoints)}".encode())
            del self.pending[kept:]
        else:
            is_alone = self.began is None
            if is_alone:
                self.began = now
            self.call()
            if is_alone:
                self.commit(now)

    def end(self, now: int, *, is_kept: bool) -> None:
        if is_kept:
            self.flow.conn.execute("COMMIT")
            self.commit(now)
        else:
            self.flow.conn.execute("ROLLBACK")
            assert self.saved is not None
            self.state, self.pending = self.saved, []
        self.began, self.savepoints = None, []

    def commit(self, now: int) -> None:
        assert self.began is not None
        for told in self.pending:
            told.began, told.committed = self.began, now
        self.told += self.pending
        self.pending, self.began = [], None

    def tell(self, kind: str, id: int, *, is_ordered: bool = True) -> None:
        self.pending.append(Told((kind, id), is_ordered))

    def call(self) -> None:
        module = self.lots.choice(self.modules)
        if self.lots.random() < 0.2:
            self.batch_call()
        elif module not in self.state.runs:
            batch = self.state.batch if self.lots.random() < 0.5 else None
            if self.lots.random() < 0.3:
                id = self.flow.create_module(module, batch or 0)
                self.state.runs[module] = (id, False)
            else:
                begun = self.flow.begin_module(module, batch or 0)
                self.proceed(module, begun.id, begun.pi)
            if batch:
                self.state.members.add(self.state.runs[module][0])
        else:
            id, is_evaluated = self.state.runs[module]
            if not is_evaluated and self.lots.random() < 0.6:
                self.proceed(module, id, self.flow.evaluate_module(id).pi)
            else:
                self.end_run(module, id, is_evaluated=is_evaluated)

    def proceed(self, module: str, id: int, answer: str) -> None:
        assert answer == "P"
        self.state.runs[module] = (id, True)
        self.tell("RUN_BEGAN", id)
        for undone in self.state.failed.pop(module, []):
            self.tell("RUN_UNDONE", undone)

    def end_run(self, module: str, id: int, *, is_evaluated: bool) -> None:
        status = self.lots.choice("SSFAC" if is_evaluated else "FAC")
        self.flow.end_module(id, status)
        del self.state.runs[module]
        if id in self.state.members and status in "SF":
            (self.state.unhealed.add if status == "F" else self.state.unhealed.discard)(module)
        if status == "F":
            self.state.failed.setdefault(module, []).append(id)
            if not is_evaluated:
                # Its time is that of its creation.
                self.tell("RUN_BEGAN", id, is_ordered=False)
        if status == "F" or is_evaluated:
            self.tell(f"RUN_{ENDS[status]}", id)

    def batch_call(self) -> None:
        if self.state.batch is None:
            begun = self.flow.begin_batch(self.batch)
            assert begun.pi == "P"
            self.state.batch = begun.id
            self.tell("BATCH_BEGAN", begun.id)
        elif not self.state.runs:
            status = self.lots.choice("FAC" if self.state.unhealed else "SFAC")
            self.flow.end_batch(self.state.batch, status)
            self.tell(f"BATCH_{ENDS[status]}", self.state.batch)
            self.state.batch, self.state.members, self.state.unhealed = None, set(), set()


@pytest.mark.parametrize("seed", seeds(3))
def test_what_is_published_is_what_was_committed(
    flow: Flow, another: Callable[..., Flow], seed: int
) -> None:
    lots = random.Random(seed)
    sessions = []
    for number in range(4):
        flow.batch(f"b{number}", *(f"m{number}_{n}" for n in range(3)))
        flow.conn.execute("UPDATE omd.module SET backoff = '0', max_failures = 0")
        sessions.append(Session(another(), number, lots))
    for now in range(STEPS):
        lots.choice(sessions).step(now)
        if lots.random() < 0.3:
            publish(flow, lots.choice([1, 2, 5, 10000]))
    for number, session in enumerate(sessions):
        if session.began is not None:
            session.end(STEPS + number, is_kept=lots.random() < 0.5)
    while publish(flow, lots.choice([1, 3, 10000])) != 0:
        pass
    # A gap that the last of them noticed gets its bound in the next round, and ends one later.
    assert [publish(flow) for _ in range(2)] == [0, 0]

    events = after(flow)
    told = [told for session in sessions for told in session.told]
    assert sorted(events) == sorted(one.event for one in told)
    assert len(set(events)) == len(events)
    place = {event: number for number, event in enumerate(events)}
    ordered = [one for one in told if one.is_ordered]
    for one in ordered:
        for other in ordered:
            if one.committed < other.began:
                assert place[one.event] < place[other.event], (one, other)
    for kind, id in events:
        family, _, what = kind.partition("_")
        if what in ("SUCCEEDED", "FAILED", "ABORTED"):
            assert place[(f"{family}_BEGAN", id)] < place[(kind, id)]
        elif what == "UNDONE":
            assert place[("RUN_FAILED", id)] < place[(kind, id)]
    assert flow.rows("SELECT FROM omd_event.gap") == []
    executing = sum(len(session.state.runs) + bool(session.state.batch) for session in sessions)
    assert flow.one("SELECT count(*) FROM omd_event.open_run") == executing
