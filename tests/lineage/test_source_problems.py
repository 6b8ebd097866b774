"""What is wrong with a source is told, and never stops the other sources (rule L13)."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.readable import readable
from support.scene import Scene, at

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]

RIGHTS = """
    GRANT USAGE ON SCHEMA dwh TO omd_runner;
    ALTER DEFAULT PRIVILEGES IN SCHEMA dwh GRANT SELECT, INSERT, DELETE ON TABLES TO omd_runner;
    GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA dwh TO omd_runner
"""
TYPES = "Its position has the types timestamp with time zone and bigint:"
SECRET = "Jane Roe 4711"
FUTURE = datetime(2099, 1, 1, tzinfo=timezone.utc)


@pytest.fixture
def runner(scene: Scene, another: Another) -> Scene:
    """The calls of a session as omd_runner, which may read and write the tables of dwh."""
    scene.conn.execute(RIGHTS.encode())
    return another(role="omd_runner")


def told(scene: Scene) -> dict[str, str | None]:
    """Return the problem of each source."""
    rows = scene.rows("SELECT source, problem FROM omd_report.sources ORDER BY source")
    return {row["source"]: row["problem"] for row in rows}


def source(scene: Scene, name: str = "dwh.src") -> dict[str, Any]:
    [row] = scene.rows("SELECT * FROM omd_report.sources WHERE source = %s", name)
    return row


def lag(scene: Scene, topic: str = "dwh.f") -> dict[str, Any]:
    [row] = scene.rows("SELECT * FROM omd_report.lineage_lag WHERE topic = %s", topic)
    return row


def make_slow(scene: Scene, table: str) -> None:
    """Let each look of a runner at a table last for a minute."""
    scene.conn.execute(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f"CREATE POLICY slow ON {table} USING (pg_sleep(60) IS NULL)".encode()
    )


def test_each_way_to_lose_a_source_is_told_until_it_is_mended(scene: Scene, runner: Scene) -> None:
    names = ("gone", "renamed", "swapped", "forbidden", "bent", "typed", "unindexed")
    for name in names:
        scene.source(f"dwh.{name}", 1)
        scene.topic(f"dwh.f_{name}", f"dwh.{name}")
    scene.source("dwh.z", 1)
    assert runner.probe() == 0
    assert set(told(scene).values()) == {None}

    scene.conn.execute(
        b"DROP TABLE dwh.gone CASCADE;"
        b"ALTER TABLE dwh.renamed RENAME TO former;"
        b"ALTER TABLE dwh.swapped RENAME TO swapped_old;"
        b"CREATE TABLE dwh.swapped (LIKE dwh.swapped_old INCLUDING ALL);"
        b"REVOKE SELECT ON dwh.forbidden FROM omd_runner;"
        b"ALTER TABLE dwh.bent RENAME COLUMN pos TO happened_at;"
        b"DROP VIEW dwh.v_dwh_f_typed; ALTER TABLE dwh.typed ALTER pos TYPE text;"
        b"DROP INDEX dwh.unindexed_pos_id_idx"
    )
    for name in ("unindexed", "z"):
        scene.insert(2, into=f"dwh.{name}")
    assert runner.probe() == 2
    problems = told(scene)
    assert problems.pop("dwh.z") is None
    assert problems.pop("dwh.gone") == "It is gone."
    assert problems.pop("dwh.renamed") == "It was renamed to dwh.former."
    swapped = "It was renamed to dwh.swapped_old, and another table has its name."
    assert problems.pop("dwh.swapped") == swapped
    forbidden = (
        "The role omd_runner has no right to read it: permission denied for table forbidden."
    )
    assert problems.pop("dwh.forbidden") == forbidden
    assert problems.pop("dwh.bent") == "Its column pos is missing."
    assert "type" in str(problems.pop("dwh.typed"))
    assert problems.pop("dwh.unindexed") == "Its index on (pos, id) is missing."
    assert problems == {}
    # What was seen before stays, and grows old.
    row = source(scene, "dwh.gone")
    assert (row["newest_pos"], row["newest_id"], row["is_silent"]) == (at(1), 1, True)
    assert row["lag"] > timedelta(days=1)
    assert row["topics"] == ["dwh.f_gone"]

    scene.base("dwh.gone")
    scene.conn.execute(
        b"ALTER TABLE dwh.former RENAME TO renamed;"
        b"DROP TABLE dwh.swapped; ALTER TABLE dwh.swapped_old RENAME TO swapped;"
        b"GRANT SELECT ON dwh.forbidden TO omd_runner;"
        b"ALTER TABLE dwh.bent RENAME COLUMN happened_at TO pos;"
        b"ALTER TABLE dwh.typed ALTER pos TYPE timestamptz USING pos::timestamptz;"
        b"CREATE INDEX ON dwh.unindexed (pos, id)"
    )
    assert runner.probe() == 0
    assert set(told(scene).values()) == {None}


def test_a_table_that_was_exchanged_for_good_is_the_source_once_it_is_registered_again(
    scene: Scene, runner: Scene
) -> None:
    scene.source("dwh.src", 1)
    scene.conn.execute(
        b"ALTER TABLE dwh.src RENAME TO old; CREATE TABLE dwh.src (LIKE dwh.old INCLUDING ALL)"
    )
    for _ in range(2):
        runner.probe()
        assert "renamed to dwh.old" in str(source(scene)["problem"])
    scene.register("dwh.src")
    assert source(scene)["problem"] is None
    runner.probe()
    assert source(scene)["problem"] is None


def test_a_locked_table_stops_only_the_topics_that_read_it(
    scene: Scene, runner: Scene, another: Another
) -> None:
    for name in ("a", "b", "z"):
        scene.source(f"dwh.{name}", 1, 2)
        scene.topic(f"dwh.f_{name}", f"dwh.{name}")
    scene.topic("dwh.g", "dwh.z", "dwh.b")
    scene.insert(3, into="dwh.b")
    failed = scene.step("dwh.f_b", hostid="x")
    assert failed.outcome == "DONE"
    locker = another()
    locker.conn.execute("BEGIN")
    locker.conn.execute("LOCK TABLE dwh.b")
    pid = locker.conn.info.backend_pid
    for name in ("a", "z"):
        scene.insert(3, into=f"dwh.{name}")
    began = datetime.now(timezone.utc)
    assert runner.probe() == 2
    problem = f"It is locked by process {pid}."
    assert told(scene) == {"dwh.a": None, "dwh.b": problem, "dwh.z": None}
    assert source(scene, "dwh.b")["is_silent"]
    assert source(scene, "dwh.z")["probed_at"] > began
    for topic in ("dwh.f_b", "dwh.g"):
        step = runner.step(topic)
        assert step.outcome == "NOJOBS"
        locked = f"the base table dwh.b can't be read now: it is locked by process {pid}"
        assert step.detail == locked
        # A lock may last for hours, and is no failure of the topic.
        row = lag(scene, topic)
        assert (row["attempts"], row["state"]) == (0, f"NOJOBS: {locked}")
        assert (row["lag"], row["problem"]) == (None, f"dwh.b: {problem}")
    for topic in ("dwh.f_a", "dwh.f_z"):
        assert runner.step(topic).outcome == "DONE"
    locker.conn.execute("COMMIT")
    runner.probe()
    assert set(told(scene).values()) == {None}
    assert runner.step("dwh.g").outcome == "DONE"


def test_the_retry_of_a_block_does_not_wait_for_a_locked_table_either(
    scene: Scene, runner: Scene, another: Another
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.fails()
    locker = another()
    locker.conn.execute("BEGIN")
    locker.conn.execute("LOCK TABLE dwh.src")
    step = runner.step()
    assert (step.outcome, scene.offset()["attempts"]) == ("NOJOBS", 1)
    locker.conn.execute("COMMIT")
    assert scene.step().rows == 1


def test_rows_without_a_position_are_passed_over_and_told(scene: Scene, runner: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.conn.execute(
        "INSERT INTO dwh.src VALUES (NULL, 7), (NULL, NULL), (%s, NULL), (%s, NULL)",
        [at(1.5), at(3)],
    )
    scene.insert(4, 5)
    assert runner.probe() == 1
    assert scene.last("dwh.src") == (at(5), 5)
    assert runner.steps() == [3]
    assert scene.ids() == [1, 2, 4]
    row = source(scene)
    assert row["null_rows"] == 2
    of_pos, of_id = row["problem"].split(". ")
    assert of_pos == "2 rows have a NULL position (pos), and no topic reads such a row"
    assert of_id.startswith(f"Rows have a NULL position (id), one of them at {at(3):%Y-%m-%d}")
    # They are told until they are mended, however many rows come behind them.
    scene.insert(6, 7, 8)
    runner.probe()
    assert source(scene)["problem"] == row["problem"]
    scene.conn.execute("DELETE FROM dwh.src WHERE pos IS NULL OR id IS NULL")
    runner.probe()
    assert source(scene)["problem"] is None


def test_a_row_from_the_future_is_told_and_does_not_move_the_offset(
    scene: Scene, runner: Scene
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.conn.execute("INSERT INTO dwh.src VALUES (%s, 9), ('infinity', 10)", [FUTURE])
    scene.insert(3)
    assert runner.probe() == 1
    assert scene.last("dwh.src") == (at(3), 3)
    query = "SELECT problem, lag FROM omd_report.sources"
    [row] = scene.rows(query)
    assert row["problem"] == "It has a position ahead of the clock: infinity."
    assert row["lag"] > timedelta(days=1)
    scene.conn.execute("DELETE FROM dwh.src WHERE pos = 'infinity'")
    runner.probe()
    assert "ahead of the clock: 2099-01-01" in str(source(scene)["problem"])
    scene.conn.execute("DELETE FROM dwh.src WHERE id = 9")
    scene.insert(4)
    assert runner.probe() == 1
    assert source(scene)["problem"] is None


def test_a_source_that_is_older_than_promised_shows_no_lag_of_zero(
    scene: Scene, runner: Scene
) -> None:
    scene.source("dwh.src", max_age=timedelta(hours=1))
    assert "does not exist, and may be 01:00:00 old" in str(source(scene)["problem"])
    scene.insert(1, 2)
    runner.probe()
    scene.topic()
    runner.steps()
    row = source(scene)
    assert (row["is_too_old"], row["is_silent"], row["max_age"]) == (True, True, timedelta(hours=1))
    assert row["problem"].startswith("It is too old: its newest row is of 2020-01-01")
    assert (lag(scene)["lag"], lag(scene)["problem"]) == (None, f"dwh.src: {row['problem']}")
    scene.conn.execute("INSERT INTO dwh.src VALUES (now() - interval '50 minutes', 3)")
    runner.probe()
    row = source(scene)
    assert (row["is_too_old"], row["problem"]) == (False, None)
    assert timedelta(minutes=49) < row["lag"] < timedelta(minutes=55)
    assert lag(scene)["lag"] is not None


def test_a_base_table_that_nobody_registered_is_a_source_too(scene: Scene, runner: Scene) -> None:
    scene.base()
    scene.insert(1, 2)
    scene.topic("dwh.f")
    scene.topic("dwh.g", "dwh.src", "dwh.nowhere")
    runner.probe()
    problems = told(scene)
    assert problems == {
        "dwh.nowhere": "It is not registered, and dwh.g waits for it.",
        "dwh.src": "It is not registered, and dwh.f, dwh.g waits for it.",
    }
    assert source(scene)["newest_pos"] == at(2)
    scene.register("dwh.src")
    assert source(scene)["problem"] is None


def test_what_is_only_told_by_a_person_need_not_be_a_table(scene: Scene, runner: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.register("lake.x", source_offset="HAND")
    scene.topic("dwh.f", "dwh.src", "lake.x")
    scene.call("omd_lineage.set_offset", topic="lake.x", pos=at(1))
    runner.probe()
    assert source(scene, "lake.x")["problem"] is None
    assert source(scene, "lake.x")["newest_pos"] == at(1)


def test_a_large_table_without_its_index_is_not_read(scene: Scene, runner: Scene) -> None:
    scene.source("dwh.src", 1)
    scene.conn.execute("DROP INDEX dwh.src_pos_id_idx; ANALYZE dwh.src")
    # The size is that of the last ANALYZE; 128 MB would take seconds to write.
    scene.conn.execute("UPDATE pg_class SET relpages = 20000 WHERE oid = 'dwh.src'::regclass")
    scene.insert(2)
    assert runner.probe() == 0
    missing = "Its index on (pos, id) is missing, and it is too large to be read without."
    assert source(scene)["problem"] == missing
    scene.conn.execute("CREATE INDEX ON dwh.src (pos DESC, id DESC)")
    assert runner.probe() == 1
    assert source(scene)["problem"] is None


def test_the_index_may_be_on_each_partition(scene: Scene, runner: Scene) -> None:
    scene.conn.execute(
        b"CREATE TABLE dwh.src (pos timestamptz, id bigint) PARTITION BY RANGE (pos);"
        b"CREATE TABLE dwh.p1 PARTITION OF dwh.src DEFAULT;"
        b"CREATE TABLE dwh.p2 PARTITION OF dwh.src FOR VALUES FROM ('2021-01-01')"
        b" TO ('2022-01-01');"
        b"CREATE INDEX ON dwh.p1 (pos, id)"
    )
    scene.register("dwh.src")
    assert source(scene)["problem"] == "Its index on (pos, id) is missing."
    scene.conn.execute("CREATE INDEX ON dwh.p2 (pos, id)")
    runner.probe()
    assert source(scene)["problem"] is None


@pytest.mark.no_user_code("the policy is its own")
def test_a_cancelled_probe_keeps_what_the_others_gained_and_is_not_swallowed(
    scene: Scene, runner: Scene, background: Background, cancelled: Callable[..., Any]
) -> None:
    for name in ("a", "b", "z"):
        scene.source(f"dwh.{name}", 1)
        scene.insert(2, into=f"dwh.{name}")
    make_slow(scene, "dwh.b")
    with pytest.raises(psycopg.errors.QueryCanceled):
        cancelled(runner, background(runner.probe))
    assert scene.last("dwh.a") == (at(2), 2)
    assert source(scene, "dwh.b")["problem"] is None
    # A source that has used up the time of the statement comes last from then on.
    for _ in range(2):
        with pytest.raises(psycopg.errors.QueryCanceled):
            cancelled(runner, background(runner.probe), after=timedelta(seconds=1))
    assert scene.last("dwh.z") == (at(2), 2)
    problem = str(source(scene, "dwh.b")["problem"])
    assert re.search(r"was cancelled after 00:00:(?!00)\d\d", problem), problem


@pytest.mark.no_user_code("the policy is its own")
def test_within_a_transaction_a_cancelled_probe_is_not_swallowed_either(
    scene: Scene, runner: Scene, background: Background, cancelled: Callable[..., Any]
) -> None:
    scene.source("dwh.a", 1)
    make_slow(scene, "dwh.a")
    with (
        runner.conn.transaction(force_rollback=True),
        pytest.raises(psycopg.errors.QueryCanceled),
    ):
        cancelled(runner, background(runner.probe))
    topic = scene.topic("dwh.f", "dwh.a")
    with pytest.raises(psycopg.errors.QueryCanceled):
        cancelled(runner, background(runner.step, topic))


def test_a_probe_in_an_open_transaction_holds_up_no_other(
    scene: Scene, runner: Scene, another: Another
) -> None:
    scene.source("dwh.src", 1)
    other = another(role="omd_runner")
    with other.conn.transaction():
        assert other.probe() == 0
        scene.insert(2)
        assert runner.probe() == 1
    assert scene.last("dwh.src") == (at(2), 2)


def test_where_no_scheduler_polls_steps_find_that_a_source_is_mended(
    scene: Scene, runner: Scene
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.conn.execute("DROP INDEX dwh.src_pos_id_idx")
    runner.probe()
    scene.conn.execute("CREATE INDEX ON dwh.src (pos, id)")
    runner.step()
    assert source(scene)["problem"] is not None
    scene.owner("UPDATE omd_lineage.source_probe SET probed_at = now() - interval '61 s'")
    runner.step()
    assert source(scene)["problem"] is None


# Commands


def test_a_monitor_is_told_the_whole_problem_and_gets_exit_code_1(
    scene: Scene, dsn: str, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    def report(*arguments: str) -> subprocess.CompletedProcess[str]:
        return omd_command("report", *arguments, dsn=dsn, env={"COLUMNS": "40"})

    wrong = ("sources", "--where", "problem~.", "--fail")
    failed = ("lineage_lag", "--where", "reason=FAILED", "--fail", "--output", "json")
    for name in ("a", "b"):
        scene.source(f"dwh.{name}", 1, 2)
        scene.topic(f"dwh.f_{name}", f"dwh.{name}")
        scene.steps(f"dwh.f_{name}")
    for view in (wrong, failed):
        assert report(*view).returncode == 0
    former = "a_name_that_is_so_long_that_no_table_of_a_terminal_shows_it"
    scene.conn.execute(f"ALTER TABLE dwh.a RENAME TO {former}".encode())
    scene.probe()
    done = report(*wrong, "--output", "json")
    [row] = json.loads(done.stdout)
    assert (done.returncode, row["source"]) == (1, "dwh.a")
    assert row["problem"] == f"It was renamed to dwh.{former}."
    explained = omd_command("explain", "topic:dwh.a", dsn=dsn, env={"COLUMNS": "40"})
    assert explained.returncode == 1
    assert f"It was renamed to dwh.{former}.\n" in explained.stdout
    rows = {row["topic"]: row for row in json.loads(report("lineage_lag", *failed[-2:]).stdout)}
    assert rows["dwh.f_a"]["lag"] is None
    assert rows["dwh.f_b"]["lag"] is not None
    doctor = omd_command("doctor", dsn=dsn).stdout
    assert re.search(r"source +warning +dwh\.a: It was renamed", doctor)

    why = "why it is so " * 20
    scene.owner(
        "UPDATE omd_lineage.offsets SET attempts = 10, state = %s WHERE topic = 'dwh.f_b'", why
    )
    scene.owner(
        "INSERT INTO omd.module_state (module_id, failures, looks) SELECT module_id, 10, 0"
        " FROM omd_lineage.topic WHERE topic = 'dwh.f_b'"
    )
    done = report(*failed)
    [row] = json.loads(done.stdout)
    assert (done.returncode, row["topic"], row["state"]) == (1, "dwh.f_b", why)


@pytest.mark.parametrize(
    ("pos", "whole", "shown"),
    [
        (
            "p.name::timestamptz",
            f'{TYPES} invalid input syntax for type timestamp with time zone: "{SECRET}".',
            f"{TYPES} error 22007.",
        ),
        (
            "dwh.born(p.name)",
            f"Its probe failed: {SECRET} has none.",
            "Its probe failed: error P0001.",
        ),
    ],
)
@pytest.mark.parametrize("source_offset", ["PROBE", None])
def test_who_reads_no_rows_sees_no_value_of_a_row_that_can_not_be_read(
    scene: Scene, runner: Scene, another: Another, source_offset: str | None, pos: str, whole: str,
    shown: str,
) -> None:  # fmt: skip
    scene.conn.execute(
        "CREATE TABLE dwh.person (name text, id bigint);"
        "CREATE FUNCTION dwh.born(p_name text) RETURNS timestamptz LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE '% has none', p_name; END $$;"
        f"CREATE VIEW dwh.src AS SELECT {pos} AS pos, p.id, 1 AS v FROM dwh.person AS p;"
        "GRANT SELECT ON dwh.src TO omd_runner".encode()
    )
    if source_offset is not None:
        scene.register("dwh.src", source_offset=source_offset)
    scene.topic()
    scene.conn.execute("INSERT INTO dwh.person VALUES (%s, 1)", [SECRET])
    runner.probe()
    runner.step()
    for role in ("omd_reader", "omd_admin"):
        reader = another(role=role)
        assert [line[:600] for line in readable(reader, role).splitlines() if SECRET in line] == []
        assert shown in told(reader)["dwh.src"]
        assert shown in lag(reader)["problem"]
    assert whole in told(runner)["dwh.src"]
