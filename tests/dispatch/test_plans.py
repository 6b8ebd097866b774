"""What a claim reads depends neither on what has finished nor on when it was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Room


@pytest.mark.parametrize("analysed", [False, True], ids=["never analysed", "analysed while empty"])
def test_a_claim_reads_by_indexes_only_and_only_what_it_needs(room: Room, analysed: bool) -> None:
    room.family("F", ("CODE",))
    room.member()
    if analysed:
        room.owner("ANALYZE omd_dispatch.task_data_f, omd_dispatch.mutex")
        room.conn.execute("VACUUM omd_dispatch.task_data_f, omd_dispatch.mutex")

    def story() -> None:
        for n in range(4):
            room.create(str(n))
        assert room.complete(room.claim(1)) == []
        assert room.exchange(room.claim(1)) == []
        assert room.complete(room.claim(1), "F") == []
        room.claim()
        room.owner("DELETE FROM omd_dispatch.backend_registration")
        assert room.maintain()["reclaimed"] == 1
        room.member()
        for task in room.claim():
            assert room.complete([task]) == []
        for row in room.rows("SELECT task_id FROM omd_dispatch.mutex WHERE task_id < 1000000"):
            room.call("cancel_task", **row)

    read = (
        "SELECT (SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname LIKE 'task_data_f%%'),"
        " sum(idx_tup_read) AS entries FROM pg_stat_user_indexes"
        " WHERE relname LIKE 'task_data_f%%' OR relname = 'mutex'"
    )
    for _ in range(7):  # PostgreSQL keeps a plan from the sixth on
        story()
    room.owner(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome)"
        " SELECT n + 1000000, n %% 8, 'T', 'WORKER', 5, now() - interval '1 day', 'DONE', 1,"
        " now(), now(), 'S' FROM generate_series(1, 20000) AS n"
    )
    room.owner(
        "INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)"
        " SELECT sha256(n::text::bytea), 'F', 'T', n::text, n + 1000000"
        " FROM generate_series(1, 20000) AS n"
    )
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    (before,) = room.rows(read)
    story()
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    (after,) = room.rows(read)
    assert after["sum"] == before["sum"]
    assert after["entries"] - before["entries"] < 500
