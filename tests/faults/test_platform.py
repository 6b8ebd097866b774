"""Chaos over all rooms (platform.py), in short and without Spark; by hand it goes on, with Spark.

python tests/faults/platform.py --seconds 600
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from faults.platform import CHECKS, FAULTS, Chaos, possible
from support.lots import SEED, seconds

if TYPE_CHECKING:
    import psycopg


@pytest.mark.random
@pytest.mark.kill
def test_whatever_dies_each_delivered_row_is_once_in_all_that_is_made_of_it() -> None:
    told: list[str] = [f"OMD_SEED={SEED}"]
    faults = tuple(fault for fault in FAULTS if fault not in possible())
    # What waits for the clock after all must not let it fail: by hand it is off by an hour, too.
    jumps = (3, 20, 90)
    with Chaos(
        str(SEED), faults=faults, spark=False, pace=2.0, jumps=jumps, tell=told.append
    ) as chaos:
        chaos.play(seconds(60, least=60))  # until each fault has struck
        told.append(chaos.outcome())
        assert chaos.problems == [], "\n".join(told)
        assert {fault for fault in faults if not chaos.struck[fault]} == set(), "\n".join(told)
        assert chaos.supplier.told.total() > 0, "\n".join(told)
        with contextlib.closing(chaos.connect()) as conn:
            the_model_can_disagree(chaos, conn)


def the_model_can_disagree(chaos: Chaos, conn: psycopg.Connection[Any]) -> None:
    """A row that is lost, one that is twice, and an event of nothing are found."""
    changes = {
        "mart_nyc_night.departure": "DELETE FROM mart_nyc_night.departure"
        " WHERE ctid = (SELECT ctid FROM mart_nyc_night.departure"
        " WHERE acm_record_ind <> 'R' LIMIT 1)",
        "mart_nyc_night.care": "INSERT INTO mart_nyc_night.care SELECT * FROM mart_nyc_night.care"
        " WHERE ctid = (SELECT ctid FROM mart_nyc_night.care"
        " WHERE care <> 'taken back' ORDER BY acm_change_id DESC LIMIT 1)",
        "published once": "UPDATE omd_event.event SET subject_id = 0"
        " WHERE event_number = (SELECT max(event_number) FROM omd_event.event"
        " WHERE event_type = 'RUN_SUCCEEDED')",
    }
    for name, change in changes.items():
        with conn.transaction(force_rollback=True):
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute(change)
            wrong = [c.expected.table_code for c in chaos.compare(conn) if not c.holds]
            wrong += [
                check
                for check, query in CHECKS.items()
                if "published" in check and conn.execute(query).fetchall()
            ]
        assert any(name in found for found in wrong), (name, wrong)
