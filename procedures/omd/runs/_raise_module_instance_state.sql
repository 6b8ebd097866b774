-- A refused step has one of few reasons (the instance is unknown, has ended, or did not get P), so
-- every routine finds the right error here.

CREATE OR REPLACE FUNCTION omd._raise_module_instance_state(
    p_module_instance_id bigint,
    p_action text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_module_instance_state$
DECLARE
    v_detail jsonb;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);

    SELECT jsonb_build_object(
        'instance_type', 'Module Instance',
        'instance_id', mi.module_instance_id,
        'code', m.module_code,
        'action', p_action,
        'execution_status_code', mi.execution_status_code,
        'processing_indicator', mi.processing_indicator,
        'reason_code', mi.reason_code,
        'because', w.why,
        'outcome', concat_ws(': ', mi.execution_status_code, w.why),
        'next_command', format('CALL omd.begin_module(%L);', m.module_code)
    ) INTO v_detail
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    CROSS JOIN LATERAL omd.why_failed(mi.module_instance_id, mi.batch_instance_id) AS w (why)
    WHERE mi.module_instance_id = p_module_instance_id;

    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    ELSIF v_detail ->> 'execution_status_code' <> 'E' THEN
        PERFORM omd.raise_error('OM101', v_detail);
    END IF;
    PERFORM omd.raise_error(
        'OM102',
        v_detail || jsonb_build_object(
            'next_command',
            format(
                CASE v_detail ->> 'processing_indicator'
                    WHEN 'R' THEN 'CALL omd.rollback_module(%s);'
                    ELSE 'CALL omd.evaluate_module(%s);'
                END,
                p_module_instance_id
            )
        )
    );
END
$raise_module_instance_state$;

COMMENT ON FUNCTION omd._raise_module_instance_state IS
'Raises the error that explains why p_action was refused for a Module Instance: OM005, OM004, '
'OM101 or OM102. Locks: none.';
