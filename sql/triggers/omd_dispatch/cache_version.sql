-- A worker keeps the configuration that it has read, and compares the versions at each claim.

DO $do$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'task_conf_family_desc', 'task_conf_family_model', 'task_conf_type_desc',
        'task_conf_custom', 'task_conf_dict', 'task_conf_search_allowed', 'task_migration_status'
    ] LOOP
        CALL omd.put_trigger(
            'omd_dispatch.' || v_table,
            'trg_' || v_table || '_cache_version',
            'AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}'
            ' FOR EACH STATEMENT EXECUTE FUNCTION omd_dispatch._raise_cache_version()'
        );
        EXECUTE format(
            'COMMENT ON TRIGGER %I ON omd_dispatch.%I IS %L',
            'trg_' || v_table || '_cache_version', v_table, 'Raises the version of the table.'
        );
    END LOOP;
END
$do$;
