"""Contexts and plans: what a Full entity is about, and which constraints are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delivery.runs import Shop


def entity(name: str, key: list[str], *others: str, **more: Any) -> dict[str, Any]:
    attributes = [{"name": a, "type": "text(10)"} for a in [*key, *others]]
    return {"name": name, "key": key, "attributes": attributes, **more}


def parent(name: str, columns: list[str], **more: Any) -> dict[str, Any]:
    return {"name": f"of_{name}", "parent": name, "columns": columns, **more}


def parts(context_filter: bool) -> dict[str, Any]:
    relationship = parent("part", ["part"], context_filter=context_filter)
    return {
        "interface": "shop",
        "entities": [
            entity("part", ["part"]),
            entity("part_supplier", ["part", "supplier"], "q", relationships=[relationship]),
        ],
    }


def orders(context_filter: bool) -> dict[str, Any]:
    """Lines depend on orders; of organization is the modeller's choice."""
    return {
        "interface": "shop",
        "entities": [
            entity("line", ["o", "nbr"], relationships=[parent("orders", ["o"])]),
            entity(
                "orders",
                ["o"],
                "org",
                "v",
                relationships=[
                    parent(
                        "organization", ["org"], context_filter=context_filter, child_required=True
                    )
                ],
            ),
            entity("organization", ["code"]),
        ],
    }


def contexts(shop: Shop, day: int, **arguments: Any) -> dict[str, Any]:
    """Return kind and filters of each entity that is delivered, in the order of the plan."""
    run = shop.run(day, **arguments)
    found = {}
    for name, planned in run.plan(2).items():
        if planned["load"]:
            context = planned["context"]
            codes = {c["constraint"] for c in planned["constraints"]}
            filters = [(f["parent"], f["parents"]) for f in context["filters"]]
            found[name] = (context["kind"], *filters)
            assert (f"{name}.context" in codes) == (
                context["kind"] == "FILTERED"
                or (context["kind"] == "KEYS" and bool(filters or context["named"]))
            )
            assert (f"{name}.deletes" in codes) == (planned["load"] == "FULL")
    shop.call("cancel_delivery", delivery_id=run.id, reason="enough")
    return found


def test_the_first_example(shop: Shop) -> None:
    """Parts are a Delta, part suppliers Full: they are about the parts that are delivered."""
    shop.deploy(parts(context_filter=True))
    lvl = [
        ("N", "1", "10", "q5"),
        ("N", "1", "11", None),
        ("N", "2", "10", None),
        ("N", "3", "10", None),
        ("N", "200", "12", None),
        ("N", "1", "14", None),
    ]
    shop.accept(1, {"part_supplier": lvl, "part": [("N", p) for p in ("1", "2", "3", "200")]})
    shop.accept(2, {"part_supplier": [("R", "1", "14", None)]})
    said = {"part": "DELTA", "part_supplier": "FULL"}
    assert contexts(shop, 3, entities=said) == {
        "part": ("KEYS",),
        "part_supplier": ("FILTERED", ("part", "CONTEXT")),
    }
    run = shop.run(3, entities=said)
    run.validate()
    run.write(
        "part_supplier",
        ("A", "1", "10", "q50"),
        ("N", "1", "13", None),
        ("N", "1", "14", None),
        ("R", "1", "11", None),
        ("R", "2", "10", None),
    )
    counts = run.apply(written={"part_supplier": 5, "part": 0})["row_counts"]
    assert counts == {"part": {"N": 0, "A": 0, "R": 0}, "part_supplier": {"N": 2, "A": 1, "R": 2}}
    assert shop.current("part_supplier") == [
        ("1", "10", "q50"),
        ("1", "13", None),
        ("1", "14", None),
        ("200", "12", None),
        ("3", "10", None),
    ]
    # With the filter off the context is everything, and (3,10) is deleted too.
    shop.call("deploy_model", model=parts(context_filter=False))
    assert contexts(shop, 4, entities=said) == {"part": ("KEYS",), "part_supplier": ("ALL",)}


