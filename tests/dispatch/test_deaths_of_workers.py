"""Whatever a worker does when it dies or hangs, another one does it within TTL + 15 s, once.

Each scene has work of several kinds at once, all of which one worker performs and none can end
before the test lets it.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from facts.store import Store, entity
from support.workers import Process, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

pytestmark = pytest.mark.kill

MARGIN = 15  # seconds beyond the TTL
KEEP = {"facts": {"changes": True}}
# Who calls it waits while somebody holds the lock.
PAUSE = """
    CREATE SCHEMA app;
    CREATE FUNCTION app.pause() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(36);
        RETURN TRUE;
    END $$;
    CREATE FUNCTION app.waits() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM app.pause();
        RETURN NULL;
    END $$;
    CREATE TABLE app.step (nbr integer, name text, omd_insert_module_instance_id bigint);
    CREATE TABLE app.stage (nbr integer, name text, omd_insert_module_instance_id bigint);
    CREATE TRIGGER waits AFTER INSERT ON app.step EXECUTE FUNCTION app.waits();
    CREATE TRIGGER waits AFTER INSERT ON app.stage EXECUTE FUNCTION app.waits();
    CREATE FUNCTION app.same(p jsonb) RETURNS jsonb LANGUAGE sql STABLE RETURN p;
    GRANT USAGE ON SCHEMA app TO omd_owner;
    GRANT ALL ON ALL TABLES IN SCHEMA app TO omd_owner;
