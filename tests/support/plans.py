"""Which plans a session executes: those of its statements, and of the routines that they call."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

OFF = "SET auto_explain.log_min_duration = -1; RESET client_min_messages"
ON = """
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_level = notice;
    SET client_min_messages = notice
"""


def require_plans(conn: psycopg.Connection[Any]) -> None:
    """Let a session tell its plans; the test is skipped where the server has no auto_explain."""
    try:
        conn.execute("LOAD 'auto_explain'")
    except psycopg.errors.UndefinedFile:
        pytest.skip("this server has no auto_explain")


@contextmanager
def executed(conn: psycopg.Connection[Any]) -> Iterator[list[str]]:
    """Yield the plans that a session executes inside, each with the routine that it is of.

    CALL and SET have no plan.
    """
    require_plans(conn)
    found: list[str] = []

    def hear(said: psycopg.errors.Diagnostic) -> None:
        text = said.message_primary or ""
        if "plan:\n" in text:
            found.append(f"{text}\n{said.context}")

    conn.add_notice_handler(hear)
    conn.execute(ON)
    try:
        yield found
    finally:
        conn.execute(OFF)
        conn.remove_notice_handler(hear)
