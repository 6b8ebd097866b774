-- V005: the internal routines of process control begin with an underscore. Applied once. Those
-- under their former names stay for a while: a call that began before the upgrade goes on with its
-- former text, which calls them. This comment marks them for sql/cleanup/drop_retired.sql, which
-- drops them when no such call is left.

-- Who ends a step locks its offset first and then its instance; so does the upgrade. What only
-- reads goes on.
DO $do$
BEGIN
    IF to_regclass('omd_lineage.offsets') IS NOT NULL THEN
        LOCK TABLE omd_lineage.offsets IN EXCLUSIVE MODE;
    END IF;
END
$do$;

DO $do$
DECLARE
    v_routine text;
    v_internal CONSTANT text[] := ARRAY[
        'answer_module',
        'batch_rollback_is_pending',
        'bind_session',
        'claim_companions',
        'close_batch_instance',
        'close_module_instance',
        'companion_instances',
        'decide_batch',
        'decide_module',
        'direct_modules_of_batch',
        'execute_batch',
        'fail_batch_instance',
        'fail_members',
        'failed_chains',
        'fill_template',
        'give_up_batch_instances',
        'give_up_module_instances',
        'guard_instance_edit',
        'guard_module_delete',
        'hold_batch_instance',
        'insert_batch_instance',
        'last_real_batch_run',
        'last_real_module_run',
        'log_definition_edit',
        'module_has_newer_failure',
        'notify_event',
        'oldest_needed_batch_instance',
        'oldest_needed_module_instance',
        'open_module_instance',
        'plan_rollback',
        'purge_batch_instances',
        'purge_events',
        'purge_module_instances',
        'quote_column',
        'quote_value',
        'raise_batch_instance_state',
        'raise_module_instance_state',
        'release_session',
        'require_batch',
        'require_batch_instance',
        'require_lease',
        'require_module',
        'require_rollback',
        'resume_begin',
        'rollback_statements',
        'session_lock_key',
        'settle_rollback',
        'with_later_windows'
    ];
BEGIN
    FOREACH v_routine IN ARRAY v_internal LOOP
        IF to_regproc('omd.' || v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd.%I IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;

    -- Each routine's own file grants it again, where it is for a role.
    FOR v_routine IN
        SELECT p.oid::regprocedure FROM pg_proc AS p
        WHERE p.pronamespace = 'omd'::regnamespace
            AND obj_description(p.oid, 'pg_proc') IS DISTINCT FROM 'Retired.'
    LOOP
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM omd_reader, omd_runner, omd_admin', v_routine);
    END LOOP;
END
$do$;
