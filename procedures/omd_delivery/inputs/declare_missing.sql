-- Interfaces of before this was declared have no inputs yet.

CREATE OR REPLACE FUNCTION omd_delivery.declare_missing()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.require_maintenance('omd_delivery.declare_missing');
    SELECT omd_delivery._save_delivery_inputs(m.interface_id)
    FROM (
        SELECT e.interface_id
        FROM omd_delivery.entity AS e
        WHERE e.module_id IS NOT NULL AND NOT e.is_retired AND NOT omd.has_inputs(e.module_id)
        GROUP BY e.interface_id
        ORDER BY e.interface_id
        LIMIT 5
    ) AS m;
END;

COMMENT ON FUNCTION omd_delivery.declare_missing IS
'For rooms: tells process control what deliveries read of which it does not know yet, five '
'interfaces at a time. omd.maintain_rooms calls it. Errors: OM018: another calls it. Locks: the '
'Modules of their entities.';
GRANT EXECUTE ON FUNCTION omd_delivery.declare_missing TO omd_runner, omd_admin;
