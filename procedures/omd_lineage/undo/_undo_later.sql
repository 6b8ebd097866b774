-- A topic has gone back, and no step begins now that would undo what it had read. The next begin
-- does, also one that finds nothing to read.

CREATE OR REPLACE FUNCTION omd_lineage._undo_later(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_later$
DECLARE
    v_id bigint;
BEGIN
    FOREACH v_id IN ARRAY coalesce(p_instance_array, '{}') LOOP
        CALL omd.set_next_run_indicator('R', p_module_instance_id => v_id);
    END LOOP;
END
$undo_later$;

COMMENT ON FUNCTION omd_lineage._undo_later IS
'Lets the next begin undo the steps p_instance_array. Locks: the instances.';
GRANT EXECUTE ON FUNCTION omd_lineage._undo_later TO omd_runner;
