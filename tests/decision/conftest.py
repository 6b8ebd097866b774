"""`Room` has the calls of decision in one line each; each test has a database of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]
    Rows = list[dict[str, Any]]


class Room(Flow):
    """Calls of omd_decision over one connection."""

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        name = routine if "." in routine else f"omd_decision.{routine}"
        return super().call(name, **arguments)

    def define(self, stage: dict[str, Any], /, **arguments: Any) -> dict[str, Any]:
        return self.call("define_stage", stage=Jsonb(stage), **arguments)

    def ruleset(self, ruleset: dict[str, Any], /, **arguments: Any) -> int:
        given = {"activate": True, **arguments}
        return int(self.call("define_ruleset", ruleset=Jsonb(ruleset), **given)["version"])

    def problems(self, stage: dict[str, Any], /) -> dict[str, str]:
        """Define a wrong document; return its problems by path."""
        detail = self.refused("OM082", "define_stage", stage=Jsonb(stage))
        return {p["path"]: p["text"] for p in detail["problems"]}

    def cycles(self, stage: str, /, **arguments: Any) -> Rows:
        names = ", ".join(f"p_{name} => %s" for name in arguments)
        return self.rows(
            f"SELECT * FROM omd_decision.cycles(%s{', ' if names else ''}{names})",
            stage,
            *arguments.values(),
        )


@pytest.fixture
def room(conn: Connection) -> Room:
    return Room(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Room]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Room(connect(**arguments))
