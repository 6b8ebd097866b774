-- Before a delivery is accepted there are only work rows, so nothing else has to go. The rollback
-- of a Module calls it with the rights of whoever begins the next run.

CREATE OR REPLACE FUNCTION omd_delivery.undo_update(
    p_entity_id integer,
    p_instance_array bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_update$
DECLARE
    v_entity record;
    v_rows bigint;
BEGIN
    p_entity_id := omd.require_argument('p_entity_id', p_entity_id);
    p_instance_array := omd.require_argument('p_instance_array', p_instance_array);
    SELECT i.work_schema, e.entity_code INTO v_entity
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    PERFORM omd_delivery._require_unaccepted(p_instance_array);
    IF v_entity.entity_code IS NOT NULL THEN
        EXECUTE format(
            'DELETE FROM %I.%I WHERE acm_audit_id = ANY($1)',
            v_entity.work_schema, 'delta_' || v_entity.entity_code
        ) USING p_instance_array;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
    END IF;
    RETURN coalesce(v_rows, 0);
END
$undo_update$;

COMMENT ON FUNCTION omd_delivery.undo_update IS
'For rooms: Deletes the work rows of the instances p_instance_array of the Module of the entity '
'p_entity_id, and returns how many there were. It is the rollback of these Modules. Errors: '
'OM005: an argument is NULL; OM133: one of them was accepted. Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_delivery.undo_update TO omd_runner;
