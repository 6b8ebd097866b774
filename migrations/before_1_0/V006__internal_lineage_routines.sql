-- V006: the internal routines of lineage begin with an underscore, as those of process control do;
-- those under their former names stay as long as a call from before the upgrade executes. Applied
-- once.

DO $do$
DECLARE
    v_routine text;
    v_internal CONSTANT text[] := ARRAY[
        'add_counts',
        'advance_offset',
        'check_topic',
        'claim_topic',
        'holder_lives',
        'horizon',
        'in_run_window',
        'insert_transform',
        'log_offset_edit',
        'log_topic_edit',
        'may_be_swapped',
        'move_source',
        'newest_row',
        'next_block',
        'normal_run_window',
        'note_no_jobs',
        'notify_topic',
        'oldest_writer',
        'probe_source',
        'process_block',
        'raise_fenced',
        'register_topic_module',
        'reload_table',
        'require_no_cycle',
        'require_topic',
        'require_unplanned',
        'resolve_dependencies',
        'safe_position',
        'save_topic',
        'see_position',
        'start_step',
        'topic_parts',
        'uncounted_instances',
        'write_block',
        'write_state'
    ];
BEGIN
    FOREACH v_routine IN ARRAY v_internal LOOP
        IF to_regproc('omd_lineage.' || v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_lineage.%I IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;

    -- Each routine's own file grants it again, where it is for a role.
    FOR v_routine IN
        SELECT p.oid::regprocedure FROM pg_proc AS p
        WHERE p.pronamespace = 'omd_lineage'::regnamespace
            AND obj_description(p.oid, 'pg_proc') IS DISTINCT FROM 'Retired.'
    LOOP
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM omd_reader, omd_runner, omd_admin', v_routine);
    END LOOP;
END
$do$;
