-- It is the newest delivery of the entity, so its rows are the open ones of its keys.

CREATE OR REPLACE FUNCTION omd_delivery._revert_entity(
    p_delivery omd_delivery.delivery,
    p_entity_id integer
)
RETURNS void
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
            AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id;
    EXECUTE format(
        $sql$
        UPDATE %s AS l SET acm_end_dt = '9999-12-31 00:00:00+00' FROM %s AS d
        WHERE d.delivery_id = $1 AND l.acm_end_dt = $2 AND %s
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id, p_delivery.snapshot_datetime;
    PERFORM omd_delivery._delete_delta(p_entity_id, p_delivery.delivery_id);
END
$revert_entity$;

COMMENT ON FUNCTION omd_delivery._revert_entity IS
'Takes back what p_delivery changed in the entity p_entity_id: deletes its rows and its delta, '
'and opens the rows that it closed. Locks: those rows.';
REVOKE ALL ON FUNCTION omd_delivery._revert_entity FROM PUBLIC;