"""
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('advisory', 'relation')"
AT_WORK = "SELECT count(*) FROM omd_report.work WHERE state = 'RUNNING'"
CLAIMED = (
    "SELECT count(*) FROM omd_dispatch.task_data_work"
    " WHERE status = 'CLAIMED' AND claimed_by LIKE '%%:' || %s || ':%%'"
)
LOST = "SELECT * FROM omd.event_log WHERE event_return_code_details = 'WORKER LOST'"
DATABASE = {"app.step": "TOPIC", "care": "STAGE", "facts.shop": "FACTS"}
SPARK = {"app.step": "TOPIC", "care": "STAGE", "delivery.b": "DELIVERY", "export.x": "EXPORT"}


def declare(room: Room, engine: str) -> Store:
    """Declare a topic and a stage over changes of facts that are there."""
    room.conn.execute(PAUSE)
    store = Store(room.conn)
    store.set_up(
        entity("thing", ["nbr"], ["nbr", ("name", "text(9)")], **KEEP),
        entity("person", ["nbr"], ["nbr", "age"]),
    )
    store.agree()
    store.put(1, thing=[("N", n, f"ä{n}") for n in range(1, 4)])
    transform = "SELECT nbr, name FROM block"
    if engine == "POSTGRES":
        transform = "app.new"
        room.conn.execute(
            "CREATE VIEW app.new AS SELECT t.nbr, t.name FROM changes_shop.thing AS t"
        )
    room.call("omd_lineage.register_topic", topic="app.step", depends_on=["gdal_shop.thing"],
              transforms=[transform], engine=engine)  # fmt: skip
    kind, content = (
        ("FUNCTION", "app.same") if engine == "POSTGRES" else ("PYTHON", "copy:deepcopy")
    )
    store.call("omd_decision.define_ruleset", activate=True,
               ruleset={"ruleset": "f", "kind": kind, "content": content})  # fmt: skip
    store.call(
        "omd_decision.define_stage",
        stage={
            "stage": "care",
            "mode": "KEY",
            "keys": [{"column": "nbr"}],
            "ruleset": "f",
            "links": [{"name": "a", "source": "gdal_shop.thing", "arrival": "acm_id"}],
            "outputs": [{"name": "out", "parameter": "a", "table": "app.stage"}],
            "window": {"by": "CHANGES"},
            "start": {"when": "NEWS"},
        },
    )
    return store


class Scene:
    """Two workers, the first of which performs all that is ready, and waits.

    Args:
        room: the database.
        start: starts a worker.
        kinds: the kinds of the Modules that are ready, by code.
        ttl: the TTL of the workers.
    """

    def __init__(
        self, room: Room, start: Callable[..., Process], kinds: dict[str, str], ttl: int
    ) -> None:
        self.room, self.kinds, self.ttl = room, kinds, ttl
        room.call("set_work", is_on=True)
        given = ("--workers", str(len(kinds)), "--ttl", str(ttl), "--master", "local[1]")
        self.first = start(*given)
        until(
            lambda: (
                self.has(self.first, len(kinds))
                and room.one(AT_WORK) == len(kinds)
                and room.one(WAITING) >= len(kinds)
            ),
            300,
        )
        self.second = start(*given)
        self.second.until("serves WORKER")
        self.at = 0.0

    def has(self, worker: Process, most: int) -> bool:
        """Return whether a worker has so much of the work."""
        return bool(self.room.one(CLAIMED, str(worker.process.pid)) == most)

    def strike(self, number: signal.Signals, most: int) -> None:
        """Kill or stop the first worker with all its processes, until the other has so much."""
        family = [*children(self.first.process.pid), self.first.process.pid]
        self.at = time.monotonic()
        # Else one of them learns of the death of another, and still says that it ends.
        self.first.signal(signal.SIGSTOP)
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        until(lambda: self.has(self.second, most))
        assert time.monotonic() - self.at < self.ttl + MARGIN

    def drains(self) -> None:
        """Wait until nothing is left, and see that nothing else was left behind."""
        room = self.room
        work = (
            "SELECT * FROM omd_report.work"
            " WHERE state NOT IN ('IDLE', 'WAITING') OR task_id IS NOT NULL"
        )
        end = time.monotonic() + 120
        while left := room.rows(work):
            if time.monotonic() > end:
                pytest.fail(f"it does not come to an end: {left}\n{''.join(self.second.told)}")
            time.sleep(0.1)
        assert room.rows("SELECT 1 FROM omd_dispatch.mutex") == []
        assert room.rows("SELECT * FROM omd_report.problems") == []
        assert room.rows("SELECT * FROM omd_report.pending_rollbacks") == []
        assert room.one("SELECT count(*) FROM omd.module_state WHERE failures > 0") == 0
        # Two attempts of each, the load of what was delivered, and no heap.
        tasks = room.rows("SELECT status, outcome FROM omd_dispatch.task_data_work")
        assert {task["status"] for task in tasks} == {"DONE"}
        assert len(tasks) <= 2 * len(self.kinds) + 3, tasks
        for table in ("step", "stage"):
            found = room.rows(f"SELECT nbr, name FROM app.{table} ORDER BY nbr")
            assert [tuple(row.values()) for row in found] == [(n, f"ä{n}") for n in (1, 2, 3)]


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                found += [child, *children(child)]
    return found


@pytest.fixture
def gate(another: Callable[..., Room]) -> Room:
    """A session that holds what the work needs, until its transaction ends."""
    holder = another(autocommit=False)
    holder.conn.execute("SELECT pg_advisory_xact_lock(36)")
    return holder


@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_other_worker_does_what_the_database_performs(
    room: Room, start: Callable[..., Process], gate: Room, number: signal.Signals
) -> None:
    """A step, a stage and a load."""
    store = declare(room, "POSTGRES")
    gate.conn.execute("LOCK TABLE cfl_shop.h_person IN SHARE MODE")
    for day in (2, 3):
        store.queue(day, person=[("N", day, 30 + day)])
    scene = Scene(room, start, DATABASE, 2)
    # The server goes on with the load of a worker that is only stopped, which holds its instance.
    lost = 3 if number is signal.SIGKILL else 2
    scene.strike(number, lost)
    gate.conn.commit()
    if number is signal.SIGSTOP:
        scene.drains()
        scene.first.signal(signal.SIGCONT)
        scene.first.until("was declared dead")
    scene.drains()
    assert store.now("person") == [(2, 32), (3, 33)]
    assert store.sound()
    assert len(room.rows(LOST)) == lost


@pytest.mark.alone
@pytest.mark.spark
def test_the_other_worker_does_what_spark_performs(
    room: Room, start: Callable[..., Process], gate: Room, tmp_path: Path
) -> None:
    """A step, a stage, an export, and a delivery that arrives; nobody calls anything."""
    store = declare(room, "SPARK")
    desk = Store(room.conn)
    desk.interface = "desk"
    person = entity("person", ["nbr"], ["nbr", "age"])
    desk.call("deploy_model", model={"interface": "desk", "entities": [person]})
    desk.call("omd_facts.deploy", interface_code="desk")
    out = {"target_uri": str(tmp_path / "out"), "entities": ["thing"], "every": "1 day"}
    store.agree("x", layer_code="EXPORT", options={"export": out})
    folder = tmp_path / "drop" / "2020-01-02"
    folder.mkdir(parents=True)
    (folder / "person.csv").write_text("nbr,age\n1,30\n2,40\n")
    (folder / "_SUCCESS").touch()
    desk.agree("b", arrival={"location": str(tmp_path / "drop"), "every": "1 second"})
    # The rows of the delivery are compared then, and all files of the export are written.
    room.conn.execute(
        "CREATE TRIGGER waits AFTER UPDATE ON omd_delivery.delivery FOR EACH ROW"
        " WHEN (new.delivery_status = 'VALIDATED') EXECUTE FUNCTION app.waits();"
        "CREATE TRIGGER waits AFTER UPDATE ON omd_facts.export"
        " FOR EACH ROW WHEN (new.manifest IS NOT NULL) EXECUTE FUNCTION app.waits()"
    )
    scene = Scene(room, start, SPARK, 6)
    scene.strike(signal.SIGKILL, len(SPARK))
    gate.conn.commit()
    until(lambda: desk.now("person") == [(1, 30), (2, 40)], 180)
    scene.drains()
    lost = room.rows(LOST)
    assert len(lost) == len(SPARK), "\n".join(map(str, lost))
    assert room.rows("SELECT arrival_status FROM omd_report.arrivals") == [
        {"arrival_status": "DONE"}
    ]
    (manifest,) = (tmp_path / "out").glob("x/*/_manifest.json")
    (thing,) = json.loads(manifest.read_text())["entities"]
    files = {manifest.parent / file["path"] for file in thing["files"]}
    assert set((tmp_path / "out").rglob("*.parquet")) == files
    rows: list[Any] = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert sorted(row["nbr"] for row in rows) == [1, 2, 3]
