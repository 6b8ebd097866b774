"""Runs of deliveries: states, begins, plans, measures, verdicts, and what a death leaves."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from delivery.runs import SHOP

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from delivery.runs import Shop

ALL = (
    "RECEIVED",
    "LOADED",
    "VALIDATED",
    "ACCEPTED",
    "PERSISTED",
    "REFUSED",
    "REJECTED",
    "CANCELLED",
    "CHECKED",
    "REVERTED",
)
ACCEPTED_FROM: dict[str, tuple[str, ...]] = {
    "report_loaded": ("RECEIVED",),
    "begin_delivery": ("LOADED", "VALIDATED"),
    "heartbeat_delivery": ("LOADED", "VALIDATED"),
    "register_violations": ("LOADED",),
    "register_samples": ("LOADED",),
    "stage_verdict": ("LOADED",),
    "apply_delta": ("VALIDATED",),
    "fail_delivery": ("LOADED", "VALIDATED"),
    "reject_delivery": ("RECEIVED", "LOADED"),
    "cancel_delivery": ("RECEIVED", "LOADED", "VALIDATED"),
    "revert_delivery": ("ACCEPTED",),
}


def in_status(shop: Shop, status: str, day: int) -> tuple[int, int]:
    """Bring a new delivery into this status; return its id and attempt."""
    if status == "RECEIVED":
        return shop.create(day), 0
    run = shop.run(day, dry_run=status == "CHECKED")
    end = {"delivery_id": run.id, "reason": "enough"}
    if status == "REJECTED":
        shop.call("reject_delivery", **end)
    elif status == "CANCELLED":
        shop.call("cancel_delivery", **end)
    elif status == "REFUSED":
        run.measure(1, {"orders.positive": 1})
        assert run.verdict(1)["verdict"] == "REJECTED"
    elif status != "LOADED":
        run.validate()
        if status in ("ACCEPTED", "PERSISTED", "REVERTED"):
            queue_id = run.apply()["queue_id"]
            if status == "PERSISTED":
                shop.persist(queue_id)
            elif status == "REVERTED":
                shop.call("revert_delivery", **end)
    return run.id, run.attempt


def test_each_routine_is_accepted_in_its_statuses_only(shop: Shop) -> None:
    shop.deploy()
    for day, status in enumerate(ALL, 1):
        delivery_id, attempt = in_status(shop, status, day)
        refuses_all_others(shop, status, delivery_id, attempt)
        if status == "ACCEPTED":
            shop.persist(shop.one("SELECT queue_id FROM omd_report.delivery_queue"))
        elif status in ("RECEIVED", "LOADED", "VALIDATED"):
            shop.call("cancel_delivery", delivery_id=delivery_id, reason="enough")


def refuses_all_others(shop: Shop, status: str, delivery_id: int, attempt: int) -> None:
    assert shop.status(delivery_id) == status
    before = shop.delivery(delivery_id)
    more: dict[str, dict[str, Any]] = {
        "heartbeat_delivery": {"lease": "1 hour"},
        "register_violations": {"stage": 1, "entity_code": "orders", "measures": {}},
        "register_samples": {"entity_code": "orders", "samples": []},
        "stage_verdict": {"stage": 2},
        "revert_delivery": {"reason": "why"},
        "reject_delivery": {"reason": "why"},
        "cancel_delivery": {"reason": "why"},
    }
    fenced = (
        "heartbeat_delivery",
        "register_violations",
        "register_samples",
        "stage_verdict",
        "apply_delta",
        "fail_delivery",
    )
    for routine, statuses in ACCEPTED_FROM.items():
        if status in statuses or (routine, status) in {
            # These answer again what was decided.
            ("stage_verdict", "VALIDATED"),
            ("stage_verdict", "ACCEPTED"),
            ("stage_verdict", "PERSISTED"),
            ("stage_verdict", "CHECKED"),
            ("stage_verdict", "REVERTED"),
            ("apply_delta", "ACCEPTED"),
            ("apply_delta", "PERSISTED"),
        }:
            continue
        given = {"delivery_id": delivery_id, **more.get(routine, {})}
        if routine in fenced:
            given["attempt"] = attempt
        detail = shop.refused("OM130", routine, **given)
        assert detail["delivery_status"] == status
    # And no other change of status than those of the table.
    known = {
        r["to_status"]
        for r in shop.rows(
            "SELECT to_status FROM omd_delivery.delivery_transition WHERE from_status = %s", status
        )
    }
    for to_status in {*ALL, None, "NONSENSE"} - known:
        with pytest.raises(psycopg.Error) as caught:
            shop.one("SELECT omd_delivery.move_delivery(%s, %s)", delivery_id, to_status)
        assert caught.value.sqlstate == "OM130"
    assert shop.delivery(delivery_id) == before


def test_an_unknown_delivery_is_refused_everywhere(shop: Shop) -> None:
    for routine in ACCEPTED_FROM:
        given: dict[str, Any] = {"delivery_id": 7}
        if routine not in ("report_loaded", "begin_delivery") and not routine.startswith("re"):
            given["attempt"] = 1
        if routine in ("reject_delivery", "cancel_delivery", "revert_delivery"):
            given = {"delivery_id": 7, "reason": "why"}
        if routine.startswith("register_"):
            given |= {"attempt": 1, "entity_code": "orders"}
        if routine in ("register_violations", "stage_verdict"):
            given["stage"] = 1
        if routine == "register_violations":
            given["measures"] = {}
        if routine == "register_samples":
            given["samples"] = []
        if routine == "heartbeat_delivery":
            given["lease"] = "1 hour"
        assert shop.refused("OM034", routine, **given) == {"delivery_id": 7}
    for query in ("validation_plan(7, 1)", "delivery_receipt(7)"):
        with pytest.raises(psycopg.Error) as caught:
            shop.one(f"SELECT omd_delivery.{query}")
        assert caught.value.sqlstate == "OM034"


def test_a_run_is_a_batch_with_a_module_for_each_entity(shop: Shop) -> None:
    shop.deploy()
    run = shop.run(1, entities=["customer", "orders"])
    modules = shop.rows(
        "SELECT module_code, batch_instance_id FROM omd.module_instance"
        " INNER JOIN omd.module USING (module_id) WHERE module_instance_id = ANY(%s) ORDER BY 1",
        list(run.instances.values()),
    )
    assert [m["module_code"] for m in modules] == ["lvl.shop.customer", "lvl.shop.orders"]
    assert {m["batch_instance_id"] for m in modules} == {run.batch}
    again = shop.ask(run.id)
    assert (again["outcome"], again["attempt"]) == ("RUNNING", 1)
    assert again["batch_instance_id"] == run.batch
    shop.agree("b")
    other = shop.load(2, code="b")
    answer = shop.ask(other)
    assert (answer["outcome"], answer["detail"]) == (
        "WAIT",
        f"delivery {run.id} of the interface runs",
    )
    assert shop.delivery(other)["attempt"] == 0
    assert shop.instances(run) == {("E", None)}
    # A model is not changed under a run.
    shop.refused("OM136", "deploy_model", model=SHOP)


def test_a_begin_never_blocks_and_one_of_many_runs(shop: Shop, shops: Callable[..., Shop]) -> None:
    shop.deploy()
    ids = [shop.load(1)]
    shop.agree("b")
    ids.append(shop.load(2, code="b"))
    rooms = [shops() for _ in range(16)]
    for _ in range(5):
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda n: rooms[n].ask(ids[n % 2], lease="1 hour"), range(16)))
        (won,) = [a for a in answers if a["outcome"] == "RUN"]
        assert {a["outcome"] for a in answers} <= {"RUN", "WAIT", "RUNNING"}
        running = shop.rows("SELECT delivery_id FROM omd_delivery.delivery WHERE is_running")
        assert len(running) == 1
        shop.call("fail_delivery", delivery_id=running[0]["delivery_id"], attempt=won["attempt"])
    # Also while another session holds the interface.
    holder = shops()
    with holder.conn.transaction():
        holder.conn.execute("SELECT FROM omd_delivery.interface FOR NO KEY UPDATE")
        answer = shop.ask(ids[0])
    assert (answer["outcome"], answer["detail"]) == (
        "WAIT",
        "another session works on the interface",
    )


@pytest.mark.parametrize(
    ("routine", "arguments", "sqlstate"),
    [("cancel_delivery", {"reason": "no"}, "OM130"), ("fail_delivery", {"attempt": 1}, "OM132")],
)
def test_a_heartbeat_beside_the_end_of_the_run_says_who_has_ended_it(
    shop: Shop,
    shops: Callable[..., Shop],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Shop, Future[Any]], None],
    routine: str,
    arguments: dict[str, Any],
    sqlstate: str,
) -> None:
    shop.deploy()
    run = shop.begin(shop.load(1, entities={"customer": "DELTA"}), lease="1 hour")
    told = {"delivery_id": run.id, "attempt": 1, "lease": "1 hour"}
    beating = shops()
    with shop.conn.transaction():
        shop.call(routine, delivery_id=run.id, **arguments)
        call = background(beating.refused, sqlstate, "heartbeat_delivery", **told)
        until_settled(beating, call)
        assert not call.done(), "it waits for an instance"
    assert call.result(timeout=30)["delivery_id"] == run.id


def test_a_dead_run_is_given_up_and_resumed_and_its_late_calls_are_refused(shop: Shop) -> None:
    shop.deploy()
    shop.accept(1, {"customer": [("N", 1, "a"), ("N", 2, "z")]})
    dead = shop.begin(shop.load(2, entities={"customer": "DELTA"}), lease="1 hour")
    dead.validate()
    dead.write("customer", ("A", 1, "lost"))
    shop.owner(
        "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'"
        " WHERE module_instance_id = %s",
        dead.instances["customer"],
    )
    shop.refused("OM107", "heartbeat_delivery", delivery_id=dead.id, attempt=1, lease="1 hour")
    # Whatever delivery of the interface begins next ends it.
    shop.agree("b")
    other = shop.run(3, code="b", entities={"customer": "DELTA"})
    assert shop.instances(dead) == {("F", None)}
    assert (
        shop.one(f"SELECT count(*) FROM {shop.delta('customer')} WHERE delivery_id = %s", dead.id)
        == 0
    )
    for routine, arguments in (
        ("apply_delta", {}),
        ("heartbeat_delivery", {"lease": "1 hour"}),
    ):
        shop.refused("OM132", routine, delivery_id=dead.id, attempt=1, **arguments)
    shop.call("fail_delivery", delivery_id=other.id, attempt=1, event_detail="no disk")
    shop.call("fail_delivery", delivery_id=other.id, attempt=1)
    assert (
        shop.one(
            "SELECT event_detail FROM omd.event_log"
            " WHERE batch_instance_id = %s AND module_instance_id = 0",
            other.batch,
        )
        == "no disk"
    )
    assert shop.status(other.id) == "LOADED"

    run = shop.begin(dead.id)
    assert run.attempt == 2
    assert shop.events(dead.id)[-2:] == [
        ("stage_verdict", "VALIDATED"),
        ("begin_delivery", "LOADED"),
    ]
    assert shop.delivery(dead.id)["verdict"] is None
    for routine, arguments in (
        ("apply_delta", {}),
        ("fail_delivery", {}),
        ("heartbeat_delivery", {"lease": "1 hour"}),
        ("stage_verdict", {"stage": 1}),
        ("register_samples", {"entity_code": "x", "samples": []}),
        ("register_violations", {"stage": 1, "entity_code": "x", "measures": {}}),
    ):
        detail = shop.refused("OM132", routine, delivery_id=dead.id, attempt=1, **arguments)
        assert detail == {"delivery_id": dead.id, "attempt": 1, "newest_attempt": 2}
    run.validate()
    run.write("customer", ("A", 1, "b"))
    # What the dead program wrote after the rollback does not count.
    dead.write("customer", ("A", 1, "lost"))
    answer = run.apply(written={"customer": 1})
    assert answer["row_counts"]["customer"] == {"N": 0, "A": 1, "R": 0}
    assert shop.current("customer") == [(1, "b"), (2, "z")]
    assert shop.instances(run) == {("S", None)}
    # Nor what it writes later, for the facts and for a revert.
    delta = f"SELECT email FROM {shop.delta('customer')} WHERE delivery_id = {run.id}"
    dead.write("customer", ("R", 1, None), ("A", 2, "lost"))
    shop.persist(1)
    shop.one("SELECT omd_delivery.start_queue_item(%s, 1)", answer["queue_id"])
    assert shop.one(delta) == "b"
    dead.write("customer", ("R", 2, None))
    shop.owner("UPDATE omd_delivery.delta_queue SET queue_status = 'QUEUED' WHERE queue_id = 2")
    shop.call("revert_delivery", delivery_id=run.id, reason="enough")
    assert shop.current("customer") == [(1, "a"), (2, "z")]


def test_process_control_may_skip_or_abort_a_run(shop: Shop) -> None:
    shop.deploy()
    delivery_id = shop.load(1)
    shop.call("omd.register_batch", batch_code="delivery.a", inactive_indicator="Y")
    answer = shop.ask(delivery_id)
    assert (answer["outcome"], answer["detail"]) == ("SKIPPED", "INACTIVE")
    shop.call("omd.register_batch", batch_code="delivery.a", inactive_indicator="N")
    shop.call("omd.register_module", module_code="lvl.shop.orders", inactive_indicator="Y")
    answer = shop.ask(delivery_id)
    assert (answer["outcome"], answer["detail"]) == ("SKIPPED", "orders: INACTIVE")
    assert answer["instances"] is None
    # The entity that had begun was ended, so nothing is left in the way.
    assert (
        shop.one(
            "SELECT count(*) FROM omd.module_instance WHERE execution_status_code = 'E'"
            " AND module_instance_id > 0"
        )
        == 0
    )
    assert shop.delivery(delivery_id)["attempt"] == 0
    shop.call("omd.register_module", module_code="lvl.shop.orders", inactive_indicator="N")
    running = shop.call("omd.begin_module", module_code="lvl.shop.orders")
    answer = shop.ask(delivery_id)
    assert (answer["outcome"], answer["detail"]) == ("ABORTED", "orders: RUNNING")
    shop.call("omd.module_failure", module_instance_id=running["module_instance_id"])
    assert shop.begin(delivery_id).attempt == 1


def test_an_overtaken_delivery_is_refused_at_its_begin(shop: Shop) -> None:
    shop.deploy()
    early = shop.load(5, entities=["orders"])
    shop.agree("b")
    shop.accept(6, {"orders": []}, code="b")
    answer = shop.ask(early)
    assert answer["outcome"] == "REFUSED"
    row = shop.delivery(early)
    assert (row["delivery_status"], row["verdict"]) == ("REFUSED", "REJECTED")
    assert row["reasons"][0]["entity"] == "orders"
    # Another entity may be earlier.
    assert shop.run(1, entities=["customer"]).attempt == 1


def test_a_mark_raised_during_the_run_refuses_the_delta(shop: Shop) -> None:
    shop.deploy()
    run = shop.run(5, entities={"customer": "DELTA"})
    run.validate()
    shop.one(
        "SELECT omd_delivery.raise_high_water_mark(entity_id, '2020-01-05Z')"
        " FROM omd_delivery.entity WHERE entity_code = 'customer'"
    )
    shop.refused("OM037", "apply_delta", delivery_id=run.id, attempt=1)
    shop.one(
        "SELECT omd_delivery.raise_high_water_mark(entity_id, '2020-01-01Z')"
        " FROM omd_delivery.entity WHERE entity_code = 'customer'"
    )
    marks = shop.rows("SELECT * FROM omd_report.delivery_marks WHERE snapshot_datetime IS NOT NULL")
    assert [str(m["snapshot_datetime"])[:10] for m in marks] == ["2020-01-05"]
    shop.call("fail_delivery", delivery_id=run.id, attempt=1)
    assert shop.ask(run.id)["outcome"] == "REFUSED"


def test_a_cancelled_or_rejected_run_is_fenced(shop: Shop) -> None:
    shop.deploy()
    run = shop.run(1)
    shop.call("cancel_delivery", delivery_id=run.id, reason="not today")
    assert shop.instances(run) == {("F", None)}
    shop.refused("OM130", "stage_verdict", delivery_id=run.id, attempt=1, stage=1)
    run = shop.run(1)
    shop.call("reject_delivery", delivery_id=run.id, reason="wrong file")
    assert shop.events(run.id)[-1] == ("reject_delivery", "REJECTED")
    assert (
        shop.one("SELECT reason FROM omd_delivery.delivery_event WHERE to_status = 'REJECTED'")
        == "wrong file"
    )
    assert shop.run(1).attempt == 1


def test_measures_must_fit_the_plan(shop: Shop) -> None:
    shop.deploy()
    run = shop.run(1, entities={"orders": {"rows": 10}})
    plan = run.plan(1)
    assert list(plan) == ["orders"]
    codes = {c["constraint"]: 0 for c in plan["orders"]["constraints"]}
    assert "orders.row_count" in codes
    good: dict[str, Any] = {
        "rows_delivered": 10,
        "rows_skipped": 0,
        "violations": {code: {"rows": 0} for code in codes},
    }

    def refused(**wrong: Any) -> str:
        given = {
            "stage": 1,
            "entity_code": "orders",
            "measures": good | wrong.pop("measures", {}),
            **wrong,
        }
        return str(
            shop.refused("OM040", "register_violations", delivery_id=run.id, attempt=1, **given)[
                "problem"
            ]
        )

    less = dict(good["violations"])
    del less["orders.positive"]
    assert refused(measures={"violations": less}) == "it lacks the constraint orders.positive"
    for wrong in (
        {"violations": good["violations"] | {"orders.deletes": {"rows": 1}}},
        {"violations": good["violations"] | {"orders.positive": {"rows": -1}}},
        {"violations": good["violations"] | {"orders.positive": {"rows": 1.5}}},
        {"violations": good["violations"] | {"orders.positive": {"rows": 1, "existing": -1}}},
        {"violations": good["violations"] | {"orders.positive": {"existing": 1}}},
        {"violations": good["violations"] | {"orders.positive": 1}},
        {"violations": [1]},
        {"rows_delivered": -1},
        {"rows_delivered": None},
        {"rows_in_scope": 1},
        {"findings": {"UNKNOWN_COLUMN": -1}},
        {"findings": ["UNKNOWN_COLUMN"]},
        {"colour": 1},
    ):
        refused(measures=wrong)
    assert (
        refused(measures={"rows_skipped": 11})
        == "rows_skipped (11) must not be more than rows_delivered (10)"
    )
    refused(entity_code="customer")
    refused(entity_code="nothing")
    assert (
        shop.refused("OM040", "stage_verdict", delivery_id=run.id, attempt=1, stage=1)["entity"]
        == "orders"
    )
    shop.refused("OM130", "stage_verdict", delivery_id=run.id, attempt=1, stage=2)
    shop.refused("OM036", "stage_verdict", delivery_id=run.id, attempt=1, stage=3)
    # Repeated, they replace; after the verdict they are refused.
    run.measure(1, {"orders.positive": 5})
    run.measure(1)
    still = {
        "verdict": None,
        "delivery_status": "LOADED",
        "reasons": [],
        "execution_status_code": "E",
    }
    assert run.verdict(1) == still
    assert run.verdict(1) == still
    shop.refused(
        "OM130",
        "register_violations",
        delivery_id=run.id,
        attempt=1,
        stage=1,
        entity_code="orders",
        measures=good,
    )
    plan = run.plan(2)
    two = {
        c["constraint"]: {"rows": 0}
        for c in plan["orders"]["constraints"]
        if c["type"] != "deletes"
    }
    refused(stage=2, measures={"violations": two})
    scope = {"violations": two, "rows_implicit_deletes": 0, "rows_in_scope": 99}
    assert "skipped (12)" in refused(stage=2, measures=scope | {"rows_skipped": 12})
    run.measure(2, orders={"rows_skipped": 10})
    assert run.verdict(2)["verdict"] == "ACCEPTED"


THRESHOLDS: list[tuple[dict[str, Any], int, str]] = [
    ({}, 0, "NONE"),
    ({}, 1, "REJECT"),
    ({"threshold": 3}, 3, "FINDING"),
    ({"threshold": 3}, 4, "REJECT"),
    ({"threshold_percent": 30}, 3, "FINDING"),
    ({"threshold_percent": 29.9}, 3, "REJECT"),
    ({"threshold": 2, "threshold_percent": 50}, 3, "REJECT"),
    ({"threshold": 9, "threshold_percent": 20}, 3, "REJECT"),
    ({"threshold": 9, "threshold_percent": 50, "warn": 2}, 2, "FINDING"),
    ({"threshold": 9, "threshold_percent": 50, "warn": 2}, 3, "WARN"),
    ({"threshold": "none", "warn_percent": 20}, 2, "FINDING"),
    ({"threshold": "none", "warn_percent": 20}, 10, "WARN"),
    ({"threshold": "none"}, 10, "FINDING"),
]


def test_a_count_meets_its_thresholds_at_their_edge(shop: Shop) -> None:
    shop.deploy()
    for day, (setting, rows, level) in enumerate(THRESHOLDS, 1):
        shop.agree("a", settings={"orders.positive": setting})
        run = shop.run(day, entities=["orders"])
        run.measure(1, {"orders.positive": rows})
        answer = run.verdict(1)
        (found,) = [
            c
            for c in shop.receipt(run.id)["entities"][0]["constraints"]
            if c["constraint"] == "orders.positive"
        ]
        assert (found["level"], found["violations"]) == (level, rows), setting
        if level == "REJECT":
            assert (answer["verdict"], answer["delivery_status"]) == ("REJECTED", "REFUSED")
            (reason,) = answer["reasons"]
            assert (reason["constraint"], reason["violations"]) == ("orders.positive", rows)
        else:
            assert answer["verdict"] is None
            run.measure(2)
            expected = "ACCEPTED" if level == "NONE" else "ACCEPTED WITH FINDINGS"
            assert run.verdict(2)["verdict"] == expected
            shop.call("cancel_delivery", delivery_id=run.id, reason="enough")


def test_a_setting_of_the_agreement_overrides_that_of_the_model_field_by_field(shop: Shop) -> None:
    model = {
        **SHOP,
        "settings": {
            "orders.positive": {"action": "EMPTY COLUMN", "threshold": 5, "warn": 1},
            "orders.of": {"enabled": False},
        },
    }
    shop.deploy(
        model, settings={"orders.positive": {"threshold": 2}, "orders.of": {"enabled": True}}
    )
    run = shop.run(1, entities=["orders"])
    positive = {c["constraint"]: c for c in run.plan(1)["orders"]["constraints"]}["orders.positive"]
    assert positive["action"] == "EMPTY COLUMN"
    assert "orders.of" in {c["constraint"] for c in run.plan(2)["orders"]["constraints"]}
    # A change during the run does not matter to it.
    shop.agree("a", settings={})
    run.measure(1, {"orders.positive": 3})
    assert run.verdict(1)["verdict"] == "REJECTED"
    run = shop.run(1, entities=["orders"])
    assert "orders.of" not in {c["constraint"] for c in run.plan(2)["orders"]["constraints"]}
    run.measure(1, {"orders.positive": 3})
    assert run.verdict(1)["verdict"] is None


def test_a_new_model_keeps_agreements_possible_and_ends_what_can_not_be_delivered(
    shop: Shop,
) -> None:
    model = copy.deepcopy(SHOP)
    shop.deploy(model, settings={"orders.positive": {"action": "EMPTY COLUMN"}})
    model["entities"][1]["attributes"][2]["mandatory"] = True
    for dry_run in (True, False):
        detail = shop.refused("OM042", "deploy_model", model=model, dry_run=dry_run)
        assert detail["path"] == 'agreements.a.settings["orders.positive"]'
    del model["entities"][1]["constraints"]
    shop.call("deploy_model", model=model)
    delivery_id = shop.load(1)
    model["entities"][1]["retired"] = True
    shop.call("deploy_model", model=model)
    detail = shop.refused("OM036", "begin_delivery", delivery_id=delivery_id)
    assert detail["problem"] == "its entity orders was retired meanwhile"
    shop.call("cancel_delivery", delivery_id=delivery_id, reason="enough")
    assert set(shop.run(1).instances) == {"customer"}


def test_a_refused_delivery_ends_with_all_its_reasons(shop: Shop) -> None:
    shop.deploy()
    said = {"customer": {"rows": 12}, "orders": "FULL"}
    run = shop.run(1, entities=said, message={"by": "hand"})
    run.measure(1, {"orders.positive": 2, "customer.primary_key": 1})
    run.write("orders", ("N", 1, 1, 5))
    answer = run.verdict(1)
    assert [r["constraint"] for r in answer["reasons"]] == [
        "customer.primary_key",
        "orders.positive",
    ]
    assert run.verdict(1) == answer
    assert shop.instances(run) == {("A", "REJECTED")}
    assert shop.one(f"SELECT count(*) FROM {shop.delta('orders')}") == 0
    receipt = shop.receipt(run.id)
    assert (receipt["status"], receipt["verdict"]) == ("REFUSED", "REJECTED")
    assert receipt["reasons"] == answer["reasons"]
    assert [e["rows_announced"] for e in receipt["entities"]] == [12, None]
    assert receipt["message"] == {"by": "hand"}
    assert receipt["created_datetime"] > receipt["snapshot_datetime"]
    assert {f["level"] for f in shop.rows("SELECT level FROM omd_report.delivery_findings")} == {
        "REJECT"
    }
    # The next delivery is not held up by it.
    assert shop.run(1).validate()["verdict"] == "ACCEPTED"


def test_findings_and_existing_rows_make_a_verdict_with_findings(shop: Shop) -> None:
    shop.deploy(settings={"orders.of": {"threshold": 5}})
    run = shop.run(1, entities={"customer": "DELTA"})
    run.measure(1, customer={"findings": {"UNKNOWN_COLUMN": 1}})
    assert run.verdict(1)["verdict"] is None
    # orders are not delivered: the delivery may break their rows.
    plan = run.plan(2)
    assert list(plan) == ["customer", "orders"]
    assert plan["orders"]["load"] is None
    assert [c["constraint"] for c in plan["orders"]["constraints"]] == ["orders.of"]
    run.measure(2, {"orders.of": {"rows": 0, "existing": 5}})
    assert run.verdict(2)["verdict"] == "ACCEPTED WITH FINDINGS"
    entities = {e["entity"]: e for e in shop.receipt(run.id)["entities"]}
    assert entities["customer"]["findings"] == {"UNKNOWN_COLUMN": 1}
    (found,) = entities["orders"]["constraints"]
    assert (found["violations"], found["existing"]) == (5, 5)
    run.apply()
    queue_id = shop.one("SELECT queue_id FROM omd_report.delivery_queue")
    shop.persist(queue_id)
    assert shop.status(run.id) == "PERSISTED WITH VIOLATED CONSTRAINTS"


def test_a_dry_run_is_without_effect(shop: Shop) -> None:
    shop.deploy()
    run = shop.run(1, dry_run=True)
    run.measure(1, {"orders.positive": 1})
    answer = run.verdict(1)
    assert (answer["delivery_status"], answer["verdict"]) == ("CHECKED", "REJECTED")
    assert shop.instances(run) == {("A", "REJECTED")}
    run = shop.run(1, dry_run=True)
    run.write("orders", ("N", 1, 1, 5))
    answer = run.validate()
    assert (answer["delivery_status"], answer["verdict"]) == ("CHECKED", "ACCEPTED")
    assert run.verdict(2) == answer
    assert shop.instances(run) == {("S", None)}
    assert shop.one(f"SELECT count(*) FROM {shop.delta('orders')}") == 0
    assert shop.rows("SELECT * FROM omd_report.delivery_queue") == []
    assert shop.run(1).attempt == 1


DELETES: list[tuple[dict[str, Any], dict[str, Any], tuple[int, int], str]] = [
    # A lost file: a Full entity that delivers no row at all, in whatever context.
    ({}, {}, (0, 10), "REJECT"),
    ({}, {}, (0, 0), "NONE"),
    ({}, {}, (1, 9), "NONE"),
    ({"allow_deletes": ["customer"]}, {}, (0, 10), "NONE"),
    ({"context": {"customer": [{"nbr": 1}]}}, {}, (0, 1), "REJECT"),
    ({"context": {"customer": [{"nbr": 1}]}}, {}, (1, 1), "NONE"),
    ({}, {"threshold": 3}, (7, 3), "NONE"),
    ({}, {"threshold": 3}, (6, 4), "REJECT"),
    # Of the current rows in scope, not of those delivered.
    ({}, {"threshold_percent": 40}, (1, 4), "NONE"),
    ({}, {"threshold_percent": 40}, (99, 5), "REJECT"),
    ({}, {"threshold": "none", "warn": 4}, (1, 5), "WARN"),
    ({"allow_deletes": ["customer"]}, {"threshold": 3}, (0, 10), "NONE"),
]


def test_implicit_deletes_meet_a_threshold_of_their_own(shop: Shop) -> None:
    shop.deploy()
    for day, (arguments, setting, (delivered, deletes), level) in enumerate(DELETES, 1):
        shop.agree("a", settings={"customer.deletes": setting} if setting else {})
        run = shop.run(day, entities=["customer"], **arguments)
        run.measure(1)
        run.verdict(1)
        run.measure(2, customer={"rows_delivered": delivered, "rows_implicit_deletes": deletes})
        verdict = run.verdict(2)["verdict"]
        (found,) = [
            c for c in shop.receipt(run.id)["entities"][0]["constraints"] if c["type"] == "deletes"
        ]
        assert found["level"] == level, (arguments, setting)
        assert found["violations"] == (deletes if level == "REJECT" else 0)
        expected = {"REJECT": "REJECTED", "WARN": "ACCEPTED WITH FINDINGS", "NONE": "ACCEPTED"}
        assert verdict == expected[level]
        if level != "REJECT":
            shop.call("cancel_delivery", delivery_id=run.id, reason="enough")


def test_samples_are_business_rows_behind_the_fence(shop: Shop, shops: Callable[..., Shop]) -> None:
    shop.deploy()
    run = shop.run(1)
    sample = {
        "record_key": {"nbr": "7"},
        "origin": "DELIVERED",
        "constraint_codes": ["orders.positive"],
        "is_skipped": True,
        "raw": {"nbr": "7", "amount": "-1"},
        "staged_from": "orders.csv",
    }
    given = {"delivery_id": run.id, "attempt": 1, "entity_code": "orders"}
    for _ in range(2):
        shop.call("register_samples", **given, samples=[sample, {**sample, "record_key": None}])
    runner = shops(role="omd_runner")
    rows = runner.rows(
        "SELECT * FROM omd_report.delivery_quarantine ORDER BY record_key NULLS LAST"
    )
    assert [r["record_key"] for r in rows] == [{"nbr": 7}, None]
    assert rows[0]["raw"] == sample["raw"]
    for wrong in (
        {"record_key": {"nbr": "x"}},
        {"record_key": 7},
        {"origin": "NOWHERE"},
        {"origin": None},
        {"constraint_codes": "x"},
        {"is_skipped": 1},
    ):
        shop.refused("OM040", "register_samples", **given, samples=[sample | wrong])
    shop.refused("OM040", "register_samples", **given, samples={})
    reader = shops(role="omd_reader")
    for relation in (
        "omd_report.delivery_quarantine",
        "omd_delivery.sample",
        "stg_a.orders",
        shop.lvl("orders"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.rows(f"SELECT * FROM {relation}")


def test_the_runner_runs_and_the_administrator_decides(
    shop: Shop, shops: Callable[..., Shop]
) -> None:
    shop.deploy()
    runner, admin, reader = (shops(role=f"omd_{r}") for r in ("runner", "admin", "reader"))
    delivery_id = runner.create(1, entities={"customer": "DELTA"})
    runner.conn.execute("INSERT INTO stg_a.customer VALUES (NULL, NULL, NULL)")
    runner.call("report_loaded", delivery_id=delivery_id)
    run = runner.begin(delivery_id)
    run.validate()
    run.write("customer", ("N", 1, "a"))
    run.apply(written={"customer": 1})
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.call("revert_delivery", delivery_id=run.id, reason="why")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        admin.create(2)
    assert reader.receipt(run.id)["status"] == "ACCEPTED"
    assert reader.plan(run.id, 1)["attempt"] == 1
    admin.call("revert_delivery", delivery_id=run.id, reason="why")
    second = runner.run(2)
    runner.call("fail_delivery", delivery_id=second.id, attempt=1)
    runner.begin(second.id)
    admin.call("reject_delivery", delivery_id=second.id, reason="why")
    admin.call("omd.purge", keep="0", room="omd_delivery")
    views = ("state", "log", "findings", "metrics", "queue", "marks", "thresholds")
    for view in views:
        reader.rows(f"SELECT * FROM omd_report.delivery_{view}")
