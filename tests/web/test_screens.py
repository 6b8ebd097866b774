"""What every screen has: marks, SQL, links with any key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]


def test_a_screen_shows_the_rows_of_its_view(page: Page, conn: Connection) -> None:
    conn.execute("CALL omd_lineage.register_topic('a/b <script>', p_is_source => FALSE)")
    answer = page.get("/work")
    assert answer.status == 200
    assert '<main id="main" tabindex="-1" data-screen="work">' in answer.text
    assert 'data-view="omd_report.work"' in answer.text
    assert "<script>" not in answer.text
