"""Why a run failed is whole for who reads rows, and no delivered text for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.readable import readable

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Another = Callable[..., Flow]
    Command = Callable[..., subprocess.CompletedProcess[str]]

SECRET = "ada@example.org"
RAISES = """
DO $$ DECLARE v text := current_setting('test.value'); BEGIN
    RAISE '%', format(E'%s is not "%1$s"\nPL/pgSQL function %1$s', v)
        USING ERRCODE = '{code}', DETAIL = v, HINT = v, COLUMN = v, CONSTRAINT = v, DATATYPE = v,
            TABLE = v, SCHEMA = v;
END $$"""
PLACES = {
    "work": "SELECT last_problem FROM omd_report.work WHERE code = 'm'",
    "problems": "SELECT text FROM omd_report.problems WHERE object_key = 'm'",
    "todo": "SELECT problem FROM omd_report.todo WHERE key = 'm'",
    "failures": "SELECT event_detail FROM omd_report.failures WHERE code = 'm'",
    "exceptions": "SELECT detail FROM omd_report.exceptions"
    " WHERE code = 'm' AND exception_code = 'LAST_RUN_FAILED'",
    "log": "SELECT event_detail FROM omd_report.event_log"
    " WHERE module_code = 'm' AND event_type_code = 2",
}


@pytest.fixture
def person(flow: Flow) -> Flow:
    flow.conn.execute(
        "CREATE TABLE dwh.person (name text NOT NULL CONSTRAINT uq_person UNIQUE, age integer"
        " CONSTRAINT ck_age CHECK (age > 0), omd_insert_module_instance_id bigint)"
    )
    return flow


def fail(flow: Flow, executable: str, code: str = "m") -> None:
    flow.call(
        "register_module",
        module_code=code,
        area_code="HSTG",
        table_code="dwh.person",
        executable=executable,
    )
    assert flow.call("run_module", module_code=code)["execution_status_code"] == "F"


def test_no_raise_with_any_code_shows_a_word_of_it(person: Flow, another: Another) -> None:
    person.conn.execute("SELECT set_config('test.value', %s, false)", [SECRET])
    codes = [
        row["code"]
        for row in person.rows(
            "SELECT sqlstate_code AS code FROM omd.error_sentence UNION ALL"
            " SELECT sqlstate_code FROM omd.error_catalogue UNION ALL"
            " SELECT unnest(ARRAY['ENDED', 'RETRY', 'ABCDE', 'ZZ999'])"
        )
    ]
    assert len(codes) > 150
    for code in codes:
        if code not in ("57014", "OM114"):  # a cancelled run, a block that was taken back
            fail(person, RAISES.format(code=code))
    for role in ("omd_reader", "omd_admin"):
        told = readable(another(role=role), role)
        assert [line[:400] for line in told.splitlines() if SECRET in line] == []
    whole = "SELECT count(*) FROM omd_report.failures WHERE strpos(event_detail, %s) > 0"
    assert person.one(whole, SECRET) == len(codes) - 2


def test_a_code_that_looks_like_a_word_of_omd_shows_no_text(person: Flow, another: Another) -> None:
    person.batch("b")
    person.module("m_own")
    for code, text in (
        ("HUNTER", SECRET),
        ("NO PERSON", SECRET),
        ("MEMBER FAILED", f"Module m failed: {SECRET} failed"),
        ("MEMBER FAILED", f"Module m failed: {SECRET}"),
        (
            "TASK DEAD",
            f"task 1 (F T) is dead after 1 attempts: {SECRET} is dead after 2 attempts: x",
        ),
    ):
        run = person.call("begin_module", module_code="m_own")["module_instance_id"]
        person.call(
            "module_failure",
            module_instance_id=run, event_detail=text, event_return_code_details=code,
        )  # fmt: skip
        person.call(
            "log_event", event_detail=text, event_type_code=6, event_return_code_details=code
        )
    told = readable(another(role="omd_reader"), "omd_reader")
    assert [line[:400] for line in told.splitlines() if SECRET in line] == []
    assert "error HUNTER" in told


def test_each_place_has_the_whole_text_for_who_reads_rows(person: Flow, another: Another) -> None:
    fail(person, f"SELECT 1 / length(left('{SECRET}', 0))")
    person.conn.execute("DROP ROLE IF EXISTS why_both")
    person.conn.execute("CREATE ROLE why_both IN ROLE omd_reader, omd_data_reader")
    try:
        for role, whole in (("why_both", True), ("omd_reader", False), ("omd_admin", False)):
            seen = another(role=role)
            for place, query in PLACES.items():
                text = seen.one(query)
                assert ("division by zero" in text) == whole, (role, place)
                assert ("something was divided by zero" in text) == (not whole), (role, place)
                assert ("22012" in text) >= (not whole)
                assert ("The role omd_data_reader shows the whole text." in text) == (not whole)
            seen.conn.execute("RESET ROLE")
    finally:
        person.conn.execute("DROP ROLE why_both")


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ("'x', -1", "error 23514: a row violates a check (constraint ck_age, table person)"),
        (
            "'x', 5 FROM generate_series(1, 2)",
            "error 23505: two rows have the same unique key (constraint uq_person)",
        ),
        (
            "NULL, 5",
            "error 23502: a column that must have a value has none (column name, table person)",
        ),
    ],
)
def test_names_are_shown_where_the_catalogue_has_them(
    person: Flow, another: Another, rows: str, shown: str
) -> None:
    fail(person, f"INSERT INTO dwh.person SELECT {rows}")
    reader = another(role="omd_reader")
    assert reader.one(PLACES["work"]).splitlines()[0] == shown
    assert reader.one(PLACES["failures"]).splitlines()[0] == shown
    assert person.one("SELECT last_problem FROM omd.module_state") == shown


def test_an_error_of_omd_is_shown_without_its_values(person: Flow, another: Another) -> None:
    fail(person, "CALL omd.begin_module('nobody@example.org')")
    reader = another(role="omd_reader")
    assert reader.one(PLACES["work"]).startswith("error OM002: Module … is not registered\n")


def test_the_commands_show_the_whole_text(person: Flow, omd_here: Command, dsn: str) -> None:
    fail(person, "SELECT 1 / 0")
    for arguments in (("status",), ("report", "work"), ("report", "event_log"), ("explain", "m")):
        done = omd_here(*arguments, "--output", "json", dsn=dsn)
        assert "division by zero" in done.stdout, (arguments, done.stderr)
