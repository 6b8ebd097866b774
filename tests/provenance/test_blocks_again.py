"""Steps that a recall took back come again as they were, and nobody reads past them."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from provenance.taking_back import effects, follows, take_back
from support.lots import seeds
from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]


@pytest.fixture
def another(connect: Callable[..., Any]) -> Another:
    """A function that returns the calls over a connection of their own."""
    return lambda **arguments: Scene(connect(**arguments))


def runs(scene: Scene, topic: str = "dwh.f") -> list[int]:
    """Return the standing steps of a topic, in the order of their blocks."""
    found = scene.rows(
        "SELECT w.module_instance_id AS id FROM omd_lineage.topic AS t"
        " CROSS JOIN LATERAL omd.succeeded_windows(t.module_id, '-infinity',"
        " -9223372036854775808, 'infinity', 9223372036854775807) AS w"
        " WHERE t.topic = %s ORDER BY w.start_value, w.start_id",
        topic,
    )
    return [row["id"] for row in found]


def blocks(scene: Scene, topic: str = "dwh.f") -> list[tuple[Any, ...]]:
    found = scene.rows(
        "SELECT w.start_value, w.start_id, w.end_value, w.end_id FROM omd_lineage.topic AS t"
        " CROSS JOIN LATERAL omd.succeeded_windows(t.module_id, '-infinity',"
        " -9223372036854775808, 'infinity', 9223372036854775807) AS w"
        " WHERE t.topic = %s ORDER BY w.start_value, w.start_id",
        topic,
    )
    return [tuple(row.values()) for row in found]


def to_come(scene: Scene) -> int:
    return int(scene.one("SELECT count(*) FROM omd.window_return WHERE ended_datetime IS NULL"))


def test_the_same_blocks_come_again_before_new_ones(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=2)
    scene.steps()
    before, last, stood = blocks(scene), scene.last(), runs(scene)
    bad = [stood[1], stood[3]]
    assert follows(scene, *bad) == set(bad)
    assert {row["comes_again"] for row in effects(scene, bad)} == {"the block"}
    take_back(scene, *bad)
    assert scene.ids() == [1, 2, 5, 6]
    assert scene.last() == last
    assert scene.reason() == (True, "RECALLED")
    scene.conn.execute(b"DELETE FROM dwh.src WHERE id = 4")
    scene.insert(11, 12)
    scene.probe()
    assert scene.step().rows == 1
    assert scene.ids() == [1, 2, 3, 5, 6]
    assert scene.reason() == (True, "RECALLED")
    assert scene.step().rows == 2
    assert (scene.last(), to_come(scene)) == (last, 0)
    assert blocks(scene) == before
    assert set(runs(scene)) >= {stood[0], stood[2]}
    scene.steps()
    assert scene.ids() == [1, 2, 3, 5, 6, 7, 8, 9, 11]
    assert scene.rows("SELECT * FROM omd_report.lineage_gaps") == []


def merging(scene: Scene, **attributes: Any) -> None:
    """Topic dwh.f keeps the newest row of each v; its rows come in blocks of two."""
    scene.base("dwh.src", extra=", k int")
    scene.register("dwh.src", source_offset="HAND")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1000))
    scene.base("dwh.f", extra=", k int")
    scene.conn.execute(b"CREATE UNIQUE INDEX ON dwh.f (k)")
    scene.view("dwh.v_dwh_f", "dwh.src", select="t.pos, t.id, t.v, t.k")
    scene.topic(maxstep=2, merge_key=["k"], **attributes)
    scene.conn.execute(b"GRANT UPDATE ON dwh.f TO omd_runner")


def put(scene: Scene, *rows: tuple[int, int, int]) -> None:
    for minute, k, v in rows:
        scene.conn.execute(
            b"INSERT INTO dwh.src (pos, id, k, v) VALUES (%s, %s, %s, %s)",
            [at(minute), minute, k, v],
        )


def merged(scene: Scene) -> dict[int, int]:
    return {row["k"]: row["v"] for row in scene.rows("SELECT k, v FROM dwh.f")}


def test_steps_that_replace_rows_go_with_all_later_ones_and_the_offset_goes_back(
    scene: Scene,
) -> None:
    merging(scene)
    put(scene, (1, 1, 10), (2, 2, 20), (3, 1, 30), (4, 3, 40), (5, 1, 50), (6, 2, 60), (7, 9, 9))
    scene.steps()
    assert merged(scene) == {1: 50, 2: 60, 3: 40, 9: 9}
    stood = runs(scene)
    assert follows(scene, stood[1]) == set(stood[1:])
    told = {row["module_instance_id"]: row for row in effects(scene, stood[1:])}
    assert [(told[id]["rows_go"], told[id]["rows_back"]) for id in stood[1:]] == [
        (1, 1),
        (2, 1),
        (1, 0),
    ]
    take_back(scene, *stood[1:])
    assert merged(scene) == {1: 10, 2: 20}
    assert scene.last() == (at(2), 2)
    assert to_come(scene) == 0
    assert scene.reason() == (True, "FULL") or scene.reason()[0]
    scene.conn.execute(b"DELETE FROM dwh.src WHERE id = 3")
    scene.steps()
    assert merged(scene) == {1: 50, 2: 60, 3: 40, 9: 9}
    assert runs(scene)[0] == stood[0]


def test_the_table_of_a_reload_is_empty_until_the_next_one_which_is_due_at_once(
    scene: Scene,
) -> None:
    scene.source("dwh.src", *range(1, 5))
    scene.topic("dwh.f", processor="RELOAD", transforms=["dwh.src"], repeat=timedelta(days=1))
    scene.topic("dwh.g", "dwh.f")
    assert scene.step().outcome == "DONE"
    scene.steps("dwh.g")
    first = runs(scene)
    scene.insert(6)
    scene.probe()
    assert scene.step().outcome == "DONE"
    (bad,) = set(runs(scene)) - set(first)
    assert follows(scene, bad) == {bad}
    take_back(scene, bad)
    assert scene.ids() == []
    assert scene.reason() == (True, "RECALLED")
    assert scene.reason("dwh.g") == (False, "AWAITED")
    assert scene.step("dwh.g").outcome == "NOJOBS"
    scene.conn.execute(b"DELETE FROM dwh.src WHERE id = 2")
    assert scene.step().outcome == "DONE"
    assert scene.ids() == [1, 3, 4, 6]
    assert to_come(scene) == 0
    assert scene.reason("dwh.g")[1] != "AWAITED"


def test_nobody_reads_past_a_block_that_is_to_come_again(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.topic("dwh.g", "dwh.f", maxstep=4)
    scene.topic("dwh.h", "dwh.src", transforms=[scene.view("dwh.v_h", "dwh.src")])
    scene.conn.execute(
        b"CREATE VIEW dwh.v_looks_up AS SELECT t.pos, t.id, f.v FROM dwh.src AS t"
        b" LEFT JOIN dwh.f AS f USING (id) WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.topic("dwh.i", "dwh.src", transforms=["dwh.v_looks_up"])
    scene.steps()
    assert scene.step("dwh.g").outcome == "DONE"
    (first, second) = runs(scene)
    take_back(scene, second)
    for reader in ("dwh.g", "dwh.i"):
        assert scene.reason(reader) == (False, "AWAITED")
        assert "recall 1" in scene.ready(reader)["blocker"]
        answer = scene.step(reader)
        assert (answer.outcome, answer.id) == ("NOJOBS", None)
        assert "recall 1" in str(answer.detail)
    assert scene.reason("dwh.h")[1] != "AWAITED"
    work = scene.rows("SELECT code, state, reason, waits_for FROM omd_report.work")
    assert {(row["state"], row["reason"]) for row in work if row["waits_for"]} == {
        ("WAITING", "AWAITED")
    }
    assert scene.rows("SELECT reason FROM omd_report.ready_work WHERE reason = 'RECALLED'")
    assert scene.step().outcome == "DONE"
    scene.steps("dwh.g")
    scene.steps("dwh.i")
    assert scene.ids("dwh.g") == scene.ids("dwh.f") == scene.ids("dwh.i") == [*range(1, 9)]
    assert first in runs(scene)


def test_topics_that_look_each_other_up_do_not_wait_for_each_other(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.source("dwh.twin", 1, 2, 3, 4)
    scene.base("dwh.f")
    scene.base("dwh.g")
    scene.view("dwh.v_dwh_f", "dwh.src", select="t.pos, t.id, (SELECT max(v) FROM dwh.g) AS v")
    scene.view("dwh.v_dwh_g", "dwh.twin", select="t.pos, t.id, (SELECT max(v) FROM dwh.f) AS v")
    scene.topic(maxstep=2)
    scene.topic("dwh.g", "dwh.twin", maxstep=2)
    scene.topic("dwh.h", "dwh.f", maxstep=2)
    scene.steps()
    scene.steps("dwh.g")
    scene.steps("dwh.h")
    take_back(scene, *runs(scene), *runs(scene, "dwh.g"))
    assert scene.reason() == scene.reason("dwh.g") == (True, "RECALLED")
    assert scene.reason("dwh.h") == (False, "AWAITED")
    scene.steps("dwh.g")
    scene.steps()
    scene.steps("dwh.h")
    assert scene.ids() == scene.ids("dwh.g") == scene.ids("dwh.h") == [1, 2, 3]


def test_an_entry_of_a_job_upstream_holds_its_readers(scene: Scene) -> None:
    scene.base("dwh.src")
    scene.module("m", table_code="dwh.src")
    run = scene.begin_module("m")
    scene.insert(1, 2, 3, 4)
    scene.call("omd.module_success", module_instance_id=run.id)
    scene.register("dwh.src")
    scene.topic(maxstep=2)
    assert scene.step().outcome == "DONE"
    scene.owner(
        "INSERT INTO omd.module_return (recall_id, position, module_id, is_by_hand)"
        " SELECT 5, 1, module_id, FALSE FROM omd.module WHERE module_code = 'm'"
    )
    assert scene.reason() == (False, "AWAITED")
    assert scene.step().detail == "waits for m, which recall 5 takes again"
    scene.owner("UPDATE omd.module_return SET ended_datetime = now()")
    assert scene.step().outcome == "DONE"


def test_a_begin_that_waited_for_the_recall_looks_again(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.topic("dwh.g", "dwh.f", maxstep=4)
    scene.steps()
    (_, second) = runs(scene)
    waiting = another()
    with scene.conn.transaction():
        scene.rows("SELECT FROM omd.module WHERE module_code = 'dwh.g' FOR UPDATE")
        step = background(waiting.step, "dwh.g")
        until_settled(waiting, step)
        assert not step.done()
        take_back(scene, second, locked=False)
    answer = step.result(20)
    assert (answer.outcome, answer.id) == ("NOJOBS", None), answer
    assert "recall 1" in answer.detail
    assert scene.ids("dwh.g") == []
    assert scene.step().outcome == "DONE"
    scene.steps("dwh.g")
    assert scene.ids("dwh.g") == [*range(1, 9)]


def test_a_recall_that_is_rolled_back_has_changed_nothing(
    scene: Scene, another: Another, background: Background
) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.steps()
    (_, second) = runs(scene)
    ids = scene.ids()
    try:
        with scene.conn.transaction():
            take_back(scene, second)
            # Whoever would plan a block meanwhile finds the topic held.
            assert background(another().step).result(20).outcome == "MUTEX"
            raise KeyError
    except KeyError:
        pass
    assert (scene.ids(), to_come(scene), len(runs(scene))) == (ids, 0, 2)
    assert scene.reason()[1] not in {"RECALLED", "AWAITED"}


def test_a_block_that_fails_again_stays_and_a_planned_one_waits_behind_it(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=2)
    assert scene.step().outcome == scene.step().outcome == "DONE"
    first, second = runs(scene)
    scene.fails()
    planned = scene.offset()["next"]
    take_back(scene, first)
    scene.fails()
    assert scene.offset()["next"] == planned
    assert (to_come(scene), scene.ids()) == (1, [3, 4])
    assert scene.step().rows == 2
    assert (to_come(scene), scene.ids()) == (0, [1, 2, 3, 4])
    scene.steps()
    assert scene.ids() == [*range(1, 9)]
    assert second in runs(scene)
    assert scene.rows("SELECT * FROM omd_report.lineage_gaps") == []


def test_a_step_that_took_a_block_again_is_taken_back_like_any_other(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic(maxstep=2)
    scene.steps()
    before = blocks(scene)
    take_back(scene, runs(scene)[1])
    again = scene.step().id
    assert again
    take_back(scene, again, recall=2)
    assert scene.ids() == [1, 2, 5, 6]
    assert scene.step().rows == 2
    assert (blocks(scene), to_come(scene)) == (before, 0)
    # R goes by the place of a block, and not by the id of its run.
    again = runs(scene)[1]
    scene.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=again)
    assert scene.reason() == (True, "ROLLBACK")
    scene.steps()
    assert scene.ids() == [*range(1, 7)]


def test_an_offset_that_goes_back_takes_what_was_to_come_again_along(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=2)
    scene.steps()
    stood = runs(scene)
    take_back(scene, *stood[1:])
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(3), id=3)
    assert to_come(scene) == 1
    scene.steps()
    assert scene.ids() == [*range(1, 9)]


def test_rows_go_by_their_stamp_where_a_rollback_would_truncate(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4, area_code="STG")
    scene.steps()
    scene.insert(77, into="dwh.f")  # of nobody
    take_back(scene, runs(scene)[0])
    assert scene.ids() == [5, 6, 7, 8, 77]


def test_an_administrator_needs_the_rights_on_the_rows_and_is_told(
    scene: Scene, connect: Callable[..., Any]
) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.steps()
    (first, _) = runs(scene)
    scene.conn.execute(b"REVOKE ALL ON dwh.f FROM PUBLIC, omd_runner, omd_admin")
    scene.conn.execute(b"REVOKE USAGE ON SCHEMA dwh FROM PUBLIC, omd_runner, omd_admin")
    with scene.role("omd_admin"):
        (told,) = effects(scene, [first])
    assert told["action"] == "BLOCKED"
    assert told["problem"].startswith("NO_RIGHT")
    scene.conn.execute(b"GRANT SELECT, DELETE ON dwh.f TO omd_admin")
    scene.conn.execute(b"GRANT USAGE ON SCHEMA dwh TO omd_admin")
    with scene.role("omd_admin"):
        (told,) = effects(scene, [first])
        assert (told["action"], told["rows_go"]) == ("UNDO", 4)
        (uncounted,) = effects(scene, [first], counted=False)
        assert (uncounted["action"], uncounted["rows_go"]) == ("UNDO", None)
    take_back(scene, first, role="omd_admin")
    assert scene.ids() == [5, 6, 7, 8]


def test_rows_that_others_refer_to_are_in_the_way(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.steps()
    (first, second) = runs(scene)
    scene.conn.execute(
        b"ALTER TABLE dwh.f ADD UNIQUE (id);"
        b" CREATE TABLE dwh.child (id bigint REFERENCES dwh.f (id));"
        b" INSERT INTO dwh.child VALUES (2)"
    )
    (told,) = effects(scene, [first])
    assert (told["action"], told["problem"][:10]) == ("BLOCKED", "REFERENCED")
    assert [row["action"] for row in effects(scene, [second])] == ["UNDO"]
    with pytest.raises(Exception, match="does not undo"):
        take_back(scene, first)
    assert scene.ids() == [*range(1, 9)]


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(4))
def test_what_was_made_of_bad_rows_comes_again_as_if_they_had_never_been(
    scene: Scene, seed: int
) -> None:
    dice = random.Random(seed)
    merging(scene)
    scene.topic("dwh.copy", maxstep=3)
    scene.topic("dwh.deeper", "dwh.copy", maxstep=2)
    scene.conn.execute(b"CREATE VIEW dwh.v_all AS SELECT t.pos, t.id, t.v FROM dwh.src AS t")
    scene.topic("dwh.all", processor="RELOAD", transforms=["dwh.v_all"])
    scene.conn.execute(b"GRANT INSERT, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA dwh TO omd_runner")
    every = ["dwh.f", "dwh.copy", "dwh.deeper", "dwh.all"]
    minute = 0

    def flow(some: list[str]) -> None:
        for topic in some:
            if scene.step(topic).outcome not in {"DONE", "NOJOBS"}:
                pytest.fail(topic)

    def write(count: int) -> list[int]:
        nonlocal minute
        written = []
        for _ in range(count):
            minute += 1
            put(scene, (minute, dice.randrange(5), minute))
            written.append(minute)
        scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1000 + minute))
        return written

    for recall in range(1, 4):
        bad: list[int] = []
        for _ in range(dice.randrange(2, 6)):
            written = write(dice.randrange(1, 5))
            bad += dice.sample(written, dice.randrange(len(written)))
            flow(dice.choices(every, k=dice.randrange(1, 5)))
        read = {
            topic: {
                id
                for id, (start, start_id, end, end_id) in zip(
                    runs(scene, topic), blocks(scene, topic), strict=True
                )
                if any((start, start_id) < (at(b), b) <= (end, end_id) for b in bad)
            }
            for topic in every[:3]
        }
        read["dwh.all"] = set(runs(scene, "dwh.all")[-1:])
        # What overlaps a block that comes again has read it.
        gone = [
            block
            for id, block in zip(runs(scene, "dwh.copy"), blocks(scene, "dwh.copy"), strict=True)
            if id in read["dwh.copy"]
        ]
        read["dwh.deeper"] |= {
            id
            for id, (start, start_id, end, end_id) in zip(
                runs(scene, "dwh.deeper"), blocks(scene, "dwh.deeper"), strict=True
            )
            if any((start, start_id) < b[2:] and b[:2] < (end, end_id) for b in gone)
        }
        plan = follows(scene, *read["dwh.f"], *read["dwh.copy"], *read["dwh.all"])
        if plan | read["dwh.deeper"]:
            take_back(scene, *plan, readers=read["dwh.deeper"], recall=recall)
        scene.conn.execute(b"DELETE FROM dwh.src WHERE id = ANY (%s)", [bad])
        for topic in dice.choices(every, k=3):
            scene.step(topic)
    write(1)
    for _ in range(3):
        for topic in every:
            scene.steps(topic)
    rows = scene.rows("SELECT id, k FROM dwh.src ORDER BY id")
    assert scene.ids("dwh.copy") == [row["id"] for row in rows]
    assert scene.ids("dwh.deeper") == [row["id"] for row in rows]
    assert scene.ids("dwh.all") == [row["id"] for row in rows]
    assert {row["k"]: row["id"] for row in scene.rows("SELECT id, k FROM dwh.f")} == {
        row["k"]: row["id"] for row in rows
    }
    assert to_come(scene) == 0
    assert scene.rows("SELECT * FROM omd_report.lineage_gaps WHERE kind = 'OVERLAP'") == []


def stamped(scene: Scene, table: str) -> None:
    """Create a table that is read by the time of writing."""
    scene.conn.execute(
        f"CREATE TABLE {table} (row_id bigint GENERATED ALWAYS AS IDENTITY, v int,"
        " omd_insert_datetime timestamptz NOT NULL, omd_insert_module_instance_id bigint);"
        f"CREATE INDEX ON {table} (omd_insert_datetime, row_id)".encode()
    )


def test_rows_that_come_again_at_new_positions_are_read_as_new_ones(scene: Scene) -> None:
    """A run stamps its rows when it writes them, so the block of a reader lacks them."""
    stamped(scene, "dwh.src")
    stamped(scene, "dwh.f")
    scene.base("dwh.g")
    for table in ("src", "f"):
        scene.conn.execute(
            f"CREATE VIEW dwh.v_{table} AS SELECT t.v FROM dwh.{table} AS t"
            " WHERE omd_lineage.in_block(t.omd_insert_datetime, t.row_id)".encode()
        )
    scene.call(
        "omd.register_module",
        module_code="m",
        area_code="INT",
        table_code="dwh.src",
        platform_code="POSTGRES",
    )
    by = {"pos_column": "omd_insert_datetime", "id_column": "row_id"}
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.v_src"], **by)
    scene.register("dwh.g", depends_on=["dwh.f"], transforms=["dwh.v_f"], **by)
    for value in range(1, 4):
        run = scene.begin_module("m").id
        scene.conn.execute(
            b"INSERT INTO dwh.src (v, omd_insert_datetime, omd_insert_module_instance_id)"
            b" VALUES (%s, omd.stamp_datetime(%s), %s)",
            [value, run, run],
        )
        scene.call("omd.module_success", module_instance_id=run, rows_inserted=1)
        assert scene.step().outcome == scene.step("dwh.g").outcome == "DONE"
    before = blocks(scene), blocks(scene, "dwh.g")
    take_back(scene, runs(scene)[1], readers=[runs(scene, "dwh.g")[1]])
    assert scene.one("SELECT array_agg(v ORDER BY v) FROM dwh.g") == [1, 3]
    assert scene.reason("dwh.g") == (False, "AWAITED")
    assert scene.step().outcome == "DONE"
    scene.steps("dwh.g")
    assert scene.one("SELECT array_agg(v ORDER BY v) FROM dwh.g") == [1, 2, 3]
    assert blocks(scene) == before[0]
    assert blocks(scene, "dwh.g")[:3] == before[1]
    assert scene.rows("SELECT * FROM omd_report.lineage_gaps") == []


def test_readers_wait_until_a_pending_rollback_is_confirmed(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.topic("dwh.g", "dwh.f")
    scene.steps()
    (_, second) = runs(scene)
    scene.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=second)
    scene.rows("SELECT omd.note_pending(%s, 3)", [second])
    assert scene.reason("dwh.g") == (False, "AWAITED")
    assert scene.step("dwh.g").outcome == "NOJOBS"
    assert scene.reason() == (True, "ROLLBACK")
    assert scene.step().outcome == "DONE"
    assert scene.reason("dwh.g")[1] != "AWAITED"
    scene.steps("dwh.g")
    assert scene.ids("dwh.g") == [*range(1, 8)]


def test_how_a_topic_reads_is_not_changed_before_its_blocks_are_taken_again(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=4)
    scene.steps()
    take_back(scene, runs(scene)[0])
    scene.refused("OM208", "omd_lineage.register_topic", topic="dwh.f", merge_key=["id"])
    scene.register("dwh.f", comment="this may change")
    plan = scene.plan()
    assert (plan["end_pos"], plan["detail"][:11]) == (at(4), "taken again")
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    assert to_come(scene) == 0


def test_rows_that_refer_to_others_go_before_them(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic("dwh.parent", maxstep=4)
    scene.topic("dwh.child", maxstep=4)
    scene.conn.execute(
        b"ALTER TABLE dwh.parent ADD UNIQUE (id);"
        b"ALTER TABLE dwh.child ADD FOREIGN KEY (id) REFERENCES dwh.parent (id)"
    )
    scene.steps("dwh.parent")
    scene.steps("dwh.child")
    # The parent has the newest run.
    scene.insert(20, 21)
    scene.probe()
    scene.steps("dwh.parent")
    both = [*runs(scene, "dwh.parent"), *runs(scene, "dwh.child")]
    take_back(scene, *both)
    assert scene.ids("dwh.parent") == scene.ids("dwh.child") == []
