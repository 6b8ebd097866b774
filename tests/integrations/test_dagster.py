"""Modules as assets of Dagster: real materialisations, checks, sensor and Pipes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kinds.conftest import Platform, platform
from support.emptied import conn, dsn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.environments import Environment

__all__ = ["conn", "dsn", "platform"]

HERE = Path(__file__).parent
RUNS = "SELECT * FROM omd_report.module_execution_log"


@pytest.fixture(scope="module")
def session(
    tools_environment: Environment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[str]]:
    folder = tmp_path_factory.mktemp("dagster")
    process = tools_environment.start(
        "python", HERE / "session_of_dagster.py", cwd=folder, stdin=subprocess.PIPE
    )
    yield process
    process.communicate()


@pytest.fixture
def ask(session: subprocess.Popen[str], dsn: str) -> Callable[..., Any]:
    def asked(do: str, **more: Any) -> Any:
        assert session.stdin is not None
        assert session.stdout is not None
        print(json.dumps({"do": do, "dsn": dsn, **more}), file=session.stdin, flush=True)
        answer = session.stdout.readline()
        assert answer, "Dagster has ended; see dagster.out"
        return json.loads(answer)

    return asked


def test_tables_that_modules_make_are_assets_with_what_they_read(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    platform.conn.execute("CALL omd.declare_inputs('made', ARRAY['app.src'])")
    platform.call(
        "omd.register_module",
        module_code="by_spark",
        area_code="PRES",
        table_code="app.by_spark",
    )
    found = ask("describe")
    assets = found["assets"]
    assert assets["app/made"] == {"deps": ["app/src"], "executable": True}
    assert assets["app/dst"] == {"deps": ["app/src"], "executable": True}
    assert assets["app/out"] == {"deps": ["app/a"], "executable": True}
    assert assets["app/by_spark"] == {"deps": [], "executable": False}
    anchor = platform.one("SELECT DISTINCT anchor_table FROM omd_report.facts_map")
    facts = anchor.replace('"', "").replace(".", "/")
    assert assets[facts]["executable"]
    assert {check.partition(":")[0] for check in found["checks"]} == {facts}


def test_dagster_materialises_what_the_database_performs(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    platform.come(1, 2)
    done = ask("materialize", assets=[["app", "made"], ["app", "dst"]])
    assert done["success"], done
    made = {event["made"]: event for event in done["events"]}
    assert made["app/made"]["dagster/row_count"] == 1
    [ran] = platform.rows(
        "SELECT * FROM omd_report.module_execution_log WHERE module_code = 'made'"
    )
    assert made["app/made"]["omd/module_instance_id"] == ran["module_instance_id"]
    assert ran["execution_context"]["dagster"]["run_id"] == done["run_id"]
    assert platform.values_of("dst") == [1]
    # What Dagster has executed the sensor does not report again.
    assert [e["made"] for e in ask("sense", cursor=None)["events"] if e["made"] == "app/made"] == []


def test_a_table_of_several_modules_has_an_asset_of_each(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    sql = "INSERT INTO app.made SELECT 2, current_setting('omd.module_instance_id')::bigint"
    for code, table, reads in (
        ("made.too", "app.made", ["app.src"]),
        ("made_back", "app.made", ["app.sum"]),
        ("sums", "app.sum", ["app.made"]),
    ):
        platform.conn.execute("CREATE TABLE IF NOT EXISTS app.sum (v int, omd_insert_id bigint)")
        platform.call(
            "omd.register_module",
            module_code=code,
            area_code="PRES",
            table_code=table,
            executable=sql,
        )
        platform.conn.execute("CALL omd.declare_inputs(%s, %s::text[])", [code, reads])
    assets = ask("describe")["assets"]
    # The first one by its code keeps the key. One that writes back is no source of what it reads.
    assert assets["app/made"] == {"deps": [], "executable": True}
    assert assets["app/made/made.too"] == {"deps": ["app/src"], "executable": True}
    assert assets["app/made/made_back"] == {"deps": ["app/sum"], "executable": True}
    assert assets["app/sum"]["deps"] == ["app/made", "app/made/made.too"]
    done = ask("materialize", assets=[["app", "made", "made.too"]])
    assert [(e["made"], e["omd/module_code"]) for e in done["events"]] == [
        ("app/made/made.too", "made.too")
    ]
    assert platform.values_of("made") == [2]
    platform.go("made_back")
    platform.go("made")
    sensed = {(e["made"], e["omd/module_code"]) for e in ask("sense", cursor=None)["events"]}
    assert sensed == {("app/made/made_back", "made_back"), ("app/made", "made")}


def test_a_run_that_is_skipped_or_fails_is_no_materialisation(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    platform.call("omd.register_module", module_code="made", inactive_indicator="Y")
    done = ask("materialize", assets=[["app", "made"]])
    assert (done["success"], done["events"]) == (True, [])
    platform.call(
        "omd.register_module", module_code="made", inactive_indicator="N", executable="SELECT 1 / 0"
    )
    done = ask("materialize", assets=[["app", "made"]])
    assert (done["success"], done["events"]) == (False, [])
    assert "made ended with F" in done["failures"][0]


def test_the_sensor_reports_each_run_and_each_undo_once(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    platform.go("made")
    first = ask("sense", cursor=None)
    instance = platform.one("SELECT max(module_instance_id) FROM omd.module_instance")
    assert first["events"] == [
        {
            "made": "app/made",
            "dagster/row_count": 1,
            "omd/module_instance_id": instance,
            "omd/batch_instance_id": 0,
            "omd/module_code": "made",
        }
    ]
    platform.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=instance)
    platform.go("made")
    second = ask("sense", cursor=first["cursor"])
    assert [("made" in e, e.get("observed")) for e in second["events"]] in (
        [(False, "app/made"), (True, None)],
        [(True, None), (False, "app/made")],
    )


def test_the_sensor_reports_what_a_delivery_violates(
    platform: Platform, ask: Callable[..., Any]
) -> None:
    platform.put(1, item=[("N", 1, 5)])
    first = ask("sense", cursor=None)
    checks = [event for event in first["events"] if "check" in event]
    assert checks
    assert all(check["passed"] and check["omd/violations"] == 0 for check in checks)
    assert any("item" in event.get("made", "") for event in first["events"])
    run = platform.run(2, entities={"item": "DELTA"})
    code = next(
        constraint["constraint"]
        for constraint in run.plan(1)["item"]["constraints"]
        if constraint["type"] != "deletes"
    )
    run.measure(1, violations={code: 3})
    assert [e for e in ask("sense", cursor=first["cursor"])["events"] if "check" in e] == []
    assert run.verdict(1)["verdict"] == "REJECTED"
    checks = [e for e in ask("sense", cursor=first["cursor"])["events"] if "check" in e]
    [violated] = [check for check in checks if not check["passed"]]
    assert (violated["severity"], violated["omd/violations"]) == ("ERROR", 3)
    assert {check["omd/delivery_id"] for check in checks} == {run.id}


def test_a_process_of_pipes_runs_a_module_and_reports_it(
    platform: Platform, tools_environment: Environment, dsn: str
) -> None:
    platform.call("omd.register_module", module_code="m", area_code="PRES", table_code="app.made")
    program = HERE / "pipes_of_dagster.py"
    done = json.loads(
        tools_environment.run("python", program, "m", env={"OMD_DSN": dsn}).stdout.splitlines()[-1]
    )
    assert done["success"]
    [ran] = platform.rows(f"{RUNS} WHERE module_code = 'm'")
    assert ran["execution_context"]["dagster"]["run_id"] == done["run_id"]
    assert ran["execution_context"]["dagster"]["asset_keys"] == ["item"]
    assert done["made"][0]["dagster/row_count"] == 7
    assert done["made"][0]["omd/module_instance_id"] == ran["module_instance_id"]
