"""Deployments beside readers and writers: all wait, none fails."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import PERSON, PHONE, T, attribute

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from facts.store import Store

LINKED = {**PHONE, "facts": {"context_of": "person", "kind": "multi_active"}}


def models(count: int) -> list[list[dict[str, Any]]]:
    """Return models, each with an attribute more."""
    found = []
    person = copy.deepcopy(PERSON)
    for number in range(count):
        person = copy.deepcopy(person)
        person["attributes"].append(attribute(f"more{number}"))
        found.append([person, LINKED])
    return found


def apply(store: Store, entities: list[dict[str, Any]], at_once: bool = False) -> None:
    model = {"interface": "shop", "entities": entities}
    if at_once:
        with store.conn.transaction():
            store.call("omd_facts.hold_views", interface_code="shop")
            store.call("omd_delivery.deploy_model", model=model)
            store.call("omd_facts.deploy", interface_code="shop")
    else:
        store.call("omd_delivery.deploy_model", model=model)
        store.call("omd_facts.deploy", interface_code="shop")


@pytest.fixture
def desk(store: Store) -> int:
    store.set_up(PERSON, LINKED)
    store.put(1, person=[("N", n, f"m{n}", "1990", "x", None) for n in range(1, 20)])
    store.agree("desk", layer_code="GDAL")
    return int(store.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"])


@pytest.mark.parametrize("at_once", [False, True])
def test_deployments_beside_writers_and_readers_fail_nobody(
    store: Store, stores: Callable[..., Store], desk: int, at_once: bool
) -> None:
    done = threading.Event()
    failed: list[BaseException] = []
    counts = [0] * 4

    def work(number: int) -> None:
        one = stores_of[number]
        try:
            while not done.is_set():
                with one.conn.transaction():
                    if number < 2:
                        nbr = number + 1
                        sets = f"name = 'n{counts[number] % 7}'"
                        first, second = (
                            f"UPDATE gdal_shop.person SET {sets} WHERE nbr = {nbr}",
                            f"INSERT INTO gdal_shop.phone VALUES ({nbr}, 'k{counts[number]}', 'x')",
                        )
                        if counts[number] > 99:
                            second = first
                        if number % 2:  # both orders
                            first, second = second, first
                        one.conn.execute(first.encode())
                        one.conn.execute(second.encode())
                    else:
                        view = ("gdal_shop.person", f"asof_shop.person('{T[2]}')")[number % 2]
                        one.conn.execute(f"SELECT count(*) FROM {view}".encode())
                        one.conn.execute(b"SELECT * FROM history_shop.phone LIMIT 1")
                counts[number] += 1
                done.wait(0.01)  # four that never rest leave a deployment no processor
        except BaseException as error:  # noqa: BLE001 - the test shows it
            failed.append(error)

    stores_of = [stores() for _ in counts]
    for one in stores_of[:2]:
        one.conn.execute(f"SET omd_facts.delivery_id = '{desk}'".encode())
    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(counts))]
    for thread in threads:
        thread.start()
    try:
        for entities in models(2):
            apply(store, entities, at_once)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert min(counts) > 0
    assert store.sound()


@pytest.mark.parametrize("first", ["view", "other view"])
def test_a_deployment_waits_for_a_writer_that_still_writes(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
    desk: int,
    first: str,
) -> None:
    writer, deployer = stores(), stores()
    writer.conn.execute(f"SET omd_facts.delivery_id = '{desk}'".encode())
    statements = [
        "UPDATE gdal_shop.person SET name = 'y' WHERE nbr = 1",
        "INSERT INTO gdal_shop.phone (nbr, kind, number) VALUES (1, 'home', '1')",
    ]
    if first == "other view":
        statements.reverse()
    (grown,) = models(1)
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": grown})
    with writer.conn.transaction():
        writer.conn.execute(statements[0].encode())
        late = background(deployer.call, "omd_facts.deploy", interface_code="shop")
        until_settled(deployer, late)
        assert not late.done()
        writer.conn.execute(statements[1].encode())
    assert late.result()["statements"] > 0
    assert "more0" in store.rows("SELECT * FROM gdal_shop.person LIMIT 1")[0]


def test_a_deployment_that_somebody_waits_for_says_so(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
    desk: int,
) -> None:
    writer = stores()
    writer.conn.execute(f"SET omd_facts.delivery_id = '{desk}'".encode())
    (grown,) = models(1)
    update = b"UPDATE gdal_shop.person SET name = 'y' WHERE nbr = 1"
    with store.conn.transaction(force_rollback=True):
        store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": grown})
        late = background(writer.conn.execute, update)
        until_settled(writer, late)
        assert not late.done(), late.exception()
        with pytest.raises(psycopg.Error) as caught, store.conn.transaction():
            store.call("omd_facts.deploy", interface_code="shop")
        assert caught.value.sqlstate == "OM160"
    late.result()
    store.call("omd_delivery.deploy_model", model={"interface": "shop", "entities": grown})
    # A deployment with nothing to do waits for no reader.
    assert store.call("omd_facts.deploy", interface_code="shop")["statements"] > 0
    with writer.conn.transaction():
        writer.conn.execute(b"SELECT * FROM gdal_shop.person")
        assert store.call("omd_facts.deploy", interface_code="shop")["statements"] == 0
        store.conn.execute(b"SET lock_timeout = '600ms'")
        store.refused("OM160", "omd_facts.hold_views", interface_code="shop")
        store.conn.execute(b"RESET lock_timeout")


def test_a_reader_as_of_a_moment_waits_for_a_deployment(
    store: Store,
    stores: Callable[..., Store],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Any, Future[Any]], None],
    desk: int,
) -> None:
    del desk
    reader = stores()
    query = f"SELECT * FROM asof_shop.person('{T[2]}') WHERE nbr = 1"
    (before,) = reader.rows(query)
    (grown,) = models(1)
    with store.conn.transaction():
        apply(store, grown, at_once=False)
        late = background(reader.rows, query)
        until_settled(reader, late)
        assert not late.done()
    (after,) = late.result()
    assert {key: after[key] for key in before} == before
    assert "more0" in reader.rows(query)[0]
    apply(store, models(2)[1])
    assert "more1" in reader.rows(query)[0]
    assert store.call("omd_facts.deploy", interface_code="shop")["statements"] == 0
