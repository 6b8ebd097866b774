"""A real browser, Debian's chromium, which playwright drives.

A test that uses one has the mark `browser`. Without chromium it is skipped; with
OMD_REQUIRE_CHROMIUM it fails.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PATIENCE = 20_000  # milliseconds; as long as a loaded machine may take for one step


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser; its contexts share nothing with each other."""
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get("OMD_REQUIRE_CHROMIUM"):
            pytest.fail("there is no chromium; Debian has it as the package chromium")
        pytest.skip("there is no chromium; Debian has it as the package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options: dict[str, Any] = {
            # Memory for pages is small in containers.
            "args": ["--disable-dev-shm-usage"],
        }
        browser = playwright.chromium.launch(executable_path=program, **options)
        yield browser
        browser.close()


def violations(tab: Page, scheme: Any, options: str = "{}") -> list[str]:
    """Return what axe-core finds on a page in a scheme, light or dark."""
    import axe_playwright_python

    if not tab.evaluate("typeof axe === 'object'"):
        program = Path(axe_playwright_python.__file__).parent / "axe.min.js"
        tab.evaluate(program.read_text(encoding="utf-8"))
    tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    result = tab.evaluate(f"() => axe.run({options})")
    assert result["passes"]
    return [
        f"{scheme}: {violation['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for violation in result["violations"]
        for node in violation["nodes"][:3]
    ]
