-- A definition and a run look at the links by the same rules, since a table may change between
-- them.

CREATE OR REPLACE FUNCTION omd_decision._link_problems(
    p_definition jsonb
)
RETURNS TABLE (
    path text,
    text text,
    link text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $link_problems$
BEGIN
    RETURN QUERY
    WITH link AS (
        SELECT
            l.name,
            l.path,
            l.ordinal,
            l.item ->> 'arrival' AS arrival,
            l.item ->> 'source' AS source,
            l.item -> 'buffer' IS NOT DISTINCT FROM 'true' AS is_buffer
        FROM omd_decision._named_items(p_definition -> 'links', 'links', 'name') AS l
        WHERE omd.quote_table(l.item ->> 'source', 'POSTGRES') IS NOT NULL
    ),

    need (place, property, column_name, families, words) AS (
        SELECT 0, 'arrival', NULL, ARRAY['integer'], 'an integer'
        UNION ALL
        SELECT
            k.ordinal,
            'keys.' || k.name,
            k.name,
            ARRAY['boolean', 'integer', 'text', 'date', 'timestamp', 'timestamptz', 'uuid'],
            'boolean, an integer, text, varchar, date, timestamp, timestamptz or uuid'
        FROM omd_decision._named_items(p_definition -> 'keys', 'keys', 'column') AS k
        WHERE k.name IS NOT NULL
        UNION ALL
        SELECT
            1000, 'wave', p_definition ->> 'wave', ARRAY['integer', 'text', 'date'],
            'an integer, text, varchar or date'
        WHERE p_definition ? 'wave'
        UNION ALL
        SELECT
            1001, 'window', p_definition #>> '{window,column}', ARRAY['timestamptz'], 'timestamptz'
        WHERE p_definition #>> '{window,column}' IS NOT NULL
    ),

    found AS (
        SELECT
            l.*,
            n.place,
            n.property,
            n.families,
            n.words,
            coalesce(n.column_name, l.arrival) AS column_name,
            c.family,
            c.type_name
        FROM link AS l
        CROSS JOIN need AS n
        LEFT JOIN LATERAL (
            SELECT c.family, c.type_name FROM omd_decision._columns(l.source) AS c
            WHERE c.column_name = coalesce(n.column_name, l.arrival)
        ) AS c ON TRUE
        WHERE
            omd.target_exists(l.source)
            -- A buffer link has an arrival, and may have the wave.
            AND (
                NOT l.is_buffer
                OR n.property = 'arrival'
                OR (n.property = 'wave' AND c.type_name IS NOT NULL)
            )
    )

    SELECT
        l.path || '.source',
        format('there is no table or view %s', l.source),
        l.name
    FROM link AS l
    WHERE NOT EXISTS (
        SELECT FROM pg_class AS c
        WHERE c.oid = omd.target_relation(l.source) AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
    )
    UNION ALL
    SELECT
        f.path || CASE WHEN f.property = 'arrival' THEN '.arrival' ELSE '.source' END,
        CASE
            WHEN f.type_name IS NULL
                THEN format('%s has no column "%s" (%s)', f.source, f.column_name, f.property)
            ELSE format(
                'column "%s" of %s (%s) is %s; expected: %s',
                f.column_name, f.source, f.property, f.type_name, f.words
            )
        END,
        f.name
    FROM found AS f
    WHERE f.column_name IS NOT NULL AND (f.family = ANY(f.families)) IS NOT TRUE
    UNION ALL
    SELECT
        f.path || '.source',
        format(
            'column "%s" of %s (%s) is %s, that of link "%s" is %s',
            f.column_name, f.source, f.property, f.type_name, o.name, o.type_name
        ),
        f.name
    FROM found AS f
    CROSS JOIN LATERAL (
        SELECT o.name, o.type_name, o.family FROM found AS o
        WHERE o.property = f.property AND o.family = ANY(o.families)
        ORDER BY o.ordinal
        LIMIT 1
    ) AS o
    WHERE
        f.place > 0
        AND f.family = ANY(f.families)
        AND f.family <> o.family;
END
$link_problems$;

COMMENT ON FUNCTION omd_decision._link_problems IS
'Returns what the sources of the links of the stage document p_definition lack: path, text and '
'the link. Links without a source are left out. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._link_problems TO omd_reader, omd_runner;
