-- Returns what is current in the Logical Validation Layer of the demo, which the search_path names:
-- rows, distinct keys, rows that do not carry a succeeded run of the Module that loads the table,
-- and a checksum, as in the proof of the other demos. `omd demo delivery` computes the same from
-- the files that were accepted. In psql: SET search_path = lvl_nyc;

WITH succeeded AS MATERIALIZED (
    SELECT
        l.module_instance_id,
        l.module_code
    FROM omd_report.module_execution_log AS l
    WHERE l.execution_status_code = 'S'
),

target (table_name, audit_id, row_key, line) AS (
    SELECT
        'carriers',
        c.acm_audit_id,
        c.carrier,
        concat_ws('|', c.carrier, c.name)
    FROM carriers AS c
    WHERE c.acm_end_dt = '9999-12-31 00:00:00+00' AND c.acm_record_ind <> 'R'
    UNION ALL
    SELECT
        'airports',
        a.acm_audit_id,
        a.faa,
        concat_ws('|', a.faa, a.name)
    FROM airports AS a
    WHERE a.acm_end_dt = '9999-12-31 00:00:00+00' AND a.acm_record_ind <> 'R'
    UNION ALL
    SELECT
        'months',
        m.acm_audit_id,
        m.month::text,
        m.month::text
    FROM months AS m
    WHERE m.acm_end_dt = '9999-12-31 00:00:00+00' AND m.acm_record_ind <> 'R'
    UNION ALL
    SELECT
        'flights',
        f.acm_audit_id,
        concat_ws('|', f.carrier, f.flight, f.departs),
        concat_ws(
            '|', f.carrier, f.flight,
            to_char(f.departs AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.day, f.origin,
            f.dest, coalesce(f.tailnum, 'NA'), coalesce(f.dep_delay::text, 'NA'),
            coalesce(f.arr_delay::text, 'NA'), f.distance, f.month
        )
    FROM flights AS f
    WHERE f.acm_end_dt = '9999-12-31 00:00:00+00' AND f.acm_record_ind <> 'R'
)

SELECT
    t.table_name,
    count(*) AS rows,
    count(DISTINCT t.row_key) AS keys,
    count(*) FILTER (WHERE s.module_instance_id IS NULL) AS strangers,
    sum(('x' || left(md5(t.line), 15))::bit(60)::bigint) AS checksum
FROM target AS t
LEFT JOIN succeeded AS s
    ON
        t.audit_id = s.module_instance_id
        AND s.module_code = replace(current_schema(), 'lvl_', 'lvl.') || '.' || t.table_name
GROUP BY t.table_name;
