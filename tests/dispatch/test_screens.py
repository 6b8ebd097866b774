"""What a screen shows of the queue stops at a bound: a page of dead tasks, and counts of lanes."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import checked
from support.lots import SEED
from support.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from dispatch.conftest import Room

STATES = ("due", "later", "suspended", "claimed", "dead")


def die(room: Room, error: str | None, /, *, of: str | None = None, **arguments: Any) -> int:
    """Create a task and let it die of this error at its first attempt; a driver says its class."""
    task = room.create(**arguments)
    tables = [t for t in room.claim(1000) if t["task_id"] == task]
    room.complete(tables, "F", error=error, **({"error_class": of} if of else {}))
    return task


def lanes(room: Room, most: int | None = None) -> dict[tuple[str, str], dict[str, int]]:
    rows = room.rows(
        "SELECT * FROM omd_dispatch.queue_lanes()"
        if most is None
        else f"SELECT * FROM omd_dispatch.queue_lanes({most})"
    )
    return {
        (row["family_code"], row["lane"]): {s: row[s] for s in STATES if row[s]} for row in rows
    }


def dead(room: Room, *arguments: Any) -> list[int]:
    marks = ", ".join(["%s"] * len(arguments))
    return [
        row["task_id"]
        for row in room.rows(f"SELECT * FROM omd_dispatch.dead_tasks({marks})", *arguments)
    ]


def test_dead_tasks_come_in_pages_the_newest_of_all_families_first(room: Room) -> None:
    room.family()
    room.family("G")
    room.type("T", family_code="G", max_attempts=1)
    room.type("T", max_attempts=1)
    room.member()
    tasks = [
        die(room, "22012: division by zero", family_code=family) for family in ("F", "G", "G", "F")
    ]
    room.create("lives")
    assert dead(room) == tasks[::-1]
    assert dead(room, 3) == tasks[:0:-1]
    assert dead(room, 3, tasks[1]) == tasks[:1]
    assert dead(room, 3, tasks[0]) == []
    rows = room.rows("SELECT * FROM omd_dispatch.dead_tasks()")
    assert rows == room.rows("SELECT * FROM omd_report.dispatch_dead ORDER BY task_id DESC")


def test_the_error_of_a_dead_task_is_for_who_reads_rows(room: Room) -> None:
    room.family()
    room.type("T", max_attempts=1)
    room.member()
    die(room, "22P02: invalid input: 'secret'", of="22P02")
    [row] = room.rows("SELECT * FROM omd_dispatch.dead_tasks()")
    assert "secret" in row["error"]
    room.conn.execute("SET ROLE omd_reader")
    [row] = room.rows("SELECT * FROM omd_dispatch.dead_tasks()")
    assert row["error"] == "error 22P02"


def test_the_dead_are_grouped_by_the_code_of_their_error(room: Room) -> None:
    room.family()
    room.type("T", max_attempts=1)
    room.member()
    first = die(room, "22P02: invalid input: 'secret'", of="22P02")
    die(room, "22P02: invalid input: 'other'")
    python = die(room, "ValueError: secret", of="ValueError")
    silent = die(room, None)
    odd = die(room, "the secret 22P02: begins otherwise")
    room.conn.execute("SET ROLE omd_reader")
    rows = room.rows("SELECT * FROM omd_dispatch.dead_groups()")
    assert [(r["sqlstate_code"], r["dead"], r["first_task_id"], r["is_all"]) for r in rows] == [
        ("22P02", 2, first, True),
        ("ValueError", 1, python, True),
        (None, 2, min(silent, odd), True),
    ]
    assert "secret" not in str(rows)
    assert all(row["since"] is not None for row in rows)


def test_the_first_word_of_a_text_is_shown_only_when_a_driver_reported_it(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family()
    room.type("T", max_attempts=1)
    room.member()
    secret = "HUNTERTWO"
    for text in (
        f"{secret}: {secret}",
        f"{secret}",
        f"{secret.lower()}.{secret}: it failed",
        "HUNTE: five signs, as an SQLSTATE has",
        f"RELEASED: {secret}",  # a word of OMD
        f"{secret} is dead after 7 attempts: {secret}",
    ):
        die(room, text)
    die(room, f"ValueError: {secret}", of=f"ValueError: {secret}")  # no name
    die(room, f"ValueError: {secret}", of=f"ValueError{'x' * 200}")
    own = die(room, f"shop.ReceiverDown: {secret}", of="shop.ReceiverDown")
    loud = die(room, f"OOPS: {secret}", of="OOPS")
    for role in ("omd_reader", "omd_admin"):
        told = readable(another(role=role), role)
        lines = [line[:400] for line in told.splitlines() if "hunte" in line.lower()]
        assert lines == []
    reader = another(role="omd_reader")
    rows = reader.rows("SELECT * FROM omd_dispatch.dead_groups()")
    assert [(r["sqlstate_code"], r["dead"]) for r in rows] == [
        ("OOPS", 1), ("shop.ReceiverDown", 1), (None, 8),
    ]  # fmt: skip
    errors = {
        r["task_id"]: r["error"] for r in reader.rows("SELECT * FROM omd_report.dispatch_dead")
    }
    assert errors.pop(own) == "error shop.ReceiverDown"
    assert errors.pop(loud) == "error OOPS"
    assert set(errors.values()) == {"error without a code"}
    titles = str(reader.rows("SELECT * FROM omd_report.todo"))
    assert "error shop.ReceiverDown: the attempts are used up" in titles


def test_each_state_of_a_lane_is_counted(room: Room) -> None:
    room.family()
    room.type("T", max_attempts=1)
    room.type("LIMITED", max_attempts=1, max_running=1, limit_criterion="CODE")
    room.member()
    die(room, "22012: x")
    room.create("c")
    room.create("x", task_type="LIMITED")
    assert len(room.claim()) == 2
    room.create("x", task_type="LIMITED")
    first = room.create("due")
    room.create("due", priority=0)
    room.create("later", execution_time="2100-01-01")
    room.create("held")
    room.call("suspend", family_code="F", criteria={"CODE": ["held"]}, reason="r")
    room.maintain()
    assert lanes(room) == {
        ("F", "WORKER"): {"due": 2, "later": 1, "suspended": 1, "claimed": 1, "dead": 1},
        ("F", "WORKER/LIMITED/x"): {"due": 1, "claimed": 1},
    }
    [row, _] = room.rows("SELECT * FROM omd_dispatch.queue_lanes()")
    assert row["oldest_due"] == room.task(first)["execution_time"]


def test_a_lane_is_counted_no_further_than_asked(room: Room) -> None:
    room.family()
    room.type("T", max_attempts=1)
    room.type("FEW", max_attempts=1, deliver_id="OTHER")
    room.member()
    for _ in range(3):
        die(room, "22012: x")
    room.create_many([{"criteria": {"CODE": "c"}}] * 7)
    room.create("few", task_type="FEW")
    assert lanes(room, 2) == {("F", "OTHER"): {"due": 1}, ("F", "WORKER"): {"due": 2, "dead": 2}}
    assert lanes(room, 7)["F", "WORKER"] == {"due": 7, "dead": 3}


def test_nothing_to_do_is_no_lane(room: Room) -> None:
    assert lanes(room) == {}
    assert dead(room) == []
    room.family()
    room.member()
    room.create("done")
    room.complete(room.claim())
    assert lanes(room) == {}


@pytest.mark.parametrize(
    ("call", "sqlstate"),
    [
        ("dead_tasks(0)", "OM013"),
        ("dead_tasks(NULL)", "OM005"),
        ("queue_lanes(0)", "OM013"),
        ("queue_lanes(NULL)", "OM005"),
    ],
)
def test_a_bound_below_one_is_refused(room: Room, call: str, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        room.rows(f"SELECT * FROM omd_dispatch.{call}")
    checked(caught.value, sqlstate)


@pytest.mark.random
def test_lanes_are_what_a_count_of_all_tasks_gives(room: Room) -> None:
    """Compare with a plain count of the tables, for many lanes, priorities and states."""
    luck = random.Random(SEED)
    room.family()
    for number in range(3):
        room.type(
            f"L{number}", max_attempts=1, deliver_id=f"G{number}",
            max_running=5, limit_criterion="CODE",
        )  # fmt: skip
    tasks = [
        {
            "task_type": f"L{luck.randrange(3)}",
            "criteria": {"CODE": luck.choice("abcd")},
            "priority": luck.randrange(10),
            "execution_time": luck.choice(["2019-01-01", "2020-01-01", "2100-01-01", "2100-01-02"]),
        }
        for _ in range(300)
    ]
    for task_type in {t["task_type"] for t in tasks}:
        room.create_many(
            [
                {k: v for k, v in t.items() if k != "task_type"}
                for t in tasks
                if t["task_type"] == task_type
            ],
            task_type=task_type,
        )
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET status = 'DEAD', finished_at = now(), outcome = 'F',"
        " error = 'ValueError: x' WHERE task_id %% 5 = 0"
    )
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET status = 'CLAIMED', claimed_by = 'w',"
        " claimed_at = now(), claim_token = task_id WHERE task_id %% 5 = 1"
    )
    room.owner("UPDATE omd_dispatch.task_data_f SET suspension_id = 1 WHERE task_id %% 5 = 2")
    counted: dict[tuple[str, str], Counter[str]] = {}
    for row in room.rows(
        "SELECT *, execution_time <= now() AS is_due FROM omd_dispatch.task_data_f"
    ):
        state = (
            "suspended"
            if row["suspension_id"]
            else {"DEAD": "dead", "CLAIMED": "claimed"}.get(
                row["status"], "due" if row["is_due"] else "later"
            )
        )
        counted.setdefault(("F", row["lane"]), Counter())[state] += 1
    assert len(counted) == 12
    for most in (1, 3, 1000):
        assert lanes(room, most) == {
            lane: {state: min(n, most) for state, n in states.items()}
            for lane, states in counted.items()
        }


def test_a_million_of_one_lane_are_not_read(room: Room) -> None:
    """Every part stops at its bound, by an index of live and dead tasks."""
    room.family()
    room.owner(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome)"
        " SELECT 1000000 + n, n %% 8, 'T', 'WORKER', 5, now(), s, 1, now(),"
        " CASE WHEN s <> 'PENDING' THEN now() END,"
        " CASE s WHEN 'DONE' THEN 'S' WHEN 'DEAD' THEN 'F' END"
        " FROM generate_series(1, 20000) AS n,"
        " LATERAL (VALUES (CASE WHEN n <= 8000 THEN 'DONE' WHEN n <= 14000 THEN 'DEAD'"
        " ELSE 'PENDING' END)) AS v (s)"
    )
    room.conn.execute("VACUUM ANALYZE omd_dispatch.task_data_f")
    before = read(room)
    assert len(dead(room, 10)) == 10
    assert read(room) - before <= 40
    before = read(room)
    assert lanes(room, 50) == {("F", "WORKER"): {"due": 50, "dead": 50}}
    # The dead are looked at one by one: they have no index by lane.
    assert read(room) - before <= 6000 + 400


def read(room: Room) -> int:
    """How many rows of tasks were read so far, in all ways."""
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        room.one(
            "SELECT sum(t.seq_tup_read)::bigint + (SELECT sum(i.idx_tup_read)::bigint"
            " FROM pg_stat_user_indexes AS i WHERE i.relname LIKE 'task\\_data\\_f%%')"
            " FROM pg_stat_user_tables AS t WHERE t.relname LIKE 'task\\_data\\_f%%'"
        )
    )
