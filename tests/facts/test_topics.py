"""Topics over offered views of facts: blocks are whole changes, each of them read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import Store, entity
from facts.test_changes import ORDERS, keeping
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.scenes import Built

CUSTOMERS = keeping(entity("customers", ["nbr"], ["nbr", ("name", "text(20)")]))


def orders(store: Store) -> None:
    """Make the interface, a destination, and a transform that says what became of each key."""
    store.set_up(ORDERS, CUSTOMERS)
    store.conn.execute(
        "CREATE SCHEMA IF NOT EXISTS app; DROP TABLE IF EXISTS app.f CASCADE;"
        "CREATE TABLE app.f (nbr int, amount int, what text, change bigint,"
        " omd_insert_module_instance_id bigint, omd_insert_datetime timestamptz,"
        " row_id bigint GENERATED ALWAYS AS IDENTITY);"
        "CREATE OR REPLACE VIEW app.v AS SELECT c.nbr, c.amount, c.acm_record_ind AS what,"
        " c.acm_change_id AS change FROM changes_shop.orders AS c"
    )


@pytest.fixture
def shop(built: Built) -> Store:
    return built(Store, orders)


def topic(store: Store, *depends_on: str, **attributes: Any) -> None:
    Flow.call(
        store,
        "omd_lineage.register_topic",
        topic="app.f",
        depends_on=list(depends_on or ["gdal_shop.orders"]),
        transforms=attributes.pop("transforms", ["app.v"]),
        **attributes,
    )


def step(store: Store) -> dict[str, Any]:
    return store.call("omd_lineage.step", topic="app.f")


def steps(store: Store) -> list[int]:
    written = []
    while (done := step(store))["outcome"] == "DONE":
        written.append(done["rows"])
    assert done["outcome"] == "NOJOBS", done
    return written


def read(store: Store) -> list[tuple[Any, ...]]:
    rows = store.rows("SELECT what, nbr, amount FROM app.f ORDER BY row_id")
    return sorted((r["what"], r["nbr"], r["amount"]) for r in rows)


def ready(store: Store) -> tuple[bool, str]:
    (row,) = store.rows(
        "SELECT is_ready, reason FROM omd_report.lineage_ready WHERE topic = 'app.f'"
    )
    return row["is_ready"], row["reason"]


def load(store: Store, day: int, **rows: Any) -> int:
    """Load a delta past LVL, so that a moment may come again; return the Module Instance."""
    store.push(day, **rows)
    answer = store.take()
    assert answer["outcome"] == "PERSISTED", answer
    return int(answer["module_instance_id"])


def revert(store: Store) -> None:
    """What was undone is not loaded again: its delivery is taken back."""
    store.conn.execute("DELETE FROM omd_delivery.delta_queue WHERE queue_status = 'QUEUED'")


def newest(store: Store) -> int:
    return int(store.one("SELECT id FROM omd.source WHERE source_code = 'facts.shop'"))


def test_a_correction_of_the_same_moment_reaches_the_topic(shop: Store) -> None:
    """A slice has the T of what it corrects, so a reader by T would pass it over."""
    topic(shop)
    assert ready(shop) == (False, "DEPENDENCY")
    run = load(shop, 2, orders=[("N", 1, 10), ("N", 2, 20)])
    assert ready(shop) == (True, "DUE")
    assert steps(shop) == [2]
    assert ready(shop) == (False, "DEPENDENCY")
    shop.undo(run)
    assert ready(shop) == (True, "DUE")
    revert(shop)
    load(shop, 2, orders=[("N", 1, 11), ("N", 3, 30)])
    steps(shop)
    assert read(shop) == [("A", 1, 11), ("N", 1, 10), ("N", 2, 20), ("N", 3, 30), ("R", 2, None)]


@pytest.mark.usefixtures("by_hand")
def test_a_block_is_whole_changes_and_never_ends_before_the_undo_of_one(shop: Store) -> None:
    """H5: after the correction, the block up to the undone change would be another one."""
    topic(shop, maxstep=2)
    load(shop, 1, orders=[("N", n, n) for n in range(1, 6)])
    first = newest(shop)
    load(shop, 2, orders=[("N", 6, 6)])
    load(shop, 3, orders=[("N", 7, 7)])
    load(shop, 4, orders=[("N", 8, 8)])
    assert steps(shop) == [5, 2, 1]  # one change however large; then as many as fit
    bad = load(shop, 5, orders=[("N", 9, 90)])
    shop.undo(bad)
    undo = newest(shop)
    revert(shop)
    load(shop, 5, orders=[("N", 9, 9)])
    plan = shop.rows("SELECT end_id, row_count FROM omd_lineage.plan('app.f')")
    assert plan == [{"end_id": undo, "row_count": 2}]
    assert undo > first + 3
    assert steps(shop) == [1, 1]
    assert read(shop)[-2:] == [("N", 9, 9), ("R", 9, None)]


def impatient(store: Store) -> Store:
    """A test that fails must not wait for what it holds itself."""
    store.conn.execute("SET statement_timeout = '20s'")
    return store


def in_the_middle(
    store: Store, replaced: Callable[[str, str, str], None], routine: str = "omd.open_block"
) -> None:
    """Let whoever opens a block wait for the advisory lock 42, which this session has."""
    replaced(routine, "BEGIN\n", "BEGIN\n    PERFORM pg_advisory_lock_shared(42);\n")
    store.one("SELECT pg_advisory_lock(42) IS NULL")


def test_an_undo_between_plan_and_read_ends_the_run_and_it_is_planned_anew(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 1)])
    assert steps(shop) == [1]
    bad = load(shop, 2, orders=[("N", 2, 20)])
    in_the_middle(shop, replaced)
    other = impatient(stores())
    doing = background(step, other)
    until_settled(other, doing)
    shop.undo(bad)
    revert(shop)
    load(shop, 2, orders=[("N", 2, 2)])
    shop.one("SELECT pg_advisory_unlock(42)")
    done = doing.result(timeout=30)
    assert done["outcome"] == "ABORTED", done
    assert shop.rows(
        "SELECT execution_status_code AS s, next_run_indicator AS n FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        done["module_instance_id"],
    ) == [{"s": "A", "n": "P"}]
    assert shop.rows("SELECT next, hostid FROM omd_lineage.offsets WHERE topic = 'app.f'") == [
        {"next": None, "hostid": ""}
    ]
    assert ready(shop) == (True, "DUE")
    assert steps(shop) == [1]
    assert read(shop) == [("N", 1, 1), ("N", 2, 2)]


def test_a_planned_block_that_an_undo_has_reached_over_is_planned_anew(shop: Store) -> None:
    topic(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    topic(shop, after_sql=["SELECT 1 / 0"])
    assert step(shop)["outcome"] == "ERROR"
    topic(shop, after_sql=[])
    (former,) = shop.rows("SELECT is_planned, end_id FROM omd_lineage.plan('app.f')")
    assert former == {"is_planned": True, "end_id": newest(shop)}
    shop.undo(bad)
    (plan,) = shop.rows("SELECT is_planned, end_id FROM omd_lineage.plan('app.f')")
    assert plan == {"is_planned": False, "end_id": newest(shop)}
    revert(shop)
    load(shop, 2, orders=[("N", 2, 2)])
    steps(shop)
    assert read(shop) == [("N", 2, 2)]


def test_an_undo_waits_for_readers_and_no_new_one_begins_before_it(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    """H4: under overlapping readers it would wait for ever."""
    topic(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    in_the_middle(shop, replaced, "omd_lineage._require_block_views")
    other, undoing = impatient(stores()), impatient(stores())
    doing = background(step, other)
    until_settled(other, doing)
    taking = background(undoing.undo, bad)
    until_settled(undoing, taking)
    assert ready(shop)[0] is False
    assert step(shop)["outcome"] in {"MUTEX", "NOJOBS"}
    # A reader of another topic does not begin, though the lock would let it.
    assert shop.rows("SELECT p_is_held FROM omd.hold_source('facts.shop')") == [
        {"p_is_held": False}
    ]
    shop.one("SELECT pg_advisory_unlock(42)")
    assert doing.result(timeout=30)["outcome"] == "DONE"
    assert taking.result(timeout=30) == [bad]
    assert ready(shop) == (True, "DUE")


@pytest.mark.parametrize("ended_by", ["OM153", "57014"])
def test_an_undo_that_comes_to_nothing_stops_no_reader(
    shop: Store,
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    cancelled: Callable[..., Any],
    ended_by: str,
) -> None:
    """It had closed the position for a minute and a half, and committed that."""
    topic(shop)
    run = load(shop, 2, orders=[("N", 1, 1)])
    steps(shop)
    if ended_by == "OM153":
        shop.conn.execute("UPDATE omd_delivery.delivery SET delivery_status = 'PERSISTED'")
        shop.agree("desk", layer_code="GDAL")
        shop.call("omd_facts.open_delivery", agreement_code="desk")
        shop.conn.execute("UPDATE gdal_shop.orders SET amount = 2")
    else:
        load(shop, 3, orders=[("A", 1, 2)])
        replaced("omd_facts.undo_loads", "BEGIN\n", "BEGIN\n    PERFORM pg_sleep(60);\n")
    undoing = background(shop.undo, run)
    with pytest.raises(psycopg.Error) as caught:
        undoing.result(timeout=60) if ended_by == "OM153" else cancelled(shop, undoing)
    assert caught.value.sqlstate == ended_by, caught.value
    assert ready(shop) == (True, "DUE")
    assert steps(shop) == [1]


def test_a_begin_that_can_not_undo_says_so_at_once_and_stops_no_reader(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    """It had closed the position for a minute and a half each time, to be refused afterwards."""
    topic(shop)
    run = load(shop, 2, orders=[("N", 1, 1)])
    shop.conn.execute("UPDATE omd_delivery.delivery SET delivery_status = 'PERSISTED'")
    shop.agree("desk", layer_code="GDAL")
    shop.call("omd_facts.open_delivery", agreement_code="desk")
    shop.conn.execute("UPDATE gdal_shop.orders SET amount = 2")
    shop.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=run)
    in_the_middle(shop, replaced, "omd_lineage._require_block_views")
    other = impatient(stores())
    doing = background(step, other)
    until_settled(other, doing)
    with pytest.raises(psycopg.Error) as caught:
        shop.call("omd_facts.load", interface_code="shop")
    assert caught.value.sqlstate == "OM153"
    assert shop.rows("SELECT p_is_held FROM omd.hold_source('facts.shop')") == [{"p_is_held": True}]
    shop.one("SELECT pg_advisory_unlock(42)")
    assert doing.result(timeout=30)["outcome"] == "DONE"


def test_what_a_restatement_goes_back_over_is_undone_although_no_step_begins(
    shop: Store, replaced: Callable[[str, str, str], None]
) -> None:
    """The offset had gone back, and what the steps had written stood beside what was read again."""
    topic(shop, merge_key=["nbr"], maxstep=1)
    for day in (1, 2):
        load(shop, day, orders=[("N", day, day)])
    assert steps(shop) == [1, 1]
    # As if an undo had closed the position behind the claim.
    (text,) = shop.rows("SELECT pg_get_functiondef('omd_lineage._next_changes'::regproc) AS text")
    replaced("omd_lineage._next_changes", "IF v_topic.is_closed THEN", "IF TRUE THEN")
    shop.conn.execute("CALL omd_lineage.restate('app.f', '-infinity', 'infinity')")
    shop.conn.execute(text["text"])
    assert steps(shop) == [1, 1]
    assert read(shop) == [("N", 1, 1), ("N", 2, 2)]
    assert shop.rows("SELECT kind FROM omd_report.lineage_gaps") == []
    standing = (
        "SELECT count(*) FROM omd.source_control AS s INNER JOIN omd.module_instance AS i"
        " USING (module_instance_id) WHERE s.source_code = 'facts.shop'"
        " AND i.execution_status_code = 'S' AND i.rolled_back_by_module_instance_id IS NULL"
    )
    assert shop.one(standing) == 2


def test_changes_of_other_entities_are_passed_without_a_run(shop: Store) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 1)])
    steps(shop)
    before = shop.one("SELECT count(*) FROM omd.module_instance")
    load(shop, 2, customers=[("N", 1, "Ann")])
    loaded = shop.one("SELECT count(*) FROM omd.module_instance") - before
    assert step(shop)["outcome"] == "NOJOBS"
    assert ready(shop) == (False, "DEPENDENCY")
    assert shop.one("SELECT count(*) FROM omd.module_instance") == before + loaded
    assert shop.one("SELECT (last).id FROM omd_lineage.offsets WHERE topic = 'app.f'") == newest(
        shop
    )
    # Both entities: their keys are one block.
    topic(shop, "gdal_shop.orders", "gdal_shop.customers")
    load(shop, 3, customers=[("N", 2, "Bob")])
    assert step(shop)["outcome"] == "DONE"


def test_a_runner_takes_steps_with_the_rights_on_the_views_alone(
    shop: Store, stores: Callable[..., Store]
) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 1)])
    shop.conn.execute(
        "GRANT USAGE ON SCHEMA app, changes_shop TO omd_runner;"
        "GRANT SELECT, INSERT, DELETE ON app.f, app.v TO omd_runner;"
        "GRANT SELECT ON changes_shop.orders TO omd_runner"
    )
    runner = stores()
    runner.conn.execute("SET ROLE omd_runner")
    assert steps(runner) == [1]
    assert runner.rows("SELECT reason FROM omd_report.lineage_ready") == [{"reason": "DEPENDENCY"}]
    shop.conn.execute("REVOKE ALL ON SCHEMA changes_shop, app FROM omd_runner")


def test_a_topic_that_begins_at_a_time_reads_the_changes_after_it(shop: Store) -> None:
    load(shop, 1, orders=[("N", 1, 1)])
    at = shop.one("SELECT clock_timestamp()")
    load(shop, 2, orders=[("N", 2, 2)])
    topic(shop, start_pos=at)
    assert steps(shop) == [1]
    assert read(shop) == [("N", 2, 2)]


def test_the_lag_is_the_age_of_the_oldest_change_that_is_not_read(shop: Store) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 1)])
    steps(shop)
    times = []
    for day in (2, 3, 4):
        load(shop, day, orders=[("N", day, day)])
        times.append(shop.one("SELECT pos FROM omd.source WHERE source_code = 'facts.shop'"))
    look = "SELECT now() - lag FROM omd_report.lineage_ready WHERE topic = 'app.f'"
    assert shop.one(look) == times[0]
    topic(shop, maxstep=1)
    step(shop)
    assert shop.one(look) == times[1]
    steps(shop)
    assert shop.one("SELECT lag = '0' FROM omd_report.lineage_ready WHERE topic = 'app.f'")
    assert shop.one("SELECT repeat = '0' FROM omd_lineage.topic WHERE topic = 'app.f'")


def test_keys_are_kept_for_a_topic_until_it_is_removed(shop: Store) -> None:
    topic(shop)
    readers = "SELECT table_code, module_code FROM omd.source_readers('facts.shop')"
    assert shop.rows(readers) == [{"table_code": "gdal_shop.orders", "module_code": "app.f"}]
    Flow.call(shop, "omd_lineage.remove_topic", topic="app.f")
    assert shop.rows(readers) == []


def test_a_reload_reads_as_of_the_end_of_its_block(shop: Store) -> None:
    shop.conn.execute(
        "CREATE OR REPLACE VIEW app.whole AS SELECT o.nbr, o.amount FROM asof_shop.orders AS o"
    )
    topic(shop, processor="RELOAD", transforms=["app.whole"])
    load(shop, 1, orders=[("N", 1, 1), ("N", 2, 2)])
    assert steps(shop) == [2]
    load(shop, 2, orders=[("R", 1, None)])
    assert steps(shop) == [1]
    assert read(shop) == [(None, 2, 2)]
    assert ready(shop) == (False, "DEPENDENCY")


def test_a_range_that_ends_before_an_undo_is_taken_again_as_a_whole(shop: Store) -> None:
    topic(shop, maxstep=1)
    load(shop, 1, orders=[("N", 1, 1)])
    bad = load(shop, 2, orders=[("N", 2, 20)])
    steps(shop)
    shop.undo(bad)
    revert(shop)
    load(shop, 2, orders=[("N", 2, 2)])
    steps(shop)
    # It came, went and came again.
    assert [r for r in read(shop) if r[1] == 2] == [("N", 2, 2), ("N", 2, 20), ("R", 2, None)]
    shop.conn.execute("CALL omd_lineage.restate('app.f', '-infinity', 'infinity')")
    steps(shop)
    assert read(shop) == [("N", 1, 1), ("N", 2, 2), ("R", 2, None)]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ({"source_offset": "PROBE"}, "OM013", "p_source_offset"),
        ({"transforms": ["app.plain"]}, "OM213", "changes_shop.orders"),
    ],
)
def test_what_does_not_fit_is_refused(
    shop: Store, arguments: dict[str, Any], code: str, said: str
) -> None:
    shop.conn.execute(
        "CREATE OR REPLACE VIEW app.plain AS SELECT o.nbr, o.amount FROM gdal_shop.orders AS o"
    )
    with pytest.raises(psycopg.Error, match=said) as caught:
        topic(shop, **arguments)
    assert caught.value.sqlstate == code
    if code == "OM213":
        hint = caught.value.diag.message_hint or ""
        assert "CREATE OR REPLACE VIEW app.plain AS SELECT … FROM changes_shop.orders AS t;" in hint


def test_an_entity_without_changes_is_no_source(store: Store) -> None:
    store.set_up(ORDERS, entity("plain", ["nbr"], ["nbr"]))
    store.conn.execute(
        "CREATE SCHEMA IF NOT EXISTS app; DROP TABLE IF EXISTS app.f CASCADE;"
        "CREATE TABLE app.f (nbr int, omd_insert_module_instance_id bigint);"
        "CREATE OR REPLACE VIEW app.p AS SELECT p.nbr FROM gdal_shop.plain AS p"
    )
    with pytest.raises(psycopg.Error) as caught:
        topic(store, "gdal_shop.plain", transforms=["app.p"])
    assert caught.value.sqlstate == "OM254"


def test_a_source_that_is_registered_is_of_the_kind_of_the_view(shop: Store) -> None:
    Flow.call(shop, "omd_lineage.register_topic", topic="gdal_shop.orders")
    topic(shop)
    load(shop, 1, orders=[("N", 1, 1)])
    assert shop.rows(
        "SELECT problem, newest_id FROM omd_report.sources WHERE source = 'gdal_shop.orders'"
    ) == [{"problem": None, "newest_id": newest(shop)}]
    assert steps(shop) == [1]
    with pytest.raises(psycopg.Error) as caught:
        Flow.call(
            shop, "omd_lineage.register_topic", topic="asof_shop.orders", source_offset="CLOCK"
        )
    assert caught.value.sqlstate == "OM013"


def test_a_clock_that_was_set_back_does_not_stop_a_topic(shop: Store) -> None:
    """Changes have a clock that never goes back, so those to come lie ahead of the server's."""
    topic(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    assert steps(shop) == [1]
    shop.owner("UPDATE omd_facts.change SET change_datetime = change_datetime + interval '1 hour'")
    shop.owner(
        "UPDATE omd.source SET pos = pos + interval '1 hour' WHERE source_code = 'facts.shop'"
    )
    shop.owner(
        "UPDATE omd_lineage.offsets SET last = ROW((last).pos + interval '1 hour', (last).id),"
        " run = run + interval '1 hour'"
    )
    assert ready(shop) == (False, "DEPENDENCY")
    load(shop, 2, orders=[("N", 2, 20)])
    assert ready(shop) == (True, "DUE")
    assert steps(shop) == [1]
    assert ready(shop) == (False, "DEPENDENCY")
    assert [row[1:] for row in read(shop)] == [(1, 10), (2, 20)]


def test_an_undo_that_is_done_leaves_no_time_that_a_clock_set_back_would_meet(shop: Store) -> None:
    topic(shop)
    run = load(shop, 1, orders=[("N", 1, 10)])
    shop.undo(run)
    closed = "SELECT closed_until FROM omd.source WHERE source_code = 'facts.shop'"
    assert shop.rows(closed) == [{"closed_until": None}]
