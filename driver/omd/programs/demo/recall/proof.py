"""The proof of the demo: all tables are as if the wrong delivery had never been."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.demo.control.proof import Check, Contents, contents_of
from omd.programs.demo.files import MISSING
from omd.programs.demo.platform import proof
from omd.programs.demo.platform.proof import Flight, named

NAME = "nyc_recall"
_TOTAL = """
    SELECT
        'mart_nyc_night.total', count(*), count(DISTINCT t.day),
        count(*) FILTER (WHERE l.execution_status_code IS DISTINCT FROM 'S'),
        coalesce(sum(('x' || left(md5(t.line), 15))::bit(60)::bigint), 0)
    FROM (
        SELECT t.*, concat_ws('|', t.day, t.flights, t.delay) AS line FROM mart_nyc_night.total AS t
    ) AS t
    LEFT JOIN omd_report.module_execution_log AS l
        ON t.omd_insert_module_instance_id = l.module_instance_id
"""


def prove(
    connection: psycopg.Connection[Any], name: str, accepted: Mapping[int, Sequence[Flight]]
) -> list[Check]:
    """Compare all tables, and the totals, with the files of each day that were right."""
    checks = proof.prove(connection, name, accepted)
    current = {tuple(row[:3]): row for day in sorted(accepted) for row in accepted[day]}
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in current.values():
        totals[row[3]][0] += 1
        totals[row[3]][1] += 0 if row[6] == MISSING else int(row[6])
    lines = ([day, *map(str, numbers)] for day, numbers in totals.items())
    with connection.cursor(row_factory=tuple_row) as cursor:
        [there] = cursor.execute(named(_TOTAL, name).encode()).fetchall()
    total = Contents(there[0], *map(int, there[1:]))
    return [*checks, Check(contents_of(f"mart_{name}.total", lines), total)]
