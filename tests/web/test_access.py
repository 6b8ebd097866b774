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

from omd.programs.web import routes
from omd.web import app
from support.browser import violations
from support.flow import Flow
from web.conftest import Page, Tabs
from web.world import Keys, build

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser

HOSTILE = "dwh.<img src=x onerror=alert(1)>/\"'&%2F é \N{RIGHT-TO-LEFT OVERRIDE}" + "w" * 60

# Of which kind the key of a path is.
KINDS = {
    "/task/{id}": "TASK",
    "/delivery/{id}": "DELIVERY",
    "/run/module/{id}": "MODULE_INSTANCE",
    "/run/batch/{id}": "BATCH_INSTANCE",
    "/recall/{id}": "RECALL",
}
FIXED = {
    "/module/{code}": {"code": HOSTILE},
    "/batch/{code}": {"code": HOSTILE},
    "/facts/{interface}/{entity}": {"interface": "shop", "entity": "person"},
    "/do/{action_code}/{key}": {"action_code": "DEACTIVATE", "key": HOSTILE},
}
QUERIES = {
    "/find": "?q=dwh",
    "/graph": "?of=dwh.m_s",
    "/bulk/{action_code}": "?family_code=WORK&statuses=DEAD",
}
# Nothing of these is there: they answer with a small page.
MISSING = {"/stage/{code}", "/decisions/{run}"}
DIALOGS = ("/do/{action_code}/{key}", "/bulk/{action_code}")


def night(conn: psycopg.Connection[dict[str, Any]]) -> None:
    """A Batch with Modules in every state, and tasks."""
    flow = Flow(conn)
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
) -> Iterator[tuple[Tabs, Keys]]:
    """Tabs on a page over a database of this module, and the keys of what is in it."""
    with new_database() as dsn:
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
            keys = build(conn)
            night(conn)
        page = Page(app(dsn))
        tabs = Tabs(chromium, page)
        yield tabs, keys
        tabs.close()
        page.close()


def path_of(pattern: str, keys: Keys) -> str:
    given = dict.fromkeys((part[1:-1] for part in pattern.split("/")), "REVIVE_TASK")
    if pattern in KINDS:
        given["id"] = next(iter(keys[KINDS[pattern]].values()))
    return routes.filled(pattern, {**given, **FIXED.get(pattern, {})}) + QUERIES.get(pattern, "")


@pytest.mark.parametrize("pattern", [*routes.SCREENS, *DIALOGS])
def test_a_screen_is_for_everybody(looked_at: tuple[Tabs, Keys], pattern: str) -> None:
    tabs, keys = looked_at
    tab = tabs(path_of(pattern, keys), viewport={"width": 1280, "height": 800})
    status = "performance.getEntriesByType('navigation')[0].responseStatus"
    assert tab.evaluate(status) == (404 if pattern in MISSING else 200)
    # What is not about colours is the same in both schemes.
    found = violations(tab, "light") + violations(tab, "dark", "{runOnly: ['color-contrast']}")
    rules = "{runOnly: ['target-size', 'label-content-name-mismatch']}"
    found += violations(tab, "light", rules) if pattern == "/" else []
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
    assert tabs.complaints == []
