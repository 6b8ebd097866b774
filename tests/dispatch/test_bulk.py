"""Bulk actions: one call over a filter, which never touches more than was counted."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb

from support.lots import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

DEAD = {"family_code": "F", "statuses": ["DEAD"]}
PENDING = {"family_code": "F", "statuses": ["PENDING"]}
RUNNING = {"family_code": "F", "statuses": ["CLAIMED"]}
LIVE = {"family_code": "F", "statuses": ["PENDING", "CLAIMED", "DEAD"]}


def now(room: Room) -> Any:
    return room.one("SELECT clock_timestamp()")


def count(room: Room, given: Any, counted_at: Any = None) -> int:
    at = counted_at or now(room)
    return int(room.one("SELECT omd_dispatch.count_tasks(%s, %s)", Jsonb(given), at))


def act(room: Room, routine: str, given: Any, /, **more: Any) -> tuple[int, int, bool]:
    """Call it over tasks as they are now; return what it has changed, passed over, and left."""
    arguments = {"counted_at": now(room), "filter": Jsonb(given), **more}
    answer = room.call(routine, **arguments)
    return answer["changed"], answer["passed"], answer["more"]


def statuses(room: Room) -> str:
    """The first letter of each status, in the order of the tasks: C is claimed, X cancelled."""
    rows = room.rows("SELECT status FROM omd_dispatch.task_data_f ORDER BY task_id")
    return "".join({"CANCELLED": "X"}.get(row["status"], row["status"][0]) for row in rows)


def die(room: Room, *codes: str, **error: Any) -> list[int]:
    """Create tasks that die at once, as their types have a single attempt."""
    for code in codes:
        room.create(code)
    room.member()
    claimed = room.claim(1000)
    assert room.complete(claimed, "F", **error) == []
    return sorted(task["task_id"] for task in claimed)


def family(room: Room, *key: str, **arguments: Any) -> None:
    room.family("F", key, **arguments)
    room.type(max_attempts=1)


def test_dead_tasks_are_revived_in_parts_as_one_is(room: Room) -> None:
    family(room)
    ids = die(room, *"abcde", error="ValueError: no row")
    hand = room.create("hand")
    room.call("cancel_task", task_id=hand)
    room.call("revive_task", task_id=hand)
    counted_at = now(room)
    assert count(room, DEAD, counted_at) == 5
    first = room.call("revive_tasks", filter=DEAD, counted_at=counted_at, limit=2)
    assert first == {"changed": 2, "passed": 0, "last_task_id": ids[1], "more": True}
    assert count(room, DEAD, counted_at) == 3
    after = {"after_task_id": ids[1], "limit": 2}
    second = room.call("revive_tasks", filter=DEAD, counted_at=counted_at, **after)
    assert second["last_task_id"] == ids[3]
    rest = room.call("revive_tasks", filter=DEAD, counted_at=counted_at)
    assert rest == {"changed": 1, "passed": 0, "last_task_id": ids[4], "more": False}
    none = room.call("revive_tasks", filter=DEAD, counted_at=counted_at, after_task_id=ids[4])
    assert none == {"changed": 0, "passed": 0, "last_task_id": ids[4], "more": False}
    stamps = ("task_id", "execution_time", "created_at", "pending_since", "func_code")
    alike = {str({**room.task(i), **dict.fromkeys(stamps)}) for i in (*ids, hand)}
    assert len(alike) == 1
    assert len(room.claim()) == 6
    events = room.rows(
        "SELECT event_detail AS d FROM omd.event_log"
        " WHERE event_return_code_details = 'REVIVED' AND event_type_code = 4 ORDER BY event_id"
    )
    user = room.one("SELECT session_user")
    assert len(events) == 5
    assert events[1]["d"].startswith(f"{user}: 2 tasks, 0 passed over: ")
    assert '"statuses": ["DEAD"]' in events[1]["d"]


def test_a_task_whose_key_another_one_has_is_passed_over_and_stays_as_it_is(room: Room) -> None:
    family(room, "CODE")
    ids = die(room, *"abc")
    twice = die(room, "a")  # two dead tasks have the same key
    holder = room.create("b")
    keys = "SELECT task_id FROM omd_dispatch.mutex ORDER BY task_id"
    assert act(room, "revive_tasks", DEAD) == (2, 2, False)
    assert statuses(room) == "PDPDP"
    assert room.rows(keys) == [{"task_id": i} for i in (ids[0], ids[2], holder)]
    room.refused("OM170", "revive_task", task_id=twice[0])
    assert act(room, "cancel_tasks", PENDING) == (3, 0, False)
    assert room.rows(keys) == []
    assert act(room, "revive_tasks", DEAD) == (2, 0, False)
    assert room.rows(keys) == [{"task_id": i} for i in (ids[1], twice[0])]


def test_what_the_single_routine_refuses_is_counted_and_passed_over(room: Room) -> None:
    family(room)
    die(room, "d")
    room.create("c")
    room.claim()
    room.create("p")
    assert count(room, LIVE) == 3
    assert act(room, "reschedule_tasks", LIVE, priority=0) == (1, 2, False)
    assert act(room, "cancel_tasks", LIVE) == (1, 2, False)
    assert act(room, "cancel_tasks", LIVE, running=None) == (0, 2, False)
    assert act(room, "revive_tasks", LIVE, limit=1) == (1, 0, True)
    assert act(room, "revive_tasks", LIVE) == (0, 2, False)
    assert statuses(room) == "PCX"


def test_running_tasks_are_asked_once_to_end(room: Room) -> None:
    room.family()
    room.member()
    for code in "abc":
        room.create(code)
    tasks = room.claim(2)
    assert act(room, "cancel_tasks", RUNNING) == (0, 2, False)
    assert act(room, "cancel_tasks", LIVE, running=True, limit=2) == (2, 0, True)
    assert count(room, RUNNING) == 0
    assert act(room, "cancel_tasks", LIVE, running=True) == (1, 0, False)
    assert statuses(room) == "CCX"
    assert room.complete(tasks, "F") == []
    assert statuses(room) == "XXX"


def test_a_task_gets_its_time_and_priority_once(room: Room) -> None:
    family(room)
    room.member()
    for code in "abc":
        room.create(code)
    given = {"execution_time": "2100-01-01 00:00+00", "priority": 2}
    assert act(room, "reschedule_tasks", PENDING, limit=2, **given) == (2, 0, True)
    assert act(room, "reschedule_tasks", PENDING, **given) == (1, 0, False)
    assert act(room, "reschedule_tasks", PENDING, **given) == (0, 0, False)
    assert room.claim() == []
    assert act(room, "reschedule_tasks", PENDING, priority=3) == (3, 0, False)
    room.conn.execute("LISTEN omd_dispatch")
    assert act(room, "reschedule_tasks", PENDING, execution_time="2020-01-01") == (3, 0, False)
    assert [n.payload for n in room.conn.notifies(timeout=0.1)] == ["WORKER"]
    assert [task["priority"] for task in room.claim()] == [3, 3, 3]
    for code, wrong in (
        ("OM005", {}),
        ("OM013", {"priority": 10}),
        ("OM013", {"execution_time": "infinity"}),
    ):
        room.refused(code, "reschedule_tasks", filter=PENDING, counted_at=now(room), **wrong)


def test_what_has_changed_its_status_since_the_count_is_left_alone(room: Room) -> None:
    family(room)
    old = die(room, "old")
    room.create("waits")
    counted_at = now(room)
    die(room, "new")  # it takes the one that waits along
    assert count(room, DEAD, counted_at) == 1
    given = {"counted_at": counted_at}
    assert act(room, "revive_tasks", DEAD, **given) == (1, 0, False)
    assert act(room, "cancel_tasks", PENDING, **given) == (0, 0, False)
    assert act(room, "reschedule_tasks", PENDING, priority=0, **given) == (0, 0, False)
    assert room.complete(room.claim(), "F") == []
    assert room.task(old[0])["status"] == "DEAD"
    assert act(room, "revive_tasks", DEAD, **given) == (0, 0, False)
    assert act(room, "revive_tasks", DEAD) == (3, 0, False)


@pytest.mark.parametrize("way", ["failed", "later", "given back", "revived", "lost"])
def test_a_task_that_is_pending_again_says_since_when(room: Room, way: str) -> None:
    room.family()
    room.type(backoff="0", later_after="0")
    room.member()
    task_id = room.create()
    assert room.task(task_id)["pending_since"] is None
    claimed = room.claim()
    counted_at = now(room)
    if way == "given back":
        room.call("release_tasks", backend_id="w1", task_ids=[task_id])
    elif way == "lost":
        room.owner("DELETE FROM omd_dispatch.backend_registration")
        assert room.maintain()["reclaimed"] == 1
    elif way == "revived":
        room.call("cancel_task", task_id=task_id, running=True)
        room.complete(claimed, "F")
        room.call("revive_task", task_id=task_id)
    else:
        room.complete(claimed, {"failed": "F", "later": "A"}[way])
    assert room.task(task_id)["pending_since"] > counted_at
    assert count(room, PENDING, counted_at) == 0
    assert count(room, PENDING) == 1


def test_what_another_session_holds_is_skipped(room: Room, another: Callable[..., Room]) -> None:
    family(room)
    ids = die(room, *"abc")
    counted_at = now(room)
    holder = another(autocommit=False)
    holder.rows("SELECT FROM omd_dispatch.task_data_f WHERE task_id = %s FOR UPDATE", ids[0])
    room.conn.execute("SET lock_timeout = '1s'")
    given = {"counted_at": counted_at}
    assert act(room, "revive_tasks", DEAD, limit=2, **given) == (2, 0, True)
    assert act(room, "revive_tasks", DEAD, **given) == (0, 0, False)
    holder.conn.rollback()
    assert act(room, "revive_tasks", DEAD, **given) == (1, 0, False)


def test_a_filter_means_what_it_says(room: Room) -> None:
    family(room, criteria={"CODE": "text", "N": "numeric", "DAY": "date"})
    room.type("U", max_attempts=1, max_running=9)
    for task_type in "TU":
        for criterion in ("N", "DAY"):
            args = {"task_type": task_type, "criterion": criterion}
            room.call("set_custom", family_code="F", mode="O", **args)
    hostile = """'); DROP TABLE omd.module; -- "{}\\,"""
    ids = [
        room.create("a"),
        room.create("b", task_type="U"),
        room.create(criteria={"CODE": hostile, "N": 2, "DAY": "2020-02-01"}),
        room.create("100% _"),
    ]
    held = room.call("suspend", family_code="F", criteria={"CODE": "b"})["suspension_id"]
    after = now(room)

    def found(**given: Any) -> list[int]:
        """Cancel what it describes, and undo that."""
        filter_ = {**PENDING, **given}
        counted = count(room, filter_)
        with room.conn.transaction(force_rollback=True):
            before = statuses(room)
            assert act(room, "cancel_tasks", filter_) == (counted, 0, False)
            pairs = zip(ids, before, statuses(room), strict=True)
            return [ids.index(i) for i, was, is_ in pairs if was != is_]

    assert found() == [0, 1, 2, 3]
    assert found(task_types=["U"]) == [1]
    assert found(task_types=["T", "U"], task_ids=[ids[3], ids[1], 10**17]) == [1, 3]
    assert found(lane="WORKER") == [0, 2, 3]
    assert found(lane="WORKER/U") == [1]
    assert found(lane="'") == []
    assert found(suspension_id=held) == [1]
    assert found(suspension_id=held + 1) == []
    assert found(criteria={"CODE": ["a", hostile]}) == [0, 2]
    assert found(criteria={"CODE": hostile, "N": ["2.0", 7]}) == [2]
    assert found(criteria={"DAY": "2020-02-01"}) == [2]
    assert found(criteria={"N": 3}) == []
    stamps = room.rows("SELECT created_at::text AS at FROM omd_dispatch.task_data_f ORDER BY 1")
    assert found(since=stamps[1]["at"], until=stamps[3]["at"]) == [1, 2]
    assert found(since=str(after)) == []
    assert found(until="infinity", since="-infinity") == [0, 1, 2, 3]


