"""A row that becomes visible late, at a position before rows already visible, is not lost.

A row gets its position before its commit. A plan up to the last visible row would skip the rows of
a slower writer for ever. Each scene is also played without the guard, to show that it is the guard
that prevents this.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

import omd.programs.install
from omd.programs import embedded
from support.flow import checked
from support.scene import Scene, at
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Another = Callable[..., Scene]
    Replaced = Callable[[str, str, str], None]

WITHOUT_WRITERS = ("omd.oldest_writer", "ORDER BY", "AND FALSE ORDER BY")
WITHOUT_RUNS = ("omd_lineage._uncounted_instances", "v_is_open IS NOT TRUE", "TRUE")
guard = pytest.mark.parametrize("guarded", [True, False], ids=["guard", "no guard"])

SETTINGS_OF_OWN_SERVER = {
    "fsync": "off",
    "max_prepared_transactions": "4",
    "shared_buffers": "16MB",
}


def clock(second: float) -> datetime:
    """Return times as the server would stamp them."""
    return datetime.now(timezone.utc) + timedelta(seconds=second - 60)


@guard
@pytest.mark.parametrize("clocks", ["old", "now"])
def test_a_slow_writer_s_row_is_not_passed_over(
    scene: Scene, another: Another, replaced: Replaced, clocks: str, guarded: bool
) -> None:
    """This also holds when the times of the rows are unrelated to the time of their writing."""
    if not guarded:
        replaced(*WITHOUT_WRITERS)
    slow = another()
    place = clock if clocks == "now" else at

    def insert(session: Scene, id: int) -> None:
        session.conn.execute("INSERT INTO dwh.src VALUES (%s, %s)", [place(id), id])

    scene.source()
    scene.topic()
    slow.conn.execute("BEGIN")
    insert(slow, 2)
    for id in (1, 3, 4):
        insert(scene, id)
    scene.probe()
    for _ in range(3):
        scene.step()
    if guarded:
        assert 3 not in scene.ids()
    else:
        assert scene.ids() == [1, 3]
    slow.conn.execute("COMMIT")
    scene.probe()
    scene.steps()
    assert scene.ids() == ([1, 2, 3] if guarded else [1, 3])


def test_what_was_there_before_the_slow_writer_began_is_not_held(
    scene: Scene, another: Another
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.step()
    slow = another()
    scene.insert(4, 5)
    scene.probe()
    slow.conn.execute("BEGIN")
    slow.insert(6)
    scene.insert(7, 8)
    step = scene.step()
    assert (step.outcome, scene.ids()) == ("DONE", [1, 2, 3, 4, 5][: len(scene.ids())])
    assert max(scene.ids()) in {4, 5}
    held = scene.step()
    assert held.outcome == "NOJOBS"
    assert f"process {slow.conn.info.backend_pid}" in (held.detail or "")
    assert scene.last()[0] < at(6)
    slow.conn.execute("ROLLBACK")
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4, 5, 7]


def test_what_commits_after_a_look_is_news_for_it(scene: Scene, another: Another) -> None:
    """It bears a time from before that look, whose pause it ends nevertheless."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic("dwh.f")
    scene.topic("dwh.g", "dwh.f")
    holder, slow = another(), another()
    holder.conn.execute("SELECT pg_advisory_lock(42)")
    scene.conn.execute(
        "CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END'"
    )
    scene.conn.execute("GRANT EXECUTE ON FUNCTION dwh.wait() TO PUBLIC")
    scene.conn.execute(
        "CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON dwh.f DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION dwh.wait()"
    )
    step = threading.Thread(target=slow.step, args=("dwh.f",))
    step.start()

    def waits() -> int:
        assert step.is_alive()
        return holder.conn.execute(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted"
        ).rowcount

    until(waits)
    assert scene.step("dwh.g").outcome == "NOJOBS"
    holder.conn.execute("SELECT pg_advisory_unlock(42)")
    step.join()
    assert scene.ids() == [1, 2]
    assert scene.reason("dwh.g") == (True, "DUE")
    assert scene.steps("dwh.g") == [1]
    assert not scene.ready("dwh.g")["is_ready"]


