"""Sessions, publishers and senders are killed at random; afterwards every event is there once."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from support.events import publish
from support.flow import Flow
from support.lots import SEED, seconds

pytestmark = [pytest.mark.random, pytest.mark.kill]

SECONDS = seconds(5)
NAME = "omd_test_victim"


class Killed:
    """Programs, each a thread, that connect again after they were killed."""

    def __init__(self, dsn: str, seed: int) -> None:
        self.dsn = dsn
        self.lots = random.Random(seed)
        self.stopped = threading.Event()
        self.received: list[tuple[int, str]] = []  # by the receiver, in this order
        self.errors: list[BaseException] = []
        self.lock = threading.Lock()

    def serve(self, work: Callable[[Flow, random.Random], None]) -> threading.Thread:
        lots = random.Random(self.lots.random())

        def run() -> None:
            while not self.stopped.is_set():
                with (
                    suppress(psycopg.OperationalError, psycopg.errors.AdminShutdown),
                    psycopg.connect(
                        self.dsn, autocommit=True, row_factory=dict_row, application_name=NAME
                    ) as conn,
                ):
                    try:
                        while not self.stopped.is_set():
                            work(Flow(conn), lots)
                    except (psycopg.OperationalError, psycopg.errors.AdminShutdown):
                        raise
                    except psycopg.Error as error:
                        # Others end what it has begun, and begin what it wants to.
                        if not str(error.sqlstate).startswith("OM1"):
                            self.errors.append(error)
                            raise
                    except BaseException as error:
                        self.errors.append(error)
                        raise

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def send(
        self, flow: Flow, lots: random.Random, limit: int | None = None, lease: str = "100 ms"
    ) -> None:
        """Send what comes next; the receiver takes one at a time, as an endpoint does.

        With a limit all of it is confirmed.
        """
        holder = f"sender:{uuid4()}"
        rows = flow.rows(
            "SELECT event_number, body FROM omd_event.take_events('s', %s, %s, %s)",
            holder,
            limit or lots.choice([1, 3, 20]),
            lease,
        )
        for row in rows:
            with self.lock:
                self.received.append((row["event_number"], row["body"]))
            if row is rows[-1] if limit else lots.random() < 0.5:
                with suppress(psycopg.DatabaseError):  # its lease may have expired
                    flow.call(
                        "omd_event.confirm_events",
                        sink_code="s",
                        holder=holder,
                        event_number=row["event_number"],
                    )


def load(flow: Flow, lots: random.Random) -> None:
    """A Batch with its Modules, or a run on its own; some fail, and some are left to be found dead.

    Another session may be at the same Module or Batch: then it is refused, and that is all.
    """
    batch = 0
    if lots.random() < 0.5:
        begun = flow.begin_batch(lots.choice("bc"))
        if begun.pi != "P":
            return
        batch = begun.id
    for _ in range(lots.randint(1, 3)):
        module = lots.choice("mnop")
        with flow.conn.transaction(force_rollback=lots.random() < 0.2):
            run = flow.begin_module(module, batch)
            if run.pi == "P" and lots.random() < 0.3:
                ended(flow, run.id, lots)
                run = run._replace(pi="ENDED")
        if run.pi == "P" and flow.rows(
            "SELECT FROM omd.module_instance WHERE module_instance_id = %s", run.id
        ):
            ended(flow, run.id, lots)
    if batch:
        with suppress(psycopg.errors.DatabaseError):
            flow.end_batch(batch, lots.choice("FA"))


def ended(flow: Flow, run: int, lots: random.Random) -> None:
    with suppress(psycopg.errors.DatabaseError):  # somebody declared it dead
        flow.end_module(run, lots.choice("SSFAC"))


def give_up(flow: Flow, lots: random.Random) -> None:
    """End what the killed have left."""
    for kind in ("module", "batch"):
        for row in flow.rows(
            f"SELECT {kind}_instance_id AS id FROM omd.{kind}_instance"
            f" WHERE execution_status_code = 'E' AND {kind}_instance_id > 0"
            " AND start_datetime < clock_timestamp() - interval '100 ms'"
        ):
            with suppress(psycopg.errors.DatabaseError):
                flow.call(
                    f"end_{kind}_instance", **{f"{kind}_instance_id": row["id"]}, event_detail="-"
                )
    time.sleep(lots.random() / 10)


def look(flow: Flow, lots: random.Random) -> None:
    publish(flow, lots.choice([1, 5, 10000]))


def test_every_event_is_published_once_and_received_in_order(flow: Flow, dsn: str) -> None:
    for batch in "bc":
        flow.batch(batch, *"mnop")
    flow.conn.execute("UPDATE omd.module SET backoff = '0', max_failures = 0")
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL", **{"from": 0})
    killed = Killed(dsn, SEED)
    threads = [
        killed.serve(work)
        for work in (load, load, load, give_up, look, look, killed.send, killed.send)
    ]
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(killed.lots.random() / 5)
        flow.conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = %s AND datname = current_database() AND random() < 0.2",
            [NAME],
        )
    killed.stopped.set()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert killed.errors == []
    drain(flow, killed)
    check_published(flow)
    check_received(flow, killed.received)


def drain(flow: Flow, killed: Killed) -> None:
    """Somebody else finishes: what is left is published and sent."""
    while publish(flow) != 0:
        pass
    until = time.monotonic() + 180
    while flow.one("SELECT behind FROM omd_report.event_sinks") > 0:
        assert time.monotonic() < until
        # All at once: at random it would take longer than the patience, where there are many.
        killed.send(flow, random.Random(0), 1000, "1 minute")


def check_published(flow: Flow) -> None:
    rows = flow.rows(
        "SELECT event_number, event_type, subject_type, subject_id, started_datetime"
        " FROM omd_report.events ORDER BY event_number"
    )
    numbers = [row["event_number"] for row in rows]
    assert numbers == list(range(1, len(rows) + 1))
    place: dict[tuple[str, int, str], int] = {}
    for row in rows:
        what = row["event_type"].partition("_")[2]
        key = (row["subject_type"], row["subject_id"], what)
        assert key not in place, key
        place[key] = row["event_number"]
    expected: dict[tuple[str, int, str], Any] = {}
    for subject, table, parent in (
        ("MODULE", "module", "batch_instance_id"),
        ("BATCH", "batch", "parent_batch_instance_id"),
    ):
        for run in flow.rows(
            f"SELECT {table}_instance_id AS id, {parent} AS batch, execution_status_code AS status,"
            f" has_proceeded, to_jsonb(i) ->> 'rolled_back_by_module_instance_id' AS undone"
            f" FROM omd.{table}_instance AS i WHERE {table}_instance_id > 0"
        ):
            if not run["has_proceeded"] and run["status"] != "F":
                continue
            begun = expected[(subject, run["id"], "BEGAN")] = place[(subject, run["id"], "BEGAN")]
            if run["batch"]:
                assert place[("BATCH", run["batch"], "BEGAN")] < begun
            if run["status"] != "E":
                what = {"S": "SUCCEEDED", "F": "FAILED"}.get(run["status"], "ABORTED")
                end = expected[(subject, run["id"], what)] = place[(subject, run["id"], what)]
                assert begun < end
            if run["undone"]:
                undone = expected[(subject, run["id"], "UNDONE")] = place[
                    (subject, run["id"], "UNDONE")
                ]
                assert end < undone
    assert place == expected
    assert flow.rows("SELECT FROM omd_event.outbox") == []


def check_received(flow: Flow, received: list[tuple[int, str]]) -> None:
    bodies: dict[int, str] = {}
    newest = 0
    for number, body in received:
        if number not in bodies:
            assert number == newest + 1, "a gap, or one that overtook"
            newest = number
        assert bodies.setdefault(number, body) == body
    assert newest == flow.one("SELECT count(*) FROM omd_report.events")
