"""A dialog shows the statement, what it would do and who does it; what is shown is what is sent."""

from __future__ import annotations

import itertools
import re
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from web.acting import after_undo, do, done, logged, send, shown, text_of
from web.seen import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from web.conftest import Answer, Page

    Connection = psycopg.Connection[dict[str, Any]]

HOSTILE = [
    "a/b?c#d&e=f %41 +",
    "<script>alert(1)</script>",
    "'; DROP TABLE omd.module; --",
    "\\'; SELECT 1; \\",
    'x"></pre><b onclick=1>',
    "\N{RIGHT-TO-LEFT OVERRIDE}dlo\N{ZERO WIDTH SPACE}",
    "line\nCOMMIT;\nDROP TABLE omd.module;",
    "..",
    "\x01\x1b[31m",
    "k" * 900,
]


_numbers = itertools.count(1)


@pytest.fixture
def batch(conn: Connection) -> Callable[[str], str]:
    def register(code: str | None = None) -> str:
        # The key of a task outlives the emptied tables.
        code = code or f"b_{next(_numbers)}"
        conn.execute("CALL omd.register_batch(%s)", (code,))
        return code

    return register


@pytest.fixture
def schedule(conn: Connection) -> Callable[[str], str]:
    """A function that registers a schedule that is due."""

    def register(code: str) -> str:
        conn.execute(
            "CALL omd_dispatch.register_schedule(%s, 'RUN', 'BATCH', '{\"CODE\": \"b\"}',"
            " p_every => '1 day', p_next_time => '2020-01-01Z')",
            (code,),
        )
        return code

    return register


@pytest.fixture
def person(conn: Connection, dsn: str, new_page: Callable[..., Page]) -> Iterator[Any]:
    """A function that starts a page of a person who has these roles."""
    made = []

    def start(*roles: str, **arguments: Any) -> Page:
        name = f"web_person_{len(made)}"
        made.append(name)
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        for role in roles:
            conn.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(name))
            )
        return new_page(dsn=make_conninfo(dsn, user=name), **arguments)

    yield start
    conn.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE usename LIKE 'web_person_%'"
    )
    for name in made:
        conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def log(conn: Connection) -> Iterator[Callable[[], list[str]]]:
    with logged(conn) as entries:
        yield entries


# What is shown ------------------------------------------------------------------------------------


def test_a_dialog_shows_the_statement_what_it_would_do_and_who_does_it(
    page: Page, conn: Connection, batch: Callable[..., str]
) -> None:
    batch("b")
    seen = shown(page, do("BATCH_DEACTIVATE", "b"))
    assert seen.one("main").attributes["data-screen"] == "do"
    row = conn.execute("SELECT omd_web.statement('BATCH_DEACTIVATE', 'b') AS s").fetchone()
    assert row is not None
    assert text_of(seen) == row["s"]
    tried = seen.one("", data_preview="DONE")
    [changed] = tried.all("tr", data_key="inactive_indicator")
    assert [cell.text for cell in changed.all("td")] == ["inactive_indicator", "N", "Y"]
    assert seen.one("textarea", name="reason")
    assert "omd_reader" in seen.one("p", class_="who").text or "superuser" in seen.text
    assert len(seen.one("main").all("button", type="submit")) == 1
    row = conn.execute("SELECT inactive_indicator AS i FROM omd_report.batch_list").fetchone()
    assert row == {"i": "N"}


def test_what_is_asked_is_a_field_and_is_shown_before_it_is_sent(
    page: Page, conn: Connection, batch: Callable[..., str]
) -> None:
    batch("b")
    seen = shown(page, do("BATCH_SET_PARAMETER", "b"))
    assert ":p_parameter_code" in text_of(seen)
    assert not seen.all("", data_preview=True)
    typed = {"p_parameter_code": "it's", "p_parameter_value": "a\r\nb"}
    again = send(page, seen, **typed)
    assert again.status == 200
    seen = read(again.text)
    assert "it''s" in text_of(seen)
    assert "a\\u000ab" in text_of(seen)
    assert seen.one("", data_preview="DONE")
    assert conn.execute("SELECT FROM omd.parameter").fetchall() == []
    done(page, send(page, seen))
    row = conn.execute("SELECT parameter_value FROM omd_report.parameter_list").fetchone()
    assert row == {"parameter_value": "a\nb"}


