"""What a load makes of deltas: a vector per construct of the Unified Anchor Model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from facts.store import entity

if TYPE_CHECKING:
    from facts.store import Store

PLAIN = entity("thing", ["nbr"], ["nbr", ("name", "text(20)")])


def test_a_key_is_new_changed_deleted_and_new_again(store: Store) -> None:
    store.set_up(PLAIN)
    store.put(1, thing=[("N", 1, "aap")])
    store.put(2, thing=[("A", 1, "noot")])
    store.put(3, thing=[("A", 1, "mies")])
    assert store.now("thing") == [(1, "mies")]
    store.put(4, thing=[("R", 1, None)])
    assert store.now("thing") == []
    assert store.seen("cfl_shop.h_thing", "acm_exists_ind", "1") == [(0,)]
    store.put(5, thing=[("N", 1, "mies")])
    assert store.history("thing", "nbr, name") == [
        ("N", 1, 2, 1, "aap"),
        ("A", 2, 3, 1, "noot"),
        ("A", 3, 4, 1, "mies"),
        ("R", 4, 5, 1, "mies"),
        ("N", 5, None, 1, "mies"),
    ]
    assert (
        store.one(
            "SELECT extract(day FROM acm_last_created_dt AT TIME ZONE 'UTC')::integer"
            " FROM cfl_shop.h_thing"
        )
        == 5
    )
    assert [
        store.seen(f"asof_shop.thing('2020-01-0{day} 12:00:00+00')", "nbr, name")
        for day in range(1, 6)
    ] == [[(1, "aap")], [(1, "noot")], [(1, "mies")], [], [(1, "mies")]]
    assert store.sound()


CARRIER = entity("carrier", ["code"], [("code", "text(2)"), ("name", "text(20)")])
FLIGHT = entity(
    "flight",
    ["carrier", "nbr"],
    [("carrier", "text(2)"), "nbr", ("origin", "text(3)"), "delay"],
    relationships=[
        {"name": "of", "parent": "carrier", "columns": ["carrier"], "context_filter": False},
        {"name": "start", "parent": "airport", "columns": ["origin"]},
    ],
)
AIRPORT = entity("airport", ["code"], [("code", "text(3)"), ("city", "text(20)")])


def test_parents_that_are_not_delivered_are_placeholders_until_they_are(store: Store) -> None:
    store.set_up(FLIGHT, CARRIER, AIRPORT)
    store.put(1, flight=[("N", "AA", 1, "EWR", 5), ("N", "AA", 2, None, 6)])
    keys = "code, acm_exists_ind, acm_latest_start_dt IS NULL AS fresh"
    assert store.seen("cfl_shop.h_carrier", keys) == [("AA", 0, True)]
    assert store.seen("cfl_shop.h_airport", keys) == [("EWR", 0, True)]
    assert store.now("carrier") == []
    links = store.seen(
        "gdal_shop.flight AS f LEFT JOIN cfl_shop.h_carrier AS c ON f.acm_fk_of = c.acm_id"
        " LEFT JOIN cfl_shop.h_airport AS a ON f.acm_fk_start = a.acm_id",
        "f.nbr, c.code AS carrier, a.code AS airport",
    )
    assert links == [(1, "AA", "EWR"), (2, "AA", None)]
    ids = store.seen("cfl_shop.h_carrier", "acm_id, 1 AS one")
    store.put(
        2,
        carrier=[("N", "AA", "American")],
        airport=[("N", "JFK", "New York")],
        flight=[("A", "AA", 1, "JFK", 5)],
    )
    assert store.seen("cfl_shop.h_carrier", "acm_id, 1 AS one") == ids
    assert store.now("carrier") == [("AA", "American")]
    assert store.now("airport") == [("JFK", "New York")]
    assert store.seen(
        "gdal_shop.flight AS f INNER JOIN cfl_shop.h_airport AS a ON f.acm_fk_start = a.acm_id",
        "f.nbr, a.code AS airport",
    ) == [(1, "JFK")]
    assert store.history("flight", "nbr, origin, delay") == [
        ("N", 1, 2, 1, "EWR", 5),
        ("A", 2, None, 1, "JFK", 5),
        ("N", 1, None, 2, None, 6),
    ]
    assert store.sound()


def test_contexts_of_one_anchor_have_histories_of_their_own(store: Store) -> None:
    store.set_up(
        entity(
            "person",
            ["nbr"],
            ["nbr", ("email", "text(20)"), ("born", "date"), ("name", "text(20)")],
            facts={
                "contexts": [
                    {"name": "mail", "kind": "alternate_key", "attributes": ["email"]},
                    {"name": "birth", "kind": "immutable", "attributes": ["born"]},
                ],
                "indexes": [["name"]],
            },
        )
    )
    store.put(1, person=[("N", 1, "a", "2000-01-01", "x"), ("N", 2, "b", None, "y")])
    # Values of the alternate key change places; what is immutable stays once it is given.
    store.put(2, person=[("A", 1, "b", "2001-01-01", "x"), ("A", 2, "a", "2002-02-02", "z")])
    assert store.seen("gdal_shop.person", "nbr, email, born::text, name") == [
        (1, "b", "2000-01-01", "x"),
        (2, "a", "2002-02-02", "z"),
    ]
    store.put(3, person=[("R", 1, None, None, None)])
    store.put(4, person=[("N", 1, "c", "2009-09-09", "x"), ("A", 2, "b", "2002-02-02", "z")])
    assert store.history("person", "nbr, email, born::text, name") == [
        ("N", 1, 2, 1, "a", "2000-01-01", "x"),
        ("A", 2, 3, 1, "b", "2000-01-01", "x"),
        ("R", 3, 4, 1, "b", "2000-01-01", "x"),
        ("N", 4, None, 1, "c", "2000-01-01", "x"),
        ("N", 1, 2, 2, "b", None, "y"),
        ("A", 2, 4, 2, "a", "2002-02-02", "z"),
        ("A", 4, None, 2, "b", "2002-02-02", "z"),
    ]
    assert [n for (n, _) in store.seen("cfl_shop.s_person_birth", "acm_record_ind, acm_id")] == [
        "N",
        "N",
    ]
    # The planner reads what a query names: neither the anchor nor the other contexts.
    plan = "\n".join(
        r["QUERY PLAN"] for r in store.rows("EXPLAIN SELECT name FROM gdal_shop.person")
    )
    assert "s_person_properties_now" in plan
    assert "Join" not in plan
    assert "h_person" not in plan
    assert store.sound()


PHONE = entity(
    "phone",
    ["nbr", "kind"],
    ["nbr", ("kind", "text(4)"), ("number", "text(20)")],
    relationships=[{"name": "of", "parent": "thing", "columns": ["nbr"], "context_filter": False}],
    facts={"context_of": "thing", "kind": "multi_active"},
)
PRICE = entity(
    "price",
    ["nbr", "since"],
    ["nbr", ("since", "date"), "amount", ("until", "date")],
    relationships=[{"name": "of", "parent": "thing", "columns": ["nbr"], "context_filter": False}],
    facts={"context_of": "thing", "kind": "bitemporal", "valid_end": "until"},
)


def test_a_multi_active_context_has_a_chain_per_own_key(store: Store) -> None:
    store.set_up(PLAIN, PHONE)
    store.put(1, phone=[("N", 1, "home", "111"), ("N", 1, "work", "222")])
    assert store.seen("cfl_shop.h_thing", "nbr, acm_exists_ind") == [(1, 0)]
    store.put(2, thing=[("N", 1, "x")], phone=[("A", 1, "home", "333"), ("R", 1, "work", None)])
    assert store.now("phone") == [(1, "home", "333")]
    store.put(3, thing=[("R", 1, None)])
    assert store.now("thing") == []
    assert store.now("phone") == [(1, "home", "333")]
    assert store.seen(
        "cfl_shop.s_thing_phone",
        "kind, extract(day FROM acm_start_dt AT TIME ZONE 'UTC')::integer AS s, acm_record_ind,"
        " number",
    ) == [
        ("home", 1, "N", "111"),
        ("home", 2, "A", "333"),
        ("work", 1, "N", "222"),
        ("work", 2, "R", "222"),
    ]
    assert store.sound()


def test_a_bitemporal_context_says_what_was_known_when_and_valid_when(store: Store) -> None:
    store.set_up(PLAIN, PRICE)
    store.put(1, thing=[("N", 1, "x")], price=[("N", 1, "2020-01-01", 10, None)])
    store.put(5, price=[("N", 1, "2020-02-01", 20, "2020-03-01"), ("A", 1, "2020-01-01", 11, None)])

    def price(known: str, valid: str) -> list[int]:
        found = store.rows("SELECT amount FROM asof_shop.price(%s, %s::date)", known, valid)
        return [r["amount"] for r in found]

    assert price("2020-01-02", "2020-02-05") == [10]
    assert price("2020-01-06", "2020-01-05") == [11]
    assert price("2020-01-06", "2020-02-05") == [20]
    assert price("2020-01-06", "2020-03-05") == [11]
    assert price("2020-01-06", "2019-03-05") == []
    may = "has_function_privilege('omd_reader', 'asof_shop.price(timestamptz, date)', 'EXECUTE')"
    assert not store.one(f"SELECT {may}")
    assert store.sound()


def test_a_subtype_makes_its_supertype_exist_and_leaves_it(store: Store) -> None:
    store.set_up(
        entity("party", ["nbr"], ["nbr", ("name", "text(20)")]),
        entity(
            "staff",
            ["nbr"],
            ["nbr", "salary"],
            relationships=[
                {"name": "isa", "parent": "party", "columns": ["nbr"], "context_filter": False}
            ],
            facts={"subtype_of": "party"},
        ),
    )
    store.put(1, staff=[("N", 1, 100)], party=[("N", 2, "x")])
    assert store.now("party") == [(1, None), (2, "x")]
    assert store.one(
        "SELECT s.acm_id = p.acm_id FROM gdal_shop.staff AS s"
        " INNER JOIN gdal_shop.party AS p USING (nbr)"
    )
    store.put(2, staff=[("R", 1, None)], party=[("N", 1, "y")])
    assert store.now("staff") == []
    assert store.now("party") == [(1, "y"), (2, "x")]
    store.put(3, party=[("R", 1, None)])
    store.put(4, staff=[("N", 1, 5), ("N", 2, 6)])
    assert store.history("party", "nbr, name") == [
        ("N", 1, 2, 1, None),
        ("A", 2, 3, 1, "y"),
        ("R", 3, 4, 1, "y"),
        ("N", 4, None, 1, None),
        ("N", 1, None, 2, "x"),
    ]
    # One delivery deletes the supertype and brings the subtype back.
    store.put(5, staff=[("R", 2, None)])
    store.push(6, party=[("R", 2, "x")], staff=[("N", 2, 7)])
    assert store.take()["outcome"] == "PERSISTED"
    assert store.history("party", "nbr, name")[-2:] == [
        ("N", 1, 6, 2, "x"),
        ("N", 6, None, 2, None),
    ]
    assert store.sound()


def test_a_physical_delete_leaves_no_row_of_the_key_and_a_proof(store: Store) -> None:
    store.set_up(PLAIN, PHONE)
    store.put(1, thing=[("N", 1, "x"), ("N", 2, "y")], phone=[("N", 1, "home", "1")])
    store.put(2, thing=[("A", 1, "z")])
    store.queue(3, delete_type="PHYSICAL", thing=[("R", 1, None)], phone=[("R", 1, "home", None)])
    assert store.take()["outcome"] == "PERSISTED"
    assert store.seen("history_shop.thing", "nbr, name") == [(2, "y")]
    assert store.seen("cfl_shop.s_thing_phone") == []
    assert store.seen("cfl_shop.h_thing", "nbr, acm_exists_ind, acm_physically_removed_ind") == [
        (1, 0, 1),
        (2, 1, 0),
    ]
    assert store.seen(
        "omd_delivery.removal WHERE layer IN ('CONTEXT', 'ANCHOR')",
        "layer, table_name, key_count, row_count",
    ) == [
        ("ANCHOR", "cfl_shop.h_thing", 1, 1),
        ("CONTEXT", "cfl_shop.s_thing_phone", 1, 1),
        ("CONTEXT", "cfl_shop.s_thing_properties", 1, 2),
    ]
    before = store.rows("SELECT * FROM cfl_shop.h_thing ORDER BY nbr")
    back = store.put(4, thing=[("N", 1, "back")], phone=[("N", 1, "home", "2")])
    store.undo(back)
    assert store.rows("SELECT * FROM cfl_shop.h_thing ORDER BY nbr") == before
    assert store.take()["outcome"] == "PERSISTED"
    assert store.seen(
        "cfl_shop.h_thing WHERE nbr = 1", "acm_exists_ind, acm_physically_removed_ind"
    ) == [(1, 0)]
    assert store.sound()


def test_generalizations_and_key_roots_join_interfaces(store: Store) -> None:
    facts = {"generalization": "actor", "key_root": "code"}
    shop = entity("shop", ["code"], [("code", "text(5)"), "size"], facts=facts)
    store.set_up(shop, interface="one")
    store.put(1, shop=[("N", "a", 1), ("N", "b", 2)])
    bank = entity("bank", ["iban"], [("iban", "text(5)"), "size"])
    store.call(
        "omd_delivery.register_agreement", agreement_code="b", tenant_code="t", interface_code="one"
    )
    store.interface = "two"
    store.call("omd_delivery.deploy_model", model={"interface": "two", "entities": [bank]})
    store.agree("a2")
    store.call("omd_facts.deploy", interface_code="two")
    store.accept(1, code="a2", rows={"bank": [("N", "b", 1), ("N", "c", 2)]})
    store.take()
    # It joins later, and brings what it has.
    store.call(
        "omd_delivery.deploy_model",
        model={"interface": "two", "entities": [bank | {"facts": facts}]},
    )
    store.call("omd_facts.deploy", interface_code="two")
    assert store.call("omd_facts.deploy", interface_code="two")["statements"] == 0
    store.accept(2, code="a2", rows={"bank": [("N", "d", 1), ("R", "b", None)]})
    assert store.take()["outcome"] == "PERSISTED"
    assert store.seen(
        "gdal.actor", "interface_code, entity_code, business_key::text, acm_exists_ind", "1, 3"
    ) == [
        ("one", "shop", '{"code": "a"}', 1),
        ("one", "shop", '{"code": "b"}', 1),
        ("two", "bank", '{"iban": "b"}', 0),
        ("two", "bank", '{"iban": "c"}', 1),
        ("two", "bank", '{"iban": "d"}', 1),
    ]
    assert [
        (key, sorted(members), exists)
        for key, members, exists in store.seen("gdal.code", "key_1, members, acm_exists_ind", "1")
    ] == [
        ("a", ["one.shop"], 1),
        ("b", ["one.shop", "two.bank"], 1),
        ("c", ["two.bank"], 1),
        ("d", ["two.bank"], 1),
    ]


def test_a_supertype_that_is_older_than_its_subtype_keeps_both_histories(store: Store) -> None:
    store.set_up(
        entity("party", ["nbr"], ["nbr", ("name", "text(20)")]),
        entity(
            "staff",
            ["nbr"],
            ["nbr", "salary"],
            relationships=[
                {"name": "isa", "parent": "party", "columns": ["nbr"], "context_filter": False}
            ],
            facts={"subtype_of": "party"},
        ),
    )
    store.push(10, staff=[("N", 1, 100)])
    store.push(5, party=[("N", 1, "x")])
    store.push(4, staff=[])
    assert [store.take()["outcome"] for _ in range(4)] == ["PERSISTED"] * 3 + ["NOTHING"]
    assert [(i, n) for (i, *_, n) in store.history("party", "nbr, name")] == [
        ("N", None),
        ("A", "x"),
    ]
    assert store.sound()


def test_the_moment_of_a_session_is_that_of_all_its_views(store: Store) -> None:
    store.set_up(PLAIN, CARRIER)
    store.put(1, thing=[("N", 1, "old")], carrier=[("N", "AA", "old")])
    store.put(3, thing=[("A", 1, "new")])
    both = "SELECT t.name AS t, c.name AS c FROM asof_shop.thing AS t, asof_shop.carrier AS c"
    assert store.rows(both) == [{"t": "new", "c": "old"}]
    store.one("SELECT omd_facts.as_of('2020-01-02 01:00:00+01')")
    assert store.rows(both) == [{"t": "old", "c": "old"}]
    store.one("SELECT omd_facts.as_of('2019-01-01')")
    assert store.rows(both) == []
    for late in ("2999-01-01", "10000-01-01", "infinity"):
        store.one(f"SELECT omd_facts.as_of('{late}')::text")
        assert store.rows(both) == [{"t": "new", "c": "old"}]
        assert store.seen(f"asof_shop.thing('{late}')") == [(1, "new")]
    for early in ("-infinity", "0044-03-15 BC"):
        store.one(f"SELECT omd_facts.as_of('{early}')::text")
        assert store.rows(both) == store.seen(f"asof_shop.thing('{early}')") == []
    store.one("SELECT omd_facts.as_of(NULL)")
    assert store.rows(both) == [{"t": "new", "c": "old"}]


def test_a_setting_that_is_no_moment_shows_nothing_else_and_reset_takes_it_back(
    store: Store,
) -> None:
    store.set_up(PLAIN)
    store.put(1, thing=[("N", 1, "old")])
    store.put(3, thing=[("A", 1, "new")])
    for text, found in (
        ("2020-01-02", [(1, "old")]),
        ("infinity", [(1, "new")]),
        ("-infinity", []),
        ("", [(1, "new")]),
    ):
        store.conn.execute(f"SET omd_facts.as_of = '{text}'".encode())
        assert store.seen("asof_shop.thing") == found, text
    for text, code in (("soon", "22007"), ("2020-02-30", "22008")):
        store.conn.execute(f"SET omd_facts.as_of = '{text}'".encode())
        with pytest.raises(psycopg.Error, match=text) as caught:
            store.seen("asof_shop.thing")
        assert caught.value.sqlstate == code
        store.conn.execute("RESET omd_facts.as_of")
        assert store.seen("asof_shop.thing") == [(1, "new")]


def test_readers_read_and_nobody_else_does(store: Store) -> None:
    store.set_up(PLAIN, PHONE)
    store.put(1, thing=[("N", 1, "x")], phone=[("N", 1, "home", "1")])
    views = (
        "gdal_shop.thing",
        "asof_shop.thing",
        "history_shop.phone",
        "asof_shop.thing('2020-01-05')",
        "cfl_shop.s_thing_properties_now",
        "cfl_shop.h_thing",
    )
    for role, may in (("omd_data_reader", True), ("omd_reader", False), ("omd_admin", False)):
        store.conn.execute(f"SET ROLE {role}".encode())
        for view in views:
            if may:
                assert len(store.rows(f"SELECT * FROM {view}")) == 1
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    store.rows(f"SELECT * FROM {view}")
        store.conn.execute("RESET ROLE")


def test_attributes_may_be_called_like_anything(store: Store) -> None:
    names = ["v_start", "a", "o", "d", "p", "x", "c5", "v_id", "v_row", "v_key", "ind", "is_there"]
    names += ["new", "tg_op", "next", "key_1", "i", "f1"]
    thing = entity(
        "select",
        names[:2],
        names,
        relationships=[{"name": "up", "parent": "select", "columns": ["o", "d"]}],
        facts={
            "contexts": [
                {"name": "ak", "kind": "alternate_key", "attributes": ["x", "v_key"]},
                {"name": "im", "kind": "immutable", "attributes": ["next", "key_1"]},
            ]
        },
    )
    slices = entity(
        "o",
        ["v_start", "a", "s"],
        ["v_start", "a", ("s", "date"), "d", ("o", "date")],
        relationships=[
            {
                "name": "of",
                "parent": "select",
                "columns": ["v_start", "a"],
                "context_filter": False,
            }
        ],
        facts={"context_of": "select", "kind": "bitemporal", "valid_end": "o"},
    )
    store.set_up(thing, slices)

    def row(indicator: str, key: int, value: int | None) -> tuple[object, ...]:
        return (indicator, key, key, *[value] * (len(names) - 2))

    start = "2020-01-01"
    store.put(1, select=[row("N", 1, 1), row("N", 2, 2)], o=[("N", 1, 1, start, 1, None)])
    store.put(2, select=[row("A", 1, 2), row("A", 2, 1)], o=[("A", 1, 1, start, 2, None)])
    last = store.put(3, select=[row("R", 2, 1)], o=[("R", 1, 1, start, 2, None)])
    store.undo(last)
    assert store.take()["outcome"] == "PERSISTED"
    before = store.now("select", '"v_start", x, v_id, next')
    assert before == [(1, 2, 2, 1)]

    store.agree("desk", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="desk", physical_delete_allowed=True)
    for statement in (
        "INSERT INTO gdal_shop.select (v_start, a, o, d, v_id) VALUES (5, 5, 1, 1, 4)",
        "UPDATE gdal_shop.select SET v_id = 7, v_row = 8, x = 9 WHERE v_start = 5",
        "INSERT INTO gdal_shop.o (v_start, a, s, d) VALUES (5, 5, '2020-01-01', 4)",
        "UPDATE gdal_shop.o SET d = 7",
        "DELETE FROM gdal_shop.o",
        "UPDATE gdal_shop.select SET ind = 7 WHERE v_start = 1",
        "SET omd_facts.delete_type = 'PHYSICAL'",
        "INSERT INTO gdal_shop.select (v_start, a, v_id) VALUES (6, 6, 4)",
        "DELETE FROM gdal_shop.select WHERE v_start = 6",
    ):
        store.conn.execute(statement.encode())
    answer = store.call("omd_facts.resync", interface_code="shop")
    assert answer["differences"] == {"select": {"N": 0, "A": 1, "R": 1}}
    assert store.now("select", '"v_start", x, v_id, next') == before
    assert store.seen("asof_shop.o('2020-01-02 12:00', '2020-01-01')", "d, s::text") == [(2, start)]
    assert len(store.seen("history_shop.select WHERE v_start = 5")) == 3
    assert store.sound()


def test_a_resync_keeps_a_supertype_that_is_known_as_a_subtype_alone(store: Store) -> None:
    def subtype(name: str, of: str) -> dict[str, object]:
        return entity(
            name,
            ["nbr"],
            ["nbr", "size"],
            relationships=[
                {"name": f"isa_{of}", "parent": of, "columns": ["nbr"], "context_filter": False}
            ],
            facts={"subtype_of": of},
        )

    store.set_up(
        entity("party", ["nbr"], ["nbr", ("name", "text(20)")]),
        subtype("staff", "party"),
        subtype("chief", "staff"),
    )
    store.put(1, staff=[("N", 1, 100)], chief=[("N", 2, 5)])
    before = [store.now(name) for name in ("party", "staff", "chief")]
    assert before == [[(1, None), (2, None)], [(1, 100), (2, None)], [(2, 5)]]
    assert store.call("omd_facts.resync", interface_code="shop")["outcome"] == "NOTHING"
    store.agree("desk", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="desk")
    store.conn.execute("INSERT INTO gdal_shop.chief VALUES (7, 7)")
    assert store.now("party")[-1] == (7, None)
    assert store.call("omd_facts.resync", interface_code="shop")["outcome"] == "PERSISTED"
    assert [store.now(name) for name in ("party", "staff", "chief")] == before
    assert store.sound()


def test_the_history_of_a_key_reads_rows_of_that_key(store: Store) -> None:
    two = {"contexts": [{"name": "by", "attributes": ["b"]}]}
    store.set_up(entity("thing", ["nbr"], ["nbr", "a", "b"], facts=two))

    def buffers(query: str) -> int:
        (plan,) = store.rows(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}")
        found = plan["QUERY PLAN"][0]["Plan"]
        return int(found["Shared Hit Blocks"] + found["Shared Read Blocks"])

    read = {}
    day = 0
    for keys in (100, 5_000):
        for values in ("g, g", "g + 1, g + 1"):
            day += 1
            store.push(day, thing=[("A", 0, day, day)])
            store.conn.execute(
                f"INSERT INTO {store.delta('thing')} (delivery_id, acm_record_ind, acm_audit_id,"
                f" nbr, a, b) SELECT max(q.delivery_id), 'A', 0, g, {values}"
                " FROM omd_delivery.delta_queue AS q"
                f" CROSS JOIN generate_series(1, {keys}) AS g GROUP BY g".encode()
            )
            assert store.take()["outcome"] == "PERSISTED"
        store.conn.execute("VACUUM ANALYZE")
        one = "SELECT * FROM history_shop.thing"
        where = "nbr = 7"
        joined = f"SELECT h.* FROM (VALUES (7), (8)) AS k (nbr) INNER JOIN ({one}) AS h USING (nbr)"
        read[keys] = [buffers(f"{one} WHERE {where}"), buffers(joined)]
        assert len(store.rows(f"{one} WHERE {where}")) in (2, 4)
    # A tree that is one level deeper, and two versions more.
    assert max(read[5_000]) < 200, read
    plan = "\n".join(
        row["QUERY PLAN"] for row in store.rows("EXPLAIN SELECT sum(a) FROM asof_shop.thing")
    )
    assert "s_thing_by" not in plan
    assert "s_thing_properties_now" in plan
