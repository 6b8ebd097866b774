-- The success is one statement on one row, since every run passes here. Whether somebody reads what
-- the Module writes stands in the row of the Module that the statement reads for its code. The run
-- draws its order after it has read and before its rows are committed, so it can have read rows of
-- smaller orders only; of runs whose rows are visible before, those that had begun.

CREATE OR REPLACE PROCEDURE omd.module_success(
    p_module_instance_id bigint,
    p_rows_input bigint DEFAULT NULL,
    p_rows_inserted bigint DEFAULT NULL,
    p_rows_updated bigint DEFAULT NULL,
    p_rows_deleted bigint DEFAULT NULL,
    p_rows_discarded bigint DEFAULT NULL,
    p_rows_rejected bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $module_success$
DECLARE
    v_is_sent boolean;
    v_has_state integer;
    v_is_source boolean;
    v_awaits_return boolean;
    v_is_unsettled boolean;
    v_module_id integer;
    v_end_datetime timestamptz;
BEGIN
    IF least(
        p_rows_input, p_rows_inserted, p_rows_updated, p_rows_deleted, p_rows_discarded,
        p_rows_rejected
    ) < 0 THEN
        PERFORM omd.raise_error(
            'OM007',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'rows_input', p_rows_input,
                'rows_inserted', p_rows_inserted,
                'rows_updated', p_rows_updated,
                'rows_deleted', p_rows_deleted,
                'rows_discarded', p_rows_discarded,
                'rows_rejected', p_rows_rejected
            )
        );
    END IF;

    -- An administrator's next_run_indicator stays.
    UPDATE omd.module_instance AS mi SET
        execution_status_code = 'S',
        end_datetime = clock_timestamp(),
        success_order = nextval('omd.success_order'),
        newest_instance_id = pg_sequence_last_value(
            'omd.module_instance_module_instance_id_seq'
        ),
        rows_input = coalesce(p_rows_input, 0),
        rows_inserted = coalesce(p_rows_inserted, 0),
        rows_updated = coalesce(p_rows_updated, 0),
        rows_deleted = coalesce(p_rows_deleted, 0),
        rows_discarded = coalesce(p_rows_discarded, 0),
        rows_rejected = coalesce(p_rows_rejected, 0)
    FROM omd.module AS m
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.module_id = m.module_id
        AND mi.execution_status_code = 'E'
        AND mi.processing_indicator = 'P'
    RETURNING
        omd._tell_instance('Module Instance', mi.module_instance_id, mi.end_datetime),
        (SELECT s.module_id FROM omd.module_state AS s WHERE s.module_id = mi.module_id),
        m.is_source,
        m.awaits_return,
        (SELECT TRUE FROM omd.undone_run AS u WHERE u.undone_upto IS NULL LIMIT 1),
        mi.module_id,
        mi.end_datetime
    INTO
        v_is_sent, v_has_state, v_is_source, v_awaits_return, v_is_unsettled, v_module_id,
        v_end_datetime;
    IF v_is_sent IS NULL THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'succeed');
    END IF;
    IF v_has_state IS NOT NULL THEN
        PERFORM omd.clear_failures(v_has_state);
    END IF;
    IF v_awaits_return THEN
        PERFORM omd._fill_returns(v_module_id, p_module_instance_id);
    END IF;
    -- A run that gave no numbers may have written, so it counts. One row is moved, whatever the run
    -- has written, so two ends never wait for each other in a circle.
    IF v_is_source
        AND coalesce(greatest(p_rows_inserted, p_rows_updated, p_rows_deleted), 1) <> 0
    THEN
        PERFORM omd.move_source('runs.' || v_module_id, v_end_datetime, p_module_instance_id);
    END IF;
    IF v_is_unsettled THEN
        PERFORM omd._settle_undone();
    END IF;
END
$module_success$;

COMMENT ON PROCEDURE omd.module_success IS
'For programs: '
'Ends a Module Instance with status S. The row counts are numbers of rows; NULL counts as 0. It '
'is accepted from E with indicator P only, so a run that was declared dead can''t report success '
'later. The failures of the Module in a row are forgotten. Errors: OM004, OM005, OM007, OM101, '
'OM102. Locks: the instance row; then the state of the Module; then the position of its runs, '
'where somebody reads them. DIRECT, "Module Success event". Call again when the answer was lost; '
'OM101 with execution_status_code S says '
'that it is done.';
GRANT EXECUTE ON PROCEDURE omd.module_success TO omd_runner;
