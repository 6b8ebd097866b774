"""The page calls no function of a stranger, who may create in a schema of the path of its login."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

import omd
from omd.programs.web import routes
from support.strangers import assert_nothing_happened, plant
from web import world

if TYPE_CHECKING:
    from collections.abc import Callable

    from web.conftest import Page

FILES = sorted((Path(omd.__file__).parent / "programs" / "web").rglob("*.py"))


def test_the_page_springs_no_trap(dsn: str, new_page: Callable[..., Page]) -> None:
    with psycopg.connect(dsn, autocommit=True, row_factory=psycopg.rows.dict_row) as conn:
        world.build(conn)
        keys = conn.execute("SELECT object_kind, key FROM omd_web.find('', 50)").fetchall()
    for path in ("public,pg_catalog", "pg_catalog,public"):
        page = new_page(dsn=plant(dsn, FILES, path))
        for screen in routes.SCREENS:
            if "{" not in screen:
                assert page.get(screen).status == 200, screen
        for row in keys:
            page.get(f"/find?q={row['key']}")
        assert page.get("/find?q=m").status in (200, 303)
        assert_nothing_happened(dsn)