def test_a_reader_holds_nothing_up(scene: Scene, another: Another) -> None:
    reader = another()
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    reader.conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert len(reader.ids("dwh.src")) == 3
    assert scene.steps() == [2]
    # A writer to another table does not hold the plan either.
    reader.conn.execute("COMMIT")
    scene.base("dwh.other")
    reader.conn.execute("BEGIN")
    reader.insert(1, into="dwh.other")
    scene.insert(4)
    assert scene.steps() == [1]
    reader.conn.execute("ROLLBACK")


WRITES = {
    "savepoint": ["SAVEPOINT s", "INSERT INTO dwh.src VALUES ('{0}', 2)", "RELEASE s"],
    "two savepoints": [
        "SAVEPOINT a",
        "INSERT INTO dwh.src VALUES ('{0}', 9)",
        "ROLLBACK TO a",
        "SAVEPOINT b",
        "INSERT INTO dwh.src VALUES ('{0}', 2)",
    ],
    "update": ["UPDATE dwh.src SET pos = '{0}', id = 2 WHERE id = -1"],
    "merge": ["MERGE INTO dwh.src USING (SELECT) AS n ON FALSE WHEN NOT MATCHED THEN {1}"],
    "lock": ["LOCK TABLE dwh.src IN EXCLUSIVE MODE", "INSERT INTO dwh.src VALUES ('{0}', 2)"],
    "truncate": ["TRUNCATE dwh.src", "INSERT INTO dwh.src VALUES ('{0}', 2)"],
}


@pytest.mark.parametrize("way", [*WRITES, "copy", "server-side function"])
def test_every_way_of_writing_is_seen(scene: Scene, another: Another, way: str) -> None:
    writer = another()
    scene.source("dwh.src", *([(-1000, -1)] if way == "update" else []))
    scene.topic(maxstep=1000, **({"start_pos": at(-1)} if way == "update" else {}))
    writer.conn.execute("BEGIN")
    if way in {"lock", "truncate"}:  # nobody else can write, but the plan must not wait either
        scene.insert(1)
    before = len(scene.ids("dwh.src"))
    if way == "copy":
        with writer.conn.cursor().copy("COPY dwh.src (pos, id) FROM STDIN") as copy:
            copy.write_row((at(2), 2))
    elif way == "server-side function":
        writer.conn.execute(
            f"DO $$ BEGIN INSERT INTO dwh.src VALUES ('{at(2)}', 2); END $$".encode()
        )
    else:
        for statement in WRITES[way]:
            writer.conn.execute(statement.format(at(2), f"INSERT VALUES ('{at(2)}', 2)").encode())
    if way in {"lock", "truncate"}:
        scene.conn.execute("SET lock_timeout = '2s'")
        if way == "lock":
            assert scene.step().outcome == "NOJOBS"
    else:
        scene.insert(1, 3, 4)
        assert before == len(scene.ids("dwh.src")) - 3
        scene.probe()
        scene.step()
        scene.step()
        assert not {3, 4} & set(scene.ids())
    writer.conn.execute("COMMIT")
    if way in {"lock", "truncate"}:
        scene.insert(3, 4)
    scene.probe()
    scene.steps()
    assert scene.ids() == ([2, 3] if way == "truncate" else [1, 2, 3])


def test_a_savepoint_taken_back_still_holds_the_lock_and_only_delays(
    scene: Scene, another: Another
) -> None:
    writer = another()
    scene.source()
    scene.topic()
    writer.conn.execute("BEGIN")
    writer.conn.execute("SAVEPOINT s")
    writer.insert(2)
    writer.conn.execute("ROLLBACK TO s")
    scene.insert(1, 3, 4)
    scene.step()
    writer.conn.execute("COMMIT")
    scene.steps()
    assert scene.ids() == [1, 3]


