"""Where rows are is asked once for all runs of a table, and by the time of a run where that does.

The ledger answers the same as a join of all rows and windows does, and the act sees what somebody
has moved since the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from provenance.recalls import Recalls

TARGET = (
    "CREATE TABLE dwh.{0} (id bigint GENERATED ALWAYS AS IDENTITY, v bigint,"
    " omd_insert_module_instance_id bigint,"
    " omd_insert_datetime timestamptz DEFAULT clock_timestamp());"
    "CREATE INDEX ON dwh.{0} (omd_insert_datetime, id);"
    "CREATE VIEW dwh.{0}_v AS SELECT v FROM dwh.{1} WHERE omd_lineage.in_block({2}, id)"
)
BOUND = "SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY end_value) FROM omd.source_control"
HELD = """
    SELECT DISTINCT t.omd_insert_module_instance_id AS source, w.module_instance_id AS reader
    FROM dwh.t1 AS t
    INNER JOIN omd.source_control AS w ON (
        (w.start_value IS NULL OR (t.omd_insert_datetime, t.id) > (w.start_value, w.start_id))
        AND (t.omd_insert_datetime, t.id) <= (w.end_value, w.end_id)
    )
    INNER JOIN omd.module AS m USING (module_id)
    WHERE m.module_code = 'dwh.t2' ORDER BY 1, 2
"""


@pytest.fixture
def chain(recalls: Recalls) -> tuple[list[int], list[int]]:
    """Two topics, each with four steps of three rows; return the steps of each."""
    recalls.conn.execute(
        "CREATE TABLE dwh.src (id bigint, v bigint, pos timestamptz);"
        "INSERT INTO dwh.src SELECT n, n, '2020-01-01'::timestamptz + n * interval '1 s'"
        " FROM generate_series(1, 13) AS n"
    )
    recalls.call("omd_lineage.register_topic", topic="dwh.src", source_offset="HAND")
    recalls.call("omd_lineage.set_offset", topic="dwh.src", pos="2020-01-01 00:00:13", id=13)
    runs = []
    for name, before, pos in (("t1", "src", "pos"), ("t2", "t1", "omd_insert_datetime")):
        recalls.conn.execute(TARGET.format(name, before, pos).encode())
        recalls.call(
            "omd_lineage.register_topic",
            topic=f"dwh.{name}", depends_on=[f"dwh.{before}"], transforms=[f"dwh.{name}_v"],
            maxstep=3, repeat="0", start_pos="-infinity", pos_column=pos,
        )  # fmt: skip
        while recalls.call("omd_lineage.step", topic=f"dwh.{name}")["outcome"] == "DONE":
            pass
        runs.append(
            [
                row["id"]
                for row in recalls.rows(
                    "SELECT module_instance_id AS id FROM omd.module_instance"
                    " INNER JOIN omd.module USING (module_id) WHERE module_code = %s"
                    " AND execution_status_code = 'S' ORDER BY 1",
                    f"dwh.{name}",
                )
            ]
        )
    return runs[0], runs[1]


def answered(recalls: Recalls, runs: list[int], known: str = "NULL") -> list[tuple[int, int]]:
    return [
        (row["source"], row["reader"])
        for row in recalls.rows(
            "SELECT source_instance_id AS source, module_instance_id AS reader"
            " FROM omd_provenance.direct_readers(%s, FALSE,"
            f" omd_provenance._positions_of_runs(%s, {known})) WHERE is_exact ORDER BY 1, 2",
            runs,
            runs,
        )
    ]


@pytest.mark.parametrize(
    "moved",
    [
        "v = v",
        # At the end of a window, where only the id decides; and one without a position.
        f"omd_insert_datetime = ({BOUND})",
        "omd_insert_datetime = CASE WHEN id % 2 = 0 THEN omd_insert_datetime END",
    ],
)
def test_all_at_once_is_what_a_join_says(
    recalls: Recalls, chain: tuple[list[int], list[int]], moved: str
) -> None:
    runs, readers = chain
    recalls.conn.execute(f"UPDATE dwh.t1 SET {moved}".encode())
    expected: set[tuple[int, int]] = {
        (row["source"], row["reader"]) for row in recalls.rows(HELD)
    } | {(run, readers[0]) for run in runs}  # it begins before all, so it overlaps their blocks
    found = answered(recalls, runs)
    assert set(found) == expected
    assert [pair for run in runs for pair in answered(recalls, [run])] == found
    count = "jsonb_build_object('dwh.t1'::regclass::oid, {})"
    for rows in (3, 4, 0):  # as many as are there, and others: then all of the table is looked at
        known = ", ".join(f"{run}, {count.format(rows)}" for run in runs)
        assert answered(recalls, runs, f"jsonb_build_object({known})") == found


def test_the_act_sees_a_row_that_was_moved_since_the_plan(
    recalls: Recalls, chain: tuple[list[int], list[int]]
) -> None:
    runs, readers = chain
    recall = recalls.plan(runs[0])
    planned = {row[0] for row in recalls.items(recall, "module_instance_id")}
    assert readers[-1] not in planned
    recalls.conn.execute(
        "UPDATE dwh.t1 SET omd_insert_datetime = (SELECT max(end_value) FROM omd.source_control)"
        " WHERE id = 1"
    )
    detail: dict[str, Any] = recalls.refused("OM190", "omd_provenance.recall", recall_id=recall)
    assert readers[-1] in detail["come"]


def test_a_plan_without_the_right_to_the_schema_says_so(
    recalls: Recalls, chain: tuple[list[int], list[int]]
) -> None:
    runs, _ = chain
    recalls.conn.execute("GRANT omd_admin TO CURRENT_USER")
    recalls.conn.execute("SET ROLE omd_admin")
    recall = recalls.plan(runs[0])
    recalls.conn.execute("RESET ROLE")
    problems = {row[0].split(":")[0] for row in recalls.items(recall, "problem")}
    assert problems == {"NO_RIGHT"}


def test_what_stands_after_a_recall_has_not_read_what_it_took_back(
    recalls: Recalls, chain: tuple[list[int], list[int]]
) -> None:
    """The act knew where the rows were; now that they are gone, nobody guesses."""
    runs, readers = chain
    recalls.recalled(runs[-1])
    standing = set(recalls.standing())
    left = [run for run in readers if run in standing]
    assert left
    assert runs[-1] not in standing
    for run in left:
        sources = recalls.rows("SELECT * FROM omd_provenance.sources_of(%s, TRUE)", run)
        assert runs[-1] not in {row["module_instance_id"] for row in sources}
    found = recalls.rows("SELECT * FROM omd_provenance.readers_of(%s, TRUE)", runs[-1])
    assert found
    assert not {row["module_instance_id"] for row in found} & standing


def test_what_a_module_writes_is_looked_up_once_and_not_for_each_run(recalls: Recalls) -> None:
    recalls.made("a")
    recalls.made("b", "a")
    recalls.go(*["a"] * 12)
    reader = recalls.go("b")
    with recalls.conn.transaction():
        recalls.conn.execute("SET LOCAL track_functions = 'all'")
        found = recalls.rows("SELECT * FROM omd_provenance.sources_of(%s, TRUE)", reader)
        calls = recalls.one(
            "SELECT sum(calls) FROM pg_stat_xact_user_functions"
            " WHERE funcid = 'omd.base_tables'::regproc"
        )
    assert len(found) == 12
    assert calls < 6
