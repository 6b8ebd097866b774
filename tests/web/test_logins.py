"""The logins ``database`` and ``header``, with roles of a real server (A1, A2, A5, A6)."""

from __future__ import annotations

import http.client
import logging
import os
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.requests import Request

from omd.programs.page.markup import el
from omd.programs.web.guard import Guard, networks
from omd.programs.web.login import within
from omd.programs.web.section import Screen, Section, Select
from support.workers import until
from web.roles import roles
from web.test_requests import token_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from web.conftest import Answer, Page

    Connection = psycopg.Connection[dict[str, Any]]

WHO = Select("SELECT current_user AS who, session_user AS login")


# A server that asks for passwords ---------------------------------------------------------------


@pytest.fixture(scope="module")
def asked(server: str) -> Iterator[None]:
    """Roles that the server asks for their password, which is their name; ada and bob may look."""
    names = ("omd_t_ada", "omd_t_bob", "omd_t_out")
    hba = "SELECT pg_read_file(current_setting('hba_file')) AS text"
    with psycopg.connect(server, autocommit=True) as conn:
        readers = "IN ROLE omd_reader"
        its = {name: readers if name != "omd_t_out" else "" for name in names}
        words = {name: f"LOGIN PASSWORD '{name}-pw' {role}" for name, role in its.items()}
        words["omd_t_trusted"] = f"LOGIN PASSWORD 'x' {readers}"
        with roles(conn, **words):
            [[before]] = conn.execute(hba)
            asks = "".join(
                f"{kind} scram-sha-256\n"
                for name in names
                for kind in (f"local all {name}", f"host all {name} all")
            )
            _rewrite(conn, asks + before)
            _until_asked(server, names[-1], is_asked=True)
            yield
            _rewrite(conn, before)
            _until_asked(server, names[-1], is_asked=False)


def _rewrite(conn: psycopg.Connection[Any], text: str) -> None:
    [[file]] = conn.execute("SELECT current_setting('hba_file')")
    lines = sql.SQL("SELECT line FROM regexp_split_to_table({}, '\\n') AS line").format(text)
    conn.execute(sql.SQL("COPY ({}) TO {}").format(lines, file))
    conn.execute("SELECT pg_reload_conf()")


def _until_asked(server: str, name: str, *, is_asked: bool) -> None:
    """Wait until the server has read its file."""
    for _ in range(200):
        try:
            with psycopg.connect(server, user=name, password="wrong"):
                found = False
        except psycopg.OperationalError:
            found = True
        if found == is_asked:
            return
        time.sleep(0.05)
    raise AssertionError("the server did not read its file")


@pytest.fixture
def database_page(asked: None, new_page: Callable[..., Page]) -> Page:
    return new_page(login="database")


def log_in(page: Page, user: str, password: str, **fields: str) -> Answer:
    form = page.ask("GET", "/login", cookie=None)
    token = token_of(form.text)
    given = {"user": user, "password": password, "form": token, **fields}
    return page.post("/login", given, cookie=None)


def signed_in(page: Page, user: str) -> str:
    answer = log_in(page, user, f"{user}-pw")
    assert answer.status == 303, answer.text
    return answer.headers["Set-Cookie"].split(";")[0]


def connections(conn: Connection, user: str) -> int:
    [row] = conn.execute(
        "SELECT count(*) AS n FROM pg_stat_activity"
        " WHERE usename = %s AND datname = current_database() AND application_name = 'omd web'",
        [user],
    )
    return int(row["n"])


def test_a_database_user_logs_in_and_out(database_page: Page, conn: Connection) -> None:
    page = database_page
    answer = page.ask("GET", "/work?state=READY", cookie=None)
    assert answer.status == 303
    assert answer.headers["Location"] == "/login?next=%2Fwork%3Fstate%3DREADY"
    answer = log_in(page, "omd_t_ada", "omd_t_ada-pw", next="/work?state=READY")
    assert answer.headers["Location"] == "/work?state=READY"
    page.cookie = answer.headers["Set-Cookie"].split(";")[0]
    text = page.get("/work").text
    assert 'data-user="omd_t_ada"' in text
    [session] = page.site.sessions.all()
    person = session.person
    assert person.read(WHO) == [{"who": "omd_t_ada", "login": "omd_t_ada"}]
    with person.own(), person.own():
        assert connections(conn, "omd_t_ada") == 2
    # Another browser of the same person shares these connections.
    other = signed_in(page, "omd_t_ada")
    assert {id(s.person) for s in page.site.sessions.all()} == {id(person)}
    assert page.post("/logout", {"form": token_of(text)}).status == 200
    assert page.ask("GET", "/work", cookie=other).status == 200
    text = page.ask("GET", "/work", cookie=other).text
    assert page.post("/logout", {"form": token_of(text)}, cookie=other).status == 200
    until(lambda: connections(conn, "omd_t_ada") == 0)
    assert page.ask("GET", "/work", cookie=other).status == 303


