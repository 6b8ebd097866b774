"""A CSV file of 100,000 rows is delivered in full, of which 1 % differs."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from datetime import datetime, timedelta, timezone

from bench.server import dsn_of
from bench.spark import rows_of, session
from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb
from pyspark.sql import functions as F  # noqa: N812

import omd

ROUNDS = 7
NEEDS = "java"
TYPES = {
    "id": "bigint",
    "quantity": "integer",
    "price": "numeric(12,2)",
    "name": "text(32)",
    "ordered_on": "date",
}
ENTITY = {
    "name": "line",
    "key": ["id"],
    "attributes": [{"name": name, "type": type_} for name, type_ in TYPES.items()],
}


def prepare(conn: Connection, size: float = 1) -> Take:
    folder = tempfile.mkdtemp(prefix="omd-delivery-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    conn.execute(
        "CALL omd_delivery.deploy_model(%s)", (Jsonb({"interface": "file", "entities": [ENTITY]}),)
    )
    conn.execute("CALL omd_delivery.register_tenant('t')")
    conn.execute("CALL omd_delivery.register_agreement('file', 't', 'file')")
    spark = session()
    rows = rows_of(spark, max(100, round(100_000 * size))).select(*TYPES)
    files = [f"{folder}/state{n}" for n in range(2)]
    for n, file in enumerate(files):
        changed = f"quantity + IF(id % 100 = 0, {n}, 0)"
        rows.withColumn("quantity", F.expr(changed)).write.option("header", "true").csv(file)
    days = iter(range(10**6))

    def deliver() -> None:
        day = next(days)
        with omd.connect(dsn_of(conn)) as control:
            receipt = control.delivery.deliver(
                "file",
                entities={"line": files[day % 2]},
                snapshot_datetime=datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(day),
                spark=spark,
            )
        assert receipt.facts["document"]["entities"][0]["rows_delivered"]

    deliver()
    return timed(deliver)
