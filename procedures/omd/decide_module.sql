-- Evaluates a Module Instance, by the rules of process control section 5, in their order. It
-- executes no rollback: it answers R, the array, and where the target lives. The single place of
-- these rules. Errors: OM004, OM005, OM101. Locks: the Module row, the Batch Instance FOR SHARE,
-- then instances of the Module whose directive is consumed.

CREATE OR REPLACE FUNCTION omd.decide_module(
    p_module_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_instance_array bigint[],
    OUT p_reason text,
    OUT p_platform_code text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $decide_module$
DECLARE
    v_instance omd.module_instance;
    v_module omd.module;
    v_batch_id integer;
    v_batch_may_run boolean;
    v_place omd.batch_module;
BEGIN
    p_instance_array := '{}';

    SELECT m.* INTO v_module
    FROM omd.module AS m
    WHERE m.module_id = (
        SELECT mi.module_id FROM omd.module_instance AS mi WHERE mi.module_instance_id = p_module_instance_id
    )
    FOR NO KEY UPDATE;
    -- A statement of its own, so that it sees what the holder of the lock before us has committed.
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL;

    IF NOT FOUND OR v_instance.execution_status_code <> 'E' THEN
        PERFORM omd.raise_module_instance_state(p_module_instance_id, 'be evaluated');
    END IF;
    p_platform_code := v_module.platform_code;
    IF v_instance.processing_indicator <> 'A' THEN
        p_processing_indicator := v_instance.processing_indicator;
        p_instance_array := v_instance.rollback_instance_array;
        RETURN;
    END IF;

    -- 1. Another instance came first, from whatever Batch.
    IF EXISTS (
        SELECT FROM omd.module_instance AS o
        WHERE o.module_id = v_module.module_id
            AND o.execution_status_code = 'E'
            AND o.module_instance_id < p_module_instance_id
    ) THEN
        p_processing_indicator := 'A';
        p_reason := 'RUNNING';
    END IF;

    -- 2. and 3. The Batch that calls, the Module's place in it, the Module itself.
    IF p_reason IS NULL AND v_instance.batch_instance_id <> 0 THEN
        -- FOR SHARE: the Batch can't succeed between this look and our commit.
        SELECT bi.batch_id, bi.execution_status_code = 'E' AND bi.processing_indicator = 'P'
        INTO v_batch_id, v_batch_may_run
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id = v_instance.batch_instance_id
        FOR SHARE;
        SELECT bm.* INTO v_place
        FROM omd.batch_module AS bm
        WHERE bm.batch_id = v_batch_id AND bm.module_id = v_module.module_id;

        IF NOT v_batch_may_run THEN
            p_processing_indicator := 'A';
            p_reason := 'BATCH_NOT_PROCEEDING';
        ELSIF v_place.module_id IS NULL THEN
            p_processing_indicator := 'A';
            p_reason := 'NOT_REGISTERED';
        ELSIF v_place.inactive_indicator = 'Y' THEN
            p_processing_indicator := 'C';
            p_reason := 'INACTIVE_IN_BATCH';
        END IF;
    END IF;
    IF p_reason IS NULL AND v_module.inactive_indicator = 'Y' THEN
        p_processing_indicator := 'C';
        p_reason := 'INACTIVE';
    END IF;

    -- 4. Skip once: an administrator's wish from anywhere, a partial restart's only in its own
    --    Batch. A failed    instance goes back to R: its rollback is still due.
    IF p_reason IS NULL THEN
        UPDATE omd.module_instance AS mi SET
            next_run_indicator = CASE
                WHEN mi.execution_status_code = 'F' AND mi.rolled_back_by_module_instance_id IS NULL THEN 'R'
                ELSE 'P'
            END
        WHERE mi.module_id = v_module.module_id
            AND mi.next_run_indicator = 'C'
            AND mi.next_run_batch_id IS NULL
            AND mi.execution_status_code <> 'E';
        IF FOUND THEN
            p_processing_indicator := 'C';
            p_reason := 'DIRECTIVE';
        ELSIF EXISTS (
            SELECT FROM omd.module_instance AS mi
            WHERE mi.module_id = v_module.module_id
                AND mi.next_run_indicator = 'C'
                AND mi.next_run_batch_id = v_batch_id
                AND NOT omd.module_has_newer_failure(v_module.module_id, mi.module_instance_id)
        ) THEN
            p_processing_indicator := 'C';
            p_reason := 'ALREADY_SUCCEEDED';
        END IF;
    END IF;

    IF p_reason IS NOT NULL THEN
        PERFORM omd.close_module_instance(p_module_instance_id, p_processing_indicator, p_reason);
        RETURN;
    END IF;

    -- 5. A rollback that waits; 6. else proceed.
    p_instance_array := omd.pending_rollback(v_module.module_id);
    p_processing_indicator := CASE WHEN p_instance_array = '{}' THEN 'P' ELSE 'R' END;
    UPDATE omd.module_instance AS mi SET
        processing_indicator = p_processing_indicator,
        rollback_instance_array = p_instance_array
    WHERE mi.module_instance_id = p_module_instance_id;
END
$decide_module$;

COMMENT ON FUNCTION omd.decide_module IS
'Evaluates a Module Instance by the rules of section 5 and answers P, A, C or R with the array '
'to undo, the reason, and the platform of the target; A and C close the instance. A second call '
'on an instance told P or R repeats the answer. Errors: OM004, OM005, OM101. Locks: the Module '
'row, the Batch Instance FOR SHARE.';
REVOKE ALL ON FUNCTION omd.decide_module FROM PUBLIC;
