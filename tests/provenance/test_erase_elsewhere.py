"""Persons are erased from tables of users, decisions, tasks, logs and statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from facts.store import entity
from provenance.persons import ANNA, erase, find, rows_without, search
from support.flow import Flow

if TYPE_CHECKING:
    from facts.store import Store


def register(store: Store, table: str, columns: Any, action: str = "DELETE", **more: Any) -> None:
    given = {"interface_code": "shop", "entity_code": "person", **more}
    store.call(
        "omd_provenance.register_subject", table_code=table, columns=columns, action=action, **given
    )


def unfit(store: Store, table: str, columns: Any, action: str = "DELETE") -> str:
    detail = store.refused(
        "OM292",
        "omd_provenance.register_subject",
        table_code=table,
        interface_code="shop",
        entity_code="person",
        columns=columns,
        action=action,
    )
    return str(detail["problem"])


# Tables of users --------------------------------------------------------------------------------


def test_registered_tables_are_erased_by_their_columns(persons: Store) -> None:
    persons.conn.execute(
        """CREATE TABLE dwh."Gone; --" ("who ""is"" it" bigint, name text);
        INSERT INTO dwh."Gone; --" VALUES (7, 'Anna Karenina'), (8, 'Boris Godunov'), (NULL, 'x');
        CREATE TABLE dwh.deal (seller text, buyer numeric(9,2), price int);
        INSERT INTO dwh.deal VALUES ('7', 8, 1), ('8', 7, 2), ('7', 7, 3), ('9', 9, 4);
        ANALYZE dwh."Gone; --", dwh.deal"""
    )
    register(persons, 'dwh."Gone; --"', {'who "is" it': "nbr"})
    register(persons, "dwh.deal", {"seller": "nbr", "buyer": "nbr"}, "NULL")
    answer = erase(persons)
    assert answer["by"]["TABLE", 'dwh."Gone; --"', "DELETED"]["row_count"] == 1
    assert answer["by"]["TABLE", "dwh.deal", "NULLED"]["row_count"] == 3
    assert persons.seen("dwh.deal", "seller, buyer, price", "price") == [
        (None, 8, 1),
        ("8", None, 2),
        (None, None, 3),
        ("9", 9, 4),
    ]
    assert persons.one('SELECT count(*) FROM dwh."Gone; --"') == 2
    assert search(persons.conn, *ANNA) == []
    register(persons, "dwh.deal", None)
    assert ("TABLE", "dwh.deal", "NULLED") not in erase(persons, [{"nbr": 9}])["by"]


def test_a_table_with_keys_of_what_depends_on_the_person_is_reached(persons: Store) -> None:
    persons.conn.execute(
        "CREATE TABLE dwh.call AS SELECT 7 AS nbr, 'home' AS kind, 'Anna K' AS text"
    )
    register(persons, "dwh.call", {"nbr": "nbr", "kind": "kind"}, entity_code="phone")
    assert erase(persons)["by"]["TABLE", "dwh.call", "DELETED"]["row_count"] == 1


def test_what_can_not_be_erased_is_not_registered(persons: Store) -> None:
    persons.conn.execute(
        "CREATE TABLE dwh.t (a int NOT NULL, b int, c int GENERATED ALWAYS AS (b) STORED);"
        "CREATE VIEW dwh.v AS SELECT * FROM dwh.t"
    )
    assert "no such table" in unfit(persons, "dwh.none", {"a": "nbr"})
    assert "no such table" in unfit(persons, "a.b.c", {"a": "nbr"})
    assert "no such table" in unfit(persons, '"', {"a": "nbr"})
    assert "no table" in unfit(persons, "dwh.v", {"a": "nbr"})
    assert "of a user" in unfit(persons, "lvl_shop.person", {"nbr": "nbr"})
    assert "of a user" in unfit(persons, "pg_catalog.pg_class", {"oid": "nbr"})
    assert "no column" in unfit(persons, "dwh.t", {"x": "nbr"})
    assert "no column" in unfit(persons, "dwh.t", {"ctid": "nbr"})
    assert "attributes nbr" in unfit(persons, "dwh.t", {"a": "name"})
    assert "an object" in unfit(persons, "dwh.t", {})
    assert "an object" in unfit(persons, "dwh.t", [1])
    assert "an object" in unfit(persons, "dwh.t", {"a": 1})
    assert "NULL" in unfit(persons, "dwh.t", {"a": "nbr"}, "NULL")
    assert "NULL" in unfit(persons, "dwh.t", {"c": "nbr"}, "NULL")
    assert "DELETE or NULL" in unfit(persons, "dwh.t", {"a": "nbr"}, "DROP")
    assert "family" in unfit(persons, "omd_dispatch.NONE", {"payload.a": "nbr"})
    assert "criterion" in unfit(persons, "omd_dispatch.CALL", {"a": "nbr"})
    assert "key criterion" in unfit(persons, "omd_dispatch.RUN", {"CODE": "nbr"}, "NULL")
    call = {"table_code": "dwh.t", "interface_code": "shop", "entity_code": "person"}
    persons.refused(
        "OM092",
        "omd_provenance.register_subject",
        columns={"a": "nbr"},
        **{**call, "entity_code": "none"},
    )
    for name in call:
        persons.refused(
            "OM005", "omd_provenance.register_subject", columns={"a": "nbr"}, **{**call, name: None}
        )


@pytest.fixture
def admin(store: Store) -> Any:
    """A session of a login that is an administrator of OMD and owns nothing."""
    store.conn.execute("DROP ROLE IF EXISTS eraser; CREATE ROLE eraser LOGIN IN ROLE omd_admin;")
    yield
    store.conn.execute("RESET ROLE")
    store.conn.execute("DROP OWNED BY eraser; DROP ROLE eraser")


@pytest.mark.no_user_code("the policies are its own")
def test_what_the_caller_may_not_do_is_said_and_the_rest_is_done(
    persons: Store, admin: None
) -> None:
    persons.conn.execute(
        "CREATE TABLE dwh.shut AS SELECT 7 AS nbr, 'Anna Karenina' AS name;"
        "CREATE TABLE dwh.open AS SELECT 7 AS nbr, 'Anna Karenina' AS name;"
        "CREATE TABLE dwh.hidden AS SELECT 7 AS nbr, 'Anna Karenina' AS name;"
        "ALTER TABLE dwh.hidden ENABLE ROW LEVEL SECURITY;"
        "GRANT USAGE ON SCHEMA dwh TO eraser;"
        "GRANT SELECT, DELETE ON dwh.open, dwh.hidden TO eraser"
    )
    for table in ("shut", "open", "hidden"):
        register(persons, f"dwh.{table}", {"nbr": "nbr"})
    persons.conn.execute("SET ROLE eraser")
    answer = erase(persons)
    assert "right" in answer["by"]["NOT_REACHED", "dwh.shut", "NOT_REACHED"]["text"]
    assert ("NOT_REACHED", "dwh.hidden", "NOT_REACHED") in answer["by"]
    assert answer["by"]["TABLE", "dwh.open", "DELETED"]["row_count"] == 1
    assert "own" in answer["by"]["NOT_REACHED", "dwh.open", "NOT_REACHED"]["text"]
    assert answer["by"]["LVL", "lvl_shop.person", "DELETED"]["row_count"] == 2
    persons.conn.execute("RESET ROLE")
    assert search(persons.conn, *ANNA) == ["dwh.hidden", "dwh.shut"]


def test_triggers_and_constraints_of_users_tell_nobody_the_key(persons: Store) -> None:
    persons.conn.execute(
        """CREATE TABLE dwh.kept (nbr int PRIMARY KEY);
        CREATE TABLE dwh.child (nbr int CONSTRAINT "the reason" REFERENCES dwh.kept
            DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO dwh.kept VALUES (7); INSERT INTO dwh.child VALUES (7);
        CREATE TABLE dwh.loud (nbr int);
        INSERT INTO dwh.loud VALUES (7);
        CREATE FUNCTION dwh.shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE WARNING 'it is %', old.nbr * 1234567;
            RAISE EXCEPTION 'it is %', old.nbr * 1234567;
        END $$;
        CREATE TRIGGER t BEFORE DELETE ON dwh.loud FOR EACH ROW EXECUTE FUNCTION dwh.shout()"""
    )
    register(persons, "dwh.kept", {"nbr": "nbr"})
    register(persons, "dwh.loud", {"nbr": "nbr"})
    heard: list[str] = []
    persons.conn.add_notice_handler(lambda d: heard.append(str(d.message_primary)))
    answer = erase(persons)
    assert "the reason" in answer["by"]["NOT_REACHED", "dwh.kept", "NOT_REACHED"]["text"]
    assert "P0001" in answer["by"]["NOT_REACHED", "dwh.loud", "NOT_REACHED"]["text"]
    assert "8641969" not in str(answer) + str(heard)
    assert persons.one("SELECT count(*) FROM dwh.kept") == 1


def test_a_registered_table_that_is_gone_is_said(persons: Store) -> None:
    persons.conn.execute("CREATE TABLE dwh.t (nbr int); CREATE TABLE dwh.u (nbr int)")
    register(persons, "dwh.t", {"nbr": "nbr"})
    register(persons, "dwh.u", {"nbr": "nbr"})
    persons.conn.execute("DROP TABLE dwh.t; ALTER TABLE dwh.u RENAME nbr TO other")
    answer = erase(persons)
    for table in ("dwh.t", "dwh.u"):
        assert "not there" in answer["by"]["NOT_REACHED", table, "NOT_REACHED"]["text"]


def test_copies_of_replaced_rows_are_erased_as_their_table(persons: Store) -> None:
    persons.conn.execute(
        "CREATE TABLE dwh.t (nbr int, name text, n numeric);INSERT INTO dwh.t VALUES (7, 'now', 1)"
    )
    register(persons, "dwh.t", {"nbr": "nbr"})
    for instance, table in ((1, "dwh.t"), (2, "dwh.other")):
        persons.owner(
            "INSERT INTO omd_lineage.replacement (module_instance_id, module_id, table_code,"
            " key_columns, row_columns) VALUES (%s, 1, %s, '{nbr}', '{name,nbr,n}')",
            instance,
            table,
        )
        for name, nbr in (('Anna "K", (a) \\', 7), ("Boris", 8), (None, 9), ("", 70)):
            persons.owner(
                "INSERT INTO omd_lineage.replaced_row (module_instance_id, content)"
                " SELECT %s, ROW(%s::text, %s::int, 7)::text",
                instance,
                name,
                nbr,
            )
    answer = erase(persons)
    assert answer["by"]["TABLE", "omd_lineage.replaced_row", "DELETED"]["row_count"] == 1
    rows = "SELECT content FROM omd_lineage.replaced_row WHERE module_instance_id = %s ORDER BY 1"
    assert [r["content"] for r in persons.rows(rows, 1)] == ['("",70,7)', "(,9,7)", "(Boris,8,7)"]
    assert len(persons.rows(rows, 2)) == 4
    register(persons, "dwh.t", {"nbr": "nbr"}, "NULL")
    answer = erase(persons, [{"nbr": 8}, {"nbr": 9}])
    assert answer["by"]["TABLE", "omd_lineage.replaced_row", "NULLED"]["row_count"] == 2
    persons.conn.execute("CREATE TYPE dwh.kept AS (name text, nbr int, n numeric)")
    assert persons.rows(
        "SELECT (content::dwh.kept).* FROM omd_lineage.replaced_row WHERE module_instance_id = 1"
        " ORDER BY 1, 2"
    ) == [
        {"name": "", "nbr": 70, "n": 7},
        {"name": "Boris", "nbr": None, "n": 7},
        {"name": None, "nbr": None, "n": 7},
    ]


# Statistics -------------------------------------------------------------------------------------


def test_statistics_of_emptied_tables_forget_too(store: Store) -> None:
    """An ANALYZE that finds no row replaces nothing."""
    store.set_up(
        entity(
            "person",
            ["mail"],
            [("mail", "text(40)"), ("name", "text(40)"), ("born", "date"), ("ok", "boolean")],
        ),
    )
    store.put(1, person=[("N", "anna@x.example", "Anna Karenina", "1990-01-01", True)])
    store.put(2, person=[("A", "anna@x.example", "Anna Karenin", "1990-01-01", True)])
    store.conn.execute(
        "CREATE TABLE dwh.parent (mail text NOT NULL, d date NOT NULL, j jsonb NOT NULL)"
        " PARTITION BY RANGE (d);"
        "CREATE TABLE dwh.part PARTITION OF dwh.parent FOR VALUES FROM (MINVALUE) TO (MAXVALUE);"
        "CREATE TABLE dwh.base (mail text); CREATE TABLE dwh.heir () INHERITS (dwh.base);"
        "CREATE TABLE dwh.ext (mail text, name text);"
        "CREATE STATISTICS dwh.s (mcv) ON mail, name FROM dwh.ext;"
        "INSERT INTO dwh.parent SELECT 'anna@x.example', now(), '{}' FROM generate_series(1, 9);"
        "INSERT INTO dwh.heir SELECT 'anna@x.example' FROM generate_series(1, 9);"
        "INSERT INTO dwh.ext SELECT 'anna@x.example', 'A' FROM generate_series(1, 9);"
        "ANALYZE"
    )
    for table in ("parent", "base", "ext"):
        register(store, f"dwh.{table}", {"mail": "mail"})
    assert any("pg_stats" in t for t in search(store.conn, "anna@x.example"))
    answer = erase(store, [{"mail": "anna@x.example"}])
    assert search(store.conn, "anna@x.example", "Anna Kareni", "1990-01-01") == []
    assert (
        store.rows(
            "SELECT * FROM pg_stats_ext WHERE most_common_vals::text LIKE '%%anna@x.example%%'"
        )
        == []
    )
    assert not [i for i in answer["items"] if str(i["text"]).startswith("statistics")]
    for table in ("parent", "base", "ext"):
        assert store.one(f"SELECT count(*) FROM dwh.{table}") == 0


def test_statistics_that_can_not_be_emptied_are_said(persons: Store) -> None:
    persons.conn.execute(
        "CREATE TABLE dwh.t (nbr int NOT NULL CHECK (nbr = 7), name text);"
        "CREATE STATISTICS dwh.s (mcv) ON nbr, name FROM dwh.t;"
        "INSERT INTO dwh.t VALUES (7, 'Anna Karenina'), (7, 'Anna Karenina'); ANALYZE dwh.t"
    )
    register(persons, "dwh.t", {"nbr": "nbr"})
    answer = erase(persons)
    assert "23514" in answer["by"]["NOT_REACHED", "dwh.t", "NOT_REACHED"]["text"]


def test_statistics_of_rows_that_were_purged_before_forget_too(persons: Store) -> None:
    persons.call("omd.log_event", event_type_code=6, event_detail="Anna Karenina")
    persons.call("omd.log_event", event_type_code=6, event_detail="Anna Karenina")
    persons.conn.execute("ANALYZE omd.event_log; DELETE FROM omd.event_log")
    assert "pg_stats of omd.event_log.event_detail" in search(persons.conn, *ANNA)
    erase(persons)
    assert search(persons.conn, *ANNA) == []


# Decisions --------------------------------------------------------------------------------------


def decide(store: Store) -> None:
    store.conn.execute(
        """CREATE TABLE dwh.visit (id bigint PRIMARY KEY, nbr int, note text);
        CREATE TABLE dwh.care (id bigint, said text, omd_insert_module_instance_id bigint,
            omd_key jsonb);
        CREATE FUNCTION dwh.decide(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
            SELECT jsonb_build_object('care', jsonb_build_object('said', p #>> '{persons,0,name}'))
        $$"""
    )
    store.call(
        "omd_decision.define_ruleset",
        ruleset={"ruleset": "r", "kind": "FUNCTION", "content": "dwh.decide"},
        activate=True,
    )
    store.call(
        "omd_decision.define_stage",
        stage={
            "stage": "s",
            "mode": "KEY",
            "keys": [{"column": "nbr"}],
            "ruleset": "r",
            "keep": "TRACE",
            "links": [
                {"name": "persons", "source": "gdal_shop.person", "arrival": "nbr"},
                {
                    "name": "visits",
                    "source": "dwh.visit",
                    "arrival": "id",
                    "reject": {"on": ["LEFTOVER", "KEY_MISMATCH"]},
                },
            ],
            "outputs": [{"name": "care", "table": "dwh.care", "columns": ["said"]}],
        },
    )
    answer = store.call("omd_decision.run_stage", stage_code="s")
    assert answer["execution_status_code"] == "S", answer


def test_cycles_rejects_and_outputs_that_hold_the_key_go(persons: Store) -> None:
    persons.conn.execute("CREATE TABLE dwh.x (a int)")
    decide(persons)
    persons.conn.execute("INSERT INTO dwh.visit VALUES (1, 7, 'of hers'), (2, 6, 'Anna Karenina?')")
    register(persons, "dwh.visit", {"nbr": "nbr"})
    assert persons.call("omd_decision.run_stage", stage_code="s")["rows_rejected"] == 1
    answer = erase(persons)
    assert answer["by"]["DECISION", "omd_decision.cycle", "DELETED"]["row_count"] == 2
    assert answer["by"]["DECISION", "dwh.care", "DELETED"]["row_count"] == 2
    assert search(persons.conn, *ANNA, "of hers") == ["dwh.visit"]
    assert len(persons.rows("SELECT * FROM omd_decision.cycle")) == 4
    assert persons.one("SELECT record ->> 'note' FROM omd_decision.reject") == "[erased]?"
    answer = erase(persons, [{"nbr": 6}])
    assert answer["by"]["DECISION", "omd_decision.reject", "DELETED"]["row_count"] == 1
    assert search(persons.conn, *ANNA) == []


def test_outputs_that_do_not_tell_the_key_are_not_reached(persons: Store) -> None:
    decide(persons)
    persons.conn.execute("ALTER TABLE dwh.care DROP COLUMN omd_key")
    answer = erase(persons)
    assert "made of" in answer["by"]["NOT_REACHED", "dwh.care", "NOT_REACHED"]["text"]


# Tasks and texts --------------------------------------------------------------------------------


def test_tasks_go_by_payload_or_criterion_and_claimed_ones_stay(persons: Store) -> None:
    persons.call(
        "omd_dispatch.register_family",
        family_code="MAIL",
        criteria={"WHO": "bigint"},
        key_criteria="{WHO}",
    )
    persons.call(
        "omd_dispatch.register_task_type",
        family_code="MAIL",
        task_type="SEND",
        handler="SQL",
        target="dwh.send",
    )
    register(persons, "omd_dispatch.MAIL", {"WHO": "nbr", "payload.to.nbr": "nbr"})
    ids = [
        persons.call(
            "omd_dispatch.create_task",
            family_code="MAIL",
            task_type="SEND",
            criteria={"WHO": who},
            payload=payload,
        )["task_id"]
        for who, payload in ((7, {}), (8, {"to": {"nbr": "7"}}), (9, {"to": "Anna Karenina"}))
    ]
    answer = erase(persons)
    assert answer["by"]["TASK", "omd_dispatch.MAIL", "DELETED"]["row_count"] == 2
    assert persons.seen("omd_dispatch.task_data_mail", "task_id, payload") == [
        (ids[2], {"to": "[erased]"})
    ]
    held = "SELECT task_id FROM omd_dispatch.mutex WHERE task_id = ANY(%s)"
    assert [row["task_id"] for row in persons.rows(held, ids)] == [ids[2]]
    persons.owner(
        "UPDATE omd_dispatch.task_data_mail SET status = 'CLAIMED', claimed_by = 'w',"
        " claimed_at = now(), claim_token = 1"
    )
    answer = erase(persons, [{"nbr": 9}])
    assert answer["by"]["TASK", "omd_dispatch.MAIL", "KEPT"]["row_count"] == 1
    assert len(persons.rows("SELECT * FROM omd_dispatch.task_data_mail")) == 1


def test_payloads_are_emptied_where_the_task_is_to_stay(persons: Store) -> None:
    persons.conn.execute("CREATE PROCEDURE dwh.send(p jsonb) LANGUAGE sql AS ''")
    persons.call(
        "omd_dispatch.register_task_type",
        family_code="CALL",
        task_type="SEND",
        handler="SQL",
        target="dwh.send",
    )
    register(persons, "omd_dispatch.CALL", {"payload.nbr": "nbr"}, "NULL")
    for nbr in (7, 8):
        persons.call(
            "omd_dispatch.create_task",
            family_code="CALL",
            task_type="SEND",
            payload={"nbr": nbr, "x": 1},
        )
    answer = erase(persons)
    assert answer["by"]["TASK", "omd_dispatch.CALL", "NULLED"]["row_count"] == 1
    assert [
        r["payload"]
        for r in persons.rows("SELECT payload FROM omd_dispatch.task_data_call ORDER BY task_id")
    ] == [{"x": 1, "nbr": None}, {"x": 1, "nbr": 8}]
    persons.owner("DELETE FROM omd_dispatch.task_data_call")


def test_texts_in_logs_contexts_messages_and_reasons_are_masked(store: Store) -> None:
    person = entity("person", ["nbr"], ["nbr", ("name", "text(40)"), ("kind", "text(9)")])
    person["attributes"][2]["values"] = ["customer"]
    flow = Flow(store.conn)
    store.set_up(person)
    name = "O\"Brien's \\ %s"
    store.put(1, person=[("N", 7, name, "customer"), ("N", 8, "Anna", "customer")])
    begun = flow.begin_module(flow.module("m"), execution_context=Jsonb({"for": [name, 1]}))
    flow.end_module(begun.id, "F")
    details = (
        f"Key (name)=({name}) exists",
        psycopg.types.json.json.dumps({"name": name}),
        "Anna is a customer",
    )
    for detail in details:
        store.call(
            "omd.log_event", module_instance_id=begun.id, event_type_code=2, event_detail=detail
        )
    delivery = store.create(9, message={"by": name})
    store.call("cancel_delivery", delivery_id=delivery, reason=f"{name} said so")
    store.conn.execute("ANALYZE")
    answer = erase(store)
    assert search(store.conn, name, name.replace("'", "''")) == []
    assert {t for layer, t, o in answer["by"] if (layer, o) == ("TEXT", "MASKED")} == {
        "omd.event_log",
        "omd.module_instance",
        "omd_delivery.delivery",
        "omd_delivery.delivery_event",
    }
    found = [
        r["event_detail"]
        for r in store.rows(
            "SELECT event_detail FROM omd.event_log WHERE module_instance_id = %s"
            " AND event_detail ~ 'name|Anna' ORDER BY event_id",
            begun.id,
        )
    ]
    assert found == ["Key (name)=([erased]) exists", '{"name": "[erased]"}', details[2]]
    assert store.one(
        "SELECT execution_context FROM omd.module_instance WHERE module_instance_id = %s", begun.id
    ) == {"for": ["[erased]", 1]}
    assert store.delivery(delivery)["message"] == {"by": "[erased]"}


def test_texts_of_many_persons_are_masked_too(store: Store) -> None:
    store.set_up(entity("person", ["nbr"], ["nbr", ("name", "text(40)")]))
    store.put(1, person=[("N", n, f"nämè {n} of") for n in range(100, 160)])
    details = ("it is xnämè 117 ofx", "n" * 3000 + "nämè 118 of", "nämè 99 of", "näm", "")
    for detail in details:
        store.call("omd.log_event", event_type_code=6, event_detail=detail)
    erase(store, [{"nbr": n} for n in range(100, 160)])
    assert [
        r["d"]
        for r in store.rows(
            "SELECT event_detail AS d FROM omd.event_log WHERE event_type_code = 6"
            " ORDER BY event_id"
        )
    ] == ["it is x[erased]x", "n" * 3000 + "[erased]", *details[2:]]


def test_what_was_made_of_the_person_and_is_not_registered_is_said(persons: Store) -> None:
    persons.conn.execute(
        "CREATE VIEW dwh.shown AS SELECT * FROM gdal_shop.person;"
        "CREATE TABLE dwh.copy (nbr int, omd_insert_module_instance_id bigint);"
        "CREATE TABLE dwh.sum (n int, omd_insert_module_instance_id bigint);"
        "CREATE TABLE dwh.dog (n int);"
        "CREATE TABLE dwh.other (n int, omd_insert_module_instance_id bigint)"
    )
    flow = Flow(persons.conn)
    for code, reads in (("copy", "dwh.shown"), ("sum", "dwh.copy"), ("other", "dwh.dog")):
        flow.module(code)
        flow.call("declare_inputs", module_code=code, tables=[reads])
    made = {t for layer, t, _ in erase(persons)["by"] if layer == "NOT_REACHED" and "dwh" in t}
    assert made == {"dwh.copy", "dwh.sum"}
    register(persons, "dwh.copy", {"nbr": "nbr"})
    answer = erase(persons)
    assert ("TABLE", "dwh.copy", "DELETED") in answer["by"]
    assert ("NOT_REACHED", "dwh.sum", "NOT_REACHED") in answer["by"]
    assert ("NOT_REACHED", "dwh.copy", "NOT_REACHED") not in answer["by"]


def test_find_tells_where_a_person_is(persons: Store) -> None:
    before = rows_without(persons.conn)
    found = find(persons)
    assert ("LVL", "lvl_shop.person", 2) in found
    assert ("CONTEXT", "cfl_shop.s_person_mail", 2) in found
    assert rows_without(persons.conn) == before
    assert ("REFERENCE", "lvl_shop.orders", 1) in find(persons, '[{"nbr": 8}]')
    erase(persons, [{"nbr": 8}])
    assert ("ANCHOR", "cfl_shop.h_person", 1) in find(persons, '[{"nbr": 8}]')
    erase(persons)
    assert find(persons) == []
    with pytest.raises(psycopg.Error) as caught:
        find(persons, '[{"x": 123456}]')
    assert caught.value.sqlstate == "OM092"
    assert "123456" not in str(caught.value)


# Tables of the lake -------------------------------------------------------------------------------


def test_a_lake_table_is_pending_and_its_keys_are_for_nobody(persons: Store) -> None:
    persons.call("omd_lake.register_namespace", namespace="lake", location="/data/lake")
    assert unfit(persons, "lake.t", {"nbr": "nbr"}) == "there is no such table"
    persons.call("omd_lake.register_table", table_code="lake.t", metadata_location="t.0")
    persons.call("omd_lake.register_table", table_code='lake."My Table"', metadata_location="m.0")
    assert "key has the attributes" in unfit(persons, "lake.t", {"nbr": "name"})
    register(persons, "lake.t", {"nbr": "nbr"})
    register(persons, 'lake."My Table"', {"a": "nbr", "b": "nbr"}, "NULL")
    assert erase(persons, is_dry_run=True)["by"]["LAKE", "lake.t", "PENDING"]["row_count"] is None
    assert persons.rows("SELECT * FROM omd_provenance.pending_erasure") == []

    first, second = (erase(persons)["erasure_id"] for _ in range(2))
    pending = "SELECT * FROM omd_provenance.pending_erasures(%s)"
    rows = [tuple(r.values())[1:] for r in persons.rows(pending, first)]
    assert rows == [
        ('lake."My Table"', {"a": "nbr", "b": "nbr"}, "NULL", [{"nbr": 7}]),
        ("lake.t", {"nbr": "nbr"}, "DELETE", [{"nbr": 7}]),
    ]
    for role in ("omd_reader", "omd_data_reader", "omd_runner", "omd_admin"):
        with persons.conn.transaction(force_rollback=True):
            persons.conn.execute(f"SET LOCAL ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                persons.conn.execute(b"SELECT FROM omd_provenance.pending_erasure")
    for role in ("omd_reader", "omd_runner"):
        with persons.conn.transaction(force_rollback=True):
            persons.conn.execute(f"SET LOCAL ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                persons.rows(pending, first)

    def finish(*counts: int) -> tuple[str, list[str]]:
        id = persons.rows(pending, first)[0]["pending_id"]
        for _ in range(2):  # the second call finds nothing to do
            persons.call(
                "omd_provenance.finish_erasure",
                pending_id=id,
                key_count=counts[0],
                row_count=counts[1],
            )
        status = persons.one(
            "SELECT erasure_status FROM omd_report.erasures WHERE erasure_id = %s", first
        )
        items = persons.rows(
            "SELECT outcome FROM omd_report.erasure_items WHERE erasure_id = %s AND layer = 'LAKE'"
            " ORDER BY table_code",
            first,
        )
        return status, [i["outcome"] for i in items]

    assert finish(1, 3) == ("PENDING", ["NULLED", "PENDING"])
    assert finish(0, 0) == ("DONE", ["NULLED", "DELETED"])
    assert persons.rows(pending, first) == []
    assert len(persons.rows(pending, second)) == 2
    assert (
        persons.one("SELECT max(row_count) FROM omd_report.erasure_items WHERE layer='LAKE'") == 3
    )
    for id, code in ((None, "OM005"), (4711, "OM092")):
        with pytest.raises(psycopg.Error) as caught:
            persons.rows(pending, id)
        assert caught.value.sqlstate == code
