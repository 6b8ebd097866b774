"""Changes of facts: what each transaction touched, in the order of commits, and blocks of them."""

from __future__ import annotations

import functools
import threading
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


def opened(store: Store, **arguments: Any) -> int:
    store.agree("desk", layer_code="GDAL")
    answer = store.call("omd_facts.open_delivery", agreement_code="desk", **arguments)
    return int(answer["delivery_id"])


def changes(store: Store) -> list[int]:
    return [r["change_id"] for r in store.rows("SELECT change_id FROM omd_facts.change ORDER BY 1")]


def kept(store: Store) -> list[tuple[Any, ...]]:
    columns = "change_kind, key_count, cardinality(entity_ids)"
    return store.seen("omd_facts.change", columns, "change_id")


def test_writes_of_a_transaction_are_one_change(store: Store) -> None:
    store.set_up(keeping(PERSON), keeping(PHONE))
    load(store, 1, person=[("N", 1, "a", None, "x", None)], phone=[("N", 1, "home", "1")])
    a = newest(store)
    opened(store, physical_delete_allowed=True)
    with store.conn.transaction():
        store.conn.execute("INSERT INTO gdal_shop.person (nbr, name) VALUES (2, 'y')")
        store.conn.execute("UPDATE gdal_shop.person SET name = 'z' WHERE nbr = 2")
        store.conn.execute("UPDATE gdal_shop.person SET name = 'z' WHERE nbr = 1")
        store.conn.execute("INSERT INTO gdal_shop.phone VALUES (1, 'work', '2')")
        store.conn.execute("INSERT INTO gdal_shop.person (nbr, name) VALUES (3, 'gone')")
        store.conn.execute("DELETE FROM gdal_shop.person WHERE nbr = 3")
        assert newest(store) == a
    b = newest(store)
    assert kept(store) == [("LOAD", 2, 2), ("CRUD", 4, 2)]
    assert sorted(block(store, a, b, "person")) == [
        ("A", b, 1, "a", None, "z", None),
        ("N", b, 2, None, None, "z", None),
        ("R", b, 3, None, None, "gone", None),
    ]
    # The row that nobody touched comes with its anchor.
    assert block(store, a, b, "phone") == [("A", b, 1, "home", "1"), ("N", b, 1, "work", "2")]
    with store.conn.transaction(force_rollback=True):
        store.conn.execute("UPDATE gdal_shop.person SET name = 'w' WHERE nbr = 2")
    assert newest(store) == b
    store.conn.execute("DELETE FROM gdal_shop.phone WHERE kind = 'home'")
    c = newest(store)
    assert block(store, b, c, "phone") == [("R", c, 1, "home", "1"), ("A", c, 1, "work", "2")]
    store.conn.execute("SET omd_facts.delete_type = 'PHYSICAL'")
    store.conn.execute("DELETE FROM gdal_shop.person WHERE nbr = 1")
    d = newest(store)
    assert block(store, c, d, "person") == [("R", d, 1, None, None, None, None)]
    assert sorted(block(store, c, d, "phone")) == [
        ("R", d, 1, "home", None),
        ("R", d, 1, "work", None),
    ]
    changes = store.rows("SELECT change_datetime AS d FROM omd_facts.change ORDER BY change_id")
    assert sorted({c["d"] for c in changes}) == [c["d"] for c in changes]


def test_a_physical_delivery_notes_what_it_removes(store: Store) -> None:
    store.set_up(keeping(PERSON), keeping(PHONE))
    load(store, 1, person=[("N", 1, "a", None, "x", None)], phone=[("N", 1, "home", "1")])
    a = newest(store)
    item = store.push(2, person=[("R", 1, None, None, None, None)])
    store.conn.execute(
        "UPDATE omd_delivery.delta_queue SET delete_type = 'PHYSICAL' WHERE queue_id = %s", [item]
    )
    assert store.take()["outcome"] == "PERSISTED"
    b = newest(store)
    assert block(store, a, b, "person") == [("R", b, 1, None, None, None, None)]
    assert block(store, a, b, "phone") == [("R", b, 1, "home", None)]


