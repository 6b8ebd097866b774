-- Trigger function on the two instance tables, for everybody but OMD's own routines: only
-- next_run_indicator may be edited, by hand or through set_next_run_indicator, and each edit leaves
-- a line in the event log. Errors: OM106. Locks: none of its own.

CREATE OR REPLACE FUNCTION omd.guard_instance_edit()
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
    v_id bigint := (v_new ->> (tg_table_name || '_id'))::bigint;
    v_problem text;
BEGIN
    v_problem := CASE
        WHEN v_id = 0 THEN 'the placeholder row 0 is fixed'
        WHEN v_old ->> 'execution_status_code' <> v_new ->> 'execution_status_code'
            THEN 'execution_status_code is read only'
        WHEN v_old ->> 'processing_indicator' <> v_new ->> 'processing_indicator'
            THEN 'processing_indicator is read only'
        WHEN old.next_run_indicator <> new.next_run_indicator
            AND new.next_run_indicator = 'R'
            AND v_old ->> 'rolled_back_by_module_instance_id' IS NOT NULL
            THEN 'the instance was rolled back already'
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM106',
            jsonb_build_object('table', tg_table_name, 'instance_id', v_id, 'problem', v_problem)
        );
    END IF;

    IF old.next_run_indicator <> new.next_run_indicator THEN
        IF v_is_module THEN
            -- The mark is the administrator's now, not a partial restart's.
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
                CASE WHEN v_is_module THEN 'Module Instance' ELSE 'Batch Instance' END,
                v_id,
                old.next_run_indicator,
                new.next_run_indicator,
                session_user,
                CASE
                    WHEN current_setting('role') NOT IN ('none', session_user::text)
                        THEN ' as ' || current_setting('role')
                END
            )
        );
    END IF;
    RETURN NULL;
END
$guard_instance_edit$;

COMMENT ON FUNCTION omd.guard_instance_edit IS
'Trigger: lets an administrator edit next_run_indicator of an instance and writes old value, new '
'value and who to the event log; refuses other edits of the codes. Errors: OM106. Source: '
'DIRECT, "Next Run Indicator".';
REVOKE ALL ON FUNCTION omd.guard_instance_edit FROM PUBLIC;
