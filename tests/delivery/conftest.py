"""`Room` has the calls of delivery in one line each; the tests share the emptied database."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from delivery.runs import Shop, insert_open
from support.emptied import conn, dsn
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["conn", "dsn"]

FLIGHTS: dict[str, Any] = {
    "interface": "flights",
    "entities": [
        {
            "name": "carriers",
            "key": ["carrier"],
            "attributes": [
                {"name": "carrier", "type": "text(2)"},
                {"name": "name", "type": "text(80)", "mandatory": True},
            ],
        },
        {
            "name": "flights",
            "key": ["carrier", "flight", "day"],
            "attributes": [
                {"name": "carrier", "type": "text(2)"},
                {"name": "flight", "type": "integer"},
                {"name": "day", "type": "date", "source": "Flight Date"},
                {"name": "origin", "type": "text(3)", "values": ["EWR", "JFK", "LGA"]},
                {"name": "delay", "type": "integer"},
            ],
            "relationships": [
                {
                    "name": "of_carrier",
                    "parent": "carriers",
                    "columns": ["carrier"],
                    "context_filter": False,
                }
            ],
            "constraints": [
                {
                    "name": "plausible",
                    "type": "value",
                    "attribute": "delay",
                    "check": "delay BETWEEN -120 AND 1800",
                }
            ],
        },
    ],
    "settings": {
        "flights.plausible": {"action": "EMPTY COLUMN", "threshold_percent": 1, "warn": 10}
    },
}


class Room(Flow):
    """Calls of omd_delivery over one connection."""

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        name = routine if "." in routine else f"omd_delivery.{routine}"
        return super().call(name, **arguments)

    def deploy(self, model: Any, /, **arguments: Any) -> tuple[int, list[dict[str, str]]]:
        answer = self.call("deploy_model", model=Jsonb(model), **arguments)
        return answer["model_version"], answer["changes"]

    def diff(self, model: Any, /) -> list[tuple[str, str]]:
        """Return the changes that a deployment would make."""
        return [(c["object"], c["change"]) for c in self.deploy(model, dry_run=True)[1]]

    def wrong(self, model: Any, /, sqlstate: str = "OM030") -> dict[str, str]:
        """Return the problems for which a model is refused, by their paths."""
        detail = self.refused(sqlstate, "deploy_model", model=Jsonb(model))
        return {p["path"]: p["problem"] for p in detail["problems"]}

    def document(self, code: str = "flights", /) -> dict[str, Any]:
        return dict(self.one("SELECT omd_delivery.model_document(%s)", code))

    def load(self, table: str, /, *rows: dict[str, Any], **more: Any) -> None:
        """Insert open rows into a table of the Logical Validation Layer."""
        insert_open(self, table, "2026-01-01 00:00:00+00", rows, more)


@pytest.fixture
def room(conn: Connection) -> Room:
    return Room(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Room]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Room(connect(**arguments))


@pytest.fixture
def model() -> dict[str, Any]:
    """A model of two entities, which the test may change."""
    return copy.deepcopy(FLIGHTS)


@pytest.fixture
def shop(conn: Connection) -> Shop:
    return Shop(conn)


@pytest.fixture
def shops(connect: Callable[..., Connection]) -> Callable[..., Shop]:
    """A function that returns the calls of deliveries over a connection of their own."""
    return lambda **arguments: Shop(connect(**arguments))