def test_dead_tasks_are_found_by_the_beginning_of_their_error(
    room: Room, another: Callable[..., Room]
) -> None:
    family(room)
    for error in ("100%: x", "1000: x", "secret 'value'"):
        die(room, "a", error=error)
    die(room, "b")  # without one
    admin, reader = another(role="omd_admin"), another(role="omd_reader")
    for role in (admin, reader):
        with pytest.raises(InsufficientPrivilege, match="omd_data_reader"):
            count(role, {**DEAD, "error": "1"})
    with pytest.raises(InsufficientPrivilege, match="omd_data_reader"):
        act(admin, "revive_tasks", {**DEAD, "error": "1"})
    assert count(room, {**DEAD, "error": "100%"}) == 1
    assert act(room, "revive_tasks", {**DEAD, "error": "100%"}) == (1, 0, False)
    assert act(room, "revive_tasks", {**DEAD, "error": "secret 'value'"}) == (1, 0, False)
    assert statuses(room) == "PDPD"
    assert room.one("SELECT count(*) FROM omd.event_log WHERE event_detail LIKE '%%value%%'"
                    " AND event_return_code_details = 'REVIVED'") == 0  # fmt: skip


WRONG: list[tuple[str, Any]] = [
    ("OM099", wrong)
    for wrong in (
        None, [], "F", 1, {}, {"family_code": "F"}, {"statuses": ["DEAD"]},
        {**DEAD, "status": "DEAD"}, {**DEAD, "Task_ids": [1]}, {**DEAD, "' OR TRUE --": 1},
        {**DEAD, "family_code": None}, {**DEAD, "family_code": ["F"]},
        {**DEAD, "statuses": "DEAD"}, {**DEAD, "statuses": []}, {**DEAD, "statuses": None},
        {**DEAD, "statuses": ["DONE"]}, {**DEAD, "statuses": ["DEAD", "CANCELLED"]},
        {**DEAD, "statuses": ["dead"]}, {**DEAD, "statuses": ["DEAD') OR TRUE --"]},
        {**DEAD, "statuses": [["DEAD"]]}, {**DEAD, "statuses": {"DEAD": 1}},
        {**DEAD, "task_ids": []}, {**DEAD, "task_ids": None}, {**DEAD, "task_ids": 1},
        {**DEAD, "task_ids": ["1) OR TRUE --"]}, {**DEAD, "task_ids": [1, None]},
        {**DEAD, "task_ids": [1.5]}, {**DEAD, "task_ids": [-1]}, {**DEAD, "task_ids": [10**30]},
        {**DEAD, "task_types": []}, {**DEAD, "task_types": [1]}, {**DEAD, "task_types": "T"},
        {**DEAD, "lane": None}, {**DEAD, "lane": ["WORKER"]}, {**DEAD, "lane": 1},
        {**DEAD, "error": None}, {**DEAD, "error": {}}, {**DEAD, "suspension_id": None},
        {**DEAD, "suspension_id": "1"}, {**DEAD, "suspension_id": [1]},
        {**DEAD, "criteria": None}, {**DEAD, "criteria": []}, {**DEAD, "criteria": {}},
        {**DEAD, "since": None}, {**DEAD, "since": 1}, {**DEAD, "until": "soon'"},
        {**DEAD, "until": "2020-13-01"}, {**DEAD, "until": "999999-01-01"},
    )
] + [
    ("OM070", {**DEAD, "family_code": "f"}),
    ("OM070", {**DEAD, "family_code": "F; DROP TABLE omd.module"}),
    ("OM071", {**DEAD, "task_types": ["T", "X"]}),
    ("OM075", {**DEAD, "criteria": {"CODE": "a", "X": "a"}}),
    ("OM075", {**DEAD, "criteria": {"code": "a"}}),
    *(("OM078", {**DEAD, "criteria": {"N": wrong}})
      for wrong in ("many", None, [], [1, None], {"a": 1}, [[1]], "1); --")),
]  # fmt: skip