def test_the_second_example(shop: Shop) -> None:
    """Orders are about the organizations delivered, and lines about the orders in that context."""
    shop.deploy(orders(context_filter=True))
    shop.accept(
        1,
        {
            "organization": [("N", "NL"), ("N", "DE")],
            "orders": [("N", "O1", "NL", "1"), ("N", "O2", "NL", "1"), ("N", "O9", "DE", "1")],
            "line": [("N", "O1", "1"), ("N", "O1", "2"), ("N", "O2", "1"), ("N", "O9", "1")],
        },
    )
    said = {"organization": "DELTA", "orders": "FULL", "line": "FULL"}
    found = contexts(shop, 2, entities=said)
    assert list(found) == ["organization", "orders", "line"]
    assert found == {
        "organization": ("KEYS",),
        "orders": ("FILTERED", ("organization", "CONTEXT")),
        "line": ("FILTERED", ("orders", "CONTEXT")),
    }
    run = shop.run(2, entities=said)
    run.validate()
    run.write("orders", ("A", "O1", "NL", "2"), ("N", "O3", "NL", "1"), ("R", "O2", None, None))
    run.write("line", ("N", "O1", "3"), ("N", "O3", "1"), ("R", "O1", "2"), ("R", "O2", "1"))
    run.apply()
    assert [r[0] for r in shop.current("orders")] == ["O1", "O3", "O9"]
    assert shop.current("line") == [("O1", "1"), ("O1", "3"), ("O3", "1"), ("O9", "1")]
    # With the filter off, orders are about all orders, and so are lines.
    shop.call("deploy_model", model=orders(context_filter=False))
    assert contexts(shop, 3, entities=said) == {
        "organization": ("KEYS",),
        "orders": ("ALL",),
        "line": ("ALL",),
    }


def test_what_is_delivered_and_named_decides_the_context(shop: Shop) -> None:
    shop.deploy(orders(context_filter=True))
    nl = {"organization": [{"code": "NL"}]}
    organization = ("organization", "CONTEXT")
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        # A parent that is Full without a filter filters nothing, and so for its children.
        ({}, {"organization": ("ALL",), "orders": ("ALL",), "line": ("ALL",)}),
        ({"entities": ["orders"], "context": nl}, {"orders": ("FILTERED", organization)}),
        (
            {"entities": ["orders", "line"], "context": nl},
            {"orders": ("FILTERED", organization), "line": ("FILTERED", ("orders", "CONTEXT"))},
        ),
        # Naming the entity itself is a filter on its key.
        ({"entities": ["orders"], "context": {"orders": [{"o": "O1"}]}}, {"orders": ("FILTERED",)}),
        ({"entities": {"orders": {"context": "ALL"}}}, {"orders": ("ALL",)}),
        (
            {"entities": {"orders": {"context": "ROWS"}}},
            {"orders": ("FILTERED", ("organization", "ROWS"))},
        ),
        (
            {"entities": {"orders": {"context": "ROWS"}}, "context": nl},
            {"orders": ("FILTERED", organization)},
        ),
        (
            {"entities": {"organization": "DELTA", "orders": {"context": "ALL"}}},
            {"organization": ("KEYS",), "orders": ("ALL",)},
        ),
        # In a Delta rows must not be of other parents than those named.
        ({"entities": {"orders": "DELTA"}}, {"orders": ("KEYS",)}),
        (
            {"entities": {"orders": "DELTA"}, "context": nl},
            {"orders": ("KEYS", ("organization", "NAMED"))},
        ),
        ({"entities": {"organization": "DELTA"}, "context": nl}, {"organization": ("KEYS",)}),
        ({"entities": ["organization"], "context": nl}, {"organization": ("FILTERED",)}),
    ]
    for day, (arguments, expected) in enumerate(cases, 1):
        assert contexts(shop, day, **arguments) == expected, arguments
    for said, missing in ((["line"], "line"), (["orders", "line"], "orders")):
        detail = shop.refused(
            "OM039",
            "create_delivery",
            agreement_code="a",
            snapshot_datetime="2020-02-01Z",
            entities=said,
        )
        assert detail["entity"] == missing
    # What the agreement names binds, whatever the delivery says.
    shop.agree("a", context=nl)
    assert contexts(shop, 20, entities={"orders": {"context": "ALL"}}) == {
        "orders": ("FILTERED", organization)
    }
    # The context of a model that has changed since is asked for again.
    shop.agree("a", context={})
    shop.call("deploy_model", model=orders(context_filter=False))
    waiting = shop.load(21, entities=["orders"])
    shop.call("deploy_model", model=orders(context_filter=True))
    shop.refused("OM039", "begin_delivery", delivery_id=waiting)


