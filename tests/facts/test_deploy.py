"""What a deployment follows, and what it refuses."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import attribute, entity

if TYPE_CHECKING:
    from facts.store import Store

THING = entity("thing", ["nbr"], ["nbr", ("name", "text(5)"), ("code", "text(9)")])


def deploy(store: Store, *entities: dict[str, Any]) -> int:
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": list(entities)})
    return int(store.call("omd_facts.deploy", interface_code="shop")["statements"])


def test_what_is_not_deployed_is_told_by_the_name_of_its_interface(store: Store) -> None:
    store.deploy({"interface": "shop", "entities": [THING]})
    store.agree("desk", layer_code="GDAL")
    store.agree("out", layer_code="EXPORT")
    for routine, arguments in {
        "load": {"interface_code": "shop"},
        "open_delivery": {"agreement_code": "desk"},
        "create_export": {"agreement_code": "out", "target_uri": "/x"},
    }.items():
        told = store.refused("OM251", f"omd_facts.{routine}", **arguments)
        assert told["interface_code"] == "shop"
    store.refused("OM031", "omd_facts.load", interface_code="nothing")


def test_a_deployment_follows_the_model_and_the_second_one_does_nothing(store: Store) -> None:
    store.set_up(THING)
    assert deploy(store, THING) == 0
    store.put(1, thing=[("N", 1, "x", "c")])
    assert deploy(store, THING) == 0

    grown = copy.deepcopy(THING)
    grown["attributes"].insert(1, attribute("born", "date"))
    grown["facts"] = {"indexes": [["code", "name"]]}
    planned = store.call("omd_facts.deploy", interface_code="shop", dry_run=True)
    assert planned["statements"] == 0
    assert deploy(store, grown) > 0
    assert deploy(store, grown) == 0
    assert list(store.rows("SELECT * FROM gdal_shop.thing")[0])[-1] == "born"

    # A wider type makes the views anew; a grant on one stays, and the stored rows do.
    store.conn.execute("GRANT SELECT ON gdal_shop.thing TO omd_reader")
    grown["attributes"][2]["type"] = "text(50)"
    grown["attributes"][0]["type"] = "bigint"
    assert deploy(store, grown) > 0
    assert deploy(store, grown) == 0
    assert store.one("SELECT has_table_privilege('omd_reader', 'gdal_shop.thing', 'SELECT')")
    store.push(2, thing=[("A", 1, "y" * 50, "c", None, None, "2000-01-01")])
    assert store.take()["outcome"] == "PERSISTED"
    assert store.seen("gdal_shop.thing", "nbr, name, born::text") == [(1, "y" * 50, "2000-01-01")]
    assert store.history("thing", "nbr, name")[0] == ("N", 1, 2, 1, "x")

    # What a user made of a view is not dropped.
    store.conn.execute("CREATE VIEW dwh.mine AS SELECT * FROM gdal_shop.thing")
    wider = copy.deepcopy(grown)
    wider["attributes"][2]["type"] = "text(60)"
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": [wider]})
    assert "depend" in store.refused("OM252", "omd_facts.deploy", interface_code="shop")["problem"]
    store.conn.execute("DROP VIEW dwh.mine")
    store.call("omd_facts.deploy", interface_code="shop")
    grown = wider

    # Where attributes are stored does not change while there are rows.
    split = copy.deepcopy(grown)
    split["facts"]["contexts"] = [{"name": "by", "kind": "standard", "attributes": ["code"]}]
    split["facts"].pop("indexes")
    with pytest.raises(Exception, match="stored otherwise") as caught:
        deploy(store, split)
    assert caught.value.sqlstate == "OM252"  # type: ignore[attr-defined]


def test_a_context_becomes_an_alternate_key_and_standard_again(store: Store) -> None:
    def model(kind: str) -> dict[str, Any]:
        contexts = [{"name": "by", "kind": kind, "attributes": ["code"]}]
        return THING | {"facts": {"contexts": contexts}}

    store.set_up(model("standard"))
    store.put(1, thing=[("N", 1, "x", "c"), ("N", 2, "x", "d")])
    assert deploy(store, model("alternate_key")) > 0
    store.push(2, thing=[("N", 3, "x", "d")])
    answer = store.take()
    assert answer["outcome"] == "FAILED"
    assert "duplicate key" in answer["detail"]
    # Readers of the log read no business row.
    (told,) = store.rows(
        "SELECT event_detail, event_return_code_details FROM omd.event_log"
        " WHERE module_instance_id = %s",
        answer["module_instance_id"],
    )
    assert "duplicate key" in told["event_detail"]
    assert "(d)" not in str(told)
    assert store.now("thing") == [(1, "x", "c"), (2, "x", "d")]
    assert deploy(store, model("standard")) > 0
    assert store.take()["outcome"] == "PERSISTED"
    assert len(store.now("thing")) == 3
    assert store.sound()
    store.call(
        "omd_delivery.deploy_model",
        model={"interface": "shop", "entities": [model("alternate_key")]},
    )
    detail = store.refused("OM252", "omd_facts.deploy", interface_code="shop")
    assert "unique" in detail["problem"]


def test_an_item_of_a_newer_model_waits_for_its_deployment(store: Store) -> None:
    store.set_up(THING)
    grown = copy.deepcopy(THING)
    grown["attributes"].append(attribute("size"))
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": [grown]})
    store.queue(1, thing=[("N", 1, "x", "c", None, None, 7)])
    answer = store.take()
    assert answer["outcome"] == "FAILED"
    assert "deployed" in answer["detail"]
    store.call("omd_facts.deploy", interface_code="shop")
    assert store.take()["outcome"] == "PERSISTED"
    assert store.now("thing") == [(1, "x", "c", 7)]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"context": []}, "unknown word"),
        ({"contexts": {}}, "must be a list"),
        ({"contexts": [{"name": "a", "kind": "odd"}]}, "standard, immutable or alternate_key"),
        ({"contexts": [{"name": "a", "attributes": ["nbr"]}]}, "in the key"),
        (
            {"contexts": [{"name": n, "attributes": ["name"]} for n in ("a", "b")]},
            "in two contexts",
        ),
        ({"contexts": [{"name": "properties", "kind": "immutable"}]}, "properties must be"),
        ({"kind": "bitemporal"}, "belong to a context_of"),
        ({"context_of": "other", "kind": "multi_active"}, "one relationship to other"),
        ({"subtype_of": "other"}, "one relationship to other"),
        ({"indexes": [["nbr", "name"]]}, "attributes of one context"),
        ({"generalization": "x", "key_root": "x"}, "have the same name"),
    ],
)
def test_what_a_model_says_for_the_facts_is_checked(
    store: Store, facts: dict[str, Any], problem: str
) -> None:
    store.deploy({"interface": "shop", "entities": [THING | {"facts": facts}]})
    detail = store.refused("OM250", "omd_facts.deploy", interface_code="shop")
    assert problem in detail["problem"]
    assert store.rows("SELECT * FROM omd_facts.interface") == []


def test_names_of_63_bytes_and_reserved_words_are_names(store: Store) -> None:
    long = "a" * 41
    order = entity(
        "order",
        ["user", "group"],
        [("user", "text"), "group", ("select", "text(9)"), (long, "text(9)")],
        facts={
            "contexts": [
                {"name": "b" * 41, "attributes": [long]},
                {"name": "table", "kind": "alternate_key", "attributes": ["select"]},
            ],
            "indexes": [[long]],
        },
    )
    deep = entity(
        "e" * 41,
        ["user", "group", "c" * 41],
        [("user", "text"), "group", "c" * 41, ("v" * 41, "text")],
        relationships=[
            {
                "name": "r" * 41,
                "parent": "order",
                "columns": ["user", "group"],
                "context_filter": False,
            }
        ],
        facts={"context_of": "order", "kind": "multi_active", "indexes": [["v" * 41]]},
    )
    store.set_up(order, deep)
    store.put(1, order=[("N", "x", 1, "s", "l")], **{"e" * 41: [("N", "x", 1, 5, "v")]})
    store.put(2, order=[("A", "x", 1, "t", "l")], **{"e" * 41: [("A", "x", 1, 5, "w")]})
    assert store.now("order") == [("x", 1, "t", "l")]
    assert store.seen("asof_shop.\"order\"('2020-01-01')") == [("x", 1, "s", "l")]
    assert store.now("e" * 41) == [("x", 1, 5, "w")]
    assert deploy(store, order, deep) == 0
    tables = store.seen("omd_report.facts_map", "context_table, context_code")
    assert all(len(t.split(".")[1].strip('"').encode()) <= 58 for t, _ in tables)
    assert store.sound()


def test_names_that_meet_are_told_apart_or_refused(store: Store) -> None:
    # An index of one must not be taken for the table of the other.
    codes = ("thing", "thing_key", "thing_id")
    store.set_up(*[entity(code, ["nbr"], ["nbr", "v"]) for code in codes])
    store.put(1, **{code: [("N", 1, 1)] for code in codes})
    count = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'cfl_shop' AND tablename ~ '^h_'"
    assert store.one(count) == 6
    for number, entities in enumerate(
        (
            [
                entity(
                    "a",
                    ["nbr"],
                    ["nbr", "v"],
                    facts={"contexts": [{"name": "b_properties", "attributes": ["v"]}]},
                ),
                entity("a_b", ["nbr"], ["nbr", "v"]),
            ],
            [
                entity(
                    "a",
                    ["nbr"],
                    ["nbr", "v", "w"],
                    facts={
                        "contexts": [
                            {"name": "b", "attributes": ["v"]},
                            {"name": "b_now", "attributes": ["w"]},
                        ]
                    },
                )
            ],
        )
    ):
        code = f"meet{number}"
        store.call("omd_delivery.deploy_model", model={"interface": code, "entities": entities})
        detail = store.refused("OM250", "omd_facts.deploy", interface_code=code)
        assert "two tables would be called s_a_b" in detail["problem"]
    # Nor is a schema of somebody else taken.
    store.conn.execute("CREATE SCHEMA gdal")
    member = entity("member", ["nbr"], ["nbr"], facts={"generalization": "actor"})
    store.call("omd_delivery.deploy_model", model={"interface": "other", "entities": [member]})
    told = store.refused("OM233", "omd_facts.deploy", interface_code="other")
    assert told["schema_name"] == "gdal"


def test_relationships_of_stored_facts_come_with_their_attributes_and_may_go(store: Store) -> None:
    shelf = entity("shelf", ["nbr"], ["nbr", "v"])
    store.set_up(shelf, entity("thing", ["nbr"], ["nbr", "shelf"]))
    store.put(1, shelf=[("N", 1, 1)], thing=[("N", 1, 1)])

    def thing(*columns: str) -> dict[str, Any]:
        links = [{"name": f"on_{c}", "parent": "shelf", "columns": [c]} for c in columns]
        return entity("thing", ["nbr"], ["nbr", "shelf", "other"], relationships=links)

    # The rows that are there would have no link, although they have a parent.
    store.call(
        "omd_delivery.deploy_model",
        model={"interface": "shop", "entities": [shelf, thing("shelf")]},
    )
    detail = store.refused("OM252", "omd_facts.deploy", interface_code="shop")
    assert detail["object"] == "thing.acm_fk_on_shelf"
    assert deploy(store, shelf, thing("other")) > 0
    store.push(2, thing=[("A", 1, 1, None, None, 1)])
    assert store.take()["outcome"] == "PERSISTED"
    link = "gdal_shop.thing AS t LEFT JOIN cfl_shop.h_shelf AS s ON t.acm_fk_on_other = s.acm_id"
    assert store.seen(link, "t.nbr, s.nbr AS shelf") == [(1, 1)]
    assert deploy(store, shelf, thing()) > 0
    assert store.now("thing") == [(1, 1, 1)]
    assert deploy(store, shelf, thing()) == 0


def test_what_users_made_of_views_and_were_granted_on_them_is_kept(store: Store) -> None:
    store.set_up(THING)
    grants = """
        SELECT relacl::text AS acl FROM pg_class WHERE oid = 'gdal_shop.thing'::regclass
        UNION ALL
        SELECT attacl::text FROM pg_attribute
        WHERE attrelid = 'gdal_shop.thing'::regclass AND attacl IS NOT NULL
        UNION ALL
        SELECT proacl::text FROM pg_proc WHERE oid = 'asof_shop.thing(timestamptz)'::regprocedure
    """
    for statement in (
        "GRANT SELECT (nbr) ON gdal_shop.thing TO omd_reader",
        "GRANT EXECUTE ON FUNCTION asof_shop.thing(timestamptz) TO omd_reader",
        "REVOKE DELETE ON gdal_shop.thing FROM omd_data_writer",
        "CREATE VIEW dwh.mine AS SELECT * FROM gdal_shop.thing",
    ):
        store.conn.execute(statement.encode())
    before = store.rows(grants)
    # No fact is there, so it may be stored otherwise.
    split = THING | {"facts": {"contexts": [{"name": "by", "attributes": ["code"]}]}}
    with pytest.raises(psycopg.Error) as caught:
        deploy(store, split)
    assert caught.value.sqlstate == "OM252"
    store.conn.execute("DROP VIEW dwh.mine")
    store.call("omd_facts.deploy", interface_code="shop")
    wider = copy.deepcopy(split)
    wider["attributes"][1]["type"] = "text(40)"
    assert deploy(store, wider) > 0
    assert store.rows(grants) == before


def test_views_of_users_that_are_in_the_way_are_named(store: Store) -> None:
    store.set_up(THING)
    store.conn.execute(
        b"CREATE VIEW dwh.mine AS SELECT * FROM gdal_shop.thing;"
        b'CREATE VIEW dwh."Over mine" AS SELECT * FROM dwh.mine'
    )
    wider = copy.deepcopy(THING)
    wider["attributes"][1]["type"] = "text(40)"
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": [wider]})
    detail = store.refused("OM252", "omd_facts.deploy", interface_code="shop")
    assert "view dwh.mine depends on view gdal_shop.thing" in detail["problem"]
    assert 'view dwh."Over mine" depends on view dwh.mine' in detail["problem"]


def test_a_key_root_takes_keys_of_any_type_and_follows_wider_ones(store: Store) -> None:
    def shop(number: str, text: str, **facts: str) -> dict[str, Any]:
        return entity("shop", ["a", "b"], [("a", number), ("b", text), "size"], facts=facts)

    store.set_up(shop("numeric(10,2)", "text(3)", key_root="code"))
    store.put(1, shop=[("N", "1.50", "x", 1)])
    assert deploy(store, shop("numeric(12,2)", "text(30)", key_root="code")) > 0
    assert deploy(store, shop("numeric(12,2)", "text(30)", key_root="code")) == 0
    store.put(2, shop=[("N", "1.50", "x" * 20, 1)])
    assert store.seen("gdal.code", "key_2, key_1::text") == [("x", "1.50"), ("x" * 20, "1.50")]
    with pytest.raises(psycopg.Error) as caught:
        deploy(store, shop("numeric(12,2)", "text(30)"))
    assert caught.value.sqlstate == "OM252"
