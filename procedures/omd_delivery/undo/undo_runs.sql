-- A Module of the kind PART that is no entity's has written nothing that must go.

CREATE OR REPLACE FUNCTION omd_delivery.undo_runs(
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
            SELECT omd_delivery.undo_update(e.entity_id, p_instance_array)
            FROM omd_delivery.entity AS e
            WHERE e.module_id = p_module_id
        ),
        0
    );
END
$undo_runs$;

COMMENT ON FUNCTION omd_delivery.undo_runs IS
'For rooms: Undoes the runs p_instance_array of the Module p_module_id, of an entity or an '
'agreement, and returns how many rows went. It is how process control rolls them back. Errors: '
'OM005, OM133: one of them was accepted. Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_delivery.undo_runs TO omd_runner;