WRONG = [
    ("omd_t_ada", "secret-word"),
    ("omd_t_nobody", "secret-word"),
    ("omd_t_ada", ""),
    ("", "secret-word"),
    ("omd_t_bob", "secret\0word"),
    ("omd_t_bob dbname=postgres", "secret-word"),
]


def refused_logins(page: Page) -> list[tuple[float, int, str]]:
    """Try each of them at once; return how long it took, the status and the text."""

    def attempt(user: str, password: str) -> tuple[float, int, str]:
        form = token_of(page.ask("GET", "/login", cookie=None).text)
        began = time.monotonic()
        fields = {"user": user, "password": password, "form": form}
        answer = page.post("/login", fields, cookie=None)
        return time.monotonic() - began, answer.status, answer.text

    with ThreadPoolExecutor(len(WRONG)) as pool:
        return list(pool.map(lambda pair: attempt(*pair), WRONG))


def test_a_refused_login_looks_alike_whatever_was_wrong(
    database_page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    page = database_page
    caplog.set_level(logging.DEBUG)
    found = refused_logins(page)
    assert {status for _, status, _ in found} == {403}
    assert len({text for _, _, text in found}) == 1
    assert min(seconds for seconds, _, _ in found) >= 1.0
    assert page.site.sessions.all() == []
    assert "secret" not in "\n".join(record.getMessage() for record in caplog.records)


@pytest.mark.alone
def test_a_refused_login_takes_as_long_whatever_was_wrong(database_page: Page) -> None:
    assert max(seconds for seconds, _, _ in refused_logins(database_page)) < 2.0


def test_who_fails_too_often_waits(database_page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    page = database_page
    with ThreadPoolExecutor(8) as pool:  # at once: they are counted before they are looked at
        found = list(pool.map(lambda n: log_in(page, "omd_t_ada", f"{n}").status, range(8)))
    assert sorted(found) == [403] * 5 + [429] * 3
    answer = log_in(page, "omd_t_ada", "omd_t_ada-pw")
    assert answer.status == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert log_in(page, "omd_t_bob", "omd_t_bob-pw").status == 303
    # 20 per address, whatever the names.
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda n: log_in(page, f"omd_t_{n}", "x").status, range(20)))
    assert sorted(found) == [403] * 15 + [429] * 5
    assert log_in(page, "omd_t_bob", "omd_t_bob-pw").status == 429
    now = time.monotonic
    monkeypatch.setattr("omd.programs.web.attempts.monotonic", lambda: now() + 61)
    assert log_in(page, "omd_t_bob", "omd_t_bob-pw").status == 303


def test_a_login_needs_the_page_s_own_form(database_page: Page) -> None:
    page = database_page
    token = token_of(page.ask("GET", "/login", cookie=None).text)
    fields = {"user": "omd_t_ada", "password": "omd_t_ada-pw", "form": token}
    foreign = {"Origin": "http://evil.example"}
    assert page.post("/login", fields, cookie=None, headers=foreign).status == 403
    for wrong in ("", "x", f"{token}x", token.replace(".", "..", 1), "9e9.x.y"):
        assert page.post("/login", {**fields, "form": wrong}, cookie=None).status == 403
    assert page.post("/login", fields, cookie=None).status == 303
    assert page.post("/login", fields, cookie=None).status == 403


def test_a_password_that_the_server_did_not_ask_for_lets_nobody_in(database_page: Page) -> None:
    answer = log_in(database_page, "omd_t_trusted", "whatever")
    assert answer.status == 403
    assert "pg_hba.conf" in answer.text
    assert database_page.site.sessions.all() == []


