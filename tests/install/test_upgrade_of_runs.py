"""Runs that execute while a released version is upgraded end well, and what is recorded stands."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs import install
from support.released import oldest, released

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connect = Callable[..., psycopg.Connection[Any]]

EXECUTABLE = "SELECT pg_advisory_xact_lock(42)"
# An error of lineage: an upgrade writes it late.
LATE = "SELECT FROM omd.error_catalogue WHERE sqlstate_code = 'OM206' FOR UPDATE"
RETIRED = (
    "SELECT count(*) FROM pg_proc AS p WHERE obj_description(p.oid, 'pg_proc') LIKE 'Retired.%'"
)
# V218 drops it with the table that it reads, in the phase contract.
CONTRACTED = {"omd._undo_routine"}
# The routines of OMD that routines of OMD call.
NAMED = r"""
    SELECT DISTINCT called.name
      FROM pg_proc AS p, regexp_matches(p.prosrc, '\m(omd(?:_[a-z]+)?\.[a-z_0-9]+)\(', 'g') AS m,
           unnest(m) AS called (name)
     WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)'
       AND called.name IN (SELECT pronamespace::regnamespace || '.' || proname FROM pg_proc)
"""


def scene(conn: psycopg.Connection[Any]) -> None:
    """b contains m1 and m2, and its child c contains m3; m1 waits."""
    conn.execute("CALL omd.register_batch('b', 'Adhoc')")
    conn.execute("CALL omd.register_batch('c', 'Adhoc')")
    conn.execute("CALL omd.add_batch_to_parent_batch('c', 'b')")
    for n, (batch, executable) in enumerate(
        (("b", EXECUTABLE), ("b", "SELECT 1"), ("c", "SELECT 1")), 1
    ):
        call = "CALL omd.register_module(%s, 'HSTG', 'dwh.t', p_executable => %s)"
        conn.execute(call, [f"m{n}", executable])
        conn.execute("CALL omd.add_module_to_batch(%s, %s, %s)", [batch, f"m{n}", n])


class Sessions:
    """Sessions beside the test's own: each executes one statement."""

    def __init__(self, connect: Connect, dsn: str, pool: ThreadPoolExecutor) -> None:
        self.conn = connect(dsn, row_factory=psycopg.rows.tuple_row)
        self.readers: list[psycopg.Connection[Any]] = []
        self._connect, self._dsn, self._pool = connect, dsn, pool

    def call(self, statement: str, role: str | None = None) -> Future[Any]:
        """Execute the statement in a session of its own."""
        session = self._connect(self._dsn, role=role, row_factory=psycopg.rows.tuple_row)

        def execute() -> Any:
            cursor = session.execute(statement.encode())
            return cursor.fetchone() if cursor.description else None

        run = self._pool.submit(execute)
        run.pid = session.info.backend_pid  # type: ignore[attr-defined]
        return run

    def start(self, statement: str, role: str | None = None) -> Future[Any]:
        """Execute the statement in a session of its own; return when it waits for a lock."""
        run = self.call(statement, role)
        self.wait(run)
        return run

    def upgrade(self, behind: psycopg.Connection[Any] | None = None) -> Future[Any]:
        """Start the upgrade; return when it waits for a lock, or for that session."""
        session = self._connect(self._dsn)
        run = self._pool.submit(install.install, session)
        run.pid = session.info.backend_pid  # type: ignore[attr-defined]
        self.wait(run, behind)
        return run

    def reader(self, statement: str) -> psycopg.Connection[Any]:
        """A session with a transaction that has read."""
        session = self._connect(self._dsn, autocommit=False)
        session.execute(statement.encode())
        self.readers.append(session)
        return session

    def wait(self, run: Future[Any], behind: psycopg.Connection[Any] | None = None) -> None:
        """Return when the statement waits for a lock, or for that session."""
        waits = (
            "SELECT coalesce(%s::integer = ANY(p.pids), p.pids <> '{}')"
            " FROM (SELECT pg_blocking_pids(%s) AS pids) AS p"
        )
        who = [behind and behind.info.backend_pid, run.pid]  # type: ignore[attr-defined]
        while self.conn.execute(waits, who).fetchone() == (False,):
            assert not run.done(), run.result()

    def hold(self) -> None:
        """Whoever comes to the lock 42 waits."""
        self.conn.execute("SELECT pg_advisory_lock(42)")

    def let_go(self) -> None:
        self.conn.execute("SELECT pg_advisory_unlock_all()")


