"""Steps: their outcomes, that each is all or nothing, and that each row is loaded exactly once."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.flow import checked
from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]

HOUR = timedelta(hours=1)


def codes(scene: Scene) -> list[str]:
    """Return the Module Instances, in order, as in 'S P P'."""
    return [
        scene.codes(module=row["module_instance_id"])
        for row in scene.rows(
            "SELECT module_instance_id FROM omd.module_instance WHERE module_instance_id > 0"
            " ORDER BY module_instance_id"
        )
    ]


def gaps(scene: Scene) -> list[tuple[str, str]]:
    found = scene.rows("SELECT topic, kind FROM omd_report.lineage_gaps")
    return [(row["topic"], row["kind"]) for row in found]


class Held:
    """A step of dwh.f that waits in the middle of its transaction until it may continue."""

    def __init__(self, scene: Scene, session: Scene, background: Any, until_settled: Any) -> None:
        self.scene, self.session = scene, session
        scene.register("dwh.f", after_sql=["SELECT pg_advisory_xact_lock(5)"])
        scene.conn.execute("SELECT pg_advisory_lock(5)")
        self.call = background(session.step)
        until_settled(session, self.call)
        scene.register("dwh.f", after_sql=[])

    def go(self) -> Any:
        self.scene.conn.execute("SELECT pg_advisory_unlock(5)")
        return self.call.result(timeout=30)


@pytest.fixture
def held(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> Callable[[], Held]:
    return lambda: Held(scene, another(), background, until_settled)


# Outcomes


def test_done(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = scene.step(hostid="me")
    assert (step.outcome, step.rows, step.detail) == ("DONE", 2, None)
    offset = scene.offset()
    assert (offset["state"], offset["hostid"], offset["attempts"], offset["next"]) == (
        "DONE",
        "",
        0,
        None,
    )
    assert offset["processor"] == "STEP"
    assert codes(scene) == ["S P P"]
    (instance,) = scene.rows(
        "SELECT * FROM omd.module_instance WHERE module_instance_id = %s", step.id
    )
    assert (instance["rows_input"], instance["rows_inserted"]) == (2, 2)


def test_no_jobs_makes_no_instance_and_tells_the_blocker(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.register("dwh.slow", source_offset="HAND")
    scene.topic("dwh.f", "dwh.src", "dwh.slow")
    scene.call("omd_lineage.set_offset", topic="dwh.slow", pos=at(1))
    step = scene.step()
    assert (step.outcome, step.id, step.rows) == ("NOJOBS", None, None)
    assert "dwh.slow" in (step.detail or "")
    assert "dwh.slow" in scene.offset()["state"]
    assert codes(scene) == []


def test_mutex_is_information(scene: Scene, held: Any) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    before = scene.offset()
    other = scene.step()
    assert (other.outcome, other.id) == ("MUTEX", None)
    assert scene.offset() == before
    assert scene.reason() == (False, "HELD")
    assert codes(scene) == ["E P P"]
    assert step.go().outcome == "DONE"
    assert not scene.rows("SELECT * FROM omd_lineage.error_log")


def test_mutex_while_another_plans(scene: Scene, another: Another) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    planner = another()
    planner.conn.execute("BEGIN")
    planner.conn.execute("SELECT 1 FROM omd_lineage.offsets WHERE topic = 'dwh.f' FOR UPDATE")
    assert scene.step().outcome == "MUTEX"
    planner.conn.execute("COMMIT")
    assert scene.step().outcome == "DONE"


def test_skipped_and_aborted_are_what_the_module_answers(scene: Scene, another: Another) -> None:
    scene.source("dwh.src", 1, 2, 3, 4, 5)
    scene.topic(maxstep=2)
    scene.step()
    # The Module runs outside lineage, so it is busy.
    busy = another()
    begun = busy.begin_module("dwh.f")
    step = scene.step()
    assert step.outcome == "ABORTED"
    assert scene.offset()["state"].startswith("ABORTED")
    assert (scene.offset()["next"], scene.offset()["hostid"]) == (None, "")
    busy.end_module(begun.id, "S")
    # With Next Run Indicator C the next run is skipped, once.
    scene.set_next("C", module=begun.id)
    step = scene.step()
    assert step.outcome == "SKIPPED"
    assert (scene.offset()["next"], scene.offset()["hostid"]) == (None, "")
    assert scene.step().outcome in {"DONE", "SKIPPED"}
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4]


def test_error_is_recorded_everywhere_and_the_block_stays(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    failed = scene.fails()
    assert failed.rows is None
    assert "division by zero" in (failed.detail or "")
    offset = scene.offset()
    assert (offset["state"], offset["attempts"], offset["hostid"]) == ("division by zero", 1, "")
    assert tuple(offset["next"]) == (at(2), 2)
    assert codes(scene) == ["F P R"]
    (error,) = scene.rows("SELECT * FROM omd_lineage.error_log")
    assert (error["topic"], error["module_instance_id"]) == ("dwh.f", failed.id)
    assert error["error_code"] == "22012"
    assert "division by zero" in error["error"]
    (report,) = scene.rows("SELECT * FROM omd_report.lineage_errors")
    assert (report["topic"], report["end_pos"], report["end_id"]) == ("dwh.f", at(2), 2)
    assert not scene.rows("SELECT * FROM omd_lineage.log")
    assert scene.step().outcome == "DONE"
    assert codes(scene) == ["F P P", "S P P"] or codes(scene)[1] == "S P P"
    assert scene.offset()["attempts"] == 0


# All or nothing


def traced(scene: Scene) -> None:
    """A topic of which every part leaves a trace in dwh.trace."""
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute(b"CREATE TABLE dwh.trace (what text, at bigint)")
    scene.view("dwh.v1", "dwh.src", select="t.pos, t.id, 1 AS v")
    scene.view("dwh.v2", "dwh.src", select="t.pos, t.id + 100 AS id, 2 AS v")
    scene.topic(
        before_sql=[f"INSERT INTO dwh.trace VALUES ('before {n}')" for n in "12"],
        transforms=["dwh.v1", "dwh.v2"],
        after_sql=[
            "INSERT INTO dwh.trace SELECT 'after', count(*) FROM dwh.f",
            "UPDATE dwh.f SET v = v + 10",
        ],
    )
    scene.conn.execute(b"GRANT UPDATE ON dwh.f TO omd_runner")


def trace(scene: Scene) -> list[str]:
    return [row["what"] for row in scene.rows("SELECT what FROM dwh.trace ORDER BY ctid")]


def test_before_transforms_and_after_come_in_order(scene: Scene) -> None:
    traced(scene)
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 4)
    assert trace(scene) == ["before 1", "before 2", "after"]
    assert scene.one("SELECT max(at) FROM dwh.trace") == 4
    assert scene.rows("SELECT id, v FROM dwh.f ORDER BY id") == [
        {"id": 1, "v": 11},
        {"id": 2, "v": 11},
        {"id": 101, "v": 12},
        {"id": 102, "v": 12},
    ]
    assert scene.one("SELECT rows FROM omd_lineage.log") == 4


@pytest.mark.parametrize("broken", ["before", "first", "second", "after", "deferred"])
def test_an_error_in_any_part_undoes_all(scene: Scene, broken: str) -> None:
    traced(scene)
    breaks = (
        "SELECT t.pos, t.id, 1 / (t.v - t.v) AS v FROM dwh.src AS t"
        " WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    good = {
        name: scene.one("SELECT pg_get_viewdef(%s::regclass)", f"dwh.{name}")
        for name in ("v1", "v2")
    }
    old = scene.rows("SELECT before_sql, after_sql FROM omd_lineage.topic WHERE topic = 'dwh.f'")[0]
    if broken == "before":
        scene.register("dwh.f", before_sql=[*old["before_sql"], "SELECT 1 / 0"])
    elif broken == "after":
        scene.register("dwh.f", after_sql=[*old["after_sql"], "SELECT 1 / 0"])
    elif broken == "deferred":
        scene.conn.execute(
            b"ALTER TABLE dwh.f ADD CONSTRAINT k UNIQUE (omd_insert_module_instance_id)"
            b" DEFERRABLE INITIALLY DEFERRED"
        )
    else:
        name = "v1" if broken == "first" else "v2"
        if name == "v2":
            breaks = breaks.replace("t.id,", "t.id + 100 AS id,")
        scene.conn.execute(f"CREATE OR REPLACE VIEW dwh.{name} AS {breaks}".encode())
    before = scene.last()
    assert scene.step().outcome == "ERROR"
    assert (scene.ids(), trace(scene), scene.last()) == ([], [], before)
    # After the repair every row is loaded once.
    if broken == "deferred":
        scene.conn.execute(b"ALTER TABLE dwh.f DROP CONSTRAINT k")
    for name, text in good.items():
        scene.conn.execute(f"CREATE OR REPLACE VIEW dwh.{name} AS {text}".encode())
    scene.register("dwh.f", **old)
    assert scene.step().rows == 4
    assert scene.ids() == [1, 2, 101, 102]
    assert trace(scene) == ["before 1", "before 2", "after"]


@pytest.mark.parametrize(
    "statement", ["COMMIT", "ROLLBACK", "SELECT pg_terminate_backend(0) / 0", "", "no sql"]
)
def test_a_statement_that_makes_no_sense_is_an_error_of_the_step(
    scene: Scene, statement: str
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(before_sql=[statement])
    step = scene.step()
    if statement:
        assert step.outcome == "ERROR"
    scene.register("dwh.f", before_sql=[])
    scene.steps()
    assert scene.ids() == [1]


def test_a_transform_that_fits_not_is_told(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.view("dwh.v", "dwh.src", select="t.id, 1 AS nowhere")
    scene.topic(transforms=["dwh.v"])
    step = scene.step()
    assert step.outcome == "ERROR"
    assert "nowhere" in (step.detail or "")
    assert scene.one("SELECT error_code FROM omd_lineage.error_log") == "OM207"
    scene.register("dwh.f", transforms=["dwh.gone"])
    assert "dwh.gone" in (scene.step().detail or "")


def test_a_destination_that_is_gone_is_told(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.conn.execute(b"ALTER TABLE dwh.f RENAME TO away")
    step = scene.step()
    assert step.outcome == "ERROR"
    assert "dwh.f" in (step.detail or "")
    # The retry would have to undo what the first step wrote, but can't find the table.
    retry = scene.step()
    assert (retry.outcome, retry.id) == ("ERROR", None)
    assert "dwh.f" in (retry.detail or "")
    assert (scene.offset()["hostid"], scene.offset()["attempts"]) == ("", 2)
    scene.conn.execute(b"ALTER TABLE dwh.away RENAME TO f")
    assert scene.steps() == [1]


# What is written


def test_rows_are_stamped(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.base(
        "dwh.f", extra=", omd_insert_datetime timestamptz, omd_record_source text, other int"
    )
    scene.topic("dwh.f#tag")
    step = scene.step("dwh.f#tag")
    assert scene.stamps("dwh.f") == {step.id: 2}
    assert scene.one(
        "SELECT bool_and(omd_record_source = 'dwh.f#tag' AND other IS NULL"
        " AND omd_insert_datetime BETWEEN now() - interval '1 minute' AND now()) FROM dwh.f"
    )


def test_columns_are_matched_by_name_not_by_place(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.conn.execute(
        b'CREATE TABLE dwh.f (gone int, "sel""ect" int, n int GENERATED ALWAYS AS IDENTITY,'
        b" omd_insert_module_instance_id bigint, twice bigint GENERATED ALWAYS AS (id * 2) STORED,"
        b" id bigint, d int DEFAULT 7); ALTER TABLE dwh.f DROP COLUMN gone"
    )
    scene.view("dwh.v", "dwh.src", select='t.id, t.v AS "sel""ect"')
    scene.topic(transforms=["dwh.v"])
    step = scene.step()
    assert scene.rows("SELECT * FROM dwh.f") == [
        {
            'sel"ect': 1,
            "n": 1,
            "omd_insert_module_instance_id": step.id,
            "twice": 2,
            "id": 1,
            "d": 7,
        }
    ]


def test_nulls_are_counted_by_column(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 11))
    scene.view("dwh.v", "dwh.src", select="t.pos, t.id, nullif(mod(t.id, 3), 0)::int AS v")
    scene.view("dwh.w", "dwh.src", select="NULL::timestamptz AS pos, t.id + 100 AS id")
    scene.topic(transforms=["dwh.v", "dwh.w"])
    assert scene.step().rows == 18
    # Only the columns that the views return are counted.
    assert scene.one("SELECT nulls FROM omd_lineage.log") == {"v": 3, "pos": 9}


CHECKS = "mod(t.id, 4) > 0 AS check_four, mod(t.id, 5) > 1 AS check_five, NULL::bool AS check_none"


@pytest.mark.parametrize("rows", [9, 12_000])  # a plan that is kept, and one that is not
def test_a_check_of_a_transform_has_its_place_in_the_log(scene: Scene, rows: int) -> None:
    scene.source("dwh.src", *range(1, rows + 2))
    scene.view("dwh.v", "dwh.src", select=f"t.id, {CHECKS}")
    scene.topic(transforms=["dwh.v"])
    assert scene.step().rows == rows
    assert scene.one("SELECT nulls FROM omd_lineage.log") == {
        "check_four": rows // 4, "check_five": rows // 5 + (rows + 4) // 5,
    }  # fmt: skip


def test_a_check_of_a_reload_and_of_two_transforms_is_added(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 9))
    scene.view("dwh.v", "dwh.src", select="t.id, t.id > 3 AS check_small")
    scene.view("dwh.w", "dwh.src", select="t.id + 100 AS id, t.id > 1 AS check_small")
    scene.topic(transforms=["dwh.v", "dwh.w"], processor="RELOAD")
    scene.step()
    assert scene.one("SELECT nulls FROM omd_lineage.log") == {"check_small": 4}


@pytest.mark.parametrize(
    "column",
    ["t.id AS check_id", "t.id > 3 AS checks_id", "t.id > 3 AS check_small, t.id AS check_id"],
)
def test_what_is_no_check_is_missing_in_the_destination(scene: Scene, column: str) -> None:
    scene.source("dwh.src", 1, 2)
    scene.view("dwh.v", "dwh.src", select=f"t.id, {column}")
    scene.topic(transforms=["dwh.v"])
    assert "has no column" in (scene.step().detail or "")


def test_no_nulls_is_an_empty_map(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.step()
    assert scene.one("SELECT nulls FROM omd_lineage.log") == {}


def test_the_log_names_the_process_and_the_transaction_of_the_step(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute(b"CREATE TABLE dwh.seen (xid text)")
    scene.topic(before_sql=["INSERT INTO dwh.seen SELECT pg_current_xact_id()::xid"])
    step = scene.step()
    assert scene.one(
        "SELECT query_id FROM omd_lineage.log WHERE module_instance_id = %s", step.id
    ) == "pid {}, transaction {}".format(
        scene.conn.info.backend_pid, scene.one("SELECT xid FROM dwh.seen")
    )
    # A driver says it, or nothing is known.
    scene.register("dwh.f", engine="SPARK", before_sql=[], transforms=["SELECT 1"])
    for minute, told in ((4, "local-1, tag omd-2"), (5, None)):
        scene.insert(minute)
        scene.probe()
        run = scene.call("omd_lineage.begin_step", topic="dwh.f")
        given = {key: run[key] for key in ("module_instance_id", "plan_number")}
        scene.call("omd_lineage.commit_step", query_id=told, **given)
        assert scene.rows(
            "SELECT query_id FROM omd_lineage.log WHERE module_instance_id = %s",
            run["module_instance_id"],
        ) == [{"query_id": told}]


def test_a_block_whose_rows_are_all_filtered_out_moves_the_offset(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute(
        b"CREATE VIEW dwh.v AS SELECT t.id FROM dwh.src AS t"
        b" WHERE omd_lineage.in_block(t.pos, t.id) AND FALSE"
    )
    scene.topic(transforms=["dwh.v"])
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 0)
    assert scene.last() == (at(2), 2)


# A procedure of the user's own


def test_a_procedure_of_the_user_is_called_with_the_topic(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute(
        b"""CREATE PROCEDURE dwh.load(p_topic text) LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO dwh.f (id, omd_insert_module_instance_id)
            SELECT t.id, current_setting('omd.module_instance_id')::bigint FROM dwh.src AS t
            WHERE (t.pos, t.id) > ((omd_lineage.block_start()).pos, (omd_lineage.block_start()).id)
                AND (t.pos, t.id) <= ((omd_lineage.block_end()).pos, (omd_lineage.block_end()).id)
                AND p_topic = 'dwh.f';
        END $$"""
    )
    scene.topic(processor="dwh.load", transforms=[])
    step = scene.step()
    assert step.outcome == "DONE", step
    assert scene.stamps("dwh.f") == {step.id: 2}
    assert scene.offset()["processor"] == "dwh.load"
    scene.conn.execute(b"DROP PROCEDURE dwh.load")
    scene.insert(4)
    scene.probe()
    assert scene.step().outcome == "ERROR"
    assert scene.ids() == [1, 2]


# RELOAD


def reloaded(scene: Scene, method: str, **attributes: Any) -> None:
    scene.source("dwh.src", *range(1, 4))
    scene.conn.execute(b"CREATE VIEW dwh.v AS SELECT pos, id, v FROM dwh.src")
    if method == "SWAP":  # a role swaps only tables that it owns
        scene.conn.execute(b"GRANT CREATE ON SCHEMA dwh TO omd_runner")
        with scene.role("omd_runner"):
            scene.base("dwh.f")
    else:
        scene.base("dwh.f")
        scene.conn.execute(b"GRANT TRUNCATE ON dwh.f TO omd_runner")
    scene.topic(processor="RELOAD", transforms=["dwh.v"], reload_method=method, **attributes)


NOT_SWAPPED = pytest.mark.no_user_code("a table with a policy is not swapped")


def oid(scene: Scene) -> int:
    return int(scene.one("SELECT 'dwh.f'::regclass::oid"))


@pytest.mark.parametrize("method", ["DELETE", "TRUNCATE", pytest.param("SWAP", marks=NOT_SWAPPED)])
def test_reload_replaces_the_whole_content(scene: Scene, method: str) -> None:
    reloaded(scene, method)
    scene.conn.execute(b"INSERT INTO dwh.f (id) VALUES (-1)")
    before = oid(scene)
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 3)
    assert scene.stamps("dwh.f") == {step.id: 3}
    assert (oid(scene) != before) is (method == "SWAP")
    assert scene.last() == (at(3), 0)
    assert scene.step().outcome == "NOJOBS"
    scene.conn.execute(b"DELETE FROM dwh.src WHERE id = 2")
    scene.insert(4)
    scene.probe()
    assert scene.step().rows == 3
    assert scene.ids() == [1, 3, 4]
    left = scene.rows(
        "SELECT tablename FROM pg_tables"
        " WHERE schemaname = 'dwh' OR tablename LIKE '%%_new_%%' ORDER BY 1"
    )
    assert [row["tablename"] for row in left] == ["f", "src"]


@pytest.mark.parametrize("method", ["DELETE", "TRUNCATE", "SWAP"])
def test_a_reload_that_fails_leaves_the_old_content(scene: Scene, method: str) -> None:
    reloaded(scene, method)
    scene.step()
    scene.insert(4)
    scene.probe()
    scene.fails()
    assert scene.ids() == [1, 2, 3]
    scene.conn.execute(
        b"CREATE OR REPLACE VIEW dwh.v AS SELECT pos, 1 / (id - 4) AS id, v FROM dwh.src"
    )
    assert scene.step().outcome == "ERROR"
    assert scene.ids() == [1, 2, 3]
    scene.conn.execute(b"CREATE OR REPLACE VIEW dwh.v AS SELECT pos, id, v FROM dwh.src")
    assert scene.step().outcome == "DONE"
    assert scene.ids() == [1, 2, 3, 4]


@NOT_SWAPPED
def test_swap_keeps_indexes_constraints_and_comments(scene: Scene) -> None:
    reloaded(scene, "SWAP")
    scene.conn.execute(
        b"ALTER TABLE dwh.f ADD CHECK (v > 0), ALTER v SET DEFAULT 5, ADD PRIMARY KEY (id);"
        b"COMMENT ON COLUMN dwh.f.v IS 'a value'"
    )
    before = oid(scene)
    for minute in (7, 8):
        assert scene.step().outcome == "DONE"
        scene.insert(minute)
        scene.probe()
    assert oid(scene) != before
    assert scene.one("SELECT count(*) FROM pg_index WHERE indrelid = 'dwh.f'::regclass") == 2
    checks = (
        "SELECT count(*) FROM pg_constraint"
        " WHERE conrelid = 'dwh.f'::regclass AND contype IN ('c', 'p')"
    )
    assert scene.one(checks) == 2
    assert scene.one("SELECT col_description('dwh.f'::regclass, 3)") == "a value"


HANGS = {
    "view": "CREATE VIEW dwh.on_f AS SELECT id FROM dwh.f",
    "materialized view": "CREATE MATERIALIZED VIEW dwh.on_f AS SELECT id FROM dwh.f",
    "foreign key": "ALTER TABLE dwh.f ADD PRIMARY KEY (id);"
    "CREATE TABLE dwh.c (id bigint REFERENCES dwh.f)",
    "foreign key out": "CREATE TABLE dwh.p (v int PRIMARY KEY); INSERT INTO dwh.p VALUES (1);"
    "ALTER TABLE dwh.f ADD FOREIGN KEY (v) REFERENCES dwh.p",
    "grant": "GRANT SELECT ON dwh.f TO omd_reader",
    "column grant": "GRANT SELECT (id) ON dwh.f TO omd_reader",
    "trigger": "CREATE FUNCTION dwh.t() RETURNS trigger LANGUAGE plpgsql"
    " AS 'BEGIN RETURN NULL; END';"
    "CREATE TRIGGER t AFTER INSERT ON dwh.f EXECUTE FUNCTION dwh.t()",
    "policy": "ALTER TABLE dwh.f ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON dwh.f USING (TRUE)",
    "rule": "CREATE RULE r AS ON UPDATE TO dwh.f DO ALSO NOTHING",
    "owner": "ALTER TABLE dwh.f OWNER TO omd_owner; GRANT ALL ON dwh.f TO omd_runner",
    "child": "CREATE TABLE dwh.c () INHERITS (dwh.f)",
    "serial": "CREATE SEQUENCE dwh.s; ALTER SEQUENCE dwh.s OWNER TO omd_runner;"
    "ALTER SEQUENCE dwh.s OWNED BY dwh.f.v",
    "row type": "CREATE TABLE dwh.c (f dwh.f)",
    "function": "CREATE FUNCTION dwh.g() RETURNS SETOF dwh.f LANGUAGE sql"
    " BEGIN ATOMIC SELECT * FROM dwh.f; END",
    "statistics": "CREATE STATISTICS dwh.st ON id, v FROM dwh.f",
    "replica identity": "ALTER TABLE dwh.f REPLICA IDENTITY FULL",
    "comment": "COMMENT ON TABLE dwh.f IS 'a fact'",
    "unlogged": "ALTER TABLE dwh.f SET UNLOGGED",
    "storage parameter": "ALTER TABLE dwh.f SET (fillfactor = 50)",
}


@NOT_SWAPPED
@pytest.mark.parametrize("hangs", HANGS)
def test_nothing_that_hangs_on_the_table_is_lost_by_a_swap(scene: Scene, hangs: str) -> None:
    """If the table has anything that must stay, its rows are replaced, not the table."""
    reloaded(scene, "SWAP")
    scene.conn.execute(HANGS[hangs].encode())

    def there() -> dict[str, Any]:
        (row,) = scene.rows(
            """SELECT relkind, relowner, relacl::text, relrowsecurity, relreplident,
                reloptions::text, relpersistence::text,
                obj_description(c.oid, 'pg_class') AS told, relhastriggers, relhasrules,
                relhassubclass,
                (SELECT count(*) FROM pg_depend WHERE refobjid = c.oid AND classid IN (
                    'pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass,
                    'pg_trigger'::regclass)) AS dependents,
                (SELECT count(*) FROM pg_depend AS d INNER JOIN pg_class AS s ON s.oid = d.objid
                    WHERE d.refobjid = c.oid AND s.relkind IN ('S', 'm')) AS sequences,
                (SELECT count(*) FROM pg_statistic_ext WHERE stxrelid = c.oid) AS statistics,
                (SELECT count(*) FROM pg_constraint WHERE c.oid IN (conrelid, confrelid)) AS ties,
                (SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid
                    AND attacl IS NOT NULL) AS columns
            FROM pg_class AS c WHERE oid = 'dwh.f'::regclass"""
        )
        return row

    before = there()
    before.pop("relhastriggers")
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 3), step
    after = there()
    after.pop("relhastriggers")
    assert after == before
    assert scene.ids() == [1, 2, 3]


@pytest.mark.parametrize("method", ["DELETE", "TRUNCATE", "SWAP"])
def test_readers_see_the_old_or_the_new_content_never_none(
    scene: Scene, another: Another, background: Background, method: str
) -> None:
    reloaded(scene, method, repeat=timedelta(0))
    scene.conn.execute(
        b"INSERT INTO dwh.src"
        b" SELECT pos, id + 100 * n, v FROM dwh.src, generate_series(1, 500) AS n"
    )
    scene.step()
    whole = len(scene.ids())
    stop = threading.Event()
    reader = another()

    def read() -> Counter[int]:
        seen: Counter[int] = Counter()
        while not stop.is_set():
            try:
                (row,) = reader.rows("SELECT count(*) AS n FROM dwh.f")
                seen[row["n"]] += 1
            except psycopg.errors.UndefinedTable:
                seen[-1] += 1
        return seen

    call = background(read)
    try:
        for n in range(1, 31):
            scene.insert(10 + n)
            scene.probe()
            assert scene.step().outcome == "DONE"
    finally:
        stop.set()
    seen = call.result(timeout=30)
    assert sum(seen.values()) > 5
    assert min(seen) >= whole, seen


def test_a_reload_waits_for_runs_that_have_not_succeeded(scene: Scene, another: Another) -> None:
    reloaded(scene, "TRUNCATE")
    writer = another()
    writer.conn.execute("BEGIN")
    writer.insert(2.5)
    assert scene.step().outcome == "NOJOBS"
    writer.conn.execute("COMMIT")
    assert scene.step().rows == 4


# Many at once


def test_called_twice_it_does_its_work_once(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    assert scene.step().outcome == "DONE"
    assert scene.step().outcome == "NOJOBS"
    assert scene.ids() == [1, 2]


def test_of_16_at_once_exactly_one_does_it(
    scene: Scene, another: Another, background: Background
) -> None:
    scene.source("dwh.src", *range(1, 200))
    scene.topic(maxstep=10)
    together = threading.Barrier(16)

    def work(session: Scene) -> list[str]:
        outcomes = []
        for _ in range(10):
            together.wait(timeout=60)
            outcomes.append(session.step().outcome)
        return outcomes

    calls = [background(work, another()) for _ in range(16)]
    rounds = list(zip(*(call.result(timeout=60) for call in calls), strict=True))
    for outcomes in rounds:
        assert set(outcomes) <= {"DONE", "MUTEX", "ABORTED", "NOJOBS"}, outcomes
        assert "DONE" in outcomes or "NOJOBS" in outcomes
        assert "ABORTED" not in outcomes
    scene.steps()
    assert scene.ids() == list(range(1, 199))
    assert gaps(scene) == []


def test_topics_do_not_wait_for_one_another(scene: Scene, held: Any) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.topic("dwh.g")
    step = held()
    assert scene.step("dwh.g").outcome == "DONE"
    assert step.go().outcome == "DONE"


# Deaths


def test_a_session_that_is_killed_leaves_nothing_and_the_next_takes_the_block(
    scene: Scene, held: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    planned = tuple(scene.offset()["next"])
    scene.insert(4, 5)
    scene.probe()
    scene.conn.execute(
        "SELECT pg_terminate_backend(%s, 10000)", [step.session.conn.info.backend_pid]
    )
    with pytest.raises(psycopg.OperationalError):
        step.go()
    assert scene.ids() == []
    scene.long_ago(run=HOUR)
    assert scene.reason() == (True, "RETRY")
    assert tuple(scene.offset()["next"]) == planned
    assert scene.step().rows == 2
    assert scene.steps() == [2]
    assert scene.ids() == [1, 2, 3, 4]
    assert codes(scene)[0][0] == "F"


def test_a_step_that_is_cancelled_says_so_after_it_is_recorded(scene: Scene, held: Any) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    step.session.conn.cancel()
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        step.go()
    assert caught.value.sqlstate == "57014"
    assert codes(scene) == ["F P R"]
    assert scene.offset()["hostid"] == ""
    assert scene.offset()["state"]
    assert scene.one("SELECT error_code FROM omd_lineage.error_log") == "57014"
    scene.waits(seconds=10)
    assert scene.reason() == (True, "RETRY")
    # The session goes on.
    assert step.session.step().rows == 2


@pytest.mark.parametrize("how", ["UPDATE", "release"])
def test_a_holder_who_is_thrown_out_can_not_commit(
    scene: Scene, another: Another, held: Any, how: str
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    planned = tuple(scene.offset()["next"])
    admin = another(role="omd_admin")
    if how == "UPDATE":
        admin.conn.execute("UPDATE omd_lineage.offsets SET hostid = '' WHERE topic = 'dwh.f'")
    else:
        admin.call("omd_lineage.release", topic="dwh.f")
    scene.long_ago(run=HOUR)
    assert scene.reason() == (True, "RETRY")
    scene.insert(4, 5)
    scene.probe()
    assert scene.step().outcome == "DONE"
    assert scene.last() == planned
    late = step.go()
    assert late.outcome == "ERROR"
    assert scene.ids() == [1, 2]
    assert scene.last() == planned
    assert scene.steps() == [2]
    assert scene.ids() == [1, 2, 3, 4]
    assert gaps(scene) == []
    assert scene.one("SELECT count(*) FROM omd_lineage.log") == 2


def test_a_holder_who_is_thrown_out_while_nobody_else_comes_can_not_commit_either(
    scene: Scene, held: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    scene.call("omd_lineage.release", topic="dwh.f")
    late = step.go()
    assert (late.outcome, scene.ids()) == ("ERROR", [])
    assert scene.one("SELECT error_code FROM omd_lineage.error_log") == "OM108"
    assert scene.step().rows == 2
    assert scene.ids() == [1, 2]


def test_the_fence_is_what_keeps_him_out(scene: Scene, held: Any, replaced: Any) -> None:
    replaced("omd_lineage._advance_offset", "o.hostid <> ''", "TRUE")
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = held()
    scene.call("omd_lineage.release", topic="dwh.f")
    assert step.go().outcome == "DONE"


def test_the_error_of_a_holder_who_was_thrown_out_leaves_his_heir_alone(
    scene: Scene, another: Another
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    first = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="a")
    scene.call("omd_lineage.release", topic="dwh.f")
    second = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="b")
    assert second["outcome"] == "RUN"
    scene.call(
        "omd_lineage.fail_step",
        module_instance_id=first["module_instance_id"],
        event_detail="too late",
    )
    assert (scene.offset()["hostid"], scene.offset()["state"]) == ("b", "RUNNING")
    scene.call(
        "omd_lineage.commit_step",
        module_instance_id=second["module_instance_id"],
        plan_number=second["plan_number"],
        rows_inserted=2,
    )
    assert scene.offset()["state"] == "DONE"


def test_a_holder_who_was_thrown_out_may_fail_just_as_his_heir_comes(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    former, heir = another(), another()
    first = former.call("omd_lineage.begin_step", topic="dwh.f", hostid="a")
    scene.call("omd_lineage.release", topic="dwh.f")
    former.conn.execute("BEGIN")
    former.call("module_failure", module_instance_id=first["module_instance_id"])
    call = background(heir.call, "omd_lineage.begin_step", topic="dwh.f", hostid="b")
    until_settled(heir, call)
    former.conn.execute("COMMIT")
    assert call.result(timeout=20)["outcome"] == "RUN"


# By hand


def test_set_offset_takes_a_topic_back_or_forward(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 7))
    scene.topic(advance_when_quiet=False)
    scene.steps()
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(3), id=3)
    assert scene.steps() == [2]
    assert gaps(scene) == [("dwh.f", "OVERLAP")]
    scene.insert(7, 8, 9, 10)
    scene.probe()
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(8), id=8)
    assert scene.steps() == [1]
    assert sorted(gaps(scene)) == [("dwh.f", "GAP"), ("dwh.f", "OVERLAP")]
    assert scene.ids() == [1, 2, 3, 4, 4, 5, 5, 9]


def test_a_start_that_is_given_while_a_block_is_planned_is_not_passed_over(scene: Scene) -> None:
    """It is refused, as set_offset is, or kept; no row before it is taken, none after is lost."""
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=3)
    scene.fails()
    try:
        scene.register("dwh.f", start_pos=at(6), start_id=6)
    except psycopg.Error as error:
        checked(error, "OM208")
        return
    scene.steps()
    assert scene.ids() == [7, 8]


def test_set_offset_is_refused_while_a_block_is_planned(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.fails()
    scene.refused("OM208", "omd_lineage.set_offset", topic="dwh.f", pos=at(1))
    scene.refused("OM005", "omd_lineage.set_offset", topic="dwh.f", pos=None)
    scene.refused("OM005", "omd_lineage.set_offset", topic="dwh.f", pos=at(1), id=None)


def test_an_administrator_may_change_last_and_forget_the_plan(
    scene: Scene, another: Another
) -> None:
    scene.source("dwh.src", *range(1, 6))
    scene.topic()
    scene.fails()
    admin = another(role="omd_admin")
    admin.conn.execute(
        "UPDATE omd_lineage.offsets SET next = NULL, attempts = 0, last = ROW(%s, 2)"
        " WHERE topic = 'dwh.f'",
        [at(2)],
    )
    scene.steps()
    assert scene.ids() == [3, 4]


def test_last_and_next_are_both_whole_or_null(scene: Scene) -> None:
    scene.source("dwh.src", 1)
    for value in ("ROW(now(), NULL)", "ROW(NULL, 1)"):
        for column in ("last", "next"):
            with pytest.raises(psycopg.errors.CheckViolation):
                scene.conn.execute(f"UPDATE omd_lineage.offsets SET {column} = {value}".encode())


def test_an_administrator_s_r_on_a_step_that_succeeded_takes_its_rows_back_once(
    scene: Scene,
) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic(maxstep=2)
    steps = [scene.step() for _ in range(3)]
    scene.set_next("R", module=steps[1].id)
    assert scene.reason() == (True, "ROLLBACK")
    again = scene.step()
    assert (again.outcome, again.rows) == ("DONE", 2)
    assert scene.last() == (at(4), 4)
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4, 5, 6]
    assert not set(scene.stamps("dwh.f")) & {steps[1].id, steps[2].id}
    assert gaps(scene) == []


def test_r_on_the_last_step_after_a_quiet_advance(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 6))
    scene.topic(maxstep=2)
    scene.steps()
    last = max(scene.stamps("dwh.f"))
    scene.set_next("R", module=last)
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4]
    assert last not in scene.stamps("dwh.f")


def test_r_on_a_step_while_a_later_block_waits_for_its_retry(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic(maxstep=2)
    first = scene.step()
    scene.step()
    scene.fails()
    scene.set_next("R", module=first.id)
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4, 5, 6]
    assert gaps(scene) == []


# Chains


def test_a_fact_may_be_the_base_of_another(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 11))
    scene.topic("dwh.f", "dwh.src", maxstep=3)
    scene.topic("dwh.g", "dwh.f", maxstep=4)
    scene.topic("dwh.h", "dwh.g", "dwh.f", maxstep=2)
    for _ in range(12):
        for topic in ("dwh.h", "dwh.g", "dwh.f"):
            assert scene.step(topic).outcome in {"DONE", "NOJOBS"}
    for topic in ("dwh.f", "dwh.g", "dwh.h"):
        assert scene.ids(topic) == list(range(1, 10))
        assert scene.last(topic) == (at(10), 0)


def test_the_base_of_another_is_not_read_while_its_step_is_at_work(scene: Scene, held: Any) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic("dwh.f", maxstep=2)
    scene.topic("dwh.g", "dwh.f")
    scene.step()
    step = held()
    assert scene.step("dwh.g").outcome in {"DONE", "NOJOBS"}
    assert set(scene.ids("dwh.g")) <= {1, 2}
    step.go()
    for _ in range(4):
        scene.step("dwh.f")
        scene.step("dwh.g")
    assert scene.ids("dwh.g") == [1, 2, 3, 4, 5, 6]


def test_the_base_of_another_whose_step_failed_loses_nothing(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic("dwh.f", maxstep=2)
    scene.topic("dwh.g", "dwh.f")
    scene.step("dwh.f")
    scene.fails("dwh.f")
    scene.step("dwh.g")
    for _ in range(4):
        scene.step("dwh.f")
        scene.step("dwh.g")
    assert scene.ids("dwh.g") == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("behind", [False, True], ids=["g has read it", "g is behind"])
def test_rows_taken_back_upstream_come_once_downstream(scene: Scene, behind: bool) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic("dwh.f", maxstep=2)
    scene.topic("dwh.g", "dwh.f", maxstep=3)
    steps = [scene.step("dwh.f") for _ in range(3)]
    if not behind:
        scene.steps("dwh.g")
    scene.set_next("R", module=steps[1].id)
    for _ in range(8):
        scene.step("dwh.g")
        scene.step("dwh.f")
    assert scene.ids("dwh.f") == list(range(1, 9))
    assert scene.ids("dwh.g") == list(range(1, 9))


def test_tags_load_one_table_side_by_side(scene: Scene, held: Any) -> None:
    """A rollback of one topic does not touch the rows of the other."""
    scene.source("dwh.src", *range(1, 6))
    scene.source("dwh.other", 101, 102, 103)
    scene.topic("dwh.f#a", "dwh.src")
    scene.topic("dwh.f#b", "dwh.other")
    assert scene.step("dwh.f#b").rows == 2
    scene.fails("dwh.f#a")
    assert scene.step("dwh.f#a").rows == 4
    assert scene.ids() == [1, 2, 3, 4, 101, 102]


# Steps of a driver


def begin(scene: Scene, **arguments: Any) -> dict[str, Any]:
    return scene.call("omd_lineage.begin_step", topic="dwh.f", **arguments)


def commit(scene: Scene, run: dict[str, Any], **arguments: Any) -> None:
    scene.call(
        "omd_lineage.commit_step",
        module_instance_id=run["module_instance_id"],
        plan_number=run["plan_number"],
        **arguments,
    )


def test_a_driver_begins_and_commits(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = begin(scene, hostid="host a", lease=HOUR, execution_context={"a": 1})
    assert (run["outcome"], run["processing_indicator"]) == ("RUN", "P")
    assert (run["end_pos"], run["end_id"]) == (at(2), 2)
    commit(scene, run, rows_inserted=7, nulls={"v": 2})
    commit(scene, run, rows_inserted=7, nulls={"v": 2})  # the answer was lost
    (row,) = scene.rows("SELECT rows, nulls FROM omd_lineage.log")
    assert row == {"rows": 7, "nulls": {"v": 2}}
    assert codes(scene) == ["S P P"]
    assert scene.last() == (at(2), 2)


def test_a_commit_with_another_number_is_fenced(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = begin(scene)
    id = run["module_instance_id"]
    for number in (run["plan_number"] + 1, run["plan_number"] - 1):
        scene.refused("OM108", "omd_lineage.commit_step", module_instance_id=id, plan_number=number)
    scene.refused("OM004", "omd_lineage.commit_step", module_instance_id=999, plan_number=1)
    commit(scene, run)


def test_the_end_of_a_step_that_names_none_is_refused(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = begin(scene)
    id, number = run["module_instance_id"], run["plan_number"]
    commits, fails = "omd_lineage.commit_step", "omd_lineage.fail_step"
    for given in ({"module_instance_id": id, "plan_number": None},
                  {"module_instance_id": None, "plan_number": number}):  # fmt: skip
        detail = scene.refused("OM005", commits, **given)
        assert given[detail["argument"].removeprefix("p_")] is None
    given = {"module_instance_id": id, "plan_number": number}
    assert scene.refused("OM013", commits, **given, nulls=Jsonb([1]))["argument"] == "p_nulls"
    scene.refused("OM005", fails, module_instance_id=None)
    scene.refused("OM004", fails, module_instance_id=999)
    assert scene.codes(module=id) == "E P P"
    commit(scene, run)


def test_offset_and_success_of_a_driver_are_one(scene: Scene) -> None:
    """Somebody else has ended the instance, so the offset stays."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = begin(scene)
    before = scene.last()
    scene.call("module_failure", module_instance_id=run["module_instance_id"])
    with pytest.raises(psycopg.Error) as caught:
        commit(scene, run)
    assert caught.value.sqlstate in {"OM101", "OM102", "OM108"}
    assert scene.last() == before
    assert not scene.rows("SELECT * FROM omd_lineage.log")


