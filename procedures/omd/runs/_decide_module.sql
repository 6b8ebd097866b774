-- This is rule P5 of docs/explanation/process-control.md. The caller holds the Module row. The
-- function executes no rollback: R says that one is pending. _foresee_begin has the same order
-- without locks and changes, for a standby: a reason that is added here is added there too.

CREATE OR REPLACE FUNCTION omd._decide_module(
    p_module_id integer,
    p_inactive_indicator text,
    p_module_instance_id bigint,
    p_batch_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_instance_array bigint[],
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
AS $decide_module$
DECLARE
    v_is_open boolean;
    v_is_running boolean;
    v_batch_id integer;
    v_batch_may_run boolean;
    v_place omd.batch_module;
BEGIN
    p_instance_array := '{}';

    -- Two indexes hold the instances that a rule could need; usually they have none of this Module.
    -- One statement asks both, since each statement costs as much as the look.
    SELECT
        EXISTS (SELECT FROM omd._executing_module_instances(p_module_id, p_module_instance_id)),
        EXISTS (SELECT FROM omd._waiting_module_instances(p_module_id))
    INTO v_is_running, v_is_open;
    v_is_open := v_is_open OR v_is_running;

    -- FOR SHARE: the Batch can't end between this look and the commit of this transaction. If a
    -- rollback may follow, _hold_batch_instance takes the lock after it, since the lease of the
    -- Batch could not be renewed while the lock is held.
    IF p_batch_instance_id <> 0 THEN
        IF v_is_open THEN
            SELECT bi.batch_id, bi.execution_status_code = 'E' AND bi.processing_indicator = 'P'
            INTO v_batch_id, v_batch_may_run
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = p_batch_instance_id;
        ELSE
            SELECT bi.batch_id, bi.execution_status_code = 'E' AND bi.processing_indicator = 'P'
            INTO v_batch_id, v_batch_may_run
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = p_batch_instance_id
            FOR SHARE;
        END IF;
        IF NOT FOUND THEN
            PERFORM omd._require_batch_instance(p_batch_instance_id);
        END IF;
    END IF;

    -- 1. Another instance, in whatever Batch, came first and is not dead. An instance that is not
    -- inserted yet has no id: every executing one came before it.
    IF v_is_open THEN
        LOOP
            EXIT WHEN NOT v_is_running
                OR omd._give_up_module_instances(p_module_id) = '{}';
            v_is_running := EXISTS (
                SELECT FROM omd._executing_module_instances(p_module_id, p_module_instance_id)
            );
        END LOOP;
        IF v_is_running THEN
            p_processing_indicator := 'A';
            p_reason := 'RUNNING';
            RETURN;
        END IF;
    END IF;

    -- 2. and 3. The Batch that calls, the Module's place in it, and the Module itself may forbid
    -- the run.
    IF p_batch_instance_id <> 0 THEN
        SELECT bm.* INTO v_place
        FROM omd.batch_module AS bm
        WHERE bm.batch_id = v_batch_id AND bm.module_id = p_module_id;

        IF NOT v_batch_may_run THEN
            p_processing_indicator := 'A';
            p_reason := 'BATCH_NOT_PROCEEDING';
            RETURN;
        ELSIF v_place.module_id IS NULL THEN
            p_processing_indicator := 'A';
            p_reason := 'NOT_REGISTERED';
            RETURN;
        ELSIF v_place.inactive_indicator = 'Y' THEN
            p_processing_indicator := 'C';
            p_reason := 'INACTIVE_IN_BATCH';
            RETURN;
        END IF;
    END IF;
    IF p_inactive_indicator = 'Y' THEN
        p_processing_indicator := 'C';
        p_reason := 'INACTIVE';
        RETURN;
    END IF;

    -- 4. One run is skipped: at an administrator's wish wherever the Module runs, for a partial
    -- restart only in its own Batch. A failed instance goes back to R, since its rollback is still
    -- pending.
    IF v_is_open THEN
        IF EXISTS (
            SELECT FROM omd.module_instance AS mi
            WHERE mi.module_id = p_module_id AND mi.next_run_indicator = 'C'
        ) THEN
            UPDATE omd.module_instance AS mi SET
                next_run_indicator = CASE
                    WHEN omd._awaits_rollback(
                        mi.execution_status_code,
                        mi.next_run_indicator,
                        mi.rolled_back_by_module_instance_id
                    ) THEN 'R'
                    ELSE 'P'
                END
            WHERE mi.module_id = p_module_id
                AND mi.next_run_indicator = 'C'
                AND mi.next_run_batch_id IS NULL
                AND mi.execution_status_code <> 'E';
            IF FOUND THEN
                p_processing_indicator := 'C';
                p_reason := 'DIRECTIVE';
                RETURN;
            ELSIF EXISTS (
                SELECT FROM omd.module_instance AS mi
                WHERE mi.module_id = p_module_id
                    AND mi.next_run_indicator = 'C'
                    AND mi.next_run_batch_id = v_batch_id
                    AND NOT omd._module_has_newer_failure(p_module_id, mi.module_instance_id)
            ) THEN
                p_processing_indicator := 'C';
                p_reason := 'ALREADY_SUCCEEDED';
                RETURN;
            END IF;
        END IF;
        -- 5. A rollback is pending.
        p_instance_array := omd.pending_rollback(p_module_id);
    END IF;
    -- 6. Otherwise the instance proceeds.
    p_processing_indicator := CASE WHEN p_instance_array = '{}' THEN 'P' ELSE 'R' END;
    IF v_is_open AND p_processing_indicator = 'P' THEN
        PERFORM omd._hold_batch_instance(p_batch_instance_id);
    END IF;
END
$decide_module$;

COMMENT ON FUNCTION omd._decide_module IS
'Decides by rule P5 whether an instance of the Module p_module_id may run now; the caller has '
'locked its row and passes its p_inactive_indicator. It returns P, A, C or R, the instances to '
'undo and the reason. It changes nothing, but consumes directives and declares dead instances '
'dead. p_module_instance_id: the instance, NULL when it is not inserted yet. p_batch_instance_id: '
'the Batch Instance that calls, NULL or 0 for none. Errors: OM003, OM101. Locks: the Batch '
'Instance FOR SHARE, unless the answer is R.';
