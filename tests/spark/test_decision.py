"""Stages on Spark: the same outputs, rejects, codes and cycles as in the database."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

import omd.spark
from decision.conftest import BOTH, Room
from decision.sort_keys import sort_key
from facts.store import Store
from facts.test_changes import ORDERS, load
from facts.test_topics import revert
from omd.errors import lookup
from omd.rooms.control.codes import Status
from omd.spark.decision import keys
from omd.spark.sessions import register
from spark.test_faults import Job, kill, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("deciding_job.py")

SCENE = """
    CREATE SCHEMA app;
    CREATE TABLE app.a (
        id bigint, w date, k integer, h timestamptz, v text, n numeric(6, 2), t timestamp,
        f float8, y bytea, l timestamptz[], o boolean
    );
    CREATE TABLE app.b (id smallint, w date, k bigint, h timestamptz, v text, x text);
    CREATE TABLE app.c (id bigint, w date, v text);
    CREATE TABLE app.out (
        k integer, v text, n numeric(5, 1), d text DEFAULT 'default', x text, t timestamp,
        omd_insert_module_instance_id bigint, omd_wave text, omd_key jsonb, omd_cycle_no bigint,
        omd_invocation_no integer, omd_ruleset_version integer, omd_record_source text
    );
    INSERT INTO app.a SELECT i, date '2024-01-01' + i % 3, nullif(i % 7, 0),
        timestamptz '2024-10-27 00:30:00.25+00' + i % 2 * interval '1 hour', 'a"' || i, i * 1.10,
        timestamp '1969-12-31 23:59:59.000001' + i * interval '1 day', i + 0.5, '\\xff00',
        ARRAY[timestamptz '2024-10-27 01:30:00+00', NULL], i % 2 = 0
        FROM generate_series(1, 60) AS i;
    INSERT INTO app.b SELECT i, date '2024-01-01' + i % 4, i % 9,
        timestamptz '2024-10-27 00:30:00.25+00' + i % 2 * interval '1 hour', 'b' || i, 'x' || i
        FROM generate_series(1, 40) AS i;
    INSERT INTO app.c SELECT i, date '2024-01-01' + i % 4, 'é' || i
        FROM generate_series(1, 20) AS i;
    CREATE FUNCTION app.same(p jsonb) RETURNS jsonb STABLE RETURN p;
