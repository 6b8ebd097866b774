"""The checks after a clean run, each as a query that returns the rows that break it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faults.scenario import SOURCES, SUBJECTS, TABLES

if TYPE_CHECKING:
    import psycopg

# The rows that a table lacks and those that it has too many of, duplicates included.
_DIFFERENCE = """
    SELECT 'missing' AS problem, * FROM ({expected} EXCEPT ALL {found}) AS m
    UNION ALL SELECT 'too many', * FROM ({found} EXCEPT ALL {expected}) AS t"""
_EXPECTED = {
    "hstg": "SELECT change_id, customer, region, name, changed_at FROM {s}.source",
    "hub": "SELECT DISTINCT customer FROM {s}.source",
    "link": "SELECT DISTINCT customer, region FROM {s}.source",
    # A satellite has no gap, no overlap and one open row per key: its chain is that of the changes.
    "sat": """
        SELECT customer, name, changed_at,
            lead(changed_at, 1, '9999-12-31') OVER following,
            CASE WHEN lead(changed_at) OVER following IS NULL THEN 'Y' ELSE 'N' END
        FROM {s}.source WINDOW following AS (PARTITION BY customer ORDER BY changed_at)""",
}
_FOUND = {
    "hstg": "SELECT change_id, customer, region, name, changed_at FROM {s}.hstg",
    "hub": "SELECT customer FROM {s}.hub",
    "link": "SELECT customer, region FROM {s}.link",
    "sat": """
        SELECT customer, name, omd_effective_date, omd_expiry_date, omd_current_record_indicator
        FROM {s}.sat""",
}
_STAMP = """
    SELECT t.{column}, mi.execution_status_code, mi.rolled_back_by_module_instance_id,
        m.module_code, count(*) AS row_count
    FROM {table} AS t
    LEFT JOIN omd.module_instance AS mi ON mi.module_instance_id = t.{column}
    LEFT JOIN omd.module AS m USING (module_id)
    WHERE t.{column} IS NOT NULL AND (
        mi.execution_status_code IS DISTINCT FROM 'S' OR m.module_code <> '{module}'
        OR mi.rolled_back_by_module_instance_id IS NOT NULL)
    GROUP BY 1, 2, 3, 4"""
_CONTROL = {
    "no instance is left executing": """
        SELECT 'module' AS kind, module_instance_id AS id FROM omd.module_instance
        WHERE execution_status_code = 'E'
        UNION ALL SELECT 'batch', batch_instance_id FROM omd.batch_instance
        WHERE execution_status_code = 'E'""",
    "every failure has exactly one event, and nothing else has one": """
        SELECT * FROM (
            SELECT 'module' AS kind, mi.module_instance_id AS id,
                mi.execution_status_code AS status,
                (SELECT count(*) FROM omd.event_log AS e
                 WHERE e.module_instance_id = mi.module_instance_id AND e.event_type_code = 2
                ) AS events
            FROM omd.module_instance AS mi WHERE mi.module_instance_id > 0
            UNION ALL
            SELECT 'batch', bi.batch_instance_id, bi.execution_status_code,
                (SELECT count(*) FROM omd.event_log AS e
                 WHERE e.module_instance_id = 0 AND e.event_type_code = 2
                    AND e.batch_instance_id = bi.batch_instance_id)
            FROM omd.batch_instance AS bi WHERE bi.batch_instance_id > 0
        ) AS i
        WHERE events <> CASE status WHEN 'F' THEN 1 ELSE 0 END""",
    "every failure is rolled back": """
        SELECT m.module_code, mi.module_instance_id
        FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
        WHERE mi.execution_status_code = 'F' AND mi.rolled_back_by_module_instance_id IS NULL""",
    "the windows that count follow on from each other": """
        SELECT * FROM (
            SELECT m.module_code, sc.module_instance_id, sc.start_id, sc.end_id,
                lag(sc.end_id, 1, -9223372036854775808)
                    OVER (PARTITION BY sc.module_id ORDER BY sc.module_instance_id) AS previous_end
            FROM omd.source_control AS sc
            INNER JOIN omd.module_instance AS mi USING (module_instance_id)
            INNER JOIN omd.module AS m ON m.module_id = mi.module_id
            WHERE NOT sc.is_taken_back AND mi.execution_status_code = 'S'
        ) AS w
        WHERE start_id <> previous_end""",
    "no two runs of a Module at a time": """
        SELECT * FROM (
            SELECT module_id, module_instance_id, start_datetime,
                lag(end_datetime) OVER (PARTITION BY module_id ORDER BY module_instance_id) AS ended
            FROM omd.module_instance WHERE execution_status_code IN ('E', 'F', 'S')
        ) AS r
        WHERE start_datetime < ended""",
    "no Module runs on in a Batch that has ended": """
        SELECT mi.module_instance_id, mi.batch_instance_id, mi.execution_status_code,
            mi.end_datetime, bi.end_datetime AS batch_ended
        FROM omd.module_instance AS mi INNER JOIN omd.batch_instance AS bi USING (batch_instance_id)
        WHERE mi.batch_instance_id > 0 AND mi.execution_status_code IN ('E', 'S')
            AND coalesce(mi.end_datetime, 'infinity') > bi.end_datetime""",
}


def _queries() -> dict[str, str]:
    queries = dict(_CONTROL)
    for subject in SUBJECTS:
        s = subject.name
        for table, expected in _EXPECTED.items():
            queries[f"{s}.{table} holds every source row once"] = _DIFFERENCE.format(
                expected=expected.format(s=s), found=_FOUND[table].format(s=s)
            )
        for table in TABLES:
            queries[f"each row of {s}.{table} is of a run that counts"] = _STAMP.format(
                table=f"{s}.{table}",
                column="omd_insert_module_instance_id",
                module=subject.module(table),
            )
    queries["shared.region holds every region once"] = _DIFFERENCE.format(
        expected=f"SELECT DISTINCT region FROM ({SOURCES}) AS s",
        found="SELECT region FROM shared.region",
    )
    return queries


QUERIES = _queries()
# A repeated load hides what the rollback has left, so this is checked between the two.
CHAINS = {
    f"{s.name}.sat is a whole chain after a rollback": f"""
        SELECT * FROM (
            SELECT t.*, lead(omd_effective_date, 1, '9999-12-31')
                OVER (PARTITION BY customer ORDER BY omd_effective_date) AS next
            FROM {s.name}.sat AS t) AS t
        WHERE (omd_expiry_date, omd_current_record_indicator)
            <> (next, CASE WHEN next < '9999-12-31' THEN 'N' ELSE 'Y' END)"""
    for s in SUBJECTS
}


def violations(
    conn: psycopg.Connection[dict[str, Any]], queries: dict[str, str], limit: int = 8
) -> str:
    """Return the checks that fail, with the offending rows; it is empty when all hold."""
    told = []
    for name, query in queries.items():
        rows = conn.execute(query).fetchall()
        if rows:
            told.append(f"NOT SO: {name} ({len(rows)} rows)")
            told += [f"    {dict(row)}" for row in rows[:limit]]
    return "\n".join(told)


def history(conn: psycopg.Connection[dict[str, Any]], limit: int = 60) -> str:
    """Return the last Module Instances, which help to explain a failure."""
    rows = conn.execute(
        """SELECT mi.module_instance_id AS id, m.module_code, mi.batch_instance_id AS batch,
            bi.execution_status_code AS batch_es, mi.execution_status_code AS es,
            mi.next_run_indicator AS nri, mi.reason_code AS reason,
            mi.rolled_back_by_module_instance_id AS rolled_back_by,
            mi.rollback_instance_array AS rolled_back,
            sc.start_id, sc.end_id, sc.is_taken_back AS taken_back,
            to_char(mi.start_datetime, 'SS.MS') AS began,
            to_char(mi.end_datetime, 'SS.MS') AS ended,
            (SELECT split_part(e.event_detail, E'\\n', 1) FROM omd.event_log AS e
             WHERE e.module_instance_id = mi.module_instance_id AND e.event_type_code = 2 LIMIT 1
            ) AS failure
        FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
        INNER JOIN omd.batch_instance AS bi USING (batch_instance_id)
        LEFT JOIN omd.source_control AS sc USING (module_instance_id)
        ORDER BY mi.module_instance_id DESC LIMIT %s""",
        [limit],
    ).fetchall()
    return "\n".join(
        " ".join(f"{name}={value}" for name, value in row.items() if value not in (None, []))
        for row in reversed(rows)
    )
