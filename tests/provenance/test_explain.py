"""Where the value of a cell comes from, step by step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from facts.conftest import store
from facts.store import PERSON, PHONE, Store, T, entity
from kinds.conftest import platform
from provenance.explained import EXPLAIN, Cell
from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from kinds.conftest import Platform
    from support.flow import Flow
    from support.scenes import Built

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["platform", "store"]

NBR = {"nbr": 1}
NOON = "2020-01-%02d 12:00:00+00"


def refused(flow: Flow, table: Any, key: Any, column: Any, at: Any = None) -> str:
    """Return what is wrong with a cell that can't be explained."""
    with pytest.raises(psycopg.Error) as caught:
        flow.rows(EXPLAIN, table, None if key is None else Jsonb(key), column, at)
    return str(checked(caught.value, "OM093")["problem"])


def delivered(store: Store, day: int, /, **rows: Any) -> int:
    """Deliver and load; return the delivery."""
    delivery = store.queue(day, **rows)
    assert store.take()["outcome"] == "PERSISTED"
    return delivery


def with_file(
    store: Store, delivery: int, uri: str, file_no: int = 1, entity: str = "person"
) -> None:
    store.owner(
        "INSERT INTO omd_delivery.delivery_file"
        " (delivery_id, entity_id, file_no, uri, bytes, root)"
        " SELECT %s, entity_id, %s, %s, 1, '/in' FROM omd_delivery.entity WHERE entity_code = %s",
        delivery,
        file_no,
        uri,
        entity,
    )


class People(Store):
    """Ann on three days, and gone on the fourth; her deliveries."""

    def come(self) -> None:
        self.set_up(PERSON, PHONE)
        self.deliveries = [
            delivered(
                self,
                1,
                person=[("N", 1, "a@x", "1990", "ann", None), ("N", 2, "b@x", "1991", "bob", 1)],
                phone=[("N", 1, "home", "11"), ("N", 1, "work", "12")],
            ),
            delivered(
                self,
                2,
                person=[("A", 1, "c@x", "1990", "ann", None)],
                phone=[("A", 1, "home", "22")],
            ),
            delivered(self, 3, person=[("A", 1, None, "1990", "anna", None)]),
            delivered(self, 4, person=[("R", 1, None, None, None, None)]),
        ]


@pytest.fixture
def people(built: Built) -> tuple[Store, list[int]]:
    store = built(People, People.come)
    return store, store.deliveries


# Facts ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("by_hand")
def test_a_value_of_facts_leads_to_its_delivery(people: tuple[Store, list[int]]) -> None:
    store, (first, second, *_) = people
    cell = Cell(store, "gdal_shop.person", {"nbr": 2}, "name")
    assert cell.steps == [
        "VALUE", "ROW", "RUN", "SOURCE", "DELIVERY", "FILE", "VERDICT", "HISTORY",
    ]  # fmt: skip
    load = store.one(
        "SELECT module_instance_id FROM omd_facts.load_log WHERE delivery_id = %s", first
    )
    assert (cell.value, cell.rows[0]["module_instance_id"]) == ("bob", load)
    assert cell.text("VALUE") == f"name of person with nbr 2 is bob, from {T[1]}."
    [row] = cell.of("ROW")
    assert row["detail"]["context"] == "properties"
    assert row["detail"]["record"]["name"] == "bob"
    [run] = cell.of("RUN")
    assert (run["module_instance_id"], run["delivery_id"]) == (load, first)
    assert run["detail"]["module_code"] == "facts.shop"
    assert run["detail"]["stands"] is True
    assert {r["detail"]["module_code"] for r in cell.of("SOURCE")} == {
        "lvl.shop.person", "lvl.shop.phone",
    }  # fmt: skip
    [delivery] = cell.of("DELIVERY")
    assert (delivery["value"], delivery["delivery_id"]) == ("a", first)
    assert delivery["detail"]["tenant_code"] == "t"
    assert cell.text("FILE") == "It is not from a file."
    assert cell.of("VERDICT")[0]["value"] == "ACCEPTED"
    mail = Cell(store, "history_shop.person", {"nbr": 1}, "email", NOON % 2)
    assert (mail.value, mail.rows[0]["delivery_id"]) == ("c@x", second)


