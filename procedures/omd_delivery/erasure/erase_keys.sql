-- Files are not ours: whoever was erased may stand in them. A delivery is created under the lock of
-- the interface, so none of before is younger than the note.
-- What is staged, and can't be compared, has done its work when no delivery of its agreement is
-- unfinished: then it goes as a whole, as it does after a physical delete.

CREATE OR REPLACE FUNCTION omd_delivery.erase_keys(
    p_subject jsonb
)
RETURNS TABLE (
    layer text,
    table_code text,
    outcome text,
    key_count bigint,
    row_count bigint,
    remark text,
    tables text[]
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $erase_keys$
DECLARE
    v_keys CONSTANT jsonb := p_subject -> 'keys';
    v_interface_id integer;
    v_target record;
    v_table record;
BEGIN
    SELECT i.interface_id INTO v_interface_id
    FROM omd_delivery.interface AS i
    WHERE i.interface_code = p_subject ->> 'interface';
    UPDATE omd_delivery.entity AS e SET erased_datetime = clock_timestamp()
    FROM jsonb_to_recordset(p_subject -> 'targets') AS t (entity text)
    WHERE e.interface_id = v_interface_id AND e.entity_code = t.entity;
    tables := NULL;
    FOR v_target IN SELECT s.* FROM omd_delivery._subject_sql(p_subject) AS s LOOP
        outcome := 'DELETED';
        remark := NULL;
        layer := 'LVL';
        table_code := v_target.lvl_table;
        EXECUTE format(
            'WITH gone AS (DELETE FROM %s AS l USING %s WHERE %s RETURNING ROW(%s) AS key)'
            ' SELECT count(DISTINCT g.key), count(*) FROM gone AS g',
            v_target.lvl_table, v_target.keys_sql, v_target.match_sql, v_target.key_list
        ) INTO key_count, row_count USING v_keys;
        RETURN NEXT;
        layer := 'DELTA';
        table_code := v_target.delta_table;
        EXECUTE format(
            $sql$
            WITH gone AS (
                DELETE FROM %s AS l USING %s WHERE %s
                RETURNING l.delivery_id, l.acm_record_ind, ROW(%s) AS key
            ),

            -- An undone load reads such a delta again, and compares it with its item.
            counted AS (
                UPDATE omd_delivery.delta_queue AS q
                SET row_counts = jsonb_set(q.row_counts, ARRAY[$2], c.counts)
                FROM (
                    SELECT d.queue_id, jsonb_object_agg(
                        n.indicator,
                        n.rows::bigint - (
                            SELECT count(*) FROM gone AS g
                            WHERE g.delivery_id = d.delivery_id AND g.acm_record_ind = n.indicator
                        )
                    ) AS counts
                    FROM omd_delivery.delta_queue AS d
                    CROSS JOIN LATERAL jsonb_each_text(d.row_counts -> $2) AS n (indicator, rows)
                    WHERE d.delivery_id IN (SELECT g.delivery_id FROM gone AS g)
                    GROUP BY d.queue_id
                ) AS c
                WHERE q.queue_id = c.queue_id
            )

            SELECT count(DISTINCT g.key), count(*) FROM gone AS g
            $sql$,
            v_target.delta_table, v_target.keys_sql, v_target.match_sql, v_target.key_list
        ) INTO key_count, row_count USING v_keys, v_target.entity_code;
        RETURN NEXT;
        layer := 'SAMPLE';
        table_code := 'omd_delivery.sample';
        EXECUTE format(
            $sql$
            WITH gone AS (
                DELETE FROM omd_delivery.sample AS s
                USING (
                    SELECT l.sample_id, min(j.n) AS n
                    FROM omd_delivery.sample AS l
                    INNER JOIN jsonb_array_elements($1) WITH ORDINALITY AS j (key, n) ON %s
                    WHERE l.entity_id = $2
                    GROUP BY l.sample_id
                    UNION
                    SELECT l.sample_id, NULL
                    FROM omd_delivery.sample AS l
                    CROSS JOIN %s
                    WHERE l.entity_id = $2 AND l.record_key IS NULL AND %s
                ) AS f
                WHERE s.sample_id = f.sample_id
                RETURNING f.n
            )

            SELECT count(DISTINCT g.n), count(*) FROM gone AS g
            $sql$,
            v_target.sample_match, v_target.keys_sql, coalesce(v_target.raw_match, 'FALSE')
        ) INTO key_count, row_count USING v_keys, v_target.entity_id;
        RETURN NEXT;
        FOR v_table IN
            SELECT
                format('%I.%I', a.staging_schema, v_target.entity_code) AS name,
                EXISTS (
                    SELECT FROM omd_delivery.delivery AS d
                    WHERE d.agreement_id = a.agreement_id
                        AND d.layer_code = 'LVL'
                        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
                ) AS is_at_work
            FROM omd_delivery.agreement AS a
            WHERE a.interface_id = v_interface_id
                AND to_regclass(format('%I.%I', a.staging_schema, v_target.entity_code)) IS NOT NULL
            ORDER BY a.agreement_id
        LOOP
            layer := 'STAGING';
            table_code := v_table.name;
            IF v_target.staged_match IS NOT NULL THEN
                EXECUTE format(
                    'WITH gone AS (DELETE FROM %s AS l USING %s WHERE %s RETURNING ROW(%s) AS key)'
                    ' SELECT count(DISTINCT g.key), count(*) FROM gone AS g',
                    v_table.name, v_target.keys_sql, v_target.staged_match, v_target.key_list
                ) INTO key_count, row_count USING v_keys;
            ELSIF v_table.is_at_work THEN
                layer := 'NOT_REACHED';
                outcome := 'NOT_REACHED';
                key_count := NULL;
                row_count := NULL;
                remark := 'only Spark can read its key, and a delivery is unfinished';
            ELSE
                EXECUTE format('DELETE FROM %s', v_table.name);
                GET DIAGNOSTICS row_count = ROW_COUNT;
                key_count := NULL;
                remark := 'only Spark can read its key, so all that was staged went';
            END IF;
            RETURN NEXT;
            outcome := 'DELETED';
            remark := NULL;
        END LOOP;
        -- A context that names nobody any more stays one: without it more would be delivered.
        layer := 'TEXT';
        key_count := NULL;
        FOR v_table IN SELECT t.name FROM (VALUES ('agreement'), ('delivery')) AS t (name) LOOP
            table_code := 'omd_delivery.' || v_table.name;
            EXECUTE format(
                $sql$
                UPDATE omd_delivery.%1$I AS d SET context = jsonb_set(
                    d.context,
                    ARRAY[$2],
                    (
                        SELECT coalesce(jsonb_agg(n.key ORDER BY n.place), '[]')
                        FROM jsonb_array_elements(d.context -> $2) WITH ORDINALITY AS n (key, place)
                        WHERE NOT EXISTS (
                            SELECT FROM jsonb_array_elements($1) AS j (key) WHERE %2$s
                        )
                    )
                )
                WHERE d.interface_id = $3
                    AND EXISTS (
                        SELECT FROM jsonb_array_elements(d.context -> $2) AS n (key)
                        INNER JOIN jsonb_array_elements($1) AS j (key) ON %2$s
                    )
                $sql$,
                v_table.name, v_target.context_match
            ) USING v_keys, v_target.entity_code, v_interface_id;
            GET DIAGNOSTICS row_count = ROW_COUNT;
            IF row_count > 0 THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END
$erase_keys$;

COMMENT ON FUNCTION omd_delivery.erase_keys IS
'For rooms: Erases the subject p_subject, {"interface", "entity", "keys", "targets": [{"entity", '
'"columns"}]}, from LVL, deltas, samples, staging, and contexts of agreements and deliveries. '
'Returns what left which table. The caller holds the interface. Deliveries of these entities from '
'before come again by hand, and not from their files. Locks: the rows of the entities, the rows, '
'their queue items.';
