"""A begin after a failure asks once what it undoes, and executes few plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

MOST = 45
OFF = "SET auto_explain.log_min_duration = -1; RESET client_min_messages"
ON = """
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_level = notice;
    SET client_min_messages = notice
"""
KEY = """
    CREATE TABLE dwh.parent (id bigint PRIMARY KEY);
    INSERT INTO dwh.parent VALUES (1);
    ALTER TABLE dwh.m ADD id bigint DEFAULT 1 REFERENCES dwh.parent
"""


def plans_of_begin(flow: Flow) -> list[str]:
    """Return the plans that one more begin executes."""
    found: list[str] = []

    def hear(said: psycopg.errors.Diagnostic) -> None:
        text = said.message_primary or ""
        if "plan:\n" in text:
            found.append(f"{text}\n{said.context}")

    flow.conn.add_notice_handler(hear)
    flow.conn.execute(ON)
    try:
        assert flow.begin_module().pi == "P"
    finally:
        flow.conn.execute(OFF)
        flow.conn.remove_notice_handler(hear)
    return found


@pytest.mark.no_user_code("the plans of a trigger of the tests are none of OMD's")
@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "it refers to another table"])
def test_a_begin_that_rolls_one_run_back_executes_few_plans(flow: Flow, key: str) -> None:
    try:
        flow.conn.execute("LOAD 'auto_explain'")
    except psycopg.errors.UndefinedFile:
        pytest.skip("this server has no auto_explain")
    flow.module()
    flow.conn.execute(key.encode())
    for status in ("F", "F", "S", "F"):  # the session has planned, and nothing else is left to do
        id = flow.begin_module().id
        flow.write(id)
        flow.end_module(id, status)
    assert plans_of_begin(flow)[MOST:] == []
