"""The ready list: which topics may run, which may not run and why, and in which order."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest

from support.flow import checked
from support.scene import NOON, Scene, at

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def hand(scene: Scene, name: str, minute: float | None = None) -> None:
    """Register a source whose offset is set by hand."""
    scene.register(name, source_offset="HAND")
    if minute is not None:
        scene.call("omd_lineage.set_offset", topic=name, pos=at(minute))


def upto(scene: Scene, topic: str = "dwh.f") -> tuple[Any, Any]:
    row = scene.ready(topic)
    return row["upto"], row["blocker"]


# How far


def test_upto_is_the_least_of_the_dependencies_and_that_one_is_the_blocker(scene: Scene) -> None:
    scene.source("dwh.src", 1, 10)
    hand(scene, "dwh.a", 7)
    hand(scene, "dwh.b", 5)
    scene.topic("dwh.f", "dwh.src", "dwh.a", "dwh.b")
    assert upto(scene) == (at(5), "dwh.b")
    scene.call("omd_lineage.set_offset", topic="dwh.b", pos=at(8))
    assert upto(scene) == (at(7), "dwh.a")
    scene.call("omd_lineage.set_offset", topic="dwh.a", pos=at(20))
    assert upto(scene) == (at(8), "dwh.b")
    scene.call("omd_lineage.set_offset", topic="dwh.b", pos=at(20))
    assert upto(scene) == (at(10), "dwh.src")


def test_a_dependency_without_offset_blocks_and_is_told(scene: Scene) -> None:
    scene.source("dwh.src", 1, 10)
    hand(scene, "dwh.a")
    scene.topic("dwh.f", "dwh.src", "dwh.a")
    assert upto(scene) == (None, "no offset: dwh.a")
    assert scene.reason() == (False, "NO_OFFSET")
    hand(scene, "dwh.a", 5)
    assert scene.reason() == (True, "DUE")


def test_an_empty_base_table_has_no_offset(scene: Scene) -> None:
    scene.source()
    scene.topic()
    assert scene.reason() == (False, "NO_OFFSET")
    scene.insert(1)
    scene.probe()
    assert scene.reason() == (True, "DUE")


def test_a_table_with_several_topics_has_come_as_far_as_the_slowest(scene: Scene) -> None:
    for tag, minute in (("a", 3), ("b", 6), ("c", 5)):
        hand(scene, f"dwh.src#{tag}", minute)
    hand(scene, "dwh.src#never")
    scene.topic("dwh.f", "dwh.src", transforms=["dwh.v"])
    scene.topic("dwh.g", "dwh.src#b", transforms=["dwh.v"])
    assert upto(scene, "dwh.g") == (at(6), "dwh.src#b")
    assert upto(scene, "dwh.f") == (None, "no offset: dwh.src")
    scene.call("omd_lineage.set_offset", topic="dwh.src#never", pos=at(9))
    assert upto(scene, "dwh.f") == (at(3), "dwh.src")


def test_a_shard_looks_at_its_own_shard(scene: Scene) -> None:
    hand(scene, "dwh.src:1", 3)
    hand(scene, "dwh.src:2", 6)
    scene.topic("dwh.f:1", "dwh.src", transforms=["dwh.v"])
    scene.topic("dwh.f:2", "dwh.src", transforms=["dwh.v"])
    assert upto(scene, "dwh.f:1") == (at(3), "dwh.src")
    assert upto(scene, "dwh.f:2") == (at(6), "dwh.src")


def test_delay_holds_back_what_is_young(scene: Scene) -> None:
    hand(scene, "dwh.src")
    scene.topic(transforms=["dwh.v"], delay=10 * MINUTE)
    now = datetime.now(timezone.utc)
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=now + HOUR)
    assert timedelta(0) < scene.ready()["upto"] - (now - 10 * MINUTE) < 5 * MINUTE
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=now - HOUR)
    assert scene.ready()["upto"] == now - HOUR


# When


def test_a_topic_is_due_when_something_is_new_and_repeat_has_passed(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(repeat=HOUR)
    assert scene.reason() == (True, "DUE")
    assert scene.steps() == [2]
    assert scene.reason() == (False, "DEPENDENCY")
    scene.insert(4)
    scene.probe()
    assert scene.reason() == (False, "REPEAT")
    scene.long_ago(run=HOUR - MINUTE)
    assert scene.reason() == (False, "REPEAT")
    scene.long_ago(run=HOUR + MINUTE)
    assert scene.reason() == (True, "DUE")


def test_after_a_full_block_the_next_comes_at_once(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic(repeat=HOUR, maxstep=4)
    assert scene.step().rows == 4
    assert scene.reason() == (True, "FULL")
    assert scene.step().rows == 2
    assert scene.reason() == (False, "REPEAT")


def test_a_full_block_that_was_the_last_one_is_no_endless_loop(scene: Scene) -> None:
    scene.source("dwh.src", *range(1, 6))
    scene.topic(maxstep=4)
    assert scene.step().rows == 4
    assert scene.reason() == (True, "FULL")
    assert scene.step().outcome == "NOJOBS"
    assert scene.reason() == (False, "DEPENDENCY")


@pytest.mark.parametrize(
    ("window", "time", "is_in"),
    [
        ("09:00-17:00 UTC", "09:00", True),
        ("09:00-17:00 UTC", "08:59:59", False),
        ("09:00-17:00 UTC", "17:00", False),
        ("22:00-06:00 UTC", "23:00", True),
        ("22:00-06:00 UTC", "00:00", True),
        ("22:00-06:00 UTC", "05:59:59", True),
        ("22:00-06:00 UTC", "06:00", False),
        ("22:00-06:00 UTC", "21:59:59", False),
        ("22:00-06:00 Europe/Amsterdam", "21:00", True),  # winter: 22:00 there
        ("22:00-06:00 Europe/Amsterdam", "05:00", False),
        ("22:00-06:00 Asia/Kolkata", "16:30", True),
        ("22:00-06:00 Asia/Kolkata", "16:29", False),
        ("00:00-24:00 UTC", "23:59:59", True),
        ("00:00-00:00 UTC", "13:00", True),
    ],
)
def test_a_run_window_is_a_time_of_day(scene: Scene, window: str, time: str, is_in: bool) -> None:
    hand(scene, "dwh.src", 1)
    scene.topic(transforms=["dwh.v"], run_window=window)
    assert (
        scene.one(
            "SELECT omd_lineage._in_run_window(run_window, %s) FROM omd_lineage.topic"
            " WHERE topic = 'dwh.f'",
            f"2020-01-15 {time}Z",
        )
        is is_in
    )


@pytest.mark.parametrize("state", ["due", "full", "retry"])
def test_outside_of_its_window_nothing_runs(scene: Scene, state: str) -> None:
    scene.source("dwh.src", *range(1, 8))
    scene.topic(maxstep=2)
    if state == "full":
        scene.step()
    elif state == "retry":
        scene.fails()
        scene.waits(seconds=10)
    assert scene.ready()["is_ready"]
    around = scene.one(
        "SELECT to_char(now() AT TIME ZONE 'UTC' + interval '2 hours', 'HH24:MI') || '-'"
        " || to_char(now() AT TIME ZONE 'UTC' + interval '3 hours', 'HH24:MI') || ' UTC'"
    )
    scene.register("dwh.f", run_window=around)
    assert scene.reason() == (False, "RUN_WINDOW")
    start, end = around.removesuffix(" UTC").split("-")
    scene.register("dwh.f", run_window=f"{end}-{start} UTC")
    assert scene.ready()["is_ready"]


def test_after_max_wait_a_topic_goes_without_the_one_that_lags_and_says_so(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    hand(scene, "dwh.slow", 2)
    scene.topic("dwh.f", "dwh.src", "dwh.slow", max_wait=HOUR)
    assert scene.steps() == [1]
    assert scene.reason() == (False, "DEPENDENCY")
    scene.long_ago(waiting_since=2 * HOUR)
    assert scene.reason() == (True, "MAX_WAIT")
    assert scene.ready()["upto"] == at(4)
    step = scene.step()
    assert (step.outcome, step.rows) == ("DONE", 2)
    assert scene.one(
        "SELECT waited_for FROM omd_lineage.log WHERE module_instance_id = %s", step.id
    ) == ("dwh.slow")
    assert scene.rows(
        "SELECT 1 FROM omd.event_log WHERE module_instance_id = %s AND event_detail LIKE %s",
        step.id,
        "%dwh.slow%",
    )
    assert scene.one("SELECT sum(impatient_steps) FROM omd_report.lineage_throughput") == 1
    # It waits for the same time again, and the offset does not move back.
    assert scene.reason() == (False, "DEPENDENCY")


def test_max_wait_needs_no_offset_of_the_one_that_lags_but_one_of_the_base(scene: Scene) -> None:
    scene.source("dwh.src")
    hand(scene, "dwh.slow")
    scene.topic("dwh.f", "dwh.src", "dwh.slow", max_wait=HOUR)
    scene.long_ago(waiting_since=2 * HOUR)
    assert scene.reason() == (False, "NO_OFFSET")
    scene.insert(1, 2)
    scene.probe()
    assert scene.reason() == (True, "MAX_WAIT")
    assert scene.step().rows == 1


def test_max_wait_is_no_flag_when_all_are_there(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    hand(scene, "dwh.quick", 9)
    scene.topic("dwh.f", "dwh.src", "dwh.quick", max_wait=HOUR)
    scene.long_ago(waiting_since=2 * HOUR)
    assert scene.reason() == (True, "DUE")
    step = scene.step()
    assert step.outcome == "DONE"
    assert scene.one("SELECT waited_for FROM omd_lineage.log") is None


# After a failure


def test_back_off_is_that_of_the_module_whatever_repeat_is(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(repeat=timedelta(days=2), backoff=5 * MINUTE, backoff_limit=8 * MINUTE)
    for minutes in (5, 8):
        scene.fails()
        assert scene.reason() == (False, "BACK_OFF")
        scene.waits(minutes=minutes - 0.5)
        assert scene.reason() == (False, "BACK_OFF")
        scene.waits(minutes=1)
        assert scene.reason() == (True, "RETRY")
    scene.fails()
    scene.register("dwh.f", max_failures=3)
    assert scene.reason() == (False, "FAILED")
    scene.register("dwh.f", max_failures=0)
    assert scene.reason() == (False, "BACK_OFF")


def test_a_topic_that_had_nothing_to_do_pauses_until_there_is_news(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    hand(scene, "dwh.a", 5)
    scene.topic("dwh.f", "dwh.src", "dwh.a", advance_when_quiet=False)
    assert scene.steps() == [1]
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(4), id=0)
    assert scene.step().rows == 1
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(5), id=0)
    assert scene.reason() == (True, "DUE")
    assert scene.step().outcome == "NOJOBS"
    assert scene.reason() == (False, "BACK_OFF")
    scene.waits(seconds=1)
    assert scene.reason() == (True, "DUE")
    assert scene.step().outcome == "NOJOBS"
    assert scene.rows("SELECT looks FROM omd.module_state") == [{"looks": 2}]
    scene.call("omd_lineage.set_offset", topic="dwh.a", pos=at(6))
    assert scene.reason() == (True, "DUE"), "news ends the pause"
    scene.insert(4.5)
    assert scene.step().outcome == "DONE"
    assert scene.rows("SELECT looks FROM omd.module_state") == []


def test_after_ten_attempts_a_topic_has_failed_until_somebody_clears_it(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(after_sql=["SELECT 1 / 0"])
    for attempt in range(1, 11):
        assert scene.reason() == (True, "DUE" if attempt == 1 else "RETRY")
        assert scene.step().outcome == "ERROR"
        scene.waits(hours=1)
        assert scene.ready()["attempts"] == attempt
    assert scene.reason() == (False, "FAILED")
    assert scene.step().outcome == "ERROR", "who calls it is not stopped"
    scene.register("dwh.f", after_sql=[])
    assert scene.reason() == (False, "FAILED")
    scene.call("omd.retry", module_code="dwh.f")
    assert scene.reason() == (True, "RETRY")
    assert scene.step().rows == 1
    assert scene.ready()["attempts"] == 0


def test_errors_before_there_is_a_run_count_and_back_off_too(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(repeat=5 * MINUTE)
    for attempt in range(1, 11):
        assert scene.reason()[0], attempt
        scene.call("omd_lineage.note_error", topic="dwh.f", detail="no such table\nmore")
        assert scene.reason() == (False, "BACK_OFF" if attempt < 10 else "FAILED")
        assert scene.ready()["state"] == "no such table"
        scene.waits(hours=2)
    assert scene.reason() == (False, "FAILED")
    assert scene.rows("SELECT 1 FROM omd.event_log WHERE event_detail LIKE '%%no such table%%'")
    scene.call("omd.retry", module_code="dwh.f")
    assert scene.steps() == [1]


@pytest.fixture
def runner(scene: Scene, another: Any) -> Scene:
    """Take steps of dwh.f, which is not full, with the rights of a plain role."""
    scene.source("dwh.src", 1, 2)
    scene.topic(repeat=5 * MINUTE)
    scene.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner;"
        b"GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_runner;"
        b"GRANT INSERT, DELETE ON dwh.f TO omd_runner"
    )
    session: Scene = another(role="omd_runner")
    return session


def events(scene: Scene) -> list[dict[str, Any]]:
    return scene.rows(
        "SELECT event_return_code_details AS code, event_detail AS detail FROM omd.event_log"
        " WHERE event_type_code = 2 ORDER BY event_id"
    )


def test_a_step_that_fails_tells_its_error_to_a_plain_role_and_counts_once(
    scene: Scene, runner: Scene
) -> None:
    scene.register("dwh.f", after_sql=["SELECT 1 / 0"])
    step = runner.step()
    assert (step.outcome, step.detail) == ("ERROR", "division by zero")
    assert (scene.ready()["attempts"], scene.ready()["state"]) == (1, "division by zero")
    assert scene.reason() == (False, "BACK_OFF")
    assert [event["code"] for event in events(scene)] == ["22012"]


@pytest.mark.parametrize("call", ["step", "begin_step"])
def test_a_topic_that_can_not_begin_backs_off_and_fails_whoever_calls(
    scene: Scene, runner: Scene, call: str
) -> None:
    given = {"engine": "POSTGRES"} if call == "begin_step" else {}
    scene.conn.execute(b"REVOKE SELECT ON dwh.src FROM omd_runner")
    for attempt in range(1, 11):
        assert scene.reason()[0], attempt
        answer = runner.call(f"omd_lineage.{call}", topic="dwh.f", **given)
        assert (answer["outcome"], answer["module_instance_id"]) == ("ERROR", None)
        assert "permission denied for table src" in answer["detail"]
        assert scene.ready()["attempts"] == attempt
        assert answer["detail"] == scene.ready()["state"]
        assert scene.reason() == (False, "BACK_OFF" if attempt < 10 else "FAILED")
        scene.waits(hours=2)
    assert len(events(scene)) == 10
    assert {event["code"] for event in events(scene)} == {"OM206"}
    assert "p_pos_column" in events(scene)[0]["detail"], "the hint is kept"
    assert "begin_step" not in events(scene)[0]["detail"], "what of ours called it is no news"
    assert not scene.rows("SELECT 1 FROM omd.module_instance WHERE module_instance_id > 0")
    scene.conn.execute(b"GRANT SELECT ON dwh.src TO omd_runner")
    scene.call("omd.retry", module_code="dwh.f")
    assert runner.steps() == [1]


def test_what_a_begin_did_before_its_error_is_undone(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(maxstep=1)
    first = scene.step()
    assert first.outcome == "DONE"
    last = scene.last()
    scene.set_next("R", module=first.id)
    scene.conn.execute(b"ALTER TABLE dwh.f RENAME TO away")
    assert scene.step().outcome == "ERROR"
    assert scene.last() == last, "it has not gone back before the rows are undone"
    scene.conn.execute(b"ALTER TABLE dwh.away RENAME TO f")
    assert scene.steps() == [1, 1]
    assert scene.ids() == [1, 2]


def test_a_mistake_of_the_caller_is_no_attempt(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    begin = "omd_lineage.begin_step"
    scene.refused("OM208", "omd_lineage.step", topic="dwh.f")
    scene.refused("OM208", begin, topic="dwh.f", engine="POSTGRES")
    scene.refused("OM005", begin, topic="dwh.f", engine=None)
    scene.refused("OM011", begin, topic="dwh.f", lease=-HOUR)
    scene.refused("OM005", "omd_lineage.note_error", topic="dwh.f", detail=None)
    assert scene.ready()["attempts"] == 0
    assert events(scene) == []


def test_a_begin_that_is_cancelled_is_an_attempt(
    scene: Scene, another: Any, background: Any, until_settled: Any
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    other, session = another(), another()
    other.conn.execute("BEGIN")
    other.conn.execute("SELECT FROM omd.module FOR UPDATE")
    call = background(session.call, "omd_lineage.step", topic="dwh.f")
    until_settled(session, call)
    session.conn.cancel()
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        call.result(timeout=60)
    assert checked(caught.value, "57014") == {"module_instance_id": None}
    other.conn.execute("ROLLBACK")
    assert scene.ready()["attempts"] == 1
    assert scene.reason() == (True, "RETRY"), "a cancel says nothing about the topic"
    assert scene.steps() == [1]


# Who may not


def test_a_topic_that_is_held_is_not_ready(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="host a")
    row = scene.ready()
    assert (row["is_ready"], row["reason"], row["hostid"]) == (False, "HELD", "host a")
    scene.call("omd_lineage.fail_step", module_instance_id=run["module_instance_id"])
    assert scene.ready()["hostid"] == ""
    assert scene.reason() == (False, "BACK_OFF")


def test_a_holder_whose_lease_is_over_holds_nothing(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    lease = timedelta(seconds=1)
    first = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="a", lease=HOUR)
    other = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="b")
    assert (first["outcome"], first["execution_status_code"]) == ("RUN", "E")
    assert (other["outcome"], other["execution_status_code"]) == ("MUTEX", "A")
    scene.owner("UPDATE omd.module_instance SET lease_expires_at = now() - %s", lease)
    assert scene.reason() == (True, "RETRY")
    second = scene.call("omd_lineage.begin_step", topic="dwh.f", hostid="b", lease=HOUR)
    assert second["outcome"] == "RUN"
    block = ("start_pos", "start_id", "end_pos", "end_id")
    assert [second[k] for k in block] == [first[k] for k in block]
    scene.refused(
        "OM108",
        "omd_lineage.commit_step",
        module_instance_id=first["module_instance_id"],
        plan_number=first["plan_number"],
    )


@pytest.mark.parametrize("what", ["topic", "module"])
def test_an_inactive_topic_is_not_ready(scene: Scene, what: str) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    if what == "topic":
        scene.register("dwh.f", inactive_indicator="Y")
    else:
        scene.deactivate("module", "module_code = 'dwh.f'")
    assert scene.reason() == (False, "INACTIVE")
    assert scene.step().outcome == "SKIPPED"
    assert scene.ids() == []


# Order


def test_the_list_is_in_the_order_of_lag(scene: Scene) -> None:
    """Topics that have not begun are the furthest behind."""
    scene.source("dwh.src", *range(1, 11))
    for name, minute in (("b", 9), ("c", 2), ("d", 5), ("new", None)):
        scene.topic(f"dwh.{name}", advance_when_quiet=False)
        if minute:
            scene.call("omd_lineage.set_offset", topic=f"dwh.{name}", pos=at(minute))
    rows = scene.rows("SELECT topic, lag FROM omd_report.lineage_ready")
    assert [(row["topic"], row["lag"]) for row in rows] == [
        ("dwh.new", None),
        ("dwh.c", 8 * MINUTE),
        ("dwh.d", 5 * MINUTE),
        ("dwh.b", 1 * MINUTE),
    ]
    whole = scene.rows("SELECT * FROM omd_report.lineage_ready")
    assert scene.rows("SELECT * FROM omd_lineage.ready_list_by_topic") == whole
    some = "SELECT * FROM omd_lineage.ready_list_by_topic WHERE topic = ANY('{dwh.b,dwh.d}')"
    assert scene.rows(some) == [row for row in whole if row["topic"] in {"dwh.b", "dwh.d"}]
    told = scene.rows("SELECT topic, blocker FROM omd_report.lineage_lag")
    assert [row["topic"] for row in told] == [row["topic"] for row in rows]
    assert {row["blocker"] for row in told} == {"dwh.src"}


def test_a_topic_far_back_is_ready_whatever_the_date(scene: Scene) -> None:
    scene.source("dwh.src", -(60 * 24 * 365 * 1000), 0)
    scene.topic()
    assert scene.steps() == [1]
    assert scene.last() == (NOON, 0)
