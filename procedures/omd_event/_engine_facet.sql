-- A run on Spark whose session was not known when it began says nothing: the facet needs a version.

CREATE OR REPLACE FUNCTION omd_event._engine_facet(
    p_engine_code text,
    p_context jsonb,
    p_version text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN e.version IS NULL THEN '{}'
            ELSE
                jsonb_build_object(
                    'processing_engine',
                    omd_event._facet(
                        'ProcessingEngineRunFacet',
                        '1-1-1',
                        jsonb_build_object(
                            'name', e.name,
                            'version', e.version,
                            'openlineageAdapterVersion', coalesce(p_version, 'unknown')
                        )
                    )
                )
        END
    FROM (
        SELECT
            CASE WHEN s.is_spark THEN 'Spark' ELSE 'PostgreSQL' END AS name,
            CASE
                WHEN s.is_spark THEN p_context ->> 'spark'
                ELSE current_setting('server_version')
            END AS version
        FROM (
            SELECT p_engine_code = 'SPARK' OR coalesce(p_context ? 'spark', FALSE) AS is_spark
        ) AS s
    ) AS e;
END;

COMMENT ON FUNCTION omd_event._engine_facet IS
'Returns an object with the facet processing_engine; an empty one where the version is not known. '
'p_engine_code: POSTGRES or SPARK. p_context: the execution context. p_version: that of OMD. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_event._engine_facet FROM PUBLIC;
