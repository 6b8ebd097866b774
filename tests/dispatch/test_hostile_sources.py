"""A source is code of anybody: whatever it does, the other schedules and the settlement go on."""

from __future__ import annotations

import random
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omd._core.link import Link
from omd.programs.service.loop import Shared
from omd.programs.worker import maintenance
from omd.programs.worker.maintenance import Maintenance
from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from conftest import Room


# What the function of a source does, and how its problem begins; None: it is well.
DOES = {
    "assert": ("ASSERT FALSE, 'no'", "P0004"),
    "stop": ("RAISE EXCEPTION USING ERRCODE = '57014'", "57014"),
    "sleep": ("PERFORM pg_sleep(60)", "57014"),
    "divide": ("PERFORM 1 / (SELECT 0)", "22012"),
    "recursion": ("PERFORM public.f_recursion()", "54001"),
    "lock": ("PERFORM FROM public.held FOR UPDATE", "55P03"),
    "commit": ("COMMIT", "2D000"),
    "commit_of_sql": ("EXECUTE 'COMMIT'", "0A000"),
    "drop_itself": ("EXECUTE 'DROP VIEW public.v_drop_itself'", "42704"),
    "drop_what_it_reads": ("EXECUTE 'DROP TABLE public.what'; PERFORM FROM public.what", "42P01"),
    "role": ("PERFORM set_config('role', 'omd_reader', FALSE)", "P0001"),
    "role_local": ("PERFORM set_config('role', 'omd_reader', TRUE)", "P0001"),
    "constraints": ("SET session_replication_role = replica", "P0001"),
    "read_only": ("SET default_transaction_read_only = on", "P0001"),
    "read_only_here": ("SET TRANSACTION READ ONLY", "P0001"),
    "isolation": ("SET default_transaction_isolation = serializable", "P0001"),
    "path": ("SET search_path = nowhere; SET timezone = 'Asia/Tokyo'", None),
    "timeouts": ("SET statement_timeout = 0; SET lock_timeout = 0", None),
    "leftovers": ("PERFORM pg_advisory_lock(7302501, 0); CREATE TEMP TABLE t (); LISTEN x", None),
    "statements": ("EXECUTE 'DEALLOCATE ALL'; EXECUTE 'DISCARD PLANS'", None),
    "memory": ("PERFORM repeat('x', 2000000000)", "54000"),
    "deferred": ("SET CONSTRAINTS ALL DEFERRED", None),
    "notice": ("RAISE WARNING 'no'", None),
}
SHAPES = {
    "null": ("SELECT NULL::text AS code", "OM076"),
    "nothing": ("SELECT WHERE FALSE", None),
    "no_columns": ("SELECT", "OM076"),
    "same": ("SELECT 'same' AS code FROM generate_series(1, 3)", None),
    "other": ("SELECT 'a' AS code, 1 AS other", "OM075"),
    "composite": ("SELECT t AS code FROM omd_dispatch.turn AS t", "OM078"),
    "long": ("SELECT repeat(md5(n::text), 1000) AS code FROM generate_series(1, 2) AS n", None),
    "urgent": ("SELECT 'a' AS code, 99999999999 AS priority", "OM013"),
    "bytes": ("SELECT '\\x00'::bytea AS code, 'x' AS payload", None),
    "gone": ("SELECT 'a' AS code; DROP VIEW public.v_gone", "42P01"),
    "table": ("SELECT 'a' AS code; DROP VIEW public.v_table; CREATE TABLE public.v_table ()", None),
}
# A code of every class that PostgreSQL has, and two of our own.
CLASSES = """
    01000 02000 03000 08006 09000 0A000 0B000 0F000 0L000 0P000 0Z002 20000 21000 22012 23503
    24000 25006 26000 27000 28000 2B000 2D000 2F005 34000 38000 39P01 3B001 3D000 3F000 40001
    40P01 42501 42P01 44000 53200 54001 55P03 57014 57P01 57P03 58030 72000 F0001 HV000 P0001
    P0004 XX000 XX001 OM013 OM172 ZZZZZ
""".split()  # noqa: SIM905 - a list of them would be long
GOOD = ("good_a", "good_b", "good_c")


