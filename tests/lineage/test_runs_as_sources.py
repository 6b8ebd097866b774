"""A table that Modules write is read by the stamp of writing, and each run that wrote says so."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from support.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable

    Another = Callable[..., Scene]
    Replaced = Callable[[str, str, str], None]

READ_BY_STAMP = {"pos_column": "omd_insert_datetime", "id_column": "row_id"}


def tables(scene: Scene) -> None:
    scene.conn.execute(
        "CREATE TABLE dwh.src (row_id bigint GENERATED ALWAYS AS IDENTITY, v int,"
        " omd_insert_datetime timestamptz NOT NULL, omd_insert_module_instance_id bigint);"
        "CREATE INDEX ON dwh.src (omd_insert_datetime, row_id);"
        "CREATE TABLE dwh.f (v int, omd_insert_module_instance_id bigint);"
        "CREATE VIEW dwh.v_f AS SELECT t.v FROM dwh.src AS t"
        " WHERE omd_lineage.in_block(t.omd_insert_datetime, t.row_id)"
    )


def written(scene: Scene, *modules: str, **attributes: object) -> None:
    """Create a table with a stamp, Modules that write it, and a topic that reads it."""
    tables(scene)
    for code in modules or ("one",):
        module(scene, code)
    topic(scene, **attributes)


def module(scene: Scene, code: str) -> None:
    scene.call(
        "omd.register_module",
        module_code=code,
        area_code="HSTG",
        table_code="dwh.src",
        platform_code="POSTGRES",
    )


def topic(scene: Scene, **attributes: object) -> None:
    scene.register(
        "dwh.f",
        depends_on=["dwh.src"],
        transforms=["dwh.v_f"],
        **{**READ_BY_STAMP, **attributes},
    )


def write(scene: Scene, run: int, *values: int) -> None:
    """Write rows as Spark does: with a stamp from the server, and committed before the success."""
    scene.conn.execute(
        "INSERT INTO dwh.src (v, omd_insert_datetime, omd_insert_module_instance_id)"
        " SELECT v, omd.stamp_datetime(%s), %s FROM unnest(%s::int[]) AS v",
        [run, run, list(values)],
    )


def ends(scene: Scene, run: int, rows: int | None = None) -> None:
    scene.call("omd.module_success", module_instance_id=run, rows_inserted=rows)


def runs(scene: Scene, code: str, *values: int) -> int:
    run = scene.begin_module(code).id
    write(scene, run, *values)
    ends(scene, run, len(values))
    return run


def read(scene: Scene) -> list[int]:
    return [row["v"] for row in scene.rows("SELECT v FROM dwh.f ORDER BY v")]


def test_a_topic_is_due_when_a_run_has_brought_rows_and_nobody_probes(scene: Scene) -> None:
    written(scene)
    assert scene.reason() == (False, "DEPENDENCY")
    run = runs(scene, "one", 1, 2)
    assert scene.reason() == (True, "DUE")
    position = scene.rows(
        "SELECT p.id, p.pos = i.end_datetime AS is_end FROM omd.source_position AS p"
        " INNER JOIN omd.module_instance AS i ON p.id = i.module_instance_id"
        " WHERE p.table_code = 'dwh.src' AND p.source_kind_code = 'RUNS'"
    )
    assert position == [{"id": run, "is_end": True}]
    assert scene.step()[:1] == ("DONE",)
    assert (read(scene), scene.reason()) == ([1, 2], (False, "DEPENDENCY"))
    assert scene.ready()["lag"] == timedelta(0)
    # A run that says that it wrote nothing brings no news; one that says nothing may have.
    empty = scene.begin_module("one").id
    ends(scene, empty, 0)
    assert scene.reason() == (False, "DEPENDENCY")
    silent = scene.begin_module("one").id
    ends(scene, silent)
    assert scene.reason() == (True, "DUE")
    assert scene.step().outcome == "NOJOBS"
    assert scene.reason() == (False, "DEPENDENCY")
    assert scene.probe() == 0


@pytest.mark.parametrize("guarded", [True, False], ids=["guard", "no guard"])
def test_rows_of_a_run_still_at_work_are_not_passed_over(
    scene: Scene, replaced: Replaced, guarded: bool
) -> None:
    if not guarded:
        replaced("omd.visible_until", "o.start_datetime <= p_until", "FALSE")
    written(scene, "one", "two")
    slow = scene.begin_module("one").id
    stamp = scene.one("SELECT omd.stamp_datetime(%s)", slow)
    runs(scene, "two", 2)
    step = scene.step()
    if guarded:
        assert (step.outcome, read(scene)) == ("NOJOBS", [])
        assert f"Module Instance {slow} of one executes" in (step.detail or "")
    scene.conn.execute(
        "INSERT INTO dwh.src (v, omd_insert_datetime, omd_insert_module_instance_id)"
        " VALUES (1, %s, %s)",
        [stamp, slow],
    )
    scene.step()
    ends(scene, slow, 1)
    if guarded:
        assert scene.reason() == (True, "DUE")
    scene.steps()
    assert read(scene) == ([1, 2] if guarded else [2])


def test_a_run_that_failed_is_read_when_it_was_made_good(scene: Scene) -> None:
    written(scene, "one", "two")
    runs(scene, "two", 1)
    failed = scene.begin_module("one").id
    write(scene, failed, 7)
    scene.end_module(failed, "F")
    runs(scene, "two", 2)
    scene.steps()
    assert read(scene) == [1]
    runs(scene, "one", 3)
    scene.steps()
    assert read(scene) == [1, 2, 3]


def test_a_begin_that_commits_late_stamps_behind_what_was_read(
    scene: Scene, another: Another
) -> None:
    """H6: the run has its number and its start before the look, and nobody sees it yet."""
    written(scene, "one", "two")
    late = another()
    late.conn.execute("BEGIN")
    run = late.begin_module("one").id
    runs(scene, "two", 1)
    assert scene.steps() == [1]
    seen = scene.last()
    late.conn.execute("COMMIT")
    write(late, run, 2)
    assert scene.one("SELECT min(omd_insert_datetime) FROM dwh.src WHERE v = 2") > seen[0]
    ends(late, run, 1)
    assert scene.steps() == [1]
    assert read(scene) == [1, 2]


def test_a_look_from_an_old_transaction_answers_no_more_than_its_start(scene: Scene) -> None:
    """H6: a run may begin, write and end after the transaction began, and before the look."""
    written(scene)
    with scene.conn.transaction():
        start = scene.one("SELECT now()")
        scene.one("SELECT pg_sleep(0.01) IS NULL")
        assert scene.one("SELECT p_until FROM omd.visible_until('dwh.src')") == start
    scene.conn.execute("BEGIN")
    scene.conn.execute("INSERT INTO dwh.src (omd_insert_datetime) VALUES (now())")
    # What one has written oneself is no reason to wait.
    assert scene.one("SELECT p_until = now() FROM omd.visible_until('dwh.src')")
    scene.conn.execute("ROLLBACK")


def test_ends_of_two_modules_of_a_table_do_not_wait_for_each_other(
    scene: Scene, another: Another
) -> None:
    """H16: each has a position of its own."""
    written(scene, "one", "two")
    other = another()
    first = scene.begin_module("one").id
    second = scene.begin_module("two").id
    other.conn.execute("BEGIN")
    ends(other, second, 1)
    scene.conn.execute("SET lock_timeout = '1s'")
    ends(scene, first, 1)
    other.conn.execute("COMMIT")
    assert (
        scene.one("SELECT count(*) FROM omd.source_position WHERE id IN (%s, %s)", first, second)
        == 2
    )


def test_a_position_never_goes_back(scene: Scene) -> None:
    """H16: an end is taken before it has the lock, so it may come after a later one."""
    written(scene)
    run = runs(scene, "one", 1)
    (now,) = scene.rows("SELECT source_code, pos FROM omd.source WHERE id = %s", run)
    scene.owner(
        "SELECT omd.move_source(%s, %s, 1)", now["source_code"], now["pos"] - timedelta(hours=1)
    )
    assert scene.rows("SELECT source_code, pos FROM omd.source WHERE id = %s", run) == [now]


def test_a_run_at_work_when_the_first_reader_comes_is_news(scene: Scene, another: Another) -> None:
    """Its end may have looked at the Module before it was known that somebody reads."""
    tables(scene)
    module(scene, "one")
    run = scene.begin_module("one").id
    write(scene, run, 1)
    other = another()
    other.conn.execute("BEGIN")
    ends(other, run, 1)  # it has looked
    topic(scene)
    other.conn.execute("COMMIT")
    assert scene.reason() == (True, "DUE")
    assert scene.steps() == [1]


def test_a_module_that_comes_later_counts_too_under_whatever_name(scene: Scene) -> None:
    written(scene)
    module(scene, "two")
    scene.call("omd.rename_module", module_code="two", new_module_code="three")
    runs(scene, "three", 5)
    assert scene.reason() == (True, "DUE")
    scene.steps()
    assert read(scene) == [5]


def test_with_a_delay_a_topic_is_due_when_the_run_is_old_enough(scene: Scene) -> None:
    """H15: a look that can't bring rows is no work."""
    written(scene, delay=timedelta(hours=1))
    run = runs(scene, "one", 1)
    assert scene.reason() == (False, "DEPENDENCY")
    assert scene.step().outcome == "NOJOBS"
    runs(scene, "one", 2)
    scene.owner(
        "UPDATE omd.module_instance SET end_datetime = now() - interval '61 minutes'"
        " WHERE module_instance_id = %s",
        run,
    )
    scene.conn.execute(
        "UPDATE dwh.src SET omd_insert_datetime = now() - interval '62 minutes' WHERE v = 1"
    )
    scene.owner(
        "UPDATE omd_lineage.offsets SET last = ROW(now() - interval '2 hours', 0)"
        " WHERE topic = 'dwh.f'"
    )
    assert scene.reason() == (True, "DUE")  # although a younger run is the newest position
    scene.steps()
    assert (read(scene), scene.reason()) == ([1], (False, "DEPENDENCY"))


