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
        WITH removed AS (
            DELETE FROM %1$s AS l USING %1$s AS d
            WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND l.delivery_id <> $1 AND %2$s
            RETURNING l.delivery_id, l.acm_record_ind
        ),

        -- An undone load reads such a delta again, and compares it with its item.
        counted AS (
            UPDATE omd_delivery.delta_queue AS q
            SET row_counts = jsonb_set(q.row_counts, ARRAY[$2], g.counts)
            FROM (
                SELECT c.queue_id, jsonb_object_agg(
                    n.indicator,
                    n.rows::bigint - (
                        SELECT count(*) FROM removed AS r
                        WHERE r.delivery_id = c.delivery_id AND r.acm_record_ind = n.indicator
                    )
                ) AS counts
                FROM omd_delivery.delta_queue AS c
                CROSS JOIN LATERAL jsonb_each_text(c.row_counts -> $2) AS n (indicator, rows)
                WHERE c.delivery_id IN (SELECT r.delivery_id FROM removed AS r)
                GROUP BY c.queue_id
            ) AS g
            WHERE q.queue_id = g.queue_id
        )

        SELECT count(*) FROM removed
        $sql$,
        v_sql.delta_table, v_sql.key_match
    )
    INTO v_rows
    USING
        p_delivery.delivery_id,
        (SELECT e.entity_code FROM omd_delivery.entity AS e WHERE e.entity_id = p_entity_id);
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
'removal under p_module_instance_id. The items of other deltas count these rows no longer. Locks: '
'those rows, these items.';
