"""What an upgrade has done so far, for another session that looks on."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import dict_row

PROGRESS = ("phase", "step_code", "started_at", "ended_at", "rows_done", "last_key", "error")

_STEPS = (
    "SELECT u.phase, u.step_code, u.started_at, u.ended_at, u.rows_done, u.last_key, u.error"
    " FROM omd_report.upgrade AS u ORDER BY u.started_at"
)


def progress(conn: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    """Return the steps of the last upgrades, the oldest first; the keys are those of PROGRESS."""
    with conn.cursor(row_factory=dict_row) as cur:
        return cur.execute(_STEPS).fetchall()