@pytest.fixture
def sessions(
    connect: Connect,
    upgraded: str,
) -> Iterator[Sessions]:
    with ThreadPoolExecutor(20) as pool:
        sessions = Sessions(connect, upgraded, pool)
        sessions.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
        sessions.conn.execute("GRANT ALL ON ALL TABLES IN SCHEMA dwh TO omd_runner")
        try:
            yield sessions
        finally:
            # What still waits for the test must not keep the suite when the test has failed.
            sessions.let_go()
            for reader in sessions.readers:
                reader.close()


@released
def test_what_a_call_from_before_names_is_there_while_it_executes(sessions: Sessions) -> None:
    """It goes on with its former text, which calls by name."""
    conn = sessions.conn
    named = conn.execute(NAMED).fetchall()
    assert len(named) > 500
    sessions.hold()
    sessions.start("SELECT pg_advisory_lock(42)")
    install.install(conn)
    exists = "SELECT FROM pg_proc WHERE pronamespace::regnamespace || '.' || proname = %s"
    gone = {name for (name,) in named if not conn.execute(exists, [name]).fetchall()}
    assert gone == CONTRACTED


@released
@pytest.mark.parametrize("killed", [False, True])
def test_a_batch_that_executes_during_an_upgrade_ends_well(
    sessions: Sessions, killed: bool
) -> None:
    """The upgrade changes a table that its transaction has read, and waits for it in turns."""
    conn = sessions.conn
    scene(conn)
    sessions.hold()
    run = sessions.start("CALL omd.run_batch('b')", role="omd_runner")
    upgrade = sessions.upgrade()
    assert conn.execute("CALL omd.begin_batch('b')").fetchone()[1:] == ("A", "RUNNING")
    assert conn.execute("CALL omd.begin_module('m1')").fetchone()[1] == "A"
    assert conn.execute("CALL omd.reap_expired_instances()").fetchone() == ([], [])
    if killed:
        conn.execute("SELECT pg_terminate_backend(%s, 10000)", [run.pid])
        with pytest.raises(psycopg.OperationalError):
            run.result(timeout=20)
    else:
        sessions.let_go()
        assert run.result(timeout=20)[1] == "S"
        ended = (
            "SELECT string_agg(execution_status_code, '' ORDER BY batch_instance_id)"
            " FROM omd.batch_instance"
        )
        assert conn.execute(f"{ended} WHERE batch_instance_id > 0").fetchone() == ("SAS",)
    sessions.let_go()
    upgrade.result(timeout=60)
    assert conn.execute("CALL omd.run_batch('b')").fetchone()[1] == "S"


@released
@pytest.mark.parametrize(
    ("executable", "status"),
    [
        (EXECUTABLE, "S"),
        ("SELECT 1 / length(pg_advisory_xact_lock(42)::text)", "F"),
    ],
)
def test_a_module_that_executes_during_an_upgrade_ends_well(
    sessions: Sessions, executable: str, status: str
) -> None:
    conn = sessions.conn
    call = "CALL omd.register_module('long', 'HSTG', 'dwh.t', p_executable => %s)"
    conn.execute(call, [executable])
    sessions.hold()
    run = sessions.start("CALL omd.run_module('long')", role="omd_runner")
    upgrade = sessions.upgrade()
    sessions.let_go()
    module_instance_id, answered, *_ = run.result(timeout=20)
    upgrade.result(timeout=60)
    assert answered == status
    ended = conn.execute(
        "SELECT execution_status_code FROM omd.module_instance WHERE module_instance_id = %s",
        [module_instance_id],
    )
    assert ended.fetchone() == (status,)


