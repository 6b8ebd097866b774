-- An export writes nothing here, so nothing of its Module is undone.

CREATE OR REPLACE FUNCTION omd_facts.undo_runs(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $undo_runs$
BEGIN
    RETURN coalesce(
        (
            SELECT omd_facts.undo_loads(i.interface_id, p_instance_array)
            FROM omd_facts.interface AS i
            WHERE i.module_id = p_module_id
        ),
        0
    );
END
$undo_runs$;

COMMENT ON FUNCTION omd_facts.undo_runs IS
'For rooms: Undoes the runs p_instance_array of the Module p_module_id, of an interface or of an '
'agreement about exports, and returns how many loads went. It is how process control rolls them '
'back. Errors: those of undo_loads. Locks: as undo_loads.';
GRANT EXECUTE ON FUNCTION omd_facts.undo_runs TO omd_runner;
