"""A step in the database that was cancelled does not hold its topic any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineage.conftest import Scene

BREAK_OFF = """
    CREATE FUNCTION dwh.broken_off() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE query_canceled; END $$;
    CREATE TRIGGER broken_off BEFORE UPDATE ON omd.module_instance FOR EACH ROW
    WHEN (new.execution_status_code <> 'E') EXECUTE FUNCTION dwh.broken_off()
"""


def test_the_next_step_takes_the_block_although_the_session_is_still_there(
    scene: Scene, another: Callable[..., Scene]
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    session = another()
    scene.conn.execute("GRANT ALL ON SCHEMA dwh TO omd_owner")
    scene.owner(BREAK_OFF)
    try:
        with pytest.raises(psycopg.errors.QueryCanceled):
            session.call("omd_lineage.step", topic="dwh.f")
    finally:
        scene.owner("DROP TRIGGER broken_off ON omd.module_instance")
    assert scene.offset()["hostid"] != ""
    assert session.one("SELECT 1") == 1
    assert scene.step().rows == 2
    states = "SELECT execution_status_code AS s FROM omd.module_instance WHERE module_id = %s"
    module = scene.one("SELECT max(module_id) FROM omd.module_instance")
    assert sorted(row["s"] for row in scene.rows(states, module)) == ["F", "S"]
