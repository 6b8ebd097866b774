-- Nothing is fetched by these names; that of the producer ends in .invalid, which nobody can own.

CREATE OR REPLACE FUNCTION omd_event._facet(
    p_name text,
    p_version text,
    p_content jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            '_producer', 'https://pgomd.invalid',
            '_schemaURL',
            'https://openlineage.io/spec/facets/' || p_version || '/' || p_name || '.json#/$defs/'
            || p_name
        ) || p_content;
END;

COMMENT ON FUNCTION omd_event._facet IS
'Returns p_content as the facet p_name of OpenLineage, version p_version. Locks: none.';
