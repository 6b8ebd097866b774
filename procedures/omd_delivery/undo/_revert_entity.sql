-- No later delivery of the entity stands, so its rows are the open ones of its keys. What it had
-- closed ends at its time, as no other does in the entity.

CREATE OR REPLACE FUNCTION omd_delivery._revert_entity(
    p_delivery omd_delivery.delivery,
    p_entity_id integer,
    p_gone_array bigint[],
    OUT p_rows_gone bigint,
    OUT p_rows_returned bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $revert_entity$
DECLARE
    v_sql record;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    EXECUTE format(
        $sql$
        DELETE FROM %s AS l USING %s AS d
        WHERE d.delivery_id = $1
            AND l.acm_end_dt = '9999-12-31 00:00:00+00'
            AND l.acm_audit_id = d.acm_audit_id
            AND %s
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id;
    GET DIAGNOSTICS p_rows_gone = ROW_COUNT;
    EXECUTE format(
        $sql$
        WITH opened AS (
            UPDATE %s AS l SET acm_end_dt = '9999-12-31 00:00:00+00' FROM %s AS d
            WHERE d.delivery_id = $1 AND l.acm_end_dt = $2 AND %s
            RETURNING l.acm_audit_id AS run_id
        )

        SELECT count(*) FROM opened AS o WHERE o.run_id <> ALL($3)
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    INTO p_rows_returned
    USING p_delivery.delivery_id, p_delivery.snapshot_datetime, p_gone_array;
    PERFORM omd_delivery._delete_delta(p_entity_id, p_delivery.delivery_id);
END
$revert_entity$;

COMMENT ON FUNCTION omd_delivery._revert_entity IS
'Takes back what p_delivery changed in the entity p_entity_id: deletes its rows and its delta, '
'and opens the rows that it closed. Returns p_rows_gone and p_rows_returned, which leaves out rows '
'of the runs p_gone_array: they go too. Locks: those rows.';
