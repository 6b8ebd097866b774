"""Exports: the moment, the queries, and the runs. Files are tested in tests/spark."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.people import People, some_deltas
from facts.store import PERSON, PHONE, T
from support.lots import seeds

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from facts.store import Store

STATE = {
    "person": ["nbr", "email", "born", "name", "boss"],
    "phone": ["nbr", "kind", "number"],
}


def order(store: Store, **arguments: Any) -> int:
    given = {"agreement_code": "x", "target_uri": "/out/", **arguments}
    if "entities" in given:  # an array, where other calls want a document
        return int(
            store.one(
                "CALL omd_facts.create_export(%s, %s, p_entities => %s)",
                given["agreement_code"],
                given["target_uri"],
                given["entities"],
            )
        )
    return int(store.call("omd_facts.create_export", **given)["delivery_id"])


def begin(store: Store, delivery: int, **arguments: Any) -> dict[str, Any]:
    return store.call("omd_facts.begin_export", delivery_id=delivery, **arguments)


def finish(store: Store, delivery: int, run: dict[str, Any], rows: int = 0) -> None:
    store.call(
        "omd_facts.finish_export",
        delivery_id=delivery,
        module_instance_id=run["module_instance_id"],
        manifest={"entities": [{"rows": rows}, {"rows": 1}, {"rows": "?"}]},
    )


def rows_of(store: Store, run: dict[str, Any]) -> dict[str, set[tuple[Any, ...]]]:
    """Return the rows that each query of a run returns."""
    found = {}
    for part in run["plan"]:
        rows = [tuple(row.values()) for row in store.rows(part["query"])]
        found[part["entity_code"]] = set(rows)
        assert len(found[part["entity_code"]]) == len(rows)
        parts = [tuple(row.values()) for cut in part["parts"] for row in store.rows(cut)]
        assert sorted(map(repr, parts)) == sorted(map(repr, rows))
    return found


def state(store: Store, day: int) -> dict[str, set[tuple[Any, ...]]]:
    return {
        name: set(store.seen(f"asof_shop.{name}('{T[day]}')", ", ".join(columns)))
        for name, columns in STATE.items()
    }


def export(store: Store, **arguments: Any) -> dict[str, set[tuple[Any, ...]]]:
    delivery = order(store, **arguments)
    run = begin(store, delivery)
    found = rows_of(store, run)
    finish(store, delivery, run)
    return found


def test_an_export_is_ordered_run_and_finished_once(
    store: Store, stores: Callable[..., Store]
) -> None:
    store.set_up(PERSON, PHONE)
    store.agree("x", layer_code="EXPORT", options={"max_concurrent_entities": 3})
    store.agree("few", layer_code="EXPORT", entities=["phone"])
    refused = store.refused
    target = {"agreement_code": "x", "target_uri": "/out"}
    refused("OM060", "omd_facts.create_export", **target)
    store.put(1, person=[("N", 1, "a", "1990", "x", None)])
    store.put(2, phone=[("N", 1, "home", "5")])
    for wrong in (
        {"as_of": T[3]},
        {"as_of": "infinity"},
        {"as_of": "-infinity"},
        {"mode": "SOME"},
        {"mode": None},
        {"target_uri": " "},
        {"target_uri": None},
        {"options": {"colour": 1}},
        {"options": {"partitions": 0}},
        {"options": {"partitions": "2"}},
        {"options": {"compression": "rar"}},
    ):
        refused("OM060", "omd_facts.create_export", **{**target, **wrong})
    for code, entities in (("x", []), ("x", ["nobody"]), ("x", [None]), ("few", ["person"])):
        with pytest.raises(psycopg.Error) as caught:
            order(store, agreement_code=code, entities=entities)
        assert caught.value.sqlstate == "OM060"
    refused("OM036", "omd_facts.create_export", **{**target, "agreement_code": "a"})
    refused("OM033", "omd_facts.create_export", **{**target, "agreement_code": "none"})
    refused("OM034", "omd_facts.begin_export", delivery_id=10**9)
    refused("OM005", "omd_facts.begin_export", delivery_id=None)

    runner, other = stores(), stores()
    for one in (runner, other):
        one.conn.execute("SET ROLE omd_runner")
    delivery = order(runner, options={"compression": "zstd"})
    unknown = {"delivery_id": delivery, "batch_instance_id": 10**9}
    refused("OM003", "omd_facts.begin_export", **unknown)
    first = begin(runner, delivery)
    assert (first["processing_indicator"], first["attempt"]) == ("P", 1)
    assert [part["folder"] for part in first["plan"]] == [
        f"/out/x/delivery={delivery}/_attempt=1/{name}" for name in ("person", "phone")
    ]
    assert begin(other, delivery)["plan"] is None
    (seen,) = runner.rows("SELECT * FROM omd_report.facts_exports")
    assert seen["options"] == {
        "max_concurrent_entities": 3,
        "partitions": None,
        "compression": "zstd",
    }

    # A moment is fixed: what is loaded between two runs is not in the second one.
    found = rows_of(runner, first)
    assert found["person"] == {(1, "a", "1990", "x", None)}
    store.put(3, person=[("A", 1, "a", "1990", "y", None), ("N", 2, "b", None, None, None)])
    store.call("omd.module_failure", module_instance_id=first["module_instance_id"])
    second = begin(runner, delivery)
    assert second["attempt"] == 2
    assert rows_of(runner, second) == found
    for attempt, code in ((first, "OM101"), ({"module_instance_id": None}, "OM005")):
        refused(
            code,
            "omd_facts.finish_export",
            delivery_id=delivery,
            module_instance_id=attempt["module_instance_id"],
            manifest={},
        )
    theirs = begin(other, order(other, agreement_code="few"))
    wrong = {"delivery_id": delivery, "module_instance_id": theirs["module_instance_id"]}
    refused("OM060", "omd_facts.finish_export", **wrong, manifest={})
    finish(runner, delivery, second, 7)
    finish(runner, delivery, second, 7)
    assert store.status(delivery) == "EXPORTED"
    (instance,) = store.rows(
        "SELECT execution_status_code AS status, rows_inserted FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        second["module_instance_id"],
    )
    assert instance == {"status": "S", "rows_inserted": 8}
    refused("OM155", "omd_facts.begin_export", delivery_id=delivery)
    refused("OM155", "omd_facts.cancel_export", delivery_id=delivery, reason="r")

    # A cancelled run is fenced.
    last = order(runner)
    run = begin(runner, last)
    refused("OM005", "omd_facts.cancel_export", delivery_id=last, reason=None)
    runner.call("omd_facts.cancel_export", delivery_id=last, reason="not wanted")
    assert store.status(last) == "CANCELLED"
    refused(
        "OM155",
        "omd_facts.finish_export",
        delivery_id=last,
        module_instance_id=run["module_instance_id"],
        manifest={},
    )


def test_of_many_begins_of_an_export_one_runs(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
) -> None:
    store.set_up(PERSON, PHONE)
    store.agree("x", layer_code="EXPORT")
    store.put(1, person=[("N", 1, "a", "1990", "x", None)])
    delivery = order(store)
    runs = [background(begin, stores(), delivery) for _ in range(6)]
    found = [run.result() for run in runs]
    (won,) = [run for run in found if run["processing_indicator"] == "P"]
    ends = [background(finish, stores(), delivery, won) for _ in range(6)]
    assert [end.result() for end in ends] == [None] * 6
    assert store.one("SELECT attempt FROM omd_report.facts_exports") == 1


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_changes_are_the_net_difference_of_two_moments(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    store.set_up(PERSON, PHONE)
    store.agree("x", layer_code="EXPORT")
    model = People()
    held: dict[str, dict[Any, tuple[Any, ...]]] = {"person": {}, "phone": {}}
    keys = {"person": 1, "phone": 2}
    before = 0
    days = list(range(1, 11))
    for day in days:
        deltas = some_deltas(chance, model)
        model.load(day, deltas)
        store.push(day, **deltas)
        assert store.take()["outcome"] == "PERSISTED"
        if day % 3 == 0:
            # Now and then a receiver goes back, to a moment before its own.
            moment = day if chance.random() < 0.7 else chance.randint(1, day)
            assert_changes(store, held, keys, before, moment)
            before = moment
    assert export(store, as_of=T[7]) == state(store, 7)
    assert_changes(store, held, keys, 7, 10, full=state(store, 7))


def assert_changes(
    store: Store,
    held: dict[str, dict[Any, tuple[Any, ...]]],
    keys: dict[str, int],
    before: int,
    moment: int,
    full: dict[str, set[tuple[Any, ...]]] | None = None,
) -> None:
    """A receiver that applies the changes to what it holds has what the facts have."""
    if full is not None:
        for name, rows in full.items():
            held[name] = {row[: keys[name]]: row for row in rows}
    found = export(store, mode="CHANGES", as_of=T[moment], options={"partitions": 3})
    wanted = state(store, moment)
    for name, changes in found.items():
        mine, size = held[name], keys[name]
        for *values, indicator in changes:
            row, key = tuple(values), tuple(values[:size])
            if indicator == "R":
                del mine[key]
                last = f"SELECT * FROM history_shop.{name} WHERE nbr = {key[0]}"
                assert store.rows(last)
            else:
                assert (key in mine) == (indicator == "A"), (row, indicator)
                assert mine.get(key) != row
                mine[key] = row
        assert set(mine.values()) == wanted[name], (before, moment)


def test_changes_follow_the_newest_export_and_start_anew_after_an_undo(store: Store) -> None:
    store.set_up(PERSON, PHONE)
    store.agree("x", layer_code="EXPORT")
    store.put(1, person=[("N", 1, "a", None, "x", None), ("N", 2, "b", None, "x", None)])
    row = (1, "a", None, "x", None)
    assert export(store, mode="CHANGES")["person"] == {
        (*row, "N"),
        (2, "b", None, "x", None, "N"),
    }
    store.put(2, person=[("A", 1, "a", None, "y", None), ("A", 2, "b", None, "last", None)])
    load = store.put(3, person=[("A", 1, "a", None, "x", None), ("R", 2, None, None, None, None)])
    # What was cancelled counts for nothing; a key that is as it was is no change.
    cancelled = order(store, mode="CHANGES")
    begin(store, cancelled)
    store.call("omd_facts.cancel_export", delivery_id=cancelled, reason="r")
    gone = {(2, "b", None, "last", None, "R")}
    assert export(store, mode="CHANGES")["person"] == gone
    assert export(store, mode="CHANGES")["person"] == set()
    store.undo(load)
    assert export(store, mode="CHANGES")["person"] == {
        (1, "a", None, "y", None, "N"),
        (2, "b", None, "last", None, "N"),
    }
    assert store.take()["outcome"] == "PERSISTED"
    assert export(store, mode="CHANGES")["person"] == gone | {(*row, "A")}
