-- A parser needs the columns of what a view reads, in their order, to know what an unqualified name
-- means.

CREATE OR REPLACE FUNCTION omd_event.transform_views(
    p_topics text[] DEFAULT NULL
)
RETURNS TABLE (
    topic text,
    view_code text,
    view_text text,
    tables jsonb,
    is_known boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $transform_views$
DECLARE
    v_unknown text;
BEGIN
    SELECT n.topic INTO v_unknown
    FROM unnest(p_topics) AS n (topic)
    WHERE NOT EXISTS (SELECT FROM omd_lineage.described_topic AS t WHERE t.topic = n.topic)
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_topics', 'value', v_unknown,
                'expected', 'topics that are made by runs'
            )
        );
    END IF;
    RETURN QUERY
    SELECT
        t.topic,
        omd.spell_table(n.name),
        v.view_text,
        (
            SELECT jsonb_object_agg(r.table_code, r.columns)
            FROM (
                SELECT
                    u.table_code,
                    (
                        SELECT jsonb_agg(a.attname ORDER BY a.attnum)
                        FROM pg_attribute AS a
                        WHERE a.attrelid = omd.target_relation(u.table_code)
                            AND a.attnum > 0
                            AND NOT a.attisdropped
                    ) AS columns
                FROM omd_event._view_reads(c.oid) AS u
                GROUP BY u.table_code
            ) AS r
        ),
        k.view_code IS NOT NULL
    FROM omd_lineage.described_topic AS t
    CROSS JOIN LATERAL unnest(t.transforms) WITH ORDINALITY AS n (name, ordinal)
    INNER JOIN pg_class AS c
        ON c.oid = CASE
            WHEN omd.spell_table(n.name) IS NOT NULL THEN omd.target_relation(n.name)
        END
    CROSS JOIN LATERAL (SELECT pg_get_viewdef(c.oid) AS view_text) AS v
    LEFT JOIN omd_event.view_columns AS k
        ON k.view_code = omd.spell_table(n.name) AND k.view_text = v.view_text
    WHERE c.relkind IN ('v', 'm') AND (p_topics IS NULL OR t.topic = ANY(p_topics))
    ORDER BY t.topic, n.ordinal;
END
$transform_views$;

COMMENT ON FUNCTION omd_event.transform_views IS
'For the driver: '
'Returns the transform views of topics, for a parser: the text of each, and the tables that it '
'names, each with its columns in order. is_known: what was found in this very text is kept. May '
'be NULL: tables. p_topics: only these topics; NULL: all. Errors: OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event.transform_views TO omd_admin;
