-- Every room takes its locks in this order, so a recall waits for others and never in a circle with
-- them: the recall, what the rooms lock (by their position in omd.room_hook: interfaces, offsets),
-- and of process control positions, Modules, instances. The row of the Module of
-- recalls, which nobody else takes, lets one recall act at a time.

CREATE OR REPLACE FUNCTION omd_provenance._lock_recall(
    p_recall_id bigint,
    p_instance_array bigint[],
    p_module_array integer[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_recall$
DECLARE
    v_routine text;
BEGIN
    PERFORM omd_provenance._require_planned(p_recall_id, TRUE);
    PERFORM omd.lock_modules(
        ARRAY(
            SELECT m.module_id FROM omd.module_target AS m
            WHERE m.module_code = 'provenance.recall'
        )
    );
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('RECALL_LOCKS') AS h LOOP
        EXECUTE format('SELECT %s($1)', v_routine) USING p_instance_array;
    END LOOP;
    PERFORM omd.lock_sources(p_instance_array);
    PERFORM omd.lock_modules(p_module_array);
    PERFORM omd.recall_locks(p_instance_array);
    PERFORM omd.give_up_dead_runs(p_module_array);
END
$lock_recall$;

COMMENT ON FUNCTION omd_provenance._lock_recall IS
'Takes all locks of the act of the recall p_recall_id, for the runs p_instance_array that go and '
'the Modules p_module_array that it concerns, and declares dead runs of these dead. Errors: '
'OM014, OM090, OM193. Locks: the recall; what the rooms lock; the positions of what the runs '
'wrote; the Modules; the instances.';
GRANT EXECUTE ON FUNCTION omd_provenance._lock_recall TO omd_admin;
