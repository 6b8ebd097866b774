"""What the examples of the documents share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from docs.examples import database, marks, pages_of, test_a_page_shows_what_happens
from omd.programs.demo.pages import ROOT, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omd.spark.sessions import Jvm


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each file its pages."""
    if metafunc.function is test_a_page_shows_what_happens:
        pages = list(pages_of(Path(metafunc.module.__file__)))
        assert pages, f"no folder has the name of {metafunc.module.__file__}"
        metafunc.parametrize(
            "page", [pytest.param(page, id=str(page), marks=marks(page)) for page in pages]
        )


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    """The JVM of all pages that share one."""
    from omd.spark.sessions import Jvm

    shared = Jvm()
    yield shared
    shared.close()


@pytest.fixture
def example_roles(page: Page, request: pytest.FixtureRequest) -> Iterator[None]:
    """Removes the roles that the documents create."""
    server = request.getfixturevalue("bare_server" if database(page) == "empty_dsn" else "server")
    yield
    named = re.compile(r"CREATE ROLE (\w+)")
    with psycopg.connect(server, autocommit=True) as conn:
        for document in ROOT.glob("docs/**/*.md"):
            for role in named.findall(document.read_text(encoding="utf-8")):
                conn.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
