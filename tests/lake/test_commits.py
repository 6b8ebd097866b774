"""A commit of lake tables: in order, fenced, once, all or none (rules I3 to I6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lake.conftest import commit

if TYPE_CHECKING:

    from lake.conftest import Room


def test_a_commit_exchanges_the_metadata_files_and_is_recorded_with_its_run(room: Room) -> None:
    room.scene("a", "b")
    instance = room.begin("a")
    room.call(
        "announce_write",
        module_instance_id=instance,
        write_number=1,
        table_code="lake.a",
        folder=f"/data/lake/a/data/omd/{instance}/1/",
    )
    with room.conn.transaction():
        assert room.open(instance, "lake.b", "Lake.A") == ["b.0", "a.0"]
        ids = room.commit(
            instance,
            commit("lake.b", "b.0", 1, counts={"added_files": 2, "total_rows": None}),
            commit("LAKE.A", "a.0", 1),
        )
        room.call("omd.module_success", module_instance_id=instance, rows_inserted=20)
    assert room.location("lake.a") == "a.1"
    assert room.location("lake.b") == "b.1"
    b, a = room.rows("SELECT * FROM omd_report.lake_commits ORDER BY commit_id")
    assert [b["commit_id"], a["commit_id"]] == ids
    assert (b["table_code"], b["added_files"], b["added_rows"]) == ("lake.b", 2, 0)
    assert (a["module_code"], a["execution_status_code"], a["operation"]) == ("a", "S", "APPEND")
    assert (a["snapshot_id"], a["total_rows"], b["total_rows"]) == (7 * 10**18, 10, None)
    assert a["commit_datetime"] == b["commit_datetime"]
    assert room.one("SELECT previous_metadata_location FROM omd_lake.iceberg_tables LIMIT 1")
    assert room.rows(
        "SELECT write_number, partition_number, table_code, row_count FROM omd.write_ledger"
        " ORDER BY table_code"
    ) == [
        {"write_number": 1, "partition_number": 0, "table_code": f"lake.{t}", "row_count": 10}
        for t in "ab"
    ]
    states = "SELECT table_code, folder, folder_state FROM omd_report.lake_folders ORDER BY 1"
    assert [list(row.values()) for row in room.rows(states)] == [
        ["lake.a", f"/data/lake/a/data/omd/{instance}/1", "COMMITTED"],
        ["lake.b", None, "COMMITTED"],
    ]