def topic(conn: psycopg.Connection[Any], processor: str, wait: str) -> None:
    """The topic dwh.f of two views, with five rows before it; it waits in `wait`."""
    held = {"v": "", "before": "SELECT 1", "after": "SELECT 1"}
    held[wait] = "SELECT pg_advisory_xact_lock(42)"
    for statement in (
        "CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id))",
        "CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint)",
        (
            "CREATE VIEW dwh.v AS SELECT s.id FROM dwh.src AS s"
            + (f" CROSS JOIN ({held['v']}) AS l" if held["v"] else "")
            + " WHERE omd_lineage.in_block(s.pos, s.id)"
        ),
        "CREATE VIEW dwh.w AS SELECT -id AS id FROM dwh.src WHERE omd_lineage.in_block(pos, id)",
        (
            "INSERT INTO dwh.src SELECT timestamptz '2020-01-01 UTC' + n * interval '1 day', n"
            " FROM generate_series(1, 5) AS n"
        ),
        "CALL omd_lineage.register_topic('dwh.src')",
        (
            "CALL omd_lineage.register_topic('dwh.f', ARRAY['dwh.src'], p_maxstep => 2,"
            f" p_processor => '{processor}', p_transforms => ARRAY['dwh.v', 'dwh.w'],"
            f" p_before_sql => ARRAY['{held['before']}'],"
            f" p_after_sql => ARRAY['{held['after']}'])"
        ),
        "GRANT ALL ON ALL TABLES IN SCHEMA dwh TO omd_runner",
    ):
        conn.execute(statement.encode())


@oldest
@pytest.mark.parametrize(
    ("processor", "wait"), [("STEP", "before"), ("STEP", "v"), ("STEP", "after"), ("RELOAD", "v")]
)
def test_an_upgrade_waits_for_a_step_and_holds_up_nobody_else(
    sessions: Sessions, processor: str, wait: str
) -> None:
    """It changes tables of runs, before it changes anything else, and waits for them in turns."""
    conn = sessions.conn
    topic(conn, processor, wait)
    conn.execute("CALL omd.register_module('other', 'HSTG', 'dwh.t')")
    sessions.hold()
    run = sessions.start("CALL omd_lineage.step('dwh.f')", role="omd_runner")
    upgrade = sessions.upgrade()
    for _ in range(3):
        begun = conn.execute("CALL omd.begin_module('other')").fetchone()
        assert begun is not None
        conn.execute("CALL omd.module_success(%s)", [begun[0]])
    assert not upgrade.done()
    sessions.let_go()
    outcome, _, rows, detail = run.result(timeout=20)[:4]
    upgrade.result(timeout=60)
    assert outcome == "DONE", detail
    # A reload takes what is before the newest position, a step the first two rows.
    assert rows == (4 if processor == "STEP" else 8)
    assert conn.execute("SELECT count(*) FROM dwh.f").fetchone() == (rows,)
    ended = "SELECT next, hostid, state FROM omd_lineage.offsets WHERE topic = 'dwh.f'"
    assert conn.execute(ended).fetchone() == (None, "", "DONE")
    conn.execute("INSERT INTO dwh.src VALUES ('2020-02-01 UTC', 4)")
    assert conn.execute("CALL omd_lineage.step('dwh.f')").fetchone()[0] == "DONE"


