"""What the plan of a block promises (rules L4, L6 and L7): no row is passed over, or read twice.

Steps run as omd_runner, with the rights on the tables that the documentation names.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from omd.errors import lookup
from support.scene import FIRST, LEAST_ID, Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Replaced = Callable[[str, str, str], None]

AHEAD = ["2099-01-01", "infinity"]
TRIGGER = """
    CREATE TRIGGER note AFTER INSERT ON {0} REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows('{0}')
"""


@pytest.fixture
def runner(scene: Scene, another: Another) -> Scene:
    """A session that steps as omd_runner, which may use all tables of dwh."""
    scene.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
    scene.conn.execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA dwh"
        " GRANT SELECT, INSERT, DELETE, TRUNCATE ON TABLES TO omd_runner"
    )
    return another(role="omd_runner")


def just(second: float) -> datetime:
    """Return times of the last minute, as the server would stamp them."""
    return datetime.now(timezone.utc) + timedelta(seconds=second - 60)


def sourced(scene: Scene, offset: str, table: str = "dwh.src") -> Callable[[], None]:
    """Create a source of this kind; returns a function that says how far it is."""
    scene.base(table)
    scene.register(table, source_offset=offset)
    if offset == "TRIGGER":
        scene.conn.execute(TRIGGER.format(table).encode())

    def tell() -> None:
        if offset == "HAND":
            scene.conn.execute(f"CALL omd_lineage.set_offset('{table}', 'infinity')".encode())
        scene.probe()

    return tell


# Positions ahead of the clock


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("offset", ["PROBE", "TRIGGER", "HAND", "CLOCK"])
def test_a_row_ahead_of_the_clock_leaves_the_guard_on(
    scene: Scene, runner: Scene, another: Another, offset: str, ahead: str
) -> None:
    def insert(session: Scene, id: int) -> None:
        session.conn.execute("INSERT INTO dwh.src VALUES (%s, %s)", [just(id), id])

    tell = sourced(scene, offset)
    scene.topic()
    insert(scene, 0)
    scene.conn.execute("INSERT INTO dwh.src VALUES (%s, 99)", [ahead])
    tell()
    runner.step()
    slow = another()
    slow.conn.execute("BEGIN")
    insert(slow, 2)
    for id in (1, 3, 4):
        insert(scene, id)
    for _ in range(3):
        tell()
        runner.step()
    slow.conn.execute("COMMIT")
    insert(scene, 5)
    tell()
    runner.steps()
    assert scene.ids()[:5] == [0, 1, 2, 3, 4]
    assert scene.one("SELECT count(*) FROM dwh.f WHERE id = 99") == 0


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("offset", ["PROBE", "TRIGGER"])
def test_a_row_ahead_of_the_clock_makes_no_dependency_look_complete(
    scene: Scene, runner: Scene, offset: str, ahead: str
) -> None:
    """A join takes a row of the base table when its partner may be there, not before."""
    tell = sourced(scene, offset, "dwh.dim")
    scene.source("dwh.src", *range(1, 6))
    scene.conn.execute(
        "CREATE VIEW dwh.joined AS SELECT t.pos, t.id FROM dwh.src AS t"
        " INNER JOIN dwh.dim AS d USING (id) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.f", "dwh.src", "dwh.dim", transforms=["dwh.joined"])
    scene.insert(1, 2, 3, into="dwh.dim")
    scene.conn.execute("INSERT INTO dwh.dim VALUES (%s, 99)", [ahead])
    tell()
    runner.steps()
    assert scene.ids() == [1, 2]
    scene.insert(4, 5, into="dwh.dim")
    tell()
    runner.steps()
    assert scene.ids() == [1, 2, 3, 4]


@pytest.mark.parametrize("offset", ["PROBE", "TRIGGER"])
def test_an_offset_that_another_session_moved_counts_no_row_that_is_not_visible(
    scene: Scene,
    runner: Scene,
    another: Another,
    replaced: Replaced,
    background: Callable[..., Future[Any]],
    until_settled: Any,
    offset: str,
) -> None:
    """Between the probe of a step and its look at the offsets, a writer begins and others write."""
    sourced(scene, offset, "dwh.dim")
    scene.source("dwh.src", *range(1, 6))
    scene.conn.execute(
        "CREATE VIEW dwh.joined AS SELECT t.pos, t.id FROM dwh.src AS t"
        " INNER JOIN dwh.dim AS d USING (id) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.f", "dwh.src", "dwh.dim", transforms=["dwh.joined"])
    scene.insert(1, into="dwh.dim")
    scene.probe()
    replaced(
        "omd_lineage._find_block",
        "v_topic := omd_lineage._what_limits",
        "PERFORM pg_advisory_xact_lock(7); v_topic := omd_lineage._what_limits",
    )
    scene.conn.execute("SELECT pg_advisory_lock(7)")
    call = background(runner.step)
    until_settled(runner, call)
    slow = another()
    slow.conn.execute("BEGIN")
    slow.insert(2, into="dwh.dim")
    for id in (3, 4, 5):
        scene.insert(id, into="dwh.dim")
    scene.probe()
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    call.result(timeout=20)
    slow.conn.execute("COMMIT")
    scene.insert(6, into="dwh.dim")
    scene.probe()
    runner.steps()
    assert scene.ids() == [1, 2, 3, 4]


# Several topics on one table


def test_a_table_made_by_several_topics_has_come_as_far_as_the_slowest(
    scene: Scene, runner: Scene
) -> None:
    scene.source("dwh.fast", *range(1, 7))
    scene.source("dwh.slow", 1)
    scene.source("dwh.src", *range(1, 7))
    for tag in ("fast", "slow"):
        scene.topic(f"dwh.t#{tag}", f"dwh.{tag}")
    scene.conn.execute(
        "CREATE VIEW dwh.joined AS SELECT t.pos, d.id FROM dwh.src AS t"
        " INNER JOIN dwh.t AS d USING (pos) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.all", "dwh.t")
    scene.topic("dwh.one", "dwh.t#fast")
    scene.topic("dwh.late:eu", "dwh.t")
    scene.topic("dwh.join", "dwh.src", "dwh.t", transforms=["dwh.joined"])
    readers = ["dwh.all", "dwh.one", "dwh.late:eu", "dwh.join"]

    def run() -> None:
        for topic in ("dwh.t#fast", "dwh.t#slow", *readers):
            while runner.step(topic).outcome == "DONE":
                pass

    run()
    assert scene.ids("dwh.all") == []
    assert scene.ids("dwh.one") == [1, 2, 3, 4, 5], "it names the one that it wants"
    scene.insert((1, 11), (2.5, 12), (4, 14), (7, 17), into="dwh.slow")
    run()
    scene.insert((9, 9), into="dwh.fast")
    scene.insert((9, 19), into="dwh.slow")
    scene.insert((9, 9))
    run()
    scene.insert((12, 10), into="dwh.fast")
    scene.insert((12, 20), into="dwh.slow")
    run()
    assert scene.ids("dwh.t") == [1, 1, 2, 3, 4, 5, 6, 9, 11, 12, 14, 17, 19]
    assert scene.ids("dwh.all") == scene.ids("dwh.late") == scene.ids("dwh.t")
    assert [row["id"] for row in scene.rows('SELECT id FROM "dwh"."join" ORDER BY id')] == [
        *[1, 1, 2, 3, 4, 5, 6, 11, 14]
    ]


# Ties


def test_a_smaller_id_of_the_same_instant_may_commit_later(
    scene: Scene, runner: Scene, another: Another
) -> None:
    """Sessions take ids from a sequence with a cache in any order."""
    scene.source("dwh.src", 1, (5, 50))
    scene.topic()
    runner.step()
    slow = another()
    slow.conn.execute("BEGIN")
    slow.insert((5, 10))
    scene.insert((6, 51), (7, 52))
    scene.probe()
    for _ in range(2):
        runner.step()
    slow.conn.execute("COMMIT")
    scene.probe()
    runner.steps()
    assert scene.ids() == [1, 10, 50, 51]


# Types


@pytest.mark.parametrize(
    ("pos", "id"),
    [
        ("timestamp", "bigint"),
        ("date", "bigint"),
        ("text", "bigint"),
        ("timestamptz", "numeric"),
        ("timestamptz", "double precision"),
        ("timestamptz", "text"),
    ],
)
def test_other_types_of_a_position_are_refused(
    scene: Scene, runner: Scene, pos: str, id: str
) -> None:
    scene.conn.execute(f"CREATE TABLE dwh.src (pos {pos}, id {id})".encode())
    with pytest.raises(lookup("OM206"), match="is of type"):
        scene.register("dwh.src")
    assert scene.rows("SELECT FROM omd_lineage.topic") == []
    scene.source("dwh.b", 1, 2, 3)
    scene.view("dwh.v", "dwh.b")
    scene.conn.execute("ALTER TABLE dwh.src RENAME pos TO p; ALTER TABLE dwh.src RENAME id TO i")
    scene.conn.execute(f"ALTER TABLE dwh.b ADD p {pos}, ADD i {id}".encode())
    with pytest.raises(lookup("OM206"), match="is of type"):
        scene.topic("dwh.f", "dwh.b", transforms=["dwh.v"], pos_column="p", id_column="i")
    # The column may be altered later.
    scene.topic("dwh.f", "dwh.b", transforms=["dwh.v"])
    scene.conn.execute("DROP VIEW dwh.v; ALTER TABLE dwh.b DROP pos, DROP id")
    scene.conn.execute("ALTER TABLE dwh.b RENAME p TO pos; ALTER TABLE dwh.b RENAME i TO id")
    step = runner.step()
    assert (step.outcome, "is of type" in (step.detail or "")) == ("ERROR", True)


@pytest.mark.parametrize("id", ["smallint", "integer", "dwh.key"])
def test_every_integer_is_an_id(scene: Scene, runner: Scene, id: str) -> None:
    scene.conn.execute("CREATE DOMAIN dwh.key AS bigint CHECK (value > 0)")
    scene.conn.execute(f"CREATE TABLE dwh.src (pos timestamptz, id {id}, v int)".encode())
    scene.conn.execute("CREATE INDEX ON dwh.src (pos, id)")
    scene.register("dwh.src")
    scene.topic(maxstep=2)
    scene.insert(1, 2, (3, 30), (3, 31), (3, 32), 4)
    assert runner.steps() == [2, 2, 1]
    assert scene.ids() == [1, 2, 30, 31, 32]


# The id alone


def by_id(scene: Scene, type: str = "bigint", table: str = "dwh.src", **attributes: Any) -> None:
    """Create a source whose position is its id, and a view of its block."""
    scene.conn.execute(
        f"CREATE TABLE {table} (id {type} GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"
        " v int)".encode()
    )
    scene.register(table, pos_column="", **attributes)
    scene.conn.execute(
        f"CREATE VIEW {table}_block AS SELECT t.id, t.v FROM {table} AS t"
        " WHERE omd_lineage.id_in_block(t.id)".encode()
    )


def add(scene: Scene, *values: int, into: str = "dwh.src") -> None:
    for value in values:
        scene.conn.execute(f"INSERT INTO {into} (v) VALUES (%s)".encode(), [value])


@pytest.mark.parametrize("offset", ["PROBE", "TRIGGER", "HAND"])
@pytest.mark.parametrize("type", ["integer", "bigint"])
def test_a_position_may_be_the_id_alone(
    scene: Scene, runner: Scene, another: Another, type: str, offset: str
) -> None:
    def tell() -> None:
        if offset == "HAND":
            last = scene.one("SELECT max(id) FROM dwh.src")
            scene.conn.execute(
                "CALL omd_lineage.set_offset('dwh.src', '-infinity', %s)", [last or 0]
            )
        scene.probe()

    by_id(scene, type, source_offset=offset)
    if offset == "TRIGGER":
        scene.conn.execute(TRIGGER.format("dwh.src").encode())
    scene.topic("dwh.f", transforms=["dwh.src_block"], maxstep=2)
    assert scene.reason()[0] is False
    add(scene, *range(5))
    tell()
    assert scene.reason() == (True, "DUE")
    plan = scene.plan()
    assert (plan["start_pos"], plan["start_id"]) == (FIRST, LEAST_ID)
    assert (plan["end_pos"], plan["end_id"], plan["row_count"]) == (FIRST, 2, 2)
    assert plan["is_full"]
    assert runner.steps() == [2, 2, 1], "no row of the same instant is waited for"
    assert scene.last() == (FIRST, 5)
    assert scene.reason() == (False, "DEPENDENCY")
    slow = another()
    slow.conn.execute("BEGIN")
    add(slow, 6)
    add(scene, 7, 8)
    tell()
    for _ in range(2):
        assert runner.step().outcome == "NOJOBS"
    slow.conn.execute("COMMIT")
    tell()
    assert scene.reason() == (True, "DUE")
    # A retry takes the same block, and one that was taken can be shown and undone.
    scene.fails()
    planned = scene.plan()
    assert (planned["is_planned"], planned["end_id"]) == (True, 7)
    add(scene, 9)
    tell()
    assert sum(runner.steps()) == 4
    assert [row["id"] for row in scene.rows("SELECT id FROM dwh.f ORDER BY id")] == list(
        range(1, 10)
    )
    assert scene.rows("SELECT * FROM omd_report.lineage_gaps") == []
    assert (
        scene.rows("SELECT * FROM omd_report.lineage_lag WHERE topic = 'dwh.f'")[0]["last_id"] == 9
    )
    assert scene.rows("SELECT max_id FROM omd_lineage.log ORDER BY ts DESC")[0]["max_id"] == 9


def test_a_chain_by_the_id_alone(scene: Scene, runner: Scene) -> None:
    """Each table carries the ids of the one before, as it does with times."""
    by_id(scene)
    scene.topic("dwh.f", transforms=["dwh.src_block"])
    scene.conn.execute(
        "CREATE VIEW dwh.f_block AS SELECT t.id, t.v FROM dwh.f AS t"
        " WHERE omd_lineage.in_block('-infinity', t.id)"
    )
    scene.topic("dwh.g", "dwh.f", transforms=["dwh.f_block"], pos_column="")
    for _ in range(3):
        add(scene, 1, 2)
        runner.steps()
        runner.steps("dwh.g")
    assert scene.ids("dwh.g") == [1, 2, 3, 4, 5, 6]
    assert scene.reason("dwh.g") == (False, "DEPENDENCY")
    scene.topic(
        "dwh.whole", "dwh.src", transforms=["dwh.src"], processor="RELOAD", repeat=timedelta(0)
    )
    assert runner.step("dwh.whole").rows == 6
    assert runner.step("dwh.whole").outcome == "NOJOBS"
    add(scene, 7)
    assert runner.step("dwh.whole").rows == 7


def test_a_block_by_the_id_alone_is_read_by_its_index(scene: Scene, runner: Scene) -> None:
    by_id(scene)
    scene.conn.execute("INSERT INTO dwh.src (v) SELECT n FROM generate_series(1, 50000) AS n")
    scene.conn.execute("ANALYZE dwh.src")
    scene.topic(
        "dwh.f", transforms=["dwh.src_block"], maxstep=100, start_pos="-infinity", start_id=40000
    )
    assert runner.step().rows == 100
    scene.conn.execute("SELECT pg_stat_force_next_flush()")
    scene.conn.execute("BEGIN")
    scene.call("omd_lineage.set_block", topic="dwh.f")
    read = "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'src'"
    before = scene.rows(read)[0]
    assert scene.one("SELECT min(id) FROM dwh.src_block") == 40101
    after = scene.rows(read)[0]
    scene.conn.execute("ROLLBACK")
    assert before["seq_scan"] == after["seq_scan"] == 0
    assert after["idx_tup_fetch"] <= 1000


def test_what_needs_a_time_is_refused_where_the_position_is_the_id_alone(scene: Scene) -> None:
    by_id(scene)
    scene.source("dwh.dim", 1)
    view = {"transforms": ["dwh.src_block"]}
    for wrong in (
        {"depends_on": ["dwh.src", "dwh.dim"]},
        {"delay": timedelta(minutes=1)},
        {"max_wait": timedelta(minutes=1)},
        {"start_pos": at(1)},
        {"pos_column": "v"},
    ):
        with pytest.raises((lookup("OM211"), lookup("OM206"))):
            scene.register("dwh.f", **{"depends_on": ["dwh.src"], **view, **wrong})
    with pytest.raises(lookup("OM211"), match=r"dwh\.src is read by the id alone"):
        scene.register("dwh.f", depends_on=["dwh.dim", "dwh.src"], **view)
    with pytest.raises(lookup("OM211"), match="CLOCK"):
        scene.register("dwh.src", source_offset="CLOCK")
    with pytest.raises(lookup("OM013"), match="p_pos"):
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1))
    # A source can't become one without a time under a reader that goes by its time.
    scene.topic("dwh.g", "dwh.dim")
    scene.insert(2, into="dwh.dim")
    assert scene.steps("dwh.g") == [1]
    with pytest.raises(lookup("OM211"), match=r"dwh\.g"):
        scene.register("dwh.dim", pos_column="")
    scene.call("omd_lineage.remove_topic", topic="dwh.g")
    scene.register("dwh.dim", pos_column="")
    scene.probe()
    assert scene.last("dwh.dim") == (FIRST, 2)


@pytest.mark.parametrize("kind", ["identity", "serial", "default"])
def test_ids_from_a_cache_are_no_position_by_themselves(scene: Scene, kind: str) -> None:
    """Each session has a stock of them, so they are committed in any order."""
    scene.conn.execute("CREATE SEQUENCE dwh.numbers CACHE 50")
    column = {
        "identity": "bigint GENERATED ALWAYS AS IDENTITY (CACHE 50)",
        "serial": "bigserial",
        "default": "bigint DEFAULT nextval('dwh.numbers')",
    }[kind]
    scene.conn.execute(f"CREATE TABLE dwh.src (id {column})".encode())
    if kind == "serial":
        scene.conn.execute("ALTER SEQUENCE dwh.src_id_seq CACHE 2")
    with pytest.raises(lookup("OM206"), match="has a cache"):
        scene.register("dwh.src", pos_column="")
    if kind == "serial":
        scene.conn.execute("ALTER SEQUENCE dwh.src_id_seq CACHE 1")
        scene.register("dwh.src", pos_column="")


# The quiet advance


@pytest.mark.parametrize("offset", ["PROBE", "HAND"])
def test_a_writer_that_ends_while_a_plan_is_made_has_rows_that_the_plan_did_not_see(
    scene: Scene,
    runner: Scene,
    another: Another,
    replaced: Replaced,
    background: Callable[..., Future[Any]],
    until_settled: Any,
    offset: str,
) -> None:
    """The topic must not count as complete up to there, or a join misses the rows for ever."""
    sourced(scene, offset)
    scene.source("dwh.left", *range(1, 6))
    scene.insert(1)
    if offset == "HAND":
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1), id=1)
    scene.topic()
    scene.conn.execute(
        "CREATE VIEW dwh.joined AS SELECT t.pos, t.id FROM dwh.left AS t"
        " INNER JOIN dwh.f AS d USING (id) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.join", "dwh.left", "dwh.f", transforms=["dwh.joined"])
    runner.steps()
    slow = another()
    slow.conn.execute("BEGIN")
    slow.insert(2)
    scene.insert(3)
    if offset == "HAND":
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(3), id=3)
    scene.probe()
    runner.step()  # what was there before the writer began is taken
    replaced(
        "omd_lineage._block_of_rows",
        "v_uncounted := ",
        "PERFORM pg_advisory_xact_lock(7); v_uncounted := ",
    )
    scene.conn.execute("SELECT pg_advisory_lock(7)")
    call = background(runner.step)
    until_settled(runner, call)
    slow.conn.execute("COMMIT")
    scene.conn.execute("SELECT pg_advisory_unlock(7)")
    call.result(timeout=20)
    for _ in range(2):
        runner.step("dwh.join")
        scene.insert(4, 5)
        if offset == "HAND":
            scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(5), id=5)
        scene.probe()
        runner.steps()
    runner.steps("dwh.join")
    assert scene.one("SELECT array_agg(id ORDER BY id) FROM dwh.join")[:3] == [1, 2, 3]


# Sources with TRIGGER


@pytest.fixture
def triggered(scene: Scene, runner: Scene) -> Scene:
    """Two sources with triggers, and a topic for each."""
    for table in ("dwh.src", "dwh.b"):
        sourced(scene, "TRIGGER", table)
        scene.topic(f"{table}_copy", table)
    return runner


def test_writers_of_two_sources_in_different_order_do_not_wait_for_one_another(
    scene: Scene, triggered: Scene, another: Another
) -> None:
    one, two = another(), another()
    for writer, tables in ((one, ["dwh.src", "dwh.b"]), (two, ["dwh.b", "dwh.src"])):
        writer.conn.execute("SET lock_timeout = '2s'")
        writer.conn.execute("BEGIN")
        writer.insert(1 if writer is one else 2, into=tables[0])
    one.insert(3, into="dwh.b")
    two.insert(4, into="dwh.src")
    for writer in (one, two):
        writer.conn.execute("COMMIT")
    # No further row is needed to tell of those that were written meanwhile.
    assert scene.probe() == 2
    assert (scene.last("dwh.src"), scene.last("dwh.b")) == ((at(4), 4), (at(3), 3))
    assert (triggered.steps("dwh.src_copy"), triggered.steps("dwh.b_copy")) == ([1], [1])
    assert scene.rows("SELECT * FROM omd_lineage.note") == []


def test_a_writer_that_sees_old_offsets_only_is_not_refused(
    scene: Scene, triggered: Scene, another: Another
) -> None:
    writer = another()
    writer.conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert writer.ids("dwh.src") == []
    scene.insert(1)
    writer.insert(2)
    writer.conn.execute("COMMIT")
    scene.insert(1.5)
    assert triggered.steps("dwh.src_copy") == [2]
    assert scene.last("dwh.src") == (at(2), 2)


def test_a_note_is_kept_until_nobody_writes(
    scene: Scene, triggered: Scene, another: Another
) -> None:
    scene.insert(1)
    triggered.step("dwh.src_copy")
    first, second, third = another(), another(), another()
    first.conn.execute("BEGIN")
    first.insert(2)
    second.insert(3)  # it leaves a note
    first.conn.execute("ROLLBACK")
    third.conn.execute("BEGIN")
    third.conn.execute("UPDATE dwh.src SET v = 2 WHERE id = 1")
    assert triggered.step("dwh.src_copy").outcome == "NOJOBS"
    assert scene.last("dwh.src") == (at(1), 1)
    third.conn.execute("COMMIT")
    assert scene.probe() == 1
    assert triggered.steps("dwh.src_copy") == [1]
    assert scene.last("dwh.src") == (at(3), 3)


def test_rows_that_are_all_ahead_of_the_clock_do_not_stop_a_trigger(
    scene: Scene, triggered: Scene
) -> None:
    """Another machine stamps the rows, and its clock is ahead."""
    for id in range(1, 4):
        scene.conn.execute(
            "INSERT INTO dwh.src VALUES (clock_timestamp() + interval '100 ms', %s)", [id]
        )
        scene.conn.execute("SELECT pg_sleep(0.12)")
        triggered.step("dwh.src_copy")
    scene.conn.execute("INSERT INTO dwh.src VALUES (NULL, 9), (%s, NULL)", [at(1)])
    assert len(scene.ids("dwh.src_copy")) >= 1


def test_a_trigger_s_offset_ahead_of_a_late_commit_holds_a_join(
    scene: Scene, runner: Scene, another: Another
) -> None:
    sourced(scene, "TRIGGER", "dwh.dim")
    scene.source("dwh.src", *range(1, 6))
    scene.conn.execute(
        "CREATE VIEW dwh.joined AS SELECT t.pos, t.id FROM dwh.src AS t"
        " INNER JOIN dwh.dim AS d USING (id) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.f", "dwh.src", "dwh.dim", transforms=["dwh.joined"])
    scene.insert(1, into="dwh.dim")
    slow = another()
    slow.conn.execute("BEGIN")
    slow.insert(2, into="dwh.dim")
    scene.insert(3, 4, 5, into="dwh.dim")
    scene.probe()
    held = runner.step()
    assert "writes to dwh.dim" in (held.detail or ""), held
    slow.conn.execute("COMMIT")
    scene.probe()
    runner.steps()
    assert scene.ids() == [1, 2, 3, 4]
