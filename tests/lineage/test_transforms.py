"""What a transform must be for a step to load each row once, and what the step does about it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable

    Another = Callable[..., Scene]

# The stamp


def test_the_stamp_of_a_step_wins_over_columns_of_its_view(scene: Scene) -> None:
    """Else an undo would look for the stamp of the wrong run, and the retry would double rows."""
    stamps = ", omd_insert_datetime timestamptz, omd_record_source text"
    scene.source("dwh.src", 1, 2, 3)
    scene.base("dwh.a", extra=stamps)
    scene.base("dwh.b", extra=stamps)
    scene.topic("dwh.a")
    scene.view("dwh.v_dwh_b", "dwh.a", select="t.*")
    scene.topic("dwh.b", "dwh.a")
    first = scene.step("dwh.a")
    scene.conn.execute(
        b"UPDATE dwh.a SET omd_insert_datetime = '2001-01-01', omd_record_source = 'theirs'"
    )
    scene.call("omd_lineage.set_offset", topic="dwh.a", pos=at(9))
    step = scene.step("dwh.b")
    assert (step.outcome, step.rows) == ("DONE", 2)
    assert scene.stamps("dwh.b") == {step.id: 2}
    assert scene.rows(
        "SELECT DISTINCT omd_record_source, omd_insert_datetime > '2002-01-01' AS is_new FROM dwh.b"
    ) == [{"omd_record_source": "dwh.b", "is_new": True}]
    assert step.id != first.id
    scene.set_next("R", module=step.id)
    again = scene.step("dwh.b")
    assert (scene.ids("dwh.b"), scene.stamps("dwh.b")) == ([1, 2], {again.id: 2})
    assert scene.one("SELECT nulls FROM omd_lineage.log WHERE topic = 'dwh.b' LIMIT 1") == {}


# The block


def test_a_block_is_the_same_whatever_the_session_makes_of_dates(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.conn.execute(b"UPDATE dwh.src SET pos = pos + interval '1 month 5 days'")
    scene.conn.execute(b"SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kolkata'")
    scene.topic(maxstep=2, before_sql=["SET LOCAL DateStyle = 'SQL, MDY'"])
    scene.insert(80_000)
    scene.probe()
    assert (scene.steps(), scene.ids()) == ([2, 2], [1, 2, 3, 4])


ENDS = [
    "-infinity",
    "4713-01-01 00:00:00.000001+00 BC",
    "0044-03-15 12:00:00.999999+00 BC",
    "1969-12-31 23:59:59.999999+00",
    "1970-01-01 00:00:00+00",
    "2026-10-25 01:30:00.123457+01",
    "9999-12-31 23:59:59.999999+00",
    "294246-12-31 23:59:59.999999+00",
    "infinity",
]


@pytest.mark.parametrize("style", ["ISO, MDY", "German, DMY"])
def test_every_position_travels_unchanged(scene: Scene, style: str) -> None:
    scene.conn.execute(f"SET DateStyle = '{style}'; SET TimeZone = 'Europe/Lisbon'".encode())
    for start, end in pairwise(ENDS):
        with scene.conn.transaction():
            scene.conn.execute(
                "CALL omd_lineage._write_block('x', ROW(%s::timestamptz, %s), ROW(%s, %s))",
                [start, -(2**63), end, 2**63 - 1],
            )
            (row,) = scene.rows(
                "SELECT s = ROW(%s::timestamptz, %s::bigint) AS starts,"
                " e = ROW(%s::timestamptz, %s::bigint) AS ends,"
                " omd_lineage.in_block(%s, 0) AS holds_end,"
                " omd_lineage.in_block(%s, -9223372036854775808) AS holds_start"
                " FROM omd_lineage.block_start() AS s, omd_lineage.block_end() AS e",
                *(start, -(2**63), end, 2**63 - 1, end, start),
            )
            assert row == {"starts": True, "ends": True, "holds_end": True, "holds_start": False}


def test_a_block_that_was_set_before_an_upgrade_is_still_read(scene: Scene) -> None:
    """A step that runs meanwhile has set it as text, and reads it with the new in_block."""
    with scene.conn.transaction():
        for name, value in (
            ("start_ts", "2020-01-01 12:01:00+00"), ("start_id", "1"),
            ("end_ts", "infinity"), ("end_id", "2"),
        ):  # fmt: skip
            scene.one("SELECT set_config(%s, %s, TRUE)", f"omd_lineage.{name}", value)
        found = scene.rows(
            "SELECT id FROM (VALUES (%s::timestamptz, 1), (%s, 2)) AS v (pos, id)"
            " WHERE omd_lineage.in_block(pos, id)",
            at(1), at(1),
        )  # fmt: skip
    assert found == [{"id": 2}]


def test_the_block_that_a_person_sets_ends_with_the_transaction(scene: Scene) -> None:
    """Else a statement long after it would read an old block."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    with scene.conn.transaction():
        scene.call("omd_lineage.set_block", topic="dwh.f")
        assert len(scene.rows("SELECT FROM dwh.v_dwh_f")) == 2
    assert scene.rows("SELECT FROM dwh.v_dwh_f") == []
    scene.call("omd_lineage.set_block", topic="dwh.f")
    assert scene.rows("SELECT FROM dwh.v_dwh_f") == []


# The block of the base table, and of no other


