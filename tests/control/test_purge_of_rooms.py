"""omd.purge: the history of all rooms by one call, each in steps, and none stops another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from support.flow import Flow

OF_MODULES = "WHERE schema_name = 'omd' AND position = 2"


@pytest.fixture
def old(flow: Flow) -> Flow:
    """Five runs of two years ago, of which nothing needs four; and an old entry of a topic."""
    flow.module()
    for _ in range(5):
        flow.run_module()
    flow.owner(
        "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '2 years'"
        " WHERE module_instance_id > 0"
    )
    flow.owner(
        "INSERT INTO omd_lineage.log (module_instance_id, rows, ts, topic_id, topic)"
        " SELECT n, 0, now() - interval '2 years', 1, 't' FROM generate_series(1, 3) AS n"
    )
    return flow


@pytest.fixture
def broken(old: Flow) -> Iterator[Flow]:
    """The step of Module Instances looks at two rows, and fails when it has deleted two."""
    breaks(old, "RAISE 'it is broken' USING ERRCODE = '22012'")
    old.owner(f"UPDATE omd.purge_step SET step_routine = '_breaks', rows_per_step = 2 {OF_MODULES}")
    yield old
    mend(old)
    old.owner("DROP FUNCTION omd._breaks")


def breaks(flow: Flow, what: str) -> None:
    flow.owner(
        "CREATE OR REPLACE FUNCTION omd._breaks(p_before timestamptz, p_limit integer,"
        " INOUT p_last_id bigint, INOUT p_deleted bigint) RETURNS record LANGUAGE plpgsql AS"
        f" $x$ BEGIN IF p_deleted >= 2 THEN {what}; END IF;"
        " SELECT s.p_last_id, s.p_deleted INTO p_last_id, p_deleted FROM"
        " omd._purge_module_instances(p_before, p_limit, p_last_id, p_deleted) AS s; END $x$"
    )


def mend(flow: Flow) -> None:
    flow.owner(
        "UPDATE omd.purge_step SET step_routine = '_purge_module_instances', rows_per_step = 5000"
        f" {OF_MODULES}"
    )


def count(flow: Flow, table: str) -> Any:
    return flow.one(f"SELECT count(*) FROM {table}")


def test_one_call_purges_all_rooms(old: Flow) -> None:
    done = old.call("purge", keep="1 year")
    assert done["failed"] is None
    assert set(done["deleted"]) == {
        "omd.module_instance",
        "omd.batch_instance",
        "omd.event_log",
        "omd_lineage.log",
        "omd_decision.cycle",
        "omd_delivery.delivery",
        "omd_event.event",
        "omd_facts.change_key",
    }
    assert (done["deleted"]["omd.module_instance"], done["deleted"]["omd_lineage.log"]) == (4, 3)


def test_a_room_that_fails_stops_only_itself(broken: Flow) -> None:
    told: list[str] = []
    broken.conn.add_notice_handler(lambda diag: told.append(diag.message_primary or ""))
    done = broken.call("purge", keep="1 year")
    assert done["failed"] == {"omd": "22012 it is broken"}
    assert "the purge of omd failed: it is broken" in told
    # What its first step has deleted is gone, and what follows in the room was not tried.
    assert done["deleted"]["omd.module_instance"] == 2
    assert count(broken, "omd.module_instance WHERE module_instance_id > 0") == 3
    assert {"omd.batch_instance", "omd.event_log"}.isdisjoint(done["deleted"])
    assert done["deleted"]["omd_lineage.log"] == 3
    assert count(broken, "omd_lineage.log") == 0
    event = broken.one(
        "SELECT event_detail FROM omd.event_log WHERE event_return_code_details = 'PURGE'"
        " ORDER BY event_id DESC LIMIT 1"
    )
    assert "2 of omd.module_instance" in event
    assert "omd failed: 22012 it is broken" in event


def test_a_purge_of_one_room_leaves_the_others(old: Flow) -> None:
    done = old.call("purge", keep="1 year", room="omd_lineage")
    assert done == {"deleted": {"omd_lineage.log": 3}, "failed": None}
    assert count(old, "omd.module_instance WHERE module_instance_id > 0") == 5


def test_without_a_keep_no_history_goes(old: Flow) -> None:
    done = old.call("purge", keep=None)
    assert done == {"deleted": {"omd_facts.change_key": 0}, "failed": None}
    assert count(old, "omd.module_instance WHERE module_instance_id > 0") == 5
    detail = old.refused("OM005", "purge", keep=None, room="omd_lineage")
    assert detail["argument"] == "p_keep"


def test_a_purge_that_is_cancelled_has_kept_what_its_steps_have_done(broken: Flow) -> None:
    breaks(broken, "PERFORM pg_sleep(60)")
    broken.conn.execute("SET statement_timeout = '2s'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        broken.call("purge", keep="1 year")
    broken.conn.execute("RESET statement_timeout")
    assert count(broken, "omd.module_instance WHERE module_instance_id > 0") == 3
    assert count(broken, "omd_lineage.log") == 3
    mend(broken)
    assert broken.call("purge", keep="1 year")["deleted"]["omd.module_instance"] == 2


def test_history_says_what_a_purge_would_delete(old: Flow) -> None:
    rows = {row["table_code"]: row for row in old.rows("SELECT * FROM omd_report.history")}
    assert rows["omd.module_instance"]["old_rows"] == 5  # at most: the last run is needed
    assert rows["omd_lineage.log"]["old_rows"] == 3
    assert rows["omd_facts.change_key"]["old_rows"] == 0
    assert {(row["is_purged"], row["keep"], row["next_time"]) for row in rows.values()} == {
        (False, None, None)
    }
    assert len(rows) == count(old, "omd.purge_step WHERE table_code IS NOT NULL")
