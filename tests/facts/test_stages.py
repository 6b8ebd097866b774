"""Stages over offered views of facts: a window is a block of changes, each decided once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from facts.store import Store, entity
from facts.test_changes import ORDERS, keeping
from facts.test_topics import impatient, in_the_middle, load, newest, revert

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow
    from support.scenes import Built

CUSTOMERS = keeping(entity("customers", ["nbr"], ["nbr", ("name", "text(20)")]))
STAGE = {
    "stage": "care",
    "mode": "KEY",
    "keys": [{"column": "nbr"}],
    "ruleset": "f",
    "links": [{"name": "a", "source": "gdal_shop.orders", "arrival": "acm_id"}],
    "outputs": [{"name": "out", "table": "app.out"}],
    "window": {"by": "CHANGES"},
    "start": {"when": "NEWS"},
}
CHANGES = [{"name": "a", "source": "changes_shop.orders", "arrival": "acm_id"}]


def orders(store: Store) -> None:
    """Make the interface, and a ruleset that puts out what it gets."""
    store.set_up(ORDERS, CUSTOMERS, entity("plain", ["nbr"], ["nbr"]))
    store.conn.execute(
        "CREATE SCHEMA app;"
        "CREATE TABLE app.out (nbr int, amount int, acm_record_ind text, acm_change_id bigint,"
        " omd_insert_module_instance_id bigint, row_id bigint GENERATED ALWAYS AS IDENTITY);"
        "CREATE FUNCTION app.f(p jsonb) RETURNS jsonb LANGUAGE sql STABLE"
        " AS $$ SELECT jsonb_build_object('out', p -> 'a') $$"
    )
    ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "app.f"}
    store.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)


@pytest.fixture
def shop(built: Built) -> Store:
    return built(Store, orders)


def define(store: Store, **changes: Any) -> None:
    document = {k: v for k, v in {**STAGE, **changes}.items() if v is not None}
    store.call("omd_decision.define_stage", stage=Jsonb(document))


def run(store: Store, **arguments: Any) -> dict[str, Any]:
    return store.call("omd_decision.run_stage", stage_code="care", **arguments)


def decided(store: Store, **arguments: Any) -> list[Any]:
    """Run the stage; return what it put out: indicator, key and amount."""
    done = run(store, **arguments)
    assert done["execution_status_code"] == "S", done
    found = store.rows(
        "SELECT acm_record_ind AS i, nbr, amount FROM app.out"
        " WHERE omd_insert_module_instance_id = %s ORDER BY nbr, i",
        done["module_instance_id"],
    )
    return [tuple(row.values()) for row in found]


def nothing(store: Store, **arguments: Any) -> str:
    """Run the stage, which finds nothing; return why."""
    before = store.one("SELECT count(*) FROM omd.module_instance")
    done = run(store, **arguments)
    assert (done["execution_status_code"], done["module_instance_id"]) == ("C", None), done
    assert store.one("SELECT count(*) FROM omd.module_instance") == before
    return str(done["detail"])


def work(store: Store) -> tuple[Any, ...]:
    (row,) = store.rows("SELECT state, reason, waits_for FROM omd_report.work WHERE code = 'care'")
    return tuple(row.values())


def problems(store: Store, **changes: Any) -> tuple[dict[str, str], str]:
    with pytest.raises(psycopg.Error) as caught:
        define(store, **changes)
    assert caught.value.sqlstate == "OM082"
    detail = store.one("SELECT %s::jsonb", caught.value.diag.message_detail)
    return {p["path"]: p["text"] for p in detail["problems"]}, str(caught.value.diag.message_hint)


@pytest.mark.usefixtures("by_hand")
def test_each_change_is_decided_once(shop: Store) -> None:
    """A3: a link by gdal_ has the keys that exist, without the number of the change."""
    define(shop)
    assert "no change" in nothing(shop)
    assert work(shop) == ("IDLE", None, None)
    load(shop, 1, orders=[("N", 1, 10), ("N", 2, 20)])
    assert work(shop) == ("READY", "NEWS", None)
    assert decided(shop) == [("N", 1, 10), ("N", 2, 20)]
    assert work(shop) == ("IDLE", None, None)
    assert "no change" in nothing(shop)
    load(shop, 2, orders=[("A", 1, 11), ("R", 2, None), ("N", 3, 30)])
    assert decided(shop) == [("A", 1, 11), ("N", 3, 30)]
    assert shop.one("SELECT count(acm_change_id) FROM app.out") == 0
    assert shop.rows(
        "SELECT source_code, end_id FROM omd.source_control"
        " ORDER BY module_instance_id DESC LIMIT 1"
    ) == [{"source_code": "facts.shop", "end_id": newest(shop)}]
    # Without the run the keys are there again, and no row twice.
    first = shop.one("SELECT min(module_instance_id) FROM omd_decision.run")
    shop.conn.execute("CALL omd.set_next_run_indicator('R', p_module_instance_id => %s)", [first])
    assert work(shop) == ("READY", "ROLLBACK", None)
    assert decided(shop) == [("N", 1, 11), ("N", 3, 30)]
    assert shop.one("SELECT count(*) FROM app.out") == 2


def test_a_link_by_changes_has_the_keys_that_are_gone_too(shop: Store) -> None:
    define(shop, links=CHANGES)
    load(shop, 1, orders=[("N", 1, 10), ("N", 2, 20)])
    decided(shop)
    load(shop, 2, orders=[("R", 2, None)])
    assert decided(shop) == [("R", 2, 20)]
    assert shop.one("SELECT max(acm_change_id) FROM app.out") == newest(shop)


def test_a_correction_of_the_same_moment_is_decided(shop: Store) -> None:
    """H5: a block goes to the undo, whatever end was asked for."""
    define(shop, links=CHANGES)
    load(shop, 1, orders=[("N", 1, 10)])
    decided(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    undone = newest(shop)
    shop.undo(bad)
    revert(shop)
    load(shop, 2, orders=[("N", 2, 21)])
    last = newest(shop)
    assert decided(shop, end_id=undone) == [("R", 2, None)]
    read = shop.one("SELECT max(end_id) FROM omd.source_control")
    assert undone < read < last
    assert decided(shop) == [("N", 2, 21)]


def test_an_end_that_is_asked_for(shop: Store) -> None:
    define(shop)
    ends = []
    for day in (1, 2, 3):
        load(shop, day, orders=[("N", day, day)])
        ends.append(newest(shop))
    at = shop.one("SELECT change_datetime FROM omd_facts.change WHERE change_id = %s", ends[1])
    assert decided(shop, end_id=ends[0]) == [("N", 1, 1)]
    assert "no change" in nothing(shop, end_id=ends[0])
    assert decided(shop, end_value=at) == [("N", 2, 2)]
    for arguments, code in (
        ({"end_id": ends[0]}, "OM010"),
        ({"end_id": ends[2] + 1}, "OM013"),
        ({"end_id": -1}, "OM013"),
        ({"end_value": "2001-01-01"}, "OM010"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            run(shop, **arguments)
        assert caught.value.sqlstate == code
    assert decided(shop) == [("N", 3, 3)]
    define(shop, window=None, start=None)
    with pytest.raises(psycopg.Error) as caught:
        run(shop, end_id=1)
    assert caught.value.sqlstate == "OM013"


def test_buffer_links_are_as_of_the_end_of_the_block(shop: Store) -> None:
    buffer = {
        "name": "c",
        "source": "gdal_shop.customers",
        "arrival": "acm_id",
        "buffer": True,
    }
    define(shop, links=[STAGE["links"][0], buffer], keep="TRACE")  # type: ignore[index]
    load(shop, 1, customers=[("N", 1, "Ann")], orders=[("N", 1, 10)])
    end = newest(shop)
    load(shop, 2, customers=[("A", 1, "Eve")])
    decided(shop, end_id=end)
    assert shop.one("SELECT params #>> '{c,0,name}' FROM omd_decision.cycle") == "Ann"


def test_a_preview_shows_the_block_of_the_next_run(shop: Store) -> None:
    define(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    with shop.conn.transaction():
        look = "SELECT key ->> 'nbr' AS nbr, params FROM omd_decision.cycles('care')"
        assert [(r["nbr"], r["params"]["a"][0]["amount"]) for r in shop.rows(look)] == [("1", 10)]
        assert "acm_change_id" not in shop.rows(look)[0]["params"]["a"][0]
    decided(shop)
    assert shop.rows(look) == []


def test_an_undo_between_begin_and_read_ends_the_run_and_it_is_planned_anew(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    define(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    in_the_middle(shop, replaced)
    other = impatient(stores())
    doing = background(run, other)
    until_settled(other, doing)
    shop.undo(bad)
    revert(shop)
    load(shop, 2, orders=[("N", 2, 2)])
    shop.one("SELECT pg_advisory_unlock(42)")
    done = doing.result(timeout=30)
    assert done["execution_status_code"] == "A", done
    assert shop.one("SELECT failures FROM omd_report.work WHERE code = 'care'") == 0
    assert work(shop) == ("READY", "NEWS", None)
    assert decided(shop) == [("N", 2, 2)]


def test_an_undo_waits_for_a_run_that_reads_and_no_new_one_begins(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    define(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    in_the_middle(shop, replaced, "omd_decision._as_read")
    # The begin looks at the document before, so the first wait is that of the run.
    other, undoing = impatient(stores()), impatient(stores())
    doing = background(run, other)
    until_settled(other, doing)
    taking = background(undoing.undo, bad)
    until_settled(undoing, taking)
    shop.one("SELECT pg_advisory_unlock(42)")
    assert doing.result(timeout=30)["execution_status_code"] == "S"
    assert taking.result(timeout=30) == [bad]
    assert work(shop)[:2] == ("READY", "NEWS")
    # It comes again as a change, and what was decided on it stands until somebody mends it.
    reads = shop.rows("SELECT reader_code, module_instance_id FROM omd_report.undone_reads")
    stands = shop.one("SELECT max(module_instance_id) FROM omd_decision.run")
    assert reads == [{"reader_code": "care", "module_instance_id": stands}]


def test_the_commit_of_a_run_on_spark_is_refused_where_its_block_was_undone(shop: Store) -> None:
    """A7: the block is fixed in the begin, and looked at again in the commit."""
    define(shop)
    bad = load(shop, 2, orders=[("N", 2, 20)])
    begun = shop.call("omd_decision.begin_stage", stage_code="care")
    assert begun["block"] == ["facts.shop", None, -9223372036854775808, newest(shop)]
    instance = begun["module_instance_id"]
    query = shop.rows("SELECT query FROM omd_decision.link_query(%s, 'a')", instance)[0]["query"]
    with shop.conn.transaction():
        shop.conn.execute("CALL omd.show_block(%s, %s, %s, %s)", begun["block"])
        (row,) = shop.rows(query)
        assert '"amount": 20' in row["record"]
        assert "acm_change_id" not in row["record"]
    shop.conn.execute("INSERT INTO app.out VALUES (2, 20, 'N', 1, %s)", [instance])
    shop.undo(bad)
    revert(shop)
    load(shop, 2, orders=[("N", 2, 2)])
    with pytest.raises(psycopg.Error) as caught:
        shop.call("omd_decision.commit_stage", module_instance_id=instance, counts=Jsonb({}))
    assert caught.value.sqlstate == "OM114"
    shop.call(
        "omd_decision.fail_stage",
        module_instance_id=instance,
        event_detail="gone",
        event_return_code_details="OM114",
    )
    assert (
        shop.one(
            "SELECT execution_status_code FROM omd.module_instance WHERE module_instance_id = %s",
            instance,
        )
        == "A"
    )
    assert shop.one("SELECT failures FROM omd_report.work WHERE code = 'care'") == 0
    assert decided(shop) == [("N", 2, 2)]
    assert shop.one("SELECT count(*) FROM app.out") == 1


def test_two_runs_at_once_decide_a_change_once(
    shop: Store,
    stores: Callable[..., Store],
    replaced: Callable[[str, str, str], None],
    background: Callable[..., Any],
    until_settled: Callable[[Flow, Any], None],
) -> None:
    """H15: what was read between the look and the begin makes no run."""
    define(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    in_the_middle(shop, replaced, "omd.begin_in_database_run")
    other = impatient(stores())
    doing = background(run, other)
    until_settled(other, doing)
    replaced("omd.begin_in_database_run", "    PERFORM pg_advisory_lock_shared(42);\n", "")
    assert decided(shop) == [("N", 1, 10)]
    before = shop.one("SELECT count(*) FROM omd.module_instance")
    shop.one("SELECT pg_advisory_unlock(42)")
    done = doing.result(timeout=30)
    assert (done["execution_status_code"], done["module_instance_id"]) == ("C", None), done
    assert shop.one("SELECT count(*) FROM omd.module_instance") == before


def test_a_stage_goes_on_by_changes_where_its_window_by_a_column_has_ended(shop: Store) -> None:
    define(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    shop.owner(
        "UPDATE omd_decision.stage_version SET definition ="
        ' definition || \'{"window": {"column": "acm_start_dt", "delay": "00:00:00"}}\''
    )
    shop.owner("SELECT omd_decision._save_window(s.stage_id) FROM omd_decision.stage AS s")
    (unsafe,) = shop.rows("SELECT stage_code, way_out FROM omd_decision.unsafe_windows")
    assert unsafe["stage_code"] == "care"
    assert '"by": "CHANGES"' in unsafe["way_out"]
    assert decided(shop) == [("N", 1, 10)]
    # A window by the time of deliveries ends there; this one has ended by the clock.
    shop.owner("UPDATE omd.source_control SET end_value = now()")
    define(shop)
    assert shop.rows("SELECT * FROM omd_decision.unsafe_windows") == []
    assert "no change" in nothing(shop)
    load(shop, 2, orders=[("N", 2, 20)])
    assert decided(shop) == [("N", 2, 20)]


def test_a_window_by_changes_is_checked(shop: Store) -> None:
    link = STAGE["links"][0]  # type: ignore[index]
    wrong = [
        ({"links": [{**link, "source": "asof_shop.orders"}]}, "links.a.source", "no view gdal_"),
        ({"links": [{**link, "source": "gdal_shop.plain"}]}, "links.a.source", "keeps no changes"),
        ({"links": [{**link, "source": "app.out"}]}, "links.a.source", "no view gdal_"),
        ({"links": [{"name": "a", "arrival": "acm_id"}]}, "links.a.source", "is missing"),
        ({"window": {"by": "CHANGES", "delay": "1 s"}}, "window.delay", "has none"),
        ({"window": {"column": "acm_start_dt"}}, "window.column", "never read"),
        ({"window": {}}, "window.column", "is missing"),
        ({"window": {"by": "ORDER"}}, "window.by", "CHANGES"),
        ({"window": None}, "start.when", "NEWS needs a window"),
        ({"start": {}}, "start", "one of them"),
        ({"start": {"when": "NEWS", "every": "1 min"}}, "start", "one of them"),
        ({"start": {"every": "0"}}, "start.every", "more than 0"),
        ({"start": {"when": "OFTEN"}}, "start.when", "NEWS"),
    ]
    for changes, path, text in wrong:
        found, hint = problems(shop, **changes)
        assert text in found[path], (changes, found)
        if "facts" in found[path] or path == "window.column":
            assert '{"by": "CHANGES"}' in hint
    define(shop)
    readers = shop.rows("SELECT table_code, end_id FROM omd.source_readers('facts.shop')")
    assert readers == [{"table_code": "gdal_shop.orders", "end_id": None}]
