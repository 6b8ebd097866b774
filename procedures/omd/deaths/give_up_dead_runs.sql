-- A dead run can't report its own end, and a begin of its Module may be far away.

CREATE OR REPLACE FUNCTION omd.give_up_dead_runs(
    p_module_array integer[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_dead_runs$
BEGIN
    PERFORM omd._give_up_module_instances(m.id)
    FROM unnest(p_module_array) AS m (id)
    ORDER BY m.id;
END
$give_up_dead_runs$;

COMMENT ON FUNCTION omd.give_up_dead_runs IS
'For rooms: Declares dead instances of the Modules p_module_array dead. Lock the Modules before. '
'Locks: the instances that it ends; then the states of their Modules.';