def test_stage_two_also_looks_at_what_the_delivery_may_break(shop: Shop) -> None:
    shop.deploy(orders(context_filter=True))

    def planned(day: int, **arguments: Any) -> dict[str, Any]:
        run = shop.run(day, **arguments)
        found = {
            name: (e["load"], {c["constraint"]: c["type"] for c in e["constraints"]})
            for name, e in run.plan(2).items()
        }
        shop.call("cancel_delivery", delivery_id=run.id, reason="enough")
        return found

    found = planned(1, entities={"orders": "DELTA"})
    assert found == {
        "orders": ("DELTA", {"orders.of_organization": "parent_exists"}),
        "line": (None, {"line.of_orders": "parent_exists"}),
        "organization": (None, {"organization.orders.of_organization": "child_exists"}),
    }
    found = planned(2, entities={"line": {"context": "ALL"}})
    assert found == {
        "line": ("FULL", {"line.of_orders": "parent_exists", "line.deletes": "deletes"})
    }
    shop.agree("a", settings={"line.of_orders": {"enabled": False}})
    assert list(planned(3, entities={"orders": "DELTA"})) == ["orders", "organization"]
    # Nothing more is delivered of what is retired, and nothing of it is checked.
    model = orders(context_filter=True)
    shop.agree("a", settings={})
    plan = shop.plan(shop.run(4, entities={"orders": {"load": "DELTA", "rows": 3}}).id, 1)
    (planned_entity,) = plan["entities"]
    assert planned_entity["key"] == ["o"]
    assert [a["name"] for a in planned_entity["attributes"]] == ["o", "org", "v"]
    assert planned_entity["rows_announced"] == 3
    assert planned_entity["indicator"] == {"column": "acm_source_transaction_ind", "delete": "D"}
    types = {c["type"] for c in planned_entity["constraints"]}
    assert types == {"columns", "row_count", "row_format", "datatype", "primary_key"}
    assert plan["lvl_tables"]["line"] == "lvl_shop.line"
    assert model["interface"] == plan["interface"]


def test_a_derived_entity_is_delivered_with_what_it_comes_from(shop: Shop) -> None:
    model = orders(context_filter=False)
    model["entities"].append(
        entity(
            "busy", ["org"], derived={"from": ["orders", "line"], "query": "SELECT org FROM orders"}
        )
    )
    shop.deploy(model)
    assert "busy" not in contexts(shop, 1, entities=["orders"])
    assert contexts(shop, 2, entities=["orders", "line"])["busy"] == ("ALL",)
    assert contexts(shop, 3, entities={"orders": "FULL", "line": "DELTA"})["busy"] == ("KEYS",)
    run = shop.run(4, entities=["orders", "line"])
    assert run.plan(1)["busy"]["derived"] == {
        "from": ["orders", "line"],
        "query": "SELECT org FROM orders",
    }
    assert set(run.instances) == {"orders", "line", "busy"}
    run.validate()
    run.write("busy", ("N", "NL"))
    assert run.apply()["row_counts"]["busy"] == {"N": 1, "A": 0, "R": 0}
    assert shop.receipt(run.id)["is_complete"] is False


