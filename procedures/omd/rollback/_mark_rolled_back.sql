-- The caller has made sure that the rows are undone.

CREATE OR REPLACE FUNCTION omd._mark_rolled_back(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $mark_rolled_back$
DECLARE
    v_array bigint[];
    v_companions bigint[];
    v_batch_instance_id bigint;
    v_is_sent boolean;
BEGIN
    UPDATE omd.module_instance AS mi SET processing_indicator = 'P'
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.execution_status_code = 'E'
        AND mi.processing_indicator = 'R'
    RETURNING
        mi.rollback_instance_array,
        mi.companion_instance_array,
        mi.batch_instance_id,
        omd._tell_instance('Module Instance', p_module_instance_id, clock_timestamp())
    INTO v_array, v_companions, v_batch_instance_id, v_is_sent;
    IF v_is_sent IS NULL THEN
        RETURN;
    END IF;

    IF cardinality(v_array || v_companions) > 1 THEN
        PERFORM FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = ANY(v_array || v_companions)
        ORDER BY mi.module_instance_id
        FOR NO KEY UPDATE;
    END IF;
    UPDATE omd.module_instance AS mi SET rolled_back_by_module_instance_id = p_module_instance_id
    WHERE mi.module_instance_id = ANY(v_array || v_companions)
        AND mi.rolled_back_by_module_instance_id IS NULL;
    UPDATE omd.source_control AS sc SET is_taken_back = TRUE
    WHERE sc.module_instance_id = ANY(v_array || v_companions);
    PERFORM omd.note_undone(v_array || v_companions, p_module_instance_id);

    PERFORM omd.write_event(
        p_module_instance_id,
        v_batch_instance_id,
        5,
        'ROLLBACK',
        format('rolled back Module Instances %s', array_to_string(v_array, ', '))
        || coalesce('; of companions: ' || array_to_string(v_companions, ', '), '')
    );
END
$mark_rolled_back$;

COMMENT ON FUNCTION omd._mark_rolled_back IS
'Marks the instances that the Module Instance had to undo as undone, withdraws their load windows '
'and sets its indicator from R to P. It does nothing to an instance without R. Locks: the '
'instances undone, in id order.';
GRANT EXECUTE ON FUNCTION omd._mark_rolled_back TO omd_runner;
