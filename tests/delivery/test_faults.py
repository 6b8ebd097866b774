"""Each delivery has its effect once, whatever dies.

Two programs for each of two agreements deliver a sequence of states of one entity to the same
interface, in competition; a third part takes the queue, and purges. They call what a program on
Spark calls, and write the delta in pieces. Meanwhile these faults strike:

die       a program ends between two calls, or in the middle of its delta, and tells nobody
lose      a call is answered, and the answer is lost
freeze    a program sleeps for longer than its lease, and goes on
end       the server ends a session
cancel    the server cancels a statement
restart   the server is stopped at once and started again

Who comes next resumes by itself. At the end all versions in LVL and the whole queue are those of
the same deliveries without a fault.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from delivery.runs import OPEN, Shop
from support.lots import SEED, draws

if TYPE_CHECKING:
    from support.crashes import Server

    State = dict[int, str]
    Version = tuple[int, str, str, datetime, datetime]

DELIVERIES = draws(2)  # of each agreement
LEASE = 0.4  # seconds
KEYS = 40
PATIENCE = 60 + 20 * DELIVERIES  # seconds until it is told that a delivery does not end
START = datetime(2020, 1, 1, tzinfo=timezone.utc)
NEVER = datetime.fromisoformat(OPEN + ":00")
ENTITIES = {"a": "customer", "b": "orders"}
MODEL = {
    "interface": "shop",
    "entities": [
        {
            "name": entity,
            "key": ["nbr"],
            "attributes": [{"name": "nbr", "type": "integer"}, {"name": "value", "type": "text"}],
        }
        for entity in ENTITIES.values()
    ],
}
STRUCK = {None, "57014", "57P01", "57P02", "57P03"}  # the SQLSTATEs of end, cancel and restart


class DiedError(Exception):
    """The program ends here."""


class Sequence:
    """The states that an agreement delivers, and what they make of LVL."""

    def __init__(self, seed: str) -> None:
        rng = random.Random(seed)
        self.states: list[State] = [{}]
        for n in range(DELIVERIES):
            state = dict(self.states[-1])
            for key in rng.sample(range(KEYS), KEYS // 2):
                if key in state and rng.random() < 0.3:
                    del state[key]
                else:
                    state[key] = f"{key}.{n}"
            self.states.append(state)

    def physical(self, number: int) -> bool:
        return number % 4 == 2

    def delta(self, number: int) -> list[tuple[str, int, str | None]]:
        """Return indicator, key and value of what this delivery changes, from 1."""
        old, new = self.states[number - 1 : number + 1]
        return [
            *(("A" if k in old else "N", k, v) for k, v in new.items() if old.get(k) != v),
            *(("R", k, None) for k in old if k not in new),
        ]

    def counts(self, number: int) -> dict[str, int]:
        found = Counter(indicator for indicator, _, _ in self.delta(number))
        return {indicator: found[indicator] for indicator in "NAR"}

    def may_count(self, number: int, counts: dict[str, int]) -> bool:
        """Tell whether an item may have these counts.

        A physical delete takes its keys out of the deltas before it, as far as they are not purged
        yet, and out of their counts.
        """
        gone = {
            key
            for later in range(number + 1, DELIVERIES + 1)
            if self.physical(later)
            for indicator, key, _ in self.delta(later)
            if indicator == "R"
        }
        went = Counter(indicator for indicator, key, _ in self.delta(number) if key in gone)
        whole = self.counts(number)
        return counts.keys() == whole.keys() and all(
            whole[i] - went[i] <= counts[i] <= whole[i] for i in whole
        )

    def versions(self) -> set[Version]:
        """Return what LVL has in the end: key, value, indicator, from when and until when."""
        closed: set[Version] = set()
        current: dict[int, tuple[str, str, datetime]] = {}
        for number in range(1, DELIVERIES + 1):
            at = START + timedelta(days=number)
            for indicator, key, value in self.delta(number):
                before = current.pop(key, None)
                if indicator == "R" and self.physical(number):
                    closed = {v for v in closed if v[0] != key}
                    continue
                if before:
                    closed.add((key, *before, at))
                last = before[0] if before else ""
                current[key] = (last if value is None else value, indicator, at)
        return closed | {(key, *version, NEVER) for key, version in current.items()}


class Program:
    """Does turns until all is done; it is struck now and then, and begins again."""

    def __init__(self, dsn: str, seed: str) -> None:
        self.dsn = dsn
        self.rng = random.Random(seed)
        self.struck: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.failed: list[Exception] = []
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def turn(self, shop: Shop) -> bool:
        """Take the work a step further; return whether it is at its end."""
        raise NotImplementedError

    def work(self) -> None:
        finished = False
        until = time.monotonic() + PATIENCE
        while not finished and not self.failed:
            try:
                with connect(self.dsn) as conn:
                    while not finished:
                        assert time.monotonic() < until, self.refused
                        finished = self.step(Shop(conn))
            except DiedError:
                pass
            except Exception as error:  # noqa: BLE001 (told by the test)
                if not isinstance(error, psycopg.Error) or error.sqlstate not in STRUCK:
                    self.failed.append(error)

    def step(self, shop: Shop) -> bool:
        try:
            return self.turn(shop)
        except psycopg.Error as error:
            if not str(error.sqlstate).startswith("OM"):
                raise
            # Another program was faster, or this one was fenced after a freeze.
            self.refused[str(error.sqlstate)] += 1
            return False

    def point(self) -> None:
        """Be struck here, perhaps."""
        fault = self.rng.choices(["", "die", "lose", "freeze"], [80, 2, 1, 1])[0]
        if fault:
            self.struck[fault] += 1
        if fault in ("die", "lose"):
            raise DiedError
        if fault == "freeze":
            time.sleep(LEASE * self.rng.uniform(1, 2))

    def call(self, shop: Shop, routine: str, /, **arguments: Any) -> dict[str, Any]:
        answer = shop.call(routine, **arguments)
        self.point()
        return answer


class Tenant(Program):
    """Delivers a sequence until all of it is accepted."""

    def __init__(self, dsn: str, seed: str, code: str, sequence: Sequence) -> None:
        self.code, self.sequence, self.entity = code, sequence, ENTITIES[code]
        super().__init__(dsn, seed)

    def turn(self, shop: Shop) -> bool:
        done = shop.one(
            "SELECT count(*) FROM omd_delivery.delta_queue INNER JOIN omd_delivery.delivery"
            " USING (delivery_id) INNER JOIN omd_delivery.agreement USING (agreement_id)"
            " WHERE agreement_code = %s",
            self.code,
        )
        if done == DELIVERIES:
            return True
        waiting = shop.rows(
            "SELECT * FROM omd_report.delivery_state"
            " WHERE agreement_code = %s AND delivery_status <> 'ACCEPTED'",
            self.code,
        )
        if not waiting:
            self.call(
                shop,
                "create_delivery",
                agreement_code=self.code,
                snapshot_datetime=START + timedelta(days=done + 1),
                entities={self.entity: "DELTA"},
                delete_type="PHYSICAL" if self.sequence.physical(done + 1) else "LOGICAL",
            )
        elif waiting[0]["delivery_status"] == "RECEIVED":
            self.call(shop, "report_loaded", delivery_id=waiting[0]["delivery_id"])
        else:
            number = (waiting[0]["snapshot_datetime"] - START).days
            self.run(shop, waiting[0]["delivery_id"], number)
        return False

    def run(self, shop: Shop, delivery_id: int, number: int) -> None:
        begun = self.call(shop, "begin_delivery", delivery_id=delivery_id, lease=f"{LEASE} s")
        if begun["outcome"] != "RUN":
            assert begun["outcome"] in ("WAIT", "RUNNING"), begun
            time.sleep(0.02)  # as a program does that is told to wait
            return
        run = {"delivery_id": delivery_id, "attempt": begun["attempt"]}
        for stage in (1, 2):
            for entity in shop.plan(delivery_id, stage)["entities"]:
                found = {
                    c["constraint"]: {"rows": 0}
                    for c in entity["constraints"]
                    if c["type"] != "deletes"
                }
                measures = {"rows_delivered": KEYS, "rows_skipped": 0, "violations": found}
                code = entity["entity"]
                self.call(
                    shop,
                    "register_violations",
                    stage=stage,
                    entity_code=code,
                    measures=measures,
                    **run,
                )
            assert self.call(shop, "stage_verdict", stage=stage, **run)["verdict"] != "REJECTED"
        delta = self.sequence.delta(number)
        for n in range(0, len(delta), 7):
            for indicator, key, value in delta[n : n + 7]:
                shop.conn.execute(
                    f"INSERT INTO {shop.delta(self.entity)} VALUES (%s, %s, %s, %s, %s)".encode(),
                    (delivery_id, indicator, begun["instances"][self.entity], key, value),
                )
            self.call(shop, "heartbeat_delivery", lease=f"{LEASE} s", **run)
        self.call(shop, "apply_delta", written={self.entity: len(delta)}, **run)


class Taker(Program):
    """Takes the queue, as the facts do, and purges, until all programs have ended."""

    def __init__(self, dsn: str, seed: str, programs: list[Program]) -> None:
        self.programs = programs
        super().__init__(dsn, seed)

    def turn(self, shop: Shop) -> bool:
        at_end = not any(program.thread.is_alive() for program in self.programs)
        items = shop.rows(
            "SELECT queue_id FROM omd_report.delivery_queue WHERE queue_status <> 'PERSISTED'"
            " ORDER BY queue_id LIMIT 1"
        )
        for item in items:
            shop.one("SELECT omd_delivery.start_queue_item(%s, 1)", item["queue_id"])
            self.point()
            shop.one("SELECT omd_delivery.finish_queue_item(%s)", item["queue_id"])
        if self.rng.random() < 0.2:
            self.call(shop, "omd.purge", keep="0", room="omd_delivery")
        time.sleep(0.02)
        return at_end and not items


class Faults:
    """Strikes the sessions of the programs, and the server."""

    def __init__(self, server: Server, dsn: str, rng: random.Random) -> None:
        self.server, self.dsn, self.rng = server, dsn, rng
        self.struck: Counter[str] = Counter()
        self.conn = connect(dsn)

    def strike(self) -> None:
        fault = self.rng.choices(["end", "cancel", "restart"], [9, 9, 1])[0]
        self.struck[fault] += 1
        if fault == "restart":
            self.conn.close()
            self.server.restart()
            self.conn = connect(self.dsn)
            return
        function = {"end": "pg_terminate_backend", "cancel": "pg_cancel_backend"}[fault]
        self.conn.execute(
            f"SELECT {function}(pid) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            " ORDER BY random() LIMIT 1".encode()
        )


def connect(dsn: str) -> psycopg.Connection[dict[str, Any]]:
    """Connect as soon as the server is there."""
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(
                dsn,
                autocommit=True,
                row_factory=dict_row,
                options="-c statement_timeout=20s -c timezone=UTC",
            )
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def wrong(shop: Shop, sequences: dict[str, Sequence]) -> list[str]:
    """Compare what is there with the same deliveries without a fault."""
    found = []
    for code, entity in ENTITIES.items():
        there = {
            (r["nbr"], r["value"], r["acm_record_ind"], r["acm_start_dt"], r["acm_end_dt"])
            for r in shop.rows(f"SELECT * FROM {shop.lvl(entity)}")
        }
        due = sequences[code].versions()
        if there != due:
            found.append(f"{entity} lacks {due - there} and has {there - due}")
        items = shop.rows(
            "SELECT q.snapshot_datetime AS at, q.row_counts -> %s AS counts, d.delivery_status"
            " FROM omd_delivery.delta_queue AS q"
            " INNER JOIN omd_delivery.delivery AS d USING (delivery_id)"
            " INNER JOIN omd_delivery.agreement USING (agreement_id)"
            " WHERE agreement_code = %s ORDER BY q.queue_id",
            entity,
            code,
        )
        expected = [
            {"at": START + timedelta(days=n), "delivery_status": "PERSISTED"}
            for n in range(1, DELIVERIES + 1)
        ]
        told = [item.pop("counts") for item in items]
        if items != expected or not all(
            sequences[code].may_count(n, counts) for n, counts in enumerate(told, 1)
        ):
            found.append(f"the queue of {entity} is {items} with {told}")
        shop.call("omd.purge", keep="0", room="omd_delivery")
        if left := shop.rows(f"SELECT * FROM {shop.delta(entity)}"):
            found.append(f"the delta of {entity} still has {left}")
    if running := shop.rows(
        "SELECT * FROM omd.module_instance WHERE execution_status_code = 'E'"
        " AND module_instance_id > 0"
    ):
        found.append(f"runs were not ended: {running}")
    return found


@pytest.mark.random
@pytest.mark.kill
def test_each_delivery_has_its_effect_once_whatever_dies(fault_server: Server) -> None:
    rng = random.Random(SEED)
    dsn = fault_server.new_database()
    with connect(dsn) as conn:
        conn.execute(
            "DO $$ BEGIN"
            " EXECUTE format('GRANT CREATE ON DATABASE %I TO omd_owner', current_database());"
            " END $$"
        )
        shop = Shop(conn)
        shop.deploy(MODEL)
        shop.agree("b")
    sequences = {code: Sequence(f"{SEED} {code}") for code in ENTITIES}
    programs: list[Program] = [
        Tenant(dsn, f"{SEED} {code} {n}", code, sequences[code])
        for code in ENTITIES
        for n in (1, 2)
    ]
    taker = Taker(dsn, str(SEED), programs)
    faults = Faults(fault_server, dsn, rng)
    while taker.thread.is_alive():
        time.sleep(rng.uniform(0, 0.8))  # the pace of the faults
        faults.strike()
    struck = sum((p.struck for p in [*programs, taker]), faults.struck)
    refused = sum((p.refused for p in programs), Counter())
    told = f"seed {SEED}: {dict(struck)}, refused {dict(refused)}"
    print(told)
    failed = [error for p in [*programs, taker] for error in p.failed]
    assert not failed, (told, failed)
    with connect(dsn) as conn:
        found = wrong(Shop(conn), sequences)
    assert not found, "\n".join([told, *found])
