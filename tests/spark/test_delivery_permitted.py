"""Expressions and queries of a model read staged entities and call built-in functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from omd.errors import lookup
from omd.spark.delivery.checks import compile_checks
from omd.spark.delivery.permitted import require_expression, require_query
from omd.spark.delivery.staging import working_session
from spark.delivery_plans import Desk as Plans
from spark.delivery_plans import stage

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark.desk import Desk

pytestmark = pytest.mark.spark

PERMITTED = [
    "SELECT x, count(*) AS n FROM a GROUP BY x HAVING count(*) > 1 ORDER BY 1 LIMIT 3",
    "WITH q AS (SELECT * FROM a), r AS (SELECT * FROM q) SELECT r.x FROM r JOIN b USING (x)",
    "SELECT c FROM a LATERAL VIEW explode(z) t AS c UNION ALL SELECT x FROM b EXCEPT SELECT 1",
    """SELECT sum(x) OVER (PARTITION BY y ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW),
        transform(z, e -> e + 1), CASE WHEN x > 1 THEN 'a' ELSE cast(y AS string) END, z[0],
        extract(year FROM DATE'2020-01-01') FROM a
        WHERE x IN (SELECT x FROM b) AND EXISTS (SELECT 1 FROM b WHERE b.x = a.x)""",
    "SELECT * FROM (SELECT x, y, w FROM a) PIVOT (sum(w) FOR y IN (1, 2))",
    "SELECT * FROM VALUES (1, 'a') AS t (n, v) JOIN a ON a.x = t.n",
    "SELECT user FROM b",
]
REFUSED = [
    *(
        f"SELECT {text} FROM a"
        for text in (
            "reflect('java.lang.System', 'getenv', 'PATH')",
            "java_method('a', 'b')",
            "try_reflect('a', 'b')",
            "`reflect`('a', 'b')",
            "system.builtin.reflect('a', 'b')",
            "identifier('refl' || 'ect')('a', 'b')",
            "foo(x)",
            "upper(x)",
            "rand()",
            "uuid()",
            "current_date()",
            "current_date",
            "user",
            "input_file_name()",
            "unix_timestamp()",
            "from_xml(x, 'a int')",
            "from_protobuf(x, 'M', '/etc/passwd')",
            "(SELECT max(value) FROM text.`/etc/passwd`)",
            "sum(x) OVER (PARTITION BY reflect('a', 'b'))",
            "count(*) FILTER (WHERE reflect('a', 'b') = 'x')",
            "transform(z, e -> reflect('a', 'b'))",
            "TRANSFORM(x) USING 'cat'",
            ":p",
        )
    ),
    "SELECT * FROM text.`/etc/passwd`",
    "SELECT * FROM secret",
    "SELECT * FROM A",
    "SELECT * FROM global_temp.a",
    "SELECT * FROM identifier('secret')",
    "SELECT * FROM range(10)",
    "WITH q AS (SELECT * FROM csv.`/etc/passwd`) SELECT * FROM q",
    "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
    "SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret), secret",
    "SELECT * FROM a WHERE x IN (SELECT reflect('a', 'b') FROM b)",
    "SELECT * FROM a JOIN b ON reflect('a', 'b') = 'x'",
    "SELECT * FROM a LATERAL VIEW explode(array(reflect('a', 'b'))) t AS c",
    "SELECT * FROM a WINDOW w AS (ORDER BY reflect('a', 'b'))",
    "SELECT * FROM a TABLESAMPLE (10 PERCENT)",
    "VALUES (reflect('a', 'b'))",
    "FROM a |> EXTEND reflect('a', 'b') AS q",
    "SET spark.sql.ansi.enabled = true",
    "CREATE TABLE t AS SELECT 1",
    "INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT 1",
    "BEGIN SELECT 1; END",
    "SHOW TABLES",
]


def test_a_query_reads_entities_and_calls_functions_that_are_permitted(
    spark: SparkSession,
) -> None:
    session = spark.newSession()
    session.range(1).createOrReplaceTempView("secret")
    session.udf.register("foo", lambda x: x)
    session.udf.register("upper", lambda x: x)
    session = working_session(session)
    for name, more in (("a", "1 AS w"), ("b", "'u' AS user")):
        frame = session.sql(f"SELECT 1 AS x, 2 AS y, array(3) AS z, {more}")
        frame.createOrReplaceTempView(name)
    for query in PERMITTED:
        require_query(session, query, "it", ["a", "b"])
        session.sql(query)
    for query in REFUSED:
        with pytest.raises(lookup("OM030"), match="it may not use"):
            require_query(session, query, "it", ["a", "b"])
    require_expression(session, "trim(x) || user", "it", ["x", "user"])
    for text in ("reflect('a', 'b')", "trim(x) || user", "(SELECT max(x) FROM a)"):
        with pytest.raises(lookup("OM030"), match="it may not use"):
            require_expression(session, text, "it", ["x"])


E: dict[str, Any] = {
    "name": "e",
    "key": ["k"],
    "attributes": [{"name": "k", "type": "text"}],
}
REFLECTED = "reflect('java.lang.System', 'getenv', 'PATH')"
SET = {"name": "bad", "type": "set", "query": f"SELECT k FROM e WHERE {REFLECTED} IS NULL"}
D = {"name": "d", "derived": {"from": ["e"], "query": "SELECT value AS k FROM text.`/etc/hosts`"}}
COMPUTED = {"name": "v", "type": "text", "computed": REFLECTED}


def test_a_run_refuses_before_a_row_is_read(
    desk: Desk, dsn: str, spark: SparkSession, tmp_path: Path
) -> None:
    plans = Plans(dsn)
    frame = spark.sql("SELECT raise_error('read') AS k")
    own = {**E, "attributes": [*E["attributes"], COMPUTED]}
    with pytest.raises(lookup("OM030"), match=r"e\.v may not use the function reflect"):
        stage(spark, plans.plan(own), {"e": frame})
    with pytest.raises(lookup("OM030"), match="the query of d may not use text"):
        stage(spark, plans.plan(E, {**E, **D}), {"e": frame})
    plans.conn.close()
    desk.deploy({"interface": "shop", "entities": [{**E, "constraints": [SET]}]})
    refused = desk.deliver(1, entities={"e": desk.texts(["k"], [("1",)])})
    with pytest.raises(lookup("OM030"), match=r"e\.bad may not use the function reflect"):
        refused.result()


def test_a_deployment_refuses_what_spark_can_tell(desk: Desk, spark: SparkSession) -> None:
    own = {**E, "attributes": [*E["attributes"], COMPUTED], "constraints": [SET]}
    document = {"interface": "shop", "entities": [own, {**E, **D}]}
    desk.deploy(document)
    said = desk.rows(
        "SELECT constraint_code, spark_expression, expression FROM omd_report.delivery_constraints"
    )
    constraints: Any = [SimpleNamespace(**row) for row in said]
    with pytest.raises(lookup("OM030")) as caught:
        compile_checks(spark, document, constraints)
    assert {p["path"] for p in caught.value.detail["problems"]} == {
        "entities[0].attributes[1].computed",
        "entities[0].constraints[0].query",
        "entities[1].derived.query",
    }
    # Spark looks for data sources in the active session: it is the one of before.
    assert type(spark).getActiveSession() is spark