class Sources:
    """Schedules with sources, which are due, and a claim of a member that is dead."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.problems: dict[str, str | None] = {}
        room.family("F")
        room.call("register_task_type", family_code="F", task_type="OTHER", target="m:f",
                  handler="PYTHON")  # fmt: skip
        room.conn.execute("CREATE TABLE public.held AS SELECT 1 AS n; CREATE TABLE public.what ()")
        room.member()
        room.create()
        room.claim()
        room.owner("DELETE FROM omd_dispatch.backend_registration")

    def add(self, name: str) -> None:
        if name in SHAPES:
            query, problem = SHAPES[name]
        else:
            if name in GOOD:
                does, problem = "NULL", None
            elif name in DOES:
                does, problem = DOES[name]
            else:
                does, problem = f"RAISE EXCEPTION USING ERRCODE = '{name}'", name
            self.room.conn.execute(
                f"CREATE FUNCTION public.f_{name}() RETURNS text LANGUAGE plpgsql VOLATILE AS"
                f" $$BEGIN {does}; RETURN '{name}'; END$$".encode()
            )
            query = f"SELECT public.f_{name}() AS code"
        self.room.conn.execute(f"CREATE VIEW public.v_{name} AS {query}".encode())
        self.problems[name] = problem
        self.register(name, f"public.v_{name}")

    def register(self, name: str, source: str | None, **more: Any) -> None:
        given = {"every": "1 day", "next_time": self.room.one("SELECT now()"), **more}
        self.room.call(
            "register_schedule", schedule_code=name, family_code="F", task_type="T", source=source,
            **given,
        )  # fmt: skip

    def report(self, name: str) -> dict[str, Any]:
        (row,) = self.room.rows(
            "SELECT * FROM omd_report.dispatch_schedules WHERE schedule_code = %s", name
        )
        return row

    def check(self) -> None:
        """Each has been fired, tells its problem, and the well ones have their tasks."""
        for name, problem in self.problems.items():
            row = self.report(name)
            told = row["problem"] and row["problem"].split(":")[0]
            assert told == problem, (name, row["problem"])
            assert (row["attempt"] > 0) == (problem is not None), row
            if name in GOOD:
                assert row["created_count"] == 1
        claimed = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE status = 'CLAIMED'"
        assert self.room.one(claimed) == 0


@pytest.fixture
def sources(room: Room) -> Sources:
    return Sources(room)


@pytest.fixture
def link(dsn: str) -> Iterator[Callable[[], Link]]:
    links: list[Link] = []

    def new() -> Link:
        links.append(Link(dsn, application_name="rounds", patience=timedelta(0)))
        return links[-1]

    yield new
    for one in links:
        one.close()


@pytest.mark.random
def test_whatever_a_source_does_is_its_own_problem_in_one_session(
    sources: Sources, another: Callable[..., Room]
) -> None:
    """CALL maintain() by hand: all sources in one session, in random order."""
    choose = random.Random(SEED)
    holder = another(autocommit=False)
    holder.rows("SELECT * FROM public.held FOR UPDATE")
    wild = [*DOES, *SHAPES, *CLASSES]
    names = [*choose.sample(wild, min(len(wild), draws(25))), *GOOD]
    choose.shuffle(names)
    for name in names:
        sources.add(name)
    caller = another()
    if choose.random() < 0.5:
        # In a block of the caller the same holds, apart from the commits.
        caller.conn.execute("SET default_transaction_deferrable = on")
    caller.conn.execute("SET statement_timeout = '2s'")
    rounds = 0
    waits = "SELECT count(*) FROM omd_dispatch.task_schedule WHERE last_fired_at IS NULL"
    while sources.room.one(waits) > 0:
        caller.maintain()
        rounds += 1
        assert rounds < 100
    print(names)
    sources.check()
    # The session can still do its work.
    assert caller.one("SELECT current_user = session_user") is True


def test_a_worker_goes_on_whatever_a_source_does_to_its_session(
    sources: Sources, link: Callable[[], Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each schedule is a call of its own, under a timeout, in a session that is as new."""
    monkeypatch.setattr(maintenance, "_LONGEST", "3s")
    room = sources.room
    sources.register("first", None, criteria='{"CODE": "first"}')
    names = ["sleep", "role", "path", "timeouts", "read_only", "statements", "leftovers", "OM172"]
    for name in (*names, *GOOD):
        sources.add(name)
    # It ends its own session, and takes what it was to write with it.
    room.conn.execute(
        "CREATE FUNCTION public.f_kill() RETURNS text LANGUAGE plpgsql AS"
        " $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid(), 0); PERFORM pg_sleep(60);"
        " RETURN 'kill'; END$$; CREATE VIEW public.v_kill AS SELECT public.f_kill() AS code"
    )
    sources.register("kill", "public.v_kill", missed="ALL", every="1 minute",
                     next_time=room.one("SELECT now() - interval '1 hour'"))  # fmt: skip
    told: list[str] = []
    rounds = Maintenance(Shared(link), told.append)
    assert rounds.round().reclaimed == 1
    deadline = time.monotonic() + 90
    waits = "SELECT count(*) FROM omd_dispatch.task_schedule WHERE last_fired_at IS NULL"
    while room.one(waits) > 0 or not (sources.report("kill")["problem"] or "").startswith("57"):
        assert time.monotonic() < deadline
        rounds.round()
    sources.check()
    assert sources.report("first")["created_count"] == 1
    assert any("schedule kill could not be fired" in text for text in told)
    row = sources.report("kill")
    assert (row["problem"], row["created_count"]) == (
        "57P01: the session that fired it has ended",
        0,
    )
    assert row["attempt"] >= 1
    # It is well again once its source is.
    room.conn.execute("CREATE OR REPLACE VIEW public.v_kill AS SELECT 'well'::text AS code")
    room.owner(
        "UPDATE omd_dispatch.task_schedule SET retry_time = NULL WHERE schedule_code = 'kill'"
    )
    assert rounds.round().fired >= 60 + 1
    row = sources.report("kill")
    assert (row["problem"], row["attempt"], row["lost_count"]) == (None, 0, 0)