def test_a_resync_and_a_supertype_are_in_the_change(store: Store) -> None:
    link = {"name": "isa", "parent": "party", "columns": ["nbr"], "context_filter": False}
    party = keeping(entity("party", ["nbr"], ["nbr", "size"]))
    staff = entity(
        "staff", ["nbr"], ["nbr", "pay"], relationships=[link], facts={"subtype_of": "party"}
    )
    store.set_up(party, keeping(staff))
    load(store, 1, party=[("N", 1, 10)], staff=[("N", 2, 5)])
    a = newest(store)
    assert block(store, 0, a, "party") == [("N", a, 1, 10), ("N", a, 2, None)]
    load(store, 2, party=[("R", 2, None)], staff=[("A", 2, 6)])
    b = newest(store)
    assert block(store, a, b, "staff") == [("A", b, 2, 6)]
    answer = store.call("omd_facts.resync", interface_code="shop")
    assert answer["outcome"] == "PERSISTED"  # LVL has none of them
    assert {r[0] for r in block(store, b, newest(store), "party")} == {"R"}


def test_a_block_goes_to_the_undo_of_what_is_in_it(store: Store) -> None:
    store.set_up(ORDERS)
    for day in (1, 2, 3):
        last = load(store, day, orders=[("N", day, 10)])
    one, _, bad = changes(store)
    end = functools.partial(block_end, store)

    assert (end(0, 1), end(0, 2), end(one, 0), end(0, None)) == (one, one + 1, one + 1, bad)
    assert end(bad, 1) is None
    may = "SELECT omd_facts.may_end('facts.shop', %s)"
    assert store.one(may, bad)
    store.undo(last)
    undo = newest(store)
    assert store.take()["outcome"] == "PERSISTED"
    again = newest(store)
    # A block that ends at the bad change is refused; one that is planned now goes to the undo.
    assert [store.one(may, i) for i in (bad - 1, bad, undo)] == [True, False, True]
    assert end(one + 1, 1) == undo
    assert block(store, one + 1, undo) == [("R", undo, 3, None)]
    assert block(store, bad, again) == [("A", again, 3, 10)]  # who has read it knows it
    assert block(store, undo, again) == [("N", again, 3, 10)]


def block_end(store: Store, after: int, keys: int | None) -> Any:
    """Return the change at which a block ends that begins after another one."""
    return store.one(
        "SELECT p_end_id FROM omd_facts.plan_changes("
        "'facts.shop', '{gdal_shop.orders}', NULL, %s, 'infinity', %s)",
        after,
        keys,
    )


def windows(store: Store, code: str, *bounds: tuple[int, int]) -> list[int]:
    """Let a Module read blocks of the shop; return its runs."""
    store.call("omd.register_module", module_code=code, area_code="INT", table_code="public.t")
    module = store.one("SELECT module_id FROM omd.module WHERE module_code = %s", code)
    store.conn.execute(
        "SELECT omd.declare_reader(%s, 'facts.shop', '{gdal_shop.orders}')", [module]
    )
    runs = []
    for after, upto in bounds:
        run = store.call("omd.begin_module", module_code=code)["module_instance_id"]
        store.conn.execute(
            "SELECT omd.record_load_window(%s, %s, NULL, %s, NULL, %s, 'facts.shop')",
            (run, module, after, upto),
        )
        store.call("omd.module_success", module_instance_id=run)
        runs.append(int(run))
    return runs


def test_who_has_read_what_was_undone_is_seen(store: Store) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    a = newest(store)
    gone = load(store, 2, orders=[("N", 2, 10)])
    b = newest(store)
    _, read = windows(store, "mart.orders", (0, a), (a, b))
    assert store.rows("SELECT * FROM omd_report.undone_reads") == []
    store.undo(gone)
    [seen] = store.rows("SELECT * FROM omd_report.undone_reads")
    assert seen.pop("undone_datetime") is not None
    assert seen == {
        "reader_code": "mart.orders",
        "module_instance_id": read,
        "interface_code": "shop",
        "change_id": b,
        "undone_by_change_id": newest(store),
    }


def test_keys_that_each_reader_has_passed_are_purged(store: Store) -> None:
    store.set_up(ORDERS)
    for day in (1, 2, 3):
        load(store, day, orders=[("N", day, 10)])
    a, b, c = changes(store)
    windows(store, "mart.orders", (0, b))

    def purge(keep: str) -> Any:
        return store.call("omd.purge", keep=keep, room="omd_facts")["deleted"][
            "omd_facts.change_key"
        ]

    assert purge("1 day") == 0
    assert purge("0") == 2
    assert purge("0") == 0
    assert block(store, b, c) == [("N", c, 3, 10)]
    assert [r[2] for r in block(store, 0, c)] == [1, 2, 3]
    with pytest.raises(psycopg.Error) as caught:
        block(store, a, c)
    assert caught.value.sqlstate == "OM158"
    assert block_end(store, 0, 1) == b
    store.refused("OM013", "omd.purge", keep="-1 s", room="omd_facts")


