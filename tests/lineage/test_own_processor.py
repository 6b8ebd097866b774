"""A procedure of the user's own does the work of a step, and its rows are counted."""

from __future__ import annotations

import pytest

from support.scene import Scene, at

INSERT = """
    INSERT INTO dwh.f (id, v, omd_insert_module_instance_id)
    SELECT t.id, nullif(t.id, 2)::int, current_setting('omd.module_instance_id')::bigint
    FROM dwh.src AS t WHERE omd_lineage.in_block(t.pos, t.id);
"""


def processor(scene: Scene, body: str) -> None:
    scene.conn.execute(
        f"CREATE OR REPLACE PROCEDURE dwh.load(p_topic text) LANGUAGE plpgsql AS $$"
        f" BEGIN {body} END $$".encode()
    )


def log(scene: Scene, id: int | None) -> tuple[object, ...]:
    (row,) = scene.rows(
        "SELECT l.rows, l.nulls, i.rows_input, i.rows_inserted, i.rows_updated, i.rows_deleted"
        " FROM omd_lineage.log AS l INNER JOIN omd.module_instance AS i USING (module_instance_id)"
        " WHERE l.module_instance_id = %s",
        id,
    )
    return tuple(row.values())


@pytest.fixture
def own(scene: Scene) -> Scene:
    scene.source("dwh.src", 1, 2, 3, 4)
    processor(scene, INSERT)
    scene.topic(processor="dwh.load", transforms=[], maxstep=2)
    return scene


def test_rows_with_the_id_of_the_step_are_counted(own: Scene) -> None:
    step = own.step()
    assert (step.outcome, step.rows) == ("DONE", 2)
    # Both rows lack a pos, and one lacks a v.
    assert log(own, step.id) == (2, {"pos": 2, "v": 1}, 2, 2, 0, 0)
    step = own.step()
    assert log(own, step.id) == (1, {"pos": 1}, 1, 1, 0, 0)


def test_what_the_procedure_tells_counts_instead(own: Scene) -> None:
    processor(
        own, INSERT + "PERFORM omd.tell_row_counts(p_rows_inserted => 1, p_rows_updated => 4,"
        " p_rows_deleted => 3);"
    )  # fmt: skip
    step = own.step()
    assert step.rows == 5
    assert log(own, step.id) == (5, {}, 2, 1, 4, 3)
    # What one step has told is not told by the next.
    processor(own, INSERT)
    assert log(own, own.step().id) == (1, {"pos": 1}, 1, 1, 0, 0)


def test_a_wrong_count_fails_the_step(own: Scene) -> None:
    processor(own, INSERT + "PERFORM omd.tell_row_counts(p_rows_inserted => -1);")
    assert own.step().outcome == "ERROR"
    assert own.ids() == []
    processor(own, "RAISE 'no';")
    assert own.step().detail == "no"
    own.register("dwh.f", processor="dwh.gone")
    assert "dwh.gone" in (own.step().detail or "")
    processor(own, INSERT)
    own.register("dwh.f", processor="dwh.load")
    assert own.step().rows == 2
    assert own.last() == (at(2), 2)
