"""What stages decided in runs that a recall took back, beside what they decide again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from decision.conftest import Room
from provenance.taking_back import effects, take_back

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

ALL = "jsonb_build_object('out', p -> 'a')"


@pytest.fixture
def room(conn: Connection) -> Room:
    return Room(conn)


def windowed(room: Room, **more: Any) -> None:
    """Define a stage by key with a window over app.a, which decides the sum of each key."""
    document = room.scene(
        "jsonb_build_object('out', jsonb_build_object('n', (SELECT sum((x ->> 'v')::int) FROM jsonb_array_elements(p -> 'a') AS x)))"
    )
    room.conn.execute(b"ALTER TABLE app.a ADD at timestamptz DEFAULT clock_timestamp()")
    document["mode"] = "KEY"
    document["keys"] = [{"column": "k"}]
    document["links"] = [{"name": "a", "source": "app.a", "arrival": "id"}]
    document["window"] = {"column": "at"}
    document["keep"] = "TRACE"
    document.update(more)
    room.define(document)


def put(room: Room, *rows: tuple[int, int, int]) -> None:
    for id, k, v in rows:
        room.conn.execute(b"INSERT INTO app.a (id, k, v) VALUES (%s, %s, %s)", [id, k, str(v)])


def windows(room: Room) -> list[tuple[Any, ...]]:
    found = room.rows(
        "SELECT c.start_value, c.end_value FROM omd.source_control AS c"
        " INNER JOIN omd.module_instance AS i USING (module_instance_id)"
        " WHERE i.execution_status_code = 'S' AND NOT c.is_taken_back"
        " ORDER BY c.start_value NULLS FIRST"
    )
    return [tuple(row.values()) for row in found]


def out(room: Room) -> list[int]:
    return [int(row["n"]) for row in room.rows("SELECT n FROM app.out ORDER BY n")]


def superseded(room: Room) -> list[dict[str, Any]]:
    return room.rows("SELECT * FROM omd_report.superseded_decisions ORDER BY recall_id, key")


def test_a_window_is_decided_again_by_a_run_of_its_own_before_new_ones(room: Room) -> None:
    windowed(room)
    put(room, (1, 1, 10), (2, 2, 20))
    first = room.run()
    put(room, (3, 1, 30), (4, 3, 40))
    second = room.run()
    put(room, (5, 1, 50))
    third = room.run()
    assert out(room) == [10, 20, 30, 40, 50]
    before = windows(room)
    old = second["module_instance_id"]
    (told,) = effects(room, [old])
    assert (told["table_code"], told["rows_go"], told["comes_again"]) == (
        'app."out"',
        2,
        "the window",
    )
    take_back(room, old, recall=7)
    assert out(room) == [10, 20, 50]
    found = superseded(room)
    assert [(row["key"], row["new_instance_id"], row["is_changed"]) for row in found] == [
        ({"k": 1}, None, True),
        ({"k": 3}, None, True),
    ]
    log = room.rows("SELECT module_instance_id AS id FROM omd_report.decision_run_log")
    assert {row["id"] for row in log} == {first["module_instance_id"], third["module_instance_id"]}
    room.conn.execute(b"DELETE FROM app.a WHERE id = 3")
    put(room, (6, 9, 90))
    again = room.run()
    assert out(room) == [10, 20, 40, 50]
    assert windows(room) == before
    assert room.one(
        "SELECT supersedes FROM omd_decision.run WHERE module_instance_id = %s",
        again["module_instance_id"],
    ) == [old]
    found = superseded(room)
    assert [
        (row["key"], row["new_instance_id"], row["is_changed"], row["recall_id"]) for row in found
    ] == [
        ({"k": 1}, None, True, 7),
        ({"k": 3}, again["module_instance_id"], False, 7),
    ]
    assert found[1]["old_result"] == found[1]["new_result"] == {"out": {"n": 40}}
    last = room.run()
    assert windows(room)[-1][0] == before[-1][1]
    assert out(room) == [10, 20, 40, 50, 90], last
