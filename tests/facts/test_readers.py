"""Those who read facts: how far a window goes, and who hears of an undo."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from facts.store import T, entity

if TYPE_CHECKING:
    from collections.abc import Callable

    from facts.store import Store

ORDERS = entity("orders", ["nbr"], ["nbr", ("amount", "integer")])
STAGE = {
    "stage": "care",
    "mode": "KEY",
    "keys": [{"column": "nbr"}],
    "ruleset": "f",
    "links": [{"name": "a", "source": "gdal_shop.orders", "arrival": "acm_id"}],
    "outputs": [{"name": "out", "table": "dwh.out"}],
    "window": {"column": "acm_start_dt"},
}


def stage(store: Store, **changes: Any) -> None:
    """Define a stage that puts out each fact that it reads."""
    store.conn.execute(
        "CREATE TABLE IF NOT EXISTS dwh.out ("
        " nbr integer, amount integer, omd_insert_module_instance_id bigint);"
        " CREATE OR REPLACE FUNCTION dwh.f(p jsonb) RETURNS jsonb LANGUAGE sql STABLE"
        " AS $$ SELECT jsonb_build_object('out', p -> 'a') $$"
    )
    document = {k: v for k, v in {**STAGE, **changes}.items() if v is not None}
    ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "dwh.f"}
    store.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)
    is_former = document.get("window") == {"column": "acm_start_dt"}
    if is_former:
        del document["window"]
    store.call("omd_decision.define_stage", stage=Jsonb(document))
    if is_former:  # such a window is refused by now
        store.owner(
            "UPDATE omd_decision.stage_version SET definition = definition"
            ' || \'{"window": {"column": "acm_start_dt", "delay": "00:00:00"}}\''
        )
        store.owner("SELECT omd_decision._save_window(s.stage_id) FROM omd_decision.stage AS s")


def decided(store: Store, **arguments: Any) -> list[int]:
    """Run the stage; return the keys that it has decided."""
    done = store.call("omd_decision.run_stage", stage_code="care", **arguments)
    if done["module_instance_id"] is None:
        assert "nothing is read" in done["detail"]
        return []
    assert done["execution_status_code"] == "S", done
    found = store.rows(
        "SELECT nbr FROM dwh.out WHERE omd_insert_module_instance_id = %s ORDER BY nbr",
        done["module_instance_id"],
    )
    return [row["nbr"] for row in found]


def events(store: Store, code: str) -> list[str]:
    found = store.rows(
        "SELECT event_detail AS d FROM omd.event_log WHERE event_return_code_details = %s"
        " ORDER BY event_id DESC",
        code,
    )
    return [row["d"] for row in found]


@pytest.fixture
def shop(store: Store) -> Store:
    store.set_up(ORDERS)
    return store


VIEWS = {
    "gdal_shop.orders": "acm_start_dt",
    "asof_shop.orders": "acm_start_dt",
    "cfl_shop.s_orders_properties": "acm_start_dt",
    "dwh.renamed": "since",
}


@pytest.mark.parametrize("source", VIEWS)
def test_a_window_by_transaction_time_ends_at_the_traveling_now(shop: Store, source: str) -> None:
    shop.conn.execute(
        "CREATE VIEW dwh.renamed AS SELECT acm_id, nbr, acm_start_dt AS since FROM gdal_shop.orders"
    )
    link = {"name": "a", "source": source, "arrival": "acm_id"}
    keys = "acm_id" if source.startswith("cfl") else "nbr"
    stage(shop, links=[link], window={"column": VIEWS[source]}, keys=[{"column": keys}])

    def read() -> int:
        run = shop.call("omd_decision.run_stage", stage_code="care")["module_instance_id"]
        if run is None:
            return 0
        count = "SELECT rows_input FROM omd.module_instance WHERE module_instance_id = %s"
        return int(shop.one(count, run))

    assert read() == 0
    for day in (1, 2, 3):
        shop.put(day, orders=[("N", day, 10)])
        assert read() == 1
        assert shop.one("SELECT max(end_value) = %s FROM omd.source_control", T[day])
    assert read() == 0


def test_an_end_by_the_clock_behind_the_facts_is_cut_and_said(shop: Store) -> None:
    stage(shop)
    shop.put(1, orders=[("N", 1, 10)])
    assert decided(shop, end_value="2020-06-01") == [1]
    assert "the window ends at 2020-01-01" in events(shop, "WINDOW")[0]
    # A window from before this rule has ended by the clock.
    shop.owner("UPDATE omd.source_control SET end_value = '2020-02-01' WHERE end_value IS NOT NULL")
    shop.put(2, orders=[("N", 2, 10)])
    assert decided(shop) == []


def test_a_source_of_facts_says_that_its_newest_delivery_is_left_out(shop: Store) -> None:
    topics(shop)
    shop.put(1, orders=[("N", 1, 10)])
    shop.call("omd_lineage.probe_sources")
    assert "with PROBE the newest delivery is left out" in problem(shop)
    for offset, text in (("CLOCK", "a later delivery is passed over"), ("HAND", "")):
        shop.conn.execute(
            "CALL omd_lineage.register_topic('cfl_shop.s_orders_properties',"
            f" p_source_offset => '{offset}')".encode()
        )
        shop.call("omd_lineage.probe_sources")
        assert ("times of deliveries" in problem(shop)) == (text != "")
        assert text in problem(shop)


# Who hears of an undo


def topics(store: Store) -> None:
    """Register a STEP over the table of the facts, and one over that."""
    store.conn.execute(
        "CREATE TABLE dwh.f (id bigint, acm_start_dt timestamptz,"
        " omd_insert_module_instance_id bigint, PRIMARY KEY (acm_start_dt, id));"
        " CREATE VIEW dwh.v AS SELECT acm_id AS id, acm_start_dt"
        " FROM cfl_shop.s_orders_properties WHERE omd_lineage.in_block(acm_start_dt, acm_id);"
        " CALL omd_lineage.register_topic('cfl_shop.s_orders_properties',"
        " p_pos_column => 'acm_start_dt', p_id_column => 'acm_id');"
        " CALL omd_lineage.register_topic('dwh.f',"
        " p_depends_on => ARRAY['cfl_shop.s_orders_properties'],"
        " p_transforms => ARRAY['dwh.v'], p_repeat => '0')"
    )


def step(store: Store, topic: str = "dwh.f") -> str:
    return str(store.call("omd_lineage.step", topic=topic)["outcome"])


def problem(store: Store, source: str = "cfl_shop.s_orders_properties") -> str:
    told = store.one("SELECT problem FROM omd_report.sources WHERE source = %s", source)
    return str(told or "")


def warned(store: Store, call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Make a call; return the warnings, each with its hint."""
    seen: list[tuple[str, str]] = []

    def note(d: psycopg.errors.Diagnostic) -> None:
        if d.severity_nonlocalized == "WARNING":
            seen.append((d.message_primary or "", d.message_hint or ""))

    store.conn.add_notice_handler(note)
    try:
        call()
    finally:
        store.conn.remove_notice_handler(note)
    return seen


