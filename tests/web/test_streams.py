"""The streams of /live, read by plain HTTP."""

from __future__ import annotations

import contextlib
import http.client
import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest

from omd.programs.web.sessions import COOKIE, Session
from web.roles import roles
from web.tried import tried

if TYPE_CHECKING:
    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["tried"]


class Stream:
    """One stream; `next` reads one event: its name, id and data."""

    def __init__(self, page: Page, address: str, **headers: str) -> None:
        assert page.cookie is not None
        self._connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
        self._connection.request(
            "GET", address, headers={"Host": page.host, "Cookie": page.cookie, **headers}
        )
        self.answer = self._connection.getresponse()
        assert self.answer.status == 200
        assert self.answer.headers["Content-Type"].startswith("text/event-stream")

    def next(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while (line := self.answer.readline().decode().rstrip("\n")) != "" or not found:
            if line:
                name, _, value = line.partition(": ")
                found[name.rstrip(":")] = "\n".join(filter(None, (found.get(name), value)))
            elif self.answer.isclosed():
                raise EOFError
        return found

    def until(self, holds: Callable[[dict[str, str]], object]) -> dict[str, str]:
        while not holds(found := self.next()):
            pass
        return found

    def close(self) -> None:
        self.answer.close()
        self._connection.close()


@pytest.fixture
def stream(page: Page) -> Iterator[Callable[..., Stream]]:
    """A function that opens the stream which the page of a path names."""
    with contextlib.ExitStack() as stack:

        def start(path: str = "/tried", **headers: str) -> Stream:
            return stack.enter_context(
                contextlib.closing(Stream(page, address(page, path), **headers))
            )

        yield start


def address(page: Page, path: str = "/tried") -> str:
    """Return the address of the stream that a page names."""
    found = re.search(r'hx-sse:connect="([^"]*)"', page.get(path).text)
    assert found
    return unescape(found[1])


def test_what_has_not_changed_is_not_sent(
    page: Page, tried: Callable[..., float], stream: Callable[..., Stream], conn: Connection
) -> None:
    tried(1)
    first = stream()
    assert first.next() == {"event": "on", "data": ""}
    with conn.transaction():  # a reason to look, and nothing new
        conn.execute("SELECT pg_notify('omd_event', '')")
    assert first.next()["event"] == "beat"


def test_only_the_section_that_has_changed_is_sent(
    tried: Callable[..., float], stream: Callable[..., Stream]
) -> None:
    tried(1)
    first = stream()
    tried(1, "another <b>&\r\nline</b>")
    found = first.until(lambda event: "hx-partial" in event.get("data", ""))
    assert 'hx-target="#rows"' in found["data"]
    assert 'hx-target="#number"' not in found["data"]
    assert "another &lt;b&gt;&amp;" in found["data"]
    tried(2)
    sent = ""
    while not ("#rows" in sent and "#number" in sent):
        sent += first.next().get("data", "")
    assert "#still" not in sent


def test_a_tab_that_comes_back_gets_what_it_missed_and_no_more(
    tried: Callable[..., float], stream: Callable[..., Stream]
) -> None:
    tried(1)
    first = stream()
    tried(2)
    seen = ""
    while not ("#rows" in seen and "#number" in seen):
        event = first.until(lambda event: "id" in event)
        seen, has = seen + event["data"], event["id"]
    second = stream(**{"Last-Event-ID": has})
    assert second.next()["event"] == "on"
    assert second.next()["event"] == "beat"
    tried(3)
    third = stream(**{"Last-Event-ID": has})
    third.until(lambda event: 'data-key="3"' in event.get("data", ""))


@pytest.mark.parametrize("seen", ["x\nevent: x\ndata: x", "x.y", "0" * 17, "0123456789ABCDEF"])
def test_an_id_of_a_stream_is_made_of_digests_of_ours(
    page: Page, tried: Callable[..., float], seen: str
) -> None:
    tried(1)
    seen = f"{seen}.{seen}"
    asked, _, _ = address(page).partition("&seen=")
    for headers, query in (({}, quote(seen)), ({"Last-Event-ID": seen.replace("\n", " ")}, "")):
        with contextlib.closing(Stream(page, f"{asked}&seen={query}", **headers)) as stream:
            event = stream.until(lambda event: "id" in event)
        assert event.keys() == {"id", "data"}
        digests = event["id"].split(".")
        assert len(digests) == 2
        assert any(digests)
        assert all(re.fullmatch("([0-9a-f]{16})?", one) for one in digests), event


def test_who_may_see_and_do_the_same_shares_a_watch(
    page: Page, tried: Callable[..., float], conn: Connection
) -> None:
    tried(1)
    made = {
        "web_one": "IN ROLE omd_reader",
        "web_two": "IN ROLE omd_reader",
        "web_runs": "IN ROLE omd_reader, omd_runner",
        "web_data": "IN ROLE omd_data_reader, omd_reader",
    }
    watched = []
    with roles(conn, **made), contextlib.ExitStack() as stack:
        for user in made:
            person = page.site.person(user, page.site.reader.opened)
            page.cookie = f"{COOKIE}={page.site.sessions.begin(Session.of(person))}"
            stream = stack.enter_context(contextlib.closing(Stream(page, address(page))))
            assert stream.next()["event"] == "on"
            watched.append(len(page.site.watches._watches))
    assert watched == [2, 2, 4, 6]  # two sections are live


@pytest.mark.parametrize("of", ["", "/none", "/tried/more", "http://other/tried", "/%FF"])
def test_a_stream_of_no_screen_is_not_found(
    page: Page, tried: Callable[..., float], of: str
) -> None:
    assert page.get(f"/live?of={quote(of)}").status == 404


def test_a_stream_ends_with_the_session(
    page: Page, tried: Callable[..., float], stream: Callable[..., Stream]
) -> None:
    first = stream()
    assert page.cookie is not None
    page.site.sessions.end(page.cookie.partition("=")[2])
    assert first.until(lambda event: event.get("event") not in ("on", "beat"))["event"] == "end"


def test_who_may_no_longer_look_gets_no_more(
    page: Page,
    tried: Callable[..., float],
    stream: Callable[..., Stream],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from omd.programs.web import site
    from omd.programs.web.person import Rights

    first = stream()
    monkeypatch.setattr(site, "rights_of", lambda *_: Rights())
    monkeypatch.setattr(site, "_JUDGED", 0.0)
    assert first.until(lambda event: event.get("event") not in ("on", "beat"))["event"] == "end"


@pytest.mark.alone
def test_a_page_that_ends_does_not_wait_for_its_streams(
    new_page: Callable[..., Page], tried: Callable[..., float]
) -> None:
    page = new_page()
    page.sign_in()
    with contextlib.closing(Stream(page, address(page))) as first:
        assert first.next()["event"] == "on"
        begun = time.monotonic()
        page.close()
        assert time.monotonic() - begun < 2.5
        assert first.next()["event"] == "off"


def test_a_hundred_tabs_execute_as_much_as_one(
    new_page: Callable[..., Page], tried: Callable[..., float], conn: Connection
) -> None:
    def scans() -> int:
        conn.execute("SELECT pg_stat_clear_snapshot()")
        row = conn.execute(
            "SELECT seq_scan + coalesce(idx_scan, 0) AS scans FROM pg_stat_user_tables"
            " WHERE relid = 'public.tried'::regclass"
        ).fetchone()
        assert row is not None
        return int(row["scans"])

    def executed(tabs: int) -> int:
        """What the page has executed while rows came, by the statistics of the table."""
        page = new_page()
        page.sign_in()
        with contextlib.ExitStack() as stack:
            where = address(page)
            streams = [
                stack.enter_context(contextlib.closing(Stream(page, where))) for _ in range(tabs)
            ]
            for n in range(10):
                tried(n, f"{tabs} {n}")
                wanted = f">{tabs} {n}<"
                streams[-1].until(lambda event, wanted=wanted: wanted in event.get("data", ""))
            for other in streams[:-1]:
                other.until(lambda event, wanted=wanted: wanted in event.get("data", ""))
        before = scans()
        page.close()  # its sessions end, and report
        deadline = time.monotonic() + 20
        while scans() == before:
            assert time.monotonic() < deadline
        return scans()

    start = scans()
    one = executed(1)
    hundred = executed(100)
    assert one > start
    # Opening a hundred streams is a reason to look too.
    assert hundred - one <= 2 * (one - start) + 20
