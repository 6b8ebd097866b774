-- A facet without a description would not validate, so there is none.

CREATE OR REPLACE FUNCTION omd_event._documentation(
    p_description text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_description ~ '\S'
                THEN
                    jsonb_build_object(
                        'documentation',
                        omd_event._facet(
                            'DocumentationJobFacet',
                            '1-1-0',
                            jsonb_build_object('description', p_description)
                        )
                    )
            ELSE '{}'
        END;
END;

COMMENT ON FUNCTION omd_event._documentation IS
'Returns an object with the facet documentation of a job; an empty one where there is no '
'description. Locks: none.';
