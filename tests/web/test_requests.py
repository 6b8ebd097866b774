"""Which requests the page takes (A3, A4), and what every answer has (A8)."""

from __future__ import annotations

import logging
import os
import re
import socket
from typing import TYPE_CHECKING

import pytest

from omd.programs.web import answers, login, peers, routes
from omd.programs.web.assets import assets

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from omd.programs.web.site import Call
    from web.conftest import Page

POLICY = (
    "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none';"
    " object-src 'none'"
)


def token_of(text: str) -> str:
    found = re.search(r'name="form" value="([^"]+)"', text)
    assert found, text
    return found[1]


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page /once with a form of its own, as a dialog has one."""

    async def answer(call: Call) -> Response:
        if call.request.method == "GET":
            return call.page("once", call.session.form_token("/once"))
        is_form = call.session.spend(call.field("form"), "/once")
        return answers.redirected("/once") if is_form else answers.said(403, "used")

    monkeypatch.setitem(routes.HANDLERS, "/once", "login:once")
    monkeypatch.setattr(login, "once", answer, raising=False)


def once_token(page: Page) -> str:
    found = re.search("<h1><bdi>(.*?)</bdi>", page.get("/once").text)
    assert found
    return found[1]


def test_every_answer_has_the_headers(page: Page, once: None) -> None:
    page.sign_in()
    css = assets()["page.css"].path
    found = {
        (status, path): page.ask(method, path, headers=headers)
        for method, path, status, headers in [
            ("GET", "/work", 200, {}),
            ("HEAD", "/work", 200, {}),
            ("GET", "/work?csv=work", 200, {}),
            ("GET", "/none", 404, {}),
            ("GET", "/work?x=%00", 400, {}),
            ("PUT", "/work", 405, {}),
            ("POST", "/work", 403, {}),
            ("GET", "/work", 421, {"Host": "evil.example"}),
            ("GET", "/work", 403, {"Cookie": "omd_web=x"}),
            ("GET", "/?token=x", 403, {}),
            ("GET", css, 200, {}),
            ("GET", "/healthz", 200, {}),
            ("GET", "/readyz", 200, {}),
            ("GET", "/login", 303, {}),
            ("GET", "/work", 200, {"Cookie": "", "Sec-Fetch-Site": "cross-site"}),
        ]
    }
    for (status, path), answer in found.items():
        assert answer.status == status, (path, answer.text)
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        caching = "public, max-age=31536000, immutable" if path == css else "no-store"
        assert answer.headers.get_all("Cache-Control") == [caching]
        assert "Server" not in answer.headers


def test_what_is_no_http_gets_the_headers_too(page: Page) -> None:
    for wrong in (
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\0\0\r\n\r\n",
    ):
        text = said_to(page, wrong)
        assert text.startswith("HTTP/1.1 400 ")
        assert f"Content-Security-Policy: {POLICY}\r\n" in text
        assert "Cache-Control: no-store\r\n" in text


def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(page: Page) -> None:
    """A proxy that believes the other length would send the rest as a request of its own."""
    for path in (b"/healthz", b"/login"):
        for method in (b"GET", b"POST"):
            head = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (method, path, page.port)
            lengths = [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]
            for order in (lengths, lengths[::-1]):
                wrong = head + b"".join(order) + b"\r\n0\r\n\r\n" + head + b"\r\n"
                text = said_to(page, wrong)
                assert text.startswith("HTTP/1.1 400 "), text
                assert text.count("HTTP/1.1") == 1, text


def said_to(page: Page, given: bytes) -> str:
    """Return all that is said to these bytes until the connection is closed."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as client:
        client.sendall(given)
        with client.makefile("rb") as answer:
            return answer.read().decode()


def test_a_host_of_others_is_refused_whatever_it_asks(page: Page) -> None:
    page.sign_in()
    css = assets()["page.css"].path
    for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", "127.0.0.1:1", "",
                 f"127.0.0.1.evil.example:{page.port}", f"{page.host}@evil.example"):  # fmt: skip
        for path in ("/work", css, "/login", "/?token=x"):
            assert page.ask("GET", path, headers={"Host": host}).status == 421, host
        for path in ("/healthz", "/readyz"):
            assert page.ask("GET", path, headers={"Host": host}, cookie=None).status == 200
    for host in (f"localhost:{page.port}", f"LOCALHOST:{page.port}", f"[::1]:{page.port}"):
        assert page.ask("GET", "/work", headers={"Host": host}).status == 200


