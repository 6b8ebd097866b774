"""What a load makes of deltas: a vector per construct of the Unified Anchor Model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from facts.store import entity

if TYPE_CHECKING:
    from facts.store import Store

PLAIN = entity("thing", ["nbr"], ["nbr", ("name", "text(20)")])


def test_a_key_is_new_changed_deleted_and_new_again(store: Store) -> None:
    store.set_up(PLAIN)
    store.put(1, thing=[("N", 1, "aap")])
    store.put(2, thing=[("A", 1, "noot")])
    store.put(3, thing=[("A", 1, "mies")])
    assert store.now("thing") == [(1, "mies")]
    store.put(4, thing=[("R", 1, None)])
    assert store.now("thing") == []
    assert store.seen("cfl_shop.h_thing", "acm_exists_ind", "1") == [(0,)]
    store.put(5, thing=[("N", 1, "mies")])
    assert store.history("thing", "nbr, name") == [
        ("N", 1, 2, 1, "aap"),
        ("A", 2, 3, 1, "noot"),
        ("A", 3, 4, 1, "mies"),
        ("R", 4, 5, 1, "mies"),
        ("N", 5, None, 1, "mies"),
    ]
    assert store.one(
        "SELECT extract(day FROM acm_last_created_dt AT TIME ZONE 'UTC')::integer"
        " FROM cfl_shop.h_thing"
    ) == 5
    assert [
        store.seen(f"asof_shop.thing('2020-01-0{day} 12:00:00+00')", "nbr, name")
        for day in range(1, 6)
    ] == [[(1, "aap")], [(1, "noot")], [(1, "mies")], [], [(1, "mies")]]
    assert store.sound()
