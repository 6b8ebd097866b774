-- Closes a rollback whose statements were executed: marks the instances undone, takes their load
-- windows back and sets the indicator to P.

CREATE OR REPLACE PROCEDURE omd.confirm_rollback(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $confirm_rollback$
DECLARE
    v_array bigint[];
    v_companions bigint[];
    v_batch_instance_id bigint;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, NULL);

    UPDATE omd.module_instance AS mi SET processing_indicator = 'P'
    WHERE mi.module_instance_id = p_module_instance_id
    RETURNING mi.rollback_instance_array, mi.companion_instance_array, mi.batch_instance_id
    INTO v_array, v_companions, v_batch_instance_id;
    PERFORM
        omd._notify_event(
            'Module Instance',
            mi.module_instance_id,
            m.module_code,
            mi.batch_instance_id,
            mi.execution_status_code,
            mi.processing_indicator,
            mi.next_run_indicator,
            NULL,
            clock_timestamp()
        )
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.module_instance_id = p_module_instance_id;

    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = ANY(v_array || v_companions)
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;
    UPDATE omd.module_instance AS mi SET rolled_back_by_module_instance_id = p_module_instance_id
    WHERE mi.module_instance_id = ANY(v_array || v_companions);
    UPDATE omd.source_control AS sc SET is_taken_back = TRUE
    WHERE sc.module_instance_id = ANY(v_array || v_companions);

    PERFORM omd.write_event(
        p_module_instance_id,
        v_batch_instance_id,
        5,
        'ROLLBACK',
        format('rolled back Module Instances %s', array_to_string(v_array, ', '))
        || coalesce('; of companions: ' || array_to_string(v_companions, ', '), '')
    );
END
$confirm_rollback$;

COMMENT ON PROCEDURE omd.confirm_rollback IS
'Tells that the statements of build_rollback_sql were executed: marks the instances undone, '
'takes their load windows back and sets the indicator to P. Accepted from status E with '
'indicator R only. Errors: OM004, OM005, OM101, OM103. Locks: the instances undone. DIRECT, '
'"Rollback Procedures".';
REVOKE ALL ON PROCEDURE omd.confirm_rollback FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.confirm_rollback TO omd_runner;
