"""A database that was moved or copied waits for an administrator; a copy gets its own identity."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from support.flow import Flow
from support.programs import BIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

MILLION = 1_000_000
COPIED = "UPDATE omd.installation SET database_oid = 1"
MOVED = (
    "UPDATE omd.installation SET system_identifier = system_identifier - 1,"
    " server_start = server_start - interval '1 day'"
)


def changes(flow: Flow) -> list[tuple[Any, ...]]:
    rows = flow.rows(
        "SELECT kind, ids_skipped, confirmed_as, reason FROM omd_report.server_changes"
        " ORDER BY server_change_id"
    )
    return [tuple(row.values()) for row in rows]


def is_known(flow: Flow) -> bool:
    known: bool = flow.one("SELECT is_known FROM omd_report.server")
    if known:
        flow.conn.execute("SELECT omd.require_known_server()")
    else:
        with pytest.raises(psycopg.Error) as caught:
            flow.conn.execute("SELECT omd.require_known_server()")
        assert caught.value.sqlstate == "OM109"
        assert "omd call confirm_server" in str(caught.value.diag.message_hint)
    return known


def confirm(flow: Flow, word: str, reason: str | None = "why") -> None:
    flow.call("confirm_server", **{"as": word}, reason=reason)


@pytest.fixture
def scene(dsn: str, flow: Flow) -> Flow:
    """A database with a schedule, a backend, a namespace with a table, and a run."""
    flow.module()
    flow.run_module()
    return flow


# A database that is found elsewhere -----------------------------------------------------------


@pytest.mark.parametrize("change", [COPIED, MOVED])
def test_workers_wait_and_begins_go_on(scene: Flow, change: str) -> None:
    scene.owner(change)
    assert not is_known(scene)  # also before anybody has settled it
    assert scene.run_module() > 0
    scene.call("settle_server")
    assert not is_known(scene)
    scene.refused("OM109", "omd_dispatch.register_backend", backend_type="G", backend_id="w")
    confirm(scene, "moved", "new hardware")
    assert is_known(scene)
    scene.call("omd_dispatch.register_backend", backend_type="G", backend_id="w")
    kind, skipped = ("MOVED", MILLION) if change == MOVED else ("COPIED", None)
    assert changes(scene) == [(kind, skipped, "MOVED", "new hardware")]


def test_a_failover_waits_only_where_that_is_wanted(scene: Flow) -> None:
    failover = "UPDATE omd.installation SET timeline_id = timeline_id - 1"
    scene.owner(failover)
    assert is_known(scene)
    scene.run_module()
    assert is_known(scene)
    scene.conn.execute("SET ROLE omd_admin")
    scene.conn.execute("UPDATE omd.installation SET on_failover = 'ASK'")
    scene.conn.execute("RESET ROLE")
    assert is_known(scene)  # that one went on
    assert (
        scene.one("SELECT count(*) FROM omd.event_log WHERE event_detail LIKE '%%on_failover%%'")
        == 1
    )
    scene.owner(failover)
    assert not is_known(scene)
    scene.run_module()
    assert not is_known(scene)
    confirm(scene, "MOVED")
    assert is_known(scene)
    assert [change[2] for change in changes(scene)] == [None, "MOVED"]
    with pytest.raises(psycopg.errors.CheckViolation):
        scene.owner("UPDATE omd.installation SET on_failover = 'NEVER'")


def test_nothing_to_confirm_is_no_error(scene: Flow) -> None:
    before = scene.one("SELECT installation_id FROM omd.installation")
    confirm(scene, "moved", None)
    assert changes(scene) == []
    assert scene.one("SELECT installation_id FROM omd.installation") == before


def test_what_is_no_such_word_is_refused(scene: Flow) -> None:
    for wrong in ("", "restored", "moved ", "COPIED"):
        scene.refused("OM013", "confirm_server", **{"as": wrong})
    scene.refused("OM005", "confirm_server", **{"as": None})


@pytest.mark.parametrize("word", ["moved", "copy"])
def test_of_two_confirmations_one_waits_and_none_fails(
    scene: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
    word: str,
) -> None:
    scene.owner(MOVED)
    first, second, third = another(), another(), another()
    with first.conn.transaction():
        confirm(first, "moved", "first")
        waiting = background(confirm, second, word, "second")
        until_settled(second, waiting)
        begun = background(third.begin_module)
        until_settled(third, begun)
        assert not waiting.done()
        assert not begun.done()
    waiting.result(timeout=10)
    assert begun.result(timeout=10).id > MILLION
    assert [change[2:] for change in changes(scene)] == [
        ("MOVED", "first"),
        *([("COPY", "second")] if word == "copy" else []),
    ]


# Real copies ----------------------------------------------------------------------------------


@pytest.fixture
def pair(
    server: str,
    new_database: Callable[[], AbstractContextManager[str]],
    another: Callable[..., Flow],
) -> Iterator[Callable[[str], tuple[Flow, Flow]]]:
    """A function that returns a database and its copy: by TEMPLATE, or by DUMP and restore."""
    with new_database() as dsn:
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
            flow = Flow(conn)
            conn.execute("CREATE SCHEMA dwh")
            flow.module()
            flow.run_module()
            flow.call("settle_server")
        name = str(conninfo_to_dict(dsn)["dbname"])
        copied = make_conninfo(dsn, dbname=f"{name}_copy")

        def copy(way: str) -> tuple[Flow, Flow]:
            template = name if way == "TEMPLATE" else "template0"
            with psycopg.connect(server, autocommit=True) as maintenance:
                maintenance.execute(
                    sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                        sql.Identifier(f"{name}_copy"), sql.Identifier(template)
                    )
                )
            if way == "DUMP":
                # Parents come before partitions there, whatever the version of the server.
                dumped = subprocess.run([BIN / "pg_dump", dsn], check=True, capture_output=True)
                subprocess.run(
                    [BIN / "psql", "--no-psqlrc", "-q", "-v", "ON_ERROR_STOP=1", copied],
                    check=True,
                    input=dumped.stdout,
                    capture_output=True,
                )
            return another(dsn=dsn), another(dsn=copied)

        yield copy
        with psycopg.connect(server, autocommit=True) as maintenance:
            maintenance.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                    sql.Identifier(f"{name}_copy")
                )
            )


def test_a_copy_by_template_is_noticed_by_its_oid(
    pair: Callable[[str], tuple[Flow, Flow]],
) -> None:
    """It lacks nothing that the original had, so its numbers go on."""
    original, copy = pair("TEMPLATE")
    assert is_known(original)
    assert not is_known(copy)
    run = copy.run_module()
    assert original.run_module() == run
    copy.refused("OM109", "omd_dispatch.register_backend", backend_type="G", backend_id="w")
    confirm(copy, "moved")
    assert is_known(copy)
    assert changes(copy) == [("COPIED", None, "MOVED", "why")]
    assert copy.run_module() == run + 1
    assert is_known(original)
    assert changes(original) == []


def test_a_dump_that_is_restored_on_the_same_server_gives_no_id_again(
    pair: Callable[[str], tuple[Flow, Flow]],
) -> None:
    """The server is the same, and yet the tables are of an earlier time."""
    original, restored = pair("DUMP")
    given = original.run_module()
    assert restored.run_module() == given + MILLION
    assert not is_known(restored)
    confirm(restored, "moved")
    assert changes(restored) == [("COPIED", MILLION, "MOVED", "why")]
    assert restored.run_module() == given + MILLION + 1


def test_a_confirmation_passes_over_the_ids_too(
    pair: Callable[[str], tuple[Flow, Flow]],
) -> None:
    original, restored = pair("DUMP")
    given = original.run_module()
    confirm(restored, "moved")
    assert restored.run_module() == given + MILLION


# A copy ---------------------------------------------------------------------------------------


def test_a_copy_gets_its_own_identity_and_begins_nothing_by_itself(
    new_database: Callable[[], AbstractContextManager[str]], another: Callable[..., Flow]
) -> None:
    with new_database() as dsn:
        flow = another(dsn=dsn)
        dispatch = "omd_dispatch."
        flow.call(f"{dispatch}register_family", family_code="F", key_criteria=[])
        flow.call(
            f"{dispatch}register_task_type",
            family_code="F", task_type="T", handler="PYTHON", target="m:f",
        )  # fmt: skip
        flow.call(
            f"{dispatch}register_schedule",
            schedule_code="S", family_code="F", task_type="T", every="1 hour",
        )  # fmt: skip
        flow.call(f"{dispatch}register_backend", backend_type="WORKER", backend_id="w")
        task = flow.call(f"{dispatch}create_task", family_code="F", task_type="T")["task_id"]
        (claimed,) = flow.rows("SELECT * FROM omd_dispatch.claim_tasks('w')")
        assert claimed["task_id"] == task
        before = flow.one("SELECT installation_id FROM omd.installation")
        confirm(flow, "copy")
        assert flow.one("SELECT installation_id FROM omd.installation") != before
        assert flow.one("SELECT is_copy FROM omd_report.server")
        assert is_known(flow)
        assert changes(flow) == [("COPIED", None, "COPY", "why")]
        query = "SELECT inactive_indicator FROM omd_dispatch.task_schedule WHERE schedule_code = %s"
        assert flow.one(query, "S") == "Y"
        assert flow.one("SELECT count(*) FROM omd_dispatch.backend_registration") == 0
        # The worker of the original ends its task there; here another one takes it.
        flow.call(f"{dispatch}register_backend", backend_type="WORKER", backend_id="v")
        flow.call(f"{dispatch}maintain")
        (taken,) = flow.rows("SELECT * FROM omd_dispatch.claim_tasks('v')")
        assert taken["task_id"] == task
        again = flow.one("SELECT installation_id FROM omd.installation")
        confirm(flow, "copy", "once more")
        assert flow.one("SELECT installation_id FROM omd.installation") != again


def test_a_copy_writes_into_no_lake_of_the_original(scene: Flow) -> None:
    lake = "omd_lake."
    flow = scene
    flow.call(f"{lake}register_namespace", namespace="lake", location="/data/lake")
    flow.call(f"{lake}register_namespace", namespace="empty", location="/data/empty")
    flow.call(
        f"{lake}register_table",
        table_code="lake.t", metadata_location="/data/lake/t/metadata/0.json",
    )  # fmt: skip
    module = {"area_code": "HSTG", "table_type_code": "HSTG", "platform_code": "SPARK"}
    flow.module("m_lake", table_code="lake.t", table_format_code="ICEBERG", **module)
    flow.module("m_new", table_code="empty.t", table_format_code="ICEBERG", **module)
    run, new = flow.begin_module("m_lake").id, flow.begin_module("m_new").id
    write = "SELECT folder FROM omd_lake.begin_write(%s, %s, 'ICEBERG')"
    assert flow.one(write, run, "lake.t").startswith("/data/lake/t/data/omd/")
    confirm(flow, "copy")

    def closed(table: str, instance: int) -> None:
        with pytest.raises(psycopg.Error) as caught:
            flow.one(write, instance, table)
        assert caught.value.sqlstate == "OM110"
        assert "register_namespace" in str(caught.value.diag.message_hint)
        flow.refused("OM110", f"{lake}open_commit", module_instance_id=instance, tables=[table])
        flow.refused("OM110", f"{lake}lock_tables", tables=[table])

    closed("lake.t", run)
    closed("empty.t", new)
    # It deletes nothing there either.
    folder = f"/data/lake/t/data/omd/{run}/1"
    assert "copy" in flow.one("SELECT omd_lake.folder_problem(%s, 1, 'lake.t', %s)", run, folder)
    # Reading goes on.
    found = flow.rows("SELECT * FROM omd_lake.find_table('lake.t')")
    assert found[0]["metadata_location"] == "/data/lake/t/metadata/0.json"

    for wrong in ("/data/lake", "/data/lake/inside", "/data", "file:/data/empty/x"):
        if wrong != "/data/lake":
            flow.refused("OM013", f"{lake}register_namespace", namespace="lake", location=wrong)
    flow.call(f"{lake}register_namespace", namespace="lake", location="/data/lake")
    closed("lake.t", run)
    flow.call(f"{lake}register_namespace", namespace="empty", location="/copy/empty")
    assert flow.one(write, new, "empty.t").startswith("/copy/empty/t/data/omd/")
    # The files of a table that was there stay where they are, until it has others.
    flow.call(f"{lake}register_namespace", namespace="lake", location="/copy/lake")
    closed("lake.t", run)
    flow.refused(
        "OM013", f"{lake}register_table",
        table_code="lake.t", metadata_location="/data/lake/t/metadata/1.json",
    )  # fmt: skip
    assert flow.call(
        f"{lake}register_table",
        table_code="lake.t", metadata_location="/copy/lake/t/metadata/0.json",
    )["is_new"]  # fmt: skip
    assert flow.one(write, run, "lake.t").startswith("/copy/lake/t/data/omd/")


def test_a_move_closes_nothing(scene: Flow) -> None:
    scene.call("omd_lake.register_namespace", namespace="lake", location="/data/lake")
    scene.owner(MOVED)
    confirm(scene, "moved")
    assert scene.one("SELECT count(*) FROM omd_lake.closed_location") == 0
    assert not scene.one("SELECT is_copy FROM omd_report.server")


# Commands -------------------------------------------------------------------------------------


def test_the_commands_show_and_confirm(
    scene: Flow, dsn: str, omd_here: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    import csv
    import io
    import json

    def shown(*arguments: str) -> Any:
        done = omd_here(*arguments, "--output", "json", dsn=dsn)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (server,) = shown("report", "server")
    assert server["is_known"] is True
    assert server["is_standby"] is False
    assert server["installation_id"] == str(
        scene.one("SELECT installation_id FROM omd.installation")
    )
    assert shown("report", "server_changes") == []
    scene.owner(MOVED)
    assert shown("report", "server")[0]["is_known"] is False
    assert shown("report", "server_changes")[0]["kind"] == "MOVED"
    for program in (
        ["worker", "--kind", "TOPIC", "--once"],
        ["worker", "--kind", "FACTS"],
        ["worker", "--until-quiet"],
    ):
        done = omd_here(*program, dsn=dsn)
        assert done.returncode == 1, program
        assert "omd call confirm_server --as MOVED" in done.stderr
    confirm = ("call", "confirm_server", "--as")
    assert omd_here(*confirm, "GONE", "--reason", "x", dsn=dsn).returncode == 1
    done = omd_here(*confirm, "MOVED", "--reason", "new hardware", dsn=dsn)
    assert (done.returncode, done.stdout) == (0, "")
    assert changes(scene) == [("MOVED", MILLION, "MOVED", "new hardware")]
    assert omd_here("worker", "--kind", "TOPIC", "--once", dsn=dsn).returncode == 0
    footprint = shown("report", "footprint")
    assert {"schema_name", "table_name", "row_estimate", "table_bytes", "index_bytes"} == set(
        footprint[0]
    )
    table = omd_here("report", "footprint", "--output", "csv", dsn=dsn)
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert len(rows) == len(footprint)
    sizes = [r["table_bytes"] + r["index_bytes"] for r in footprint]
    assert sizes == sorted(sizes, reverse=True)


# The installation -----------------------------------------------------------------------------


def test_an_installation_knows_its_server_from_the_start(
    empty_dsn: str, another: Callable[..., Flow]
) -> None:
    import omd.programs.install

    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        omd.programs.install.install(conn)
        flow = another(dsn=empty_dsn)
        (row,) = flow.rows("SELECT * FROM omd_report.server")
        for name in ("system_identifier", "database_oid", "timeline_id", "server_start"):
            assert row[name] is not None
            assert row[name] == row[f"present_{name}"]
        assert row["product_version"] == omd.programs.install.product_version()
        assert row["is_known"]
        # The next one compares.
        flow.owner("UPDATE omd.installation SET timeline_id = timeline_id - 1")
        omd.programs.install.install(conn)
        assert changes(flow) == [("FAILOVER", MILLION, None, None)]
