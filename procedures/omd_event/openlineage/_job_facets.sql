-- A batch of events is about few Modules, so the text of a view is asked for once.

CREATE OR REPLACE FUNCTION omd_event._job_facets(
    p_module_array integer[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $job_facets$
BEGIN
    RETURN (
        SELECT
            jsonb_object_agg(
                m.module_id,
                jsonb_build_object(
                    'jobType', omd_event._job_type(m.module_kind_code)
                )
                || CASE
                    WHEN q.query IS NULL THEN '{}'
                    ELSE
                        jsonb_build_object(
                            'sql',
                            omd_event._facet(
                                'SQLJobFacet',
                                '1-1-0',
                                jsonb_build_object('query', q.query, 'dialect', 'postgres')
                            )
                        )
                END
                || omd_event._documentation(m.module_description)
            )
        FROM omd.described_module AS m
        LEFT JOIN omd_lineage.described_topic AS t ON m.module_id = t.module_id
        CROSS JOIN LATERAL (
            SELECT
                coalesce(
                    nullif(btrim(m.executable), ''),
                    (
                        SELECT string_agg(pg_get_viewdef(c.oid), E'\n' ORDER BY n.ordinal)
                        FROM unnest(t.transforms) WITH ORDINALITY AS n (name, ordinal)
                        INNER JOIN pg_class AS c
                            ON c.oid = CASE
                                WHEN omd.spell_table(n.name) IS NOT NULL
                                    THEN omd.target_relation(n.name)
                            END
                        WHERE c.relkind IN ('v', 'm')
                    )
                ) AS query
        ) AS q
        WHERE m.module_id = ANY(p_module_array)
    );
END
$job_facets$;

COMMENT ON FUNCTION omd_event._job_facets IS
'Returns an object that has for each of the Modules p_module_array the facets of its job in '
'OpenLineage. Locks: none.';
