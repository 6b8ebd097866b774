-- A block of changes is read from the views changes_, and what surrounds it as of its end. People
-- name what they mean, the facts; gdal_ means the keys that exist. So a link by gdal_ is one by
-- changes_ with the property present.

CREATE OR REPLACE FUNCTION omd_decision._as_read(
    p_definition jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $as_read$
DECLARE
    v_source_code text;
BEGIN
    IF p_definition #>> '{window,by}' IS DISTINCT FROM 'CHANGES' THEN
        RETURN p_definition;
    END IF;
    v_source_code := omd_decision._block_source(p_definition);
    RETURN p_definition || jsonb_build_object(
        'links',
        (
            SELECT
                jsonb_agg(
                    CASE
                        WHEN l.schema_name !~ '^gdal_' THEN l.item
                        WHEN l.item -> 'buffer' <> 'true'
                            THEN l.item || jsonb_build_object(
                                'source', omd.block_view(l.item ->> 'source'), 'present', TRUE
                            )
                        WHEN omd.source_of(l.item ->> 'source', 'FACTS') = v_source_code
                            THEN l.item || jsonb_build_object(
                                'source',
                                format(
                                    '%I.%I',
                                    regexp_replace(l.schema_name, '^gdal_', 'asof_'),
                                    (parse_ident(l.item ->> 'source'))[2]
                                )
                            )
                        ELSE l.item
                    END
                    ORDER BY l.ordinal
                )
            FROM (
                SELECT
                    i.ordinal,
                    i.item,
                    coalesce((parse_ident(i.item ->> 'source'))[1], '') AS schema_name
                FROM omd.json_items(p_definition -> 'links') AS i
            ) AS l
        )
    );
END
$as_read$;

COMMENT ON FUNCTION omd_decision._as_read IS
'Returns the stage document p_definition with the views that a run reads: where the window goes by '
'changes, of a link by gdal_ the view changes_ (present: without keys that are gone), of a buffer '
'link the view asof_. Errors: those of the room that keeps the changes. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._as_read TO omd_runner;
