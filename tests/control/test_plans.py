"""How many plans a run, a step and a task execute: each costs microseconds, whatever it reads.

What these three do most often is counted, in a session that has planned it before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg.types.json import Jsonb

from support.plans import executed

if TYPE_CHECKING:
    from support.flow import Flow

pytestmark = pytest.mark.no_user_code("the plans of a trigger of the tests are none of OMD's")

BEGIN_AND_SUCCESS = 5
BEGIN_THAT_ROLLS_BACK = 45
# At 848327f they were 51; and 9, 19 and 9.
STEP = 50
CREATE, CLAIM, END = 3, 19, 7
TOPIC = """
    CREATE TABLE dwh.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id));
    INSERT INTO dwh.base
    SELECT '2024-01-01'::timestamptz + n * interval '1 s', n FROM generate_series(1, 100) AS n;
    CREATE TABLE dwh.fact (id bigint, omd_insert_module_instance_id bigint);
    CREATE VIEW dwh.transform AS SELECT b.id FROM dwh.base AS b
    WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd_lineage.register_topic('dwh.base');
    CALL omd_lineage.register_topic(
        'dwh.fact', ARRAY['dwh.base'], p_transforms => ARRAY['dwh.transform'], p_maxstep => 1
    )
"""
FAMILY = """
    CALL omd_dispatch.register_family('F', '{"CODE": "text"}');
    CALL omd_dispatch.register_task_type('F', 'T', 'PYTHON', 'm:f', 'G');
    CALL omd_dispatch.register_backend('G', 'worker', '1 day')
"""
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


def test_a_step_executes_few_plans(flow: Flow) -> None:
    flow.conn.execute(TOPIC.encode())
    for _ in range(7):  # the session has planned
        flow.conn.execute("CALL omd_lineage.step('dwh.fact')")
    with executed(flow.conn) as plans:
        answer = flow.conn.execute("CALL omd_lineage.step('dwh.fact')").fetchone()
    assert answer is not None
    assert answer["p_outcome"] == "DONE"
    assert plans[STEP:] == []


def test_a_task_executes_few_plans_from_its_creation_to_its_end(flow: Flow) -> None:
    flow.conn.execute(FAMILY.encode())

    def create() -> None:
        flow.conn.execute("CALL omd_dispatch.create_task('F', 'T', '{\"CODE\": \"a\"}')")

    def claim() -> Jsonb:
        claimed = flow.conn.execute("SELECT * FROM omd_dispatch.claim_tasks('worker')").fetchone()
        assert claimed is not None
        names = ("task_id", "claim_token")
        return Jsonb([{name: claimed[name] for name in names} | {"outcome": "S"}])

    def end(results: Jsonb) -> None:
        flow.conn.execute("CALL omd_dispatch.complete_tasks('worker', %s)", (results,))

    for _ in range(50):
        create()
    for _ in range(7):  # the session has planned, and remembers its last claim
        create()
        end(claim())
    with executed(flow.conn) as of_creation:
        create()
    with executed(flow.conn) as of_claim:
        claimed = claim()
    with executed(flow.conn) as of_end:
        end(claimed)
    assert (of_creation[CREATE:], of_claim[CLAIM:], of_end[END:]) == ([], [], [])
