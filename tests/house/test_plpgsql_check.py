"""plpgsql_check has no warning of any kind about any routine of OMD."""

from __future__ import annotations

import os

import pytest

from house.exceptions import CREATE_WHAT_FILES_SAY, OVER_GENERATED_TABLES

# These execute SQL that an administrator has registered, with the rights of the caller.
EXECUTE_REGISTERED_SQL = {
    "omd._confirm_rollback(bigint,jsonb)",
    "omd.execute_module(bigint,text,text,boolean,boolean)",
    "omd.preview_rollback(bigint)",
    "omd.rollback_module(bigint)",
    "omd_lineage._process_block(text,bigint,bigint)",
    "omd_web.preview(text,text,jsonb)",
}

# These compose statements over tables that users name; each name goes through quote_table or %I.
COMPOSE_SQL = {
    "omd._has_strangers(integer)",
    "omd.recall_counts(text,text,text,bigint[])",
    "omd._statement_inputs(text)",
    "omd.find_references(oid,text,bigint[],bigint[])",
    "omd.rows_of_runs(bigint[],bigint[],boolean)",
    "omd.take_back_rows(bigint[],bigint)",
    "omd._keep_deferred()",
    "omd._look_before_truncate(integer,bigint[])",
    "omd._refuse_losses(bigint,integer,bigint[])",
    "omd._try_begin(text,bigint,jsonb,text,bigint,text,text,text,jsonb)",
    ("omd.finish_run(text,bigint,text,text,text,boolean,boolean,timestamp with time zone)"),
    "omd._take_referring(oid,boolean,text,bigint[],bigint[],tid[])",
    "omd_decision._note_positions(bigint,jsonb,timestamp with time zone)",
    "omd_decision._name_failure(jsonb,text,text,timestamp with time zone,timestamp with time zone)",
    "omd_decision._name_unfit(jsonb,text)",
    "omd_decision._name_unwritten(bigint,text,text,text)",
    "omd_decision._process_run(bigint)",
    "omd_decision._require_fit(jsonb,jsonb,jsonb)",
    "omd_decision.test_ruleset(text,integer)",
    "omd_decision.write_calls(bigint,bigint)",
    "omd_dispatch._read_source(text,jsonb,integer)",
    (
        "omd_lineage._block_of_rows(omd_lineage.block_limits,omd_lineage.block,"
        "omd_lineage.row_position,text,boolean)"
    ),
    "omd_lineage._call_processor(text,text,text,text,bigint,bigint,jsonb,jsonb)",
    "omd_lineage._count_nulls(text,jsonb)",
    "omd_lineage._double_key(text,text)",
    "omd_lineage._fill_block_table(text,text,text[],text[],text,bigint,text,text,text)",
    "omd_lineage._fill_kept_table(text,regclass,bigint,text[],bigint,bigint)",
    "omd_lineage._hand_on_rows(regclass,text[],text,text,text[],text,bigint,text)",
    "omd_lineage._insert_transform(text,text,text,bigint,text,text,bigint)",
    "omd_lineage._kept_statement(text,text)",
    "omd_lineage._key_values(text,text)",
    "omd_lineage._merge_transform(text,text,text[],text[],text,bigint,text)",
    "omd_lineage._lock_destination(regclass)",
    "omd_lineage._newest_row(text,text,text)",
    "omd_lineage._recompute_transform(text,text,text,text[],text,bigint,text)",
    "omd_lineage._refuse_lost_by_reload(regclass,regclass,text[],text,bigint)",
    "omd_lineage._replace_rows(regclass,text[],text,text,text[],text,bigint)",
    "omd_lineage.put_back_rows(bigint[])",
    "omd_lineage._exchange_rows(regclass,regclass,text,text[])",
    "omd_lineage._widen_restatements(bigint,text,text,bigint[])",
    "omd_lineage._reload_table(text[],text,text,bigint,text,text)",
    "omd_lineage._unread_rows(text,text,text,timestamp with time zone,timestamp with time zone)",
    (
        "omd_lineage._walk_block(text,text,text,text,omd_lineage.row_position,"
        "omd_lineage.row_position,timestamp with time zone,omd_lineage.row_position,bigint)"
    ),
    "omd_provenance._analyze_empty(regclass)",
    "omd_provenance._erase_table(text,jsonb,text,jsonb,boolean)",
    "omd_provenance._input_steps(bigint,jsonb)",
    (
        "omd_provenance._row_positions(bigint[],text,text[],text,text,"
        "timestamp with time zone[],bigint[],jsonb)"
    ),
    "omd_provenance._versions(text,jsonb,text,timestamp with time zone)",
    # It composes texts of the installation, and the key is a literal.
    "omd_web._evaluate(text,text,text)",
    "omd_web.bulk(text,jsonb,timestamp with time zone,jsonb,text,integer,bigint)",
}

# It only raises, and must not do so while a statement is planned.
ONLY_RAISES = {"omd._raise_again(jsonb)"}

# They look again behind a lock, so each call needs a snapshot of its own.
LOOK_AFRESH = {"omd_decision._awaits(text)", "omd_lineage._awaits(integer)"}

# It calls what only newer servers have, where they have it.
OF_A_VERSION = {"omd_event.session_cost()", "omd_provenance._forget_statistics(text,text[])"}

