-- LVL and the queue have what was accepted, so only revert_delivery takes it back. An
-- administrator may have asked process control for its rollback.

CREATE OR REPLACE FUNCTION omd_delivery._require_unaccepted(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unaccepted$
DECLARE
    v_accepted_id bigint;
BEGIN
    SELECT min(de.delivery_id) INTO v_accepted_id
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
    WHERE de.module_instance_id = ANY(p_instance_array);
    IF v_accepted_id IS NOT NULL THEN
        PERFORM omd_delivery._raise_not_reverted(v_accepted_id, 'it was accepted');
    END IF;
END
$require_unaccepted$;

COMMENT ON FUNCTION omd_delivery._require_unaccepted IS
'Refuses to undo the Module Instances p_instance_array when one of them is of an accepted '
'delivery. Errors: OM133: it is. Locks: none.';
