"""Families, types and creation, rule by rule."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

VALUES: dict[str, tuple[list[object], list[object]]] = {
    "text": (["a", "", "a'b\"\\$1 {%s}", 1, True], [["a"], {"a": 1}]),
    "bigint": ([1, -(2**63), "7"], [1.5, 2**63, "x", "", True, [1]]),
    "numeric": ([1.5, "NaN", 10**40], ["x", True, {}]),
    "boolean": ([True, "f"], ["maybe", 3, []]),
    "date": (["2024-02-29"], ["2023-02-29", "x", 5, False, ["2024-02-29"]]),
    "timestamptz": (["2026-01-01 00:00+02"], ["2026-13-01", 1, {}]),
    "uuid": (["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"], ["a0eebc99", 1, True]),
}
TASK = {"family_code": "F", "task_type": "T"}


def test_values_are_of_the_types_of_their_criteria(room: Room) -> None:
    room.call("register_family", family_code="F", criteria={t.upper(): t for t in VALUES})
    room.type()
    for kind in VALUES:
        room.call("set_custom", **TASK, criterion=kind.upper(), mode="O")
    for kind, (right, wrong) in VALUES.items():
        for value in right:
            task = room.task(room.create(criteria={kind.upper(): value}))
            expected = room.one(f"SELECT %s::text::{kind}", _text(value))
            assert task[f"func_{kind}"] == expected or expected != expected, (kind, value)
        for value in wrong:
            detail = room.refused("OM078", "create_task", **TASK, criteria={kind.upper(): value})
            assert detail["criterion"] == kind.upper(), value
            room.refused(
                "OM078",
                "create_tasks",
                **TASK,
                tasks=Jsonb(
                    [
                        {"criteria": {}},
                        {"criteria": {kind.upper(): value}},
                    ]
                ),
            )
            room.refused("OM078", "suspend", family_code="F", criteria={kind.upper(): [[value]]})


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_arguments_of_tasks_are_refused_by_name(room: Room) -> None:
    room.family("F", ("CODE",))
    good = {**TASK, "criteria": {"CODE": "a"}}
    for sqlstate, wrong in (
        ("OM005", {"family_code": None}),
        ("OM005", {"task_type": None}),
        ("OM070", {"family_code": "F'; DROP TABLE x; --"}),
        ("OM071", {"task_type": "t"}),
        ("OM076", {"criteria": None}),
        ("OM013", {"criteria": Jsonb("CODE")}),
        ("OM075", {"criteria": {"CODE": "a", "code": "a"}}),
        ("OM013", {"execution_time": "infinity"}),
        ("OM013", {"execution_time": "-infinity"}),
        ("OM013", {"priority": -1}),
        ("OM013", {"priority": 2**31 - 1}),
        ("OM013", {"on_duplicate": "error"}),
    ):
        room.refused(sqlstate, "create_task", **{**good, **wrong})
    for tasks in (
        Jsonb(None),
        Jsonb({"criteria": {"CODE": "a"}}),
        Jsonb([None]),
        Jsonb([[]]),
        Jsonb([{"criteria": {"CODE": "a"}, "prio": 1}]),
        *(
            Jsonb([{"criteria": {"CODE": "a"}, name: value}])
            for name, values in {
                "priority": (-1, 10, 1.5, "x", 10**30, True, [], {}),
                "execution_time": ("infinity", "-infinity", "x", 5, {}, True),
                "criteria": ([], "x", 1, True),
            }.items()
            for value in values
        ),
    ):
        room.refused("OM013", "create_tasks", **TASK, tasks=tasks)
    room.refused("OM005", "create_tasks", **TASK, tasks=None)
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 0
    assert room.one("SELECT count(*) FROM omd_dispatch.mutex") == 0
    payload = {"a": None, "b": [None, {"c": None}], "long": "x" * 2_000_000}
    answer = room.create_many(
        [{"criteria": {"CODE": "a"}, "priority": None, "execution_time": None, "payload": payload}]
    )
    task = room.task(answer["task_ids"][0])
    assert (task["payload"], task["priority"]) == (payload, 5)
    for routine in ("cancel_task", "reschedule_task", "revive_task"):
        room.refused("OM005", routine, task_id=None)
        room.refused("OM072", routine, task_id=-1)
    ids = answer["task_ids"][0]
    for wrong in ({"execution_time": "infinity"}, {"priority": 10}, {"priority": 2**31 - 1}):
        room.refused("OM013", "reschedule_task", task_id=ids, **wrong)
    room.call("reschedule_task", task_id=ids)
    room.refused("OM171", "cancel_task", task_id=_claimed(room), running=None)


def _claimed(room: Room) -> int:
    room.member()
    (task,) = room.claim()
    return int(task["task_id"])


def test_a_name_has_one_meaning(room: Room) -> None:
    room.family("F", ("CODE",), criteria={"CODE": "text", "DAY": "date"})
    given = {**TASK, "criterion": "CODE"}
    room.call("set_external_name", **given, external_name="x")
    room.call("set_external_name", **given, external_name="x")
    for wrong in ("DAY", "CODE"):
        room.refused("OM013", "set_external_name", **given, external_name=wrong)
    room.refused("OM013", "set_external_name", **{**given, "criterion": "DAY"}, external_name="x")
    room.refused("OM013", "set_external_name", **given, external_name="")
    room.refused("OM005", "set_external_name", **{**given, "criterion": None}, external_name="y")
    room.call("set_external_name", **given, external_name="NEW")
    # Neither may a criterion that comes later take the name.
    room.refused("OM013", "register_family", family_code="F", criteria={"NEW": "text"})
    room.create(criteria={"NEW": "a", "DAY": "2026-01-01"})
    room.refused("OM170", "create_task", **TASK, criteria={"CODE": "a", "DAY": "2026-01-02"})
    room.refused("OM075", "create_task", **TASK, criteria={"x": "a", "DAY": "2026-01-02"})
    room.refused("OM013", "create_task", **TASK, criteria={"NEW": "a", "CODE": "a"})
    room.call("set_external_name", **given, external_name=None)
    room.refused("OM075", "create_task", **TASK, criteria={"NEW": "a"})


def test_a_code_that_would_be_the_table_of_another_family_is_refused(room: Room) -> None:
    room.family("F")
    for code in ("F_P1", "G_P12", "F_SWAP", "F_OLD", "f", "_F", "1F", "F" * 31, "", "F;", "Ä"):
        assert room.refused("OM013", "register_family", family_code=code)["argument"] == (
            "p_family_code"
        )
    room.refused("OM005", "register_family", family_code=None)
    for code in ("F" * 30, "F_P", "F_P1X", "SWAP", "SELECT"):
        room.call("register_family", family_code=code, criteria={"CODE": "text"})
        room.type(family_code=code)
        room.create(family_code=code)
        slot = {"family_code": code, "partition_code": 0}
        assert room.call("purge_partition", **slot)["outcome"] in {"PURGED", "LIVE_ROWS"}


def test_settings_of_types_are_finite(room: Room) -> None:
    room.family()
    wrong = [
        {"max_attempts": 0},
        {"max_running": -1},
        {"backoff": "-1 s"},
        {"backoff": "2 s", "backoff_limit": "1 s"},
        {"later_after": "-1 s"},
        {"timeout": "-1 s"},
        {"limit_criterion": "CODE"},
        {"handler": "SHELL"},
        {"deliver_id": "worker"},
        {"target": "m"},
        {"later_after": "200000 years"},
        {"backoff_limit": "200000 years"},
        {"timeout": "200000 years"},
        {"later_after": "1 month -29 days"},
    ]
    if room.conn.info.server_version >= 170000:
        wrong += [{n: "infinity"} for n in ("later_after", "backoff_limit", "timeout")]
    for setting in wrong:
        room.refused("OM013", "register_task_type", **TASK, **setting)
    room.refused("OM075", "register_task_type", **TASK, max_running=1, limit_criterion="X")
    room.refused("OM005", "register_task_type", family_code="F", task_type="NEW")
    room.refused("OM013", "register_task_type", family_code="F", task_type="new", handler="SQL")
    room.refused("OM013", "set_custom", **TASK, criterion="CODE", mode="X")
    room.refused("OM005", "set_custom", **TASK, criterion=None, mode="D")
    unknown = {"family_code": "F", "task_type": "X", "criterion": "CODE"}
    for mode in ("D", None):
        room.refused("OM071", "set_custom", **unknown, mode=mode)
    for sqlstate, given in (
        ("OM013", {"retention": "-1 day"}),
        ("OM013", {"retention": "0"}),
        ("OM013", {"partition_count": 4}),  # the retention does not fit
        ("OM013", {"partition_count": 0}),
        ("OM013", {"scheme_code": "MONTH_RING"}),
        ("OM013", {"criteria": {"A": "json"}}),
        ("OM013", {"criteria": {"A": None}}),
        ("OM013", {"criteria": {"A": 1}}),
        ("OM013", {"criteria": {"A-B": "text"}}),
        ("OM013", {"criteria": Jsonb([])}),
        ("OM013", {"key_criteria": ["A"]}),
        ("OM013", {"key_criteria": [None]}),
        ("OM013", {"migration_status": -1}),
    ):
        room.refused(sqlstate, "register_family", family_code="G", **given)
    assert room.rows("SELECT 1 FROM pg_class WHERE relname LIKE 'task_data_g%%'") == []


def test_a_key_is_of_the_criteria_that_the_type_does_not_forbid(room: Room) -> None:
    room.family("F", ("CODE", "DAY"), criteria={"CODE": "text", "DAY": "date", "N": "bigint"})
    room.type("U")
    for task_type, criterion, mode in (("T", "N", "O"), ("U", "DAY", "D"), ("U", "N", "O")):
        room.call(
            "set_custom", family_code="F", task_type=task_type, criterion=criterion, mode=mode
        )
    room.create(criteria={"CODE": "a", "DAY": "2026-01-01"})
    room.create(criteria={"CODE": "a", "DAY": "2026-01-02"})
    room.create(criteria={"CODE": "a"}, task_type="U")
    room.refused("OM170", "create_task", **TASK, criteria={"CODE": "a", "DAY": "20260101", "N": 1})
    given = {"family_code": "F", "task_type": "U", "criteria": {"CODE": "a", "N": 2}}
    holder = room.refused("OM170", "create_task", **given)["task_id"]
    assert room.call("create_task", **given, on_duplicate="EXISTING") == {
        "task_id": holder,
        "is_new": False,
    }
    # An absent key criterion is a value of its own, and what looks like one is another.
    room.call("set_custom", family_code="F", task_type="U", criterion="CODE", mode="O")
    for criteria in ({}, {"CODE": "null"}, {"CODE": ""}, {"CODE": "NULL"}):
        room.create(criteria=criteria, task_type="U")
    room.refused("OM170", "create_task", **{**given, "criteria": {"CODE": None}})


def test_a_change_of_lanes_finds_every_task_that_can_wait(
    room: Room, another: Callable[..., Room]
) -> None:
    """Also one whose creator commits later, that runs, or that is revived."""
    room.family("F")
    room.type(max_attempts=1, backoff="0", later_after="0")
    room.member()
    dead, later, freed, lost = (room.create(c) for c in ("dead", "later", "freed", "lost"))
    tasks = {t["task_id"]: t for t in room.claim()}
    cancelled = room.create("cancelled")
    room.call("cancel_task", task_id=cancelled)
    room.complete([tasks[dead]], "F")
    creator = another(autocommit=False)
    created = creator.create("created")
    mover = another()
    thread = threading.Thread(target=mover.type, kwargs={"deliver_id": "OTHER"})
    thread.start()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = %s"
    while thread.is_alive() and not room.one(waits, mover.conn.info.backend_pid):
        pass
    creator.conn.commit()
    thread.join()
    room.complete([tasks[later]], "A")
    room.call("release_tasks", backend_id="w1", task_ids=[freed])
    room.call("leave_backend", backend_id="w1")
    room.owner("UPDATE omd_dispatch.task_conf_type_desc SET max_attempts = 5")
    for task_id in (dead, cancelled):
        room.call("revive_task", task_id=task_id)
    room.member()
    assert room.claim() == []
    room.member("o1", "OTHER")
    claimed = {t["task_id"] for t in room.claim(by="o1")}
    assert claimed == {dead, later, freed, lost, cancelled, created}


def test_two_sessions_register_at_once(room: Room, another: Callable[..., Room]) -> None:
    room.family()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("register_family", {"family_code": "G", "criteria": {"CODE": "text"}}),
        ("register_task_type", {**TASK, "task_type": "U", "handler": "SQL", "target": "a.b"}),
        ("set_custom", {**TASK, "criterion": "CODE", "mode": "O"}),
        ("set_external_name", {**TASK, "criterion": "CODE", "external_name": "x"}),
        ("allow_search", {"family_code": "F", "index_name": "I", "criteria": ["CODE"]}),
        ("register_schedule", {**TASK, "schedule_code": "s", "every": "1 day",
                               "criteria": {"CODE": "a"}}),
        ("register_backend", {"backend_type": "WORKER", "backend_id": "w"}),
    ]  # fmt: skip
    first, second = another(autocommit=False), another()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = %s"
    for routine, arguments in calls:
        errors: list[psycopg.Error] = []

        def call(routine: str = routine, arguments: dict[str, Any] = arguments) -> None:
            try:
                second.call(routine, **arguments)
            except psycopg.Error as error:
                errors.append(error)  # noqa: B023

        first.call(routine, **arguments)
        thread = threading.Thread(target=call)
        thread.start()
        while thread.is_alive() and not room.one(waits, second.conn.info.backend_pid):
            pass
        first.conn.commit()
        thread.join()
        assert errors == [], routine


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_calls_that_lock_tasks_need_read_committed(
    room: Room, another: Callable[..., Room], level: str
) -> None:
    """Elsewhere they would wait for ever for what their snapshot can't see."""
    room.family("F", ("CODE",))
    room.member()
    task_id = room.create()
    suspended = room.call("suspend", family_code="F", task_types=["T"])["suspension_id"]
    other = another()
    other.conn.execute(f"SET default_transaction_isolation = '{level}'".encode())
    other.conn.execute("SET statement_timeout = '10s'")
    for routine, arguments in (
        ("create_task", {**TASK, "criteria": {"CODE": "b"}}),
        ("create_tasks", {**TASK, "tasks": Jsonb([])}),
        ("cancel_task", {"task_id": task_id}),
        ("reschedule_task", {"task_id": task_id}),
        ("revive_task", {"task_id": task_id}),
        ("register_backend", {"backend_type": "WORKER", "backend_id": "w1"}),
        ("complete_tasks", {"backend_id": "w1", "results": Jsonb([])}),
        ("release_tasks", {"backend_id": "w1", "task_ids": [task_id]}),
        ("leave_backend", {"backend_id": "w1"}),
        ("maintain", {}),
        ("suspend", {"family_code": "F"}),
        ("resume", {"suspension_id": suspended}),
        ("set_migration_status", {"family_code": "F", "migration_status": 3}),
        ("register_task_type", {**TASK, "deliver_id": "OTHER"}),
    ):
        other.refused("OM014", routine, **arguments)
    with pytest.raises(psycopg.Error) as caught:
        other.claim()
    assert caught.value.sqlstate == "OM014"


