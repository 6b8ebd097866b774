"""What stages decided in runs that a recall took back, beside what they decide again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from decision.conftest import Room
from provenance.taking_back import effects, take_back
from support.lots import seeds

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
        "jsonb_build_object('out', jsonb_build_object('n', (SELECT sum((x ->> 'v')::int)"
        " FROM jsonb_array_elements(p -> 'a') AS x)))"
    )
    room.conn.execute(b"ALTER TABLE app.a ADD at timestamptz DEFAULT clock_timestamp()")
    document["mode"] = "KEY"
    document["keys"] = [{"column": "k"}]
    document["links"] = [{"name": "a", "source": "app.a", "arrival": "id"}]
    document["window"] = {"column": "at"}
    document["keep"] = "TRACE"
    document.update(more)
    room.define({name: value for name, value in document.items() if value is not None})


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


def test_a_stage_without_a_window_runs_once_again_for_all(room: Room) -> None:
    windowed(room, window=None)
    put(room, (1, 1, 10))
    first = room.run()["module_instance_id"]
    second = room.run()["module_instance_id"]
    assert out(room) == [10, 10]
    take_back(room, first, second)
    assert out(room) == []
    (ready,) = room.rows(
        "SELECT reason FROM omd_report.ready_work WHERE module_kind_code = 'STAGE'"
    )
    assert ready["reason"] == "RECALLED"
    again = room.run()["module_instance_id"]
    assert out(room) == [10]
    assert room.one(
        "SELECT supersedes FROM omd_decision.run WHERE module_instance_id = %s", again
    ) == [first, second]
    assert room.rows("SELECT * FROM omd_report.ready_work WHERE module_kind_code = 'STAGE'") == []
    found = superseded(room)
    assert {(row["old_instance_id"], row["new_instance_id"]) for row in found} == {
        (first, again),
        (second, again),
    }


def test_without_keys_calls_are_matched_by_the_records_of_the_primary_link(room: Room) -> None:
    windowed(room, mode="BATCH", keys=None, batch_size=2)
    put(room, (1, 1, 1), (2, 1, 2), (3, 1, 4), (4, 1, 8), (5, 1, 16))
    old = room.run()["module_instance_id"]
    assert out(room) == [3, 12, 16]
    take_back(room, old)
    room.conn.execute(b"DELETE FROM app.a WHERE id = 1")
    again = room.run()["module_instance_id"]
    assert out(room) == [6, 24]
    found = room.rows(
        "SELECT old_result #>> '{out,n}' AS old, new_result #>> '{out,n}' AS new, key,"
        " is_changed, new_instance_id AS id FROM omd_report.superseded_decisions ORDER BY 1"
    )
    assert [tuple(row.values()) for row in found] == [
        ("12", "6", None, True, again),
        ("16", "24", None, True, again),
        ("3", "6", None, True, again),
    ]


def test_a_window_that_fails_again_stays_and_one_that_is_undone_comes_once_more(
    room: Room,
) -> None:
    windowed(room)
    put(room, (1, 1, 10))
    room.run()
    put(room, (2, 2, 20))
    second = room.run()["module_instance_id"]
    put(room, (3, 3, 30))
    third = room.run()["module_instance_id"]
    before = windows(room)
    take_back(room, second)
    room.conn.execute(b"ALTER TABLE app.out ADD CONSTRAINT c CHECK (n <> 20)")
    assert room.run()["execution_status_code"] == "F"
    room.conn.execute(b"ALTER TABLE app.out DROP CONSTRAINT c")
    again = room.run()["module_instance_id"]
    assert (windows(room), out(room)) == (before, [10, 20, 30])
    # A rollback goes by the ids of runs, and this one is the newest.
    room.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=again)
    put(room, (4, 4, 40))
    once_more = room.run()["module_instance_id"]
    assert (windows(room), out(room)) == (before, [10, 20, 30])
    assert room.one(
        "SELECT supersedes FROM omd_decision.run WHERE module_instance_id = %s", once_more
    ) == [second]
    # Here the later one goes, by its id, with the one that lies before it.
    room.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=third)
    for _ in range(3):
        room.run()
    assert out(room) == [10, 20, 30, 40]
    kept = windows(room)
    assert [start for start, _ in kept[1:]] == [end for _, end in kept[:-1]]


def test_a_recall_takes_back_what_was_decided_again(room: Room) -> None:
    windowed(room)
    put(room, (1, 1, 10))
    first = room.run()["module_instance_id"]
    take_back(room, first, recall=1)
    second = room.run()["module_instance_id"]
    take_back(room, second, recall=2)
    third = room.run()["module_instance_id"]
    assert room.one(
        "SELECT supersedes FROM omd_decision.run WHERE module_instance_id = %s", third
    ) == [first, second]
    assert [
        (row["recall_id"], row["old_instance_id"], row["new_instance_id"], row["is_changed"])
        for row in superseded(room)
    ] == [(1, first, third, False), (2, second, third, False)]
    room.call("omd.purge", keep="0", room="omd_decision")
    assert superseded(room) == []


def test_what_a_recalled_run_rejected_is_in_no_view_of_runs_that_count(room: Room) -> None:
    windowed(room)
    put(room, (1, 1, 10))
    old = room.run()["module_instance_id"]
    room.conn.execute(b"SET session_replication_role = replica")
    room.conn.execute(
        b"INSERT INTO omd_decision.reject (module_instance_id, link, arrival, code, text, record)"
        b" VALUES (%s, 'a', 9, 'LEFTOVER', 'x', '{}')",
        [old],
    )
    room.conn.execute(b"RESET session_replication_role")
    take_back(room, old)
    assert room.rows("SELECT * FROM omd_report.decision_reject_log") == []
    assert room.rows("SELECT * FROM omd_report.decision_run_log") == []
    assert room.one("SELECT omd_decision.last_run_of('s', '{\"k\": 1}')") is None
    assert room.one("SELECT count(*) FROM omd_decision.explain(%s)", old) == 2


def test_a_stage_waits_for_what_is_to_come_again_in_its_sources(room: Room) -> None:
    windowed(room, start={"when": "NEWS"})
    put(room, (1, 1, 10))
    room.call(
        "omd.register_module",
        module_code="m",
        area_code="INT",
        table_code="app.a",
        platform_code="POSTGRES",
    )
    room.owner(
        "INSERT INTO omd.module_return (recall_id, position, module_id, is_by_hand)"
        " SELECT 5, 1, module_id, FALSE FROM omd.module WHERE module_code = 'm'"
    )
    (row,) = room.rows(
        "SELECT state, reason, waits_for FROM omd_report.work WHERE module_kind_code = 'STAGE'"
    )
    assert tuple(row.values()) == ("WAITING", "AWAITED", "m, which recall 5 takes again")
    done = room.run()
    assert (done["execution_status_code"], done["module_instance_id"]) == ("C", None)
    assert done["detail"] == "waits for m, which recall 5 takes again"
    room.owner("UPDATE omd.module_return SET ended_datetime = now()")
    assert room.run()["execution_status_code"] == "S"
    assert out(room) == [10]


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(3))
def test_what_was_decided_on_bad_rows_is_decided_as_if_they_had_never_been(
    room: Room, seed: int
) -> None:
    dice = random.Random(seed)
    windowed(room)
    last = 0
    for recall in range(1, 4):
        bad = []
        for _ in range(dice.randrange(2, 6)):
            written = range(last + 1, last + 1 + dice.randrange(1, 5))
            last = written[-1]
            put(room, *((id, dice.randrange(3), id) for id in written))
            bad += dice.sample(written, dice.randrange(len(written)))
            room.run()
        have_read = room.rows(
            "SELECT c.module_instance_id AS id FROM omd.source_control AS c"
            " INNER JOIN omd.module_instance AS i USING (module_instance_id)"
            " WHERE i.execution_status_code = 'S' AND NOT c.is_taken_back AND EXISTS ("
            "SELECT FROM app.a WHERE a.id = ANY (%s) AND a.at <= c.end_value"
            " AND (a.at > c.start_value OR c.start_value IS NULL))",
            bad,
        )
        stood = windows(room)
        if have_read:
            take_back(room, *(row["id"] for row in have_read), recall=recall)
        room.conn.execute(b"DELETE FROM app.a WHERE id = ANY (%s)", [bad])
        for _ in range(dice.randrange(len(have_read) + 1)):
            room.run()
        if dice.random() < 0.5:
            while room.one("SELECT count(*) FROM omd.open_window"):
                room.run()
            assert windows(room)[: len(stood)] == stood
    while room.one("SELECT count(*) FROM omd.open_window"):
        room.run()
    room.run()
    kept = windows(room)
    assert [start for start, _ in kept[1:]] == [end for _, end in kept[:-1]]
    expected = room.rows(
        "SELECT sum(a.v::int)::int AS n FROM app.a INNER JOIN omd.source_control AS c"
        " ON a.at <= c.end_value AND (a.at > c.start_value OR c.start_value IS NULL)"
        " INNER JOIN omd.module_instance AS i USING (module_instance_id)"
        " WHERE i.execution_status_code = 'S' AND NOT c.is_taken_back"
        " GROUP BY c.module_instance_id, a.k ORDER BY n"
    )
    assert out(room) == [row["n"] for row in expected]
    assert {row["new_instance_id"] for row in superseded(room)} - {None} <= {
        row["id"]
        for row in room.rows("SELECT module_instance_id AS id FROM omd_report.decision_run_log")
    }