def test_changes_begin_and_end_to_be_kept(store: Store) -> None:
    plain = entity("orders", ["nbr"], ["nbr", "amount"])
    store.set_up(plain)
    load(store, 1, orders=[("N", 1, 10), ("N", 2, 10)])
    load(store, 2, orders=[("R", 2, None)])
    assert store.rows("SELECT * FROM omd_facts.change") == []
    assert newest(store) == 0
    store.refused("OM254", "omd_facts.show_changes", interface_code="shop", after=0, upto=0)
    store.set_up(ORDERS)
    a = newest(store)
    assert block(store, 0, a) == [("N", a, 1, 10)]
    again = store.call("omd_facts.deploy", interface_code="shop")
    assert (again["statements"], newest(store)) == (0, a)
    load(store, 3, orders=[("A", 1, 11)])
    assert block(store, a, newest(store)) == [("A", newest(store), 1, 11)]
    windows(store, "mart.orders")
    with pytest.raises(psycopg.Error) as caught:
        store.set_up(plain)
    assert caught.value.sqlstate == "OM252"
    assert "mart.orders" in str(caught.value)
    store.conn.execute("DELETE FROM omd.source_reader")
    store.set_up(plain)
    assert store.one("SELECT to_regclass('changes_shop.orders')") is None
    assert store.rows("SELECT * FROM omd_facts.change_key") == []


def test_only_readers_of_data_see_changes(store: Store) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    with store.conn.transaction():
        store.conn.execute("SET LOCAL ROLE omd_data_reader")
        store.conn.execute("CALL omd_facts.show_changes('shop', 0, NULL)")
        assert len(store.rows("SELECT * FROM changes_shop.orders")) == 1
    with store.conn.transaction(force_rollback=True):
        store.conn.execute("SET LOCAL ROLE omd_reader")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            store.rows("SELECT * FROM changes_shop.orders")
    for wrong in [(2, 1), (-1, 1), (0, 2**62)]:
        with pytest.raises(psycopg.Error) as caught:
            block(store, *wrong)
        assert caught.value.sqlstate == "OM036"


def test_as_of_views_show_the_end_of_the_block(store: Store) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    a = newest(store)
    load(store, 2, orders=[("A", 1, 20)])
    seen = "SELECT amount FROM asof_shop.orders"
    with store.conn.transaction():
        store.conn.execute("CALL omd_facts.show_changes('shop', 0, %s)", [a])
        assert store.one(seen) == 10
        assert store.one("SELECT amount FROM gdal_shop.orders") == 20
    assert store.one(seen) == 20


