"""A SQLMesh project with one incremental model, run again and again in one process.

Arguments: a folder, the connection as a libpq string, the model (plain or lookback), the seconds to
run. After each run it prints a line: how long the run took. It runs in an environment of its own
with sqlmesh and psycopg2.

SQLMesh plans by whole intervals of at least five minutes. The time of the source is therefore 300
times as fast as the clock, and each run is told what time it is there.
"""

import sys
import time
from pathlib import Path

import psycopg2
from sqlmesh import Context
from sqlmesh.core.config import Config, GatewayConfig, ModelDefaultsConfig
from sqlmesh.core.config.connection import PostgresConnectionConfig

folder, dsn, kind, seconds = Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
target = psycopg2.extensions.parse_dsn(dsn)
source = psycopg2.connect(dsn)
source.autocommit = True


def source_time():
    with source.cursor() as cursor:
        cursor.execute("SELECT src.clock()")
        return cursor.fetchone()[0]


def first_time():
    with source.cursor() as cursor:
        cursor.execute("SELECT src.clock_start()")
        return cursor.fetchone()[0]


(folder / "models").mkdir(parents=True, exist_ok=True)
(folder / "models" / f"orders_{kind}.sql").write_text(f"""
MODEL (
    name sqlmesh_peers.orders_{kind},
    kind INCREMENTAL_BY_TIME_RANGE (
        time_column pos{", lookback 2" if kind == "lookback" else ""}
    ),
    cron '*/5 * * * *',
    start '{first_time():%Y-%m-%d}'
);
SELECT id, pos, amount FROM src.orders WHERE pos BETWEEN @start_ts AND @end_ts
""")
connection = PostgresConnectionConfig(
    host=target["host"],
    port=int(target.get("port", 5432)),
    user=target["user"],
    password="x",
    database=target["dbname"],
)
context = Context(
    paths=[str(folder)],
    config=Config(
        # Two projects with one state would remove each other's models.
        gateways={"g": GatewayConfig(connection=connection, state_schema=f"state_{kind}")},
        default_gateway="g",
        model_defaults=ModelDefaultsConfig(dialect="postgres"),
    ),
)
context.plan(auto_apply=True, no_prompts=True, execution_time=source_time(), skip_tests=True)
until = time.monotonic() + seconds
while True:
    began = time.perf_counter()
    context.run(execution_time=source_time(), skip_janitor=True)
    print(f"{time.perf_counter() - began:.4f} True", flush=True)
    if time.monotonic() > until:
        break
