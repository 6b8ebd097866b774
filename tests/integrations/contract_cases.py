"""Contracts of other tools, and what becomes of their parts."""

from __future__ import annotations

from typing import Any

MODEL: dict[str, Any] = {
    "interface": "shop",
    "entities": [
        {
            "name": "customer",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "integer"},
                {"name": "email", "type": "text(80)", "mandatory": True, "source": "E Mail"},
                {"name": "state", "type": "text", "values": ["open", "NO"]},
            ],
            "alternate_keys": [{"name": "by_email", "attributes": ["email"]}],
        },
        {
            "name": "orders",
            "key": ["nbr", "line"],
            "attributes": [
                {"name": "line", "type": "smallint"},
                {"name": "nbr", "type": "bigint"},
                {"name": "customer", "type": "integer"},
                {"name": "amount", "type": "numeric(12,2)"},
                {"name": "day", "type": "date", "format": "dd.MM.yyyy"},
            ],
            "relationships": [{"name": "of", "parent": "customer", "columns": ["customer"]}],
            "constraints": [
                {"name": "paid", "type": "value", "attribute": "amount", "check": "amount > 0"},
            ],
        },
    ],
    "settings": {
        "customer.state.enumeration": {"threshold": 5},
        "customer.email.mandatory": {"threshold_percent": 1, "action": "N"},
        "orders.of": {"action": "E"},
    },
}


STRANGER = """
apiVersion: v3.0.2
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
name: Payments
version: 1.0.0
status: active
tags: []
team: [{username: anna, role: Owner}]
servers: [{server: a, type: postgres, host: localhost, port: 5432, database: d, schema: s}]
schema:
  - id: receivers_obj
    name: receivers
    physicalName: receivers_master
    properties:
      - {name: id, primaryKey: true, primaryKeyPosition: 1, logicalType: string,
         physicalType: varchar(18), required: true, unique: true, partitioned: false}
      - {name: since, logicalType: date, physicalType: timestamp,
         logicalTypeOptions: {minimum: "2020-01-01 00:00:00"}}
      - {name: details, logicalType: object, properties: [{name: a, logicalType: string}]}
  - name: Payment Lines
    description: What was paid
    properties:
      - {name: "Line No", physicalName: LINE_NO, primaryKey: true, logicalType: integer,
         physicalType: int, logicalTypeOptions: {minimum: 1, exclusiveMaximum: 1000}}
      - name: receiver
        logicalType: string
        physicalType: varchar(18)
        relationships:
          - {to: schema/receivers_obj/properties/id}
          - {to: "https://example.org/other.yaml#schema/x/properties/id"}
      - {name: amount, logicalType: number, physicalType: "DECIMAL(10, 2)", classification: secret}
      - name: currency
        logicalType: string
        logicalTypeOptions: {minLength: 3, maxLength: 3, pattern: "^[A-Z]+$", format: iso4217}
        enum: [{value: EUR, label: Euro}, {value: NOK}]
      - name: note
        quality:
          - {rule: nullCheck, severity: error}
          - {metric: missingValues, arguments: {missingValues: [null, "N/A"]}, mustBe: 0}
          - {metric: invalidValues, arguments: {pattern: "\\\\d+"}, mustBeLessThan: 2}
          - {type: custom, engine: soda, implementation: "x"}
          - {type: sql, query: SELECT 1, mustBe: 0}
      - {name: acm_x, logicalType: boolean}
      - {name: delivery_id, logicalType: integer, physicalType: bigint}
    quality:
      - {metric: rowCount, mustBeGreaterThan: 0}
      - {metric: duplicateValues, arguments: {properties: [receiver, amount]}, mustBe: 0}
"""