def test_an_undo_tells_topics_and_stages_that_have_read(shop: Store) -> None:
    topics(shop)
    stage(shop)
    loads = [shop.put(day, orders=[("N", day, 10)]) for day in (1, 2, 3)]
    assert step(shop) == "DONE"  # up to before the newest
    assert decided(shop) == [1, 2, 3]
    shop.put(4, orders=[("N", 4, 10)])
    assert step(shop) == "DONE"  # day 3
    stage(shop, stage="late")  # it has read nothing
    [(text, hint)] = warned(shop, lambda: shop.undo(loads[2]))
    assert text.startswith("READERS: ")
    assert ("dwh.f" in text, "stage care" in text, "late" in text) == (True, True, False)
    run = shop.one("SELECT module_instance_id FROM omd_decision.run")
    assert f"omd.set_next_run_indicator('R', p_module_instance_id => {run})" in hint
    assert events(shop, "READERS") == [text.removeprefix("READERS: ") + ". " + hint]
    assert "dwh.f" in problem(shop)
    about = "SELECT problem FROM omd_report.decision_stage_list WHERE stage_code = %s"
    assert "were undone later" in shop.one(about, "care")
    assert shop.one(about, "late") is None
    # The right rows come, and what is told as the way out is done.
    shop.take()
    shop.take()
    for call in hint.split(";")[:-1]:
        shop.conn.execute(call.encode())
    assert decided(shop) == [1, 2, 3, 4]
    assert "were undone" not in problem(shop)
    assert shop.one(about, "care") is None
    assert [row["id"] for row in shop.rows("SELECT id FROM dwh.f ORDER BY id")] == [1, 2, 3]
    assert [r["v"] for r in shop.rows("SELECT count(*) AS v FROM omd.standing_read")] == [0]


def test_readers_of_a_load_are_the_topics_that_have_read_it(shop: Store) -> None:
    topics(shop)
    loads = [shop.put(day, orders=[("N", day, 10)]) for day in (1, 2)]
    assert step(shop) == "DONE"
    of = "SELECT topic, distance, steps FROM omd_lineage.readers_of(%s)"
    assert [tuple(r.values()) for r in shop.rows(of, loads[0])] == [("dwh.f", 1, 1)]
    assert shop.rows(of, shop.put(3, orders=[("N", 3, 10)])) == []
    with pytest.raises(psycopg.Error) as caught:
        shop.rows(of, 999)
    assert caught.value.sqlstate == "OM004"


