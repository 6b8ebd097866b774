"""The whole flow against a model in plain Python, while workers, sessions and statements are ended.

A person delivers, is refused, takes deliveries back, corrects them at the same time, undoes loads
and steps, and writes through views; two workers run whatever is ready. When nothing is left to do,
facts, history and marts are what the model says, and no row stands twice.
"""

from __future__ import annotations

import collections
import contextlib
import random
import time
from datetime import timezone
from typing import TYPE_CHECKING, Any

import pytest

from kinds.flow_model import ENTITIES
from kinds.flow_scene import TOPICS, Night, Stopper, Workers
from support.lots import SEED, seeds
from support.user_code import spared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

ACTS = 45
ROWS_OF = {
    "app.order_last": "app.order_log",
    "app.verdict_last": "app.verdict",
    "app.copied": "app.made",
}
SHOWN = (
    "omd_report.facts_loads",
    "omd_facts.change",
    "omd.module",
    "omd.module_instance",
    "omd.source_control",
    "omd.event_log",
    "omd_lineage.offsets",
    "omd_report.work",
)
DISPATCH = ("worker", "--workers", "2", "--ttl", "2", "--poll", "0.5")
# What a worker, or a run, may say when it was ended from outside.
ENDED = {"57014", "57P01", "08006", "08003", "GIVEN UP", "WORKER LOST", None}


@pytest.fixture
def started(dsn: str, tmp_path: Path) -> Iterator[Callable[..., Workers]]:
    """A function that starts two workers, which are stopped after the test."""
    # Workers without tasks are runners, whose rollbacks policies would hide rows from.
    with spared(dsn, "omd_runner"), contextlib.ExitStack() as stack:

        def start(seed: int, *command: str) -> Workers:
            made = Workers(dsn, tmp_path, seed, *command)
            stack.callback(made.stop)
            return made

        yield start


def act(night: Night, chance: random.Random) -> None:
    dice = chance.random()
    if dice < 0.30:
        entities = chance.choice([("customer", "orders"), ("orders",), ("customer",)])
        night.deliver(night.moment(), night.some_delta(entities))
    elif dice < 0.38:
        # One entity is late: its moment lies before what the other has already.
        early, late = night.moment(), night.moment()
        for at, name in [(late, "customer"), (early, "orders")]:
            night.deliver(at, night.some_delta((name,)))
    elif dice < 0.42:
        night.refuse(night.moment())
    elif dice < 0.45:
        night.cancel(night.moment())
    elif dice < 0.55:
        night.revert()
    elif dice < 0.65:
        night.undo_a_load()
    elif dice < 0.75:
        night.redo_a_step()
    elif dice < 0.78:
        night.restate()
    elif dice < 0.85:
        night.make()
    else:
        night.write()


def drain(night: Night) -> None:
    """Wait until nothing is left to do."""
    until = time.monotonic() + 30
    look = (
        "SELECT code, state, reason, waits_for, failures, last_problem, not_before"
        " FROM omd_report.work WHERE state <> 'IDLE' AND module_kind_code <> 'DELIVERY'"
    )
    while left := night.rows(look):
        if time.monotonic() > until:
            pytest.fail(f"it does not come to an end: {left}")
        time.sleep(0.05)


def tell(night: Night, workers: Workers) -> None:
    """Print what has happened, for whoever looks for the cause of a failure."""
    for entry in [*night.log, *night.model.acts, *workers.said()]:
        print(entry)
    for name in SHOWN:
        print(name)
        for row in night.rows(f"SELECT t::text AS row FROM {name} AS t"):
            print("   ", row["row"])


def utc(moment: Any) -> str | None:
    return moment and moment.astimezone(timezone.utc).isoformat()


def table(night: Night, name: str, columns: str) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in night.rows(f"SELECT {columns} FROM {name} ORDER BY 1, 2")]


def check_facts(night: Night) -> None:
    facts, now = night.model.facts(), night.model.now()
    columns = {"customer": "name", "orders": "customer, amount"}
    for name in ENTITIES:
        found = table(night, f"gdal_shop.{name}", f"nbr, {columns[name]}")
        assert found == [(k, *v) for k, v in sorted(now[name].items())], name
        rows = table(
            night,
            f"cfl_shop.s_{name}_properties AS c INNER JOIN cfl_shop.h_{name} AS a USING (acm_id)",
            f"a.nbr, c.acm_start_dt, nullif(c.acm_end_dt, '9999-12-31+00') AS e, c.acm_record_ind,"
            f" {', '.join('c.' + c for c in columns[name].split(', '))}",
        )
        expected = sorted(facts[name].rows(), key=lambda r: (r[0], utc(r[1])))
        assert [(k, utc(s), utc(e), *v) for k, s, e, *v in rows] == [
            (k, utc(s), utc(e), *v) for k, s, e, *v in expected
        ], name
    assert night.sound()


