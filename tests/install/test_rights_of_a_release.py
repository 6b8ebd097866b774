"""What our roles may do with objects of ours is what the release says, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from omd.programs import install
from support.released import released

ACL = """
    SELECT x.object, x.part, a.grantor::regrole::text,
        CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
        a.privilege_type, a.is_grantable
    FROM (
        SELECT 'schema ' || n.nspname AS object, '' AS part,
            coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl, n.oid AS schema
        FROM pg_namespace AS n
        UNION ALL
        SELECT c.oid::regclass::text, '', coalesce(
            c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)
        ), c.relnamespace
        FROM pg_class AS c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
        UNION ALL
        SELECT c.oid::regclass::text, t.attname, t.attacl, c.relnamespace
        FROM pg_attribute AS t INNER JOIN pg_class AS c ON t.attrelid = c.oid
        WHERE t.attacl IS NOT NULL
        UNION ALL
        SELECT p.oid::regprocedure::text, '', coalesce(p.proacl, acldefault('f', p.proowner)),
            p.pronamespace
        FROM pg_proc AS p
        UNION ALL
        SELECT 'type ' || t.oid::regtype::text, '', coalesce(t.typacl, acldefault('T', t.typowner)),
            t.typnamespace
        FROM pg_type AS t
    ) AS x
    CROSS JOIN LATERAL aclexplode(x.acl) AS a
    WHERE x.schema IN (SELECT oid FROM pg_namespace WHERE nspname ~ '^omd(_|$)')