@oldest
def test_calls_that_come_during_an_upgrade_end_well(sessions: Sessions) -> None:
    """What drivers call, and runs in the database that begin, while it holds its locks."""
    conn = sessions.conn
    modules = ("succeeds", "fails", "beats", "fenced", "writes", "begins", "in_db", "in_batch")
    for module in modules:
        call = "CALL omd.register_module(%s, 'HSTG', 'dwh.t', p_executable => 'SELECT 1')"
        conn.execute(call, [module])
    for batch in ("batch_succeeds", "batch_fails", "batch_begins", "batch_in_db"):
        conn.execute("CALL omd.register_batch(%s, 'Adhoc')", [batch])
    conn.execute("CALL omd.register_batch('child', 'Adhoc')")
    conn.execute("CALL omd.add_batch_to_parent_batch('child', 'batch_in_db')")
    conn.execute("CALL omd.add_module_to_batch('child', 'in_batch', 1)")

    def begin(kind: str, code: str) -> int:
        row = conn.execute(f"CALL omd.begin_{kind}(%s, p_lease => '1 hour')".encode(), [code])
        return int(row.fetchone()[0])

    running = {m: begin("module", m) for m in ("succeeds", "fails", "beats", "fenced", "writes")}
    running |= {b: begin("batch", b) for b in ("batch_succeeds", "batch_fails")}
    calls = {
        "succeeds": "CALL omd.module_success({}, p_rows_inserted => 1)",
        "fails": "CALL omd.module_failure({}, 'gone', 'E')",
        "beats": "CALL omd.heartbeat({}, '1 hour')",
        "fenced": "CALL omd.fence({})",
        "writes": "CALL omd.record_write({}, 1, 1, 'dwh.t', 5)",
        "batch_succeeds": "CALL omd.batch_success({})",
        "batch_fails": "CALL omd.batch_failure({}, 'gone', 'E')",
        "begins": "CALL omd.begin_module('begins')",
        "batch_begins": "CALL omd.begin_batch('batch_begins')",
        "in_db": "CALL omd.run_module('in_db')",
        "batch_in_db": "CALL omd.run_batch('batch_in_db')",
    }
    # The upgrade waits for these rows, which it changes late, and holds its locks by then.
    reader = sessions.reader(LATE)
    upgrade = sessions.upgrade(behind=reader)
    waiting = {
        name: sessions.call(call.format(running.get(name)), role="omd_runner")
        for name, call in calls.items()
    }
    reader.rollback()
    upgrade.result(timeout=60)
    answers = {name: call.result(timeout=60) for name, call in waiting.items()}

    status = dict(
        conn.execute(
            "SELECT m.module_code, mi.execution_status_code FROM omd.module_instance AS mi"
            " INNER JOIN omd.module AS m USING (module_id) WHERE mi.module_instance_id > 0"
        ).fetchall()
    ) | dict(
        conn.execute(
            "SELECT b.batch_code, bi.execution_status_code FROM omd.batch_instance AS bi"
            " INNER JOIN omd.batch AS b USING (batch_id) WHERE bi.batch_instance_id > 0"
        ).fetchall()
    )
    assert status.pop("m") == "F"
    assert status == {
        "succeeds": "S", "fails": "F", "beats": "E", "fenced": "E", "writes": "E", "begins": "E",
        "in_db": "S", "in_batch": "S",
        "batch_succeeds": "S", "batch_fails": "F", "batch_begins": "E", "batch_in_db": "S",
        "child": "S",
    }  # fmt: skip
    assert answers["writes"] == (True, 5)
    assert answers["begins"][1] == "P"
    assert answers["batch_begins"][1] == "P"


