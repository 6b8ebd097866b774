"""Steps that a recall took back come again as they were, and nobody reads past them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from provenance.taking_back import effects, follows, take_back
from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]


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
