"""Texts of errors hold values of rows: omd_reader, and so the server's monitoring, sees none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Another = Callable[..., Flow]

SECRET = "Jane Roe 4711"
# What is registered is control data, so it does not name the value.
VALUE = "current_setting('test.value')"
FAILING = {
    "m_check": f"INSERT INTO dwh.person SELECT {VALUE}, -1",
    "m_double": f"INSERT INTO dwh.person SELECT {VALUE}, 5 FROM generate_series(1, 2)",
    "m_cast": f"SELECT {VALUE}::integer",
    "m_raise": f"DO $$ BEGIN RAISE 'no person %', {VALUE} USING DETAIL = {VALUE}; END $$",
    "m_word": f"DO $$ BEGIN RAISE '%', {VALUE} USING ERRCODE = 'ABCDE'; END $$",
    "m_ours": f"DO $$ BEGIN RAISE '%', {VALUE} USING ERRCODE = 'OM283'; END $$",
    "m_value": f"DO $$ BEGIN RAISE '%', {VALUE} USING ERRCODE = 'OM061'; END $$",
    "m_function": f"SELECT dwh.strict({VALUE})",
}

REFERENCE = """
    CREATE TABLE dwh.link (name text REFERENCES dwh.hub);
    INSERT INTO dwh.link SELECT name FROM dwh.hub
"""
TRIGGER = """
    CREATE FUNCTION dwh.keep() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE E'kept:\n%', old.name; END $$;
    CREATE TRIGGER keep BEFORE DELETE ON dwh.hub FOR EACH ROW EXECUTE FUNCTION dwh.keep()
"""
CAST = "error 22P02: a text can not be read as the type that it should have"
HINDRANCES = [
    (REFERENCE, "Module hub failed: error OM112"),
    (TRIGGER, "Module hub failed: error P0001"),
]


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.person (name text, age integer CONSTRAINT ck_age CHECK (age > 0),"
        " CONSTRAINT uq_person UNIQUE (name), omd_insert_module_instance_id bigint);"
        "CREATE FUNCTION dwh.strict(p_name text) RETURNS integer LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN p_name::integer; END $$"
    )
    flow.conn.execute("SELECT set_config('test.value', %s, false)", [SECRET])
    flow.batch("b")
    for code, executable in FAILING.items():
        flow.module(code, executable=executable, table_code="dwh.person")
        flow.call("run_module", module_code=code)
    for told in (None, "psycopg.errors.NotNullViolation", "ValueError"):
        run = flow.call("begin_module", module_code="m_cast")["module_instance_id"]
        flow.call(
            "module_failure",
            module_instance_id=run,
            event_detail=f"Failing row contains ({SECRET}).",
            event_return_code_details=told,
        )


@pytest.mark.parametrize("role", ["omd_reader", "omd_admin"])
def test_who_reads_no_rows_sees_no_value_of_one(another: Another, role: str) -> None:
    told = readable(another(role=role), role)
    assert [line[:400] for line in told.splitlines() if SECRET in line] == []


def test_who_reads_rows_sees_the_whole_text(another: Another) -> None:
    runner = another(role="omd_runner")
    texts = runner.one("SELECT string_agg(event_detail, '|') FROM omd_report.failures")
    assert texts.count(SECRET) >= len(FAILING) + 3
    assert "division" not in texts


def test_what_everybody_sees_says_what_kind_of_error_it_was(another: Another) -> None:
    reader = another(role="omd_reader")
    rows = reader.rows("SELECT code, event_detail FROM omd_report.failures ORDER BY event_id")
    told: dict[str, Any] = {}
    for row in rows:
        first, line = row["event_detail"].splitlines()
        assert line == "The role omd_data_reader shows the whole text."
        told.setdefault(row["code"], first)
    assert told == {
        "m_check": "error 23514: a row violates a check (constraint ck_age, table person)",
        "m_double": "error 23505: two rows have the same unique key (constraint uq_person)",
        "m_cast": CAST,
        "m_raise": "error P0001: a routine raised an error of its own",
        "m_word": "error ABCDE",
        "m_ours": told["m_ours"],
        "m_value": told["m_value"],
        "m_function": CAST,
    }
    assert told["m_ours"].startswith("error OM283: ruleset … failed in cycle …, ")
    assert told["m_value"].startswith("error OM061: ")
    assert [row["event_detail"].splitlines()[0] for row in rows][-3:] == [
        "error without a code",
        "error psycopg.errors.NotNullViolation",
        "error ValueError",
    ]


def test_a_text_of_omd_itself_is_for_everybody(flow: Flow, another: Another) -> None:
    run = flow.call("begin_module", module_code="m_raise")["module_instance_id"]
    flow.call("end_module_instance", module_instance_id=run, event_detail="it hangs")
    reader = another(role="omd_reader")
    (event,) = reader.rows(
        "SELECT event_detail FROM omd_report.failures WHERE instance_id = %s", run
    )
    assert event["event_detail"].endswith(": it hangs")


@pytest.mark.parametrize(("hindrance", "told"), HINDRANCES)
def test_a_rollback_that_is_hindered_names_no_value(
    flow: Flow, another: Another, hindrance: str, told: str
) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.hub (name text PRIMARY KEY, omd_insert_module_instance_id bigint)"
    )
    flow.module("hub", executable="SELECT 1", table_code="dwh.hub")
    run = flow.call("begin_module", module_code="hub")["module_instance_id"]
    flow.conn.execute("INSERT INTO dwh.hub VALUES (%s, %s)", [SECRET, run])
    flow.call("module_failure", module_instance_id=run)
    flow.conn.execute(hindrance.encode())
    flow.batch("of_hub", "hub")
    flow.call("run_batch", batch_code="of_hub")
    reader = another(role="omd_reader")
    texts = reader.one("SELECT string_agg(event_detail, '|') FROM omd_report.failures")
    assert "Module hub failed: " in texts
    assert told in texts
    assert [
        line[:400] for line in readable(reader, "omd_reader").splitlines() if SECRET in line
    ] == []