def test_a_source_may_remove_its_schedule_or_another_one(sources: Sources) -> None:
    room = sources.room
    for name in ("itself", "other"):
        room.conn.execute(
            f"CREATE FUNCTION public.f_{name}() RETURNS text LANGUAGE plpgsql AS"
            f" $$BEGIN DELETE FROM omd_dispatch.task_schedule WHERE schedule_code = 'r_{name}';"
            f" RETURN '{name}'; END$$;"
            f" CREATE VIEW public.v_{name} AS SELECT public.f_{name}() AS code".encode()
        )
    sources.register("r_itself", "public.v_itself")
    sources.register("another", "public.v_other")
    sources.register("r_other", None, criteria='{"CODE": "x"}',
                     next_time=room.one("SELECT now() + interval '1 s'"))  # fmt: skip
    sources.add("good_a")
    assert room.maintain()["fired"] == 3
    left = room.rows("SELECT schedule_code FROM omd_report.dispatch_schedules ORDER BY 1")
    assert [row["schedule_code"] for row in left] == ["another", "good_a"]
    sources.check()
    room.refused("OM074", "fire_schedule", schedule_code="r_itself")
    room.refused("OM005", "fire_schedule", schedule_code=None)
    for limit in (0, 1001, None):
        if limit is not None:
            room.refused("OM013", "fire_schedule", schedule_code="another", limit=limit)


def test_a_stop_ends_the_round_and_what_was_done_before_stays(
    sources: Sources,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    cancelled: Callable[..., Any],
) -> None:
    """Of a hundred sources that take long, one is stopped by one Ctrl-C, and not each in turn."""
    room = sources.room
    for name in ("one", "two", "three"):
        room.conn.execute(
            f"CREATE VIEW public.v_{name} AS SELECT '{name}' || pg_sleep(60) AS code".encode()
        )
        sources.register(name, f"public.v_{name}")
    caller = another()
    answer = cancelled(caller, background(caller.maintain))
    assert answer == {"reclaimed": 1, "fired": 0, "more": True}
    stopped = "SELECT count(*) FROM omd_report.dispatch_schedules WHERE problem LIKE '57014%%'"
    assert room.one(stopped) == 1
    # What another session reads at this moment holds up nothing else, the settlement least of all.
    reader = another()
    thread = threading.Thread(target=reader.maintain)
    thread.start()
    sleeps = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
    while room.one(sleeps, reader.conn.info.backend_pid) == 0:
        assert thread.is_alive()
    room.member("w2")
    room.create("b")
    room.claim(by="w2")
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert cancelled(caller, background(caller.maintain))["reclaimed"] == 2
    assert room.one(stopped) == 2
    room.conn.execute("SELECT pg_cancel_backend(%s)", [reader.conn.info.backend_pid])
    thread.join()
    assert room.one(stopped) == 3


def test_a_round_creates_a_thousand_tasks_and_keeps_the_rest_for_the_next_ones(
    sources: Sources,
) -> None:
    room = sources.room
    room.conn.execute(
        "CREATE TABLE public.rows AS SELECT 'r' || n AS code FROM generate_series(1, 2300) AS n;"
        "CREATE VIEW public.v_many AS SELECT code FROM public.rows"
    )
    hour = room.one("SELECT date_trunc('hour', now()) - interval '2 hours'")
    sources.register("many", "public.v_many", missed="ALL", every="1 hour", next_time=hour)
    sources.register("few", None, criteria='{"CODE": "few"}')
    tasks = (
        "SELECT count(*), count(DISTINCT (func_code, execution_time)) AS different"
        " FROM omd_dispatch.task_data_f WHERE schedule_code = 'many'"
    )
    answers = [room.maintain()]
    # What the source shows later is of later occurrences.
    room.conn.execute("DELETE FROM public.rows WHERE code > 'r21'")
    left = room.one("SELECT count(*) FROM public.rows")
    while answers[-1]["more"]:
        answers.append(room.maintain())
        assert answers[-1]["fired"] <= 1000
        assert len(answers) < 20
    (row,) = room.rows(tasks)
    assert row["count"] == row["different"] == 2300 + 2 * left
    assert [answer["fired"] for answer in answers][:3] == [1000, 1000, 301]
    assert sum(answer["fired"] for answer in answers) == row["count"] + 1
    assert room.one("SELECT count(*) FROM omd_dispatch.task_schedule_rest") == 0


