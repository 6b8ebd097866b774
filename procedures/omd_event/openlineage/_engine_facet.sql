-- A run on Spark whose session was not known when it began says nothing: the facet needs a version.

CREATE OR REPLACE FUNCTION omd_event._engine_facet(
    p_name text,
    p_engine_version text,
    p_version text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_engine_version IS NULL THEN '{}'
            ELSE
                jsonb_build_object(
                    'processing_engine',
                    omd_event._facet(
                        'ProcessingEngineRunFacet',
                        '1-1-1',
                        jsonb_build_object(
                            'name', p_name,
                            'version', p_engine_version,
                            'openlineageAdapterVersion', coalesce(p_version, 'unknown')
                        )
                    )
                )
        END;
END;

COMMENT ON FUNCTION omd_event._engine_facet IS
'Returns an object with the facet processing_engine; an empty one where p_engine_version is NULL. '
'p_name: of the engine. p_version: that of OMD. Locks: none.';
