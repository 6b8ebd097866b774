"""Files for other tools: each query of them runs, and each alert fires when it should."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import yaml

from omd.integrations.dbt import package_path
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Connection = psycopg.Connection[dict[str, Any]]
    Omd = Callable[..., subprocess.CompletedProcess[str]]

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="needs Debian's package prometheus")


@pytest.fixture
def flow(conn: Connection) -> Flow:
    return Flow(conn)


@pytest.fixture
def files(omd_here: Omd, dsn: str, conn: Connection, tmp_path: Path) -> Path:
    """A folder in which are the files for other tools."""
    folder = tmp_path / "made" / "here"
    done = omd_here("report", "--files", str(folder), dsn=dsn)
    assert done.returncode == 0, done.stderr
    names = ["omd.rules.yml", "sql_exporter.yml", "grafana.json", "dbt"]
    assert done.stdout.splitlines() == [str(folder / name) for name in names]
    return folder


def promtool(*arguments: str | Path) -> str:
    assert PROMTOOL is not None
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_of_dbt_is_written_and_a_second_time_too(
    files: Path, omd_here: Omd, dsn: str
) -> None:
    there = {path.relative_to(files / "dbt") for path in (files / "dbt").rglob("*")}
    assert there == {path.relative_to(package_path()) for path in package_path().rglob("*")}
    (files / "dbt" / "dbt_project.yml").write_text("")
    (files / "mine").write_text("mine")
    assert omd_here("report", "--files", str(files), dsn=dsn).returncode == 0
    assert "name:" in (files / "dbt" / "dbt_project.yml").read_text()
    assert (files / "mine").read_text() == "mine"


def test_each_query_of_sql_exporter_gives_its_columns(flow: Flow, files: Path) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="F")
    flow.call("omd_event.publish")
    document = yaml.safe_load((files / "sql_exporter.yml").read_text())
    (collector,) = document["collectors"]
    assert document["target"]["collectors"] == [collector["collector_name"]]
    listed = {row["metric_name"] for row in flow.rows("SELECT * FROM omd_report.metric_list")}
    found = 0
    flow.conn.execute("SET ROLE omd_reader")
    for metric in collector["metrics"]:
        rows = flow.conn.execute(metric["query"].encode())
        columns = [column.name for column in rows.description or ()]
        assert columns == [*metric.get("key_labels", []), *metric["values"]]
        assert metric["type"] in ("counter", "gauge")
        assert metric["help"]
        found += len(rows.fetchall())
        listed.discard(metric["metric_name"])
    assert listed == {"omd_run_seconds"}, "its parts are there"
    flow.conn.execute("RESET ROLE")
    assert found == flow.one("SELECT count(*) FROM omd_report.metrics")


@needs_promtool
def test_the_expressions_of_rules_and_panels_are_promql(
    conn: Connection, files: Path, tmp_path: Path
) -> None:
    rules = files / "omd.rules.yml"
    names = {rule["alert"] for rule in yaml.safe_load(rules.read_text())["groups"][0]["rules"]}
    assert {"OmdRunFailed", "OmdTopicLag", "OmdTaskDead", "OmdDeliveryRefused"} <= names
    assert f"{len(names)} rules found" in promtool("check", "rules", rules)
    board = json.loads((files / "grafana.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    listed = Flow(conn).rows("SELECT * FROM omd_report.metric_list")
    assert len(expressions) == len(listed)
    panels = tmp_path / "panels.yml"
    records = [{"record": f"panel:{n}", "expr": expr} for n, expr in enumerate(expressions)]
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert f"{len(expressions)} rules found" in promtool("check", "rules", panels)


HOSTILE = 'a"b\\c {{ "x" }} $labels'

# Series each minute, and the alerts that fire after half an hour.
SCENES = [
    ("omd_module_runs_total", {"module": HOSTILE, "status": "F"}, "0x25 1x10", "OmdRunFailed"),
    ("omd_module_runs_total", {"module": "m", "status": "F"}, "7x40", None),
    ("omd_module_runs_total", {"module": "m", "status": "S"}, "0+1x40", None),
    ("omd_batch_runs_total", {"batch": "b", "status": "F"}, "0x25 1x10", "OmdBatchFailed"),
    (
        "omd_agreement_deliveries_total", {"agreement": "a", "status": "REFUSED"}, "0x25 1x10",
        "OmdDeliveryRefused",
    ),
    (
        "omd_agreement_deliveries_total", {"agreement": "a", "status": "ACCEPTED"}, "0+1x40",
        None,
    ),
    ("omd_tasks_dead_total", {"family": "F", "task_type": "T"}, "0x25 2x10", "OmdTaskDead"),
    ("omd_schedule_failures_total", {"schedule": "s"}, "0x25 1x10", "OmdScheduleFailed"),
    ("omd_topic_lag_seconds", {"topic": "t"}, "3601x40", "OmdTopicLag"),
    ("omd_topic_lag_seconds", {"topic": "near"}, "10x40", None),
    ("omd_sources_stale", {}, "1x40", "OmdSourceStale"),
    ("omd_problems", {"problem": "NOT_RUN"}, "1x40", "OmdProblems"),
    ("omd_task_oldest_due_seconds", {"family": "F", "task_type": "T"}, "901x40", "OmdTaskWaits"),
    ("omd_queue_oldest_seconds", {"interface": "i"}, "3601x40", "OmdQueueWaits"),
    ("omd_sink_oldest_seconds", {"sink": "s"}, "601x40", "OmdSinkBehind"),
    ("omd_published_timestamp_seconds", {}, "0x40", "OmdNotPublished"),
]  # fmt: skip


@needs_promtool
def test_each_alert_fires_for_its_series_and_for_no_other(files: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text((files / "omd.rules.yml").read_text())
    rules = yaml.safe_load((tmp_path / "rules.yml").read_text())["groups"][0]["rules"]
    expected: dict[str, list[dict[str, str]]] = {rule["alert"]: [] for rule in rules}
    series = []
    for name, labels, values, alert in SCENES:
        inner = ",".join(f"{key}={json.dumps(value)}" for key, value in labels.items())
        series.append({"series": f"{name}{{{inner}}}", "values": values})
        if alert is not None:
            expected[alert].append(labels)
    expected["OmdUnseen"].append({})
    assert all(expected.values()), "each alert has a scene"
    severities = {rule["alert"]: rule["labels"]["severity"] for rule in rules}
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": series,
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})',
                        "eval_time": "30m",
                        "exp_samples": [{"labels": "{}", "value": len(found)}],
                    }
                    for alert, found in expected.items()
                ]
                + [
                    {
                        "expr": f'ALERTS{{alertname="{alert}",alertstate="firing"}}',
                        "eval_time": "30m",
                        "exp_samples": [
                            {
                                "labels": "ALERTS{"
                                + ",".join(
                                    f"{key}={json.dumps(value)}"
                                    for key, value in {
                                        **labels,
                                        "alertname": alert,
                                        "alertstate": "firing",
                                        "severity": severities[alert],
                                    }.items()
                                )
                                + "}",
                                "value": 1,
                            }
                            for labels in found
                        ],
                    }
                    for alert, found in expected.items()
                ],
            }
        ],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump(document))
    promtool("test", "rules", tmp_path / "test.yml")
