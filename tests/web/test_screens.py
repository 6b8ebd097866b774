"""What every screen has: marks, SQL, CSV, links with any key, and sections that stand alone."""

from __future__ import annotations

import csv
import http.client
import io
import re
import threading
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest

from omd.programs.page.markup import Html, el
from omd.programs.web import parts, reading, routes
from omd.programs.web.section import Asked, Screen, Section, Select
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]

HOSTILE = "dwh./a\"<script>'&%2F é \N{RIGHT-TO-LEFT OVERRIDE}"


def section(id_: str, text: str, **values: Any) -> Section:
    def render(rows: list[dict[str, Any]]) -> Html:
        return parts.table("v", rows, {"Value": lambda row: row["value"]}, key="value")

    return Section(id_, id_, (Select(text, {"limit": 3, **values}),), render)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that gives /work other sections."""

    def show(*sections: Section) -> None:
        monkeypatch.setattr(
            "omd.programs.web.screens.work.screen", lambda asked: Screen("work", "Work", sections)
        )

    return show


def test_a_screen_shows_rows_and_marks(page: Page, screen: Callable[..., None]) -> None:
    def render(rows: list[dict[str, Any]]) -> Html:
        columns = {
            "Code": lambda row: parts.link(parts.path("/module/{code}", code=row["c"]), row["c"]),
            "State": lambda row: parts.badge(row["s"]),
            "Runs#": lambda row: row["n"],
        }
        return parts.table("omd.v", rows, columns, key="c")

    query = Select(
        "SELECT %(c)s AS c, 'F' AS s, 7 AS n LIMIT %(limit)s", {"c": HOSTILE, "limit": 9}
    )
    screen(Section("one", "One", (query,), render))
    answer = page.get("/work")
    assert answer.status == 200
    assert '<main id="main" tabindex="-1" data-screen="work">' in answer.text
    assert 'data-view="omd.v"' in answer.text
    assert 'data-status="F"' in answer.text
    assert f'data-key="{escape(HOSTILE)}"' in answer.text
    assert f'href="/module/{quote(HOSTILE, safe="")}"' in answer.text
    assert "<script>" not in answer.text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?! src=)", answer.text)


def test_a_key_may_hold_any_character(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def shown(asked: Asked) -> Screen:
        seen.append(asked.path)
        return Screen("work", "Work", ())

    monkeypatch.setitem(routes.SCREENS, "/module/{code}", "work")
    monkeypatch.setitem(routes.SCREENS, "/facts/{interface}/{entity}", "work")
    monkeypatch.setattr("omd.programs.web.screens.work.screen", shown)
    keys = ["a/b", "/", "//x", "a/../b", ".", "..", "a?b#c", "100%", "%2F", "é", "\N{CAT}", " ",
            "a\\b", "a;b", "+", "\n", "'\"<>&", "a//", HOSTILE]  # fmt: skip
    for key in keys:
        assert page.get(parts.path("/module/{code}", code=key)).status == 200, key
        assert seen.pop() == {"code": key}
        path = parts.path("/facts/{interface}/{entity}", interface=key, entity=key)
        if key not in (".", ".."):
            assert page.get(path).status == 200, key
            assert seen.pop() == {"interface": key, "entity": key}
    assert page.get("/module/a/b").status == 200  # a proxy has decoded it
    assert seen.pop() == {"code": "a/b"}
    for wrong in ("/module/%FF", "/module/a%00b", "/work?x=%00"):
        assert page.get(wrong).status == 400


def test_the_sql_of_a_section_is_what_was_sent(
    page: Page, screen: Callable[..., None], conn: Connection
) -> None:
    texts = ["it's", "back\\slash", "100%", "%(limit)s", "--", "\N{CAT}"]
    query = (
        "SELECT x AS value FROM unnest(%(texts)s::text[]) AS x WHERE x LIKE '%%' LIMIT %(limit)s"
    )
    screen(section("a", query, texts=texts, limit=6))
    select = Select(query, {"texts": texts, "limit": 6})
    assert select.shown.endswith("LIMIT 6;")
    assert [row["value"] for row in conn.execute(select.shown)] == texts
    answer = page.get("/work")
    assert str(el("pre", select.shown, tabindex=0)) in answer.text
    assert answer.text.count("data-key=") == 6


def test_a_section_that_takes_too_long_says_so_and_the_others_stand(
    page: Page,
    screen: Callable[..., None],
    conn: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "statement_timeout = '5s'" in reading._BEGIN
    monkeypatch.setattr(reading, "_BEGIN", reading._BEGIN.replace("'5s'", "'300ms'"))
    conn.execute("CREATE TABLE dwh.held (value int); GRANT USAGE ON SCHEMA dwh TO omd_reader")
    conn.execute("GRANT SELECT ON dwh.held TO omd_reader")
    screen(
        section("slow", "SELECT value FROM dwh.held LIMIT %(limit)s"),
        section("quick", "SELECT 7 AS value"),
        section("wrong", "SELECT 1 / 0 AS value"),
    )
    with conn.transaction():
        conn.execute("LOCK TABLE dwh.held")
        answer = page.get("/work")
    assert answer.status == 200
    assert 'role="alert" data-sqlstate="57014"' in answer.text
    assert "SELECT value FROM dwh.held LIMIT 3;" in answer.text
    assert 'data-key="7"' in answer.text
    assert 'data-sqlstate="22012"' in answer.text


def test_a_csv_has_all_rows_and_no_formula(page: Page, screen: Callable[..., None]) -> None:
    query = """\
