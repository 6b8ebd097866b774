"""How one comes to the page in a real browser: by the link, from another site, in a frame."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from omd.programs.cli.web import _leading_to
from omd.programs.web.section import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from web.conftest import Page


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let / and /work have no sections, so that nothing is read."""
    monkeypatch.setattr(
        "omd.programs.web.screens.now.screen", lambda asked: Screen("now", "Now", ())
    )
    monkeypatch.setattr(
        "omd.programs.web.screens.work.screen", lambda asked: Screen("work", "Work", ())
    )


@pytest.fixture
def other_site() -> Iterator[Callable[[str], str]]:
    """A function that lets another site (localhost is not 127.0.0.1) show some markup."""
    content: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content.get(self.path, b""))

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def show(markup: str) -> str:
        content["/"] = markup.encode()
        return f"http://localhost:{server.server_address[1]}/"

    yield show
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("calm")
def test_the_file_leads_by_the_link_to_the_page(chromium: Browser, page: Page) -> None:
    with (
        _leading_to(page.url(page.site.login.link())) as file,
        contextlib.closing(chromium.new_context()) as context,
    ):
        tab = context.new_page()
        tab.goto(file.as_uri(), wait_until="commit")
        tab.wait_for_selector("body[data-user]")
        assert "token" not in tab.url
        # The cookie stays when the tab is opened anew.
        tab.goto(page.url("/work"))
        assert tab.locator("main").get_attribute("data-screen") == "work"


@pytest.mark.usefixtures("calm")
def test_a_link_from_another_site_leads_to_the_page_and_a_form_does_not(
    chromium: Browser, page: Page, other_site: Callable[[str], str]
) -> None:
    page.sign_in()
    assert page.cookie is not None
    name, _, value = page.cookie.partition("=")
    address = other_site(
        f'<a href="{page.url("/work?state=READY")}">go</a>'
        f'<form method="post" action="{page.url("/logout")}"><button>post</button></form>'
        f'<iframe src="{page.url("/work")}"></iframe>'
    )
    with contextlib.closing(chromium.new_context()) as context:
        context.add_cookies(
            [{"name": name, "value": value, "url": page.origin, "sameSite": "Strict"}]
        )
        tab = context.new_page()
        tab.goto(address)
        assert all(frame.locator("main").count() == 0 for frame in tab.frames)
        tab.click("a")
        tab.wait_for_selector("body[data-user]")
        assert tab.url == page.url("/work?state=READY")
        tab.goto(address)
        tab.click("button")
        tab.wait_for_selector("main.small")
        assert "not from this page" in tab.locator("main").inner_text()
        assert len(page.site.sessions.all()) == 1
