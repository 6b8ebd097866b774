"""Who looks for the first time, in a database where nothing has happened, has his answer at once.

A server that compiles plans (jit, as most come) takes seconds to compile that of a view over all
rooms, and does so where the planner thinks that the view is expensive. Of tables that were never
analysed it assumes ten pages; a small table stays so, since autovacuum waits for fifty changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from house.catalog import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

WORTH_COMPILING = 100_000  # jit_above_cost, as it comes
# It compares recalled decisions, call by call; the planner takes each text for a thousand calls.
EXPENSIVE = {"omd_report.superseded_decisions"}
VIEWS = f"""
    SELECT c.oid::regclass::text AS name FROM pg_class AS c
    WHERE c.relkind = 'v' AND c.relnamespace IN ({SCHEMAS})
"""


@pytest.mark.parametrize("is_analysed", [False, True])
def test_no_view_of_a_new_database_is_worth_compiling(
    new_database: Callable[[], AbstractContextManager[str]],
    connect: Callable[..., Connection],
    is_analysed: bool,
) -> None:
    with new_database() as dsn:
        conn = connect(dsn=dsn)
        if is_analysed:
            conn.execute("ANALYZE")
        views = [row["name"] for row in conn.execute(VIEWS.encode())]
        assert len(views) > 100
        costs = {}
        for view in views:
            row = conn.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {view}".encode()).fetchone()
            assert row is not None
            costs[view] = row["QUERY PLAN"][0]["Plan"]["Total Cost"]
    assert {v: cost for v, cost in costs.items() if cost > WORTH_COMPILING}.keys() <= EXPENSIVE
