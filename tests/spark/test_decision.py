"""Stages on Spark: the same outputs, rejects, codes and cycles as in the database."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from decision.conftest import BOTH, Room

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    import omd

pytestmark = pytest.mark.spark

SCENE = """
    CREATE SCHEMA app;
    CREATE TABLE app.a (id bigint, w date, k integer, h timestamptz, v text, n numeric);
    CREATE TABLE app.b (id bigint, w date, k bigint, h timestamptz, v text, n numeric);
    CREATE TABLE app.c (id bigint, w date, v text);
    CREATE TABLE app.out (
        k integer, v text, n numeric(6, 2), d text DEFAULT 'default', day date,
        omd_insert_module_instance_id bigint, omd_wave text, omd_key jsonb, omd_cycle_no bigint,
        omd_invocation_no integer, omd_ruleset_version integer, omd_record_source text
    );
    INSERT INTO app.a SELECT i, date '2024-01-01' + i % 3, nullif(i % 7, 0),
        timestamptz '2024-03-31 00:30:00+00' + i % 2 * interval '1 hour', 'a' || i, i * 1.10
        FROM generate_series(1, 60) AS i;
    INSERT INTO app.b SELECT i, date '2024-01-01' + i % 4, i % 9,
        timestamptz '2024-03-31 00:30:00+00' + i % 2 * interval '1 hour', 'b' || i, i
        FROM generate_series(1, 40) AS i;
    INSERT INTO app.c SELECT i, NULLIF(date '2024-01-01' + i % 5, date '2024-01-05'), 'é' || i
        FROM generate_series(1, 20) AS i;
    CREATE FUNCTION app.f(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $f$
        BEGIN RETURN jsonb_build_object('out', jsonb_build_array(
            jsonb_build_object('v', left(p::text, 40), 'n', jsonb_array_length(
                CASE jsonb_typeof(p -> 'a') WHEN 'array' THEN p -> 'a' ELSE '[]' END)),
            '{"day": "2024-02-29"}'::jsonb), 'none', NULL); END $f$;
"""


@pytest.fixture
def room(conn: Any) -> Room:
    room = Room(conn)
    room.conn.execute(SCENE.encode())
    room.ruleset({"ruleset": "f", "kind": "FUNCTION", "content": "app.f"})
    return room


def document(**changed: Any) -> dict[str, Any]:
    more = {name: changed.pop(name, {}) for name in "abc"}
    links = [
        {"name": n, "source": f"app.{n}", "arrival": "id", "reject": {"on": BOTH}, **more[n]}
        for n in "abc"
        if n != "c" or more[n]
    ]
    keys = [{"column": "k"}, {"column": "h", "direction": "DESC"}]
    return {
        "stage": "s",
        "mode": "KEY",
        **({} if changed.get("mode") == "BATCH" else {"keys": keys}),
        "ruleset": "f",
        "links": links,
        "outputs": [
            {"name": "out", "table": "app.out", "propagate": {"link": "a", "by": "ORDER"}}
        ],
        "keep": "TRACE",
        **changed,
    }


def kept(room: Room, instance: int) -> dict[str, list[Any]]:
    """Return all that a run has written, in any order."""
    found = {}
    for name, table, without in (
        ("out", "app.out", "omd_insert_module_instance_id"),
        ("cycle", "omd_decision.cycle", "module_instance_id"),
        ("reject", "omd_decision.reject", "module_instance_id"),
    ):
        rows = room.rows(
            f"SELECT (to_jsonb(t) - %s)::text AS row FROM {table} AS t WHERE t.{without} = %s",
            without,
            instance,
        )
        found[name] = sorted(row["row"] for row in rows)
    return found


def test_both_engines_answer_alike(
    room: Room, control: omd.Control, spark: SparkSession
) -> None:
    stages: list[dict[str, Any]] = [
        document(wave="w", c={"buffer": True}),
        document(batch_size=1, b={"array": False}, keep="CYCLES"),
        document(batch_size=3, wave="w", b={"array": False}, c={"buffer": True, "array": False}),
        document(mode="BATCH", batch_size=4, wave="w"),
        document(mode="BATCH", batch_size=0, b={"array": True}, keep="NONE"),
    ]
    for number, stage in enumerate(stages):
        room.define(stage)
        there = control.decision.run("s")
        assert there.detail is None, number
        here = control.decision.run("s", spark=spark, parallelism=3 - number % 3)
        assert here.detail is None, number
        assert kept(room, here.module_instance_id) == kept(room, there.module_instance_id), number
        for name in ("waves", "cycles", "invocations", "rows_input", "rows_output"):
            assert getattr(here, name) == getattr(there, name), (number, name)
        assert here.rows_rejected == there.rows_rejected
        assert here.engine == "SPARK"
        logs = room.rows(
            "SELECT attempts FROM omd_decision.run WHERE module_instance_id = ANY (%s)",
            [here.module_instance_id, there.module_instance_id],
        )
        assert logs[0] == logs[1]