def test_what_is_left_goes_with_its_schedule(sources: Sources) -> None:
    room = sources.room
    room.conn.execute(
        "CREATE VIEW public.v_many AS SELECT 'r' || n AS code FROM generate_series(1, 1500) AS n"
    )
    rest = "SELECT count(*) FROM omd_dispatch.task_schedule_rest"
    for change in (
        lambda: room.owner("UPDATE omd_dispatch.task_schedule SET inactive_indicator = 'Y'"),
        lambda: sources.register("many", "", criteria='{"CODE": "x"}', every="1 hour"),
        lambda: room.call("remove_schedule", schedule_code="many"),
    ):
        sources.register("many", "public.v_many", inactive_indicator="N")
        assert room.maintain()["fired"] == 1000
        assert room.one(rest) == 500
        change()
        room.maintain()
        assert room.one(rest) == 0


def test_an_occurrence_that_fails_is_tried_again_until_the_next_one_is_due(
    sources: Sources,
) -> None:
    room = sources.room
    room.conn.execute("CREATE TABLE public.says AS SELECT 0 AS n; CREATE VIEW public.v_transient AS"
                      " SELECT 'a' || 1 / n AS code FROM public.says")  # fmt: skip
    for missed in ("ONCE", "SKIP", "ALL"):
        room.conn.execute("UPDATE public.says SET n = 0")
        at = room.one("SELECT now() - interval '1 s'")
        given = {"missed": missed, "every": "1 hour", "next_time": at}
        sources.register(missed, "public.v_transient", **given)
        assert room.maintain()["fired"] == 0
        row = sources.report(missed)
        assert (row["next_time"], row["attempt"], row["lost_count"]) == (at, 1, 0)
        assert row["problem"].startswith("22012")
        assert timedelta(0) < row["retry_time"] - row["last_fired_at"] < timedelta(seconds=1)
        # It waits for its time, and longer after each failure.
        assert room.maintain() == {"reclaimed": 0, "fired": 0, "more": False}
        retry = "UPDATE omd_dispatch.task_schedule SET retry_time = now() WHERE schedule_code = %s"
        for attempt in (2, 3, 4):
            room.owner(retry, missed)
            assert room.maintain()["fired"] == 0
            row = sources.report(missed)
            wait = (row["retry_time"] - row["last_fired_at"]).total_seconds()
            assert row["attempt"] == attempt
            assert 2 ** (attempt - 1) - 1 < wait < 2 ** (attempt - 1)
        room.conn.execute("UPDATE public.says SET n = 1")
        room.owner(retry, missed)
        assert room.maintain()["fired"] == 1
        row = sources.report(missed)
        assert (row["problem"], row["attempt"], row["lost_count"]) == (None, 0, 0)
        assert row["next_time"] == at + timedelta(hours=1)

        # Now the next one comes before it is mended.
        room.conn.execute("UPDATE public.says SET n = 0")
        at = room.one("SELECT now() - interval '1 hour 30 s'")
        sources.register(missed, "public.v_transient", **given | {"next_time": at})
        room.owner(
            "UPDATE omd_dispatch.task_schedule SET attempt = 7, failed_time = next_time,"
            " problem = '22012: division by zero' WHERE schedule_code = %s",
            missed,
        )
        room.conn.execute("UPDATE public.says SET n = 1")
        lost = missed != "ALL"
        assert room.maintain()["fired"] == (1 if lost else 2)
        row = sources.report(missed)
        assert (row["problem"], row["attempt"], row["lost_count"]) == (None, 0, int(lost))
        events = room.rows(
            "SELECT event_detail FROM omd.event_log"
            " WHERE event_return_code_details = 'OCCURRENCE LOST' AND event_detail LIKE %s",
            f"schedule {missed}: %",
        )
        assert len(events) == int(lost)
        if lost:
            assert "after 7 attempts" in events[0]["event_detail"]
            assert "22012" in events[0]["event_detail"]
        room.call("remove_schedule", schedule_code=missed)