def test_the_history_says_the_value_on_any_day(people: tuple[Store, list[int]]) -> None:
    store, deliveries = people
    cell = Cell(store, "gdal_shop.person", NBR, "email")
    days = ["a@x", "c@x", None, None]
    assert cell.history == [
        (day, value, delivery)
        for day, value, delivery in zip(range(1, 5), days, deliveries, strict=True)
    ]
    assert [row["detail"]["record_ind"] for row in cell.of("HISTORY")] == ["N", "A", "A", "R"]
    assert "it was empty" in cell.of("HISTORY")[2]["text"]
    assert "deleted" in cell.of("HISTORY")[3]["text"]
    for day, value in enumerate(days[:3], 1):
        then = Cell(store, "asof_shop.person", NBR, "email", NOON % day)
        assert (then.value, then.rows[0]["delivery_id"]) == (value, deliveries[day - 1])
        assert then.history == cell.history
        assert then.rows[0]["valid_from"] == cell.of("HISTORY")[day - 1]["valid_from"]


def test_a_deleted_row_has_no_value_and_says_who_deleted_it(
    people: tuple[Store, list[int]],
) -> None:
    store, deliveries = people
    for column in ("name", "email", "born", "nbr"):
        cell = Cell(store, "gdal_shop.person", NBR, column)
        assert (cell.value, cell.rows[0]["delivery_id"]) == (None, deliveries[3])
        assert "the row is deleted" in cell.text("VALUE")
    born = Cell(store, "gdal_shop.person", NBR, "born", NOON % 3)
    assert (born.value, born.rows[0]["delivery_id"]) == ("1990", deliveries[0])
    assert born.history[-1] == (4, None, deliveries[3])
    assert {row["value"] for row in born.of("HISTORY")[:-1]} == {"1990"}


def test_what_is_written_once_has_its_own_history(people: tuple[Store, list[int]]) -> None:
    """Its key came on the first day and went on the fourth; between them other contexts changed."""
    store, (first, *_, last) = people
    again = delivered(store, 6, person=[("N", 1, "e@x", "1990", "ann", None)])
    delivered(store, 7, person=[("A", 1, "f@x", "1990", "anne", None)])
    then = Cell(store, "gdal_shop.person", NBR, "born", NOON % 3)
    assert [then.rows[0][name].day for name in ("valid_from", "valid_until")] == [1, 4]
    assert then.history[0] == (1, "1990", first)
    now = Cell(store, "gdal_shop.person", NBR, "born")
    assert (now.value, now.rows[0]["valid_from"].day) == ("1990", 6)
    assert [row[:2] for row in now.history] == [(1, "1990"), (4, None), (6, "1990")]
    assert now.history[1][2] == last
    assert now.rows[0]["delivery_id"] in {first, again}
    other = Cell(store, "gdal_shop.person", {"nbr": 2}, "born")
    assert (other.rows[0]["valid_from"].day, other.history) == (1, [(1, "1991", first)])


def test_a_slice_is_found_by_its_own_key(people: tuple[Store, list[int]]) -> None:
    store, (first, second, *_) = people
    cell = Cell(store, "gdal_shop.phone", {"nbr": 1, "kind": "home"}, "number")
    assert cell.value == "22"
    assert cell.history == [(1, "11", first), (2, "22", second)]
    assert cell.of("ROW")[0]["detail"]["context"] == "phone"
    assert refused(store, "gdal_shop.phone", NBR, "number") == "more than one row has this key"
    assert Cell(store, "gdal_shop.phone", {"number": "12"}, "kind").value == "work"


