"""A dbt project that loads a Data Vault from the delta tables of TPC-H, run when it is told to.

Arguments: a folder, and the connection as a libpq string. It reads lines, a delivery and its load
date; for each it runs all models and prints a line: the seconds of their execution, and whether it
went well. It runs in an environment of its own with dbt-postgres 1.9.

The models are those that automate-dv generates for PostgreSQL, written out: staging views with MD5
keys and hash diffs, hubs, links, satellites. A record tracking satellite for each hub and link says
which keys were there, and which were deleted. Each has a unique index, as OMD's tables have.
"""

import json
import sys
from pathlib import Path

import psycopg2
from dbt.cli.main import dbtRunner

# Per table: the hub or link of its key, the keys that it names, and its payload.
TABLES = json.loads(Path(__file__).with_name("tpch_tables.json").read_text())

KEY = "NULLIF(UPPER(TRIM(CAST({} AS VARCHAR))), '')"
PART = "COALESCE(NULLIF(UPPER(TRIM(CAST({} AS VARCHAR))), ''), '^^')"


def hashed(columns: list[str]) -> str:
    """Return the MD5 of a key."""
    if len(columns) == 1:
        told = KEY.format(columns[0])
    else:
        parts = ", '||', ".join(PART.format(c) for c in columns)
        told = f"NULLIF(CONCAT({parts}), '{'||'.join(['^^'] * len(columns))}')"
    return f"CAST(DECODE(MD5({told}), 'hex') AS BYTEA)"


def hash_diff(columns: list[str]) -> str:
    """Return the MD5 of a payload."""
    parts = ", '||', ".join(PART.format(c) for c in columns)
    return f"CAST(DECODE(MD5(CONCAT({parts})), 'hex') AS BYTEA)"


def config(columns: list[str]) -> str:
    """Return the configuration of an incremental model."""
    index = {"columns": columns, "unique": True}
    return "{{ config(materialized='incremental', indexes=[" + repr(index) + "]) }}\n"


def anchor(key: str, columns: list[str], source: str) -> str:
    """Return a hub or a link: the keys that are not there yet."""
    names = [key, *columns, "load_date", "record_source"]
    listed = ", ".join(f"rr.{n}" for n in names)
    return f"""{config([key])}
        WITH row_rank_1 AS (
            SELECT DISTINCT ON (rr.{key}) {listed}
            FROM {{{{ ref('{source}') }}}} AS rr
            WHERE rr.{key} IS NOT NULL
            ORDER BY rr.{key}, rr.load_date
        ),
        records_to_insert AS (
            SELECT {", ".join(f"a.{n}" for n in names)}
            FROM row_rank_1 AS a
            {{% if is_incremental() %}}
            LEFT JOIN {{{{ this }}}} AS d ON a.{key} = d.{key}
            WHERE d.{key} IS NULL
            {{% endif %}}
        )
        SELECT * FROM records_to_insert
    """


def satellite(key: str, columns: list[str], source: str) -> str:
    """Return a satellite: the rows whose hash differs from the newest one."""
    names = [key, "hash_diff", *columns, "load_date", "record_source"]
    return f"""{config([key, "load_date"])}
        WITH source_data AS (
            SELECT {", ".join(f"a.{n}" for n in names)}
            FROM {{{{ ref('{source}') }}}} AS a
            WHERE a.{key} IS NOT NULL
        ),
        {{% if is_incremental() %}}
        latest_records AS (
            SELECT a.{key}, a.hash_diff, a.load_date
            FROM (
                SELECT current_records.{key}, current_records.hash_diff,
                    current_records.load_date,
                    RANK() OVER (
                        PARTITION BY current_records.{key}
                        ORDER BY current_records.load_date DESC
                    ) AS rank
                FROM {{{{ this }}}} AS current_records
                JOIN (SELECT DISTINCT source_data.{key} FROM source_data) AS source_records
                    ON current_records.{key} = source_records.{key}
            ) AS a
            WHERE a.rank = 1
        ),
        {{% endif %}}
        records_to_insert AS (
            SELECT DISTINCT {", ".join(f"stage.{n}" for n in names)}
            FROM source_data AS stage
            {{% if is_incremental() %}}
            LEFT JOIN latest_records
                ON latest_records.{key} = stage.{key}
                AND latest_records.hash_diff = stage.hash_diff
            WHERE latest_records.hash_diff IS NULL
            {{% endif %}}
        )
        SELECT * FROM records_to_insert
    """


