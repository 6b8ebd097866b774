"""Deploying models: registry, tables, differences, what is followed and what is refused."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from omd.errors import lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

KEY = {"carrier": "AA", "flight": 1, "day": "2026-01-01"}


def columns(room: Room, table: str) -> dict[str, str]:
    rows = room.rows(
        "SELECT attname, format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' !'"
        " ELSE '' END AS type FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        table,
    )
    return {row["attname"]: row["type"] for row in rows}


def indexes(room: Room, table: str) -> set[str]:
    rows = room.rows(
        "SELECT regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* USING', 'INDEX') AS text"
        " FROM pg_index WHERE indrelid = %s::regclass",
        table,
    )
    return {row["text"].removeprefix("CREATE ") for row in rows}


def test_a_model_is_deployed_once_and_its_document_changes_nothing(
    room: Room, model: dict[str, Any]
) -> None:
    version, changes = room.deploy(model, dry_run=True)
    assert (version, room.one("SELECT count(*) FROM omd_delivery.interface")) == (1, 0)
    assert {c["object"]: c["change"] for c in changes}["flights.delay"] == "attribute added"
    assert room.deploy(model) == (1, changes)
    assert room.deploy(model) == (1, [])
    assert room.document() == {
        **model,
        "settings": {"flights.plausible": {"action": "E", "threshold_percent": 1, "warn": 10}},
    }
    assert room.deploy(room.document()) == (1, [])
    assert room.diff(room.document()) == []
    assert room.one("SELECT array_agg(model_version) FROM omd_delivery.model_version") == [1]
    room.refused("OM005", "deploy_model", model=None)
    with pytest.raises(psycopg.Error, match="has no model") as caught:
        room.document("trains")
    assert caught.value.sqlstate == "OM031"


def test_the_document_gives_back_every_key(room: Room) -> None:
    model = {
        "interface": "select",
        "facts": {"null": None, "deep": [1, {"a": None}]},
        "entities": [
            {
                "name": "table",
                "key": ["order", "user"],
                "attributes": [
                    {"name": "user", "type": "numeric(38,0)", "source": 'a "b" \' %s {x}'},
                    {"name": "order", "type": "text(10485760)", "facts": {"x": None}},
                    {
                        "name": "a",
                        "type": "timestamptz",
                        "format": "yyyy",
                        "values": ["2026-01-01 00:00:00Z"],
                    },
                    {
                        "name": "b",
                        "type": "timestamp",
                        "computed": "`x` || '\\'",
                        "mandatory": True,
                    },
                    {"name": "c", "type": "double precision", "values": [1, 2.5, "1e3"]},
                    {"name": "d", "type": "boolean", "retired": True, "values": [True]},
                ],
                "alternate_keys": [
                    {"name": "z", "attributes": ["c", "a"]},
                    {"name": "k", "attributes": ["b"]},
                ],
                "relationships": [
                    {
                        "name": "self",
                        "parent": "table",
                        "columns": ["order", "user"],
                        "context_filter": False,
                        "child_required": True,
                    }
                ],
                "constraints": [
                    {"name": "set_first", "type": "set", "query": "SELECT 1"},
                    {"name": "r", "type": "record", "check": "\"order\" = 'x' OR c > 1"},
                    {"name": "a", "type": "value", "attribute": "a", "check": "a IS NOT NULL"},
                ],
                "indicator": {"column": "I", "delete": "X"},
                "facts": {},
            },
            {
                "name": "derived_one",
                "key": ["x"],
                "attributes": [{"name": "x", "type": "date"}],
                "derived": {"from": ["table"], "query": "SELECT 1"},
            },
            {
                "name": "old",
                "key": ["x"],
                "attributes": [{"name": "x", "type": "date"}],
                "retired": True,
            },
        ],
        "settings": {
            "table.deletes": {"threshold": "none", "warn": 3},
            "table.table.self": {"action": "N", "enabled": False},
            "table.c.datatype": {"action": "E", "threshold": 5, "warn_percent": 0.5},
        },
    }
    room.deploy(model)
    assert room.document("select") == model
    assert room.deploy(model)[1] == []
    assert list(columns(room, 'lvl_select."table"'))[:3] == ["order", "user", "a"]
    assert columns(room, 'lvl_select."table"')["order"] == "character varying(10485760) !"


def test_tables_indexes_and_modules_are_made(room: Room, model: dict[str, Any]) -> None:
    model["entities"][1]["alternate_keys"] = [{"name": "by_day", "attributes": ["day", "origin"]}]
    model["entities"][1]["attributes"].append({"name": "partner", "type": "text(2)"})
    model["entities"][1]["relationships"].append(
        {"name": "of_partner", "parent": "carriers", "columns": ["partner"]}
    )
    room.deploy(model)
    assert columns(room, "lvl_flights.flights") == {
        "carrier": "character varying(2) !",
        "flight": "integer !",
        "day": "date !",
        "origin": "character varying(3)",
        "delay": "integer",
        "partner": "character varying(2)",
        "acm_start_dt": "timestamp with time zone !",
        "acm_end_dt": "timestamp with time zone !",
        "acm_record_ind": "text !",
        "acm_audit_id": "bigint !",
        "acm_hash_a": "bigint",
        "acm_hash_b": "bigint",
    }
    delta = columns(room, "wrk_flights.delta_flights")
    assert delta.keys() - columns(room, "lvl_flights.flights").keys() == {"delivery_id"}
    assert indexes(room, "lvl_flights._open_flights") == {
        "UNIQUE INDEX btree (carrier, flight, day)",
        "INDEX btree (day, origin)",
        "INDEX btree (partner)",
    }
    assert indexes(room, "lvl_flights._closed_flights") == {
        "INDEX btree (carrier, flight, day)",
        "INDEX brin (acm_end_dt) WITH (autosummarize='on')",
    }
    room.load("lvl_flights.flights", KEY, {**KEY, "acm_end_dt": "2026-01-02"})
    parts = room.rows("SELECT tableoid::regclass::text AS p FROM lvl_flights.flights ORDER BY 1")
    assert [row["p"] for row in parts] == [
        "lvl_flights._closed_flights",
        "lvl_flights._open_flights",
    ]
    with pytest.raises(psycopg.errors.UniqueViolation):
        room.load("lvl_flights.flights", KEY)
    (module,) = room.rows("SELECT * FROM omd.module WHERE module_code = 'lvl.flights.flights'")
    assert (module["table_code"], module["insert_instance_column"], module["area_code"]) == (
        "lvl_flights.flights",
        "acm_audit_id",
        "HSTG",
    )


def test_a_run_that_failed_is_undone_in_the_work_table_alone(
    room: Room, model: dict[str, Any]
) -> None:
    room.deploy(model)
    begin = {"module_code": "lvl.flights.carriers"}
    first = room.call("omd.begin_module", **begin)["module_instance_id"]
    for run in (first, first + 100):
        room.owner(
            "INSERT INTO wrk_flights.delta_carriers (delivery_id, acm_record_ind, acm_audit_id,"
            " carrier) VALUES (1, 'N', %s, 'AA')",
            run,
        )
    room.load("lvl_flights.carriers", {"carrier": "AA", "acm_audit_id": first})
    room.call("omd.module_failure", module_instance_id=first)
    room.conn.execute("SET ROLE omd_runner")
    begun = room.call("omd.begin_module", **begin)
    assert (begun["processing_indicator"], begun["instance_array"]) == ("P", [first])
    room.conn.execute("RESET ROLE")
    assert room.one("SELECT array_agg(acm_audit_id) FROM wrk_flights.delta_carriers") == [
        first + 100
    ]
    assert room.one("SELECT count(*) FROM lvl_flights.carriers") == 1
    assert room.one("SELECT omd_delivery.undo_update(4711, '{1}')") == 0


def test_what_grows_is_followed_while_there_are_rows(room: Room, model: dict[str, Any]) -> None:
    room.deploy(model)
    room.load("lvl_flights.flights", KEY, acm_hash_a=1, acm_hash_b=2, delay=3)
    room.load("lvl_flights.flights", KEY, acm_end_dt="2026-01-01 12:00:00+00", acm_hash_a=1)
    carriers, flights = model["entities"]
    flights["attributes"].insert(0, {"name": "gate", "type": "text"})
    flights["attributes"][2]["type"] = "bigint"  # in the key
    flights["attributes"][4]["type"] = "character varying(5)"
    flights["constraints"].append({"name": "gated", "type": "record", "check": "gate <> origin"})
    flights["alternate_keys"] = [{"name": "by_gate", "attributes": ["gate", "day"]}]
    carriers["attributes"][1]["type"] = "text"
    model["entities"].insert(
        0, {"name": "gates", "key": ["gate"], "attributes": [{"name": "gate", "type": "text"}]}
    )
    model["settings"] = {
        "flights.plausible": {"action": "S"},
        "flights.context": {"action": "SKIP ROW"},
    }
    model["facts"] = {"x": 1}
    expected = room.diff(model)
    version, changes = room.deploy(model)
    assert (version, [(c["object"], c["change"]) for c in changes]) == (2, expected)
    # In the order of the document.
    added = [name for name, change in expected if change.endswith("added")]
    assert added[:3] == ["gates", "gates.gate", "flights.gate"]
    assert set(expected) >= {
        ("flights", 'interface: facts was not given, becomes {"x": 1}'),
        ("gates", "entity added"),
        ("flights.gate", "attribute added"),
        ("flights.flight", "attribute: type was integer, becomes bigint"),
        ("flights.gated", "constraint added"),
        ("flights.by_gate", "alternate key added"),
        ("flights.context", "setting added"),
    }
    assert room.deploy(room.document()) == (2, [])
    found = columns(room, "lvl_flights.flights")
    assert (found["flight"], found["gate"], found["origin"]) == (
        "bigint !",
        "text",
        "character varying(5)",
    )
    assert columns(room, "wrk_flights.delta_flights")["flight"] == "bigint !"
    assert list(found)[-1] == "gate"
    rows = room.rows(
        "SELECT delay, acm_hash_a, acm_hash_b FROM lvl_flights.flights ORDER BY acm_end_dt"
    )
    assert [tuple(row.values()) for row in rows] == [(None, 1, None), (3, None, None)]
    ordinals = room.rows(
        "SELECT attribute_code AS a FROM omd_delivery.attribute INNER JOIN omd_delivery.entity"
        " USING (entity_id) WHERE entity_code = 'flights' ORDER BY attribute.ordinal"
    )
    assert [row["a"] for row in ordinals][-1] == "gate"  # the hashes of the others stay


def test_what_would_lose_rows_is_refused_and_retired_parts_stay(
    room: Room, model: dict[str, Any]
) -> None:
    room.deploy(model)
    ids = room.rows("SELECT attribute_id, attribute_code FROM omd_delivery.attribute ORDER BY 1")
    room.load("lvl_flights.flights", KEY, delay=3)
    carriers, flights = model["entities"]

    def refused(*expected: str) -> None:
        before = room.document()
        for dry_run in (True, False):
            detail = room.refused("OM230", "deploy_model", model=model, dry_run=dry_run)
            assert {p["object"] for p in detail["problems"]} == set(expected)
        assert room.document() == before

    removed = flights["attributes"].pop(4)
    kept_constraint = flights.pop("constraints"), model.pop("settings")
    refused("flights.delay")
    flights["attributes"].append({**removed, "type": "smallint"})
    refused("flights.delay")
    flights["attributes"][4] = {**removed, "retired": True}
    flights["key"] = ["flight", "carrier", "day"]
    refused("flights")
    flights["key"] = ["carrier", "flight", "day"]
    flights["attributes"][1]["type"] = "text"
    refused("flights.flight")
    flights["attributes"][1]["type"] = "integer"
    carriers["attributes"][1]["type"] = "date"  # it has no rows
    model["entities"] = [carriers]
    refused("flights")
    model["entities"] = [carriers, flights]

    room.deploy(model)
    assert "flights.plausible" not in str(room.document())
    assert room.one("SELECT delay FROM lvl_flights.flights") == 3
    model["entities"][1]["attributes"].pop(4)  # it is retired already
    assert room.diff(model) == []
    model["entities"] = [carriers, {**flights, "retired": True}]
    assert room.deploy(model)[0] == 3
    model["entities"] = [carriers]
    assert room.diff(model) == []
    flights["attributes"].append(removed)
    flights["constraints"], model["settings"] = kept_constraint
    model["entities"] = [carriers, flights]
    room.deploy(model)
    assert room.diff(room.document()) == []
    assert ids == room.rows(
        "SELECT attribute_id, attribute_code FROM omd_delivery.attribute ORDER BY 1"
    )


def test_an_entity_without_rows_may_become_another(room: Room, model: dict[str, Any]) -> None:
    room.deploy(model)
    flights = model["entities"][1]
    flights["key"] = ["flight"]
    flights["attributes"][1]["type"] = "text"
    flights["attributes"][0]["type"] = "text(9)"
    flights["attributes"].pop(2)
    flights["relationships"] = []
    room.deploy(model)
    found = columns(room, "lvl_flights.flights")
    assert (found["flight"], found["carrier"], found["day"]) == (
        "text !",
        "character varying(9)",
        "date",
    )
    assert indexes(room, "lvl_flights._open_flights") == {"UNIQUE INDEX btree (flight)"}
    assert room.diff(model) == room.diff(room.document()) == []
    assert [
        r["relationship_code"]
        for r in room.rows(
            "SELECT relationship_code FROM omd_delivery.relationship WHERE is_retired"
        )
    ] == ["of_carrier"]
    # A delta that waits for the facts counts as rows do.
    room.owner(
        "INSERT INTO wrk_flights.delta_flights (delivery_id, acm_record_ind, acm_audit_id, flight)"
        " VALUES (1, 'R', 1, 'x')"
    )
    flights["key"] = ["carrier"]
    room.refused("OM230", "deploy_model", model=model)


def test_an_alternate_key_that_current_rows_break_is_refused(
    room: Room, model: dict[str, Any]
) -> None:
    room.deploy(model)
    room.load("lvl_flights.carriers", {"carrier": "AA"}, {"carrier": "BB"}, name=None)
    room.load("lvl_flights.carriers", {"carrier": "CC"}, {"carrier": "DD"}, name="x")
    room.load("lvl_flights.carriers", {"carrier": "EE"}, name="y")
    room.load("lvl_flights.carriers", {"carrier": "FF"}, name="y", acm_record_ind="R")
    room.load("lvl_flights.carriers", {"carrier": "GG"}, name="y", acm_end_dt="2026-02-01")
    model["entities"][0]["alternate_keys"] = [{"name": "by_name", "attributes": ["name"]}]
    for dry_run in (True, False):
        detail = room.refused("OM231", "deploy_model", model=model, dry_run=dry_run)
        assert detail["alternate_key_code"] == "by_name"
    room.owner("DELETE FROM lvl_flights.carriers WHERE carrier = 'CC'")
    room.deploy(model)


def test_no_model_is_deployed_while_a_run_of_the_interface_executes(
    room: Room, model: dict[str, Any]
) -> None:
    room.deploy(model)
    run = room.call("omd.begin_module", module_code="lvl.flights.flights", lease="1 hour")
    changed = {**model, "facts": {"x": 1}}
    detail = room.refused("OM136", "deploy_model", model=changed)
    assert detail["module_instance_id"] == run["module_instance_id"]
    assert room.diff(changed) != []
    room.owner(
        "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 day'"
        " WHERE module_instance_id = %s",
        run["module_instance_id"],
    )
    assert room.deploy(changed)[0] == 2


@pytest.mark.parametrize("new", [True, False])
def test_of_two_deployments_the_second_waits_and_sees_the_first(
    room: Room, another: Callable[..., Room], model: dict[str, Any], new: bool
) -> None:
    if not new:
        room.deploy(model)
        model["facts"] = {"x": 1}
    second = another()
    answers: list[Any] = []
    room.conn.autocommit = False
    version, changes = room.deploy(model)
    assert changes
    other = threading.Thread(target=lambda: answers.append(second.deploy(model)))
    other.start()
    while not room.one(
        "SELECT cardinality(pg_blocking_pids(%s)) > 0", second.conn.info.backend_pid
    ):
        pass
    room.conn.commit()
    other.join()
    room.conn.autocommit = True
    assert answers == [(version, [])]


def test_a_schema_of_somebody_else_is_left_alone(room: Room, model: dict[str, Any]) -> None:
    room.conn.execute("CREATE SCHEMA wrk_flights")
    assert room.refused("OM233", "deploy_model", model=model)["schema_name"] == "wrk_flights"
    assert room.one("SELECT count(*) FROM omd_delivery.interface") == 0
    assert room.one("SELECT to_regnamespace('lvl_flights')") is None
    room.conn.execute("DROP SCHEMA wrk_flights")
    name = sql.Identifier(room.conn.info.dbname)
    room.conn.execute(sql.SQL("REVOKE CREATE ON DATABASE {} FROM omd_owner").format(name))
    detail = room.refused("OM234", "deploy_model", model=model)
    room.conn.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO omd_owner").format(name))
    assert detail["schema_name"] == "lvl_flights"


def test_codes_of_full_length_have_names_of_their_own(room: Room) -> None:
    codes = [("a" * 40) + x for x in "bc"]

    def entity(code: str) -> dict[str, Any]:
        return {
            "name": code,
            "key": [code],
            "attributes": [{"name": c, "type": "integer"} for c in codes],
            "alternate_keys": [{"name": codes[0], "attributes": codes[::-1]}],
            "relationships": [
                {
                    "name": codes[1],
                    "parent": codes[0],
                    "columns": codes[1:],
                    "context_filter": False,
                }
            ],
        }

    room.deploy({"interface": codes[0], "entities": [entity(code) for code in codes]})
    for code in codes:
        assert len(indexes(room, f"lvl_{codes[0]}._open_{code}")) >= 2
    # An index shares its name space with the tables, which are named as any entity.
    assert not room.rows(
        "SELECT indexname FROM pg_indexes WHERE schemaname ~ '^lvl_' AND indexname !~ '^_'"
    )


def test_roles(room: Room, another: Callable[..., Room], model: dict[str, Any]) -> None:
    for role in ("omd_reader", "omd_runner", "omd_data_writer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            another(role=role).deploy(model)
    another(role="omd_admin").deploy(model)
    room.load("lvl_flights.carriers", {"carrier": "AA"})

    def may(role: str, query: str) -> bool:
        try:
            another(role=role).conn.execute(query.encode())
        except psycopg.errors.InsufficientPrivilege:
            return False
        except lookup("OM138"):  # there is no delivery
            return True
        return True

    insert = (
        "INSERT INTO wrk_flights.delta_carriers"
        " (delivery_id, acm_record_ind, acm_audit_id, carrier) VALUES (1, 'N', 1, 'AA')"
    )
    for table in (
        "lvl_flights.carriers",
        "lvl_flights._open_carriers",
        "wrk_flights.delta_carriers",
    ):
        query = f"SELECT * FROM {table}"
        roles = (
            "omd_reader",
            "omd_admin",
            "pg_monitor",
            "omd_runner",
            "omd_data_reader",
            "omd_data_writer",
        )
        assert [may(role, query) for role in roles] == [False, False, False, True, True, True]
    assert [may(r, insert) for r in ("omd_data_writer", "omd_admin", "omd_runner")] == [
        False,
        False,
        True,
    ]
    for query in (
        "DELETE FROM wrk_flights.delta_carriers",
        "DELETE FROM lvl_flights.carriers",
        "INSERT INTO lvl_flights.carriers DEFAULT VALUES",
    ):
        assert not may("omd_runner", query)
    assert another(role="omd_reader").document()["interface"] == "flights"


def test_settings_override_each_other_field_by_field(room: Room, model: dict[str, Any]) -> None:
    model["settings"] |= {
        "flights.origin.enumeration": {"threshold": 7, "enabled": False},
        "flights.context": {"threshold_percent": 3},
        "carriers.deletes": {"threshold_percent": 10},
    }
    room.deploy(model)
    overrides = {
        "flights.plausible": {"threshold": 5, "action": "NO ACTION"},
        "flights.origin.enumeration": {"threshold": "none", "enabled": True},
    }
    fields = "action, threshold, threshold_percent::integer, has_threshold, warn, is_enabled"
    rows = room.rows(
        f"SELECT constraint_code, {fields} FROM omd_delivery.interface,"
        " omd_delivery._settings(interface_id, %s::jsonb)",
        __import__("json").dumps(overrides),
    )
    found = {row.pop("constraint_code"): tuple(row.values()) for row in rows}
    assert found["flights.plausible"] == ("N", 5, 1, True, 10, True)
    assert found["flights.origin.enumeration"] == ("S", None, None, True, None, True)
    assert found["flights.context"] == ("N", None, 3, True, None, True)
    assert found["carriers.context"] == ("N", None, None, False, None, True)
    assert found["carriers.deletes"] == (None, None, 10, True, None, True)
    assert found["flights.deletes"] == (None, None, None, False, None, True)
    assert found["flights.primary_key"] == ("S", 0, None, False, None, True)
    assert "flights.carrier.mandatory" not in found
    assert found["carriers.name.mandatory"][0] == "S"
