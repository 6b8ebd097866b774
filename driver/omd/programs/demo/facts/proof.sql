-- Returns a count and a checksum of the rows of each view of the demo, in the schema that the
-- search_path names: gdal_nyc for what is current, asof_nyc for what was current at the moment
-- that omd_facts.as_of has set. `omd demo facts` compares what it read after each load with
-- what it reads about that moment at the end.

WITH line (table_name, line) AS (
    SELECT
        'carriers',
        concat_ws('|', c.carrier, c.name)
    FROM carriers AS c
    UNION ALL
    SELECT
        'airports',
        concat_ws('|', a.faa, a.name)
    FROM airports AS a
    UNION ALL
    SELECT
        'months',
        m.month::text
    FROM months AS m
    UNION ALL
    SELECT
        'flights',
        concat_ws(
            '|', f.carrier, f.flight, extract(EPOCH FROM f.departs), f.day, f.month, f.origin,
            f.dest, coalesce(f.tailnum, '-'), coalesce(f.dep_delay::text, '-'),
            coalesce(f.arr_delay::text, '-'), f.distance
        )
    FROM flights AS f
)

SELECT
    l.table_name,
    count(*) AS rows,
    sum(('x' || left(md5(l.line), 15))::bit(60)::bigint) AS checksum
FROM line AS l
GROUP BY l.table_name;