@guard
@pytest.mark.parametrize("to", ["dwh.src", "dwh.src_1", "dwh.src_1a"])
def test_a_writer_to_a_partition_is_seen(
    scene: Scene, another: Another, replaced: Replaced, to: str, guarded: bool
) -> None:
    if not guarded:
        replaced(*WITHOUT_WRITERS)
    writer = another()
    scene.conn.execute(
        b"CREATE TABLE dwh.src (pos timestamptz, id bigint, v int) PARTITION BY RANGE (id);"
        b"CREATE TABLE dwh.src_1 PARTITION OF dwh.src FOR VALUES FROM (0) TO (3)"
        b" PARTITION BY LIST (id);"
        b"CREATE TABLE dwh.src_1a PARTITION OF dwh.src_1 FOR VALUES IN (2);"
        b"CREATE TABLE dwh.src_1b PARTITION OF dwh.src_1 DEFAULT;"
        b"CREATE TABLE dwh.src_2 PARTITION OF dwh.src DEFAULT;"
        b"CREATE INDEX ON dwh.src (pos, id)"
    )
    scene.register("dwh.src")
    scene.topic()
    writer.conn.execute("BEGIN")
    writer.insert(2, into=to)
    scene.insert(1, 3, 4)
    scene.probe()
    scene.step()
    writer.conn.execute("COMMIT")
    scene.probe()
    scene.steps()
    assert scene.ids() == ([1, 2, 3] if guarded else [1, 3])


def test_a_writer_to_a_child_table_is_seen(scene: Scene, another: Another) -> None:
    """A table may inherit without being a partition."""
    writer = another()
    scene.base()
    scene.conn.execute("CREATE TABLE dwh.child () INHERITS (dwh.src)")
    scene.conn.execute("CREATE TABLE dwh.grandchild () INHERITS (dwh.child)")
    scene.register("dwh.src")
    scene.topic()
    writer.conn.execute("BEGIN")
    writer.insert(2, into="dwh.grandchild")
    scene.insert(1, 3, 4)
    scene.probe()
    scene.step()
    writer.conn.execute("COMMIT")
    scene.steps()
    assert scene.ids() == [1, 2, 3]


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_a_view_whose_writers_nobody_sees_is_no_base_table(
    scene: Scene, another: Another, kind: str
) -> None:
    """The step is refused, or at least no row is lost."""
    writer = another()
    scene.base("dwh.real")
    scene.insert(0, into="dwh.real")
    scene.conn.execute(f"CREATE {kind} dwh.src AS SELECT * FROM dwh.real".encode())
    try:
        scene.register("dwh.src")
        scene.topic()
        writer.conn.execute("BEGIN")
        writer.insert(2, into="dwh.real")
        scene.insert(1, 3, 4, into="dwh.real")
        if kind != "VIEW":
            scene.conn.execute("REFRESH MATERIALIZED VIEW dwh.src")
        scene.probe()
        step = scene.step()
        writer.conn.execute("COMMIT")
        if step.outcome == "ERROR":
            assert "is not a table of this database" in (step.detail or "")
            return
        if kind != "VIEW":
            scene.conn.execute("REFRESH MATERIALIZED VIEW dwh.src")
        scene.probe()
        scene.steps()
    except psycopg.Error as error:
        checked(error, "OM206")
        return
    assert scene.ids() == [0, 1, 2, 3]


def test_a_writer_who_waits_for_the_lock_of_another_is_not_passed_over(
    scene: Scene, another: Another, background: Any, until_settled: Any
) -> None:
    """The writer has its time already, and can write only when the lock is released."""
    holder, writer = another(), another()
    scene.source()
    scene.topic()
    holder.conn.execute("BEGIN")
    holder.conn.execute("LOCK TABLE dwh.src IN SHARE MODE")
    call = background(writer.conn.execute, f"INSERT INTO dwh.src VALUES ('{at(2)}', 2)".encode())
    until_settled(writer, call)
    assert scene.one("SELECT p_who FROM omd.oldest_writer('dwh.src')") is not None
    holder.conn.execute("COMMIT")
    call.result(timeout=20)
    scene.insert(1, 3, 4)
    scene.probe()
    scene.steps()
    assert scene.ids() == [1, 2, 3]


# A prepared transaction needs a setting that the server of the other tests does not have.


@pytest.fixture(scope="session")
def two_phase_dsn(new_home: Callable[[], Path]) -> Iterator[str]:
    home = new_home()
    embedded.start(home, settings=SETTINGS_OF_OWN_SERVER)
    dsn = embedded.dsn(home, "postgres")
    with psycopg.connect(dsn, autocommit=True) as conn:
        omd.programs.install.install(conn)
        conn.execute("CREATE SCHEMA dwh")
    yield dsn
    embedded.stop(home)


