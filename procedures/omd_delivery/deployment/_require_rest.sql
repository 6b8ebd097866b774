-- A run has its constraints and the columns of its tables from the version at its begin.

CREATE OR REPLACE FUNCTION omd_delivery._require_rest(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_rest$
DECLARE
    v_running record;
BEGIN
    SELECT
        i.interface_code,
        e.entity_code,
        m.module_instance_id
    INTO v_running
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    CROSS JOIN LATERAL omd.open_module_instances(e.module_id) AS m (module_instance_id)
    WHERE e.interface_id = p_interface_id AND omd.instance_lives(m.module_instance_id)
    ORDER BY m.module_instance_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM136',
            jsonb_build_object(
                'object', format('interface "%s"', v_running.interface_code),
                'used_by', format(
                    'the run %s of entity "%s"', v_running.module_instance_id, v_running.entity_code
                ),
                'interface_code', v_running.interface_code,
                'module_instance_id', v_running.module_instance_id
            )
        );
    END IF;
END
$require_rest$;

COMMENT ON FUNCTION omd_delivery._require_rest IS
'Refuses to go on while a run of the interface p_interface_id executes. Errors: OM136. Locks: '
'none.';
