"""One database for many tests, emptied before each, and `Flow`, which has calls without logic.

A folder that uses it imports the fixtures of support.emptied in its conftest.py.
"""

from __future__ import annotations

import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support import user_code
from support.database import copied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    Connection = psycopg.Connection[dict[str, Any]]

# The shortest lease; a call of Flow returns when it has expired.
PASSED = timedelta(milliseconds=10)
USES = 30  # tests that share a session
# A database per test would take more time than the tests themselves.
FORGET = (
    "RESET SESSION AUTHORIZATION",
    "RESET ROLE",
    "RESET ALL",
    "DISCARD TEMP",
    "SELECT pg_advisory_unlock_all()",
    "UNLISTEN *",
)
EMPTY = """
    SET session_replication_role = replica;
    DO $$
    DECLARE
        v_name text;
    BEGIN
        PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND backend_type = 'client backend';
        -- Rows 0 are the placeholders.
        DELETE FROM omd.module_instance WHERE module_instance_id > 0;
        DELETE FROM omd.batch_instance WHERE batch_instance_id > 0;
        UPDATE omd.installation AS i SET
            system_identifier = s.system_identifier, database_oid = s.database_oid,
            timeline_id = s.timeline_id, server_start = s.server_start, table_oid = s.table_oid,
            on_failover = 'GO_ON', is_copy = FALSE
        FROM omd._server_now() AS s;
        PERFORM setval('omd.settled_server', 1, FALSE);  -- nothing was settled
        -- What has no page has no row; to ask is a tenth of a DELETE.
        FOR v_name IN
            SELECT oid::regclass FROM pg_class
            WHERE relkind IN ('r', 'p') AND NOT relispartition
                AND (relkind = 'p' OR pg_relation_size(oid) > 0)
                AND CASE relnamespace::regnamespace::text
                    WHEN 'omd' THEN relname IN (
                        'batch', 'batch_hierarchy', 'batch_module', 'batch_parameter', 'dead_run',
                        'event_log', 'left_rows', 'module', 'module_companion',
                        'module_declaration', 'module_input', 'module_parameter',
                        'module_read', 'module_return', 'module_state',
                        'parameter', 'pending_recall', 'run_input', 'server_change', 'source',
                        'source_control', 'source_reader', 'source_table', 'undone_read',
                        'undone_run', 'window_return', 'write_ledger'
                    )
                    -- Families stay: they have tables of their own.
                    WHEN 'omd_dispatch' THEN relname IN ('backend_registration', 'mutex')
                        OR relname ~ '^task_(data|death|schedule|suspension)'
                    ELSE relnamespace::regnamespace::text
                        IN (
                            'omd_decision', 'omd_delivery', 'omd_event', 'omd_facts', 'omd_lake',
                            'omd_lineage', 'omd_provenance'
                        )
                        -- Reference rows stay.
                        AND relname NOT IN (
                            'constraint_type', 'delivery_status', 'delivery_transition',
                            'event_type', 'metric', 'setting', 'watch'
                        )
                END
        LOOP
            EXECUTE format('DELETE FROM %s', v_name);
        END LOOP;
        DELETE FROM omd_dispatch.task_source WHERE family_code <> 'WORK';
        UPDATE omd_dispatch.task_source SET
            inactive_indicator = 'Y', last_fired_at = NULL, took = NULL, is_firing = FALSE,
            attempt = 0, retry_time = NULL, created_count = 0, problem = NULL;
        UPDATE omd.maintenance SET begun_datetime = '-infinity';
        UPDATE omd_event.setting SET
            event_number = 0, counted_number = 0, module_instance_id = 0, batch_instance_id = 0,
            job_namespace = NULL, dataset_namespace = NULL, web_url = NULL, keep = '30 days',
            published_datetime = NULL;
        UPDATE omd_event.watch SET watched_datetime = NULL;
        -- The templates that users add belong to a Module or to the area PRES.
        DELETE FROM omd.rollback_template
        WHERE module_id IS NOT NULL OR (
            area_code = 'PRES' AND (table_format_code IN ('ICEBERG', 'DELTA')) IS NOT TRUE
        );
        PERFORM setval(pg_get_serial_sequence(t, c), 1, false)
        FROM (VALUES
            ('omd.batch', 'batch_id'),
            ('omd.module', 'module_id'),
            ('omd.batch_instance', 'batch_instance_id'),
            ('omd.module_instance', 'module_instance_id'),
            ('omd.event_log', 'event_id'),
            ('omd_lineage.topic', 'topic_id'),
            ('omd_delivery.delta_queue', 'queue_id'),
            ('omd_delivery.removal', 'removal_id')
        ) AS s (t, c);
        FOR v_name IN
            SELECT nspname FROM pg_namespace
            WHERE nspname !~ '^(pg_|omd|user_code$|information_schema$|public$)'
        LOOP
            EXECUTE format('DROP SCHEMA %I CASCADE', v_name);
        END LOOP;
        FOR v_name IN SELECT pubname FROM pg_publication LOOP
            EXECUTE format('DROP PUBLICATION %I', v_name);
        END LOOP;
        CREATE SCHEMA dwh;
    END
    $$;
    RESET session_replication_role;
"""


