-- Returns what is in the demo's targets: rows, distinct business keys, rows that do not carry a
-- succeeded run of the Module that loads the table, and a checksum. The checksum is the sum of a
-- hash of each row's values: their order does not matter, and a row that is missing, doubled or
-- changed changes it. `omd demo` computes the same from the source files.

WITH succeeded AS MATERIALIZED (
    SELECT
        l.module_instance_id,
        -- The schema int has a name that SQL quotes.
        array_to_string(parse_ident(m.table_code), '.') AS table_code
    FROM omd_report.module_execution_log AS l
    INNER JOIN omd_report.module_list AS m ON l.module_code = m.module_code
    WHERE l.execution_status_code = 'S'
),

target (table_code, business_key, instance_id, line) AS (
    SELECT
        'stg.airlines',
        s.carrier,
        s.omd_insert_module_instance_id,
        concat_ws('|', s.carrier, s.name)
    FROM stg.airlines AS s
    UNION ALL
    SELECT
        'stg.airports',
        s.faa,
        s.omd_insert_module_instance_id,
        concat_ws('|', s.faa, s.name, s.lat, s.lon, s.alt, s.tz, s.dst, coalesce(s.tzone, 'NA'))
    FROM stg.airports AS s
    UNION ALL
    SELECT
        'stg.planes',
        s.tailnum,
        s.omd_insert_module_instance_id,
        concat_ws(
            '|', s.tailnum, coalesce(s.year::text, 'NA'), s.type, s.manufacturer, s.model,
            s.engines, s.seats, coalesce(s.speed::text, 'NA'), s.engine
        )
    FROM stg.planes AS s
    UNION ALL
    SELECT
        'hstg.flights',
        concat_ws('|', h.year, h.month, h.day, h.carrier, h.flight, h.origin, h.sched_dep_time),
        h.omd_insert_module_instance_id,
        concat_ws(
            '|', h.year, h.month, h.day, coalesce(h.dep_time::text, 'NA'), h.sched_dep_time,
            coalesce(h.dep_delay::text, 'NA'), coalesce(h.arr_time::text, 'NA'), h.sched_arr_time,
            coalesce(h.arr_delay::text, 'NA'), h.carrier, h.flight, coalesce(h.tailnum, 'NA'),
            h.origin, h.dest, coalesce(h.air_time::text, 'NA'), h.distance, h.hour, h.minute,
            to_char(h.time_hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        )
    FROM hstg.flights AS h
    UNION ALL
    SELECT
        'hstg.weather',
        concat_ws('|', h.origin, to_char(h.time_hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24')),
        h.omd_insert_module_instance_id,
        concat_ws(
            '|', h.origin, h.year, h.month, h.day, h.hour, coalesce(h.temp::text, 'NA'),
            coalesce(h.dewp::text, 'NA'), coalesce(h.humid::text, 'NA'),
            coalesce(h.wind_dir::text, 'NA'), coalesce(h.wind_speed::text, 'NA'),
            coalesce(h.wind_gust::text, 'NA'), h.precip, coalesce(h.pressure::text, 'NA'), h.visib,
            to_char(h.time_hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        )
    FROM hstg.weather AS h
    UNION ALL
    SELECT
        'int.hub_carrier',
        h.carrier_code,
        h.omd_insert_module_instance_id,
        concat(h.carrier_code)
    FROM int.hub_carrier AS h
    UNION ALL
    SELECT
        'int.hub_airport',
        h.airport_code,
        h.omd_insert_module_instance_id,
        concat(h.airport_code)
    FROM int.hub_airport AS h
    UNION ALL
    SELECT
        'int.hub_aircraft',
        h.tailnum,
        h.omd_insert_module_instance_id,
        concat(h.tailnum)
    FROM int.hub_aircraft AS h
    UNION ALL
    SELECT
        'int.link_flight',
        concat_ws(
            '|', f.flight_date, f.carrier_code, f.flight_number, f.origin_code, f.sched_dep_time
        ),
        f.omd_insert_module_instance_id,
        concat_ws(
            '|', f.flight_date, f.carrier_code, f.flight_number, f.origin_code, f.sched_dep_time,
            f.destination_code, coalesce(f.tailnum, 'NA'), f.is_cancelled::integer,
            coalesce(f.dep_delay::text, 'NA'), coalesce(f.arr_delay::text, 'NA'), f.distance
        )
    FROM int.link_flight AS f
    UNION ALL
    SELECT
        'int.sat_aircraft',
        concat_ws('|', s.tailnum, s.omd_effective_date),
        s.omd_insert_module_instance_id,
        concat_ws(
            '|', s.tailnum, s.omd_effective_date, s.omd_expiry_date, s.omd_current_record_indicator,
            s.carrier_code, s.base_airport_code
        )
    FROM int.sat_aircraft AS s
    UNION ALL
    SELECT
        'pres.carrier_month',
        concat_ws('|', p.year, p.month, p.carrier_code),
        p.omd_insert_module_instance_id,
        concat_ws(
            '|', p.year, p.month, p.carrier_code, p.carrier_name, p.flights, p.cancelled,
            p.dep_delay_minutes, p.arr_delay_minutes
        )
    FROM pres.carrier_month AS p
)

SELECT
    t.table_code,
    count(*) AS rows,
    count(DISTINCT t.business_key) AS keys,
    count(*) FILTER (WHERE s.module_instance_id IS NULL) AS strangers,
    sum(('x' || substr(md5(t.line), 1, 15))::bit(60)::bigint) AS checksum
FROM target AS t
LEFT JOIN succeeded AS s
    ON t.instance_id = s.module_instance_id AND t.table_code = s.table_code
GROUP BY t.table_code
ORDER BY t.table_code;
