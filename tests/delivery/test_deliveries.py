"""Tenants, agreements, and the creation of deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from delivery.runs import Shop

FILTERED: dict[str, Any] = {
    "interface": "shop",
    "entities": [
        {"name": "org", "key": ["code"], "attributes": [{"name": "code", "type": "text(2)"}]},
        {
            "name": "orders",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "integer"},
                {"name": "org", "type": "text(2)", "source": "Org Code"},
            ],
            "relationships": [
                {"name": "of", "parent": "org", "columns": ["org"], "context_filter": True}
            ],
        },
        {
            "name": "total",
            "key": ["org"],
            "attributes": [{"name": "org", "type": "text(2)"}],
            "derived": {"from": ["orders"], "query": "SELECT DISTINCT org FROM orders"},
        },
    ],
}


def test_tenants_and_agreements_are_registered_changed_and_refused(shop: Shop) -> None:
    shop.refused("OM032", "remove_tenant", tenant_code="t")
    shop.refused(
        "OM031",
        "register_agreement",
        agreement_code="x",
        interface_code="none",
        tenant_code=shop.call("register_tenant", tenant_code="t") and "t",
    )
    shop.deploy(FILTERED, settings={"orders.of": {"threshold": 3}})
    one = shop.call("register_tenant", tenant_code="t", tenant_name="Tee")
    assert one == shop.call("register_tenant", tenant_code="t")
    assert shop.one("SELECT tenant_name FROM omd_delivery.tenant") == "Tee"
    shop.agree("a", options={"include_existing": False}, completeness="complete")
    (kept,) = shop.rows("SELECT * FROM omd_delivery.agreement")
    assert kept["settings"] == {"orders.of": {"threshold": 3}}
    assert (kept["completeness"], kept["layer_code"]) == ("COMPLETE", "LVL")
    shop.call("deploy_model", model={**FILTERED, "interface": "other"})
    detail = shop.refused("OM136", "remove_tenant", tenant_code="t")
    assert detail["used_by"] == 'agreement "a"'
    shop.call("register_tenant", tenant_code="unused")
    shop.call("remove_tenant", tenant_code="unused")

    def refused(sqlstate: str, **arguments: Any) -> dict[str, Any]:
        given = {"agreement_code": "a", **arguments}
        return shop.refused(sqlstate, "register_agreement", **given)

    refused("OM032", tenant_code="nobody")
    refused("OM005", agreement_code="b", tenant_code="t")
    refused("OM005", agreement_code="b", interface_code="shop")
    refused("OM006", inactive_indicator="maybe")
    refused("OM035", settings={"orders.none": {"threshold": 1}})
    refused("OM042", settings={"orders.columns": {"threshold": 1}})
    for wrong in (
        {"agreement_code": "A", "tenant_code": "t", "interface_code": "shop"},
        {"layer_code": "RAW"},
        {"interface_code": "other"},
        {"completeness": "HALF"},
        {"effective_from": "2020-02-01", "effective_to": "2020-01-01"},
        {"entities": ["nothing"]},
        {"entities": ["total"]},
        {"entities": {"orders": 1}},
        {"context": {"nothing": [{"code": "NL"}]}},
        {"context": {"org": []}},
        {"context": {"org": [{"code": "NLD"}]}},
        {"context": {"org": [{"code": None}]}},
        {"context": {"org": [{"code": "NL", "x": 1}]}},
        {"context": {"org": "NL"}},
        {"context": ["org"]},
        {"settings": ["orders.of"]},
        {"options": {"max_sample_size": -1}},
        {"options": {"colour": 1}},
        {"options": {"allow_symbolic_links": "yes"}},
        {"options": {"csv": {"quotes": '"'}}},
        {"options": [1]},
    ):
        refused("OM036", **wrong)
    assert shop.rows("SELECT * FROM omd_delivery.agreement") == [kept]


def test_an_agreement_makes_its_batch_and_its_staging_tables_which_follow_the_model(
    shop: Shop,
) -> None:
    shop.deploy(FILTERED)
    columns = (
        "SELECT table_name || '.' || column_name AS name FROM information_schema.columns"
        " WHERE table_schema = 'stg_a' ORDER BY 1"
    )
    assert [r["name"] for r in shop.rows(columns)] == [
        "orders.Org Code",
        "orders.acm_source_transaction_ind",
        "orders.nbr",
        "org.acm_source_transaction_ind",
        "org.code",
    ]
    members = (
        "SELECT count(*) FROM omd.batch_module INNER JOIN omd.batch USING (batch_id)"
        " WHERE batch_code = 'delivery.a'"
    )
    assert shop.one(members) == 3
    shop.conn.execute("INSERT INTO stg_a.org VALUES ('D', 'NL')")
    more = {"name": "more", "key": ["m"], "attributes": [{"name": "m", "type": "integer"}]}
    shop.call("deploy_model", model={**FILTERED, "entities": [*FILTERED["entities"], more]})
    assert shop.one(members) == 4
    assert shop.one("SELECT count(*) FROM stg_a.more") == 0
    assert shop.one("SELECT count(*) FROM stg_a.org") == 1
    shop.conn.execute("CREATE SCHEMA stg_taken")
    detail = shop.refused(
        "OM233",
        "register_agreement",
        agreement_code="taken",
        tenant_code="t",
        interface_code="shop",
    )
    assert detail == {"schema_name": "stg_taken"}
    shop.create(1, entities=["more"])
    assert shop.one("SELECT count(*) FROM stg_a.org") == 0


def test_a_delivery_says_what_is_delivered_and_how(shop: Shop) -> None:
    shop.deploy(FILTERED, options={"include_existing": False}, context={"org": [{"code": "NL"}]})

    def created(**arguments: Any) -> dict[str, tuple[Any, ...]]:
        delivery_id = shop.create(1, **arguments)
        rows = shop.rows(
            "SELECT * FROM omd_delivery.delivery_entity INNER JOIN omd_delivery.entity"
            " USING (entity_id) WHERE delivery_id = %s",
            delivery_id,
        )
        shop.call("cancel_delivery", delivery_id=delivery_id, reason="enough")
        return {
            r["entity_code"]: (
                r["load_type"],
                r["context_type"],
                r["rows_announced"],
                r["allows_deletes"],
            )
            for r in rows
        }

    full, delta = ("FULL", None, None, False), ("DELTA", None, None, False)
    assert created() == {"org": full, "orders": full, "total": full}
    assert created(entities=["org"]) == {"org": full}
    assert created(entities={"orders": "DELTA"}) == {"orders": delta, "total": delta}
    said = {"orders": {"load": "FULL", "context": "ROWS", "rows": 120}, "total": {"context": "ALL"}}
    assert created(entities=said, allow_deletes=["orders"]) == {
        "orders": ("FULL", "ROWS", 120, True),
        "total": ("FULL", "ALL", None, False),
    }
    # Its time is now, its context that of the agreement, and a delivery may narrow both.
    row = shop.delivery(shop.create(entities=["org"], message={"words": 1}))
    assert row["snapshot_datetime"] <= shop.one("SELECT clock_timestamp()")
    assert row["context"] == {"org": [{"code": "NL"}]}
    assert (row["include_existing"], row["is_dry_run"], row["message"]) == (
        False,
        False,
        {"words": 1},
    )
    assert shop.events(row["delivery_id"]) == [("create_delivery", "RECEIVED")]


def test_creation_is_refused_in_one_order(shop: Shop) -> None:
    """Each case has all later mistakes too, so the order shows."""
    shop.deploy(FILTERED)
    shop.accept(10, {"org": [("N", "NL")]})
    shop.call(
        "register_agreement",
        agreement_code="a",
        completeness="COMPLETE",
        inactive_indicator="Y",
        entities=["org", "orders"],
    )
    wrong: dict[str, Any] = {
        "agreement_code": "nothing",
        "entities": {"orders": "HALF"},
        "snapshot_datetime": "infinity",
    }

    def refused(sqlstate: str, **mended: Any) -> dict[str, Any]:
        wrong.update(mended)
        return shop.refused(sqlstate, "create_delivery", **wrong)

    refused("OM005", agreement_code=None)
    refused("OM033", agreement_code="nothing")
    refused("OM036", agreement_code="a")
    refused("OM232", entities=["orders"])
    shop.agree("a", inactive_indicator="N", effective_to="2020-01-01")
    refused("OM232")
    shop.agree("a", effective_to="9000-01-01", effective_from="8000-01-01")
    refused("OM232")
    shop.agree("a", effective_from="2000-01-01")
    refused("OM038")
    assert refused("OM041", snapshot_datetime="2020-01-10Z")["missing"] == "org"
    shop.agree("a", completeness="PARTIAL")
    assert refused("OM037", entities=["orders", "org"])["entity"] == "org"
    assert refused("OM039", entities=["orders"])["parents"] == "org"
    pending = shop.create("2020-01-09Z", entities={"orders": "DELTA"})
    assert refused("OM131", entities={"orders": {"context": "ALL"}})["delivery_id"] == pending
    shop.call("report_loaded", delivery_id=pending)
    assert refused("OM131")["delivery_status"] == "LOADED"
    shop.call("reject_delivery", delivery_id=pending, reason="wrong file")
    # A named key is a context too, of the entity itself or of its parent.
    for context in ({"orders": [{"nbr": "7"}]}, {"org": [{"code": "NL"}]}):
        shop.call(
            "cancel_delivery",
            delivery_id=shop.create(11, entities=["orders"], context=context),
            reason="enough",
        )


def test_an_argument_of_a_delivery_is_refused(shop: Shop) -> None:
    exact = [{"name": n, "type": t} for n, t in (("n", "numeric(4,1)"), ("d", "date"))]
    more = {"name": "exact", "key": ["n", "d"], "attributes": exact}
    shop.deploy(
        {**FILTERED, "entities": [*FILTERED["entities"], more]},
        entities=["orders"],
        context={"org": [{"code": "NL"}, {"code": "BE"}]},
    )
    shop.agree("g", layer_code="GDAL")
    for wrong in (
        {"agreement_code": "g"},
        {"entities": []},
        {"entities": {}},
        {"entities": [1]},
        {"entities": Jsonb("orders")},
        {"entities": ["nothing"]},
        {"entities": ["org"]},
        {"entities": ["total"]},
        {"entities": {"orders": {"load": "full"}}},
        {"entities": {"orders": {"load": None}}},
        {"entities": {"orders": {"rows": -1}}},
        {"entities": {"orders": {"rows": 1.5}}},
        {"entities": {"orders": {"rows": "x"}}},
        {"entities": {"orders": {"context": "SOME"}}},
        {"entities": {"orders": {"load": "DELTA", "context": "ROWS"}}},
        {"entities": {"orders": {"lode": "FULL"}}},
        {"entities": {"orders": "DELTA", "total": "FULL"}},
        {"entities": {"orders": "DELTA", "total": {"context": "ALL"}}},
        {"allow_deletes": ["org"]},
        {"allow_deletes": [None]},
        {"context": {"org": [{"code": "DE"}]}},
        {"context": {"org": [{"code": "NL"}, {"code": "DE"}]}},
        {"context": {"org": []}},
        {"context": {"exact": [{"n": 1.25, "d": "2020-01-01"}]}},
        {"context": {"exact": [{"n": "NaN", "d": "2020-01-01"}]}},
        {"context": {"exact": [{"n": 1, "d": "infinity"}]}},
        {"context": {"exact": [{"n": 1, "d": "2020-02-30"}]}},
        {"delete_type": "BURN"},
        {"snapshot_datetime": "-infinity"},
        {"snapshot_datetime": "0044-03-15 BC"},
    ):
        shop.refused("OM036", "create_delivery", **{"agreement_code": "a", **wrong})
    named = {"org": [{"code": "BE"}], "orders": [{"nbr": "1"}]}
    typed = [{"n": "1", "d": "2020-01-01"}, {"d": "2020-01-01", "n": 1.0}]
    delivery_id = shop.create(1, context={**named, "exact": typed})
    assert shop.delivery(delivery_id)["context"] == {
        "org": [{"code": "BE"}],
        "orders": [{"nbr": 1}],
        "exact": [{"n": 1.0, "d": "2020-01-01"}],
    }