@pytest.fixture(scope="session")
def control_dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """The connection string of the database that is emptied before each test that asks for it."""
    with new_database() as dsn:
        yield dsn


@pytest.fixture(scope="session")
def emptied(server: str, template: str, control_dsn: str) -> Iterator[Callable[[], Connection]]:
    """A function that empties the database and returns the connection that did it.

    A new session compiles every routine again, which takes longer than most tests. An old one
    looks at each plan that it has ever made whenever a table is created or dropped. The database
    is new then too: nothing vacuums it, and what was deleted is read by each test that follows.
    """
    sessions: list[Connection] = []
    uses = itertools.count(1)

    def fresh() -> Connection:
        if next(uses) % USES == 0:
            sessions.pop().close()
            copied(server, template, str(conninfo_to_dict(control_dsn)["dbname"]))
        if sessions and sessions[-1].info.transaction_status != TransactionStatus.UNKNOWN:
            sessions[-1].rollback()
        else:
            sessions.append(psycopg.connect(control_dsn, autocommit=True, row_factory=dict_row))
        for statement in FORGET:
            sessions[-1].execute(statement)
        list(sessions[-1].notifies(timeout=0))  # what the test before did not hear
        sessions[-1].execute(EMPTY)
        user_code.WATCH.switch(sessions[-1])
        return sessions[-1]

    yield fresh
    for session in sessions:
        session.close()


class Begun(NamedTuple):
    """The answer of a begin or an evaluation."""

    id: int
    pi: str
    reason: str | None
    array: list[int] | None = None

    @property
    def answer(self) -> tuple[str, str | None]:
        return self.pi, self.reason


class BatchRun(NamedTuple):
    """A whole run of a Batch, and the answers to its Modules."""

    id: int
    modules: dict[str, Begun]

    def __getitem__(self, code: str) -> Begun:  # type: ignore[override]
        return self.modules[code]


