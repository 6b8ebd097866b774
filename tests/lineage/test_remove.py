"""A topic is removed only when nothing of it is left, or somebody says what becomes of it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from support.scene import Scene, at


def half_written(scene: Scene, topic: str) -> int:
    """Fail a step on Spark after it has written rows: Spark commits partitions one by one."""
    scene.register(topic, engine="SPARK", transforms=["SELECT 1"])
    run = scene.call("omd_lineage.begin_step", topic=topic)
    assert run["outcome"] == "RUN", run
    id: int = run["module_instance_id"]
    scene.conn.execute("INSERT INTO dwh.f SELECT pos, id, v, %s FROM dwh.src WHERE id = 2", [id])
    scene.call("omd_lineage.fail_step", module_instance_id=id, event_detail="a task was lost")
    return id


@pytest.fixture
def tags(scene: Scene) -> Scene:
    """Two topics fill dwh.f, one of them has failed, and dwh.g reads dwh.f."""
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic("dwh.f#a", start_pos=at(2), start_id=2)
    scene.topic("dwh.f#b")
    scene.topic("dwh.g", "dwh.f", pos_column="pos", id_column="id")
    return scene


def test_a_topic_whose_step_failed_is_removed_with_its_rows_and_its_readers_go_on(
    tags: Scene,
) -> None:
    failed = half_written(tags, "dwh.f#b")
    assert tags.steps("dwh.f#a") == [1]
    step = tags.step("dwh.g")
    assert (step.outcome, step.rows) in {("NOJOBS", None), ("DONE", 0)}
    detail = tags.refused("OM115", "omd_lineage.remove_topic", topic="dwh.f#b")
    assert detail["module_instance_ids"] == [failed]
    assert detail["table_code"] == "dwh.f"
    with pytest.raises(psycopg.Error) as caught:
        tags.call("omd_lineage.remove_topic", topic="dwh.f#b")
    assert "CALL omd_lineage.undo_failed('dwh.f#b');" in (caught.value.diag.message_hint or "")
    tags.call("omd_lineage.undo_failed", topic="dwh.f#b")
    assert tags.offset("dwh.f#b")["next"] is not None, "the block stays planned"
    tags.call("omd_lineage.remove_topic", topic="dwh.f#b")
    assert not tags.rows("SELECT 1 FROM omd_lineage.topic WHERE topic = 'dwh.f#b'")
    assert tags.ids("dwh.f") == [3]
    assert tags.codes(module=failed) == "F P R"
    # The reader waited for the failed run.
    tags.insert(5)
    tags.probe()
    assert tags.steps("dwh.f#a") == [1]
    tags.steps("dwh.g")
    assert tags.ids("dwh.g") == [3, 4]
    assert tags.call("omd_lineage.undo_failed", topic="dwh.g") == {"module_instance_id": None}


def test_what_is_left_may_stay_if_somebody_says_so(tags: Scene) -> None:
    failed = half_written(tags, "dwh.f#b")
    tags.call("omd_lineage.remove_topic", topic="dwh.f#b", leave_rows=True)
    assert tags.ids("dwh.f") == [2]
    # The Module keeps its failed run, and undoes it when it begins next.
    begun = tags.begin_module("dwh.f#b")
    assert (begun.pi, begun.array) == ("P", [failed])
    assert tags.ids("dwh.f") == []


def test_a_run_that_is_to_be_undone_holds_the_removal_and_one_that_lives_prevents_it(
    scene: Scene, another: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = scene.step()
    # A step undoes it, since the topic goes back to the block.
    scene.set_next("R", module=step.id)
    with pytest.raises(psycopg.Error) as caught:
        scene.call("omd_lineage.remove_topic", topic="dwh.f")
    assert caught.value.sqlstate == "OM115"
    assert "CALL omd_lineage.step('dwh.f');" in (caught.value.diag.message_hint or "")
    assert (
        str(step.id) in scene.refused("OM208", "omd_lineage.undo_failed", topic="dwh.f")["problem"]
    )
    assert scene.steps() == [2]
    # A run of the Module that lineage did not begin.
    other = another()
    begun = other.begin_module("dwh.f")
    for leaves in (False, True):
        detail = scene.refused(
            "OM208", "omd_lineage.remove_topic", topic="dwh.f", leave_rows=leaves
        )
        assert str(begun.id) in detail["problem"]
    scene.refused("OM208", "omd_lineage.undo_failed", topic="dwh.f")
    other.end_module(begun.id, "F")
    scene.deactivate("module", "module_code = 'dwh.f'")
    detail = scene.refused("OM116", "omd_lineage.undo_failed", topic="dwh.f")
    assert "INACTIVE" in detail["answer"]
    scene.deactivate("module", "module_code = 'dwh.f'", "N")
    scene.call("omd_lineage.undo_failed", topic="dwh.f")
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    assert scene.ids() == [1, 2]


def test_a_killed_step_is_undone_by_the_removal(scene: Scene) -> None:
    """The holder is dead and nobody has said so yet."""
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    run = scene.call("omd_lineage.begin_step", topic="dwh.f", lease="1 hour")
    scene.refused("OM208", "omd_lineage.remove_topic", topic="dwh.f", leave_rows=True)
    scene.conn.execute("INSERT INTO dwh.f VALUES (now(), 1, 1, %s)", [run["module_instance_id"]])
    scene.owner(
        "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 second'"
        " WHERE module_instance_id = %s",
        run["module_instance_id"],
    )
    scene.refused("OM115", "omd_lineage.remove_topic", topic="dwh.f")
    scene.call("omd_lineage.undo_failed", topic="dwh.f")
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    assert scene.ids() == []
    assert scene.codes(module=run["module_instance_id"]) == "F P R"


def test_a_removal_waits_for_a_step_that_begins(
    scene: Scene, another: Any, background: Any, until_settled: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.call("omd_lineage.begin_step", topic="dwh.f")
    call = background(two.call, "omd_lineage.remove_topic", topic="dwh.f")
    until_settled(two, call)
    one.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        call.result(timeout=20)
    assert caught.value.sqlstate == "OM208"
    assert scene.offset()["next"] is not None


def test_who_takes_steps_undoes_and_who_administers_removes(scene: Scene, another: Any) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(after_sql=["SELECT 1 / 0"])
    for _ in range(11):
        scene.step()
    assert scene.reason() == (False, "FAILED")
    scene.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner; GRANT SELECT, DELETE ON dwh.f TO omd_runner"
    )
    admin, runner = another(role="omd_admin"), another(role="omd_runner")
    admin.refused("OM115", "omd_lineage.remove_topic", topic="dwh.f")
    assert runner.call("omd_lineage.undo_failed", topic="dwh.f")["module_instance_id"]
    assert scene.reason() == (False, "FAILED")
    admin.call("omd_lineage.remove_topic", topic="dwh.f")