AVRO: list[tuple[Any, Any]] = [
    ("boolean", {"type": "boolean", "mandatory": True}),
    ("int", {"type": "integer", "mandatory": True}),
    (["null", "long"], {"type": "bigint"}),
    (["double", "null"], {"type": "double precision"}),
    ([{"type": "string"}, "null"], {"type": "text"}),
    ([{"type": "int", "logicalType": "date"}, "null"], {"type": "date"}),
    ([{"type": "long", "logicalType": "timestamp-micros"}, "null"], {"type": "timestamptz"}),
    ([{"type": "long", "logicalType": "timestamp-millis"}, "null"], {"type": "timestamptz"}),
    ([{"type": "long", "logicalType": "local-timestamp-micros"}, "null"], {"type": "timestamp"}),
    ([{"type": "string", "logicalType": "uuid"}, "null"], {"type": "text(36)"}),
    (
        [{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "null"],
        {"type": "numeric(9,2)"},
    ),
    (
        [
            {"type": "fixed", "name": "f", "size": 9, "logicalType": "decimal", "precision": 20},
            "null",
        ],
        {"type": "numeric(20,0)"},
    ),
    (
        [{"type": "enum", "name": "s", "symbols": ["NO", "SE"]}, "null"],
        {"type": "text", "values": ["NO", "SE"]},
    ),
    (["null", "ns.s"], {"type": "text", "values": ["NO", "SE"]}),  # named above
    ([{"type": "int", "logicalType": "of_others"}, "null"], {"type": "integer"}),
    ({"type": "bytes", "logicalType": "decimal", "precision": 39, "scale": 2}, None),
    ({"type": "int", "logicalType": "time-millis"}, None),
    ("bytes", None),
    ({"type": "array", "items": "string"}, None),
    ({"type": "map", "values": "string"}, None),
    ({"type": "record", "name": "r", "fields": []}, None),
    (["int", "string"], None),
    ([], None),
    ("unknown", None),
    (7, None),
]


JSON_SCHEMA: list[tuple[Any, Any, list[str]]] = [
    ({"type": "string"}, {"type": "text"}, []),
    ({"type": "string", "maxLength": 5}, {"type": "text(5)"}, []),
    ({"type": "string", "format": "date"}, {"type": "date"}, []),
    ({"type": "string", "format": "date-time"}, {"type": "timestamptz"}, []),
    ({"type": "string", "format": "uuid"}, {"type": "text(36)"}, []),
    ({"type": "string", "minLength": 2}, {"type": "text"}, ["length(x) >= 2"]),
    ({"type": "string", "pattern": "^\\d{2}$"}, {"type": "text"}, ["matches(x, '[0-9]{2}')"]),
    ({"type": ["string", "null"]}, {"type": "text"}, []),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "bigint"}, []),
    ({"oneOf": [{"$ref": "#/$defs/code"}, {"const": None}]}, {"type": "text(2)"}, []),
    ({"$ref": "#/$defs/code"}, {"type": "text(2)"}, []),
    ({"$ref": "#short"}, {"type": "text(1)"}, []),
    ({"$ref": "#/$defs/a~1b%20c"}, {"type": "boolean"}, []),
    (
        {"allOf": [{"$ref": "#/$defs/code"}, {"minLength": 1}]},
        {"type": "text(2)"},
        ["length(x) >= 1"],
    ),
    ({"type": "integer", "format": "int32"}, {"type": "integer"}, []),
    (
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        {"type": "bigint"},
        ["x >= 1", "x < 9"],
    ),
    ({"type": "number"}, {"type": "double precision"}, []),
    ({"type": "number", "multipleOf": 0.01}, {"type": "numeric(38,2)"}, []),
    ({"type": ["integer", "number"]}, {"type": "double precision"}, []),
    ({"type": "boolean"}, {"type": "boolean"}, []),
    ({"enum": ["NO", "SE", None]}, {"type": "text", "values": ["NO", "SE"]}, []),
    ({"enum": [1, 2]}, {"type": "bigint", "values": [1, 2]}, []),
    ({"const": True}, {"type": "boolean", "values": [True]}, []),
    ({"type": "array", "items": {"type": "string"}}, None, []),
    ({"type": "object", "properties": {"a": {}}}, None, []),
    ({"type": ["integer", "string"]}, None, []),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, None, []),
    ({"$ref": "https://example.org/a.json"}, None, []),
    ({"$ref": "other.json#/a"}, None, []),
    ({"$ref": "#/$defs/none"}, None, []),
    ({"$ref": "#/$defs/loop"}, None, []),
    ({"$ref": "#/$defs/ways"}, None, []),
    (False, None, []),
]


