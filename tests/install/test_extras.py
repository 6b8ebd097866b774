"""Each extra does what its page says where no other one is installed."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from facts.store import Store, entity
from support.alone import environment
from support.environments import Environment

Alone = Callable[[str], Environment]


@pytest.fixture
def alone(tmp_path: Path) -> Alone:
    return lambda extra: environment(extra, tmp_path)


def program(home: Environment, text: str, dsn: str, *arguments: str, timeout: float = 300) -> str:
    """Run a program in an environment; return what it printed."""
    settings = {"OMD_DSN": dsn, "SPARK_LOCAL_IP": "127.0.0.1"}
    return home.run("python", "-c", text, *arguments, env=settings, timeout=timeout).stdout


def test_the_core_alone_registers_and_runs(alone: Alone, dsn: str) -> None:
    text = """
import omd
with omd.connect() as control:
    control.calls.omd.register_module("m_core", area_code="HSTG", table_code="public.core")
    control.calls.omd.begin_module("m_core")
for name in ("pyspark", "pyiceberg", "zen", "uvicorn", "deltalake"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(name)
print("began")
"""
    assert program(alone(""), text, dsn) == "began\n"


@pytest.mark.spark
def test_spark_alone_exports_facts(alone: Alone, dsn: str, conn: Any, tmp_path: Path) -> None:
    store = Store(conn)
    store.set_up(entity("shelf", ["nbr"], ["nbr", ("name", "text(20)")]))
    store.agree("x", layer_code="EXPORT")
    store.put(1, shelf=[("N", 1, "a")])
    text = """
import sys
import omd
with omd.connect() as control:
    found = control.facts.export("x", sys.argv[1])
print(found.facts["rows"])
"""
    assert program(alone("spark"), text, dsn, str(tmp_path / "out")).splitlines()[-1] == "1"


def test_lake_alone_makes_a_table_and_reads_it(alone: Alone, dsn: str, tmp_path: Path) -> None:
    text = """
import sys
import pyarrow as pa
import omd
import omd.lake
rows = pa.table({"carrier": ["UA", "AA"], "flight": [1545, 1141]})
with omd.connect() as control:
    control.calls.omd_lake.register_namespace("lake", sys.argv[1])
    catalog = omd.lake.catalog(control)
    catalog.create_table("lake.flights", rows.schema).append(rows)
    scan = catalog.load_table("lake.flights").scan(row_filter="carrier = 'UA'")
    print(scan.to_arrow().to_pylist())
"""
    told = program(alone("lake"), text, dsn, str(tmp_path / "lake"))
    assert told == "[{'carrier': 'UA', 'flight': 1545}]\n"


def test_delta_alone_has_what_commits_and_maintains_such_tables(alone: Alone, dsn: str) -> None:
    text = """
import omd
import omd.tables.delta, omd.tables.delta_run, omd.tables.delta_undo, omd.tables.maintenance
with omd.connect() as control:
    print(omd.tables.maintenance.maintain(control))
"""
    assert program(alone("delta"), text, dsn)


def test_embedded_alone_starts_a_server_and_installs(alone: Alone, tmp_path: Path) -> None:
    home = alone("embedded")
    place = {"OMD_HOME": str(tmp_path / "server")}
    try:
        home.run("omd", "embedded", "start", env=place, timeout=300)
        told = home.run("omd", "install", env=place, timeout=300)
        assert "Installed omd" in told.stderr
    finally:
        home.run("omd", "embedded", "stop", env=place, timeout=300)


def test_decision_alone_evaluates_a_model(alone: Alone, dsn: str) -> None:
    text = """
from omd.rooms.decision.rules import _model
model = {
    "nodes": [
        {"id": "i", "type": "inputNode", "name": "in"},
        {"id": "e", "type": "expressionNode", "name": "double", "content": {
            "expressions": [{"id": "x", "key": "twice", "value": "amount * 2"}]}},
        {"id": "o", "type": "outputNode", "name": "out"},
    ],
    "edges": [
        {"id": "a", "sourceId": "i", "targetId": "e"}, {"id": "b", "sourceId": "e", "targetId": "o"}
    ],
}
print(_model(model)('{"amount": 21}', False)["result"])
"""
    assert program(alone("decision"), text, dsn) == "{'twice': 42}\n"


def test_web_alone_serves_the_page(alone: Alone, dsn: str) -> None:
    home = alone("web")
    page = home.start("omd", "web", "--port", "0", env={"OMD_DSN": dsn})
    try:
        assert page.stdout is not None
        assert "http://127.0.0.1:" in page.stdout.readline()
    finally:
        page.send_signal(signal.SIGINT)
        Environment.end(page)


def test_openlineage_alone_sends(alone: Alone, dsn: str, conn: Any, tmp_path: Path) -> None:
    conn.execute("CALL omd.register_module('m_sent', 'HSTG', 'public.sent')")
    conn.execute("CALL omd_event.configure(p_dataset_namespace => 'postgres://db.example:5432')")
    conn.execute("CALL omd_event.register_sink('openlineage', 'OPENLINEAGE')")
    conn.execute("CALL omd.begin_module('m_sent')")
    (tmp_path / "ol.yaml").write_text(
        f"transport:\n  type: file\n  log_file_path: {tmp_path / 'events.jsonl'}\n  append: true\n"
    )
    alone("openlineage").run(
        "omd", "send", "--openlineage", "--until-quiet",
        env={"OMD_DSN": dsn, "OPENLINEAGE_CONFIG": str(tmp_path / "ol.yaml")},
    )  # fmt: skip
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [event["eventType"] for event in events] == ["START"]


@pytest.mark.spark
def test_flights_alone_plays_the_first_demo(alone: Alone, dsn: str) -> None:
    told = alone("flights").run(
        "omd", "demo", "--quick",
        env={"OMD_DSN": dsn, "SPARK_LOCAL_IP": "127.0.0.1"}, timeout=600,
    )  # fmt: skip
    assert told.stdout


def test_demo_alone_plays_the_one_of_doors(alone: Alone, dsn: str) -> None:
    told = alone("demo").run("omd", "demo", "doors", env={"OMD_DSN": dsn}, timeout=600)
    assert told.stdout
