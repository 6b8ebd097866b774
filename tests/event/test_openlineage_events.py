"""What OMD says of runs in OpenLineage: each event by the schemas, and what is in its facets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

import omd
from event.judges import check, facets, through_the_client
from event.runs_of_all_kinds import CALLER, HOSTILE, ROOT, World
from omd.programs.cli import send as command
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


# A trigger on what a run writes may read anything, so nobody knows what the run reads.
pytestmark = pytest.mark.no_user_code("what is read is looked up in the catalogue")


@pytest.fixture(scope="module")
def world(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[World]:
    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        yield World(conn)


def without_empty(content: Any) -> Any:
    """Return an event without empty lists and objects, which the client adds and leaves out."""
    if isinstance(content, dict):
        made = {key: without_empty(value) for key, value in content.items()}
        return {key: value for key, value in made.items() if value not in ([], {})}
    return [without_empty(value) for value in content] if isinstance(content, list) else content


def test_each_event_and_each_facet_is_as_its_schema_says(world: World) -> None:
    events = world.all_events()
    for event in events:
        check(event)
    assert {name for event in events for name, _ in facets(event)} == {
        "parent",
        "nominalTime",
        "processing_engine",
        "errorMessage",
        "omd_run",
        "jobType",
        "sql",
        "documentation",
        "dataQualityAssertions",
        "schema",
        "version",
        "lifecycleStateChange",
        "symlinks",
        "columnLineage",
        "outputStatistics",
    }


def test_the_classes_of_the_client_make_the_same_events(world: World, tmp_path: Path) -> None:
    for event in world.all_events():
        assert without_empty(through_the_client(event, tmp_path)) == without_empty(event)


def facet(event: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a facet of the run, the job or the only dataset that has it, without its origin."""
    places = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
    (found,) = [
        place[part][name]
        for place in places
        for part in ("facets", "inputFacets", "outputFacets")
        if name in place.get(part, {})
    ]
    return {key: value for key, value in found.items() if not key.startswith("_")}


def named(place: dict[str, Any]) -> str:
    return f"{place['job']['namespace']}/{place['job']['name']}/{place['run']['runId']}"


def test_a_run_id_is_that_of_the_function_and_sorts_by_time(world: World) -> None:
    ids = []
    for kind, instance in (("BATCH", world.ids["outer"]), ("MODULE", world.ids["one"])):
        found = world.flow.one("SELECT omd_event.run_id(%s, %s)", kind, instance)
        assert found.version == 7
        ids.append(str(found))
    assert world.event("outer", "START")["run"]["runId"] == ids[0]
    assert world.event("m_1", "START")["run"]["runId"] == ids[1]
    assert world.event("m_1", "COMPLETE")["run"]["runId"] == ids[1]
    assert ids == sorted(ids)


def test_the_parent_is_the_batch_else_the_caller_and_the_root_the_topmost_of_both(
    world: World,
) -> None:
    outer = facet(world.event("outer", "START"), "parent")
    assert (named(outer), named(outer["root"])) == (CALLER, ROOT)
    inner = facet(world.event("inner", "FAIL"), "parent")
    me = world.flow.one("SELECT omd_event.parent_id('BATCH', %s)", world.ids["outer"])
    assert (named(inner), named(inner["root"])) == (me, ROOT)
    module = facet(world.event("m_1", "COMPLETE"), "parent")
    me = world.flow.one("SELECT omd_event.parent_id('BATCH', %s)", world.ids["inner"])
    assert (named(module), named(module["root"])) == (me, ROOT)
    called = facet(world.event("m_called", "COMPLETE"), "parent")
    assert (named(called), named(called["root"])) == (CALLER, CALLER)
    assert "parent" not in world.event("m_odd", "ABORT")["run"]["facets"]
    delivered = facet(world.event("lvl.shop.orders", "COMPLETE"), "parent")
    assert delivered["root"]["job"]["name"] == "batch:delivery.a"