@guard
def test_a_prepared_transaction_is_not_passed_over(two_phase_dsn: str, guarded: bool) -> None:
    """It has no session, so its start is unknown: the offset does not move until it ends."""
    with (
        psycopg.connect(two_phase_dsn, autocommit=True, row_factory=dict_row) as conn,
        psycopg.connect(two_phase_dsn, autocommit=True) as writer,
    ):
        conn.execute("DROP SCHEMA dwh CASCADE")
        conn.execute("CREATE SCHEMA dwh")
        scene = Scene(conn, changes_role=False)
        if not guarded:
            text = scene.one("SELECT pg_get_functiondef('omd.oldest_writer'::regproc)").replace(
                *WITHOUT_WRITERS[1:]
            )
            conn.execute(text.encode())
        scene.source()
        scene.topic()
        scene.conn.execute("UPDATE omd_lineage.offsets SET last = ('-infinity', 0)")
        with writer.transaction():
            writer.execute("INSERT INTO dwh.src VALUES (%s, 2)", [at(2)])
            writer.execute("PREPARE TRANSACTION 'late'")
        try:
            scene.insert(1, 3, 4)
            scene.probe()
            held = scene.step()
            if guarded:
                assert held.outcome == "NOJOBS"
                assert "prepared transaction" in (held.detail or "")
        finally:
            conn.execute("COMMIT PREPARED 'late'")
        scene.probe()
        scene.steps()
        assert scene.ids() == ([1, 2, 3] if guarded else [1, 3])


# Base tables that Modules of OMD load


def loader(scene: Scene, code: str = "load") -> str:
    """A Module that loads dwh.src."""
    scene.module(code, area_code="HSTG", table_code="dwh.src", table_type_code="HSTG")
    return code


def load(scene: Scene, id: int, *minutes: float) -> None:
    """Write rows of a run, committed slice by slice, as Spark does."""
    scene.conn.cursor().executemany(
        b"INSERT INTO dwh.src VALUES (%s, %s, 1, %s)", [(at(m), int(m), id) for m in minutes]
    )


@pytest.fixture
def loaded(scene: Scene) -> Scene:
    scene.source()
    loader(scene)
    scene.topic()
    return scene


@guard
@pytest.mark.parametrize("status", ["E", "F"])
def test_rows_of_a_run_that_has_not_succeeded_do_not_count(
    loaded: Scene, replaced: Replaced, status: str, guarded: bool
) -> None:
    """Its committed rows are rolled back and loaded again, so they must not be read before."""
    if not guarded:
        replaced(*WITHOUT_RUNS)
    done = loaded.begin_module("load").id
    load(loaded, done, 1, 2)
    loaded.end_module(done, "S")
    run = loaded.begin_module("load").id
    load(loaded, run, 3, 4)
    if status == "F":
        loaded.end_module(run, "F")
    loaded.probe()
    for _ in range(2):
        step = loaded.step()
    if not guarded:
        assert 3 in loaded.ids()
        return
    assert loaded.ids() in ([1], [1, 2])
    assert step.outcome == "NOJOBS"
    assert str(run) in (step.detail or "")
    if status == "F":  # the next run rolls them back
        run = loaded.begin_module("load").id
        assert loaded.ids("dwh.src") == [1, 2]
    load(loaded, run, 5, 6)
    assert set(loaded.ids()) <= {1, 2}
    loaded.end_module(run, "S")
    loaded.probe()
    loaded.steps()
    assert loaded.ids() == ([1, 2, 3, 4, 5] if status == "E" else [1, 2, 5])


def test_a_run_is_not_forgotten_behind_ten_thousand_that_were_refused(loaded: Scene) -> None:
    run = loaded.begin_module("load").id
    load(loaded, run, 1, 2)
    loaded.owner(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator)"
        " SELECT module_id, now(), now(), 'A', 'A', 'P' FROM omd.module,"
        " generate_series(1, 10001) WHERE module_code = 'load'"
    )
    loaded.probe()
    assert loaded.step().outcome == "NOJOBS"
    assert loaded.ids() == []


def test_rows_that_are_loaded_again_under_the_same_places_come_once(loaded: Scene) -> None:
    for attempt in range(3):
        run = loaded.begin_module("load").id
        load(loaded, run, 1, 2, 3)
        loaded.probe()
        loaded.step()
        assert loaded.ids() == []
        loaded.end_module(run, "F" if attempt < 2 else "S")
        loaded.probe()
    assert loaded.steps() == [2]
    assert loaded.ids() == [1, 2]


