"""What a client does with a code that only a newer database knows: it never goes on."""

from __future__ import annotations

import contextlib
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]
    Events = Callable[..., list[dict[str, Any]]]

ABORTS = {"begin_module": "module_abort", "begin_batch": "batch_abort"}
INDICATORS = pytest.mark.parametrize("indicator", ["W", "PP", None], ids=str)
LEASE = timedelta(seconds=30)


@contextlib.contextmanager
def changed(conn: Connection, routine: str, statement: str) -> Iterator[None]:
    """Let a routine of the database do something more at its end."""
    row = conn.execute(
        "SELECT pg_get_functiondef(%s::regproc) AS text", [f"omd.{routine}"]
    ).fetchone()
    assert row is not None
    text = row["text"]
    head, end, tail = text.rpartition("\nEND\n")
    conn.execute(f"{head}\n    {statement};{end}{tail}")
    try:
        yield
    finally:
        conn.execute(text)


def answering(
    conn: Connection, routine: str, indicator: str | None
) -> contextlib.AbstractContextManager[None]:
    """Let the database answer another indicator than the one that it has found."""
    literal = "NULL" if indicator is None else f"'{indicator}'"
    return changed(conn, routine, f"p_processing_indicator := {literal}")


def heartbeats() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("omd-")]


@INDICATORS
def test_a_module_does_not_begin_at_an_indicator_that_the_client_does_not_know(
    control: omd.Control, conn: Connection, module_row: Row, events: Events, indicator: str | None
) -> None:
    run = control.module("m_alone", lease=LEASE)
    with (
        answering(conn, "begin_module", indicator),
        pytest.raises(errors.Aborted) as caught,
        run,
    ):
        pytest.fail("the job was called")
    assert caught.value.reason == run._reason == "UNKNOWN_INDICATOR"
    assert caught.value.code == "m_alone"
    assert (indicator or "no indicator") in str(caught.value)
    assert heartbeats() == []
    row = module_row(run.instance_id)
    assert (row["execution_status_code"], row["reason_code"]) == ("A", "UNKNOWN_INDICATOR")
    [event] = events(module=run.instance_id)
    assert "UNKNOWN_INDICATOR" in event["event_detail"]
    assert (indicator or "no indicator") in event["event_detail"]


@INDICATORS
def test_a_batch_does_not_begin_at_an_indicator_that_the_client_does_not_know(
    control: omd.Control, conn: Connection, batch_row: Row, indicator: str | None
) -> None:
    batch = control.batch("b", lease=LEASE)
    with (
        answering(conn, "begin_batch", indicator),
        pytest.raises(errors.Aborted) as caught,
        batch,
    ):
        pytest.fail("the block was entered")
    assert caught.value.reason == batch._reason == "UNKNOWN_INDICATOR"
    assert (indicator or "no indicator") in str(caught.value)
    assert heartbeats() == []
    row = batch_row(batch.instance_id)
    assert (row["execution_status_code"], row["reason_code"]) == ("A", "UNKNOWN_INDICATOR")


def test_a_batch_does_not_begin_with_a_rollback(control: omd.Control, conn: Connection) -> None:
    with (
        answering(conn, "begin_batch", "R"),
        pytest.raises(errors.Aborted),
        control.batch("b"),
    ):
        pytest.fail("the block was entered")


def test_run_returns_an_unknown_indicator_as_an_abort(
    control: omd.Control, conn: Connection
) -> None:
    with answering(conn, "begin_module", "W"):
        outcome = control.run("m_alone", lambda _run: pytest.fail("the job was called"))
    assert (outcome.status, outcome.reason) == ("A", "UNKNOWN_INDICATOR")
    assert isinstance(outcome.error, omd.errors.Aborted)


@pytest.mark.parametrize("routine", ABORTS)
def test_an_end_that_fails_does_not_hide_that_it_has_not_started(
    control: omd.Control, conn: Connection, routine: str
) -> None:
    block = control.module("m_alone") if routine == "begin_module" else control.batch("b")
    with (
        answering(conn, routine, "W"),
        changed(conn, ABORTS[routine], "RAISE EXCEPTION 'no such luck'"),
        pytest.raises(errors.NotStarted) as caught,
        block,
    ):
        pytest.fail("the block was entered")
    assert caught.value.reason == "UNKNOWN_INDICATOR"
    if hasattr(caught.value, "__notes__"):
        assert "no such luck" in caught.value.__notes__[0]


def test_a_member_whose_status_is_not_known_fails_its_batch(
    control: omd.Control, conn: Connection, batch_row: Row
) -> None:
    with control.transaction() as connection:
        connection.execute(
            "CALL omd.register_module('m_1', p_executable => 'SELECT 1', p_job => NULL)"
        )
    with changed(conn, "run_module", "p_execution_status_code := 'W'"):
        done = control.run_batch("b")
    assert done.status == "F"
    assert "Module m_1 failed" in (done.detail or "")
    assert batch_row(done.instance_id or 0)["execution_status_code"] == "F"