@pytest.mark.parametrize("key", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_shown_is_what_is_sent(
    page: Page, conn: Connection, batch: Callable[..., str], log: Any, key: str
) -> None:
    batch(key)
    # A field of a form can't hold other control characters; a key is in the path.
    reason = re.sub(r"[\x00-\x08\x0b-\x1f]", "\N{REPLACEMENT CHARACTER}", key)
    seen = shown(page, do("BATCH_DEACTIVATE", key, reason=key))
    text = text_of(seen)
    assert text.startswith("BEGIN;\nSET LOCAL omd.reason = ")
    after = done(page, send(page, seen))
    assert text_of(after) == text
    assert after_undo(log(), text)
    rows = conn.execute(
        "SELECT b.batch_code, e.reason FROM omd_report.batch_list AS b, omd.event_log AS e"
        " WHERE b.inactive_indicator = 'Y' AND e.reason IS NOT NULL"
    ).fetchall()
    assert rows == [{"batch_code": key, "reason": reason}]


def test_a_statement_without_a_reason_is_one_call(
    page: Page, batch: Callable[..., str], log: Any
) -> None:
    batch("b")
    seen = shown(page, do("BATCH_DEACTIVATE", "b"))
    text = text_of(seen)
    assert re.fullmatch(r"CALL omd\.register_batch\(.*\);", text)
    done(page, send(page, seen))
    assert after_undo(log(), text)


def test_a_reason_that_was_not_shown_is_shown_first(
    page: Page, batch: Callable[..., str], log: Any
) -> None:
    batch("b")
    first = shown(page, do("BATCH_DEACTIVATE", "b"))
    again = send(page, first, reason="ticket 4711")
    assert again.status == 409
    seen = read(again.text)
    assert not any("ticket" in entry for entry in log() if entry.startswith("BEGIN;\n"))
    assert "ticket 4711" in text_of(seen)
    done(page, send(page, seen))
    assert after_undo(log(), text_of(seen))


def test_who_did_it_and_why_stands_in_the_event_log(
    person: Any, conn: Connection, batch: Callable[..., str]
) -> None:
    batch("b")
    page = person("omd_reader", "omd_admin")
    done(page, send(page, shown(page, do("BATCH_DEACTIVATE", "b", reason="at night"))))
    rows = conn.execute(
        "SELECT event_detail, reason FROM omd.event_log WHERE reason IS NOT NULL"
    ).fetchall()
    [event] = rows
    assert event["reason"] == "at night"
    assert "web_person_0" in event["event_detail"]


# Who may ------------------------------------------------------------------------------------------


def test_who_lacks_a_role_is_told_which(person: Any, batch: Callable[..., str]) -> None:
    batch("b")
    seen = shown(person("omd_reader"), "/batch/b").one("section", id="actions")
    assert not seen.all("a", data_action=True)
    [deactivate] = seen.all("p", data_needs="BATCH_DEACTIVATE")
    assert "it needs the role omd_admin" in deactivate.text
    seen = shown(person("omd_reader", "omd_admin"), "/batch/b").one("section", id="actions")
    assert seen.all("a", data_action="BATCH_DEACTIVATE")
    assert not seen.all("p", data_needs="BATCH_DEACTIVATE")


@pytest.mark.parametrize(
    ("roles", "code", "may"),
    [
        (["omd_reader"], "BATCH_DEACTIVATE", False),
        (["omd_data_reader"], "BATCH_DEACTIVATE", False),
        (["omd_runner"], "BATCH_DEACTIVATE", False),
        (["omd_admin"], "BATCH_DEACTIVATE", True),
        (["omd_reader"], "BATCH_RUN", False),
        (["omd_runner"], "BATCH_RUN", True),
        (["omd_admin"], "BATCH_RUN", True),
    ],
)
def test_the_database_judges_each_action(
    person: Any, batch: Callable[..., str], conn: Connection, roles: list[str], code: str, may: bool
) -> None:
    page = person("omd_reader", *roles)
    seen = shown(page, do(code, batch()))
    [button] = seen.one("main").all("button", type="submit")
    assert ("disabled" in button.attributes) is not may
    events = len(conn.execute("SELECT FROM omd.event_log").fetchall())
    answer = send(page, seen)
    if may:
        assert not seen.all("", data_why_not=True)
        done(page, answer)
    else:
        assert "omd_admin" in seen.one("", data_why_not=True).text
        assert seen.one("", data_preview="REFUSED")
        assert answer.status == 403
        alert = read(answer.text).one("", role="alert")
        assert alert.attributes["data-sqlstate"] == "42501"
        assert len(conn.execute("SELECT FROM omd.event_log").fetchall()) == events


def test_a_page_that_reads_only_offers_and_does_nothing(
    new_page: Any, batch: Callable[..., str]
) -> None:
    batch("b")
    page = new_page(read_only=True)
    seen = shown(page, do("BATCH_DEACTIVATE", "b"))
    assert text_of(seen).startswith("CALL ")
    assert not seen.one("main").all("form")
    assert not seen.all("", data_preview=True)
    assert page.post(do("BATCH_DEACTIVATE", "b"), {"form": "x"}).status == 403


def test_what_runs_sql_of_users_is_only_shown_to_whom_a_proxy_names(
    page: Page, schedule: Callable[[str], str], batch: Callable[..., str]
) -> None:
    path = do("FIRE_SCHEDULE", schedule("s"))
    assert shown(page, path).one("", data_preview="UNKNOWN")
    [session] = page.site.sessions.all()
    session.person.is_shown_only = True
    seen = shown(page, path)
    assert text_of(seen).startswith("SET omd.reason = 'by hand';\nCALL ")
    assert not seen.one("main").all("form")
    assert page.post(path, {"form": "x"}).status == 403
    assert shown(page, do("BATCH_DEACTIVATE", batch())).one("form", data_dialog=True)


# Forms --------------------------------------------------------------------------------------------


def test_a_form_works_once(page: Page, batch: Callable[..., str], conn: Connection) -> None:
    seen = shown(page, do("BATCH_RUN", batch()))
    done(page, send(page, seen))
    again = send(page, seen)
    assert again.status == 403
    assert len(conn.execute("SELECT FROM omd_dispatch.task_data_run").fetchall()) == 1


def test_of_two_clicks_at_once_one_is_done(
    page: Page, batch: Callable[..., str], conn: Connection
) -> None:
    seen = shown(page, do("BATCH_RUN", batch()))
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(send(page, seen).status)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 403, 403, 403]
    assert len(conn.execute("SELECT FROM omd_dispatch.task_data_run").fetchall()) == 1


