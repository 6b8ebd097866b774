"""No plan of a path that runs often depends on statistics.

On a fresh installation no table has been analysed, and a plan that was made then stays in a
session. Each path that tests/benchmarks/beside_a_sleeper.py takes is played in a database that was
never analysed: with the plans that were made while the tables were empty, with plans that are made
when they are filled, and after an ANALYZE. Compared is what is read of the tables that grow, which
no other load of the machine moves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

PATHS = (
    "begin",
    "batch",
    "step",
    "facts",
    "stage",
    "task",
    "create",
    "publish",
    "heartbeat",
    "ready",
)
CALLS = {"batch": 20, "facts": 40, "stage": 80}
WARM = 12  # the sixth call of a statement may choose another plan
MEASURED = 5
BLOCKS = """
SELECT schemaname || '.' || relname, heap_blks_read + heap_blks_hit
    + coalesce(idx_blks_read + idx_blks_hit, 0)
FROM pg_statio_all_tables
WHERE schemaname LIKE 'omd%'
"""
SCANNED = """
SELECT schemaname || '.' || relname, seq_tup_read FROM pg_stat_all_tables
WHERE schemaname LIKE 'omd%'
"""
WRITTEN = """
SELECT schemaname || '.' || relname, n_tup_ins FROM pg_stat_all_tables
WHERE schemaname LIKE 'omd%'
"""


class Session:
    """A session that plays a path, and what the server counts meanwhile."""

    def __init__(self, dsn: str, path: str) -> None:
        from bench import paths

        self.conn = psycopg.connect(dsn, autocommit=True, prepare_threshold=0)
        self.watch = psycopg.connect(dsn, autocommit=True)
        self.run = paths.prepare(path, self.conn)

    def play(self, calls: int) -> None:
        for _ in range(calls):
            self.run()

    def _counts(self, query: str) -> Counter[str]:
        self.conn.execute("SELECT pg_stat_force_next_flush()")
        self.conn.execute("SELECT 1")
        return Counter(dict(self.watch.execute(query.encode()).fetchall()))

    def difference(self, calls: int, *queries: str) -> list[Counter[str]]:
        """Return what ``calls`` calls add to what each of ``queries`` counts."""
        before = [self._counts(query) for query in queries]
        self.play(calls)
        return [self._counts(query) - was for query, was in zip(queries, before, strict=True)]

    def close(self) -> None:
        self.conn.close()
        self.watch.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_path_reads_no_more_before_the_first_analyze(
    new_database: Callable[[], AbstractContextManager[str]],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    calls = CALLS.get(path, 150)
    with new_database() as dsn:
        session = Session(dsn, path)
        try:
            session.play(WARM)
            (written,) = session.difference(calls, WRITTEN)
            growing = {table for table, rows in written.items() if rows >= calls / 2}
            reads = {}
            for plans in ("made while empty", "made when filled"):
                blocks, scanned = session.difference(MEASURED, BLOCKS, SCANNED)
                reads[plans] = sum(blocks[table] for table in growing) / MEASURED
                whole = {t: n for t, n in scanned.items() if t in growing and n > MEASURED}
                assert not whole, f"with plans {plans} these are read whole: {whole}"
                session.conn.execute("DISCARD PLANS")
                session.play(WARM)
            session.conn.execute("ANALYZE")
            session.play(WARM)
            (blocks,) = session.difference(MEASURED, BLOCKS)
            analysed = sum(blocks[table] for table in growing) / MEASURED
        finally:
            session.close()
    assert max(reads.values()) <= 1.2 * analysed + 10, (reads, analysed)
