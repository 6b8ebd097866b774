"""A database with objects of each kind in each state, for what can be done with them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from facts.store import Store, entity
from provenance.recalls import Recalls
from support.flow import Flow
from support.scene import Scene, at

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

Keys = dict[str, dict[str, str]]
PERSON = entity("person", ["nbr"], ["nbr", ("name", "text(20)")])
DELIVERIES = (
    *("RECEIVED", "LOADED", "VALIDATED", "CHECKED", "ACCEPTED", "PERSISTED", "REFUSED"),
    *("REJECTED", "CANCELLED", "REVERTED"),
)


def build(conn: Connection) -> Keys:
    """Return the keys by kind and state."""
    conn.execute("CREATE SCHEMA IF NOT EXISTS dwh")
    conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_admin, omd_runner")
    conn.execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA dwh GRANT ALL ON TABLES TO omd_admin, omd_runner"
    )
    keys: Keys = {}
    flow = Flow(conn)
    _runs(flow, keys)
    _tasks(flow, keys)
    _topics(Scene(conn), keys)
    _deliveries(Store(conn), keys)
    _recalls(Recalls(conn), keys)
    _rulesets(flow, keys)
    return {kind: {state: str(key) for state, key in of.items()} for kind, of in keys.items()}


def _runs(flow: Flow, keys: Keys) -> None:
    for code in ("active", "inactive", "paused", "e", "e2", "s", "f", "gone", "undo", *"arcp"):
        flow.module(f"m_{code}", job="jobs:load" if code == "active" else None)
    flow.module("m_spark", platform_code="SPARK", table_code="m_spark")
    flow.deactivate("module", "module_code = 'm_inactive'")
    flow.owner(
        "INSERT INTO omd.module_state (module_id, failures, looks)"
        " SELECT module_id, 3, 0 FROM omd.module WHERE module_code = 'm_paused'"
    )
    keys["MODULE"] = {s: f"m_{s}" for s in ("active", "inactive", "paused", "spark", "undo")}
    for code in ("active", "inactive", "e", "e2", *"sfarcp", "sql"):
        flow.batch(f"b_{code}")
    flow.deactivate("batch", "batch_code = 'b_inactive'")
    keys["BATCH"] = {s: f"b_{s}" for s in ("active", "inactive")}

    runs: dict[str, Any] = {c: flow.begin_module(f"m_{c}").id for c in ("e", "e2")}
    runs["f"] = flow.run_module("m_f", "F")
    runs["gone"] = flow.run_module("m_gone", "F")
    flow.run_module("m_undo", "F")
    flow.run_module("m_gone")
    runs["a"] = flow.begin_module("m_e").id  # the other one executes
    runs["a_by_hand"] = flow.end_module(flow.begin_module("m_a").id, "A")
    runs |= {code: flow.run_module(f"m_{code}") for code in "srcp"}
    flow.set_next("R", module=runs["r"])
    flow.set_next("C", module=runs["p"])
    flow.set_next("C", module=runs["c"])
    runs["skipped"] = flow.begin_module("m_c").id
    keys["MODULE_INSTANCE"] = runs

    runs = {c: flow.begin_batch(f"b_{c}").id for c in ("e", "e2")}
    runs["f"] = flow.end_batch(flow.begin_batch("b_f").id, "F")
    runs["a"] = flow.begin_batch("b_e").id
    runs["a_by_hand"] = flow.end_batch(flow.begin_batch("b_a").id, "A")
    runs |= {code: flow.end_batch(flow.begin_batch(f"b_{code}").id, "S") for code in "srcp"}
    flow.set_next("R", batch=runs["r"])
    flow.set_next("C", batch=runs["p"])
    flow.set_next("C", batch=runs["c"])
    runs["skipped"] = flow.begin_batch("b_c").id
    keys["BATCH_INSTANCE"] = runs


def _tasks(flow: Flow, keys: Keys) -> None:
    def create(code: str) -> int:
        answer = flow.call(
            "omd_dispatch.create_task",
            family_code="RUN",
            task_type="BATCH",
            criteria={"CODE": code},
        )
        return int(answer["task_id"])

    states = ("pending", "claimed", "ending", "done", "dead", "cancelled")
    tasks = {state: create(f"task {state}") for state in states}
    for state, task_id in tasks.items():
        if state in ("claimed", "ending"):
            flow.owner(
                "UPDATE omd_dispatch.task_data_run SET status = 'CLAIMED', claimed_by = 'w',"
                " claimed_at = now(), claim_token = 1, cancel_requested = %s WHERE task_id = %s",
                state == "ending",
                task_id,
            )
        elif state != "pending":
            flow.owner("DELETE FROM omd_dispatch.mutex WHERE task_id = %s", task_id)
            flow.owner(
                "UPDATE omd_dispatch.task_data_run SET status = %s, finished_at = now()"
                " WHERE task_id = %s",
                state.upper(),
                task_id,
            )
    keys["TASK"] = tasks
    keys["TASK_TYPE"] = {"registered": "RUN/MODULE"}  # type: ignore[dict-item]

    def suspend(code: str) -> int:
        answer = flow.call(
            "omd_dispatch.suspend", family_code="WORK", criteria={"CODE": code}, reason="x"
        )
        return int(answer["suspension_id"])

    suspensions = {"held": suspend("x"), "resumed": suspend("y")}
    flow.owner(
        "UPDATE omd_dispatch.task_suspension SET resumed_at = now() WHERE suspension_id = %s",
        suspensions["resumed"],
    )
    keys["SUSPENSION"] = suspensions
    for state in ("due", "later", "inactive", "gone"):
        flow.call(
            "omd_dispatch.register_schedule",
            schedule_code=f"s {state}",
            family_code="RUN",
            task_type="BATCH",
            criteria={"CODE": f"s {state}"},
            every="1 day",
            inactive_indicator="Y" if state == "inactive" else "N",
            next_time="2020-01-01" if state == "due" else "2090-01-01",
        )
    keys["SCHEDULE"] = {s: f"s {s}" for s in ("due", "later", "inactive", "gone")}


def _topics(scene: Scene, keys: Keys) -> None:
    scene.source("dwh.src", *range(6))
    for name in ("still", "asked", "held"):
        scene.topic(f"dwh.t_{name}")
        scene.steps(f"dwh.t_{name}")
    scene.owner(
        "SELECT omd_lineage._queue_restatement('dwh.t_asked', %s, %s, FALSE, FALSE)", at(1), at(3)
    )
    scene.owner("UPDATE omd_lineage.offsets SET hostid = 'w' WHERE topic = 'dwh.t_held'")
    keys["TOPIC"] = {s: f"dwh.t_{s}" for s in ("still", "asked", "held")}
    keys["TOPIC"]["source"] = "dwh.src"


def _deliveries(store: Store, keys: Keys) -> None:
    store.set_up(PERSON)
    loads = [store.put(day, person=[("N", day, "x")]) for day in (1, 2)]
    loaded = store.one("SELECT min(delivery_id) FROM omd_delivery.delivery")
    # What is queued can be reverted.
    accepted = store.queue(3, person=[("N", 3, "x")])
    keys["INTERFACE"] = {"loaded": "shop", "empty": "empty", "other": "other"}
    keys["LOAD"] = dict(zip(("first", "last"), map(str, loads), strict=True))

    def deliver(day: int, status: str) -> int:
        delivery_id = store.one(
            "SELECT omd_delivery.insert_delivery('a', 'LVL', %s)", f"2020-01-{day}"
        )
        put(delivery_id, status)
        return int(delivery_id)

    def put(delivery_id: int, status: str) -> None:
        store.owner(
            "UPDATE omd_delivery.delivery SET delivery_status = %s WHERE delivery_id = %s",
            status,
            delivery_id,
        )

    days = itertools.count(10)
    keys["DELIVERY"] = {status: deliver(next(days), status) for status in DELIVERIES}  # type: ignore[misc]
    keys["DELIVERY"]["ACCEPTED"] = accepted  # type: ignore[assignment]
    keys["DELIVERY"]["loaded"] = loaded  # type: ignore[assignment]
    store.agree("arrives", arrival={"location": "/drop", "every": "0 seconds"})
    states = ("UNFIT", "INCOMPLETE", "FOUND", "TAKEN", "DONE", "REFUSED", "CHANGED", "CHANGED_LATE")
    seen = [
        {
            "folder": f"2020-02-{n:02}",
            "kind": "FOLDER",
            "files": [
                {"path": "person.csv", "bytes": 1, "modified": 1},
                {"path": "_SUCCESS", "bytes": 0, "modified": 1},
            ],
        }
        for n, _ in enumerate(states, 1)
    ]
    store.call("report_arrivals", agreement_code="arrives", seen=seen)
    arrivals = store.rows("SELECT arrival_id FROM omd_delivery.arrival ORDER BY folder")
    keys["ARRIVAL"] = {}
    for state, row in zip(states, arrivals, strict=True):
        of = {"TAKEN": "RECEIVED", "CHANGED": "LOADED", "CHANGED_LATE": "PERSISTED"}.get(state)
        store.owner(
            "UPDATE omd_delivery.arrival SET arrival_status = %s, delivery_id = %s"
            " WHERE arrival_id = %s",
            state.removesuffix("_LATE"),
            of and deliver(next(days), of),
            row["arrival_id"],
        )
        keys["ARRIVAL"][state] = row["arrival_id"]
    store.agree("x", layer_code="EXPORT")
    exports = {}
    for status in ("RECEIVED", "EXPORTED", "CANCELLED"):
        answer = store.call("omd_facts.create_export", agreement_code="x", target_uri="/out/")
        exports[status] = answer["delivery_id"]
        put(exports[status], status)
    keys["EXPORT"] = exports
    store.call("deploy_model", model={"interface": "empty", "entities": [PERSON]})
    store.call("omd_facts.deploy", interface_code="empty")
    # The facts of this one differ from LVL.
    store.interface = "other"
    store.call("deploy_model", model={"interface": "other", "entities": [PERSON]})
    store.call("omd_facts.deploy", interface_code="other")
    store.agree("o")
    store.accept(1, rows={"person": [("N", 1, "x")]}, code="o")
    assert store.take()["outcome"] == "PERSISTED"
    store.conn.execute("UPDATE lvl_other.person SET name = 'y'")


def _recalls(recalls: Recalls, keys: Keys) -> None:
    recalls.made("first")
    recalls.made("second")
    recalls.made("third")
    runs = {code: recalls.go(code) for code in ("first", "second", "third")}
    keys["MODULE_INSTANCE"]["sql"] = runs["third"]  # type: ignore[assignment]
    recalls.call("add_module_to_batch", batch_code="b_sql", module_code="third")
    batch = recalls.begin_batch("b_sql").id
    ran = recalls.call("run_module", module_code="third", batch_instance_id=batch)
    assert ran["execution_status_code"] == "S", ran
    keys["BATCH_INSTANCE"]["sql"] = recalls.end_batch(batch, "S")  # type: ignore[assignment]
    executed = recalls.plan(runs["first"], awaits_correction=True)
    accept = {
        row["action"]
        for row in recalls.rows(
            "SELECT action FROM omd_report.recall_items WHERE recall_id = %s", executed
        )
    } & {"BY_HAND", "GIVE_UP", "WITHDRAW", "PENDING", "UNKNOWN"}
    recalls.recall(executed, *accept)
    keys["RECALL"] = {"planned": recalls.plan(runs["second"]), "executed": executed}  # type: ignore[dict-item]


def _rulesets(flow: Flow, keys: Keys) -> None:
    flow.conn.execute(
        "CREATE FUNCTION dwh.rule(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS 'SELECT p'"
    )
    for ruleset in ("rule", "draft"):
        flow.call(
            "omd_decision.define_ruleset",
            ruleset=Jsonb({"ruleset": ruleset, "kind": "FUNCTION", "content": "dwh.rule"}),
            activate=ruleset == "rule",
        )
    keys["RULESET"] = {"active": "rule", "draft": "draft"}
