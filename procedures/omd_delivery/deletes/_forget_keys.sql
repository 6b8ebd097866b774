-- The keys themselves are personal data too, and nobody needs them any more.

CREATE OR REPLACE FUNCTION omd_delivery._forget_keys(
    p_item omd_delivery.delta_queue,
    p_entity_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_keys$
DECLARE
    v_sql record;
    v_rows bigint;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    EXECUTE format(
        'DELETE FROM %s AS d WHERE d.delivery_id = $1 AND d.acm_record_ind = ''R''',
        v_sql.delta_table
    )
    USING p_item.delivery_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    PERFORM omd_delivery.log_removal(
        p_item.delivery_id, p_entity_id, p_item.module_instance_id, 'DELTA', v_sql.delta_table,
        v_rows, v_rows
    );
    EXECUTE format('ANALYZE %s', v_sql.delta_table);
END
$forget_keys$;

COMMENT ON FUNCTION omd_delivery._forget_keys IS
'Deletes the R rows of the delta of p_item for the entity p_entity_id, with proof in removal. '
'Locks: those rows.';