"""
# Each was granted or taken by somebody, or by a former release.
FORMER = (
    "GRANT EXECUTE ON PROCEDURE omd.register_module TO omd_reader, PUBLIC",
    "GRANT UPDATE (next_run_indicator) ON omd.module_instance TO omd_runner",
    "GRANT SELECT, DELETE ON omd.module TO omd_guest",
    "GRANT CREATE ON SCHEMA omd TO omd_admin WITH GRANT OPTION",
    "REVOKE SELECT ON omd.batch FROM omd_reader",
    "GRANT USAGE ON SCHEMA omd TO omd_reader WITH GRANT OPTION",
)
AN_OTHER = "omd_tests_auditor"


def acl(dsn: str) -> set[tuple[Any, ...]]:
    with psycopg.connect(dsn) as conn:
        return set(conn.execute(ACL).fetchall())


def execute(dsn: str, *statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement.encode())


@pytest.fixture
def auditor(connect: Any) -> Any:
    """A role of a DBA."""
    with connect() as conn:
        conn.execute(f"DROP ROLE IF EXISTS {AN_OTHER}")
        conn.execute(f"CREATE ROLE {AN_OTHER}")
    return AN_OTHER


@pytest.mark.parametrize("way", ["omd", "psql"])
@released
def test_an_upgraded_database_has_the_rights_of_a_new_one(
    upgraded: str, dsn: str, way: str, psql: Callable[..., Any]
) -> None:
    # A routine of a former release that has become one of the house.
    execute(upgraded, *FORMER)
    if way == "omd":
        with psycopg.connect(upgraded, autocommit=True) as conn:
            install.install(conn)
        execute(upgraded, "GRANT EXECUTE ON PROCEDURE omd.hide_columns TO omd_runner")
        with psycopg.connect(upgraded, autocommit=True) as conn:
            install.install(conn)
    else:
        done = psql(upgraded, install.sql_root() / install.MANIFEST)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) < 20_000
    assert acl(upgraded) ^ acl(dsn) == set()


def test_an_installation_without_changed_files_sets_rights_too(
    dsn: str, omd_command: Callable[..., Any]
) -> None:
    before = acl(dsn)
    execute(dsn, *FORMER)
    done = omd_command("install", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert "rights" in done.stderr
    assert acl(dsn) == before
    assert "Nothing to do" in omd_command("install", dsn=dsn).stderr


def test_a_plan_lists_what_is_taken_given_and_left_in_every_output(
    dsn: str, auditor: str, omd_command: Callable[..., Any]
) -> None:
    execute(
        dsn,
        *FORMER,
        f"GRANT SELECT ON omd.module TO {auditor} WITH GRANT OPTION",
        f"GRANT UPDATE (inactive_indicator) ON omd.module TO {auditor}",
    )
    before = acl(dsn)
    told = json.loads(omd_command("install", "--plan", "--output", "json", dsn=dsn).stdout)
    rights = [row for row in told if row["kind"] == "right"]
    assert {(row["action"], row["path"]) for row in rights} >= {
        ("revoke", "DELETE ON TABLE omd.module TO omd_guest"),
        ("revoke", "UPDATE (next_run_indicator) ON TABLE omd.module_instance TO omd_runner"),
        ("revoke", "CREATE ON SCHEMA omd TO omd_admin"),
        ("revoke", "GRANT OPTION FOR USAGE ON SCHEMA omd TO omd_reader"),
        ("grant", "SELECT ON TABLE omd.batch TO omd_reader"),
        ("leave", f"SELECT ON TABLE omd.module TO {auditor}"),
        ("leave", f"UPDATE (inactive_indicator) ON TABLE omd.module TO {auditor}"),
    }
    (left,) = (r for r in rights if r["path"] == f"SELECT ON TABLE omd.module TO {auditor}")
    assert "omd_owner" in left["reason"]
    assert "WITH GRANT OPTION" in left["reason"]
    for output in ("table", "csv"):
        text = omd_command("install", "--plan", "--output", output, dsn=dsn).stdout
        assert "CREATE ON SCHEMA omd TO omd_admin" in text, output
        assert auditor in text, output
    assert acl(dsn) == before
    omd_command("install", dsn=dsn)
    kept = {row for row in acl(dsn) if row[3] == auditor}
    assert {(row[4], row[5]) for row in kept} == {("SELECT", True), ("UPDATE", False)}


def test_a_right_that_was_handed_on_stays_and_is_listed(
    dsn: str, auditor: str, omd_command: Callable[..., Any]
) -> None:
    execute(
        dsn,
        "GRANT SELECT ON omd.module TO omd_guest WITH GRANT OPTION",
        "GRANT USAGE ON SCHEMA omd TO omd_guest",
        "SET ROLE omd_guest",
        f"GRANT SELECT ON omd.module TO {auditor}",
        "GRANT SELECT ON omd.module TO omd_runner",
    )
    before = acl(dsn)
    done = omd_command("install", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert {row for row in before ^ acl(dsn) if row[4] == "SELECT"} == set()
    told = json.loads(omd_command("install", "--plan", "--output", "json", dsn=dsn).stdout)
    rights = {row["path"]: row for row in told if row["kind"] == "right"}
    for grantee in ("omd_guest", auditor, "omd_runner"):
        row = rights[f"SELECT ON TABLE omd.module TO {grantee}"]
        assert row["action"] == "leave"
    assert "omd_guest" in rights["SELECT ON TABLE omd.module TO omd_runner"]["reason"]


def test_default_privileges_give_our_roles_nothing(empty_dsn: str, dsn: str) -> None:
    execute(empty_dsn, (install.sql_root() / install.ROLES).read_text())
    execute(
        empty_dsn,
        "ALTER DEFAULT PRIVILEGES FOR ROLE omd_owner GRANT EXECUTE ON ROUTINES TO omd_reader",
        "ALTER DEFAULT PRIVILEGES FOR ROLE omd_owner GRANT INSERT ON TABLES TO omd_runner",
    )
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        install.install(conn)
    execute(
        empty_dsn,
        "ALTER DEFAULT PRIVILEGES FOR ROLE omd_owner REVOKE ALL ON TABLES FROM omd_runner",
    )
    assert acl(empty_dsn) ^ acl(dsn) == set()


def test_tables_of_a_family_get_their_rights_again(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd_dispatch.register_family('PARCEL', '{\"DEPOT\": \"text\"}')")
    before = acl(dsn)
    assert any("parcel" in row[0] for row in before)
    execute(
        dsn,
        "GRANT SELECT, DELETE ON omd_dispatch.task_data_parcel TO omd_reader",
        "REVOKE SELECT ON omd_dispatch.task_data_parcel FROM omd_data_reader",
    )
    with psycopg.connect(dsn, autocommit=True) as conn:
        install.install(conn)
    assert acl(dsn) ^ before == set()
