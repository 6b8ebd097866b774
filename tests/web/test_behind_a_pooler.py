"""The page through PgBouncer: what it reads, what it does, and what it refuses."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.web.opening import opened
from omd.programs.web.reading import Reader, rows_of
from omd.programs.web.selects import Select
from support.pooler import bouncing
from support.workers import until
from web.acting import do, done, send, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def pooled(dsn: str) -> Iterator[str]:
    with bouncing(dsn) as through:
        yield through


def test_each_screen_is_read_and_nothing_stays_in_the_session(
    new_page: Callable[..., Page], pooled: str, conn: Connection
) -> None:
    page = new_page(dsn=pooled)
    first = page.get("/work")
    assert first.status == 200, first.text
    paths = {path for path in re.findall(r'href="(/[a-z_]+)"', first.text) if path != "/logout"}
    assert len(paths) > 5
    for path in sorted(paths):
        answer = page.get(path)
        assert answer.status == 200, (path, answer.text)
        assert "can&#x27;t be read" not in answer.text, path
        assert "data-problem" not in answer.text, path
    assert page.get("/work?csv=work").status == 200
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as through:
        assert through.execute(
            "SELECT current_user = session_user, current_setting('statement_timeout'),"
            " current_setting('default_transaction_read_only'), current_setting('search_path'),"
            " (SELECT count(*) FROM pg_listening_channels())"
        ).fetchone() == (True, "0", "off", '"$user", public', 0)


def test_the_page_reads_no_more_than_every_reader_and_writes_nothing(pooled: str) -> None:
    reader = Reader(pooled)
    with contextlib.closing(reader), reader.lent() as (connection, _):
        assert reader.is_pooled
        row = connection.execute(
            "SELECT current_user AS who, current_setting('statement_timeout') AS patience"
        ).fetchone()
        assert row == {"who": "omd_reader", "patience": "5s"}
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE t ()")
        [row] = rows_of(
            connection, Select("SELECT current_setting('transaction_read_only') AS only")
        )
        assert row == {"only": "on"}


def test_an_action_is_done_and_one_that_needs_a_session_is_refused(
    new_page: Callable[..., Page], pooled: str, conn: Connection
) -> None:
    conn.execute(
        "CALL omd.register_module('m', p_area_code => 'INT', p_table_code => 'dwh.t',"
        " p_table_type_code => 'HUB', p_executable => 'SELECT 1')"
    )
    page = new_page(dsn=pooled)
    page.sign_in()
    seen = shown(page, do("DEACTIVATE", "m", reason="it is late"))
    done(page, send(page, seen))
    found = conn.execute("SELECT inactive_indicator FROM omd.module WHERE module_code = 'm'")
    assert found.fetchone() == {"inactive_indicator": "Y"}
    said = conn.execute("SELECT reason FROM omd.event_log ORDER BY event_id DESC LIMIT 1")
    assert said.fetchone() == {"reason": "it is late"}
    # This routine commits itself, so the reason would have to stay in the session.
    conn.execute(
        "CALL omd_dispatch.register_schedule('s', 'RUN', 'MODULE', '{\"CODE\": \"m\"}',"
        " p_every => '1 day', p_next_time => '2020-01-01Z')"
    )
    answer = send(page, shown(page, do("FIRE_SCHEDULE", "s")))
    told = page.get(answer.headers["Location"]).text if answer.status == 303 else answer.text
    assert "needs a session of its own" in told
    assert conn.execute("SELECT FROM omd_dispatch.task_data_run").fetchall() == []


def test_who_acts_for_others_is_refused(pooled: str, omd_here: Any) -> None:
    told = omd_here(
        "web", "--login", "header", "--header", "X-User", "--trusted-proxy", "127.0.0.1",
        "--public-url", "https://page.example", "--port", "0", dsn=pooled,
    )  # fmt: skip
    assert told.returncode == 1, told.stderr
    assert "the login header, by which the page acts as others, needs a session" in told.stderr


def test_a_row_is_seen_though_nothing_is_heard(
    new_page: Callable[..., Page], pooled: str, conn: Connection
) -> None:
    page = new_page(dsn=pooled)
    page.get("/work")
    watches = page.site.watches
    seen: list[Any] = []

    class Viewer:
        def see(self, watch: Any) -> None:
            seen.append(watch.picture.html)

        def be_live(self, is_live: bool) -> None:
            assert is_live or watches.is_closed

    from omd.programs.page.markup import Html

    def compute(connection: Any) -> Html:
        [row] = connection.execute("SELECT count(*) AS n FROM omd_report.batch_list").fetchall()
        return Html(str(row["n"]))

    viewer = Viewer()
    watch, _ = watches.show("n", compute, viewer)
    until(lambda: seen, 20)
    before = seen[-1]
    conn.execute("CALL omd.register_batch('b_new')")
    until(lambda: seen[-1] != before, 20)
    watches.leave(watch, viewer)
    assert watches.is_live


def test_a_connection_of_the_page_knows_of_the_pooler(pooled: str, dsn: str) -> None:
    with opened(pooled) as through, opened(dsn) as direct:
        assert (through.is_pooled, direct.is_pooled) == (True, False)
