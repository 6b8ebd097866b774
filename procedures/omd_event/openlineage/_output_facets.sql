-- Of a run that failed nothing is known about the table, so only a success says it.

CREATE OR REPLACE FUNCTION omd_event._output_facets(
    p_is_emptied boolean,
    p_is_replaced boolean,
    p_table_version text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_is_emptied OR p_is_replaced
                THEN
                    jsonb_build_object(
                        'lifecycleStateChange',
                        omd_event._facet(
                            'LifecycleStateChangeDatasetFacet',
                            '1-0-1',
                            jsonb_build_object(
                                'lifecycleStateChange',
                                CASE WHEN p_is_emptied THEN 'TRUNCATE' ELSE 'OVERWRITE' END
                            )
                        )
                    )
            ELSE '{}'
        END
        || CASE
            WHEN p_table_version IS NULL THEN '{}'
            ELSE
                jsonb_build_object(
                    'version',
                    omd_event._facet(
                        'DatasetVersionDatasetFacet',
                        '1-0-1',
                        jsonb_build_object('datasetVersion', p_table_version)
                    )
                )
        END;
END;

COMMENT ON FUNCTION omd_event._output_facets IS
'Returns an object with the facets lifecycleStateChange and version of a table that a run wrote, '
'as far as they apply. p_is_emptied: it was emptied before. p_is_replaced: its content was '
'replaced. p_table_version: of a table of the lake; NULL: there is none. Locks: none.';
