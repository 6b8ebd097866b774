"""Views whose rows become tasks: read at news, at most a tenth of the time, each for itself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

# What the function of a source does, and how its problem begins; None: it is well.
BAD = {
    "assert": ("ASSERT FALSE, 'no'", "P0004"),
    "stop": ("RAISE EXCEPTION USING ERRCODE = '57014'", "57014"),
    "divide": ("PERFORM 1 / (SELECT 0)", "22012"),
    "role": ("PERFORM set_config('role', 'omd_reader', FALSE)", "P0001"),
    "path": ("SET search_path = nowhere; SET timezone = 'Asia/Tokyo'", None),
    "read_only_here": ("SET TRANSACTION READ ONLY", "P0001"),
    "commit": ("COMMIT", "2D000"),
}
SHAPES = {
    "null": ("SELECT NULL::text AS code", "OM076"),
    "same": ("SELECT 'same' AS code FROM generate_series(1, 3)", None),
    "other": ("SELECT 'a' AS code, 1 AS other", "OM075"),
    "urgent": ("SELECT 'a' AS code, 99999999999 AS priority", "OM013"),
}
LIST = "SELECT task_type, problem, created_count, attempt FROM omd_report.dispatch_sources"
OF_F = f"{LIST} WHERE family_code = 'F' ORDER BY task_type"


@pytest.fixture
def source(room: Room) -> Callable[..., None]:
    """A function that registers a view of this query as the source of a type in F."""
    room.family("F", ("CODE",))

    def register(query: str, task_type: str = "T", /, **arguments: Any) -> None:
        name = task_type.lower()
        room.type(task_type)
        room.conn.execute(f"CREATE VIEW public.v_{name} AS {query}".encode())
        room.call("register_source", family_code="F", task_type=task_type,
                  source=f"public.v_{name}", **arguments)  # fmt: skip

    return register


def codes(room: Room) -> list[str]:
    rows = room.rows("SELECT func_code FROM omd_dispatch.task_data_f ORDER BY task_id")
    return [row["func_code"] for row in rows]


def test_each_row_is_a_task_while_none_of_its_key_is_live(
    room: Room, source: Callable[..., None], another: Callable[..., Room]
) -> None:
    room.conn.execute("CREATE TABLE public.work AS SELECT 'a' AS code, 3 AS priority, 7 AS payload")
    room.conn.execute("GRANT SELECT ON public.work TO omd_runner")
    source("SELECT * FROM public.work", every="1 minute")
    room.conn.execute("GRANT SELECT ON public.v_t TO omd_runner")
    worker = another(role="omd_runner")
    worker.member()
    answer = worker.call("fire_sources")
    assert answer["created"] == 1
    assert timedelta(seconds=50) < answer["wait"] <= timedelta(minutes=1)
    (task,) = worker.claim()
    assert (task["criteria"], task["priority"], task["payload"]) == ({"CODE": "a"}, 3, 7)
    room.conn.execute("INSERT INTO public.work VALUES ('b', 5, NULL)")
    rest(room)
    assert worker.call("fire_sources")["created"] == 1, "the task of a lives"
    worker.complete([task])
    rest(room)
    assert worker.call("fire_sources")["created"] == 1
    assert codes(room) == ["a", "b", "a"]
    assert room.rows(OF_F) == [
        {"task_type": "T", "problem": None, "created_count": 3, "attempt": 0}
    ]


def rest(room: Room) -> None:
    """Let all sources have rested."""
    room.owner("UPDATE omd_dispatch.task_source SET took = NULL, retry_time = NULL")


def test_it_is_read_at_news_or_when_its_time_has_come_and_at_most_a_tenth_of_the_time(
    room: Room, source: Callable[..., None]
) -> None:
    source("SELECT 'a' AS code FROM pg_sleep(0.2)", every="1 minute")
    assert room.call("fire_sources")["created"] == 1
    room.owner("DELETE FROM omd_dispatch.mutex; DELETE FROM omd_dispatch.task_data_f")
    answer = room.call("fire_sources")
    assert answer["created"] == 0, "it rests"
    assert timedelta(seconds=1) < answer["wait"] < timedelta(seconds=20)
    # What has been read since the caller knows of the news has shown it.
    room.owner("UPDATE omd_dispatch.task_source SET took = NULL")
    answer = room.call("fire_sources", wait="1 minute")
    assert answer["created"] == 0
    assert answer["wait"] > timedelta(seconds=30)
    # Its time has come.
    room.owner("UPDATE omd_dispatch.task_source SET last_fired_at = now() - interval '1 minute'")
    assert room.call("fire_sources", wait="1 hour")["created"] == 1


def test_who_reads_a_source_keeps_nobody_and_its_news_are_not_lost(
    room: Room, source: Callable[..., None], another: Callable[..., Room]
) -> None:
    source("SELECT 'a' AS code", every="1 minute")
    source("SELECT 'b' AS code", "OTHER", every="1 minute")
    holder = another(autocommit=False)
    holder.rows("SELECT FROM omd_dispatch.task_source WHERE task_type = 'T' FOR UPDATE")
    answer = room.call("fire_sources")
    assert (answer["created"], codes(room)) == (1, ["b"])
    assert answer["wait"] < timedelta(seconds=1), "T has not shown the news"
    holder.conn.rollback()
    assert room.call("fire_sources", wait=answer["wait"])["created"] == 1
    assert codes(room) == ["b", "a"]


@pytest.mark.parametrize("is_in_block", [False, True])
def test_a_source_that_fails_stops_only_itself(
    room: Room, source: Callable[..., None], another: Callable[..., Room], is_in_block: bool
) -> None:
    for name, (does, _) in BAD.items():
        room.conn.execute(
            f"CREATE FUNCTION public.f_{name}() RETURNS text LANGUAGE plpgsql AS"
            f" $$BEGIN {does}; RETURN '{name}'; END$$".encode()
        )
        source(f"SELECT public.f_{name}() AS code", name.upper())
    for name, (query, _) in SHAPES.items():
        source(query, name.upper())
    source("SELECT 'good' AS code", "GOOD")
    caller = another(autocommit=not is_in_block)
    caller.conn.execute("SET statement_timeout = '5s'")
    for _ in range(3):  # one that is cancelled ends a call
        caller.call("fire_sources")
    if is_in_block:
        caller.conn.commit()
    problems = {row["task_type"]: row["problem"] for row in room.rows(OF_F)}
    for name, (_, problem) in {**BAD, **SHAPES}.items():
        told = problems[name.upper()]
        assert (told and told.split(":")[0]) == problem, name
    assert "good" in codes(room)
    # It waits, and what has failed is tried again later, not at each call.
    attempts = {row["task_type"]: row["attempt"] for row in room.rows(OF_F)}
    assert (attempts["ASSERT"], attempts["GOOD"]) == (1, 0)


def test_a_session_that_dies_in_a_source_leaves_a_problem_and_no_lock(
    room: Room, source: Callable[..., None], another: Callable[..., Room]
) -> None:
    room.conn.execute(
        "CREATE FUNCTION public.f_kill() RETURNS text LANGUAGE plpgsql AS"
        " $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid(), 0); PERFORM pg_sleep(60);"
        " RETURN 'kill'; END$$"
    )
    source("SELECT public.f_kill() AS code")
    source("SELECT 'good' AS code", "GOOD")
    room.owner("UPDATE omd_dispatch.task_source SET last_fired_at = '2020-01-01'"
               " WHERE task_type = 'GOOD'")  # fmt: skip
    with pytest.raises(psycopg.errors.AdminShutdown):
        another().call("fire_sources")
    assert room.call("fire_sources")["created"] == 1, "the other one has had its turn"
    room.owner("UPDATE omd_dispatch.task_source SET retry_time = NULL WHERE task_type = 'T'")
    with pytest.raises(psycopg.errors.AdminShutdown):
        another().call("fire_sources")
    (row,) = (row for row in room.rows(OF_F) if row["task_type"] == "T")
    assert (row["problem"], row["attempt"]) == ("57P01: the session that read it has ended", 1)
    # It is well again once its source is.
    room.conn.execute("CREATE OR REPLACE VIEW public.v_t AS SELECT 'well'::text AS code")
    room.call("register_source", family_code="F", task_type="T")
    assert room.call("fire_sources")["created"] == 1
    assert [row["problem"] for row in room.rows(OF_F)] == [None, None]


def test_a_registration_says_what_is_wrong_and_keeps_what_is_not_given(
    room: Room, source: Callable[..., None]
) -> None:
    room.refused("OM005", "register_source", family_code="F", task_type="T")
    room.refused("OM070", "register_source", family_code="NO", task_type="T", source="a.b")
    room.refused("OM071", "register_source", family_code="F", task_type="NO", source="a.b")
    source("SELECT 'a' AS code", every="1 minute", listen=["x", "Y z"])
    given = {"family_code": "F", "task_type": "T"}
    for argument, wrong in (
        ("source", "no"),
        ("every", "0 s"),
        ("every", "-1 s"),
        ("every", "1 month -1 s"),
        ("listen", [""]),
        ("listen", [None]),
        ("listen", ["x" * 64]),
    ):
        room.refused("OM013", "register_source", **given, **{argument: wrong})
    room.refused("OM006", "register_source", **given, inactive_indicator="X")
    room.call("register_source", **given, every=None, inactive_indicator="Y")
    (row,) = room.rows("SELECT * FROM omd_report.dispatch_sources WHERE family_code = 'F'")
    assert (row["source"], row["every"], row["listen"], row["inactive_indicator"]) == (
        "public.v_t",
        timedelta(minutes=1),
        ["x", "Y z"],
        "Y",
    )
    assert room.call("fire_sources") == {"created": 0, "wait": None}
    edits = "SELECT count(*) FROM omd.event_log WHERE event_detail LIKE '%%task_source%%F T%%'"
    assert room.one(edits) == 2
    room.call("register_source", **given, source="")
    assert room.rows(OF_F) == []


def test_work_is_shipped_switched_off_and_an_administrator_switches_it(
    room: Room, another: Callable[..., Room]
) -> None:
    work = "SELECT task_type, inactive_indicator AS off FROM omd_report.dispatch_sources ORDER BY 1"
    assert room.rows(work) == [
        {"task_type": "DATABASE", "off": "Y"},
        {"task_type": "SPARK", "off": "Y"},
    ]
    another(role="omd_admin").call("set_work", is_on=True)
    another(role="omd_admin").call("set_work", is_on=True)
    assert {row["off"] for row in room.rows(work)} == {"N"}
    room.call("set_work", is_on=False)
    assert {row["off"] for row in room.rows(work)} == {"Y"}
    room.refused("OM005", "set_work", is_on=None)
    given = {"family_code": "WORK", "task_type": "SPARK", "inactive_indicator": "N"}
    runner = another(role="omd_runner")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.call("set_work", is_on=True)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.call("register_source", **given)
