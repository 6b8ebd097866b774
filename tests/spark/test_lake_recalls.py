"""A recall from the driver takes Iceberg tables back, and the flow forward makes them again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from provenance.recalls import Recalls

from .histories import HISTORY, chain, versions
from .test_iceberg import Lake, _compact, lake

if TYPE_CHECKING:
    import omd

__all__ = ["lake"]

pytestmark = pytest.mark.spark

NOW = timedelta(0)


def topic(lake: Lake) -> None:
    """Let the topic lake.u read the commits of lake.t, and a Module make lake.w of lake.u."""
    lineage = lake.control._lineage
    lineage.register_topic("lake.t", source_offset="LAKE")
    lineage.register_topic(
        "lake.u",
        depends_on=["lake.t"],
        transforms=["SELECT id, concat(note, '!') AS note FROM block"],
        engine="SPARK",
        module_code=lake.module("u"),
        platform_code="SPARK",
        area_code="HSTG",
        repeat="0",
    )
    lake.module("w")
    lake.control.calls.omd.declare_inputs("m_t", [])


def flow(lake: Lake) -> None:
    """Perform the steps that are due, and make lake.w anew."""
    lineage = lake.control._lineage
    lineage.probe_sources()
    while (outcome := lineage.step("lake.u", spark=lake.spark)).succeeded:
        pass
    assert outcome.error is None, outcome
    with lake.run("m_w") as run:
        rows = run.read(lake.spark, "lake.u").selectExpr("id", "concat(note, '!') AS note")
        run.write(rows, mode="overwrite")


def contents(lake: Lake) -> list[list[tuple[int, str]]]:
    return [sorted((row["id"], row["note"]) for row in lake.seen(name)) for name in "tuw"]


def test_a_chain_into_the_lake_is_taken_back_and_comes_again(lake: Lake) -> None:
    recalls = Recalls(lake.conn)
    lake.conn.execute("CREATE SCHEMA dwh")
    recalls.made("a")
    source = lake.module()
    topic(lake)
    lake.control.calls.omd.declare_inputs(source, ["dwh.a"])

    def put(first: int, note: str = "n") -> int:
        with lake.run(source) as run:
            run.write(lake.rows(first, first + 2, note).coalesce(1))
        return run.instance_id

    recalls.go("a")
    put(0)
    flow(lake)
    bad = recalls.go("a")
    wrong = put(10, "wrong")
    flow(lake)
    assert contents(lake)[2] == [(0, "n!!"), (1, "n!!"), (10, "wrong!!"), (11, "wrong!!")]
    lake.control.calls.omd.declare_inputs(lake.module("reader"), [])
    _compact(lake)  # rows of both runs of lake.t are in one file
    standing = set(recalls.standing())

    recall = lake.control.calls.omd_provenance.plan_recall(
        module_instance_id=bad, reason="wrong"
    ).recall_id
    assert recall is not None
    lake.control.provenance.recall(recall, wait=NOW)
    assert recalls.items(recall, "action") == [("UNDO",)] * 4
    assert contents(lake) == [[(n, note) for n in (0, 1)] for note in ("n", "n!", "n!!")]
    for name in "tuw":
        assert lake.operations(name).count("UNDO") == 1
    assert wrong not in recalls.standing()
    assert len(standing - set(recalls.standing())) == 4
    waiting = lake.control._lineage.step("lake.u", spark=lake.spark)
    assert "waits for m_t" in str(waiting.detail)

    recalls.go("a")
    put(10)
    flow(lake)
    assert contents(lake) == [[(n, note) for n in (0, 1, 10, 11)] for note in ("n", "n!", "n!!")]
    assert lake.conn.execute("SELECT FROM omd_report.stale_runs").fetchall() == []


def test_a_step_in_the_middle_is_taken_again(lake: Lake) -> None:
    recalls = Recalls(lake.conn)
    source = lake.module()
    topic(lake)
    for first in (0, 10, 20):
        with lake.run(source) as run:
            run.write(lake.rows(first, first + 2).coalesce(1))
        flow(lake)
    before = contents(lake)
    [_, middle, _] = [
        row["id"]
        for row in recalls.rows(
            "SELECT module_instance_id AS id FROM omd.module_instance INNER JOIN omd.module AS m"
            " USING (module_id) WHERE module_code = 'm_u' AND execution_status_code = 'S'"
            " AND rows_inserted > 0 ORDER BY 1"
        )
    ]
    done = lake.control.provenance._recall_at_once(
        module_instance_id=middle, reason="wrong", wait=NOW
    )
    # A rollback by the Module would take the later step along, so the plan has it too.
    assert recalls.items(done.recall_id, "module_code", "action") == [
        ("m_w", "UNDO"),
        ("m_w", "UNDO"),
        ("m_u", "UNDO"),
        ("m_u", "UNDO"),
    ]
    assert [lake.ids(name) for name in "tuw"] == [[0, 1, 10, 11, 20, 21], [0, 1], [0, 1]]
    flow(lake)
    assert contents(lake) == before


def test_the_chains_of_a_history_are_repaired(lake: Lake) -> None:
    module = lake.module(**HISTORY)

    def put(*rows: tuple[Any, ...]) -> omd.Run:
        with lake.run(module) as run:
            run.write(versions(lake.spark, *rows), mode="history")
        return run

    put((1, "a", "2020-01-01"), (2, "x", "2020-01-01"))
    before = chain(lake.seen())
    bad = put((1, "c", "2022-01-01"), (3, "z", "2022-01-01"))
    lake.control.provenance._recall_at_once(
        module_instance_id=bad.instance_id, reason="wrong", wait=NOW
    )
    assert chain(lake.seen()) == before