def test_a_key_finds_exactly_one_row(people: tuple[Store, list[int]]) -> None:
    store, _ = people
    table = "gdal_shop.person"
    assert Cell(store, table, {"email": "b@x"}, "nbr").value == "2"
    assert Cell(store, table, {"email": "a@x"}, "name", NOON % 1).value == "ann"
    assert Cell(store, table, {"nbr": "2"}, "name").value == "bob"
    assert Cell(store, table, {"boss": None}, "name", NOON % 3).value == "anna"
    assert refused(store, table, {"email": "a@x"}, "name") == "no row has this key"
    assert refused(store, table, {"nbr": 9}, "name") == "no row has this key"
    assert refused(store, table, {"nbr": None}, "name") == "no row has this key"
    assert "at 2019-12-31" in refused(store, table, NBR, "name", "2019-12-31 00:00:00+00")
    assert "-infinity" in refused(store, table, NBR, "name", "-infinity")
    assert "invalid input" in refused(store, table, {"nbr": "x"}, "name")
    assert refused(store, table, {}, "name") == "the key is no object of columns and values"
    assert refused(store, table, [1], "name") == "the key is no object of columns and values"
    assert refused(store, table, {"x": 1}, "name") == "it has no column x"
    assert refused(store, table, NBR, "x") == "it has no attribute x"
    assert refused(store, table, NBR, "acm_id") == "it has no attribute acm_id"
    for unknown in (
        "nowhere",
        "gdal_shop.x",
        "pg_catalog.pg_class",
        "cfl_shop.s_person_mail",
        "a.b.c",
    ):
        assert "it is no offered view" in refused(store, unknown, NBR, "name")
    for at in ("infinity", "2100-01-01 00:00:00+00"):
        assert Cell(store, table, {"nbr": 2}, "name", at).value == "bob"
    for arguments in ((None, NBR, "name"), (table, None, "name"), (table, NBR, None)):
        given = [Jsonb(a) if isinstance(a, dict) else a for a in arguments]
        with pytest.raises(psycopg.Error) as caught:
            store.rows(EXPLAIN, *given, None)
        checked(caught.value, "OM005")


def test_an_edit_is_not_from_a_file(store: Store) -> None:
    store.set_up(PERSON)
    delivered(store, 1, person=[("N", 1, "a@x", "1990", "ann", None)])
    store.agree("desk", layer_code="GDAL")
    edit = store.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
    store.conn.execute("UPDATE gdal_shop.person SET name = 'anna' WHERE nbr = 1")
    cell = Cell(store, "gdal_shop.person", NBR, "name")
    assert (cell.value, cell.rows[0]["delivery_id"]) == ("anna", edit)
    assert "edited by hand" in cell.text("DELIVERY")
    assert cell.text("FILE") == "It is not from a file."
    assert [value for _, value, _ in cell.history] == ["ann", "anna"]


def test_what_a_resynchronization_took_over_has_the_delivery_of_the_layer(store: Store) -> None:
    store.set_up(PERSON)
    first = delivered(store, 1, person=[("N", 1, "a@x", "1990", "ann", None)])
    store.agree("desk", layer_code="GDAL")
    edit = store.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
    store.conn.execute("UPDATE gdal_shop.person SET name = 'anna' WHERE nbr = 1")
    store.call("omd_facts.close_delivery", delivery_id=edit)
    store.call("omd_facts.resync", interface_code="shop")
    with_file(store, first, "/in/person.csv")
    cell = Cell(store, "gdal_shop.person", NBR, "name")
    assert (cell.value, cell.of("DELIVERY")[0]["delivery_id"]) == ("ann", first)
    assert cell.of("FILE")[0]["file"] == "/in/person.csv"
    assert "took over" in cell.text("RUN")


# Files, lines, verdicts ---------------------------------------------------------------------------


