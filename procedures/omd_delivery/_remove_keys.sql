-- Staged text is not cast here, so the staging table of the delivery, which has done its work, is
-- emptied as a whole.

CREATE OR REPLACE FUNCTION omd_delivery._remove_keys(
    p_delivery omd_delivery.delivery,
    p_entity_id integer,
    p_module_instance_id bigint,
    p_keys bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_keys$
DECLARE
    v_sql record;
    v_table record;
    v_rows bigint;
BEGIN
    v_sql := omd_delivery._entity_sql(p_entity_id);
    EXECUTE format(
        $sql$
        DELETE FROM %s AS l USING %s AS d
        WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND %s
        $sql$,
        v_sql.lvl_table, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    PERFORM omd_delivery.log_removal(
        p_delivery.delivery_id, p_entity_id, p_module_instance_id, 'LVL', v_sql.lvl_table, p_keys,
        v_rows
    );
    EXECUTE format(
        $sql$
        DELETE FROM %1$s AS l USING %1$s AS d
        WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND l.delivery_id <> $1 AND %2$s
        $sql$,
        v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    PERFORM omd_delivery.log_removal(
        p_delivery.delivery_id, p_entity_id, p_module_instance_id, 'DELTA', v_sql.delta_table,
        p_keys, v_rows
    );
    -- A sample without a readable key may be a row of any key.
    EXECUTE format(
        $sql$
        DELETE FROM omd_delivery.sample AS s
        WHERE s.entity_id = $2 AND (
            s.record_key IS NULL OR s.sample_id IN (
                SELECT k.sample_id
                FROM omd_delivery.sample AS k
                CROSS JOIN LATERAL jsonb_to_record(k.record_key) AS l (%s)
                INNER JOIN %s AS d ON %s
                WHERE k.entity_id = $2 AND d.delivery_id = $1 AND d.acm_record_ind = 'R'
            )
        )
        $sql$,
        v_sql.key_types, v_sql.delta_table, v_sql.key_match
    )
    USING p_delivery.delivery_id, p_entity_id;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    PERFORM omd_delivery.log_removal(
        p_delivery.delivery_id, p_entity_id, p_module_instance_id, 'SAMPLE',
        'omd_delivery.sample', p_keys, v_rows
    );
    FOR v_table IN
        SELECT format('%I.%I', a.staging_schema, e.entity_code) AS name
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.entity AS e USING (interface_id)
        WHERE a.agreement_id = p_delivery.agreement_id
            AND e.entity_id = p_entity_id
            AND NOT e.is_derived
    LOOP
        EXECUTE format('DELETE FROM %s', v_table.name);
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        PERFORM omd_delivery.log_removal(
            p_delivery.delivery_id, p_entity_id, p_module_instance_id, 'STAGING', v_table.name,
            p_keys, v_rows
        );
        EXECUTE format('ANALYZE %s', v_table.name);
    END LOOP;
    -- The statistics have values of what is gone.
    EXECUTE format('ANALYZE %s', v_sql.lvl_table);
    EXECUTE format('ANALYZE %s', v_sql.delta_table);
    ANALYZE omd_delivery.sample;
END
$remove_keys$;

COMMENT ON FUNCTION omd_delivery._remove_keys IS
'Removes all rows of the p_keys keys that the delta of p_delivery for the entity p_entity_id '
'deletes: from LVL, other deltas, samples and the staging table of the agreement, with proof in '
'removal under p_module_instance_id. Locks: those rows.';
REVOKE ALL ON FUNCTION omd_delivery._remove_keys FROM PUBLIC;