def test_a_failure_says_its_code_and_where_to_look_and_nothing_of_its_text(world: World) -> None:
    event = world.event("m_2", "FAIL")
    assert facet(event, "errorMessage")["message"] == f"22012: omd explain run:{world.ids['two']}"
    assert "Anna" not in json.dumps(world.all_events())


def test_the_end_has_what_a_run_did_and_what_it_undid(world: World) -> None:
    done = facet(world.event("m_1", "COMPLETE"), "omd_run")
    assert {k: v for k, v in done.items() if k.startswith("rows_")} == {
        "rows_input": 9,
        "rows_inserted": 3,
        "rows_updated": 4,
        "rows_deleted": 0,
        "rows_discarded": 0,
        "rows_rejected": 1,
    }
    assert facet(world.event("m_1", "COMPLETE"), "outputStatistics") == {"rowCount": 7}
    assert facet(world.event("m_2", "COMPLETE"), "omd_run")["undid"] == [world.ids["two"]]
    (undone,) = world.events("m_2", "OTHER")
    assert facet(undone, "omd_run")["undone_by"] == world.ids["again"]
    assert undone["run"]["runId"] == world.event("m_2", "FAIL")["run"]["runId"]


def test_engine_and_kind_are_those_of_the_run(world: World) -> None:
    spark = facet(world.event("m_spark", "START"), "processing_engine")
    version = world.flow.one("SELECT omd.product_version()")
    assert spark == {"name": "Spark", "version": "4.3.0", "openlineageAdapterVersion": version}
    assert facet(world.event("dwh.f", "START"), "processing_engine")["name"] == "PostgreSQL"
    kinds = {
        code: facet(world.event(code, "START"), "jobType")["jobType"]
        for code in ("outer", HOSTILE, "dwh.f", "lvl.shop.orders", "facts.shop")
    }
    assert [*kinds.values()] == ["BATCH", "SQL", "TOPIC", "PART", "FACTS"]


def test_a_window_or_the_time_of_a_delivery_is_the_nominal_time(world: World) -> None:
    first, second = world.events("dwh.f", "COMPLETE")
    assert "nominalTime" not in first["run"]["facets"]  # it begins at the beginning
    assert facet(second, "nominalTime") == {
        "nominalStartTime": "2020-01-01T12:02:00.000000Z",
        "nominalEndTime": "2020-01-01T12:04:00.000000Z",
    }
    for code in ("lvl.shop.orders", "facts.shop"):
        event = world.event(code, "COMPLETE")
        assert facet(event, "nominalTime") == {"nominalStartTime": "2020-01-01T00:00:00.000000Z"}


def test_datasets_are_named_without_quotes_and_by_where_they_lie(world: World) -> None:
    database = world.conn.info.dbname
    hostile = world.event(HOSTILE, "COMPLETE")
    assert hostile["job"]["name"] == HOSTILE
    assert [d["name"] for d in hostile["outputs"]] == [f'{database}.dwh.Odd "name"']
    assert [d["name"] for d in hostile["inputs"]] == [f"{database}.dwh.read"]
    assert {d["namespace"] for d in hostile["inputs"]} == {"postgres://localhost:5432"}
    (lake,) = world.event("iceberg", "COMPLETE")["outputs"]
    assert (lake["namespace"], lake["name"]) == ("s3://bucket", "house/ice")
    (symlink,) = lake["facets"]["symlinks"]["identifiers"]
    assert symlink["name"] == "lake.ice"
    assert lake["facets"]["version"]["datasetVersion"] == "7000000000000000001"
    states = {
        code: facet(world.event(code, "COMPLETE"), "lifecycleStateChange")["lifecycleStateChange"]
        for code in (HOSTILE, "dwh.all_of", "iceberg")
    }
    assert [*states.values()] == ["TRUNCATE", "OVERWRITE", "OVERWRITE"]