def test_who_has_read_before_the_rows_is_not_told(shop: Store) -> None:
    topics(shop)
    stage(shop)
    load = [shop.put(day, orders=[("N", day, 10)]) for day in (1, 2)][1]
    assert step(shop) == "DONE"  # day 1 alone
    assert warned(shop, lambda: shop.undo(load)) == []
    assert events(shop, "READERS") == []


def test_a_rollback_by_r_tells_the_readers_too(shop: Store) -> None:
    stage(shop)
    load = shop.put(1, orders=[("N", 1, 10)])
    assert decided(shop) == [1]
    shop.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=load)
    [(text, _)] = warned(shop, shop.take)
    assert "stage care" in text


def test_an_undo_reverts_in_one_call_before_a_loader_takes_the_item(shop: Store) -> None:
    shop.put(1, orders=[("N", 1, 10)])
    delivery = shop.queue(2, orders=[("N", 2, 10)])
    load = shop.take()["module_instance_id"]
    for _ in range(2):  # the answer was lost
        shop.call(
            "omd_facts.undo",
            interface_code="shop",
            module_instance_id=load,
            revert_reason="another branch",
        )
        assert shop.status(delivery) == "REVERTED"
        assert shop.take()["outcome"] == "NOTHING"
    assert shop.now("orders") == [(1, 10)]
    assert shop.sound()
    traced = shop.rows(
        "SELECT DISTINCT module_instance_id AS i FROM omd.event_log"
        " WHERE event_return_code_details = 'REVERTED' AND module_instance_id > 0"
    )
    entity = shop.one(
        "SELECT module_instance_id FROM omd_delivery.delivery_entity WHERE delivery_id = %s",
        delivery,
    )
    assert {row["i"] for row in traced} == {load, entity}


def test_what_can_not_be_reverted_is_not_undone(shop: Store) -> None:
    load = shop.put(1, orders=[("N", 1, 10)])
    shop.put(2, orders=[("A", 1, 20)])
    with pytest.raises(psycopg.Error) as caught:
        shop.call(
            "omd_facts.undo", interface_code="shop", module_instance_id=load, revert_reason="x"
        )
    assert caught.value.sqlstate == "OM133"
    assert shop.now("orders") == [(1, 20)]


def test_a_revert_of_what_is_loaded_names_the_undo_which_reverts_too(
    shop: Store, omd_here: Any, dsn: str
) -> None:
    delivery = shop.queue(1, orders=[("N", 1, 10)])
    load = shop.take()["module_instance_id"]
    with pytest.raises(psycopg.Error) as caught:
        shop.call("omd_delivery.revert_delivery", delivery_id=delivery, reason="x")
    assert caught.value.sqlstate == "OM130"
    hint = caught.value.diag.message_hint or ""
    assert hint.startswith("omd call omd_facts.undo ")
    done = omd_here(*shlex.split(hint.removeprefix("omd ")), dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert str(load) in done.stdout
    assert shop.status(delivery) == "REVERTED"


def test_a_revert_tells_those_who_have_read_lvl(shop: Store) -> None:
    link = {"name": "a", "source": "lvl_shop.orders", "arrival": "nbr"}
    stage(shop, links=[link], window=None, stage="lvl")
    shop.queue(1, orders=[("N", 1, 10)])
    assert shop.call("omd_decision.run_stage", stage_code="lvl")["cycles"] == 1
    delivery = shop.queue(2, orders=[("N", 2, 10)])

    def call() -> None:
        shop.call("omd_delivery.revert_delivery", delivery_id=delivery, reason="x")

    assert warned(shop, call) == []  # the stage has not read it
    delivery = shop.queue(3, orders=[("N", 3, 10)])
    assert shop.call("omd_decision.run_stage", stage_code="lvl")["cycles"] == 2
    [(text, _)] = warned(shop, call)
    assert "stage lvl" in text


def test_a_reload_that_joins_facts_is_right_again_when_it_has_run(shop: Store) -> None:
    load = shop.put(1, orders=[("N", 1, 10)])
    shop.conn.execute(
        "CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id));"
        " INSERT INTO dwh.src VALUES ('2021-01-01', 1), ('2021-01-02', 2);"
        " CREATE TABLE dwh.g (nbr integer, omd_insert_module_instance_id bigint);"
        " CREATE VIEW dwh.w AS SELECT nbr FROM gdal_shop.orders;"
        " CALL omd_lineage.register_topic('dwh.src');"
        " CALL omd_lineage.register_topic('dwh.g', p_depends_on => ARRAY['dwh.src'],"
        " p_transforms => ARRAY['dwh.w'], p_processor => 'RELOAD', p_repeat => '0')"
    )
    assert step(shop, "dwh.g") == "DONE"
    [(text, hint)] = warned(shop, lambda: shop.undo(load))
    assert "dwh.g" in text
    assert "dwh.g" in problem(shop, "dwh.src")
    shop.conn.execute(hint.encode())
    assert problem(shop, "dwh.src") == ""
