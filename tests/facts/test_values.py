"""Values and rows that writers may not bring, and keys that are deleted physically."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import PERSON, PHONE, attribute, entity

if TYPE_CHECKING:
    from facts.store import Store

MEASURE = entity(
    "measure",
    ["code"],
    [
        ("code", "text"),
        ("day", "date"),
        ("seen", "timestamptz"),
        ("local", "timestamp"),
        ("size", "double precision"),
        ("price", "numeric(9,2)"),
    ],
)


def write(store: Store, statement: str) -> None:
    store.conn.execute(statement.encode())


def refused(store: Store, sqlstate: str, statement: str) -> dict[str, Any]:
    with pytest.raises(psycopg.Error) as caught:
        write(store, statement)
    assert caught.value.sqlstate == sqlstate, caught.value
    detail: dict[str, Any] = caught.value.detail  # type: ignore[attr-defined]
    return detail


def opened(store: Store, **arguments: Any) -> None:
    store.agree("desk", layer_code="GDAL", **arguments)
    store.call("omd_facts.open_delivery", agreement_code="desk", physical_delete_allowed=True)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("day", ["infinity", "-infinity", "0001-01-01 BC", "10000-01-01"]),
        ("seen", ["infinity", "-infinity", "10000-01-01 00:00+00", "0001-01-01 BC"]),
        ("local", ["infinity", "-infinity", "10000-01-01", "0001-12-31 BC"]),
        ("size", ["NaN", "Infinity", "-Infinity"]),
        ("price", ["NaN"]),
    ],
)
def test_what_no_delivery_may_bring_is_refused_at_the_view(
    store: Store, column: str, values: list[str]
) -> None:
    store.set_up(MEASURE)
    opened(store)
    view = "gdal_shop.measure"
    write(store, f"INSERT INTO {view} (code) VALUES ('a')")
    for value in values:
        insert = f"INSERT INTO {view} (code, {column}) VALUES ('b', '{value}')"
        told = refused(store, "OM061", insert)
        assert (told["attribute"], told["entity_code"]) == (column, "measure")
        assert refused(store, "OM061", f"UPDATE {view} SET {column} = '{value}'")["value"]
    write(store, f"UPDATE {view} SET day = '9999-12-31', local = '9999-12-31 23:59:59.999999'")
    write(store, f"UPDATE {view} SET seen = '0001-01-01 00:00+00', size = 1e300, price = 1")
    # What is there since before hinders no other write, and no file takes it.
    table = "cfl_shop.s_measure_properties_now"
    store.agree("x", layer_code="EXPORT")
    write(store, f"UPDATE {table} SET {column} = '{values[0]}'")
    write(store, f"UPDATE {view} SET {'size = 2' if column != 'size' else 'price = 2'}")
    if column != "size":
        export = store.call("omd_facts.create_export", agreement_code="x", target_uri="/out")
        run = store.call("omd_facts.begin_export", delivery_id=export["delivery_id"])
        told = refused(store, "OM162", run["plan"][0]["query"])
        assert told["attribute"] == column


def test_a_key_that_no_index_takes_is_refused_at_the_view(store: Store) -> None:
    store.set_up(MEASURE)
    opened(store)
    insert = "INSERT INTO gdal_shop.measure (code) SELECT string_agg(md5(g::text), '')"
    told = refused(store, "OM061", f"{insert} FROM generate_series(1, 600) AS g")
    assert told["attribute"] == "code"
    write(store, f"{insert} FROM generate_series(1, 80) AS g")


SHOP = [
    entity("area", ["code"], [("code", "text(2)"), "size"]),
    entity(
        "branch",
        ["nbr"],
        ["nbr", ("code", "text(2)"), "size"],
        relationships=[
            {"name": "in", "parent": "area", "columns": ["code"], "context_filter": True}
        ],
    ),
    entity(
        "sale",
        ["nbr", "line"],
        ["nbr", "line", "size"],
        relationships=[{"name": "of", "parent": "branch", "columns": ["nbr"]}],
    ),
]


def test_a_writer_is_bound_to_what_the_agreement_names(store: Store) -> None:
    store.set_up(*SHOP)
    store.agree("all", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="all")
    for code in ("NL", "DE"):
        write(store, f"INSERT INTO gdal_shop.area (code) VALUES ('{code}')")
    write(store, "INSERT INTO gdal_shop.branch (nbr, code) VALUES (1, 'NL'), (2, 'DE')")
    write(store, "INSERT INTO gdal_shop.sale (nbr, line) VALUES (1, 1), (2, 1)")
    opened(store, entities=["branch", "sale"], context={"area": [{"code": "NL"}]})
    told = refused(store, "OM062", "INSERT INTO gdal_shop.area (code) VALUES ('FR')")
    assert (told["agreement_code"], told["key"]) == ("desk", {"code": "FR"})
    refused(store, "OM062", "UPDATE gdal_shop.area SET size = 1")
    refused(store, "OM062", "DELETE FROM gdal_shop.area WHERE code = 'NL'")
    write(store, "UPDATE gdal_shop.branch SET size = 1 WHERE code = 'NL'")
    write(store, "INSERT INTO gdal_shop.sale (nbr, line) VALUES (1, 2)")
    write(store, "DELETE FROM gdal_shop.sale WHERE nbr = 1 AND line = 1")
    for statement in (
        "UPDATE gdal_shop.branch SET size = 1 WHERE nbr = 2",
        "UPDATE gdal_shop.branch SET code = 'DE' WHERE nbr = 1",
        "UPDATE gdal_shop.branch SET code = 'NL' WHERE nbr = 2",
        "UPDATE gdal_shop.branch SET code = NULL WHERE nbr = 1",
        "INSERT INTO gdal_shop.branch (nbr, code) VALUES (3, 'DE')",
        "INSERT INTO gdal_shop.branch (nbr) VALUES (3)",
        "INSERT INTO gdal_shop.sale (nbr, line) VALUES (2, 2)",
        "DELETE FROM gdal_shop.sale WHERE nbr = 2",
    ):
        refused(store, "OM062", statement)
    # The agreement as it is now.
    store.agree("desk", layer_code="GDAL", entities=["sale"])
    refused(store, "OM062", "UPDATE gdal_shop.branch SET size = 2 WHERE code = 'NL'")


def test_a_wrong_word_deletes_nothing(store: Store) -> None:
    store.set_up(PERSON)
    opened(store)
    write(store, "INSERT INTO gdal_shop.person (nbr) VALUES (1)")
    for word in ("PHYSICALLY", "physical", " PHYSICAL"):
        write(store, f"SET omd_facts.delete_type = '{word}'")
        assert refused(store, "OM063", "DELETE FROM gdal_shop.person")["value"] == word
    for word in ("", "LOGICAL"):
        write(store, f"SET omd_facts.delete_type = '{word}'")
        write(store, "INSERT INTO gdal_shop.person (nbr) SELECT 2 WHERE FALSE")
    assert len(store.now("person")) == 1


@pytest.mark.parametrize("way", ["view", "delivery"])
def test_nothing_is_left_of_who_is_erased(store: Store, way: str) -> None:
    store.set_up(PERSON, PHONE)
    people = [("N", n, f"secret{n}", "1990", f"name{n}", None) for n in range(1, 30)]
    store.put(1, person=people, phone=[("N", n, "home", f"call{n}") for n in range(1, 30)])
    store.put(2, person=[("A", 7, "secret7", "1990", "mine7", None)])
    write(store, "ANALYZE")
    assert "secret7" in str(store.rows("SELECT most_common_vals, histogram_bounds FROM pg_stats"))
    if way == "delivery":
        store.queue(3, delete_type="PHYSICAL", person=[("R", 7, None, None, None, None)])
        assert store.take()["outcome"] == "PERSISTED"
        schemas = ("cfl_shop", "lvl_shop")
    else:
        opened(store)
        schemas = ("cfl_shop",)
        write(store, "SET omd_facts.delete_type = 'PHYSICAL'")
        write(store, "DELETE FROM gdal_shop.person WHERE nbr = 7")
    id = "(SELECT acm_id FROM cfl_shop.h_person WHERE nbr = 7)"
    for table in ("properties", "mail", "birth", "phone"):
        assert store.rows(f"SELECT * FROM cfl_shop.s_person_{table} WHERE acm_id = {id}") == []
    told = store.rows(
        "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text FROM pg_stats"
        " WHERE schemaname = ANY(%s)",
        list(schemas),
    )
    for value in ("secret7", "mine7", "name7", *(["call7"] if way != "delivery" else [])):
        found = [row for row in told if f"{value}," in str(row) or f"{value}}}" in str(row)]
        assert found == [], value
    assert store.seen("cfl_shop.h_person WHERE nbr = 7", "acm_exists_ind", "1") == [(0,)]
    removed = {
        row["table_name"]
        for row in store.rows("SELECT table_name FROM omd_delivery.removal WHERE row_count > 0")
    }
    assert {f"cfl_shop.s_person_{t}" for t in ("properties", "mail", "birth", "phone")} <= removed
    assert store.sound()


def test_a_load_that_fails_names_the_row_and_can_be_reverted(store: Store) -> None:
    thing = {
        "name": "thing",
        "key": ["nbr"],
        "attributes": [attribute("nbr"), attribute("code", "text(9)")],
        "facts": {"contexts": [{"name": "by", "kind": "alternate_key", "attributes": ["code"]}]},
        "alternate_keys": [{"name": "by", "attributes": ["code"]}],
    }
    store.set_up(thing)
    store.put(1, thing=[("N", 1, "a"), ("N", 2, "b")])
    opened(store)
    write(store, "INSERT INTO gdal_shop.thing (nbr, code) VALUES (9, 'taken')")
    at = store.one("SELECT clock_timestamp()")
    store.push(at, thing=[("A", 1, "b"), ("A", 2, "a"), ("N", 3, "taken"), ("N", 4, "d")])
    answer = store.take()
    assert answer["outcome"] == "FAILED"
    (told,) = store.rows(
        "SELECT event_detail, event_return_code_details FROM omd.event_log"
        " WHERE module_instance_id = %s",
        answer["module_instance_id"],
    )
    assert told["event_return_code_details"] == "OM161"
    for word in ('"shop"', "thing", '{"nbr": 3}', '"by"'):
        assert word in answer["detail"]
    assert "taken" not in str(told)
    (item,) = store.rows(
        "SELECT queue_status, module_instance_id, started_datetime FROM omd_delivery.delta_queue"
        " WHERE queue_status <> 'PERSISTED'"
    )
    assert item == {"queue_status": "QUEUED", "module_instance_id": None, "started_datetime": None}
    # It fails again, as long as nobody mends it.
    assert store.take()["outcome"] == "FAILED"


def test_what_a_load_has_failed_to_take_is_reverted(store: Store) -> None:
    thing = entity(
        "thing",
        ["nbr"],
        ["nbr", ("code", "text(9)")],
        facts={"contexts": [{"name": "by", "kind": "alternate_key", "attributes": ["code"]}]},
    )
    notices: list[str] = []
    store.conn.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    store.set_up(thing)
    assert any('context "by" is an alternate key' in notice for notice in notices)
    delivery = store.queue(1, thing=[("N", 1, "a"), ("N", 2, "a")])
    answer = store.take()
    assert answer["outcome"] == "FAILED"
    assert '{"nbr": 1}' in answer["detail"]
    store.call("revert_delivery", delivery_id=delivery, reason="twice")
    store.put(2, thing=[("N", 1, "a"), ("N", 2, "b")])
    assert store.now("thing") == [(1, "a"), (2, "b")]


def test_an_index_of_texts_takes_texts_of_any_length(store: Store) -> None:
    note = entity(
        "note",
        ["nbr"],
        ["nbr", ("text", "text"), ("more", "text"), ("short", "text(20)")],
        facts={"indexes": [["text"], ["more", "short"], ["short"]]},
    )
    store.set_up(note)
    long = store.one("SELECT string_agg(md5(g::text), '') FROM generate_series(1, 600) AS g")
    store.put(1, note=[("N", 1, long, long, "s"), ("N", 2, "b", "b", "s")])
    store.put(2, note=[("A", 1, f"{long}x", long, "s")])
    assert store.one("SELECT count(*) FROM gdal_shop.note WHERE text = %s", f"{long}x") == 1
    opened(store)
    write(store, f"UPDATE gdal_shop.note SET more = '{long}y'")
    kinds = store.seen("pg_indexes WHERE schemaname = 'cfl_shop'", "indexdef", "1")
    assert sum("USING hash (text)" in kind for (kind,) in kinds) == 1
    assert sum('"left"(more, 250)' in kind for (kind,) in kinds) == 1
    assert store.call("omd_facts.deploy", interface_code="shop")["statements"] == 0
