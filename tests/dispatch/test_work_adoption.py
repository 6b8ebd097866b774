"""One view shows what people wrote before there was ready work, and could be switched over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Room

TOPIC = """
    CREATE SCHEMA app;
    CREATE TABLE app.src (pos timestamptz, id bigint);
    CREATE INDEX ON app.src (pos, id);
    CREATE TABLE app.a (pos timestamptz, id bigint, omd_insert_module_instance_id bigint);
    CREATE VIEW app.v AS SELECT b.pos, b.id FROM app.src AS b
        WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd_lineage.register_topic('app.src');
    CALL omd_lineage.register_topic('app.a', p_depends_on => ARRAY['app.src'],
        p_transforms => ARRAY['app.v'], p_module_code => 'm_a');
    CREATE VIEW app.mine AS SELECT topic AS code FROM omd_report.lineage_ready WHERE is_ready;
    CREATE VIEW app."of Mine" AS SELECT code FROM app.mine;
    CREATE VIEW app.other AS SELECT id::text AS code FROM app.src;
    CREATE TABLE app.s (id integer);
    CALL omd.register_module('sql', 'HELPER', 'app.s', 'FACT', p_executable => 'SELECT 1');
    CALL omd.register_batch('night');
"""


@pytest.fixture
def written(room: Room) -> Room:
    """A topic, and nothing that starts it."""
    room.conn.execute(TOPIC)
    return room


def schedule(room: Room, code: str, task_type: str, **more: Any) -> None:
    room.call("register_schedule", schedule_code=code, family_code="RUN", task_type=task_type,
              every="1 day", **more)  # fmt: skip


def found(room: Room) -> list[tuple[Any, ...]]:
    rows = room.rows(
        "SELECT object_kind, object_key, module_code FROM omd_report.work_adoption ORDER BY 1, 2, 3"
    )
    return [tuple(row.values()) for row in rows]


def test_a_new_installation_has_nothing_to_switch_over(written: Room) -> None:
    assert found(written) == []
    written.call("set_work", is_on=True)
    assert found(written) == []


def test_a_schedule_is_found_by_what_it_asks_or_starts(written: Room) -> None:
    schedule(written, "shipped", "TOPIC", source="omd_report.ready_topic_tasks")
    schedule(written, "deep", "TOPIC", source='app."of Mine"')
    schedule(written, "other", "TOPIC", source="app.other")
    schedule(written, "topic", "TOPIC", criteria={"CODE": "app.a"})
    schedule(written, "module", "MODULE", criteria={"CODE": "m_a"})
    schedule(written, "sql", "MODULE", criteria={"CODE": "sql"})
    assert found(written) == [
        ("SCHEDULE", "deep", None),
        ("SCHEDULE", "module", "m_a"),
        ("SCHEDULE", "shipped", None),
        ("SCHEDULE", "topic", "m_a"),
    ]
    written.owner("UPDATE omd_dispatch.task_schedule SET inactive_indicator = 'Y'")
    assert found(written) == []


def test_a_source_and_a_batch_are_found_and_go_by_their_way_out(written: Room) -> None:
    written.call("register_source", family_code="RUN", task_type="TOPIC", source="app.mine")
    for module in ("m_a", "sql"):
        written.call("omd.add_module_to_batch", batch_code="night", module_code=module)
    schedule(written, "it's", "TOPIC", source="app.mine")
    rows = written.rows("SELECT * FROM omd_report.work_adoption ORDER BY object_kind")
    assert [(row["object_kind"], row["object_key"]) for row in rows] == [
        ("BATCH", "night"), ("SCHEDULE", "it's"), ("SOURCE", "RUN TOPIC"),
    ]  # fmt: skip
    for row in rows:
        written.conn.execute(row["way_out"].encode())
    assert found(written) == []
