"""Persons are erased in every layer of their interface, and nobody else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import psycopg
import pytest
from click.testing import CliRunner

import omd
from facts.store import PERSON, PHONE, entity
from omd.programs.cli.main import cli
from provenance.persons import ANNA, LINE, ORDERS, erase, find, rows_without, search

if TYPE_CHECKING:
    from pathlib import Path

    from facts.store import Store


@pytest.mark.usefixtures("by_hand")
def test_nothing_of_a_person_is_left_and_all_of_others_is(persons: Store) -> None:
    persons.conn.execute("ANALYZE")
    mine = (*ANNA, '"nbr": 7', f'"acm_id": {anchor(persons, 7)},')
    before = rows_without(persons.conn, *mine)
    assert set(search(persons.conn, *ANNA)) >= {
        "wrk_shop.delta_person",
        "cfl_shop.s_person_mail_now",
        "cfl_shop.s_person_phone_now",
    }
    answer = erase(persons)
    assert search(persons.conn, *ANNA) == []
    assert rows_without(persons.conn, *mine) == before
    assert answer["by"]["LVL", "lvl_shop.person", "DELETED"]["row_count"] == 2
    assert answer["by"]["CONTEXT", "cfl_shop.s_person_phone", "DELETED"]["row_count"] == 1
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "DELETED"]["key_count"] == 1
    assert find(persons) == []
    assert persons.sound()


def anchor(store: Store, nbr: int) -> int:
    return int(store.one("SELECT acm_id FROM cfl_shop.h_person WHERE nbr = %s", nbr))


def test_a_dry_run_counts_what_happens_and_changes_nothing(persons: Store) -> None:
    before = rows_without(persons.conn)
    answer = erase(persons, is_dry_run=True)
    assert answer["erasure_id"] is None
    assert rows_without(persons.conn) == before
    assert persons.rows("SELECT * FROM omd_report.erasures") == []
    assert persons.rows("SELECT FROM omd_delivery.entity WHERE erased_datetime IS NOT NULL") == []
    assert erase(persons)["items"] == answer["items"]


def test_the_proof_has_the_items_and_no_key(store: Store) -> None:
    store.set_up(entity("person", ["mail"], [("mail", "text(40)"), ("name", "text(40)")]))
    store.put(1, person=[("N", "anna@x.example", "Anna Karenina")])
    answer = erase(store, [{"mail": "anna@x.example"}])
    proof = store.rows("SELECT * FROM omd_report.erasures")
    assert [
        (p["erasure_id"], p["key_count"], p["reference"], p["erasure_status"]) for p in proof
    ] == [(answer["erasure_id"], 1, "request 1", "DONE")]
    items = store.rows("SELECT * FROM omd_report.erasure_items")
    assert [{k: v for k, v in i.items() if k != "erasure_id"} for i in items] == answer["items"]
    assert search(store.conn, "anna@x.example", "Anna Karenina") == []


def test_who_was_deleted_is_erased_and_so_is_a_placeholder(store: Store) -> None:
    store.set_up(PERSON, PHONE, ORDERS, LINE)
    store.put(1, person=[("N", 7, "anna@x.example", "1990", "Anna Karenina", None)])
    store.put(2, person=[("R", 7, "anna@x.example", "1990", "Anna Karenina", None)])
    store.put(3, phone=[("N", 5, "home", "5550500")], orders=[("N", 1, 6, "a samovar")])
    answer = erase(store, [{"nbr": 7}, {"nbr": 5}, {"nbr": 6}])
    assert search(store.conn, "anna@x.example", "Anna Karenina", "5550500") == []
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "DELETED"]["row_count"] == 2
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "KEPT"]["row_count"] == 1
    assert store.seen("cfl_shop.h_person", "nbr, acm_exists_ind") == [(6, 0)]
    assert store.sound()


def test_a_key_that_is_nowhere_has_no_rows(persons: Store) -> None:
    answer = erase(persons, [{"nbr": 4711}])
    assert sum(i["row_count"] or 0 for i in answer["items"]) == 0
    assert answer["by"]["LVL", "lvl_shop.person", "DELETED"]["row_count"] == 0


def test_what_refers_is_kept_and_so_is_the_key(persons: Store) -> None:
    answer = erase(persons, [{"nbr": 8}])
    assert answer["by"]["REFERENCE", "lvl_shop.orders", "KEPT"]["row_count"] == 1
    assert answer["by"]["REFERENCE", "cfl_shop.s_orders_properties", "KEPT"]["row_count"] == 1
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "KEPT"]["key_count"] == 1
    assert persons.now("orders") == [(1, 8, "a samovar")]
    assert search(persons.conn, "boris@x.example", "Boris Godunov", "5550288") == []
    assert persons.sound()
    persons.put(4, person=[("N", 8, "b@x.example", "1980", "another", None)])
    assert (8, "b@x.example", "1980", "another", None) in persons.now("person")


def test_references_go_with_the_person_when_it_is_asked_for(persons: Store) -> None:
    answer = erase(persons, [{"nbr": 8}], with_references=True)
    assert answer["by"]["REFERENCE", "lvl_shop.orders", "DELETED"]["row_count"] == 1
    assert answer["by"]["REFERENCE", "cfl_shop.l_line", "DELETED"]["row_count"] == 1
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "DELETED"]["key_count"] == 1
    assert search(persons.conn, "Boris Godunov", "a samovar", "brass") == []
    assert persons.now("orders") == persons.now("line") == []
    assert persons.sound()


def test_another_person_who_refers_stays_also_with_references(persons: Store) -> None:
    persons.put(4, person=[("A", 9, "vera@x.example", "1970", "Vera Figner", 7)])
    mine = (*ANNA, '"nbr": 7', f'"acm_id": {anchor(persons, 7)},')
    before = rows_without(persons.conn, *mine)
    answer = erase(persons, with_references=True)
    assert answer["by"]["REFERENCE", "lvl_shop.person", "KEPT"]["row_count"] == 1
    assert answer["by"]["ANCHOR", "cfl_shop.h_person", "KEPT"]["row_count"] == 1
    assert search(persons.conn, *ANNA) == []
    assert rows_without(persons.conn, *mine) == before
    assert persons.sound()


def test_subtypes_and_supertypes_are_the_same_person(store: Store) -> None:
    party = entity("party", ["id"], ["id", ("title", "text(40)")])
    under = {"parent": "party", "columns": ["id"], "context_filter": False}
    worker = entity(
        "worker",
        ["id"],
        ["id", ("job", "text(40)")],
        relationships=[{"name": "is_party", **under}],
        facts={"subtype_of": "party"},
    )
    buyer = entity(
        "buyer",
        ["id"],
        ["id", ("club", "text(40)")],
        relationships=[{"name": "is_party_too", **under}],
        facts={"subtype_of": "party"},
    )
    visit = entity(
        "visit",
        ["who", "day"],
        ["who", "day", ("why", "text(40)")],
        relationships=[
            {"name": "of_buyer", "parent": "buyer", "columns": ["who"], "context_filter": False}
        ],
    )
    store.set_up(party, worker, buyer, visit)
    store.put(
        1,
        party=[("N", 7, "Countess"), ("N", 8, "Tsar of all")],
        worker=[("N", 7, "translator")],
        buyer=[("N", 7, "gold club"), ("N", 8, "iron club")],
        visit=[("N", 7, 1, "a dress"), ("N", 8, 1, "a crown")],
    )
    erase(store, [{"id": 7}], entity_code="worker")
    assert search(store.conn, "Countess", "translator", "gold club", "a dress") == []
    for table in ("h_party", "l_worker", "l_buyer", "l_visit"):
        key = "who" if table == "l_visit" else "id"
        rows = store.rows(
            f"SELECT * FROM cfl_shop.{table} WHERE {key} = 7"
            if store.one("SELECT to_regclass(%s) IS NOT NULL", f"cfl_shop.{table}")
            else "SELECT 1 AS a WHERE FALSE"
        )
        assert rows == []
    assert store.now("visit") == [(8, 1, "a crown")]
    assert store.sound()


def test_generalizations_and_key_roots_forget_the_key_unless_another_has_it(store: Store) -> None:
    store.set_up(
        entity(
            "cat",
            ["name"],
            [("name", "text(40)"), ("fur", "text(40)")],
            facts={"generalization": "animal", "key_root": "named"},
        ),
        entity(
            "dog",
            ["name"],
            [("name", "text(40)"), ("fur", "text(40)")],
            facts={"generalization": "animal", "key_root": "named"},
        ),
    )
    store.put(
        1, cat=[("N", "Behemoth", "black"), ("N", "Moosh", "white")], dog=[("N", "Moosh", "brown")]
    )
    answer = erase(store, [{"name": "Behemoth"}], entity_code="cat")
    assert answer["by"]["ANCHOR", "cfl.kr_named", "DELETED"]["row_count"] == 1
    assert search(store.conn, "Behemoth") == []
    answer = erase(store, [{"name": "Moosh"}], entity_code="cat")
    assert answer["by"]["ANCHOR", "cfl.kr_named", "DELETED"]["row_count"] == 0
    assert answer["by"]["ANCHOR", "cfl.g_animal", "DELETED"]["row_count"] == 1
    assert store.now("dog") == [("Moosh", "brown")]
    assert store.seen("cfl.kr_named", "key_1", "1") == [("Moosh",)]
    assert store.sound()


def test_a_context_that_is_an_entity_is_erased_alone(persons: Store) -> None:
    erase(persons, [{"nbr": 7, "kind": "home"}], entity_code="phone")
    assert search(persons.conn, "5550199") == []
    assert {n for n, *_ in persons.now("person")} == {7, 8, 9}
    assert persons.now("phone") == [(8, "home", "5550288")]


def test_staged_rows_and_samples_of_the_key_go_and_others_stay(persons: Store) -> None:
    run = persons.run(9, entities={"person": "DELTA"})
    persons.conn.execute(
        "INSERT INTO stg_a.person (nbr, name) VALUES (' +07 ', 'Anna Karenina'), ('8', 'B'),"
        " ('x7', 'C'), ('', 'D'), (NULL, 'E'), ('7.5', 'F')"
    )
    persons.call(
        "register_samples",
        delivery_id=run.id,
        attempt=run.attempt,
        entity_code="person",
        samples=[
            {
                "record_key": {"nbr": 7},
                "origin": "DELIVERED",
                "constraint_codes": [],
                "raw": {"nbr": "7"},
            },
            {"record_key": {"nbr": 8}, "origin": "DELIVERED", "constraint_codes": []},
            {
                "record_key": None,
                "origin": "DELIVERED",
                "constraint_codes": [],
                "raw": {"nbr": "07", "name": "x"},
            },
            {
                "record_key": None,
                "origin": "DELIVERED",
                "constraint_codes": [],
                "raw": {"nbr": "z", "name": "Anna Karenina of x"},
            },
        ],
    )
    answer = erase(persons)
    assert answer["by"]["STAGING", "stg_a.person", "DELETED"]["row_count"] == 1
    assert answer["by"]["SAMPLE", "omd_delivery.sample", "DELETED"]["row_count"] == 2
    assert [r["name"] for r in persons.rows("SELECT name FROM stg_a.person ORDER BY 1")] == list(
        "BCDEF"
    )
    assert [
        r["raw"] for r in persons.rows("SELECT raw FROM omd_delivery.sample ORDER BY sample_id")
    ] == [
        None,
        {"nbr": "z", "name": "[erased] of x"},
    ]


def test_what_spark_alone_can_read_goes_as_a_whole_or_is_said(store: Store) -> None:
    person = entity("person", ["nbr"], ["nbr", ("name", "text(20)")])
    person["attributes"][0]["computed"] = "cast(code AS int)"
    store.set_up(person)
    delivery = store.load(1, entities={"person": "DELTA"})
    answer = erase(store)
    assert answer["by"]["NOT_REACHED", "stg_a.person", "NOT_REACHED"]["row_count"] is None
    store.call("cancel_delivery", delivery_id=delivery, reason="r")
    store.conn.execute("INSERT INTO stg_a.person (name) VALUES ('Anna Karenina')")
    answer = erase(store)
    assert answer["by"]["STAGING", "stg_a.person", "DELETED"]["row_count"] == 1


def test_keys_leave_the_contexts_of_agreements_and_deliveries(persons: Store) -> None:
    persons.agree("b", context={"person": [{"nbr": 7}, {"nbr": 8}]})
    persons.agree("c", context={"person": [{"nbr": 7}]})
    delivery = persons.create(9, code="b")
    answer = erase(persons)
    assert answer["by"]["TEXT", "omd_delivery.agreement", "DELETED"]["row_count"] == 2
    assert persons.one(
        "SELECT jsonb_agg(context ORDER BY agreement_code) FROM omd_delivery.agreement"
        " WHERE agreement_code <> 'a'"
    ) == [{"person": [{"nbr": 8}]}, {"person": []}]
    assert persons.delivery(delivery)["context"] == {"person": [{"nbr": 8}]}


def test_a_delivery_before_an_erasure_is_known(persons: Store) -> None:
    before = persons.one("SELECT max(delivery_id) FROM omd_delivery.delivery")
    ask = (
        "SELECT bool_or(e.erased_datetime > d.created_datetime) IS TRUE"
        " FROM omd_delivery.delivery AS d"
        " JOIN omd_delivery.delivery_entity USING (delivery_id)"
        " JOIN omd_delivery.entity AS e USING (entity_id) WHERE d.delivery_id = %s"
    )
    assert persons.one(ask, before) is False
    erase(persons)
    persons.put(9, person=[("N", 10, "x", "1", "x", None)])
    after = persons.one("SELECT max(delivery_id) FROM omd_delivery.delivery")
    assert [persons.one(ask, before), persons.one(ask, after)] == [True, False]


def test_loads_before_an_erasure_are_undone_without_the_person(persons: Store) -> None:
    loads = [
        r["module_instance_id"]
        for r in persons.rows("SELECT module_instance_id FROM omd_facts.load_log ORDER BY 1")
    ]
    erase(persons)
    assert persons.undo(loads[0]) == loads
    assert persons.now("person") == []
    for _ in loads:
        assert persons.take()["outcome"] == "PERSISTED"
    assert search(persons.conn, *ANNA) == []
    assert {n for n, *_ in persons.now("person")} == {8, 9}
    assert persons.sound()


def test_what_waits_in_the_queue_is_loaded_without_the_person(store: Store) -> None:
    store.set_up(PERSON)
    store.queue(
        1,
        person=[
            ("N", 7, "anna@x.example", "1990", "Anna Karenina", None),
            ("N", 8, "b", "1", "b", None),
        ],
    )
    erase(store)
    assert store.take()["outcome"] == "PERSISTED"
    assert store.now("person") == [(8, "b", "1", "b", None)]
    assert search(store.conn, *ANNA) == []


def test_whose_interface_has_no_facts_is_erased_in_delivery(store: Store) -> None:
    store.deploy({"interface": "shop", "entities": [PERSON, PHONE]})
    store.queue(1, person=[("N", 7, "anna@x.example", "1990", "Anna Karenina", None)])
    assert {i["layer"] for i in erase(store)["items"]} >= {"LVL", "DELTA"}
    assert search(store.conn, *ANNA) == []


# All in one test: the interface takes far longer to set up than they do.
REFUSED = [
    ("OM092", {"interface_code": "none"}),
    ("OM092", {"entity_code": "none"}),
    ("OM092", {"keys": []}),
    ("OM092", {"keys": [{"number": 123456}]}),
    ("OM092", {"keys": [{"nbr": 123456, "x": 1}]}),
    ("OM092", {"keys": [{"nbr": "secret123456"}]}),
    ("OM092", {"keys": [123456]}),
    ("OM092", {"keys": {"nbr": 123456}}),
    ("OM005", {"keys": None}),
    ("OM005", {"interface_code": None}),
    ("OM005", {"entity_code": None}),
    ("OM005", {"reference": None}),
    ("OM005", {"reference": " "}),
    ("OM005", {"is_dry_run": None}),
    ("OM005", {"with_references": None}),
]


def test_bad_input_is_refused_without_a_key(persons: Store) -> None:
    for code, arguments in REFUSED:
        given = {
            "interface_code": "shop",
            "entity_code": "person",
            "keys": [{"nbr": 123456}],
            "reference": "r",
            **arguments,
        }
        detail = persons.refused(code, "omd_provenance.erase", **given)
        assert "123456" not in str(detail), arguments


def test_hostile_keys_are_keys(store: Store) -> None:
    name = "'); DROP TABLE lvl_shop.person; -- \"{}\\ %I $1"
    store.set_up(entity("person", ["order"], [("order", "text(60)"), ("select", "text(40)")]))
    store.put(1, person=[("N", name, "Anna Karenina"), ("N", name + "x", "somebody")])
    erase(store, [{"order": name}])
    assert search(store.conn, "Anna Karenina") == []
    assert store.now("person") == [(name + "x", "somebody")]


def test_a_load_that_meets_an_erasure_waits_for_it(
    persons: Store, stores: Any, background: Any, until_settled: Any
) -> None:
    persons.queue(
        9,
        person=[
            ("A", 8, "boris@x.example", "1980", "Boris III", None),
            ("A", 7, "anna@x.example", "1990", "Anna Karenina", None),
        ],
    )
    other = stores()
    with persons.conn.transaction():
        erase(persons)
        load = background(other.take)
        until_settled(other, load)
        assert not load.done()
    assert load.result(timeout=60)["outcome"] == "PERSISTED"
    assert search(persons.conn, *ANNA) == []
    assert (8, "boris@x.example", "1980", "Boris III", None) in persons.now("person")
    assert persons.sound()


def test_an_erasure_waits_for_a_writer_and_erases_what_he_wrote(
    persons: Store, stores: Any, background: Any, until_settled: Any
) -> None:
    persons.agree("desk", layer_code="GDAL")
    writer, other = stores(), stores()
    writer.call("omd_facts.open_delivery", agreement_code="desk")
    with writer.conn.transaction():
        writer.conn.execute("UPDATE gdal_shop.person SET name = 'Anna Arkadievna' WHERE nbr = 7")
        call = background(erase, other)
        until_settled(other, call)
        assert not call.done()
    call.result(timeout=60)
    assert search(persons.conn, *ANNA, "Anna Arkadievna") == []
    assert persons.sound()


def test_two_erasures_go_one_after_the_other(
    persons: Store, stores: Any, background: Any, until_settled: Any
) -> None:
    other = stores()
    with persons.conn.transaction():
        erase(persons)
        call = background(erase, other, [{"nbr": 7}, {"nbr": 8}])
        until_settled(other, call)
        assert not call.done()
    assert call.result(timeout=60)["by"]["LVL", "lvl_shop.person", "DELETED"]["row_count"] == 1
    assert len(persons.rows("SELECT * FROM omd_report.erasures")) == 2
    assert search(persons.conn, *ANNA, "Boris Godunov") == []


def test_readers_of_the_facts_at_work_are_told(persons: Store, stores: Any) -> None:
    reader = stores()
    with reader.conn.transaction():
        reader.conn.execute("SELECT FROM omd.source WHERE source_code = 'facts.shop' FOR KEY SHARE")
        persons.conn.execute("SET lock_timeout = '10s'")
        detail = patience(persons)
    assert detail["interface_code"] == "shop"
    erase(persons)


def patience(store: Store) -> dict[str, Any]:
    """Erase without patience for readers, and return the DETAIL of the error."""
    text = store.one("SELECT pg_get_functiondef('omd_facts.hold_erasure'::regproc)")
    hasty = text.replace("_take_position(v_interface_id)", "_take_position(v_interface_id, '5 ms')")
    assert hasty != text
    store.conn.execute(hasty.encode())
    try:
        return store.refused(
            "OM159",
            "omd_provenance.erase",
            interface_code="shop",
            entity_code="person",
            keys=[{"nbr": 7}],
            reference="r",
        )
    finally:
        store.conn.execute(text.encode())


def test_an_erasure_that_is_killed_has_done_nothing(persons: Store, stores: Any) -> None:
    before = rows_without(persons.conn)
    other = stores()
    other.conn.autocommit = False
    erase(other)
    persons.one("SELECT pg_terminate_backend(%s, 10000)", other.conn.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        other.conn.execute("COMMIT")
    assert rows_without(persons.conn) == before
    assert persons.rows("SELECT * FROM omd_report.erasures") == []


def test_who_reads_changes_learns_of_a_key_that_stays_and_nothing_of_one_that_went(
    store: Store,
) -> None:
    person = {**PERSON, "facts": {**PERSON["facts"], "changes": True}}
    phone = {**PHONE, "facts": {**PHONE["facts"], "changes": True}}
    store.set_up(person, phone)
    people = [("N", n, f"m{n}@x.example", "1990", f"name of {n}", None) for n in (7, 8)]
    people.append(("N", 9, "m9@x.example", "1990", "name of 9", 8))
    store.put(1, person=people, phone=[("N", n, "home", f"555010{n}") for n in (7, 8)])
    ids = {r["nbr"]: r["acm_id"] for r in store.rows("SELECT nbr, acm_id FROM cfl_shop.h_person")}
    newest = "SELECT max(change_id) FROM omd_facts.change"
    former = store.one(newest)
    erase(store, [{"nbr": 7}, {"nbr": 8}])
    assert store.rows("SELECT * FROM omd_facts.change_key WHERE acm_id = %s", ids[7]) == []
    assert (
        store.rows("SELECT * FROM omd_facts.change_slice WHERE acm_id = ANY(%s)", [ids[7], ids[8]])
        == []
    )
    assert store.one(newest) > former
    noted = store.rows(
        "SELECT e.entity_code, k.was_there, k.is_there FROM omd_facts.change_key AS k"
        " INNER JOIN omd_facts.entity AS e USING (entity_id)"
        " WHERE k.acm_id = %s AND k.change_id > %s ORDER BY 1",
        ids[8],
        former,
    )
    assert [tuple(r.values()) for r in noted] == [("person", True, False), ("phone", True, False)]
    assert store.one("SELECT id FROM omd.source WHERE source_code = 'facts.shop'") == (
        store.one(newest)
    )
    assert search(store.conn, "m7@x", "m8@x", "5550107", "5550108") == []
    assert store.sound()


def test_the_command_shows_erases_and_verifies_without_a_key(
    persons: Store, dsn: str, tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    file.write_text('[{"nbr": 7}]')

    def omd(*more: str, keys: str = str(file)) -> Any:
        command = ["erase", "shop", "person", "--dsn", dsn, "--keys", keys, *more]
        return CliRunner().invoke(cli, command, standalone_mode=False)

    shown = omd("--reference", "r")
    assert "cfl_shop.s_person_mail" in shown.stdout
    assert "Nothing has happened" in shown.stderr
    assert omd("--verify").return_value == 1
    done = omd("--reference", "r", "--execute", "--output", "json")
    assert {i["layer"] for i in json.loads(done.stdout)} >= {"LVL", "ANCHOR", "NOT_REACHED"}
    assert omd("--verify").return_value == 0
    assert search(persons.conn, *ANNA) == []
    for keys in ("[{4711", str(tmp_path / "none"), '{"nbr": "4711x"}'):
        wrong = omd("--verify", keys=keys)
        assert wrong.exception is not None
        assert "4711" not in wrong.output + str(wrong.exception)
    for more in ((), ("--verify", "--execute")):
        assert isinstance(omd(*more).exception, click.UsageError)


def test_the_door_erases(persons: Store, dsn: str) -> None:
    with omd.connect(dsn) as control:
        room = control.provenance
        answer = room.erase("shop", "person", [{"nbr": 7}], "r", is_dry_run=False)
        assert answer.erasure_id
        assert room._calls.find_subject("shop", "person", [{"nbr": 7}]) == []
        assert [e.reference for e in room._calls.report("erasures")] == ["r"]


def test_what_tasks_suspensions_sinks_and_receivers_say_of_a_person_is_masked(
    persons: Store,
) -> None:
    conn = persons.conn
    for statement in (
        "CALL omd_dispatch.register_family('MAIL', '{\"TO\": \"text\"}')",
        "CALL omd_dispatch.register_family('POST', p_migration_status => 3)",
        "CALL omd_event.register_sink('catalogue', 'OPENLINEAGE')",
        "UPDATE omd_event.sink SET problem = '500: anna@x.example is unknown'",
        (
            "INSERT INTO omd_event.refused_event (sink_code, event_number, status, answer)"
            " VALUES ('catalogue', 1, '422', '{\"subject\": \"anna2@x.example\"}')"
        ),
        "ALTER TABLE omd_dispatch.task_suspension_criteria DISABLE TRIGGER USER",
        "SET session_replication_role = replica",
        (
            "INSERT INTO omd_dispatch.task_suspension_criteria"
            " (suspension_id, criterion, criterion_value) VALUES (1, 'TO', 'anna@x.example')"
        ),
        "SET session_replication_role = origin",
        "ALTER TABLE omd_dispatch.task_suspension_criteria ENABLE TRIGGER USER",
    ):
        conn.execute(statement.encode())
    answer = erase(persons)
    assert search(conn, *ANNA) == []
    masked = {table for layer, table, outcome in answer["by"] if outcome == "MASKED"}
    assert masked >= {
        "omd_event.sink", "omd_event.refused_event", "omd_dispatch.task_suspension_criteria"
    }  # fmt: skip
    told = {row["text"] for row in answer["items"] if row["outcome"] == "NOT_REACHED"}
    names = {row["table_code"] for row in answer["items"] if row["outcome"] == "NOT_REACHED"}
    assert told
    for row in persons.rows("SELECT reason FROM omd.text_column WHERE treatment = 'NOT_REACHED'"):
        assert row["reason"].partition(":")[0] in names
