"""Windows and blocks of changes that a recall took back: what was undone is in none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from facts.store import Store
from facts.test_changes import ORDERS
from facts.test_stages import STAGE
from facts.test_topics import CUSTOMERS, load, newest, revert, step, steps, topic
from provenance.recalls import Recalls
from provenance.taking_back import follows, take_back
from support.flow import Flow

if TYPE_CHECKING:
    import psycopg

    from support.scenes import Built

    Connection = psycopg.Connection[dict[str, Any]]


def orders(store: Store) -> None:
    """Make an interface, a topic that copies what became of each key, and a stage that does so."""
    store.set_up(ORDERS, CUSTOMERS)
    store.conn.execute(
        b"CREATE SCHEMA app;"
        b"CREATE TABLE app.f (nbr int, amount int, what text, change bigint,"
        b" omd_insert_module_instance_id bigint, omd_insert_datetime timestamptz,"
        b" row_id bigint GENERATED ALWAYS AS IDENTITY);"
        b"CREATE VIEW app.v AS SELECT c.nbr, c.amount, c.acm_record_ind AS what,"
        b" c.acm_change_id AS change FROM changes_shop.orders AS c;"
        b"CREATE TABLE app.out (nbr int, amount int, omd_insert_module_instance_id bigint);"
        b"CREATE FUNCTION app.g(p jsonb) RETURNS jsonb LANGUAGE sql STABLE"
        b" AS $$ SELECT jsonb_build_object('out', p -> 'a') $$"
    )
    ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "app.g"}
    store.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)


@pytest.fixture
def shop(built: Built) -> Store:
    return built(Store, orders)


def define(store: Store, **changes: Any) -> None:
    document = {k: v for k, v in {**STAGE, **changes}.items() if v is not None}
    store.call("omd_decision.define_stage", stage=Jsonb(document))


def run(store: Store, **arguments: Any) -> dict[str, Any]:
    done = store.call("omd_decision.run_stage", stage_code="care", **arguments)
    assert done["execution_status_code"] in {"S", "C"}, done
    return done


def out(store: Store) -> list[tuple[Any, ...]]:
    found = store.rows("SELECT nbr, amount FROM app.out ORDER BY 1, 2")
    return [tuple(row.values()) for row in found]


def copied(store: Store) -> list[tuple[Any, ...]]:
    return [
        tuple(row.values())
        for row in store.rows("SELECT what, nbr, amount FROM app.f ORDER BY nbr, row_id")
    ]


def windows(store: Store, code: str) -> list[tuple[Any, ...]]:
    found = store.rows(
        "SELECT c.start_id, c.end_id FROM omd.source_control AS c"
        " INNER JOIN omd.module_instance AS i USING (module_instance_id)"
        " INNER JOIN omd.module AS m ON c.module_id = m.module_id"
        " WHERE m.module_code = %s AND i.execution_status_code = 'S' AND NOT c.is_taken_back"
        " ORDER BY c.start_id",
        code,
    )
    return [tuple(row.values()) for row in found]


def work(store: Store, code: str = "care") -> tuple[Any, ...]:
    (row,) = store.rows("SELECT state, reason FROM omd_report.work WHERE code = %s", code)
    return tuple(row.values())


@pytest.mark.usefixtures("by_hand")
def test_a_block_of_changes_that_was_undone_goes_on_to_the_undo(shop: Store) -> None:
    topic(shop, maxstep=1)
    load(shop, 1, orders=[("N", 1, 10), ("N", 2, 20)])
    assert step(shop)["outcome"] == "DONE"
    load(shop, 2, customers=[("N", 7, "Ada")])
    bad = load(shop, 3, orders=[("A", 1, 11), ("N", 3, 30)])
    second = step(shop)["module_instance_id"]
    assert copied(shop) == [("N", 1, 10), ("A", 1, 11), ("N", 2, 20), ("N", 3, 30)]
    with shop.conn.transaction():
        shop.undo(bad)
        take_back(shop, second)
    revert(shop)
    undo = newest(shop)
    assert copied(shop) == [("N", 1, 10), ("N", 2, 20)]
    assert work(shop, "app.f") == ("READY", "RECALLED")
    load(shop, 3, orders=[("N", 4, 40)])
    steps(shop)
    assert [end for _, end in windows(shop, "app.f")][1] >= undo
    # The offset went back, so nothing is read twice, and nothing is left to be taken again.
    assert shop.one("SELECT count(*) FROM omd.window_return WHERE ended_datetime IS NULL") == 0
    assert copied(shop)[:1] == [("N", 1, 10)]
    assert ("N", 4, 40) in copied(shop)


def test_keys_that_only_a_recalled_load_touched_are_in_no_block_of_a_topic(shop: Store) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    steps(shop)
    without = copied(shop)
    bad = load(shop, 2, orders=[("A", 1, 11), ("N", 3, 30)])
    steps(shop)
    Recalls(shop.conn).recalled(bad)
    steps(shop)
    assert copied(shop) == without
    assert work(shop, "app.f")[0] == "IDLE"
    while shop.take()["outcome"] == "PERSISTED":
        steps(shop)
    assert copied(shop) == [*without, ("A", 1, 11), ("N", 3, 30)]


def test_a_stage_by_changes_takes_its_window_again_up_to_the_undo(shop: Store) -> None:
    define(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    run(shop)
    load(shop, 2, orders=[("A", 1, 11), ("N", 2, 20)])
    bad = load(shop, 3, orders=[("N", 3, 30)])
    second = run(shop)["module_instance_id"]
    later = load(shop, 4, customers=[("N", 7, "Ada")])
    assert later
    assert out(shop) == [(1, 10), (1, 11), (2, 20), (3, 30)]
    with shop.conn.transaction():
        shop.undo(bad)
        take_back(shop, second)
    revert(shop)
    assert out(shop) == [(1, 10)]
    assert work(shop) == ("READY", "RECALLED")
    load(shop, 3, orders=[("N", 4, 40)])
    again = run(shop)["module_instance_id"]
    assert again
    run(shop)
    assert out(shop) == [(1, 10), (1, 11), (2, 20), (4, 40)]
    assert shop.one(
        "SELECT supersedes FROM omd_decision.run WHERE module_instance_id = %s", again
    ) == [second]
    kept = windows(shop, "care")
    assert [start for start, _ in kept[1:]] == [end for _, end in kept[:-1]]
    assert run(shop)["module_instance_id"] is None


def test_a_window_without_an_undo_comes_again_as_it_was(shop: Store) -> None:
    define(shop)
    topic(shop)
    for day in (1, 2, 3):
        load(shop, day, orders=[("N", day, day)])
        run(shop)
        steps(shop)
    before = windows(shop, "care"), windows(shop, "app.f"), out(shop), copied(shop)
    runs = [
        row["id"]
        for row in shop.rows(
            "SELECT c.module_instance_id AS id FROM omd.source_control AS c"
            " WHERE c.source_code = 'facts.shop' ORDER BY 1"
        )
    ]
    second = runs[2:4]
    assert follows(shop, *second) == set(second)
    take_back(shop, *second)
    assert out(shop) == [(1, 1), (3, 3)]
    # What is to be read again is not purged.
    shop.call("omd.purge", keep="0", room="omd_facts")
    load(shop, 4, orders=[("N", 4, 4)])
    run(shop)
    step(shop)
    assert (windows(shop, "care"), windows(shop, "app.f"), out(shop), copied(shop)) == before
    run(shop)
    steps(shop)
    assert out(shop) == [(n, n) for n in range(1, 5)]
    assert sorted(copied(shop)) == [("N", n, n) for n in range(1, 5)]


def test_a_block_whose_keys_are_purged_is_in_the_way_of_its_recall(shop: Store) -> None:
    define(shop)
    topic(shop)
    for day in (1, 2, 3):
        load(shop, day, orders=[("N", day, day)])
        run(shop)
        steps(shop)
    runs = [
        row["id"]
        for row in shop.rows(
            "SELECT c.module_instance_id AS id FROM omd.source_control AS c"
            " WHERE c.source_code = 'facts.shop' ORDER BY c.start_id, 1"
        )
    ]
    shop.call("omd.purge", keep="0", room="omd_facts")
    recalls = Recalls(shop.conn)
    for number, recalled in enumerate(runs):
        recall = recalls.plan(recalled)
        [(action, problem)] = recalls.items(recall, "action", "problem")
        # From the beginning it needs no keys.
        if number < 2:
            assert (action, problem) == ("UNDO", None)
            continue
        assert action == "BLOCKED"
        assert problem.startswith("PURGED: the keys of the changes of facts.shop up to ")
        recalls.refused("OM191", "omd_provenance.recall", recall_id=recall)
    before = out(shop), copied(shop)
    for recalled in runs[:2]:
        recalls.recalled(recalled)
    assert recalls.perform() != []
    assert (sorted(out(shop)), sorted(copied(shop))) == (sorted(before[0]), sorted(before[1]))


def test_what_has_nothing_for_a_topic_need_not_be_kept(shop: Store) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    steps(shop)
    load(shop, 2, customers=[("N", 7, "Ada")])
    assert steps(shop) == []
    passed = newest(shop)
    assert shop.rows("SELECT end_id FROM omd.source_readers('facts.shop')") == [{"end_id": passed}]
    load(shop, 3, orders=[("N", 2, 20)])
    steps(shop)
    assert shop.rows("SELECT * FROM omd_report.lineage_gaps") == []
    shop.call("omd_lineage.set_offset", topic="app.f", pos="-infinity", id=-(2**63))
    (reader,) = shop.rows("SELECT passed_id FROM omd.source_reader")
    assert reader["passed_id"] is None


def test_a_reload_of_facts_comes_again_although_no_change_is_new(shop: Store) -> None:
    shop.conn.execute(
        b"CREATE TABLE app.bill (nbr int, amount int, omd_insert_module_instance_id bigint);"
        b"CREATE VIEW app.v_bill AS SELECT g.nbr, g.amount FROM gdal_shop.orders AS g"
    )
    Flow.call(
        shop,
        "omd_lineage.register_topic",
        topic="app.bill",
        depends_on=["gdal_shop.orders"],
        transforms=["app.v_bill"],
        processor="RELOAD",
    )

    def bill() -> str:
        return str(shop.call("omd_lineage.step", topic="app.bill")["outcome"])

    load(shop, 1, orders=[("N", 1, 10)])
    assert bill() == "DONE"
    assert bill() == "NOJOBS"
    # The second time a change is new that touched no key of it.
    for news in (None, [("N", 7, "Ada")]):
        last = shop.one("SELECT max(module_instance_id) FROM omd_lineage.log")
        take_back(shop, last)
        if news:
            load(shop, 2, customers=news)
        assert shop.one("SELECT count(*) FROM app.bill") == 0
        assert work(shop, "app.bill") == ("READY", "RECALLED")
        assert bill() == "DONE"
        assert shop.one("SELECT count(*) FROM app.bill") == 1
        assert work(shop, "app.bill")[0] == "IDLE"
    assert bill() == "NOJOBS"
