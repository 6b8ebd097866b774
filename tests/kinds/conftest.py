"""`Platform` has Modules of every kind; the tests share the emptied database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from facts.store import Store, entity
from support.emptied import conn, dsn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from support.scenes import Built

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["conn", "dsn"]

ITEM = entity("item", ["nbr"], ["nbr", "price"])
SCENE = """
    CREATE SCHEMA app;
    CREATE TABLE app.made (v integer, omd_insert_module_instance_id bigint);
    CREATE TABLE app.src (id bigint, pos timestamptz, v integer);
    CREATE TABLE app.dst (v integer, omd_insert_module_instance_id bigint);
    CREATE VIEW app.new AS
    SELECT s.v FROM app.src AS s WHERE omd_lineage.in_block(s.pos, s.id);
    CREATE TABLE app.a (id integer, k integer, v text);
    CREATE TABLE app.out (k integer, v text, omd_insert_module_instance_id bigint);
    CREATE FUNCTION app.f(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE
    AS $body$ BEGIN RETURN jsonb_build_object('out', p -> 'a'); END $body$;
"""
TOPICS = """
    CALL omd_lineage.register_topic('app.src', p_source_offset => 'HAND');
    CALL omd_lineage.register_topic(
        'app.dst', ARRAY['app.src'], p_transforms => ARRAY['app.new'], p_repeat => '0',
        p_maxstep => 2, p_start_pos => '-infinity'
    );
"""
SQL = (
    "INSERT INTO app.made SELECT 1, current_setting('omd.module_instance_id')::bigint"
    " FROM (SELECT pg_advisory_xact_lock_shared(42)) AS gate"
)
STAGE = {
    "stage": "s",
    "mode": "KEY",
    "keys": [{"column": "k"}],
    "ruleset": "f",
    "links": [{"name": "a", "source": "app.a", "arrival": "id"}],
    "outputs": [{"name": "out", "table": "app.out"}],
}


class Platform(Store):
    """A Module of each kind that the database performs, and a Batch of them."""

    def scene(self) -> None:
        self.conn.execute(SCENE)
        self.call(
            "omd.register_module",
            module_code="made",
            area_code="STG",
            table_code="app.made",
            executable=SQL,
        )
        self.set_up(ITEM)
        self.agree()
        self.conn.execute(TOPICS)
        ruleset = {"ruleset": "f", "kind": "FUNCTION", "content": "app.f"}
        self.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=True)
        self.call("omd_decision.define_stage", stage=Jsonb(STAGE))
        self.night("night", "made", "facts.shop", "app.dst", "s")

    def night(self, code: str, *members: str) -> None:
        self.call("omd.register_batch", batch_code=code, frequency_code="Adhoc")
        for sequence, member in enumerate(members, 1):
            self.call(
                "omd.add_module_to_batch", batch_code=code, module_code=member, sequence=sequence
            )

    def come(self, *values: int) -> None:
        """Let rows arrive in the source of the topic; one more than those is never read."""
        for value in values:
            self.conn.execute(
                "INSERT INTO app.src VALUES (%s, '2020-01-01'::timestamptz + %s * interval '1 s',"
                " %s)",
                [value, value, value],
            )
        self.call(
            "omd_lineage.set_offset",
            topic="app.src",
            pos=self.one("SELECT max(pos) FROM app.src"),
            id=self.one("SELECT max(id) FROM app.src"),
        )

    def go(self, code: str, **arguments: Any) -> dict[str, Any]:
        return self.call("omd.run_module", module_code=code, **arguments)

    def go_batch(self, code: str = "night") -> dict[str, Any]:
        return self.call("omd.run_batch", batch_code=code)

    def of_batch(self, batch_instance_id: int) -> list[tuple[str, str]]:
        rows = self.rows(
            "SELECT m.module_code AS code, i.execution_status_code AS status"
            " FROM omd.module_instance AS i INNER JOIN omd.module AS m USING (module_id)"
            " WHERE i.batch_instance_id = %s ORDER BY i.module_instance_id",
            batch_instance_id,
        )
        return [(row["code"], row["status"]) for row in rows]

    def values_of(self, table: str) -> list[Any]:
        return [row["v"] for row in self.rows(f"SELECT v FROM app.{table} ORDER BY v")]


@pytest.fixture
def loads_wait(platform: Platform) -> Iterator[None]:
    """Each load waits at its end for whoever holds the advisory lock 43."""
    platform.conn.execute(
        "CREATE FUNCTION app.wait() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN"
        " PERFORM pg_advisory_xact_lock_shared(43); RETURN NULL; END $body$;"
        "CREATE TRIGGER zz_wait AFTER INSERT ON omd_facts.load_log"
        " FOR EACH ROW EXECUTE FUNCTION app.wait()"
    )
    yield
    platform.conn.execute("DROP TRIGGER zz_wait ON omd_facts.load_log")


@pytest.fixture
def platform(built: Built) -> Platform:
    return built(Platform, Platform.scene)


@pytest.fixture
def others(connect: Callable[..., Connection]) -> Callable[..., Platform]:
    """A function that returns the calls over a connection of their own."""
    return lambda **arguments: Platform(connect(**arguments))
