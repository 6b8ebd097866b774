"""How many plans a run executes: each costs it some microseconds, whatever it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.plans import executed

if TYPE_CHECKING:
    from support.flow import Flow

pytestmark = pytest.mark.no_user_code("the plans of a trigger of the tests are none of OMD's")

BEGIN_AND_SUCCESS = 5
BEGIN_THAT_ROLLS_BACK = 45
KEY = """
    CREATE TABLE dwh.parent (id bigint PRIMARY KEY);
    INSERT INTO dwh.parent VALUES (1);
    ALTER TABLE dwh.m ADD id bigint DEFAULT 1 REFERENCES dwh.parent
"""


def test_a_begin_and_its_success_execute_few_plans(flow: Flow) -> None:
    flow.module()
    for _ in range(3):  # the session has planned
        flow.end_module(flow.begin_module().id, "S")
    with executed(flow.conn) as plans:
        flow.end_module(flow.begin_module().id, "S")
    assert plans[BEGIN_AND_SUCCESS:] == []


@pytest.mark.parametrize("key", ["", KEY], ids=["plain", "it refers to another table"])
def test_a_begin_that_rolls_one_run_back_executes_few_plans(flow: Flow, key: str) -> None:
    flow.module()
    flow.conn.execute(key.encode())
    for status in ("F", "F", "S", "F"):  # the session has planned, and nothing else is left to do
        id = flow.begin_module().id
        flow.write(id)
        flow.end_module(id, status)
    with executed(flow.conn) as plans:
        assert flow.begin_module().pi == "P"
    assert plans[BEGIN_THAT_ROLLS_BACK:] == []
