"""What the runs of each room read, and who has read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from facts.store import entity
from support.flow import Flow

if TYPE_CHECKING:
    from facts.store import Store

STAMP = "omd_insert_module_instance_id bigint"
WRITTEN = f"{STAMP}, omd_insert_datetime timestamptz DEFAULT clock_timestamp()"
KEEP = {"facts": {"changes": True}}
CUSTOMER = entity("customer", ["nbr"], ["nbr"], **KEEP)
ORDERS = entity(
    "orders",
    ["nbr"],
    ["nbr", "customer", "amount"],
    relationships=[{"name": "of", "parent": "customer", "columns": ["customer"]}],
    **KEEP,
)
ISLAND = entity("island", ["nbr"], ["nbr"])


@pytest.fixture
def shop(store: Store) -> Store:
    """A shop, a topic over its orders that also reads a rate, and a topic over that topic."""
    store.set_up(CUSTOMER, ORDERS, ISLAND)
    store.conn.execute(
        "DROP SCHEMA IF EXISTS app CASCADE; CREATE SCHEMA app;"
        f"CREATE TABLE app.rate (r int, {STAMP});"
        "CREATE VIEW app.v_rate AS SELECT * FROM app.rate;"
        f"CREATE TABLE app.log (nbr int, amount int, pos timestamptz, id bigint, {STAMP});"
        f"CREATE TABLE app.total (nbr int, amount int, {STAMP});"
        "CREATE VIEW app.to_log AS SELECT c.nbr, c.amount * max(r.r) AS amount,"
        " to_timestamp(c.acm_change_id) AS pos, c.acm_change_id AS id"
        " FROM changes_shop.orders AS c LEFT JOIN app.v_rate AS r ON TRUE GROUP BY 1, 3, 4, c.amount;"
        "CREATE VIEW app.to_total AS SELECT l.nbr, l.amount FROM app.log AS l"
        " WHERE omd_lineage.in_block(l.pos, l.id)"
    )
    Flow.call(
        store,
        "omd_lineage.register_topic",
        topic="app.log",
        depends_on=["gdal_shop.orders"],
        transforms=["app.to_log"],
    )
    return store


def reads(store: Store, run: int) -> set[tuple[str, str]]:
    rows = store.rows(
        "SELECT table_code, read_kind FROM omd_report.run_inputs WHERE module_instance_id = %s", run
    )
    return {(row["table_code"], row["read_kind"]) for row in rows}


def readers(store: Store, run: int, distance: int = 1, *, p_all: bool = False) -> dict[int, bool]:
    rows = store.rows("SELECT * FROM omd_provenance.readers_of(%s, %s)", run, p_all)
    return {r["module_instance_id"]: r["is_exact"] for r in rows if r["distance"] == distance}


def sources(store: Store, run: int) -> dict[int, bool]:
    rows = store.rows("SELECT * FROM omd_provenance.sources_of(%s)", run)
    return {r["module_instance_id"]: r["is_exact"] for r in rows if r["distance"] == 1}


def stale(store: Store) -> set[tuple[int, int]]:
    rows = store.rows("SELECT * FROM omd_report.stale_runs")
    return {(row["module_instance_id"], row["source_instance_id"]) for row in rows}


def step(store: Store, topic: str = "app.log") -> int:
    answer = store.call("omd_lineage.step", topic=topic)
    assert answer["outcome"] == "DONE", answer
    return int(answer["module_instance_id"])


def run_of(store: Store, day: int, entity_code: str) -> int:
    return int(
        store.one(
            "SELECT de.module_instance_id FROM omd_delivery.delivery_entity AS de"
            " JOIN omd_delivery.delivery USING (delivery_id)"
            " JOIN omd_delivery.entity AS e USING (entity_id) WHERE e.entity_code = %s"
            " ORDER BY snapshot_datetime OFFSET %s LIMIT 1",
            entity_code,
            day - 1,
        )
    )


def test_a_chain_from_the_delivery_to_the_last_topic(shop: Store) -> None:
    load = shop.put(1, customer=[("N", 1)], orders=[("N", 1, 1, 10)])
    first = step(shop)
    delivered = run_of(shop, 1, "orders")
    assert reads(shop, load) == {("lvl_shop.orders", "RUNS"), ("lvl_shop.customer", "RUNS")}
    assert reads(shop, first) == {("gdal_shop.orders", "WINDOW"), ("app.rate", "ALL")}
    assert reads(shop, delivered) == {("lvl_shop.orders", "ALL"), ("lvl_shop.customer", "ALL")}
    assert readers(shop, delivered) == {load: True}
    assert readers(shop, delivered, 2) == {first: True}
    assert readers(shop, load) == {first: True}
    assert sources(shop, first) == {load: True}
    assert sources(shop, load) == {delivered: True, run_of(shop, 1, "customer"): True}

    second = shop.put(2, orders=[("N", 2, 1, 20)])
    after = step(shop)
    assert readers(shop, load) == {first: True}
    assert readers(shop, second) == {after: True}
    # A later delivery reads LVL as it is, and is in doubt; it did not touch the customers.
    assert readers(shop, delivered) == {load: True, run_of(shop, 2, "orders"): False}
    assert readers(shop, run_of(shop, 1, "customer")) == {
        load: True,
        run_of(shop, 2, "orders"): False,
    }
    assert run_of(shop, 2, "orders") not in sources(shop, first)


def test_what_was_undone_is_stale_until_it_is_read_again(shop: Store) -> None:
    shop.put(1, customer=[("N", 1)], orders=[("N", 1, 1, 10)])
    step(shop)
    bad = shop.put(2, orders=[("N", 2, 1, 20)])
    reader = step(shop)
    assert stale(shop) == set()
    assert shop.undo(bad) == [bad]
    assert stale(shop) == {(reader, bad)}
    assert readers(shop, bad) == {reader: True}
    (row,) = shop.rows("SELECT * FROM omd_report.undone_reads")
    assert (row["reader_code"], row["interface_code"]) == ("app.log", "shop")
    assert row["undone_datetime"] is not None
    assert shop.rows("SELECT * FROM omd_report.problems WHERE problem_code = 'UNDONE_READ'")
    # The item is loaded again, and a block that holds the undo has not read what it undid.
    again = shop.take()["module_instance_id"]
    later = step(shop)
    assert readers(shop, again) == {later: True}
    assert later not in readers(shop, bad, p_all=True)
    shop.call(
        "omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=reader
    )
    # It waits for its undo, so it does not stand any more.
    assert stale(shop) == set()


def test_a_table_of_a_transform_is_read_as_it_is(shop: Store) -> None:
    shop.call(
        "omd.register_module",
        module_code="rate",
        area_code="HSTG",
        table_code="app.rate",
        executable="INSERT INTO app.rate VALUES (2,"
        " current_setting('omd.module_instance_id')::bigint)",
    )
    shop.put(1, customer=[("N", 1)], orders=[("N", 1, 1, 10)])
    before = step(shop)
    rate = shop.call("omd.run_module", module_code="rate")["module_instance_id"]
    assert readers(shop, rate) == {}
    shop.put(2, orders=[("N", 2, 1, 20)])
    after = step(shop)
    assert readers(shop, rate) == {after: False}
    assert rate not in sources(shop, before)
    assert sources(shop, after)[rate] is False


POSITIONS = """
    DROP SCHEMA IF EXISTS app CASCADE; CREATE SCHEMA app;
    CREATE TABLE app.src (v int, pos timestamptz, id bigint,
        omd_insert_module_instance_id bigint);
    CREATE TABLE app.mid (v int, pos timestamptz, id bigint,
        omd_insert_module_instance_id bigint);
    CREATE TABLE app.dst (v int, pos timestamptz, id bigint,
        omd_insert_module_instance_id bigint);
    CREATE VIEW app.to_mid AS SELECT s.v, s.pos, s.id FROM app.src AS s
    WHERE omd_lineage.in_block(s.pos, s.id);
    CREATE VIEW app.to_dst AS SELECT s.v, s.pos, s.id FROM app.mid AS s
    WHERE omd_lineage.in_block(s.pos, s.id);
