-- A refused step has one of few reasons (the instance is unknown, has ended, or did not get P), so
-- every routine finds the right error here.

CREATE OR REPLACE FUNCTION omd._raise_batch_instance_state(
    p_batch_instance_id bigint,
    p_action text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_batch_instance_state$
DECLARE
    v_detail jsonb;
BEGIN
    p_batch_instance_id := omd.require_argument('p_batch_instance_id', p_batch_instance_id);

    SELECT jsonb_build_object(
        'instance_type', 'Batch Instance',
        'instance_id', bi.batch_instance_id,
        'code', b.batch_code,
        'action', p_action,
        'execution_status_code', bi.execution_status_code,
        'processing_indicator', bi.processing_indicator,
        'reason_code', bi.reason_code,
        'because', w.why,
        'outcome', concat_ws(': ', bi.execution_status_code, w.why),
        'next_command', format('CALL omd.begin_batch(%L);', b.batch_code)
    ) INTO v_detail
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b USING (batch_id)
    CROSS JOIN LATERAL omd.why_failed(0, bi.batch_instance_id) AS w (why)
    WHERE bi.batch_instance_id = p_batch_instance_id;

    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id)
        );
    ELSIF v_detail ->> 'execution_status_code' <> 'E' THEN
        PERFORM omd.raise_error('OM101', v_detail);
    END IF;
    PERFORM omd.raise_error(
        'OM102',
        v_detail || jsonb_build_object(
            'next_command', format('CALL omd.evaluate_batch(%s);', p_batch_instance_id)
        )
    );
END
$raise_batch_instance_state$;

COMMENT ON FUNCTION omd._raise_batch_instance_state IS
'Raises the error that explains why p_action was refused for a Batch Instance: OM005, OM003, '
'OM101 or OM102. Locks: none.';