def test_anything_else_is_refused_and_nothing_is_changed(room: Room) -> None:
    family(room, criteria={"CODE": "text", "N": "numeric"})
    room.call("set_custom", family_code="F", task_type="T", criterion="N", mode="O")
    die(room, "a")
    for sqlstate, given in WRONG:
        with pytest.raises(psycopg.Error) as caught:
            count(room, given)
        assert (caught.value.sqlstate, given) == (sqlstate, given)
        assert caught.value.diag.message_hint
        arguments = {"filter": Jsonb(given), "counted_at": now(room)}
        for routine, more in (("revive", {}), ("cancel", {}), ("reschedule", {"priority": 1})):
            room.refused(sqlstate, f"{routine}_tasks", **arguments, **more)
    with pytest.raises(psycopg.Error, match="leaves out family_code"):
        count(room, {"statuses": ["DEAD"]})
    room.refused("OM005", "revive_tasks", filter=DEAD, counted_at=None)
    room.refused("OM013", "revive_tasks", filter=DEAD, counted_at="infinity")
    for limit in (None, 0, -1, 1_000_001):
        room.refused("OM013", "revive_tasks", filter=DEAD, counted_at=now(room), limit=limit)
    with pytest.raises(psycopg.Error, match="p_counted_at"):
        room.one("SELECT omd_dispatch.count_tasks(%s, NULL)", Jsonb(DEAD))
    room.conn.execute("SET default_transaction_isolation = 'repeatable read'")
    room.refused("OM014", "revive_tasks", filter=DEAD, counted_at=now(room))
    assert statuses(room) == "D"
    assert room.one("SELECT count(*) FROM omd.event_log WHERE event_type_code = 4"
                    " AND event_return_code_details = 'REVIVED'") == 0  # fmt: skip


