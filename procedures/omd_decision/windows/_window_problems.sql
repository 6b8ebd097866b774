-- Rows of facts bear a time from before they came, and a correction the time of what it corrects.
-- So a window over facts goes by changes. Another check finds a source that is missing altogether.

CREATE OR REPLACE FUNCTION omd_decision._window_problems(
    p_definition jsonb
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $window_problems$
DECLARE
    v_start CONSTANT jsonb := p_definition -> 'start';
    v_window CONSTANT jsonb := p_definition -> 'window';
    v_by_changes CONSTANT boolean := v_window ->> 'by' IS NOT DISTINCT FROM 'CHANGES';
BEGIN
    IF jsonb_typeof(v_start) = 'object' THEN
        RETURN QUERY
        SELECT 'start', 'expected: when or every, and one of them'
        WHERE (v_start ? 'when') = (v_start ? 'every')
        UNION ALL
        SELECT
            'start.when',
            'NEWS needs a window: {"by": "CHANGES"} over facts, or a column of the time of writing'
        WHERE v_start ? 'when' AND NOT p_definition ? 'window';
    END IF;
    IF jsonb_typeof(v_window) IS DISTINCT FROM 'object' THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'window.column', 'is missing; expected: a column, or "by": "CHANGES"'
    WHERE NOT v_window ? 'column' AND NOT v_window ? 'by'
    UNION ALL
    SELECT 'window.' || o.property, 'a window by CHANGES has none'
    FROM (VALUES ('column'), ('delay')) AS o (property)
    WHERE v_window ? 'by' AND v_window ? o.property;

    RETURN QUERY
    WITH link AS (
        SELECT
            l.ordinal,
            l.path,
            l.name,
            l.item ->> 'source' AS source,
            parse_ident(l.item ->> 'source') AS parts,
            omd.source_of(l.item ->> 'source', 'FACTS') AS source_code
        FROM omd_decision._named_items(p_definition -> 'links', 'links', 'name') AS l
        WHERE
            l.item -> 'buffer' IS DISTINCT FROM 'true'
            AND (
                NOT l.item ? 'source'
                OR omd.quote_table(l.item ->> 'source', 'POSTGRES') IS NOT NULL
            )
    )

    SELECT
        l.path || '.source',
        CASE
            WHEN l.source IS NULL THEN 'is missing; a window by CHANGES reads a view of facts'
            WHEN l.source_code IS NULL OR l.parts[1] !~ '^(gdal|changes)_'
                THEN format(
                    '%s is no view gdal_ or changes_ of an interface, which a window by CHANGES'
                    ' needs',
                    l.source
                )
            WHEN l.source_code <> f.source_code
                THEN format(
                    '%s is of %s, and link "%s" of %s: a window by CHANGES is of one interface',
                    l.source, l.source_code, f.name, f.source_code
                )
            ELSE format(
                '%s keeps no changes, which a window by CHANGES needs: deploy its model with'
                ' "facts": {"changes": true}',
                l.source
            )
        END
    FROM link AS l
    LEFT JOIN LATERAL (
        SELECT o.name, o.source_code FROM link AS o
        WHERE o.source_code IS NOT NULL
        ORDER BY o.ordinal
        LIMIT 1
    ) AS f ON TRUE
    WHERE v_by_changes
        AND (
            l.source_code IS DISTINCT FROM f.source_code
            OR l.source_code IS NULL
            OR l.parts[1] !~ '^(gdal|changes)_'
            OR omd.source_of(
                format('%I.%I', regexp_replace(l.parts[1], '^gdal_', 'changes_'), l.parts[2]),
                'FACTS'
            ) IS NULL
        )
    UNION ALL
    SELECT
        'window.column',
        format(
            'rows of %s come with an acm_start_dt from before, and are never read: the window goes'
            ' by CHANGES',
            l.source
        )
    FROM link AS l
    WHERE v_window ->> 'column' = 'acm_start_dt' AND omd_decision._shows_facts(l.source);
END
$window_problems$;

COMMENT ON FUNCTION omd_decision._window_problems IS
'Returns what is wrong with start and window of the stage document p_definition, which has its '
'defaults: path and text. Locks: none.';
