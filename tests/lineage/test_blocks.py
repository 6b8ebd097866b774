"""Blocks: which rows of the base table a step takes, and that none is lost or taken twice."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from support.scene import FIRST, LEAST_ID, Scene, at

MINUTE = timedelta(minutes=1)


def block(scene: Scene, topic: str = "dwh.f") -> dict[str, Any]:
    """The recorded load window of the last step."""
    return scene.rows(
        "SELECT sc.start_value, sc.start_id, sc.end_value, sc.end_id"
        " FROM omd.source_control AS sc INNER JOIN omd_lineage.topic AS t USING (module_id)"
        " WHERE t.topic = %s ORDER BY module_instance_id DESC",
        topic,
    )[0]


# Bounds


def test_the_first_block_begins_before_all_rows(scene: Scene) -> None:
    scene.source("dwh.src", -(60 * 24 * 365 * 2000), 1, 2)
    scene.topic()
    plan = scene.plan()
    assert (plan["start_pos"], plan["start_id"]) == (FIRST, LEAST_ID)
    assert (plan["end_pos"], plan["end_id"], plan["row_count"]) == (at(1), 1, 2)
    assert scene.step().rows == 2


def test_the_first_block_begins_after_the_start_that_is_given(scene: Scene) -> None:
    scene.source("dwh.src", (1, 1), (2, 1), (2, 2), (2, 3), 3, 4)
    scene.topic(start_pos=at(2), start_id=2)
    assert scene.steps() == [2]
    assert scene.rows("SELECT pos, id FROM dwh.f ORDER BY pos, id") == [
        {"pos": at(2), "id": 3},
        {"pos": at(3), "id": 3},
    ]


def test_a_start_without_id_takes_every_row_of_that_time(scene: Scene) -> None:
    scene.source("dwh.src", 1, (2, -5), (2, 5), 3)
    scene.topic(start_pos=at(2))
    assert scene.steps() == [2]


def test_upto_is_exclusive(scene: Scene) -> None:
    """More rows of the newest time may still arrive."""
    scene.source("dwh.src", 1, (2, 1), (2, 2))
    scene.topic()
    assert scene.steps() == [1]
    scene.insert((2, 3), 3)
    assert scene.steps() == [3]
    assert scene.ids() == [1, 1, 2, 3]


def test_a_block_holds_maxstep_rows_at_most(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 12))
    scene.topic(maxstep=4)
    for rows, is_full, end in ((4, True, 4), (4, True, 8), (2, False, 10)):
        plan = scene.plan()
        assert (plan["row_count"], plan["is_full"], plan["end_pos"]) == (rows, is_full, at(end))
        step = scene.step()
        assert step.rows == rows
        assert (block(scene)["end_value"], block(scene)["end_id"]) == (at(end), end)
        offset = scene.offset()
        assert (offset["rows"], offset["is_full"], tuple(offset["last"])) == (
            rows,
            is_full,
            (at(end), end),
        )
    assert scene.ids() == list(range(1, 11))


def test_rows_of_one_time_are_told_apart_by_their_id(scene: Scene) -> None:
    scene.source("dwh.src", *((1, i) for i in range(1, 8)), 2)
    scene.topic(maxstep=3)
    assert scene.steps() == [3, 3, 1]
    assert scene.ids() == list(range(1, 8))


def test_rows_in_one_place_are_never_cut(scene: Scene) -> None:
    scene.source("dwh.src", (1, 1), *[(2, 7)] * 6, (3, 1), 4)
    scene.topic(maxstep=3)
    assert scene.plan()["row_count"] == 7
    assert scene.steps() == [7, 1]
    assert scene.ids() == [1, 1] + [7] * 6
    assert scene.rows("SELECT rows FROM omd_lineage.log ORDER BY ts") == [{"rows": 7}, {"rows": 1}]


@pytest.mark.parametrize("maxstep", [1, 2, 3, 5, 1000])
def test_every_row_once_whatever_the_ties_and_the_step(scene: Scene, maxstep: int) -> None:
    rows = [(m // 5, (m * 7) % 4 - 2) for m in range(40)]
    scene.source("dwh.src", *rows, 99)
    scene.topic(maxstep=maxstep)
    scene.steps()
    assert scene.ids() == sorted(i for _, i in rows)


def test_ids_at_the_ends_of_their_range(scene: Scene) -> None:
    scene.source("dwh.src", (1, 2**63 - 1), (1, -(2**63)), (2, -(2**63)), 3)
    scene.topic(maxstep=1)
    scene.steps()
    # This is the first possible position, before the first block, where no row can be.
    assert len(scene.ids()) == 3


def test_an_empty_table_gives_no_block_and_no_instance(scene: Scene) -> None:
    scene.source()
    scene.topic()
    step = scene.step()
    assert (step.outcome, step.id, step.detail) == ("NOJOBS", None, "no offset: dwh.src")
    assert scene.offset()["state"] == "NOJOBS: no offset: dwh.src"
    assert scene.one("SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 0


@pytest.mark.parametrize("where", ["source", "topic"])
def test_other_names_of_the_columns(scene: Scene, where: str) -> None:
    """The columns are given for the source, or for the topic only."""
    scene.base("dwh.src", pos="Created; at", id="Key")
    scene.insert(1, 2, 3, 4)
    names = {"pos_column": "Created; at", "id_column": "Key"}
    scene.register("dwh.src", **(names if where == "source" else {"source_offset": "HAND"}))
    if where == "topic":
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(4))
    scene.conn.execute(
        b'CREATE VIEW dwh.v AS SELECT "Key" AS id FROM dwh.src AS t'
        b' WHERE omd_lineage.in_block(t."Created; at", t."Key")'
    )
    scene.topic(transforms=["dwh.v"], maxstep=2, **({} if where == "source" else names))
    assert scene.steps() == [2, 1]
    assert scene.ids() == [1, 2, 3]


def test_two_topics_read_one_table_each_at_its_own_pace(scene: Scene) -> None:
    """One view serves both."""
    scene.source("dwh.src", *range(1, 8))
    scene.view("dwh.v", "dwh.src")
    scene.topic("dwh.f", transforms=["dwh.v"], maxstep=2)
    scene.topic("dwh.g", transforms=["dwh.v"], maxstep=5)
    assert scene.step("dwh.f").rows == 2
    assert scene.step("dwh.g").rows == 5
    assert scene.step("dwh.f").rows == 2
    assert scene.step("dwh.g").rows == 1
    assert scene.ids("dwh.f") == [1, 2, 3, 4]
    assert scene.ids("dwh.g") == [1, 2, 3, 4, 5, 6]


def test_the_columns_of_the_log(scene: Scene) -> None:
    scene.source("dwh.src", (1, 9), (2, 3), (3, 4), 5)
    scene.topic(
        before_sql=["CREATE TEMP TABLE seen AS SELECT current_setting('omd_lineage.topic')"]
    )
    step = scene.step()
    (row,) = scene.rows("SELECT * FROM omd_lineage.log")
    assert (row["topic"], row["module_instance_id"], row["rows"]) == ("dwh.f", step.id, 3)
    assert (row["max_id"], row["min_ts"], row["max_ts"]) == (9, at(1), at(3))
    assert row["max_lag"] == row["ts"] - at(1)
    assert scene.one("SELECT current_setting FROM seen") == "dwh.f"


# Quiet


def test_with_nothing_new_the_offset_moves_on_to_upto(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.step()
    assert scene.last() == (at(2), 2)
    assert scene.step().outcome == "NOJOBS"
    assert scene.last() == (at(3), 0)
    assert scene.offset()["processor"] == "QUIET"
    assert scene.one("SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 1


def test_a_base_table_without_new_rows_does_not_stall_those_downstream(scene: Scene) -> None:
    now = datetime.now(timezone.utc)
    scene.base("dwh.quiet")
    scene.register("dwh.quiet", source_offset="CLOCK")
    scene.topic("dwh.f", "dwh.quiet")
    scene.source("dwh.src", 1, 2)
    scene.topic("dwh.g", "dwh.src", "dwh.f")
    assert scene.step("dwh.g").rows is None
    scene.probe()
    scene.step("dwh.f")
    assert scene.last("dwh.f")[0] >= now - MINUTE
    assert scene.step("dwh.g").rows == 1


def test_the_quiet_advance_can_be_switched_off(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(advance_when_quiet=False)
    scene.step()
    assert scene.step().outcome == "NOJOBS"
    assert scene.last() == (at(2), 2)
    assert scene.offset()["quiet_start"] is None


@pytest.mark.parametrize("id", [-7, 0, 7])
def test_a_tie_that_comes_after_a_quiet_advance_is_not_lost(scene: Scene, id: int) -> None:
    """The offset is then (upto, 0); a row of that time may have a smaller id."""
    scene.source("dwh.src", 1, 3)
    scene.topic()
    assert scene.steps() == [1]
    assert scene.last() == (at(3), 0)
    scene.insert((3, id), 4)
    scene.probe()
    assert scene.ready()["is_ready"]
    assert scene.steps() == [2]
    assert sorted(scene.ids()) == sorted([1, 3, id])


def test_no_quiet_advance_while_there_are_rows(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.register("dwh.src", source_offset="HAND")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1))
    assert scene.step().outcome == "NOJOBS"
    assert scene.last() == (at(1), 0)
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(9))
    assert scene.steps() == [3]


def test_several_quiet_advances_in_a_row_lose_nothing(scene: Scene) -> None:
    scene.source("dwh.src", 1)
    scene.register("dwh.src", source_offset="HAND")
    scene.topic()
    for minute in (3, 5, 7):
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(minute))
        scene.steps()
        assert scene.last() == (at(minute), 0)
    scene.insert(2, 4, 6)  # all behind the offset, all after the last block
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(8))
    assert scene.steps() == [3]
    assert scene.ids() == [1, 2, 4, 6]


# Retry


def test_a_retry_takes_the_same_block_though_new_rows_have_come(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 5))
    scene.topic(maxstep=100)
    failed = scene.fails()
    before = block(scene)
    scene.insert(5, 6, 7)
    scene.probe()
    plan = scene.plan()
    assert (plan["is_planned"], plan["end_pos"], plan["end_id"]) == (True, at(3), 3)
    scene.register("dwh.f", maxstep=1, delay=timedelta(days=36500))
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 3)
    assert block(scene) == before
    assert step.id != failed.id
    assert scene.ids() == [1, 2, 3]
    scene.register("dwh.f", delay=timedelta(0), maxstep=100)
    assert scene.steps() == [3]


def test_the_block_is_recorded_before_a_row_is_transformed(
    scene: Scene, another: Any, background: Any, until_settled: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(before_sql=["SELECT pg_advisory_xact_lock(1)"])
    scene.conn.execute(b"SELECT pg_advisory_lock(1)")
    session = another()
    step = background(session.step)
    until_settled(session, step)
    offset = scene.offset()
    assert (tuple(offset["next"]), offset["rows"], offset["state"]) == ((at(2), 2), 2, "RUNNING")
    assert offset["hostid"]
    assert scene.plan()["is_planned"]
    assert block(scene)["end_value"] == at(2)
    scene.conn.execute(b"SELECT pg_advisory_unlock(1)")
    assert step.result(timeout=20).outcome == "DONE"


# Reading a plan


def test_plan_changes_nothing(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.insert(4)
    before = scene.rows("SELECT * FROM omd_lineage.offsets ORDER BY 1")
    scene.plan()
    scene.conn.execute(b"BEGIN READ ONLY")
    scene.plan()
    scene.conn.execute(b"COMMIT")
    assert scene.rows("SELECT * FROM omd_lineage.offsets ORDER BY 1") == before


def test_set_block_shows_what_a_view_gives(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic(maxstep=2)
    for block in ([1, 2], [3], []):
        with scene.conn.transaction():
            scene.call("omd_lineage.set_block", topic="dwh.f")
            assert scene.ids("dwh.v_dwh_f") == block
        assert scene.ids("dwh.v_dwh_f") == []
        scene.step()


def test_the_block_of_a_step_does_not_stay_behind_in_the_session(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.step()
    assert scene.rows("SELECT * FROM dwh.v_dwh_f") == []
    assert scene.one("SELECT omd_lineage.block_start() IS NULL AND omd_lineage.block_end() IS NULL")


# The index


@pytest.fixture
def large(scene: Scene) -> Scene:
    scene.base()
    scene.conn.execute(
        b"INSERT INTO dwh.src"
        b" SELECT timestamptz '2020-01-01 12:00Z' + n * interval '1 minute', n, n"
        b" FROM generate_series(1, 200000) AS n"
    )
    scene.conn.execute(b"ANALYZE dwh.src")
    scene.register("dwh.src")
    return scene


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(n for child in plan.get("Plans", []) for n in nodes(child))]


@pytest.mark.parametrize("place", [0, 100_000, 199_000])
def test_in_block_is_served_by_the_index(large: Scene, place: int) -> None:
    large.topic(maxstep=500, start_pos=at(place), start_id=place)
    with large.conn.transaction():
        large.call("omd_lineage.set_block", topic="dwh.f")
        explained = large.one("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM dwh.v_dwh_f")
    explained = json.loads(explained) if isinstance(explained, str) else explained
    scans = [n for n in nodes(explained[0]["Plan"]) if "Scan" in n["Node Type"]]
    assert scans
    for scan in scans:
        assert scan["Node Type"] in {"Index Scan", "Bitmap Heap Scan", "Bitmap Index Scan"}, scans
        assert scan.get("Rows Removed by Filter", 0) == 0
        assert scan["Actual Rows"] == 500


def test_a_step_and_its_plan_read_only_their_block(large: Scene) -> None:
    large.topic(maxstep=500, start_pos=at(100_000), start_id=100_000)
    count = (
        "SELECT seq_scan, idx_tup_fetch, seq_tup_read FROM pg_stat_xact_user_tables"
        " WHERE relid = 'dwh.src'::regclass"
    )
    large.conn.execute(b"SELECT pg_stat_force_next_flush()")
    with large.conn.transaction():
        large.plan()
        planned = large.rows(count)[0]
    assert planned["seq_scan"] == 0
    large.conn.execute(b"SELECT pg_stat_force_next_flush()")
    large.conn.execute(b"SELECT pg_stat_reset_single_table_counters('dwh.src'::regclass)")
    assert large.step().rows == 500
    large.conn.execute(b"SELECT pg_stat_force_next_flush()")
    after = large.rows(
        "SELECT seq_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE relid = 'dwh.src'::regclass"
    )[0]
    assert after["seq_scan"] == 0
    assert after["idx_tup_fetch"] <= 500 * 10
