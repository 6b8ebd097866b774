"""Every screen in a real browser: axe-core in both schemes, a phone's width, no script error.

The data are one small night; a screen whose object is not there answers with a small page, which is
looked at all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from omd.web import app, routes
from support.flow import Flow
from web.conftest import Page, Tabs

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser

HOSTILE = "dwh.<img src=x onerror=alert(1)>/\"'&%2F é \N{RIGHT-TO-LEFT OVERRIDE}" + "w" * 60

# What stands in the place of each variable part of a path.
KEYS = {
    "code": HOSTILE,
    "id": "1",
    "run": "1",
    "interface": "none",
    "entity": "none",
    "action_code": "ACTIVATE",
    "key": HOSTILE,
    "n": "1",
}
QUERIES = {"/find": "?q=dwh", "/graph": "?of=dwh"}


def night(conn: psycopg.Connection[dict[str, Any]]) -> None:
    """A Batch with Modules in every state, and tasks."""
    flow = Flow(conn)
    conn.execute("CREATE SCHEMA IF NOT EXISTS dwh")
    flow.batch("nightly", "orders", "customers", "invoices", "stock")
    flow.batch(HOSTILE)
    flow.call(
        "register_module",
        module_code=HOSTILE,
        area_code="INT",
        table_code="dwh.orders",
        table_type_code="HUB",
        platform_code="POSTGRES",
    )
    for status in "SF":
        flow.run_module(HOSTILE, status)
    flow.run_batch("nightly", orders="S", customers="S", invoices="A")
    flow.run_batch("nightly", orders="S", customers="F")
    running = flow.begin_batch("nightly")
    flow.begin_module("orders", running.id)
    flow.begin_batch(HOSTILE)


@pytest.fixture(scope="module")
def looked_at(
    new_database: Callable[[], AbstractContextManager[str]], chromium: Browser
) -> Iterator[Tabs]:
    """Tabs on a page over a database of this module."""
    with new_database() as dsn:
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
            night(conn)
        page = Page(app(dsn))
        tabs = Tabs(chromium, page)
        yield tabs
        tabs.close()
        page.close()


def path_of(pattern: str) -> str:
    keys = {part[1:-1]: KEYS[part[1:-1]] for part in pattern.split("/") if part.startswith("{")}
    return routes.filled(pattern, keys) + QUERIES.get(pattern, "")


@pytest.mark.parametrize("pattern", [*routes.SCREENS, "/do/{action_code}/{key}", "/login"])
def test_a_screen_is_for_everybody(looked_at: Tabs, pattern: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab = looked_at(path_of(pattern), viewport={"width": 1280, "height": 800})
    tab.emulate_media(reduced_motion="reduce")
    found = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for violation in Axe().run(tab).response["violations"]:
            found += [
                f"{scheme}: {violation['id']}: {node['html'][:200]}: {node.get('failureSummary')}"
                for node in violation["nodes"][:3]
            ]
    assert found == []
    tab.set_viewport_size({"width": 360, "height": 740})
    wide = tab.evaluate(
        """() => {
            const page = document.scrollingElement;
            if (page.scrollWidth <= page.clientWidth) return [];
            return [...document.querySelectorAll('body *')]
                .filter((e) => e.getBoundingClientRect().right > page.clientWidth + 1
                    && !e.parentElement.closest('.scroll, pre, svg'))
                .map((e) => e.outerHTML.slice(0, 120)).slice(0, 5).concat([page.scrollWidth]);
        }"""
    )
    assert wide == []
    tab.context.close()
    assert looked_at.complaints == []
