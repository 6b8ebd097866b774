"""What could run and what waits: the state of each Module against a model in plain Python."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from support.lots import seeds
from support.scene import LEAST_ID, Scene, at

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOUR = timedelta(hours=1)


@dataclass
class Thing:
    """A Module as it is drawn, and what the model says of it."""

    code: str
    kind: str
    is_inactive: bool
    run: str  # none, lives, dead
    failures: int  # 11 is too many
    pause: str  # none, over, running
    has_work: bool
    lacks_deployment: bool
    was_looked_at: bool  # before the news if not

    @property
    def expected(self) -> tuple[str, str | None]:
        if self.run == "lives":
            return "RUNNING", "HELD" if self.kind == "TOPIC" else "RUNNING"
        if self.failures and self.kind == "SQL":
            return "FAILED", "WAITS_FOR_A_PERSON"
        if self.failures > 10:
            return "FAILED", "GIVEN_UP"
        if self.failures and self.pause == "running":
            return "FAILED", "BACK_OFF"
        if self.is_inactive:
            return "PAUSED", "INACTIVE"
        if self.kind == "SQL":
            return "IDLE", None
        is_planned = self.kind == "TOPIC" and self.run == "dead"
        if not self.has_work and not is_planned:
            return "IDLE", None
        if self.kind == "FACTS" and self.lacks_deployment:
            return "WAITING", "DEPLOYMENT"
        if not self.failures and self.pause == "running" and self.was_looked_at:
            return "BACK_OFF", "BACK_OFF"
        if self.kind == "FACTS":
            return "READY", "QUEUED"
        return "READY", "RETRY" if is_planned else "DUE"


def drawn(draw: random.Random, n: int) -> Thing:
    kind = draw.choice(["SQL", "FACTS", "TOPIC", "TOPIC"])
    thing = Thing(
        code={"SQL": f"m{n}", "FACTS": f"facts.i{n}", "TOPIC": f"dwh.t{n}"}[kind],
        kind=kind,
        is_inactive=draw.random() < 0.2,
        run=draw.choice(["none", "none", "none", "lives", "dead"]),
        failures=draw.choice([0, 0, 1, 3, 11]),
        pause=draw.choice(["none", "over", "running"]),
        has_work=draw.random() < 0.7,
        lacks_deployment=draw.random() < 0.3,
        was_looked_at=draw.random() < 0.5,
    )
    if thing.run != "none":
        thing.has_work = True  # a run of a topic has a block
    return thing


def make(scene: Scene, n: int, thing: Thing) -> None:
    """Bring the Module into the drawn state."""
    if thing.kind == "TOPIC":
        scene.base(thing.code)
        scene.topic(thing.code, "dwh.src", engine="SPARK", transforms=["SELECT 1"])
        if not thing.has_work:
            scene.owner(
                "UPDATE omd_lineage.offsets SET last = ROW(%s, %s) WHERE topic = %s",
                at(5),
                LEAST_ID,
                thing.code,
            )
    else:
        scene.call(
            "register_module",
            module_code=thing.code,
            area_code="HSTG",
            table_code="dwh.t",
            executable="SELECT 1",
        )
    if thing.kind == "FACTS":
        scene.owner(
            "SELECT omd.set_module_kind(module_id, 'FACTS', 'POSTGRES')"
            " FROM omd.module WHERE module_code = %s",
            thing.code,
        )
        scene.owner(
            "INSERT INTO omd_delivery.interface (interface_id, interface_code, model_version)"
            " OVERRIDING SYSTEM VALUE VALUES (%s, %s, 2)",
            n,
            f"i{n}",
        )
        scene.owner(
            "INSERT INTO omd_facts.interface (interface_id, interface_code, model_version,"
            " module_id) SELECT %s, %s, %s, module_id FROM omd.module WHERE module_code = %s",
            n,
            f"i{n}",
            1 if thing.lacks_deployment else 2,
            thing.code,
        )
        if thing.has_work:
            scene.conn.execute("SET session_replication_role = replica")
            scene.conn.execute(
                "INSERT INTO omd_delivery.delta_queue (delivery_id, interface_id,"
                " snapshot_datetime, model_version) VALUES (%s, %s, now(), 2)",
                (n, n),
            )
            scene.conn.execute("RESET session_replication_role")
    if thing.run != "none":
        if thing.kind == "TOPIC":
            answer = scene.call("omd_lineage.begin_step", topic=thing.code, lease=HOUR)
            assert answer["outcome"] == "RUN", answer
        else:
            answer = scene.call("begin_module", module_code=thing.code, lease=HOUR)
        if thing.run == "dead":
            scene.owner(
                "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'"
                " WHERE module_instance_id = %s",
                answer["module_instance_id"],
            )
    if thing.is_inactive:
        scene.owner(
            "UPDATE omd.module SET inactive_indicator = 'Y' WHERE module_code = %s", thing.code
        )
    if thing.failures or thing.pause == "running":
        scene.owner(
            "INSERT INTO omd.module_state (module_id, failures, looks, not_before, failed_since,"
            " looked_datetime) SELECT module_id, %s, %s, now() + %s, now(), now() + %s"
            " FROM omd.module WHERE module_code = %s",
            thing.failures,
            int(not thing.failures),
            {"none": None, "over": -HOUR, "running": HOUR}[thing.pause],
            None if thing.failures else HOUR if thing.was_looked_at else -HOUR,
            thing.code,
        )


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.random
def test_each_state_is_that_of_the_model(scene: Scene, seed: int) -> None:
    draw = random.Random(seed)
    scene.base("dwh.src")
    scene.conn.execute(b"CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
    scene.insert(1, 2, 3)
    scene.register("dwh.src", source_offset="HAND")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(5))
    things = [drawn(draw, n) for n in range(1, 41)]
    for n, thing in enumerate(things, 1):
        make(scene, n, thing)
    with scene.role("omd_reader"):
        rows = scene.rows("SELECT * FROM omd_report.work")
        ready = scene.rows("SELECT * FROM omd_report.ready_work")
    found = {row["code"]: (row["state"], row["reason"]) for row in rows}
    for thing in things:
        assert found[thing.code] == thing.expected, (seed, thing)
    assert len(rows) == len(things)
    assert {(r["code"], r["reason"]) for r in ready} == {
        (t.code, t.expected[1]) for t in things if t.expected[0] == "READY"
    }, seed


def test_the_columns_are_those_of_the_contract(scene: Scene) -> None:
    for view, columns in {
        "work": "module_kind_code code engine_code state reason waits_for since not_before"
        " failures last_problem module_instance_id task_id last_platform",
        "ready_work": "module_kind_code code engine_code reason since not_before detail",
    }.items():
        with scene.conn.cursor() as cursor:
            cursor.execute(f"SELECT * FROM omd_report.{view}".encode())
            assert [c.name for c in cursor.description or ()] == columns.split()


def test_a_failed_topic_says_why_and_waits_and_a_lag_says_for_what(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.register("dwh.slow", source_offset="HAND")
    scene.call("omd_lineage.set_offset", topic="dwh.slow", pos=at(2))
    scene.topic("dwh.f", "dwh.src", "dwh.slow", backoff=HOUR)

    def work() -> dict[str, Any]:
        (row,) = scene.rows("SELECT * FROM omd_report.work WHERE code = 'dwh.f'")
        return row

    assert (work()["state"], work()["reason"], work()["waits_for"]) == ("READY", "DUE", None)
    failed = scene.fails()
    row = work()
    assert (row["state"], row["reason"], row["failures"]) == ("FAILED", "BACK_OFF", 1)
    assert row["module_instance_id"] == failed.id
    assert row["last_problem"].startswith("error 22012: division by zero\n")
    assert row["not_before"] - row["since"] == HOUR
    scene.call("omd.retry", module_code="dwh.f")
    assert sum(scene.steps()) == 1
    row = work()
    assert (row["state"], row["reason"], row["waits_for"]) == ("WAITING", "DEPENDENCY", "dwh.slow")
    assert row["last_problem"] is None


def test_the_commands_show_work_and_retry(scene: Scene, omd_here: Command, dsn: str) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return omd_here(*arguments, dsn=dsn)

    scene.source("dwh.src", 1, 2)
    scene.topic("dwh.f", backoff=HOUR)
    of_topics = ("--where", "module_kind_code=TOPIC", "--output", "json")
    listed = run("report", "ready_work", *of_topics)
    assert listed.returncode == 0, listed.stderr
    ready = json.loads(listed.stdout)
    assert [(row["code"], row["reason"]) for row in ready] == [("dwh.f", "DUE")]
    scene.fails()
    row = json.loads(run("explain", "dwh.f", "--output", "json").stdout)["work"]
    assert (row["state"], row["reason"], row["failures"]) == ("FAILED", "BACK_OFF", 1)
    assert "is ready again" in run("retry", "dwh.f").stderr
    assert "did not wait" in run("retry", "dwh.f").stderr
    row = json.loads(run("explain", "dwh.f", "--output", "json").stdout)["work"]
    assert (row["state"], row["reason"]) == ("READY", "RETRY")
    assert run("explain", "none").returncode == 1