@pytest.mark.parametrize(
    ("uri", "namespace", "name"),
    [
        ("s3a://bucket/a/b/", "s3://bucket", "a/b"),
        ("gs://bucket", "gs://bucket", "/"),
        ("hdfs://node:8020/a/b", "hdfs://node:8020", "/a/b"),
        ("abfss://box@there.example/a", "abfss://box@there.example", "/a"),
        ("file:///data/x", "file", "/data/x"),
        ("file:/data/x", "file", "/data/x"),
        ("/data/x/", "file", "/data/x"),
        ("file://host/data", "file://host", "/data"),
    ],
)
def test_a_folder_has_the_name_that_openlineage_gives_it(
    world: World, uri: str, namespace: str, name: str
) -> None:
    made = world.flow.one("SELECT omd_event._dataset_of_uri(%s)", uri)
    assert made == {"namespace": namespace, "name": name}


def test_the_checks_of_a_delivery_are_assertions_about_what_was_staged(world: World) -> None:
    event = world.event("lvl.shop.orders", "COMPLETE")
    checks = {a["name"]: a for a in facet(event, "dataQualityAssertions")["assertions"]}
    assert checks["orders.short"] == {
        "assertion": "value",
        "name": "orders.short",
        "column": "amount",
        "success": False,
        "severity": "error",
        "expected": "3",
        "actual": "2",
        "content": "length(amount) < 9",
    }
    assert all(check["success"] for name, check in checks.items() if name != "orders.short")
    (staged,) = [d for d in event["inputs"] if "inputFacets" in d]
    assert staged["name"].endswith(".stg_a.orders")
    assert "dataQualityAssertions" not in json.dumps(world.event("lvl.shop.orders", "START"))