def test_a_form_is_for_its_own_action_object_and_session(
    page: Page, new_page: Any, batch: Callable[..., str], conn: Connection
) -> None:
    batch("b")
    batch("c")
    for path in (do("BATCH_DEACTIVATE", "c"), do("BATCH_ACTIVATE", "b")):
        form = shown(page, do("BATCH_DEACTIVATE", "b")).one("form", data_dialog=True).fields()
        assert page.post(path, form).status == 403
    form = shown(page, do("BATCH_DEACTIVATE", "b")).one("form", data_dialog=True).fields()
    page.sign_in()  # somebody else
    assert page.post(do("BATCH_DEACTIVATE", "b"), form).status == 403
    assert page.post(do("BATCH_DEACTIVATE", "b"), {}).status == 403
    rows = conn.execute("SELECT FROM omd.batch WHERE inactive_indicator = 'Y'").fetchall()
    assert rows == []


def test_a_careful_action_wants_its_key(
    page: Page, schedule: Callable[[str], str], conn: Connection, log: Any
) -> None:
    key = schedule("s <b>")
    seen = shown(page, do("REMOVE_SCHEDULE", key))
    assert seen.one("", data_preview="DONE")
    assert seen.one("input", name="key").attributes.get("value", "") == ""
    for wrong in ("", "s", "S <B>"):
        answer = send(page, seen, key=wrong)
        assert answer.status == 422
        seen = read(answer.text)
        assert seen.one("", role="alert")
    assert text_of(seen) not in log()
    done(page, send(page, seen, key=key))
    assert after_undo(log(), text_of(seen))
    left = "SELECT FROM omd_report.dispatch_schedules WHERE schedule_code <> 'omd.purge'"
    assert conn.execute(left).fetchall() == []


# Refused, tried, stopped --------------------------------------------------------------------------


def test_a_call_that_is_refused_says_why(
    page: Page, batch: Callable[..., str], conn: Connection
) -> None:
    done(page, send(page, shown(page, do("BATCH_RUN", batch()))))
    row = conn.execute("SELECT task_id FROM omd_dispatch.task_data_run").fetchone()
    assert row is not None
    seen = shown(page, do("CANCEL_TASK", row["task_id"]))
    done(page, send(page, shown(page, do("CANCEL_TASK", row["task_id"]))))
    revived = shown(page, do("REVIVE_TASK", row["task_id"]))
    done(page, send(page, shown(page, do("REVIVE_TASK", row["task_id"]))))
    # It is pending again, so what was shown before is refused by the procedure itself.
    answer = send(page, revived)
    assert answer.status == 409
    alert = read(answer.text).one("", role="alert")
    assert alert.attributes["data-sqlstate"].startswith("OM1")
    assert alert.one("p", class_="hint").text
    fresh = read(answer.text)
    assert fresh.one("form", data_dialog=True).fields()["form"]
    done(page, send(page, seen))  # what was shown before is true again


