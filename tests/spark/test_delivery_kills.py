"""Whole jobs are killed while they run deliveries: the next one resumes each to its end.

At the end all versions in the Logical Validation Layer and the whole queue are those of the same
deliveries without a kill.
"""

from __future__ import annotations

import csv
import json
import queue
import random
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from delivery.runs import OPEN, SHOP, Shop
from spark.test_faults import Job
from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("delivering_job.py")
COLUMNS = {"customer": ("nbr", "email"), "orders": ("nbr", "customer", "amount")}
START = datetime(2019, 12, 31, tzinfo=timezone.utc)

State = dict[str, dict[int, tuple[str, ...]]]


@pytest.fixture
def jobs() -> Iterator[Callable[[], Job]]:
    """A function that returns the running job, or a new one."""
    running: list[Job] = []

    def job() -> Job:
        if not running or running[-1].process.poll() is not None:
            running.append(Job("local[2]", JOB))
        return running[-1]

    yield job
    for started in running:
        started.close()


def next_state(chance: random.Random, state: State) -> State:
    """Return a state in which some rows are changed, some are gone and some are new."""
    customers = {n: (f"{chance.randrange(3)}@a",) for n in range(60) if chance.random() < 0.9}
    orders = {
        n: (str(chance.choice(list(customers))), f"{chance.randrange(1, 4)}.00")
        for n in range(200)
        if chance.random() < 0.9
    }
    for name, rows in (("customer", customers), ("orders", orders)):
        for key, row in state.get(name, {}).items():
            if (
                key in rows
                and chance.random() < 0.7
                and (name == "customer" or int(row[0]) in customers)
            ):
                rows[key] = row
    return {"customer": customers, "orders": orders}


def written(folder: Path, state: State) -> dict[str, str]:
    """Write a file for each entity; return their paths."""
    folder.mkdir()
    for name, rows in state.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            told = csv.writer(file)
            told.writerow(COLUMNS[name])
            told.writerows((key, *row) for key, row in rows.items())
    return {name: str(folder / f"{name}.csv") for name in state}


def versions(states: list[State], name: str) -> set[tuple[Any, ...]]:
    """Return all versions of an entity: key, whether it is gone, first day, day of the end."""
    found = set()
    for key in {key for state in states for key in state[name]}:
        last, since = None, 0
        for day, row in enumerate([state[name].get(key) for state in states], start=1):
            if row != last:
                if since:
                    found.add((key, last is None, since, day))
                last, since = row, day
        found.add((key, last is None, since, None))
    return found


def kept(shop: Shop, name: str, days: int) -> tuple[set[tuple[Any, ...]], list[dict[int, Any]]]:
    """Return the versions in the Logical Validation Layer, and the state of each day."""
    found = set()
    states: list[dict[int, Any]] = [{} for _ in range(days)]
    for row in shop.rows(
        "SELECT l.*, l.acm_start_dt::date - %s::date AS since,"
        " CASE WHEN l.acm_end_dt < %s THEN l.acm_end_dt::date - %s::date END AS until"
        f" FROM {shop.lvl(name)} AS l",
        *(START, OPEN, START),
    ):
        is_gone = row["acm_record_ind"] == "R"
        found.add((row["nbr"], is_gone, row["since"], row["until"]))
        for day in range(row["since"], row["until"] or days + 1):
            if not is_gone:
                assert row["nbr"] not in states[day - 1]
                states[day - 1][row["nbr"]] = tuple(str(row[c]) for c in COLUMNS[name][1:])
    return found, states


@pytest.mark.random
@pytest.mark.kill
def test_deliveries_whose_job_is_killed_are_resumed(
    jobs: Callable[[], Job], conn: Any, dsn: str, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    conn.execute("SET timezone = 'UTC'")
    shop = Shop(conn)
    shop.deploy(SHOP, settings={f"{name}.deletes": {"threshold": "none"} for name in COLUMNS})
    states: list[State] = []
    killed = []
    second = last = 0.0  # seconds: the second delivery of a job, and the last one
    while len(states) < 2 + draws(2):  # the first two tell how long one takes
        states.append(next_state(chance, states[-1] if states else {}))
        day = len(states)
        delivery_id = shop.create(
            (START + timedelta(days=day)).isoformat(), entities=dict.fromkeys(COLUMNS, "FULL")
        )
        files = written(tmp_path / str(day), states[-1])
        told = json.dumps({"dsn": dsn, "delivery_id": delivery_id, "entities": files})
        job = jobs()
        job.write(told)
        started = time.monotonic()
        if day <= 2:
            assert job.answer() == "ACCEPTED 1"
            second = last = time.monotonic() - started
            continue
        try:
            answer = job.answer(chance.uniform(0, last))
            last = time.monotonic() - started
        except queue.Empty:
            job.kill()
            killed.append(shop.delivery(delivery_id)["attempt"])
            job, last = jobs(), second
            job.write(told)
            answer = job.answer()
        assert answer.startswith("ACCEPTED "), answer
    print(f"{len(killed)} of {len(states) - 2} deliveries hit, in their attempts {killed}")
    for name in COLUMNS:
        found, of_days = kept(shop, name, len(states))
        assert of_days == [state[name] for state in states]
        assert found == versions(states, name)
    (items,) = shop.rows("SELECT count(*) AS n FROM omd_report.delivery_queue")
    assert items["n"] == len(states)
