"""An installation stops nobody: it holds no lock that a begin or a write would wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs import install
from omd.programs.install import upgrading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.server

# Those that conflict with ROW EXCLUSIVE, on what is there for others.
STOPPING = """
    SELECT c.oid::regclass::text, l.mode
    FROM pg_locks AS l
    INNER JOIN pg_class AS c ON l.relation = c.oid
    WHERE l.pid = pg_backend_pid()
        AND c.relnamespace::regnamespace::text ~ '^(omd|lvl|wrk|stg|cfl|gdal|asof|history)(_|$)'
        AND c.relkind IN ({kinds})
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    ORDER BY 1
"""
TABLES = STOPPING.format(kinds="'r', 'p'")
ALL = STOPPING.format(kinds="'r', 'p', 'v', 'm'")
OWN = ("omd.installed_file", "ShareRowExclusiveLock")
# Something of each room that makes tables of its own.
SCENE = """
    CALL omd_dispatch.register_family('PARCEL', '{"DEPOT": "text"}');
    CALL omd_delivery.deploy_model('{"interface": "shop", "entities": [{"name": "orders",
        "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'shop');
    CALL omd_facts.deploy('shop')
"""


@pytest.fixture
def conn(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in SCENE.split(";\n"):
            conn.execute(statement.encode())
        yield conn


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[tuple[str, str]]]:
    """A function that says what is looked at; what is held when each transaction ends."""
    seen: list[tuple[str, str]] = []
    query = TABLES
    pinned = upgrading.pinned

    def watched(conn: psycopg.Connection[Any]) -> Any:
        return _Watched(pinned(conn), conn)

    class _Watched:
        def __init__(self, inner: Any, conn: psycopg.Connection[Any]) -> None:
            self._inner, self._conn = inner, conn

        def __enter__(self) -> None:
            self._inner.__enter__()

        def __exit__(self, *error: Any) -> Any:
            if error[0] is None:
                seen.extend(self._conn.execute(query.encode()).fetchall())
            return self._inner.__exit__(*error)

    def look(text: str) -> list[tuple[str, str]]:
        nonlocal query
        query = text
        monkeypatch.setattr(upgrading, "pinned", watched)
        return seen

    return look


def test_everything_applied_anew_stops_no_writer(conn, held) -> None:
    conn.execute("DELETE FROM omd.installed_file WHERE kind = 'repeatable'")
    seen = held(TABLES)
    done = [step for step in install.install(conn) if step.action.value == "apply"]
    assert len(done) > 1000
    assert OWN in seen
    assert set(seen) == {OWN}


def test_a_view_or_trigger_is_replaced_only_where_its_definition_differs(conn, tree, held) -> None:
    """Not even who reads a view waits."""
    trigger = "sql/triggers/omd/instance_edit.sql"
    view = "sql/views/omd/runs/throughput_per_day.sql"
    conn.execute("DELETE FROM omd.installed_file WHERE kind = 'repeatable'")
    for path, before, after in (
        (trigger, "AFTER UPDATE ON {table}", "AFTER UPDATE OF next_run_indicator ON {table}"),
        (view, "i.rows_discarded,", "i.rows_discarded + 0 AS rows_discarded,"),
    ):
        text = (tree.root / path).read_text()
        assert before in text
        (tree.root / path).write_text(text.replace(before, after, 1))
    seen = held(ALL)
    install.install(conn, tree.root)
    assert set(seen) == {
        OWN,
        ("omd.batch_instance", "ShareRowExclusiveLock"),
        ("omd_report.throughput_per_day", "AccessExclusiveLock"),
    }
    (definition,) = conn.execute(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'trg_batch_instance_edit'"
    ).fetchone()
    assert "OF next_run_indicator" in definition
    (definition,) = conn.execute(
        "SELECT pg_get_viewdef('omd_report.throughput_per_day'::regclass)"
    ).fetchone()
    assert "i.rows_discarded + " in definition


def test_psql_stops_no_writer_either(conn, dsn, psql) -> None:
    """A session that has written into the tables and stays in its transaction is no obstacle."""
    with psycopg.connect(dsn) as other:
        other.execute("UPDATE omd.module_instance SET module_id = module_id WHERE FALSE")
        other.execute("UPDATE omd.batch_instance SET batch_id = batch_id WHERE FALSE")
        other.execute("UPDATE omd.module SET job = job WHERE FALSE")
        other.execute("DELETE FROM omd_lake.table_commit WHERE FALSE")
        other.execute("DELETE FROM omd_delivery.delivery WHERE FALSE")
        other.execute("DELETE FROM omd_lineage.topic WHERE FALSE")
        other.execute("DELETE FROM omd_dispatch.task_schedule WHERE FALSE")
        done = psql(
            psycopg.conninfo.make_conninfo(dsn, options="-c lock_timeout=20s"),
            install.sql_root() / install.MANIFEST,
        )
        assert (done.returncode, done.stderr) == (0, "")
