-- Returns the same of the Iceberg table: of the versions of a flight, the newest one counts, and no
-- version may be there twice. An independent reader executes it.

WITH version AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY carrier, flight, departs ORDER BY acm_change_id DESC
        ) AS age,
        count(*) OVER (PARTITION BY carrier, flight, departs, acm_change_id) AS copies
    FROM delay
)

SELECT
    'lake_nyc_night.delay' AS table_name,
    sum(v.copies) AS rows,
    count(*) AS keys,
    count(*) - count(s.module_instance_id) AS strangers,
    sum(cast(conv(
        substr(md5(concat_ws(
            '|', v.carrier, v.flight,
            replace(substr(cast(v.departs AS string), 1, 19), ' ', 'T') || 'Z', v.origin,
            coalesce(cast(v.delay AS string), 'NA')
        )), 1, 15), 16, 10
    ) AS decimal(38, 0))) AS checksum
FROM version AS v
LEFT JOIN succeeded AS s ON v.omd_insert_module_instance_id = s.module_instance_id
WHERE v.age = 1 AND v.acm_record_ind <> 'R'
