-- One statement makes each event of runs and of Batches in the form of the specification.

CREATE OR REPLACE FUNCTION omd_event._run_event(
    p_event_type text,
    p_event_datetime timestamptz,
    p_run_id uuid,
    p_run_facets jsonb,
    p_namespace text,
    p_job_name text,
    p_job_facets jsonb,
    p_inputs jsonb,
    p_outputs jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'eventType', p_event_type,
            'eventTime', omd_event._instant(p_event_datetime),
            'producer', 'https://pgomd.invalid',
            'schemaURL', 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
            'run', jsonb_build_object('runId', p_run_id, 'facets', p_run_facets),
            'job',
            jsonb_build_object(
                'namespace', p_namespace, 'name', p_job_name, 'facets', p_job_facets
            ),
            'inputs', coalesce(p_inputs, '[]'),
            'outputs', coalesce(p_outputs, '[]')
        );
END;

COMMENT ON FUNCTION omd_event._run_event IS
'Returns an event of OpenLineage. p_inputs and p_outputs: arrays of datasets; NULL: none. Locks: '
'none.';