def check_marts(night: Night) -> None:
    now = night.model.now()
    for name, entity, columns in (
        ("app.order_now", "orders", "nbr, customer, amount"),
        ("app.customer_now", "customer", "nbr, name"),
        ("app.order_last", "orders", "nbr, customer, amount"),
        ("app.verdict_last", "orders", "nbr, customer, amount"),
    ):
        mark = "mark" if name == "app.verdict_last" else "acm_record_ind"
        rows = table(night, name, f"{columns}, {mark}")
        keys = [r[0] for r in rows]
        assert len(keys) == len(set(keys)), f"{name} has a row twice: {rows}"
        found = {r[0]: r[1:-1] for r in rows if r[-1] != "R"}
        assert found == now[entity], name
    assert set(table(night, "app.bill", "nbr, name, n, amount")) == night.model.bills()
    assert len(table(night, "app.bill", "nbr, n")) == len(night.model.bills()), "a bill twice"

    # Each change of a key stands once, and the last one is what is there.
    for name, mark in (("app.order_log", "acm_record_ind"), ("app.verdict", "mark")):
        log = table(night, name, f"nbr, change_id, customer, amount, {mark}")
        entries = collections.Counter((r[0], r[1]) for r in log)
        assert [e for e, n in entries.items() if n > 1] == [], f"{name} has a change twice"
        last = {nbr: (tuple(values), mark) for nbr, _, *values, mark in log}
        found = {nbr: values for nbr, (values, mark) in last.items() if mark != "R"}
        assert found == now["orders"], name

    made = sorted(r["v"] for r in night.rows("SELECT v FROM app.made"))
    runs = night.rows(
        "SELECT i.module_instance_id AS id FROM omd.module_instance AS i INNER JOIN omd.module AS m"
        " USING (module_id) WHERE m.module_code LIKE 'make%%' AND i.execution_status_code = 'S'"
    )
    assert made == sorted(r["id"] * 10 + n for r in runs for n in range(5))
    for name in ("app.copied", "app.judged"):
        assert sorted(r["v"] for r in night.rows(f"SELECT v FROM {name}")) == made, name


def empty(night: Night, gap: dict[str, Any]) -> bool:
    """Return whether nothing is in a gap: what is nothing to a topic is passed without a run."""
    if gap["topic"] in ROWS_OF:
        between = (
            f"SELECT count(*) FROM {ROWS_OF[gap['topic']]} AS r"
            " WHERE (r.omd_insert_datetime, r.row_id) > (%s, %s)"
            " AND (r.omd_insert_datetime, r.row_id) <= (%s, %s)"
        )
        ends = [gap[f"{e}_{c}"] for e in ("previous_end", "start") for c in ("pos", "id")]
    else:
        between = (
            "SELECT count(*) FROM omd_facts.change_key AS k INNER JOIN omd_facts.entity AS e"
            " USING (entity_id) INNER JOIN omd_lineage.topic AS t"
            " ON 'gdal_shop.' || e.entity_code = ANY(t.depends_on)"
            " WHERE t.topic = %s AND k.change_id > %s AND k.change_id <= %s"
        )
        ends = [gap["topic"], gap["previous_end_id"], gap["start_id"]]
    return gap["kind"] == "GAP" and night.one(between, *ends) == 0


