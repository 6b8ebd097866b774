"""Blocks that are taken again, and what was made of rows that are undone."""

from __future__ import annotations

import random
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

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
    return int(scene.one("SELECT count(*) FROM omd_lineage.restatement"))


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
    stayed = sorted(stamps)[0], sorted(stamps)[3]
    assert {id: n for id, n in scene.stamps("dwh.f").items() if id in stamps} == dict.fromkeys(
        stayed, 2
    )
    assert restate(scene, "dwh.f", 3, 5)["blocks"] == 2
    assert restate(scene, "dwh.f", 90, 95)["outcome"] == "NOJOBS"
    scene.insert(11, 12)
    scene.probe()
    scene.steps()
    assert scene.ids() == [*range(1, 10), 11]
