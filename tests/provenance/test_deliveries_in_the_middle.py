"""A delivery in the middle goes, and what stands on it; LVL and facts are as if it never was."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from facts.store import T
from support.flow import EMPTY
from support.lots import seeds

if TYPE_CHECKING:
    from provenance.middle import Content, Middle


def test_what_read_no_changed_table_stands(middle: Middle) -> None:
    first = middle.give(1, {"customer": {(1,): ("a",)}, "stock": {(1,): ("x",)}})
    bad = middle.give(2, {"stock": {(1,): ("y",), (2,): ("z",)}})
    kept = middle.give(3, {"customer": {(1,): ("b",)}})
    assert middle.follow(middle.runs(bad), []) == {middle.load_of(bad): middle.runs(bad)[0]}
    effects = middle.take_back(*middle.runs(bad))
    assert [(r["table_code"], r["action"], r["rows_go"], r["rows_back"]) for r in effects] == [
        ("cfl_shop.s_stock_properties", "REQUEUE", 2, 1),
        ("lvl_shop.stock", "BY_HAND", 2, 1),
    ]
    assert middle.status(bad) == "REVERTED"
    assert {middle.status(d) for d in (first, kept)} == {"PERSISTED"}
    assert middle.current("stock") == [(1, "x")]
    assert middle.now("customer") == [(1, "b")]
    assert middle.one("SELECT omd_facts.traveling_now('shop')::date::text") == "2020-01-03"
    assert middle.load_all() == []


@pytest.mark.usefixtures("by_hand")
def test_what_read_a_changed_table_goes_too_and_all_of_its_entities(middle: Middle) -> None:
    middle.give(1, {"customer": {(1,): ("a",)}})
    bad = middle.give(2, {"customer": {(2,): ("b",)}})
    # Its order was looked up in the rows of the bad one, and its stock goes with it.
    reader = middle.give(3, {"orders": {(1,): (2, "x")}, "stock": {(1,): ("x",)}})
    # It has not read what the bad one changed, but the reader comes again with its stock.
    later = middle.give(4, {"stock": {(2,): ("y",)}})
    follows = middle.follow(middle.runs(bad), [])
    assert follows.keys() == {
        *(run for d in (reader, later) for run in middle.runs(d)),
        *(middle.load_of(d) for d in (bad, reader, later)),
    }
    middle.take_back(*middle.runs(bad))
    assert {middle.status(d) for d in (bad, reader, later)} == {"REVERTED"}
    assert middle.now("customer") == [(1, "a")]
    assert middle.now("orders") == middle.now("stock") == []


def test_a_key_that_changed_nothing_does_not_take_later_deliveries_along(middle: Middle) -> None:
    middle.give(1, {"customer": {(1,): ("a",)}, "stock": {(1,): ("x",)}})
    bad = middle.give(2, {"customer": {(1,): ("b",)}, "stock": {(1,): ("x",)}})
    kept = middle.give(3, {"stock": {(1,): ("y",)}})
    runs = middle.runs(bad)
    # When it comes again, the marks of its entities must be before it.
    again = middle.follow(runs, runs)
    assert set(middle.runs(kept)) <= again.keys()
    assert not set(middle.runs(kept)) & middle.follow(runs, []).keys()
    middle.take_back(*runs)
    assert middle.status(kept) == "PERSISTED"
    assert middle.now("stock") == [(1, "y")]
    # The one that stands goes back to what was before the one that is gone.
    middle.take_back(*middle.runs(kept))
    assert middle.seen(
        "omd_delivery.high_water_mark INNER JOIN omd_delivery.entity USING (entity_id)",
        "entity_code, snapshot_datetime::date::text",
    ) == [("customer", "2020-01-01"), ("stock", "2020-01-01")]
    assert middle.now("stock") == [(1, "x")]


def test_a_load_in_the_middle_is_queued_again_with_its_delta(middle: Middle) -> None:
    middle.give(1, {"customer": {(1,): ("a",)}, "stock": {(1,): ("x",)}})
    back = middle.give(2, {"stock": {(1,): ("y",)}})
    middle.give(3, {"customer": {(1,): ("b",)}})
    later = middle.give(4, {"stock": {(1,): ("z",)}})
    was = middle.shown()
    load = middle.load_of(back)
    assert middle.follow([load], [load]) == {middle.load_of(later): load}
    effects = middle.take_back(load, again=(load,))
    assert {(r["action"], r["comes_again"]) for r in effects} == {("REQUEUE", "QUEUE")}
    assert {middle.status(d) for d in (back, later)} == {"ACCEPTED"}
    assert middle.now("stock") == [(1, "x")]
    assert len(middle.load_all()) == 2
    assert middle.shown() == was
    # It is the newest load now, though an item after it was loaded before.
    newest = middle.load_of(later)
    assert middle.undo(newest) == [newest]
    assert middle.now("stock") == [(1, "y")]


def test_an_anchor_that_a_later_load_touched_is_what_stands(middle: Middle) -> None:
    middle.give(1, {"customer": {(1,): ("a",)}})
    back = middle.give(2, {"customer": {(2,): ("b",)}})
    load = middle.load_of(back)
    # The queue takes an item past LVL: a telephone of the customer that goes.
    middle.push(3, phone=[("N", 2, 1, "x")])
    middle.load_all()
    middle.take_back(load, again=(load,))
    assert middle.seen(
        "cfl_shop.h_customer", "nbr, acm_exists_ind, acm_latest_start_dt::date::text"
    ) == [
        (1, 1, "2020-01-01"),
        (2, 0, "2020-01-03"),
    ]
    middle.load_all()
    assert middle.seen("cfl_shop.h_customer", "nbr, acm_exists_ind") == [(1, 1), (2, 1)]


@pytest.mark.parametrize("problem", ["PHYSICAL", "LATER_WRITES", "PURGED", "NO_ROLLBACK"])
def test_what_can_t_be_taken_back_says_why(middle: Middle, problem: str) -> None:
    arguments = {"delete_type": "PHYSICAL"} if problem == "PHYSICAL" else {}
    bad = middle.deliver(1, {"stock": {(1,): ("x",)}}, **arguments)
    middle.load_all()
    runs = [*middle.runs(bad), middle.load_of(bad)]
    expected = {problem}
    if problem in ("LATER_WRITES", "NO_ROLLBACK"):
        middle.agree("desk", layer_code="GDAL")
        desk = middle.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
        middle.conn.execute("INSERT INTO gdal_shop.stock (nbr, amount) VALUES (9, 'desk')")
        middle.call("omd_facts.close_delivery", delivery_id=desk)
        if problem == "NO_ROLLBACK":
            runs = [
                middle.one(
                    "SELECT module_instance_id FROM omd_facts.gdal_delivery WHERE delivery_id = %s",
                    desk,
                )
            ]
    elif problem == "PURGED":
        middle.call("omd.purge", keep="0", room="omd_delivery")
    effects = middle.effects(runs)
    blocked = [r for r in effects if r["action"] == "BLOCKED"]
    assert {r["problem"].partition(":")[0] for r in blocked} == expected
    assert {r["rows_go"] for r in blocked} == {None}
    if problem != "NO_ROLLBACK":
        was = middle.shown()
        for room, code in (("omd_facts", "OM153"), ("omd_delivery", "OM133")):
            with pytest.raises(Exception, match=problem) as refused:
                middle.rows(f"SELECT * FROM {room}.take_back(%s, 1, 1, 'why')", runs)
            assert getattr(refused.value, "sqlstate", None) == code
            if problem == "LATER_WRITES":
                break
        assert middle.shown() == was


def test_a_part_or_a_delivery_that_others_stand_on_is_refused(middle: Middle) -> None:
    bad = middle.deliver(1, {"customer": {(1,): ("a",)}, "stock": {(1,): ("x",)}})
    runs = middle.runs(bad)
    take = "SELECT * FROM omd_delivery.take_back(%s, 1, 1, 'why')"
    for taken in (runs[:1], runs):
        if taken == runs:
            middle.deliver(2, {"stock": {(1,): ("y",)}})
        with pytest.raises(Exception, match=r"only a part|the later delivery") as refused:
            middle.rows(take, taken)
        assert getattr(refused.value, "sqlstate", None) == "OM133"
    middle.load_all()
    with pytest.raises(Exception, match=r"load .* is later and stands") as refused:
        middle.rows("SELECT * FROM omd_facts.take_back(%s, 1, 1, 'why')", [middle.load_of(bad)])
    assert getattr(refused.value, "sqlstate", None) == "OM153"


def some(chance: random.Random) -> Content:
    """Return the content of a delivery: new, equal, changed, deleted and orphaned rows."""
    content: dict[str, Any] = {}
    for name in chance.sample(["customer", "phone", "orders", "stock"], chance.randint(1, 3)):
        rows: dict[tuple[int, ...], tuple[Any, ...] | None] = {}
        for _ in range(chance.randint(0, 4)):
            nbr = chance.randint(1, 4)
            value = chance.choice("ab")
            key = (nbr, chance.randint(1, 2)) if name == "phone" else (nbr,)
            row = (chance.randint(1, 4), value) if name == "orders" else (value,)
            rows[key] = None if chance.random() < 0.25 else row
        content[name] = rows
    return content


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(6))
def test_one_is_taken_back_and_the_rest_comes_again_as_if_it_never_was(
    middle: Middle, seed: int
) -> None:
    chance = random.Random(seed)
    contents = [some(chance) for _ in range(8)]
    out = chance.randrange(len(contents))
    deliveries = {}
    for day, content in enumerate(contents, 1):
        deliveries[day] = middle.deliver(day, content)
        if chance.random() < 0.7:
            middle.load_all()
    bad = deliveries[out + 1]
    middle.take_back(*middle.runs(bad))
    for day, delivery_id in deliveries.items():
        if middle.status(delivery_id) == "REVERTED" and delivery_id != bad:
            middle.deliver(T[day], contents[day - 1])
    middle.load_all()
    found = middle.shown()
    # The same without it, in a world that is emptied.
    reset(middle)
    for day, content in enumerate(contents, 1):
        if day != out + 1:
            middle.deliver(day, content)
            if chance.random() < 0.5:
                middle.load_all()
    middle.load_all()
    assert found == middle.shown(), (out + 1, contents)


def reset(middle: Middle) -> None:
    middle.conn.execute(EMPTY)
    middle.world()
