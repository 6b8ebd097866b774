-- A Batch has succeeded only when its members have, so the members are checked under the lock of
-- the Batch Instance.

CREATE OR REPLACE PROCEDURE omd.batch_success(
    p_batch_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $batch_success$
DECLARE
    v_modules bigint[];
    v_batches bigint[];
BEGIN
    PERFORM omd.require_read_committed();
    -- The lock comes first: begin_module locks the same row FOR SHARE, so no Module can begin
    -- during the check.
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'S');

    -- A failure that was retried with success in the same Batch Instance no longer counts.
    SELECT array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) INTO v_modules
    FROM omd.module_instance AS mi
    WHERE mi.batch_instance_id = p_batch_instance_id
        AND mi.batch_instance_id <> 0
        AND (
            mi.execution_status_code = 'E'
            OR (
                mi.execution_status_code = 'F'
                AND NOT EXISTS (
                    SELECT FROM omd.module_instance AS newer
                    WHERE newer.batch_instance_id = p_batch_instance_id
                        AND newer.batch_instance_id <> 0
                        AND newer.module_id = mi.module_id
                        AND newer.module_instance_id > mi.module_instance_id
                        AND newer.execution_status_code IN ('S', 'F')
                )
            )
        );
    SELECT array_agg(bi.batch_instance_id ORDER BY bi.batch_instance_id) INTO v_batches
    FROM omd.batch_instance AS bi
    WHERE bi.parent_batch_instance_id = p_batch_instance_id
        AND bi.parent_batch_instance_id <> 0
        AND (
            bi.execution_status_code = 'E'
            OR (
                bi.execution_status_code = 'F'
                AND NOT EXISTS (
                    SELECT FROM omd.batch_instance AS newer
                    WHERE newer.parent_batch_instance_id = p_batch_instance_id
                        AND newer.parent_batch_instance_id <> 0
                        AND newer.batch_id = bi.batch_id
                        AND newer.batch_instance_id > bi.batch_instance_id
                        AND newer.execution_status_code IN ('S', 'F')
                )
            )
        );

    IF v_modules IS NOT NULL OR v_batches IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM104',
            jsonb_build_object(
                'batch_instance_id', p_batch_instance_id,
                'module_instance_ids', coalesce(v_modules, '{}'),
                'batch_instance_ids', coalesce(v_batches, '{}'),
                'members', concat_ws(
                    ' and ',
                    'Module Instance ' || array_to_string(v_modules, ', '),
                    'Batch Instance ' || array_to_string(v_batches, ', ')
                )
            )
        );
    END IF;

    -- The skips of a partial restart were meant for reruns of a failed Batch, and this one has
    -- succeeded. A skip on a locked instance is removed by the next begin of the Batch.
    UPDATE omd.module_instance AS mi SET next_run_indicator = 'P', next_run_batch_id = NULL
    WHERE mi.module_instance_id IN (
        SELECT skipped.module_instance_id
        FROM omd.module_instance AS skipped
        WHERE skipped.next_run_batch_id = (
            SELECT bi.batch_id
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = p_batch_instance_id
        )
        FOR NO KEY UPDATE SKIP LOCKED
    );
END
$batch_success$;

COMMENT ON PROCEDURE omd.batch_success IS
'For programs: '
'Ends a Batch Instance with status S. It is accepted from E with indicator P, and only when '
'nothing in it executes and the newest real run of each of its Modules and child Batches in it '
'has not failed. A failed run counts no longer once a retry has succeeded. Errors: OM003, OM005, '
'OM014, OM101, OM102, OM104. Locks: the instance row. DIRECT, "Batch Success event". Call again '
'when the answer was lost; OM101 with execution_status_code S says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.batch_success TO omd_runner;
