-- Everybody but OMD's own routines may edit only next_run_indicator, by hand or through
-- set_next_run_indicator, and each edit leaves an event.

CREATE OR REPLACE FUNCTION omd._guard_instance_edit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_instance_edit$
DECLARE
    v_old jsonb := to_jsonb(old);
    v_new jsonb := to_jsonb(new);
    v_is_module boolean := tg_table_name = 'module_instance';
    v_type text := CASE WHEN v_is_module THEN 'Module Instance' ELSE 'Batch Instance' END;
    v_id bigint := (v_new ->> (tg_table_name || '_id'))::bigint;
    v_column text;
    v_problem text;
    v_is_again boolean;
BEGIN
    SELECT o.key INTO v_column
    FROM jsonb_each(v_old) AS o
    WHERE o.key <> 'next_run_indicator' AND o.value IS DISTINCT FROM v_new -> o.key
    ORDER BY o.key NOT IN ('execution_status_code', 'processing_indicator'), o.key
    LIMIT 1;

    v_problem := CASE
        WHEN v_old ->> (tg_table_name || '_id') = '0' THEN 'the placeholder row 0 is fixed'
        WHEN v_column IS NOT NULL THEN format('%s is read-only', v_column)
        WHEN new.next_run_indicator = old.next_run_indicator THEN NULL
        ELSE omd._indicator_problem(
            new.next_run_indicator, new.execution_status_code, new.reason_code, v_is_module,
            (v_new ->> 'rolled_back_by_module_instance_id')::bigint
        )
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM106',
            jsonb_build_object(
                'table', tg_table_name,
                'instance_type', v_type,
                'instance_id', v_id,
                'problem', v_problem
            )
        );
    END IF;

    -- A failure keeps its R when it is rolled back, so who asks for it once more changes nothing
    -- else.
    v_is_again := v_is_module
        AND new.next_run_indicator = 'R'
        AND new.execution_status_code = 'F'
        AND v_new ->> 'rolled_back_by_module_instance_id' IS NOT NULL;
    IF v_is_again THEN
        UPDATE omd.module_instance AS mi SET rolled_back_by_module_instance_id = NULL
        WHERE mi.module_instance_id = v_id;
    ELSIF old.next_run_indicator = new.next_run_indicator THEN
        RETURN NULL;
    END IF;

    IF v_is_module THEN
        -- The mark is now the administrator's, and no longer a partial restart's.
        UPDATE omd.module_instance AS mi SET next_run_batch_id = NULL
        WHERE mi.module_instance_id = v_id AND mi.next_run_batch_id IS NOT NULL;
    END IF;
    PERFORM omd.write_event(
        CASE WHEN v_is_module THEN v_id ELSE 0 END,
        CASE WHEN v_is_module THEN (v_new ->> 'batch_instance_id')::bigint ELSE v_id END,
        4,
        format('%s -> %s', old.next_run_indicator, new.next_run_indicator),
        format(
            'next_run_indicator of %s %s changed from %s to %s by %s%s',
            v_type,
            v_id,
            old.next_run_indicator,
            new.next_run_indicator,
            omd.editor(),
            CASE WHEN v_is_again THEN ', so that it is rolled back once more' END
        )
    );
    PERFORM omd._tell_instance(v_type, v_id, clock_timestamp());
    RETURN NULL;
END
$guard_instance_edit$;

COMMENT ON FUNCTION omd._guard_instance_edit IS
'Trigger: lets an administrator edit next_run_indicator of an instance, writes the old value, the '
'new value and the editor to the event log, and notifies omd_event. R on a failure that was rolled '
'back already lets the next begin roll it back once more. It refuses every other edit, '
'R on what has nothing to roll back, and P on a failure whose rollback is pending. Errors: OM106. '
'Source: DIRECT, "Next Run Indicator".';