def test_the_rights_are_those_of_the_single_routines(
    room: Room, another: Callable[..., Room]
) -> None:
    family(room)
    die(room, "a")
    room.create("p")
    reader, runner, admin = (another(role=f"omd_{r}") for r in ("reader", "runner", "admin"))
    assert {count(role, LIVE) for role in (reader, runner, admin)} == {2}
    for role, routine in ((reader, "cancel"), (reader, "reschedule"), (reader, "revive"),
                          (runner, "revive")):  # fmt: skip
        with pytest.raises(InsufficientPrivilege):
            act(role, f"{routine}_tasks", LIVE)
    assert act(runner, "reschedule_tasks", LIVE, priority=1) == (1, 1, False)
    assert act(runner, "cancel_tasks", LIVE) == (1, 1, False)
    assert act(admin, "revive_tasks", LIVE) == (1, 0, False)


def test_revived_tasks_that_a_suspension_holds_are_held_and_lanes_are_the_new_ones(
    room: Room,
) -> None:
    family(room)
    die(room, *"ab")
    held = room.call("suspend", family_code="F", criteria={"CODE": "a"})["suspension_id"]
    room.type(max_attempts=1, max_running=5)
    assert act(room, "revive_tasks", DEAD) == (2, 0, False)
    rows = room.rows("SELECT lane, suspension_id FROM omd_dispatch.task_data_f ORDER BY task_id")
    assert [(r["lane"], r["suspension_id"]) for r in rows] == [
        ("WORKER/T", held), ("WORKER/T", None)
    ]  # fmt: skip
    assert act(room, "cancel_tasks", {**PENDING, "suspension_id": held}) == (1, 0, False)
    assert [t["criteria"]["CODE"] for t in room.claim()] == ["b"]


