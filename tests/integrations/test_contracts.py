"""Contracts of other tools become models, and a model a contract; no database is asked."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import click
import pytest

from integrations.contract_cases import AVRO, GX, JSON_SCHEMA, MODEL, STRANGER, suite
from omd.errors import lookup
from omd.integrations.contracts import checks, codes, types
from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
from omd.integrations.contracts.reading import FORMATS, read_contract, require_whole
from omd.programs.cli.documents.delivery import model_as_yaml
from omd.programs.terminal.yaml_file import read_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Read = Callable[..., tuple[dict[str, Any], list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A function that reads a contract, and returns the model and what was noted."""

    def read(contract: Any, of: str, /, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
        file = tmp_path / "file.json"
        text = contract if isinstance(contract, str) else json.dumps(contract)
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        model, notes = read_contract(file, of, **arguments)
        assert read_document_of(tmp_path, model_as_yaml(model)) == model
        return model, [*notes.lines()]

    return read


def read_document_of(folder: Path, text: str) -> dict[str, Any]:
    file = folder / "back.yaml"
    file.write_text(text, encoding="utf-8")
    return read_document(file).value


def contract() -> Any:
    """The contract of MODEL, which a test may edit."""
    return json.loads(json.dumps(odcs_contract(MODEL, 7)))


# The standard -----------------------------------------------------------------------------------


def test_a_contract_says_in_the_words_of_the_standard_what_these_can_say() -> None:
    said = contract()
    customer, orders = said["schema"]
    assert (said["apiVersion"], said["id"], said["version"]) == ("v3.2.0", "shop", "7.0.0")
    assert customer["properties"] == [
        {
            "name": "nbr",
            "logicalType": "integer",
            "logicalTypeOptions": {"format": "i32"},
            "primaryKey": True,
            "primaryKeyPosition": 1,
        },
        {
            "name": "email",
            "physicalName": "E Mail",
            "logicalType": "string",
            "logicalTypeOptions": {"maxLength": 80},
            "unique": True,
            "quality": [
                {
                    "metric": "nullValues",
                    "mustBeLessOrEqualTo": 1,
                    "unit": "percent",
                    "customProperties": [{"property": "action", "value": "N", "vendor": "pgomd"}],
                }
            ],
            "customProperties": [
                {"property": "alternateKey", "value": "by_email", "vendor": "pgomd"}
            ],
        },
        {
            "name": "state",
            "logicalType": "string",
            "quality": [
                {
                    "metric": "invalidValues",
                    "arguments": {"validValues": ["open", "NO"]},
                    "mustBeLessOrEqualTo": 5,
                    "unit": "rows",
                }
            ],
        },
    ]
    assert [p.get("primaryKeyPosition") for p in orders["properties"]] == [2, 1, None, None, None]
    assert orders["relationships"][0] | {"customProperties": None} == {
        "id": "of",
        "from": "orders.customer",
        "to": "customer.nbr",
        "customProperties": None,
    }
    assert orders["properties"][3]["quality"] == [
        {
            "type": "custom",
            "name": "paid",
            "engine": "omd",
            "implementation": {"check": "amount > 0"},
        }
    ]


def edited(change: Callable[[Any], object]) -> Any:
    said = contract()
    change(said["schema"])
    return said


def test_what_is_edited_in_a_contract_has_its_one_meaning(read: Read) -> None:
    def email(schema: Any) -> Any:
        return schema[0]["properties"][1]

    def state(schema: Any) -> Any:
        return schema[0]["properties"][2]["quality"][0]

    def model(change: Callable[[Any], object]) -> Any:
        return read(edited(change), "odcs")[0]

    def attribute(found: Any, number: int) -> Any:
        return found["entities"][0]["attributes"][number]

    assert model(lambda s: None) == MODEL
    found = model(lambda s: email(s)["logicalTypeOptions"].update(maxLength=99))
    assert attribute(found, 1)["type"] == "text(99)"
    found = model(lambda s: email(s).update(physicalName="email"))
    assert "source" not in attribute(found, 1)
    found = model(lambda s: email(s).pop("unique"))
    assert "alternate_keys" not in found["entities"][0]
    found = model(lambda s: email(s).pop("quality"))
    assert "mandatory" not in attribute(found, 1)
    assert found["settings"].keys() == MODEL["settings"].keys() - {"customer.email.mandatory"}
    found = model(lambda s: (email(s).pop("quality"), email(s).update(required=True)))
    assert attribute(found, 1)["mandatory"] is True
    assert "customer.email.mandatory" not in found["settings"]
    found, lines = read(edited(lambda s: email(s).update(required=True)), "odcs")
    assert found == MODEL
    assert lines == [
        "Assumed:",
        (
            "  schema[0].properties[1].quality[0]: required is the same rule without a limit; this"
            " limit holds (customer.email, rule nullValues)"
        ),
    ]
    found = model(lambda s: state(s)["arguments"].update(validValues=["a"]))
    assert attribute(found, 2)["values"] == ["a"]
    found = model(lambda s: state(s).update(mustBeLessOrEqualTo=9))
    assert found["settings"]["customer.state.enumeration"] == {"threshold": 9}
    found = model(lambda s: state(s).update(unit="percent"))
    assert found["settings"]["customer.state.enumeration"] == {"threshold_percent": 5}
    found = model(lambda s: s[1]["properties"][0].update(primaryKeyPosition=0))
    assert found["entities"][1]["key"] == ["nbr", "line"]
    found = model(lambda s: s[1]["properties"][0].update(primaryKey=False))
    assert found["entities"][1]["key"] == ["nbr"]
    found = model(lambda s: s[1]["properties"][3].update(logicalType="string"))
    assert found["entities"][1]["attributes"][3]["type"] == "text"
    found = model(lambda s: s[1].pop("relationships"))
    assert "relationships" not in found["entities"][1]
    found = model(lambda s: s[1]["properties"][3]["quality"][0].update(implementation="amount > 1"))
    assert found["entities"][1]["constraints"][0]["check"] == "amount > 1"
    found = model(lambda s: s[0].update(name="client"))  # its children name one that is not there
    assert "relationships" not in found["entities"][1]
    assert "orders.of" not in found["settings"]


LIMITS: list[tuple[dict[str, Any], Any]] = [
    ({"mustBe": 0}, None),
    ({}, None),
    ({"mustBeLessThan": 5}, {"threshold": 4}),
    ({"mustBeLessThan": 4.5, "unit": "rows"}, {"threshold": 4}),
    ({"mustBeLessOrEqualTo": 0}, {"threshold": 0}),
    ({"mustBeBetween": [0, 3]}, {"threshold": 3}),
    ({"mustBeGreaterOrEqualTo": 0}, {"threshold": "none"}),
    ({"mustBeLessOrEqualTo": 0.5, "unit": "percent"}, {"threshold_percent": 0.5}),
    ({"mustBeLessThan": 1, "unit": "percent"}, "left"),
    ({"mustBeLessOrEqualTo": 101, "unit": "percent"}, "left"),
    ({"mustBeLessOrEqualTo": -1}, "left"),
    ({"mustBeLessOrEqualTo": 1e30}, "left"),
    ({"mustBeLessOrEqualTo": "5"}, "left"),
    ({"mustBeLessOrEqualTo": True}, "left"),
    ({"mustBeLessOrEqualTo": 5, "unit": "furlongs"}, "left"),
    ({"mustBe": 0, "mustBeLessThan": 5}, "left"),
    ({"mustBeGreaterThan": 5}, "left"),
    ({"mustNotBe": 0}, "left"),
]


def test_each_limit_is_a_threshold_or_is_left(read: Read) -> None:
    code = "customer.state.enumeration"
    for limit, expected in LIMITS:
        rule = {"metric": "invalidValues", "arguments": {"validValues": ["a"]}, **limit}
        given = edited(lambda s, rule=rule: s[0]["properties"][2].update(quality=[rule]))
        model, lines = read(given, "odcs")
        if expected == "left":
            assert "values" not in model["entities"][0]["attributes"][2], limit
            assert "schema[0].properties[2].quality[0]: its limit" in lines[1], limit
        else:
            assert model["entities"][0]["attributes"][2]["values"] == ["a"]
            assert (limit, model["settings"].get(code), lines) == (limit, expected, [])


def test_a_contract_of_a_stranger_is_taken_over_and_the_rest_is_listed(read: Read) -> None:
    model, lines = read(STRANGER, "odcs")
    assert model == {
        "interface": "payments",
        "entities": [
            {
                "name": "receivers",
                "key": ["id"],
                "attributes": [
                    {"name": "id", "type": "text(18)", "mandatory": True},
                    {"name": "since", "type": "timestamp"},
                ],
                "constraints": [
                    {
                        "name": "since_minimum",
                        "type": "value",
                        "attribute": "since",
                        "check": "since >= '2020-01-01 00:00:00'",
                    }
                ],
            },
            {
                "name": "payment_lines",
                "key": ["line_no"],
                "attributes": [
                    {"name": "line_no", "type": "integer", "source": "LINE_NO"},
                    {"name": "receiver", "type": "text(18)"},
                    {"name": "amount", "type": "numeric(10,2)"},
                    {"name": "currency", "type": "text(3)", "values": ["EUR", "NOK"]},
                    {"name": "note", "type": "text", "mandatory": True},
                    {"name": "c_acm_x", "type": "boolean", "source": "acm_x"},
                    {"name": "c_delivery_id", "type": "bigint", "source": "delivery_id"},
                ],
                "alternate_keys": [
                    {"name": "unique_receiver_amount", "attributes": ["receiver", "amount"]}
                ],
                "relationships": [
                    {"name": "of_receivers", "parent": "receivers", "columns": ["receiver"]}
                ],
                "constraints": [
                    {"name": name, "type": "value", "attribute": attribute, "check": check}
                    for name, attribute, check in [
                        ("line_no_minimum", "line_no", "line_no >= 1"),
                        ("line_no_exclusive_maximum", "line_no", "line_no < 1000"),
                        ("currency_min_length", "currency", "length(currency) >= 3"),
                        ("currency_pattern", "currency", "matches(currency, '[A-Z]+')"),
                        ("note_present", "note", "note NOT IN ('N/A')"),
                        ("note_form", "note", "matches(note, '.*[0-9]+.*')"),
                    ]
                ],
            },
        ],
        "settings": {"payment_lines.note_form": {"threshold": 1}},
    }
    left = lines[1 : lines.index("Assumed:")]
    assert [line.strip().partition(":")[0] for line in left] == [
        *("team", "servers", "schema[0].physicalName", "schema[0].properties[2]"),
        *("schema[1].description", "schema[1].properties[1].relationships[1]"),
        *("schema[1].properties[1].relationships[1]", "schema[1].properties[2].classification"),
        *("schema[1].properties[3].logicalTypeOptions.format",),
        *("schema[1].properties[4].quality[0].severity",),
        *("schema[1].properties[4].quality[3]", "schema[1].properties[4].quality[4]"),
        *("schema[1].quality[0]",),
    ]


def test_what_is_left_is_named(read: Read) -> None:
    """By its place, and by the names of the table, the property and the rule."""
    _, lines = read(STRANGER, "odcs")
    named = {
        line.strip().partition(":")[0]: line.rstrip(")").rpartition("(")[2]
        for line in lines
        if line.endswith(")")
    }
    assert named.items() >= {
        ("schema[0].physicalName", "receivers"),
        ("schema[0].properties[2]", "receivers.details"),
        ("schema[1].properties[2].classification", "Payment Lines.amount"),
        ("schema[1].properties[4].quality[3]", "Payment Lines.note, rule custom soda"),
        ("schema[1].properties[4].quality[4]", "Payment Lines.note, rule sql"),
        ("schema[1].quality[0]", "Payment Lines, rule rowCount"),
    }
    rule = ("expect_column_mean_to_be_between", {"column": "a", "min_value": 1})
    _, lines = read(suite(rule), "gx", key=["k"])
    assert any("(a, rule expect_column_mean_to_be_between)" in line for line in lines)
    fields = [{"name": "k", "type": "int"}, {"name": "raw", "type": "bytes"}]
    _, lines = read({"type": "record", "name": "o", "fields": fields}, "avro", key=["k"])
    assert any("fields[1]: " in line and "(raw)" in line for line in lines)


def test_strict_takes_a_contract_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(STRANGER, encoding="utf-8")
    _, notes = read_contract(file, "odcs")
    with pytest.raises(lookup("OM096"), match=r"team: .* and 12 more") as caught:
        require_whole(file, notes, "take it over by hand")
    assert caught.value.sqlstate == "OM096"
    assert caught.value.detail["problems"][0].keys() == {"path", "problem"}
    file.write_text(contract_as_yaml(contract()), encoding="utf-8")
    _, notes = read_contract(file, "odcs")
    require_whole(file, notes, "take it over by hand")
    assert not notes.notes


# Avro -------------------------------------------------------------------------------------------


def test_each_type_of_avro_is_one_of_a_model_or_is_left(read: Read) -> None:
    fields = [{"name": f"f{n}", "type": given} for n, (given, _) in enumerate(AVRO)]
    schema = {"type": "record", "name": "ns.Order", "fields": fields}
    model, lines = read(schema, "avro", key=["f0"])
    [entity] = model["entities"]
    assert (model["interface"], entity["name"], entity["key"]) == ("order", "order", ["f0"])
    assert {a.pop("name"): a for a in entity["attributes"]} == {
        f"f{n}": expected for n, (_, expected) in enumerate(AVRO) if expected
    }
    for n, (_, expected) in enumerate(AVRO):
        assert (f"fields[{n}]" in "\n".join(lines)) is (expected is None), n
    with pytest.raises(click.UsageError, match="does not say the key of order"):
        read(schema, "avro")
    model, _ = read([schema, {**schema, "name": "Line"}], "avro", entity="Line", key=["f1"])
    assert [e["name"] for e in model["entities"]] == ["line"]
    model, _ = read(schema, "avro", entity="mine", interface="shop", key=["f0", "f1"])
    assert (model["interface"], model["entities"][0]["name"]) == ("shop", "mine")


# JSON Schema ------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", ["draft-07", "draft/2020-12"])
def test_each_type_of_a_json_schema_is_one_of_a_model_or_is_left(read: Read, draft: str) -> None:
    schema = {
        "$schema": f"http://json-schema.org/{draft}/schema#",
        "title": "Order",
        "type": "object",
        "required": ["k", "x1"],
        "properties": {
            "k": {"type": "integer"},
            **{f"x{n}": given for n, (given, _, _) in enumerate(JSON_SCHEMA)},
        },
        "$defs": {
            "code": {"type": "string", "maxLength": 2},
            "short": {"$anchor": "short", "type": "string", "maxLength": 1},
            "a/b c": {"type": "boolean"},
            "loop": {"allOf": [{"$ref": "#/$defs/loop"}]},
            "ways": {"anyOf": [{"$ref": "#/$defs/ways"}, {"type": "null"}]},
        },
    }
    model, lines = read(schema, "json-schema", key=["k"])
    [entity] = model["entities"]
    rules = {}
    for rule in entity["constraints"]:
        rules.setdefault(rule["attribute"], []).append(rule["check"])
    found = {a.pop("name"): a for a in entity["attributes"]}
    assert found.pop("k") == {"type": "bigint", "mandatory": True}
    assert found["x1"].pop("mandatory") is True
    assert found == {f"x{n}": e for n, (_, e, _) in enumerate(JSON_SCHEMA) if e}
    for n, (given, expected, wanted) in enumerate(JSON_SCHEMA):
        assert [c.replace(f"x{n}", "x") for c in rules.get(f"x{n}", [])] == wanted, given
        assert any(f"properties.x{n}:" in line for line in lines) is (expected is None), given


def test_a_document_of_lists_is_an_entity_for_each(read: Read) -> None:
    schema = {
        "$id": "https://example.org/shop.json",
        "properties": {
            "orders": {"type": "array", "items": {"$ref": "#/definitions/order"}},
            "lines": {"type": "array", "items": {"properties": {"nbr": {"type": "integer"}}}},
        },
        "definitions": {"order": {"type": "object", "properties": {"orderNo": {"type": "string"}}}},
    }
    model, _ = read(schema, "json-schema", entity="orders", key=["orderNo"])
    assert model["entities"] == [
        {
            "name": "orders",
            "key": ["order_no"],
            "attributes": [{"name": "order_no", "type": "text", "source": "orderNo"}],
        }
    ]
    with pytest.raises(click.UsageError, match="--entity chooses one"):
        read(schema, "json-schema", key=["nbr"])
    only = {"definitions": schema["definitions"]}
    assert read(only, "json-schema", key=["order_no"])[0]["entities"] == [
        {**model["entities"][0], "name": "order"}
    ]


# Great Expectations -----------------------------------------------------------------------------


def test_each_expectation_is_a_rule_of_a_model_or_is_left(read: Read) -> None:
    for kind, kwargs, before, expected in GX:
        model, lines = read(suite(*before, (kind, kwargs)), "gx", key=["k"])
        [entity] = model["entities"]
        attribute = entity["attributes"][1]
        rules = [rule.get("check", rule.get("query")) for rule in entity.get("constraints", ())]
        if isinstance(expected, KeyError):
            where = f"expectations[{len(before) + 1}]"
            told = [line for line in lines if where in line and expected.args[0] in line]
            assert (kind, len(told), rules) == (kind, 1, []), lines
        elif isinstance(expected, str):
            assert (kind, rules) == (kind, [expected])
        elif isinstance(expected, list):
            assert (kind, entity["alternate_keys"][0]["attributes"]) == (kind, expected)
        else:
            assert (kind, attribute | expected) == (kind, attribute)
        assert isinstance(expected, KeyError) or "Not taken over:" not in lines


def test_mostly_and_severity_are_thresholds(read: Read) -> None:
    def setting(mostly: Any, **more: Any) -> Any:
        rule = ("expect_column_values_to_not_be_null", {"column": "a", "mostly": mostly})
        return (
            read(suite(rule, **more), "gx", key=["k"])[0]
            .get("settings", {})
            .get("orders.a.mandatory")
        )

    assert setting(1) is None
    assert setting(0.99) == {"threshold_percent": 1}
    assert float(setting(0.995)["threshold_percent"]) == 0.5
    assert setting(1.0, severity="warning") == {"threshold": "none", "warn": 0}
    assert setting(0.9, severity="info") == {"threshold": "none", "warn_percent": 10}
    assert setting(0.9, severity="critical") == {"threshold_percent": 10}


def test_the_only_unique_columns_are_the_key(read: Read) -> None:
    one = ("expect_compound_columns_to_be_unique", {"column_list": ["a", "b"]})
    model, lines = read(suite(one), "gx")
    assert model["entities"][0]["key"] == ["a", "b"]
    assert "alternate_keys" not in model["entities"][0]
    assert any("the only unique columns" in line for line in lines)
    with pytest.raises(click.UsageError, match="does not say the key"):
        read(suite(one, ("expect_column_values_to_be_unique", {"column": "k"})), "gx")


# Patterns, codes and types ----------------------------------------------------------------------

PATTERNS = {
    "^a$": "a",
    "a": ".*a.*",
    "^a": "a.*",
    "^\\w+\\.\\w$": "[A-Za-z0-9_]+\\.[A-Za-z0-9_]",
    "^[^\\d.]$": "[^0-9.]",
    "^\\D$": "[^0-9]",
    "^(?:a|b)$": "(?:a|b)",
    "a|b": ".*(?:a|b).*",
    "^\\t$": "\t",
    "^a{2,3}?$": "a{2,3}?",
    **dict.fromkeys(
        [
            *("^a|b$", "a$|^b", "(?=a)", "(?!a)", "(?<n>a)", "\\1(a)", "\\bword", "\\p{L}", "a^b"),
            *("[[:alpha:]]", "[a&&b]", "[\\D]", "a++", "{", "}", "]", "", "\\", "[", "a" * 1001),
        ]
    ),
}


def test_patterns_are_those_of_checks_or_none() -> None:
    found = {pattern: checks.whole_pattern(pattern) for pattern in PATTERNS}
    assert found == PATTERNS
    assert checks.whole_pattern(5) is None


def test_codes_resemble_names_and_differ() -> None:
    names = {
        "orderDate": "order_date",
        "Order Date": "order_date",
        "ORDER_DATE": "order_date",
        "order": "order",
        "2nd": "c_2nd",
        "Größe": "groe",
        "": "c",
        "   ": "c",
        "ä": "a",
        "日本": "c",
        "x" * 50: "x" * 41,
        "a'; DROP TABLE x; --": "a_drop_table_x",
    }
    assert {name: codes.as_code(name) for name in names} == names
    assert all(codes.is_code(code) for code in names.values())
    assert codes.as_attribute("xmin") == "c_xmin"
    assert codes.unused("a" * 41, {"a" * 41, "a" * 39 + "_2"}) == "a" * 39 + "_3"


def test_types_of_databases_are_known() -> None:
    found = {
        name: types.written(name)
        for name in (
            *(
                "VARCHAR(20)",
                "varchar2(20 char)",
                "char",
                "NUMBER(10,0)",
                "NUMBER",
                "Decimal(39,2)",
            ),
            *("TIMESTAMP_NTZ", "timestamp with time zone", "timestamp(3) without time zone"),
            *("STRUCT<a>", "UUID", "float64", "int", "varchar(0)", "text(3,4)", ""),
        )
    }
    assert found == {
        "VARCHAR(20)": "text(20)",
        "varchar2(20 char)": "text(20)",
        "char": "text",
        "NUMBER(10,0)": "numeric(10,0)",
        "NUMBER": None,
        "Decimal(39,2)": None,
        "TIMESTAMP_NTZ": "timestamp",
        "timestamp with time zone": "timestamptz",
        "timestamp(3) without time zone": "timestamp",
        "STRUCT<a>": None,
        "UUID": "text(36)",
        "float64": "double precision",
        "int": "integer",
        "varchar(0)": "text",
        "text(3,4)": None,
        "": None,
    }


# Hostile files ----------------------------------------------------------------------------------

NO_CONTRACTS: list[Any] = [
    *("", "[", "[]", "{}", "5", "null", '"a"', '{"schema": 5, "kind": "DataContract"}'),
    *('{"kind": "DataContract", "apiVersion": "v4.0.0", "schema": []}',),
    *('{"kind": "DataContract", "apiVersion": "v2.2.2", "schema": []}',),
    *('{"kind": "DataContract", "schema": [5, {"name": 5}, {"name": "a"}]}',),
    *('{"type": "record", "name": "a", "fields": [5, {"name": "a"}]}',),
    *('{"type": "record", "name": 5, "fields": []}', '{"type": "record", "name": "a"}'),
    *('{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {}}}',),
    *('{"type": "string"}', '{"properties": 5}', '{"expectations": 5}', '{"expectations": [5]}'),
    *('{"expectations": [{"type": 5, "kwargs": {"column": 5}}]}',),
]


def test_what_is_no_contract_is_told_so(read: Read) -> None:
    for contract_format in FORMATS:
        for given in NO_CONTRACTS:
            with pytest.raises(click.UsageError):
                read(given, contract_format)


WRONG = [None, 5, "a", True, [], {}, [None], [5, {}], {"a": None}, [["a"]], "\n# x: y", -1, 1e400]


def test_no_value_of_a_wrong_kind_is_more_than_a_note(tmp_path: Path) -> None:
    """Each value of a contract is replaced by what nobody expects there."""
    file = tmp_path / "file.json"
    wrong = itertools.cycle(WRONG)
    known = {
        "odcs": edited(lambda s: s[0]["properties"][2].update(enum=[{"value": "a"}])),
        "avro": {
            "type": "record",
            "name": "a",
            "fields": [{"name": f"f{n}", "type": t} for n, (t, _) in enumerate(AVRO)],
        },
        "json-schema": {
            "title": "a",
            "properties": {f"x{n}": t for n, (t, _, _) in enumerate(JSON_SCHEMA)},
            "$defs": {"code": {"type": "string", "$anchor": "short"}},
            "required": ["x1"],
        },
        "gx": suite(*[(kind, kwargs) for kind, kwargs, _, _ in GX]),
    }
    for contract_format, given in known.items():
        text = json.dumps(given)
        for path in [*paths(given)]:
            for value in itertools.islice(wrong, 2 if contract_format == "odcs" else 1):
                document = json.loads(text)
                node = document
                for step in path[:-1]:
                    node = node[step]
                node[path[-1]] = value
                file.write_text(json.dumps(document))
                with contextlib.suppress(click.UsageError):
                    read_contract(file, contract_format, interface="i", key=["f0"])


def paths(node: Any, at: tuple[Any, ...] = ()) -> Any:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for step, value in items:
        yield (*at, step)
        if isinstance(value, (dict, list)):
            yield from paths(value, (*at, step))


def test_notes_stay_comments_whatever_the_contract_says(read: Read, tmp_path: Path) -> None:
    evil = "x\nentities: []\n\x1b[31m\u202e\u2028y"
    schema = {"properties": {evil: {"type": "array"}, "a": {evil: 1, "type": "integer"}}}
    _, lines = read(schema, "json-schema", key=["a"])
    assert len(lines) > 2
    assert all(line.isprintable() for line in lines)


BOMBS: dict[str, Callable[[], Any]] = {
    "deep": lambda: "[" * 100_000,
    "large": lambda: '{"a": "' + "x" * 10_000_001 + '"}',
    "many": lambda: [[1] * 1000] * 600,
    "refs": lambda: {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
        | {"d60": {"properties": {"a": {}}}},
    },
    "ways": lambda: {
        "properties": {
            "a": {"anyOf": [{"$ref": "#/$defs/d0"}, {"$ref": "#/$defs/d0"}]},
        },
        "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)},
    },
    "chain": lambda: {
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5000)},
    },
    "wide": lambda: {
        "allOf": [{"$ref": "#/$defs/a"}] * 20_000,
        "$defs": {"a": {"properties": {f"p{n}": {} for n in range(20_000)}}},
    },
    "names": lambda: {"properties": {" " * n: {} for n in range(1400)}},
    "columns": lambda: {"properties": {f"p{n}": {} for n in range(100_000)}},
    "required": lambda: {"properties": {"a": {}}, "required": ["a"] * 400_000},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_means_more_than_it_says_ends_soon(read: Read, bomb: str) -> None:
    given = BOMBS[bomb]()
    limit = sys.getrecursionlimit()
    begun = time.process_time()  # of the processor: what others do at the same time counts not
    with contextlib.suppress(click.UsageError, lookup("OM030")):
        read(given, "json-schema", key=["a"])
    assert time.process_time() - begun < 30
    assert sys.getrecursionlimit() == limit
    if bomb in ("deep", "large"):
        for contract_format in FORMATS:
            with pytest.raises((lookup("OM030"), click.UsageError)):
                read(given, contract_format)
