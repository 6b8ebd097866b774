"""A recall of deliveries and loads beside undos, loads, writers and readers: nobody loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from provenance.middle import Middle

TAKE = "SELECT * FROM omd_{}.take_back(%s, %s, 7, 'wrong')"


def test_an_undo_that_has_the_position_lets_it_go_for_a_recall(
    middle: Middle,
    middles: Callable[..., Middle],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    """The undo has the position and wants the interface, the recall the other way round (H1)."""
    middle.give(1, {"stock": {(1,): ("a",)}})
    bad = middle.give(2, {"stock": {(1,): ("b",)}})
    load, runs = middle.load_of(bad), middle.runs(bad)
    by = middle.recaller()
    undoing, watch = middles(), middles()
    with middle.conn.transaction():
        for room in ("omd_delivery", "omd_facts"):
            middle.one(f"SELECT {room}.recall_locks(%s)", [*runs, load])
        undo = background(undoing.undo, load)
        until_settled(undoing, undo)
        taken = "SELECT count(*) FROM omd.source WHERE source_code = 'facts.shop'"
        assert watch.one(taken) == 1
        middle.rows(TAKE.format("facts"), [load, *runs], by)
        middle.rows(TAKE.format("delivery"), [load, *runs], by)
    assert undo.result(60) == []  # it was undone before
    assert middle.status(bad) == "REVERTED"
    assert middle.now("stock") == [(1, "a")]


def test_a_reader_at_work_is_waited_for(
    middle: Middle,
    middles: Callable[..., Middle],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    bad = middle.give(1, {"stock": {(1,): ("a",)}})
    load, by = middle.load_of(bad), middle.recaller()
    reader, recalling = middles(), middles()
    with reader.conn.transaction():
        reader.rows("SELECT FROM omd.source WHERE source_code = 'facts.shop' FOR KEY SHARE")
        take = background(recalling.rows, TAKE.format("facts"), [load], by)
        until_settled(recalling, take)
        assert not take.done()
        assert reader.now("stock") == [(1, "a")]
    assert len(take.result(60)) == 1
    assert middle.now("stock") == []


def test_a_load_that_executes_is_not_overtaken(middle: Middle) -> None:
    bad = middle.give(1, {"stock": {(1,): ("a",)}})
    load = middle.load_of(bad)
    middle.deliver(2, {"customer": {(1,): ("x",)}})
    item = middle.one("SELECT max(queue_id) FROM omd_delivery.delta_queue")
    run = middle.call("omd.begin_module", module_code="facts.shop")["module_instance_id"]
    middle.one("SELECT omd_delivery.start_queue_item(%s, %s)", item, run)
    with pytest.raises(psycopg.Error) as refused:
        middle.rows(TAKE.format("facts"), [load], middle.recaller())
    checked(refused.value, "OM135")
    assert middle.now("stock") == [(1, "a")]
    middle.call("omd.module_failure", module_instance_id=run)
    middle.rows(TAKE.format("facts"), [load], middle.recaller())
    assert middle.now("stock") == []
    assert len(middle.load_all()) == 2
    assert middle.now("stock") == [(1, "a")]


def test_a_writer_that_was_first_is_seen_behind_the_locks(
    middle: Middle,
    middles: Callable[..., Middle],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    bad = middle.give(1, {"stock": {(1,): ("a",)}})
    load = middle.load_of(bad)
    middle.agree("desk", layer_code="GDAL")
    middle.call("omd_facts.open_delivery", agreement_code="desk")
    by = middle.recaller()
    recalling = middles()
    with middle.conn.transaction():
        middle.conn.execute("UPDATE gdal_shop.stock SET amount = 'desk' WHERE nbr = 1")
        take = background(recalling.rows, TAKE.format("facts"), [load], by)
        until_settled(recalling, take)
        assert not take.done()
    with pytest.raises(psycopg.Error) as refused:
        take.result(60)
    assert "LATER_WRITES" in checked(refused.value, "OM153")["problem"]
    assert middle.now("stock") == [(1, "desk")]


def test_a_session_that_ends_in_the_act_has_done_nothing(
    middle: Middle, middles: Callable[..., Middle]
) -> None:
    middle.give(1, {"stock": {(1,): ("a",)}})
    bad = middle.give(2, {"stock": {(1,): ("b",)}})
    was = middle.shown()
    changes = middle.one("SELECT count(*) FROM omd_facts.change")
    runs = [middle.load_of(bad), *middle.runs(bad)]
    by = middle.recaller()
    recalling = middles()
    reader = middles()
    recalling.conn.autocommit = False
    recalling.rows(TAKE.format("facts"), runs, by)
    recalling.rows(TAKE.format("delivery"), runs, by)
    assert reader.now("stock") == [(1, "b")]  # nobody waits, and nobody sees it
    middle.one("SELECT pg_terminate_backend(%s, 60000)", recalling.conn.info.backend_pid)
    assert middle.shown() == was
    assert middle.one("SELECT count(*) FROM omd_facts.change") == changes
    assert middle.status(bad) == "PERSISTED"
    middle.call("omd.module_success", module_instance_id=by)
    middle.take_back(*middle.runs(bad))
    assert middle.now("stock") == [(1, "a")]


def test_only_other_rooms_may_call_them(middle: Middle, middles: Callable[..., Middle]) -> None:
    runner = middles()
    runner.conn.execute("SET ROLE omd_admin")
    for call in (
        "SELECT * FROM omd_delivery.take_back('{}', 1, 1, '')",
        "SELECT * FROM omd_facts.take_back('{}', 1, 1, '')",
        "SELECT * FROM omd_delivery.recall_effects('{}')",
        "SELECT omd_delivery.withdraw(1, 1, '')",
        "SELECT omd.settle_return(1, 1)",
        "SELECT omd.mark_taken_back('{}', 1)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            runner.rows(call)
    runner.conn.execute("RESET ROLE; SET ROLE omd_reader")
    for call in (
        "CALL omd_provenance.redeliver(1)",
        "CALL omd_provenance.drop_return(1, 1, '')",
        "CALL omd_delivery.register_files(1, 1, '', '[]')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            runner.rows(call)
    assert runner.rows("SELECT * FROM omd_report.recall_returns") == []


def test_nulls_and_nothing_are_no_runs(middle: Middle) -> None:
    for given in ([], [None], [-1], None):
        for room in ("omd_delivery", "omd_facts"):
            assert middle.rows(f"SELECT * FROM {room}.recall_follows(%s, %s)", given, given) == []
            assert middle.rows(f"SELECT * FROM {room}.recall_effects(%s)", given) == []
            middle.one(f"SELECT {room}.recall_locks(%s)", given)
            taken = f"SELECT * FROM {room}.take_back(%s, NULL, NULL, NULL)"
            assert middle.rows(taken, given) == []