SELECT value, note FROM (
    SELECT 0 AS n, '=1+1' AS value, 'a,"b"' AS note UNION ALL SELECT 1, '@x', E'two\\nlines'
    UNION ALL SELECT i + 1, i::text, NULL FROM generate_series(1, 5000) AS i
) AS q ORDER BY n LIMIT %(limit)s"""
    screen(section("rows", query))
    answer = page.get("/work?csv=rows")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="omd-work-rows.csv"'
    head, *rows = csv.reader(io.StringIO(answer.text))
    assert head == ["value", "note"]
    assert rows[:2] == [["'=1+1", 'a,"b"'], ["'@x", "two lines"]]
    assert rows[2:] == [[str(i), ""] for i in range(1, 5001)]
    assert page.get("/work?csv=other").status == 404
    assert 'href="?state=x&amp;csv=rows"' in page.get("/work?state=x").text


def test_a_csv_that_fails_or_is_too_long_is_no_whole_one(
    page: Page, screen: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = "SELECT 1 / (i - 1) AS value FROM generate_series(1, 9) AS i"
    screen(section("at_once", fails), section("late", fails.replace("i - 1", "i - 5000")
           .replace("9)", "9000)")))  # fmt: skip
    assert page.get("/work?csv=at_once").status == 422
    with pytest.raises(http.client.IncompleteRead):
        page.get("/work?csv=late")
    screen(section("long", "SELECT i AS value FROM generate_series(1, 9000) AS i"))
    monkeypatch.setattr("omd.programs.web.download.LONGEST", 0.0)
    with pytest.raises(http.client.IncompleteRead):
        page.get("/work?csv=long")


def test_without_a_database_the_page_answers_503_and_recovers(
    page: Page, conn: Connection, connect: Callable[..., Connection], dsn: str
) -> None:
    assert page.get("/work").status == 200
    name = psycopg.sql.Identifier(conn.info.dbname)
    server = connect(dbname="postgres")
    close = psycopg.sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format
    server.execute(close(name, psycopg.sql.SQL("false")))
    try:
        conn.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'omd web' AND datname = current_database()"
        )
        answer = page.get("/work")
        assert answer.status == 503
        assert answer.headers["Retry-After"]
        assert page.get("/readyz").status == 503
        assert page.get("/healthz").status == 200
    finally:
        server.execute(close(name, psycopg.sql.SQL("true")))
    assert page.get("/work").status == 200


def test_a_broken_connection_is_replaced_unseen(page: Page, conn: Connection) -> None:
    for _ in range(3):
        assert page.get("/work").status == 200
        [row] = conn.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) AS n FROM pg_stat_activity"
            " WHERE application_name = 'omd web' AND datname = current_database()"
        )
        assert row["n"] > 0


def test_many_look_at_once_over_few_connections(
    page: Page, screen: Callable[..., None], conn: Connection
) -> None:
    screen(*(section(f"s{n}", "SELECT pg_sleep(0.01), 1 AS value") for n in range(3)))
    page.get("/work")
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(page.get("/work").status)) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [200] * 20
    [row] = conn.execute(
        "SELECT count(*) AS n FROM pg_stat_activity"
        " WHERE application_name = 'omd web' AND datname = current_database()"
    )
    assert row["n"] <= 4


def test_one_person_takes_neither_all_connections_nor_all_csvs(
    page: Page, screen: Callable[..., None], conn: Connection
) -> None:
    conn.execute("CREATE TABLE dwh.held (value int); GRANT USAGE ON SCHEMA dwh TO omd_reader")
    conn.execute("GRANT SELECT ON dwh.held TO omd_reader")
    screen(*(section(f"s{n}", "SELECT value FROM dwh.held") for n in range(6)))
    page.sign_in()
    waits = (
        "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'dwh.held'::regclass"
    )
    statuses: list[int] = []

    def look(path: str) -> None:
        statuses.append(page.get(path).status)

    def start(*paths: str) -> list[threading.Thread]:
        threads = [threading.Thread(target=look, args=[path]) for path in paths]
        for thread in threads:
            thread.start()
        return threads

    def wait_for(many: int) -> None:
        until(lambda: conn.execute(waits).fetchone()["n"] == many)  # type: ignore[index]

    with conn.transaction():
        conn.execute("LOCK TABLE dwh.held")
        # A CSV waits for nothing but its table once it is there, a page takes all it may have.
        threads = start("/work?csv=s1", "/work?csv=s2")
        wait_for(2)
        assert page.get("/work?csv=s3").status == 503
        threads += start("/work", "/work")
        wait_for(2 + 3)
        assert page.ask("GET", "/readyz").status == 200  # there is one left for others
    for thread in threads:
        thread.join(30)
    assert statuses == [200] * 4
