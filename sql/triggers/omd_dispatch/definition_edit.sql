-- What an administrator changes writes an event. OMD's own routines run as omd_owner, and a worker
-- that leaves or dies is no edit.

DO $do$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'task_conf_family_desc', 'task_conf_family_model', 'task_conf_type_desc',
        'task_conf_custom', 'task_conf_dict', 'task_conf_search_allowed', 'task_schedule'
    ] LOOP
        CALL omd.put_trigger(
            'omd_dispatch.' || v_table,
            'trg_' || v_table || '_edit',
            'AFTER INSERT OR UPDATE OR DELETE ON {table}'
            ' FOR EACH ROW EXECUTE FUNCTION omd_dispatch._log_definition_edit()'
        );
        EXECUTE format(
            'COMMENT ON TRIGGER %I ON omd_dispatch.%I IS %L',
            'trg_' || v_table || '_edit', v_table, 'Logs each change.'
        );
    END LOOP;
END
$do$;

CALL omd.put_trigger('omd_dispatch.backend_registration', 'trg_backend_registration_edit', $def$
    AFTER DELETE ON {table}
    FOR EACH ROW
    WHEN (current_user <> 'omd_owner')
    EXECUTE FUNCTION omd_dispatch._log_definition_edit()
$def$);

COMMENT ON TRIGGER trg_backend_registration_edit
ON omd_dispatch.backend_registration IS
'Logs a removal by hand.';