def test_both_models_of_a_family_stay_in_step(room: Room) -> None:
    family(room, migration_status=3)
    die(room, *"abc")
    assert act(room, "revive_tasks", DEAD, limit=2) == (2, 0, True)
    assert act(room, "cancel_tasks", PENDING, limit=1) == (1, 0, True)
    assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
    room.call("set_migration_status", family_code="F", migration_status=2)
    room.refused("OM173", "revive_tasks", filter=DEAD, counted_at=now(room))


def test_a_part_reads_live_and_dead_tasks_only_whatever_has_finished(room: Room) -> None:
    family(room)
    insert = (
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, claimed_by, claimed_at,"
        " claim_token) SELECT n, n %% 8, 'T', 'WORKER', 5, now(), s.status, 1, now(), now(),"
        " s.by, CASE WHEN s.by <> '' THEN now() END, CASE WHEN s.by <> '' THEN n END"
        " FROM generate_series(1, 20000) AS n CROSS JOIN LATERAL (SELECT CASE"
        " WHEN n %% 400 = 0 THEN 'DEAD' WHEN n %% 400 = 200 THEN 'PENDING'"
        " WHEN n %% 400 = 100 THEN 'CLAIMED' ELSE 'DONE' END, CASE WHEN n %% 400 = 100 THEN 'w' END"
        ") AS s (status, by)"
    )
    room.owner(insert)
    read = (
        "SELECT (SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname LIKE 'task_data_f%%'),"
        " sum(idx_tup_read) AS entries FROM pg_stat_user_indexes"
        " WHERE relname LIKE 'task_data_f%%'"
    )
    for analysed in (False, True):
        if analysed:
            room.owner("ANALYZE omd_dispatch.task_data_f")
        room.conn.execute("SELECT pg_stat_force_next_flush()")
        (before,) = room.rows(read)
        assert count(room, LIVE) == 150
        assert act(room, "revive_tasks", DEAD, limit=10) == (10, 0, True)
        assert act(room, "reschedule_tasks", PENDING, limit=10, priority=1) == (10, 0, True)
        assert act(room, "cancel_tasks", RUNNING, limit=10) == (0, 10, True)
        with room.conn.transaction(force_rollback=True):
            assert act(room, "cancel_tasks", LIVE, limit=10, running=True)[0] > 0
        room.conn.execute("SELECT pg_stat_force_next_flush()")
        (after,) = room.rows(read)
        assert after["sum"] == before["sum"]
        assert after["entries"] - before["entries"] < 1000