class Flow:
    """The procedures over one connection, and short cuts for test data."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn

    # Calls

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        """CALL omd.routine, or schema.routine, with named arguments, each prefixed by p_."""
        values = {k: Jsonb(v) if isinstance(v, dict) else v for k, v in arguments.items()}
        schema, _, name = routine.rpartition(".")
        query = sql.SQL("CALL {}({})").format(
            sql.Identifier(schema or "omd", name),
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(f"p_{k}"), sql.Placeholder(k))
                for k in values
            ),
        )
        cursor = self.conn.execute(query, values)
        row = cursor.fetchone() if cursor.description else None
        if arguments.get("lease") == PASSED:
            self.conn.execute("SELECT pg_sleep(0.01)")
        return {k.removeprefix("p_"): v for k, v in (row or {}).items()}

    def refused(self, sqlstate: str, routine: str, /, **arguments: Any) -> dict[str, Any]:
        """Check that a call fails with this error and a HINT; returns its JSON DETAIL."""
        with pytest.raises(psycopg.Error) as caught:
            self.call(routine, **arguments)
        return checked(caught.value, sqlstate)

    def rows(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        return self.conn.execute(query.encode(), parameters).fetchall()

    def one(self, query: str, *parameters: Any) -> Any:
        (row,) = self.rows(query, *parameters)
        (value,) = row.values()
        return value

    def owner(self, query: str, *parameters: Any) -> None:
        """Change a table of OMD as its owner, without triggers, for test data."""
        self.conn.execute("SET ROLE omd_owner")
        try:
            self.conn.execute(query.encode(), parameters)
        finally:
            self.conn.execute("RESET ROLE")

    # Registration

    def module(
        self, code: str = "m", /, *, batches: tuple[str, ...] = (), **attributes: Any
    ) -> str:
        """Register a Module, by default a HUB in dwh, with its target table."""
        given = {
            "area_code": "INT",
            "table_code": f"dwh.{code}",
            "table_type_code": "HUB",
            "platform_code": "POSTGRES",
            **attributes,
        }
        self.call("register_module", module_code=code, **given)
        if given["platform_code"] == "POSTGRES" and given["table_code"] == f"dwh.{code}":
            self.conn.execute(
                f"CREATE TABLE IF NOT EXISTS dwh.{code}"
                " (v text, omd_insert_module_instance_id bigint)".encode()
            )
        for batch in batches:
            self.call("add_module_to_batch", batch_code=batch, module_code=code)
        return code

    def batch(self, code: str = "b", /, *modules: str, **attributes: Any) -> str:
        """Register a Batch with these Modules in this order; they are registered too."""
        given = {"frequency_code": "Adhoc", **attributes}
        self.call("register_batch", batch_code=code, **given)
        for sequence, module in enumerate(modules, 1):
            if not self.rows("SELECT 1 FROM omd.module WHERE module_code = %s", module):
                self.module(module)
            self.call("add_module_to_batch", batch_code=code, module_code=module, sequence=sequence)
        return code

    # Runs

    def begin_batch(self, code: str = "b", **arguments: Any) -> Begun:
        row = self.call("begin_batch", batch_code=code, **arguments)
        return Begun(row["batch_instance_id"], row["processing_indicator"], row["reason"])

    def begin_module(self, code: str = "m", batch: int = 0, **arguments: Any) -> Begun:
        row = self.call("begin_module", module_code=code, batch_instance_id=batch, **arguments)
        return Begun(
            row["module_instance_id"],
            row["processing_indicator"],
            row["reason"],
            row["instance_array"],
        )

    def evaluate_batch(self, id: int) -> Begun:
        row = self.call("evaluate_batch", batch_instance_id=id)
        return Begun(id, row["processing_indicator"], row["reason"])

    def evaluate_module(self, id: int) -> Begun:
        row = self.call("evaluate_module", module_instance_id=id)
        return Begun(id, row["processing_indicator"], row["reason"], row["instance_array"])

    def create_batch(self, code: str = "b", **arguments: Any) -> int:
        return self.call("create_batch_instance", batch_code=code, **arguments)["batch_instance_id"]

    def create_module(self, code: str = "m", batch: int = 0) -> int:
        return self.call("create_module_instance", module_code=code, batch_instance_id=batch)[
            "module_instance_id"
        ]

    def end_module(self, id: int, status: str) -> int:
        action = {"S": "success", "F": "failure", "A": "abort", "C": "skip"}[status]
        self.call(f"module_{action}", module_instance_id=id)
        return id

    def end_batch(self, id: int, status: str) -> int:
        action = {"S": "success", "F": "failure", "A": "abort", "C": "skip"}[status]
        self.call(f"batch_{action}", batch_instance_id=id)
        return id

    def run_module(self, code: str = "m", status: str = "S", batch: int = 0) -> int:
        """Run a Module that may proceed, from begin to end."""
        begun = self.begin_module(code, batch)
        assert begun.pi == "P", begun
        return self.end_module(begun.id, status)

    def run_batch(self, code: str = "b", **modules: str) -> BatchRun:
        """Run a Batch that may proceed; a Module that may not proceed has ended already."""
        batch = self.begin_batch(code)
        assert batch.pi == "P", batch
        begun = {}
        for module, status in modules.items():
            begun[module] = self.begin_module(module, batch.id)
            if begun[module].pi == "P":
                self.end_module(begun[module].id, status)
        self.end_batch(batch.id, "F" if "F" in modules.values() else "S")
        return BatchRun(batch.id, begun)

    def set_next(self, code: str, *, batch: int | None = None, module: int | None = None) -> None:
        """Update the Next Run Indicator, as an administrator does."""
        kind, id = ("batch", batch) if batch else ("module", module)
        self.conn.execute("SET ROLE omd_admin")
        try:
            changed = self.conn.execute(
                f"UPDATE omd.{kind}_instance SET next_run_indicator = %s"
                f" WHERE {kind}_instance_id = %s".encode(),
                [code, id],
            )
        finally:
            self.conn.execute("RESET ROLE")
        assert changed.rowcount == 1

    def deactivate(self, table: str, where: str, value: str = "Y") -> None:
        self.conn.execute(
            f"UPDATE omd.{table} SET inactive_indicator = '{value}' WHERE {where}".encode()
        )

    # What there is

    def codes(self, *, batch: int | None = None, module: int | None = None) -> str:
        """Return Execution Status Code, Processing Indicator, Next Run Indicator, as in 'E A P'."""
        kind, id = ("batch", batch) if batch else ("module", module)
        return self.one(
            "SELECT concat_ws(' ', execution_status_code, processing_indicator, next_run_indicator)"
            f" FROM omd.{kind}_instance WHERE {kind}_instance_id = %s",
            id,
        )

    def failures(self, *, batch: int = 0, module: int = 0) -> int:
        """Return how many process events the log has for this instance."""
        return self.one(
            "SELECT count(*) FROM omd.event_log WHERE event_type_code = 2 AND ("
            " (%s > 0 AND module_instance_id = %s)"
            " OR (%s > 0 AND module_instance_id = 0 AND batch_instance_id = %s))",
            module,
            module,
            batch,
            batch,
        )

    def write(self, id: int, table: str = "dwh.m", rows: int = 2) -> None:
        """Insert rows stamped with a Module Instance ID, as a load writes them."""
        self.conn.execute(
            f"INSERT INTO {table} (omd_insert_module_instance_id)"
            " SELECT %s FROM generate_series(1, %s)".encode(),
            [id, rows],
        )

    def stamps(self, table: str = "dwh.m") -> dict[int, int]:
        """Return how many rows of the table carry each Module Instance ID."""
        query = f"SELECT omd_insert_module_instance_id AS id, count(*) AS n FROM {table} GROUP BY 1"
        # Tests alter the type of the stamp: a prepared statement then fails, and psycopg before
        # 3.3.5 goes on using it.
        found = self.conn.execute(query.encode(), prepare=False)
        return {row["id"]: row["n"] for row in found}


def checked(error: psycopg.Error, sqlstate: str) -> dict[str, Any]:
    assert error.sqlstate == sqlstate, error
    assert error.diag.message_hint
    detail = json.loads(error.diag.message_detail or "")
    assert isinstance(detail, dict)
    return detail


@pytest.fixture
def flow(conn: Connection) -> Flow:
    """The procedures over the connection of ``conn``, as a superuser."""
    return Flow(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Flow]:
    """A function that returns the procedures over a connection of their own, also as a role."""
    return lambda **arguments: Flow(connect(**arguments))


@pytest.fixture
def background() -> Iterator[Callable[..., Future[Any]]]:
    """A function that starts a function in a thread."""
    with ThreadPoolExecutor(max_workers=64) as pool:
        yield pool.submit


@pytest.fixture
def until_settled(control_dsn: str) -> Iterator[Callable[[Flow, Future[Any]], None]]:
    """A function that returns once a call in the background waits for a lock, or is done."""
    with psycopg.connect(control_dsn, autocommit=True, row_factory=dict_row) as watch:

        def until_settled(flow: Flow, call: Future[Any]) -> None:
            pid = flow.conn.info.backend_pid
            until = time.monotonic() + 60  # a busy machine needs its time
            while time.monotonic() < until:
                query = "SELECT cardinality(pg_blocking_pids(%s)) > 0 AS waits"
                if call.done() or watch.execute(query, [pid]).fetchone() == {"waits": True}:
                    return
            pytest.fail("the call neither waits for a lock nor ends")

        yield until_settled


@pytest.fixture
def cancelled(control_dsn: str) -> Iterator[Callable[..., Any]]:
    """A function that cancels a call in the background, and returns its answer or raises its error.

    It cancels once the call waits for a lock or sleeps, and has done so for a time that is given.
    """
    with psycopg.connect(control_dsn, autocommit=True) as watch:

        def cancelled(flow: Flow, call: Future[Any], after: timedelta = timedelta(0)) -> Any:
            pid = flow.conn.info.backend_pid
            until = time.monotonic() + 60
            query = (
                "SELECT wait_event = 'PgSleep' OR cardinality(pg_blocking_pids(pid)) > 0"
                " FROM pg_stat_activity WHERE pid = %s"
            )
            # A cancel that comes as lock_timeout ends a wait is lost, so it is sent again.
            while not call.done():
                assert time.monotonic() < until
                if watch.execute(query, [pid]).fetchone() == (True,):
                    watch.execute("SELECT pg_sleep(%s)", [after.total_seconds()])
                    watch.execute("SELECT pg_cancel_backend(%s)", [pid])
                    wait([call], timeout=1)
            return call.result()

        yield cancelled
