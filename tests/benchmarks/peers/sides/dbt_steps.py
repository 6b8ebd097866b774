"""A dbt project with one incremental model, run again and again in one process.

Arguments: a folder, the connection as a libpq string, the model (plain or lookback), the seconds to
run. After each run it prints a line: how long the run took. It runs in an environment of its own
with dbt-postgres.
"""

import sys
import time
from pathlib import Path

import psycopg2
from dbt.cli.main import dbtRunner

folder, dsn, kind, seconds = Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
target = psycopg2.extensions.parse_dsn(dsn)

MODELS = {
    # The filter of dbt's documentation of incremental models.
    "plain": """
        {{ config(materialized='incremental') }}
        select id, pos, amount from src.orders
        {% if is_incremental() %}
        where pos > (select coalesce(max(pos), '-infinity') from {{ this }})
        {% endif %}
    """,
    # A key and a span that is read again, longer than any transaction of the writers.
    "lookback": """
        {{ config(materialized='incremental', unique_key='id',
                  incremental_strategy='delete+insert') }}
        select id, pos, amount from src.orders
        {% if is_incremental() %}
        where pos > (select coalesce(max(pos), '-infinity') - interval '15 minutes' from {{ this }})
        {% endif %}
    """,
}

(folder / "models").mkdir(parents=True, exist_ok=True)
(folder / "models" / f"orders_{kind}.sql").write_text(MODELS[kind])
(folder / "dbt_project.yml").write_text(
    "name: peers\nversion: '1.0'\nprofile: peers\nmodel-paths: [models]\n"
    "flags: {send_anonymous_usage_stats: false, partial_parse: true}\n"
)
(folder / "profiles.yml").write_text(
    "peers:\n  target: t\n  outputs:\n    t:\n      type: postgres\n      schema: dbt\n"
    f"      host: {target['host']}\n      port: {target.get('port', 5432)}\n"
    f"      user: {target['user']}\n      password: x\n      dbname: {target['dbname']}\n"
    "      threads: 1\n"
)
runner = dbtRunner()
options = ["--project-dir", str(folder), "--profiles-dir", str(folder), "--quiet"]
until = time.monotonic() + seconds
while True:
    began = time.perf_counter()
    answer = runner.invoke(["run", *options])
    print(f"{time.perf_counter() - began:.4f} {answer.success}", flush=True)
    if time.monotonic() > until:
        break
