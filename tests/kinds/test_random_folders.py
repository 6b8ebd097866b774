"""The flow of test_random_flow.py from folders on: a sender writes, and Spark delivers.

Folders come half written, are refused and corrected under the same time, come too late, and are
taken back; two workers do the rest, and are killed. They have a session of Spark each, or are
workers of dispatch, which begin one for each task and take some minutes more. The facts, all that
follows from them, and the files of the newest export are what a model in plain Python says of the
folders that stand.
"""

from __future__ import annotations

import collections
import random
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow.parquet as pq
import pytest

from kinds.flow_scene import Stopper
from kinds.folder_scene import FolderNight, SparkWorkers
from kinds.test_random_flow import check_control, check_facts, check_marts, table, tell
from support.lots import SEED, seeds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Connection = psycopg.Connection[dict[str, Any]]

pytestmark = [pytest.mark.random, pytest.mark.kill, pytest.mark.spark]

ACTS = 10
DISPATCH = ("worker", "--workers", "2", "--ttl", "6", "--master", "local[1]")
LEFT = (
    "SELECT * FROM omd_report.work WHERE state <> 'IDLE' AND (state, reason) IS DISTINCT FROM"
    " ('WAITING', 'INCOMPLETE')"
)


def act(night: FolderNight, chance: random.Random) -> None:
    dice = chance.random()
    if dice < 0.30:
        night.arrive(chance.choice([("customer", "orders"), ("orders",), ("customer",)]))
    elif dice < 0.38:
        night.late()
    elif dice < 0.48:
        night.refused()
    elif dice < 0.55:
        night.half()
    elif dice < 0.62:
        night.complete_a_half()
    elif dice < 0.75:
        night.revert()
    elif dice < 0.85:
        night.undo_a_load()
    elif dice < 0.92:
        night.redo_a_step()
    elif dice < 0.95:
        night.restate()
    else:
        night.make()
    time.sleep(chance.uniform(0, 1.5))  # so that some of it meets other states


def drain(night: FolderNight) -> None:
    until = time.monotonic() + night.patience
    while left := night.rows(LEFT):
        if time.monotonic() > until:
            pytest.fail(f"it does not come to an end: {left}")
        time.sleep(0.1)


def check_far(night: FolderNight) -> None:
    """What Spark has made of the changes: each stands once, and the last one is what is there."""
    now = night.model.now()
    for name in ("app.order_far", "app.verdict_far"):
        log = table(night, name, "nbr, acm_change_id, customer, amount, acm_record_ind")
        entries = collections.Counter((r[0], r[1]) for r in log)
        assert [e for e, n in entries.items() if n > 1] == [], f"{name} has a change twice"
        last = {nbr: (tuple(values), mark) for nbr, _, *values, mark in log}
        assert {k: v for k, (v, mark) in last.items() if mark != "R"} == now["orders"], name
    exports = night.rows(
        "SELECT delivery_id, manifest FROM omd_report.facts_exports"
        " WHERE delivery_status = 'EXPORTED' ORDER BY delivery_id DESC LIMIT 1"
    )
    for export in exports:
        folder = night.out / "x" / f"delivery={export['delivery_id']}"
        for entity in export["manifest"]["entities"]:
            rows = [
                r for f in entity["files"] for r in pq.read_table(folder / f["path"]).to_pylist()
            ]
            found = {r.pop("nbr"): tuple(r.values()) for r in rows}
            assert len(found) == len(rows)
            assert found == now[entity["entity_code"]]
    assert exports or not night.model.acts


@pytest.mark.parametrize(
    "seed", seeds(1), ids=lambda s: f"seed {s - SEED} {'tasks' if s % 2 == 0 else 'plain'}"
)
def test_what_arrives_is_what_a_model_says(
    conn: Connection,
    dsn: str,
    tmp_path: Path,
    replaced: Callable[[str, str, str], None],
    seed: int,
) -> None:
    conn.prepare_threshold = None
    for routine in ("_close_position", "_waits_for_readers"):
        replaced(f"omd_facts.{routine}", "interval '90 seconds'", "interval '2 seconds'")
    chance = random.Random(seed)
    night = FolderNight(conn)
    night.scene_of_folders(dsn, chance, tmp_path)
    command = DISPATCH if seed % 2 == 0 else ()
    if command:
        conn.execute("CALL omd_dispatch.set_work(TRUE)")
    workers = SparkWorkers(dsn, tmp_path, seed, *command)
    try:
        stopper = Stopper(dsn, seed, workers, conn.info.backend_pid)
        try:
            for _ in range(ACTS):
                act(night, chance)
        finally:
            stopper.stop()
        night.all_settle()
        night.finish()
        drain(night)
        night.follow_folders()
        print(collections.Counter(stopper.done), len(night.folders), len(night.model.acts))
        check_facts(night)
        check_marts(night)
        check_far(night)
        check_control(night)
    except BaseException:
        tell(night, workers)
        raise
    finally:
        workers.stop()
