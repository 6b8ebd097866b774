-- The rooms have locked what is theirs, and the Modules are locked; instances come last.

CREATE OR REPLACE FUNCTION omd.recall_locks(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_locks$
BEGIN
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = ANY(p_instance_array)
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;
END
$recall_locks$;

COMMENT ON FUNCTION omd.recall_locks IS
'For rooms: Locks the Module Instances p_instance_array, in the order of their ids. Locks: these.';