def test_a_bound_tenant_stays_within_what_its_agreement_names(shop: Shop) -> None:
    """Whatever it says: no Full entity below reaches rows that belong to others."""
    shop.deploy(orders(context_filter=True))
    shop.agree("a", context={"organization": [{"code": "NL"}]})
    organization, order = ("organization", "CONTEXT"), ("orders", "CONTEXT")
    refused: list[dict[str, Any]] = [
        {"entities": {"line": {"context": "ALL"}}},
        {"entities": {"line": {"context": "ROWS"}}},
        {"entities": ["line"], "context": {"orders": [{"o": "O9"}]}},
        {"entities": ["line"], "context": {"line": [{"o": "O9", "nbr": "1"}]}},
        {"entities": ["line", "organization"]},
    ]
    for arguments in refused:
        at = {"agreement_code": "a", "snapshot_datetime": "2020-02-01Z"}
        detail = shop.refused("OM039", "create_delivery", **at, **arguments)
        assert (detail["entity"], detail["parents"]) == ("line", "orders"), arguments
    cases: list[tuple[Any, dict[str, Any]]] = [
        (
            {"orders": "FULL", "line": {"context": "ALL"}},
            {"orders": ("FILTERED", organization), "line": ("FILTERED", order)},
        ),
        (
            {"orders": {"context": "ROWS"}, "line": {"context": "ROWS"}},
            {"orders": ("FILTERED", organization), "line": ("FILTERED", order)},
        ),
        (
            {"orders": "DELTA", "line": "FULL"},
            {"orders": ("KEYS", ("organization", "NAMED")), "line": ("FILTERED", order)},
        ),
        ({"line": "DELTA"}, {"line": ("KEYS",)}),
    ]
    for day, (entities, expected) in enumerate(cases, 1):
        assert contexts(shop, day, entities=entities) == expected, entities
    # What the agreement names may also limit it directly.
    model = orders(context_filter=True)
    line = entity(
        "line",
        ["o", "nbr", "org"],
        relationships=[parent("orders", ["o"]), parent("organization", ["org"])],
    )
    shop.call("deploy_model", model={**model, "entities": [line, *model["entities"][1:]]})
    assert contexts(shop, 19, entities={"line": {"context": "ALL"}}) == {
        "line": ("FILTERED", organization)
    }
    shop.call("deploy_model", model=model)
    # Nor does a delivery that was created before the tenant was bound.
    shop.agree("a", context={})
    waiting = shop.load(21, entities={"line": {"context": "ALL"}})
    shop.agree("a", context={"organization": [{"code": "NL"}]})
    shop.refused("OM039", "begin_delivery", delivery_id=waiting)


def test_what_is_derived_from_a_part_is_a_part(shop: Shop) -> None:
    """What is missing in it may be derived from the orders of others, which are not delivered."""
    nl = {"organization": [{"code": "NL"}]}
    derived = {"from": ["orders"], "query": "SELECT org FROM orders"}
    whole, keys, part = ("ALL",), ("KEYS",), ("FILTERED", ("organization", "CONTEXT"))

    def busy(**more: Any) -> dict[str, Any]:
        model = orders(context_filter=True)
        model["entities"].append(entity("busy", ["org"], derived=derived, **more))
        return model

    def planned(day: int, **arguments: Any) -> tuple[Any, ...]:
        return tuple(contexts(shop, day, **arguments)["busy"])

    shop.deploy(busy())
    free = {"orders": "FULL", "busy": {"context": "ALL"}}
    assert planned(1, entities={"orders": {"context": "ALL"}}) == whole
    assert planned(2, entities=["orders"], context=nl) == keys
    assert planned(3, entities=free, context=nl) == whole  # the query may be so
    run = shop.run(4, entities=["orders"], context=nl)
    run.measure(1, busy={"rows_delivered": 0})
    run.verdict(1)
    run.measure(2, busy={"rows_delivered": 0})
    assert run.verdict(2)["verdict"] == "ACCEPTED"  # nothing of it is no lost file
    shop.call("cancel_delivery", delivery_id=run.id, reason="enough")
    shop.agree("a", context=nl)
    for day, bound in enumerate(({}, {"context": {"busy": [{"org": "DE"}]}}), 5):
        assert planned(day, entities=free, **bound) == keys
    # A filter says what it is about.
    shop.call("deploy_model", model=busy(relationships=[parent("organization", ["org"])]))
    assert planned(7, entities=free) == part
    # What is derived may be the parent of what it is derived from.
    shop.agree("a", context={})
    model = busy()
    model["entities"][1]["relationships"].append(parent("busy", ["org"], context_filter=True))
    shop.call("deploy_model", model=model)
    found = contexts(shop, 8, entities=["orders", "organization"])
    assert found == dict.fromkeys(("organization", "orders", "busy"), whole)
    assert planned(9, entities=["orders"], context=nl) == keys
