"""Rows that a run has left after it was declared dead and rolled back: found, told, undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

PROBLEMS = (
    "SELECT problem_code, severity, object_kind, object_key, text, way_out"
    " FROM omd_report.problems WHERE problem_code = 'ROWS_OF_DEAD_RUN'"
)
LEFT = "SELECT module_instance_id AS run, row_count FROM omd.left_rows ORDER BY 1"


@pytest.fixture
def runner(flow: Flow, another: Callable[..., Flow]) -> Iterator[Flow]:
    """The session of a login that runs Modules and owns nothing."""
    flow.conn.execute("CREATE ROLE omd_test_runner LOGIN IN ROLE omd_runner")
    session = another(user="omd_test_runner")
    yield session
    session.conn.close()
    flow.conn.execute("DROP OWNED BY omd_test_runner")
    flow.conn.execute("DROP ROLE omd_test_runner")


def die(flow: Flow, code: str = "m") -> int:
    """Let a run be declared dead, and the next one roll it back and succeed."""
    dead = flow.begin_module(code, lease=PASSED).id
    flow.write(dead, f"dwh.{code}")
    begun = flow.begin_module(code)
    assert (begun.pi, begun.array) == ("P", [dead])
    flow.end_module(begun.id, "S")
    return int(dead)


def left(flow: Flow) -> dict[int, int]:
    return {row["run"]: row["row_count"] for row in flow.rows(LEFT)}


def test_rows_of_a_dead_run_are_found_and_told_and_r_undoes_them(flow: Flow) -> None:
    flow.module()
    dead = die(flow)
    assert flow.run_module()
    assert left(flow) == {}
    flow.write(dead, rows=4)  # it was frozen, and wakes up
    last = flow.run_module()
    assert left(flow) == {dead: 4}
    found = flow.one("SELECT found_datetime FROM omd.left_rows")
    (problem,) = flow.rows(PROBLEMS)
    assert (problem["object_kind"], problem["object_key"]) == ("MODULE", "m")
    assert problem["severity"] == "WARNING"
    assert f"4 rows of Module Instance {dead}" in problem["text"]
    (todo,) = flow.rows("SELECT object_kind, key, action_code FROM omd_report.todo")
    assert list(todo.values()) == ["MODULE_INSTANCE", str(dead), "ROLL_BACK_NEXT"]

    flow.write(dead, rows=1)
    flow.run_module()
    assert left(flow) == {dead: 5}
    assert flow.one("SELECT found_datetime FROM omd.left_rows") == found

    flow.conn.execute(problem["way_out"].encode())
    (problem,) = flow.rows(PROBLEMS)
    assert "Start its job again" in problem["way_out"] or "omd run m" in problem["way_out"]
    begun = flow.begin_module()
    assert (begun.pi, begun.array) == ("P", [dead])
    assert left(flow) == {}
    assert flow.rows(PROBLEMS) == []
    assert flow.stamps() == {}
    assert last < begun.id


def test_what_is_deleted_by_hand_is_no_problem_after_the_next_begin(flow: Flow) -> None:
    flow.module()
    dead = die(flow)
    flow.write(dead, rows=1)
    flow.run_module()
    (problem,) = flow.rows(PROBLEMS)
    assert f"1 row of Module Instance {dead}" in problem["text"]
    flow.conn.execute("DELETE FROM dwh.m")
    flow.run_module()
    assert left(flow) == {}


def test_creating_and_evaluating_looks_too(flow: Flow) -> None:
    flow.module()
    dead = die(flow)
    flow.write(dead)
    assert flow.evaluate_module(flow.create_module()).pi == "P"
    assert left(flow) == {dead: 2}


def test_a_run_in_the_database_looks_too(flow: Flow) -> None:
    flow.module("m", executable="SELECT 1")
    dead = die(flow)
    flow.write(dead)
    assert flow.call("run_module", module_code="m")["execution_status_code"] == "S"
    assert left(flow) == {dead: 2}


@pytest.mark.parametrize("type", ["bigint", "integer", "numeric"])
def test_many_rows_of_some_runs_are_counted_to_a_thousand(flow: Flow, type: str) -> None:
    flow.module()
    flow.conn.execute("CREATE INDEX ON dwh.m (omd_insert_module_instance_id)")
    flow.conn.execute(f"ALTER TABLE dwh.m ALTER omd_insert_module_instance_id TYPE {type}".encode())
    dead = [die(flow) for _ in range(3)]
    for run, rows in zip(dead, (3500, 7, 1000), strict=True):
        flow.write(run, rows=rows)
    flow.run_module()
    assert left(flow) == dict(zip(dead, (1000, 7, 1000), strict=True))
    (problem, *_) = flow.rows(f"{PROBLEMS} ORDER BY text")
    assert "1,000 rows or more" in problem["text"]


def test_a_large_table_is_looked_at_only_by_an_index(flow: Flow) -> None:
    flow.module()
    flow.conn.execute("ALTER TABLE dwh.m ALTER v SET STORAGE PLAIN")
    dead = die(flow)
    flow.write(dead)
    flow.conn.execute(
        "INSERT INTO dwh.m (v) SELECT repeat('x', 5000) FROM generate_series(1, 1000)"
    )
    assert flow.one("SELECT pg_relation_size('dwh.m') / 8192") == 1000
    flow.run_module()
    assert left(flow) == {dead: 2}
    flow.conn.execute("DELETE FROM dwh.m WHERE v IS NULL")
    flow.conn.execute("INSERT INTO dwh.m (v) VALUES (repeat('x', 5000))")
    flow.run_module()
    assert left(flow) == {dead: 2}  # nobody has looked
    flow.conn.execute("CREATE INDEX ON dwh.m (omd_insert_module_instance_id)")
    flow.run_module()
    assert left(flow) == {}


def test_only_the_last_twenty_runs_are_looked_after_and_what_was_found_longer(flow: Flow) -> None:
    flow.module()
    found, missed = die(flow), die(flow)
    flow.write(found)
    for _ in range(18):
        flow.run_module()
    assert left(flow) == {found: 2}
    flow.run_module()
    flow.run_module()
    flow.write(missed)
    flow.run_module()
    assert left(flow) == {found: 2}
    assert flow.one("SELECT count(*) FROM omd.dead_run") == 1
    flow.conn.execute("DELETE FROM dwh.m")
    flow.run_module()
    assert flow.rows("SELECT FROM omd.dead_run UNION ALL SELECT FROM omd.left_rows") == []


@pytest.mark.no_user_code("omd_runner undoes rows that a policy may hide from it")
@pytest.mark.parametrize("spared", ["own rollback", "no stamp", "a view", "policies", "no right"])
def test_where_it_does_not_look(flow: Flow, runner: Flow, spared: str) -> None:
    flow.module()
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_test_runner")
    flow.conn.execute("GRANT ALL ON dwh.m TO omd_test_runner")
    if spared == "own rollback":
        flow.call(
            "register_rollback",
            module_code="m",
            statement_template="DELETE FROM {table} WHERE {insert_instance_column} = ANY"
            " ({instance_array})",
        )
    dead = die(runner)
    flow.write(dead)
    change = {
        "own rollback": "SELECT 1",
        "no stamp": "ALTER TABLE dwh.m RENAME omd_insert_module_instance_id TO other",
        "a view": "ALTER TABLE dwh.m RENAME TO n; CREATE VIEW dwh.m AS SELECT * FROM dwh.n;"
        " GRANT ALL ON dwh.m TO omd_test_runner",
        "policies": "ALTER TABLE dwh.m ENABLE ROW LEVEL SECURITY;"
        " CREATE POLICY p ON dwh.m USING (TRUE)",
        "no right": "REVOKE ALL ON dwh.m FROM omd_test_runner",
    }
    flow.conn.execute(change[spared].encode())
    runner.run_module()
    assert left(flow) == {}


def test_a_table_that_somebody_holds_stops_no_begin(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    flow.module()
    dead = die(flow)
    flow.write(dead)
    other = another()
    with other.conn.transaction():
        other.conn.execute("LOCK TABLE dwh.m")
        flow.run_module()
    assert left(flow) == {}
    flow.run_module()
    assert left(flow) == {dead: 2}


def test_a_module_without_dead_runs_is_not_looked_at(flow: Flow) -> None:
    flow.module("n")
    flow.module()
    dead = die(flow)
    flow.write(dead)
    flow.run_module("n")
    assert left(flow) == {}
    failed = flow.run_module("n", "F")
    flow.run_module("n")
    flow.write(failed, "dwh.n")  # it has reported its end itself
    flow.run_module("n")
    assert left(flow) == {}


def test_a_purge_keeps_the_run_whose_rows_are_there(flow: Flow) -> None:
    flow.module()
    kept, gone = die(flow), die(flow)
    flow.write(kept)
    flow.run_module()
    flow.run_module()
    flow.owner("UPDATE omd.module_instance SET start_datetime = now() - interval '400 days'")
    flow.call("purge", keep="1 day")
    runs = "SELECT module_instance_id AS id FROM omd.{} WHERE module_id IS NOT NULL ORDER BY 1"
    ids = [row["id"] for row in flow.rows(runs.format("module_instance"))]
    assert kept in ids
    assert gone not in ids
    assert [row["id"] for row in flow.rows(runs.format("dead_run"))] == [kept]


def test_the_doctor_looks_for_every_module(
    flow: Flow, omd_here: Callable[..., Any], dsn: str
) -> None:
    for code in ("m", "n"):
        flow.module(code)
        die(flow, code)
    dead = flow.one("SELECT min(module_instance_id) FROM omd.dead_run")
    flow.write(dead)
    done = omd_here("doctor", dsn=dsn)
    (line,) = [line for line in done.stdout.splitlines() if "rows of dead runs" in line]
    assert "warning" in line
    assert f"m: Module Instance {dead}" in line
    assert left(flow) == {dead: 2}
    flow.conn.execute("DELETE FROM dwh.m")
    done = omd_here("doctor", dsn=dsn)
    (line,) = [line for line in done.stdout.splitlines() if "rows of dead runs" in line]
    assert " ok " in line
    assert left(flow) == {}