def test_a_wrong_argument_is_refused_as_the_callers(page: Page, batch: Callable[..., str]) -> None:
    code = batch()
    seen = shown(page, do("BATCH_RUN", code, p_priority="77"))
    assert seen.one("", data_preview="REFUSED")
    answer = send(page, seen)
    assert answer.status == 422
    assert read(answer.text).one("", role="alert").attributes["data-sqlstate"].startswith("OM0")
    seen = shown(page, do("BATCH_RUN", code, p_priority="x"))
    assert send(page, seen).status == 422


@pytest.mark.parametrize(
    "path",
    [do("NO_SUCH", "b"), do("BATCH_RUN", "no such"), do("CANCEL_TASK", "x"), do("CANCEL_TASK", 99)],
)
def test_what_is_not_there_has_no_dialog(page: Page, path: str) -> None:
    assert page.get(path).status == 404
    assert page.post(path, {"form": ""}).status == 403


def test_whoever_comes_from_elsewhere_must_ask_for_the_try(
    page: Page, batch: Callable[..., str], log: Any
) -> None:
    batch("b")
    for site in ("cross-site", "same-site", "none"):
        seen = shown(page, do("BATCH_DEACTIVATE", "b"), headers={"Sec-Fetch-Site": site})
        assert not seen.all("", data_preview=True)
        assert text_of(seen).startswith("CALL")
    assert not any("omd_web.preview" in entry for entry in log())
    form = seen.one("form", data_dialog=True)
    assert len(form.all("input", name="try")) == 1
    answer = page.post(form.attributes["action"], {**form.fields(), "try": "Try it"})
    assert answer.status == 200
    assert read(answer.text).one("", data_preview="DONE")
    seen = shown(page, do("BATCH_DEACTIVATE", "b"), headers={"Sec-Fetch-Site": "same-origin"})
    assert seen.one("", data_preview="DONE")


def test_a_dialog_says_that_no_worker_lives(page: Page, batch: Callable[..., str]) -> None:
    tried = shown(page, do("BATCH_RUN", batch())).one("", data_preview="DONE")
    assert "worker" in tried.one("p", class_="warning").text


@pytest.fixture
def held(conn: Connection, connect: Any, dsn: str) -> Any:
    """Whoever changes a Batch waits for the lock of another session, in a test-only trigger."""
    conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock(39); RETURN NEW; END $$;"
        " CREATE TRIGGER test_wait BEFORE UPDATE ON omd.batch"
        " FOR EACH ROW EXECUTE FUNCTION dwh.wait()"
    )
    other = connect(dsn)
    yield other
    other.close()
    conn.execute("DROP TRIGGER test_wait ON omd.batch")


def wait_for(conn: Connection, query: str, count: int = 1) -> None:
    for _ in range(2000):
        if len(conn.execute(query.encode()).fetchall()) == count:
            return
        conn.execute("SELECT pg_sleep(0.005)")
    raise AssertionError(query)


AT_WORK = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'omd web'"
    " AND wait_event = 'advisory' AND datname = current_database()"
)


def begun(page: Page, held: Connection, key: str = "b") -> str:
    """Send what waits; return the path of the page that says so."""
    seen = shown(page, do("BATCH_DEACTIVATE", key))
    held.execute("SELECT pg_advisory_lock(39)")
    answer = send(page, seen)
    assert answer.status == 303
    path = answer.headers["Location"]
    assert re.fullmatch(r"/doing/\d+", path)
    return str(path)


def test_what_takes_long_goes_on_and_is_stopped(
    page: Page, conn: Connection, batch: Callable[..., str], held: Connection
) -> None:
    batch("b")
    path = begun(page, held)
    wait_for(conn, AT_WORK)
    seen = shown(page, path)
    assert seen.one("main").attributes["data-screen"] == "doing"
    assert seen.one("", data_doing="AT_WORK")
    assert seen.all("time")
    [form] = [form for form in seen.one("main").all("form") if form.all("button", name="stop")]
    answer = page.post(form.attributes["action"], {**form.fields(), "stop": "1"})
    assert answer.status == 303
    wait_for(conn, AT_WORK, 0)
    seen = shown(page, path)
    assert seen.one("", data_doing="STOPPED")
    assert not seen.all("button", name="stop")
    row = conn.execute("SELECT inactive_indicator AS i FROM omd_report.batch_list").fetchone()
    assert row == {"i": "N"}


