"""Who called a run, and whom it calls: contexts from the environment, and the run handed on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

import omd
from omd.programs.cli.log import newest
from support.driver import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

CALLER = "airflow/dag.task/018f0000-0000-7000-8000-000000000001"
ROOT = "airflow/dag/018f0000-0000-7000-8000-000000000002"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def shared_dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    with new_database() as dsn:
        with omd.connect(dsn, lease=None) as control:
            setup(control)
        yield dsn


@pytest.fixture
def control(shared_dsn: str) -> Iterator[omd.Control]:
    with omd.connect(shared_dsn, lease=None) as control:
        yield control


def context(control: omd.Control, instance: int) -> dict[str, Any]:
    (row,) = control.report(
        omd.rooms.control.rows.ModuleExecutionLogRow, module_instance_id=instance
    )
    return dict(row.execution_context or {})


def start_of(dsn: str, instance: int) -> dict[str, Any]:
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        while conn.execute("CALL omd_event.publish()").fetchone()["p_published"] != 0:  # type: ignore[index]
            pass
        row = conn.execute(
            "SELECT o.event FROM omd_report.openlineage_event AS o"
            " INNER JOIN omd_report.events AS e USING (event_number)"
            " WHERE e.subject_id = %s AND e.event_type = 'RUN_BEGAN'",
            [instance],
        ).fetchone()
    assert row
    event: dict[str, Any] = row["event"]
    return event


def named(facet: dict[str, Any]) -> str:
    return f"{facet['job']['namespace']}/{facet['job']['name']}/{facet['run']['runId']}"


def test_the_environment_says_who_called_unless_the_program_does(
    control: omd.Control, shared_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", CALLER)
    monkeypatch.setenv("OPENLINEAGE_ROOT_PARENT_ID", ROOT)
    monkeypatch.setenv("TRACEPARENT", TRACE)
    monkeypatch.setenv("TRACESTATE", "")
    with control.module("m_alone") as run:
        given = context(control, run.instance_id)
    assert given["openlineage_parent_id"] == CALLER
    assert given["traceparent"] == TRACE
    assert "tracestate" not in given
    parent = start_of(shared_dsn, run.instance_id)["run"]["facets"]["parent"]
    assert (named(parent), named(parent["root"])) == (CALLER, ROOT)
    with control.module("m_alone", context={"traceparent": "mine"}) as run:
        assert context(control, run.instance_id)["traceparent"] == "mine"


def test_what_the_database_performs_has_the_caller_of_the_command_too(
    control: omd.Control,
    shared_dsn: str,
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control.calls.omd.register_batch("b_sql", frequency_code="Adhoc")
    control.calls.omd.register_module(
        "m_sql",
        area_code="INT",
        table_code="dwh.t",
        table_type_code="HUB",
        platform_code="POSTGRES",
        executable="SELECT 1",
    )
    control.calls.omd.add_module_to_batch("b_sql", "m_sql", sequence=1)
    called = {"openlineage_parent_id": CALLER, "traceparent": TRACE}
    for key, value in called.items():
        monkeypatch.setenv(key.upper(), value)

    def run(*arguments: str) -> None:
        done = omd_here("run", *arguments, dsn=shared_dsn)
        assert done.returncode == 0, done.stderr

    def last() -> dict[str, Any]:
        newest = control.calls.omd.previous_module_instance("m_sql")
        assert newest
        return told(context(control, newest.module_instance_id))

    def told(given: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in given.items() if key in {*called, "dag"}}

    run("m_sql")
    assert last() == called
    run("m_sql", "--context", '{"traceparent": "mine", "dag": "nightly"}')
    assert last() == {**called, "traceparent": "mine", "dag": "nightly"}
    run("batch:b_sql", "--context", '{"dag": "nightly"}')
    assert last() == called
    (batch,) = newest(control, "batch", 1)
    assert told(batch.execution_context) == {**called, "dag": "nightly"}


@pytest.mark.parametrize(
    "value",
    [
        "no such text",
        "a/b/c",
        "a/b/018f0000-0000-7000-8000-00000000000g",
        "/b/018f0000-0000-7000-8000-000000000001",
        "a//018f0000-0000-7000-8000-000000000001",
        "a\n/b/018f0000-0000-7000-8000-000000000001",
        "\udcff/b/018f0000-0000-7000-8000-000000000001",
        "n" * 5000 + "/b/018f0000-0000-7000-8000-000000000001",
    ],
)
def test_a_malformed_parent_stops_nothing_is_kept_and_is_not_sent(
    control: omd.Control, shared_dsn: str, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", value)
    with control.module("m_alone") as run:
        given = context(control, run.instance_id)
    assert given["openlineage_parent_id"]
    facets = start_of(shared_dsn, run.instance_id)["run"]["facets"]
    # What no environment can hold as it is has another spelling, which is a text like any other.
    assert ("parent" in facets) == value.startswith("\udcff")


def test_a_run_is_the_parent_of_what_its_child_processes_begin(
    control: omd.Control, shared_dsn: str
) -> None:
    program = (
        "import omd\n"
        "with omd.connect() as control, control.module('m_alone') as run:\n"
        "    print(run.instance_id)"
    )
    with control.module("m_1") as run:
        environment = run.environment()
        assert environment["OPENLINEAGE_PARENT_ID"] == control.calls.omd_event.parent_id(
            "MODULE", run.instance_id
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
            text=True,
        )
    me, child = (start_of(shared_dsn, n) for n in (run.instance_id, int(done.stdout)))
    assert named(child["run"]["facets"]["parent"]) == named(me)


def test_a_batch_hands_itself_on(control: omd.Control) -> None:
    with control.batch("b") as batch:
        parent = batch.environment()["OPENLINEAGE_PARENT_ID"]
        assert parent == control.calls.omd_event.parent_id("BATCH", batch.instance_id)
        assert "/batch:b/" in parent
        for code in ("m_1", "m_2"):
            with batch.module(code):
                pass


def test_the_doctor_shows_malformed_contexts_and_a_namespace_that_means_nothing_elsewhere(
    control: omd.Control,
    shared_dsn: str,
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    bad = {
        "openlineage_parent_id": "no",
        "traceparent": "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "tracestate": ["no text"],
        "dbt": "no object",
    }
    good = {"openlineage_parent_id": CALLER, "traceparent": TRACE, "tracestate": "a=b", "dbt": {}}
    for code, given in (("m_1", good), ("m_2", bad)):
        with control.module(code, context=given):
            pass
    control.calls.omd_event.register_sink("openlineage", sink_kind="OPENLINEAGE")
    try:
        rows = json.loads(omd_here("doctor", "--output", "json", dsn=shared_dsn).stdout)
        found = [row for row in rows if row["check"] == "openlineage"]
        assert {row["verdict"] for row in found} == {"warning"}
        texts = [row["found"] for row in found]
        assert [t for t in texts if "postgres://localhost:" in t]
        assert sorted(t.split()[1] for t in texts if t.startswith("m_2:")) == sorted(bad)
        assert not [t for t in texts if t.startswith("m_1:")]
        control.calls.omd_event.configure(dataset_namespace="postgres://db.example:5432")
        rows = json.loads(omd_here("doctor", "--output", "json", dsn=shared_dsn).stdout)
        assert not [row for row in rows if "postgres://localhost:" in row["found"]]
    finally:
        control.calls.omd_event.remove_sink("openlineage")
