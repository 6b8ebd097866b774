"""What becomes of an offset when a topic is registered again is said, never guessed."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from support.scene import FIRST, LEAST_ID, Scene, at


def hint(scene: Scene, sqlstate: str, routine: str, /, **arguments: Any) -> str:
    with pytest.raises(psycopg.Error) as caught:
        scene.call(f"omd_lineage.{routine}", **arguments)
    assert caught.value.sqlstate == sqlstate, caught.value
    return caught.value.diag.message_hint or ""


def warnings(scene: Scene) -> list[str]:
    told: list[str] = []
    scene.conn.add_notice_handler(
        lambda d: told.append(d.message_primary or "") if d.severity == "WARNING" else None
    )
    return told


# Another base table, other columns


def test_another_base_table_asks_what_becomes_of_the_offset(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.source("dwh.other", 1, 2, 3, 4, 5)
    scene.view("dwh.w", "dwh.other", select="t.pos, t.id + 100 AS id, t.v")
    scene.topic()
    # It has not begun, so there is nothing to ask.
    scene.register("dwh.f", depends_on=["dwh.other"], transforms=["dwh.w"])
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.v_dwh_f"])
    assert scene.steps() == [2]
    new: dict[str, Any] = {"depends_on": ["dwh.other"], "transforms": ["dwh.w"]}
    told = hint(scene, "OM215", "register_topic", topic="dwh.f", **new)
    assert f"p_start_id => {scene.last()[1]}" in told
    assert "p_start_pos => '-infinity'" in told
    assert scene.rows("SELECT depends_on FROM omd_lineage.topic WHERE topic = 'dwh.f'") == [
        {"depends_on": ["dwh.src"]}
    ]
    # A further dependency and the same table under another name are no other base table.
    scene.register("dwh.f", depends_on=["dwh.src", "dwh.other"])
    scene.register("dwh.f", start_pos=scene.last()[0], start_id=scene.last()[1], **new)
    assert scene.steps() == [2]
    assert scene.ids() == [1, 2, 103, 104]
    scene.register(
        "dwh.f", start_pos="-infinity", depends_on=["dwh.src"], transforms=["dwh.v_dwh_f"]
    )
    assert scene.steps() == [2]
    assert scene.ids() == [1, 1, 2, 2, 103, 104]


def test_other_columns_of_the_position_ask_too_and_so_do_those_of_a_source(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.conn.execute(
        b"ALTER TABLE dwh.src ADD at timestamptz, ADD n bigint;"
        b"UPDATE dwh.src SET at = pos, n = id; CREATE INDEX ON dwh.src (at, n)"
    )
    scene.topic()
    scene.topic("dwh.g")
    assert scene.steps() == [2]
    other = {"pos_column": "at", "id_column": "n"}
    hint(scene, "OM215", "register_topic", topic="dwh.f", **other)
    # The source has an offset of its own, and a topic that reads it by the same columns.
    hint(scene, "OM215", "register_topic", topic="dwh.src", **other)
    told = hint(
        scene, "OM215", "register_topic", topic="dwh.src", start_pos=at(3), start_id=3, **other
    )
    assert "register_topic('dwh.f', p_pos_column => 'at'" in told
    scene.register("dwh.f", start_pos=at(2), start_id=2, **other)
    # dwh.g has not begun, so it just follows.
    scene.register("dwh.src", start_pos=at(3), start_id=3, **other)
    scene.register("dwh.src", **other)
    scene.register("dwh.f", **other)
    assert scene.last() == (at(2), 2)


def test_a_planned_block_is_not_taken_from_another_table(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.source("dwh.other", 1, 2, 3)
    scene.view("dwh.w", "dwh.other")
    scene.topic()
    scene.fails()
    new: dict[str, Any] = {"depends_on": ["dwh.other"], "transforms": ["dwh.w"]}
    hint(scene, "OM215", "register_topic", topic="dwh.f", **new)
    detail = scene.refused(
        "OM208", "omd_lineage.register_topic", topic="dwh.f", start_pos="-infinity", **new
    )
    assert "SET next = NULL" in detail["problem"]
    scene.conn.execute(b"UPDATE omd_lineage.offsets SET next = NULL WHERE topic = 'dwh.f'")
    scene.register("dwh.f", start_pos="-infinity", **new)


# A destination that holds rows


def test_a_filled_destination_is_not_loaded_again_without_a_word(
    scene: Scene, another: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    assert scene.steps() == [2]
    last = scene.last()
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    again: dict[str, Any] = {"depends_on": ["dwh.src"], "transforms": ["dwh.v_dwh_f"]}
    told = hint(scene, "OM216", "register_topic", topic="dwh.f", **again)
    assert "p_start_pos => '-infinity'" in told
    assert not scene.rows("SELECT 1 FROM omd_lineage.topic WHERE topic = 'dwh.f'")
    # Who may not read the table gets the same answer.
    scene.conn.execute(b"GRANT USAGE ON SCHEMA dwh TO omd_admin")
    admin = another(role="omd_admin")
    admin.refused("OM216", "omd_lineage.register_topic", topic="dwh.f", **again)
    # An answer is kept, so it is given once.
    scene.register("dwh.f", start_pos=last[0], start_id=last[1], **again)
    scene.register("dwh.f", comment="a fact")
    assert scene.steps() == []
    # An empty table holds nothing, whoever looks.
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    scene.conn.execute(b"TRUNCATE dwh.f")
    admin.register("dwh.f", **again)
    assert scene.steps() == [2]
    assert scene.ids() == [1, 2]


def test_rows_of_another_topic_of_the_table_are_no_reason_to_ask(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.source("dwh.shop", 1, 2, 3)
    scene.topic("dwh.f#a")
    assert scene.steps("dwh.f#a") == [2]
    scene.topic("dwh.f#b", "dwh.shop")
    assert scene.steps("dwh.f#b") == [2]
    # Its own rows are.
    scene.call("omd_lineage.remove_topic", topic="dwh.f#b")
    again = {"depends_on": ["dwh.shop"], "transforms": ["dwh.v_dwh_f_b"]}
    hint(scene, "OM216", "register_topic", topic="dwh.f#b", **again)
    scene.register("dwh.f#b", start_pos=at(2), start_id=2, **again)
    assert scene.steps("dwh.f#b") == []


def test_what_replaces_rows_may_read_all_of_them_again(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.base("dwh.f")
    scene.insert(7, into="dwh.f")
    scene.topic(processor="RELOAD", advance_when_quiet=False)
    assert scene.last() == (FIRST, LEAST_ID)


# The offset set back


def test_an_offset_that_is_set_back_tells_of_the_rows_that_are_there(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic()
    assert scene.steps() == [3]
    told = warnings(scene)
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(9), id=9)
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(1), id=1)
    assert told == []
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(2), id=2)
    scene.register("dwh.f", start_pos=at(1), start_id=1)
    assert len(told) == 2
    assert "dwh.f" in told[0]
    scene.conn.execute(b"TRUNCATE dwh.f")
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(1), id=0)
    assert len(told) == 2


# Wrong states


def test_an_offset_is_not_set_while_something_else_decides_about_it(
    scene: Scene, another: Any
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    step = scene.step()
    # The rollback that is pending sets the offset back itself.
    scene.set_next("R", module=step.id)
    detail = scene.refused("OM208", "omd_lineage.set_offset", topic="dwh.f", pos=at(1))
    assert str(step.id) in detail["problem"]
    assert scene.steps() == [2]
    scene.conn.execute(b"UPDATE omd_lineage.offsets SET hostid = 'anna' WHERE topic = 'dwh.f'")
    detail = scene.refused("OM208", "omd_lineage.set_offset", topic="dwh.f", pos=at(1))
    assert "held by anna" in detail["problem"]
    scene.call("omd_lineage.release", topic="dwh.f")
    scene.call("omd_lineage.set_offset", topic="dwh.f", pos=at(2), id=2)


def test_retry_is_for_a_topic_with_steps_and_counts_the_step_that_executes(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    assert "source" in scene.refused("OM208", "omd.retry", module_code="dwh.src")["problem"]
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    scene.owner("UPDATE omd_lineage.offsets SET attempts = 5 WHERE topic = 'dwh.f'")
    run = scene.call("omd_lineage.begin_step", topic="dwh.f")
    assert scene.ready()["attempts"] == 6
    scene.call("omd.retry", module_code="dwh.f")
    scene.call("omd_lineage.fail_step", module_instance_id=run["module_instance_id"])
    assert scene.ready()["attempts"] == 1
    assert scene.reason() == (False, "BACK_OFF")
    assert scene.call("omd.retry", module_code="dwh.f")["was"] is True
    assert scene.ready()["attempts"] == 0
    assert scene.reason() == (True, "RETRY")
    assert scene.call("omd.retry", module_code="dwh.f")["was"] is False


def test_retry_takes_a_topic_as_a_code_or_as_a_name_however_it_is_spelled(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(module_code="make_f", engine="SPARK", transforms=["SELECT 1"])
    for name in ("make_f", "dwh.f", "DWH.F"):
        scene.owner("UPDATE omd_lineage.offsets SET attempts = 5 WHERE topic = 'dwh.f'")
        assert scene.call("omd.retry", module_code=name)["was"] is True
        assert scene.ready()["attempts"] == 0
    scene.refused("OM002", "omd.retry", module_code="dwh.none")
    scene.refused("OM002", "omd.retry", module_code="no topic")
    scene.refused("OM005", "omd.retry", module_code=None)


def test_retry_of_a_code_that_is_also_a_topic_is_of_the_module(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic(module_code="make_f", engine="SPARK", transforms=["SELECT 1"])
    scene.call("omd.register_module", module_code="dwh.f", area_code="HSTG", table_code="dwh.h")
    scene.owner("UPDATE omd_lineage.offsets SET attempts = 5 WHERE topic = 'dwh.f'")
    assert scene.call("omd.retry", module_code="dwh.f")["was"] is False
    assert scene.ready()["attempts"] == 5
