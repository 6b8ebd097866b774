"""A plan names what would go, in which order, and what is in the way; it changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from provenance.recalls import STAMP, Recalls

if TYPE_CHECKING:
    from collections.abc import Callable

    from provenance.middle import Middle


def test_a_run_takes_its_readers_along_and_readers_come_first(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("b", "a")
    recalls.made("c", "b", "a")
    recalls.made("d")
    a, d, b, c, late = (recalls.go(n) for n in "adbca")
    recall = recalls.plan(a)
    assert recalls.items(recall, "position", "module_instance_id", "distance", "because_of") == [
        (1, c, 1, a),
        (2, b, 1, a),
        (3, a, 0, None),
    ]
    assert recalls.items(recall, "action", "relation", "rows_go", "rows_back", "comes_again") == [
        ("UNDO", "READS", 6, 0, "a run"),
        ("UNDO", "READS", 3, 0, "a run"),
        ("UNDO", "TARGET", 3, 0, "a run"),
    ]
    assert recalls.standing() == [a, d, b, c, late]
    [shown] = recalls.rows("SELECT * FROM omd_report.recalls")
    assert (shown["recall_status"], shown["target"], shown["reason"]) == (
        "PLANNED",
        {"module_instance_id": a},
        "it was wrong",
    )
    assert (shown["items"], shown["blocked"], shown["rows_go"]) == (3, 0, 12)


def test_windows_take_all_later_runs_of_the_module_along(recalls: Recalls) -> None:
    recalls.made("w")
    recalls.made("r", "w")
    runs = []
    for day in (1, 2, 3):
        begun = recalls.begin_module("w")
        recalls.call("create_load_window", module_instance_id=begun.id, end_value=f"2020-01-0{day}")
        recalls.conn.execute("INSERT INTO dwh.w VALUES (%s, %s)", [day, begun.id])
        runs.append(recalls.end_module(begun.id, "S"))
        if day == 2:
            reader = recalls.go("r")
    recall = recalls.plan(runs[1])
    assert recalls.items(recall, "module_instance_id", "relation", "because_of", "distance") == [
        (reader, "READS", runs[1], 1),
        (runs[2], "FOLLOWS", runs[1], 1),
        (runs[1], "TARGET", None, 0),
    ]
    recalls.recall(recall)
    assert recalls.values("w") == [1]
    begun = recalls.begin_module("w")
    recalls.call("create_load_window", module_instance_id=begun.id, end_value="2020-01-04")
    [window] = recalls.rows(
        "SELECT start_value::date::text AS day FROM omd.source_control"
        " WHERE module_instance_id = %s",
        begun.id,
    )
    assert window["day"] == "2020-01-01"


def test_a_history_is_repaired_and_counted(recalls: Recalls) -> None:
    recalls.conn.execute(
        "CREATE TABLE dwh.s (k int, eff timestamptz, exp timestamptz, cur char(1), omd_insert"
        "_module_instance_id bigint, omd_update_module_instance_id bigint)"
    )
    recalls.call(
        "register_module",
        module_code="s",
        area_code="INT",
        table_code="dwh.s",
        table_type_code="SAT",
        business_key_columns=["k"],
        effective_date_column="eff",
        expiry_date_column="exp",
        current_indicator_column="cur",
        update_instance_column="omd_update_module_instance_id",
        executable=f"UPDATE dwh.s SET exp = '2020-02-01', cur = 'N', omd_update_module_instance_id"
        f" = {STAMP} WHERE cur = 'Y'; INSERT INTO dwh.s SELECT k, now(), '9999-12-31', 'Y',"
        f" {STAMP} FROM generate_series(1, 3) AS k",
    )
    recalls.call("declare_inputs", module_code="s", tables=[])
    first, second = recalls.go("s"), recalls.go("s")
    before = recalls.rows("SELECT k, cur FROM dwh.s WHERE omd_update_module_instance_id IS NULL")
    recall = recalls.plan(second)
    assert recalls.items(recall, "rows_go", "rows_back") == [(3, 3)]
    recalls.recall(recall)
    assert recalls.items(recall, "rows_gone", "rows_returned") == [(3, 3)]
    assert recalls.rows("SELECT k, cur FROM dwh.s") == before
    assert recalls.standing() == [first]


def test_a_truncate_never_happens(recalls: Recalls) -> None:
    recalls.made("t", area_code="STG")
    first, second = recalls.go("t"), recalls.go("t")
    recalls.recalled(first)
    assert recalls.stamps("dwh.t") == {second: 3}
    recalls.call("register_rollback", module_code="t", statement_template="TRUNCATE TABLE {table}")
    [(action, problem)] = recalls.items(recalls.plan(second), "action", "problem")
    assert action == "BLOCKED"
    assert problem == "NO_ROLLBACK: its own rollback empties the table"


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ("DROP TABLE dwh.x", "NO_ROLLBACK: the table is not there"),
        (
            "ALTER TABLE dwh.x RENAME omd_insert_module_instance_id TO i",
            "NO_ROLLBACK: its rollback needs the column omd_insert_module_instance_id",
        ),
        (
            (
                "CREATE TABLE dwh.child (p bigint); ALTER TABLE dwh.x ADD PRIMARY KEY (v);"
                " INSERT INTO dwh.child SELECT 1 FROM generate_series(1, 2);"
                " ALTER TABLE dwh.child ADD CONSTRAINT of FOREIGN KEY (p) REFERENCES dwh.x"
            ),
            "REFERENCED: 2 rows of dwh.child that stay refer to it (of)",
        ),
    ],
)
def test_what_is_in_the_way_is_named(recalls: Recalls, way: str, problem: str) -> None:
    recalls.made("x")
    run = recalls.go("x")
    recalls.conn.execute(way.encode())
    answer = recalls.call(
        "omd_provenance.plan_recall", module_instance_id=run, reason="it was wrong"
    )
    assert (answer["items"], answer["blocked"]) == (1, 1)
    assert recalls.items(answer["recall_id"], "action", "problem") == [("BLOCKED", problem)]
    detail = recalls.refused("OM191", "omd_provenance.recall", recall_id=answer["recall_id"])
    assert detail["items"][0]["problem"] == problem
    assert recalls.standing() == [run]


@pytest.mark.no_user_code("with a policy one more right is missing")
def test_who_lacks_a_right_is_told(recalls: Recalls, recallers: Callable[..., Recalls]) -> None:
    recalls.made("a")
    run = recalls.go("a")
    admin = recallers(role="omd_admin")
    recall = admin.plan(run)
    assert admin.items(recall, "action", "problem") == [
        ("BLOCKED", "NO_RIGHT: SELECT, DELETE on the table is missing")
    ]
    recalls.conn.execute(
        "GRANT USAGE ON SCHEMA dwh TO omd_admin; GRANT SELECT ON dwh.a TO omd_admin"
    )
    recall = admin.plan(run)
    assert admin.items(recall, "action", "problem") == [
        ("BLOCKED", "NO_RIGHT: DELETE on the table is missing")
    ]
    recalls.conn.execute(
        "GRANT DELETE ON dwh.a TO omd_admin; REVOKE USAGE ON SCHEMA dwh FROM omd_admin"
    )
    recall = admin.plan(run)
    assert admin.items(recall, "action", "problem") == [
        ("BLOCKED", "NO_RIGHT: USAGE on its schema is missing")
    ]
    recalls.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_admin")
    admin.recalled(run)
    assert recalls.values("a") == []


def test_from_whom_policies_hide_rows_is_told(
    recalls: Recalls, recallers: Callable[..., Recalls]
) -> None:
    recalls.made("a")
    run = recalls.go("a")
    recalls.conn.execute(
        "GRANT USAGE ON SCHEMA dwh TO omd_admin; GRANT SELECT, DELETE ON dwh.a TO omd_admin;"
        "ALTER TABLE dwh.a ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY low ON dwh.a TO omd_admin USING (v < 3)"
    )
    admin = recallers(role="omd_admin")
    recall = admin.plan(run)
    assert admin.items(recall, "action", "problem") == [
        ("BLOCKED", "NO_RIGHT: policies of the table may hide rows from the caller")
    ]
    admin.refused("OM191", "omd_provenance.recall", recall_id=recall)
    recalls.recalled(run)
    assert recalls.values("a") == []


def test_exactly_one_target_is_given(recalls: Recalls) -> None:
    plan = "omd_provenance.plan_recall"
    recalls.refused("OM005", plan, reason="r")
    recalls.refused("OM005", plan, reason="r", is_stale=False)
    recalls.refused("OM013", plan, reason="r", module_instance_id=1, delivery_id=1)
    recalls.refused("OM013", plan, reason="r", module_instance_id=1, since="2020-01-01")
    recalls.refused("OM005", plan, reason="r", agreement_code="a")
    recalls.refused("OM033", plan, reason="r", agreement_code="a", since="2020-01-01")
    recalls.refused("OM034", plan, reason="r", delivery_id=1)
    recalls.refused("OM003", plan, reason="r", batch_instance_id=1)
    recalls.refused("OM004", plan, reason="r", module_instance_id=1)
    recalls.made("a")
    run = recalls.go("a")
    for reason in (None, "", "  \n"):
        recalls.refused("OM005", plan, reason=reason, module_instance_id=run)
    assert recalls.rows("SELECT * FROM omd_report.recalls") == []


def test_what_does_not_stand_is_not_recalled(recalls: Recalls) -> None:
    recalls.made("a")
    run = recalls.go("a")
    recalls.recalled(run)
    detail = recalls.refused(
        "OM091", "omd_provenance.plan_recall", module_instance_id=run, reason="again"
    )
    assert detail["target"] == {"module_instance_id": run}
    other = recalls.go("a")
    recalls.set_next("R", module=other)
    recalls.refused("OM091", "omd_provenance.plan_recall", module_instance_id=other, reason="r")


def test_a_delivery_that_is_not_accepted_is_cancelled_instead(middle: Middle) -> None:
    run = middle.run(1, entities={"stock": "DELTA"})
    for target in (
        {"delivery_id": run.id},
        {"module_instance_id": run.instances["stock"]},
        {"batch_instance_id": run.batch},
    ):
        with pytest.raises(psycopg.Error) as caught:
            middle.call("omd_provenance.plan_recall", reason="r", **target)
        assert caught.value.sqlstate == "OM091"
        assert f"cancel_delivery({run.id}, " in str(caught.value.diag.message_hint)


def test_a_target_that_goes_for_good_has_no_problem(middle: Middle) -> None:
    delivery = middle.deliver("2020-01-01", {"stock": {(1,): ("a",)}})
    recall = middle.call("omd_provenance.plan_recall", reason="r", delivery_id=delivery)
    assert recall["blocked"] == 0
    assert middle.rows("SELECT action, comes_again, problem FROM omd_report.recall_items") == [
        {"action": "REVERT", "comes_again": None, "problem": None}
    ]


def test_what_left_the_house_names_where_it_went(middle: Middle) -> None:
    delivery = middle.give("2020-01-01", {"stock": {(1,): ("a",)}})
    middle.agree("out", layer_code="EXPORT")
    export = middle.one(
        "CALL omd_facts.create_export('out', 'file:///tmp/x', p_entities => ARRAY['stock'])"
    )
    run = middle.call("omd_facts.begin_export", delivery_id=export)["module_instance_id"]
    middle.call(
        "omd_facts.finish_export",
        delivery_id=export,
        module_instance_id=run,
        manifest={"entities": {}},
    )
    recall = middle.call("omd_provenance.plan_recall", reason="r", delivery_id=delivery)
    outside = (
        "SELECT module_instance_id, delivery_id, table_code FROM omd_report.recall_items"
        " WHERE action = 'OUTSIDE'"
    )
    assert middle.rows(outside) == [
        {"module_instance_id": run, "delivery_id": export, "table_code": "file:///tmp/x"}
    ]
    middle.call("omd_provenance.recall", recall_id=recall["recall_id"])
    assert middle.status(export) == "EXPORTED"
    for target in ({"delivery_id": export}, {"module_instance_id": run}):
        with pytest.raises(psycopg.Error) as caught:
            middle.call("omd_provenance.plan_recall", reason="r", **target)
        assert caught.value.sqlstate == "OM091"
        assert "has left the house" in str(caught.value)
        assert f"omd explain run:{run} --up" in str(caught.value.diag.message_hint)


def test_what_people_wrote_is_blocked_by_its_delivery_as_by_its_run(middle: Middle) -> None:
    middle.agree("desk", layer_code="GDAL")
    delivery = middle.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
    middle.conn.execute(b"INSERT INTO gdal_shop.stock (nbr, amount) VALUES (1, 'a')")
    middle.call("omd_facts.close_delivery", delivery_id=delivery)
    run = middle.one(
        "SELECT module_instance_id FROM omd_facts.gdal_delivery WHERE delivery_id = %s", delivery
    )
    for target in ({"delivery_id": delivery}, {"module_instance_id": run}):
        plan = middle.call("omd_provenance.plan_recall", reason="r", **target)
        assert plan["blocked"] == 1
        [item] = middle.rows(
            "SELECT module_instance_id, action, problem FROM omd_report.recall_items"
            " WHERE recall_id = %s",
            plan["recall_id"],
        )
        assert (item["module_instance_id"], item["action"]) == (run, "BLOCKED")
        assert item["problem"].startswith("NO_ROLLBACK: ")


@pytest.mark.parametrize("problem", ["PHYSICAL", "LATER_WRITES", "PURGED"])
def test_what_is_in_the_way_stops_the_whole_recall(middle: Middle, problem: str) -> None:
    arguments = {"delete_type": "PHYSICAL"} if problem == "PHYSICAL" else {}
    first = middle.deliver(1, {"stock": {(1,): ("x",)}}, **arguments)
    middle.load_all()
    middle.give(2, {"stock": {(1,): ("y",)}})
    if problem == "LATER_WRITES":
        middle.agree("desk", layer_code="GDAL")
        desk = middle.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
        middle.conn.execute(b"INSERT INTO gdal_shop.stock (nbr, amount) VALUES (9, 'desk')")
        middle.call("omd_facts.close_delivery", delivery_id=desk)
    elif problem == "PURGED":
        middle.call("omd.purge", keep="0", room="omd_delivery")
    was = middle.shown()
    plan = middle.call("omd_provenance.plan_recall", reason="r", delivery_id=first)
    blocked = middle.rows(
        "SELECT action, split_part(problem, ':', 1) AS problem, rows_go, rows_back"
        " FROM omd_report.recall_items WHERE recall_id = %s AND action = 'BLOCKED'",
        plan["recall_id"],
    )
    assert plan["blocked"] == len(blocked) > 0
    assert all(
        row == {"action": "BLOCKED", "problem": problem, "rows_go": None, "rows_back": None}
        for row in blocked
    )
    detail = Recalls(middle.conn).refused(
        "OM191", "omd_provenance.recall", recall_id=plan["recall_id"], accept=["BY_HAND"]
    )
    assert {problem} == {item["problem"].partition(":")[0] for item in detail["items"]}
    assert middle.shown() == was
    assert middle.one("SELECT recall_status FROM omd_report.recalls") == "PLANNED"


def test_a_batch_instance_means_its_runs(recalls: Recalls) -> None:
    for name in ("a", "b"):
        recalls.made(name)
        recalls.batch("night") if name == "a" else None
        recalls.call("add_module_to_batch", batch_code="night", module_code=name)
    outside = recalls.go("a")
    ran = recalls.call("run_batch", batch_code="night")
    recall = recalls.plan(batch_instance_id=ran["batch_instance_id"])
    assert recalls.items(recall, "module_code", "relation") == [("b", "TARGET"), ("a", "TARGET")]
    recalls.recall(recall)
    assert recalls.standing() == [outside]


def test_names_may_be_anything(recalls: Recalls) -> None:
    name = "a\"'; DROP TABLE dwh.b; --{table}\n$1 %s"
    recalls.made(name)
    recalls.made("b", name)
    run, _ = recalls.go(name), recalls.go("b")
    reason = "O'Neill \" \\ {key} %s"
    recall = recalls.recalled(run, reason=reason)
    assert recalls.values(name) == recalls.values("b") == []
    assert (
        recalls.one("SELECT reason FROM omd_report.recalls WHERE recall_id = %s", recall) == reason
    )


def test_every_argument_may_be_null(recalls: Recalls) -> None:
    recalls.refused("OM005", "omd_provenance.recall", recall_id=None)
    recalls.refused("OM005", "omd_provenance.wait_for_runs", recall_id=None)
    recalls.made("a")
    run = recalls.go("a")
    recall = recalls.plan(run, awaits_correction=None)
    recalls.call("omd_provenance.recall", recall_id=recall, accept=None, wait=None)
    assert recalls.standing() == []


@pytest.mark.parametrize("role", ["omd_runner", "omd_reader", "omd_data_reader"])
def test_only_administrators_plan_and_recall(
    recalls: Recalls, recallers: Callable[..., Recalls], role: str
) -> None:
    recalls.made("a")
    recall = recalls.plan(recalls.go("a"))
    other = recallers(role=role)
    for call in (
        lambda: other.plan(1),
        lambda: other.recall(recall),
        lambda: other.call("omd_provenance.wait_for_runs", recall_id=recall),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call()


@pytest.mark.no_user_code("a trigger of the target may read what nobody knows")
@pytest.mark.parametrize("is_declared", [False, True])
def test_a_plan_looks_first_at_what_was_replaced(recalls: Recalls, is_declared: bool) -> None:
    recalls.made("a")
    recalls.made("b")
    recalls.conn.execute(
        "CREATE VIEW dwh.shown AS SELECT v FROM dwh.a;"
        "CREATE TABLE dwh.r (v bigint, omd_insert_module_instance_id bigint)"
    )
    recalls.call(
        "register_module",
        module_code="r",
        area_code="HSTG",
        table_code="dwh.r",
        executable=f"INSERT INTO dwh.r SELECT v, {STAMP} FROM dwh.shown",
    )
    if is_declared:
        recalls.call("declare_inputs", module_code="r", tables=["dwh.shown"])
    _, _, b = (recalls.go(n) for n in "arb")
    recalls.conn.execute("CREATE OR REPLACE VIEW dwh.shown AS SELECT v FROM dwh.b")
    before = recalls.go("r")
    recall = recalls.plan(b)
    assert recalls.items(recall, "module_instance_id", "action") == [(before, "UNDO"), (b, "UNDO")]
    # The view is replaced once more, between the plan and the act.
    recalls.conn.execute("CREATE OR REPLACE VIEW dwh.shown AS SELECT v FROM dwh.a")
    recalls.made("c")
    c = recalls.go("c")
    late = recalls.plan(c)
    recalls.conn.execute("CREATE OR REPLACE VIEW dwh.shown AS SELECT v FROM dwh.c")
    after = recalls.go("r")
    assert recalls.refused("OM190", "omd_provenance.recall", recall_id=late, wait="0")
    recalls.recall(late, "GROWTH")
    assert not {c, after} & set(recalls.standing())