COLUMN = {"column": "a"}
TEXT: list[tuple[str, dict[str, Any]]] = [
    ("expect_column_values_to_be_of_type", {"column": "a", "type_": "VARCHAR(9)"})
]
NUMBER: list[tuple[str, dict[str, Any]]] = [
    ("expect_column_values_to_be_of_type", {"column": "a", "type_": "DECIMAL(9,2)"})
]
# The expectation with its arguments, those before it, and what is then in the entity.
GX: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("expect_column_to_exist", COLUMN, [], {}),
    ("expect_column_values_to_be_of_type", {**COLUMN, "type_": "INTEGER"}, [], {"type": "integer"}),
    ("expect_column_values_to_be_of_type", {**COLUMN, "type_": "datetime64[ns]"}, [],
     {"type": "timestamp"}),
    ("expect_column_values_to_be_in_type_list", {**COLUMN, "type_list": ["BIGINT", "int64"]}, [],
     {"type": "bigint"}),
    ("expect_column_values_to_be_dateutil_parseable", COLUMN, [], {"type": "timestamp"}),
    ("expect_column_values_to_match_strftime_format", {**COLUMN, "strftime_format": "%Y-%m-%d"}, [],
     {"type": "date"}),
    ("expect_column_values_to_match_strftime_format", {**COLUMN, "strftime_format": "%d.%m.%YT%H"},
     [], {"type": "timestamp", "format": "dd.MM.yyyy'T'HH"}),
    ("expect_column_values_to_not_be_null", COLUMN, [], {"mandatory": True}),
    ("expect_column_values_to_be_in_set", {**COLUMN, "value_set": ["x", "y"]}, [],
     {"values": ["x", "y"]}),
    ("expect_column_values_to_be_in_set", {**COLUMN, "value_set": [1, 2]}, [],
     {"type": "bigint", "values": [1, 2]}),
    ("expect_column_values_to_not_be_in_set", {**COLUMN, "value_set": ["x'"]}, TEXT,
     "a NOT IN ('x''')"),
    ("expect_column_values_to_be_between", {**COLUMN, "min_value": -1.5, "max_value": 9}, NUMBER,
     "a BETWEEN -1.5 AND 9"),
    ("expect_column_values_to_be_between", {**COLUMN, "min_value": 0, "strict_min": True}, [],
     "a > 0"),
    ("expect_column_value_lengths_to_be_between", {**COLUMN, "min_value": 2, "max_value": 9}, [],
     "length(a) >= 2"),
    ("expect_column_value_lengths_to_equal", {**COLUMN, "value": 3}, TEXT,
     "length(a) >= 3 AND length(a) <= 3"),
    ("expect_column_values_to_match_regex", {**COLUMN, "regex": "^[A-Z]{2}$"}, [],
     "matches(a, '[A-Z]{2}')"),
    ("expect_column_values_to_not_match_regex", {**COLUMN, "regex": "\\d"}, [],
     "NOT matches(a, '.*[0-9].*')"),
    ("expect_column_values_to_match_regex_list", {**COLUMN, "regex_list": ["^a$", "^b$"]}, [],
     "(matches(a, 'a') OR matches(a, 'b'))"),
    ("expect_column_values_to_match_like_pattern", {**COLUMN, "like_pattern": "A%"}, [],
     "a LIKE 'A%'"),
    ("expect_column_values_to_not_match_like_pattern_list",
     {**COLUMN, "like_pattern_list": ["A%", "B%"]}, [], "(a NOT LIKE 'A%' AND a NOT LIKE 'B%')"),
    ("expect_column_values_to_be_unique", COLUMN, [], ["a"]),
    ("expect_compound_columns_to_be_unique", {"column_list": ["a", "b"]}, [], ["a", "b"]),
    ("expect_column_pair_values_a_to_be_greater_than_b",
     {"column_A": "a", "column_B": "b", "or_equal": True}, [], "a >= b"),
    ("expect_column_pair_values_to_be_equal", {"column_A": "a", "column_B": "b"}, [], "a = b"),
    ("expect_select_column_values_to_be_unique_within_record",
     {"column_list": ["a", "b", "k"]}, [], "a <> b AND a <> k AND b <> k"),
    ("unexpected_rows_expectation",
     {"unexpected_rows_query": "select * from {batch} where a = 'x'"}, [],
     "SELECT `k` FROM `orders` WHERE a = 'x'"),
    ("expect_column_values_to_not_be_null",
     {**COLUMN, "row_condition": 'col("b") == "x" and col("k").notNull()'}, [],
     "NOT (b = 'x' AND k IS NOT NULL) OR a IS NOT NULL"),
    ("expect_column_values_to_be_in_set",
     {**COLUMN, "value_set": ["x"], "row_condition": {
         "type": "comparison", "column": {"name": "b"}, "operator": "!=", "parameter": "y"}}, [],
     "NOT (b <> 'y') OR a IN ('x')"),
    # What is left, with a word of the reason.
    ("expect_column_values_to_not_be_null", {**COLUMN, "row_condition": "b.str.len() > 3"}, [],
     KeyError("row_condition")),
    ("expect_column_values_to_match_regex", {**COLUMN, "regex": "(?=a)"}, [], KeyError("pattern")),
    ("expect_column_values_to_be_between", {**COLUMN, "min_value": "x"}, NUMBER, KeyError("bound")),
    ("expect_column_values_to_be_of_type", {**COLUMN, "type_": "STRUCT"}, [], KeyError("type")),
    ("expect_column_values_to_not_be_null", {**COLUMN, "mostly": 7}, [], KeyError("mostly")),
    ("expect_table_row_count_to_equal", {"value": 5}, [], KeyError("announced")),
    ("expect_column_mean_to_be_between", {**COLUMN, "max_value": 5}, [], KeyError("group")),
    ("unexpected_rows_expectation", {"unexpected_rows_query": "SELECT a FROM x"}, [],
     KeyError("keys")),
    ("expect_column_kl_divergence_to_be_less_than", COLUMN, [], KeyError("nothing")),
]  # fmt: skip


def suite(*expectations: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    columns = {"column_list": ["k", "a", "b"]}
    given = [("expect_table_columns_to_match_ordered_list", columns), *expectations]
    return {
        "name": "orders",
        "expectations": [{"type": kind, "kwargs": kwargs, **more} for kind, kwargs in given],
        "meta": {"great_expectations_version": "1.5.0"},
    }
