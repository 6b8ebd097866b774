"""A recall is one change of facts: its keys are for those who begin behind what it took back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from provenance.middle import Middle


def block(middle: Middle, after: int, upto: int, view: str = "stock") -> list[tuple[Any, ...]]:
    """Return the rows of a block: indicator, change, and the attributes."""
    with middle.conn.transaction():
        middle.conn.execute("CALL omd_facts.show_changes('shop', %s, %s)", (after, upto))
        rows = middle.rows(f"SELECT * FROM changes_shop.{view} ORDER BY 1, 2")
    return [
        (r["acm_record_ind"], r["acm_change_id"], *[v for k, v in r.items() if "acm_" not in k])
        for r in rows
    ]


def changes(middle: Middle) -> list[tuple[int, str, bool]]:
    return [
        (r["change_id"], r["change_kind"], r["is_recall"])
        for r in middle.rows("SELECT * FROM omd_facts.change ORDER BY change_id")
    ]


def test_keys_of_a_recall_are_in_no_block_that_begins_before_it(middle: Middle) -> None:
    middle.give(1, {"stock": {(1,): ("a",), (2,): ("a",)}})
    bad = middle.give(2, {"stock": {(1,): ("b",), (3,): ("b",)}})
    middle.give(3, {"customer": {(1,): ("c",)}})
    again = middle.give(4, {"stock": {(2,): ("d",), (3,): None}})
    one, two, three, four = (c[0] for c in changes(middle))
    assert block(middle, one, two) == [("A", two, 1, "b"), ("N", two, 3, "b")]
    middle.take_back(*middle.runs(bad))
    undo = changes(middle)[-1]
    assert undo[1:] == ("UNDO", True)
    undone = middle.rows(
        "SELECT change_id FROM omd_facts.change WHERE undone_by_change_id = %s ORDER BY 1", undo[0]
    )
    assert [r["change_id"] for r in undone] == [two, four]
    # Nobody who stands has seen them.
    assert block(middle, one, undo[0]) == []
    assert block(middle, 0, undo[0]) == [("N", one, 1, "a"), ("N", one, 2, "a")]
    assert block(middle, one, undo[0], "customer") == [("N", three, 1, "c")]
    # Whoever begins between them does meet them, each from its own first one.
    assert block(middle, two, undo[0]) == [("A", undo[0], 1, "a"), ("R", undo[0], 3, None)]
    assert sorted(block(middle, four, undo[0])) == [
        ("A", undo[0], 1, "a"),
        ("A", undo[0], 2, "a"),
        ("R", undo[0], 3, None),
    ]
    # A topic or stage that had read what was taken back was taken back too, and reads on without.
    with middle.conn.transaction():
        middle.one("SELECT omd_facts.show_block('facts.shop', %s, %s)", two, undo[0])
        assert middle.rows("SELECT * FROM changes_shop.stock") == []
    assert all(middle.one("SELECT omd_facts.may_end('facts.shop', %s)", i) for i in (two, undo[0]))
    # What comes after it is as if nothing had been.
    assert middle.status(again) == "REVERTED"
    middle.give(4, {"stock": {(2,): ("d",), (4,): ("d",)}})
    last = changes(middle)[-1][0]
    assert block(middle, one, last) == [("A", last, 2, "d"), ("N", last, 4, "d")]
    assert block(middle, 0, last) == [
        ("N", one, 1, "a"),
        ("N", last, 2, "d"),
        ("N", last, 4, "d"),
    ]


def test_slices_of_a_recall_are_not_seen_either(middle: Middle) -> None:
    middle.give(1, {"customer": {(1,): ("a",)}, "phone": {(1, 1): ("1",)}})
    (one, *_), *_ = changes(middle)
    bad = middle.give(2, {"phone": {(1, 1): ("2",), (1, 2): ("2",)}})
    (two, *_) = changes(middle)[-1]
    middle.take_back(*middle.runs(bad))
    (undo, *_) = changes(middle)[-1]
    assert block(middle, one, undo, "phone") == []
    assert block(middle, 0, undo, "phone") == [("N", one, 1, 1, "1")]
    assert sorted(block(middle, two, undo, "phone")) == [
        ("A", undo, 1, 1, "1"),
        ("R", undo, 1, 2, None),
    ]


def test_an_undo_by_hand_is_met_by_everybody(middle: Middle) -> None:
    middle.give(1, {"stock": {(1,): ("a",)}})
    back = middle.give(2, {"stock": {(1,): ("b",), (2,): ("b",)}})
    one, _ = (c[0] for c in changes(middle))
    middle.undo(middle.load_of(back))
    undo, kind, is_recall = changes(middle)[-1]
    assert (kind, is_recall) == ("UNDO", False)
    assert block(middle, one, undo) == [("A", undo, 1, "a"), ("R", undo, 2, None)]


@pytest.mark.parametrize("what", ["load", "resync"])
def test_a_resync_goes_with_what_it_stands_on_and_its_marks_too(middle: Middle, what: str) -> None:
    middle.give(1, {"stock": {(1,): ("a",)}})
    bad = middle.give(2, {"stock": {(1,): ("b",)}})
    was = middle.shown()
    load = middle.load_of(bad)
    middle.conn.execute("UPDATE lvl_shop.stock SET amount = 'lvl' WHERE acm_end_dt > '9999-12-01'")
    answer = middle.call("omd_facts.resync", interface_code="shop")
    assert answer["outcome"] == "PERSISTED"
    resync = answer["module_instance_id"]
    middle.conn.execute("UPDATE lvl_shop.stock SET amount = 'b' WHERE acm_end_dt > '9999-12-01'")
    if what == "load":
        assert middle.follow([load], [load]) == {resync: load}
        effects = middle.take_back(load, again=(load,))
        assert [(r["action"], r["comes_again"]) for r in effects] == [
            ("UNDO", None),
            ("REQUEUE", "QUEUE"),
        ]
        middle.load_all()
    else:
        (effect,) = middle.take_back(resync)
        assert (effect["action"], effect["rows_go"], effect["rows_back"]) == ("UNDO", 1, 1)
    assert middle.shown() == was