@pytest.mark.random
def test_it_does_what_the_single_routines_do_one_after_the_other(
    room: Room, another: Callable[..., Room]
) -> None:
    """Random tasks, and a random call with a random filter, against single calls undone before."""
    choose = random.Random(SEED)
    family(room, "CODE", criteria={"CODE": "text", "N": "bigint"})
    room.type("U", max_attempts=1, max_running=3, limit_criterion="N")
    room.member()
    image = (
        "SELECT task_id,"
        " to_jsonb(t) - '{execution_time,finished_at,pending_since}'::text[] AS task,"
        " EXISTS (SELECT FROM omd_dispatch.mutex AS m WHERE m.task_id = t.task_id) AS has_key"
        " FROM omd_dispatch.task_data_f AS t ORDER BY task_id"
    )

    def some(values: Any) -> list[Any]:
        return choose.sample(values, choose.randint(1, len(values)))

    for turn in range(12):
        for _ in range(12):
            given = {"CODE": choose.choice("abcdefghij"), "N": choose.randint(1, 3)}
            room.create(criteria=given, task_type=choose.choice("TU"), on_duplicate="EXISTING")
        claimed = room.claim(choose.randint(1, 8))
        room.complete([t for t in claimed if choose.random() < 0.7], choose.choice("FFS"))
        if turn % 4 == 1:
            room.call("suspend", family_code="F", criteria={"N": choose.randint(1, 3)})
        every = [r["task_id"] for r in room.rows(image)]
        optional: dict[str, Any] = {
            "task_types": some("TU"),
            "criteria": {"N": some([1, 2, 3])},
            "task_ids": some(every),
            "lane": choose.choice(["WORKER", "WORKER/U/1"]),
        }
        names = choose.sample(sorted(optional), choose.randint(0, 2))
        filter_ = {
            "family_code": "F",
            "statuses": some(["PENDING", "CLAIMED", "DEAD"]),
            **{name: optional[name] for name in names},
        }
        routine, more = choose.choice([
            ("revive", {}), ("cancel", {}), ("cancel", {"running": True}),
            ("reschedule", {"priority": choose.randint(0, 9)}),
        ])  # fmt: skip
        counted_at = now(room)
        states = {r["task_id"]: r["task"] for r in room.rows(image)}
        chosen = [
            i for i, t in states.items()
            if t["status"] in filter_["statuses"] and not t["cancel_requested"]
            and t["task_type"] in filter_.get("task_types", "TU")
            and t["func_n"] in filter_.get("criteria", {"N": [1, 2, 3]})["N"]
            and i in filter_.get("task_ids", every)
            and t["lane"] == filter_.get("lane", t["lane"])
        ]  # fmt: skip
        assert count(room, filter_, counted_at) == len(chosen)
        if routine == "reschedule":
            chosen = [
                i for i in chosen
                if (states[i]["status"], states[i]["priority"]) != ("PENDING", more["priority"])
            ]  # fmt: skip
        # The keys of a part go to the task that is first by key and number, as one after the other.
        done = 0
        with room.conn.transaction(force_rollback=True):
            for task_id in chosen:
                try:
                    with room.conn.transaction():
                        room.call(f"{routine}_task", task_id=task_id, **more)
                        done += 1
                except psycopg.Error as error:
                    if error.sqlstate not in ("OM170", "OM171"):
                        raise
            expected = room.rows(image)
        changed = passed = 0
        last, left = None, True
        while left:
            answer = room.call(
                f"{routine}_tasks", filter=filter_, counted_at=counted_at, after_task_id=last,
                limit=choose.choice([1, 3, 50]), **more,
            )  # fmt: skip
            changed, passed = changed + answer["changed"], passed + answer["passed"]
            last, left = answer["last_task_id"], answer["more"]
        assert (changed, passed) == (done, len(chosen) - done), (routine, filter_)
        assert room.rows(image) == expected, (routine, filter_)


