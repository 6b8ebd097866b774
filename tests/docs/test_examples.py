"""The examples of the documents are run, as docs/examples.py says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from docs.examples import DEMO_TUTORIAL, Page, blocks, pages, pattern, play

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page), marks=page.marks) for page in pages()]
)
def test_a_page_shows_what_happens(
    page: Page, example_roles: None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    dsn = request.getfixturevalue(page.database)
    jvm = request.getfixturevalue("jvm") if page.is_in_one_jvm else None
    for earlier in page.before:
        earlier.play(dsn, tmp_path, jvm)
    assert page.play(dsn, tmp_path, jvm) > 0


@pytest.mark.spark
@pytest.mark.slow
def test_the_tutorial(demo_from_wheel: tuple[str, str], tmp_path: Path) -> None:
    dsn, told = demo_from_wheel
    for block in [*blocks("README.md"), *blocks(DEMO_TUTORIAL)]:
        if block.kind == "text demo":
            assert re.search(pattern(block.text), told), f"{block}\nin\n{told}"
    assert play(DEMO_TUTORIAL, dsn, tmp_path) > 5
