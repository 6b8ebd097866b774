-- Returns what is in the tables of the demo of lineage: rows, distinct keys, rows that do not carry
-- a succeeded run of the Module that loads the table, and a checksum, as in the proof of the other
-- demo. The dashboard is summed by its key first, because each block has added its part.
-- `omd demo lineage` computes the same from the source files.

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
        'feed.flights',
        f.id::text,
        FALSE,
        concat_ws(
            '|', to_char(f.pos AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.day, f.carrier,
            f.flight, f.origin, f.dest, f.sched_dep_time, coalesce(f.dep_delay::text, 'NA')
        )
    FROM feed.flights AS f
    UNION ALL
    SELECT
        'feed.weather',
        w.id::text,
        FALSE,
        concat_ws(
            '|', to_char(w.pos AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), w.origin, w.visib,
            w.precip
        )
    FROM feed.weather AS w
    UNION ALL
    SELECT
        'fact.departure',
        f.id::text,
        NOT EXISTS (
            SELECT FROM succeeded AS s
            WHERE
                s.module_instance_id = f.omd_insert_module_instance_id
                AND s.table_code = 'fact.departure'
        ),
        concat_ws(
            '|', to_char(f.pos AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.day, f.carrier,
            f.flight, f.origin, f.dest, f.sched_dep_time, coalesce(f.dep_delay::text, 'NA'),
            coalesce(f.sky, 'not known')
        )
    FROM fact.departure AS f
    UNION ALL
    SELECT
        'dash.sky_day',
        concat_ws('|', d.day, d.sky),
        bool_or(
            NOT EXISTS (
                SELECT FROM succeeded AS s
                WHERE
                    s.module_instance_id = d.omd_insert_module_instance_id
                    AND s.table_code = 'dash.sky_day'
            )
        ),
        concat_ws(
            '|', d.day, d.sky, sum(d.flights), sum(d.cancelled), sum(d.delay_minutes)
        )
    FROM dash.sky_day AS d
    GROUP BY d.day, d.sky
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