def column_sources(event: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    return {
        column: [
            (f["name"].partition(".")[2] + "." + f["field"], f["transformations"][0]["subtype"])
            for f in made["inputFields"]
        ]
        for column, made in facet(event, "columnLineage")["fields"].items()
    }


def used_columns(event: dict[str, Any]) -> list[str]:
    return [
        f["name"].partition(".")[2] + "." + f["field"]
        for f in facet(event, "columnLineage").get("dataset", [])
    ]


def test_columns_of_facts_and_deliveries_are_those_of_the_model(world: World) -> None:
    assert column_sources(world.event("facts.shop", "COMPLETE")) == {
        "nbr": [("lvl_shop.orders.nbr", "IDENTITY")],
        "amount": [("lvl_shop.orders.amount", "IDENTITY")],
    }
    assert column_sources(world.event("lvl.shop.orders", "COMPLETE")) == {
        "nbr": [("stg_a.orders.nbr", "IDENTITY")],
        "amount": [("stg_a.orders.amount", "IDENTITY")],
    }


KNOWN = "SELECT is_known FROM omd_event.transform_views() WHERE view_code = 'dwh.v_all'"


def send(omd_here: Callable[..., Any], dsn: str) -> str:
    """Send all that is there; returns what is told."""
    done = omd_here("send", "--openlineage", "--until-quiet", dsn=dsn)
    assert done.returncode == 0, done.stderr
    return str(done.stderr)


def test_columns_of_a_view_are_known_for_the_text_that_was_parsed(
    world: World, omd_here: Callable[..., Any]
) -> None:
    all_read = ["dwh.f.id", "dwh.f.pos", "dwh.f.v"]
    event = world.event("dwh.all_of", "COMPLETE")
    assert (column_sources(event), used_columns(event)) == ({}, all_read)

    dsn = f"{world.conn.info.dsn} password={world.conn.info.password}"
    send(omd_here, dsn)
    assert world.flow.rows(KNOWN) == [{"is_known": True}]
    event = world.event("dwh.all_of", "COMPLETE")
    check(event)
    assert column_sources(event) == {
        "pos": [("dwh.f.pos", "AGGREGATION")],
        "id": [("dwh.f.id", "IDENTITY")],
        "v": [("dwh.f.v", "AGGREGATION")],
    }
    assert used_columns(event) == []

    world.conn.execute(
        "CREATE OR REPLACE VIEW dwh.v_all AS SELECT t.pos, t.id, t.v FROM dwh.f AS t"
    )
    event = world.event("dwh.all_of", "COMPLETE")
    assert (column_sources(event), used_columns(event)) == ({}, all_read)


def test_columns_of_a_view_that_is_replaced_are_found_while_it_sends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.conn.execute(
        "CREATE OR REPLACE VIEW dwh.v_all AS SELECT t.pos, t.id, t.v FROM dwh.f AS t"
    )
    dsn = f"{world.conn.info.dsn} password={world.conn.info.password}"
    told: list[str] = []
    columns = command._Columns(lambda: omd.connect(dsn), told.append)
    monkeypatch.setattr(command, "_LOOK", 0.05)
    assert world.flow.rows(KNOWN) == [{"is_known": False}]
    with columns.each_minute():
        until(lambda: world.flow.rows(KNOWN) == [{"is_known": True}])
    assert told == []


def test_who_is_no_administrator_sends_and_looks_for_no_columns(
    world: World, omd_here: Callable[..., Any]
) -> None:
    world.flow.call("omd_event.register_sink", sink_code="openlineage", sink_kind="OPENLINEAGE")
    world.conn.execute("CREATE ROLE only_sends LOGIN PASSWORD 'x' IN ROLE omd_runner")
    try:
        dsn = make_conninfo(world.conn.info.dsn, user="only_sends", password="x")
        assert "not looked for: that takes omd_admin" in send(omd_here, dsn)
    finally:
        world.conn.execute("DROP ROLE only_sends")


def test_a_view_that_can_t_be_traced_is_shown_and_never_guessed(
    world: World, omd_here: Callable[..., Any]
) -> None:
    world.conn.execute(
        "CREATE OR REPLACE VIEW dwh.v_all AS SELECT t.pos, g AS id, t.v FROM dwh.f AS t,"
        " LATERAL generate_series(t.id, t.id) AS g"
    )
    dsn = f"{world.conn.info.dsn} password={world.conn.info.password}"
    assert "the columns of dwh.v_all (dwh.all_of) can't be traced" in send(omd_here, dsn)
    event = world.event("dwh.all_of", "COMPLETE")
    assert column_sources(event) == {}


# What does not change ----------------------------------------------------------------------------


def test_a_start_holds_only_what_the_begin_has_fixed(world: World) -> None:
    flow = world.flow
    flow.module("m_start")
    begun = flow.begin_module("m_start")
    world.publish()
    before = world.event("m_start", "START")
    flow.call("create_load_window", module_instance_id=begun.id, end_value="2020-01-02")
    flow.call("record_input", module_instance_id=begun.id, table_code="dwh.read")
    flow.call("module_success", module_instance_id=begun.id, rows_inserted=5)
    flow.set_next("R", module=begun.id)
    assert world.event("m_start", "START") == before
    world.publish()
    assert world.event("m_start", "START") == before
    end = world.event("m_start", "COMPLETE")
    assert [d["name"].rpartition(".")[2] for d in end["inputs"]] == ["read"]


def test_an_instance_that_is_purged_leaves_job_run_and_time(world: World) -> None:
    run = world.run("m_gone", "S")
    world.publish()
    whole = world.events("m_gone")
    world.flow.conn.execute("SET session_replication_role = replica")
    world.flow.conn.execute(
        "DELETE FROM omd.module_instance WHERE module_instance_id = %s", [run.id]
    )
    world.flow.conn.execute("RESET session_replication_role")
    left = world.events("m_gone")
    for event, former in zip(left, whole, strict=True):
        check(event)
        assert event["run"] == {"runId": former["run"]["runId"], "facets": {}}
        assert event["job"] == {**former["job"], "facets": {}}
        for part in ("eventType", "eventTime"):
            assert event[part] == former[part]
        assert event["inputs"] == event["outputs"] == []


def test_an_id_with_another_start_is_another_run(world: World) -> None:
    run = world.run("m_twice", "S")
    world.publish()
    former = world.event("m_twice", "COMPLETE")
    world.flow.owner(
        "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '1 day'"
        " WHERE module_instance_id = %s",
        run.id,
    )
    event = world.event("m_twice", "COMPLETE")
    assert event["run"] == {"runId": former["run"]["runId"], "facets": {}}
    other = world.flow.one("SELECT omd_event.run_id('MODULE', %s)::text", run.id)
    assert other != former["run"]["runId"]


def test_many_events_at_once_are_the_same_as_one_by_one(world: World) -> None:
    together = world.flow.rows(
        "SELECT o.event FROM omd_event._open_lineage("
        "ARRAY(SELECT event_number FROM omd_event.event)) AS o ORDER BY o.event_number"
    )
    assert [row["event"] for row in together] == world.all_events()


def test_a_reader_sees_the_events_and_nobody_else(
    world: World, connect: Callable[..., Any]
) -> None:
    dsn = f"{world.conn.info.dsn} password={world.conn.info.password}"
    reader = connect(dsn, role="omd_reader")
    rows = reader.execute("SELECT event FROM omd_report.openlineage_event").fetchall()
    assert len(rows) == len(world.all_events())
    nobody = connect(dsn, role="omd_data_writer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        nobody.execute("SELECT event FROM omd_report.openlineage_event")


def test_a_long_history_is_not_read_for_a_few_events(world: World) -> None:
    flow = world.flow
    numbers = [row["n"] for row in flow.rows("SELECT event_number AS n FROM omd_event.event")]
    growing = ("omd.module_instance", "omd.batch_instance", "omd.source_control", "omd.run_input")
    growing += ("omd.event_log", "omd_event.event", "omd_lake.table_commit")
    flow.conn.execute("SET session_replication_role = replica")
    flow.conn.execute(
        "INSERT INTO omd.module_instance (module_instance_id, start_datetime, end_datetime,"
        " module_id, execution_status_code, processing_indicator, next_run_indicator)"
        " OVERRIDING SYSTEM VALUE SELECT 1000000 + n, now(), now(), 1, 'S', 'P', 'P'"
        " FROM generate_series(1, 20000) AS n;"
        "INSERT INTO omd.batch_instance (batch_instance_id, start_datetime, end_datetime,"
        " batch_id, execution_status_code, processing_indicator, next_run_indicator)"
        " OVERRIDING SYSTEM VALUE SELECT 1000000 + n, now(), now(), 1, 'S', 'P', 'P'"
        " FROM generate_series(1, 20000) AS n;"
        "INSERT INTO omd.source_control (module_instance_id, end_id, module_id)"
        " SELECT 1000000 + n, n, 1 FROM generate_series(1, 20000) AS n;"
        "INSERT INTO omd.run_input (module_instance_id, table_code)"
        " SELECT 1000000 + n, 'dwh.x' FROM generate_series(1, 20000) AS n;"
        "INSERT INTO omd_event.event (event_number, event_type, subject_type, subject_id, code,"
        " event_datetime, published_datetime, detail)"
        " SELECT 1000000 + n, 'TASK_DEAD', 'TASK', n, 'x', now(), now(), '{}'"
        " FROM generate_series(1, 20000) AS n;"
        "INSERT INTO omd_lake.table_commit (commit_id, table_code, table_format_code,"
        " sequence_number, commit_datetime, module_instance_id, operation, added_files,"
        " added_rows, removed_files, removed_rows) OVERRIDING SYSTEM VALUE"
        " SELECT 1000000 + n, 'lake.x', 'DELTA', n, now(), 1000000 + n, 'APPEND', 1, 1, 0, 0"
        " FROM generate_series(1, 20000) AS n;"
        f"ANALYZE {', '.join(growing)}"
    )
    flow.conn.execute("RESET session_replication_role")

    def scans() -> dict[str, int]:
        flow.conn.execute("SELECT pg_stat_force_next_flush()")
        rows = flow.rows(
            "SELECT relid::regclass::text AS name, seq_scan FROM pg_stat_user_tables"
            " WHERE relid = ANY(%s::regclass[])",
            list(growing),
        )
        return {row["name"]: row["seq_scan"] for row in rows}

    before = scans()
    made = flow.rows("SELECT FROM omd_event._open_lineage(%s)", numbers)
    assert len(made) == len(world.all_events())
    assert scans() == before
