"""An upgrade gives the event log a column for reasons, beside those who write events."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from omd import install
from support.released import LONG_AGO

WAITS = (
    "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'omd.event_log'::regclass"
    " AND mode = 'AccessExclusiveLock' AND NOT granted)"
)


@pytest.mark.parametrize("upgraded", LONG_AGO[-1:], indirect=True)
def test_who_has_written_an_event_may_begin_a_run(upgraded: str) -> None:
    """The upgrade waits for the log, and holds nothing that a begin needs."""
    with (
        psycopg.connect(upgraded, autocommit=True, options="-c omd.reason=upgrade") as conn,
        psycopg.connect(upgraded, options="-c lock_timeout=20s") as late,
        psycopg.connect(upgraded, autocommit=True) as watcher,
        ThreadPoolExecutor(1) as pool,
    ):
        conn.execute("CALL omd.register_module('n', 'HSTG', 'dwh.t')")
        # It has read nothing of process control yet, else the upgrade would wait for it before.
        late.execute(
            "INSERT INTO omd.event_log (event_datetime, event_type_code) VALUES (now(), 3)"
        )
        [before] = late.execute("SELECT max(event_id) FROM omd.event_log").fetchone()  # type: ignore[misc]
        installs = pool.submit(install.install, conn)
        try:
            deadline = time.monotonic() + 60
            while watcher.execute(WAITS).fetchone() != (True,):
                assert not installs.done(), installs.result()
                assert time.monotonic() < deadline
            run = late.execute("CALL omd.begin_module('n')").fetchone()
            assert not installs.done()
            late.execute("CALL omd.log_event('after', %s)", [run[0]])  # type: ignore[index]
        finally:
            late.commit()
        installs.result(60)
        late.execute("CALL omd.module_success(%s)", [run[0]])  # type: ignore[index]
        late.commit()
        # Nobody gave a reason for what was done before.
        reasons = conn.execute(
            "SELECT DISTINCT reason FROM omd.event_log WHERE event_id <= %s", [before]
        ).fetchall()
        assert reasons == [(None,)]
        late.execute("SET omd.reason = 'because'")
        late.execute("CALL omd.log_event('now', 1)")
        assert late.execute(
            "SELECT reason FROM omd_report.event_log ORDER BY event_id DESC LIMIT 1"
        ).fetchone() == ("because",)
