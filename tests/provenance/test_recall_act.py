"""The act takes back what the plan names, in one transaction, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from provenance.recalls import Recalls

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.scene import Scene

ACT = "omd_provenance.recall"


def chain(recalls: Recalls) -> list[int]:
    """Three Modules in a row, each of which has read the one before."""
    recalls.made("a")
    recalls.made("b", "a")
    recalls.made("c", "b")
    return [recalls.go(name) for name in "abc"]


def test_one_run_has_undone_all_and_the_counts_are_what_happened(recalls: Recalls) -> None:
    runs = chain(recalls)
    kept = recalls.go("a")
    recall = recalls.plan(runs[0])
    answer = recalls.recall(recall)
    assert (answer["rows_gone"], answer["rows_returned"]) == (9, 0)
    undoing = answer["module_instance_id"]
    assert recalls.rows(
        "SELECT m.module_code, m.module_kind_code, i.execution_status_code,"
        " i.execution_context ->> 'recall_id' AS recall, i.rows_deleted, i.rollback_instance_array"
        " FROM omd.module_instance AS i INNER JOIN omd.module AS m USING (module_id)"
        " WHERE i.module_instance_id = %s",
        undoing,
    ) == [
        {
            "module_code": "provenance.recall",
            "module_kind_code": "PART",
            "execution_status_code": "S",
            "recall": str(recall),
            "rows_deleted": 9,
            "rollback_instance_array": runs,
        }
    ]
    assert {
        row["module_instance_id"]: row["by"]
        for row in recalls.rows(
            "SELECT module_instance_id, rolled_back_by_module_instance_id AS by"
            " FROM omd.module_instance WHERE rolled_back_by_module_instance_id IS NOT NULL"
        )
    } == dict.fromkeys(runs, undoing)
    assert recalls.items(
        recall, "rows_go = rows_gone AS go", "rows_back = rows_returned AS back"
    ) == ([(True, True)] * 3)
    assert recalls.stamps("dwh.a") == {kept: 3}
    [shown] = recalls.rows("SELECT * FROM omd_report.recalls")
    assert (shown["recall_status"], shown["module_instance_id"]) == ("EXECUTED", undoing)
    detail = recalls.refused("OM193", ACT, recall_id=recall)
    assert detail["status"] == "EXECUTED"


def test_what_comes_again_waits_for_what_it_reads(recalls: Recalls) -> None:
    runs = chain(recalls)
    recalls.recalled(runs[0])
    assert recalls.work("a")[:2] == ("READY", "RECALLED")
    assert recalls.work("b") == ("WAITING", "RECALLED", "a")
    assert recalls.work("c") == ("WAITING", "RECALLED", "a")
    assert recalls.perform() == ["a", "b", "c"]
    for name in "abc":
        assert recalls.values(name) == [1, 2, 3]
        assert recalls.work(name)[0] == "IDLE"
    returns = recalls.rows(
        "SELECT position, module_instance_id AS run, ended_datetime IS NOT NULL AS ended"
        " FROM omd.module_return ORDER BY position"
    )
    assert [r["position"] for r in returns] == [1, 2, 3]
    assert [r["run"] for r in returns] == recalls.standing()
    assert all(r["ended"] for r in returns)
    # A later run is one of its own.
    recalls.go("a")
    assert len(recalls.rows("SELECT FROM omd.module_return WHERE ended_datetime IS NULL")) == 0


def test_a_failed_run_leaves_the_entry_open(recalls: Recalls) -> None:
    recalls.made("a", rows="SELECT 1 / (SELECT count(*) FROM dwh.ok) AS v")
    recalls.conn.execute("CREATE TABLE dwh.ok (v int); INSERT INTO dwh.ok VALUES (1)")
    recalls.recalled(recalls.go("a"))
    recalls.conn.execute("DELETE FROM dwh.ok")
    ran = recalls.call("run_module", module_code="a")
    assert ran["execution_status_code"] == "F"
    recalls.call("retry", module_code="a")
    assert recalls.work("a")[:2] == ("READY", "RECALLED")
    recalls.conn.execute("INSERT INTO dwh.ok VALUES (1)")
    assert recalls.perform() == ["a"]


def test_an_awaited_correction_is_made_by_hand(recalls: Recalls) -> None:
    runs = chain(recalls)
    recall = recalls.recalled(runs[0], awaits_correction=True)
    assert recalls.items(recall, "module_code", "comes_again") == [
        ("c", "a run"),
        ("b", "a run"),
        ("a", "by hand"),
    ]
    assert recalls.work("a")[0] == "IDLE"
    assert recalls.work("b") == ("WAITING", "RECALLED", "a")
    assert recalls.perform() == []
    recalls.go("a")
    assert recalls.perform() == ["b", "c"]


def returns(recalls: Recalls) -> list[tuple[str, str]]:
    return [
        (row["code"], row["return_status"])
        for row in recalls.rows(
            "SELECT code, return_status FROM omd_report.recall_returns ORDER BY recall_id, position"
        )
    ]


def test_an_entry_is_due_when_a_worker_may_take_it(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("b", "a")
    run = recalls.go("a")
    recalls.go("b")
    recalls.recalled(run, awaits_correction=True)
    assert returns(recalls) == [("a", "BY_HAND"), ("b", "WAITING")]
    # The run by hand is to correct the other one too.
    recalls.recalled(recalls.go("a"), awaits_correction=True)
    assert returns(recalls) == [("a", "DONE"), ("b", "WAITING"), ("a", "BY_HAND")]
    recalls.go("a")
    assert returns(recalls) == [("a", "DONE"), ("b", "DUE"), ("a", "DONE")]
    assert recalls.work("b")[:2] == ("READY", "RECALLED")


def test_an_entry_waits_for_blocks_that_are_to_come_again(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.steps()
    recalls = Recalls(scene.conn)
    recalls.made("b")
    recalls.call("declare_inputs", module_code="b", tables=["dwh.f"])
    recalls.go("b")
    step = scene.one(
        "SELECT module_instance_id FROM omd_report.run_inputs WHERE module_code = 'dwh.f'"
    )
    recalls.recalled(step)
    assert recalls.work("b") == ("WAITING", "RECALLED", "dwh.f")
    assert returns(recalls) == [("b", "WAITING")]
    scene.steps()
    assert recalls.work("b")[:2] == ("READY", "RECALLED")
    assert returns(recalls) == [("b", "DUE")]


def test_modules_that_read_each_other_do_not_wait_for_each_other(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("b", "a")
    recalls.call("declare_inputs", module_code="a", tables=["dwh.b"])
    first = recalls.go("a", "b", "a", "b")
    del first
    recalls.recalled(recalls.standing()[0])
    assert recalls.standing() == []
    assert recalls.perform() == ["a", "b"]


@pytest.mark.parametrize("word", ["UNDO", "growth", "", None])
def test_a_slip_in_what_is_accepted_is_refused(recalls: Recalls, word: str | None) -> None:
    recalls.refused("OM013", ACT, recall_id=1, accept=["GIVE_UP", word])


def test_an_unknown_recall_is_refused(recalls: Recalls) -> None:
    recalls.refused("OM090", ACT, recall_id=1)
    recalls.refused("OM090", "omd_provenance.wait_for_runs", recall_id=1)


def test_the_transaction_is_read_committed(recalls: Recalls) -> None:
    recalls.made("a")
    recall = recalls.plan(recalls.go("a"))
    with recalls.conn.transaction():
        recalls.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        recalls.refused("OM014", ACT, recall_id=recall)


def test_what_has_come_goes_only_with_consent(recalls: Recalls) -> None:
    runs = chain(recalls)
    recall = recalls.plan(runs[0])
    later = recalls.go("b")
    detail = recalls.refused("OM190", ACT, recall_id=recall)
    assert (detail["come"], detail["gone"]) == ([later], [])
    assert recalls.standing() == [*runs, later]
    recalls.recall(recall, "GROWTH")
    assert recalls.standing() == []
    assert (later, 3, 3) in recalls.items(recall, "module_instance_id", "rows_go", "rows_gone")


def test_what_is_gone_needs_another_plan(recalls: Recalls) -> None:
    runs = chain(recalls)
    recall = recalls.plan(runs[0])
    recalls.recalled(runs[2])
    detail = recalls.refused("OM190", ACT, recall_id=recall, accept=["GROWTH"])
    assert (detail["come"], detail["gone"]) == ([], [runs[2]])
    recalls.recalled(runs[0])
    detail = recalls.refused("OM190", ACT, recall_id=recall)
    assert detail["gone"] == runs
    assert recalls.standing() == []


def test_other_rows_than_planned_stop_the_act(recalls: Recalls) -> None:
    runs = chain(recalls)
    recall = recalls.plan(runs[0])
    recalls.conn.execute("DELETE FROM dwh.b WHERE v = 1")
    detail = recalls.refused("OM190", ACT, recall_id=recall)
    assert [(c["module_instance_id"], c["rows_go"], c["rows_gone"]) for c in detail["counts"]] == [
        (runs[1], 3, 2)
    ]
    assert recalls.values("c") == [1, 2, 3]
    recalls.recalled(runs[0])


@pytest.mark.parametrize("body", ["RETURN NULL", "RETURN OLD"])
def test_rows_that_a_trigger_keeps_are_not_what_was_planned(recalls: Recalls, body: str) -> None:
    runs = chain(recalls)
    recalls.conn.execute(
        f"""
        CREATE FUNCTION dwh.keep() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF {body == "RETURN OLD"} THEN
                INSERT INTO dwh.b VALUES (OLD.v, OLD.omd_insert_module_instance_id);
            END IF;
            {body};
        END $$;
        CREATE TRIGGER keep BEFORE DELETE ON dwh.b FOR EACH ROW WHEN (OLD.v = 1)
        EXECUTE FUNCTION dwh.keep();
        """
    )
    recall = recalls.plan(runs[0])
    detail = recalls.refused("OM190", ACT, recall_id=recall)
    assert (detail["rows_left"], detail["table_code"]) == (1, "dwh.b")
    assert "trigger of dwh.b" in detail["way_out"]
    assert recalls.standing() == runs


def spark(recalls: Recalls, name: str, *reads: str, **attributes: Any) -> None:
    """Register a Module that a process outside of the database runs."""
    given = {"area_code": "INT", "table_type_code": "HUB", **attributes}
    recalls.module(name, **given)
    recalls.call("declare_inputs", module_code=name, tables=[f"dwh.{read}" for read in reads])


def test_a_target_elsewhere_is_marked_and_undone_by_the_next_begin(recalls: Recalls) -> None:
    recalls.made("a")
    spark(recalls, "s", "a", platform_code="SPARK", table_code="lake.s")
    run = recalls.go("a")
    reader = recalls.run_module("s")
    recall = recalls.plan(run)
    assert recalls.items(recall, "action", "rows_go") == [("PENDING", None), ("UNDO", 3)]
    detail = recalls.refused("OM192", ACT, recall_id=recall)
    assert [(i["action"], i["module_instance_id"]) for i in detail["items"]] == [
        ("PENDING", reader)
    ]
    recalls.recall(recall, "PENDING")
    assert recalls.codes(module=reader) == "S P R"
    [entry] = recalls.rows("SELECT * FROM omd.awaited_return WHERE module_code = 's'")
    assert (entry["is_by_hand"], entry["ended_datetime"]) == (True, None)
    begun = recalls.begin_module("s")
    assert (begun.pi, begun.array) == ("R", [reader])
    recalls.call("confirm_rollback", module_instance_id=begun.id)
    recalls.end_module(begun.id, "S")
    assert recalls.rows("SELECT FROM omd.module_return WHERE ended_datetime IS NULL") == [{}]


def test_a_job_of_a_worker_comes_again(recalls: Recalls) -> None:
    recalls.made("a")
    spark(recalls, "s", "a", job="jobs:run")
    run = recalls.go("a")
    recalls.run_module("s")
    recalls.recalled(run)
    assert recalls.work("s") == ("WAITING", "RECALLED", "a")
    recalls.go("a")
    assert recalls.work("s")[:2] == ("READY", "RECALLED")


@pytest.mark.parametrize("records", [True, False])
def test_a_run_on_spark_that_has_read_is_given_up(recalls: Recalls, records: bool) -> None:
    recalls.made("a")
    spark(recalls, "s", "a")
    spark(recalls, "other")
    run = recalls.go("a")
    at_work = recalls.begin_module("s").id
    if records:
        recalls.call("record_input", table_code="dwh.a", module_instance_id=at_work)
    elsewhere = recalls.begin_module("other").id
    recall = recalls.plan(run)
    assert recalls.items(recall, "action", "module_instance_id") == [
        ("GIVE_UP", at_work),
        ("UNDO", run),
    ]
    recalls.refused("OM192", ACT, recall_id=recall, wait="0")
    recalls.recall(recall, "GIVE_UP")
    assert recalls.codes(module=at_work) == "F P R"
    assert recalls.codes(module=elsewhere) == "E P P"
    recalls.refused("OM101", "module_success", module_instance_id=at_work)
    # It says nothing about the next run, which may begin at once.
    assert recalls.rows("SELECT * FROM omd.module_state") == []


def test_a_dead_run_is_no_obstacle(recalls: Recalls) -> None:
    from support.flow import PASSED

    recalls.made("a")
    spark(recalls, "s", "a")
    run = recalls.go("a")
    recall = recalls.plan(run)
    dead = recalls.begin_module("s", lease=PASSED).id
    recalls.recall(recall)
    assert recalls.codes(module=dead) == "F P R"


def test_a_module_whose_inputs_are_unknown_is_left_alone_with_consent(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.conn.execute(
        "CREATE FUNCTION dwh.f() RETURNS bigint LANGUAGE plpgsql"
        " AS $$ BEGIN RETURN (SELECT max(v) FROM dwh.a); END $$"
    )
    recalls.module("u", executable="INSERT INTO dwh.u SELECT dwh.f(), 1")
    run = recalls.go("a")
    unknown = [recalls.go("u"), recalls.go("u")]
    recall = recalls.plan(run)
    assert recalls.items(recall, "action", "module_instance_id") == [
        ("UNDO", run),
        ("UNKNOWN", unknown[1]),
    ]
    recalls.refused("OM192", ACT, recall_id=recall)
    unknown.append(recalls.go("u"))
    recalls.recall(recall, "UNKNOWN")
    assert recalls.standing() == unknown


def test_a_reference_that_only_the_act_sees_is_named(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("kept")
    recalls.conn.execute(
        "ALTER TABLE dwh.a ADD PRIMARY KEY (v);"
        "CREATE TABLE dwh.b (v bigint PRIMARY KEY REFERENCES dwh.a ON DELETE CASCADE);"
        "ALTER TABLE dwh.kept ADD FOREIGN KEY (v) REFERENCES dwh.b ON DELETE CASCADE;"
    )
    run = recalls.go("a")
    recalls.conn.execute("INSERT INTO dwh.b SELECT v FROM dwh.a")
    kept = recalls.go("kept")
    recall = recalls.plan(run)
    detail = recalls.refused("OM191", ACT, recall_id=recall)
    assert detail["problem"].startswith("REFERENCED: ")
    assert recalls.standing() == [run, kept]


def test_rows_that_refer_to_each_other_go_together(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("b", "a")
    recalls.conn.execute(
        "ALTER TABLE dwh.a ADD PRIMARY KEY (v); ALTER TABLE dwh.b ADD PRIMARY KEY (v);"
        "ALTER TABLE dwh.b ADD FOREIGN KEY (v) REFERENCES dwh.a;"
    )
    run = recalls.go("a")
    recalls.go("b")
    recalls.conn.execute(
        "ALTER TABLE dwh.a ADD FOREIGN KEY (v) REFERENCES dwh.b DEFERRABLE INITIALLY DEFERRED"
    )
    recalls.recalled(run)
    assert recalls.values("a") == recalls.values("b") == []


def test_a_partial_restart_does_not_skip_what_was_recalled(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("f", rows="SELECT 1 / 0 AS v")
    recalls.batch("night", "a", "f")
    recalls.call("run_batch", batch_code="night")
    [run] = recalls.standing()
    recalls.recalled(run)
    recalls.call("run_batch", batch_code="night")
    assert len(recalls.standing()) == 1
    assert recalls.values("a") == [1, 2, 3]


def test_a_plan_survives_in_the_transaction_of_its_caller(
    recalls: Recalls, recallers: Callable[..., Recalls]
) -> None:
    runs = chain(recalls)
    with recalls.conn.transaction(force_rollback=True):
        recall = recalls.plan(runs[0])
        recalls.recall(recall)
        assert recalls.standing() == []
        assert recallers().standing() == runs
    assert recalls.standing() == runs
    assert recalls.rows("SELECT * FROM omd_report.recalls") == []


def test_a_window_before_the_rows_of_a_recalled_run_has_not_read_them(scene: Scene) -> None:
    """It was taken again, after these had been written: a younger run with an older window."""
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic(maxstep=1)
    recalls = Recalls(scene.conn)
    scene.steps()
    first = scene.one(
        "SELECT min(module_instance_id) FROM omd_report.run_inputs WHERE module_code = 'dwh.f'"
    )
    scene.module("late", table_code="dwh.src")
    scene.call("omd.declare_inputs", module_code="late", tables=[])
    late = scene.begin_module("late")
    scene.conn.execute(
        "INSERT INTO dwh.src SELECT pos + interval '1 hour', id + 60, 1, %s FROM dwh.src",
        (late.id,),
    )
    scene.call("omd.module_success", module_instance_id=late.id)
    recalls.recalled(first)
    scene.steps()
    scene.insert(100)
    scene.steps()
    recalls.recalled(late.id)
    assert scene.rows("SELECT * FROM omd_report.stale_runs") == []