def test_a_public_address_is_the_page_s_own(new_page: Callable[..., Page]) -> None:
    page = new_page(public_url="https://omd.example/")
    page.sign_in()
    own = {"Host": "omd.example"}
    assert page.ask("GET", "/work", headers=own).status == 200
    assert page.ask("GET", "/work").status == 200
    assert page.ask("GET", "/work", headers={"Host": "omd.example:8765"}).status == 421
    token = token_of(page.ask("GET", "/work").text)
    for origin in ("http://omd.example", "https://omd.example.evil", "https://evil.example"):
        headers = {**own, "Origin": origin}
        assert page.ask("POST", "/logout", body=f"form={token}", headers=headers).status == 403
    headers = {**own, "Origin": "https://omd.example"}
    assert page.ask("POST", "/logout", body=f"form={token}", headers=headers).status == 200


def test_a_form_needs_the_page_s_own_origin(page: Page, once: None) -> None:
    page.sign_in()
    for headers in (
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "https" + page.origin[4:]},
        {"Origin": f"http://localhost:{page.port}"},
        {"Origin": f"{page.origin}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    ):
        answer = page.ask("POST", "/once", body=f"form={once_token(page)}", headers=headers)
        assert answer.status == 403, headers
        assert "not from this page" in answer.text
    for headers in ({"Origin": page.origin}, {"Sec-Fetch-Site": "same-origin"}):
        answer = page.ask("POST", "/once", body=f"form={once_token(page)}", headers=headers)
        assert answer.status == 303


def test_a_form_s_token_works_once_and_for_its_form_alone(page: Page, once: None) -> None:
    page.sign_in()
    token = once_token(page)
    logout = token_of(page.get("/work").text)
    for wrong in ("", "x", logout, token[:-1]):
        assert page.post("/once", {"form": wrong}).status == 403
    assert page.post("/once", {}).status == 403
    assert page.post("/once", {"form": token}).status == 303
    assert page.post("/once", {"form": token}).status == 403
    # A token of another session is none of this one.
    token = once_token(page)
    page.sign_in()
    assert page.post("/once", {"form": token}).status == 403
    assert page.post("/once", {"form": "x" * (1 << 20)}).status == 403


def test_a_link_works_once_and_only_the_newest(page: Page) -> None:
    old, new = page.site.login.link(), page.site.login.link()
    assert page.ask("GET", old).status == 403
    assert page.ask("HEAD", new).status == 403
    answer = page.ask("GET", new)
    assert answer.status == 303
    assert answer.headers["Location"] == "/"
    assert re.fullmatch(
        r"omd_web=[\w-]{43}; HttpOnly; Path=/; SameSite=strict", answer.headers["Set-Cookie"]
    )
    assert page.ask("GET", new).status == 403
    for cookie in (None, "omd_web=", "omd_web=x", "other=x"):
        answer = page.ask("GET", "/work", cookie=cookie)
        assert answer.status == 403
        assert "Enter in its terminal" in answer.text


def test_a_cookie_is_for_the_prefix_and_for_https(new_page: Callable[..., Page]) -> None:
    page = new_page(prefix="/omd/", public_url="https://omd.example")
    link = page.site.login.link()
    assert page.ask("GET", link).status == 404
    answer = page.ask("GET", f"/omd{link}")
    assert answer.headers["Location"] == "/omd/"
    cookie = answer.headers["Set-Cookie"]
    assert cookie.endswith("; HttpOnly; Path=/omd; SameSite=strict; Secure")
    page.cookie = cookie.split(";")[0]
    text = page.get("/omd/work").text
    links = re.findall(r' (?:href|src|action)="([^"]*)"', text)
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("/omd/", "#", "?"))] == []
    for path in ("/work", "/omdx/work", "/omd"):
        assert page.get(path).status == 404
    for path in ("/healthz", "/omd/healthz", "/omd/readyz"):
        assert page.get(path).status == 200


def test_a_session_ends(new_page: Callable[..., Page]) -> None:
    page = new_page()
    assert page.get("/work").status == 200
    [session] = page.site.sessions.all()
    session.seen -= 31 * 60
    assert page.get("/work").status == 403
    page.sign_in()
    [session] = page.site.sessions.all()
    session.began -= 13 * 3600
    assert page.get("/work").status == 403
    assert page.site.sessions.all() == []
    page.sign_in()
    token = token_of(page.get("/work").text)
    assert page.post("/logout", {"form": token}).status == 200
    assert page.get("/work").status == 403


