"""A commit of lake tables: in order, fenced, once, all or none (docs/explanation/lake.md)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb

from lake.conftest import commit, delta

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from lake.conftest import Room


def announce(room: Room, instance: int | None, table: str, write: int = 1) -> str:
    folder = f"/data/{table.replace('.', '/')}/data/omd/{instance}/{write}"
    room.call(
        "announce_write",
        module_instance_id=instance,
        write_number=write,
        table_code=table,
        folder=f"{folder}/",
    )
    return folder


def test_a_commit_exchanges_the_metadata_files_and_is_recorded_with_its_run(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    folder = announce(room, instance, "lake.a")
    with room.conn.transaction():
        assert room.open(instance, "lake.b", "Lake.A") == ["b.0", "a.0"]
        ids = room.commit(
            instance,
            commit("lake.b", "b.0", 1, counts={"added_files": 2, "total_rows": None}),
            commit("LAKE.A", "a.0", 1),
        )
        room.call("omd.module_success", module_instance_id=instance, rows_inserted=20)
    assert (room.location("lake.a"), room.location("lake.b")) == ("a.1", "b.1")
    b, a = room.rows("SELECT * FROM omd_report.lake_commits ORDER BY commit_id")
    assert [b["commit_id"], a["commit_id"]] == ids
    assert (b["table_code"], b["added_files"], b["added_rows"]) == ("lake.b", 2, 0)
    assert (a["module_code"], a["execution_status_code"], a["operation"]) == ("a", "S", "APPEND")
    assert (a["snapshot_id"], a["total_rows"], b["total_rows"]) == (7 * 10**18, 10, None)
    assert a["commit_datetime"] == b["commit_datetime"]
    former = "SELECT previous_metadata_location AS p FROM omd_lake.iceberg_tables ORDER BY 1"
    assert [row["p"] for row in room.rows(former)] == ["a.0", "b.0"]
    ledger = (
        "SELECT write_number, partition_number, table_code, row_count FROM omd.write_ledger"
        " ORDER BY table_code"
    )
    assert [tuple(row.values()) for row in room.rows(ledger)] == [
        (1, 0, "lake.a", 10),
        (1, 0, "lake.b", 10),
    ]
    states = "SELECT table_code, folder, folder_state FROM omd_report.lake_folders ORDER BY 1"
    assert [tuple(row.values()) for row in room.rows(states)] == [
        ("lake.a", folder, "COMMITTED"),
        ("lake.b", None, "COMMITTED"),
    ]
    table = room.rows("SELECT * FROM omd_report.lake_tables WHERE table_code = 'lake.a'")[0]
    assert (table["table_format_code"], table["module_codes"], table["total_rows"]) == (
        "ICEBERG",
        ["a"],
        10,
    )
    assert table["metadata_location"] == "a.1"
    # Readers see the newest commit without a look into the lake.
    positions = (
        "SELECT table_code, pos, id FROM omd.source_position WHERE source_kind_code = 'LAKE'"
        " ORDER BY table_code"
    )
    assert [tuple(row.values()) for row in room.rows(positions)] == [
        ("lake.a", a["commit_datetime"], a["sequence_number"]),
        ("lake.b", b["commit_datetime"], b["sequence_number"]),
    ]


def test_a_second_call_with_the_same_writes_answers_what_the_first_did(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    with room.conn.transaction():
        room.open(instance, "lake.a", "lake.b")
        undo = commit("lake.b", "b.0", None, operation="UNDO")
        first = room.commit(instance, commit("lake.a", "a.0"), undo)
    with room.conn.transaction():
        room.open(instance, "lake.a", "lake.b")
        assert room.commit(instance, commit("lake.a", "a.0"), undo) == first
        # Another write of the run is new; some of both are a mistake.
        assert room.commit(instance, commit("lake.a", "a.1", 2)) != first
        both = commit("lake.a", "a.2", writes=[{"write_number": n, "rows": 1} for n in (2, 3)])
    problem = room.refused_commit("OM022", ["lake.a"], instance, both)
    assert "committed already, and others are not" in problem
    # A write that only the ledger knows was not committed by this room.
    room.call(
        "omd.record_write",
        module_instance_id=instance,
        write_number=9,
        partition_number=0,
        table_code="lake.a",
        row_count=1,
    )
    alone = commit("lake.a", "a.2", 9)
    assert "ledger has its write 9" in room.refused_commit("OM022", ["lake.a"], instance, alone)
    assert room.location("lake.a") == "a.2"
    assert room.one("SELECT count(*) FROM omd_lake.table_commit") == 3

    room.end_module(instance, "S")
    state = room.refused("OM101", "open_commit", module_instance_id=instance, tables=["lake.a"])
    assert state["execution_status_code"] == "S"


MALFORMED: list[Any] = [
    {"a": 1},
    [1],
    [{}],
    [{**commit("lake.a", "a.0"), "table": "a"}],
    [{**commit("lake.a", "a.0"), "table": "a.b.c.d"}],
    [{**commit("lake.a", "a.0"), "table": 'lake."a'}],
    [{**commit("lake.a", "a.0"), "table": 5}],
    [{**commit("lake.a", "a.0"), "extra": 1}],
    [{**commit("lake.a", "a.0"), "format": "PARQUET"}],
    [{**commit("lake.a", "a.0"), "format": None}],
    [{**commit("lake.a", "a.0"), "operation": "append"}],
    [{**commit("lake.a", "a.0"), "sequence_number": 1.5}],
    [{**commit("lake.a", "a.0"), "sequence_number": -1}],
    [{**commit("lake.a", "a.0"), "sequence_number": 2**63}],
    [{**commit("lake.a", "a.0"), "sequence_number": "1"}],
    [{**commit("lake.a", "a.0"), "snapshot_id": "x"}],
    [{**commit("lake.a", "a.0"), "from": None}],
    [{**commit("lake.a", "a.0"), "to": None}],
    [{**commit("lake.a", "a.0"), "to": ""}],
    [{**commit("lake.a", "a.0"), "to": "a.0"}],
    [{**commit("lake.a", "a.0"), "to": "x" * 1001}],
    [{**commit("lake.a", "a.0"), "counts": [1]}],
    [{**commit("lake.a", "a.0"), "counts": {"files": 1}}],
    [{**commit("lake.a", "a.0"), "counts": {"added_files": -1}}],
    [{**commit("lake.a", "a.0"), "writes": {"write_number": 1}}],
    [{**commit("lake.a", "a.0"), "writes": [{"write_number": 1}]}],
    [{**commit("lake.a", "a.0"), "writes": [{"write_number": 1, "rows": -1}]}],
    [{**commit("lake.a", "a.0"), "writes": [{"write_number": 1, "rows": 1, "x": 1}]}],
    [{**commit("lake.a", "a.0"), "writes": [{"write_number": 1, "rows": 1}] * 2}],
    [commit("lake.a", "a.0"), commit("lake.A", "a.0", 2)],
    [{**delta("lake.d", 1), "from": "d.0"}],
    [{**delta("lake.d", 1), "to": 1}],
    [commit("lake.b", "b.0")],
]


def test_what_is_malformed_or_was_not_opened_is_refused(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    accepted = []
    with room.conn.transaction():
        room.open(instance, "lake.a")
        for commits in MALFORMED:
            try:
                with room.conn.transaction():
                    room.call("commit_tables", module_instance_id=instance, commits=Jsonb(commits))
                accepted.append(commits)
            except psycopg.Error as error:
                assert error.sqlstate == "OM022", (commits, error)  # noqa: PT017
        assert accepted == []
        # All or nothing: the first of two is not there when the second is refused.
        with pytest.raises(psycopg.Error), room.conn.transaction():
            room.commit(instance, commit("lake.a", "a.0"), commit("lake.b", "b.0"))
        # A second call opens nothing more, or two commits could wait for each other.
        with pytest.raises(psycopg.Error, match="opened others before"), room.conn.transaction():
            room.open(instance, "lake.a", "lake.b")
        assert room.open(instance, "lake.a") == ["a.0"]
        assert room.commit(instance) == []
    # What was opened is forgotten with the transaction, also with one that was rolled back.
    with room.conn.transaction(force_rollback=True):
        room.open(instance, "lake.a")
    with pytest.raises(psycopg.Error, match="was not opened"), room.conn.transaction():
        room.commit(instance, commit("lake.a", "a.0"))
    assert room.location("lake.a") == "a.0"
    assert room.one("SELECT count(*) FROM omd_lake.table_commit") == 0


def test_a_commit_on_what_is_not_current_any_more_is_refused(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    room.append(instance, "lake.a")
    late = commit("lake.a", "a.0", 2, to="a.x")
    both = ["lake.a", "lake.b"]
    detail = room.refused_commit("OM120", both, instance, commit("lake.b", "b.0", 2), late)
    assert "'metadata_location': 'a.1'" in detail
    assert room.location("lake.b") == "b.0"
    assert room.one("SELECT count(*) FROM omd.write_ledger") == 1


def test_a_run_that_is_dead_or_has_ended_commits_nothing(room: Room) -> None:
    room.scene("a")
    dead = room.begin("a", lease=timedelta(milliseconds=10))
    room.one("SELECT pg_sleep(0.01)")
    refused = {
        "open_commit": {"module_instance_id": dead, "tables": ["lake.a"]},
        "commit_tables": {"module_instance_id": dead, "commits": Jsonb([])},
        "announce_write": {
            "module_instance_id": dead,
            "write_number": 1,
            "table_code": "lake.a",
            "folder": f"/data/lake/a/data/omd/{dead}/1",
        },
    }
    for routine, arguments in refused.items():
        room.refused("OM107", routine, **arguments)
    room.end_module(dead, "F")
    for routine, arguments in refused.items():
        room.refused("OM101", routine, **arguments)
        room.refused("OM004", routine, **{**arguments, "module_instance_id": dead + 1000})
    assert room.one("SELECT count(*) FROM omd_lake.write_folder") == 0


def test_only_read_committed_sees_what_others_have_just_committed(room: Room) -> None:
    room.scene("a")
    instance = room.begin("a")
    room.conn.execute("SET default_transaction_isolation = 'repeatable read'")
    room.refused("OM014", "open_commit", module_instance_id=instance, tables=["lake.a"])
    room.refused("OM014", "commit_tables", module_instance_id=instance, commits=Jsonb([]))


def test_two_commits_of_the_same_tables_are_made_one_after_the_other(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Room, Future[Any]], None],
) -> None:
    room.scene("a", "b")
    first, second, heart = room.begin("a"), room.begin("b"), another()
    other = another()
    with room.conn.transaction():
        assert room.open(first, "lake.a", "lake.b") == ["a.0", "b.0"]
        # The other one names them the other way round, and waits instead of deadlocking.
        waiting = background(other.append, second, "lake.b", "lake.a")
        until_settled(other, waiting)
        assert not waiting.done()
        heart.call(
            "omd.heartbeat", module_instance_id=first, lease=timedelta(minutes=1)
        )  # it locks no instance
        ids = room.commit(first, commit("lake.a", "a.0"), commit("lake.b", "b.0"))
        room.call("omd.module_success", module_instance_id=first)
    assert waiting.result(30) > ids
    assert (room.location("lake.a"), room.location("lake.b")) == ("a.2", "b.2")
    times = [
        row["t"]
        for row in room.rows(
            "SELECT DISTINCT commit_datetime AS t FROM omd_lake.table_commit ORDER BY 1"
        )
    ]
    assert len(times) == 2

    # The same for Delta tables, whose names are locked before their logs are extended.
    third = room.begin("a")
    log = [0]

    def extend(room: Room, instance: int, write: int, *tables: str) -> None:
        room.call("lock_tables", tables=list(tables))
        log.append(log[-1] + 1)
        room.commit(instance, *(delta(table, log[-1], write) for table in tables))

    def later() -> None:
        with other.conn.transaction():
            extend(other, second, 2, "lake.e", "Lake.D")

    with room.conn.transaction():
        room.call("lock_tables", tables=["lake.d", "lake.e"])
        waiting = background(later)
        until_settled(other, waiting)
        heart.call("omd.heartbeat", module_instance_id=second, lease=timedelta(minutes=1))
        extend(room, third, 1, "lake.d", "lake.e")
    waiting.result(30)
    versions = "SELECT sequence_number AS n FROM omd_lake.table_commit WHERE table_code = 'lake.d'"
    assert [r["n"] for r in room.rows(f"{versions} ORDER BY commit_datetime")] == [1, 2]


def test_a_stranger_can_not_stop_the_commits_of_a_table_by_a_lock_that_anybody_can_compute(
    room: Room, another: Callable[..., Room]
) -> None:
    room.scene("a")
    reader = another(role="omd_reader")
    reader.conn.execute(
        "SELECT pg_advisory_lock(hashtextextended('omd_lake.table_commit lake.d', 0))"
    )
    with pytest.raises(InsufficientPrivilege):
        reader.conn.execute("SELECT FROM omd_lake.table_name FOR KEY SHARE")
    with pytest.raises(InsufficientPrivilege), reader.conn.transaction():
        reader.conn.execute("LOCK TABLE omd_lake.table_name IN EXCLUSIVE MODE")
    instance = room.begin("a")
    for version in (1, 2):
        with room.conn.transaction():
            room.conn.execute("SET LOCAL lock_timeout = '2s'")
            room.call("lock_tables", tables=["lake.d"])
            room.commit(instance, delta("lake.d", version, version))
    assert room.one("SELECT table_code FROM omd_lake.table_name") == "lake.d"


def test_commits_of_eight_sessions_are_all_made_and_none_is_staged_twice(
    room: Room, another: Callable[..., Room], background: Callable[..., Future[Any]]
) -> None:
    room.scene("a", "b", *(f"m{n}" for n in range(8)))

    def commits(number: int) -> None:
        session, tables = another(), ["lake.a", "lake.b"]
        for write in range(5):
            instance = session.begin(f"m{number}")
            tables.reverse()
            session.append(instance, *tables, write=write)
            session.end_module(instance, "S")

    for future in [background(commits, number) for number in range(8)]:
        future.result(60)
    assert (room.location("lake.a"), room.location("lake.b")) == ("a.40", "b.40")
    # The times of a table are in the order of its commits, and those of a transaction are one.
    log = (
        "SELECT array_agg(sequence_number ORDER BY commit_datetime) AS numbers,"
        " array_agg(DISTINCT commit_datetime ORDER BY commit_datetime) AS times"
        " FROM omd_lake.table_commit GROUP BY table_code"
    )
    one, other = room.rows(log)
    assert one == other
    assert one["numbers"] == list(range(1, 41))
    assert len(one["times"]) == 40


def test_a_killed_commit_leaves_nothing(room: Room, another: Callable[..., Room]) -> None:
    room.scene("a")
    instance = room.begin("a")
    other = another()
    other.conn.execute("BEGIN")
    other.open(instance, "lake.a")
    other.commit(instance, commit("lake.a", "a.0"))
    other.call("omd.module_success", module_instance_id=instance)
    room.conn.execute("SELECT pg_terminate_backend(%s, 10000)", [other.conn.info.backend_pid])
    assert room.location("lake.a") == "a.0"
    assert room.codes(module=instance) == "E P P"
    assert room.append(instance, "lake.a") != []


def test_the_times_of_a_table_never_go_back(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    room.append(instance, "lake.a")
    room.owner("UPDATE omd_lake.table_commit SET commit_datetime = now() + interval '1 hour'")
    room.append(instance, "lake.a", "lake.b", write=2)
    times = room.rows("SELECT commit_datetime AS t FROM omd_lake.table_commit ORDER BY commit_id")
    assert times[0]["t"] < times[1]["t"] == times[2]["t"]
    # Two calls in one transaction are one moment too.
    with room.conn.transaction():
        room.open(instance, "lake.a", "lake.b")
        room.commit(instance, commit("lake.a", "a.2", 4))
        room.commit(instance, commit("lake.b", "b.1", 4))
        room.commit(instance, commit("lake.a", "a.3", 5))
    times = room.rows("SELECT commit_datetime AS t FROM omd_lake.table_commit ORDER BY commit_id")
    assert times[2]["t"] < times[3]["t"] == times[4]["t"] == times[5]["t"]
    # What somebody sets is not believed.
    with room.conn.transaction():
        room.conn.execute("SET LOCAL omd_lake.commit_time = '2099-01-01 00:00:00+00'")
        room.open(instance, "lake.b")
        room.commit(instance, commit("lake.b", "b.2", 3))
    newest = room.one("SELECT max(commit_datetime) < '2098-01-01' FROM omd_lake.table_commit")
    assert newest is True


def test_another_engine_commits_beside_and_none_is_lost(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Room, Future[Any]], None],
) -> None:
    room.scene("a")
    instance = room.begin("a")
    engine = another()
    swap = (
        b"UPDATE omd_lake.iceberg_tables SET metadata_location = 'a.x'"
        b" WHERE catalog_name = 'omd' AND table_namespace = 'lake' AND table_name = 'a'"
        b" AND metadata_location = 'a.0'"
    )
    with room.conn.transaction():
        room.open(instance, "lake.a")
        lost = background(engine.conn.execute, swap)
        until_settled(engine, lost)
        room.commit(instance, commit("lake.a", "a.0"))
    assert lost.result(30).rowcount == 0
    assert engine.conn.execute(swap.replace(b"'a.0'", b"'a.1'")).rowcount == 1
    with room.conn.transaction():
        assert room.open(instance, "lake.a") == ["a.x"]


def test_a_rollback_is_confirmed_and_committed_in_one_transaction(room: Room) -> None:
    room.scene("a", "b")
    failed = room.begin("a")
    folder = announce(room, failed, "lake.b", 2)
    room.append(failed, "lake.a")
    room.end_module(failed, "F")
    begun = room.call("omd.begin_module", module_code="a")
    assert (begun["processing_indicator"], begun["instance_array"]) == ("R", [failed])
    instance = begun["module_instance_id"]
    statements = room.rows("SELECT statement FROM omd.build_rollback_sql(%s)", instance)
    (statement,) = [row["statement"] for row in statements]
    assert statement.startswith("-- A step of the driver, no SQL: ")
    assert f"takes back Module Instances {failed}." in statement
    assert statement.endswith(". Start its job again.")
    room.conn.execute(statement.encode())  # it does nothing
    announce(room, instance, "lake.a", 3)  # files that are rewritten without the rows
    abandoned = (
        "SELECT folder FROM omd_report.lake_folders"
        " WHERE folder_state = 'ABANDONED' AND module_instance_id = ANY(%s)"
    )
    assert [row["folder"] for row in room.rows(abandoned, [failed])] == [folder]
    with room.conn.transaction():
        room.open(instance, "lake.a")
        undo = commit("lake.a", "a.1", 3, operation="UNDO")
        with pytest.raises(psycopg.Error), room.conn.transaction():
            room.commit(instance, undo)  # the run may not write yet
        room.call("omd.confirm_rollback", module_instance_id=instance)
        room.commit(instance, undo)
    room.call(
        "record_folder_removal", module_instance_id=failed, write_number=2, table_code="lake.b"
    )
    assert room.rows(abandoned, [failed]) == []
    assert room.codes(module=instance) == "E P P"
    log = "SELECT operation, rolled_back_by_module_instance_id FROM omd_report.lake_commits"
    assert [tuple(row.values()) for row in room.rows(f"{log} ORDER BY commit_id")] == [
        ("APPEND", instance),
        ("UNDO", None),
    ]


def test_a_rollback_that_nobody_has_executed_is_not_believed(room: Room) -> None:
    room.scene("a", "b")
    room.module("d", table_format_code="DELTA")
    room.module("e", table_code="other.lake.e")
    for module, changed in (
        ("a", {}),
        ("d", {"format": "DELTA", "from": None, "to": None}),
        ("e", {"from": None, "to": "e.1"}),
    ):
        table = "other.lake.e" if module == "e" else f"lake.{module}"
        failed = room.begin(module)
        if module == "a":
            room.append(failed, "lake.a", "lake.b")
        else:
            room.commit(failed, commit(table, "x.0", failed, **changed))
        room.end_module(failed, "F")
        begun = room.call("omd.begin_module", module_code=module)
        instance = begun["module_instance_id"]
        detail = room.refused("OM112", "omd.confirm_rollback", module_instance_id=instance)
        tables = "lake.a, lake.b" if module == "a" else table
        assert (detail["table_code"], detail["module_code"]) == (tables, module)
        assert detail["module_instance_ids"] == [failed]
        assert room.codes(module=instance) == "E R P"
        # The driver locks, confirms, and commits if there is anything left.
        with room.conn.transaction():
            if module == "a":
                room.open(instance, "lake.a", "lake.b")
            else:
                room.call("lock_tables", tables=[table])
            room.call("omd.confirm_rollback", module_instance_id=instance)
        assert room.codes(module=instance) == "E P P"


def test_what_the_ledger_has_is_confirmed_and_so_is_what_is_gone(room: Room) -> None:
    room.scene("a")
    failed = room.begin("a")
    room.append(failed, "lake.a")
    room.end_module(failed, "F")
    died = room.call("omd.begin_module", module_code="a")["module_instance_id"]
    with pytest.raises(psycopg.Error):
        room.call("omd.confirm_rollback", module_instance_id=died)
    room.owner(
        "INSERT INTO omd_lake.table_commit (table_code, table_format_code, sequence_number,"
        " commit_datetime, module_instance_id, operation, added_files, added_rows, removed_files,"
        " removed_rows) VALUES ('lake.a', 'ICEBERG', 2, now(), %s, 'UNDO', 0, 0, 1, 10)",
        died,
    )
    room.end_module(died, "F")
    again = room.call("omd.begin_module", module_code="a")["module_instance_id"]
    room.call("omd.confirm_rollback", module_instance_id=again)
    room.append(again, "lake.a", write=2)
    room.end_module(again, "F")
    room.owner("DELETE FROM omd_lake.iceberg_tables")  # it was dropped
    last = room.call("omd.begin_module", module_code="a")["module_instance_id"]
    room.call("omd.confirm_rollback", module_instance_id=last)


def test_a_folder_is_removed_only_after_a_run_that_has_not_committed_it(room: Room) -> None:
    room.scene("a")
    instance = room.begin("a")
    announce(room, instance, "lake.a")
    announce(room, instance, "lake.a")  # again
    key = {"module_instance_id": instance, "write_number": 1, "table_code": "lake.a"}
    room.refused("OM121", "record_folder_removal", **key)
    room.refused("OM013", "record_folder_removal", **{**key, "write_number": 5})
    for folder in (
        "/data/lake/a",
        f"/data/lake/a/data/omd/{instance}/2",
        f"/data/other/data/omd/{instance}/1",
    ):
        room.refused("OM013", "announce_write", **key, folder=folder)
    announce(room, instance, "lake.a", 2)
    room.append(instance, "lake.a", write=2)
    room.end_module(instance, "F")
    room.refused("OM121", "record_folder_removal", **{**key, "write_number": 2})
    for _ in range(2):
        room.call("record_folder_removal", **key)
    states = "SELECT folder_state AS s FROM omd_report.lake_folders ORDER BY write_number"
    assert [row["s"] for row in room.rows(states)] == ["REMOVED", "COMMITTED"]
    # A write whose files are gone can't be committed, whatever the run is.
    begun = room.call("omd.begin_module", module_code="a")
    with room.conn.transaction():
        room.open(begun["module_instance_id"], "lake.a")
        room.call("omd.confirm_rollback", module_instance_id=begun["module_instance_id"])
    room.owner(
        "UPDATE omd_lake.write_folder SET module_instance_id = %s WHERE write_number = 1",
        begun["module_instance_id"],
    )
    with pytest.raises(psycopg.Error, match="its write 1 were removed"):
        room.append(begun["module_instance_id"], "lake.a", write=1)


def test_a_commit_without_a_run_is_the_administrator_s(
    room: Room, another: Callable[..., Room]
) -> None:
    room.scene("a")
    instance = room.begin("a")
    runner, admin, reader = (another(role=f"omd_{r}") for r in ("runner", "admin", "reader"))
    with pytest.raises(InsufficientPrivilege):
        runner.append(None, "lake.a", write=None)
    with pytest.raises(InsufficientPrivilege):
        runner.commit(None, delta("lake.d", 1, None))
    with pytest.raises(psycopg.Error) as caught:
        admin.append(None, "lake.a", write=1)
    assert caught.value.sqlstate == "OM022"
    admin.append(None, "lake.a", write=None, operation="SCHEMA")
    runner.append(instance, "lake.a")
    for session in (runner, reader):
        with pytest.raises(InsufficientPrivilege):
            session.call("register_table", table_code="lake.r", metadata_location="r.0")
        with pytest.raises(InsufficientPrivilege):
            session.call("register_namespace", namespace="x", location="/x")
        assert session.location("lake.a") == "a.2"
        session.conn.execute("SET search_path = omd_lake")  # as engines do
        engine = "SELECT metadata_location AS m FROM iceberg_tables WHERE table_name = 'a'"
        assert session.one(engine) == "a.2"
        with pytest.raises(InsufficientPrivilege):
            session.conn.execute("UPDATE iceberg_tables SET metadata_location = 'x'")
    with pytest.raises(InsufficientPrivilege):
        reader.call("open_commit", module_instance_id=instance, tables=["lake.a"])


def test_what_is_abandoned_is_found_without_a_look_at_what_was_committed(room: Room) -> None:
    room.owner(
        "INSERT INTO omd_lake.table_commit OVERRIDING SYSTEM VALUE"
        " SELECT i, 'lake.a', 'DELTA', i, NULL, now(), i, 'APPEND', 0, 0, 0, 0"
        " FROM generate_series(1, 5000) AS i"
    )
    room.owner(
        "INSERT INTO omd_lake.write_folder"
        " SELECT i, 1, 'lake.a', '/x/' || i, now(), NULL, nullif(i, 5000)"
        " FROM generate_series(1, 5000) AS i"
    )
    room.conn.execute("ANALYZE omd_lake.write_folder, omd_lake.table_commit")
    found = "SELECT folder FROM omd_report.lake_folders WHERE folder_state = 'ABANDONED'"
    assert [row["folder"] for row in room.rows(found)] == ["/x/5000"]
    plan = str(room.rows(f"EXPLAIN {found}"))
    assert "ix_write_folder_open" in plan
    assert "Seq Scan on write_folder" not in plan