def test_files_without_lines_are_all_that_it_may_be_from(people: tuple[Store, list[int]]) -> None:
    store, (first, *_) = people
    with_file(store, first, "/in/a.csv")
    with_file(store, first, "/in/b.csv", 2)
    with_file(store, first, "/in/phone.csv", entity="phone")
    cell = Cell(store, "gdal_shop.person", {"nbr": 2}, "name")
    assert [(r["file"], r["line"]) for r in cell.of("FILE")] == [
        ("/in/a.csv", None), ("/in/b.csv", None),
    ]  # fmt: skip
    assert all("the agreement keeps no lines" in r["text"] for r in cell.of("FILE"))
    for n in range(3, 30):
        with_file(store, first, f"/in/{n}.csv", n)
    files = Cell(store, "lvl_shop.person", {"nbr": 2}, "name").of("FILE")
    assert (len(files), files[0]["detail"]["files"]) == (20, 29)


def test_with_lines_a_value_leads_to_its_line(people: tuple[Store, list[int]]) -> None:
    store, (first, second, *_) = people
    store.owner(
        "ALTER TABLE lvl_shop.person ADD COLUMN IF NOT EXISTS acm_source_file integer,"
        " ADD COLUMN IF NOT EXISTS acm_source_line bigint"
    )
    for delivery, line in ((first, 7), (second, 3)):
        with_file(store, delivery, f"/in/{delivery}-1.csv")
        with_file(store, delivery, f"/in/{delivery}-2.csv", 2)
        store.owner(
            "UPDATE lvl_shop.person SET acm_source_file = 2, acm_source_line = %s"
            " WHERE nbr = 1 AND acm_audit_id IN (SELECT module_instance_id"
            " FROM omd_delivery.delivery_entity WHERE delivery_id = %s)",
            line,
            delivery,
        )
    for table in ("gdal_shop.person", "lvl_shop.person"):
        [file] = Cell(store, table, NBR, "email", NOON % 1).of("FILE")
        assert (file["file"], file["line"]) == (f"/in/{first}-2.csv", 7)
        assert file["text"] == f"It is line 7 of /in/{first}-2.csv."
        [file] = Cell(store, table, NBR, "email", NOON % 2).of("FILE")
        assert (file["file"], file["line"]) == (f"/in/{second}-2.csv", 3)
    # The context of the name has no row of the second delivery, so its line is the first one.
    [file] = Cell(store, "gdal_shop.person", NBR, "name", NOON % 2).of("FILE")
    assert file["line"] == 7


def test_the_verdict_says_what_the_value_violated(store: Store) -> None:
    person = entity("person", ["nbr"], ["nbr", ("name", "text(20)"), ("kind", "text(4)")])
    person["constraints"] = [
        {"name": "kinds", "type": "value", "attribute": "kind", "check": "kind IN ('a', 'b')"}
    ]
    store.set_up(person)
    store.agree("a", settings={"person.kinds": {"action": "EMPTY COLUMN", "threshold": 2}})
    run = store.run(1, entities={"person": "DELTA"})
    code = "person.kinds"
    run.measure(1, violations={code: 1})
    assert run.verdict(1)["verdict"] is None
    store.call(
        "register_samples",
        delivery_id=run.id,
        attempt=run.attempt,
        entity_code="person",
        samples=[
            {
                "record_key": {"nbr": "1"},
                "origin": "DELIVERED",
                "constraint_codes": [code],
                "raw": {"nbr": "1", "kind": "zzz"},
            }
        ],
    )
    run.measure(2, violations={code: 1})
    run.verdict(2)
    run.write("person", ("N", 1, "ann", None), ("N", 2, "bob", "a"))
    run.apply(written={"person": 2})
    assert store.take()["outcome"] == "PERSISTED"
    for table in ("gdal_shop.person", "lvl_shop.person"):
        [verdict] = Cell(store, table, NBR, "kind").of("VERDICT")
        assert verdict["value"] == "ACCEPTED WITH FINDINGS"
        assert f"this value violated {code}" in verdict["text"]
        assert "empty column, delivered was zzz" in verdict["text"]
        [verdict] = Cell(store, table, NBR, "name").of("VERDICT")
        assert f"kind of this row violated {code}" in verdict["text"]
        [verdict] = Cell(store, table, {"nbr": 2}, "kind").of("VERDICT")
        assert "of this row no violation is kept" in verdict["text"]


