"""Rows are written through current views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from facts.store import PERSON, PHONE, attribute, entity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from facts.store import Store


def opened(store: Store, code: str = "desk", **arguments: Any) -> int:
    store.agree(code, layer_code="GDAL")
    answer = store.call("omd_facts.open_delivery", agreement_code=code, **arguments)
    return int(answer["delivery_id"])


def write(store: Store, statement: str) -> None:
    store.conn.execute(statement.encode())


def refused(store: Store, sqlstate: str, statement: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        write(store, statement)
    assert caught.value.sqlstate == sqlstate, caught.value


def test_rows_are_written_through_views(store: Store) -> None:
    store.set_up(PERSON, PHONE)
    store.put(1, person=[("N", 1, "a", "1990", "x", None)])
    refused(store, "OM150", "INSERT INTO gdal_shop.person (nbr) VALUES (2)")
    delivery = opened(store)
    write(store, "SET ROLE omd_data_writer")
    write(store, "INSERT INTO gdal_shop.person (nbr, name, boss) VALUES (2, 'y', 1)")
    write(store, "UPDATE gdal_shop.person SET name = 'z', email = 'b' WHERE nbr = 2")
    write(store, "UPDATE gdal_shop.person SET name = 'z' WHERE nbr = 2")
    write(store, "INSERT INTO gdal_shop.phone (nbr, kind, number) VALUES (2, 'home', '1')")
    assert store.now("person") == [(1, "a", "1990", "x", None), (2, "b", None, "z", 1)]
    assert store.now("phone") == [(2, "home", "1")]
    values = "acm_record_ind, name, email"
    two = "history_shop.person WHERE nbr = 2"
    assert store.seen(two, values, "acm_start_dt") == [("N", "y", None), ("A", "z", "b")]

    person = "gdal_shop.person"
    refused(store, "OM051", f"INSERT INTO {person} (nbr) VALUES (1)")
    refused(store, "OM052", f"UPDATE {person} SET nbr = 9 WHERE nbr = 1")
    refused(store, "OM053", f"INSERT INTO {person} (name) VALUES ('x')")
    refused(store, "OM054", f"UPDATE {person} SET boss = 77 WHERE nbr = 2")
    refused(store, "OM054", "INSERT INTO gdal_shop.phone (nbr, kind) VALUES (77, 'home')")
    refused(store, "OM055", f"DELETE FROM {person} WHERE nbr = 1")
    refused(store, "OM056", f"UPDATE {person} SET born = '1991' WHERE nbr = 1")
    refused(store, "OM057", f"UPDATE {person} SET email = 'a' WHERE nbr = 2")
    refused(store, "OM058", f"UPDATE {person} SET acm_id = 7 WHERE nbr = 2")
    write(store, "SET omd_facts.delete_type = 'PHYSICAL'")
    refused(store, "OM156", f"DELETE FROM {person} WHERE nbr = 2")
    write(store, "RESET omd_facts.delete_type")

    # Writes of one transaction to a row become one.
    with store.conn.transaction():
        write(store, f"UPDATE {person} SET name = 'p' WHERE nbr = 2")
        write(store, f"UPDATE {person} SET name = 'q' WHERE nbr = 2")
        write(store, f"INSERT INTO {person} (nbr, name) VALUES (3, 'p')")
        write(store, f"UPDATE {person} SET name = 'q' WHERE nbr = 3")
        write(store, f"INSERT INTO {person} (nbr, name) VALUES (4, 'p')")
        write(store, f"DELETE FROM {person} WHERE nbr = 4")
    assert store.seen(two, values, "acm_start_dt")[2:] == [("A", "q", "b")]
    three = "history_shop.person WHERE nbr IN (3, 4)"
    assert store.seen(three, values, "nbr, acm_start_dt") == [("N", "q", None), ("R", "p", None)]
    write(store, f"DELETE FROM {person} WHERE nbr = 2")
    write(store, f"INSERT INTO {person} (nbr, name) VALUES (2, 'again')")
    assert [i for (i, *_) in store.seen(two, values, "acm_start_dt")] == ["N", "A", "A", "R", "N"]
    store.call("omd_facts.hold", interface_code="shop")
    write(store, "RESET ROLE")
    assert store.sound()
    assert store.one("SELECT count(*) FROM omd_facts.transaction_log") == 8

    store.call("omd_facts.close_delivery", delivery_id=delivery)
    refused(store, "OM150", f"DELETE FROM {person} WHERE nbr = 2")
    assert store.status(delivery) == "PERSISTED"


def test_a_row_comes_back_as_it_is_seen_and_checks_have_an_order(store: Store) -> None:
    person = "gdal_shop.person"
    store.set_up(PERSON | {"facts": PERSON["facts"] | {"generalization": "actor"}}, PHONE)
    store.put(1, person=[("N", 1, "a", "1990", "x", None)], phone=[("N", 1, "home", "1")])
    store.put(2, person=[("R", 1, None, None, None, None)])
    opened(store)
    # Of two things that are wrong, the first one is told.
    refused(store, "OM051", "INSERT INTO gdal_shop.phone VALUES (1, 'home', '2')")
    refused(store, "OM054", "UPDATE gdal_shop.phone SET number = '2'")

    def returned(statement: str, nbr: int) -> dict[str, Any]:
        (row,) = store.rows(f"{statement} RETURNING *")
        assert [row] == store.rows(f"SELECT * FROM {person} WHERE nbr = {nbr}")
        return row

    # What is immutable is known, so it need not be given again.
    assert returned(f"INSERT INTO {person} (nbr, name) VALUES (1, 'y')", 1)["born"] == "1990"
    returned(f"INSERT INTO {person} (nbr, email, born, boss) VALUES (2, 'b', '1991', 1)", 2)
    returned(f"UPDATE {person} SET email = 'c' WHERE nbr = 2", 2)
    returned(f"UPDATE {person} SET boss = NULL WHERE nbr = 2", 2)
    refused(store, "OM057", f"INSERT INTO {person} (nbr, email) VALUES (3, 'c')")
    refused(store, "OM056", f"UPDATE {person} SET email = 'c', born = '1992' WHERE nbr = 1")
    # A row may be its own parent, and is deleted all the same.
    returned(f"INSERT INTO {person} (nbr, boss) VALUES (4, 4)", 4)
    write(store, f"DELETE FROM {person} WHERE nbr = 4")
    assert store.seen("gdal.actor", "business_key ->> 'nbr' AS nbr, acm_exists_ind", "1") == [
        ("1", 1),
        ("2", 1),
        ("4", 0),
    ]
    # A key that is deleted and inserted in one transaction existed all the time.
    created = f"SELECT acm_last_created_dt FROM {person} WHERE nbr = 2"
    before = store.one(created)
    with store.conn.transaction():
        write(store, f"DELETE FROM {person} WHERE nbr = 2")
        write(store, f"INSERT INTO {person} (nbr, name) VALUES (2, 'z')")
    assert store.one(created) == before
    assert store.seen(f"{person} WHERE nbr = 2", "acm_record_ind, name") == [("A", "z")]
    assert store.sound()


def test_rows_of_a_key_root_are_written_and_copied(store: Store) -> None:
    shop = entity("shop", ["code"], [("code", "text(5)"), "size"], facts={"key_root": "code"})
    store.set_up(shop)
    opened(store)
    with store.conn.cursor().copy("COPY gdal_shop.shop (code, size) FROM STDIN") as rows:
        rows.write_row(("a", 1))
        rows.write_row(("b", 2))
    assert store.seen("gdal.code", "key_1, acm_exists_ind") == [("a", 1), ("b", 1)]


def test_a_delivery_that_was_ended_by_hand_is_closed_and_none_is_opened_in_vain(
    store: Store,
) -> None:
    store.set_up(PERSON)
    delivery = opened(store)
    store.call(
        "omd.module_failure",
        module_instance_id=store.one("SELECT module_instance_id FROM omd_report.facts_deliveries"),
    )
    store.call("omd_facts.close_delivery", delivery_id=delivery)
    assert store.status(delivery) == "PERSISTED"
    write(store, "UPDATE omd.module SET inactive_indicator = 'Y'")
    store.refused("OM232", "omd_facts.open_delivery", agreement_code="desk")
    write(store, "UPDATE omd.module SET inactive_indicator = 'N'")
    store.call("omd_facts.open_delivery", agreement_code="desk")


def test_a_subtype_makes_its_supertype_whatever_that_requires(store: Store) -> None:
    mandatory = {"name": "name", "type": "text(20)", "mandatory": True}
    party = {"name": "party", "key": ["nbr"], "attributes": [attribute("nbr"), mandatory]}
    firm = entity(
        "firm",
        ["id"],
        ["id", ("vat", "text(9)")],
        relationships=[
            {"name": "is", "parent": "party", "columns": ["id"], "context_filter": False}
        ],
        facts={"subtype_of": "party"},
    )
    store.set_up(party, firm)
    opened(store)
    write(store, "INSERT INTO gdal_shop.firm (id, vat) VALUES (1, 'x')")
    assert store.now("party") == [(1, None)]
    refused(store, "OM053", "INSERT INTO gdal_shop.party (nbr) VALUES (2)")
    refused(store, "OM053", "UPDATE gdal_shop.party SET name = NULL")
    refused(store, "OM053", "INSERT INTO gdal_shop.firm (vat) VALUES ('x')")
    write(store, "UPDATE gdal_shop.party SET name = 'y'")
    assert store.now("party") == [(1, "y")]
    # What is delivered no longer need not be given.
    party["attributes"] = [attribute("nbr"), {**mandatory, "retired": True}]
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": [party, firm]})
    store.call("omd_facts.deploy", interface_code="shop")
    write(store, "INSERT INTO gdal_shop.party (nbr) VALUES (2)")
    assert store.sound()


def test_a_parent_is_deleted_without_a_scan_of_its_children(store: Store) -> None:
    store.set_up(PERSON)
    store.put(1, person=[("N", n, None, None, None, n - 1 or None) for n in range(1, 3001)])
    opened(store)
    write(store, "DELETE FROM gdal_shop.person WHERE nbr = 3000")
    write(store, "ANALYZE")
    store.call("omd_facts.deploy", interface_code="shop")
    assert store.rows("SELECT * FROM omd_facts.build_deploy_sql('shop')") == []
    read = (
        "SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(p.relid)), 0)"
        " FROM pg_partition_tree('cfl_shop.s_person_properties') AS p"
    )
    with store.conn.transaction():
        before = store.one(read)
        write(store, "DELETE FROM gdal_shop.person WHERE nbr = 2999")
        assert store.one(read) - before < 3000


def test_an_unfinished_delivery_blocks_writers_and_what_they_wrote_can_t_be_undone(
    store: Store,
) -> None:
    store.set_up(PERSON)
    first = store.put(1, person=[("N", 1, "a", "1990", "x", None)])
    opened(store, physical_delete_allowed=True)
    store.refused("OM152", "omd_facts.open_delivery", agreement_code="desk")
    write(store, "UPDATE gdal_shop.person SET name = 'y'")
    store.refused("OM153", "omd_facts.undo", interface_code="shop", module_instance_id=first)
    store.refused(
        "OM037",
        "create_delivery",
        agreement_code="a",
        snapshot_datetime="2020-01-02",
        entities={"person": "DELTA"},
    )
    store.create(entities={"person": "DELTA"})
    refused(store, "OM151", "UPDATE gdal_shop.person SET name = 'z'")
    assert store.rows("SELECT is_blocked FROM omd_report.facts_state") == [{"is_blocked": True}]


@pytest.fixture
def logins(store: Store, stores: Callable[..., Store]) -> Iterator[Callable[..., Store]]:
    """A function that returns the calls over a connection of a login, which has a role."""
    made: dict[str, Store] = {}

    def login(name: str, role: str = "omd_data_writer") -> Store:
        store.conn.execute(
            sql.SQL("CREATE ROLE {0} LOGIN PASSWORD {1} IN ROLE {2}").format(
                sql.Identifier(name), name, sql.Identifier(role)
            )
        )
        made[name] = stores(user=name, password=name)
        return made[name]

    yield login
    for name, each in made.items():
        each.conn.close()
        store.conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def test_a_delivery_belongs_to_the_login_that_opened_it(
    store: Store, stores: Callable[..., Store], logins: Callable[..., Store]
) -> None:
    store.set_up(PERSON)
    store.agree("desk", layer_code="GDAL")
    desk, stranger = logins("it's a desk"), logins("stranger")
    admin, runner = logins("boss", "omd_admin"), logins("runner", "omd_runner")
    delivery = desk.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
    insert = "INSERT INTO gdal_shop.person (nbr) VALUES (1)"
    mine = stores(user="it's a desk", password="it's a desk")
    # A superuser is another login too.
    for other in (stranger, store):
        other.conn.execute(f"SET omd_facts.delivery_id = '{delivery}'".encode())
        refused(other, "OM069", insert)
        other.refused("OM069", "omd_facts.hold", interface_code="shop")
        store.conn.execute("RESET omd_facts.delivery_id")
    for other in (stranger, runner):
        detail = other.refused("OM069", "omd_facts.close_delivery", delivery_id=delivery)
        assert detail == {"delivery_id": delivery, "opened_by": "it's a desk"}
    mine.conn.execute(f"SET omd_facts.delivery_id = '{delivery}'".encode())
    write(mine, insert)
    admin.call("omd_facts.close_delivery", delivery_id=delivery)
    mine.conn.execute(f"SET omd_facts.delivery_id = '{delivery}'".encode())
    refused(mine, "OM150", "DELETE FROM gdal_shop.person")
    again = desk.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
    for _ in range(2):
        desk.call("omd_facts.close_delivery", delivery_id=again)
    assert store.now("person", "nbr, name") == [(1, None)]


def test_of_two_who_open_at_once_one_waits_and_is_told(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
) -> None:
    store.set_up(PERSON)
    store.agree("desk", layer_code="GDAL")
    other = stores()
    for ending, code in (("rollback", None), ("commit", "OM152")):
        store.conn.execute("BEGIN")
        store.call("omd_facts.open_delivery", agreement_code="desk")
        late = background(other.call, "omd_facts.open_delivery", agreement_code="desk")
        until_settled(other, late)
        assert not late.done()
        store.conn.execute(ending.encode())
        if code is None:
            other.call("omd_facts.close_delivery", delivery_id=late.result()["delivery_id"])
        else:
            with pytest.raises(psycopg.Error) as caught:
                late.result()
            assert caught.value.sqlstate == code


def test_a_stranger_with_the_key_of_a_lock_stops_no_delivery_and_no_deployment(
    store: Store, logins: Callable[..., Store]
) -> None:
    """Keys of advisory locks can be computed; what matters is a row that only OMD can write."""
    thing = entity("thing", ["nbr"], ["nbr"], facts={"key_root": "k"})
    stranger = logins("stranger", "omd_reader")
    for first, second in (("omd_facts.gdal", "desk"), ("omd_facts", None)):
        key = "hashtext(%s)" if second else "0 * length(%s)"
        stranger.rows(f"SELECT pg_advisory_lock(hashtext(%s), {key})", first, second or "")
    stranger.conn.execute("BEGIN")
    tables = "omd_facts.link, omd_facts.gdal_delivery"
    stranger.conn.execute(f"LOCK TABLE {tables} IN ACCESS SHARE MODE".encode())
    store.set_up(thing)
    opened(store)
    store.call("omd_facts.close_delivery", delivery_id=store.one(
        "SELECT max(delivery_id) FROM omd_facts.gdal_delivery"))  # fmt: skip
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.conn.execute("LOCK TABLE omd_facts.link IN SHARE UPDATE EXCLUSIVE MODE")


def test_a_row_is_deleted_physically_with_a_proof(store: Store) -> None:
    store.set_up(PERSON, PHONE)
    opened(store, physical_delete_allowed=True)
    write(store, "INSERT INTO gdal_shop.person (nbr, name, email) VALUES (1, 'a', 'b')")
    write(store, "UPDATE gdal_shop.person SET name = 'c'")
    write(store, "SET omd_facts.delete_type = 'PHYSICAL'")
    write(store, "DELETE FROM gdal_shop.person")
    assert store.seen("history_shop.person") == []
    assert store.seen("cfl_shop.h_person", "nbr, acm_exists_ind, acm_physically_removed_ind") == [
        (1, 0, 1)
    ]
    assert store.seen("omd_delivery.removal", "layer, row_count") == [
        ("ANCHOR", 1),
        ("CONTEXT", 0),
        ("CONTEXT", 1),
        ("CONTEXT", 2),
    ]
    assert store.sound()


def test_of_two_writers_of_one_row_the_later_one_is_told(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
) -> None:
    store.set_up(PERSON)
    delivery = opened(store)
    write(store, "INSERT INTO gdal_shop.person (nbr, boss) VALUES (1, NULL), (2, NULL)")
    other = stores()
    other.conn.execute(f"SET omd_facts.delivery_id = '{delivery}'".encode())
    with store.conn.transaction():
        write(store, "UPDATE gdal_shop.person SET name = 'first' WHERE nbr = 1")
        late = background(write, other, "UPDATE gdal_shop.person SET name = 'second'")
        until_settled(other, late)
        assert not late.done()
    with pytest.raises(psycopg.Error) as caught:
        late.result()
    assert caught.value.sqlstate == "OM157"
    write(other, "UPDATE gdal_shop.person SET name = 'second' WHERE nbr = 2")
    assert store.seen("gdal_shop.person", "nbr, name") == [(1, "first"), (2, "second")]
    assert store.sound()


def test_a_resync_makes_the_facts_what_lvl_has(store: Store) -> None:
    store.set_up(PERSON, PHONE)
    people = [("N", n, f"m{n}", "1990", "x", None) for n in range(1, 5)]
    store.put(1, person=people, phone=[("N", 1, "home", "1")])
    opened(store)
    before = store.seen("gdal_shop.person", "nbr, email, born, name")
    write(store, "UPDATE gdal_shop.person SET name = 'y' WHERE nbr = 1")
    write(store, "DELETE FROM gdal_shop.person WHERE nbr IN (2, 3)")
    write(store, "INSERT INTO gdal_shop.person (nbr, born) VALUES (9, '2000')")
    write(store, "UPDATE gdal_shop.phone SET number = '2'")
    planned = store.call("omd_facts.resync", interface_code="shop", dry_run=True)
    assert planned["differences"] == {
        "person": {"N": 2, "A": 1, "R": 1},
        "phone": {"N": 0, "A": 1, "R": 0},
    }
    done = store.call("omd_facts.resync", interface_code="shop")
    assert (done["outcome"], done["differences"]) == ("PERSISTED", planned["differences"])
    assert store.seen("gdal_shop.person", "nbr, email, born, name") == before
    assert store.now("phone") == [(1, "home", "1")]
    again = store.call("omd_facts.resync", interface_code="shop")
    assert (again["outcome"], again["differences"]) == ("NOTHING", {})
    assert store.rows("SELECT * FROM wrk_shop.delta_person WHERE delivery_id < 0") == []
    assert store.undo(done["module_instance_id"]) == [done["module_instance_id"]]
    assert (
        store.call("omd_facts.resync", interface_code="shop", dry_run=True)["differences"]
        == planned["differences"]
    )
    assert store.sound()
    store.create(entities={"person": "DELTA"})
    store.refused("OM154", "omd_facts.resync", interface_code="shop")


@pytest.mark.parametrize("is_loaded", [False, True])
def test_an_undo_of_a_resync_takes_later_ones_along(store: Store, is_loaded: bool) -> None:
    store.set_up(PERSON, PHONE)
    if is_loaded:
        store.put(1, person=[("N", 9, "m", "1990", "x", None)])
    opened(store)
    write(store, "INSERT INTO gdal_shop.person (nbr, born) VALUES (1, '2000'), (2, '2000')")
    write(store, "INSERT INTO gdal_shop.phone (nbr, kind, number) VALUES (1, 'home', '1')")
    runs = []
    for code in ("phone", "person"):
        done = store.call("omd_facts.resync", interface_code="shop", entity_code=code)
        assert done["outcome"] == "PERSISTED"
        runs.append(done["module_instance_id"])
    assert store.undo(runs[0]) == runs
    assert len(store.now("person")) == 2 + is_loaded
    assert len(store.now("phone")) == 1
    assert store.sound()


def test_controls_refuse_rows_and_complete_them(store: Store) -> None:
    store.set_up(PERSON)
    opened(store)
    control = (
        "CREATE FUNCTION dwh.{}(p_operation text, p_old jsonb, p_new jsonb) RETURNS jsonb"
        " LANGUAGE plpgsql {} AS $$ BEGIN {} END $$"
    )
    complete = "RETURN jsonb_build_object('name', upper(p_new ->> 'name'));"
    refuse = "IF p_old ->> 'name' = 'KEPT' THEN RAISE EXCEPTION 'it is kept'; END IF; RETURN NULL;"
    write(store, "GRANT USAGE ON SCHEMA dwh TO omd_owner")
    write(store, control.format("loud", "", complete))
    write(store, control.format("keep", "SECURITY DEFINER", refuse))
    write(
        store,
        "CREATE FUNCTION dwh.open(text, jsonb, jsonb) RETURNS jsonb BEGIN ATOMIC SELECT $2; END",
    )
    given = {"interface_code": "shop", "entity_code": "person", "timing": "BEFORE"}
    for operation in ("INSERT", "UPDATE"):
        store.call(
            "omd_facts.register_control",
            control_code=f"loud_{operation}",
            operation=operation,
            function="dwh.loud",
            **given,
        )
    store.call(
        "omd_facts.register_control",
        control_code="keep",
        operation="DELETE",
        function="dwh.keep",
        **given,
    )
    for wrong in ("dwh.open", "x.y.z.w", "dwh.loud(text)", "'"):
        store.refused(
            "OM253",
            "omd_facts.register_control",
            control_code="open",
            operation="INSERT",
            function=wrong,
            **given,
        )
    write(store, "INSERT INTO gdal_shop.person (nbr, name) VALUES (1, 'kept'), (2, 'x')")
    write(store, "UPDATE gdal_shop.person SET name = 'y' WHERE nbr = 2")
    assert store.seen("gdal_shop.person", "nbr, name") == [(1, "KEPT"), (2, "Y")]
    refused(store, "P0001", "DELETE FROM gdal_shop.person")
    write(store, "DELETE FROM gdal_shop.person WHERE nbr = 2")
    # OMD calls a copy, until somebody registers the function again.
    unknown = "RETURN '{\"odd\": 1}'::jsonb;"
    write(store, "DROP FUNCTION dwh.loud")
    write(store, "UPDATE gdal_shop.person SET name = 'w'")
    write(store, control.format("loud", "SECURITY DEFINER", unknown))
    write(store, "UPDATE gdal_shop.person SET name = 'z'")
    assert store.seen("gdal_shop.person", "nbr, name") == [(1, "Z")]
    store.call(
        "omd_facts.register_control",
        control_code="loud_UPDATE",
        operation="UPDATE",
        function="dwh.loud",
        **given,
    )
    refused(store, "OM059", "UPDATE gdal_shop.person SET name = 'z'")
    schema, _, copy = store.one(
        "SELECT omd_facts._control_copy(entity_id, 'loud_UPDATE') FROM omd_facts.control LIMIT 1"
    ).partition(".")
    store.conn.execute(f"DROP FUNCTION {schema}.{copy}".encode())
    refused(store, "OM253", "UPDATE gdal_shop.person SET name = 'z'")
    assert store.sound()
