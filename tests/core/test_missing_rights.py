"""Who lacks a right is told which role has it and who grants it; where there is no OMD, where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd

if TYPE_CHECKING:
    from collections.abc import Iterator


_COUNT = """
    SELECT omd_dispatch.count_tasks(
        '{"family_code": "RUN", "statuses": ["DEAD"], "error": "x"}', now()
    )
"""


@pytest.fixture
def nobody(dsn: str) -> Iterator[str]:
    """The connection string of a login without a role of ours; `test_dba` may grant omd_runner."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE test_nobody LOGIN")
        conn.execute("CREATE ROLE test_dba; GRANT omd_runner TO test_dba WITH ADMIN OPTION")
    yield make_conninfo(dsn, user="test_nobody")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP ROLE test_nobody; DROP ROLE test_dba")


def test_a_call_names_the_role_and_who_grants_it(nobody: str, dsn: str) -> None:
    with omd.connect(nobody) as control:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            control.calls.omd.begin_module("m")
        assert caught.value.sqlstate == "42501"
        assert isinstance(caught.value, omd.errors.OmdError)
        assert caught.value.hint is not None
        assert "A superuser" in caught.value.hint
        assert " or test_dba" in caught.value.hint
        assert caught.value.hint.endswith(" grants it: GRANT omd_runner TO test_nobody;")
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(caught.value.hint.partition("grants it: ")[2].encode())
        with pytest.raises(omd.errors.OmdError) as caught_:
            control.calls.omd.begin_module("m")
        assert caught_.value.sqlstate == "OM002"


@pytest.mark.parametrize(
    ("arguments", "role"),
    [
        (("status",), "omd_reader"),
        (("run", "m"), "omd_r"),
        (("retry", "m"), "omd_reader"),
        (("call", "register_frequency", "--frequency-code", "Never"), "omd_reader"),
        (("show", "--quarantine", "delivery:1"), "omd_reader"),
    ],
)
def test_the_command_line_says_it_always(
    nobody: str, omd_here: Any, arguments: tuple[str, ...], role: str
) -> None:
    done = omd_here(*arguments, dsn=nobody)
    assert done.returncode == 1
    assert f"GRANT {role}" in done.stderr
    assert "TO test_nobody;" in done.stderr
    assert "SQLSTATE: 42501" in done.stderr


def test_a_right_on_an_object_of_others_is_its_owners(nobody: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("GRANT omd_runner TO test_nobody")
        conn.execute("CREATE TABLE theirs (i int, omd_insert_module_instance_id bigint)")
    with omd.connect(dsn) as control:
        control.calls.omd.register_module(
            "m",
            area_code="INT",
            table_code="public.theirs",
            table_type_code="HUB",
            platform_code="POSTGRES",
        )
        run = control.calls.omd.begin_module("m").module_instance_id
        control.calls.omd.module_failure(run)
    with (
        omd.connect(nobody) as control,
        pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
    ):
        control.calls.omd.preview_rollback(run)
    assert "theirs" in str(caught.value)
    assert caught.value.hint == (
        "test_nobody has omd_reader, and lacks a right on an object of others: its owner grants it."
    )


@pytest.mark.parametrize(
    ("statement", "role"),
    [
        ("SELECT omd_web._require_right('omd.retry')", "omd_admin"),
        ("SELECT omd_web._require_right('omd.begin_module')", "omd_runner"),
        (_COUNT, "omd_data_reader"),
    ],
)
def test_what_we_raise_has_a_hint_in_psql_too(
    nobody: str, dsn: str, statement: str, role: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("GRANT omd_reader TO test_nobody")
    with psycopg.connect(nobody) as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute(statement.encode())
    assert caught.value.sqlstate == "42501"
    assert f"grants it: GRANT {role} TO test_nobody;" in (caught.value.diag.message_hint or "")


@pytest.mark.parametrize("arguments", [("status",), ("run", "m"), ("doctor", "--health")])
def test_a_database_without_omd_is_named(
    empty_dsn: str, omd_here: Any, arguments: tuple[str, ...]
) -> None:
    done = omd_here(*arguments, dsn=empty_dsn)
    parts = psycopg.conninfo.conninfo_to_dict(empty_dsn)
    assert f"the database {parts['dbname']} on {parts['host']} has no OMD" in done.stderr
    assert "Is it the right database? Then: omd install." in done.stderr
    assert done.returncode == (1 if arguments[-1] == "--health" else 5)
