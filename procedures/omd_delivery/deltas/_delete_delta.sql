-- A delta goes when its delivery is refused, reverted or purged.

CREATE OR REPLACE FUNCTION omd_delivery._delete_delta(
    p_entity_id integer,
    p_delivery_id bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delete_delta$
DECLARE
    v_sql record;
    v_rows bigint;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    EXECUTE format('DELETE FROM %s AS d WHERE d.delivery_id = $1', v_sql.delta_table)
    USING p_delivery_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END
$delete_delta$;

COMMENT ON FUNCTION omd_delivery._delete_delta IS
'Deletes the delta of the delivery p_delivery_id for the entity p_entity_id and returns how many '
'rows it had. Locks: those rows.';
