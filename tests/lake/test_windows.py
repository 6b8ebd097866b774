"""Load windows and blocks of lineage over the commits of lake tables (docs/explanation/lake.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from lake.conftest import commit, delta

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lake.conftest import Room


def load(room: Room, table: str, rows: int = 10, status: str = "S", **changed: Any) -> int:
    """Run the Module of a table, which commits rows."""
    module = table.partition(".")[2]
    begun = room.call("omd.begin_module", module_code=module)
    instance = int(begun["module_instance_id"])
    if begun["processing_indicator"] == "R":
        with room.conn.transaction():
            room.call("lock_tables", tables=[table])
            room.call("omd.confirm_rollback", module_instance_id=instance)
    counts = {"added_files": 1, "added_rows": rows}
    room.append(instance, table, write=instance, counts=counts, **changed)
    if status != "E":
        room.end_module(instance, status)
    return instance


def instances(room: Room, table: str, *window: Any) -> list[int]:
    query = "SELECT module_instance_id AS i FROM omd_lake.instances_in_window(%s, %s, %s, %s, %s)"
    return [row["i"] for row in room.rows(query, table, *window)]


def test_a_window_ends_at_the_newest_commit_and_the_next_one_begins_there(room: Room) -> None:
    room.scene("a", "reader")
    reader = room.begin("reader")

    def window(run: int) -> list[Any]:
        answer = room.call("create_load_window", module_instance_id=run, table_code="Lake.A")
        return list(answer.values())

    assert window(reader) == [None] * 4  # nothing to read yet
    first = load(room, "lake.a")
    undone = load(room, "lake.a", status="F")
    start, start_id, end, end_id = window(reader)
    assert (start, start_id, end_id) == (None, -(2**63), 2)
    assert instances(room, "lake.a", start, start_id, end, end_id) == [first, undone]
    second = load(room, "lake.a", operation="OVERWRITE")  # it has undone the failed one
    assert window(reader) == [start, start_id, end, end_id]
    assert instances(room, "lake.a", start, start_id, end, end_id) == [first]
    room.end_module(reader, "S")

    reader = room.begin("reader")
    admin = commit("lake.a", "a.3", None)
    with room.conn.transaction():
        room.open(None, "lake.a")
        room.commit(None, admin)  # another engine, so to say
    third = load(room, "lake.a", operation="HISTORY")
    load(room, "lake.a", operation="COMPACT")
    next_window = window(reader)
    assert next_window[:2] == [end, end_id]
    assert next_window[3] == 6
    assert instances(room, "lake.a", *next_window) == [second, third]
    assert instances(room, "lake.a", *next_window[2:], *next_window[2:]) == []
    room.refused("OM020", "create_load_window", module_instance_id=reader, table_code="lake.x")
    room.end_module(reader, "S")
    room.refused("OM101", "create_load_window", module_instance_id=reader, table_code="lake.a")
    with pytest.raises(psycopg.Error, match="p_end_id must be given"):
        instances(room, "lake.a", None, None, end, None)


def topics(room: Room, **attributes: Any) -> None:
    for topic, arguments in {
        "lake.a": {"source_offset": "LAKE"},
        "fact.f": {
            "depends_on": ["lake.a"],
            "transforms": ["SELECT * FROM block"],
            "engine": "SPARK",
            "platform_code": "SPARK",
            "area_code": "HSTG",
            "maxstep": 25,
            "repeat": "0",
            **attributes,
        },
    }.items():
        room.call("omd_lineage.register_topic", topic=topic, **arguments)


def step(room: Room) -> tuple[str, tuple[Any, Any]]:
    """Begin a step and end it well; return the outcome and the sequence numbers of its block."""
    room.rows("SELECT 1")
    room.call("omd_lineage.probe_sources")
    begun = room.call("omd_lineage.begin_step", topic="fact.f")
    if begun["outcome"] != "RUN":
        return begun["outcome"], (begun["detail"], None)
    begun["rows"] = instances(
        room, "lake.a", *(begun[k] for k in ("start_pos", "start_id", "end_pos", "end_id"))
    )
    room.call(
        "omd_lineage.commit_step",
        module_instance_id=begun["module_instance_id"],
        plan_number=begun["plan_number"],
    )
    return begun["rows"], (begun["start_id"], begun["end_id"])


def test_a_block_is_whole_commits_up_to_maxstep_and_at_least_one(room: Room) -> None:
    room.scene("a")
    topics(room)
    assert step(room)[0] == "NOJOBS"
    runs = [load(room, "lake.a", rows) for rows in (10, 15, 1, 100, 3)]
    load(room, "lake.a", operation="COMPACT")
    assert step(room) == (runs[:2], (-(2**63), 2))
    # The block was full, so the next one waits for nothing.
    ready = "SELECT is_full FROM omd_lineage.offsets WHERE topic = 'fact.f'"
    assert room.one(ready) is True
    assert step(room) == (runs[2:3], (2, 3))
    assert step(room) == (runs[3:4], (3, 4))
    assert step(room) == (runs[4:], (4, 5))
    assert room.one(ready) is False
    assert step(room)[0] == "NOJOBS"  # the newest commit has no rows of a run
    log = "SELECT max_id, rows FROM omd_lineage.log ORDER BY module_instance_id"
    assert [row["max_id"] for row in room.rows(log)] == [2, 3, 4, 5]
    last = load(room, "lake.a")
    assert step(room)[0] == [last]


def test_a_retry_gets_the_same_block_and_lake_offset_and_success_are_one_commit(
    room: Room,
) -> None:
    room.scene("a")
    topics(room, module_code="m_f")
    room.conn.execute("SELECT 1")
    room.call("omd.register_module", module_code="m_f", table_format_code="ICEBERG")
    room.call("register_namespace", namespace="fact", location="/data/fact")
    room.call("register_table", table_code="fact.f", metadata_location="f.0")
    first = load(room, "lake.a")
    room.call("omd_lineage.probe_sources")
    failed = room.call("omd_lineage.begin_step", topic="fact.f")
    room.call("omd_lineage.fail_step", module_instance_id=failed["module_instance_id"])
    load(room, "lake.a")
    again = room.call("omd_lineage.begin_step", topic="fact.f")
    assert [again[k] for k in ("start_pos", "start_id", "end_pos", "end_id")] == [
        failed[k] for k in ("start_pos", "start_id", "end_pos", "end_id")
    ]
    instance = again["module_instance_id"]
    assert again["processing_indicator"] == "R"
    with room.conn.transaction():
        room.open(instance, "fact.f")
        room.call("omd.confirm_rollback", module_instance_id=instance)
    with room.conn.transaction():
        room.open(instance, "fact.f")
        room.commit(instance, commit("fact.f", "f.0"))
        room.call(
            "omd_lineage.commit_step",
            module_instance_id=instance,
            plan_number=again["plan_number"],
            rows_inserted=10,
        )
    assert room.codes(module=instance) == "S P P"
    assert room.one("SELECT (last).id FROM omd_lineage.offsets WHERE topic = 'fact.f'") == 1
    assert instances(room, "lake.a", None, None, again["end_pos"], again["end_id"]) == [first]


def test_a_block_ends_before_a_commit_of_a_run_that_has_not_succeeded(room: Room) -> None:
    room.scene("a")
    topics(room)
    first = load(room, "lake.a", 1)
    early = load(room, "lake.a", 1, status="E")  # run.commit()
    assert step(room) == ([first], (-(2**63), 1))
    outcome, (detail, _) = step(room)
    assert outcome == "NOJOBS"
    assert f"Module Instance {early} has not succeeded in lake.a" in detail
    room.end_module(early, "S")
    assert step(room) == ([early], (1, 2))


def test_only_spark_reads_a_lake_table_and_its_name_may_be_one_here_too(
    room: Room, another: Callable[..., Room]
) -> None:
    room.scene("a")
    room.conn.execute("CREATE SCHEMA lake CREATE TABLE lake.a (x text)")
    topics(room)
    room.refused(
        "OM211",
        "omd_lineage.register_topic",
        topic="fact.g",
        depends_on=["lake.a"],
        transforms=["fact.v"],
    )
    room.refused("OM013", "omd_lineage.register_topic", topic="lake.a", source_offset="ICEBERG")
    source = "SELECT problem, newest_id FROM omd_report.sources"
    assert room.rows(source) == [{"problem": None, "newest_id": None}]
    room.conn.execute("DROP SCHEMA lake CASCADE")
    run = load(room, "lake.a")
    runner = another(role="omd_runner")
    assert step(runner) == ([run], (-(2**63), 1))
    assert room.rows(source) == [{"problem": None, "newest_id": 1}]
    room.call("omd_lineage.register_topic", topic="lake.zz", source_offset="LAKE")
    assert [row["problem"] for row in room.rows(f"{source} ORDER BY source")] == [
        None,
        "There is no lake table of this name.",
    ]
    assert room.one("SELECT pos_column FROM omd_lineage.topic_definition('fact.f')") == (
        "commit_datetime"
    )


def test_a_reload_reads_a_lake_table_again_after_each_commit(room: Room) -> None:
    room.scene("a")
    room.module("d", table_format_code="DELTA", table_code="lake.a2")
    topics(room, processor="RELOAD")
    load(room, "lake.a")
    assert step(room)[0] != "NOJOBS"
    assert step(room)[0] == "NOJOBS"
    room.commit(room.begin("d"), delta("lake.a2", 1))
    assert step(room)[0] == "NOJOBS"  # another table
    load(room, "lake.a", operation="UNDO")
    assert step(room)[0] != "NOJOBS"
