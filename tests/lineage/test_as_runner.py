"""A scheduler is a login with omd_runner and the rights of its tables, and it needs no more.

The other tests of this folder take their steps as omd_runner too; these show what a role sees.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

import omd
from support.scene import RIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.scene import Connection, Scene

    Another = Callable[..., Scene]

LOGIN = "omd_test_scheduler"


# What its login has to undo has no policy: a rollback refuses rows that one could hide.
NO_POLICY = pytest.mark.no_user_code("a policy stops each undo of a login without BYPASSRLS")


@pytest.fixture
def login(scene: Scene, dsn: str) -> Iterator[str]:
    """The connection string of a scheduler, as the documentation sets it up."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.conn.execute(
        f"CREATE ROLE {LOGIN} LOGIN IN ROLE omd_runner;"
        f"REVOKE ALL ON ALL TABLES IN SCHEMA dwh FROM omd_runner;"
        f"GRANT USAGE ON SCHEMA dwh TO {LOGIN};"
        f"GRANT SELECT ON dwh.src, dwh.v_dwh_f TO {LOGIN};"
        f"GRANT {RIGHTS} ON dwh.f TO {LOGIN}".encode()
    )
    yield make_conninfo(dsn, user=LOGIN)
    scene.conn.execute(f"DROP OWNED BY {LOGIN}; DROP ROLE {LOGIN}".encode())


@NO_POLICY
def test_a_failed_step_answers_its_error_and_counts_once(scene: Scene, login: str) -> None:
    with omd.connect(login) as control:
        scene.register("dwh.f", after_sql=["SELECT 1 / 0"])
        for attempt in (1, 2):
            step = control._lineage.step("dwh.f")
            assert (step.status, step.reason, step.detail) == ("F", "ERROR", "division by zero")
            offset = scene.offset()
            assert (offset["attempts"], offset["state"]) == (attempt, "division by zero")
        scene.register("dwh.f", after_sql=[])
        assert (control._lineage.step("dwh.f").facts["rows"], scene.ids()) == (2, [1, 2])
    assert scene.one("SELECT count(*) FROM omd_lineage.error_log") == 2


@NO_POLICY
def test_a_statement_of_an_administrator_has_the_rights_of_the_scheduler(
    scene: Scene, login: str, connect: Callable[..., Connection]
) -> None:
    powers = (f"ALTER ROLE {LOGIN} SUPERUSER", "GRANT omd_admin TO omd_runner", "RESET ROLE")
    with omd.connect(login) as control:
        for statement, argument in zip(
            powers, ("before_sql", "after_sql", "after_sql"), strict=True
        ):
            scene.register("dwh.f", **{argument: [statement, f"ALTER ROLE {LOGIN} SUPERUSER"]})
            # PostgreSQL 15 says what one would have to be instead.
            told = control._lineage.step("dwh.f").detail or ""
            assert re.match("permission denied|must (be superuser|have admin option)", told), told
            scene.register("dwh.f", before_sql=[], after_sql=[])
    assert connect(login).execute("SHOW is_superuser").fetchone() == {"is_superuser": "off"}


def test_who_registers_needs_no_right_on_the_tables(
    scene: Scene, connect: Callable[..., Connection]
) -> None:
    scene.base("dwh.src")
    scene.base("dwh.f")
    scene.view("dwh.v", "dwh.src")
    scene.insert(1, 2, 3)
    scene.conn.execute(
        b"REVOKE ALL ON SCHEMA dwh FROM omd_admin;"
        b"REVOKE ALL ON ALL TABLES IN SCHEMA dwh FROM omd_admin"
    )
    scene.register("dwh.src")
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.v"])
    scene.probe()
    assert (scene.step().rows, scene.ids()) == (2, [1, 2])
