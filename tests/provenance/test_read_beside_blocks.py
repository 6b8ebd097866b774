"""What a step reads of its base table beside its block is recorded, and a recall reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from provenance.recalls import Recalls

ID = "omd_insert_module_instance_id"
STAMP = "current_setting('omd.module_instance_id')::bigint"
BLOCK = "omd_lineage.in_block(b.omd_insert_datetime, b.id)"
CUT = f"FROM dwh.base AS b WHERE {BLOCK}"
PLAIN = {"dwh.base": {"WINDOW"}}
WHOLE = {"dwh.base": {"WINDOW", "ALL"}}

VIEWS: dict[str, tuple[str, dict[str, set[str]]]] = {
    "its block alone": (f"SELECT b.v {CUT}", PLAIN),
    "bounds": (
        """SELECT b.v FROM dwh.base AS b, omd_lineage.block_start() AS s,
        omd_lineage.block_end() AS e WHERE (b.omd_insert_datetime, b.id) > (s.pos, s.id)
        AND (b.omd_insert_datetime, b.id) <= (e.pos, e.id)""",
        PLAIN,
    ),
    "a layer under it": (f"SELECT b.v FROM dwh.layer AS b WHERE {BLOCK}", PLAIN),
    "its block twice": (f"SELECT b.v {CUT} UNION ALL SELECT b.v {CUT} AND false", PLAIN),
    "a view of the block twice": ("SELECT b.v FROM dwh.cut AS b, dwh.cut AS c", PLAIN),
    "a function that cuts": (
        "SELECT b.v FROM dwh.base AS b WHERE dwh.mine(b.omd_insert_datetime, b.id)",
        PLAIN,
    ),
    "a count of all": (f"SELECT (SELECT count(*) FROM dwh.base) AS v {CUT}", WHOLE),
    "a join with all": (f"SELECT b.v FROM dwh.base AS b, dwh.base AS o WHERE {BLOCK}", WHOLE),
    "all by a layer": (f"SELECT b.v FROM dwh.base AS b, dwh.layer AS o WHERE {BLOCK}", WHOLE),
    "all under a view of the block": ("SELECT b.v FROM dwh.cut AS b, dwh.base AS o", WHOLE),
    "all by a function": (f"SELECT dwh.total() AS v {CUT}", WHOLE),
    "all beside the block twice": (
        f"SELECT b.v {CUT} UNION SELECT b.v {CUT} UNION SELECT v FROM dwh.base",
        WHOLE,
    ),
    "another table": (
        f"SELECT b.v FROM dwh.base AS b, dwh.other AS o WHERE {BLOCK}",
        {**PLAIN, "dwh.other": {"ALL"}},
    ),
}


@pytest.fixture
def scene(recalls: Recalls) -> Recalls:
    recalls.conn.execute(
        f"CREATE TABLE dwh.base (v bigint, id bigint GENERATED ALWAYS AS IDENTITY, {ID} bigint,"
        " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp());"
        f"CREATE TABLE dwh.other (v bigint, {ID} bigint);"
        f"CREATE TABLE dwh.f (k bigint, v numeric, {ID} bigint,"
        " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp());"
        f"CREATE VIEW dwh.cut AS SELECT b.v {CUT};"
        "CREATE VIEW dwh.layer AS SELECT * FROM dwh.base;"
        "CREATE FUNCTION dwh.total() RETURNS numeric LANGUAGE sql STABLE"
        " BEGIN ATOMIC SELECT sum(v) FROM dwh.base; END;"
        "CREATE FUNCTION dwh.mine(timestamptz, bigint) RETURNS boolean LANGUAGE sql STABLE"
        " BEGIN ATOMIC SELECT omd_lineage.in_block($1, $2); END"
    )
    recalls.call(
        "register_module",
        module_code="base",
        area_code="HSTG",
        table_code="dwh.base",
        executable=f"INSERT INTO dwh.base (v, {ID}) VALUES (1, {STAMP})",
    )
    return recalls


def topic(scene: Recalls, *views: str, **how: Any) -> None:
    scene.call(
        "omd_lineage.register_topic",
        topic="dwh.f",
        depends_on=["dwh.base"],
        transforms=[*views],
        pos_column="omd_insert_datetime",
        start_pos="-infinity",
        **how,
    )


def reads(scene: Recalls) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in scene.rows(
        "SELECT table_code, read_kind FROM omd_report.run_inputs WHERE module_code = 'dwh.f'"
    ):
        found.setdefault(row["table_code"], set()).add(row["read_kind"])
    return found


@pytest.mark.parametrize("name", VIEWS)
def test_a_second_read_of_the_base_table_is_recorded(scene: Recalls, name: str) -> None:
    text, recorded = VIEWS[name]
    scene.conn.execute(f"CREATE VIEW dwh.v AS {text}".encode())
    topic(scene, "dwh.v")
    scene.go("base")
    scene.go("dwh.f")
    assert reads(scene) == recorded


def test_a_recall_of_a_later_run_reaches_the_totals_that_have_it(scene: Recalls) -> None:
    scene.conn.execute(
        f"CREATE VIEW dwh.touched AS SELECT b.v AS k {CUT};"
        "CREATE VIEW dwh.total AS SELECT v AS k, count(*) AS v FROM dwh.base GROUP BY v"
    )
    topic(scene, "dwh.touched", "dwh.total", recompute_key=["k"], maxstep=1)
    scene.go("base")
    bad = scene.go("base")
    step = scene.go("dwh.f")  # its block ends before the rows of the second run
    assert scene.values("f") == [2]
    recall = scene.plan(bad)
    assert {item[0] for item in scene.items(recall, "module_instance_id")} == {bad, step}
    scene.recall(recall)
    scene.go("base", "dwh.f")
    assert scene.values("f") == [scene.one("SELECT count(*) FROM dwh.base")]


def test_a_view_that_reads_all_since_is_found_by_the_next_look(scene: Recalls) -> None:
    scene.conn.execute(f"CREATE VIEW dwh.v AS SELECT b.v {CUT}")
    topic(scene, "dwh.v")
    scene.conn.execute(
        f"CREATE OR REPLACE VIEW dwh.v AS SELECT b.v FROM dwh.base AS b, dwh.base WHERE {BLOCK}"
    )
    scene.go("base")
    scene.go("dwh.f")
    scene.conn.execute(
        "SET ROLE omd_owner; UPDATE omd.module_declaration SET looked_datetime = '-infinity';"
        "RESET ROLE; SET omd.maintenance = 'omd.look_at_inputs'"
    )
    scene.one("SELECT omd.look_at_inputs()")
    assert reads(scene) == WHOLE