def test_no_password_but_the_given_one_is_used(
    database_page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    file = tmp_path / "pgpass"
    file.write_text("*:*:*:omd_t_ada:omd_t_ada-pw\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.setenv("PGPASSWORD", "omd_t_bob-pw")
    with ThreadPoolExecutor(4) as pool:
        pairs = [("omd_t_ada", ""), ("omd_t_ada", "x"), ("omd_t_bob", ""), ("omd_t_bob", "x")]
        found = pool.map(lambda pair: log_in(database_page, *pair).status, pairs)
        assert list(found) == [403] * 4


def test_who_is_no_reader_is_shown_the_missing_grant(database_page: Page, conn: Connection) -> None:
    page = database_page
    page.cookie = signed_in(page, "omd_t_out")
    answer = page.get("/work")
    assert answer.status == 403
    assert "GRANT omd_reader TO &quot;omd_t_out&quot;;" in answer.text
    page.cookie = signed_in(page, "omd_t_ada")
    assert page.get("/work").status == 200
    [session] = [s for s in page.site.sessions.all() if s.person.user == "omd_t_ada"]
    for before, after in [
        ("REVOKE omd_reader FROM omd_t_ada", "GRANT omd_reader TO omd_t_ada"),
        ("ALTER ROLE omd_t_ada NOLOGIN", "ALTER ROLE omd_t_ada LOGIN"),
        ("ALTER ROLE omd_t_ada VALID UNTIL '2020-01-01'",
         "ALTER ROLE omd_t_ada VALID UNTIL 'infinity'"),
    ]:  # fmt: skip
        conn.execute(before)
        assert page.get("/work").status == 200  # a minute has not passed
        session.person.judged_at -= 61
        assert page.get("/work").status == 403
        conn.execute(after)
        session.person.judged_at -= 61
        assert page.get("/work").status == 200


def test_business_rows_are_read_by_the_person(
    database_page: Page, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.execute("CREATE TABLE dwh.secret AS SELECT 'word' AS value")
    conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_data_reader")
    conn.execute("GRANT SELECT ON dwh.secret TO omd_data_reader")
    select = Select(
        "SELECT value, current_user AS who FROM dwh.secret LIMIT %(limit)s", {"limit": 2}
    )
    section = Section(
        "s", "S", (select,), lambda rows: el("p", rows[0]["value"], rows[0]["who"]), is_data=True
    )
    monkeypatch.setattr(
        "omd.programs.web.screens.work.screen", lambda asked: Screen("work", "W", (section,))
    )
    page = database_page
    page.cookie = signed_in(page, "omd_t_ada")
    answer = page.get("/work")
    assert answer.status == 200
    assert 'data-sqlstate="42501"' in answer.text
    assert "omd_data_reader" in answer.text
    assert page.get("/work?csv=s").status == 403
    conn.execute("GRANT omd_data_reader TO omd_t_ada")
    try:
        [session] = page.site.sessions.all()
        session.person.judged_at -= 61
        assert "<p>wordomd_t_ada</p>" in page.get("/work").text
        assert page.get("/work?csv=s").text == "value,who\nword,omd_t_ada\n"
        bob = signed_in(page, "omd_t_bob")
        assert "<p>word" not in page.ask("GET", "/work", cookie=bob).text
        # Whose password is another one now reads no business rows with the old one.
        conn.execute("ALTER ROLE omd_t_ada PASSWORD 'other'")
        session.person.personal.end_all()
        answer = page.get("/work")
        assert answer.status == 200
        assert "<p>word" not in answer.text
        assert 'role="alert"' in answer.text
        assert page.get("/work?csv=s").status == 403
    finally:
        conn.execute("REVOKE omd_data_reader FROM omd_t_ada")
        conn.execute("ALTER ROLE omd_t_ada PASSWORD 'omd_t_ada-pw'")


def test_where_a_login_leads_is_on_the_page() -> None:
    assert within("", "/work?x=1") == "/work?x=1"
    assert within("/omd", "/omd/work") == "/omd/work"
    for wanted in ("", "work", "//evil.example", "/\\evil.example", "https://evil.example",
                   "/\u202e", "javascript:alert(1)"):  # fmt: skip
        assert within("", wanted) == "/"
    for wanted in ("/work", "/omdx/", "//omd/"):
        assert within("/omd", wanted) == "/omd/"


# A proxy ----------------------------------------------------------------------------------------


@pytest.fixture
def proxied(
    server: str, conn: Connection, dsn: str, new_page: Callable[..., Page]
) -> Iterator[Page]:
    """A page with the login ``header``, whose own login is omd_t_page."""
    is_old = conn.info.server_version < 160000
    options = "" if is_old else " WITH INHERIT FALSE, SET TRUE"
    with roles(
        conn,
        web_page="LOGIN " + ("NOINHERIT" if is_old else ""),
        **{"we\"b 'ada": "IN ROLE omd_reader"},
        web_bob="IN ROLE omd_reader, omd_data_reader",
        web_out="",
        web_far="IN ROLE omd_reader",
        web_super="SUPERUSER IN ROLE omd_reader",
        web_maker="CREATEROLE IN ROLE omd_reader",
        web_copier="REPLICATION IN ROLE omd_reader",
        web_nearly="IN ROLE omd_reader, web_super",
        web_owner="IN ROLE omd_owner, omd_reader",
        web_files="IN ROLE omd_reader, pg_read_server_files",
        web_shell="IN ROLE omd_reader, pg_execute_server_program",
    ):
        for name in ("we\"b 'ada", "web_bob", "web_out", "web_super", "web_maker", "web_copier",
                     "web_nearly", "web_owner", "web_files", "web_shell", "omd_admin",
                     "omd_reader"):  # fmt: skip
            grant = sql.SQL("GRANT {} TO web_page" + options).format(sql.Identifier(name))
            conn.execute(grant)
        yield new_page(
            dsn=make_conninfo(dsn, user="web_page"),
            login="header",
            trusted_proxies=["127.0.0.1"],
        )


def as_(page: Page, user: str, **arguments: Any) -> Answer:
    return page.ask("GET", "/work", headers={"X-Remote-User": user, **arguments}, cookie=None)


def test_whom_the_proxy_names_looks_under_that_role(proxied: Page) -> None:
    for user in ("we\"b 'ada", "web_bob"):
        answer = as_(proxied, user)
        assert answer.status == 200
        assert answer.headers["Set-Cookie"].startswith("omd_web=")
    [ada, bob] = [session.person for session in proxied.site.sessions.all()]
    assert ada.read(WHO) == [{"who": "we\"b 'ada", "login": "web_page"}]
    assert bob.read(WHO) == [{"who": "web_bob", "login": "web_page"}]
    assert (ada.is_data_reader, bob.is_data_reader) == (False, True)
    assert ada.is_shown_only
    # The cookie of one is none of the other's.
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    answer = proxied.ask("GET", "/work", headers={"X-Remote-User": "we\"b 'ada"}, cookie=cookie)
    assert 'data-user="we&quot;b &#x27;ada"' in answer.text
    assert proxied.ask("GET", "/work", cookie=cookie).status == 403


def test_the_proxy_can_let_in_no_administrator(proxied: Page) -> None:
    for user in ("web_super", "web_maker", "web_copier", "web_nearly", "web_owner", "web_files",
                 "web_shell", "omd_admin", "omd_reader", "postgres"):  # fmt: skip
        answer = as_(proxied, user)
        assert answer.status == 403, user
        assert "administrators" in answer.text, user
    for user in ("none", "web_nobody", "", "a\tb"):
        assert as_(proxied, user).status == 403
    assert "GRANT omd_reader TO &quot;web_out&quot;;" in as_(proxied, "web_out").text
    answer = as_(proxied, "web_far")
    assert answer.status == 403
    assert re.search(
        "GRANT &quot;web_far&quot; TO &quot;web_page&quot;( WITH INHERIT FALSE, SET TRUE)?;",
        answer.text,
    )
    assert proxied.site.sessions.all() == []


def test_a_forged_header_lets_nobody_in(proxied: Page, new_page: Callable[..., Page]) -> None:
    assert proxied.ask("GET", "/work", cookie=None).status == 403
    two = http.client.HTTPConnection("127.0.0.1", proxied.port)
    two.putrequest("GET", "/work")
    for user in ("web_bob", "web_super"):
        two.putheader("X-Remote-User", user)
    two.endheaders()
    assert two.getresponse().status == 403
    two.close()
    elsewhere = new_page(dsn=proxied.site.dsn, login="header", trusted_proxies=["192.0.2.0/24"])
    for path in ("/work", "/login"):
        answer = elsewhere.ask("GET", path, headers={"X-Remote-User": "web_bob"})
        assert answer.status == 403
        assert "Only the proxy" in answer.text


def test_an_account_of_the_host_that_is_not_the_proxy_s_may_not_ask(
    proxied: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = os.geteuid()
    monkeypatch.setattr("omd.programs.web.guard.os.geteuid", lambda: mine + 1)
    assert as_(proxied, "web_bob").status == 403


def asked_by(peer: tuple[str, int] | None, *forwarded: str, **scope: Any) -> Request:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return Request({"type": "http", "client": peer, "headers": headers, **scope})


def test_the_address_behind_proxies_is_that_of_the_client() -> None:
    guard = Guard(proxies=networks(["192.0.2.0/24"]))
    proxy = ("192.0.2.1", 5)
    for peer, forwarded, address in [
        (proxy, ["203.0.113.9"], "203.0.113.9"),
        (proxy, ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        (proxy, ["198.51.100.1", "203.0.113.9, 192.0.2.7"], "203.0.113.9"),
        (proxy, ["203.0.113.9, unknown"], "192.0.2.1"),
        (proxy, [], "192.0.2.1"),
        (None, ["203.0.113.9"], "203.0.113.9"),
        (("198.51.100.7", 5), ["203.0.113.9"], "198.51.100.7"),
    ]:
        assert guard.address(asked_by(peer, *forwarded)) == address


def test_only_the_proxy_s_account_says_over_loopback_who_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = Guard(proxies=networks(["127.0.0.0/8"]))
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as client,
    ):
        request = asked_by(client.getsockname(), "203.0.113.9", server=listening.getsockname())
        assert guard.address(request) == "203.0.113.9"
        mine = os.geteuid()
        monkeypatch.setattr("omd.programs.web.guard.os.geteuid", lambda: mine + 1)
        assert guard.address(request) == "127.0.0.1"
