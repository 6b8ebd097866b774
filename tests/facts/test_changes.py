"""Changes of facts: what each transaction touched, in the order of commits, and blocks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import PERSON, PHONE, entity

if TYPE_CHECKING:
    from facts.store import Store


def keeping(of: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {**of, "facts": {**of.get("facts", {}), "changes": True, **facts}}


ORDERS = keeping(entity("orders", ["nbr"], ["nbr", "amount"]))


def block(store: Store, after: int | None, upto: int | None, view: str = "orders") -> list[Any]:
    """Return the rows of a block: indicator, change, and the attributes."""
    with store.conn.transaction():
        store.conn.execute("CALL omd_facts.show_changes('shop', %s, %s)", (after, upto))
        rows = store.rows(f"SELECT * FROM changes_shop.{view} ORDER BY 1, 2")
    return [
        (r["acm_record_ind"], r["acm_change_id"], *[v for k, v in r.items() if "acm_" not in k])
        for r in rows
    ]


def load(store: Store, day: int, /, **rows: Any) -> int:
    """Load a delta; return the Module Instance."""
    store.push(day, **rows)
    answer = store.take()
    assert answer["outcome"] == "PERSISTED", answer
    return int(answer["module_instance_id"])


def newest(store: Store) -> int:
    return int(store.one("SELECT id FROM omd.source WHERE source_code = 'facts.shop'"))


def test_a_load_is_a_change_with_its_keys(store: Store) -> None:
    store.set_up(ORDERS)
    assert store.rows("SELECT * FROM omd_facts.change") == []
    first = load(store, 1, orders=[("N", 1, 10), ("N", 2, 20)])
    load(store, 2, orders=[("A", 1, 11), ("A", 2, 20), ("R", 3, None)])
    load(store, 3, orders=[("R", 1, None), ("N", 3, 30)])
    changes = store.rows("SELECT * FROM omd_facts.change ORDER BY change_id")
    assert [c["key_count"] for c in changes] == [2, 1, 2]
    assert [c["change_kind"] for c in changes] == ["LOAD"] * 3
    assert changes[0]["module_instance_id"] == first
    moved = store.rows("SELECT pos, id FROM omd.source WHERE source_code = 'facts.shop'")
    assert moved == [{"pos": changes[2]["change_datetime"], "id": changes[2]["change_id"]}]
    a, b, c = (c["change_id"] for c in changes)
    assert block(store, 0, a) == [("N", a, 1, 10), ("N", a, 2, 20)]
    assert block(store, a, b) == [("A", b, 1, 11)]
    assert block(store, b, c) == [("R", c, 1, 11), ("N", c, 3, 30)]
    assert block(store, a, c) == [("R", c, 1, 11), ("N", c, 3, 30)]
    assert block(store, 0, c) == [("N", a, 2, 20), ("N", c, 3, 30)]
    assert block(store, None, None) == block(store, 0, c)
    assert store.rows("SELECT * FROM changes_shop.orders") == []