def test_a_source_that_was_registered_keeps_its_own_way(scene: Scene) -> None:
    """Others may write it too, so the guard by seen positions stays."""
    written(scene)
    scene.register("dwh.other", source_offset="HAND")
    with pytest.raises(psycopg.Error, match="p_source_offset") as caught:
        scene.register("dwh.third", source_offset="RUNS")
    assert caught.value.sqlstate == "OM013"
    scene.conn.execute("CREATE TABLE dwh.g (v int, omd_insert_module_instance_id bigint)")
    scene.register("dwh.src", source_offset="PROBE", **READ_BY_STAMP)
    scene.register(
        "dwh.g",
        depends_on=["dwh.src"],
        transforms=["dwh.v_f"],
        id_column="row_id",
        pos_column="omd_insert_datetime",
    )
    assert (
        scene.one(
            "SELECT count(*) FROM omd_lineage.dependency AS d INNER JOIN omd_lineage.topic AS t"
            " USING (topic_id) WHERE t.topic = 'dwh.g' AND d.source_kind_code IS NULL"
        )
        == 1
    )


def test_a_joined_table_of_runs_bounds_the_block_by_what_is_at_work(scene: Scene) -> None:
    written(scene)
    scene.conn.execute(
        "CREATE TABLE dwh.dim (row_id bigint GENERATED ALWAYS AS IDENTITY, v int,"
        " omd_insert_datetime timestamptz, omd_insert_module_instance_id bigint)"
    )
    scene.call(
        "omd.register_module",
        module_code="dim",
        area_code="HSTG",
        table_code="dwh.dim",
        platform_code="POSTGRES",
    )
    scene.register("dwh.f", depends_on=["dwh.src", "dwh.dim"])
    run = scene.begin_module("dim").id
    runs(scene, "one", 1)
    step = scene.step()
    assert (step.outcome, read(scene)) == ("NOJOBS", [])
    assert f"Module Instance {run} of dim" in (step.detail or "")
    ends(scene, run, 1)
    scene.steps()
    assert read(scene) == [1]
