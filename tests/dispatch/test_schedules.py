"""Cron, time zones, missed occurrences and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

PARIS = "Europe/Paris"
# cron, zone, after, and the occurrences that follow
OCCURRENCES = [
    ("* * * * *", "UTC", "2026-01-01 00:00:30", ["01-01 00:01", "01-01 00:02"]),
    ("*/20 8-9 * * MON-FRI", "UTC", "2026-01-02 09:30", ["01-02 09:40", "01-05 08:00"]),
    ("0 0 13 * 5", "UTC", "2026-01-01", ["01-02 00:00", "01-09 00:00", "01-13 00:00"]),
    ("0 0 */13 * 5", "UTC", "2026-01-01 12:00", ["02-27 00:00", "03-27 00:00"]),
    ("15 6 29 2 *", "UTC", "2026-01-01", ["02-29 06:15"]),
    ("0 12 * JAN,mar 7", "UTC", "2026-01-26", ["03-01 12:00", "03-08 12:00"]),
    ("@monthly", "UTC", "2026-01-15", ["02-01 00:00", "03-01 00:00"]),
    ("@yearly", "UTC", "2026-01-15", ["01-01 00:00"]),
    # A time that does not exist, and a repeated one.
    ("30 2 * * *", PARIS, "2026-03-28 12:00", ["03-29 01:00", "03-30 00:30"]),
    ("30 2 * * *", PARIS, "2026-10-24 12:00", ["10-25 00:30", "10-26 01:30"]),
    ("*/30 * * * *", PARIS, "2026-03-29 00:30", ["03-29 01:00", "03-29 01:30"]),
    ("0 */1 * * *", PARIS, "2026-10-24 23:30", ["10-25 00:00", "10-25 01:00", "10-25 02:00"]),
    ("0,30 2 * * *", PARIS, "2026-03-28 12:00", ["03-29 01:00", "03-30 00:00"]),
    ("0 2,3 * * *", PARIS, "2026-03-28 12:00", ["03-29 01:00", "03-30 00:00"]),
    ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00", ["10-03 15:30", "10-04 15:15"]),
]


def test_the_next_occurrences(room: Room) -> None:
    for cron, zone, after, expected in OCCURRENCES:
        at, found = room.one("SELECT %s::timestamptz", f"{after}+00"), []
        for _ in expected:
            at = room.one("SELECT omd_dispatch.cron_next(%s, %s, %s)", cron, zone, at)
            text = "SELECT to_char(%s::timestamptz AT TIME ZONE 'UTC', 'MM-DD HH24:MI')"
            found.append(room.one(text, at))
        assert found == expected, cron


def test_a_wrong_cron_is_refused(room: Room) -> None:
    room.family()
    for cron in (
        "* * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5/2 * * * *",
        "*/0 * * * *",
        "9-5 * * * *",
        "a * * * *",
        "",
        "0 0 30 2 *",
        "1,,2 * * * *",
        "@never",
    ):
        detail = room.refused(
            "OM013",
            "register_schedule",
            schedule_code="s",
            family_code="F",
            task_type="T",
            criteria={"CODE": "a"},
            cron=cron,
        )
        assert detail["argument"] == "p_cron", cron
    given = {"schedule_code": "s", "family_code": "F", "task_type": "T", "criteria": {"CODE": "a"}}
    room.refused("OM013", "register_schedule", **given)
    room.refused("OM013", "register_schedule", **given, cron="@daily", every="1 hour")
    room.refused("OM013", "register_schedule", **given, cron="@daily", time_zone="Mars/Base")
    room.refused("OM013", "register_schedule", **given, every="1 hour", missed="NEVER")
    room.refused("OM076", "register_schedule", **{**given, "criteria": {}}, every="1 hour")
    room.refused("OM074", "remove_schedule", schedule_code="s")


@pytest.mark.parametrize(("missed", "created"), [("ONCE", 1), ("ALL", 7), ("SKIP", 0)])
def test_missed_occurrences(room: Room, missed: str, created: int) -> None:
    room.family()
    room.call(
        "register_schedule",
        schedule_code="s",
        family_code="F",
        task_type="T",
        missed=missed,
        criteria={"CODE": "a"},
        payload={"x": 1},
        every="1 hour",
        priority=2,
        next_time=room.one("SELECT now() - interval '6 hours 30 minutes'"),
    )
    assert room.maintain()["fired"] == created
    assert room.maintain()["fired"] == 0
    rows = room.rows("SELECT * FROM omd_dispatch.task_data_f ORDER BY execution_time")
    assert {(r["schedule_code"], r["priority"], str(r["payload"])) for r in rows} <= {
        ("s", 2, "{'x': 1}")
    }
    wait = "SELECT extract(epoch FROM next_time - now()) / 60 FROM omd_report.dispatch_schedules"
    assert 29 < room.one(wait) < 31
    if rows:
        newest = room.one("SELECT extract(epoch FROM now() - %s) / 60", rows[-1]["execution_time"])
        assert 29 < newest < 31


@pytest.mark.parametrize("missed", ["ONCE", "ALL", "SKIP"])
@pytest.mark.parametrize("is_fired", [True, False])
def test_one_that_was_inactive_only_moves_on(room: Room, missed: str, is_fired: bool) -> None:
    room.family()
    given = {"schedule_code": "s", "family_code": "F", "task_type": "T", "criteria": {"CODE": "a"}}
    ago = room.one("SELECT now() - interval '6 hours 30 minutes'")
    room.call(
        "register_schedule",
        **given, every="1 hour", missed=missed, inactive_indicator="Y", next_time=ago,
    )  # fmt: skip
    wait = "SELECT extract(epoch FROM next_time - now()) / 60 FROM omd_report.dispatch_schedules"
    if is_fired:
        assert room.maintain()["fired"] == 0
        assert 29 < room.one(wait) < 31
    room.call("register_schedule", schedule_code="s", inactive_indicator="N")
    assert room.maintain()["fired"] == 0
    assert 29 < room.one(wait) < 31
    # A time that is given counts, and so does one that became due after it.
    room.call("register_schedule", schedule_code="s", inactive_indicator="Y")
    room.call("register_schedule", schedule_code="s", inactive_indicator="N", next_time=ago)
    assert room.maintain()["fired"] == {"ONCE": 1, "ALL": 7, "SKIP": 0}[missed]


def test_a_schedule_skips_live_keys_moves_on_when_inactive_and_tells_problems(room: Room) -> None:
    room.family("F", ("CODE",))
    room.create("a")
    given = {"schedule_code": "s", "family_code": "F", "task_type": "T", "criteria": {"CODE": "a"}}
    room.call("register_schedule", **given, every="1 day", next_time=room.one("SELECT now()"))
    assert room.maintain()["fired"] == 0
    report = "SELECT created_count, skipped_count, problem FROM omd_report.dispatch_schedules"
    assert room.rows(report) == [{"created_count": 0, "skipped_count": 1, "problem": None}]
    room.call(
        "register_schedule",
        schedule_code="s",
        criteria={"CODE": "b"},
        inactive_indicator="Y",
        next_time=room.one("SELECT now()"),
    )
    assert room.maintain()["fired"] == 0
    room.conn.execute("SET ROLE omd_admin")
    room.conn.execute(
        "UPDATE omd_dispatch.task_schedule SET inactive_indicator = 'N', next_time = now()"
    )
    room.conn.execute("RESET ROLE")
    assert room.maintain()["fired"] == 1
    room.call(
        "register_schedule",
        schedule_code="s",
        source="public.missing",
        next_time=room.one("SELECT now()"),
    )
    assert room.maintain()["fired"] == 0
    assert "42P01" in room.rows(report)[0]["problem"]
    room.call("remove_schedule", schedule_code="s")
    assert room.rows(report) == []


def test_a_source_gives_a_task_per_row_with_the_rights_of_the_worker(room: Room) -> None:
    room.family("F", ("CODE",))
    room.conn.execute(
        "CREATE TABLE public.secret (code text); CREATE VIEW public.ready AS"
        " SELECT 'a' AS code, 3 AS priority, '{\"n\": 1}'::jsonb AS payload"
        " UNION ALL SELECT 'b', NULL, NULL; GRANT SELECT ON public.ready TO omd_runner"
    )
    given = {"family_code": "F", "task_type": "T", "every": "5 seconds"}
    now = room.one("SELECT now()")
    room.call("register_schedule", schedule_code="s", source="public.ready", next_time=now, **given)
    room.call(
        "register_schedule", schedule_code="x", source="public.secret", next_time=now, **given
    )
    room.conn.execute("SET ROLE omd_runner")
    assert room.maintain()["fired"] == 2
    room.conn.execute("RESET ROLE")
    rows = room.rows("SELECT func_code, priority, payload FROM omd_dispatch.task_data_f ORDER BY 1")
    assert [tuple(r.values()) for r in rows] == [("a", 3, {"n": 1}), ("b", 5, None)]
    problem = room.one(
        "SELECT problem FROM omd_report.dispatch_schedules WHERE schedule_code = 'x'"
    )
    assert "42501" in problem


def test_what_a_round_leaves_comes_next_in_the_order_of_its_source(room: Room) -> None:
    room.family("F", ("CODE",))
    room.conn.execute(
        "CREATE VIEW public.seven AS SELECT chr(104 - n) AS code FROM generate_series(0, 6) AS n"
    )
    given = {"family_code": "F", "task_type": "T", "schedule_code": "s", "every": "1 day"}
    now = room.one("SELECT now()")
    room.call("register_schedule", **given, source="public.seven", next_time=now)
    rounds = [room.call("fire_schedule", schedule_code="s", limit=3)["fired"]]
    # No order of the rows on the disk is the order of the source.
    room.owner(
        "UPDATE omd_dispatch.task_schedule_rest SET task = task"
        " WHERE task_number = (SELECT min(task_number) FROM omd_dispatch.task_schedule_rest)"
    )
    rounds += [room.call("fire_schedule", schedule_code="s", limit=3)["fired"] for _ in range(2)]
    assert rounds == [3, 3, 1]
    tasks = room.rows("SELECT func_code FROM omd_dispatch.task_data_f ORDER BY task_id")
    assert "".join(task["func_code"] for task in tasks) == "hgfedcb"


def test_ready_topics_become_tasks_once(room: Room, another: Callable[..., Room]) -> None:
    room.conn.execute(
        "CREATE TABLE public.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id));"
        "CREATE TABLE public.fact (id bigint, omd_insert_module_instance_id bigint);"
        "CREATE VIEW public.transform AS SELECT b.id FROM public.base AS b"
        " WHERE omd_lineage.in_block(b.pos, b.id);"
        "INSERT INTO public.base VALUES ('2024-01-01', 1), ('2024-01-02', 2)"
    )
    room.call("omd_lineage.register_topic", topic="public.base")
    for topic in ("public.fact", "public.other"):
        room.call(
            "omd_lineage.register_topic",
            topic=topic,
            depends_on=["public.base"],
            transforms=["public.transform"],
            inactive_indicator="Y" if topic == "public.other" else "N",
        )
    room.call(
        "register_schedule",
        schedule_code="topics",
        family_code="RUN",
        task_type="TOPIC",
        source="omd_report.ready_topic_tasks",
        every="5 seconds",
    )
    worker = another(role="omd_runner")
    worker.member()

    def fire() -> int:
        room.owner("UPDATE omd_dispatch.task_schedule SET next_time = now()")
        return int(worker.maintain()["fired"])

    assert [fire(), fire()] == [1, 0]
    (task,) = worker.claim()
    assert (task["task_type"], task["criteria"]) == ("TOPIC", {"CODE": "public.fact"})
    assert fire() == 0
    assert worker.complete([task]) == []
    report = "SELECT created_count, skipped_count, problem FROM omd_report.dispatch_schedules"
    assert room.rows(report) == [{"created_count": 1, "skipped_count": 2, "problem": None}]
