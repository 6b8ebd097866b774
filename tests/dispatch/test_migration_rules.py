"""Both models stay the same through everything that happens to tasks, types and families."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import Room

CRITERIA = {"CODE": "text", "N": "numeric", "AT": "timestamptz", "U": "uuid", "B": "boolean"}
VALUES: dict[str, list[object]] = {
    "CODE": ["a", "", "x'y\"", "null", "Ä\n"],
    "N": [None, 1.50, "NaN", 10**30, -0.1],
    "AT": [None, "2026-01-01 12:00+02", "infinity"],
    "U": [None, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"],
    "B": [None, True, False],
}
KINDS = "SELECT task_id, kind FROM omd_dispatch.task_migration_discrepancy ORDER BY 1, 2"


def step(room: Room, status: int) -> None:
    room.call("set_migration_status", family_code="F", migration_status=status)


def images(room: Room, table: str) -> list[Any]:
    """Return the columns that both models have."""
    return room.rows(
        "SELECT to_jsonb(t) - ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid ="
        " 'omd_dispatch.task_data_f'::regclass AND attname ~ '^(func_|partition_code$)') AS image"
        f" FROM omd_dispatch.{table} AS t ORDER BY task_id"
    )


def values(room: Room) -> tuple[Any, Any]:
    new = room.rows(
        "SELECT task_id, upper(substr(c.key, 6)) AS criterion, c.value"
        " FROM omd_dispatch.task_data_f AS t CROSS JOIN jsonb_each_text(to_jsonb(t)) AS c"
        " WHERE c.key ~ '^func_' AND c.value IS NOT NULL ORDER BY 1, 2"
    )
    old = room.rows(
        "SELECT task_id, criterion, criterion_value AS value"
        " FROM omd_dispatch.old_task_criteria_f ORDER BY 1, 2"
    )
    return new, old


def assert_in_step(room: Room) -> None:
    assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
    assert images(room, "task_data_f") == images(room, "old_task_data_f")
    new, old = values(room)
    assert new == old
    assert room.rows(KINDS) == []


def live(room: Room, seed: int) -> None:
    """Let all happen to tasks that can happen."""
    chance = random.Random(seed)
    for task_type in ("T", "V"):
        room.create_many(
            [
                {
                    "criteria": {c: chance.choice(v) for c, v in VALUES.items()},
                    "payload": chance.choice([None, {"a": [None, "é"]}]),
                    "priority": n % 10,
                }
                for n in range(6)
            ],
            task_type=task_type,
            on_duplicate="EXISTING",
        )
    tasks = room.claim(9)
    for task, outcome in zip(tasks, "SFAC", strict=False):
        room.complete([task], outcome, error="boom")
    ids = [t["task_id"] for t in tasks[4:]]
    if ids:
        room.call("cancel_task", task_id=ids[0], running=True)
        room.call("release_tasks", backend_id="w1", task_ids=ids[:2])
    later = room.create(criteria={"CODE": f"later {seed}"}, execution_time="2100-01-01")
    room.call("reschedule_task", task_id=later, priority=chance.randint(0, 9))
    room.call("cancel_task", task_id=later)
    room.call("revive_task", task_id=later, execution_time="2101-01-01")
    if seed % 2:
        room.owner("DELETE FROM omd_dispatch.backend_registration")
        room.maintain()
        room.member()


@pytest.mark.random
def test_both_models_are_the_same_after_everything(room: Room) -> None:
    room.family("F", ("CODE", "N"), criteria=CRITERIA, migration_status=0)
    room.type("V", backoff="0", later_after="0", max_attempts=2)
    for task_type in ("T", "V"):
        for criterion in sorted(set(CRITERIA) - {"CODE"}):
            room.call(
                "set_custom", family_code="F", task_type=task_type, criterion=criterion, mode="O"
            )
    room.member()
    live(room, 0)
    count = room.one("SELECT count(*) FROM omd_dispatch.old_task_data_f")
    types = ["T", "V"]
    for n, status in enumerate((1, 2, 3, 4, 3, 2, 1), 1):
        step(room, status)
        step(room, status)
        if status == 4:
            assert room.one("SELECT count(*) FROM omd_dispatch.old_task_criteria_f") == 0
            live(room, n)
            continue
        assert_in_step(room)
        live(room, n)
        assert_in_step(room)
        # Lanes move; a criterion and a type come.
        room.type("V", max_running=n, limit_criterion="N" if n % 2 else "")
        if n in {1, 5}:
            room.call("register_family", family_code="F", criteria={f"X{n}": "bigint"})
            types.append(f"W{n}")
            room.type(types[-1])
            room.owner(
                "INSERT INTO omd_dispatch.task_conf_custom"
                " SELECT 'F', t, m.criterion, 'O' FROM unnest(%s::text[]) AS t"
                " CROSS JOIN omd_dispatch.task_conf_family_model AS m"
                " WHERE m.family_code = 'F' AND m.criterion <> 'CODE' ON CONFLICT DO NOTHING",
                types,
            )
            room.create(criteria={"CODE": f"w{n}", f"X{n}": n}, task_type=types[-1])
            assert_in_step(room)
        if status == 3:
            held = room.call("suspend", family_code="F")["suspension_id"]
            assert_in_step(room)
            assert room.claim() == []
            # What is held stays so while the old model is master.
            step(room, 2)
            assert room.claim() == []
            assert_in_step(room)
            room.call("resume", suspension_id=held)
            assert_in_step(room)
            step(room, 3)
    room.refused("OM173", "suspend", family_code="F")
    for _ in range(2):
        with pytest.raises(psycopg.Error) as caught:
            room.rows("SELECT * FROM omd_dispatch.search_tasks('F', '{\"CODE\": \"a\"}')")
        assert caught.value.sqlstate == "OM173"
        room.call("allow_search", family_code="F", index_name="I", criteria=["CODE"])
    step(room, 0)
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 0
    assert room.one("SELECT count(*) FROM omd_dispatch.old_task_data_f") > count
    live_ids = (
        "SELECT task_id FROM omd_dispatch.old_task_data_f WHERE status IN ('PENDING', 'CLAIMED')"
    )
    assert room.rows(f"{live_ids} ORDER BY 1") == room.rows(
        "SELECT task_id FROM omd_dispatch.mutex ORDER BY 1"
    )
    assert room.one(f"SELECT count(*) FROM ({live_ids}) AS t") >= len(room.claim(1000)) > 0


def test_a_purge_takes_the_copies_too(room: Room) -> None:
    room.family("F", migration_status=3)
    room.member()
    ids = [room.create(c) for c in "abc"]
    room.complete(room.claim(2))
    old = room.one("SELECT (partition_code + 3) %% 8 FROM omd_dispatch.task_data_f LIMIT 1")
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)
    assert_in_step(room)
    slot = {"family_code": "F", "partition_code": old}
    assert room.call("purge_partition", **slot) == {"outcome": "PURGED", "moved": 1}
    assert_in_step(room)
    assert [t["image"]["task_id"] for t in images(room, "old_task_data_f")] == ids[2:]
    # The slots that were exchanged are mirrored like the others.
    for _ in range(2):
        room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)
        room.call("reschedule_task", task_id=ids[2], priority=1)
        assert_in_step(room)
        assert room.call("purge_partition", **slot) == {"outcome": "PURGED", "moved": 1}
    step(room, 2)
    # Of the copy too, finished tasks go and live ones stay.
    room.complete(room.claim())
    room.create("d")
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)
    assert room.call("purge_partition", **slot) == {"outcome": "PURGED", "moved": 1}
    assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
    room.complete(room.claim())
    assert room.rows(KINDS) == []
    step(room, 3)


def test_what_a_mirror_meets_is_told_from_status_2_on_and_mended(room: Room) -> None:
    room.family("F", ("CODE",), criteria={"CODE": "text", "N": "numeric"}, migration_status=0)
    room.call("set_custom", family_code="F", task_type="T", criterion="N", mode="O")
    room.member()
    ids = [room.create(c) for c in "abcde"]
    step(room, 1)
    spoil = (
        ("DELETE FROM omd_dispatch.{} WHERE task_id = %s", "MISSING"),
        ("UPDATE omd_dispatch.{} SET payload = '{{}}' WHERE task_id = %s", "DIFFERENT"),
    )

    def spoiled(table: str, *, is_told: bool) -> None:
        for task_id, (query, kind) in zip(ids, spoil, strict=False):
            room.owner(query.format(table), task_id)
            (found,) = room.rows("SELECT * FROM omd_dispatch.compare_models('F')")
            assert (found["task_id"], found["kind"]) == (task_id, kind)
            room.call("reschedule_task", task_id=task_id, priority=2)
            assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
        told = [{"task_id": i, "kind": k} for i, (_, k) in zip(ids, spoil, strict=False)]
        assert room.rows(KINDS) == (told if is_told else [])
        # A copy that was there before its task.
        task_id = room.one("SELECT nextval('omd_dispatch.task_id')") + 1
        columns = "task_type, lane, priority, execution_time, status, attempt, created_at"
        slot = "" if table.startswith("old") else ", partition_code"
        room.owner(
            f"INSERT INTO omd_dispatch.{table} (task_id, {columns}{slot}) SELECT {task_id},"
            f" {columns}{slot} FROM omd_dispatch.{table} WHERE task_id = {ids[2]}"
        )
        assert room.create(f"extra {table} {is_told}") == task_id
        assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
        extra = [{"task_id": task_id, "kind": "EXTRA"}]
        assert room.rows(KINDS) == (told + extra if is_told else [])
        room.owner("DELETE FROM omd_dispatch.task_migration_discrepancy")

    spoiled("task_data_f", is_told=False)
    step(room, 2)
    spoiled("task_data_f", is_told=True)
    # A criterion that differs.
    room.owner("UPDATE omd_dispatch.task_data_f SET func_n = 5 WHERE task_id = %s", ids[3])
    for status in (0, 4):
        room.refused("OM173", "set_migration_status", family_code="F", migration_status=status)
    detail = room.refused("OM174", "set_migration_status", family_code="F", migration_status=3)
    assert detail["task_id"] == ids[3]
    room.call("reschedule_task", task_id=ids[3], priority=4)
    room.owner("DELETE FROM omd_dispatch.task_migration_discrepancy")
    step(room, 3)
    spoiled("old_task_data_f", is_told=True)
    room.owner(
        "INSERT INTO omd_dispatch.job_criteria_value_t VALUES (%s, 'N', 'no number')", ids[4]
    )
    # Whatever is wrong with the copy, the work goes on.
    room.call("reschedule_task", task_id=ids[4], priority=4)
    room.conn.execute("ALTER TABLE omd_dispatch.job_t ADD CHECK (status = 'PENDING')")
    claimed = room.claim()
    assert len(claimed) == len(ids) + 3
    assert {r["kind"] for r in room.rows(KINDS)} == {"FAILED"}
    room.conn.execute("DROP TABLE omd_dispatch.job_t")
    assert room.complete(claimed[1:]) == []
    room.create("new")
    room.call("release_tasks", backend_id="w1", task_ids=[claimed[0]["task_id"]])
    room.refused("OM174", "set_migration_status", family_code="F", migration_status=2)


def test_steps_are_refused_by_name(room: Room) -> None:
    room.family("F", migration_status=2)
    for sqlstate, family, status in (
        ("OM005", None, 1),
        ("OM005", "F", None),
        ("OM070", "G", 1),
        ("OM013", "F", -1),
        ("OM013", "F", 5),
        ("OM173", "F", 0),
        ("OM173", "F", 4),
    ):
        room.refused(sqlstate, "set_migration_status", family_code=family, migration_status=status)
    for query in ("compare_models(NULL)", "compare_models('G')"):
        with pytest.raises(psycopg.Error) as caught:
            room.rows(f"SELECT * FROM omd_dispatch.{query}")
        assert caught.value.sqlstate == ("OM005" if "NULL" in query else "OM070")
    # The old model has one table for a type of that name.
    room.call("register_family", family_code="G", criteria={"CODE": "text"})
    room.type(family_code="G")
    room.refused("OM173", "set_migration_status", family_code="G", migration_status=3)
    room.type("TYPE", family_code="G")
    room.create(family_code="G", task_type="TYPE")
    room.refused("OM173", "register_task_type", family_code="F", task_type="TYPE", handler="SQL",
                 target="a.b")  # fmt: skip
    assert room.create(criteria=Jsonb({"CODE": "still"})) > 0