@oldest
def test_steps_of_drivers_during_an_upgrade_end_well(sessions: Sessions) -> None:
    """Each with the argument names of the former driver."""
    conn = sessions.conn
    topic(conn, "STEP", "before")
    sessions.hold()
    in_database = sessions.start("CALL omd_lineage.step('dwh.f')", role="omd_runner")
    conn.execute("CREATE TABLE dwh.begun (LIKE dwh.f)")
    conn.execute("CREATE VIEW dwh.b AS SELECT id FROM dwh.src WHERE omd_lineage.in_block(pos, id)")
    conn.execute("GRANT ALL ON ALL TABLES IN SCHEMA dwh TO omd_runner")
    conn.execute(
        "CALL omd_lineage.register_topic('dwh.begun', ARRAY['dwh.src'], p_maxstep => 2,"
        " p_transforms => ARRAY['dwh.b'])"
    )
    fence = {}
    for name in ("ended", "broken", "later"):
        conn.execute(f"CREATE TABLE dwh.{name} (LIKE dwh.f)".encode())
        conn.execute(
            "CALL omd_lineage.register_topic(%s, ARRAY['dwh.src'], p_maxstep => 2,"
            " p_transforms => ARRAY['SELECT id FROM src'], p_engine => 'SPARK')",
            [f"dwh.{name}"],
        )
        conn.execute("CALL omd_lineage.begin_step(%s, p_lease => '1 hour')", [f"dwh.{name}"])
        held = "SELECT module_instance_id, plan_number FROM omd_lineage.offsets WHERE topic = %s"
        fence[name] = conn.execute(held, [f"dwh.{name}"]).fetchone()
    commit = (
        "CALL omd_lineage.commit_step(p_module_instance_id => {}, p_plan_number => {},"
        " p_rows_inserted => 2, p_nulls => NULL)"
    )
    fail = (
        "CALL omd_lineage.fail_step(p_module_instance_id => {}, p_event_detail => 'gone',"
        " p_event_return_code_details => 'E')"
    )
    reader = sessions.reader(LATE)
    # The upgrade waits for the step in the database before it takes any lock, and then, with its
    # locks, for the reader.
    upgrade = sessions.upgrade()
    sessions.let_go()
    assert in_database.result(timeout=60)[0] == "DONE", in_database.result()
    sessions.wait(upgrade, behind=reader)
    waiting = [
        sessions.call(commit.format(*fence["ended"]), role="omd_runner"),
        sessions.call(fail.format(fence["broken"][0]), role="omd_runner"),
        sessions.call("CALL omd_lineage.step('dwh.begun')", role="omd_runner"),
    ]
    reader.rollback()
    upgrade.result(timeout=60)
    answers = [call.result(timeout=60) for call in waiting]
    assert [a and a[0] for a in answers] == [None, None, "DONE"], answers
    conn.execute(commit.format(*fence["later"]))
    states = conn.execute(
        "SELECT topic, state, CASE WHEN next IS NULL THEN (last).id END, (next).id"
        " FROM omd_lineage.offsets WHERE topic <> 'dwh.src' ORDER BY topic"
    )
    assert states.fetchall() == [
        ("dwh.begun", "DONE", 2, None),
        ("dwh.broken", "gone", None, 2),
        ("dwh.ended", "DONE", 2, None),
        ("dwh.f", "DONE", 2, None),
        ("dwh.later", "DONE", 2, None),
    ]


WHAT_STANDS = {
    "batch": "SELECT batch_code, frequency_code, inactive_indicator FROM omd.batch",
    "module": "SELECT module_id, module_code, table_code, executable FROM omd.module",
    "batch_module": "SELECT batch_id, module_id, sequence FROM omd.batch_module",
    "batch_instance": (
        "SELECT batch_instance_id, batch_id, execution_status_code, processing_indicator,"
        " next_run_indicator, start_datetime, end_datetime FROM omd.batch_instance"
        " WHERE batch_instance_id > 0"
    ),
    "module_instance": (
        "SELECT module_instance_id, module_id, batch_instance_id, execution_status_code,"
        " processing_indicator, next_run_indicator, start_datetime, end_datetime, rows_inserted"
        " FROM omd.module_instance WHERE module_instance_id > 0"
    ),
    "window": "SELECT module_instance_id, start_id, end_value, end_id FROM omd.source_control",
    "event": "SELECT event_id, module_instance_id, event_detail FROM omd.event_log",
    "topic": "SELECT topic_id, topic, module_id, transforms, before_sql FROM omd_lineage.topic",
    "offsets": (
        "SELECT topic, last::text, next::text, attempts, hostid, state, plan_number"
        " FROM omd_lineage.offsets"
    ),
    "log": "SELECT module_instance_id, topic, rows, max_id FROM omd_lineage.log",
    "template": (
        "SELECT statement_template FROM omd.rollback_template WHERE statement_template ~ 'mine'"
    ),
    "frequency": "SELECT frequency_interval FROM omd.frequency WHERE frequency_code = 'Daily'",
}


