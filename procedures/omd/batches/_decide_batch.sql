-- This is rule P4 of docs/explanation/process-control.md; evaluate_batch and begin_batch call it.
-- _foresee_begin has the same order without locks and changes, for a standby: a reason that is
-- added here is added there too.

CREATE OR REPLACE FUNCTION omd._decide_batch(
    p_batch_instance_id bigint,
    p_force boolean,
    OUT p_processing_indicator text,
    OUT p_reason text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $decide_batch$
DECLARE
    v_instance omd.batch_instance;
    v_batch omd.batch;
    v_parent record;
    v_parent_batch_id integer;
    v_is_running boolean;
BEGIN
    PERFORM omd.require_read_committed();
    SELECT b.* INTO v_batch
    FROM omd.batch AS b
    WHERE b.batch_id = (
        SELECT bi.batch_id
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id = p_batch_instance_id
    )
    FOR NO KEY UPDATE;
    -- This is a statement of its own, so that it sees what the former holder of the lock has
    -- committed.
    SELECT bi.* INTO v_instance
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = p_batch_instance_id AND bi.batch_id IS NOT NULL
    FOR NO KEY UPDATE;

    IF NOT FOUND OR v_instance.execution_status_code <> 'E' THEN
        PERFORM omd._raise_batch_instance_state(p_batch_instance_id, 'be evaluated');
    ELSIF v_instance.processing_indicator = 'P' THEN
        p_processing_indicator := 'P';
        RETURN;
    END IF;

    -- 1. Another instance came first and is not dead; or the caller may not run, so its children
    -- may not either.
    LOOP
        v_is_running := EXISTS (
            SELECT FROM omd._executing_batch_instances(v_batch.batch_id, p_batch_instance_id)
        );
        EXIT WHEN NOT v_is_running OR omd._give_up_batch_instances(v_batch.batch_id) = '{}';
    END LOOP;
    IF v_is_running THEN
        p_processing_indicator := 'A';
        p_reason := 'RUNNING';
    END IF;

    IF p_reason IS NULL AND v_instance.parent_batch_instance_id <> 0 THEN
        -- FOR SHARE: the parent can't succeed between this look and the commit of this transaction.
        SELECT
            pi.batch_id, pi.execution_status_code, pi.processing_indicator,
            h.batch_id IS NOT NULL AS is_registered, h.inactive_indicator
        INTO v_parent
        FROM omd.batch_instance AS pi
        LEFT JOIN omd.batch_hierarchy AS h
            ON pi.batch_id = h.parent_batch_id AND h.batch_id = v_batch.batch_id
        WHERE pi.batch_instance_id = v_instance.parent_batch_instance_id
        FOR SHARE OF pi;
        v_parent_batch_id := v_parent.batch_id;
        IF v_parent.execution_status_code <> 'E' OR v_parent.processing_indicator <> 'P' THEN
            p_processing_indicator := 'A';
            p_reason := 'BATCH_NOT_PROCEEDING';
        ELSIF NOT v_parent.is_registered THEN
            p_processing_indicator := 'A';
            p_reason := 'NOT_REGISTERED';
        ELSIF v_parent.inactive_indicator = 'Y' THEN
            p_processing_indicator := 'C';
            p_reason := 'INACTIVE';
        END IF;
    END IF;

    -- 2. The Batch is inactive.
    IF p_reason IS NULL AND v_batch.inactive_indicator = 'Y' THEN
        p_processing_indicator := 'C';
        p_reason := 'INACTIVE';
    END IF;

    -- 3. and 4. The Batch need not run again. These rules come before the administrator's skip,
    -- which waits for the next start that would run.
    IF p_reason IS NULL
        AND v_parent_batch_id IS NOT NULL
        AND omd._child_has_succeeded(
            v_batch.batch_id, v_parent_batch_id, v_instance.parent_batch_instance_id
        )
    THEN
        p_processing_indicator := 'C';
        p_reason := 'ALREADY_SUCCEEDED';
    ELSIF p_reason IS NULL
        AND NOT coalesce(p_force, FALSE)
        AND omd._frequency_holds_until(v_batch.batch_id, v_batch.frequency_code) IS NOT NULL
    THEN
        p_processing_indicator := 'C';
        p_reason := 'FREQUENCY';
    END IF;

    -- An administrator asked for one run to be skipped.
    IF p_reason IS NULL THEN
        UPDATE omd.batch_instance AS bi SET next_run_indicator = 'P'
        WHERE bi.batch_id = v_batch.batch_id
            AND bi.next_run_indicator = 'C'
            AND bi.execution_status_code <> 'E';
        IF FOUND THEN
            p_processing_indicator := 'C';
            p_reason := 'DIRECTIVE';
        END IF;
    END IF;

    IF p_reason IS NOT NULL THEN
        PERFORM omd._close_batch_instance(p_batch_instance_id, p_processing_indicator, p_reason);
        RETURN;
    END IF;

    -- 5. and 6. Earlier runs decide what the Modules have to do.
    PERFORM omd._direct_modules_of_batch(v_batch.batch_id);

    -- 7. Otherwise the instance proceeds.
    UPDATE omd.batch_instance AS bi SET
        processing_indicator = 'P',
        has_proceeded = TRUE,
        proceeded_datetime = CASE
            WHEN bi.start_datetime < transaction_timestamp() THEN clock_timestamp()
        END
    WHERE bi.batch_instance_id = p_batch_instance_id;
    -- As in omd._open_module_instance: no instance of this Batch with a lower id executes.
    IF hashint8(p_batch_instance_id) & 127 = 0 THEN
        UPDATE omd.batch AS b SET executing_from = p_batch_instance_id
        WHERE b.batch_id = v_batch.batch_id;
    END IF;
    PERFORM omd._tell_instance('Batch Instance', p_batch_instance_id, clock_timestamp());
    p_processing_indicator := 'P';
END
$decide_batch$;

COMMENT ON FUNCTION omd._decide_batch IS
'Evaluates a Batch Instance by rule P4 and returns P, A or C with the reason; A and C close the '
'instance. With p_force the frequency does not count. A second call on an instance that got P '
'returns P again. Errors: OM003, OM005, OM014, OM101. Locks: the Batch row.';
GRANT EXECUTE ON FUNCTION omd._decide_batch TO omd_runner;