# Their parameters are those of every routine of a kind, or of a kind of source.
SHARE_PARAMETERS = {
    "omd.recall_effects(bigint[],boolean,jsonb)",
    "omd.recall_follows(bigint[],bigint[])",
    "omd.take_back(bigint[],bigint,bigint,text)",
    "omd_lineage.recall_follows(bigint[],bigint[])",
    "omd.end_run(bigint,text,boolean)",
    "omd.next_run(text,timestamp with time zone,bigint)",
    "omd._prepare_purge(timestamp with time zone,integer,bigint,bigint)",
    "omd_delivery._purge_deltas(timestamp with time zone,integer,bigint,bigint)",
    "omd_event._purge_published(timestamp with time zone,integer,bigint,bigint)",
    "omd_decision.end_run(bigint,text,boolean)",
    "omd_decision.recall_effects(bigint[],boolean,jsonb)",
}

# Its answer is that of any procedure.
ANSWERS_WITH_ANY_ROW = {"omd_web.preview(text,text,jsonb)"}

# These exist to execute a COMMIT that the server may refuse.
TRY_TO_COMMIT = {
    "omd._refused_commit()",
    "omd.ask_whether_to_commit(boolean)",
}

# Base tables belong to users, so a trigger function for them needs a table made here.
BASE_TABLE = """
    CREATE TABLE public.base (pos timestamptz, id bigint);
    CREATE TRIGGER noted AFTER INSERT ON public.base REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows('public.base');
    -- So do work tables and staging tables.
    CALL omd_delivery.deploy_model('{"interface": "i", "entities": [{"name": "e", "key": ["k"],
        "attributes": [{"name": "k", "type": "integer"}]}]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'i');
    CALL omd_facts.deploy('i');
    -- So does a family that is migrated.
    CALL omd_dispatch.register_family('MIRRORED', p_migration_status => 3);
"""

ROUTINES = """
    SELECT p.oid, p.oid::regprocedure::text AS name, coalesce(t.tgrelid, 0) AS relation,
           t.tgnewtable AS new_table
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
      LEFT JOIN pg_trigger t ON t.tgfoid = p.oid
     WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)'
     ORDER BY name
"""
CHECK = """
    SELECT lineno, level, sqlstate, message, detail, hint
      FROM plpgsql_check_function_tb(%s::regprocedure, %s::regclass, newtable => %s,
                                     fatal_errors => false, all_warnings => true)
"""


@pytest.fixture
def checker(conn):
    # It is in a schema of its own, so that it is not checked itself.
    found = conn.execute("SELECT FROM pg_available_extensions WHERE name = 'plpgsql_check'")
    if not found.fetchall() and not os.environ.get("OMD_REQUIRE_PLPGSQL_CHECK"):
        pytest.skip("this server has no plpgsql_check (Debian: postgresql-15-plpgsql-check)")
    conn.execute("CREATE EXTENSION plpgsql_check SCHEMA public")
    conn.execute(BASE_TABLE)
    return conn


def test_no_routine_has_a_warning(checker):
    routines = checker.execute(ROUTINES).fetchall()
    assert len(routines) > 30
    findings = []
    for routine in routines:
        rows = checker.execute(
            CHECK, [routine["oid"], routine["relation"], routine["new_table"]]
        ).fetchall()
        for row in rows:
            if row["level"] == "security" and routine["name"] in EXECUTE_REGISTERED_SQL:
                continue
            # The effect of composed SQL on the volatility of a routine is invisible too.
            if row["level"] in ("security", "performance") and routine["name"] in COMPOSE_SQL:
                continue
            if row["level"] == "performance" and routine["name"] in ONLY_RAISES | LOOK_AFRESH:
                continue
            if row["sqlstate"] == "42883" and routine["name"] in OF_A_VERSION:
                continue
            if "dynamic SQL" in row["message"] and routine["name"] in ANSWERS_WITH_ANY_ROW:
                continue
            unused = "unused parameter" in row["message"] or "never read" in row["message"]
            if unused and routine["name"] in SHARE_PARAMETERS:
                continue
            if "maybe unmodified" in row["message"] and "dynamic SQL" in str(row["detail"]):
                continue
            # So are its rows, where the tables are made at run time.
            name = routine["name"].partition("(")[0]
            if name in OVER_GENERATED_TABLES | CREATE_WHAT_FILES_SAY and (
                (
                    row["level"] in ("security", "performance")
                    and "target type" not in row["message"]
                )
                or "dynamic SQL" in f"{row['message']} {row['detail']}"
            ):
                continue
            if routine["name"] in TRY_TO_COMMIT and (
                row["sqlstate"] == "2D000" or row["level"] == "performance"
            ):
                continue
            says = f"{row['level']}: {row['message']} {row['detail'] or ''} {row['hint'] or ''}"
            findings.append(f"{routine['name']}, line {row['lineno']}: {says.strip()}")
    assert not findings, "\n".join(findings)


def test_the_check_finds_an_unused_variable(checker):
    checker.execute(
        "CREATE PROCEDURE omd.bad() LANGUAGE plpgsql AS 'DECLARE v int; BEGIN NULL; END'"
    )
    rows = checker.execute(CHECK, ["omd.bad()", 0, None]).fetchall()
    assert [row["message"] for row in rows] == ['unused variable "v"']