@released
def test_what_is_recorded_stands_after_an_upgrade(sessions: Sessions) -> None:
    conn = sessions.conn
    scene(conn)
    topic(conn, "STEP", "before")
    for statement in (
        "CALL omd.run_batch('b')",
        "CALL omd_lineage.step('dwh.f')",
        # The next block is planned and fails.
        "ALTER TABLE dwh.f ADD CONSTRAINT few CHECK (id < 3)",
        "CALL omd_lineage.step('dwh.f')",
        "UPDATE omd.frequency SET frequency_interval = '20 hours' WHERE frequency_code = 'Daily'",
        "CREATE TABLE dwh.undone (mine bigint[])",
        "GRANT ALL ON dwh.undone TO omd_runner",
        "CREATE TABLE dwh.p (omd_insert_module_instance_id bigint)",
        "CALL omd.register_module('p', 'PRES', 'dwh.p')",
        (
            "INSERT INTO omd.rollback_template (module_id, step, statement_template)"
            " SELECT m.module_id, 1, 'INSERT INTO dwh.undone (mine) VALUES ({instance_array})'"
            " FROM omd.module AS m WHERE m.module_code = 'p'"
        ),
        "CALL omd.run_module('p', p_executable => 'SELECT 1 / 0')",
        "CALL omd.begin_module('m2')",
    ):
        conn.execute(statement.encode())

    def recorded() -> dict[str, list[Any]]:
        return {
            name: conn.execute(f"{query} ORDER BY 1".encode()).fetchall()
            for name, query in WHAT_STANDS.items()
        }

    before = recorded()
    assert all(before.values()), before
    assert any(planned for _, _, planned, *_ in before["offsets"])
    install.install(conn)
    after = recorded()
    # What the upgrade changes in the templates is an event, too.
    after["event"] = after["event"][: len(before["event"])]
    assert after == before

    conn.execute("ALTER TABLE dwh.f DROP CONSTRAINT few")
    assert conn.execute("CALL omd_lineage.step('dwh.f')").fetchone()[:3:2] == ("DONE", 4)
    (failed_id,) = conn.execute(
        "SELECT max(module_instance_id) FROM omd.module_instance"
        " INNER JOIN omd.module USING (module_id) WHERE module_code = 'p'"
    ).fetchone()
    assert conn.execute("CALL omd.begin_module('p')").fetchone()[1:3] == ("P", [failed_id])
    assert conn.execute("SELECT mine FROM dwh.undone").fetchall() == [([failed_id],)]
    assert conn.execute("CALL omd.begin_module('m2')").fetchone()[1] == "A"


@oldest
def test_what_an_upgrade_retires_goes_when_no_earlier_call_is_left(sessions: Sessions) -> None:
    conn = sessions.conn
    sessions.hold()
    earlier = sessions.start("SELECT pg_advisory_xact_lock(42)")
    install.install(conn)
    (kept,) = conn.execute(RETIRED).fetchone()
    assert kept > 10
    later = sessions.start("SELECT pg_advisory_xact_lock_shared(42)")
    install.install(conn)
    assert conn.execute(RETIRED).fetchone() == (kept,)
    conn.execute("SELECT pg_cancel_backend(%s)", [earlier.pid])
    with pytest.raises(psycopg.errors.QueryCanceled):
        earlier.result(timeout=20)
    install.install(conn)
    assert conn.execute(RETIRED).fetchone() == (0,)
    assert not later.done()


@oldest
def test_a_view_on_a_retired_routine_is_named(sessions: Sessions) -> None:
    conn = sessions.conn
    conn.execute("CREATE VIEW dwh.mine AS SELECT * FROM omd_lineage.erase_texts('{}')")
    told: list[str | None] = []
    conn.add_notice_handler(lambda notice: told.append(notice.message_detail))
    install.install(conn)
    assert any("dwh.mine" in (detail or "") for detail in told)
    assert conn.execute("SELECT FROM dwh.mine LIMIT 0").fetchall() == []
    conn.execute("DROP VIEW dwh.mine")
    install.install(conn)
    assert conn.execute(RETIRED).fetchone() == (0,)
