"""Exports that begin by themselves: when one is due, and who creates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import PERSON, PHONE
from facts.test_exports import begin, finish, order

if TYPE_CHECKING:
    from collections.abc import Callable

    from facts.store import Store

ONE = {"person": [("N", 1, None, None, "one", None)]}
TWO = {"person": [("N", 2, None, None, "two", None)]}


def agree(store: Store, export: Any = None, **more: Any) -> None:
    by_itself = {"target_uri": "/out", **(export or {})}
    store.agree("x", layer_code="EXPORT", options={"export": by_itself}, **more)


def due(store: Store) -> int | None:
    return store.call("omd_facts.due_export", agreement_code="x")["delivery_id"]


def work(store: Store) -> tuple[str, str | None]:
    (row,) = store.rows("SELECT * FROM omd_facts.export_work WHERE agreement_code = 'x'")
    return row["state"], row["reason"]


def export(store: Store) -> int:
    """Perform the export that is due."""
    delivery_id = due(store)
    assert delivery_id is not None
    finish(store, delivery_id, begin(store, delivery_id))
    return delivery_id


@pytest.fixture
def out(store: Store) -> Store:
    """The agreement x exports by itself."""
    store.set_up(PERSON, PHONE)
    agree(store)
    return store


def test_an_export_is_due_when_the_facts_have_changed(out: Store) -> None:
    assert (work(out), due(out)) == (("IDLE", None), None)
    out.put(1, **ONE)
    assert work(out) == ("READY", "CHANGED")
    first = due(out)
    assert first is not None
    assert (due(out), work(out)) == (first, ("READY", "RESUME"))
    run = begin(out, first)
    assert (due(out), work(out)) == (None, ("RUNNING", None))
    out.put(2, **TWO)
    finish(out, first, run)
    assert work(out) == ("READY", "CHANGED"), "what was loaded while it ran is not in it"
    export(out)
    assert (work(out), due(out)) == (("IDLE", None), None)


def test_what_is_undone_is_a_change_too(out: Store) -> None:
    out.put(1, **ONE)
    export(out)
    item = out.put(2, **TWO)
    export(out)
    assert work(out) == ("IDLE", None)
    out.undo(item)
    assert work(out) == ("READY", "CHANGED")
    export(out)
    assert work(out) == ("IDLE", None)


def test_the_pause_between_two_exports(out: Store) -> None:
    agree(out, {"every": "1 hour", "mode": "CHANGES", "entities": ["person"]})
    out.put(1, **ONE)
    first = export(out)
    assert out.rows("SELECT export_mode, target_uri FROM omd_facts.export") == [
        {"export_mode": "CHANGES", "target_uri": "/out"}
    ]
    out.put(2, **TWO)
    assert (work(out), due(out)) == (("WAITING", "REPEAT"), None)
    out.owner("UPDATE omd_facts.export SET created_datetime = now() - interval '61 minutes'")
    assert export(out) > first


def test_two_workers_create_one_export(
    out: Store, stores: Callable[..., Store], background: Callable[..., Any]
) -> None:
    out.put(1, **ONE)
    calls = [background(due, stores()) for _ in range(4)]
    assert len({call.result() for call in calls}) == 1
    assert out.one("SELECT count(*) FROM omd_facts.export") == 1


def test_what_waits_and_what_was_not_asked_for(store: Store) -> None:
    store.deploy({"interface": "shop", "entities": [PERSON, PHONE]})
    agree(store)
    assert (work(store), due(store)) == (("WAITING", "DEPLOYMENT"), None)
    agree(store, inactive_indicator="Y")
    assert (work(store), due(store)) == (("PAUSED", "INACTIVE"), None)


def test_an_export_by_hand_is_resumed_when_it_had_begun(store: Store) -> None:
    store.set_up(PERSON, PHONE)
    store.agree("x", layer_code="EXPORT")
    store.put(1, **ONE)
    by_hand = order(store)
    assert (work(store), due(store)) == (("IDLE", None), None)
    run = begin(store, by_hand)
    assert work(store) == ("RUNNING", None)
    store.call("omd.module_failure", module_instance_id=run["module_instance_id"])
    assert (work(store), due(store)) == (("READY", "RESUME"), by_hand)


def test_what_an_export_by_itself_may_say(out: Store) -> None:
    def refused(export: Any, **more: Any) -> dict[str, Any]:
        given = {"agreement_code": "x", "options": {"export": export}, **more}
        return out.refused("OM036", "register_agreement", **given)

    good = {"target_uri": "/out"}
    for wrong in (
        [],
        {},
        {"target_uri": " "},
        {"target_uri": "out"},
        {**good, "mode": "SOME"},
        {**good, "entities": []},
        {**good, "entities": ["nothing"]},
        {**good, "every": "-1 s"},
        {**good, "every": 5},
        {**good, "colour": "red"},
    ):
        assert refused(wrong)["argument"] == "p_options"
    assert "EXPORT" in refused(good, agreement_code="a")["problem"]
    agree(out, {"mode": "FULL", "every": "1 day", "entities": ["person"]})
    out.refused("OM060", "omd_facts.due_export", agreement_code="a")
    out.refused("OM033", "omd_facts.due_export", agreement_code="none")
    out.refused("OM005", "omd_facts.due_export", agreement_code=None)


def test_who_may_begin_one(out: Store, stores: Callable[..., Store]) -> None:
    out.put(1, **ONE)
    assert due(stores(role="omd_runner")) is not None
    reader = stores(role="omd_reader")
    assert reader.rows("SELECT * FROM omd_facts.export_work")
    assert reader.rows("SELECT * FROM omd_delivery.delivery_work")
    assert reader.rows("SELECT * FROM omd_report.arrival_locations") == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        due(reader)