@pytest.mark.random
def test_each_task_is_revived_once_while_workers_claim_and_a_stop_comes_in_the_middle(
    room: Room, another: Callable[..., Room]
) -> None:
    """What workers fail again meanwhile is not taken again; what is stopped is taken up later."""
    choose = random.Random(SEED)
    family(room)
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(3000)])
    room.member("w0")
    while tasks := room.claim(1000, by="w0"):
        assert room.complete(tasks, "F", by="w0") == []
    counted_at = now(room)
    later = die(room, "later")
    assert count(room, DEAD, counted_at) == 3000
    started: list[int] = []
    errors: list[Exception] = []
    stop = threading.Event()

    def work(session: Room, name: str) -> None:
        try:
            session.member(name)
            while not stop.is_set():
                tasks = session.claim(50, by=name)
                started.extend(task["task_id"] for task in tasks)
                session.complete(tasks, "F", by=name)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(another(), f"w{n}")) for n in range(1, 4)]
    for thread in threads:
        thread.start()
    changed = 0
    admin, stopper = another(), another()
    try:
        last, more, turns = None, True, 0
        while more:
            turns += 1
            # A statement that is stopped has done nothing; then the filter begins anew.
            timer = threading.Timer(choose.random() / 50, admin.conn.cancel_safe)
            if turns % 3 == 0:
                timer.start()
            try:
                answer = admin.call("revive_tasks", filter=DEAD, counted_at=counted_at, limit=200,
                                    after_task_id=last)  # fmt: skip
                changed += answer["changed"]
                last, more = answer["last_task_id"], answer["more"]
                assert answer["passed"] == 0
            except psycopg.errors.QueryCanceled:
                last = None
            finally:
                timer.cancel()
                if timer.is_alive():
                    timer.join()  # or it would cancel a later statement
        # What a worker held for a moment was skipped.
        while answer := admin.call("revive_tasks", filter=DEAD, counted_at=counted_at)["changed"]:
            changed += answer
        ended = (
            "SELECT count(*) = 0 FROM omd_dispatch.task_data_f"
            " WHERE status IN ('PENDING', 'CLAIMED')"
        )
        while not errors and not stopper.one(ended):
            pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
    assert (changed, len(started), len(set(started))) == (3000, 3000, 3000)
    assert later[0] not in started
    assert count(room, DEAD) == 3001
