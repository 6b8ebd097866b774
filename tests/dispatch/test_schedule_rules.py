"""What schedules create, miss, skip and survive."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

GIVEN: dict[str, Any] = {
    "schedule_code": "s",
    "family_code": "F",
    "task_type": "T",
    "criteria": {"CODE": "a"},
}


NO_ZONES = ["Nowhere", "Europe/Pariss", "", " ", "../etc/passwd", "x" * 5000]
NO_ZONES += ["FOO+3", "Foo/Bar+3", "<+03>-03", "+03", "UTC+1", "CEST", "CET-1CEST"]


def register(room: Room, **arguments: Any) -> datetime:
    at = room.call("register_schedule", **{**GIVEN, **arguments})["next_time"]
    assert isinstance(at, datetime)
    return at


def report(room: Room, code: str = "s") -> dict[str, Any]:
    (row,) = room.rows("SELECT * FROM omd_dispatch.task_schedule WHERE schedule_code = %s", code)
    return row


def ago(room: Room, text: str) -> datetime:
    at = room.one("SELECT now() - %s::interval", text)
    assert isinstance(at, datetime)
    return at


def test_a_time_zone_has_a_name_and_a_former_one_without_goes_on(room: Room) -> None:
    room.family("F", criteria={"CODE": "text"})
    for zone in ("UTC", "utc", "Europe/Paris", "europe/paris", "America/Port-au-Prince", "gmt"):
        register(room, cron="0 2 * * *", time_zone=zone)
        assert report(room)["time_zone"] == zone
    at = register(room, cron="0 2 * * *", time_zone="Etc/GMT+3")
    assert at.astimezone(timezone.utc).hour == 5
    room.owner("UPDATE omd_dispatch.task_schedule SET time_zone = 'FOO+3'")
    assert register(room, priority=1, next_time=ago(room, "1 s")) < datetime.now(timezone.utc)
    assert room.maintain()["fired"] == 1
    now = report(room)
    assert (now["time_zone"], now["priority"], now["next_time"].astimezone(timezone.utc).hour) == (
        "FOO+3",
        1,
        5,
    )
    room.refused("OM013", "register_schedule", **GIVEN, time_zone="FOO+3")


def test_arguments_are_refused_and_null_keeps(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "DAY": "date"})
    room.call("set_custom", family_code="F", task_type="T", criterion="DAY", mode="O")
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("OM005", {"schedule_code": None}),
        ("OM013", {"schedule_code": " "}),
        ("OM005", {"family_code": None}),
        ("OM005", {"task_type": None}),
        ("OM070", {"family_code": "G"}),
        ("OM071", {"task_type": "U"}),
        ("OM013", {"cron": "* * * * *"}),
        ("OM013", {"every": None}),
        ("OM013", {"every": "0"}),
        ("OM013", {"every": "999 ms"}),
        ("OM013", {"every": "-1 day"}),
        ("OM013", {"every": "1 month -30 days 1 s"}),  # it would go back in February
        ("OM013", {"every": "200000 years"}),
        ("OM013", {"missed": "LAST"}),
        ("OM013", {"priority": 10}),
        ("OM013", {"priority": 99999}),
        ("OM013", {"priority": -1}),
        ("OM013", {"criteria": Jsonb([])}),
        ("OM076", {"criteria": None}),
        ("OM075", {"criteria": {"CODE": "a", "X": 1}}),
        ("OM078", {"criteria": {"CODE": "a", "DAY": "someday"}}),
        *(("OM013", {"time_zone": zone}) for zone in NO_ZONES),
        ("OM006", {"inactive_indicator": "X"}),
        ("OM013", {"next_time": "infinity"}),
        ("OM013", {"next_time": "-infinity"}),
    ]
    if room.conn.info.server_version >= 170000:
        wrong.append(("OM013", {"every": "infinity"}))
    for sqlstate, change in wrong:
        room.refused(sqlstate, "register_schedule", **{**GIVEN, "every": "1 day", **change})
    assert room.rows("SELECT 1 FROM omd_dispatch.task_schedule") == []
    room.refused("OM005", "remove_schedule", schedule_code=None)
    room.refused("OM074", "remove_schedule", schedule_code="x'; --")

    payload = {"a": None, "b": {"c": None}}
    first = register(
        room, cron="0 2 * * *", time_zone="Europe/Paris", payload=payload, missed="ALL", priority=1
    )
    assert room.call("register_schedule", schedule_code="s")["next_time"] == first
    kept = report(room)
    assert (kept["cron"], kept["time_zone"], kept["missed"], kept["priority"]) == (
        "0 2 * * *",
        "Europe/Paris",
        "ALL",
        1,
    )
    moved = room.call("register_schedule", schedule_code="s", time_zone="Asia/Tokyo")["next_time"]
    assert moved.astimezone(timezone.utc).hour == 17
    every = room.call("register_schedule", schedule_code="s", every="1 hour")["next_time"]
    assert report(room)["cron"] is None
    assert timedelta(minutes=59) < every - room.one("SELECT now()") <= timedelta(hours=1)
    room.call("register_schedule", schedule_code="s", next_time=ago(room, "1 s"))
    assert room.maintain()["fired"] == 1
    assert room.one("SELECT payload FROM omd_dispatch.task_data_f") == payload


def test_occurrences_are_at_their_time_and_counted_from_next_time(room: Room) -> None:
    room.family("F")
    for missed, since, every, expected in (
        ("ONCE", "10 minutes 5 s", "5 minutes", [5]),
        ("ONCE", "10 minutes", "10 minutes", [0]),
        ("ONCE", "30 s", "1 hour", [30]),
        ("SKIP", "30 s", "1 hour", [30]),
        ("SKIP", "10 minutes 30 s", "5 minutes", [30]),
        ("SKIP", "10 minutes 90 s", "5 minutes", []),
        ("ALL", "10 minutes 5 s", "5 minutes", [605, 305, 5]),
        ("ALL", "5 s", "2 s", [5, 3, 1]),
        ("ONCE", "3000 days 7 s", "1 day", [7]),
        ("ONCE", "3 years 7 s", "1 year", [7]),
    ):
        with room.conn.transaction():
            begin = ago(room, since)
            register(room, missed=missed, every=every, next_time=begin)
            room.call("fire_schedule", schedule_code="s")
            rows = room.rows(
                "DELETE FROM omd_dispatch.task_data_f"
                " RETURNING round(extract(epoch FROM now() - execution_time))::int AS ago"
            )
            assert sorted((r["ago"] for r in rows), reverse=True) == expected, (missed, since)
            again = report(room)["next_time"]
            assert again > room.one("SELECT now()"), (missed, since)
            if "year" not in every:
                step = room.one("SELECT %s::interval", every)
                assert (again - begin) % step == timedelta(0)
        assert room.maintain()["fired"] == 0


@pytest.mark.parametrize("missed", ["ALL", "ONCE"])
def test_months_are_counted_from_the_first_occurrence(room: Room, missed: str) -> None:
    """The 31st comes again after a shorter month, also when each is fired in a round of its own."""
    room.family("F")
    register(room, missed=missed, every="1 month", next_time="2025-01-31 10:00+00")
    seen = []
    for _ in range(14):
        room.call("fire_schedule", schedule_code="s", limit=1)
        seen.append(report(room)["next_time"])
    if missed == "ALL":
        days = [28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 28, 31]
        assert [at.day for at in seen] == days
        # What an administrator writes is the first one from then on.
        room.owner("UPDATE omd_dispatch.task_schedule SET next_time = '2025-02-28 11:00+00'")
        room.call("fire_schedule", schedule_code="s", limit=1)
        assert report(room)["next_time"] == datetime(2025, 3, 28, 11, tzinfo=timezone.utc)
    else:
        following = seen[0] + timedelta(days=1)
        assert seen[0].day == 31 or following.day == 1
        newest = room.one("SELECT max(execution_time) FROM omd_dispatch.task_data_f")
        assert newest.day == 31 or (newest + timedelta(days=1)).day == 1
    # Several parts, and a beginning long ago.
    register(room, every="1 month 3 days", missed="ONCE", next_time="1900-01-31 10:00+00")
    room.call("fire_schedule", schedule_code="s")
    assert report(room)["next_time"] > room.one("SELECT now()")


def test_a_round_fires_a_thousand_occurrences_and_says_that_there_are_more(room: Room) -> None:
    room.family("F", ("CODE",))
    register(room, missed="ALL", every="1 minute", next_time=ago(room, "1000 minutes 30 s"))
    rounds = [room.maintain() for _ in range(2)]
    assert [r["more"] for r in rounds] == [True, False]
    # All have the same key, so that the first is live.
    assert [r["fired"] for r in rounds] == [1, 0]
    row = report(room)
    assert (row["created_count"], row["skipped_count"]) == (1, 1000)


def test_an_administrator_may_write_any_next_time(room: Room, another: Callable[..., Room]) -> None:
    """One schedule never keeps maintain from the others."""
    room.family("F")
    for code, how in {
        "every": {"every": "1 hour"},
        "month": {"every": "1 month"},
        "all": {"every": "1 hour", "missed": "ALL"},
        "cron": {"cron": "0 * * * *"},
        "cron_all": {"cron": "0 * * * *", "missed": "ALL"},
    }.items():
        register(room, schedule_code=code, **how)
    register(room, schedule_code="good", every="1 day", next_time=ago(room, "1 s"))
    admin = another(role="omd_admin")
    admin.conn.execute("SET statement_timeout = '20s'")
    room.conn.execute("SET statement_timeout = '20s'")
    admin.conn.execute(
        "UPDATE omd_dispatch.task_schedule SET next_time = '-infinity'"
        " WHERE schedule_code <> 'good'"
    )
    assert room.maintain()["fired"] >= 1
    wrong = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE NOT isfinite(execution_time)"
    assert room.one(wrong) == 0
    assert report(room, "good")["created_count"] == 1
    late = "SELECT count(*) FROM omd_dispatch.task_schedule WHERE next_time <= now()"
    assert room.one(late) == 0
    admin.conn.execute(
        "UPDATE omd_dispatch.task_schedule SET next_time = 'infinity' WHERE schedule_code = 'every'"
    )
    assert room.maintain()["fired"] == 0
    # One that is being edited is passed over.
    editor = another(autocommit=False)
    editor.conn.execute(
        "UPDATE omd_dispatch.task_schedule SET next_time = now() WHERE schedule_code = 'good'"
    )
    assert room.maintain()["fired"] == 0
    editor.conn.commit()
    assert room.maintain()["fired"] == 1


SOURCES = {
    "lacks": ("SELECT 1 AS n", "OM076"),
    "unknown": ("SELECT 'a' AS code, 1 AS other", "OM075"),
    "typed": ("SELECT 'a' AS code, 'x' AS n", "OM078"),
    "raises": ("SELECT 'a' AS code, 1 / 0 AS n", "22012"),
    "urgent": ("SELECT 'a' AS code, 12 AS priority", "ck_task_data_priority"),
    "shaped": ("SELECT 'a' AS code, 'x' AS priority", "OM013"),
    "half": ("SELECT 'a' AS code, NULL AS n UNION ALL SELECT 'b', 'x'", "OM078"),
}


@pytest.mark.parametrize("missed", ["ONCE", "ALL"])
def test_a_source_that_fails_says_why_and_keeps_nobody(room: Room, missed: str) -> None:
    room.family("F", ("CODE",), criteria={"CODE": "text", "N": "bigint"})
    room.call("set_custom", family_code="F", task_type="T", criterion="N", mode="O")
    for name, (query, _) in SOURCES.items():
        room.conn.execute(f"CREATE VIEW public.v_{name} AS {query}".encode())
        register(
            room,
            schedule_code=name,
            criteria={},
            source=f"public.v_{name}",
            every="1 hour",
            missed=missed,
            next_time=ago(room, "2 hours"),
        )
    room.conn.execute(
        "CREATE VIEW public.v_good AS SELECT chr(96 + n) AS code, n AS n, n AS priority,"
        " jsonb_build_object('x', NULL) AS payload FROM generate_series(1, 3) AS n"
    )
    register(
        room,
        schedule_code="good",
        criteria={"N": 7},
        source="public.v_good",
        every="1 hour",
        missed=missed,
        next_time=ago(room, "1 hour 30 minutes"),
    )
    room.create("b")
    assert room.maintain() == {"reclaimed": 0, "fired": 2, "more": False}
    for name, (_, problem) in SOURCES.items():
        row = report(room, name)
        assert problem in row["problem"], (name, row["problem"])
        assert (row["created_count"], row["skipped_count"]) == (0, 0)
    row = report(room, "good")
    occurrences = 2 if missed == "ALL" else 1
    assert (row["created_count"], row["skipped_count"], row["problem"]) == (
        2,
        3 * occurrences - 2,
        None,
    )
    tasks = room.rows(
        "SELECT func_n, priority, payload, schedule_code FROM omd_dispatch.task_data_f"
        " WHERE schedule_code IS NOT NULL ORDER BY func_n"
    )
    assert [tuple(t.values()) for t in tasks] == [(n, n, {"x": None}, "good") for n in (1, 3)]
    # It is well again once its source is.
    room.conn.execute("CREATE OR REPLACE VIEW public.v_raises AS SELECT 'r' AS code, 5 AS n")
    room.owner(
        "UPDATE omd_dispatch.task_schedule SET next_time = now(), inactive_indicator = 'Y'"
        " WHERE schedule_code = 'raises'"
    )
    assert room.maintain()["fired"] == 0
    room.owner(
        "UPDATE omd_dispatch.task_schedule SET next_time = now(), inactive_indicator = 'N'"
        " WHERE schedule_code = 'raises'"
    )
    assert room.maintain()["fired"] == 1
    assert report(room, "raises")["problem"] is None


def test_a_firing_is_one_commit_and_happens_once(room: Room, another: Callable[..., Room]) -> None:
    room.family("F")
    room.member()
    register(room, every="1 day", next_time=ago(room, "1 s"))
    first = another(autocommit=False)
    assert first.call("fire_schedule", schedule_code="s")["fired"] == 1
    assert room.maintain()["fired"] == 0
    first.conn.rollback()
    assert room.maintain()["fired"] == 1
    assert len(room.claim()) == 1
    # Who registers it again while it fires waits, and what it has counted stays.
    room.call("register_schedule", schedule_code="s", next_time=ago(room, "1 s"))
    assert room.maintain()["fired"] == 1
    assert report(room)["created_count"] == 2
