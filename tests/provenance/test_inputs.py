"""What Modules declare, what the catalogue knows of their SQL, and what runs record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]

SCENE = """
    CREATE TABLE dwh.a (n int, omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.b (n int, omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.t (n int UNIQUE, omd_insert_module_instance_id bigint);
    CREATE VIEW dwh.v AS SELECT * FROM dwh.a;
    CREATE FUNCTION dwh.known() RETURNS bigint LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT count(*) FROM dwh.b; END;
    CREATE FUNCTION dwh.dark() RETURNS bigint LANGUAGE plpgsql STABLE
    AS $$ BEGIN RETURN (SELECT count(*) FROM dwh.b); END $$;
    CREATE FUNCTION dwh.fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
    CREATE TABLE dwh.fired (n int, omd_insert_module_instance_id bigint);
    CREATE TRIGGER fire BEFORE INSERT ON dwh.fired FOR EACH ROW EXECUTE FUNCTION dwh.fire();
    CREATE TABLE dwh.part (n int, omd_insert_module_instance_id bigint) PARTITION BY LIST (n);
    CREATE TABLE dwh.part_1 PARTITION OF dwh.part DEFAULT;
"""
ME = "current_setting('omd.module_instance_id')::bigint"

# A trigger of ours on the target of a statement may read what nobody knows.
NO_TRIGGER = pytest.mark.no_user_code("a trigger of the target may read what nobody knows")


@pytest.fixture
def scene(conn: Connection) -> Connection:
    conn.execute(SCENE)
    return conn


def module(conn: Connection, code: str, sql: str | None, table: str = "dwh.t") -> None:
    conn.execute("CALL omd.register_module(%s, 'HSTG', %s, p_executable => %s)", (code, table, sql))


def run(conn: Connection, code: str, sql: str | None = None) -> int:
    row = conn.execute("CALL omd.run_module(%s, NULL, %s)", (code, sql)).fetchone()
    assert row is not None
    assert row["p_execution_status_code"] == "S", row
    return int(row["p_module_instance_id"])


def reads(conn: Connection, instance: int) -> set[str]:
    rows = conn.execute(
        "SELECT table_code FROM omd_report.run_inputs WHERE module_instance_id = %s", (instance,)
    )
    return {row["table_code"] for row in rows}


def unknown(conn: Connection) -> dict[str, str]:
    rows = conn.execute("SELECT * FROM omd_report.readiness WHERE problem_code = 'INPUTS_UNKNOWN'")
    return {row["module_code"]: row["command"] for row in rows}


STATEMENTS = {
    f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.a": {"dwh.a"},
    f"INSERT INTO dwh.t SELECT v.n, {ME} FROM dwh.v JOIN dwh.part_1 AS p USING (n);": {
        "dwh.a",
        "dwh.part",
    },
    f"INSERT INTO dwh.t VALUES (1, {ME}) -- it reads nothing": set(),
    f"WITH x AS (DELETE FROM dwh.b RETURNING n) INSERT INTO dwh.t SELECT n, {ME} FROM x": {"dwh.b"},
    f"INSERT INTO dwh.t SELECT dwh.known(), {ME}": {"dwh.b"},
    f"INSERT INTO dwh.t AS o SELECT n, {ME} FROM dwh.a ON CONFLICT (n) DO UPDATE SET n = o.n": {
        "dwh.a",
        "dwh.t",
    },
    "UPDATE dwh.t SET n = n + 1": {"dwh.t"},
}
UNKNOWN = {
    f"INSERT INTO dwh.t SELECT dwh.dark(), {ME} FROM dwh.a": "ARRAY['dwh.a']",
    f"INSERT INTO dwh.fired SELECT n, {ME} FROM dwh.a": "ARRAY['dwh.a']",
    "DO $$ BEGIN PERFORM 1; END $$": "ARRAY['…']",
    f"DELETE FROM dwh.t; INSERT INTO dwh.t SELECT n, {ME} FROM dwh.a": "ARRAY['…']",
    "SELECT 1; END; DROP TABLE dwh.a": "ARRAY['…']",
}


@pytest.mark.parametrize("sql", STATEMENTS)
@NO_TRIGGER
def test_the_catalogue_knows_what_one_plain_statement_reads(scene: Connection, sql: str) -> None:
    module(scene, "m", sql)
    assert reads(scene, run(scene, "m")) == STATEMENTS[sql]
    assert unknown(scene) == {}
    assert scene.execute("SELECT * FROM omd_report.unknown_runs").fetchall() == []


@pytest.mark.parametrize("sql", UNKNOWN)
def test_what_it_does_not_know_is_unknown_until_it_is_declared(scene: Connection, sql: str) -> None:
    module(scene, "m", sql, "dwh.fired" if "dwh.fired" in sql else "dwh.t")
    scene.execute("SET omd.maintenance = 'omd.look_at_inputs'")
    scene.execute("SELECT omd.look_at_inputs()")
    assert unknown(scene) == {"m": f"CALL omd.declare_inputs('m', {UNKNOWN[sql]});"}
    assert scene.execute("SELECT to_regclass('dwh.a') AS r").fetchone() == {"r": "dwh.a"}
    if "END; DROP" in sql:
        return
    first = run(scene, "m")
    (row,) = scene.execute("SELECT * FROM omd_report.unknown_runs").fetchall()
    assert row["module_instance_id"] == first
    # What nobody could look up has no sources, and is no error.
    assert scene.execute("SELECT * FROM omd_provenance.sources_of(%s)", (first,)).fetchall() == []
    (row,) = scene.execute("SELECT * FROM omd_provenance.trace(%s, 'UP')", (first,)).fetchall()
    assert row["direction"] == "SELF"
    scene.execute("CALL omd.declare_inputs('m', '{dwh.v}')")
    assert unknown(scene) == {}
    assert reads(scene, run(scene, "m")) == {"dwh.a"}
    # The declaration is not for runs of before it.
    assert reads(scene, first) == set()


def test_a_former_declaration_counts_for_the_runs_under_it(scene: Connection) -> None:
    module(scene, "m", None)

    def play() -> int:
        row = scene.execute("CALL omd.begin_module('m')").fetchone()
        assert row is not None
        scene.execute("CALL omd.module_success(%s)", (row["p_module_instance_id"],))
        return int(row["p_module_instance_id"])

    assert unknown(scene) == {}  # its first run may record what it reads
    silent = play()
    assert unknown(scene) == {"m": "CALL omd.declare_inputs('m', ARRAY['…']);"}
    scene.execute("CALL omd.declare_inputs('m', '{dwh.a}')")
    assert unknown(scene) == {}
    first = play()
    row = scene.execute("CALL omd.begin_module('m')").fetchone()
    assert row is not None
    between = row["p_module_instance_id"]
    scene.execute("CALL omd.declare_inputs('m', '{dwh.b}')")
    scene.execute("CALL omd.module_success(%s)", (between,))
    second = play()
    scene.execute("CALL omd.declare_inputs('m', '{}')")
    third = play()
    assert [reads(scene, r) for r in (first, between, second, third)] == [
        {"dwh.a"},
        {"dwh.a", "dwh.b"},
        {"dwh.b"},
        set(),
    ]
    assert unknown(scene) == {}
    assert reads(scene, silent) == set()


@NO_TRIGGER
def test_a_view_that_changes_counts_with_its_former_tables(scene: Connection) -> None:
    module(scene, "m", f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.v")
    assert reads(scene, run(scene, "m")) == {"dwh.a"}
    scene.execute("CREATE OR REPLACE VIEW dwh.v AS SELECT * FROM dwh.b")
    between = run(scene, "m")
    scene.execute(
        "SET ROLE omd_owner; UPDATE omd.module_declaration SET looked_datetime = '-infinity'"
    )
    scene.execute("RESET ROLE")
    scene.execute("SET omd.maintenance = 'omd.look_at_inputs'")
    scene.execute("SELECT omd.look_at_inputs()")
    assert reads(scene, between) == {"dwh.a", "dwh.b"}
    assert reads(scene, run(scene, "m")) == {"dwh.b"}


@NO_TRIGGER
def test_other_sql_than_that_of_the_module_is_looked_up_for_the_run(scene: Connection) -> None:
    module(scene, "m", f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.a")
    module(scene, "spark", None)
    assert reads(scene, run(scene, "spark", f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.b")) == {
        "dwh.b"
    }
    other = run(scene, "m", f"INSERT INTO dwh.t SELECT dwh.dark(), {ME}")
    (row,) = scene.execute("SELECT * FROM omd_report.unknown_runs").fetchall()
    assert row["module_instance_id"] == other


def test_a_run_records_what_it_reads(scene: Connection) -> None:
    module(
        scene,
        "m",
        "DO $$ BEGIN CALL omd.record_input('dwh.v'); CALL omd.record_input('dwh.b',"
        " p_source_instances => '{7}'); CALL omd.record_input('dwh.b', p_source_instances =>"
        " '{5,7}'); END $$",
    )
    instance = run(scene, "m")
    rows = scene.execute("SELECT * FROM omd_report.run_inputs ORDER BY table_code").fetchall()
    assert [(r["table_code"], r["read_kind"], r["source_instances"]) for r in rows] == [
        ("dwh.a", "ALL", None),
        ("dwh.b", "RUNS", [5, 7]),
    ]
    for arguments, state in (
        ((None, instance, None), "OM005"),
        (("dwh.a", None, None), "OM005"),
        (("dwh.a", instance, None), "OM101"),
        (("dwh.a", 99, None), "OM004"),
        (("dwh.a.", instance, None), "OM013"),
        (("dwh.a", instance, [None]), "OM013"),
        (("dwh.a", instance, [[7, None]]), "OM013"),
    ):
        with pytest.raises(psycopg.Error) as error:
            scene.execute("CALL omd.record_input(%s, %s, %s::bigint[])", arguments)
        assert error.value.sqlstate == state, arguments


def test_what_is_not_there_can_not_be_declared(scene: Connection) -> None:
    module(scene, "m", None)
    for tables in (["dwh.nothing"], ["dwh.a", None], ["a b c."], ["dwh.'; DROP"]):
        with pytest.raises(psycopg.Error) as error:
            scene.execute("CALL omd.declare_inputs('m', %s::text[])", (tables,))
        assert error.value.sqlstate == "OM293"
    for arguments, state in ((("x", []), "OM002"), (("m", None), "OM005"), ((None, []), "OM005")):
        with pytest.raises(psycopg.Error) as error:
            scene.execute("CALL omd.declare_inputs(%s, %s::text[])", arguments)
        assert error.value.sqlstate == state


@NO_TRIGGER
def test_a_partition_is_read_through_its_parent(scene: Connection) -> None:
    module(scene, "w", f"INSERT INTO dwh.part_1 VALUES (1, {ME})", "dwh.part_1")
    module(scene, "m", f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.part", "dwh.t")
    written, reader = run(scene, "w"), run(scene, "m")
    (row,) = scene.execute("SELECT * FROM omd_provenance.readers_of(%s)", (written,)).fetchall()
    assert list(row.values()) == [1, reader, "m", "SQL", "dwh.part", written, False, True]
    (row,) = scene.execute("SELECT * FROM omd_provenance.sources_of(%s)", (reader,)).fetchall()
    assert list(row.values()) == [1, written, "w", "SQL", "dwh.part", reader, False, True]
    for function in ("readers_of", "sources_of"):
        for argument, state in ((None, "OM005"), (99, "OM004")):
            with pytest.raises(psycopg.Error) as error:
                scene.execute(f"SELECT * FROM omd_provenance.{function}(%s)".encode(), (argument,))
            assert error.value.sqlstate == state


@NO_TRIGGER
def test_a_reader_asks_without_rights_on_tables(
    scene: Connection, connect: Callable[..., Connection]
) -> None:
    module(scene, "w", f"INSERT INTO dwh.a VALUES (1, {ME})", "dwh.a")
    module(scene, "m", f"INSERT INTO dwh.t SELECT n, {ME} FROM dwh.a")
    written, reader = run(scene, "w"), run(scene, "m")
    other = connect(role="omd_reader")
    rows = other.execute("SELECT * FROM omd_provenance.readers_of(%s, TRUE)", (written,)).fetchall()
    assert [row["module_instance_id"] for row in rows] == [reader]
    assert other.execute("SELECT * FROM omd_report.stale_runs").fetchall() == []
    assert len(other.execute("SELECT * FROM omd_report.run_inputs").fetchall()) == 1


def test_a_table_that_a_module_will_make_may_be_declared_before_it_is_there(
    scene: Connection,
) -> None:
    module(scene, "m_later", None, table="dwh.later")
    module(scene, "m_reader", None)
    scene.execute("CALL omd.declare_inputs('m_reader', ARRAY['dwh.Later', 'dwh.v'])")
    listed = scene.execute(
        "SELECT table_code, read_kind FROM omd_report.module_inputs"
        " WHERE module_code = 'm_reader' ORDER BY table_code"
    ).fetchall()
    assert [tuple(row.values()) for row in listed] == [("dwh.a", "ALL"), ("dwh.later", "ALL")]
    scene.execute("CALL omd.declare_inputs('m_reader', '{}')")
    assert scene.execute("SELECT FROM omd_report.module_inputs").rowcount == 0


def test_who_recorded_a_run_is_found_without_a_look_at_all_records(scene: Connection) -> None:
    """The planner expects one record in 200 to name a run; hardly one does."""
    module(scene, "m", "SELECT 1")
    done = run(scene, "m")
    with scene.transaction():
        scene.execute("SET LOCAL session_replication_role = replica")
        scene.execute(
            "INSERT INTO omd.run_input (module_instance_id, table_code, source_instances)"
            " SELECT n, 'dwh.a', ARRAY[n - 1] FROM generate_series(1000, 20000) AS n"
        )
    scene.execute("ANALYZE omd.run_input")
    scene.execute("SELECT pg_stat_force_next_flush()")  # what is not told yet would count too
    with scene.transaction():
        scene.execute("SELECT * FROM omd_provenance._readers_of_run(%s, FALSE)", (done,))
        row = scene.execute(
            "SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables"
            " WHERE relid = 'omd.run_input'::regclass"
        ).fetchone()
    assert row is not None
    assert row["seq_scan"] == 0
    assert row["idx_scan"] > 0
