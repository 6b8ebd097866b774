"""A copied database sends nothing until somebody says what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from subprocess import CompletedProcess

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from support.events import confirm, publish, published, take
from support.flow import Flow


@pytest.fixture
def pair(
    server: str,
    new_database: Callable[[], AbstractContextManager[str]],
    another: Callable[..., Flow],
) -> Iterator[tuple[Flow, Flow]]:
    """A database and its copy; both have a sink s, and a run of m that executes."""
    with new_database() as dsn:
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
            flow = Flow(conn)
            flow.conn.execute("CREATE SCHEMA dwh")
            flow.module("m")
            flow.module("n")
            flow.run_module("n")
            flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL", **{"from": 0})
            flow.begin_module("m")
            published(flow)
            assert take(flow, limit=1) == [1]
            confirm(flow, 1)
        name = str(conninfo_to_dict(dsn)["dbname"])
        copy = sql.Identifier(f"{name}_copy")
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                    copy, sql.Identifier(name)
                )
            )
            try:
                yield another(dsn=dsn), another(dsn=make_conninfo(dsn, dbname=f"{name}_copy"))
            finally:
                conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(copy))


def refused(flow: Flow) -> None:
    with pytest.raises(psycopg.Error) as caught:
        take(flow)
    assert caught.value.sqlstate == "OM295"
    with pytest.raises(psycopg.Error) as caught:
        flow.one("SELECT omd.require_known_server()")
    assert caught.value.sqlstate == "OM109"


def identity(flow: Flow) -> object:
    return flow.one("SELECT installation_id FROM omd.installation")


def test_a_copy_sends_nothing_and_goes_on_as_the_same(pair: tuple[Flow, Flow]) -> None:
    original, copy = pair
    refused(copy)
    assert publish(copy) == 0  # it keeps its books
    assert take(original) == [2, 3]
    assert identity(copy) == identity(original)
    copy.call("omd_event.continue_as", identity="SAME")
    assert take(copy) == [2, 3]
    assert identity(copy) == identity(original)
    assert copy.rows("SELECT kind, confirmed_as FROM omd.server_change") == [
        {"kind": "COPIED", "confirmed_as": "MOVED"}
    ]


def test_a_copy_that_goes_on_as_new_passes_over_what_waits(pair: tuple[Flow, Flow]) -> None:
    original, copy = pair
    copy.run_module("n")  # it has no number yet, and waits too
    run_id = copy.one("SELECT omd_event.run_id('MODULE', 2)")
    copy.call("omd_event.continue_as", identity="NEW")
    assert take(copy) == []
    assert identity(copy) != identity(original)
    assert copy.one("SELECT is_copy FROM omd.installation")
    # The run that executed at the copy ends under the new id.
    assert copy.one("SELECT omd_event.run_id('MODULE', 2)") != run_id
    copy.end_module(2, "A")
    assert published(copy) == [("RUN_ABORTED", 2)]
    assert len(take(copy)) == 1
    assert take(original) == [2, 3]
    assert original.one("SELECT omd_event.run_id('MODULE', 2)") == run_id


def test_the_doctor_names_a_copy_and_a_sink_that_waits(
    pair: tuple[Flow, Flow], omd_here: Callable[..., CompletedProcess[str]]
) -> None:
    original, copy = pair
    confirm_problem = {"sink_code": "s", "holder": "h", "event_number": None, "problem": "down"}
    original.call("omd_event.confirm_events", **confirm_problem)
    for flow, text in ((original, "s: down"), (copy, "so it sends no events")):
        name = flow.conn.info.dbname
        done = omd_here("doctor", dsn=make_conninfo(flow.conn.info.dsn, dbname=name))
        assert text in done.stdout, done.stdout + done.stderr


def test_what_is_confirmed_for_all_rooms_holds_for_the_sinks(pair: tuple[Flow, Flow]) -> None:
    _, copy = pair
    copy.call("omd.confirm_server", **{"as": "moved"}, reason="the old server burned")
    assert take(copy) == [2, 3]
    copy.call("omd.confirm_server", **{"as": "moved"})  # nothing is left to confirm
    assert copy.one("SELECT count(*) FROM omd.server_change") == 1
    assert copy.one("SELECT reason FROM omd.server_change") == "the old server burned"


def test_a_change_that_nobody_confirmed_stops_the_sinks(flow: Flow) -> None:
    """A room that notices a change writes it, and take_events asks the one place."""
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL")
    flow.owner("INSERT INTO omd.server_change (kind) VALUES ('MOVED')")
    refused(flow)
    flow.call("omd_event.continue_as", identity="SAME")
    assert take(flow) == []


def test_a_physical_copy_is_confirmed_before_it_is_opened(flow: Flow) -> None:
    """Nothing tells it from a failover, so it is no error that nothing was noticed."""
    before = identity(flow)
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL")
    flow.module()
    flow.run_module()
    flow.call("omd.confirm_server", **{"as": "copy"})
    assert identity(flow) != before
    assert take(flow) == []


def test_wrong_words_are_refused(flow: Flow) -> None:
    for wrong in ("same", "OTHER", ""):
        flow.refused("OM013", "omd_event.continue_as", identity=wrong)
    flow.refused("OM005", "omd_event.continue_as", identity=None)
    flow.refused("OM013", "omd.confirm_server", **{"as": "restored"})
    flow.refused("OM005", "omd.confirm_server", **{"as": None})