def test_a_link_from_another_site_asks_again_once(page: Page) -> None:
    page.sign_in()
    foreign = {"Sec-Fetch-Site": "cross-site"}
    answer = page.ask("GET", "/work?state=a%26b&x=1&x=2", cookie=None, headers=foreign)
    assert answer.status == 200
    again = r"0; url=\?state=a%26b&amp;x=1&amp;x=2&amp;again=(\d+)"
    refresh = f'<meta http-equiv="refresh" content="{again}">'
    match = re.search(refresh, answer.text)
    assert match
    assert "data-user" not in answer.text
    # The page itself asks, and the cookie is there; or it is not, and that is the end of it.
    asked = f"/work?state=a%26b&x=1&x=2&again={match[1]}"
    answer = page.ask("GET", asked, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status == 303
    assert answer.headers["Location"] == "/work?state=a%26b&x=1&x=2"
    assert page.ask("GET", asked, cookie=None, headers=foreign).status == 403
    # An address that was kept from there is a link like any other.
    kept = f"/work?again={int(match[1]) - 61}"
    assert "refresh" in page.ask("GET", kept, cookie=None, headers=foreign).text
    for path in ("/do/RUN/x", "/bulk/REVIVE_TASK?family_code=RUN"):
        answer = page.ask("GET", path, cookie=None, headers=foreign)
        assert 'http-equiv="refresh"' not in answer.text
        assert "again=" in answer.text
    answer = page.ask("GET", "//evil.example/%22", cookie=None, headers=foreign)
    assert "evil" not in answer.text
    assert page.ask("POST", "/work", cookie=None, headers=foreign).status == 403


def test_only_read_means_no_post_but_the_login(new_page: Callable[..., Page], once: None) -> None:
    page = new_page(read_only=True)
    page.sign_in()
    answer = page.post("/once", {"form": once_token(page)})
    assert answer.status == 403
    assert "--read-only" in answer.text
    token = token_of(page.get("/work").text)
    assert page.post("/logout", {"form": token}).status == 200


def test_the_log_names_path_status_and_user_and_no_secret(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    link = page.site.login.link()
    page.cookie = page.ask("GET", link).headers["Set-Cookie"].split(";")[0]
    page.get("/work?state=secret")
    page.get("/wo%0Ark")
    page.get("/healthz")
    page.post("/logout", {"form": token_of(page.get("/work").text), "x": "secret"})
    lines = [record.getMessage() for record in caplog.records if record.name == "omd.web"]
    user = page.site.dsn and re.search("user=(\\S+)", page.site.dsn)
    name = user[1] if user else "postgres"
    assert lines == [
        "GET / 303 -",
        f"GET /work 200 {name}",
        f"GET /wo%0Ark 404 {name}",
        f"GET /work 200 {name}",
        f"POST /logout 200 {name}",
    ]
    everything = "\n".join(record.getMessage() for record in caplog.records)
    for secret in ("secret", link.partition("=")[2], page.cookie.partition("=")[2]):
        assert secret not in everything


# Peers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_whose_a_socket_is(family: int, host: str) -> None:
    with socket.socket(family) as listening:
        listening.bind((host, 0))
        listening.listen()
        server = listening.getsockname()[:2]
        with socket.socket(family) as client:
            client.connect(listening.getsockname())
            address = client.getsockname()[:2]
            its, _ = listening.accept()
            assert peers.uid_of(address, server) == os.geteuid()
            assert peers.uid_of((host, address[1] % 65535 + 1), server) is None
        # Its process has closed it, so it is nobody's; the kernel shows it as root's.
        assert peers.uid_of(address, server) is None
        its.close()


def test_another_account_of_the_host_may_not_ask(
    new_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, open_to_it = new_page(), new_page(peer_uids=[os.geteuid()])
    page.sign_in()
    link = page.site.login.link()
    mine = os.geteuid()
    monkeypatch.setattr(
        "omd.programs.web.guard.os.geteuid", lambda: mine + 1
    )  # the page's, not the client's
    for path in ("/work", link, "/login", assets()["page.css"].path):
        answer = page.ask("GET", path)
        assert answer.status == 403
        assert "--peer-uid" in answer.text
    assert page.ask("GET", "/healthz").status == 200
    open_to_it.sign_in()
    assert open_to_it.get("/work").status == 200
    monkeypatch.undo()
    assert page.ask("GET", link).status == 303  # nobody has used it up