def test_a_load_that_commits_while_a_block_is_shown_is_not_in_it(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    a = newest(store)
    with store.conn.transaction():
        store.conn.execute("CALL omd_facts.show_changes('shop', 0, %s)", [a])
        assert store.one("SELECT amount FROM changes_shop.orders") == 10
        load(stores(), 2, orders=[("A", 1, 20), ("N", 2, 20)])
        assert store.one("SELECT amount FROM changes_shop.orders") == 10
        assert store.one("SELECT count(*) FROM changes_shop.orders") == 1


def test_readers_do_not_stop_loads_and_loads_do_not_stop_readers(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    hold = "SELECT p_is_held, p_id FROM omd.hold_source('facts.shop')"
    with store.conn.transaction():
        assert store.rows(hold) == [{"p_is_held": True, "p_id": newest(store)}]
        other = stores()
        load(other, 2, orders=[("N", 2, 10)])
        assert other.rows(hold)[0]["p_is_held"]


def test_an_undo_lets_readers_end_and_no_new_one_begin(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    gone = load(store, 1, orders=[("N", 1, 10)])
    reader, undoer, third = stores(), stores(), stores()
    hold = "SELECT p_is_held FROM omd.hold_source('facts.shop')"
    waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
    pid = undoer.one("SELECT pg_backend_pid()")
    undone: list[Any] = []
    with reader.conn.transaction():
        assert reader.one(hold)
        thread = threading.Thread(target=lambda: undone.append(undoer.undo(gone)))
        thread.start()
        while not store.one(waits, pid):
            pass
        # It waits with no other lock, and whoever would read begins later.
        assert store.one(hold) is False
        assert third.rows("SELECT FROM omd_facts.interface FOR UPDATE NOWAIT")
    thread.join(30)
    assert undone == [[gone]]
    assert store.one(hold)


HOLD = "SELECT p_is_held FROM omd.hold_source('facts.shop')"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"


def test_a_load_that_undoes_first_lets_readers_end(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    gone = load(store, 1, orders=[("N", 1, 10)])
    store.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=gone)
    reader = stores()
    with reader.conn.transaction():
        assert reader.one(HOLD)
        assert store.take()["outcome"] == "RUNNING"
        assert store.one(HOLD) is False  # no new reader begins
        assert kinds(store) == ["LOAD"]
    assert store.take()["outcome"] == "PERSISTED"
    assert kinds(store) == ["LOAD", "UNDO", "LOAD"]
    assert store.one(HOLD)


def kinds(store: Store) -> list[str]:
    return [r[0] for r in kept(store)]


def test_who_waits_too_long_for_readers_names_them(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    take = "SELECT omd_facts._take_position(i.interface_id, '10 ms') FROM omd_facts.interface AS i"
    reader = stores()
    with reader.conn.transaction():
        assert reader.one(HOLD)
        with pytest.raises(psycopg.Error) as caught:
            store.rows(take)
    assert caught.value.sqlstate == "OM159"
    store.rows(take)


def test_a_physical_delete_waits_for_readers(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    opened(store, physical_delete_allowed=True)
    store.conn.execute("SET omd_facts.delete_type = 'PHYSICAL'")
    reader, other = stores(), stores()
    pid = store.one("SELECT pg_backend_pid()")

    def delete() -> None:
        store.conn.execute("DELETE FROM gdal_shop.orders")

    thread = threading.Thread(target=delete)
    with reader.conn.transaction():
        assert reader.one(HOLD)
        thread.start()
        while not other.one(WAITS, pid):
            pass
        assert len(other.now("orders")) == 1
    thread.join(30)
    assert other.now("orders") == []
    assert block(other, 1, None)[0][0] == "R"


def test_numbers_rise_in_the_order_of_commits(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    delivery = opened(store)
    other, third = stores(), stores()
    for each in (store, other):
        each.conn.execute(f"SET omd_facts.delivery_id = {delivery}".encode())
    pid = other.one("SELECT pg_backend_pid()")

    def write() -> None:
        other.conn.execute("INSERT INTO gdal_shop.orders VALUES (2, 20)")

    thread = threading.Thread(target=write)
    with store.conn.transaction():
        store.conn.execute("INSERT INTO gdal_shop.orders VALUES (1, 10)")
        thread.start()
        while not third.one(WAITS, pid):
            pass
        # The second has no number yet, so it can't commit with one that is lower.
        assert third.rows("SELECT * FROM omd_facts.change") == []
    thread.join(30)
    first, second = changes(store)
    assert block(store, 0, first) == [("N", first, 1, 10)]
    assert block(store, first, second) == [("N", second, 2, 20)]


def test_a_deployment_does_not_stop_loads_of_other_interfaces(store: Store, stores: Any) -> None:
    store.set_up(ORDERS)
    other, reader = stores(), stores()
    with other.conn.transaction(), reader.conn.transaction():
        # As a load of another interface does.
        other.conn.execute("LOCK TABLE omd_facts.change_key IN ROW EXCLUSIVE MODE")
        store.conn.execute("SET lock_timeout = '1 s'")
        store.call("omd_facts.hold_views", interface_code="shop")
        # But it waits for readers of the views of changes.
        reader.rows("SELECT * FROM changes_shop.orders")
        store.refused("OM160", "omd_facts.hold_views", interface_code="shop")


def test_the_commit_of_a_run_elsewhere_waits_for_who_takes_rows_back(
    store: Store, stores: Any
) -> None:
    store.set_up(ORDERS)
    load(store, 1, orders=[("N", 1, 10)])
    commits = "SELECT p_is_held FROM omd.hold_source('facts.shop', FALSE)"
    store.conn.execute("SELECT omd.close_source('facts.shop', '1 hour')")
    assert store.one(HOLD) is False
    assert store.one(commits)  # it is at work
    undoer, other = stores(), stores()
    pid = other.one("SELECT pg_backend_pid()")
    held: list[Any] = []
    thread = threading.Thread(target=lambda: held.append(other.one(commits)))
    with undoer.conn.transaction():
        assert undoer.one("SELECT p_is_taken FROM omd.take_source('facts.shop', '1 s')")
        thread.start()
        while not store.one(WAITS, pid):
            pass
    thread.join(30)
    assert held == [True]
