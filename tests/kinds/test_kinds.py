"""Kinds of Modules, and runs of every kind that the database performs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kinds.conftest import Platform

    Others = Callable[..., Platform]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Platform, Future[Any]], None]

KINDS = {
    "made": ("SQL", "POSTGRES"),
    "facts.shop": ("FACTS", "POSTGRES"),
    "app.dst": ("TOPIC", "POSTGRES"),
    "s": ("STAGE", "POSTGRES"),
    "lvl.shop.item": ("PART", None),
    "delivery.a": ("DELIVERY", "SPARK"),
}


def kinds(platform: Platform) -> dict[str, tuple[str, str | None]]:
    rows = platform.rows("SELECT module_code, module_kind_code, engine_code FROM omd.module")
    return {r["module_code"]: (r["module_kind_code"], r["engine_code"]) for r in rows}


def fill(platform: Platform) -> None:
    platform.queue(1, item=[("N", 1, 10)])
    platform.come(1, 2, 3, 4, 5)
    platform.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x')")


def rows_of(platform: Platform) -> dict[str, Any]:
    return {
        "made": len(platform.values_of("made")),
        "facts": [nbr for nbr, _ in platform.now("item")],
        "dst": platform.values_of("dst"),
        "out": len(platform.values_of("out")),
    }


def job(platform: Platform, code: str = "job", *, batch: str | None = None) -> None:
    platform.call(
        "omd.register_module",
        module_code=code,
        area_code="STG",
        table_code=f"app.{code}",
        job="jobs:load",
    )
    if batch:
        platform.call("omd.add_module_to_batch", batch_code=batch, module_code=code)


# Kinds


def test_every_module_has_the_kind_of_its_room(platform: Platform) -> None:
    platform.agree("out", layer_code="EXPORT")
    platform.agree("desk", layer_code="GDAL")
    job(platform)
    added = {
        "job": ("JOB", "SPARK"),
        "export.out": ("EXPORT", "SPARK"),
        "gdal.desk": ("PART", None),
    }
    assert kinds(platform) == {**KINDS, **added}
    members = platform.rows("SELECT * FROM omd.batch_members('night')")
    assert [(m["module_kind_code"], m["engine_code"]) for m in members] == [
        KINDS[code] for code in ("made", "facts.shop", "app.dst", "s")
    ]


def test_agreements_of_an_interface_that_is_deployed_later_get_their_modules(
    platform: Platform,
) -> None:
    platform.call("deploy_model", model={"interface": "late", "entities": [
        {"name": "item", "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}
    ]})  # fmt: skip
    platform.agree("later", interface_code="late", layer_code="EXPORT")
    assert "export.later" not in kinds(platform)
    platform.call("omd_facts.deploy", interface_code="late")
    assert kinds(platform)["export.later"] == ("EXPORT", "SPARK")


def test_a_stage_needs_spark_for_its_ruleset_or_for_a_link_without_a_source(
    platform: Platform,
) -> None:
    stage = (
        '{"stage": "t", "mode": "KEY", "keys": [{"column": "k"}], "ruleset": "later",'
        ' "links": [{"name": "a", "source": "app.a", "arrival": "id"}],'
        ' "outputs": [{"name": "out", "table": "app.out"}], "module": {"module_code": "t"}}'
    )
    ruleset = '{"ruleset": "later", "kind": "PYTHON", "content": "rules:f"}'
    platform.conn.execute("CALL omd_decision.define_ruleset(%s)", [ruleset])
    platform.conn.execute("CALL omd_decision.define_stage(%s)", [stage])
    assert kinds(platform)["t"] == ("STAGE", "SPARK")
    for left_out, engine in (("", "POSTGRES"), ('"source": "app.a", ', "SPARK")):
        changed = stage.replace("later", "f").replace(left_out, "")
        platform.conn.execute("CALL omd_decision.define_stage(%s)", [changed])
        assert kinds(platform)["t"] == ("STAGE", engine)
    platform.refused("OM214", "omd.run_module", module_code="t")


def test_a_module_that_is_no_topic_any_more_is_of_process_control_again(
    platform: Platform,
) -> None:
    platform.call("omd_lineage.remove_topic", topic="app.dst")
    assert kinds(platform)["app.dst"] == ("JOB", None)
    platform.call("omd.register_module", module_code="app.dst", executable="SELECT 1")
    assert kinds(platform)["app.dst"] == ("SQL", "POSTGRES")
    assert platform.go("app.dst")["execution_status_code"] == "S"


def test_a_module_without_sql_is_a_program_and_has_an_engine_with_a_job_only(
    platform: Platform,
) -> None:
    register = "omd.register_module"
    platform.call(register, module_code="outside", area_code="STG", table_code="app.made")
    assert kinds(platform)["outside"] == ("JOB", None)
    for job, engine in (("jobs:load", "SPARK"), ("", None)):
        platform.call(register, module_code="outside", job=job)
        assert kinds(platform)["outside"] == ("JOB", engine)
    named = platform.rows("SELECT module_kind_code AS kind FROM omd.module_kind")
    assert {row["kind"] for row in named} >= {"SQL", "JOB", "PART"}
    assert "SPARK" not in {row["kind"] for row in named}
    for wrong in ("engine_code = 'SPARK'", "job = 'a:b'", "module_kind_code = 'SQL'"):
        with pytest.raises(psycopg.errors.CheckViolation):
            platform.owner(f"UPDATE omd.module SET {wrong} WHERE module_code = 'outside'")


def test_work_shows_where_the_newest_run_of_a_program_outside_was(platform: Platform) -> None:
    work = "SELECT engine_code, state, failures, last_platform FROM omd_report.work WHERE code = %s"

    def run(platform_name: str, ending: str) -> None:
        begun = platform.call(
            "omd.begin_module",
            module_code="outside",
            execution_context=Jsonb({"platform": platform_name}),
        )
        platform.call(ending, module_instance_id=begun["module_instance_id"])

    platform.call("omd.register_module", module_code="outside", area_code="STG", table_code="app.m")
    idle = {"engine_code": None, "state": "IDLE", "failures": 0, "last_platform": None}
    assert platform.rows(work, "outside") == [idle]
    run("airflow", "omd.module_success")
    assert platform.rows(work, "outside") == [{**idle, "last_platform": "airflow"}]
    run("cron", "omd.module_failure")
    failed = {**idle, "state": "FAILED", "failures": 1, "last_platform": "cron"}
    assert platform.rows(work, "outside") == [failed]
    ready = "SELECT count(*) FROM omd_report.ready_work WHERE code = 'outside'"
    assert platform.one(ready) == 0
    # Who has an engine is begun by it.
    job(platform)
    assert platform.rows(work, "job") == [{**idle, "engine_code": "SPARK"}]


def test_a_module_has_sql_or_a_job_and_that_of_a_room_neither(platform: Platform) -> None:
    register, event = "omd.register_module", "SELECT count(*) FROM omd.event_log"
    for code in ("facts.shop", "app.dst", "s", "lvl.shop.item", "delivery.a"):
        for given in ({"executable": "SELECT 1"}, {"job": "a:b"}, {"job": ""}):
            detail = platform.refused("OM219", register, module_code=code, **given)
            assert detail["module_kind_code"] == KINDS[code][0]
        platform.call(register, module_code=code, module_description="as before")
    assert kinds(platform) == KINDS
    for wrong in ("load", ":load", "jobs:", "jobs: load", "1:2", "a:b:c"):
        platform.refused("OM013", register, module_code="made", job=wrong)
    assert platform.refused("OM013", register, module_code="made", job="a:b")["argument"] == "p_job"
    platform.call(register, module_code="made", executable="", job="a:b")
    assert kinds(platform)["made"] == ("JOB", "SPARK")
    detail = platform.refused("OM013", register, module_code="made", executable="SELECT 1")
    assert detail["argument"] == "p_executable"
    before = platform.one(event)
    platform.call(register, module_code="made", executable="SELECT 1", job="")
    assert kinds(platform)["made"] == ("SQL", "POSTGRES")
    assert platform.one(event) == before + 1


# One run


@pytest.mark.usefixtures("by_hand")
def test_one_run_of_each_kind_is_a_load_a_step_and_a_run_of_the_stage(platform: Platform) -> None:
    fill(platform)
    for code in ("made", "facts.shop", "app.dst", "s"):
        done = platform.go(code)
        assert (done["execution_status_code"], done["detail"]) == ("S", None), (code, done)
        assert done["module_instance_id"] is not None
    # A block has two rows.
    assert rows_of(platform) == {"made": 1, "facts": [1], "dst": [1, 2], "out": 1}


def test_nothing_to_do_makes_no_instance(platform: Platform) -> None:
    nothing = {"module_instance_id": None, "execution_status_code": "C"}
    reasons = {}
    for code in ("facts.shop", "app.dst"):
        done = platform.go(code)
        reasons[code] = done.pop("detail")
        assert (code, done) == (code, nothing)
    assert all(reasons.values()), reasons
    assert reasons["facts.shop"] == "nothing is queued for shop"
    assert platform.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0


def test_an_inactive_module_of_each_kind_is_skipped(platform: Platform) -> None:
    fill(platform)
    for code in ("made", "facts.shop", "app.dst", "s"):
        platform.call("omd.register_module", module_code=code, inactive_indicator="Y")
        assert platform.go(code)["execution_status_code"] == "C", code
    assert rows_of(platform) == {"made": 0, "facts": [], "dst": [], "out": 0}


def test_the_error_of_a_begin_is_raised_as_it_is(platform: Platform) -> None:
    platform.call("omd_decision.deactivate_ruleset", ruleset_code="f", version=1)
    platform.refused("OM286", "omd.run_module", module_code="s")
    platform.refused("OM286", "omd_decision.run_stage", stage_code="s")
    platform.refused("OM002", "omd.run_module", module_code="none")
    platform.refused("OM003", "omd.run_module", module_code="made", batch_instance_id=99)
    with pytest.raises(psycopg.Error) as caught, platform.conn.transaction():
        platform.go("made")
    assert caught.value.sqlstate == "OM018"
    assert platform.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0


def test_the_sql_of_the_caller_is_for_kinds_without_a_room(platform: Platform) -> None:
    job(platform)
    for code in ("job", "made"):
        done = platform.go(code, executable="INSERT INTO app.made VALUES (7)")
        assert done["execution_status_code"] == "S", code
    assert platform.values_of("made") == [7, 7]
    for code in ("facts.shop", "app.dst", "s", "lvl.shop.item", "delivery.a"):
        detail = platform.refused(
            "OM219", "omd.run_module", module_code=code, executable="SELECT 1"
        )
        assert detail["module_code"] == code
    platform.refused("OM219", "omd.run_module", module_code="lvl.shop.item")
    detail = platform.refused("OM214", "omd.run_module", module_code="job")
    assert detail["next_command"] == "omd run job"
    assert platform.refused("OM214", "omd.run_module", module_code="delivery.a")["members"]


def test_a_failed_run_of_each_kind_says_why_and_the_next_one_works(platform: Platform) -> None:
    fill(platform)
    platform.conn.execute("ALTER TABLE app.dst ADD CONSTRAINT no CHECK (v > 100)")
    platform.conn.execute("ALTER TABLE app.out ADD CONSTRAINT no CHECK (k > 100)")
    platform.conn.execute("ALTER TABLE app.made ADD CONSTRAINT no CHECK (v > 100)")
    for code in ("made", "app.dst", "s"):
        done = platform.go(code)
        assert done["execution_status_code"] == "F", code
        assert '"no"' in done["detail"]
    for table in ("dst", "out", "made"):
        platform.conn.execute(f"ALTER TABLE app.{table} DROP CONSTRAINT no".encode())
    for code in ("made", "app.dst", "s"):
        assert platform.go(code)["execution_status_code"] == "S", code
    assert rows_of(platform) == {"made": 1, "facts": [], "dst": [1, 2], "out": 1}


def test_who_works_at_it_keeps_others_out(
    platform: Platform,
    others: Others,
    background: Background,
    until_settled: UntilSettled,
    loads_wait: None,
) -> None:
    fill(platform)
    platform.conn.execute("SELECT pg_advisory_lock(42), pg_advisory_lock(43)")
    for code in ("made", "facts.shop"):
        other = others()
        running = background(other.go, code)
        until_settled(other, running)
        busy = platform.go(code)
        assert busy["execution_status_code"] == "A", code
        platform.conn.execute("SELECT pg_advisory_unlock(42), pg_advisory_unlock(43)")
        assert running.result()["execution_status_code"] == "S"
        platform.conn.execute("SELECT pg_advisory_lock(42), pg_advisory_lock(43)")
    assert rows_of(platform)["facts"] == [1]


def test_what_is_cancelled_is_recorded_and_done_again(
    platform: Platform,
    others: Others,
    background: Background,
    until_settled: UntilSettled,
    loads_wait: None,
) -> None:
    fill(platform)
    platform.conn.execute("SELECT pg_advisory_lock(42), pg_advisory_lock(43)")
    for code in ("made", "facts.shop"):
        other = others()
        running = background(other.go, code)
        until_settled(other, running)
        platform.one("SELECT pg_cancel_backend(%s)", other.conn.info.backend_pid)
        with pytest.raises(psycopg.errors.QueryCanceled):
            running.result()
        query = "SELECT last_execution_status_code FROM omd_report.module_list"
        assert platform.one(f"{query} WHERE module_code = %s", code) == "F"
    platform.conn.execute("SELECT pg_advisory_unlock_all()")
    assert platform.one("SELECT queue_status FROM omd_delivery.delta_queue") == "QUEUED"
    for code in ("made", "facts.shop"):
        assert platform.go(code)["execution_status_code"] == "S", code


def test_a_runner_runs_every_kind_with_its_own_rights(platform: Platform, others: Others) -> None:
    fill(platform)
    for role in ("omd_reader", "omd_data_reader"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            others(role=role).go("made")
    runner = others(role="omd_runner")
    failed = runner.go("app.dst")
    assert failed["execution_status_code"] == "F"  # it may not read the source
    platform.conn.execute(
        "GRANT USAGE ON SCHEMA app TO omd_runner; GRANT SELECT, INSERT, DELETE, UPDATE"
        " ON ALL TABLES IN SCHEMA app TO omd_runner"
    )
    assert runner.go_batch()["execution_status_code"] == "S"
    assert rows_of(platform) == {"made": 1, "facts": [1], "dst": [1, 2, 3, 4], "out": 1}


# Until nothing is left


def test_what_is_queued_meanwhile_is_left_for_the_next_run(
    platform: Platform,
    others: Others,
    background: Background,
    until_settled: UntilSettled,
    loads_wait: None,
) -> None:
    platform.queue(1, item=[("N", 1, 10)])
    platform.queue(2, item=[("N", 2, 10)])
    platform.conn.execute("SELECT pg_advisory_lock(43)")
    other = others()
    running = background(other.go, "facts.shop", until_done=True)
    until_settled(other, running)
    platform.queue(3, item=[("N", 3, 10)])
    platform.conn.execute("SELECT pg_advisory_unlock_all()")
    assert running.result()["execution_status_code"] == "S"
    assert [nbr for nbr, _ in platform.now("item")] == [1, 2]
    assert platform.go("facts.shop")["execution_status_code"] == "S"
    assert [nbr for nbr, _ in platform.now("item")] == [1, 2, 3]


def test_a_topic_goes_on_while_its_blocks_are_full(platform: Platform) -> None:
    platform.come(1, 2, 3, 4, 5)
    done = platform.go("app.dst", until_done=True)
    assert done["execution_status_code"] == "S"
    assert platform.values_of("dst") == [1, 2, 3, 4]
    runs = platform.rows("SELECT max(module_instance_id) AS last FROM omd_lineage.log")
    assert done["module_instance_id"] == runs[0]["last"]


def test_a_failure_on_the_way_is_the_answer(platform: Platform) -> None:
    platform.come(1, 2, 3, 4, 5)
    platform.conn.execute("ALTER TABLE app.dst ADD CONSTRAINT no CHECK (v < 3)")
    done = platform.go("app.dst", until_done=True)
    assert done["execution_status_code"] == "F"
    assert '"no"' in done["detail"]
    assert platform.values_of("dst") == [1, 2]


# Batches


def test_a_batch_runs_members_of_every_kind_until_nothing_is_left(platform: Platform) -> None:
    fill(platform)
    platform.queue(2, item=[("N", 2, 10)])
    done = platform.go_batch()
    assert done["execution_status_code"] == "S"
    assert platform.of_batch(done["batch_instance_id"]) == [
        ("made", "S"),
        ("facts.shop", "S"),
        ("facts.shop", "S"),
        ("app.dst", "S"),
        ("app.dst", "S"),
        ("s", "S"),
    ]
    assert rows_of(platform) == {"made": 1, "facts": [1, 2], "dst": [1, 2, 3, 4], "out": 1}
    # Nothing bars nothing.
    again = platform.go_batch()
    assert again["execution_status_code"] == "S"
    assert platform.of_batch(again["batch_instance_id"]) == [("made", "S"), ("s", "S")]


def test_a_batch_that_failed_goes_on_where_it_stopped(platform: Platform) -> None:
    fill(platform)
    platform.conn.execute("ALTER TABLE app.dst ADD CONSTRAINT no CHECK (v < 3)")
    failed = platform.go_batch()
    assert failed["execution_status_code"] == "F"
    assert platform.of_batch(failed["batch_instance_id"]) == [
        ("made", "S"),
        ("facts.shop", "S"),
        ("app.dst", "S"),
        ("app.dst", "F"),
    ]
    platform.queue(2, item=[("N", 2, 10)])
    platform.conn.execute("ALTER TABLE app.dst DROP CONSTRAINT no")
    done = platform.go_batch()
    assert done["execution_status_code"] == "S"
    # A load that the failed Batch has made is not made again, for what came meanwhile neither.
    assert platform.of_batch(done["batch_instance_id"]) == [
        ("made", "C"),
        ("facts.shop", "C"),
        ("app.dst", "S"),
        ("s", "S"),
    ]
    assert rows_of(platform) == {"made": 1, "facts": [1], "dst": [1, 2, 3, 4], "out": 1}
    third = platform.go_batch()
    assert third["execution_status_code"] == "S"
    assert platform.of_batch(third["batch_instance_id"]) == [
        ("made", "S"),
        ("facts.shop", "S"),
        ("s", "S"),
    ]
    assert rows_of(platform)["facts"] == [1, 2]


def test_a_member_that_can_not_begin_fails_the_batch(platform: Platform) -> None:
    fill(platform)
    platform.call("omd_decision.deactivate_ruleset", ruleset_code="f", version=1)
    failed = platform.go_batch()
    assert failed["execution_status_code"] == "F"
    event = platform.one(
        "SELECT event_detail FROM omd.event_log WHERE batch_instance_id = %s"
        " AND module_instance_id = 0",
        failed["batch_instance_id"],
    )
    assert event.startswith("Module s failed: ")
    assert event.endswith("(OM286)")


def test_a_member_that_needs_a_worker_is_named_before_anything_begins(platform: Platform) -> None:
    fill(platform)
    platform.night("below", "made")
    platform.night("deep")
    for child, parent in (("deep", "below"), ("below", "night")):
        platform.call("omd.add_batch_to_parent_batch", batch_code=child, parent_batch_code=parent)
    job(platform, batch="deep")
    job(platform, "other", batch="night")
    detail = platform.refused("OM214", "omd.run_batch", batch_code="night")
    assert detail["members"] == ["job", "other"]
    assert detail["next_command"] == "omd run batch:night"
    begun = "SELECT last_batch_instance_id FROM omd_report.batch_list WHERE batch_code = 'night'"
    assert platform.one(begun) is None
    assert rows_of(platform) == {"made": 0, "facts": [], "dst": [], "out": 0}
    # Who is inactive needs no worker.
    platform.call("omd.register_module", module_code="job", inactive_indicator="Y")
    platform.call(
        "omd.add_module_to_batch",
        batch_code="night",
        module_code="other",
        inactive_indicator="Y",
    )
    assert platform.go_batch()["execution_status_code"] == "S"
    skipped = {"module_instance_id": None, "execution_status_code": "C", "detail": "INACTIVE"}
    assert platform.go("job") == skipped


def test_a_batch_is_stopped_by_a_cancel_in_the_middle(
    platform: Platform,
    others: Others,
    background: Background,
    until_settled: UntilSettled,
    loads_wait: None,
) -> None:
    fill(platform)
    platform.conn.execute("SELECT pg_advisory_lock(43)")
    other = others()
    running = background(other.go_batch)
    until_settled(other, running)
    platform.one("SELECT pg_cancel_backend(%s)", other.conn.info.backend_pid)
    with pytest.raises(psycopg.errors.QueryCanceled):
        running.result()
    platform.conn.execute("SELECT pg_advisory_unlock_all()")
    begun = "SELECT last_batch_instance_id FROM omd_report.batch_list WHERE batch_code = 'night'"
    assert platform.of_batch(platform.one(begun)) == [("made", "S"), ("facts.shop", "F")]
    done = platform.go_batch()
    assert platform.of_batch(done["batch_instance_id"])[:2] == [("made", "C"), ("facts.shop", "S")]
    assert rows_of(platform) == {"made": 1, "facts": [1], "dst": [1, 2, 3, 4], "out": 1}
