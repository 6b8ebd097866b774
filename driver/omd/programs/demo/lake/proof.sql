-- Returns what is in the tables of the demo: rows, distinct business keys, rows that do not carry a
-- succeeded run of the Module that loads the table, and a checksum. The checksum is the sum of a
-- hash of each row's values: their order does not matter, and a row that is missing, doubled or
-- changed changes it. Spark and an independent reader execute this same statement, and `omd demo
-- lake` computes the same from the source files.

WITH target (table_code, business_key, instance_id, line) AS (
    SELECT
        'flights',
        concat_ws('|', year, month, day, carrier, flight, origin, sched_dep_time),
        omd_insert_module_instance_id,
        concat_ws(
            '|', year, month, day, coalesce(cast(dep_time AS string), 'NA'), sched_dep_time,
            coalesce(cast(dep_delay AS string), 'NA'), coalesce(cast(arr_time AS string), 'NA'),
            sched_arr_time, coalesce(cast(arr_delay AS string), 'NA'), carrier, flight,
            coalesce(tailnum, 'NA'), origin, dest, coalesce(cast(air_time AS string), 'NA'),
            distance, hour, minute, replace(substr(cast(time_hour AS string), 1, 19), ' ', 'T')
            || 'Z'
        )
    FROM flights
    UNION ALL
    SELECT
        'weather',
        concat_ws('|', origin, time_hour),
        omd_insert_module_instance_id,
        concat_ws(
            '|', origin, year, month, day, hour,
            coalesce(regexp_replace(cast(temp AS string), '[.]0$', ''), 'NA'),
            coalesce(regexp_replace(cast(dewp AS string), '[.]0$', ''), 'NA'),
            coalesce(regexp_replace(cast(humid AS string), '[.]0$', ''), 'NA'),
            coalesce(cast(wind_dir AS string), 'NA'),
            coalesce(regexp_replace(cast(wind_speed AS string), '[.]0$', ''), 'NA'),
            coalesce(regexp_replace(cast(wind_gust AS string), '[.]0$', ''), 'NA'),
            regexp_replace(cast(precip AS string), '[.]0$', ''),
            coalesce(regexp_replace(cast(pressure AS string), '[.]0$', ''), 'NA'),
            regexp_replace(cast(visib AS string), '[.]0$', ''),
            replace(substr(cast(time_hour AS string), 1, 19), ' ', 'T') || 'Z'
        )
    FROM weather
    UNION ALL
    SELECT
        'sat_aircraft',
        concat_ws('|', tailnum, omd_effective_date),
        omd_insert_module_instance_id,
        concat_ws(
            '|', tailnum, omd_effective_date, omd_expiry_date, omd_current_record_indicator,
            carrier_code, base_airport_code
        )
    FROM sat_aircraft
    UNION ALL
    SELECT
        'carrier_month',
        concat_ws('|', year, month, carrier),
        omd_insert_module_instance_id,
        concat_ws(
            '|', year, month, carrier, name, flights, cancelled, dep_delay_minutes,
            arr_delay_minutes
        )
    FROM carrier_month
)

SELECT
    t.table_code,
    count(*) AS all_rows,
    count(DISTINCT t.business_key) AS business_keys,
    count(*) - count(s.module_instance_id) AS strangers,
    sum(cast(conv(substr(md5(t.line), 1, 15), 16, 10) AS decimal(38, 0))) AS checksum
FROM target AS t
LEFT JOIN succeeded AS s
    ON t.instance_id = s.module_instance_id AND t.table_code = s.table_code
GROUP BY t.table_code
ORDER BY t.table_code
