-- Each statement is about all rows of the delta, and reads of LVL the partition of open rows by
-- the keys alone, so its cost does not grow with history.

CREATE OR REPLACE FUNCTION omd_delivery._apply_entity(
    p_delivery omd_delivery.delivery,
    p_entity_id integer,
    p_module_instance_id bigint,
    p_equal bigint,
    p_deleted bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $apply_entity$
DECLARE
    v_sql record;
    v_is_physical boolean;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    v_is_physical := p_delivery.delete_type = 'PHYSICAL';
    IF p_equal > 0 THEN
        -- Values decide, not hashes. After an attribute was retired the hashes differ; with the new
        -- one the next delivery need not write such a row again.
        EXECUTE format(
            $sql$
            UPDATE %s AS l SET acm_hash_a = d.acm_hash_a, acm_hash_b = d.acm_hash_b
            FROM %s AS d
            WHERE d.delivery_id = $1 AND d.acm_record_ind = 'A' AND d.acm_hash_a IS NOT NULL
                AND (l.acm_hash_a, l.acm_hash_b) IS DISTINCT FROM (d.acm_hash_a, d.acm_hash_b)
                AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s AND %s
            $sql$,
            v_sql.lvl_table, v_sql.delta_table, v_sql.key_match, v_sql.is_same
        )
        USING p_delivery.delivery_id;
        EXECUTE format(
            $sql$
            DELETE FROM %s AS d USING %s AS l
            WHERE d.delivery_id = $1 AND d.acm_record_ind = 'A'
                AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s AND %s
            $sql$,
            v_sql.delta_table, v_sql.lvl_table, v_sql.key_match, v_sql.is_same
        )
        USING p_delivery.delivery_id;
    END IF;
    IF v_sql.keep_retired IS NOT NULL THEN
        EXECUTE format(
            $sql$
            UPDATE %s AS d SET %s FROM %s AS l
            WHERE d.delivery_id = $1 AND d.acm_record_ind = 'A'
                AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s
            $sql$,
            v_sql.delta_table, v_sql.keep_retired, v_sql.lvl_table, v_sql.key_match
        )
        USING p_delivery.delivery_id;
    END IF;
    IF p_deleted > 0 AND v_is_physical THEN
        EXECUTE format(
            $sql$
            UPDATE %s AS d SET %s WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R'
            $sql$,
            v_sql.delta_table, v_sql.keep_key
        )
        USING p_delivery.delivery_id;
        PERFORM omd_delivery._remove_keys(
            p_delivery, p_entity_id, p_module_instance_id, p_deleted
        );
    ELSIF p_deleted > 0 THEN
        EXECUTE format(
            $sql$
            UPDATE %s AS d SET %s FROM %s AS l
            WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R'
                AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s
            $sql$,
            v_sql.delta_table, v_sql.take_last, v_sql.lvl_table, v_sql.key_match
        )
        USING p_delivery.delivery_id;
    END IF;
    -- The open row of a key that was deleted is closed too, when the key comes back.
    EXECUTE format(
        $sql$
        UPDATE %s AS l SET acm_end_dt = $2 FROM %s AS d
        WHERE d.delivery_id = $1
            AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND %s
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id, p_delivery.snapshot_datetime;
    EXECUTE format(
        $sql$
        INSERT INTO %1$s (
            %2$s, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id, acm_hash_a, acm_hash_b
        )
        SELECT
            %2$s, $2, '9999-12-31 00:00:00+00', acm_record_ind, acm_audit_id, acm_hash_a,
            acm_hash_b
        FROM %3$s
        WHERE delivery_id = $1 AND NOT ($3 AND acm_record_ind = 'R')
        $sql$,
        v_sql.lvl_table, v_sql.columns, v_sql.delta_table
    )
    USING p_delivery.delivery_id, p_delivery.snapshot_datetime, v_is_physical;
END
$apply_entity$;

COMMENT ON FUNCTION omd_delivery._apply_entity IS
'Applies the delta of p_delivery to the entity p_entity_id, written by p_module_instance_id, of '
'which p_equal rows change nothing and leave it, and p_deleted rows delete. Locks: the current '
'rows of its keys.';