def test_what_takes_long_is_done_whoever_looks_and_its_page_says_so(
    page: Page, conn: Connection, batch: Callable[..., str], held: Connection
) -> None:
    batch("b")
    path = begun(page, held)
    held.execute("SELECT pg_advisory_unlock(39)")
    wait_for(conn, "SELECT FROM omd.batch WHERE inactive_indicator = 'Y'")
    wait_for(conn, AT_WORK, 0)
    assert page.site.at_work.of(int(path.rpartition("/")[2]), page_user(page)).wait(10)
    assert shown(page, path).one("", data_done=True)


def page_user(page: Page) -> str:
    [session] = page.site.sessions.all()
    return str(session.person.user)


def test_logging_out_ends_what_is_at_work(
    page: Page, conn: Connection, batch: Callable[..., str], held: Connection
) -> None:
    batch("b")
    path = begun(page, held)
    wait_for(conn, AT_WORK)
    seen = shown(page, path)
    [leave] = [f for f in seen.all("form") if f.attributes.get("action") == "/logout"]
    assert page.post("/logout", leave.fields()).status in (200, 303)
    wait_for(
        conn,
        "SELECT FROM pg_stat_activity WHERE application_name = 'omd web'"
        " AND query LIKE '%register_batch%' AND datname = current_database()",
        0,
    )
    row = conn.execute("SELECT inactive_indicator AS i FROM omd_report.batch_list").fetchone()
    assert row == {"i": "N"}


def test_a_connection_that_is_killed_in_the_middle_is_said(
    page: Page, conn: Connection, batch: Callable[..., str], held: Connection
) -> None:
    batch("b")
    path = begun(page, held)
    wait_for(conn, AT_WORK)
    conn.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM ({AT_WORK}) AS a".encode())
    assert page.site.at_work.of(int(path.rpartition("/")[2]), page_user(page)).wait(10)
    seen = shown(page, path)
    assert seen.one("", data_doing="LOST")
    assert seen.one("", role="alert").attributes["data-sqlstate"] == "57P01"
    held.execute("SELECT pg_advisory_unlock(39)")
    done(page, send(page, shown(page, do("BATCH_DEACTIVATE", "b"))))


def test_a_third_thing_waits_for_the_two_that_are_at_work(
    page: Page, conn: Connection, batch: Callable[..., str], held: Connection
) -> None:
    for code in ("b", "c", "d"):
        batch(code)
    forms = [shown(page, do("BATCH_DEACTIVATE", code)) for code in ("b", "c", "d")]
    held.execute("SELECT pg_advisory_lock(39)")
    paths = [send(page, form).headers["Location"] for form in forms[:2]]
    wait_for(conn, AT_WORK, 2)
    answer = send(page, forms[2])
    assert answer.status == 409
    links = {a.attributes["href"] for a in read(answer.text).all("a")}
    assert set(paths) <= links
    held.execute("SELECT pg_advisory_unlock(39)")


def test_what_one_does_another_does_not_see(
    page: Page, person: Any, conn: Connection, batch: Callable[..., str]
) -> None:
    batch("b")
    answer = send(page, shown(page, do("BATCH_DEACTIVATE", "b")))
    done(page, answer)
    other = person("omd_reader")
    other.site.at_work = page.site.at_work
    assert other.get(answer.headers["Location"]).status == 404
    assert page.get("/doing/999").status == 404
    assert page.get("/doing/x").status == 404


def test_two_people_at_once_are_asked_by_the_routine(
    page: Page, new_page: Any, batch: Callable[..., str], conn: Connection
) -> None:
    done(page, send(page, shown(page, do("BATCH_RUN", batch()))))
    row = conn.execute("SELECT task_id FROM omd_dispatch.task_data_run").fetchone()
    assert row is not None
    other = new_page()
    forms = [(p, shown(p, do("CANCEL_TASK", row["task_id"], reason="x"))) for p in (page, other)]
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda p=p, f=f: answers.append(send(p, f))) for p, f in forms
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = conn.execute("SELECT status FROM omd_dispatch.explain_task(%s)", (row["task_id"],))
    assert rows.fetchall() == [{"status": "CANCELLED"}]
    assert [a.status for a in answers if a.status == 303]
