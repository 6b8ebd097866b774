"""Everything is replicated from 16 to 18 by a publication FOR ALL TABLES, under load (V23)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from faults.servers import Attack
from support.servers import _for_replication, wait
from web.world import build

if TYPE_CHECKING:
    from support.servers import Connection, Server

pytestmark = pytest.mark.kill

KINDS = ("table", "lake", "batch", "worker", "delivery")
TABLES = """
    SELECT c.oid::regclass::text AS name FROM pg_class AS c
    WHERE c.relkind = 'r' AND c.relpersistence = 'p'
        AND c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
    ORDER BY 1"""


def content(server: Server, tables: list[str]) -> dict[str, Any]:
    """Return how many rows each table has, and what is in them."""
    with contextlib.closing(server.connect()) as conn:
        conn.execute("SET TIME ZONE 'UTC'")
        return {
            table: conn.execute(
                "SELECT count(*) AS n, sum(hashtextextended(t::text, 0)) AS h"
                f" FROM {table} AS t".encode()
            ).fetchone()
            for table in tables
        }


def caught_up(conn: Connection) -> bool:
    [row] = conn.execute(
        "SELECT (SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel) AS is_copied"
    ).fetchall()
    return bool(row["is_copied"])


def test_the_whole_of_omd_moves_by_logical_replication_while_all_load() -> None:
    with Attack("9", kinds=KINDS, first=16, tell=lambda _: None) as attack:
        attack.new_world()
        old = attack.primary
        with contextlib.closing(old.connect()) as conn:
            build(conn)  # objects of each kind, and generated tables
            conn.execute(
                "CREATE PUBLICATION everything FOR ALL TABLES"
                " WITH (publish_via_partition_root = true)"
            )
        attack.start_sessions()
        new = attack.servers.restored(old, 18, attack.servers.dump(old, 18, "--schema-only"))
        with contextlib.closing(new.connect()) as conn:
            # A model that is deployed later has tables that are not there.
            conn.execute(
                f"CREATE SUBSCRIPTION everything CONNECTION '{_for_replication(old)} dbname=omd'"
                " PUBLICATION everything"
            )
            wait(lambda: caught_up(conn), "all tables are copied", 120)
            attack.go_on()  # all load beside it
            attack.check()
            attack.place = None
            attack.stop_sessions()
            position = old.position()
            wait(
                lambda: bool(
                    old.one(
                        "SELECT confirmed_flush_lsn >= %s::pg_lsn FROM pg_replication_slots"
                        " WHERE slot_name = 'everything'",
                        position,
                    )
                ),
                "the subscription has all",
                120,
            )
            assert not conn.execute(
                "SELECT FROM pg_stat_subscription_stats WHERE apply_error_count > 0"
            ).fetchall()
            tables = [row["name"] for row in old.execute(TABLES)]
            assert len(tables) > 100
            assert tables == [row["name"] for row in new.execute(TABLES)]
            before = content(old, tables)
            there = content(new, tables)
            wrong = {table: (before[table], there[table]) for table in tables}
            assert {t: w for t, w in wrong.items() if w[0] != w[1]} == {}
            assert sum(row["n"] > 0 for row in before.values()) > 60
            conn.execute("DROP SUBSCRIPTION everything")
        old.die()
        # Sequences are not replicated: they would begin at 1.
        attack.primary = new
        attack.open()
        attack.start_sessions()
        wait(lambda: attack.turns() > 20, "begins by hand go on")
        new.execute("CALL omd.confirm_server('MOVED', 'by logical replication')")
        attack.go_on()
        attack.check_at_rest()
        assert attack.problems == []
        kinds = [row["kind"] for row in new.execute("SELECT kind FROM omd_report.server_changes")]
        assert kinds == ["MOVED"]
