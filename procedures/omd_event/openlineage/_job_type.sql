-- Modules and Batches say it in one form.

CREATE OR REPLACE FUNCTION omd_event._job_type(
    p_kind text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        omd_event._facet(
            'JobTypeJobFacet',
            '2-0-4',
            jsonb_build_object(
                'processingType', 'BATCH', 'integration', 'OMD', 'jobType', p_kind
            )
        );
END;

COMMENT ON FUNCTION omd_event._job_type IS
'Returns the facet jobType. p_kind: the kind of the Module, or BATCH. Locks: none.';