"""


@pytest.fixture
def line(store: Store) -> Store:
    """A Module fills a source, and two topics in a line read it by positions."""
    store.conn.execute(POSITIONS)
    store.call(
        "omd.register_module", module_code="src", area_code="HSTG", table_code="app.src"
    )
    store.call("omd_lineage.register_topic", topic="app.src", source_offset="HAND")
    for topic, base in (("app.mid", "app.src"), ("app.dst", "app.mid")):
        Flow.call(
            store,
            "omd_lineage.register_topic",
            topic=topic,
            depends_on=[base],
            transforms=[f"app.to_{topic[4:]}"],
            repeat="0",
            start_pos="-infinity",
        )
    return store


def come(store: Store, *positions: int) -> int:
    """Fill the source at these seconds by one run; the topics may read up to the last one."""
    run = store.call("omd.begin_module", module_code="src")["module_instance_id"]
    for at in positions:
        store.conn.execute(
            "INSERT INTO app.src VALUES (1, to_timestamp(%s), %s, %s)", (at, at, run)
        )
    store.conn.execute(
        "CALL omd.module_success(%s, p_rows_inserted => %s)", (run, len(positions))
    )
    return int(run)


def upto(store: Store, at: int) -> None:
    store.conn.execute("CALL omd_lineage.set_offset('app.src', to_timestamp(%s), %s)", (at, at + 1))


def test_a_window_has_read_a_run_when_it_holds_one_of_its_rows(line: Store) -> None:
    # One run brings rows of two blocks, the next one late rows of the first.
    wide = come(line, 1, 30)
    upto(line, 10)
    first = step(line, "app.mid")
    late = come(line, 0)
    upto(line, 40)
    second = step(line, "app.mid")
    assert readers(line, wide) == {first: True, second: True}
    assert readers(line, late) == {}  # the window was passed, so nobody has read the row
    assert sources(line, first) == {wide: True}
    other = come(line, 50)
    upto(line, 60)
    third = step(line, "app.mid")
    assert readers(line, other) == {third: True}
    # Its rows are gone by other hands, so each window that could see it counts.
    line.conn.execute("DELETE FROM app.src WHERE id = 30")
    assert readers(line, wide) == {first: False, second: False, third: False}


def test_a_window_has_read_a_step_when_it_overlaps_its_block(line: Store) -> None:
    steps = []
    for at in (10, 20, 30):
        come(line, at - 1)
        upto(line, at)
        steps.append(step(line, "app.mid"))
    first, second, third = steps
    # A step reads before the newest position, behind which more may come.
    reader = step(line, "app.dst")
    assert readers(line, first) == {reader: True}
    assert readers(line, second) == {reader: True}
    assert readers(line, third) == {}
    # A corrected step may put rows anywhere in its block, so it counts without a row too.
    line.conn.execute("DELETE FROM app.mid WHERE id = 19")
    assert set(readers(line, second)) == {reader}
    line.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=second)
    assert stale(line) == {(reader, second)}
    come(line, 39)
    upto(line, 40)
    again = step(line, "app.mid")
    assert stale(line) >= {(reader, second)}
    last = step(line, "app.dst")
    assert set(readers(line, again)) >= {last}
    assert last not in readers(line, second)


def test_the_links_of_a_stage(store: Store) -> None:
    store.set_up(CUSTOMER, ORDERS)
    store.conn.execute(
        "DROP SCHEMA IF EXISTS app CASCADE; CREATE SCHEMA app;"
        f"CREATE TABLE app.out (k integer, v text, {STAMP});"
        "CREATE FUNCTION app.f(p jsonb) RETURNS jsonb LANGUAGE sql STABLE"
        " AS $$ SELECT jsonb_build_object('out', p -> 'a') $$"
    )
    ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "app.f"}
    store.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)
    definition = {
        "stage": "s",
        "mode": "KEY",
        "keys": [{"column": "nbr"}],
        "ruleset": "f",
        "links": [
            {"name": "a", "source": "gdal_shop.orders", "arrival": "acm_id"},
            {"name": "b", "source": "gdal_shop.customer", "arrival": "acm_id", "buffer": True},
        ],
        "outputs": [{"name": "out", "table": "app.out"}],
        "window": {"by": "CHANGES"},
    }
    store.call("omd_decision.define_stage", stage=Jsonb(definition))
    inputs = store.rows(
        "SELECT i.table_code, read_kind FROM omd.module_input AS i JOIN omd.module USING (module_id)"
        " WHERE module_code = 's' AND upto_id IS NULL"
    )
    assert {(i["table_code"], i["read_kind"]) for i in inputs} == {
        ("gdal_shop.orders", "WINDOW"),
        ("gdal_shop.customer", "ALL"),
    }
    modules = store.rows(
        "SELECT module_code FROM omd_provenance.modules_reading(%s) JOIN omd.module"
        " USING (module_id)",
        ["asof_shop.customer"],
    )
    assert [m["module_code"] for m in modules] == ["s"]


def test_an_export_reads_its_entities(store: Store) -> None:
    store.set_up(CUSTOMER, ORDERS)
    load = store.put(1, customer=[("N", 1)], orders=[("N", 1, 1, 10)])
    store.call(
        "omd_delivery.register_agreement",
        agreement_code="out",
        interface_code="shop",
        tenant_code="t",
        layer_code="EXPORT",
    )
    delivery = store.one(
        "CALL omd_facts.create_export('out', 'file:///tmp/x', p_entities => ARRAY['orders'])"
    )

    def may_read(table: str) -> bool:
        return bool(
            store.one(
                "SELECT count(*) FROM omd_provenance.modules_reading(%s) JOIN omd.module"
                " USING (module_id) WHERE module_kind_code = 'EXPORT'",
                [table],
            )
        )

    assert may_read("gdal_shop.orders")
    assert not may_read("gdal_shop.customer")
    run = store.call("omd_facts.begin_export", delivery_id=delivery)["module_instance_id"]
    assert reads(store, run) == {("gdal_shop.orders", "ALL")}
    assert run not in readers(store, load)  # it executes
    assert readers(store, load, p_all=True)[run] is False
    store.call(
        "omd_facts.finish_export",
        delivery_id=delivery,
        module_instance_id=run,
        manifest=Jsonb({"entities": {}}),
    )
    assert readers(store, load)[run] is False
    assert sources(store, run) == {load: False}
    assert readers(store, run) == {}


def test_only_the_newest_reload_stands(line: Store) -> None:
    line.conn.execute(
        f"CREATE TABLE app.all_rows (n bigint, {STAMP});"
        "CREATE VIEW app.to_all AS SELECT count(*) AS n FROM app.mid"
    )
    Flow.call(
        line,
        "omd_lineage.register_topic",
        topic="app.all_rows",
        depends_on=["app.mid"],
        transforms=["app.to_all"],
        processor="RELOAD",
        repeat="0",
        start_pos="-infinity",
    )
    come(line, 1)
    upto(line, 10)
    first = step(line, "app.mid")
    former = step(line, "app.all_rows")
    assert readers(line, first) == {former: False}
    come(line, 20)
    upto(line, 30)
    step(line, "app.mid")
    newest = step(line, "app.all_rows")
    assert readers(line, first) == {newest: False}
    assert set(readers(line, first, p_all=True)) == {former, newest}
