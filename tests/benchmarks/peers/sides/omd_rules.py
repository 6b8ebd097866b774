"""The rules of lineitem in stage 1 of a delivery, beside bare scans of the file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import lineitem
import psycopg
from psycopg.types.json import Jsonb
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

import omd.spark
from omd.rooms.delivery.source import source_of
from omd.spark.delivery.casts import spark_type, typed
from omd.spark.delivery.plan import Attribute, Plan
from omd.spark.delivery.stage1 import check
from omd.spark.delivery.staging import stage, working_session
from omd.spark.sessions import active

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LENGTHS = {"l_returnflag": 1, "l_linestatus": 1, "l_shipinstruct": 25, "l_shipmode": 10}


def model() -> dict[str, Any]:
    """Return the model of lineitem."""
    attributes = []
    for name, kind in lineitem.TYPES.items():
        type_ = {"string": f"text({LENGTHS.get(name, 44)})"}.get(kind)
        attribute: dict[str, Any] = {
            "name": name,
            "type": type_ or kind.replace("decimal", "numeric"),
            "mandatory": name in lineitem.MANDATORY,
        }
        if name in lineitem.VALUES:
            attribute["values"] = lineitem.VALUES[name]
        attributes.append(attribute)
    checks = {n: f"{n} BETWEEN {low} AND {high:f}" for n, (low, high) in lineitem.BETWEEN.items()}
    checks |= {name: f"length({name}) <= {most}" for name, most in lineitem.LONGEST.items()}
    checks |= {name: f"matches({name}, '{said}')" for name, said in lineitem.MATCHES.items()}
    rules = [
        {"name": f"v_{name}", "type": "value", "attribute": name, "check": said}
        for name, said in checks.items()
    ]
    rules += [
        {"name": name, "type": "record", "check": said} for name, said in lineitem.RECORDS.items()
    ]
    entity = {"name": "lineitem", "key": lineitem.KEY}
    return {
        "interface": "tpch",
        "entities": [entity | {"attributes": attributes, "constraints": rules}],
    }


def agree(dsn: str, document: dict[str, Any]) -> None:
    """Deploy a model of tpch, and register the agreement ``a`` of a tenant."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd_delivery.deploy_model(p_model => %s)", (Jsonb(document),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement('a', 't', 'tpch')")


def plan(dsn: str) -> Plan:
    """Deploy the model, create a delivery and return its plan."""
    agree(dsn, model())
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute("CALL omd_delivery.create_delivery('a')").fetchone()
        assert row is not None
        conn.execute("CALL omd_delivery.report_loaded(%s)", (row[0],))
        conn.execute("CALL omd_delivery.begin_delivery(%s)", (row[0],))
        answer = conn.execute("SELECT omd_delivery.validation_plan(%s, 1)", (row[0],)).fetchone()
        assert answer is not None
        return Plan.read(answer[0])


def same_casts(spark: SparkSession, types: dict[str, str], path: Path | str) -> DataFrame:
    """Return the rows of a CSV file, cast as OMD casts them; types are those of PostgreSQL."""
    texts = ", ".join(f"{name} string" for name in types)
    rows = spark.read.option("header", "true").option("escape", '"').schema(texts).csv(str(path))
    attributes = [
        Attribute(name, kind, n, False, None, None, None, None)
        for n, (name, kind) in enumerate(types.items())
    ]
    return rows.select(
        [typed(a, F.col(a.name), StringType(), a.name).alias(a.name) for a in attributes]
    )


def main() -> None:
    said = plan(os.environ["OMD_DSN"])
    entity = said.entities["lineitem"]
    spark = omd.spark.session(lineitem.MASTER, lineitem.SETTINGS)
    working = working_session(spark)
    reader = spark.read.option("header", "true").option("escape", '"')
    own = ", ".join(f"{a.name} {spark_type(a.type)}" for a in entity.attributes)
    types = {a.name: a.type for a in entity.attributes}

    def stage_1(path: Path) -> int:
        with active(working):
            staged = stage(working, said, source_of(entities={"lineitem": path}))
            checked = check(entity, staged["lineitem"])
            skipped: int = checked.measures()["rows_skipped"]
            checked.release()
        return skipped

    def scan(frame: DataFrame) -> int:
        frame.write.format("noop").mode("overwrite").save()
        return 0

    lineitem.serve(
        spark,
        {
            "stage 1": stage_1,
            "same casts": lambda path: scan(same_casts(spark, types, path)),
            "own casts": lambda path: scan(reader.schema(own).csv(str(path))),
        },
    )


if __name__ == "__main__":
    main()
