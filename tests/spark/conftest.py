"""One Spark session for all tests of this folder; a Module with a target table per test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

import omd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from spark.desk import Desk

SECRET = "hunter2-do-not-show"
AUDIT = (
    "omd_insert_module_instance_id bigint NOT NULL,"
    "omd_insert_datetime timestamptz NOT NULL,"
    "omd_record_source text NOT NULL"
)


@pytest.fixture(scope="session")
def event_log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of the event log that Spark's user interface and history show."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark(event_log: Any) -> Iterator[SparkSession]:
    import omd.spark  # not at the top: the folder is collected where Spark is not installed

    session = omd.spark.session(
        "local[2]",
        {
            "spark.log.level": "OFF",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": event_log.as_uri(),
            "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        },
    )
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _of_the_case(request: pytest.FixtureRequest) -> None:
    """Make the shared session the active one, where Spark looks for data sources.

    A case before may have worked in a session of its own.
    """
    if "spark" in request.fixturenames:
        request.getfixturevalue("spark").createDataFrame([], "nothing int")


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    # The test server needs no password, so this one only serves to be searched for.
    with omd.connect(make_conninfo(dsn, password=SECRET)) as control:
        yield control


@pytest.fixture
def target(conn: Any, control: omd.Control) -> Callable[..., str]:
    """A function that makes the table t.target with these columns and registers the Module m_t."""

    def make(columns: str, **registered: Any) -> str:
        conn.execute("CREATE SCHEMA IF NOT EXISTS t")
        conn.execute(f"CREATE TABLE t.target ({columns}, {AUDIT})")
        control.calls.omd.register_module(
            "m_t",
            **{"area_code": "HSTG", "table_type_code": "HSTG", **registered},
            table_code="t.target",
            platform_code="POSTGRES",
        )
        return "m_t"

    return make


@pytest.fixture
def desk(conn: Any, control: omd.Control, spark: SparkSession) -> Desk:
    """Deliveries that Spark runs."""
    from spark.desk import Desk

    return Desk(conn, control, spark)
