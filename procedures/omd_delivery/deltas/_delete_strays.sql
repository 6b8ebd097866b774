-- A program that has not heard yet that its run was ended may write after the rollback of what it
-- wrote, and even after a later run of the delivery was accepted.

CREATE OR REPLACE FUNCTION omd_delivery._delete_strays(
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delete_strays$
DECLARE
    v_entity record;
BEGIN
    FOR v_entity IN
        SELECT de.entity_id, de.module_instance_id
        FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = p_delivery_id
        ORDER BY de.entity_id
    LOOP
        EXECUTE format(
            'DELETE FROM %s AS d WHERE d.delivery_id = $1 AND d.acm_audit_id <> $2',
            (omd_delivery._entity_sql(v_entity.entity_id)).delta_table
        )
        USING p_delivery_id, v_entity.module_instance_id;
    END LOOP;
END
$delete_strays$;

COMMENT ON FUNCTION omd_delivery._delete_strays IS
'Deletes from the deltas of the delivery p_delivery_id what another than its newest run has '
'written. Locks: those rows.';
