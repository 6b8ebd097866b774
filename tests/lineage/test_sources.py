"""The offset of a source: PROBE, CLOCK, TRIGGER and HAND, and the notifications."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable

    Another = Callable[..., Scene]

TRIGGER = """
    CREATE TRIGGER note AFTER INSERT ON {0} REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION omd_lineage.note_rows('{1}')
"""


def told(scene: Scene) -> list[str]:
    """Return the topics whose numbers have arrived on the channel."""
    rows = scene.conn.execute("SELECT topic_id::text AS id, topic FROM omd_lineage.topic")
    topics = {row["id"]: row["topic"] for row in rows.fetchall()}
    heard = [n.payload for n in scene.conn.notifies(timeout=0)]
    return [topics[payload] for payload in heard]


# PROBE


def test_a_probe_finds_the_newest_row(scene: Scene) -> None:
    scene.source("dwh.src")
    assert scene.offset("dwh.src")["last"] is None
    scene.insert(3, (3, 9), 1)
    assert scene.probe() == 1
    assert scene.last("dwh.src") == (at(3), 9)
    assert scene.offset("dwh.src")["processor"] == "PROBE"
    assert scene.probe() == 0
    scene.insert((3, 10))
    assert scene.probe() == 1
    assert scene.last("dwh.src") == (at(3), 10)


def test_a_probe_never_goes_back(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute("DELETE FROM dwh.src WHERE id > 1")
    assert scene.probe() == 0
    assert scene.last("dwh.src") == (at(3), 3)


def test_a_probe_looks_into_the_index_alone(scene: Scene) -> None:
    scene.base()
    scene.conn.execute(
        "INSERT INTO dwh.src SELECT timestamptz '2020-01-01' + n * interval '1 s', n"
        " FROM generate_series(1, 50000) AS n"
    )
    scene.conn.execute("ANALYZE dwh.src")
    scene.conn.execute("SELECT pg_stat_force_next_flush()")
    with scene.conn.transaction():
        scene.register("dwh.src")
        read = scene.rows(
            "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relid = 'dwh.src'::regclass"
        )[0]
    assert read["seq_scan"] == 0
    assert read["idx_tup_fetch"] <= 2
    assert scene.last("dwh.src")[1] == 50000


def test_a_source_is_probed_at_its_registration_and_by_each_step(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    assert scene.last("dwh.src") == (at(2), 2)
    scene.topic()
    scene.insert(3, 4)
    assert scene.step().rows == 3
    assert scene.last("dwh.src") == (at(4), 4)


def test_columns_of_other_names(scene: Scene) -> None:
    scene.base("dwh.src", pos="When?", id="No.")
    scene.register("dwh.src", pos_column="When?", id_column="No.")
    scene.insert(1)
    assert scene.probe() == 1
    assert scene.last("dwh.src") == (at(1), 1)


# CLOCK


def test_a_clock_goes_on_without_rows(scene: Scene) -> None:
    before = datetime.now(timezone.utc) - timedelta(minutes=5)
    scene.base()
    scene.register("dwh.src", source_offset="CLOCK")
    first = scene.last("dwh.src")[0]
    assert first > before
    assert scene.probe() == 1
    assert scene.last("dwh.src")[0] > first


def test_a_clock_stands_still_at_the_oldest_writer(scene: Scene, another: Another) -> None:
    scene.base()
    writer = another()
    writer.conn.execute("BEGIN")
    began = writer.one("SELECT now()")
    writer.conn.execute("INSERT INTO dwh.src VALUES (now(), 1)")
    scene.register("dwh.src", source_offset="CLOCK")
    for _ in range(2):
        scene.probe()
        assert scene.last("dwh.src")[0] <= began
    writer.conn.execute("COMMIT")
    scene.probe()
    assert scene.last("dwh.src")[0] > began


def test_rows_stamped_by_the_server_all_come_with_a_clock(scene: Scene, another: Another) -> None:
    scene.base()
    scene.register("dwh.src", source_offset="CLOCK")
    scene.topic()
    writers = [another() for _ in range(3)]
    for id, writer in enumerate(writers):
        writer.conn.execute("BEGIN")
        writer.conn.execute("INSERT INTO dwh.src VALUES (clock_timestamp(), %s)", [id])
    for writer in reversed(writers):
        scene.step()
        writer.conn.execute("COMMIT")
    scene.probe()
    scene.steps()
    assert scene.ids() == [0, 1, 2]


def test_a_clock_stands_still_at_a_run_that_is_still_at_work(scene: Scene) -> None:
    """A run on Spark stamps rows long before it commits them, and holds no lock meanwhile."""
    scene.base()
    scene.register("dwh.src", source_offset="CLOCK")
    scene.topic()
    run = begun(scene, "dwh.src")
    stamp = scene.one("SELECT omd.stamp_datetime(%s)", run)
    scene.conn.execute("INSERT INTO dwh.src (pos, id) VALUES (clock_timestamp(), 1)")
    scene.probe()
    scene.steps()
    assert scene.ids() == []
    scene.conn.execute("INSERT INTO dwh.src VALUES (%s, 2, 0, %s)", [stamp, run])
    scene.call("omd.module_success", module_instance_id=run)
    scene.probe()
    scene.steps()
    assert scene.ids() == [1, 2]


def test_a_block_by_the_stamp_ends_before_a_run_that_is_still_at_work(scene: Scene) -> None:
    scene.conn.execute(
        "CREATE TABLE dwh.src (omd_insert_datetime timestamptz, id bigint, v bigint,"
        " omd_insert_module_instance_id bigint, PRIMARY KEY (omd_insert_datetime, id))"
    )
    scene.register("dwh.src", pos_column="omd_insert_datetime")
    scene.base("dwh.f")
    scene.conn.execute(
        "CREATE VIEW dwh.f_view AS SELECT id FROM dwh.src"
        " WHERE omd_lineage.in_block(omd_insert_datetime, id)"
    )
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.f_view"])
    run = begun(scene, "dwh.src")
    stamp = scene.one("SELECT omd.stamp_datetime(%s)", run)
    put = "INSERT INTO dwh.src VALUES (%s, %s, 0, %s)"
    for id in (1, 3):
        scene.conn.execute(put, [scene.one("SELECT clock_timestamp()"), id, None])
    scene.probe()
    scene.steps()
    assert scene.ids() == []
    scene.conn.execute(put, [stamp, 2, run])
    scene.call("omd.module_success", module_instance_id=run)
    scene.probe()
    scene.steps()
    assert scene.ids() == [1, 2]


def begun(scene: Scene, table: str) -> int:
    """Begin a run of a Module that loads a table."""
    scene.call(
        "omd.register_module",
        module_code="w",
        area_code="INT",
        table_code=table,
        table_type_code="HUB",
        platform_code="POSTGRES",
    )
    return int(scene.call("omd.begin_module", module_code="w")["module_instance_id"])


# TRIGGER


@pytest.fixture
def triggered(scene: Scene) -> Scene:
    scene.base()
    scene.register("dwh.src", source_offset="TRIGGER")
    scene.conn.execute(TRIGGER.format("dwh.src", "dwh.src").encode())
    return scene


def test_a_trigger_moves_the_offset_with_the_rows(triggered: Scene) -> None:
    triggered.conn.execute(f"INSERT INTO dwh.src VALUES ('{at(2)}', 7), ('{at(1)}', 9)".encode())
    assert triggered.last("dwh.src") == (at(2), 7)
    assert triggered.offset("dwh.src")["processor"] == "TRIGGER"
    triggered.insert(1)
    assert triggered.last("dwh.src") == (at(2), 7)
    triggered.conn.execute("INSERT INTO dwh.src SELECT * FROM dwh.src WHERE FALSE")
    assert triggered.last("dwh.src") == (at(2), 7)
    assert triggered.probe() == 0
    triggered.topic()
    assert triggered.steps() == [2]


def test_a_trigger_takes_its_move_back_with_the_rows(triggered: Scene) -> None:
    triggered.insert(1)
    triggered.conn.execute("BEGIN")
    triggered.insert(5)
    triggered.conn.execute("ROLLBACK")
    assert triggered.last("dwh.src") == (at(1), 1)


def test_a_trigger_needs_a_writer_who_may_run(triggered: Scene, connect: Any) -> None:
    triggered.conn.execute("DROP ROLE IF EXISTS omd_test_writer")
    triggered.conn.execute("CREATE ROLE omd_test_writer")
    try:
        triggered.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_test_writer")
        triggered.conn.execute("GRANT INSERT ON dwh.src TO omd_test_writer")
        with connect(role="omd_test_writer") as writer:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute("INSERT INTO dwh.src VALUES (%s, 1)", [at(1)])
            triggered.conn.execute("GRANT omd_runner TO omd_test_writer")
            writer.execute("INSERT INTO dwh.src VALUES (%s, 1)", [at(1)])
        assert triggered.last("dwh.src") == (at(1), 1)
    finally:
        triggered.conn.execute("DROP OWNED BY omd_test_writer")
        triggered.conn.execute("DROP ROLE omd_test_writer")


def test_a_trigger_of_a_topic_that_is_gone_says_so(triggered: Scene) -> None:
    triggered.call("omd_lineage.remove_topic", topic="dwh.src")
    with pytest.raises(psycopg.Error) as caught:
        triggered.insert(1)
    assert caught.value.sqlstate == "OM015"


def test_a_trigger_s_writer_holds_up_no_scheduler(triggered: Scene, another: Another) -> None:
    triggered.topic()
    triggered.insert(1, 2)
    writer = another()
    writer.conn.execute("BEGIN")
    writer.insert(3)
    triggered.conn.execute("SET lock_timeout = '2s'")
    triggered.probe()
    assert triggered.step().outcome in {"DONE", "NOJOBS"}
    writer.conn.execute("COMMIT")
    triggered.steps()
    assert triggered.ids() == [1, 2]


@pytest.mark.parametrize("role", ["omd_runner", "omd_admin"])
def test_who_owns_the_table_attaches_the_trigger(scene: Scene, role: str) -> None:
    scene.source("dwh.src", source_offset="TRIGGER")
    scene.conn.execute(f"GRANT USAGE, CREATE ON SCHEMA dwh TO {role}".encode())
    scene.conn.execute(f"ALTER TABLE dwh.src OWNER TO {role}".encode())
    with scene.role(role):
        scene.conn.execute(TRIGGER.format("dwh.src", "dwh.src").encode())
        scene.conn.execute(b"INSERT INTO dwh.src VALUES ('2020-01-01 00:03+00', 3)")
    assert scene.offset("dwh.src")["last"] is not None


def test_a_reader_attaches_no_trigger(scene: Scene) -> None:
    scene.source("dwh.src", source_offset="TRIGGER")
    scene.conn.execute(b"GRANT USAGE, CREATE ON SCHEMA dwh TO omd_reader")
    scene.conn.execute(b"ALTER TABLE dwh.src OWNER TO omd_reader")
    with scene.role("omd_reader"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        scene.conn.execute(TRIGGER.format("dwh.src", "dwh.src").encode())


# HAND


def test_by_hand_only_the_hand_moves_it(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, source_offset="HAND")
    assert scene.probe() == 0
    assert scene.offset("dwh.src")["last"] is None
    scene.topic()
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(2), id=5)
    assert scene.last("dwh.src") == (at(2), 5)
    assert scene.steps() == [1]
    assert scene.rows("SELECT 1 FROM omd.event_log WHERE event_detail LIKE '%%dwh.src%%2020%%'")


# All of them


def test_a_broken_source_is_told_and_stops_nobody(scene: Scene) -> None:
    scene.source("dwh.a", 1)
    scene.register("dwh.gone")
    scene.register("dwh.bent")
    scene.conn.execute("CREATE TABLE dwh.bent (pos text, id bigint)")
    scene.conn.execute("INSERT INTO dwh.bent VALUES ('soon', 1)")
    # A failed ASSERT is none of the errors that OTHERS stands for.
    scene.register("dwh.hostile")
    scene.conn.execute(
        "CREATE FUNCTION dwh.fail() RETURNS timestamptz LANGUAGE plpgsql AS"
        " $$BEGIN ASSERT FALSE, 'no'; END$$;"
        " CREATE VIEW dwh.hostile AS SELECT dwh.fail() AS pos, 1::bigint AS id;"
        " GRANT SELECT ON dwh.hostile TO omd_runner"
    )
    scene.source("dwh.z", 1)
    scene.insert(2, into="dwh.a")
    scene.insert(2, into="dwh.z")
    assert scene.probe() == 2
    assert scene.offset("dwh.hostile")["state"]
    assert (scene.last("dwh.a"), scene.last("dwh.z")) == ((at(2), 2), (at(2), 2))
    assert "dwh.gone" in scene.offset("dwh.gone")["state"]
    assert scene.offset("dwh.bent")["state"]
    # After the repair its state is clean again.
    scene.base("dwh.gone")
    scene.insert(1, into="dwh.gone")
    assert scene.probe() == 1
    assert scene.offset("dwh.gone")["state"] == ""


def test_a_source_the_runner_may_not_read_is_told(scene: Scene) -> None:
    scene.source("dwh.src", 1)
    scene.insert(2)
    scene.conn.execute(b"REVOKE SELECT ON dwh.src FROM omd_runner")
    assert scene.probe() == 0
    assert "permission" in scene.offset("dwh.src")["state"]
    scene.conn.execute(b"GRANT SELECT ON dwh.src TO omd_runner")
    assert scene.probe() == 1


def test_an_inactive_source_is_not_probed(scene: Scene) -> None:
    scene.source("dwh.src", 1, inactive_indicator="Y")
    scene.insert(2)
    assert scene.probe() == 0


def test_sources_that_others_hold_are_passed_over(scene: Scene, another: Another) -> None:
    scene.source("dwh.src", 1)
    scene.source("dwh.z", 1)
    scene.insert(2)
    scene.insert(2, into="dwh.z")
    other = another()
    other.conn.execute("BEGIN")
    other.conn.execute("SELECT 1 FROM omd_lineage.offsets WHERE topic = 'dwh.src' FOR UPDATE")
    scene.conn.execute("SET lock_timeout = '2s'")
    scene.probe()
    assert (scene.last("dwh.src"), scene.last("dwh.z")) == ((at(1), 1), (at(2), 2))
    other.conn.execute("ROLLBACK")
    assert scene.probe() == 1


def test_a_source_that_others_hold_is_not_counted_as_moved(scene: Scene, another: Another) -> None:
    scene.source("dwh.src", 1)
    scene.insert(2)
    other = another()
    other.conn.execute("BEGIN")
    other.conn.execute("SELECT 1 FROM omd_lineage.offsets WHERE topic = 'dwh.src' FOR UPDATE")
    assert (scene.probe(), scene.last("dwh.src")) == (0, (at(1), 1))


# Notifications


def test_each_move_is_told_on_the_channel(scene: Scene) -> None:
    scene.source("dwh.src")
    scene.topic(maxstep=2)
    scene.conn.execute("LISTEN omd_lineage")
    try:
        scene.insert(1, 2, 3, 4)
        scene.probe()
        assert told(scene) == ["dwh.src"]
        scene.step()
        assert told(scene) == ["dwh.f"]
        scene.step()
        scene.step()
        assert set(told(scene)) == {"dwh.f"}
        assert scene.step().outcome == "NOJOBS"
        assert told(scene) == []
        scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(1))
        assert told(scene) == ["dwh.f"]
        scene.call("omd.retry", module_code="dwh.f")
        assert told(scene) == ["dwh.f"]
    finally:
        scene.conn.execute("UNLISTEN *")


def test_a_trigger_tells_at_the_commit(triggered: Scene, another: Another) -> None:
    triggered.conn.execute("LISTEN omd_lineage")
    try:
        writer = another()
        writer.conn.execute("BEGIN")
        writer.insert(1)
        assert told(triggered) == []
        writer.conn.execute("COMMIT")
        assert told(triggered) == ["dwh.src"]
    finally:
        triggered.conn.execute("UNLISTEN *")


def test_a_source_that_is_told_to_be_complete_lets_its_readers_move_on(scene: Scene) -> None:
    """Its newest row is before that; a topic that reads it must not wait for another row."""
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.topic("dwh.g", "dwh.f")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(10))
    for _ in range(2):
        scene.step()
        scene.step("dwh.g")
    assert scene.last("dwh.f") == (at(10), 0)
    assert scene.ids("dwh.g") == [1, 2]