"""
EDGE = {"type": "edge", "id": "e", "sourceId": "i", "targetId": "o"}
MODEL = {
    "nodes": [
        {"id": "i", "name": "i", "type": "inputNode"},
        {"id": "o", "name": "o", "type": "outputNode"},
    ],
    "edges": [EDGE],
}
# Three rulesets that answer what they are asked.
RULESETS = {"FUNCTION": "app.same", "PYTHON": "copy:deepcopy", "JDM": MODEL}


@pytest.fixture
def room(conn: Any) -> Room:
    room = Room(conn)
    room.conn.execute(SCENE.encode())
    for kind, content in RULESETS.items():
        room.ruleset({"ruleset": kind, "kind": kind, "content": content})
    return room


@pytest.fixture
def pacific(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose time zone must not matter: two hours of this night look alike there."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    assert before is not None
    spark.conf.set("spark.sql.session.timeZone", before)


def document(**changed: Any) -> dict[str, Any]:
    more = {name: changed.pop(name, {}) for name in "abc"}
    links = [
        {"name": n, "source": f"app.{n}", "arrival": "id", "reject": {"on": BOTH}, **more[n]}
        for n in "abc"
        if n != "c" or more[n]
    ]
    key = [{"column": "k"}, {"column": "h", "direction": "DESC"}]
    return {
        "stage": "s",
        "mode": "KEY",
        **({} if changed.get("mode") == "BATCH" else {"keys": key}),
        "ruleset": "FUNCTION",
        "links": links,
        "outputs": [{"name": "out", "parameter": "a", "table": "app.out"}],
        **changed,
    }


def frame(spark: SparkSession, dsn: str, name: str) -> DataFrame:
    return spark.read.format("omd").option("url", dsn).load(f"app.{name}")


def kept(room: Room, instance: int) -> dict[str, list[Any]]:
    """Return all that a run has written, in any order."""
    found = {}
    for name, table, column in (
        ("out", "app.out", "omd_insert_module_instance_id"),
        ("cycle", "omd_decision.cycle", "module_instance_id"),
        ("reject", "omd_decision.reject", "module_instance_id"),
    ):
        rows = room.rows(
            f"SELECT (to_jsonb(kept) - %s - 'trace')::text AS row FROM {table} AS kept"
            f" WHERE kept.{column} = %s",
            column,
            instance,
        )
        found[name] = sorted(row["row"] for row in rows)
    return found


def test_both_engines_answer_alike(
    room: Room, control: omd.Control, pacific: SparkSession, dsn: str
) -> None:
    spark = register(pacific, dsn)
    by_key, by_order = ({"link": link, "by": by} for link, by in (("a", "KEY"), ("b", "ORDER")))
    given = {"name": "out", "table": "app.out"}
    runs: list[tuple[dict[str, Any], str, str]] = [
        # the stage, the kind on Spark, the links that are DataFrames there
        (
            document(
                wave="w",
                keep="TRACE",
                c={"buffer": True},
                outputs=[{**given, "parameter": "b", "propagate": by_key}],
            ),
            "FUNCTION",
            "b",
        ),
        (document(batch_size=1, b={"array": False}), "PYTHON", "ab"),
        (
            document(
                batch_size=3, wave="w", b={"array": False}, c={"buffer": True, "array": False}
            ),
            "JDM",
            "c",
        ),
        (
            document(
                mode="BATCH",
                batch_size=4,
                wave="w",
                keep="TRACE",
                outputs=[{**given, "parameter": "a", "propagate": by_order}],
            ),
            "FUNCTION",
            "ab",
        ),
    ]
    for number, (stage, kind, frames) in enumerate(runs):
        room.define(stage)
        there = control.decision.run("s")
        assert there.detail is None, number
        room.define({**stage, "ruleset": kind})
        links = {name: frame(spark, dsn, name) for name in frames}
        here = control.decision.run("s", spark=spark, links=links, parallelism=number + 1)
        assert here.detail is None, number
        told = kept(room, there.instance_id)
        assert all(told.values())
        assert kept(room, here.instance_id) == told, number
        assert here.facts == {**there.facts, "engine": "SPARK"}, number
        logs = room.rows(
            "SELECT attempts, invocations FROM omd_decision.run"
            " WHERE module_instance_id = ANY (%s)",
            [here.instance_id, there.instance_id],
        )
        assert logs[0] == logs[1]


TYPES = ("boolean", "smallint", "integer", "bigint", "text", "date", "timestamp", "timestamptz")


def test_the_sort_key_is_one_text_in_postgresql_in_spark_and_in_the_rules(
    room: Room, pacific: SparkSession, dsn: str
) -> None:
    from decision.cases import VALUES

    columns = ", ".join(f'"{name}" {name}' for name in TYPES)
    room.conn.execute(f"CREATE TABLE app.typed (id integer, {columns}, uuid uuid)".encode())
    rows = []
    for number in range(9):
        values = [[*VALUES[name], None] for name in (*TYPES, "uuid")]
        rows.append((number, *(v[number % len(v)] for v in values)))
        marks = ", ".join(["%s"] * len(rows[-1]))
        room.conn.execute(f"INSERT INTO app.typed VALUES ({marks})".encode(), rows[-1])
    families = {name: name for name in (*TYPES, "uuid")} | {"smallint": "integer"}
    families["bigint"] = "integer"
    ways = [(name, way) for name in (*TYPES, "uuid") for way in ("ASC", "DESC")]
    told = room.one(
        "SELECT 'SELECT id, ' || string_agg(omd_decision._sort_key_sql("
        "format('%%I', name), family, way) || ' AS ' || quote_ident(name || ' ' || way), ', ')"
        " || ' FROM app.typed ORDER BY id'"
        " FROM unnest(%s::text[], %s::text[], %s::text[]) AS u (name, family, way)",
        [name for name, _ in ways],
        [families[name] for name, _ in ways],
        [way for _, way in ways],
    )
    there = room.rows(told)
    spark = register(pacific, dsn)
    here = (
        frame(spark, dsn, "typed")
        .select(
            "id",
            *(keys.sort_key(F.col(n), families[n], way).alias(f"{n} {way}") for n, way in ways),
        )
        .orderBy("id")
        .collect()
    )
    assert [row.asDict() for row in here] == there
    for row, values in zip(there, rows, strict=True):
        of = dict(zip((*TYPES, "uuid"), values[1:], strict=True))
        for name, way in ways:
            assert row[f"{name} {way}"] == sort_key(of[name], name, way)


def test_a_run_on_spark_that_fails_says_why_and_its_rows_are_rolled_back(
    room: Room, control: omd.Control, spark: SparkSession, dsn: str, omd_here: Any
) -> None:
    failing = {"ruleset": "p", "kind": "PYTHON", "content": "math:sqrt"}
    room.ruleset(failing)
    room.conn.execute("ALTER TABLE app.out ADD CHECK (k < 1000)")
    room.conn.execute(
        "CREATE FUNCTION app.bad(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$ BEGIN"
        " IF p #>> '{a,0,k}' = '5' THEN RAISE 'no rule'; END IF; RETURN p; END $$"
    )
    room.ruleset({"ruleset": "bad", "kind": "FUNCTION", "content": "app.bad"})
    room.conn.execute(
        "CREATE FUNCTION app.wrong(p jsonb) RETURNS jsonb STABLE"
        " RETURN jsonb_build_object('a', jsonb_build_object('n', 'x'))"
    )
    room.ruleset({"ruleset": "wrong", "kind": "FUNCTION", "content": "app.wrong"})
    room.conn.execute(
        "CREATE FUNCTION app.coded(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$ BEGIN"
        " RAISE EXCEPTION USING ERRCODE = 'OM101', MESSAGE = 'no code'; END $$"
    )
    room.ruleset({"ruleset": "coded", "kind": "FUNCTION", "content": "app.coded"})
    room.conn.execute(
        "CREATE FUNCTION app.large(p jsonb) RETURNS jsonb STABLE"
        """ RETURN '{"a": [{"k": 1}, {"k": 2000}]}'::jsonb"""
    )
    room.ruleset({"ruleset": "large", "kind": "FUNCTION", "content": "app.large"})
    register(spark, dsn)
    with_null_character = frame(spark, dsn, "a").withColumn("odd", F.lit("\0"))
    fails: list[tuple[dict[str, Any], dict[str, DataFrame], type[Exception], str]] = [
        (document(b={"reject": None}), {}, lookup("OM281"), "b"),
        (document(ruleset="p"), {}, lookup("OM283"), "TypeError"),
        (document(ruleset="bad"), {}, lookup("OM283"), "no rule (P0001)"),
        (document(ruleset="coded"), {}, lookup("OM283"), "no code (OM101)"),
        (document(ruleset="wrong"), {}, lookup("OM284"), "numeric"),
        (document(ruleset="large"), {}, lookup("OM284"), 'output "out", record 2: '),
        (document(max_array_rows=1), {}, lookup("OM291"), "a"),
        (document(), {"a": frame(spark, dsn, "a").drop("k")}, lookup("OM289"), 'no column "k"'),
        (document(), {"z": with_null_character}, lookup("OM289"), "no such link"),
        (document(), {"a": with_null_character}, lookup("OM289"), "U+0000"),
    ]
    for stage, links, error, text in fails:
        stage["links"] = [
            {name: value for name, value in link.items() if value is not None}
            for link in stage["links"]
        ]
        room.define(stage)
        done = control.decision.run("s", spark=spark, links=links)
        assert (done.status, type(done.error)) == ("F", error), done.detail
        assert text in str(done.error)
        assert done.detail is not None
    room.define(document())
    told = omd_here("run", "s", "--engine", "SPARK", dsn=dsn)
    assert told.returncode == 0
    assert "rolled back Module Instances" in told.stderr
    assert room.one("SELECT count(DISTINCT omd_insert_module_instance_id) FROM app.out") == 1


def test_a_window_moves_on_spark_too(
    room: Room, control: omd.Control, spark: SparkSession, dsn: str
) -> None:
    stage = document(window={"column": "h", "delay": "0"}, keep="NONE")
    room.define(stage)
    links = {"a": frame(register(spark, dsn), dsn, "a")}
    first = datetime(2024, 10, 27, 1, tzinfo=timezone.utc)
    done = control.decision.run("s", spark=spark, links=links, end_value=first)
    assert (done.detail, done.facts["rows_input"]) == (None, 50)
    done = control.decision.run("s", spark=spark, links=links)
    assert (done.detail, done.facts["rows_input"]) == (None, 50)


def test_executors_that_are_killed_change_no_answer(
    room: Room, control: omd.Control, conn: Any, dsn: str
) -> None:
    stage = document(batch_size=1, wave="w", b={"array": False}, keep="TRACE")
    room.define(stage)
    there = control.decision.run("s")
    # Calls wait for the lock 1, and writes for the lock 2.
    conn.execute(
        "CREATE FUNCTION app.waits(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock_shared(1); RETURN p; END $$;"
        " CREATE FUNCTION app.write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock_shared(2); RETURN NULL; END $$;"
        " CREATE TRIGGER write AFTER INSERT ON app.out EXECUTE FUNCTION app.write();"
        " SELECT pg_advisory_lock(1), pg_advisory_lock(2)"
    )
    room.ruleset({"ruleset": "waits", "kind": "FUNCTION", "content": "app.waits"})
    room.define({**stage, "ruleset": "waits"})
    job = Job("local-cluster[2,1,1024]", JOB)
    try:
        job.write(dsn)
        for lock in (1, 2):
            until(
                conn,
                "SELECT count(*) > 0 AS yes FROM pg_locks"
                f" WHERE NOT granted AND locktype = 'advisory' AND objid = {lock}",
            )
            for process in job.executors():
                kill(process)
            conn.execute("SELECT pg_advisory_unlock(%s)", [lock])
        told = job.answer()
    finally:
        job.close()
    assert told.startswith("S "), told
    assert kept(room, int(told[2:])) == kept(room, there.instance_id)


def test_a_block_of_changes_that_is_undone_meanwhile_is_decided_anew(
    room: Room,
    control: omd.Control,
    spark: SparkSession,
    background: Callable[..., Future[Any]],
) -> None:
    """A7: the begin fixes the block, a later snapshot shows it, and the commit looks once more."""
    store = Store(room.conn)
    store.set_up(ORDERS)
    room.conn.execute(
        "CREATE TABLE app.decided (nbr integer, amount integer,"
        " omd_insert_module_instance_id bigint);"
        "CREATE FUNCTION app.wait() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END';"
        "CREATE TRIGGER wait AFTER INSERT ON app.decided EXECUTE FUNCTION app.wait();"
        "SELECT pg_advisory_lock(42)"
    )
    room.define(
        {
            "stage": "s",
            "mode": "KEY",
            "keys": [{"column": "nbr"}],
            "ruleset": "PYTHON",
            "links": [{"name": "a", "source": "gdal_shop.orders", "arrival": "acm_id"}],
            "outputs": [{"name": "out", "parameter": "a", "table": "app.decided"}],
            "window": {"by": "CHANGES"},
            "start": {"when": "NEWS"},
        }
    )
    assert control.decision.run("s", spark=spark).instance_id is None
    load(store, 1, orders=[("N", 1, 10)])
    bad = load(store, 2, orders=[("N", 2, 20)])

    def correct() -> None:
        waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(room.conn, f"SELECT EXISTS ({waiting}) AS yes")
        store.undo(bad)
        revert(store)
        load(store, 2, orders=[("N", 2, 21)])
        room.conn.execute("SELECT pg_advisory_unlock(42)")

    # A session of Spark belongs to this thread.
    corrected = background(correct)
    ended = control.decision.run("s", spark=spark)
    corrected.result(timeout=60)
    assert ended.status is Status.ABORTED, ended
    ended = control.decision.run("s", spark=spark)
    assert (ended.status, ended.facts["cycles"]) == (Status.SUCCEEDED, 2), ended
    decided = "SELECT nbr, amount FROM app.decided ORDER BY nbr"
    assert [tuple(row.values()) for row in room.rows(decided)] == [(1, 10), (2, 21)]
    outcome = control.decision.run("s", spark=spark)
    assert (outcome.status, outcome.instance_id) == (Status.SKIPPED, None)
