"""What facts set for a session is set for a transaction behind a pooler (V27)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import psycopg
import pytest

import omd
from facts.test_python import PERSON
from omd.errors import lookup
from support.pooler import bouncing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from facts.store import Store

FIRST, SECOND = (datetime(2020, 1, day, 12, tzinfo=timezone.utc) for day in (1, 2))


@pytest.fixture
def through(store: Store, dsn: str) -> Iterator[omd.Control]:
    """A control through the pooler; two people were loaded, and one has a new name."""
    store.deploy({"interface": "shop", "entities": [PERSON]})
    store.agree("desk", layer_code="GDAL")
    with omd.connect(dsn) as control:
        control.calls.omd_facts.deploy("shop")
        for day, name in ((1, "x"), (2, "y")):
            store.queue(day, person=[("N" if day == 1 else "A", 1, "m", name, None)])
        assert control.calls.omd_facts.load_all().loaded == 2
    with bouncing(dsn) as pooled, omd.connect(pooled) as through:
        yield through


def test_a_moment_holds_for_the_transaction_and_reaches_no_other_client(
    through: omd.Control, dsn: str
) -> None:
    names = "SELECT name FROM asof_shop.person"
    with omd.connect(through._dsn) as other:
        with pytest.raises(lookup("OM240")) as caught:
            through.calls.omd_facts.as_of(FIRST)
        assert "OMD_POOLER=session" in str(caught.value.hint)
        with through.transaction() as connection:
            assert through.calls.omd_facts.as_of(FIRST) == FIRST
            assert connection.execute(names).fetchall() == [("x",)]
            assert connection.execute(names).fetchall() == [("x",)]
        with other.transaction() as connection:
            assert connection.execute(names).fetchall() == [("y",)]
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute("SELECT omd_facts.as_of(%s, true)", [FIRST])
        assert direct.execute(names).fetchall() == [("y",)]
        direct.execute("SELECT omd_facts.as_of(%s)", [FIRST])
        assert direct.execute(names).fetchall() == [("x",)]
        with pytest.raises(lookup("OM005")):
            direct.execute("SELECT omd_facts.as_of(%s, NULL)", [FIRST])
        with pytest.raises(lookup("OM005")):
            direct.execute("CALL omd_facts.open_delivery('desk', p_is_local => NULL)")


def test_a_desk_writes_through_a_pooler_and_nobody_else_writes_under_its_delivery(
    through: omd.Control, store: Store
) -> None:
    with omd.connect(through._dsn) as other, through.facts.delivery("desk") as desk:
        write = desk.connection.execute
        change = "UPDATE gdal_shop.person SET name = "
        write(f"{change}'a'")
        with pytest.raises(lookup("OM150")), other.transaction() as connection:
            connection.execute(f"{change}'b'")
        with desk.connection.transaction():
            write(f"{change}'c'")
            write("INSERT INTO gdal_shop.person (nbr, name) VALUES (2, 'new')")
        with desk.connection.cursor() as cursor:
            cursor.executemany(f"{change}%s WHERE nbr = 2", [("d",), ("e",)])
        write("BEGIN")
        write(f"{change}'lost'")
        write("ROLLBACK")
        with pytest.raises(lookup("OM240")):
            write("SET omd_facts.delete_type = 'PHYSICAL'")
        assert store.now("person", "nbr, name") == [(1, "c"), (2, "e")]
    assert store.status(desk._delivery_id) == "PERSISTED"


def test_a_delivery_is_opened_for_a_transaction(through: omd.Control, store: Store) -> None:
    with pytest.raises(lookup("OM240")):
        through.calls.omd_facts.open_delivery("desk")
    with through.transaction() as connection:
        delivery = through.calls.omd_facts.open_delivery("desk")
        connection.execute("UPDATE gdal_shop.person SET name = 'z'")
    with pytest.raises(lookup("OM150")), through.transaction() as connection:
        connection.execute("UPDATE gdal_shop.person SET name = 'w'")
    through.calls.omd_facts.close_delivery(delivery)
    assert store.now("person", "nbr, name") == [(1, "z")]
