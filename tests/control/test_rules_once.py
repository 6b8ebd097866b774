"""A rule that is a function is inlined into the query that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.flow import Flow


@pytest.mark.parametrize(
    ("call", "index"),
    [
        ("omd.open_module_instances(1)", "ix_module_instance_executing"),
        ("omd.open_module_instances(1)", "ix_module_instance_waiting"),
        ("omd._executing_module_instances(1, 5)", "ix_module_instance_executing"),
        ("omd._waiting_module_instances(1)", "ix_module_instance_waiting"),
        ("omd._executing_batch_instances(1, NULL)", "ix_batch_instance_executing"),
    ],
)
def test_one_probe_of_a_partial_index(flow: Flow, call: str, index: str) -> None:
    flow.conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    plan = "\n".join(
        next(iter(row.values())) for row in flow.rows(f"EXPLAIN SELECT EXISTS (SELECT FROM {call})")
    )
    assert "Function Scan" not in plan
    assert f"using {index} " in plan, plan
