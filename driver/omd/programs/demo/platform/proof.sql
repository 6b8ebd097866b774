-- Returns what is in the tables of the demo in PostgreSQL: rows, distinct keys, rows that do not
-- carry a succeeded run, and a checksum, as in the proof of the other demos. `omd demo platform`
-- computes the same from the files that were accepted.

WITH decision AS (
    -- Each version of a flight is decided once; the newest decision counts.
    SELECT
        c.*,
        row_number() OVER (
            PARTITION BY c.carrier, c.flight, c.departs ORDER BY c.acm_change_id DESC
        ) AS age
    FROM mart_nyc_night.care AS c
),

succeeded AS MATERIALIZED (
    SELECT l.module_instance_id
    FROM omd_report.module_execution_log AS l
    WHERE l.execution_status_code = 'S'
),

target (table_name, audit_id, row_key, line) AS (
    SELECT
        'lvl_nyc_night.flights',
        f.acm_audit_id,
        concat_ws('|', f.carrier, f.flight, f.departs),
        concat_ws(
            '|', f.carrier, f.flight,
            to_char(f.departs AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.day, f.origin,
            f.dest, coalesce(f.delay::text, 'NA'), f.distance
        )
    FROM lvl_nyc_night.flights AS f
    WHERE f.acm_end_dt = '9999-12-31 00:00:00+00' AND f.acm_record_ind <> 'R'
    UNION ALL
    SELECT
        'gdal_nyc_night.flights',
        f.acm_audit_id,
        concat_ws('|', f.carrier, f.flight, f.departs),
        concat_ws(
            '|', f.carrier, f.flight,
            to_char(f.departs AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.day, f.origin,
            f.dest, coalesce(f.delay::text, 'NA'), f.distance
        )
    FROM gdal_nyc_night.flights AS f
    UNION ALL
    SELECT
        'mart_nyc_night.departure',
        d.omd_insert_module_instance_id,
        concat_ws('|', d.carrier, d.flight, d.departs),
        concat_ws(
            '|', d.carrier, d.flight,
            to_char(d.departs AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), d.day, d.origin,
            d.dest, coalesce(d.delay::text, 'NA'), d.distance
        )
    FROM mart_nyc_night.departure AS d
    WHERE d.acm_record_ind <> 'R'
    UNION ALL
    SELECT
        'mart_nyc_night.care',
        c.omd_insert_module_instance_id,
        concat_ws('|', c.carrier, c.flight, c.departs),
        concat_ws(
            '|', c.carrier, c.flight,
            to_char(c.departs AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), c.care, c.dollars
        )
    FROM decision AS c
    WHERE
        c.age = 1 AND c.care <> 'taken back'
        OR EXISTS (
            SELECT FROM decision AS o
            WHERE
                (o.carrier, o.flight, o.departs) = (c.carrier, c.flight, c.departs)
                AND o.acm_change_id = c.acm_change_id AND o.age < c.age
        )
)

SELECT
    t.table_name,
    count(*) AS rows,
    count(DISTINCT t.row_key) AS keys,
    count(*) FILTER (WHERE s.module_instance_id IS NULL) AS strangers,
    sum(('x' || left(md5(t.line), 15))::bit(60)::bigint) AS checksum
FROM target AS t
LEFT JOIN succeeded AS s ON t.audit_id = s.module_instance_id
GROUP BY t.table_name;