def test_a_text_that_is_too_long_for_an_index_is_refused_by_name(room: Room) -> None:
    room.family(criteria={"CODE": "text", "NOTE": "text"})
    room.call("set_custom", **TASK, criterion="NOTE", mode="O")
    # Random, so that it can't be compressed.
    long = secrets.token_urlsafe(9000)
    given = {"CODE": "a", "NOTE": long}
    kept = room.create(criteria=given)
    search = {"family_code": "F", "index_name": "I"}
    told = room.refused("OM013", "allow_search", **search, criteria=["NOTE"])
    assert told["argument"] == "p_criteria"
    limit = {**TASK, "max_running": 1, "limit_criterion": "NOTE"}
    assert room.refused("OM013", "register_task_type", **limit)["argument"] == "p_limit_criterion"
    assert (
        room.refused("OM078", "suspend", family_code="F", criteria={"NOTE": long})["criterion"]
        == "NOTE"
    )
    assert room.rows("SELECT * FROM omd_dispatch.task_suspension") == []
    room.call("cancel_task", task_id=kept)
    room.call("register_task_type", **limit)
    tasks = [{"criteria": {"CODE": "a"}}, {"criteria": given}]
    detail = room.refused("OM078", "create_tasks", **TASK, tasks=Jsonb(tasks))
    assert (detail["criterion"], detail["task"]) == ("NOTE", 2)
    room.create("a")
