"""A page on a loopback port over the database of `dsn`, asked by plain HTTP.

All tests of this folder share a database, which is emptied before each test.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from omd.programs.web.serving import Server, bound, configured
from omd.web import app
from support.browser import PATIENCE
from support.emptied import conn, dsn

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

__all__ = ["conn", "dsn"]


class Answer:
    """What the page has answered."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self) -> str:
        return self.body.decode()


class Page:
    """A page that runs in a thread of this process, and a client of it with a cookie."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.site = application.site
        self._listening = bound("127.0.0.1", 0)
        self.port = self._listening.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"
        self.cookie: str | None = None
        self._server = Server(configured(application))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._listening]))

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
        self.site.close()

    def url(self, path: str) -> str:
        return f"{self.origin}{path}"

    def sign_in(self) -> None:
        """Log in by a link, as a browser does that opens it."""
        answer = self.ask("GET", self.site.login.link(), cookie=None)
        assert answer.status == 303, answer.text
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: str | bytes | None = None,
        cookie: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send one request on a connection of its own; the cookie "" is that of this client."""
        sent = {"Host": self.host, **(headers or {})}
        its = self.cookie if cookie == "" else cookie
        if its is not None:
            sent.setdefault("Cookie", its)
        if body is not None:
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())

    def get(self, path: str, **arguments: Any) -> Answer:
        """Look at a path as somebody who is logged in."""
        if self.cookie is None:
            self.sign_in()
        return self.ask("GET", path, **arguments)

    def post(self, path: str, fields: dict[str, str], **arguments: Any) -> Answer:
        """Send a form of the page's own."""
        from urllib.parse import urlencode

        headers = {"Origin": self.origin, **arguments.pop("headers", {})}
        return self.ask("POST", path, body=urlencode(fields), headers=headers, **arguments)


@pytest.fixture
def new_page(dsn: str) -> Iterator[Callable[..., Page]]:
    """A function that starts a page; its arguments are those of `omd.web.app`."""
    with contextlib.ExitStack() as stack:

        def start(**arguments: Any) -> Page:
            page = Page(app(arguments.pop("dsn", dsn), **arguments))
            stack.callback(page.close)
            return page

        yield start


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page with the login ``token``; its person is the superuser of ``dsn``."""
    return new_page()


class Tabs:
    """Tabs of a real browser that is logged in to a page; no tab may fail or break the policy."""

    def __init__(self, chromium: Browser, page: Page) -> None:
        self._chromium = chromium
        self._page = page
        self._contexts = contextlib.ExitStack()
        self.complaints: list[str] = []

    def __call__(self, path: str, *, until: str = "load", **options: Any) -> Tab:
        """Open a tab of a browser of its own; the options are those of a browser's context."""
        return self.also(self.browser(**options), path, until=until)

    def browser(self, **options: Any) -> Any:
        """Return a new browser, whose tabs share cookies and what they store."""
        if self._page.cookie is None:
            self._page.sign_in()
        assert self._page.cookie is not None
        name, _, value = self._page.cookie.partition("=")
        context = self._contexts.enter_context(self._chromium.new_context(**options))
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": name, "value": value, "url": self._page.origin}])
        return context

    def also(self, context: Any, path: str, *, until: str = "load") -> Tab:
        """Open one more tab in a browser."""
        tab: Tab = context.new_page()
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", self._hear)
        tab.goto(self._page.url(path), wait_until=until)  # type: ignore[arg-type]
        return tab

    def _hear(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "[htmx]" in message.text:
            self.complaints.append(message.text)

    def close(self) -> None:
        self._contexts.close()


@pytest.fixture
def browser(chromium: Browser, page: Page) -> Iterator[Tabs]:
    """A function that opens a path of `page` in a real browser; the test has the mark `browser`."""
    tabs = Tabs(chromium, page)
    yield tabs
    tabs.close()
    assert tabs.complaints == []
