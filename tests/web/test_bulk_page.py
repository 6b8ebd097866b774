"""Many at once: the filter is counted, and done in parts that take no more; picks one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg
import pytest

from web.acting import done, logged, send, shown, text_of
from web.seen import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]

DEAD = {"family_code": "BULK", "statuses": "DEAD"}


def many(code: str, **given: Any) -> str:
    return f"/bulk/{code}?{urlencode(given, doseq=True)}"


@pytest.fixture
def dead(conn: Connection) -> Any:
    """A function that makes dead tasks, and returns their numbers."""
    conn.execute("CALL omd_dispatch.register_family('BULK', '{\"CODE\": \"text\"}')")
    conn.execute("CALL omd_dispatch.register_task_type('BULK', 'T', 'PYTHON', 'm:f', 'BULK')")

    def make(number: int) -> list[int]:
        conn.execute("SET ROLE omd_owner")
        rows = conn.execute(
            "INSERT INTO omd_dispatch.task_data_bulk (task_id, partition_code, task_type, lane,"
            " priority, execution_time, status, attempt, created_at, finished_at, error, func_code)"
            " SELECT nextval('omd_dispatch.task_id'), 0, 'T', 'BULK', 5, now(), 'DEAD', 3, now(),"
            " now(), 'ValueError: secret', n::text FROM generate_series(1, %s) AS n"
            " RETURNING task_id",
            (number,),
        ).fetchall()
        conn.execute("RESET ROLE")
        return [row["task_id"] for row in rows]

    return make


@pytest.fixture
def log(conn: Connection) -> Iterator[Any]:
    with logged(conn) as entries:
        yield entries


def statuses(conn: Connection) -> dict[str, int]:
    rows = conn.execute(
        "SELECT status, count(*) AS n FROM omd_dispatch.task_data_bulk GROUP BY status"
    ).fetchall()
    return {row["status"]: row["n"] for row in rows}


def calls(entries: list[str]) -> list[str]:
    return [entry for entry in entries if "revive_tasks" in entry and "omd_web" not in entry]


def test_what_matches_is_counted_and_done_as_it_was_shown(
    page: Page, conn: Connection, dead: Any, log: Any
) -> None:
    dead(3)
    seen = shown(page, many("REVIVE_TASK", **DEAD))
    assert seen.one("main").attributes["data-screen"] == "bulk"
    assert seen.one("", data_count=True).attributes["data-count"] == "3"
    assert seen.one("textarea", name="reason")
    text = text_of(seen)
    assert text.startswith("CALL omd_dispatch.revive_tasks(")
    assert statuses(conn) == {"DEAD": 3}
    late = dead(1)
    after = done(page, send(page, seen))
    assert after.one("", data_done=True).attributes["data-done"] == "3"
    assert statuses(conn) == {"PENDING": 3, "DEAD": 1}
    assert calls(log()) == [text]
    assert conn.execute(
        "SELECT status FROM omd_dispatch.task_data_bulk WHERE task_id = %s", late
    ).fetchone() == {"status": "DEAD"}


def test_many_are_done_in_parts_that_take_together_what_was_counted(
    page: Page, conn: Connection, dead: Any, log: Any
) -> None:
    dead(20_500)
    path = many("REVIVE_TASK", **DEAD, reason="a bad night")
    seen = shown(page, path)
    answer = send(page, seen)
    assert answer.status == 303
    while 'data-doing="AT_WORK"' in (text := page.get(answer.headers["Location"]).text):
        pass
    after = read(text)
    assert after.one("", data_done=True).attributes["data-done"] == "20500"
    sent = calls(log())
    assert sent[0] == text_of(seen) == text_of(after)
    limits = [entry.partition("p_limit => '")[2].partition("'")[0] for entry in sent]
    assert limits == ["10000", "10000", "500"]
    assert all(entry.startswith("BEGIN;\nSET LOCAL omd.reason = 'a bad night';") for entry in sent)
    assert statuses(conn) == {"PENDING": 20_500}
    events = conn.execute(
        "SELECT reason FROM omd.event_log WHERE event_return_code_details = 'REVIVED'"
    ).fetchall()
    assert events == [{"reason": "a bad night"}] * 3


def test_what_is_typed_is_shown_before_it_is_sent(page: Page, conn: Connection, dead: Any) -> None:
    dead(2)
    conn.execute(
        "CALL omd_dispatch.revive_tasks(%s, clock_timestamp())",
        (json.dumps({"family_code": "BULK", "statuses": ["DEAD"]}),),
    )
    pending = {**DEAD, "statuses": "PENDING"}
    seen = shown(page, many("RESCHEDULE_TASK", **pending))
    again = send(page, seen, p_priority="2", reason="first")
    assert again.status == 409
    seen = read(again.text)
    assert "p_priority => '2'::integer" in text_of(seen)
    assert "'first'" in text_of(seen)
    done(page, send(page, seen))
    rows = conn.execute("SELECT DISTINCT priority FROM omd_dispatch.task_data_bulk").fetchall()
    assert rows == [{"priority": 2}]
    running = shown(page, many("CANCEL_RUNNING_TASK", **pending))
    assert "p_running => 'true'::boolean" in text_of(running)
    done(page, send(page, running))
    assert statuses(conn) == {"CANCELLED": 2}


def test_picked_tasks_are_a_filter_too(page: Page, conn: Connection, dead: Any) -> None:
    ids = dead(4)
    seen = shown(page, many("REVIVE_TASK", **DEAD, task_ids=ids[1:3]))
    assert seen.one("", data_count=True).attributes["data-count"] == "2"
    done(page, send(page, seen))
    assert statuses(conn) == {"PENDING": 2, "DEAD": 2}


@pytest.mark.parametrize(
    ("given", "status", "state"),
    [
        ({}, 422, "OM099"),
        ({"family_code": "BULK"}, 422, "OM099"),
        ({**DEAD, "task_ids": ""}, 422, "OM099"),
        ({**DEAD, "task_ids": "1 OR TRUE"}, 422, "OM099"),
        ({**DEAD, "anything": "<script>"}, 422, "OM099"),
        ({**DEAD, "statuses": "DONE"}, 422, "OM099"),
        ({**DEAD, "criteria": "{"}, 422, "OM099"),
        ({**DEAD, "criteria": '{"X": 1}'}, 422, "OM075"),
        ({**DEAD, "family_code": "'; --"}, 422, "OM070"),
    ],
)
def test_a_filter_that_is_refused_is_said(
    page: Page, dead: Any, given: dict[str, Any], status: int, state: str
) -> None:
    dead(1)
    answer = page.get(many("REVIVE_TASK", **given))
    assert answer.status == status
    seen = read(answer.text)
    assert seen.one("", role="alert", data_sqlstate=True).attributes["data-sqlstate"] == state
    assert not seen.one("main").all("button", type="submit")


def test_a_form_is_sent_once_and_an_unknown_action_is_none(page: Page, dead: Any) -> None:
    dead(1)
    seen = shown(page, many("REVIVE_TASK", **DEAD))
    done(page, send(page, seen))
    assert send(page, seen).status == 403
    assert page.get("/bulk/NOTHING?key=1").status == 404
    assert page.get(many("RESUME", **DEAD)).status == 404
    nothing = shown(page, many("REVIVE_TASK", **DEAD))
    assert "disabled" in nothing.one("main").one("button", type="submit").attributes


def test_a_link_of_another_site_counts_nothing(page: Page, conn: Connection, dead: Any) -> None:
    dead(1)
    answer = page.get(many("REVIVE_TASK", **DEAD), headers={"Sec-Fetch-Site": "cross-site"})
    seen = read(answer.text)
    assert not seen.all("", data_count=True)
    again = send(page, seen)
    assert again.status == 200
    assert read(again.text).one("", data_count=True).attributes["data-count"] == "1"
    assert statuses(conn) == {"DEAD": 1}


def test_what_has_no_bulk_routine_is_picked_and_each_has_its_answer(
    page: Page, conn: Connection, log: Any
) -> None:
    for code in ("b_one", "b & two", "b_three"):
        conn.execute("CALL omd.register_batch(%s)", (code,))
    conn.execute("CALL omd.register_batch('b_three', p_inactive_indicator => 'Y')")
    picked = ["b_one", "b & two", "b_three", "<b>none</b>"]
    seen = shown(page, many("BATCH_DEACTIVATE", key=picked))
    assert seen.one("", data_count=True).attributes["data-count"] == "4"
    texts = text_of(seen).splitlines()
    assert len(texts) == 3
    assert "<b>none</b>" in seen.one("main").text
    after = done(page, send(page, seen))
    assert after.one("", data_done=True).attributes["data-done"] == "3"
    assert [entry for entry in log() if entry in texts] == texts
    rows = conn.execute("SELECT DISTINCT inactive_indicator AS i FROM omd_report.batch_list")
    assert rows.fetchall() == [{"i": "Y"}]
    assert page.get(many("BATCH_DEACTIVATE", key=range(201))).status == 422


def test_of_picks_a_refused_one_keeps_the_others_from_nothing(
    page: Page, conn: Connection, dead: Any
) -> None:
    ids = dead(3)
    seen = shown(page, many("REVIVE_TASK", key=ids))
    conn.execute("CALL omd_dispatch.revive_task(%s)", (ids[1],))
    after = done(page, send(page, seen))
    assert after.one("", data_done=True).attributes["data-done"] == "2"
    assert after.one("", data_sqlstate=True).attributes["data-sqlstate"] == "OM171"
    assert statuses(conn) == {"PENDING": 3}


def test_a_stop_lets_what_was_committed_stand_and_the_same_filter_goes_on(
    page: Page, conn: Connection, dead: Any, connect: Any
) -> None:
    ids = dead(10_010)
    # The last task is made to wait in a trigger, so that the second part stands still.
    conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock(4711); RETURN new; END $$;"
        "CREATE TRIGGER trg_wait BEFORE UPDATE ON omd_dispatch.task_data_bulk FOR EACH ROW"
        f" WHEN (new.task_id = {ids[-1]}) EXECUTE FUNCTION dwh.wait()".encode()
    )
    holder = connect()
    holder.execute("SELECT pg_advisory_lock(4711)")
    try:
        answer = send(page, shown(page, many("REVIVE_TASK", **DEAD)))
        assert answer.status == 303
        where = answer.headers["Location"]
        while 'data-count="10000"' not in (text := page.get(where).text):
            pass
        seen = read(text)
        assert statuses(conn) == {"PENDING": 10_000, "DEAD": 10}
        form = next(f for f in seen.all("form") if f.all("button", name="stop"))
        stopped = page.post(form.attributes["action"], {**form.fields(), "stop": "1"})
        assert stopped.status == 303
        while "AT_WORK" in (text := page.get(where).text):
            pass
        assert read(text).one("", data_stopped=True)
        assert statuses(conn) == {"PENDING": 10_000, "DEAD": 10}
    finally:
        holder.execute("SELECT pg_advisory_unlock(4711)")
        conn.execute("DROP FUNCTION dwh.wait() CASCADE")
    rest = shown(page, many("REVIVE_TASK", **DEAD))
    assert rest.one("", data_count=True).attributes["data-count"] == "10"
    done(page, send(page, rest))
    assert statuses(conn) == {"PENDING": 10_010}