@pytest.mark.parametrize("first_to_end", ["first", "second"])
def test_the_runs_of_two_modules_may_overlap(scene: Scene, first_to_end: str) -> None:
    scene.source()
    loader(scene, "one")
    loader(scene, "two")
    scene.topic()
    one = scene.begin_module("one").id
    two = scene.begin_module("two").id
    load(scene, one, 1, 3, 5)
    load(scene, two, 2, 4, 6)
    early, late = (one, two) if first_to_end == "first" else (two, one)
    scene.end_module(early, "S")
    load(scene, late, 7)
    scene.probe()
    for _ in range(3):
        scene.step()
    assert not set(scene.ids()) - {1}
    scene.end_module(late, "S")
    scene.probe()
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4, 5, 6]


def test_a_run_that_failed_between_two_that_did_not_holds_what_is_behind_it(scene: Scene) -> None:
    scene.source()
    loader(scene, "one")
    loader(scene, "two")
    scene.topic()
    one = scene.begin_module("one").id
    load(scene, one, 1, 3)
    scene.end_module(one, "F")
    two = scene.begin_module("two").id
    load(scene, two, 2, 4, 5)
    scene.end_module(two, "S")
    scene.probe()
    for _ in range(3):
        scene.step()
    assert 4 not in scene.ids()
    again = scene.begin_module("one").id
    load(scene, again, 3.5, 6)
    scene.end_module(again, "S")
    scene.probe()
    scene.steps()
    assert scene.ids() == [2, 3, 4, 5]


def test_rows_without_a_run_count(loaded: Scene) -> None:
    loaded.insert(1, 2, 3)
    loaded.probe()
    assert loaded.steps() == [2]


@guard
def test_a_slow_writer_to_another_dependency_is_waited_for(
    scene: Scene, another: Another, replaced: Replaced, guarded: bool
) -> None:
    """A join that misses rows of a later commit would stay wrong for ever."""
    if not guarded:
        replaced(*WITHOUT_WRITERS)
    slow = another()
    scene.source("dwh.src", *range(1, 6))
    scene.source("dwh.dim", 0)
    scene.topic("dwh.f", "dwh.src", "dwh.dim")
    slow.conn.execute("BEGIN")
    slow.insert(2, into="dwh.dim")
    scene.insert(1, 3, 4, into="dwh.dim")
    scene.probe()
    scene.step()
    assert scene.ids() == ([] if guarded else [1, 2, 3])
    slow.conn.execute("COMMIT")
    scene.insert(5, into="dwh.dim")
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4]


@pytest.mark.parametrize("default", ["now()", "CURRENT_TIMESTAMP", "clock_timestamp()"])
def test_a_time_that_is_older_than_the_first_lock_is_warned_of(scene: Scene, default: str) -> None:
    """now() is the start of the transaction, when it is not yet visible that it will write."""
    told: list[str] = []
    scene.conn.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    scene.base("dwh.src")
    scene.conn.execute(f"ALTER TABLE dwh.src ALTER pos SET DEFAULT {default}".encode())
    scene.register("dwh.src")
    warned = [text for text in told if "start of its transaction" in text]
    assert len(warned) == (0 if default == "clock_timestamp()" else 1)


@pytest.mark.parametrize("renewal", ["TRUNCATE dwh.src", "DELETE FROM dwh.src", "recreate"])
def test_what_was_seen_before_a_table_was_emptied_counts_no_more(
    scene: Scene, another: Another, renewal: str
) -> None:
    """The offset belongs to the old rows; the new rows start again."""
    slow = another()
    scene.source("dwh.src", *range(50, 60))
    scene.probe()
    if renewal == "recreate":
        scene.conn.execute("DROP TABLE dwh.src")
        scene.base("dwh.src")
    else:
        scene.conn.execute(renewal.encode())
    scene.topic()
    scene.probe()
    slow.conn.execute("BEGIN")
    slow.insert(2)
    scene.insert(1, 3, 4)
    scene.probe()
    scene.step()
    slow.conn.execute("COMMIT")
    scene.steps()
    assert scene.ids() == [1, 2, 3, 4]
