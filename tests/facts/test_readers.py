"""Those who read facts: how far a window goes, and who hears of an undo."""

from __future__ import annotations

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
    ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "dwh.f"}
    store.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)
    store.call("omd_decision.define_stage", stage=Jsonb({**STAGE, **changes}))


def decided(store: Store, **arguments: Any) -> list[int]:
    """Run the stage; return the keys that it has decided."""
    done = store.call("omd_decision.run_stage", stage_code="care", **arguments)
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
    read = lambda: shop.one(  # noqa: E731
        "SELECT rows_input FROM omd.module_instance WHERE module_instance_id = %s",
        shop.call("omd_decision.run_stage", stage_code="care")["module_instance_id"],
    )
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
    assert "nothing is read" in events(shop, "WINDOW")[0]
