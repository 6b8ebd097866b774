"""A trace of one run both ways, in a small company."""

from __future__ import annotations

from bench.company import small
from bench.turns import Connection, Take, timed

ROUNDS = 15
MIDDLE = """
    SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY module_instance_id) FROM omd.source_control
"""


def prepare(conn: Connection, size: float = 1) -> Take:
    small(conn, size)
    run = conn.execute(MIDDLE).fetchone()
    query = "SELECT * FROM omd_provenance.trace(%s, 'BOTH', 1)"
    return timed(lambda: conn.execute(query, run).fetchall())
