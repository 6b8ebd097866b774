"""A dialog in a browser: it shows what it would send while one types, and works without script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

from web.acting import do

if TYPE_CHECKING:
    import psycopg
    import pytest

    from web.conftest import Tabs

    Connection = psycopg.Connection[dict[str, Any]]

SUBMIT = "main button[type=submit]"
SQL = "pre[data-sql]"


def events(conn: Connection) -> list[str]:
    rows = conn.execute("SELECT reason FROM omd.event_log WHERE reason IS NOT NULL").fetchall()
    return [row["reason"] for row in rows]


def assert_accessible(tab: Any) -> None:
    found = Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()


def picture(tab: Any, name: str) -> None:
    if folder := os.environ.get("OMD_SHOTS"):
        tab.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_a_dialog_shows_what_it_would_send_while_one_types(browser: Tabs, conn: Connection) -> None:
    conn.execute("CALL omd.register_batch('b')")
    tab = browser(do("BATCH_SET_PARAMETER", "b"))
    assert tab.locator("[data-preview]").count() == 0
    tab.fill("[name=p_parameter_code]", "region")
    tab.fill("[name=p_parameter_value]", "it's <b>north</b>")
    tab.wait_for_selector("[data-preview=DONE]")
    assert "'it''s <b>north</b>'" in tab.inner_text(SQL)
    tab.fill("[name=reason]", "ticket 4711")
    tab.wait_for_function(
        "() => document.querySelector('pre[data-sql]').textContent.includes('ticket 4711')"
    )
    assert tab.locator("[data-preview=DONE]").count() == 1
    shown = tab.inner_text(SQL)
    picture(tab, "dialog")
    assert_accessible(tab)
    tab.click(SUBMIT)
    tab.wait_for_selector("[role=status][data-done]")
    assert tab.inner_text(SQL) == shown
    assert set(events(conn)) == {"ticket 4711"}  # the parameter, and its value
    picture(tab, "done")
    assert_accessible(tab)


def test_whoever_is_faster_than_the_page_sees_the_text_before_it_is_sent(
    browser: Tabs, conn: Connection
) -> None:
    conn.execute("CALL omd.register_batch('b')")
    tab = browser(do("BATCH_DEACTIVATE", "b"), color_scheme="dark")
    tab.evaluate(
        "() => { window.saw = []; new MutationObserver(() => window.saw.push("
        "document.querySelector('pre[data-sql]').textContent))"
        ".observe(document.querySelector('#shown'), {childList: true, subtree: true});"
        " addEventListener('pagehide', () => sessionStorage.setItem('saw', window.saw.at(-1))) }"
    )
    tab.fill("[name=reason]", "at once")
    tab.dblclick(SUBMIT)
    tab.wait_for_selector("[role=status][data-done]")
    assert tab.evaluate("() => sessionStorage.getItem('saw')") == tab.inner_text(SQL)
    assert events(conn) == ["at once"]
    assert_accessible(tab)


def test_a_dialog_works_without_script(browser: Tabs, conn: Connection) -> None:
    conn.execute("CALL omd.register_batch('b')")
    tab = browser(do("BATCH_DEACTIVATE", "b"), java_script_enabled=False)
    tab.click("input[name=try]")
    tab.wait_for_selector("[data-preview=DONE]")
    tab.fill("[name=reason]", "no script\nat all")
    tab.click(SUBMIT)
    tab.wait_for_selector("main .notice[role=status]")
    assert events(conn) == []
    tab.click(SUBMIT)
    tab.wait_for_selector("[role=status][data-done]")
    assert events(conn) == ["no script\nat all"]


def test_what_is_refused_says_so_and_a_small_screen_holds_it(
    browser: Tabs, conn: Connection
) -> None:
    conn.execute("CALL omd.register_batch('b')")
    phone = {"width": 360, "height": 740}
    tab = browser(do("BATCH_RUN", "b", p_priority="77"), viewport=phone, color_scheme="dark")
    tab.click(SUBMIT)
    alert = tab.wait_for_selector("[role=alert][data-sqlstate]")
    assert alert.get_attribute("data-sqlstate").startswith("OM0")
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
    picture(tab, "refused")
    assert_accessible(tab)


def test_what_is_at_work_is_watched_and_stopped(
    browser: Tabs, conn: Connection, connect: Any, dsn: str, request: pytest.FixtureRequest
) -> None:
    conn.execute("CALL omd.register_batch('b')")
    conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock(39); RETURN NEW; END $$;"
        " CREATE TRIGGER test_wait BEFORE UPDATE ON omd.batch"
        " FOR EACH ROW EXECUTE FUNCTION dwh.wait()"
    )
    request.addfinalizer(lambda: conn.execute("DROP TRIGGER test_wait ON omd.batch"))
    tab = browser(do("BATCH_DEACTIVATE", "b"))
    other = connect(dsn)
    other.execute("SELECT pg_advisory_lock(39)")
    tab.click(SUBMIT)
    tab.wait_for_selector("[data-doing=AT_WORK]")
    picture(tab, "doing")
    assert_accessible(tab)
    tab.click("button[name=stop]")
    tab.wait_for_selector("[data-doing=STOPPED]")
    picture(tab, "stopped")
    # The page of what goes on looks again by itself.
    other.execute("SELECT pg_advisory_unlock_all()")
    tab.goto(tab.url.rpartition("/doing/")[0] + do("BATCH_DEACTIVATE", "b"))
    other.execute("SELECT pg_advisory_lock(39)")
    tab.click(SUBMIT)
    tab.wait_for_selector("[data-doing=AT_WORK]")
    other.execute("SELECT pg_advisory_unlock_all()")
    tab.wait_for_selector("[role=status][data-done]")


def test_esc_and_the_way_back_lead_to_the_link_that_opened_the_dialog(
    browser: Tabs, conn: Connection
) -> None:
    conn.execute("CALL omd.register_batch('b')")
    tab = browser("/batch/b")
    link = "a[data-action=BATCH_DEACTIVATE]"
    for leave in (
        lambda: tab.keyboard.press("Escape"),
        lambda: tab.click("main .dialog a:has-text('Back')"),
        tab.go_back,
    ):
        tab.click(link)
        tab.wait_for_selector("form[data-dialog]")
        tab.focus("[name=reason]")
        leave()
        tab.wait_for_selector(link)
        tab.wait_for_function(
            "(link) => document.activeElement === document.querySelector(link)", arg=link
        )
    assert tab.url.endswith("/batch/b")
    assert events(conn) == []
