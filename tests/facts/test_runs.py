"""Loads as runs: one commit, exactly once, whoever dies or comes at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import entity

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from facts.store import Store

THING = entity("thing", ["nbr"], ["nbr", "amount"])


def test_a_load_says_what_it_did_and_an_empty_queue_makes_no_run(store: Store) -> None:
    store.set_up(THING)
    assert store.take() == {
        "outcome": "NOTHING",
        "module_instance_id": None,
        "delivery_id": None,
        "detail": None,
        "execution_status_code": "C",
    }
    delivery = store.queue(1, thing=[("N", 1, 5), ("N", 2, 6)])
    answer = store.take()
    assert (answer["outcome"], answer["delivery_id"]) == ("PERSISTED", delivery)
    assert store.status(delivery) == "PERSISTED"
    store.put(2, thing=[("A", 1, 7), ("R", 2, None)])
    assert store.rows(
        "SELECT rows_input, rows_inserted, rows_updated, rows_deleted FROM omd.module_instance"
        " WHERE module_instance_id > %s",
        answer["module_instance_id"],
    )[-1] == {"rows_input": 2, "rows_inserted": 2, "rows_updated": 2, "rows_deleted": 0}
    (log, _) = store.rows("SELECT * FROM omd_report.facts_loads ORDER BY module_instance_id")
    assert log["row_counts"]["thing"]["n"] == 2
    assert store.take()["outcome"] == "NOTHING"
    store.conn.execute(
        "UPDATE omd.module SET inactive_indicator = 'Y' WHERE module_code = 'facts.shop'"
    )
    store.queue(3, thing=[("A", 1, 8)])
    assert store.take()["outcome"] == "SKIPPED"
    with store.conn.transaction():
        store.refused("OM018", "omd_facts.load", interface_code="shop")


def test_a_reader_sees_the_state_before_a_load_or_after_it(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
) -> None:
    store.set_up(THING)
    store.put(1, thing=[("N", n, 1) for n in range(10)])
    store.queue(2, thing=[("A", n, 2) for n in range(10)])
    blocker, loader, other = stores(), stores(), stores()
    total = "SELECT sum(amount)::integer AS s, count(*)::integer AS n FROM gdal_shop.thing"
    with blocker.conn.transaction():
        # The last row of the load waits; what it has done before is not seen.
        blocker.conn.execute(
            "SELECT FROM cfl_shop.s_thing_properties_now WHERE acm_id ="
            " (SELECT max(acm_id) FROM cfl_shop.h_thing) FOR UPDATE"
        )
        load = background(loader.take)
        until_settled(loader, load)
        assert store.rows(total) == [{"s": 10, "n": 10}]
        assert store.one("SELECT omd_facts.traveling_now('shop')::date::text") == "2020-01-01"
        assert other.take()["outcome"] == "RUNNING"
    assert load.result()["outcome"] == "PERSISTED"
    assert store.rows(total) == [{"s": 20, "n": 10}]


def test_a_load_that_is_killed_leaves_nothing_and_the_next_one_loads_its_item(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
) -> None:
    store.set_up(THING)
    store.put(1, thing=[("N", 1, 1), ("N", 2, 1)])
    store.queue(2, thing=[("A", 1, 2), ("A", 2, 2), ("N", 3, 2)])
    blocker, loader = stores(), stores()
    with blocker.conn.transaction():
        blocker.conn.execute("SELECT FROM cfl_shop.s_thing_properties_now FOR UPDATE")
        load = background(loader.take)
        until_settled(loader, load)
        assert store.one("SELECT pg_terminate_backend(%s, 10000)", loader.conn.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        load.result()
    assert store.now("thing") == [(1, 1), (2, 1)]
    assert store.take()["outcome"] == "PERSISTED"
    assert store.now("thing") == [(1, 2), (2, 2), (3, 2)]
    assert store.sound()


def test_items_are_loaded_in_order_and_a_failure_stops_only_its_interface(store: Store) -> None:
    store.set_up(THING)
    for day in (1, 2, 3):
        store.queue(day, thing=[("N" if day == 1 else "A", 1, day)])
    store.call("omd_delivery.deploy_model", model={"interface": "other", "entities": [THING]})
    store.call("omd_facts.deploy", interface_code="other")
    store.interface = "other"
    store.agree("o")
    store.accept(1, code="o", rows={"thing": [("N", 1, 1)]})
    store.conn.execute("ALTER TABLE cfl_other.h_thing ADD CHECK (nbr > 5)")
    answer = store.call("omd_facts.load_all")
    assert answer == {"loaded": 3, "failed": ["other"]}
    store.interface = "shop"
    assert [v for (*_, v) in store.history("thing", "amount")] == [1, 2, 3]


def test_a_load_takes_the_rows_that_were_accepted_and_no_others(store: Store) -> None:
    store.set_up(THING, entity("other", ["nbr"], ["nbr"]))
    delivery = store.queue(1, thing=[("N", 1, 1), ("N", 2, 2)], other=[])
    rows = store.rows("SELECT * FROM wrk_shop.delta_thing WHERE nbr = 1")
    more = "INSERT INTO {} VALUES (%s, %s, 1, 3)"
    for table, indicator in (("thing", "N"), ("thing", "R"), ("other", "N")):
        table = f"wrk_shop.delta_{table}"
        store.conn.execute(more.format(table).encode(), [delivery, indicator])
        answer = store.take()
        assert answer["outcome"] == "FAILED"
        assert "has not the rows that were accepted" in answer["detail"]
        store.conn.execute(f"DELETE FROM {table} WHERE nbr = 3".encode())
    # One that is lost, and one that is another.
    store.conn.execute("DELETE FROM wrk_shop.delta_thing WHERE nbr = 1")
    assert store.take()["outcome"] == "FAILED"
    store.conn.execute(more.format("wrk_shop.delta_thing").encode(), [delivery, "R"])
    assert store.take()["outcome"] == "FAILED"
    code = "SELECT count(*) FROM omd.event_log WHERE event_return_code_details = 'OM135'"
    assert store.one(code) == 5
    store.conn.execute("DELETE FROM wrk_shop.delta_thing WHERE nbr = 3")
    store.conn.execute(
        b"INSERT INTO wrk_shop.delta_thing VALUES (%s, %s, %s, %s, %s)", list(rows[0].values())[:5]
    )
    assert store.take()["outcome"] == "PERSISTED"
    assert store.now("thing") == [(1, 1), (2, 2)]


def test_an_undone_load_counts_no_keys_that_were_removed_since(store: Store) -> None:
    store.set_up(THING)
    first = store.put(1, thing=[("N", 1, 1), ("N", 2, 2)])
    store.queue(2, delete_type="PHYSICAL", thing=[("R", 1, None)])
    assert store.undo(first) == [first]
    assert store.take()["outcome"] == "PERSISTED"
    assert store.now("thing") == [(2, 2)]
    assert store.take()["outcome"] == "PERSISTED"
    counts = store.rows("SELECT row_counts FROM omd_delivery.delta_queue ORDER BY queue_id")
    assert [r["row_counts"]["thing"] for r in counts] == [
        {"N": 1, "A": 0, "R": 0},
        {"N": 0, "A": 0, "R": 1},
    ]


def test_a_delivery_is_reverted_after_its_load_is_undone(store: Store) -> None:
    store.set_up(THING)
    store.put(1, thing=[("N", 1, 1)])
    bad = store.put(2, thing=[("A", 1, 99), ("N", 2, 99)])
    store.put(3, thing=[("R", 1, None)])
    assert len(store.undo(bad)) == 2
    assert store.undo(bad) == []
    assert store.now("thing") == [(1, 1)]
    newest = store.one("SELECT max(delivery_id) FROM omd_delivery.delta_queue")
    for delivery in (newest, newest - 1):
        store.call("revert_delivery", delivery_id=delivery, reason="wrong")
    store.put(4, thing=[("A", 1, 2)])
    assert store.history("thing", "amount") == [("N", 1, 4, 1), ("A", 4, None, 2)]
    assert store.sound()


def test_a_run_that_is_marked_is_undone_by_the_next_load(store: Store) -> None:
    store.set_up(THING)
    store.put(1, thing=[("N", 1, 1)])
    second = store.put(2, thing=[("A", 1, 2)])
    store.set_next("R", module=second)
    answer = store.take()
    assert answer["outcome"] == "PERSISTED"
    assert store.history("thing", "amount") == [("N", 1, 2, 1), ("A", 2, None, 2)]
    assert (
        store.one("SELECT undone_by FROM omd_facts.load_log WHERE module_instance_id = %s", second)
        == answer["module_instance_id"]
    )


def test_a_physical_delete_is_not_undone(store: Store) -> None:
    store.set_up(THING)
    first = store.put(1, thing=[("N", 1, 1)])
    store.queue(2, delete_type="PHYSICAL", thing=[("R", 1, None)])
    assert store.take()["outcome"] == "PERSISTED"
    store.refused("OM153", "omd_facts.undo", interface_code="shop", module_instance_id=first)
    assert store.now("thing") == []


def test_interfaces_that_share_a_key_root_do_not_lock_each_other_out(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
) -> None:
    def both() -> list[dict[str, Any]]:
        return [entity(n, ["code"], ["code", "v"], facts={"key_root": "code"}) for n in ("a", "b")]

    store.set_up(*both(), interface="one")
    store.call("omd_delivery.deploy_model", model={"interface": "two", "entities": both()})
    store.call("omd_facts.deploy", interface_code="two")
    store.accept(1, rows={"a": [("N", 100, 1)], "b": [("N", 50, 1)]})
    store.interface = "two"
    store.agree("a2")
    store.accept(1, code="a2", rows={"a": [("N", 50, 1)], "b": [("N", 100, 1)]})
    blocker, one, two = stores(), stores(), stores()
    one.interface, two.interface = "one", "two"
    with blocker.conn.transaction():
        blocker.conn.execute("LOCK TABLE cfl_one.h_b IN SHARE MODE")
        first = background(one.take)
        until_settled(one, first)
        second = background(two.take)
        until_settled(two, second)
        assert not first.done()
    assert [f.result()["outcome"] for f in (first, second)] == ["PERSISTED"] * 2
    assert store.seen("gdal.code", "key_1, acm_exists_ind") == [(50, 1), (100, 1)]
