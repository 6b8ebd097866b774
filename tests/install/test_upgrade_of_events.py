"""An installation that is upgraded begins its events with the runs that execute then."""

from __future__ import annotations

import psycopg
import pytest

from omd import install
from support.released import LONG_AGO


@pytest.mark.parametrize("upgraded", LONG_AGO[-1:], indirect=True)
def test_events_begin_with_the_runs_that_execute(upgraded: str) -> None:
    """What has ended before is history; m failed, and is undone by the run that executes."""
    with psycopg.connect(upgraded, autocommit=True) as conn:
        conn.execute("CALL omd.register_batch('b', 'Adhoc')")
        batch = conn.execute("CALL omd.begin_batch('b')").fetchone()
        run = conn.execute("CALL omd.begin_module('m')").fetchone()
        assert batch is not None
        assert run is not None
        install.install(conn)
        conn.execute("CALL omd.module_success(%s)", [run[0]])
        conn.execute("CALL omd_event.publish()")
        conn.execute("CALL omd.batch_success(%s)", [batch[0]])
        later = conn.execute("CALL omd.begin_module('m')").fetchone()
        assert later is not None
        conn.execute("CALL omd_event.publish()")
        events = conn.execute(
            "SELECT event_type, subject_id FROM omd_report.events ORDER BY event_number"
        ).fetchall()
        assert events == [
            ("BATCH_BEGAN", batch[0]),
            ("RUN_BEGAN", run[0]),
            ("RUN_SUCCEEDED", run[0]),
            ("BATCH_SUCCEEDED", batch[0]),
            ("RUN_BEGAN", later[0]),
        ]


def test_ids_that_are_missing_at_first_are_looked_for(dsn: str) -> None:
    """A run that commits during the upgrade is met late; the migration notes the gaps."""
    migration = (install.sql_root() / "migrations/before_1_0/V102__event_tables.sql").read_text()
    statements = migration[migration.index("-- What has ended before the upgrade is history.") :]
    with psycopg.connect(dsn, autocommit=True) as conn, psycopg.connect(dsn) as late:
        conn.execute("CREATE SCHEMA dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        for code in "mno":
            conn.execute("CALL omd.register_module(%s, 'HSTG', 'dwh.t')", [code])
        late.execute("CALL omd.begin_module('m')")
        run = conn.execute("CALL omd.begin_module('n')").fetchone()
        assert run is not None
        conn.execute("CALL omd.module_success(%s)", [run[0]])
        conn.execute(
            "INSERT INTO omd.module_instance (module_instance_id, module_id, start_datetime,"
            " execution_status_code, processing_indicator, next_run_indicator)"
            " OVERRIDING SYSTEM VALUE VALUES (200000, 3, now(), 'E', 'P', 'P')"
        )
        for table in ("setting", "open_run", "gap"):
            conn.execute(f"DELETE FROM omd_event.{table}".encode())
        conn.execute(statements.encode())
        gaps = conn.execute("SELECT first_id, last_id FROM omd_event.gap").fetchall()
        # Only the newest 100,000 are looked at.
        assert gaps == [(100001, 199999)]
        conn.execute("DELETE FROM omd.module_instance WHERE module_instance_id = 200000")
        for table in ("setting", "open_run", "gap"):
            conn.execute(f"DELETE FROM omd_event.{table}".encode())
        conn.execute(statements.encode())
        gaps = conn.execute("SELECT first_id, last_id FROM omd_event.gap").fetchall()
        assert gaps == [(1, 1)]
        assert conn.execute("SELECT * FROM omd_event.open_run").fetchall() == []
        for _ in range(3):
            assert conn.execute("CALL omd_event.publish()").fetchone() == (0, 0)
        late.commit()
        assert conn.execute("CALL omd_event.publish()").fetchone() == (1, 1)


@pytest.mark.parametrize("status", ["E", "S", "F", "A", "C"])
def test_an_instance_of_before_says_by_its_state_whether_it_has_proceeded(
    dsn: str, status: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'HSTG', 'dwh.t')")
        conn.execute(
            "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
            " execution_status_code, processing_indicator, next_run_indicator)"
            " VALUES (1, now(), CASE WHEN %s <> 'E' THEN now() END, %s,"
            " CASE WHEN %s IN ('A', 'C') THEN %s ELSE 'P' END, 'P')",
            [status] * 4,
        )
        (row,) = conn.execute("SELECT has_proceeded FROM omd.followed_module_instance").fetchall()
        assert row == (status not in "AC",)