# The Logical Validation Layer ---------------------------------------------------------------------


def test_a_row_of_the_layer_is_explained_like_one_of_the_facts(
    people: tuple[Store, list[int]],
) -> None:
    store, deliveries = people
    cell = Cell(store, "lvl_shop.person", {"email": "b@x"}, "name")
    assert cell.steps == ["VALUE", "ROW", "RUN", "DELIVERY", "FILE", "VERDICT", "HISTORY"]
    assert cell.of("RUN")[0]["detail"]["module_code"] == "lvl.shop.person"
    gone = Cell(store, "lvl_shop.person", NBR, "name")
    assert (gone.value, gone.rows[0]["delivery_id"]) == (None, deliveries[3])
    assert [value for _, value, _ in gone.history] == ["ann", "ann", "anna", None]
    assert [d for _, _, d in gone.history] == deliveries
    changed = [row["detail"]["is_changed"] for row in gone.of("HISTORY")]
    assert changed == [True, False, True, True]
    assert refused(store, "lvl_shop.person", {"boss": None}, "name") == "no row has this key"
    then = Cell(store, "lvl_shop.person", {"boss": None}, "name", NOON % 1)
    assert then.value == "ann"


# Targets of Modules -------------------------------------------------------------------------------


def test_a_row_of_a_target_names_the_run_that_wrote_it_last(flow: Flow) -> None:
    flow.module("m")
    flow.conn.execute(
        "ALTER TABLE dwh.m ADD COLUMN omd_update_module_instance_id bigint,"
        " ADD COLUMN k numeric(5,2)"
    )
    first, second = flow.run_module("m"), flow.run_module("m")
    flow.conn.execute(
        "INSERT INTO dwh.m VALUES ('a', %s, NULL, 1), ('b', %s, %s, 2), ('c', NULL, NULL, 3)",
        [first, first, second],
    )
    one = Cell(flow, "dwh.m", {"k": 1}, "v")
    assert one.steps == ["VALUE", "ROW", "RUN"]
    assert (one.value, one.of("RUN")[0]["module_instance_id"]) == ("a", first)
    assert Cell(flow, "dwh.m", {"v": "b"}, "k").of("RUN")[0]["module_instance_id"] == second
    nobody = Cell(flow, "dwh.m", {"v": "c"}, "k")
    assert (nobody.value, nobody.text("RUN")) == ("3.00", "The row names no run.")
    flow.conn.execute("UPDATE dwh.m SET omd_insert_module_instance_id = 999999 WHERE v = 'c'")
    assert "which is not kept" in Cell(flow, "dwh.m", {"v": "c"}, "k").text("RUN")
    assert "it keeps no former values" in refused(flow, "dwh.m", {"v": "a"}, "k", "2020-01-01")
    assert Cell(flow, "dwh.m", {"v": "a"}, "k", "2100-01-01").value == "1.00"
    flow.conn.execute("INSERT INTO dwh.m VALUES ('a')")
    assert refused(flow, "dwh.m", {"v": "a"}, "k") == "more than one row has this key"
    assert refused(flow, "dwh.m", {"v": "a"}, "y") == "it has no column y"


def test_a_table_of_the_lake_is_not_in_this_database(flow: Flow) -> None:
    flow.module("m", platform_code="SPARK", table_code="dwh.far", table_format_code="ICEBERG")
    assert "no target of a Module in this database" in refused(flow, "dwh.far", NBR, "v")


