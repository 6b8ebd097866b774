-- The schema of the facet is driver/omd/integrations/OmdRunFacet.json.

CREATE OR REPLACE FUNCTION omd_event._run_facet(
    p_content jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'omd_run',
            jsonb_build_object(
                '_producer', 'https://pgomd.invalid',
                '_schemaURL',
                'https://pgomd.invalid/spec/facets/1-0-0/OmdRunFacet.json#/$defs/OmdRunFacet'
            ) || p_content
        );
END;

COMMENT ON FUNCTION omd_event._run_facet IS
'Returns an object with p_content as the facet omd_run. Locks: none.';