OF_ANOTHER = (
    "CREATE VIEW dwh.v AS SELECT pos, id FROM dwh.other WHERE omd_lineage.in_block(pos, id)"
)
BLOCK = (
    "CREATE VIEW dwh.block AS SELECT t.pos, t.id, t.v FROM dwh.src AS t,"
    " omd_lineage.block_start() AS s, omd_lineage.block_end() AS e"
    " WHERE (t.pos, t.id) > (s.pos, s.id) AND (t.pos, t.id) <= (e.pos, e.id)"
)
ATOMIC = (
    "CREATE FUNCTION dwh.rows_of_block() RETURNS TABLE (pos timestamptz, id bigint, v int)"
    " LANGUAGE sql STABLE BEGIN ATOMIC SELECT t.pos, t.id, t.v FROM dwh.src AS t"
    " WHERE omd_lineage.in_block(t.pos, t.id); END"
)
OPAQUE = (
    "CREATE FUNCTION dwh.rows_of_block() RETURNS TABLE (pos timestamptz, id bigint, v int)"
    " LANGUAGE sql STABLE AS 'SELECT t.pos, t.id, t.v FROM dwh.src AS t"
    " WHERE omd_lineage.in_block(t.pos, t.id)'"
)


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (["CREATE VIEW dwh.v AS SELECT pos, id, v FROM dwh.src"], "in_block"),
        (["CREATE TABLE dwh.other (LIKE dwh.src)", OF_ANOTHER], "dwh.src"),
        ([OPAQUE, "CREATE VIEW dwh.v AS SELECT * FROM dwh.rows_of_block()"], "dwh.src"),
        (["CREATE TABLE dwh.v (LIKE dwh.src)"], "dwh.src"),
        ([ATOMIC, "CREATE VIEW dwh.v AS SELECT * FROM dwh.rows_of_block()"], None),
        ([BLOCK, "CREATE VIEW dwh.v AS WITH b AS (TABLE dwh.block) SELECT * FROM b"], None),
    ],
    ids=["no block", "another table", "opaque function", "no view", "function", "view of a view"],
)
def test_a_transform_must_read_its_base_table_by_blocks(
    scene: Scene, statements: list[str], problem: str | None
) -> None:
    """Else each step inserts the whole table, or none of its rows."""
    scene.source("dwh.src", 1, 2, 3, 4, 5)
    scene.base("dwh.f")
    for statement in statements:
        scene.conn.execute(statement.encode())
    topic = {"depends_on": ["dwh.src"], "transforms": ["dwh.v"], "maxstep": 2}
    if problem:
        told = scene.refused("OM213", "omd_lineage.register_topic", topic="dwh.f", **topic)
        assert problem in told["problem"]
        assert not scene.rows("SELECT FROM omd_lineage.topic WHERE topic = 'dwh.f'")
        scene.register("dwh.f", **topic, processor="RELOAD")  # it needs no block
        scene.register("dwh.f", inactive_indicator="Y", processor="STEP")
        scene.register("dwh.g", **{**topic, "transforms": ["dwh.later"]})
    else:
        scene.register("dwh.f", **topic)
        assert (scene.steps(), scene.ids()) == ([2, 2], [1, 2, 3, 4])


def test_a_view_that_loses_its_condition_fails_the_step(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.steps()
    scene.insert(4)
    scene.probe()
    before = scene.last()
    good = scene.one("SELECT pg_get_viewdef('dwh.v_dwh_f'::regclass)")
    scene.conn.execute(b"CREATE OR REPLACE VIEW dwh.v_dwh_f AS SELECT pos, id, v FROM dwh.src")
    step = scene.step()
    assert (step.outcome, scene.last(), scene.ids()) == ("ERROR", before, [1, 2])
    assert "dwh.v_dwh_f" in (step.detail or "")
    scene.conn.execute(f"CREATE OR REPLACE VIEW dwh.v_dwh_f AS {good}".encode())
    assert (scene.steps(), scene.ids()) == ([1], [1, 2, 3])


@pytest.mark.parametrize("when", ["before the plan", "after the plan"])
def test_a_base_table_that_is_swapped_fails_the_step_until_the_view_follows(
    scene: Scene, when: str
) -> None:
    """A view goes on to read the old table, while the plan reads the new one."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.steps()
    scene.insert(4)
    if when == "after the plan":
        scene.probe()
        scene.fails()
    before = scene.last()
    scene.conn.execute(
        b"CREATE TABLE dwh.green (LIKE dwh.src INCLUDING ALL);"
        b"INSERT INTO dwh.green SELECT * FROM dwh.src;"
        b"ALTER TABLE dwh.src RENAME TO blue; ALTER TABLE dwh.green RENAME TO src"
    )
    scene.insert(5)
    scene.probe()
    step = scene.step()
    assert (step.outcome, scene.last()) == ("ERROR", before)
    assert "dwh.src" in (step.detail or "")
    scene.conn.execute(
        b"CREATE OR REPLACE VIEW dwh.v_dwh_f AS SELECT t.pos, t.id, t.v FROM dwh.src AS t"
        b" WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4]


def test_a_base_table_that_is_swapped_during_the_step_fails_it(
    scene: Scene, another: Another, background: Any, until_settled: Any
) -> None:
    """The step has looked at the view already, and waits for its destination."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.base("dwh.green")
    session = another()
    with scene.conn.transaction():
        scene.conn.execute(b"LOCK TABLE dwh.f")
        call = background(session.step)
        until_settled(session, call)
        scene.conn.execute(
            b"ALTER TABLE dwh.src RENAME TO blue; ALTER TABLE dwh.green RENAME TO src"
        )
    step = call.result(timeout=30)
    assert (step.outcome, scene.ids()) == ("ERROR", [])
    assert "dwh.src was renamed" in step.detail
