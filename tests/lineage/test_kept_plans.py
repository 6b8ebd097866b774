"""A session that takes many steps keeps the plans of their statements, and loads nothing wrong."""

from __future__ import annotations

import pytest
from psycopg import sql

from support.scene import Scene

KEPT = "SELECT name, statement, generic_plans FROM pg_prepared_statements WHERE name LIKE 'omd %%'"


def _deallocate(scene: Scene) -> None:
    for plan in scene.rows(KEPT):
        scene.conn.execute(sql.SQL("DEALLOCATE {}").format(sql.Identifier(plan["name"])))


@pytest.fixture(autouse=True)
def _forgets_plans(scene: Scene) -> None:
    """The session has kept the plans of other tests."""
    _deallocate(scene)


def test_a_kept_plan_follows_each_change(scene: Scene) -> None:
    scene.source("dwh.src", *range(20))
    scene.topic(maxstep=1)
    for _ in range(8):
        assert scene.step().rows == 1
    kept = scene.rows(KEPT)
    assert len(kept) == 3, "the newest row, the walk and the insert"
    assert all(plan["generic_plans"] > 0 for plan in kept)
    # The view and the table have another column; the statement is another one.
    scene.conn.execute("ALTER TABLE dwh.f ADD w int")
    scene.view("dwh.v_dwh_f", "dwh.src", select="t.pos, t.id, t.v, 7 AS w")
    assert scene.step().rows == 1
    # The view gives other rows, under the same columns.
    scene.view("dwh.v_dwh_f", "dwh.src", select="t.pos, t.id, t.v, 8 AS w")
    assert scene.step().rows == 1
    # An index of the base table is gone, and the table has been filled and analysed.
    scene.conn.execute("DROP INDEX dwh.src_pos_id_idx; ANALYZE dwh.src")
    assert scene.step().rows == 1
    # The columns of the position have other types.
    scene.conn.execute(
        "DROP VIEW dwh.v_dwh_f; CREATE DOMAIN dwh.moment AS timestamptz;"
        "ALTER TABLE dwh.src ALTER pos TYPE dwh.moment, ALTER id TYPE integer"
    )
    scene.view("dwh.v_dwh_f", "dwh.src", select="t.pos, t.id, t.v, 8 AS w")
    assert scene.step().rows == 1
    # Somebody throws all plans away.
    _deallocate(scene)
    scene.steps()
    assert scene.ids() == list(range(19))
    assert [row["w"] for row in scene.rows("SELECT w FROM dwh.f ORDER BY id")][:11] == [
        *[None] * 8,
        7,
        8,
        8,
    ]


@pytest.mark.parametrize("type_", ["integer", "bigint"])
def test_the_plans_that_read_the_base_table_use_its_index(scene: Scene, type_: str) -> None:
    scene.base("dwh.src")
    scene.conn.execute(f"ALTER TABLE dwh.src ALTER id TYPE {type_}".encode())
    scene.insert(1, 2, 3)
    scene.register("dwh.src")
    scene.topic()
    scene.steps()
    kept = {plan["name"]: plan["statement"] for plan in scene.rows(KEPT)}
    reads = [name for name, statement in kept.items() if "INSERT" not in statement]
    assert len(reads) == 2
    for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
        scene.conn.execute(f"SET {setting} = off".encode())
    for name in reads:
        arguments = "(now(), 1, now(), 1, now(), 1, NULL, NULL)" if "TIES" in kept[name] else ""
        explain = sql.SQL("EXPLAIN EXECUTE {}" + arguments).format(sql.Identifier(name))
        text = str(scene.conn.execute(explain).fetchall())
        assert "Index" in text
        assert "Sort" not in text
    scene.conn.execute("RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_sort")


def test_a_statement_of_somebody_else_under_the_kept_name_is_not_executed(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic(maxstep=1)
    scene.step()
    kept = scene.rows(KEPT)
    assert kept
    _deallocate(scene)
    with scene.role("omd_runner"):
        for plan in kept:
            name = sql.Identifier(plan["name"])
            scene.conn.execute(
                sql.SQL("PREPARE {} AS DELETE FROM dwh.f RETURNING pos, id").format(name)
            )
    scene.steps()
    assert scene.ids() == [1, 2, 3]


def test_the_plan_of_a_block_serves_blocks_of_its_order_of_magnitude_only(scene: Scene) -> None:
    scene.source("dwh.src", 0)
    scene.topic()
    blocks = {1: "10^0 ", 12: "10^1 ", 15: "10^1 ", 1200: "10^3 ", 10_001: None}
    row = 0
    for rows, magnitude in blocks.items():
        before = {plan["statement"] for plan in scene.rows(KEPT)}
        scene.conn.execute(
            "INSERT INTO dwh.src SELECT '2020-01-02'::timestamptz + n * interval '1 s', n, 1"
            " FROM generate_series(%s::int, %s::int) AS n",
            (row + 1, row + rows),
        )
        row += rows
        assert scene.steps() == [rows]
        new = [p["statement"] for p in scene.rows(KEPT) if p["statement"] not in before]
        new = [statement for statement in new if "INSERT" in statement]
        expected = 0 if magnitude is None or rows == 15 else 1
        assert len(new) == expected
        assert all(magnitude and magnitude in statement for statement in new)


def test_a_session_keeps_a_few_plans_only(scene: Scene) -> None:
    for n in range(70):
        scene.rows("SELECT omd_lineage._kept_statement('s', 'AS SELECT ' || %s)", n)
    kept = [plan["statement"] for plan in scene.rows(KEPT)]
    assert len(kept) == 60
    assert any(statement.endswith("SELECT 69") for statement in kept)
