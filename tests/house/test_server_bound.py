"""What is known outside, or means something on one server only, is known to process control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

COLUMNS = """
    SELECT n.nspname AS schema, c.relname AS table, a.attname AS column, a.attnotnull AS is_required
    FROM pg_attribute AS a
    INNER JOIN pg_class AS c ON a.attrelid = c.oid
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_type AS t ON a.atttypid = t.oid
    WHERE pg_get_userbyid(c.relowner) = 'omd_owner' AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
"""
# Transactions, snapshots, positions in the WAL, rows, whatever stands for an OID; by their names
# processes, which are integers. An array of them is one too.
BOUND = f"""
    SELECT b.* FROM (
        {COLUMNS}
            AND (
                coalesce(
                    (SELECT e.typname FROM pg_type AS e WHERE e.typarray = t.oid), t.typname
                ) ~ '^(xid|xid8|cid|tid|oid|pg_lsn|pg_snapshot|txid_snapshot|reg.+)$'
                OR a.attname ~ '(^|_)(pid|xid|oid|lsn|backend_pid)s?$'
            )
    ) AS b
"""


def test_each_column_that_is_bound_to_a_server_is_listed(conn: Connection) -> None:
    found = {
        (row["schema"], row["table"], row["column"]): row["is_required"]
        for row in conn.execute(BOUND.encode()).fetchall()
    }
    listed = {
        (row["schema_name"], row["table_name"], row["column_name"]): row["on_change"]
        for row in conn.execute("SELECT * FROM omd.server_bound").fetchall()
    }
    assert found.keys() == listed.keys()
    # A column that must not be empty can't be cleared.
    assert {name for name, is_required in found.items() if is_required} <= {
        name for name, on_change in listed.items() if on_change == "KEEP"
    }


def test_each_sequence_belongs_to_a_column_or_is_listed(conn: Connection) -> None:
    bare = {
        (row["schema"], row["sequence"])
        for row in conn.execute(
            """
            SELECT n.nspname AS schema, c.relname AS sequence
            FROM pg_class AS c
            INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
            WHERE c.relkind = 'S' AND pg_get_userbyid(c.relowner) = 'omd_owner'
                AND NOT EXISTS (
                    SELECT FROM pg_depend AS d
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                        AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
                )
            """
        ).fetchall()
    }
    listed = {
        (row["sequence_schema"], row["sequence_name"])
        for row in conn.execute("SELECT * FROM omd.sequence_bound").fetchall()
    }
    assert bare == listed


def test_the_places_of_bare_sequences_are_there(conn: Connection) -> None:
    """Each pattern names a table that has the column; so does each condition."""
    for row in conn.execute("SELECT * FROM omd.sequence_bound WHERE table_name <> ''").fetchall():
        places = conn.execute(
            f"SELECT * FROM ({COLUMNS}) AS s WHERE s.schema = %s AND s.table LIKE %s"
            " AND s.column = %s".encode(),
            [row["table_schema"], row["table_name"], row["column_name"]],
        ).fetchall()
        assert places or row["table_schema"] == "omd_dispatch", row
        for place in places:
            condition = row["row_condition"] or "TRUE"
            conn.execute(
                f"SELECT FROM {place['schema']}.{place['table']} AS t WHERE {condition}".encode()
            )


def test_each_sequence_of_integers_gives_definitions(conn: Connection) -> None:
    """They take a million at a time and have room for two thousand: what grows is bigint."""
    integers = conn.execute(
        "SELECT s.seqrelid::regclass::text AS name FROM pg_sequence AS s"
        " INNER JOIN pg_class AS c ON s.seqrelid = c.oid"
        " WHERE pg_get_userbyid(c.relowner) = 'omd_owner' AND s.seqtypid <> 'bigint'::regtype"
    ).fetchall()
    assert {row["name"].partition(".")[2] for row in integers} == {
        "agreement_agreement_id_seq",
        "alternate_key_alternate_key_id_seq",
        "attribute_attribute_id_seq",
        "batch_batch_id_seq",
        "context_context_id_seq",
        "entity_entity_id_seq",
        "interface_interface_id_seq",
        "model_constraint_constraint_id_seq",
        "module_module_id_seq",
        "parameter_parameter_id_seq",
        "relationship_relationship_id_seq",
        "rollback_template_rollback_template_id_seq",
        "ruleset_ruleset_id_seq",
        "stage_stage_id_seq",
        "tenant_tenant_id_seq",
        "topic_topic_id_seq",
    }


def test_who_draws_an_id_looks_at_the_server_before(conn: Connection) -> None:
    """Whatever draws from these sequences by a statement of its own, or inserts into its table."""
    routines = conn.execute(
        "SELECT p.oid::regproc::text AS name, pg_get_functiondef(p.oid) AS text FROM pg_proc AS p"
        " INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid"
        " WHERE n.nspname ~ '^omd(_|$)' AND p.prokind IN ('f', 'p')"
    ).fetchall()
    gives = (
        "nextval('omd.write_number'",
        "nextval('omd.module_instance_module_instance_id_seq'",
        "nextval('omd_dispatch.claim_token'",
        "INSERT INTO omd.module_instance (",
        "INSERT INTO omd.batch_instance (",
        "INSERT INTO omd_delivery.delivery (",
        "INSERT INTO omd_delivery.arrival ",
        "INSERT INTO omd_facts.change (",
        "INSERT INTO omd_lake.table_commit (",
        "INSERT INTO omd_provenance.recall ",
        "INSERT INTO omd_event.event (",
    )
    found = {
        row["name"]: "unready_for_id" in row["text"]
        for row in routines
        if any(text in row["text"] for text in gives)
    }
    # What it draws is rolled back at once.
    found.pop("omd.explain_begin")
    assert len(found) >= len(gives) - 1
    assert {name for name, looks in found.items() if not looks} == set()
