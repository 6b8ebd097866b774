"""`Room` has the calls of decision in one line each; the tests share the emptied database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.emptied import conn, dsn
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]
    Rows = list[dict[str, Any]]

__all__ = ["conn", "dsn"]

BOTH = ["LEFTOVER", "KEY_MISMATCH"]
FUNCTION = {"ruleset": "f", "kind": "FUNCTION", "content": "app.f"}
SCENE = """
    CREATE SCHEMA app;
    CREATE TABLE app.a (id integer, k integer, v text);
    CREATE TABLE app.b (id bigint, k bigint, v text);
    CREATE TABLE app.out (
        k integer, v text, n numeric, d text DEFAULT 'default',
        omd_insert_module_instance_id bigint
    );
"""


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

    def function(self, body: str, name: str = "app.f") -> None:
        """Create the function of a ruleset; the body is an expression over p."""
        self.conn.execute(
            f"CREATE OR REPLACE FUNCTION {name}(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE"
            f" AS $body$ BEGIN RETURN {body}; END $body$".encode()
        )

    def scene(self, body: str = "'{}'", /, **stage: Any) -> dict[str, Any]:
        """Create two links and an output, a ruleset f and a stage s; return the document."""
        self.conn.execute(SCENE)
        self.function(body)
        self.ruleset(FUNCTION)
        document = {
            "stage": "s",
            "mode": "KEY",
            "keys": [{"column": "k"}],
            "ruleset": "f",
            "links": [
                {"name": "a", "source": "app.a", "arrival": "id", "reject": {"on": BOTH}},
                {"name": "b", "source": "app.b", "arrival": "id", "reject": {"on": BOTH}},
            ],
            "outputs": [{"name": "out", "table": "app.out"}],
            **stage,
        }
        self.define(document)
        return document

    def fill(self, table: str, *rows: Any) -> None:
        """Insert rows (id, k, v); a row may be shorter."""
        for row in rows:
            names = ["id", "k", "v"][: len(row)]
            self.conn.execute(
                f"INSERT INTO app.{table} ({', '.join(names)})"
                f" VALUES ({', '.join(['%s'] * len(row))})".encode(),
                row,
            )

    def run(self, stage: str = "s", /, **arguments: Any) -> dict[str, Any]:
        return self.call("run_stage", stage_code=stage, **arguments)

    def event(self, instance: int) -> str:
        """Return the SQLSTATE of the one failure event of a run."""
        return str(
            self.one(
                "SELECT event_return_code_details FROM omd.event_log"
                " WHERE module_instance_id = %s AND event_type_code = 2",
                instance,
            )
        )

    def cycles(self, stage: str, /, **arguments: Any) -> Rows:
        names = ", ".join(f"p_{name} => %s" for name in arguments)
        return self.rows(
            f"SELECT * FROM omd_decision.cycles(%s{', ' if names else ''}{names})",
            stage,
            *arguments.values(),
        )


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Make calls at the same moment, each in a thread of its own; return the answers."""
    ready = threading.Barrier(len(calls))

    def make(call: Callable[[], Any]) -> Any:
        ready.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls))


@pytest.fixture
def room(conn: Connection) -> Room:
    return Room(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Room]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Room(connect(**arguments))
