"""A question to the ledger does not grow with the history: a few pages per reader and Module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

MODULES = 12  # the first one writes, and the others read it
HISTORY = """
    INSERT INTO omd.module_instance (
        module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator, success_order, newest_instance_id
    )
    SELECT m.id, '2020-01-01'::timestamptz + n * interval '1 second',
        '2020-01-01'::timestamptz + n * interval '1 second', 'S', 'P', 'P', n, n
    FROM generate_series(1, 24000) AS s (n)
    JOIN (SELECT module_id AS id, row_number() OVER (ORDER BY module_id) - 1 AS at
        FROM omd.module) AS m ON m.at = s.n % 12
    ORDER BY n;
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, start_id, end_value, end_id
    )
    SELECT mi.module_instance_id, mi.module_id, mi.start_datetime - interval '12 seconds', 0,
        mi.start_datetime, 0
    FROM omd.module_instance AS mi WHERE mi.module_id % 2 = 0;
    INSERT INTO dwh.t SELECT mi.start_datetime, 0, mi.module_instance_id
    FROM omd.module_instance AS mi WHERE mi.module_instance_id > 0;
"""


@pytest.fixture
def dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """A database of its own: dead rows of other tests would be counted as pages of this one."""
    with new_database() as dsn:
        yield dsn


@pytest.fixture
def conn(connect: Callable[..., Connection], dsn: str) -> Connection:
    conn = connect(dsn)
    conn.execute("CREATE SCHEMA dwh")
    return conn


def test_pages_follow_the_readers_and_not_the_history(conn: Connection) -> None:
    conn.execute(
        "CREATE TABLE dwh.t (pos timestamptz, id bigint, omd_insert_module_instance_id bigint);"
        "CREATE INDEX ON dwh.t (omd_insert_module_instance_id);"
        "CREATE TABLE dwh.o (omd_insert_module_instance_id bigint)"
    )
    for number in range(MODULES):
        table = "dwh.o" if number else "dwh.t"
        conn.execute("CALL omd.register_module(%s, 'HSTG', %s)", (f"m{number}", table))
        row = conn.execute(
            "SELECT module_id FROM omd.module WHERE module_code = %s", (f"m{number}",)
        ).fetchone()
        assert row is not None
        is_cut = row["module_id"] % 2 == 0
        read = {"kind": "WINDOW", "pos": "pos", "id": "id"} if is_cut else {"kind": "ALL"}
        if number:
            conn.execute(
                "SELECT omd.save_inputs(%s, 'ROOM', %s)",
                (row["module_id"], Jsonb([{"table": "dwh.t", **read}])),
            )
    conn.execute(HISTORY)
    conn.execute("VACUUM ANALYZE omd.module, omd.module_input")
    conn.execute("VACUUM ANALYZE omd.module_instance, omd.source_control, dwh.t")
    query = "SELECT * FROM omd_provenance.direct_readers(ARRAY[%s])"
    for behind in (2, 20):
        run = 24000 - behind * MODULES
        readers = len(conn.execute(query, (run,)).fetchall())
        conn.execute(query, (run,))
        row = conn.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) " + query, (run,)).fetchone()
        assert row is not None
        plan = row["QUERY PLAN"][0]["Plan"]
        pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        assert readers >= behind * (MODULES - 2) // 2
        assert pages <= 20 * (readers + MODULES), f"{pages} pages for {readers} readers"
