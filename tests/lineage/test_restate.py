"""Blocks that are taken again, and what was made of rows that are undone."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.lots import SEED, seeds
from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]


def restate(scene: Scene, topic: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    given = {"from": at(start), "to": at(end), **more}
    return scene.call("omd_lineage.restate", topic=topic, **given)


def gaps(scene: Scene) -> list[tuple[str, str]]:
    found = scene.rows("SELECT topic, kind FROM omd_report.lineage_gaps")
    return [(row["topic"], row["kind"]) for row in found]


def queued(scene: Scene) -> int:
    return int(scene.one("SELECT count(*) FROM omd_lineage.restatement_list"))


def values(scene: Scene, table: str = "dwh.f") -> dict[int, int]:
    found = scene.rows(f"SELECT id, v FROM {table}")
    assert len(found) == len({row["id"] for row in found})
    return {row["id"]: row["v"] for row in found}


def loaded(scene: Scene) -> None:
    """Load ids 1 to 8 into dwh.f, in blocks of two, and change what the source says of them."""
    scene.source("dwh.src", *range(1, 10))
    scene.topic(maxstep=2)
    scene.steps()
    scene.conn.execute(b"UPDATE dwh.src SET v = 7")


def test_the_blocks_of_a_range_are_taken_again_and_no_others(scene: Scene) -> None:
    loaded(scene)
    before, stamps, last = values(scene), scene.stamps("dwh.f"), scene.last()
    answer = restate(scene, "dwh.f", 3, 5)  # (2, 4] and (4, 6] hold 4 and 5
    assert (answer["outcome"], answer["blocks"], answer["rows"]) == ("DONE", 2, 4), answer
    assert values(scene) == {**before, 3: 7, 4: 7, 5: 7, 6: 7}
    assert (scene.last(), queued(scene), gaps(scene)) == (last, 0, [])
    stayed = min(stamps), max(stamps)
    assert {id: n for id, n in scene.stamps("dwh.f").items() if id in stamps} == dict.fromkeys(
        stayed, 2
    )
    assert restate(scene, "dwh.f", 3, 5)["blocks"] == 2
    assert restate(scene, "dwh.f", 90, 95)["outcome"] == "NOJOBS"
    scene.insert(11, 12)
    scene.probe()
    scene.steps()
    assert scene.ids() == [*range(1, 10), 11]


def test_a_block_that_fails_keeps_its_former_rows_and_the_next_step_takes_it(scene: Scene) -> None:
    loaded(scene)
    before = values(scene)
    scene.conn.execute(
        b"CREATE OR REPLACE VIEW dwh.v_dwh_f AS"
        b" SELECT t.pos, t.id, t.v + (0 / (t.id - 5))::int AS v FROM dwh.src AS t"
        b" WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    answer = restate(scene, "dwh.f", 2, 8)
    assert (answer["outcome"], answer["blocks"]) == ("ERROR", 1)
    assert "division by zero" in answer["detail"]
    kept = values(scene)
    assert {id: kept[id] for id in range(5, 9)} == {id: before[id] for id in range(5, 9)}
    assert scene.offset()["attempts"] == 1
    scene.conn.execute(
        b"CREATE OR REPLACE VIEW dwh.v_dwh_f AS SELECT t.pos, t.id, t.v"
        b" FROM dwh.src AS t WHERE omd_lineage.in_block(t.pos, t.id)"
    )
    scene.insert(11, 12)
    scene.probe()
    assert scene.reason() == (False, "BACK_OFF") or scene.reason()[1] == "RETRY"
    assert scene.steps() == [2, 2, 2]
    assert values(scene) == {1: 1, 2: 1, **dict.fromkeys(range(3, 10), 7), 11: 1}
    assert queued(scene) == 0


def test_a_range_is_asked_for_while_a_step_runs_and_that_step_is_taken_again_too(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    scene.source("dwh.src", *range(1, 6))
    scene.topic(maxstep=2, after_sql=["SELECT pg_advisory_xact_lock(5)"])
    scene.conn.execute("SELECT pg_advisory_lock(5)")
    session = another()
    call = background(session.step)
    until_settled(session, call)
    answer = restate(scene, "dwh.f", 0, 9)
    assert (answer["outcome"], answer["blocks"]) == ("QUEUED", 0), answer
    scene.conn.execute("UPDATE dwh.src SET v = 7")
    scene.conn.execute("SELECT pg_advisory_unlock(5)")
    assert call.result(timeout=30).outcome == "DONE"
    assert scene.reason() == (True, "RESTATE")
    plan = scene.plan()
    assert (plan["end_id"], plan["detail"]) == (2, "taken again; undone first: 1")
    scene.steps()
    assert values(scene) == dict.fromkeys(range(1, 5), 7)
    assert queued(scene) == 0


def test_two_calls_at_once_take_each_row_once(
    scene: Scene, another: Another, background: Background
) -> None:
    loaded(scene)
    together = threading.Barrier(3)

    def work(session: Scene) -> str:
        together.wait(timeout=30)
        return str(restate(session, "dwh.f", 0, 9)["outcome"])

    calls = [background(work, another()) for _ in range(3)]
    outcomes = [call.result(timeout=60) for call in calls]
    assert set(outcomes) <= {"DONE", "QUEUED", "NOJOBS"}, outcomes
    scene.steps()
    assert values(scene) == dict.fromkeys(range(1, 9), 7)
    assert (queued(scene), gaps(scene)) == (0, [])


def test_a_session_that_is_killed_leaves_the_rest_to_the_next_steps(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    loaded(scene)
    waits = (
        "SELECT pg_advisory_xact_lock(6) FROM dwh.f WHERE id = 6 AND"
        " omd_insert_module_instance_id = current_setting('omd.module_instance_id')::bigint"
    )
    scene.register("dwh.f", after_sql=[waits])
    scene.conn.execute("SELECT pg_advisory_lock(6)")
    session = another()
    call = background(restate, session, "dwh.f", 0, 9)
    until_settled(session, call)
    scene.conn.execute("SELECT pg_terminate_backend(%s, 10000)", [session.conn.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        call.result(timeout=30)
    scene.conn.execute("SELECT pg_advisory_unlock(6)")
    assert values(scene) == {**dict.fromkeys(range(1, 5), 7), **dict.fromkeys(range(5, 9), 1)}
    scene.steps()
    assert values(scene) == dict.fromkeys(range(1, 9), 7)
    assert (queued(scene), gaps(scene)) == (0, [])


def test_a_range_without_blocks_that_becomes_ready_while_a_step_is_claimed_costs_no_row(
    scene: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    """The claim waits for the first range, and the second one, of dwh.a, ends meanwhile."""
    scene.source("dwh.src", *range(1, 6))
    scene.topic("dwh.a", maxstep=2)
    scene.topic("dwh.b", "dwh.a", maxstep=2)
    scene.steps("dwh.a")
    queue = "SELECT omd_lineage._queue_restatement(%s, %s, %s, %s, FALSE)"
    first = scene.one(queue, "dwh.b", at(90), at(95), False)
    scene.one(queue, "dwh.a", at(90), at(95), True)
    session = another()
    with scene.conn.transaction():
        scene.conn.execute(
            "SELECT FROM omd_lineage.restatement WHERE call_id = %s FOR UPDATE", [first]
        )
        call = background(session.step, "dwh.b")
        until_settled(session, call)
        assert not call.done()
        with another().conn.transaction() as other:
            other.connection.execute(
                "SELECT omd_lineage._end_restatement(topic_id)"
                " FROM omd_lineage.topic WHERE topic = 'dwh.a'"
            )
    step = call.result(timeout=30)
    assert (step.outcome, step.rows) == ("DONE", 2), step
    scene.steps("dwh.b")
    assert scene.ids("dwh.b") == list(range(1, 5))
    assert queued(scene) == 0


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(3))
def test_a_chain_that_is_restated_equals_one_that_is_computed_anew(scene: Scene, seed: int) -> None:
    """dwh.d joins dwh.b and dwh.c, and dwh.r is reloaded from dwh.c."""
    chance = random.Random(seed)
    scene.source("dwh.src", *range(1, 21))
    for topic, base in ("dwh.a", "dwh.src"), ("dwh.b", "dwh.a"), ("dwh.c", "dwh.b"):
        scene.topic(topic, base, maxstep=chance.randint(1, 5))
    scene.base("dwh.d")
    scene.conn.execute(
        b"CREATE VIEW dwh.v_d AS SELECT b.pos, b.id, b.v + c.v AS v FROM dwh.b AS b"
        b" INNER JOIN dwh.c AS c USING (id) WHERE omd_lineage.in_block(b.pos, b.id)"
    )
    scene.topic("dwh.d", "dwh.b", "dwh.c", transforms=["dwh.v_d"], maxstep=chance.randint(1, 5))
    scene.conn.execute(
        b"CREATE VIEW dwh.v_r AS SELECT min(pos) AS pos, v AS id, count(*)::int AS v"
        b" FROM dwh.c GROUP BY v"
    )
    scene.topic("dwh.r", "dwh.c", processor="RELOAD", transforms=["dwh.v_r"])
    topics = ["dwh.a", "dwh.b", "dwh.c", "dwh.d", "dwh.r"]
    for _ in range(chance.randint(4, 40)):
        scene.step(chance.choice(topics))
    scene.conn.execute(b"UPDATE dwh.src SET v = id * 10 WHERE id BETWEEN 6 AND 12")
    answer = restate(scene, "dwh.a", 5, 12, cascade=True)
    assert answer["outcome"] in {"DONE", "NOJOBS", "QUEUED"}, answer
    for _ in range(30):
        for topic in topics:
            step = scene.step(topic)
            assert step.outcome in {"DONE", "NOJOBS"}, step
    wanted = {i: i * 10 if 6 <= i <= 12 else 1 for i in range(1, 20)}
    for topic in topics[:3]:
        assert values(scene, topic) == wanted, topic
    assert values(scene, "dwh.d") == {i: 2 * v for i, v in wanted.items()}
    assert values(scene, "dwh.r") == {v: list(wanted.values()).count(v) for v in wanted.values()}
    assert (queued(scene), gaps(scene)) == (0, [])


def test_rows_with_positions_of_their_own_are_found_downstream(scene: Scene) -> None:
    """The rows of dwh.f lie a day later than those of the source, and later still when changed."""
    scene.source("dwh.src", *range(1, 10))
    scene.base("dwh.f")
    scene.view("dwh.v_f", "dwh.src", select="t.pos - t.v * interval '1 day' AS pos, t.id, t.v")
    scene.topic("dwh.f", transforms=["dwh.v_f"], maxstep=3)
    scene.topic("dwh.g", "dwh.f", maxstep=2)
    scene.steps("dwh.f")
    scene.steps("dwh.g")
    assert scene.ids("dwh.g") == list(range(1, 9))
    scene.conn.execute(b"UPDATE dwh.src SET v = -v WHERE id = 5")
    assert restate(scene, "dwh.f", 4, 5, cascade=True)["outcome"] == "DONE"
    scene.steps("dwh.g")
    assert values(scene, "dwh.f") == {**dict.fromkeys(range(1, 9), 1), 5: -1}
    now = {**dict.fromkeys(range(1, 9), 1)}
    del now[5]
    assert values(scene, "dwh.g") == now, "a row of the future is not read yet"
    scene.conn.execute(b"UPDATE dwh.src SET v = 2 WHERE id = 5")
    assert restate(scene, "dwh.f", 4, 5, cascade=True)["outcome"] == "DONE"
    assert values(scene, "dwh.g") == {**now, 5: 2}


def test_a_block_with_a_late_id_is_undone_by_its_place(scene: Scene) -> None:
    loaded(scene)
    restate(scene, "dwh.f", 2, 4)
    again = max(scene.stamps("dwh.f"))  # it holds 3 and 4
    scene.set_next("R", module=again)
    scene.steps()
    assert scene.ids() == list(range(1, 9))
    restate(scene, "dwh.f", 0, 2)
    first = max(scene.stamps("dwh.f"))
    scene.set_next("R", module=min(scene.stamps("dwh.f")))
    scene.steps()
    assert values(scene) == dict.fromkeys(range(1, 9), 7)
    assert first not in scene.stamps("dwh.f")


def test_a_range_that_can_not_be_taken_again_may_be_cancelled(scene: Scene) -> None:
    loaded(scene)
    scene.register("dwh.f", after_sql=["SELECT 1 / (v - 7) FROM dwh.f"])
    assert restate(scene, "dwh.f", 5, 6)["outcome"] == "ERROR"
    scene.call("omd_lineage.cancel_restate", topic="dwh.f")
    scene.call("omd_lineage.cancel_restate", topic="dwh.f")
    scene.conn.execute(b"INSERT INTO dwh.src SELECT pos + interval '1 hour', 99, 1 FROM dwh.src")
    scene.conn.execute(b"UPDATE dwh.src SET v = 1")
    scene.probe()
    scene.steps()
    assert set(range(1, 10)) <= set(scene.ids())
    scene.refused("OM015", "omd_lineage.cancel_restate", topic="dwh.no")


def test_r_on_a_step_before_a_block_that_waits_for_its_retry_takes_that_block_once(
    scene: Scene,
) -> None:
    loaded(scene)
    second = sorted(scene.stamps("dwh.f"))[1]
    scene.register("dwh.f", after_sql=["SELECT 1 / 0"])
    assert restate(scene, "dwh.f", 5, 6)["outcome"] == "ERROR"
    scene.register("dwh.f", after_sql=[], maxstep=10)
    scene.set_next("R", module=second)
    scene.steps()
    assert values(scene) == {1: 1, 2: 1, **dict.fromkeys(range(3, 9), 7)}
    assert (queued(scene), gaps(scene)) == (0, [])


def test_rows_that_were_read_again_by_hand_come_once(scene: Scene) -> None:
    loaded(scene)
    scene.conn.execute(b"TRUNCATE dwh.f")
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(1), id=1)
    scene.topic(maxstep=3)
    scene.steps()
    assert scene.ids() == list(range(2, 9))
    restate(scene, "dwh.f", 3, 5)
    assert scene.ids() == list(range(2, 9))


def test_a_topic_that_replaces_rows_goes_back_and_takes_all_from_there_on(scene: Scene) -> None:
    loaded(scene)
    scene.conn.execute(b"CREATE UNIQUE INDEX ON dwh.f (id); GRANT UPDATE ON dwh.f TO omd_runner")
    scene.register("dwh.f", merge_key=["id"])
    first = min(scene.stamps("dwh.f"))
    answer = restate(scene, "dwh.f", 3, 4)
    assert (answer["outcome"], answer["rows"]) == ("DONE", 6), answer
    assert values(scene) == {1: 1, 2: 1, **dict.fromkeys(range(3, 9), 7)}
    assert (scene.stamps("dwh.f")[first], queued(scene), gaps(scene)) == (2, 0, [])


def test_on_spark_the_steps_take_it_and_nobody_reads_over_what_is_undone(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    scene.topic(engine="SPARK", transforms=["SELECT 1"], maxstep=3)
    scene.topic("dwh.g", "dwh.f")

    def run(*, fails: bool = False) -> None:
        begun = scene.call("omd_lineage.begin_step", topic="dwh.f")
        assert begun["outcome"] == "RUN", begun
        id = begun["module_instance_id"]
        scene.conn.execute(
            b"INSERT INTO dwh.f SELECT pos, id, v, %s FROM dwh.src"
            b" WHERE (pos, id) > (%s, %s) AND (pos, id) <= (%s, %s)",
            [id, begun["start_pos"], begun["start_id"], begun["end_pos"], begun["end_id"]],
        )
        if fails:
            scene.call("omd_lineage.fail_step", module_instance_id=id)
        else:
            number = begun["plan_number"]
            scene.call("omd_lineage.commit_step", module_instance_id=id, plan_number=number)

    for _ in range(3):
        run()
    before = scene.last("dwh.f")
    assert scene.ids("dwh.f") == list(range(1, 9))
    answer = restate(scene, "dwh.f", 4, 5, cascade=True)
    assert (answer["outcome"], answer["blocks"]) == ("QUEUED", 0)
    assert scene.reason("dwh.f") == (True, "RESTATE")
    run(fails=True)
    detail = scene.refused("OM119", "omd_lineage.cancel_restate", topic="dwh.f")
    assert "undone" in detail["problem"]
    scene.refused("OM208", "omd_lineage.set_offset", topic="dwh.f", pos=at(1))
    scene.steps("dwh.g")
    assert scene.ids("dwh.g") == [1, 2]
    run()
    assert (scene.ids("dwh.f"), scene.last("dwh.f")) == (list(range(1, 9)), before)
    scene.steps("dwh.g")
    assert scene.ids("dwh.g") == list(range(1, 8))
    assert (queued(scene), gaps(scene)) == (0, [])


def test_a_rollback_tells_who_has_read_the_rows_and_how_to_repair_it(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 10))
    for topic, base in ("dwh.f", "dwh.src"), ("dwh.g", "dwh.f"), ("dwh.h", "dwh.g"):
        scene.topic(topic, base, maxstep=3)
        scene.steps(topic)
    second = sorted(scene.stamps("dwh.f"))[1]
    readers = scene.rows("SELECT * FROM omd_lineage.readers_of(%s)", second)
    assert [(row["topic"], row["distance"], row["steps"]) for row in readers] == [
        ("dwh.g", 1, 2),
        ("dwh.h", 2, 2),
    ]
    told: list[str] = []
    scene.conn.add_notice_handler(lambda diagnostic: told.append(diagnostic.message_hint or ""))
    scene.conn.execute(b"UPDATE dwh.src SET v = 7")
    scene.set_next("R", module=second)
    plan = scene.plan("dwh.f")
    assert (plan["start_id"], plan["end_pos"]) == (3, None)
    third = max(scene.stamps("dwh.f"))
    assert plan["detail"] == f"undone first: {second}, {third}; read by dwh.g, dwh.h"
    scene.steps("dwh.f")
    assert set(values(scene, "dwh.h").values()) == {1}
    (hint,) = [text for text in told if "restate" in text]
    event = scene.one(
        "SELECT event_detail FROM omd.event_log WHERE event_return_code_details = 'READERS'"
    )
    assert hint in event
    scene.conn.execute(hint.encode())
    assert values(scene, "dwh.h") == {
        **dict.fromkeys(range(1, 4), 1),
        **dict.fromkeys(range(4, 9), 7),
    }
    for id in None, 999:
        with pytest.raises(psycopg.Error, match="p_module_instance_id" if id is None else "999"):
            scene.rows("SELECT * FROM omd_lineage.readers_of(%s)", id)


def test_what_can_not_be_restated_is_refused(scene: Scene, another: Another) -> None:
    loaded(scene)
    name = "omd_lineage.restate"
    whole = {"from": at(0), "to": at(9)}
    assert "source" in scene.refused("OM208", name, topic="dwh.src", **whole)["problem"]
    scene.refused("OM015", name, topic="dwh.no", **whole)
    scene.refused("OM013", name, topic="dwh.f", **{"from": at(3), "to": at(3)})
    for argument in ("topic", "from", "to", "cascade"):
        given = {"topic": "dwh.f", **whole, argument: None}
        assert scene.refused("OM005", name, **given)["argument"] == f"p_{argument}"
    with scene.conn.transaction():
        scene.refused("OM018", name, topic="dwh.f", **whole)
    scene.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner;"
        b"GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA dwh TO omd_runner"
    )
    runner = another(role="omd_runner")
    answer = restate(runner, "dwh.src", 0, 9, cascade=True)
    assert answer["outcome"] == "DONE", answer
    assert values(scene) == dict.fromkeys(range(1, 9), 7)
    assert queued(scene) == 0


@pytest.mark.random
def test_ranges_are_taken_again_while_steps_run_and_sessions_are_killed(
    scene: Scene, another: Another, background: Background
) -> None:
    """Each row of the source is in each table once, with its last value."""
    scene.source("dwh.src", *range(1, 31))
    topics = ["dwh.a", "dwh.b", "dwh.c"]
    for topic, base in zip(topics, ["dwh.src", *topics], strict=False):
        scene.topic(topic, base, maxstep=4)
    stop = threading.Event()

    def work(seed: int) -> int:
        chance, done = random.Random(seed), 0
        session: Scene | None = None
        while not stop.is_set():
            topic = chance.choice(topics)
            try:
                session = session or another()
                if chance.random() < 0.8:
                    done += session.step(topic).outcome == "DONE"
                else:
                    start = chance.randint(0, 60)
                    end = start + chance.randint(1, 8)
                    restate(session, topic, start, end, cascade=chance.random() < 0.8)
            except psycopg.OperationalError:
                session = None
        return done

    calls = [background(work, seed) for seed in range(4)]
    chance = random.Random(SEED)
    try:
        for minute in range(31, 61):
            scene.insert(minute)
            scene.probe()
            if chance.random() < 0.3:
                scene.one(
                    "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity"
                    " WHERE datname = current_database() AND backend_type = 'client backend'"
                    " AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) AS s"
                )
    finally:
        stop.set()
    for call in calls:
        assert call.result(timeout=60) >= 0
    scene.conn.execute(b"UPDATE dwh.src SET v = id")
    for _ in range(100):
        outcomes = {scene.step(topic).outcome for topic in topics}
        assert outcomes <= {"DONE", "NOJOBS"}, outcomes
        if outcomes == {"NOJOBS"}:
            break
    assert queued(scene) == 0
    for topic in topics:
        assert set(values(scene, topic)) == set(range(1, 60)), topic
    assert restate(scene, "dwh.a", 0, 99, cascade=True)["outcome"] == "DONE"
    for topic in topics:
        assert values(scene, topic) == {i: i for i in range(1, 60)}, topic
    assert (queued(scene), gaps(scene)) == (0, [])


def test_a_range_may_include_its_start(scene: Scene) -> None:
    loaded(scene)
    start = {"from": at(4), "to": at(4)}
    detail = scene.refused("OM013", "omd_lineage.restate", topic="dwh.f", **start)
    assert "p_including_from" in detail["expected"]
    restate(scene, "dwh.f", 4, 5)
    assert {id for id, v in values(scene).items() if v == 7} == {5, 6}
    answer = restate(scene, "dwh.f", 4, 4, including_from=True)
    assert answer["outcome"] == "DONE"
    assert {id for id, v in values(scene).items() if v == 7} == {3, 4, 5, 6}
    with pytest.raises(psycopg.Error) as caught:
        restate(scene, "dwh.f", 1, 2, including_from=None)
    assert caught.value.sqlstate == "OM005"
    scene.refused("OM013", "omd_lineage.restate", topic="dwh.f", **{"from": at(5), "to": at(4)})
