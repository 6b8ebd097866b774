"""Who owns what OMD looks at gets nothing executed by a look: on no screen, in no dialog or count.

With the login ``header`` the page's session could take on the role of each person, and with that
of a superuser a function could do anything. The trap takes a lock of the session, which neither a
rollback gives back nor a transaction forbids that only reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from omd.programs.web import routes, sending
from omd.programs.web.dialog import Wish
from omd.programs.web.dialog_page import Shown
from provenance.recalls import Recalls
from provenance.test_positions import chain
from web.roles import roles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omd.programs.web.person import Person
    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["chain"]

# Whoever reads one of them calls the function, with his own rights and in his own session.
pytestmark = pytest.mark.no_user_code("its own code is what is met")

TRAP = """
    CREATE SCHEMA evil;
    GRANT USAGE ON SCHEMA evil, dwh TO PUBLIC;
    CREATE FUNCTION evil.spring() RETURNS boolean LANGUAGE plpgsql VOLATILE COST 0.0001
        AS $$BEGIN RETURN pg_advisory_lock(5200) IS NOT NULL; END$$;
    CREATE POLICY spring ON dwh.t1 USING (evil.spring());
    ALTER TABLE dwh.t1 ENABLE ROW LEVEL SECURITY;
    CREATE VIEW evil.target AS SELECT * FROM dwh.t2 WHERE evil.spring();
    GRANT SELECT ON dwh.t1, evil.target TO PUBLIC"""
# What springs it in psql, for an omd_reader.
SPRINGS = [
    "SELECT count(*) FROM omd_provenance.trace({run})",
    "SELECT count(*) FROM omd.preview_rollback({of_view})",
]


@pytest.fixture
def recalls(conn: Connection) -> Recalls:
    return Recalls(conn)


@pytest.fixture
def run(recalls: Recalls, chain: tuple[list[int], list[int]]) -> int:
    """A run that is to be undone; who has read it, the rows of its table say."""
    recalls.call("set_next_run_indicator", module_instance_id=chain[0][0], next_run_indicator="R")
    recalls.conn.execute(TRAP)
    return chain[0][0]


@pytest.fixture
def of_view(recalls: Recalls, run: int) -> int:
    """A run whose target is a view."""
    recalls.module("m_view", table_code="evil.target")
    return recalls.run_module("m_view")


@pytest.fixture
def proxied(conn: Connection, dsn: str, new_page: Callable[..., Page]) -> Iterator[Page]:
    """A page with the login ``header``, for web_ada."""
    is_old = conn.info.server_version < 160000
    with roles(
        conn,
        web_page="LOGIN IN ROLE omd_reader" + (" NOINHERIT" if is_old else ""),
        web_ada="IN ROLE omd_data_reader, omd_reader, omd_runner, omd_admin",
    ):
        conn.execute(
            "GRANT web_ada TO web_page" + ("" if is_old else " WITH INHERIT FALSE, SET TRUE")
        )
        page = new_page(
            dsn=make_conninfo(dsn, user="web_page"),
            login="header",
            trusted_proxies=["127.0.0.1"],
        )
        answer = page.ask("GET", "/work", headers={"X-Remote-User": "web_ada"}, cookie=None)
        page.cookie = answer.headers["Set-Cookie"].split(";")[0]
        yield page


def sprung(conn: Connection) -> list[dict[str, Any]]:
    return conn.execute(
        "SELECT a.application_name, a.query FROM pg_locks AS l"
        " INNER JOIN pg_stat_activity AS a USING (pid)"
        " WHERE l.locktype = 'advisory' AND l.objid = 5200"
    ).fetchall()


def ask(page: Page, method: str, path: str, body: str | None = None) -> Any:
    headers = {"X-Remote-User": "web_ada", "Origin": page.origin}
    return page.ask(method, path, headers=headers, body=body)


def look_at_all(page: Page, run: int, of_view: int) -> None:
    """Look at each screen of these objects, at each CSV, and let all be tried and counted."""
    paths = [path for path in routes.SCREENS if "{" not in path]
    paths += [f"/run/module/{run}", f"/run/module/{of_view}", "/module/dwh.t1", "/module/m_view"]
    paths += ["/find?q=dwh.t1", "/graph?of=dwh.t1", "/graph?of=dwh.t2"]
    for path in paths:
        answer = ask(page, "GET", path)
        assert answer.status in (200, 303, 404), (path, answer.text)
        for section in re.findall(r"[?&;]csv=(\w+)", answer.text):
            mark = "&" if "?" in path else "?"
            ask(page, "GET", f"{path}{mark}csv={section}")
    for code, key in (
        ("ROLL_BACK_NEXT", of_view), ("CLEAR_DIRECTIVE", run), ("SKIP_NEXT", run),
        ("PLAN_RECALL", of_view), ("ACTIVATE", "dwh.t1"), ("DEACTIVATE", "dwh.t1"),
        ("RUN", "dwh.t1"), ("RETRY", "dwh.t1"), ("RESTATE", "dwh.t1"), ("RELEASE", "dwh.t1"),
    ):  # fmt: skip
        answer = ask(page, "GET", f"/do/{code}/{key}?p_reason=x")
        assert answer.status == 200, (code, answer.text)
    for code in ("ROLL_BACK_NEXT", "SKIP_NEXT"):
        asked = f"/bulk/{code}?instance_type=MODULE&codes=dwh.t1"
        *_, token = re.findall(r'name="form" value="([^"]+)"', ask(page, "GET", asked).text)
        assert ask(page, "POST", asked, f"form={token}&try=x").status == 200


def test_the_trap_springs(conn: Connection, run: int, of_view: int) -> None:
    conn.execute(f"CALL omd.set_next_run_indicator('R', NULL, {of_view})".encode())
    conn.execute("SET ROLE omd_reader")
    for text in SPRINGS:
        assert not sprung(conn)
        conn.execute(text.format(run=run, of_view=of_view).encode())
        assert sprung(conn), text
        conn.execute("SELECT pg_advisory_unlock_all()")
    conn.execute("RESET ROLE")


def test_no_look_of_whom_a_proxy_names_springs_it(
    proxied: Page, conn: Connection, run: int, of_view: int
) -> None:
    look_at_all(proxied, run, of_view)
    assert not sprung(conn)


def test_no_look_of_a_superuser_springs_it(
    page: Page, conn: Connection, run: int, of_view: int
) -> None:
    page.sign_in()
    look_at_all(page, run, of_view)
    assert not sprung(conn)


def test_the_dialog_shows_what_the_ledger_knows(page: Page, of_view: int) -> None:
    text = page.get(f"/do/ROLL_BACK_NEXT/{of_view}").text
    assert 'data-preview="DONE"' in text
    assert f"omd.preview_rollback({of_view})" in text


# Where it is sent ---------------------------------------------------------------------------------


def one(page: Page) -> Person:
    [session] = page.site.sessions.all()
    person: Person = session.person
    return person


def test_what_runs_sql_of_users_is_not_sent_though_it_was_drawn(
    proxied: Page, conn: Connection, run: int
) -> None:
    [session] = proxied.site.sessions.all()
    text = f"CALL omd_provenance.plan_recall(p_module_instance_id => {run}, p_reason => 'x');"
    wish = Wish("PLAN_RECALL", str(run), {"p_reason": "x"})
    token = session.form_token(
        f"/do/PLAN_RECALL/{run}", Shown(wish, text, "x", "/", is_careful=False)
    )
    answer = ask(proxied, "POST", f"/do/PLAN_RECALL/{run}", f"form={token}&p_reason=x")
    assert answer.status == 403
    assert "PLAN_RECALL runs SQL of users" in answer.text
    assert not sprung(conn)
    assert conn.execute("SELECT FROM omd_provenance.recall").fetchall() == []
    # Nor is what nobody knows.
    with one(proxied).own() as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        sending.send(None, connection, text, "NONE")  # type: ignore[arg-type]


def test_each_connection_of_a_page_reads_no_code_of_users(proxied: Page, page: Page) -> None:
    page.sign_in()
    for its in (proxied, page):
        for connection in (its.site.reader.opened(), one(its).personal.take().opened):
            shown = connection.execute("SHOW omd.user_code").fetchone()
            assert shown == {"omd.user_code": "off"}
