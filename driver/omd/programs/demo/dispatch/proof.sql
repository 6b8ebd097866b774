-- Returns what is in the tables of the demo of dispatch: rows, distinct keys, rows that do not
-- carry a succeeded run of the Module that loads the table, and a checksum, as in the proof of the
-- other demos. The sums are added up by their key first, because each block has added its part.
-- `omd demo dispatch` computes the same from the source files.

WITH succeeded AS MATERIALIZED (
    SELECT
        l.module_instance_id,
        m.table_code
    FROM omd_report.module_execution_log AS l
    INNER JOIN omd_report.module_list AS m ON l.module_code = m.module_code
    WHERE l.execution_status_code = 'S'
),

target (table_code, row_key, is_strange, line) AS (
    SELECT
        'night.flight',
        concat_ws('|', f.day, f.carrier, f.flight, f.origin, f.sched_dep_time),
        NOT EXISTS (
            SELECT FROM succeeded AS s
            WHERE
                s.module_instance_id = f.omd_insert_module_instance_id
                AND s.table_code = 'night.flight'
        ),
        concat_ws(
            '|', f.day, f.carrier, f.flight, f.origin, f.dest, f.sched_dep_time,
            coalesce(f.dep_delay::text, 'NA')
        )
    FROM night.flight AS f
    UNION ALL
    SELECT
        'night.departure',
        concat_ws('|', d.day, d.carrier, d.flight, d.origin, d.sched_dep_time),
        NOT EXISTS (
            SELECT FROM succeeded AS s
            WHERE
                s.module_instance_id = d.omd_insert_module_instance_id
                AND s.table_code = 'night.departure'
        ),
        concat_ws('|', d.day, d.carrier, d.flight, d.origin, d.sched_dep_time, d.state)
    FROM night.departure AS d
    UNION ALL
    SELECT
        'night.delay_day',
        concat_ws('|', d.day, d.state),
        bool_or(
            NOT EXISTS (
                SELECT FROM succeeded AS s
                WHERE
                    s.module_instance_id = d.omd_insert_module_instance_id
                    AND s.table_code = 'night.delay_day'
            )
        ),
        concat_ws('|', d.day, d.state, sum(d.flights), sum(d.delay_minutes))
    FROM night.delay_day AS d
    GROUP BY d.day, d.state
)

SELECT
    t.table_code,
    count(*) AS rows,
    count(DISTINCT t.row_key) AS keys,
    count(*) FILTER (WHERE t.is_strange) AS strangers,
    sum(('x' || substr(md5(t.line), 1, 15))::bit(60)::bigint) AS checksum
FROM target AS t
GROUP BY t.table_code
ORDER BY t.table_code;
