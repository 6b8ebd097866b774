-- dbt rolls a model that failed back, and a worker can die before its begin: the attempt left
-- neither a row nor an instance. It is recorded afterwards, as a failure that needs no rollback.
-- The instance is inserted as it ends, so nobody sees it execute, and it stands in nobody's way.

CREATE OR REPLACE PROCEDURE omd.record_failure(
    p_module_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_start_datetime timestamptz DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_failure$
DECLARE
    v_module_id integer;
    v_may_run boolean;
    v_now timestamptz;
BEGIN
    PERFORM omd.require_read_committed();
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    SELECT m.module_id INTO v_module_id
    FROM omd.module AS m
    WHERE m.module_code = p_module_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd._require_module(p_module_code);
    END IF;
    -- The Batch can't end before the commit, so its end has counted this failure.
    IF p_batch_instance_id <> 0 THEN
        SELECT bi.execution_status_code = 'E' AND bi.processing_indicator = 'P' INTO v_may_run
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id = p_batch_instance_id
        FOR SHARE;
        IF v_may_run IS NOT TRUE THEN
            PERFORM omd._raise_batch_instance_state(p_batch_instance_id, 'get a failed run');
        END IF;
    END IF;

    v_now := clock_timestamp();
    IF p_start_datetime NOT BETWEEN '0001-01-02 00:00:00+00' AND v_now THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_start_datetime',
                'value', p_start_datetime,
                'expected', format('a moment of the past; it is %s', v_now)
            )
        );
    END IF;
    p_module_instance_id := nextval('omd.module_instance_module_instance_id_seq');
    INSERT INTO omd.module_instance AS mi (
        module_instance_id, module_id, batch_instance_id, start_datetime, end_datetime,
        execution_status_code, processing_indicator, next_run_indicator, has_proceeded,
        rolled_back_by_module_instance_id, newest_instance_id, started_by, execution_context
    )
    OVERRIDING SYSTEM VALUE
    VALUES (
        p_module_instance_id,
        v_module_id,
        coalesce(p_batch_instance_id, 0),
        coalesce(p_start_datetime, v_now),
        v_now,
        'F',
        'P',
        'R',
        TRUE,
        p_module_instance_id,
        p_module_instance_id,
        omd.editor(),
        omd._require_context(p_execution_context)
    );
    PERFORM omd._tell_instance('Module Instance', p_module_instance_id, v_now);
    PERFORM omd.write_event(
        p_module_instance_id,
        coalesce(p_batch_instance_id, 0),
        2,
        p_event_return_code_details,
        omd._who_failed_it(omd.editor(), p_event_detail)
    );
    PERFORM omd.count_failure(
        v_module_id, p_module_instance_id, p_event_detail, p_event_return_code_details
    );
END
$record_failure$;

COMMENT ON PROCEDURE omd.record_failure IS
'For programs: '
'Records an attempt of the Module p_module_code that failed elsewhere and left no row: an instance '
'F P R with one event. It counts as rolled back by itself, so the next begin has nothing to undo, '
'and else as any failure: its Batch can''t succeed before a newer run of the Module has, a partial '
'restart runs the Module again, and its work waits. p_batch_instance_id: the Batch Instance that '
'called, NULL or 0 for none. p_event_detail: the text of the error. p_event_return_code_details: '
'its code, such as an SQLSTATE. p_execution_context: JSON about where it ran. p_start_datetime: '
'when it began; NULL: now. Returns p_module_instance_id. Two calls record two attempts. Errors: '
'OM002, OM003, OM005, OM013, OM014, OM101: the Batch has ended, OM102: the Batch may not proceed. '
'Locks: the Module row; the Batch Instance FOR SHARE; then the state of the Module.';
GRANT EXECUTE ON PROCEDURE omd.record_failure TO omd_runner;