def test_a_key_that_is_long_finds_no_row_and_raises_nothing_else(flow: Flow) -> None:
    flow.module("m")
    flow.conn.execute("ALTER TABLE dwh.m ADD COLUMN c character(2), ADD COLUMN j json")
    flow.conn.execute("INSERT INTO dwh.m VALUES ('a', 1, 'xy', '{}')")
    assert Cell(flow, "dwh.m", {"c": "xy"}, "v").value == "a"
    assert refused(flow, "dwh.m", {"c": "xyz"}, "v") == "no row has this key"
    assert "operator does not exist" in refused(flow, "dwh.m", {"j": {}}, "v")


def test_hostile_names_stay_names(flow: Flow) -> None:
    table = '"dwh"."a ""t"" %I \'; --"'
    flow.conn.execute(
        f'CREATE TABLE {table} ("k ""%s" text, "v\'" text, omd_insert_module_instance_id bigint)'
    )
    flow.module("m", table_code=table)
    flow.conn.execute(f"INSERT INTO {table} VALUES ('$1 '' %s', '<b>', 1)".encode())
    key = {'k "%s': "$1 ' %s"}
    assert Cell(flow, table, key, "v'").value == "<b>"
    assert refused(flow, table, {'k "%s': "1'; DROP"}, "v'") == "no row has this key"
    assert refused(flow, table, {'k"': 1}, "v'") == 'it has no column k"'


# Stages -------------------------------------------------------------------------------------------


def test_a_decision_says_rules_and_inputs_with_their_runs(platform: Platform) -> None:
    platform.conn.execute(
        "ALTER TABLE app.a ADD COLUMN omd_insert_module_instance_id bigint;"
        "INSERT INTO app.a VALUES (1, 5, 'x', 77), (2, 5, 'y', 78), (3, 6, 'z', 79)"
    )
    platform.call("omd.register_module", module_code="of_a", area_code="STG", table_code="app.a")
    run = platform.go("s")["module_instance_id"]
    cell = Cell(platform, "app.out", {"k": 5, "v": "y"}, "v")
    assert cell.steps[:3] == ["VALUE", "ROW", "RUN"]
    assert cell.steps[-3:] == ["DECISION", "RULE", "INPUT"]
    [decision] = cell.of("DECISION")
    detail = decision["detail"]
    assert decision["module_instance_id"] == run
    assert (detail["stage_code"], detail["ruleset_code"], detail["ruleset_version"]) == (
        "s",
        "f",
        1,
    )
    assert len(detail["content_hash"]) == 64
    assert (detail["key"], detail["cycle_no"], detail["invocation_no"]) == ({"k": 5}, 1, 1)
    assert cell.of("RULE")[0]["value"] == "app.f"
    inputs = cell.of("INPUT")
    assert [(i["detail"]["arrival"], i["module_instance_id"]) for i in inputs] == [(1, 77), (2, 78)]
    assert inputs[0]["detail"]["now"]["v"] == "x"
    platform.conn.execute("DELETE FROM app.a WHERE id = 1")
    inputs = Cell(platform, "app.out", {"k": 5, "v": "y"}, "v").of("INPUT")
    assert "not there any more" in inputs[0]["text"]
    assert inputs[0]["module_instance_id"] is None


def test_an_input_that_a_view_shows_has_the_run_that_wrote_its_row(platform: Platform) -> None:
    platform.conn.execute(
        "ALTER TABLE app.a ADD COLUMN omd_insert_module_instance_id bigint;"
        "ALTER TABLE app.a RENAME TO kept;"
        "CREATE VIEW app.under AS SELECT * FROM app.kept;"
        "CREATE VIEW app.a AS SELECT * FROM app.under;"
        "INSERT INTO app.kept VALUES (1, 5, 'x', 77), (2, 5, 'y', 78)"
    )
    platform.call("omd.register_module", module_code="of_a", area_code="STG", table_code="app.kept")
    platform.go("s")
    inputs = Cell(platform, "app.out", {"k": 5, "v": "y"}, "v").of("INPUT")
    assert [(i["detail"]["arrival"], i["module_instance_id"]) for i in inputs] == [(1, 77), (2, 78)]