def test_each_engine_has_its_own_way(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.refused("OM208", "omd_lineage.begin_step", topic="dwh.f")
    scene.topic("dwh.g", engine="SPARK", transforms=["SELECT 1"])
    scene.refused("OM208", "omd_lineage.step", topic="dwh.g")


def test_a_step_in_a_transaction_block_is_refused_before_anything_is_claimed(
    scene: Scene, another: Another
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    before = scene.offset()
    inside = another()
    inside.conn.execute("BEGIN")
    detail = inside.refused("OM018", "omd_lineage.step", topic="dwh.f")
    assert detail == {"routine": "omd_lineage.step"}
    inside.conn.execute("ROLLBACK")
    inside.conn.execute(
        b"CREATE PROCEDURE dwh.night() LANGUAGE plpgsql SET search_path = pg_catalog AS"
        b" $$ BEGIN EXECUTE 'CALL omd_lineage.step(''dwh.f'')'; END $$"
    )
    with pytest.raises(psycopg.Error) as caught:
        inside.conn.execute("CALL dwh.night()")
    assert caught.value.sqlstate == "OM018"
    assert scene.offset() == before
    assert codes(scene) == []
    assert inside.step().outcome == "DONE"


@pytest.mark.parametrize("path", ["", "pg_temp, dwh"])
def test_a_step_trusts_no_search_path(scene: Scene, path: str) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    for table in ("topic", "offsets", "log", "module"):
        scene.conn.execute(f"CREATE TEMP TABLE {table} (x int)".encode())
    scene.conn.execute("SELECT set_config('search_path', %s, FALSE)", [path])
    assert scene.steps() == [2]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_step_in_another_isolation_level_is_refused(scene: Scene, level: str) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.conn.execute(f"SET default_transaction_isolation = '{level}'".encode())
    scene.refused("OM014", "omd_lineage.step", topic="dwh.f")