def check_control(night: Night) -> None:
    """Nothing is left, and what people read says so."""
    one = night.one
    assert one("SELECT count(*) FROM omd.module_instance WHERE execution_status_code = 'E'") == 0
    assert night.rows("SELECT * FROM omd_report.pending_rollbacks") == []
    gaps = (
        "SELECT topic, kind, previous_end_pos::text, previous_end_id, start_pos::text, start_id"
        " FROM omd_report.lineage_gaps"
    )
    assert [gap for gap in night.rows(gaps) if not empty(night, gap)] == []
    assert night.rows("SELECT topic FROM omd_lineage.offsets WHERE next IS NOT NULL") == []
    assert night.rows("SELECT topic FROM omd_lineage.offsets WHERE hostid <> ''") == []
    behind = "SELECT topic, lag FROM omd_report.lineage_ready WHERE lag > '0' AND topic = ANY(%s)"
    assert night.rows(behind, [t for t in TOPICS if t not in ROWS_OF]) == []
    assert one("SELECT queued_items FROM omd_report.facts_state") == 0
    assert one("SELECT is_blocked FROM omd_report.facts_state") is False
    loads = collections.Counter(
        r["delivery_id"]
        for r in night.rows(
            "SELECT delivery_id FROM omd_report.facts_loads WHERE undone_by IS NULL"
        )
    )
    delivered = [a.delivery for a in night.model.acts if a.delivery is not None]
    assert loads == dict.fromkeys(delivered, 1)
    assert night.rows("SELECT * FROM omd_report.work WHERE task_id IS NOT NULL") == []
    # Who has read what was undone, by the windows of the runs that stand.
    changes = night.rows(
        "SELECT change_id, undone_by_change_id AS by FROM omd_facts.change"
        " WHERE undone_by_change_id IS NOT NULL"
    )
    windows = night.rows(
        "SELECT i.module_instance_id AS run, coalesce(s.start_id, 0) AS a, s.end_id AS b"
        " FROM omd.source_control AS s INNER JOIN omd.module_instance AS i"
        " USING (module_instance_id) WHERE s.source_code = 'facts.shop'"
        " AND i.execution_status_code = 'S' AND i.rolled_back_by_module_instance_id IS NULL"
        # What a reload wrote stands until the next one.
        " AND NOT EXISTS (SELECT FROM omd.module AS m INNER JOIN omd.module_instance AS n"
        " USING (module_id) WHERE m.module_code = 'app.bill' AND m.module_id = i.module_id"
        " AND n.module_instance_id > i.module_instance_id AND n.execution_status_code = 'S')"
    )
    read = {
        (w["run"], c["change_id"])
        for w in windows
        for c in changes
        if w["a"] < c["change_id"] <= w["b"] < c["by"]
    }
    # A change that has touched no key of the entity that a run reads was not read by it.
    touched = {
        (r["run"], r["change_id"])
        for r in night.rows(
            "SELECT i.module_instance_id AS run, k.change_id FROM omd_report.run_inputs AS i"
            " INNER JOIN omd_facts.entity AS e ON i.table_code = 'gdal_shop.' || e.entity_code"
            " INNER JOIN omd_facts.change_key AS k USING (entity_id)"
        )
    }
    shown = night.rows("SELECT module_instance_id AS run, change_id FROM omd_report.undone_reads")
    assert {(r["run"], r["change_id"]) for r in shown} <= read
    assert {(r["run"], r["change_id"]) for r in shown} >= read & touched
    for view in night.rows(
        "SELECT format('%%I.%%I', schemaname, viewname) AS name FROM pg_views"
        " WHERE schemaname = 'omd_report'"
    ):
        night.rows(f"SELECT v::text FROM {view['name']} AS v")


def check_reasons(night: Night, workers: Workers) -> None:
    """What failed, failed because it was ended."""
    odd = [s for s in workers.said() if "error" in s and s["sqlstate"] not in ENDED]
    # A line that is no answer is the end of a worker by an error that it does not know.
    assert odd + [s for s in workers.said() if "said" in s and not workers.command] == []
    failed = night.rows(
        "SELECT event_return_code_details AS code, event_detail AS text FROM omd.event_log"
        " WHERE event_type_code = 2"
    )
    assert [f for f in failed if f["code"] not in ENDED] == []


@pytest.mark.random
@pytest.mark.kill
@pytest.mark.parametrize(
    "seed", seeds(2), ids=lambda s: f"seed {s - SEED} {'tasks' if s % 2 == 0 else 'plain'}"
)
def test_what_flows_is_what_a_model_says(
    conn: Connection,
    dsn: str,
    started: Callable[..., Workers],
    replaced: Callable[[str, str, str], None],
    seed: int,
) -> None:
    conn.prepare_threshold = None
    # An undo that was ended lets readers begin after a while; a test has none.
    for routine in ("_close_position", "_waits_for_readers"):
        replaced(f"omd_facts.{routine}", "interval '90 seconds'", "interval '2 seconds'")
    chance = random.Random(seed)
    night = Night(conn)
    night.scene(dsn, chance)
    command = DISPATCH if seed % 2 == 0 else ()
    if command:
        conn.execute("CALL omd_dispatch.set_work(TRUE)")
    workers = started(seed, *command)
    stopper = Stopper(dsn, seed, workers, conn.info.backend_pid)
    try:
        for _ in range(ACTS):
            act(night, chance)
    except BaseException:
        tell(night, workers)
        raise
    finally:
        stopper.stop()
    try:
        night.follow()
        night.finish()
        drain(night)
        print(collections.Counter(stopper.done), len(night.log))
        check_facts(night)
        check_marts(night)
        check_control(night)
        check_reasons(night, workers)
    except BaseException:
        tell(night, workers)
        raise
