-- An instance that was created before is evaluated here, without its rollback: the caller executes
-- that with its own rights.

CREATE OR REPLACE FUNCTION omd._answer_module(
    p_module_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_instance_array bigint[],
    OUT p_reason text,
    OUT p_platform_code text,
    OUT p_dead_module_id integer
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $answer_module$
DECLARE
    v_module omd.module;
    v_instance omd.module_instance;
BEGIN
    PERFORM omd.require_read_committed();
    SELECT m.* INTO v_module
    FROM omd.module AS m
    WHERE m.module_id = (
        SELECT mi.module_id FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id
    )
    FOR NO KEY UPDATE;
    -- This is a statement of its own, so that it sees what the former holder of the lock has
    -- committed.
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL
    FOR NO KEY UPDATE;

    IF NOT FOUND OR v_instance.execution_status_code <> 'E' THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'be evaluated');
    END IF;
    p_platform_code := v_module.platform_code;
    p_dead_module_id := (
        SELECT d.module_id FROM omd.dead_run AS d WHERE d.module_id = v_module.module_id LIMIT 1
    );
    p_processing_indicator := v_instance.processing_indicator;
    p_instance_array := v_instance.rollback_instance_array;
    IF p_processing_indicator <> 'A' THEN
        RETURN;
    END IF;

    SELECT d.p_processing_indicator, d.p_instance_array, d.p_reason
    INTO p_processing_indicator, p_instance_array, p_reason
    FROM omd._decide_module(
        v_module.module_id, v_module.inactive_indicator, p_module_instance_id,
        v_instance.batch_instance_id
    ) AS d;
    IF p_reason IS NULL THEN
        UPDATE omd.module_instance AS mi SET
            processing_indicator = p_processing_indicator,
            rollback_instance_array = p_instance_array,
            has_proceeded = TRUE,
            proceeded_datetime = CASE
                WHEN mi.start_datetime < transaction_timestamp() THEN clock_timestamp()
            END
        WHERE mi.module_instance_id = p_module_instance_id
        RETURNING mi.next_run_indicator INTO v_instance.next_run_indicator;
        -- A rollback that follows in this transaction sends the notification of its P.
        IF p_processing_indicator <> 'R' OR p_platform_code <> 'POSTGRES' THEN
            PERFORM omd._tell_instance('Module Instance', p_module_instance_id, clock_timestamp());
        END IF;
    ELSE
        PERFORM omd._close_module_instance(p_module_instance_id, p_processing_indicator, p_reason);
    END IF;
END
$answer_module$;

COMMENT ON FUNCTION omd._answer_module IS
'Evaluates a Module Instance, records the answer and returns it: P, A, C, or R with the instances '
'to undo; the reason; the platform of the target; and the Module, if runs of it were declared '
'dead before: _look_for_left_rows. A and C close the instance. A second call '
'on an instance that got P or R returns the same answer. Errors: OM004, OM005, OM014, OM101. '
'Locks: the Module row.';
GRANT EXECUTE ON FUNCTION omd._answer_module TO omd_runner;