def test_the_trace_of_a_decision_model_says_which_rule_applied(platform: Platform) -> None:
    platform.conn.execute("INSERT INTO app.a VALUES (1, 5, 'x')")
    run = platform.go("s")["module_instance_id"]
    platform.owner(
        "UPDATE omd_decision.cycle SET params = %s, trace = %s WHERE module_instance_id = %s",
        Jsonb({"a": [{"id": 1, "k": 5, "v": "then"}]}),
        Jsonb(
            {
                "n1": {"name": "in", "order": 0, "traceData": None},
                "n2": {
                    "name": "care",
                    "order": 1,
                    "traceData": [{"index": 2, "rule": {"_id": "r", "_description": "late"}}],
                },
            }
        ),
        run,
    )
    cell = Cell(platform, "app.out", {"k": 5}, "v")
    [rule] = cell.of("RULE")
    assert (rule["value"], rule["detail"]["index"]) == ("care", 2)
    assert rule["text"] == "In the table care this row applied: row 3: late."
    [given] = cell.of("INPUT")
    assert given["detail"]["kept"]["v"] == "then"
    assert '"then"' in given["value"]


def test_a_stage_that_keeps_nothing_names_its_rules_only(platform: Platform) -> None:
    platform.conn.execute("INSERT INTO app.a VALUES (1, 5, 'x')")
    platform.go("s")
    platform.owner("DELETE FROM omd_decision.cycle")
    cell = Cell(platform, "app.out", {"k": 5}, "v")
    assert "nothing is kept of the call" in cell.text("DECISION")
    assert cell.steps[-2:] == ["DECISION", "RULE"]


# Rights -------------------------------------------------------------------------------------------


@pytest.mark.no_user_code("the policies are its own")
def test_rows_are_read_with_the_rights_of_the_caller(
    flow: Flow, connect: Callable[..., Connection]
) -> None:
    flow.module("m")
    flow.write(flow.run_module("m"), rows=1)
    flow.conn.execute("UPDATE dwh.m SET v = 'x'")
    reader = connect(role="omd_data_reader")

    def explain() -> list[dict[str, Any]]:
        return reader.execute(EXPLAIN.encode(), ["dwh.m", Jsonb({"v": "x"}), "v", None]).fetchall()

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        explain()
    flow.conn.execute(
        "GRANT USAGE ON SCHEMA dwh TO omd_data_reader; GRANT SELECT ON dwh.m TO omd_data_reader"
    )
    assert [row["step"] for row in explain()] == ["VALUE", "ROW", "RUN"]
    reader.execute("SET default_transaction_read_only = on")
    explain()
    flow.conn.execute("ALTER TABLE dwh.m ENABLE ROW LEVEL SECURITY")
    with pytest.raises(psycopg.Error) as caught:
        explain()
    assert checked(caught.value, "OM093")["problem"] == "no row has this key"
    for name in ("omd_reader", "omd_admin", "omd_data_reader"):
        other = connect(role=name)
        may = other.execute(
            "SELECT has_function_privilege(p.oid, 'EXECUTE') AS may FROM pg_proc AS p"
            " WHERE p.pronamespace = 'omd_provenance'::regnamespace"
            " AND p.proname IN ('explain', 'trace', 'trace_row') ORDER BY p.proname"
        ).fetchall()
        expected = [True, False, True] if name == "omd_data_reader" else [False, True, False]
        assert [row["may"] for row in may] == expected


