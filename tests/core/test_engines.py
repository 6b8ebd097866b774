"""Both engines are the whole of one Protocol, and keep what it promises."""

from __future__ import annotations

import inspect
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd._core.engines import POSTGRES, SPARK, Engine, Engines
from omd._core.snapshots import taking_over
from omd.doors.registry import ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMISED = {
    name: method
    for name, method in inspect.getmembers(Engine, inspect.isfunction)
    if not name.startswith("_")
}
# The database performs these; without a session there are no jobs to mark or to cancel.
IN_THE_DATABASE = {"decide", "snapshot", "step", "window"}
WITHOUT_JOBS = {
    *("active", "attach", "cancel", "context", "hand_on", "interrupted", "release", "renew"),
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from omd.spark import session

    spark = session()
    yield spark
    spark.stop()


@pytest.fixture(params=[POSTGRES, pytest.param(SPARK, marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engines(ENGINES)[request.param]


@pytest.fixture
def session(request: pytest.FixtureRequest, engine: Engine) -> Any:
    return request.getfixturevalue("spark") if engine.name == SPARK else None


def test_the_table_names_both() -> None:
    engines = Engines(ENGINES)
    assert list(engines) == [POSTGRES, SPARK]
    assert [engines[name].name for name in engines] == [POSTGRES, SPARK]
    assert all(Engine in type(engines[name]).mro() for name in engines)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("method", PROMISED)
def test_an_engine_takes_what_the_protocol_says(name: str, method: str) -> None:
    """Whoever calls a method as the Protocol has it calls that of the engine."""
    promised = inspect.signature(PROMISED[method]).parameters.values()
    taken = inspect.signature(getattr(Engines(ENGINES)[name], method))
    given = {p.name: None for p in promised if p.kind is p.KEYWORD_ONLY}
    taken.bind(
        *(None for p in promised if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"), **given
    )


def test_spark_leaves_nothing_to_the_protocol() -> None:
    spark = type(Engines(ENGINES)[SPARK])
    assert {name for name in PROMISED if name not in vars(spark)} == set()


@pytest.mark.parametrize("method", sorted(PROMISED.keys() - IN_THE_DATABASE - WITHOUT_JOBS))
def test_what_the_database_does_not_do_it_refuses(method: str) -> None:
    parameters = inspect.signature(PROMISED[method]).parameters.values()
    nothing = [None for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
    with pytest.raises(omd.errors.CallerError, match="the engine POSTGRES") as caught:
        getattr(Engines(ENGINES)[POSTGRES], method)(*nothing)
    assert caught.value.hint == "The engine SPARK does."


def test_jobs_are_marked_cancelled_and_released_as_often_as_one_likes(
    engine: Engine, session: Any
) -> None:
    assert isinstance(engine.context(session), dict)
    for _ in range(2):
        engine.attach(session, "omd-test")
        engine.cancel(session, "omd-test")
        engine.release(session, "omd-test")
    assert engine.active() is session
    # Only the thread that was interrupted may lose its connection to the session.
    thread = threading.Thread(target=engine.interrupted, args=[session])
    thread.start()
    thread.join()
    assert engine.active() is session


def test_a_snapshot_is_one_moment_until_it_is_closed(engine: Engine, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as writer, psycopg.connect(dsn) as reader:
        writer.execute("CREATE TABLE public.seen AS SELECT 1 AS v")
        held = engine.snapshot(dsn)
        writer.execute("INSERT INTO public.seen VALUES (2)")
        for statement in taking_over(held.id):
            reader.execute(statement)
        assert reader.execute("SELECT v FROM public.seen").fetchall() == [(1,)]
        assert held.is_held()
        held.close()
        assert not held.is_held()


TOPIC = """
CREATE SCHEMA stg; CREATE SCHEMA etl; CREATE SCHEMA fact;
CREATE TABLE stg.a (pos timestamptz, id bigint, v int);
CREATE INDEX ON stg.a (pos, id);
INSERT INTO stg.a SELECT timestamptz '2020-01-01 12:00Z' + i * interval '1 minute', i, i
FROM generate_series(1, 6) AS i;
CREATE TABLE fact.a (id bigint, v int, omd_insert_module_instance_id bigint);
CREATE VIEW etl.a AS
SELECT a.id, a.v FROM stg.a AS a WHERE omd_lineage.in_block(a.pos, a.id);
GRANT USAGE ON SCHEMA stg, etl, fact TO omd_owner;
GRANT ALL ON ALL TABLES IN SCHEMA stg, etl, fact TO omd_owner;
"""


def test_a_step_is_the_same_on_both(engine: Engine, session: Any, dsn: str) -> None:
    transform = "SELECT id, v FROM block" if engine.name == SPARK else "etl.a"
    with omd.connect(dsn, spark=session) as control:
        with control.transaction() as connection:
            connection.execute(TOPIC)
        lineage = control._lineage
        lineage.register_topic("stg.a")
        lineage.register_topic(
            "fact.a",
            depends_on=["stg.a"],
            transforms=[transform],
            engine=engine.name,
            maxstep=4,
        )
        definition = lineage.topic_definition("fact.a")
        ends = [engine.step(control, definition) for _ in range(3)]
        with control.transaction() as connection:
            query = "SELECT id, v, omd_insert_module_instance_id FROM fact.a ORDER BY id"
            rows = connection.execute(query).fetchall()
    # The newest row waits: others may still come at its moment.
    told = [(end.status, end.reason, end.facts.get("rows")) for end in ends]
    assert told == [("S", None, 4), ("S", None, 1), ("C", "NOJOBS", None)]
    assert [(row[0], row[1]) for row in rows] == [(i, i) for i in range(1, 6)]
    assert [row[2] for row in rows] == [ends[i > 4].instance_id for i in range(1, 6)]