def tracking(key: str, source: str) -> str:
    """Return a record tracking satellite: which keys a load had, and how."""
    return f"""{config([key, "load_date"])}
        SELECT DISTINCT a.{key}, a.record_ind, a.load_date, a.record_source
        FROM {{{{ ref('{source}') }}}} AS a
        {{% if is_incremental() %}}
        LEFT JOIN {{{{ this }}}} AS d ON a.{key} = d.{key} AND a.load_date = d.load_date
        WHERE d.{key} IS NULL
        {{% endif %}}
    """


def models() -> dict[str, str]:
    """Return all models by name."""
    found = {}
    for name, table in TABLES.items():
        hashes = {f"{name}_hk": table["key"]}
        for parent, columns in table["parents"].items():
            hashes[f"{parent}_hk"] = columns
            hashes[f"{name}_{parent}_hk"] = [*table["key"], *columns]
        computed = ",\n".join(f"{hashed(c)} AS {k}" for k, c in hashes.items())
        found[f"seen_{name}"] = f"""{{{{ config(materialized='view') }}}}
            SELECT d.*, {computed}, {hash_diff(table["payload"])} AS hash_diff,
                d.acm_record_ind AS record_ind,
                CAST('{{{{ var("load_date") }}}}' AS TIMESTAMPTZ) AS load_date,
                CAST('tpch' AS VARCHAR) AS record_source
            FROM wrk_tpch.delta_{name} AS d
            WHERE d.delivery_id = {{{{ var("delivery") }}}}
        """
        found[f"stage_{name}"] = f"""{{{{ config(materialized='view') }}}}
            SELECT * FROM {{{{ ref('seen_{name}') }}}} WHERE record_ind <> 'R'
        """
        in_key = [p for p, columns in table["parents"].items() if set(columns) <= set(table["key"])]
        kind = "link" if in_key else "hub"
        own = [f"{p}_hk" for p in in_key]
        own += [
            c
            for c in table["key"]
            if not any(c in table["parents"][p] for p in in_key) or not in_key
        ]
        found[f"{kind}_{name}"] = anchor(f"{name}_hk", own, f"stage_{name}")
        found[f"sat_{name}"] = satellite(f"{name}_hk", table["payload"], f"stage_{name}")
        found[f"rts_{name}"] = tracking(f"{name}_hk", f"seen_{name}")
        for parent in table["parents"]:
            if parent not in in_key:
                link = f"{name}_{parent}"
                found[f"link_{link}"] = anchor(
                    f"{link}_hk", [f"{name}_hk", f"{parent}_hk"], f"stage_{name}"
                )
                found[f"rts_{link}"] = tracking(f"{link}_hk", f"seen_{name}")
    return found


def main() -> None:
    """Run when it is told to."""
    folder, dsn = Path(sys.argv[1]), sys.argv[2]
    target = psycopg2.extensions.parse_dsn(dsn)
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for name, text in models().items():
        (folder / "models" / f"{name}.sql").write_text(text)
    (folder / "dbt_project.yml").write_text(
        "name: vault\nversion: '1.0'\nprofile: vault\nmodel-paths: [models]\n"
        "flags: {send_anonymous_usage_stats: false, partial_parse: true}\n"
        "vars: {delivery: 0, load_date: '2020-01-01'}\n"
    )
    (folder / "profiles.yml").write_text(
        "vault:\n  target: t\n  outputs:\n    t:\n      type: postgres\n      schema: vault\n"
        f"      host: {target['host']}\n      port: {target.get('port', 5432)}\n"
        f"      user: {target['user']}\n      password: x\n      dbname: {target['dbname']}\n"
        "      threads: 1\n"
    )
    runner = dbtRunner()
    folders = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    for line in sys.stdin:
        delivery, load_date = line.split()
        told = json.dumps({"delivery": int(delivery), "load_date": load_date})
        answer = runner.invoke(["run", "--quiet", "--vars", told, *folders])
        if answer.exception is not None:
            raise answer.exception
        spent = sum(r.execution_time for r in answer.result.results)
        print(f"{spent:.4f} {answer.success}", flush=True)


main()