def test_inputs_of_a_decision_are_read_with_the_rights_of_the_caller(
    platform: Platform, connect: Callable[..., Connection]
) -> None:
    platform.conn.execute("INSERT INTO app.a VALUES (1, 5, 'x')")
    run = platform.go("s")["module_instance_id"]
    platform.owner(
        "UPDATE omd_decision.cycle SET params = %s WHERE module_instance_id = %s",
        Jsonb({"a": [{"id": 1, "k": 5, "v": "then"}]}),
        run,
    )
    platform.conn.execute(
        "GRANT USAGE ON SCHEMA app TO omd_data_reader;GRANT SELECT ON app.out TO omd_data_reader"
    )
    reader = connect(role="omd_data_reader")
    arguments = ["app.out", Jsonb({"k": 5}), "v", None]
    [given] = [
        row
        for row in reader.execute(EXPLAIN.encode(), arguments).fetchall()
        if row["step"] == "INPUT"
    ]
    assert "it can't be read: permission denied for table a" in given["text"]
    assert (given["detail"]["kept"]["v"], given["detail"]["now"]) == ("then", None)
    platform.conn.execute("GRANT SELECT ON app.a TO omd_data_reader")
    given = reader.execute(EXPLAIN.encode(), arguments).fetchall()[-1]
    assert given["detail"]["now"]["v"] == "x"


def test_facts_are_explained_by_who_may_read_them_and_no_more(
    people: tuple[Store, list[int]], connect: Callable[..., Connection]
) -> None:
    store, _ = people
    reader = connect(role="omd_data_reader")
    arguments = ["gdal_shop.person", Jsonb({"nbr": 2}), "name", None]
    steps = [row["step"] for row in reader.execute(EXPLAIN.encode(), arguments).fetchall()]
    assert steps == [row["step"] for row in store.rows(EXPLAIN, *arguments)]
    store.conn.execute("REVOKE SELECT ON lvl_shop.person FROM omd_data_reader")
    assert reader.execute(EXPLAIN.encode(), arguments).fetchall()


# Cost ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("gdal_shop.person", {"nbr": 2}),
        ("gdal_shop.phone", {"nbr": 1, "kind": "home"}),
        ("lvl_shop.person", {"nbr": 2}),
    ],
)
def test_a_key_is_looked_up_by_an_index(
    people: tuple[Store, list[int]], table: str, key: dict[str, Any]
) -> None:
    store, _ = people
    store.push(5, person=[("N", n, f"{n}@x", "1990", "x", None) for n in range(10, 400)])
    assert store.take()["outcome"] == "PERSISTED"
    store.conn.execute("ANALYZE cfl_shop.h_person, cfl_shop.s_person_properties")
    store.conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    chain = store.one(
        "SELECT chain FROM omd_provenance._place(%s, %s, 'nbr', NULL)", table, Jsonb(key)
    )
    statement = chain.replace("$1", f"'{json.dumps(key)}'::jsonb")
    plan = "\n".join(r["QUERY PLAN"] for r in store.rows(f"EXPLAIN (COSTS OFF) {statement}"))
    assert "Seq Scan" not in plan, plan
    assert "Index Cond: (nbr = " in plan, plan


def test_a_key_of_a_target_is_looked_up_by_its_index(flow: Flow) -> None:
    flow.module("m")
    flow.conn.execute(
        "ALTER TABLE dwh.m ADD COLUMN k character varying(9);"
        "CREATE INDEX ix_m_k ON dwh.m (k); SET enable_seqscan = off; SET enable_bitmapscan = off"
    )
    chain = flow.one(
        "SELECT chain FROM omd_provenance._place('dwh.m', %s, 'v', NULL)", Jsonb({"k": 1})
    )
    statement = chain.replace("$1", "'{\"k\": 1}'::jsonb")
    plan = "\n".join(r["QUERY PLAN"] for r in flow.rows(f"EXPLAIN (COSTS OFF) {statement}"))
    assert "ix_m_k" in plan, plan
