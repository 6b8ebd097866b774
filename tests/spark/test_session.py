"""Sessions: `register` and `session` do not change what the owner of a session has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import omd.spark
from omd.spark.sessions import active, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """A session of the user's own, which OMD has not used before."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.conf.set("spark.sql.shuffle.partitions", "7")
    return session


def changed(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in after.items() if before.get(name) != value}


def test_to_register_sets_only_what_spark_asks_for(own: SparkSession) -> None:
    before = own.conf.getAll
    assert register(own) is own
    assert changed(before, own.conf.getAll) == {PUSHDOWN: "true", "spark.omd.registered": "true"}
    assert register(own) is own


def test_a_second_session_beside_the_active_one_can_be_registered(
    spark: SparkSession, own: SparkSession, dsn: str
) -> None:
    assert type(spark).getActiveSession() is not own
    register(own)
    query = {"url": dsn, "query": "SELECT 1 AS i"}
    assert own.read.format("omd").options(**query).load().count() == 1
    assert spark.read.format("omd").options(**query).load().count() == 1


def test_a_session_that_forbids_pushdown_reads_without_it(own: SparkSession, dsn: str) -> None:
    own.conf.set(PUSHDOWN, "false")
    register(own)
    assert own.conf.get(PUSHDOWN) == "false"
    query = "SELECT i FROM generate_series(1, 10) AS i"
    found = own.read.format("omd").option("url", dsn).option("query", query).load().where("i > 7")
    assert "Filter" in found._jdf.queryExecution().optimizedPlan().toString()
    assert sorted(row.i for row in found.collect()) == [8, 9, 10]


def test_a_session_that_exists_is_taken_as_it_is(spark: SparkSession) -> None:
    before = spark.conf.getAll
    assert omd.spark.session("local[1]").sparkContext is spark.sparkContext
    assert changed(before, spark.conf.getAll) == {}
    try:
        omd.spark.session(settings={"spark.sql.shuffle.partitions": "3"})
        assert changed(before, spark.conf.getAll) == {"spark.sql.shuffle.partitions": "3"}
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before["spark.sql.shuffle.partitions"])


def tells_lines(spark: SparkSession) -> bool:
    wrong = spark.range(1).select(F.lit("x") + F.col("id"))
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT") as error:
        wrong.collect()
    return __file__ in str(error.value)


def fail_while_active(spark: SparkSession) -> None:
    with active(spark):
        assert not tells_lines(spark)
        raise ZeroDivisionError


def test_only_while_omd_works_an_error_does_not_name_lines_of_the_program(
    spark: SparkSession,
) -> None:
    assert tells_lines(spark)
    with active(spark):
        assert not tells_lines(spark)
        with pytest.raises(ZeroDivisionError):
            fail_while_active(spark.newSession())
        assert not tells_lines(spark)
    assert tells_lines(spark)
